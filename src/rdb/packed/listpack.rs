//! Listpacks (`listpack.c`).
//!
//! ```text
//! u32 bytes, u16 count (FFFF: walk), { encoding, data, backlen }*, FF
//! ```

use super::{PackedElement, chunk, slice};
use crate::error::{Error, Result};
use crate::wording::wording;

/// Size of the header in bytes.
pub const HEADER: usize = 6;
/// Count that means "too many to store here, walk the elements".
const UNKNOWN: u16 = u16::MAX;
const END: u8 = 0xFF;

/// Checks the size in the header and returns the element count in it.
#[inline(always)]
fn size(prefix: &[u8], len: u64, offset: u64) -> Result<u16> {
    let [total @ .., low, high] = chunk::<HEADER>(prefix, 0, offset)?;
    let total = u32::from_le_bytes(total);
    if u64::from(total) != len || len <= HEADER as u64 {
        return Err(wrong_size(total, len, offset));
    }
    Ok(u16::from_le_bytes([low, high]))
}

#[cold]
fn wrong_size(total: u32, len: u64, offset: u64) -> Error {
    Error::corrupt(
        offset,
        wording!("listpack of {len} bytes declares a size of {total}", "listpack 长 {len} 字节，却声明为 {total} 字节"),
    )
}

/// Returns the element count from the header, or `None` if only a walk can tell.
///
/// `prefix` holds at least the header; `len` is the size of the whole blob.
#[inline(always)]
pub fn count(prefix: &[u8], len: u64, offset: u64) -> Result<Option<u64>> {
    let count = size(prefix, len, offset)?;
    // An element takes at least two bytes: encoding and backlen.
    if count != UNKNOWN && u64::from(count) > (len - HEADER as u64 - 1) / 2 {
        return Err(wrong_count(count, len, offset));
    }
    Ok((count != UNKNOWN).then_some(u64::from(count)))
}

#[cold]
fn wrong_count(count: u16, len: u64, offset: u64) -> Error {
    Error::corrupt(
        offset + 4,
        wording!(
            "listpack of {len} bytes declares {count} elements",
            "listpack 长 {len} 字节，却声明有 {count} 个元素"
        ),
    )
}

/// Returns the first element if it is an integer. `start` are the first bytes of the listpack.
#[inline(always)]
pub fn first_int(start: &[u8]) -> Option<i64> {
    int(start.get(HEADER..)?)
}

/// Returns the element that these bytes begin with if it is an integer.
#[inline(always)]
fn int(bytes: &[u8]) -> Option<i64> {
    Some(match *bytes.first()? {
        byte @ 0x00..=0x7F => i64::from(byte),
        0xC0..=0xDF => i64::from(i16::from_be_bytes(*bytes.first_chunk()?) << 3 >> 3),
        0xF1 => i64::from(i16::from_le_bytes(*bytes.get(1..)?.first_chunk()?)),
        0xF2 => {
            let [a, b, c] = *bytes.get(1..)?.first_chunk()?;
            i64::from(i32::from_le_bytes([0, a, b, c]) >> 8)
        }
        0xF3 => i64::from(i32::from_le_bytes(*bytes.get(1..)?.first_chunk()?)),
        0xF4 => i64::from_le_bytes(*bytes.get(1..)?.first_chunk()?),
        _ => return None,
    })
}

/// Iterator over the elements of a listpack.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    /// The listpack without its end byte, which no element may reach.
    blob: &'a [u8],
    at: usize,
    offset: u64,
    announced: Option<u64>,
    seen: u64,
    met_edge: bool,
}

impl<'a> Elements<'a> {
    /// Checks header and end byte of a whole blob located at `offset` of the file.
    pub fn new(blob: &'a [u8], offset: u64) -> Result<Self> {
        let announced = count(blob, blob.len() as u64, offset)?;
        Elements::between(blob, offset, announced)
    }

    /// Like [`Elements::new`], but does not compare the number of elements with the header, as servers do for streams.
    pub fn uncounted(blob: &'a [u8], offset: u64) -> Result<Self> {
        size(blob, blob.len() as u64, offset)?;
        Elements::between(blob, offset, None)
    }

    fn between(blob: &'a [u8], offset: u64, announced: Option<u64>) -> Result<Self> {
        match blob {
            [blob @ .., END] => Ok(Elements { blob, at: HEADER, offset, announced, seen: 0, met_edge: false }),
            _ => Err(Error::corrupt(offset, wording!("listpack has no end byte", "listpack 缺少结束字节"))),
        }
    }

    /// Returns the offset of the next element.
    pub fn position(&self) -> u64 {
        self.offset + self.at as u64
    }

    /// Returns whether an element so far has a size whose backlen is a byte shorter on some servers: [`EDGES`].
    pub fn met_edge(&self) -> bool {
        self.met_edge
    }

