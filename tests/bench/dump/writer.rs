//! Writer of the format: header, auxiliary fields, database sizes, end, checksum; and strings.
//!
//! ```text
//! "REDIS0011" { FA name value }* FE 0 FB keys expiring { [FC expiry] type key value }* FF checksum
//! ```
//!
//! The number of keys precedes them but is known only after them. The header therefore has a fixed length, is rewritten
//! at the end, and its checksum is combined with that of the rest.

use std::io::{self, Seek, SeekFrom, Write};

use rdblens::internals::rdb::crc64;

use super::random::Random;

/// Size of the write buffer.
const BUFFER: usize = 1 << 20;
/// Shortest and longest time to live in milliseconds. The shortest leaves a server time to load a new dump.
const MIN_TTL_LEN: u64 = 5 * 60 * 1000;
const MAX_TTL_LEN: u64 = 30 * 24 * 3600 * 1000;

/// Totals of a dump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All keys.
    pub keys: u64,
    /// Keys with an expiry.
    pub expiring: u64,
    /// Bytes written so far, without those after the last key.
    pub bytes: u64,
}

/// Dump being written.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    buffer: Vec<u8>,
    /// Version of the format.
    version: u8,
    /// Creation time of the dump, in seconds since 1970.
    made_at: u64,
    /// Checksum of the bytes after the header, and their number.
    checksum: u64,
    summed: u64,
    tally: Tally,
}

impl<W: Write + Seek> Writer<W> {
    pub fn new(out: W, version: u8, made_at: u64) -> io::Result<Self> {
        let tally = Tally::default();
        let mut writer =
            Writer { out, buffer: Vec::with_capacity(BUFFER), version, made_at, checksum: 0, summed: 0, tally };
        let header = writer.header();
        writer.out.write_all(&header)?;
        writer.tally.bytes = header.len() as u64;
        Ok(writer)
    }

    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns whether a server of this version stores sets as listpacks.
    pub fn has_set_listpacks(&self) -> bool {
        self.version >= 11
    }

    fn header(&self) -> Vec<u8> {
        let mut header = format!("REDIS{:04}", self.version).into_bytes();
        let server = match self.version {
            ..10 => "6.2.14",
            10 => "7.0.15",
            11..15 => "7.2.5",
            15.. => "8.10.2",
        };
        for (name, value) in [("redis-ver", server), ("redis-bits", "64")] {
            header.push(0xFA);
            string(&mut header, name.as_bytes());
            string(&mut header, value.as_bytes());
        }
        header.push(0xFA);
        string(&mut header, b"ctime");
        string(&mut header, format!("{:010}", self.made_at).as_bytes());
        header.extend([0xFE, 0, 0xFB]);
        for count in [self.tally.keys, self.tally.expiring] {
            header.push(0x81);
            header.extend(count.to_be_bytes());
        }
        header
    }

    /// Writes a key; its value must follow.
    #[inline]
    pub fn key(&mut self, expires_at: Option<u64>, value_type: u8, name: &[u8]) -> io::Result<()> {
        self.tally.keys += 1;
        if let Some(time) = expires_at {
            self.tally.expiring += 1;
            self.put(&[0xFC])?;
            self.put(&time.to_le_bytes())?;
        }
        self.put(&[value_type])?;
        self.text(name)
    }

    /// Returns a random expiry for `percent` of all keys.
    #[inline]
    pub fn expiry(&self, random: &mut Random, percent: u64) -> Option<u64> {
        random.percent(percent).then(|| self.made_at * 1000 + random.between(MIN_TTL_LEN, MAX_TTL_LEN))
    }

    /// Writes raw bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        self.tally.bytes += bytes.len() as u64;
        if bytes.len() > BUFFER {
            self.sum(bytes);
            return self.out.write_all(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes a length or a count.
    #[inline]
    pub fn length(&mut self, length: u64) -> io::Result<()> {
        let (bytes, len) = length_bytes(length);
        self.put(bytes.get(..len).unwrap_or_default())
    }

    /// Writes an uncompressed string.
    #[inline]
    pub fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.length(text.len() as u64)?;
        self.put(text)
    }

    fn sum(&mut self, bytes: &[u8]) {
        let len = bytes.len() as u64;
        self.checksum = crc64::combine(self.checksum, crc64::checksum(bytes), len);
        self.summed += len;
    }

    fn flush(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.sum(&buffer);
        self.out.write_all(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    /// Ends the dump.
    pub fn finish(mut self) -> io::Result<Tally> {
        self.flush()?;
        self.sum(&[0xFF]);
        let header = self.header();
        let checksum = crc64::combine(crc64::checksum(&header), self.checksum, self.summed);
        self.out.write_all(&[0xFF])?;
        self.out.write_all(&checksum.to_le_bytes())?;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header)?;
        self.out.flush()?;
        Ok(self.tally)
    }
}

/// Encodes a length in as few bytes as possible.
#[inline]
fn length_bytes(length: u64) -> ([u8; 9], usize) {
    let mut bytes = [0; 9];
    let len = match length {
        0..0x40 => {
            bytes[0] = length as u8;
            1
        }
        0x40..0x4000 => {
            bytes[..2].copy_from_slice(&(length as u16 | 0x4000).to_be_bytes());
            2
        }
        0x4000..=0xFFFF_FFFF => {
            bytes[0] = 0x80;
            bytes[1..5].copy_from_slice(&(length as u32).to_be_bytes());
            5
        }
        _ => {
            bytes[0] = 0x81;
            bytes[1..].copy_from_slice(&length.to_be_bytes());
            9
        }
    };
    (bytes, len)
}

/// Appends a length.
pub fn length(out: &mut Vec<u8>, length: u64) {
    let (bytes, len) = length_bytes(length);
    out.extend_from_slice(&bytes[..len]);
}

/// Appends an uncompressed string.
pub fn string(out: &mut Vec<u8>, text: &[u8]) {
    length(out, text.len() as u64);
    out.extend_from_slice(text);
}

/// Appends a string as a server with `rdbcompression yes` stores it: compressed if that saves at least 4 bytes.
pub fn compressed(out: &mut Vec<u8>, text: &[u8]) {
    let block = if text.len() > 20 { lzf::compress(text).ok() } else { None };
    match block.filter(|block| block.len() + 4 <= text.len()) {
        Some(block) => {
            out.push(0xC3);
            length(out, block.len() as u64);
            length(out, text.len() as u64);
            out.extend_from_slice(&block);
        }
        None => string(out, text),
    }
}

/// Appends a string that is an integer, in the integer encoding that a server uses.
pub fn number(out: &mut Vec<u8>, number: i32) {
    if let Ok(small) = i8::try_from(number) {
        out.push(0xC0);
        out.extend(small.to_le_bytes());
    } else if let Ok(short) = i16::try_from(number) {
        out.push(0xC1);
        out.extend(short.to_le_bytes());
    } else {
        out.push(0xC2);
        out.extend(number.to_le_bytes());
    }
}
