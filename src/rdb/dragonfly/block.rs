//! Runs of plain records, and what compressed blocks and chunks are unfolded to.

use std::collections::BTreeSet;

use super::chunks::{Chunks, Whole};
use super::items::{Special, is_special, special};
use crate::error::{Error, ErrorKind, Reading, Result};
use crate::input::Compression;
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::header::Family;
use crate::rdb::opcode::byte;
use crate::rdb::scan::{FileItem, ScanState, Scanner};
use crate::wording::{Wording, wording};

/// Run of plain records at the front of a sequence, and why it ended.
pub(super) struct Run {
    pub bytes: usize,
    /// Bytes read, those of a record that failed included.
    pub reached: usize,
    pub db: Option<u64>,
    pub end: RunEnd,
}

pub(super) enum RunEnd {
    /// Something else than a plain record follows.
    Special,
    /// The sequence is used up, or the run is long enough.
    Enough,
    /// The next record cannot be read.
    Failed(Error),
}

/// Returns the run of plain records at the front of `bytes`, which are at `base`.
pub(super) fn run(bytes: &[u8], base: u64, db: Option<u64>) -> Run {
    let state = ScanState { family: Family::Dragonfly, db };
    let mut scanner = Scanner::new(Cursor::new(bytes, base), state);
    let mut run = Run { bytes: 0, reached: 0, db, end: RunEnd::Enough };
    // A prefix at the end lacks its key: the scanner reports that.
    while run.bytes < limits::BATCH_BYTES && (scanner.cursor().left() > 0 || !scanner.at_boundary()) {
        if scanner.at_boundary() && scanner.cursor().peek().is_some_and(is_special) {
            run.end = RunEnd::Special;
            break;
        }
        let read = match scanner.next_item() {
            Ok(FileItem::Key(entry)) => scanner.skip_value(&entry),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = read {
            run.end = RunEnd::Failed(error);
            break;
        }
        if scanner.at_boundary() {
            (run.bytes, run.db) = (scanner.cursor().consumed(), scanner.state().db);
        }
    }
    run.reached = scanner.cursor().consumed();
    run
}

/// Plain records of one block or chunk.
pub(super) struct Unfolding<'s> {
    pub ready: Vec<u8>,
    pub db: Option<u64>,
    /// Records of which a chunk was lost, if damage is passed.
    pub incomplete: Option<&'s mut BTreeSet<u32>>,
}

impl Unfolding<'_> {
    /// Unfolds an item at `place` of the file; `offset` is that of its records.
    pub fn item(&mut self, item: Special<'_>, place: u64, offset: u64, chunks: &mut Chunks) -> Result<()> {
        match item {
            Special::Block(compression, block) => {
                self.block(compression, block, chunks).map_err(|error| in_block(&error, place, offset))
            }
            Special::Chunk(id, chunk) => self.chunk(id, chunk, place, chunks).map_err(|error| error.moved_to(offset)),
            Special::Skipped | Special::End => Ok(()),
        }
    }

    /// Adds the records of a compressed block. Offsets of errors count from the start of its content.
    fn block(&mut self, compression: Compression, block: &[u8], chunks: &mut Chunks) -> Result<()> {
        let content = expand(compression, block)?;
        let mut at = 0;
        while at < content.len() {
            let rest = &content[at..];
            let run = run(rest, at as u64, self.db);
            self.ready.extend_from_slice(rest.get(..run.bytes).unwrap_or_default());
            (at, self.db) = (at + run.bytes, run.db);
            match run.end {
                RunEnd::Enough => {}
                RunEnd::Failed(error) => return Err(error),
                RunEnd::Special => match special(&content[at..], at as u64)? {
                    (Special::Chunk(id, chunk), len) => {
                        self.chunk(id, chunk, at as u64, chunks)?;
                        at += len;
                    }
                    (Special::Skipped, len) => at += len,
                    (Special::Block(..) | Special::End, _) => {
                        return Err(Error::corrupt(
                            at as u64,
                            wording!("a block or the end of the snapshot inside a block", "块中出现另一个块或快照结尾"),
                        ));
                    }
                },
            }
        }
        Ok(())
    }

    /// Adds the record that a chunk completes, in its own database.
    fn chunk(&mut self, id: u32, chunk: &[u8], offset: u64, chunks: &mut Chunks) -> Result<()> {
        if self.incomplete.as_ref().is_some_and(|incomplete| incomplete.contains(&id)) {
            return Err(Error::corrupt(
                offset,
                wording!("an earlier chunk of the value is damaged", "该 value 较早的分块已损坏"),
            ));
        }
        let added = chunks.add(id, chunk, offset, self.db);
        if let (Err(_), Some(incomplete)) = (&added, &mut self.incomplete)
            && incomplete.len() < limits::MAX_GAPS
        {
            incomplete.insert(id);
        }
        let Some(Whole { db, bytes }) = added? else { return Ok(()) };
        let moved = db != self.db;
        if moved {
            self.select(db);
        }
        self.ready.extend_from_slice(&bytes);
        if moved {
            self.select(self.db);
        }
        Ok(())
    }

    fn select(&mut self, db: Option<u64>) {
        self.ready.push(byte::SELECT_DB);
        self.ready.push(0x81);
        self.ready.extend_from_slice(&db.unwrap_or_default().to_be_bytes());
    }
}

