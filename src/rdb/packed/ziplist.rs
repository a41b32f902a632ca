//! Ziplists (`ziplist.c`, written by servers up to 6.2).
//!
//! ```text
//! u32 bytes, u32 tail, u16 count (FFFF: walk), { prevlen, encoding, data }*, FF
//! ```

use super::{PackedElement, chunk, slice};
use crate::error::{Error, Result};
use crate::wording::wording;

/// Size of the header in bytes.
pub const HEADER: usize = 10;
const UNKNOWN: u16 = u16::MAX;
const END: u8 = 0xFF;
/// Marker of a five-byte `prevlen`, used for previous entries of this size or more.
const LONG_PREVIOUS: u8 = 254;

/// Returns the entry count from the header, or `None` if only a walk can tell.
///
/// `prefix` holds at least the header; `len` is the size of the whole blob.
pub fn count(prefix: &[u8], len: u64, offset: u64) -> Result<Option<u64>> {
    let total = u32::from_le_bytes(chunk(prefix, 0, offset)?);
    let tail = u32::from_le_bytes(chunk(prefix, 4, offset)?);
    let count = u16::from_le_bytes(chunk(prefix, 8, offset)?);
    if u64::from(total) != len || len <= HEADER as u64 {
        return Err(Error::corrupt(
            offset,
            wording!(
                "ziplist of {len} bytes declares a size of {total}",
                "ziplist 长 {len} 字节，却声明为 {total} 字节"
            ),
        ));
    }
    if u64::from(tail) > len - 1 {
        return Err(Error::corrupt(
            offset + 4,
            wording!(
                "ziplist of {len} bytes has its last entry at {tail}",
                "ziplist 长 {len} 字节，最后一项却位于 {tail}"
            ),
        ));
    }
    if count != UNKNOWN && u64::from(count) > (len - HEADER as u64 - 1) / 2 {
        return Err(Error::corrupt(
            offset + 8,
            wording!("ziplist of {len} bytes declares {count} entries", "ziplist 长 {len} 字节，却声明有 {count} 项"),
        ));
    }
    Ok((count != UNKNOWN).then_some(u64::from(count)))
}

/// Iterator over the entries of a ziplist.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    /// The ziplist without its end byte, which no entry may reach.
    blob: &'a [u8],
    at: usize,
    offset: u64,
    announced: Option<u64>,
    seen: u64,
    previous: usize,
    ended: bool,
}

impl<'a> Entries<'a> {
    /// Checks header and end byte of a whole blob located at `offset` of the file.
    pub fn new(blob: &'a [u8], offset: u64) -> Result<Self> {
        let announced = count(blob, blob.len() as u64, offset)?;
        match blob {
            [blob @ .., END] => Ok(Entries { blob, at: HEADER, offset, announced, seen: 0, previous: 0, ended: false }),
            _ => Err(Error::corrupt(offset, wording!("ziplist has no end byte", "ziplist 缺少结束字节"))),
        }
    }

    /// Returns the offset of the next entry.
    pub fn position(&self) -> u64 {
        self.offset + self.at as u64
    }

    fn entry(&mut self) -> Result<PackedElement<'a>> {
        let (blob, start, offset) = (self.blob, self.at, self.offset);
        let here = offset + start as u64;
        let first = chunk::<1>(blob, start, offset)?[0];
        if first == END {
            return Err(Error::corrupt(
                here,
                wording!("ziplist end byte before the end", "ziplist 的结束字节提前出现"),
            ));
        }
        let (previous, head) = match first {
            LONG_PREVIOUS => (u32::from_le_bytes(chunk(blob, start + 1, offset)?) as usize, 5),
            short => (usize::from(short), 1),
        };
        if previous != self.previous {
            let (is, told) = (self.previous, previous);
            return Err(Error::corrupt(
                here,
                wording!(
                    "ziplist entry of {is} bytes is followed by a prevlen of {told}",
                    "ziplist 的一项长 {is} 字节，后一项的 prevlen 却为 {told}"
                ),
            ));
        }
        let at = start + head;
        let text = |head: usize, len: usize| {
            Ok::<_, Error>((PackedElement::Text(slice(blob, at + head, len, offset)?), head + len))
        };
        let encoding = chunk::<1>(blob, at, offset)?[0];
        let (entry, size) = match encoding {
            0x00..=0x3F => text(1, usize::from(encoding))?,
            0x40..=0x7F => text(2, usize::from(u16::from_be_bytes(chunk(blob, at, offset)?) & 0x3FFF))?,
            0x80..=0xBF => text(5, u32::from_be_bytes(chunk(blob, at + 1, offset)?) as usize)?,
            0xC0 => (PackedElement::Int(i64::from(i16::from_le_bytes(chunk(blob, at + 1, offset)?))), 3),
            0xD0 => (PackedElement::Int(i64::from(i32::from_le_bytes(chunk(blob, at + 1, offset)?))), 5),
            0xE0 => (PackedElement::Int(i64::from_le_bytes(chunk(blob, at + 1, offset)?)), 9),
            0xF0 => {
                // 24 bits: load them into the upper bytes and shift down to extend the sign.
                let [a, b, c] = chunk(blob, at + 1, offset)?;
                (PackedElement::Int(i64::from(i32::from_le_bytes([0, a, b, c]) >> 8)), 4)
            }
            0xFE => (PackedElement::Int(i64::from(i8::from_le_bytes(chunk(blob, at + 1, offset)?))), 2),
            // The value is in the encoding byte: F1 is 0, FD is 12.
            0xF1..=0xFD => (PackedElement::Int(i64::from(encoding & 0x0F) - 1), 1),
            _ => {
                let at = offset + at as u64;
                return Err(Error::corrupt(
                    at,
                    wording!("unknown ziplist encoding {encoding:#04x}", "未知的 ziplist 编码 {encoding:#04x}"),
                ));
            }
        };
        self.previous = head + size;
        self.at = start + self.previous;
        self.seen += 1;
        Ok(entry)
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<PackedElement<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.blob.len() {
            return if self.ended { None } else { self.end() };
        }
        let entry = self.entry();
        if entry.is_err() {
            self.at = self.blob.len();
            self.ended = true;
        }
        Some(entry)
    }
}

