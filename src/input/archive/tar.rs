//! Entries of a tar archive, one after the other.
//!
//! ```text
//! { 512 bytes: name 100, mode 8, owner 16, size 12, time 12, checksum 8, type 1, link 100, "ustar", …, prefix 155
//!   content, padded to 512 }*
//! 512 zeros
//! ```
//!
//! Long names and sizes come in entries before: `L` has a name (GNU), `x` has lines `12 path=…` (POSIX). Those are limited:
//! libraries that read them whole take as much memory as a hostile archive says.

use std::io::{self, Read};

use crate::error::{Error, ErrorKind, Result};
use crate::wording::wording;

const BLOCK: usize = 512;
const BLOCK_BYTES: u64 = BLOCK as u64;

/// Place in the header of a sparse file (GNU) that is not 0 if blocks with more of its map follow; in such a block, of the same.
const SPARSE_MORE: usize = 482;
const SPARSE_MAP_MORE: usize = 504;

/// Maximum size of an entry with a name or facts about the next entry.
const MAX_EXTENSION: u64 = 64 << 10;

/// Entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TarEntry {
    /// Its path as stored.
    pub path: Vec<u8>,
    /// Kind of the entry.
    pub kind: TarKind,
    /// Bytes of its content.
    pub size: u64,
}

/// Kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TarKind {
    /// An ordinary file.
    File,
    /// A file with holes that are not in the archive.
    Sparse,
    /// A directory.
    Directory,
    /// A link, a device, or another thing without content.
    Other,
}

/// Reader of an archive; reads the content of the current entry.
pub struct TarReader<R> {
    reader: R,
    /// Bytes read.
    offset: u64,
    /// Bytes of the current entry that have not been read.
    left: u64,
    /// Bytes that pad them.
    padding: u64,
}

/// Facts from the entries before one.
#[derive(Debug, Default)]
struct Extension {
    path: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

impl<R: Read> TarReader<R> {
    /// Creates a reader that is before the first entry.
    pub fn new(reader: R) -> Self {
        TarReader { reader, offset: 0, left: 0, padding: 0 }
    }

    /// Returns the number of bytes read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next entry, past what is left of the current one; `None` at the end.
    pub fn next_entry(&mut self) -> Result<Option<TarEntry>> {
        let mut extension = Extension::default();
        loop {
            self.skip()?;
            let start = self.offset;
            let Some(header) = self.header()? else { return Ok(None) };
            if header[156] == b'S' && header[SPARSE_MORE] != 0 {
                self.pass_sparse_map()?;
            }
            let (kind, stored) = (header[156], size_of(&header).ok_or_else(|| malformed(start))?);
            let size =
                if matches!(kind, b'L' | b'K' | b'x' | b'g') { stored } else { extension.size.unwrap_or(stored) };
            self.padding = (BLOCK_BYTES - size % BLOCK_BYTES) % BLOCK_BYTES;
            self.left = size;
            let kind = match kind {
                b'L' => {
                    let name = self.extension(start)?;
                    extension.path = Some(name.split(|&byte| byte == 0).next().unwrap_or_default().to_owned());
                    continue;
                }
                b'x' => {
                    let records = self.extension(start)?;
                    extension.read(&records).ok_or_else(|| malformed(start))?;
                    continue;
                }
                b'K' | b'g' => continue,
                b'0' | b'7' | 0 if extension.sparse => TarKind::Sparse,
                b'0' | b'7' | 0 => TarKind::File,
                b'S' => TarKind::Sparse,
                b'5' => TarKind::Directory,
                _ => TarKind::Other,
            };
            let path = extension.path.take().unwrap_or_else(|| path_of(&header));
            return Ok(Some(TarEntry { path, kind, size }));
        }
    }

    /// Passes over what is left of the current entry.
    fn skip(&mut self) -> Result<()> {
        let rest = self.left.saturating_add(self.padding);
        let skipped =
            io::copy(&mut (&mut self.reader).take(rest), &mut io::sink()).map_err(|error| self.failed(error))?;
        self.offset = self.offset.saturating_add(skipped);
        // Some programs leave out the last padding.
        if skipped < self.left {
            return Err(Error::truncated(self.offset, self.left - skipped, 0));
        }
        (self.left, self.padding) = (0, 0);
        Ok(())
    }

    /// Passes over the blocks behind the header of a sparse file that tell where its data are.
    fn pass_sparse_map(&mut self) -> Result<()> {
        loop {
            let start = self.offset;
            let (block, filled) = self.block()?;
            if filled < BLOCK {
                return Err(Error::truncated(start, BLOCK_BYTES, filled as u64));
            }
            if block[SPARSE_MAP_MORE] == 0 {
                return Ok(());
            }
        }
    }

