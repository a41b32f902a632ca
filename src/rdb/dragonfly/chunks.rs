//! Records that come in several chunks, with others between them (`RDB_OPCODE_TAGGED_CHUNK`).
//!
//! The first chunk begins with the record. Chunks end between elements of the value, never inside one, so the elements of
//! each chunk are counted as it arrives; the record is complete with the last of them.

use std::collections::BTreeMap;

use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::rdb::header::Family;
use crate::rdb::scan::{FileItem, ScanState, Scanner};
use crate::rdb::value_type::{DragonflyModule, ValueType};
use crate::wording::wording;

/// State for scanning a record on its own.
const ALONE: ScanState = ScanState { family: Family::Dragonfly, db: None };

/// Memory of an unfinished record beside its bytes: its entry, and what the allocator adds to it and to them.
const RECORD: usize = size_of::<(u32, Unfinished)>() + 32;

/// Records of which some chunks have arrived.
#[derive(Debug)]
pub struct Chunks {
    /// Maximum size of all of them.
    most: usize,
    unfinished: BTreeMap<u32, Unfinished>,
    bytes: usize,
}

/// Record that is complete.
#[derive(Debug)]
pub struct Whole {
    /// Its database.
    pub db: Option<u64>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

#[derive(Debug)]
struct Unfinished {
    db: Option<u64>,
    bytes: Vec<u8>,
    left: ElementsLeft,
}

impl Unfinished {
    fn memory(&self) -> usize {
        self.bytes.len() + RECORD
    }
}

impl Chunks {
    /// Creates an empty set of at most `most` bytes.
    pub fn new(most: usize) -> Chunks {
        Chunks { most, unfinished: BTreeMap::new(), bytes: 0 }
    }

    /// Adds a chunk of the record `id`, which starts at `offset`; returns the record if this was its last chunk.
    ///
    /// `db` is the database in force, which is that of the record at its first chunk.
    pub fn add(&mut self, id: u32, chunk: &[u8], offset: u64, db: Option<u64>) -> Result<Option<Whole>> {
        // Without the record, which is dropped if the chunk is damaged.
        let known = self.unfinished.remove(&id);
        self.bytes -= known.as_ref().map_or(0, Unfinished::memory);
        let before = known.as_ref().map_or(RECORD, Unfinished::memory);
        if before + chunk.len() > self.most.saturating_sub(self.bytes) {
            return Err(too_many(offset, self.most));
        }
        let mut cursor = Cursor::new(chunk, offset);
        let mut record = match known {
            Some(record) => record,
            None => {
                let left = ElementsLeft::begin(&mut cursor).map_err(divided)?;
                Unfinished { db, bytes: Vec::new(), left }
            }
        };
        record.left.pass(&mut cursor).map_err(divided)?;
        record.bytes.extend_from_slice(chunk);
        if !record.left.is_empty() {
            self.bytes += record.memory();
            self.unfinished.insert(id, record);
            return Ok(None);
        }
        check_whole(&record.bytes, offset)?;
        Ok(Some(Whole { db: record.db, bytes: record.bytes }))
    }

    /// Fails if a record is unfinished at the end of the snapshot, at `offset`.
    pub fn finish(&self, offset: u64) -> Result<()> {
        match self.unfinished.len() {
            0 => Ok(()),
            records => Err(Error::corrupt(
                offset,
                wording!(
                    "the snapshot ends before the last chunks of {records} values",
                    "快照结束时还有 {records} 个 value 缺少最后的分块"
                ),
            )),
        }
    }
}

/// Fails unless `bytes` are exactly one record.
fn check_whole(bytes: &[u8], offset: u64) -> Result<()> {
    let mut scanner = Scanner::new(Cursor::new(bytes, 0), ALONE);
    let whole = loop {
        match scanner.next_item() {
            Ok(FileItem::Key(entry)) => break scanner.skip_value(&entry).is_ok() && scanner.cursor().left() == 0,
            Ok(_) => {}
            Err(_) => break false,
        }
    };
    if whole { Ok(()) } else { Err(no_record(offset)) }
}

#[cold]
fn no_record(offset: u64) -> Error {
    Error::corrupt(offset, wording!("chunks do not form a record", "分块不构成一条记录"))
}

/// Returns the error for a chunk that ends inside an element: more bytes will not come.
#[cold]
fn divided(error: Error) -> Error {
    match (error.needed(), error.offset()) {
        (Some(_), Some(offset)) => {
            Error::corrupt(offset, wording!("chunk ends inside an element", "分块在元素中间结束"))
        }
        _ => error,
    }
}

#[cold]
fn too_many(offset: u64, most: usize) -> Error {
    let most = most >> 20;
    Error::needs_memory(
        offset,
        wording!(
            "values of which not all chunks have arrived take more than {most} MiB",
            "尚未收齐分块的 value 超过 {most} MiB"
        ),
    )
}

/// Elements of a value that have not arrived.
#[derive(Debug)]
struct ElementsLeft {
    shape: Shape,
    elements: u64,
    /// Bytes of the current filter that have not arrived.
    filter: u64,
}

/// Layout of one element.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// This many strings.
    Strings(u8),
    /// A string and a double.
    Scored,
    /// A container and a blob.
    Node,
    /// A filter in chunks of its own; `true` if the number of hash functions precedes it.
    Filter(bool),
    /// Values that are never divided: all of it is in the first chunk.
    Whole,
}

