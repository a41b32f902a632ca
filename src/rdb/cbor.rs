//! CBOR (RFC 8949) as RedisJSON stores documents from Redis 8.8 on (encoding version 4).
//!
//! Lengths are definite, names are text, and arrays whose elements have one numeric type are tagged byte strings (RFC 8746, and
//! a private tag for floats of 16 bits with the exponent of single precision). Anything else is no document. Written from the
//! sources of RedisJSON and its crate `ijson`.

/// Deepest nesting that the module loads.
const MAX_DEPTH: usize = 128;

/// Next part of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CborItem<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits, signed or unsigned.
    Integer(i128),
    /// A float.
    Float(f64),
    /// A string.
    Text(&'a str),
    /// Start of an array of this many elements.
    Array(u64),
    /// Start of an object of this many members.
    Object(u64),
    /// An array of numbers of one type.
    Numbers(NumberArray<'a>),
}

/// Array of numbers of one type, in little-endian bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberArray<'a> {
    element: NumberType,
    bytes: &'a [u8],
}

/// Type of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberType {
    /// Unsigned integers of this many bytes.
    Unsigned(usize),
    /// Signed integers of this many bytes.
    Signed(usize),
    Half,
    Brain,
    Single,
    Double,
}

/// Element of an array of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PackedNumber {
    /// An integer.
    Integer(i128),
    /// A float of at most 32 bits.
    Single(f32),
    /// A float of 64 bits.
    Double(f64),
}

impl NumberType {
    fn of_tag(tag: u64) -> Option<NumberType> {
        Some(match tag {
            64 => NumberType::Unsigned(1),
            69 => NumberType::Unsigned(2),
            70 => NumberType::Unsigned(4),
            71 => NumberType::Unsigned(8),
            72 => NumberType::Signed(1),
            77 => NumberType::Signed(2),
            78 => NumberType::Signed(4),
            79 => NumberType::Signed(8),
            84 => NumberType::Half,
            85 => NumberType::Single,
            86 => NumberType::Double,
            0x1_0000 => NumberType::Brain,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            NumberType::Unsigned(size) | NumberType::Signed(size) => size,
            NumberType::Half | NumberType::Brain => 2,
            NumberType::Single => 4,
            NumberType::Double => 8,
        }
    }
}

impl<'a> NumberArray<'a> {
    /// Returns the number of elements.
    pub fn len(self) -> u64 {
        (self.bytes.len() / self.element.size()) as u64
    }

    /// Returns the elements.
    pub fn numbers(self) -> impl Iterator<Item = PackedNumber> + 'a {
        let element = self.element;
        self.bytes.chunks_exact(element.size()).map(move |bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let word = u64::from_le_bytes(word);
            let [low, high] = [word.to_le_bytes()[0], word.to_le_bytes()[1]];
            match element {
                NumberType::Unsigned(_) => PackedNumber::Integer(word.into()),
                NumberType::Signed(size) => {
                    let unused = 64 - 8 * size;
                    PackedNumber::Integer((word.cast_signed() << unused >> unused).into())
                }
                NumberType::Half => PackedNumber::Single(half(u16::from_le_bytes([low, high]))),
                NumberType::Brain => PackedNumber::Single(f32::from_le_bytes([0, 0, low, high])),
                NumberType::Single => {
                    PackedNumber::Single(bytes.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes)))
                }
                NumberType::Double => PackedNumber::Double(f64::from_bits(word)),
            }
        })
    }
}