/// Decompresses a block, within the limit.
fn expand(compression: Compression, block: &[u8]) -> Result<Vec<u8>> {
    let most = limits::MAX_BLOCK_BYTES;
    match compression.expand(block, most) {
        Ok(Some(content)) => Ok(content),
        Ok(None) => {
            let most = most >> 20;
            Err(Error::at(0, ErrorKind::Limit(wording!("content is larger than {most} MiB", "内容超过 {most} MiB"))))
        }
        Err(error) => {
            let name = compression.name();
            Err(Error::corrupt(0, wording!("{name} data is damaged: {error}", "{name} 数据损坏：{error}")))
        }
    }
}

/// Words an error inside a block, which is at `place` of the file.
fn in_block(error: &Error, place: u64, offset: u64) -> Error {
    let Wording { en, zh } = error.wording();
    let what = if place == offset {
        wording!("in its content: {en}", "块内：{zh}")
    } else {
        wording!(
            "in the content of the block at byte {place:#x} of the file: {en}",
            "文件字节 {place:#x} 处的块内：{zh}"
        )
    };
    let outer = match error.kind() {
        ErrorKind::Limit(_) => Error::at(offset, ErrorKind::Limit(what)),
        ErrorKind::OverBudget(_) => Error::needs_memory(offset, what),
        ErrorKind::Unsupported(_) => Error::unsupported(offset, what),
        // Bytes that lack in a block will not come.
        _ => Error::corrupt(offset, what),
    };
    outer.while_reading(Reading::CompressedBlock)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// Returns a zstd frame of one raw block.
    fn frame(content: &[u8]) -> Vec<u8> {
        let len = u32::try_from(content.len()).unwrap();
        let head = (len << 3 | 1).to_le_bytes();
        [&b"\x28\xb5\x2f\xfd\xa0"[..], &len.to_le_bytes(), &head[..3], content].concat()
    }

    /// Unfolds a block of this content; `None` if that does not end.
    fn unfolded(content: &[u8]) -> Option<Result<Vec<u8>>> {
        let block = frame(content);
        let (done, result) = mpsc::channel();
        std::thread::spawn(move || {
            let mut unfolding = Unfolding { ready: Vec::new(), db: None, incomplete: None };
            let unfolded = unfolding.block(Compression::Zstd, &block, &mut Chunks::new(1 << 20));
            done.send(unfolded.map(|()| unfolding.ready))
        });
        result.recv_timeout(Duration::from_secs(5)).ok()
    }

    #[test]
    fn prefix_without_a_key_ends_a_block() {
        let expiry = [&[0xFC][..], &[0; 8]].concat();
        let record = b"\x00\x01k\x01v";
        assert_eq!(unfolded(&[&expiry[..], record].concat()).unwrap().unwrap().len(), 14);
        for behind in [&b""[..], b"\xfa\x01a\x01b"] {
            for before in [&b""[..], record] {
                let result = unfolded(&[before, &expiry, behind].concat());
                assert!(result.expect("the block ends").is_err(), "{before:?} {behind:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn a_block_of_any_content_ends(parts in prop::collection::vec(part(), 0..12)) {
            prop_assert!(unfolded(&parts.concat()).is_some());
        }
    }

    /// Returns parts of a block: prefixes with the right and any other operands, other items, and arbitrary bytes.
    fn part() -> impl Strategy<Value = Vec<u8>> {
        let opcode = prop::sample::select(vec![0xFC, 0xFD, 0xF8, 0xF9, 0xFA, 0xDC]);
        let prefixes = [
            &b"\xfc\0\0\0\0\0\0\0\0"[..],
            b"\xfd\0\0\0\0",
            b"\xf8\x07",
            b"\xf9\x07",
            b"\xfa\x01a\x01b",
            b"\xdc\x01\0\0\0",
        ];
        let items = [&b"\x00\x01k\x01v"[..], b"\xfe\x01", b"\xe0\x01\0\0\0\x05\0\0\0\x00\x01k\x01v"];
        prop_oneof![
            4 => prop::sample::select(prefixes.to_vec()).prop_map(<[u8]>::to_vec),
            2 => prop::sample::select(items.to_vec()).prop_map(<[u8]>::to_vec),
            1 => (opcode, prop::collection::vec(any::<u8>(), 0..8)).prop_map(|(code, rest)| [vec![code], rest].concat()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ]
    }
}