    /// Returns the length of the next element as text; `None` at the end.
    ///
    /// Faster than reading the element: most are short texts and numbers, whose backlen has one byte.
    #[inline]
    pub fn next_len(&mut self) -> Result<Option<u64>> {
        if let Some((size, len)) = short_len(self.blob.get(self.at..).unwrap_or_default())
            && self.blob.get(self.at + usize::from(size)) == Some(&size)
        {
            self.at += usize::from(size) + 1;
            self.seen += 1;
            return Ok(Some(len));
        }
        Ok(self.next().transpose()?.map(|element| element.len()))
    }

    fn element(&mut self) -> Result<PackedElement<'a>> {
        let (blob, at, offset) = (self.blob, self.at, self.offset);
        let first = chunk::<1>(blob, at, offset)?[0];
        let here = || offset + at as u64;
        let text = |head: usize, len: usize| {
            Ok::<_, Error>((PackedElement::Text(slice(blob, at + head, len, offset)?), head + len))
        };
        let (element, size) = match first {
            0x00..=0x7F => (PackedElement::Int(i64::from(first)), 1),
            0x80..=0xBF => text(1, usize::from(first & 0x3F))?,
            0xC0..=0xDF => {
                let raw = u16::from_be_bytes(chunk(blob, at, offset)?) & 0x1FFF;
                // 13 bits in two's complement: values from 0x1000 up are negative.
                let number = if raw < 0x1000 { i64::from(raw) } else { i64::from(raw) - 0x2000 };
                (PackedElement::Int(number), 2)
            }
            0xE0..=0xEF => text(2, usize::from(u16::from_be_bytes(chunk(blob, at, offset)?) & 0x0FFF))?,
            0xF0 => {
                let len = u32::from_le_bytes(chunk(blob, at + 1, offset)?);
                text(
                    5,
                    usize::try_from(len).map_err(|_| {
                        Error::corrupt(
                            here(),
                            wording!("listpack element is larger than the address space", "listpack 元素超出地址空间"),
                        )
                    })?,
                )?
            }
            0xF1 => (PackedElement::Int(i64::from(i16::from_le_bytes(chunk(blob, at + 1, offset)?))), 3),
            0xF2 => {
                // 24 bits: load them into the upper bytes and shift down to extend the sign.
                let [a, b, c] = chunk(blob, at + 1, offset)?;
                (PackedElement::Int(i64::from(i32::from_le_bytes([0, a, b, c]) >> 8)), 4)
            }
            0xF3 => (PackedElement::Int(i64::from(i32::from_le_bytes(chunk(blob, at + 1, offset)?))), 5),
            0xF4 => (PackedElement::Int(i64::from_le_bytes(chunk(blob, at + 1, offset)?)), 9),
            END => {
                return Err(Error::corrupt(
                    here(),
                    wording!("listpack end byte before the end", "listpack 的结束字节提前出现"),
                ));
            }
            _ => {
                return Err(Error::corrupt(
                    here(),
                    wording!("unknown listpack encoding {first:#04x}", "未知的 listpack 编码 {first:#04x}"),
                ));
            }
        };
        let is_edge = EDGES.contains(&(size as u64));
        let is_short = is_edge && blob.get(at + size) == Some(&SHORT);
        let back = slice(blob, at + size, backlen(size as u64) - usize::from(is_short), offset)?;
        self.met_edge |= is_edge;
        // Most elements are short, and so are their backlens.
        if !matches!(back, [told @ ..0x80] if usize::from(*told) == size) {
            check_backlen(&blob[..at + size + back.len()], size, here())?;
        }
        self.at = at + size + back.len();
        self.seen += 1;
        Ok(element)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<PackedElement<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.blob.len() {
            return self.end();
        }
        let element = self.element();
        if element.is_err() {
            self.at = self.blob.len();
            self.announced = None;
        }
        Some(element)
    }
}

impl Elements<'_> {
    /// Compares the number of elements with the header, once.
    fn end<T>(&mut self) -> Option<Result<T>> {
        let (announced, seen) = (self.announced.take()?, self.seen);
        (announced != seen).then(|| {
            Err(Error::corrupt(
                self.offset + 4,
                wording!(
                    "listpack of {seen} elements declares {announced}",
                    "listpack 有 {seen} 个元素，却声明有 {announced} 个"
                ),
            ))
        })
    }
}