impl Entries<'_> {
    /// Compares the number of entries and the start of the last one with the header, once.
    #[inline]
    fn end<T>(&mut self) -> Option<Result<T>> {
        self.ended = true;
        let seen = self.seen;
        if let Some(announced) = self.announced.filter(|&announced| announced != seen) {
            return Some(Err(Error::corrupt(
                self.offset + 8,
                wording!(
                    "ziplist of {seen} entries declares {announced}",
                    "ziplist 有 {seen} 项，却声明有 {announced} 项"
                ),
            )));
        }
        let (tail, last) = (tail(self.blob), self.at - self.previous);
        (seen > 0 && tail != Some(last)).then(|| {
            let tail = tail.unwrap_or_default();
            Err(Error::corrupt(
                self.offset + 4,
                wording!(
                    "ziplist declares its last entry at {tail}, but it is at {last}",
                    "ziplist 声明最后一项位于 {tail}，实际位于 {last}"
                ),
            ))
        })
    }
}

/// Returns the position of the last entry, as the header has it.
fn tail(blob: &[u8]) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*blob.get(4..)?.first_chunk()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(blob: &[u8]) -> Result<Vec<PackedElement<'_>>> {
        Entries::new(blob, 0)?.collect()
    }

    fn ziplist(entries: &[&[u8]]) -> Vec<u8> {
        let body = entries.concat();
        let len = HEADER + body.len() + 1;
        let tail = len - 1 - entries.last().map_or(0, |last| last.len());
        let mut blob = vec![len as u8, 0, 0, 0, tail as u8, 0, 0, 0, entries.len() as u8, 0];
        blob.extend(body);
        blob.push(END);
        blob
    }

    #[test]
    fn text_and_integers_are_read() {
        let blob =
            ziplist(&[&[0, 0x01, b'a'], &[3, 0xF3], &[2, 0xFE, 0xFF], &[3, 0xC0, 0x2C, 0x01], &[4, 0xF0, 0, 0, 0x80]]);
        let expected = [
            PackedElement::Text(b"a"),
            PackedElement::Int(2),
            PackedElement::Int(-1),
            PackedElement::Int(300),
            PackedElement::Int(-8_388_608),
        ];
        assert_eq!(all(&blob).unwrap(), expected);
    }

    #[test]
    fn last_entry_does_not_reach_the_end_byte() {
        let mut blob = ziplist(&[&[0, 0x01, b'a'], &[3, 0x01, b'b']]);
        let last = blob.len() - 3;
        blob[last] = 0x02;
        assert!(all(&blob).is_err());
        blob[8] = 0xFF;
        blob[9] = 0xFF;
        assert!(all(&blob).is_err());
    }

    #[test]
    fn false_fields_are_rejected() {
        let good = ziplist(&[&[0, 0x01, b'a'], &[3, 0xF3]]);
        for (at, byte) in
            [(0, 99), (4, 99), (4, 10), (4, 14), (8, 3), (8, 99), (10, 1), (11, 0x3F), (13, 9), (14, 0xFF)]
        {
            let mut bad = good.clone();
            bad[at] = byte;
            assert!(all(&bad).is_err(), "byte {at}");
        }
    }
}
