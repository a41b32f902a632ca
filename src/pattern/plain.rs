//! Plain names: names that are their own pattern, such as `user:profile:cart`.
//!
//! A name is plain if it is short ASCII and contains nothing that an id or a hash tag needs: no digit, `@`, brace or
//! control character. It needs no classification, only the positions of its separators. Lower-case letters and separators
//! are recognised sixteen bytes at a time; any other byte is checked individually.

use super::block::{BLOCK, Block, each_block};
use super::segment::Separators;

/// Longest plain name: bitmaps have one bit for each byte, and one for its end.
pub const MAX_LEN: usize = BITS - 1;

/// Bits of a bitmap.
const BITS: usize = u64::BITS as usize;

/// A plain name.
#[derive(Debug, Clone, Copy)]
pub struct PlainName<'a> {
    bytes: &'a [u8],
    /// Bitmap of separators.
    separators: u64,
    /// Bitmap of bytes that are neither separators nor lower-case letters.
    others: u64,
    segments: u32,
}

impl<'a> PlainName<'a> {
    /// Returns the bytes of the name: ASCII, and not empty.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the bitmap of separators: bit `i` is set if byte `i` is one.
    #[inline]
    pub fn separators(&self) -> u64 {
        self.separators
    }

    /// Returns the bitmap of the ends of segments: the separators and the end of the name.
    #[inline]
    pub fn ends(&self) -> u64 {
        self.separators | 1 << (self.bytes.len() % BITS)
    }

    /// Returns the number of its segments; at least one.
    #[inline]
    pub fn segment_count(&self) -> u32 {
        self.segments
    }

    /// Returns its segments, in order.
    pub fn segments(&self) -> impl Iterator<Item = &'a [u8]> + Clone {
        let mut left = Some((self.bytes, self.separators));
        std::iter::from_fn(move || {
            let (bytes, separators) = left?;
            let end = separators.trailing_zeros() as usize;
            // Without a further separator `end` is 64, and no rest is that long.
            left = bytes.get(end + 1..).map(|rest| (rest, separators >> (end % BITS) >> 1));
            bytes.get(..end).or(Some(bytes))
        })
    }

    /// Returns where the last segment starts, and whether it has lower-case letters only; `None` if it is the only segment.
    #[inline]
    pub fn last_segment(&self) -> Option<(usize, bool)> {
        let start = u64::BITS - self.separators.leading_zeros();
        let others = self.others.checked_shr(start).unwrap_or_default();
        (start > 0).then_some((start as usize, others == 0))
    }

    /// Returns the last segment.
    #[inline]
    pub fn last(&self) -> &'a [u8] {
        let start = u64::BITS - self.separators.leading_zeros();
        self.bytes.get(start as usize..).unwrap_or_default()
    }

    /// Returns true if a segment is empty.
    #[inline]
    pub fn has_empty_segment(&self) -> bool {
        // A separator comes first (the 1 shifted in), follows another (the shift), or is the last byte.
        let last = 1 << ((self.bytes.len() - 1) % BITS);
        self.separators & (self.separators << 1 | 1 | last) != 0
    }

    /// Returns true if all bytes are separators or lower-case letters.
    #[inline]
    pub fn is_lower(&self) -> bool {
        self.others == 0
    }

    /// Returns the bitmap of the bytes that are neither separators nor lower-case letters.
    #[inline]
    pub fn others_bitmap(&self) -> u64 {
        self.others
    }

    /// Returns the bitmap of a letter in either case, given in lower case.
    #[inline]
    pub fn letter(&self, lower: u8) -> u64 {
        let mut found = 0;
        each_block(self.bytes, |block, place| found |= block.within_letters(lower, lower) << (place % BITS));
        found
    }

    /// Returns the bytes that are neither separators nor lower-case letters.
    #[inline]
    pub fn others(&self) -> impl Iterator<Item = u8> {
        let (bytes, mut left) = (self.bytes, self.others);
        std::iter::from_fn(move || {
            let byte = bytes.get(left.trailing_zeros() as usize).copied();
            left &= left.wrapping_sub(1);
            byte
        })
    }
}

/// Recogniser of plain names.
#[derive(Debug, Clone)]
pub struct PlainReader {
    /// The first separator.
    separator: u8,
    /// Further separators.
    more: Vec<u8>,
}

impl PlainReader {
    /// A recogniser of names with these separators.
    pub fn new(separators: &Separators) -> Self {
        let (separator, more) = separators.as_bytes().split_first().unwrap_or((&b':', &[])); // there is one
        PlainReader { separator: *separator, more: more.to_vec() }
    }