/// Returns the size, and the length as text, of the element that these bytes begin with, if it is a short text or a number.
#[inline]
fn short_len(bytes: &[u8]) -> Option<(u8, u64)> {
    let size = match *bytes.first()? {
        first @ 0x80..=0xBF => return Some((1 + (first & 0x3F), u64::from(first & 0x3F))),
        first @ 0x00..=0x7F => return Some((1, 1 + u64::from(first > 9) + u64::from(first > 99))),
        0xC0..=0xDF => 2,
        0xF1 => 3,
        0xF2 => 4,
        0xF3 => 5,
        0xF4 => 9,
        _ => return None,
    };
    Some((size, PackedElement::Int(int(bytes)?).len()))
}

/// Sizes of elements at which the backlen of Redis 8.10 and Valkey 9.1 is a byte shorter than that of servers before them: the largest
/// that 7 bits per byte hold. Neither reads what the other writes.
const EDGES: [u64; 3] = [16_383, 2_097_151, 268_435_455];
/// First byte of the shorter backlen. The longer one begins with 0.
const SHORT: u8 = 0x7F;

/// Returns the size of the backlen field for an element of `size` bytes. In servers before Redis 8.10 and Valkey 9.1, each step comes one
/// below what 7 bits per byte could hold.
pub const fn backlen(size: u64) -> usize {
    match size {
        0..=127 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    }
}

