//! Bytes of a partial report: a header with the digest of its plan and a checksum, and compressed content.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `RDBLPART` |
//! | 2 | version of this form, little-endian |
//! | 16 | version of the program, padded with zeros |
//! | 32 | digest of the plan |
//! | 8 | length of the content, little-endian |
//! | 32 | SHA-256 of the compressed content |
//! | | content, in one zstd frame |
//!
//! All lengths are claims: content is expanded up to [`limits::MAX_PARTIAL_BYTES`] at most, and memory is taken as it arrives.

use std::io::{self, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::plan::other_version;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::wording::{Wording, wording};

const MAGIC: &[u8; 8] = b"RDBLPART";
const FORM: u16 = 6;
const VERSION_BYTES: usize = 16;
/// Bytes of the header.
const HEADER: usize = 8 + 2 + VERSION_BYTES + 32 + 8 + 32;
/// Fast enough to cost nothing beside reading dumps; higher levels save a few percent.
const LEVEL: i32 = 6;
/// Window of the frames that are written and read: 8 MiB.
const WINDOW_LOG: u32 = 23;

/// Returns the version of the program, as far as the header has room for it.
fn version() -> [u8; VERSION_BYTES] {
    let mut version = [0; VERSION_BYTES];
    version.iter_mut().zip(env!("CARGO_PKG_VERSION").bytes()).for_each(|(to, from)| *to = from);
    version
}

/// Encodes the content of a partial report: equal contents give equal bytes.
pub fn write(digest: &[u8; 32], content: &impl Serialize) -> Result<Vec<u8>> {
    let content = postcard::to_stdvec(content).map_err(io::Error::other)?;
    if content.len() as u64 > limits::MAX_PARTIAL_BYTES {
        let error = Error::new(ErrorKind::Limit(wording!(
            "the partial report has {} MiB, more than {}",
            "部分结果有 {} MiB，上限为 {}",
            content.len() >> 20,
            limits::MAX_PARTIAL_BYTES >> 20
        )));
        return Err(error.with_remedy(wording!(
            "give fewer files to each part, or a lower --top",
            "请减少每一部分的文件数，或降低 --top"
        )));
    }
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.window_log(WINDOW_LOG)?;
    io::Write::write_all(&mut encoder, &content)?;
    let frame = encoder.finish()?;
    let mut bytes = Vec::with_capacity(HEADER + frame.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORM.to_le_bytes());
    bytes.extend_from_slice(&version());
    bytes.extend_from_slice(digest);
    bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&Sha256::digest(&frame));
    bytes.extend_from_slice(&frame);
    Ok(bytes)
}

/// Decodes a partial report. Returns the digest of its plan, and its content.
pub fn read<T: DeserializeOwned>(mut input: impl Read) -> Result<([u8; 32], T)> {
    let mut header = [0; HEADER];
    if let Err(error) = input.read_exact(&mut header) {
        return Err(if error.kind() == io::ErrorKind::UnexpectedEof { cut_short() } else { error.into() });
    }
    let mut rest = &header[..];
    if take::<8>(&mut rest) != *MAGIC {
        return Err(refused(wording!("not a partial report", "不是部分结果")));
    }
    let form = u16::from_le_bytes(take(&mut rest));
    let writer = take::<VERSION_BYTES>(&mut rest);
    if form != FORM || writer != version() {
        let end = writer.iter().position(|&byte| byte == 0).unwrap_or(VERSION_BYTES);
        return Err(other_version("partial report", &writer[..end].escape_ascii().to_string()));
    }
    let digest = take(&mut rest);
    let (length, sum) = (u64::from_le_bytes(take(&mut rest)), take::<32>(&mut rest));
    if length > limits::MAX_PARTIAL_BYTES {
        return Err(refused(wording!("claims to have {length} bytes", "声明有 {length} 字节")));
    }
    let mut summed = Summed { input, hash: Sha256::new() };
    let mut decoder = zstd::Decoder::new(&mut summed)?.single_frame();
    decoder.window_log_max(WINDOW_LOG)?;
    let mut content = Vec::new();
    // One byte more shows that the content is longer than it says.
    let expanded = decoder.take(length + 1).read_to_end(&mut content);
    if let Err(error) = expanded {
        return Err(if error.raw_os_error().is_some() { error.into() } else { cut_short() });
    }
    io::copy(&mut (&mut summed).take(1 << 20), &mut io::sink())?;
    if <[u8; 32]>::from(summed.hash.finalize()) != sum || content.len() as u64 != length {
        return Err(cut_short());
    }
    Ok((digest, decode(&content)?))
}

/// Decodes the content of a partial report, which need not be trusted.
pub fn decode<T: DeserializeOwned>(content: &[u8]) -> Result<T> {
    match postcard::take_from_bytes(content) {
        Ok((content, [])) => Ok(content),
        _ => Err(refused(wording!("its content cannot be read", "内容无法读取"))),
    }
}

/// Reader that computes the checksum of what is read.
struct Summed<R> {
    input: R,
    hash: Sha256,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.hash.update(&buffer[..read]);
        Ok(read)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (first, behind) = rest.split_first_chunk().expect("the header has room for all of its fields");
    *rest = behind;
    *first
}

fn cut_short() -> Error {
    refused(wording!("truncated or damaged", "不完整或已损坏"))
}

/// Returns the error for a partial report that cannot be used.
pub fn refused(what: Wording) -> Error {
    Error::new(ErrorKind::Unreadable(what)).with_remedy(wording!(
        "make this part again with `rdblens analyze --plan PLAN.json --partial … -o PART`",
        "请用 `rdblens analyze --plan PLAN.json --partial … -o PART` 重新生成这一部分"
    ))
}