impl ElementsLeft {
    /// Reads what precedes the elements: key metadata, type, key, and the head of the value.
    fn begin(cursor: &mut Cursor<'_>) -> Result<ElementsLeft> {
        let mut scanner = Scanner::new(cursor.clone(), ALONE);
        let FileItem::Key(entry) = scanner.next_item().within(Reading::ChunkOfValue)? else {
            return Err(no_record(cursor.offset()));
        };
        *cursor = scanner.cursor().clone();
        let shape = match entry.value_type {
            ValueType::Set => Shape::Strings(1),
            ValueType::Hash | ValueType::DragonflySet | ValueType::Stream(_) => Shape::Strings(2),
            ValueType::DragonflyHash => Shape::Strings(3),
            ValueType::Zset2 => Shape::Scored,
            ValueType::ListQuicklist2 => Shape::Node,
            ValueType::DragonflyModule(DragonflyModule::ChunkedBloom) => {
                cursor.number()?;
                cursor.take(16)?;
                (0..3).try_for_each(|_| cursor.number().map(|_| ()))?;
                Shape::Filter(true)
            }
            ValueType::DragonflyModule(DragonflyModule::Cuckoo) => {
                (0..6).try_for_each(|_| cursor.number().map(|_| ()))?;
                Shape::Filter(false)
            }
            _ => Shape::Whole,
        };
        let elements = match shape {
            Shape::Whole => 0,
            Shape::Strings(_) | Shape::Scored | Shape::Node | Shape::Filter(_) => {
                cursor.length().within(Reading::NumberOfElements)?
            }
        };
        Ok(ElementsLeft { shape, elements, filter: 0 })
    }

    fn is_empty(&self) -> bool {
        self.elements == 0 && self.filter == 0
    }

    /// Passes over the elements of a chunk. What follows the last one is left: the end of a stream is in one chunk with it.
    fn pass(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        while !self.is_empty() && cursor.left() > 0 {
            if self.filter == 0 {
                self.element(cursor).within(Reading::ChunkOfValue)?;
                self.elements -= 1;
            } else {
                self.part_of_filter(cursor).within(Reading::ChunkOfValue)?;
            }
        }
        Ok(())
    }

    fn element(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self.shape {
            Shape::Strings(count) => (0..count).try_for_each(|_| cursor.string().map(|_| ())),
            Shape::Scored => cursor.string().and_then(|_| cursor.f64_le()).map(|_| ()),
            Shape::Node => cursor.length().and_then(|_| cursor.string()).map(|_| ()),
            Shape::Filter(hashes) => {
                if hashes {
                    cursor.number()?;
                }
                self.filter = cursor.length()?;
                Ok(())
            }
            Shape::Whole => Ok(()),
        }
    }

