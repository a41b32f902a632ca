//! Size of list nodes after the servers' LZF compression, for nodes stored differently in the dump.
//!
//! Computes only the length, without writing output. Follows `lzf_c.c` of the servers' liblzf with a hash table of 2^16
//! slots: each position is looked up by its next three bytes, and after a match the last two positions in it are inserted.
//! The servers do not clear the table between calls and occasionally find a match that an empty table would not; this
//! implementation always starts with an empty one.

use super::item::PackedItem;
use crate::rdb::packed::listpack;

const TABLE: usize = 1 << 16;
/// Maximum number of literals per control byte.
const RUN: u64 = 32;
/// Maximum distance of a back reference.
const MAX_DISTANCE: usize = 1 << 13;
/// Maximum length of a match.
const MAX_MATCH_LEN: usize = 264;
/// The three bytes looked up plus the next sixteen, which the compressor compares without a length check.
const IN_ONE_GO: usize = 19;
/// Match length from which a back reference takes a third byte.
const LONG_REFERENCE: usize = 9;
/// Header of a listpack: total size and element count.
const LISTPACK_HEADER: usize = 6;

/// LZF length calculator; reuses its hash table between calls.
#[derive(Debug, Default)]
pub struct Compressor {
    /// Last position of each hash. Positions count up over all calls, so entries of earlier calls need no clearing.
    places: Vec<u32>,
    /// Position at which the next call starts.
    base: u32,
}

impl Compressor {
    /// Returns the compressed length of `bytes`, which may exceed the input; `None` if there are 2^32 bytes or more.
    pub fn compressed(&mut self, bytes: &[u8]) -> Option<u64> {
        let len = u32::try_from(bytes.len()).ok()?;
        if self.places.is_empty() || self.base.checked_add(len).is_none() {
            self.places.clear();
            self.places.resize(TABLE, 0);
            self.base = 0;
        }
        let base = self.base;
        self.base += len;
        let (mut at, mut out, mut literals) = (0, 0, 0);
        while let Some(three) = three(bytes, at) {
            let found = self.note(three, base, at);
            let Some(from) = found.filter(|&from| at - from <= MAX_DISTANCE && bytes[from..].starts_with(&three))
            else {
                literals += 1;
                at += 1;
                continue;
            };
            let matched = same(bytes, from, at);
            out += run(literals) + 2 + u64::from(matched >= LONG_REFERENCE);
            literals = 0;
            at += matched;
            for behind in [at - 2, at - 1] {
                if at + 2 < bytes.len()
                    && let Some(three) = self::three(bytes, behind)
                {
                    self.note(three, base, behind);
                }
            }
        }
        Some(out + run(literals + (bytes.len() - at) as u64))
    }

    /// Inserts position `at` for these three bytes; returns the previous position with this hash in the same call.
    ///
    /// As in liblzf, position 0 is never a match.
    fn note(&mut self, three: [u8; 3], base: u32, at: usize) -> Option<usize> {
        let value = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        let place = (value >> 8).wrapping_sub(value.wrapping_mul(5)) as usize % TABLE;
        // `compressed` has checked that all positions fit 32 bits.
        let now = base.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        let before = std::mem::replace(&mut self.places[place], now);
        before.checked_sub(base).filter(|&from| from > 0).map(|from| from as usize)
    }
}

fn three(bytes: &[u8], at: usize) -> Option<[u8; 3]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Returns the length of the match, at least 3. Like liblzf, it stops two bytes before the end unless the unrolled
/// comparison of the first 19 bytes has already passed that point.
fn same(bytes: &[u8], from: usize, at: usize) -> usize {
    let left = bytes.len() - at;
    let most = if left >= IN_ONE_GO { (left - 2).clamp(IN_ONE_GO, MAX_MATCH_LEN) } else { (left - 2).max(3) };
    (3..most).find(|&n| bytes[from + n] != bytes[at + n]).unwrap_or(most)
}

/// Returns the size of a literal run with its control bytes.
fn run(literals: u64) -> u64 {
    literals + literals.div_ceil(RUN)
}

/// Listpack writer.
#[derive(Debug, Default)]
pub struct Listpack {
    bytes: Vec<u8>,
    elements: u16,
}