/// Compares the size of the last element in `bytes` with the backlen behind it. As in the servers, the field is read
/// backwards as long as bit 7 is set.
fn check_backlen(bytes: &[u8], size: usize, offset: u64) -> Result<()> {
    let mut told = 0u64;
    for (shift, byte) in (0..=28).step_by(7).zip(bytes.iter().rev()) {
        told |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        if shift == 28 {
            told = u64::MAX;
        }
    }
    if told == size as u64 {
        return Ok(());
    }
    Err(Error::corrupt(
        offset,
        wording!(
            "listpack element of {size} bytes has a backlen of {told}",
            "listpack 元素长 {size} 字节，backlen 却为 {told}"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(blob: &[u8]) -> Result<Vec<PackedElement<'_>>> {
        Elements::new(blob, 0)?.collect()
    }

    #[test]
    fn text_and_integers_are_read() {
        let blob = b"\x0d\0\0\0\x02\0\x81\x66\x02\x81\x76\x02\xff";
        assert_eq!(all(blob).unwrap(), [PackedElement::Text(b"f"), PackedElement::Text(b"v")]);
        let numbers = [&[0x7F, 1][..], &[0xDF, 0xFF, 2], &[0xF1, 0, 0x80, 3], &[0xF2, 0xFF, 0xFF, 0xFF, 4]].concat();
        let mut blob = vec![7 + numbers.len() as u8, 0, 0, 0, 4, 0];
        blob.extend(&numbers);
        blob.push(END);
        assert_eq!(all(&blob).unwrap(), [127, -1, -32768, -1].map(PackedElement::Int));
    }

    #[test]
    fn first_integer_is_read_whatever_its_width() {
        let first = |element: &[u8]| first_int(&[&[0; HEADER][..], element].concat());
        let [small, medium] = [&[0x7F][..], &[0xDF, 0xFF]];
        assert_eq!(
            [small, medium, &[0xF1, 0, 0x80], &[0xF2, 0, 0, 0x80]].map(first),
            [127, -1, -32768, -8_388_608].map(Some)
        );
        assert_eq!(first(&[0xF3, 0, 0, 0, 0x80]), Some(i64::from(i32::MIN)));
        assert_eq!(first(&[0xF4, 0, 0, 0, 0, 0, 0, 0, 0x80]), Some(i64::MIN));
        assert_eq!([&[0x81, b'7'][..], &[0xF3, 0, 0, 0], &[]].map(first), [None; 3]);
    }

    #[test]
    fn false_fields_are_rejected() {
        let good = b"\x0d\0\0\0\x02\0\x81\x66\x02\x81\x76\x02\xff".to_vec();
        for (at, byte) in [(0, 12), (4, 3), (4, 200), (8, 3), (6, 0x9F), (12, 0), (6, 0xF7), (6, 0xFF)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert!(all(&bad).is_err(), "byte {at}");
        }
    }

    #[test]
    fn last_element_does_not_reach_the_end_byte() {
        // A string of 125 bytes in the 12-bit form has 127 bytes, and the low bits of the end byte are its backlen.
        let mut blob = [&[0x86, 0, 0, 0, 1, 0, 0xE0, 125], &[b's'; 125][..], &[END]].concat();
        assert!(all(&blob).is_err());
        blob[4] = 0;
        assert!(all(&blob).is_err());
    }

    #[test]
    fn backlen_is_read_backwards_to_the_first_clear_bit() {
        // Element 0 of one byte, whose backlen says that more of it stands before: seven bits of the element itself, all 0.
        assert_eq!(all(b"\x09\0\0\0\x01\0\x00\x81\xff").unwrap(), [PackedElement::Int(0)]);
        assert!(all(b"\x09\0\0\0\x01\0\x01\x81\xff").is_err());
        let long = [&[0xE0, 200], &[b'x'; 200][..]].concat();
        let blob = |backlen: [u8; 2]| [&[211, 0, 0, 0, 1, 0], &long[..], &backlen, &[END]].concat();
        assert_eq!(all(&blob([1, 0x80 | 74])).unwrap().len(), 1);
        assert!(all(&blob([1, 74])).is_err() && all(&blob([0x81, 0x80 | 74])).is_err());
    }

    #[test]
    fn both_backlens_of_an_edge_are_read() {
        for (edge, backlens) in [
            (16_383, [&[0, 0xFF, 0xFF][..], &[0x7F, 0xFF]]),
            (2_097_151, [&[0, 0xFF, 0xFF, 0xFF], &[0x7F, 0xFF, 0xFF]]),
        ] {
            let element = [&[0xF0][..], &(edge as u32 - 5).to_le_bytes(), &vec![b'x'; edge - 5]].concat();
            let met_edge = |backlen: &[u8]| {
                let body = [&element[..], backlen, &[7, 1]].concat();
                let len = (HEADER + body.len() + 1) as u32;
                let blob = [&len.to_le_bytes()[..], &[2, 0], &body, &[END]].concat();
                let mut elements = Elements::new(&blob, 0).unwrap();
                let all: Result<Vec<_>> = elements.by_ref().collect();
                all.ok().filter(|all| all.len() == 2 && all[1] == PackedElement::Int(7)).map(|_| elements.met_edge())
            };
            assert_eq!(backlens.map(met_edge), [Some(true); 2], "{edge}");
            assert_eq!(met_edge(&[&[0x7F][..], backlens[0]].concat()), None, "{edge}");
        }
        assert!(!Elements::new(b"\x09\0\0\0\x01\0\x07\x01\xff", 0).unwrap().met_edge());
    }

    #[test]
    fn uncounted_elements_ignore_the_count_alone() {
        let blob = b"\x0d\0\0\0\x07\0\x81\x66\x02\x81\x76\x02\xff";
        assert!(all(blob).is_err());
        assert_eq!(Elements::uncounted(blob, 0).unwrap().count(), 2);
        assert!(Elements::uncounted(&blob[..12], 0).is_err());
    }

    proptest::proptest! {
        #[test]
        fn lengths_are_those_of_the_elements(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..12),
            texts in proptest::collection::vec(0usize..70, 0..9),
            numbers in proptest::collection::vec(proptest::num::i64::ANY, 0..9),
        ) {
            let text = |len: &usize| match u8::try_from(*len) {
                Ok(short @ 0..64) => [&[0x80 | short][..], &vec![b'a'; *len], &[short + 1]].concat(),
                _ => [&[0xE0, *len as u8][..], &vec![b'a'; *len], &[*len as u8 + 2]].concat(),
            };
            let mut body: Vec<u8> = texts.iter().flat_map(text).collect();
            for (at, number) in numbers.iter().enumerate() {
                let (first, bytes) = [(None, 1), (Some(0xF1), 2), (Some(0xF2), 3), (Some(0xF3), 4), (Some(0xF4), 8)][at % 5];
                let low = number.to_le_bytes();
                match first {
                    None if number % 2 == 0 => body.extend([low[0] & 0x7F, 1]),
                    None => body.extend([0xC0 | low[0] & 0x1F, low[1], 2]),
                    Some(first) => body.extend([&[first][..], &low[..bytes], &[bytes as u8 + 1]].concat()),
                }
            }
            let count = texts.len() + numbers.len();
            for rest in [&[][..], &bytes] {
                let len = HEADER + body.len() + rest.len() + 1;
                let header = [len as u8, (len >> 8) as u8, 0, 0, count as u8, 0];
                let blob = [&header[..], &body, rest, &[END]].concat();
                let mut elements = Elements::new(&blob, 0).unwrap();
                let lengths = || -> Result<Vec<u64>> { std::iter::from_fn(|| elements.next_len().transpose()).collect() };
                let expected = all(&blob).map(|all| all.iter().map(PackedElement::len).collect::<Vec<_>>());
                match ({ lengths }(), expected) {
                    (Ok(lengths), Ok(expected)) => proptest::prop_assert_eq!(lengths, expected),
                    (lengths, expected) => proptest::prop_assert_eq!(lengths.is_err(), expected.is_err()),
                }
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut blob in proptest::collection::vec(proptest::num::u8::ANY, 7..80)) {
            let len = blob.len() as u8;
            blob[..4].copy_from_slice(&[len, 0, 0, 0]);
            *blob.last_mut().unwrap() = END;
            let _ = all(&blob);
        }
    }
}
