//! Zipmaps (`zipmap.c`): the encoding of small hashes in Redis 2.0 to 2.4.
//!
//! ```text
//! u8 count (from 254 on: walk), { length, field, length, u8 free, value, free bytes }*, FF
//! length: one byte up to 253, or FE and u32
//! ```

use super::{chunk, slice};
use crate::error::{Error, Result};
use crate::wording::wording;

const END: u8 = 0xFF;
const LONG: u8 = 254;

/// Iterator over the pairs of a zipmap.
#[derive(Debug, Clone)]
pub struct Pairs<'a> {
    blob: &'a [u8],
    at: usize,
    offset: u64,
    seen: u64,
    /// First length that takes more bytes than it needs.
    wide: Option<u64>,
}

impl<'a> Pairs<'a> {
    /// Checks the end byte of a whole blob located at `offset` of the file.
    pub fn new(blob: &'a [u8], offset: u64) -> Result<Self> {
        match blob {
            [_, .., END] => Ok(Pairs { blob, at: 1, offset, seen: 0, wide: None }),
            _ => Err(Error::corrupt(offset, wording!("zipmap has no end byte", "zipmap 缺少结束字节"))),
        }
    }

    /// Returns the offset of the next pair.
    pub fn position(&self) -> u64 {
        self.offset + self.at as u64
    }

    /// Fails if the count after all pairs is one that servers refuse though it is not read: from 6.2 on they accept 254 only.
    pub fn check_unread_count(&self) -> Result<()> {
        if self.blob[0] == END { Err(self.wrong_count()) } else { Ok(()) }
    }

    /// Fails if a length was in the form of five bytes that one byte holds, which servers refuse from 6.2 on.
    pub fn check_lengths(&self) -> Result<()> {
        let long = wording!("zipmap length takes more bytes than it needs", "zipmap 长度的编码过长");
        self.wide.map_or(Ok(()), |offset| Err(Error::corrupt(offset, long)))
    }

    fn wrong_count(&self) -> Error {
        let (seen, announced) = (self.seen, self.blob[0]);
        Error::corrupt(
            self.offset,
            wording!(
                "zipmap of {seen} pairs declares {announced}",
                "zipmap 有 {seen} 对字段和值，却声明有 {announced} 对"
            ),
        )
    }

    fn length(&mut self) -> Result<usize> {
        let first = chunk::<1>(self.blob, self.at, self.offset)?[0];
        let (length, size) = match first {
            LONG => (u32::from_le_bytes(chunk(self.blob, self.at + 1, self.offset)?) as usize, 5),
            END => {
                return Err(Error::corrupt(
                    self.offset + self.at as u64,
                    wording!("zipmap field has no value", "zipmap 的字段没有值"),
                ));
            }
            short => (usize::from(short), 1),
        };
        if size > 1 && length < usize::from(LONG) {
            self.wide.get_or_insert(self.offset + self.at as u64);
        }
        self.at += size;
        Ok(length)
    }

    fn text(&mut self, len: usize) -> Result<&'a [u8]> {
        let text = slice(self.blob, self.at, len, self.offset)?;
        self.at += len;
        Ok(text)
    }

    fn pair(&mut self) -> Result<(&'a [u8], &'a [u8])> {
        let len = self.length()?;
        let field = self.text(len)?;
        let len = self.length()?;
        let free = usize::from(chunk::<1>(self.blob, self.at, self.offset)?[0]);
        self.at += 1;
        let value = self.text(len)?;
        self.text(free)?;
        self.seen += 1;
        Ok((field, value))
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Result<(&'a [u8], &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let last = self.blob.len() - 1;
        if self.at > last {
            return None;
        }
        if self.at == last {
            self.at = self.blob.len();
            let announced = u64::from(self.blob[0]);
            let wrong = announced < u64::from(LONG) && announced != self.seen;
            return wrong.then(|| Err(self.wrong_count()));
        }
        let start = Pairs::position(self);
        let pair = self.pair().and_then(|pair| match self.at > last {
            // The end byte would be part of the pair.
            true => Err(Error::corrupt(start, wording!("zipmap has no end byte", "zipmap 缺少结束字节"))),
            false => Ok(pair),
        });
        if pair.is_err() {
            self.at = self.blob.len();
        }
        Some(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(blob: &[u8]) -> Result<Vec<(&[u8], &[u8])>> {
        Pairs::new(blob, 0)?.collect()
    }

    #[test]
    fn pairs_are_read_and_free_bytes_skipped() {
        let blob = b"\x02\x03foo\x03\x02barxx\x01a\x00\x00\xff";
        assert_eq!(all(blob).unwrap(), [(&b"foo"[..], &b"bar"[..]), (b"a", b"")]);
    }

    #[test]
    fn counts_that_are_not_read_may_be_any() {
        for count in [b'\xfe', b'\xff'] {
            let blob = [count, 1, b'f', 1, 0, b'v', END];
            assert_eq!(all(&blob).unwrap(), [(&b"f"[..], &b"v"[..])]);
        }
    }

    #[test]
    fn false_fields_are_rejected() {
        for blob in [
            &b""[..],
            b"\x00",
            b"\x01\xff",
            b"\x01\x09f\xff",
            b"\x01\x01f\xff",
            b"\x01\x01f\x02\x00v\xff",
            b"\x63\x01f\x01\x01v\xff",
            b"\x01\xfe\xff\xff\xff\xff\xff",
            b"\x01\x01f\x00\x09\xff",
        ] {
            assert!(all(blob).is_err(), "{blob:?}");
        }
    }
}
