//! How far the servers' LZF compressor gets, for nodes of lists that the dump holds in another form than the server will.
//!
//! Only lengths are computed: nothing is written. What decides them is `lzf_c.c` of the servers' liblzf with a table of 2^16
//! places: at each position the last place with the same three bytes is looked up, and of the two positions behind a
//! reference the places are noted. The servers do not clear that table between calls, so now and then they find a place that
//! a fresh one does not hold; ours is always fresh.

use super::item::PackedItem;
use crate::rdb::packed::listpack;

const TABLE: usize = 1 << 16;
/// Literal bytes that share one control byte.
const RUN: u64 = 32;
/// References reach no further back.
const FARTHEST: usize = 1 << 13;
/// Bytes that one reference stands for, beyond the first two.
const LONGEST: usize = 264;
/// The three bytes that are looked up and the sixteen behind them.
const IN_ONE_GO: usize = 19;
/// References of so many bytes take a byte more.
const LONG_REFERENCE: usize = 9;
/// Total size and number of elements of a listpack.
const LISTPACK_HEADER: usize = 6;

/// The compressor's table, kept from call to call.
#[derive(Debug, Default)]
pub struct Compressor {
    /// Positions counted over all calls, so that those of an earlier call need not be cleared.
    places: Vec<u32>,
    /// The position that the next call begins at.
    base: u32,
}

impl Compressor {
    /// Bytes that these are compressed to; they may be more. None for more than there are positions.
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
            let Some(from) = found.filter(|&from| at - from <= FARTHEST && bytes[from..].starts_with(&three)) else {
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

    /// Notes where these three bytes stand; returns where others of the same place stood in this call. The very first
    /// position counts as none.
    fn note(&mut self, three: [u8; 3], base: u32, at: usize) -> Option<usize> {
        let value = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        let place = (value >> 8).wrapping_sub(value.wrapping_mul(5)) as usize % TABLE;
        // No more positions than `compressed` found to fit.
        let now = base.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        let before = std::mem::replace(&mut self.places[place], now);
        before.checked_sub(base).filter(|&from| from > 0).map(|from| from as usize)
    }
}

fn three(bytes: &[u8], at: usize) -> Option<[u8; 3]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Bytes that stand both here and there, three at least. Two are left for later, unless the first sixteen behind the three
/// bytes have been compared in one go.
fn same(bytes: &[u8], from: usize, at: usize) -> usize {
    let left = bytes.len() - at;
    let most = if left >= IN_ONE_GO { (left - 2).clamp(IN_ONE_GO, LONGEST) } else { (left - 2).max(3) };
    (3..most).find(|&n| bytes[from + n] != bytes[at + n]).unwrap_or(most)
}

/// What so many literal bytes take.
fn run(literals: u64) -> u64 {
    literals + literals.div_ceil(RUN)
}

/// A listpack that is written element by element.
#[derive(Debug, Default)]
pub struct Listpack {
    bytes: Vec<u8>,
    elements: u16,
}

impl Listpack {
    /// Begins anew.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.elements = 0;
    }

    /// Adds an element, given what it is and its text.
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

    /// The element's own length, seven bits a byte, highest first; all but the first have the highest bit set.
    fn backlen(&mut self, size: usize) {
        let size = size as u64;
        for n in (0..listpack::backlen(size)).rev() {
            let seven = (size >> (7 * n)).to_le_bytes()[0] & 0x7f;
            let first = n + 1 == listpack::backlen(size);
            self.bytes.push(if first { seven } else { seven | 0x80 });
        }
    }

    /// The whole blob, with header and end.
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

    /// Holds what servers wrote compressed against what we say of the same bytes.
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
    fn as_far_as_real_servers_got() {
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
    fn few_bytes_and_long_runs() {
        let mut compressor = Compressor::default();
        let mut of = |bytes: &[u8]| compressor.compressed(bytes).unwrap();
        assert_eq!([of(b""), of(b"a"), of(b"ab"), of(b"abc")], [0, 2, 3, 4]);
        assert_eq!(of(&(0..=255).collect::<Vec<u8>>()), 256 + 8);
        assert!(of(&[7; 100_000]) < 1300);
    }

    #[test]
    fn an_earlier_call_leaves_nothing_behind() {
        let text: Vec<u8> = (0..3000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 20).to_le_bytes()).collect();
        let fresh = Compressor::default().compressed(&text);
        let mut used = Compressor { places: vec![0; TABLE], base: u32::MAX - 20_000 };
        for _ in 0..3 {
            assert_eq!(used.compressed(&text), fresh);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
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