    /// Reads a name; returns `None` if it is not plain: too long, more than `most_segments`, or a byte for which
    /// `tells` returns true, as it may belong to an id. Lower-case letters are not passed to `tells`.
    #[inline(always)] // in the one place where it is needed for every key
    pub fn read<'a>(&self, bytes: &'a [u8], most_segments: u32, tells: impl Fn(u8) -> bool) -> Option<PlainName<'a>> {
        if bytes.is_empty() || bytes.len() > MAX_LEN {
            return None;
        }
        let name = match bytes.len() <= BLOCK {
            true => Self::name(bytes, self.tell(Block::load_padded(bytes))),
            false => self.tell_long(bytes),
        };
        (name.segments <= most_segments && (name.is_lower() || !name.others().any(tells))).then_some(name)
    }

    /// Reads a name of more than one block.
    #[inline(never)]
    fn tell_long<'a>(&self, bytes: &'a [u8]) -> PlainName<'a> {
        let (mut told, mut place) = (Told::default(), 0);
        for block in bytes.as_chunks().0 {
            told.add(self.tell(Block::load(block)), place);
            place += BLOCK;
        }
        if let Some(last) = bytes.last_chunk() {
            // This overlaps the block before, on which both agree.
            told.add(self.tell(Block::load(last)), bytes.len() - BLOCK);
        }
        Self::name(bytes, told)
    }

    #[inline]
    fn tell(&self, block: Block) -> Told {
        let first = block.equal(self.separator);
        let separators = self.more.iter().fold(first, |all, &more| all | block.equal(more));
        Told { separators, lower: block.within(b'a', b'z') }
    }

    #[inline]
    fn name(bytes: &[u8], told: Told) -> PlainName<'_> {
        let Told { separators, lower } = told;
        // Zeros behind a name are neither.
        let others = !(separators | lower) & u64::MAX >> (BITS - bytes.len());
        PlainName { bytes, separators, others, segments: 1 + separators.count_ones() }
    }
}

/// Bitmaps of bytes: separators and lower-case letters.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    separators: u64,
    lower: u64,
}

impl Told {
    /// Adds those of a block at `place`.
    #[inline]
    fn add(&mut self, block: Told, place: usize) {
        self.separators |= block.separators << (place % BITS);
        self.lower |= block.lower << (place % BITS);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn divides(separators: &str) -> Separators {
        Separators::new(&separators.chars().map(String::from).collect::<Vec<_>>()).unwrap()
    }

    proptest! {
        #[test]
        fn blocks_are_classified_like_single_bytes(
            name in prop_oneof!["[a-z:/.]{0,70}", "[:/]{0,70}", "[ -~]{0,20}", "\\PC{0,10}"].prop_map(String::into_bytes),
            separators in prop::sample::select(&[":", ":/", "-", "./_"][..]),
        ) {
            let separators = divides(separators);
            let of = |is: &dyn Fn(u8) -> bool| {
                let places = name.iter().enumerate().filter(|(_, byte)| is(**byte));
                places.fold(0u64, |bits, (place, _)| bits | 1 << (place % BITS))
            };
            let is_other = |byte: u8| !separators.contains(byte) && !byte.is_ascii_lowercase();
            let read = PlainReader::new(&separators).read(&name, 99, |_| false);
            prop_assert_eq!(read.is_some(), (1..=MAX_LEN).contains(&name.len()));
            if let Some(read) = read {
                prop_assert_eq!(read.separators(), of(&|byte| separators.contains(byte)));
                prop_assert_eq!(read.others, of(&is_other));
                let segments: Vec<_> = separators.split(&name).collect();
                prop_assert_eq!(read.ends(), read.separators() | 1 << name.len());
                prop_assert_eq!(read.segment_count() as usize, segments.len());
                prop_assert_eq!(read.segments().collect::<Vec<_>>(), segments.clone());
                let last = segments.last().filter(|_| segments.len() > 1);
                let last = last.map(|last| (name.len() - last.len(), last.iter().all(u8::is_ascii_lowercase)));
                prop_assert_eq!(read.last_segment(), last);
                prop_assert_eq!(Some(read.last()), segments.last().copied());
                prop_assert_eq!(read.has_empty_segment(), segments.iter().any(|segment| segment.is_empty()));
                let others: Vec<u8> = name.iter().copied().filter(|&byte| is_other(byte)).collect();
                prop_assert_eq!(read.others().collect::<Vec<_>>(), others);
                prop_assert_eq!(read.others_bitmap(), of(&is_other));
                prop_assert_eq!(read.letter(b'k'), of(&|byte| byte.eq_ignore_ascii_case(&b'k')));
            }
        }
    }

    #[test]
    fn names_with_ids_or_too_many_segments_are_not_plain() {
        let reader = PlainReader::new(&divides(":"));
        let read = |name: &str| reader.read(name.as_bytes(), 3, |byte| byte.is_ascii_digit()).is_some();
        assert!(read("a:b:c") && read("A-b") && read(":"));
        assert!(!read("a:b:c:d") && !read("a:1") && !read(""));
    }
}