    /// Reads a header; `None` at the end.
    fn header(&mut self) -> Result<Option<[u8; BLOCK]>> {
        let start = self.offset;
        let (header, filled) = self.block()?;
        match filled {
            0 => Ok(None),
            BLOCK if header == [0; BLOCK] => Ok(None),
            BLOCK if has_checksum(&header) => Ok(Some(header)),
            BLOCK => Err(malformed(start)),
            less => Err(Error::truncated(start, BLOCK_BYTES, less as u64)),
        }
    }

    /// Reads a block, or what is left of the archive, and returns how many bytes that is.
    fn block(&mut self) -> Result<([u8; BLOCK], usize)> {
        let (mut block, mut filled) = ([0; BLOCK], 0);
        while filled < BLOCK {
            match self.reader.read(&mut block[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        self.offset += filled as u64;
        Ok((block, filled))
    }

    /// Reads an entry that says something about the next.
    fn extension(&mut self, start: u64) -> Result<Vec<u8>> {
        if self.left > MAX_EXTENSION {
            return Err(malformed(start));
        }
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).map_err(|error| self.failed(error))?;
        Ok(bytes)
    }

    fn failed(&self, error: io::Error) -> Error {
        match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::at(self.offset, ErrorKind::Io(error)),
        }
    }
}

impl<R: Read> Read for TarReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(into.len());
        let read = self.reader.read(&mut into[..most])?;
        if read == 0 && most > 0 {
            return Err(io::Error::other(Error::truncated(self.offset, self.left, 0)));
        }
        self.offset = self.offset.saturating_add(read as u64);
        self.left -= read as u64;
        Ok(read)
    }
}

impl Extension {
    /// Reads lines such as `20 path=shard-1.rdb`, each with its own length. Returns `None` if they are malformed.
    fn read(&mut self, mut records: &[u8]) -> Option<()> {
        while let Some(end) = records.iter().position(|&byte| byte == b' ') {
            let len: usize = std::str::from_utf8(&records[..end]).ok()?.parse().ok()?;
            let record = records.get(end + 1..len)?.strip_suffix(b"\n")?;
            let at = record.iter().position(|&byte| byte == b'=')?;
            let (name, value) = (&record[..at], &record[at + 1..]);
            match name {
                b"path" => self.path = Some(value.to_owned()),
                b"size" => self.size = Some(std::str::from_utf8(value).ok()?.parse().ok()?),
                _ => self.sparse |= name.starts_with(b"GNU.sparse."),
            }
            records = records.get(len..)?;
        }
        records.is_empty().then_some(())
    }
}

/// Returns whether a block is a header: its bytes add up to its checksum, that itself counted as blanks.
pub fn has_checksum(header: &[u8; BLOCK]) -> bool {
    let blanks = 148..156;
    let sum: u64 =
        header.iter().enumerate().map(|(at, &byte)| u64::from(if blanks.contains(&at) { b' ' } else { byte })).sum();
    number(&header[blanks.clone()]) == Some(sum) && &header[257..262] == b"ustar"
}

/// Returns the size of an entry, which GNU tar writes in binary above 8 GiB.
fn size_of(header: &[u8; BLOCK]) -> Option<u64> {
    let field = &header[124..136];
    if field[0] & 0x80 == 0 {
        return number(field);
    }
    let (high, low) = field.split_last_chunk::<8>()?;
    let is_small = high[0] == 0x80 && high[1..].iter().all(|&byte| byte == 0);
    is_small.then_some(u64::from_be_bytes(*low)).filter(|size| *size <= i64::MAX as u64)
}

/// Returns an octal number, with blanks or zeros around it.
fn number(field: &[u8]) -> Option<u64> {
    let text = field.split(|&byte| byte == 0).next().unwrap_or_default().trim_ascii();
    if text.is_empty() {
        return Some(0);
    }
    text.iter().try_fold(0_u64, |number, &digit| match digit {
        b'0'..=b'7' => Some(number << 3 | u64::from(digit - b'0')),
        _ => None,
    })
}

/// Returns the path in a header: POSIX splits long ones in two.
fn path_of(header: &[u8; BLOCK]) -> Vec<u8> {
    let text = |field: &[u8]| field.split(|&byte| byte == 0).next().unwrap_or_default().to_owned();
    let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
    // GNU's older form has times there.
    if &header[257..263] != b"ustar\0" || prefix.is_empty() { name } else { [prefix, name].join(&b'/') }
}

fn malformed(offset: u64) -> Error {
    Error::corrupt(offset, wording!("malformed header in the tar archive", "tar 归档中的头部格式错误"))
}