/// Returns a half-precision float.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits >> 10 & 31), u32::from(bits & 1023));
    let sign = u32::from(bits >> 15) << 31;
    let magnitude = match exponent {
        // Multiples of 2^-24.
        0 => f32::from(bits & 1023) / 16_777_216.0,
        31 => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

/// Sees the parts of a document in their order.
pub trait VisitCbor {
    /// Sees a value within `depth` arrays and objects.
    fn item(&mut self, item: CborItem<'_>, depth: usize);

    /// Sees the name of the member that follows.
    fn name(&mut self, _name: &str) {}

    /// Called between the elements of an array and the members of an object.
    fn separator(&mut self) {}

    /// Called at the end of an array or object.
    fn close(&mut self, _is_object: bool) {}
}

/// Open array or object.
#[derive(Debug, Clone, Copy)]
struct Open {
    is_object: bool,
    left: u64,
    is_first: bool,
}

/// Reads a document; returns `None` if the bytes are not one, after the parts before that were seen.
pub fn walk(bytes: &[u8], visit: &mut impl VisitCbor) -> Option<()> {
    walk_first(bytes, visit).is_ok_and(<[u8]>::is_empty).then_some(())
}

/// Verdict on a document: does the module load it?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It does, and ignores what is behind it.
    Document,
    /// It may: the bytes hold what the module does not write, but its decoder may take.
    Unknown,
    /// It refuses the item at this place.
    Broken(usize),
}

/// Returns whether the module loads the bytes.
pub fn judge(bytes: &[u8]) -> Verdict {
    struct Nothing;
    impl VisitCbor for Nothing {
        fn item(&mut self, _: CborItem<'_>, _: usize) {}
    }
    match walk_first(bytes, &mut Nothing) {
        Ok(_) => Verdict::Document,
        Err(rest) if is_foreign(rest) => Verdict::Unknown,
        Err(rest) => Verdict::Broken(bytes.len() - rest.len()),
    }
}

/// Returns whether an item is of a kind that the module does not write, but is valid CBOR.
fn is_foreign(item: &[u8]) -> bool {
    let is_indefinite = |first: u8| matches!(first >> 5, 2..=5) && first & 31 == 31;
    match *item {
        // Large integers, undefined, simple values.
        [0xc2 | 0xc3 | 0xf7 | 0xf8, ..] => true,
        [first, ..] if first >> 5 == 6 => {
            let mut tag = Reader { rest: item };
            tag.head().is_some() && tag.rest.first().is_some_and(|&first| is_indefinite(first))
        }
        [first, ..] => is_indefinite(first),
        [] => false,
    }
}

/// Reads a document, and returns the bytes behind it; or those from the item on that cannot be read.
fn walk_first<'a>(bytes: &'a [u8], visit: &mut impl VisitCbor) -> Result<&'a [u8], &'a [u8]> {
    let mut reader = Reader { rest: bytes };
    let mut open: Vec<Open> = Vec::new();
    loop {
        let start = reader.rest;
        let item = reader.item().ok_or(start)?;
        visit.item(item, open.len());
        let container = match item {
            CborItem::Array(left) => Some(Open { is_object: false, left, is_first: true }),
            CborItem::Object(left) => Some(Open { is_object: true, left, is_first: true }),
            _ => None,
        };
        if container.is_some() && open.len() == MAX_DEPTH {
            return Err(start);
        }
        open.extend(container);
        loop {
            let Some(last) = open.last_mut() else { return Ok(reader.rest) };
            if last.left > 0 {
                break;
            }
            visit.close(last.is_object);
            open.pop();
        }
        if let Some(last) = open.last_mut() {
            last.left -= 1;
            if !std::mem::take(&mut last.is_first) {
                visit.separator();
            }
            if last.is_object {
                let start = reader.rest;
                let Some(CborItem::Text(name)) = reader.item() else { return Err(start) };
                visit.name(name);
            }
        }
    }
}

/// Position in a document.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn item(&mut self) -> Option<CborItem<'a>> {
        let (major, info, argument) = self.head()?;
        Some(match major {
            0 => CborItem::Integer(argument.into()),
            1 => CborItem::Integer(-1 - i128::from(i64::try_from(argument).ok()?)),
            3 => CborItem::Text(std::str::from_utf8(self.take(argument)?).ok()?),
            4 => CborItem::Array(argument),
            5 => CborItem::Object(argument),
            6 => {
                let element = NumberType::of_tag(argument)?;
                let (2, _, len) = self.head()? else { return None };
                let bytes = self.take(len)?;
                if bytes.len() % element.size() != 0 {
                    return None;
                }
                CborItem::Numbers(NumberArray { element, bytes })
            }
            7 => match info {
                20 | 21 => CborItem::Bool(info == 21),
                22 => CborItem::Null,
                25 => CborItem::Float(half(u16::try_from(argument).ok()?).into()),
                26 => CborItem::Float(f32::from_bits(u32::try_from(argument).ok()?).into()),
                27 => CborItem::Float(f64::from_bits(argument)),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Takes the first byte of an item and its argument; an indefinite length is none.
    fn head(&mut self) -> Option<(u8, u8, u64)> {
        let first = *self.take(1)?.first()?;
        let info = first & 31;
        let argument = match info {
            0..24 => info.into(),
            24..28 => self.take(1 << (info - 24))?.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
            _ => return None,
        };
        Some((first >> 5, info, argument))
    }

    fn take(&mut self, len: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(len).ok()?)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes all that it sees.
    #[derive(Default)]
    struct Notes(String);

    impl VisitCbor for Notes {
        fn item(&mut self, item: CborItem<'_>, depth: usize) {
            self.0 += &match item {
                CborItem::Numbers(array) => {
                    format!("{depth}{:?}{:?}", array.element, array.numbers().collect::<Vec<_>>())
                }
                other => format!("{depth}{other:?}"),
            };
        }

        fn name(&mut self, name: &str) {
            self.0 += &format!("{name}=");
        }

        fn separator(&mut self) {
            self.0.push(' ');
        }

        fn close(&mut self, is_object: bool) {
            self.0.push(if is_object { '}' } else { ']' });
        }
    }

    fn noted(bytes: &[u8]) -> Option<String> {
        let mut notes = Notes::default();
        walk(bytes, &mut notes).map(|()| notes.0)
    }

    #[test]
    fn items_are_those_of_the_rfc() {
        for (bytes, expected) in [
            // Appendix A of RFC 8949.
            (&b"\x00"[..], "0Integer(0)"),
            (b"\x18\x64", "0Integer(100)"),
            (b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "0Integer(18446744073709551615)"),
            (b"\x29", "0Integer(-10)"),
            (b"\xf9\x3c\x00", "0Float(1.0)"),
            (b"\xf9\x7b\xff", "0Float(65504.0)"),
            (b"\xf9\x00\x01", "0Float(5.960464477539063e-8)"),
            (b"\xf9\xc4\x00", "0Float(-4.0)"),
            (b"\xfa\x47\xc3\x50\x00", "0Float(100000.0)"),
            (b"\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a", "0Float(1.1)"),
            (b"\xf5", "0Bool(true)"),
            (b"\xf6", "0Null"),
            (b"\x64IETF", "0Text(\"IETF\")"),
            (b"\x83\x01\x02\x80", "0Array(3)1Integer(1) 1Integer(2) 1Array(0)]]"),
            (b"\xa2\x61a\x01\x61b\x81\x02", "0Object(2)a=1Integer(1) b=1Array(1)2Integer(2)]}"),
            (b"\xa0", "0Object(0)}"),
        ] {
            assert_eq!(noted(bytes).as_deref(), Some(expected), "{bytes:?}");
        }
    }

    #[test]
    fn arrays_of_one_type_are_tagged_bytes() {
        for (bytes, expected) in [
            (&b"\xd8\x40\x42\x01\xff"[..], "0Unsigned(1)[Integer(1), Integer(255)]"),
            (b"\xd8\x48\x41\xff", "0Signed(1)[Integer(-1)]"),
            (b"\xd8\x4d\x42\x00\x80", "0Signed(2)[Integer(-32768)]"),
            (b"\xd8\x47\x48\x01\0\0\0\0\0\0\x80", "0Unsigned(8)[Integer(9223372036854775809)]"),
            (b"\xd8\x54\x42\x00\x3c", "0Half[Single(1.0)]"),
            (b"\xd8\x55\x44\x00\x00\xc0\x3f", "0Single[Single(1.5)]"),
            (b"\xd8\x56\x48\0\0\0\0\0\0\xf8\x3f", "0Double[Double(1.5)]"),
            (b"\xda\x00\x01\x00\x00\x42\x80\x3f", "0Brain[Single(1.0)]"),
            (b"\xd8\x46\x40", "0Unsigned(4)[]"),
        ] {
            assert_eq!(noted(bytes).as_deref(), Some(expected), "{bytes:?}");
        }
    }

    #[test]
    fn only_what_the_module_refuses_is_broken() {
        for (bytes, expected) in [
            (&b"\x82\x01\x02"[..], Verdict::Document),
            // The module ignores what follows.
            (b"\x81\x01\x02", Verdict::Document),
            (b"\x82\x01", Verdict::Broken(2)),
            (b"\xa1\x01\x02", Verdict::Broken(1)),
            (b"\x81\x61\xff", Verdict::Broken(1)),
            (b"\x82\x01\xd8\x4d\x41\0", Verdict::Broken(2)),
            (b"\x1c", Verdict::Broken(0)),
            (b"\x81\x9f\xff", Verdict::Unknown),
            (b"\xc2\x41\x01", Verdict::Unknown),
            (b"\xd8\x40\x5f\xff", Verdict::Unknown),
            (b"\xf7", Verdict::Unknown),
        ] {
            assert_eq!(judge(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn other_bytes_are_no_document() {
        let deep = [vec![0x81; 129], vec![0xf6]].concat();
        for bytes in [
            &b""[..],
            b"\x18",
            b"\x1c",
            b"\x41a",
            b"\x61\xff",
            b"\x9f\xff",
            b"\x82\x01",
            b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x00",
            b"\xa1\x01\x02",
            b"\x00\x00",
            b"\xd8\x4d\x41\0",
            b"\xd8\x20\x40",
            b"\x3b\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\xf7",
            &deep,
        ] {
            assert_eq!(noted(bytes), None, "{bytes:?}");
        }
        assert!(noted(&deep[1..]).is_some());
    }
}
