//! Decompression of gzip, zstd, lz4 and Valkey's envelope, recognised by the first bytes instead of the file name.
//!
//! A separate thread decompresses a few chunks ahead of the reader, so that scanning and disk reads overlap:
//!
//! ```text
//! file ─► decoder ─► chunk of 1 MiB ─► bounded channel ─► window
//!            ▲                                               │
//!            └──────────────── empty chunks ◄────────────────┘
//! ```
//!
//! The thread ends at the end of its data, on an error, or when the receiver is dropped. One layer is decompressed, and
//! Valkey's envelope inside it; [`super::container`] reports data that is compressed twice.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use super::lz4::{self, Frames};
use super::source::{Source, fill_from};
use super::{gzip, vcs, zstd_frames};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Budget;
use crate::wording::{Wording, wording};

/// Supported compression format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 8878, any number of frames.
    Zstd,
    /// The LZ4 frame format, any number of frames.
    Lz4,
    /// Valkey's envelope around one LZ4 frame.
    Vcs,
}

impl Compression {
    /// Returns the common name.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Vcs => "vcs",
        }
    }

    /// Number of bytes that suffice to recognise a compression.
    pub const HEAD: usize = vcs::LEN;

    /// Recognises the compression from `head`, the first bytes of a file; fails for an unsupported one.
    pub fn recognise(head: &[u8]) -> Result<Option<Compression>> {
        match head {
            [0x1f, 0x8b, ..] => Ok(Some(Compression::Gzip)),
            // The second is a skippable frame, which parallel compressors write first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Ok(Some(Compression::Zstd)),
            [0x04, 0x22, 0x4d, 0x18, ..] => Ok(Some(Compression::Lz4)),
            [b'V', b'C', b'S', ..] => vcs::check(head).map(|()| Some(Compression::Vcs)),
            [0x02, 0x21, 0x4c, 0x18, ..] => Err(foreign("legacy lz4 frames", "lz4 -dc")),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Err(foreign("xz", "xz -dc")),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Err(foreign("bzip2", "bzip2 -dc")),
            _ => Ok(None),
        }
    }

    /// Decompresses `bytes`, which are in memory; returns `None` if the content is longer than `most`.
    pub fn expand(self, bytes: &[u8], most: usize) -> io::Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        self.decoder(bytes, Budget::default(), 1)?.take(limit).read_to_end(&mut content)?;
        Ok(Some(content).filter(|content| content.len() <= most))
    }

    fn decoder<'a, R: BufRead + Send + 'a>(
        self,
        reader: R,
        budget: Budget,
        threads: usize,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Compression::Gzip => gzip::decoder(reader, threads),
            Compression::Zstd => Box::new(zstd_frames::Frames::new(reader, budget.zstd_window_log())?),
            Compression::Lz4 => Box::new(Frames::new(reader)),
            Compression::Vcs => Box::new(vcs::Frame::new(reader)?),
        })
    }

    fn failure(self, budget: Budget, offset: u64, error: io::Error) -> Error {
        let name = self.name();
        let error = match error.downcast::<Error>() {
            Ok(inner) => return inner.or_at(offset),
            Err(error) => error,
        };
        if error.raw_os_error().is_some() {
            return Error::at(offset, ErrorKind::Io(error));
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            let hint = wording!(
                "{name} data is truncated, or followed by other data, after {offset} decompressed bytes",
                "{name} 数据在解压 {offset} 字节后被截断，或其后还有其他数据"
            );
            return Error::truncated(offset, 1, 0).with_remedy(hint);
        }
        if self == Compression::Zstd && error.to_string().contains("too much memory") {
            let log = budget.zstd_window_log();
            return Error::at(
                offset,
                ErrorKind::OverBudget(wording!(
                    "the zstd window is larger than 2^{log} bytes, the limit for one input",
                    "zstd 窗口大于 2^{log} 字节，超出单个输入的上限"
                )),
            )
            .with_remedy(wording!(
                "give --max-memory 4GB or more, which allows 2^31, or decompress with `zstd -dc --long=31` and pass the \
                 output as `-`",
                "请将 --max-memory 设为 4GB 或更大，即可使用 2^31 的窗口；或用 `zstd -dc --long=31` 解压，并以 `-` 从管道传入"
            ));
        }
        let said = error.to_string();
        let Wording { en, zh } = lz4::describe(&error).unwrap_or_else(|| Wording { en: said.clone(), zh: said });
        Error::corrupt(
            offset,
            Wording {
                en: format!("{name} data is damaged after {offset} decompressed bytes: {en}"),
                zh: format!("{name} 数据在解压 {offset} 字节后损坏：{zh}"),
            },
        )
    }
}