impl Listpack {
    /// Starts a new listpack.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.elements = 0;
    }

    /// Appends an element, given its class and text.
    pub fn push(&mut self, item: PackedItem, text: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.extend([0; LISTPACK_HEADER]);
        }
        let start = self.bytes.len();
        match item {
            PackedItem::Int(number) => self.number(number),
            PackedItem::Text(_) => self.text(text),
        }
        self.backlen(self.bytes.len() - start);
        self.elements = self.elements.saturating_add(1);
    }

    fn number(&mut self, number: i64) {
        let little = number.to_le_bytes();
        match number {
            0..=127 => self.bytes.push(little[0]),
            -4096..=4095 => self.bytes.extend([0xc0 | little[1] & 0x1f, little[0]]),
            -32_768..=32_767 => self.with_lead(0xf1, &little[..2]),
            -8_388_608..=8_388_607 => self.with_lead(0xf2, &little[..3]),
            -2_147_483_648..=2_147_483_647 => self.with_lead(0xf3, &little[..4]),
            _ => self.with_lead(0xf4, &little),
        }
    }

    fn text(&mut self, text: &[u8]) {
        let little = (text.len() as u64).to_le_bytes();
        match text.len() {
            0..64 => self.bytes.push(0x80 | little[0]),
            64..4096 => self.bytes.extend([0xe0 | little[1], little[0]]),
            _ => self.with_lead(0xf0, &little[..4]),
        }
        self.bytes.extend_from_slice(text);
    }

    fn with_lead(&mut self, lead: u8, rest: &[u8]) {
        self.bytes.push(lead);
        self.bytes.extend_from_slice(rest);
    }

    /// Appends the backlen: seven bits per byte, highest first, with the top bit set in all but the first.
    fn backlen(&mut self, size: usize) {
        let size = size as u64;
        for n in (0..listpack::backlen(size)).rev() {
            let seven = (size >> (7 * n)).to_le_bytes()[0] & 0x7f;
            let first = n + 1 == listpack::backlen(size);
            self.bytes.push(if first { seven } else { seven | 0x80 });
        }
    }

    /// Returns the complete blob with header and end byte.
    pub fn finish(&mut self) -> &[u8] {
        if self.bytes.is_empty() {
            self.bytes.extend([0; LISTPACK_HEADER]);
        }
        self.bytes.push(0xff);
        let total = (self.bytes.len() as u64).to_le_bytes();
        self.bytes[..4].copy_from_slice(&total[..4]);
        self.bytes[4..LISTPACK_HEADER].copy_from_slice(&self.elements.to_le_bytes());
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::cursor::Cursor;
    use crate::rdb::header::RdbHeader;
    use crate::rdb::packed::listpack::Elements;
    use crate::rdb::scan::{FileItem, ScanState, Scanner};
    use crate::rdb::string::{RawString, StringForm};
    use crate::rdb::walk::{ListNode, Visit};

    /// Visitor that compares the length of each stored LZF block with the computed one.
    #[derive(Default)]
    struct Blocks {
        compressor: Compressor,
        same: u32,
        other: Vec<(u64, u64, u64)>,
    }

    impl Blocks {
        fn see(&mut self, string: RawString<'_>) {
            if let StringForm::Lzf { block, len } = string.form {
                let ours = self.compressor.compressed(&string.to_bytes().unwrap()).unwrap();
                if ours == block.len() as u64 {
                    self.same += 1;
                } else {
                    self.other.push((len, ours, block.len() as u64));
                }
            }
        }
    }

    impl Visit for Blocks {
        fn string(&mut self, value: RawString<'_>) {
            self.see(value);
        }
        fn blob(&mut self, blob: RawString<'_>) {
            self.see(blob);
        }
        fn node(&mut self, _: ListNode, blob: RawString<'_>) {
            self.see(blob);
        }
        fn stream_node(&mut self, _: &[u8; 16], blob: RawString<'_>) {
            self.see(blob);
        }
    }

    #[test]
    fn lengths_equal_those_of_real_servers() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus");
        let mut blocks = Blocks::default();
        for folder in std::fs::read_dir(root).unwrap() {
            let Ok(dump) = std::fs::read(folder.unwrap().path().join("dump.rdb")) else { continue };
            let mut cursor = Cursor::new(&dump, 0);
            let header = RdbHeader::read(&mut cursor).unwrap();
            let mut scanner = Scanner::new(cursor, ScanState { family: header.family, db: None });
            loop {
                match scanner.next_item().unwrap() {
                    FileItem::Key(entry) => scanner.value(&entry, &mut blocks).unwrap(),
                    FileItem::End => break,
                    _ => {}
                }
            }
        }
        let all = blocks.same as usize + blocks.other.len();
        println!("{} of {all} blocks; others (bytes, ours, theirs): {:?}", blocks.same, blocks.other);
        assert!(blocks.same > 3000, "{}", blocks.same);
        assert!(blocks.other.len() * 100 < all, "{:?}", blocks.other);
    }

    #[test]
    fn short_inputs_and_long_runs_have_expected_lengths() {
        let mut compressor = Compressor::default();
        let mut of = |bytes: &[u8]| compressor.compressed(bytes).unwrap();
        assert_eq!([of(b""), of(b"a"), of(b"ab"), of(b"abc")], [0, 2, 3, 4]);
        assert_eq!(of(&(0..=255).collect::<Vec<u8>>()), 256 + 8);
        assert!(of(&[7; 100_000]) < 1300);
    }

    #[test]
    fn result_does_not_depend_on_earlier_calls() {
        let text: Vec<u8> = (0..3000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 20).to_le_bytes()).collect();
        let fresh = Compressor::default().compressed(&text);
        let mut used = Compressor { places: vec![0; TABLE], base: u32::MAX - 20_000 };
        for _ in 0..3 {
            assert_eq!(used.compressed(&text), fresh);
        }
    }

    #[test]
    fn written_listpack_is_read_back() {
        let texts: Vec<Vec<u8>> = [0i64, 127, 128, -1, -4097, 40_000, -9_000_000, i64::MIN, i64::MAX]
            .map(|n| n.to_string().into_bytes())
            .into_iter()
            .chain([0, 1, 63, 64, 4095, 4096, 20_000].map(|len| vec![b'x'; len]))
            .collect();
        let mut listpack = Listpack::default();
        let mut size = super::super::item::LISTPACK_FRAME;
        for text in &texts {
            let item = PackedItem::of_text(text);
            size += item.in_listpack();
            listpack.push(item, text);
        }
        let blob = listpack.finish();
        assert_eq!(blob.len() as u64, size);
        let read: Vec<Vec<u8>> = Elements::new(blob, 0).unwrap().map(|element| element.unwrap().to_bytes()).collect();
        assert_eq!(read, texts);
    }
}