    fn part_of_filter(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let offset = cursor.offset();
        let part = cursor.length()?;
        match self.filter.checked_sub(part).filter(|_| part > 0) {
            Some(left) => self.filter = left,
            None => return Err(no_record(offset)),
        }
        cursor.take(part).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds chunks, each at its own offset; returns the record after the last.
    fn add(chunks: &mut Chunks, id: u32, parts: &[&[u8]]) -> Result<Option<Whole>> {
        let mut whole = None;
        for (at, part) in parts.iter().enumerate() {
            assert!(whole.is_none(), "complete before chunk {at}");
            whole = chunks.add(id, part, 100 * at as u64, Some(id.into()))?;
        }
        Ok(whole)
    }

    #[test]
    fn elements_of_all_chunks_form_one_record() {
        for parts in [
            &[&b"\x02\x01s\x03\x01a"[..], b"\x01b", b"\x01c"][..],
            &[b"\xfc\0\0\0\0\0\0\0\0\xdc\x01\0\0\0\x04\x01h\x02\x01f\x01v", b"\x01g\x01w"],
            &[b"\x1f\x01h\x02\x01f\x01v\xc0\xff", b"\x01g\x01w\xc0\x07"],
            &[b"\x20\x01s\x02\x01m\xc0\xff", b"\x01n\xc0\x07"],
            &[b"\x05\x01z\x02\x01m\0\0\0\0\0\0\0\0", b"\x01n\0\0\0\0\0\0\0\0"],
            &[b"\x12\x01l\x02\x01\x03abc", b"\x01\x03def"],
            &[
                &[&b"\x22\x01b\x00"[..], &[0; 16], b"\x01\x01\x01\x02\x05\x04\x02ab"].concat()[..],
                b"\x02cd",
                b"\x05\x01\x01e",
            ],
            &[b"\x25\x01c\x04\x01\x01\x01\x01\x01\x01\x04\x03abc", b"\x01d"],
            &[b"\x00\x01k\x01v"],
        ] {
            let whole = add(&mut Chunks::new(1 << 20), 7, parts).unwrap().unwrap();
            assert_eq!((whole.bytes, whole.db), (parts.concat(), Some(7)));
        }
    }

    #[test]
    fn records_interleave() {
        let mut chunks = Chunks::new(1 << 20);
        assert!(chunks.add(1, b"\x02\x01s\x02\x01a", 0, Some(0)).unwrap().is_none());
        assert!(chunks.add(2, b"\x02\x01t\x02\x01x", 0, Some(3)).unwrap().is_none());
        assert!(chunks.finish(9).is_err());
        assert_eq!(chunks.add(1, b"\x01b", 0, Some(5)).unwrap().unwrap().db, Some(0));
        assert_eq!(chunks.add(2, b"\x01y", 0, None).unwrap().unwrap().bytes, b"\x02\x01t\x02\x01x\x01y");
        assert!(chunks.finish(9).is_ok() && chunks.bytes == 0);
    }

    #[test]
    fn many_unfinished_records_of_few_bytes_take_memory_too() {
        let mut chunks = Chunks::new(20 << 10);
        let failed = (0..1000).find(|id| chunks.add(*id, b"\x02\x01s\x02", 0, None).is_err());
        assert!(failed.is_some_and(|records| (50..300).contains(&records)), "{failed:?}");
    }

    #[test]
    fn chunks_that_form_no_record_are_damage() {
        for parts in [
            &[&b"\x02\x01s\x02\x01"[..]][..],                    // ends inside an element
            &[b"\x02\x01s\x01\x01a\x01b"],                       // goes on after the last
            &[b"\xfe\x00\x02\x01s\x01\x01a"],                    // a database switch, which is never in a chunk
            &[b"\x02\x01s\x02\x01a", b"\x01b\x01c"],             // the second goes on after the last
            &[b"\x02\x01s\x03\x01a", b"\x05b"],                  // the second ends inside an element
            &[b"\x25\x01c\x04\x01\x01\x01\x01\x01\x01\x04\x00"], // an empty part of a filter
            &[b"\x00\x01k\x02v"],                                // a string is never divided
        ] {
            let mut chunks = Chunks::new(1 << 20);
            let result = add(&mut chunks, 1, parts);
            assert!(result.is_err() && chunks.bytes == 0, "{parts:?}");
        }
    }

    #[test]
    fn a_record_that_takes_too_much_makes_room_for_others() {
        let mut chunks = Chunks::new(4 << 10);
        assert!(chunks.add(1, b"\x02\x01s\x03\x01a", 0, None).unwrap().is_none());
        assert!(chunks.add(1, &[0; 4 << 10], 0, None).is_err());
        assert_eq!(chunks.bytes, 0);
        assert!(chunks.add(2, b"\x02\x01s\x02\x01a", 0, None).is_ok());
    }
}
