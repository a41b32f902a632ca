//! Envelope of Valkey's compressed snapshots (Valkey 9.2, `compression_stream.h`), followed by one LZ4 frame.
//!
//! ```text
//! V C S  version 1  codec 1 (LZ4)  reserved 0  kind 1 (RDB)   frame   what follows is no part of the snapshot
//! ```

use std::io::{self, BufRead, Read};

use lz4_flex::frame::FrameDecoder;

use super::lz4::EndNoting;
use crate::error::{Error, Reading, Result, Within};
use crate::wording::{Wording, wording};

/// Magic at the start of the envelope.
pub(super) const MAGIC: &[u8] = b"VCS";
/// Length of the envelope.
pub(super) const LEN: usize = 7;
const VERSION: u8 = 1;
const LZ4: u8 = 1;
const RESERVED: u8 = 0;
const RDB: u8 = 1;

/// Checks the envelope at the start of `head`, the first bytes of a file.
pub(super) fn check(head: &[u8]) -> Result<()> {
    let Some(&[_, _, _, version, codec, reserved, kind]) = head.first_chunk::<LEN>() else {
        let left = u64::try_from(head.len()).unwrap_or(u64::MAX);
        return Err(Error::truncated(0, LEN as u64, left)).within(Reading::Envelope);
    };
    let unknown = |offset: u64, what: Wording| {
        Err(Error::unsupported(offset, what).with_remedy(wording!(
            "a newer Valkey wrote it, or the envelope is damaged: save it with `rdbcompression yes`, or try a newer rdblens",
            "由更高版本的 Valkey 写入，或封装已损坏：请以 `rdbcompression yes` 重新保存，或尝试更新 rdblens"
        )))
        .within(Reading::Envelope)
    };
    match (version, codec, reserved, kind) {
        (VERSION, LZ4, RESERVED, RDB) => Ok(()),
        (VERSION, LZ4, RESERVED, _) => {
            unknown(6, wording!("content of kind {kind} is not a snapshot", "内容类别 {kind} 不是快照"))
        }
        (VERSION, LZ4, _, _) => unknown(5, wording!("reserved byte is {reserved}", "保留字节为 {reserved}")),
        (VERSION, ..) => unknown(4, wording!("codec {codec} is not supported", "不支持压缩算法 {codec}")),
        _ => unknown(3, wording!("version {version} is not supported", "不支持版本 {version}")),
    }
}

/// Reader of the snapshot: the content of the frame, then the bytes after it as they are.
pub(super) struct Frame<R: BufRead> {
    decoder: FrameDecoder<EndNoting<R>>,
    ended: bool,
}

impl<R: BufRead> Frame<R> {
    /// Skips the envelope, which [`check`] has accepted.
    pub fn new(mut reader: R) -> io::Result<Frame<R>> {
        reader.read_exact(&mut [0; LEN])?;
        Ok(Frame { decoder: FrameDecoder::new(EndNoting::new(reader)), ended: false })
    }
}

impl<R: BufRead> Read for Frame<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return self.decoder.get_mut().read(into);
        }
        let read = self.decoder.read(into)?;
        if read > 0 || into.is_empty() {
            return Ok(read);
        }
        if self.decoder.get_ref().met_end() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.ended = true;
        self.read(into)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};

    use super::*;

    const ENVELOPE: &[u8] = b"VCS\x01\x01\x00\x01";

    fn file(content: &[u8]) -> Vec<u8> {
        let info = FrameInfo::new().block_size(BlockSize::Max64KB).block_checksums(true);
        let mut encoder = FrameEncoder::with_frame_info(info, ENVELOPE.to_vec());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Frame::new(bytes)?.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn bytes_after_the_frame_are_not_decompressed() {
        let bytes = [&file(&[7; 100_000])[..], b"\x04\x22\x4d\x18 tail"].concat();
        let all = read(&bytes).unwrap();
        assert_eq!((all.len(), &all[100_000..]), (100_009, &b"\x04\x22\x4d\x18 tail"[..]));
    }

    #[test]
    fn frame_cut_anywhere_is_truncated() {
        let bytes = file(b"REDIS0011 and so on");
        for len in LEN..bytes.len() {
            assert_eq!(read(&bytes[..len]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "cut at {len}");
        }
    }

    #[test]
    fn other_envelopes_are_unsupported() {
        assert!(check(ENVELOPE).is_ok());
        for (at, byte) in [(3, 2), (4, 2), (5, 1), (6, 0)] {
            let mut envelope = ENVELOPE.to_vec();
            envelope[at] = byte;
            let error = check(&envelope).unwrap_err();
            assert_eq!(error.offset(), Some(at as u64), "{error}");
            assert!(error.to_string().contains("envelope"), "{error}");
        }
        assert!(check(b"VCS\x01").unwrap_err().needed().is_some());
    }
}