fn foreign(what: &str, command: &str) -> Error {
    Error::unsupported(0, wording!("{what} compression is not supported", "不支持 {what} 压缩")).with_remedy(wording!(
        "decompress with `{command}` and pass the output as `-`",
        "请用 `{command}` 解压，并以 `-` 从管道传入"
    ))
}

/// Message from the decompressing thread to the window.
enum ChunkMessage {
    Chunk(Vec<u8>),
    Ended,
    Failed(Error),
}

/// Source of the decompressed bytes of a reader.
pub struct Decompressed {
    messages: Receiver<ChunkMessage>,
    empty: Sender<Vec<u8>>,
    chunk: Vec<u8>,
    taken: usize,
    ended: bool,
}

/// Limits of a decoder.
#[derive(Debug, Clone, Copy)]
pub struct DecoderLimits {
    /// Memory that it may take.
    pub budget: Budget,
    /// Threads that it may use.
    pub threads: usize,
}

impl Decompressed {
    const CHUNK: usize = 1 << 20;
    const AHEAD: usize = 12;

    /// Starts a thread that decompresses `reader`, and more of them for a gzip file of many members.
    pub fn start(
        compression: Compression,
        limits: DecoderLimits,
        reader: impl Read + Send + 'static,
    ) -> Result<Decompressed> {
        let (send, messages) = sync_channel(Self::AHEAD);
        let (empty, returned) = channel();
        thread::Builder::new().name(format!("{} reader", compression.name())).spawn(move || {
            let last = produce(compression, limits, reader, &send, &returned);
            // A send error means that the receiver is gone, and with it the need for the message.
            let _ = send.send(last);
        })?;
        Ok(Decompressed { messages, empty, chunk: Vec::new(), taken: 0, ended: false })
    }
}

/// Sends chunks until the data ends or fails; returns the final message for the caller to send.
fn produce(
    compression: Compression,
    DecoderLimits { budget, threads }: DecoderLimits,
    reader: impl Read + Send,
    send: &SyncSender<ChunkMessage>,
    returned: &Receiver<Vec<u8>>,
) -> ChunkMessage {
    let mut offset = 0u64;
    let mut decoder = match compression.decoder(BufReader::with_capacity(256 << 10, reader), budget, threads) {
        Ok(decoder) => decoder,
        Err(error) => return ChunkMessage::Failed(compression.failure(budget, offset, error)),
    };
    loop {
        let mut chunk = returned.try_recv().unwrap_or_default();
        chunk.resize(Decompressed::CHUNK, 0);
        let (filled, end) = fill_from(&mut decoder, &mut chunk);
        chunk.truncate(filled);
        offset = offset.saturating_add(u64::try_from(filled).unwrap_or(u64::MAX));
        if filled > 0 && send.send(ChunkMessage::Chunk(chunk)).is_err() {
            return ChunkMessage::Ended;
        }
        match end {
            None => {}
            Some(Ok(())) => return ChunkMessage::Ended,
            Some(Err(error)) => return ChunkMessage::Failed(compression.failure(budget, offset, error)),
        }
    }
}

impl Source for Decompressed {
    fn read(&mut self, into: &mut [u8], offset: u64) -> Result<usize> {
        if self.taken == self.chunk.len() && !self.ended {
            // If the thread has ended, the chunk is freed.
            let _ = self.empty.send(std::mem::take(&mut self.chunk));
            self.taken = 0;
            match self.messages.recv() {
                Ok(ChunkMessage::Chunk(chunk)) => self.chunk = chunk,
                Ok(ChunkMessage::Ended) => self.ended = true,
                Ok(ChunkMessage::Failed(error)) => return Err(error),
                Err(_) => {
                    let gone = wording!("the decompression thread has ended", "解压线程已结束");
                    return Err(Error::at(offset, ErrorKind::Unreadable(gone)));
                }
            }
        }
        let len = into.len().min(self.chunk.len() - self.taken);
        into[..len].copy_from_slice(&self.chunk[self.taken..self.taken + len]);
        self.taken += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests;
