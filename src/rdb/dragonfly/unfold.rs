//! Source of the plain records of a Dragonfly file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::chunks::{Chunks, Whole};
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::input::source::Source;
use crate::input::{Body, Compression, Mapped};
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::header::{Family, RdbHeader};
use crate::rdb::scan::{FileItem, ScanState, Scanner};
use crate::wording::{Wording, wording};

const FULL_SYNC_END: u8 = 200;
const ZSTD_BLOCK: u8 = 201;
const LZ4_BLOCK: u8 = 202;
const BLOCK_END: u8 = 203;
const JOURNAL_OFFSET: u8 = 211;
const VECTOR_INDEX: u8 = 222;
const SHARD_DOC_INDEX: u8 = 223;
const TAGGED_CHUNK: u8 = 224;
const SELECT_DB: u8 = 254;
const EOF: u8 = 255;

/// Bytes after the opcodes 200 and 211, and after EOF.
const EIGHT: u64 = 8;
/// Size to which Dragonfly pads its files, as it writes them past the page cache.
const PAGE: u64 = 4096;

/// Bytes that may be read in vain per byte of a damaged file.
const WORK_PER_BYTE: u64 = 16;
/// Bytes that may be read in vain of any file: some damaged blocks, each of which may have been expanded to its limit.
const FIRST_WORK: u64 = 16 * limits::MAX_BLOCK_BYTES as u64;

/// Source of the records of a Dragonfly file, without blocks, chunks and search indexes.
pub struct Unfolded {
    body: Body,
    consumed: Arc<AtomicU64>,
    /// Database in force in the file; `None` before the first switch.
    db: Option<u64>,
    chunks: Chunks,
    /// Records ready to be read, and how much of them was.
    ready: Vec<u8>,
    taken: usize,
    /// Number of bytes at the front of `body` that are plain records.
    plain: usize,
    state: State,
    /// What is done about damage; `None` to fail.
    salvage: Option<PassDamage>,
}

/// Part of a damaged file that cannot be unfolded.
#[derive(Debug)]
pub struct LostPart {
    /// Its place among the unfolded records, where the bytes of the file are. A record, a block or the end follows it.
    pub range: Range<usize>,
    /// What is wrong at its start; `None` if that is a record, which the reader of the records finds damaged.
    pub error: Option<Error>,
    /// True if it is one block or chunk, so that no record begins in it.
    pub is_one_item: bool,
}

/// Damaged parts, shared with the one who reads past them.
type LostParts = Arc<Mutex<Vec<LostPart>>>;

/// Reading past damage.
struct PassDamage {
    lost: LostParts,
    /// Records of which a chunk was lost.
    incomplete: BTreeSet<u32>,
    /// Bytes that may still be read in vain: time must not grow with the square of the size.
    work: u64,
}

impl PassDamage {
    fn charge(&mut self, bytes: usize) {
        self.work = self.work.saturating_sub(bytes as u64);
    }

    /// Notes a lost part, or returns its error if it is not to be passed.
    fn lose(&self, part: LostPart) -> Result<()> {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = lost.len() >= limits::MAX_GAPS;
        match part.error {
            // What is not read for lack of room is not lost.
            Some(error) if is_full || matches!(error.kind(), ErrorKind::OverBudget(_)) => Err(error),
            None if is_full => Ok(()),
            _ => {
                lost.push(part);
                Ok(())
            }
        }
    }
}

enum State {
    /// Reading the header.
    Header,
    /// Reading records.
    Records,
    /// After the checksum.
    After,
    /// At the end, or where the reader of the records will meet the damage itself.
    Ended,
    /// Failed; the error has not been returned yet.
    Failed(Error),
}

/// Item at the front of a sequence that is no plain record.
enum Special<'a> {
    /// A compressed block.
    Block(Compression, &'a [u8]),
    /// A chunk of the record with this id.
    Chunk(u32, &'a [u8]),
    /// Nothing that belongs to a record.
    Skipped,
    /// The end of the snapshot.
    End,
}

/// Run of plain records at the front of a sequence, and why it ended.
struct Run {
    bytes: usize,
    /// Bytes read, those of a record that failed included.
    reached: usize,
    db: Option<u64>,
    end: RunEnd,
}

enum RunEnd {
    /// Something else than a plain record follows.
    Special,
    /// The sequence is used up, or the run is long enough.
    Enough,
    /// The next record cannot be read.
    Failed(Error),
}

impl Unfolded {
    /// Creates the source; `body` is at the magic.
    pub fn new(body: Body, budget: limits::Budget) -> Unfolded {
        Unfolded {
            body,
            consumed: Arc::default(),
            db: None,
            chunks: Chunks::new(budget.unfinished()),
            ready: Vec::new(),
            taken: 0,
            plain: 0,
            state: State::Header,
            salvage: None,
        }
    }

    /// Creates a source that goes on behind damage, and the list of what it passes.
    pub fn past_damage(map: Mapped, budget: limits::Budget) -> (Unfolded, LostParts) {
        let work = (map.bytes.len() as u64).saturating_mul(WORK_PER_BYTE).saturating_add(FIRST_WORK);
        let lost = LostParts::default();
        let salvage = PassDamage { lost: Arc::clone(&lost), incomplete: BTreeSet::new(), work };
        (Unfolded { salvage: Some(salvage), ..Unfolded::new(Body::Mapped(map), budget) }, lost)
    }

    /// Returns the counter of bytes read from the file.
    pub fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    fn skip(&mut self, len: usize) {
        self.body.skip(len);
        self.consumed.store(self.body.offset(), Ordering::Relaxed);
    }

    /// Prepares more bytes to read; `offset` is the number of those read before.
    fn advance(&mut self, offset: u64) {
        self.ready.clear();
        self.taken = 0;
        if let Err(error) = self.try_advance(offset) {
            self.state = State::Failed(error);
        }
    }

    fn try_advance(&mut self, offset: u64) -> Result<()> {
        match self.state {
            State::Header => {
                self.plain = RdbHeader::LEN.min(self.body.bytes().len());
                self.state = State::Records;
                Ok(())
            }
            State::Records => self.next_records(offset),
            State::After => {
                self.padding()?;
                Ok(())
            }
            State::Ended | State::Failed(_) => Ok(()),
        }
    }

    /// Finds the next run of plain records in the file, or unfolds what comes instead.
    fn next_records(&mut self, offset: u64) -> Result<()> {
        let mut wanted = limits::BATCH_BYTES as u64;
        loop {
            let more = self.body.fill(wanted)?;
            let bytes = self.body.bytes();
            let run = run(bytes, self.body.offset(), self.db);
            match run.end {
                _ if run.bytes > 0 => {
                    (self.plain, self.db) = (run.bytes, run.db);
                    return Ok(());
                }
                RunEnd::Failed(error) => match error.needed().filter(|_| more) {
                    Some(needed) => wanted = reach(&error, needed, self.body.offset()).max(2 * bytes.len() as u64),
                    None => {
                        // The reader of the records meets the same bytes and reports the error.
                        return self.pass_on(offset, run.reached, None);
                    }
                },
                RunEnd::Enough if bytes.is_empty() => {
                    self.state = State::Ended;
                    return Ok(());
                }
                RunEnd::Special | RunEnd::Enough => match special(bytes, self.body.offset()) {
                    Ok((item, len)) => {
                        let (body_offset, mut unfolding) = (self.body.offset(), Unfolding::of(self.db));
                        let mut reached = len;
                        unfolding.incomplete = self.salvage.as_mut().map(|salvage| &mut salvage.incomplete);
                        let result = match item {
                            Special::End => Ok(true),
                            Special::Skipped => Ok(false),
                            Special::Block(compression, block) => unfolding
                                .block(compression, block, &mut self.chunks)
                                .map_err(|error| in_block(&error, body_offset, offset))
                                .inspect_err(|_| reached = limits::MAX_BLOCK_BYTES)
                                .map(|()| false),
                            Special::Chunk(id, chunk) => unfolding
                                .chunk(id, chunk, body_offset, &mut self.chunks)
                                .map_err(|error| error.moved_to(offset))
                                .map(|()| false),
                        };
                        (self.ready, self.db) = (unfolding.ready, unfolding.db);
                        match result {
                            Ok(true) => {
                                let finished = self.chunks.finish(offset);
                                finished.or_else(|error| self.lose_item(offset, 0, error))?;
                                self.plain = len;
                                self.state = State::After;
                            }
                            Ok(false) => self.skip(len),
                            Err(error) => return self.pass_item(offset, len, reached, error),
                        }
                        return Ok(());
                    }
                    Err(error) => match error.needed() {
                        Some(needed) if more => {
                            wanted = reach(&error, needed, self.body.offset()).max(2 * bytes.len() as u64);
                        }
                        Some(_) | None => {
                            let base = self.body.offset();
                            let reached = position(error.offset().unwrap_or(base).saturating_sub(base));
                            return self.pass_on(offset, reached, Some(error.moved_to(offset)));
                        }
                    },
                },
            }
        }
    }

    /// Notes a lost block or chunk of `len` bytes behind what is ready, or returns its error.
    fn lose_item(&self, offset: u64, len: usize, error: Error) -> Result<()> {
        let Some(salvage) = &self.salvage else { return Err(error) };
        let start = position(offset).saturating_add(self.ready.len());
        salvage.lose(LostPart { range: start..start.saturating_add(len), error: Some(error), is_one_item: true })
    }

    /// Passes over a block or chunk of `len` bytes that is damaged inside. Fails with `error` if damage is not passed.
    ///
    /// `reached` is how many bytes were read of it, at most.
    fn pass_item(&mut self, offset: u64, len: usize, reached: usize, error: Error) -> Result<()> {
        let behind = self.body.bytes().get(len..).unwrap_or_default();
        if let Some(salvage) = &mut self.salvage {
            salvage.charge(reached);
            // Where no item follows, the length is damaged.
            if salvage.work == 0 || !is_boundary(behind) {
                return self.pass_on(offset, 0, Some(error));
            }
        }
        self.lose_item(offset, len, error)?;
        self.plain = len;
        Ok(())
    }

    /// Passes on the bytes of the file up to the next block, or all of them: what is in front cannot be unfolded.
    ///
    /// `reached` is how far it was read. Fails with `error` if damage is not passed.
    fn pass_on(&mut self, offset: u64, reached: usize, error: Option<Error>) -> Result<()> {
        let bytes = self.body.bytes();
        let Some(salvage) = &mut self.salvage else {
            if let Some(error) = error {
                return Err(error);
            }
            (self.plain, self.state) = (bytes.len(), State::Ended);
            return Ok(());
        };
        salvage.charge(reached);
        let next = if salvage.work > 0 { next_block(bytes) } else { None };
        let len = next.unwrap_or(bytes.len());
        let start = position(offset).saturating_add(self.ready.len());
        salvage.lose(LostPart { range: start..start.saturating_add(len), error, is_one_item: false })?;
        self.plain = len;
        if next.is_none() {
            self.state = State::Ended;
        }
        Ok(())
    }

    /// Drops the padding of a complete file; other bytes are passed on.
    fn padding(&mut self) -> Result<()> {
        let more = self.body.fill(PAGE)?;
        let left = self.body.bytes().len();
        let end = self.body.offset().saturating_add(left as u64);
        if !more && end.is_multiple_of(PAGE) {
            self.skip(left);
        }
        self.plain = self.body.bytes().len();
        if self.plain == 0 {
            self.state = State::Ended;
        }
        Ok(())
    }
}

/// Returns the number of bytes of the window that an item needs which failed with `error`.
fn reach(error: &Error, needed: u64, base: u64) -> u64 {
    error.offset().unwrap_or(base).saturating_sub(base).saturating_add(needed)
}

/// Words an error inside a block, which is at `place` of the file.
fn in_block(error: &Error, place: u64, offset: u64) -> Error {
    let Wording { en, zh } = error.wording();
    let what = wording!("block at byte {place:#x} of the file: {en}", "文件字节 {place:#x} 处的块：{zh}");
    let error = match error.kind() {
        ErrorKind::Limit(_) => Error::at(offset, ErrorKind::Limit(what)),
        ErrorKind::OverBudget(_) => Error::needs_memory(offset, what),
        ErrorKind::Unsupported(_) => Error::unsupported(offset, what),
        // Bytes that lack in a block will not come.
        _ => Error::corrupt(offset, what),
    };
    match Err::<std::convert::Infallible, _>(error).within(Reading::CompressedBlock) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

/// Returns the run of plain records at the front of `bytes`, which are at `base`.
fn run(bytes: &[u8], base: u64, db: Option<u64>) -> Run {
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

/// Returns the position of the next compressed block behind the first byte, by its length and the magic of its frame.
fn next_block(bytes: &[u8]) -> Option<usize> {
    memchr::memchr2_iter(ZSTD_BLOCK, LZ4_BLOCK, bytes.get(1..)?).map(|at| at + 1).find(|&at| is_block(&bytes[at..]))
}

fn is_block(bytes: &[u8]) -> bool {
    match special(bytes, 0) {
        Ok((Special::Block(Compression::Zstd, block), _)) => block.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]),
        Ok((Special::Block(_, block), _)) => block.starts_with(&[0x04, 0x22, 0x4D, 0x18]),
        Ok(_) | Err(_) => false,
    }
}

/// Returns whether an item seems to begin here.
fn is_boundary(bytes: &[u8]) -> bool {
    match bytes.first() {
        None | Some(&EOF) => true,
        Some(&(ZSTD_BLOCK | LZ4_BLOCK)) => is_block(bytes),
        Some(&TAGGED_CHUNK) => special(bytes, 0).is_ok(),
        Some(&byte) if is_special(byte) => true,
        Some(_) => {
            Scanner::new(Cursor::new(bytes, 0), ScanState { family: Family::Dragonfly, db: None }).next_item().is_ok()
        }
    }
}

/// Returns an offset among the unfolded records as a position.
fn position(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        FULL_SYNC_END
            | ZSTD_BLOCK
            | LZ4_BLOCK
            | BLOCK_END
            | JOURNAL_OFFSET
            | VECTOR_INDEX
            | SHARD_DOC_INDEX
            | TAGGED_CHUNK
            | EOF
    )
}

/// Reads the special item at the front of `bytes`; returns it with its length.
fn special(bytes: &[u8], base: u64) -> Result<(Special<'_>, usize)> {
    let mut cursor = Cursor::new(bytes, base);
    let item = match cursor.byte()? {
        code @ (ZSTD_BLOCK | LZ4_BLOCK) => {
            let len = cursor.length().within(Reading::CompressedBlock)?;
            let block = cursor.take(len).within(Reading::CompressedBlock)?;
            Special::Block(if code == ZSTD_BLOCK { Compression::Zstd } else { Compression::Lz4 }, block)
        }
        TAGGED_CHUNK => {
            let id = cursor.u32_le().within(Reading::ChunkOfValue)?;
            let size = cursor.u32_le().within(Reading::ChunkOfValue)?;
            if id == 0 || size == 0 {
                let what = wording!("chunk {id} of {size} bytes", "分块 {id} 为 {size} 字节");
                return Err(Error::corrupt(base, what)).within(Reading::ChunkOfValue);
            }
            Special::Chunk(id, cursor.take(u64::from(size)).within(Reading::ChunkOfValue)?)
        }
        FULL_SYNC_END | JOURNAL_OFFSET => {
            cursor.take(EIGHT).within(Reading::Record)?;
            Special::Skipped
        }
        VECTOR_INDEX => {
            skip_vector_index(&mut cursor).within(Reading::SearchIndex)?;
            Special::Skipped
        }
        SHARD_DOC_INDEX => {
            skip_document_index(&mut cursor).within(Reading::SearchIndex)?;
            Special::Skipped
        }
        EOF => {
            // A missing checksum is reported by the reader of the records.
            let _ = cursor.take(EIGHT);
            Special::End
        }
        other => {
            let what = wording!("opcode {other} outside of a compressed block", "操作码 {other} 出现在压缩块之外");
            return Err(Error::corrupt(base, what)).within(Reading::Record);
        }
    };
    Ok((item, cursor.consumed()))
}

/// Skips `name, entry point, n, (id, document, level, (links, link[links])[level + 1])[n]`.
fn skip_vector_index(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.string()?;
    cursor.number()?;
    for _ in 0..cursor.length()? {
        cursor.take(12)?;
        for _ in 0..=cursor.u32_le()? {
            let links = cursor.u32_le()?;
            cursor.take(4 * u64::from(links))?;
        }
    }
    Ok(())
}

/// Skips `shard, name, n, (key, document)[n]`.
fn skip_document_index(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.number()?;
    cursor.string()?;
    for _ in 0..cursor.length()? {
        cursor.string()?;
        cursor.number()?;
    }
    Ok(())
}

/// Plain records of one block or chunk.
struct Unfolding<'s> {
    ready: Vec<u8>,
    db: Option<u64>,
    /// Records of which a chunk was lost, if damage is passed.
    incomplete: Option<&'s mut BTreeSet<u32>>,
}

impl Unfolding<'_> {
    fn of(db: Option<u64>) -> Self {
        Unfolding { ready: Vec::new(), db, incomplete: None }
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
        self.ready.push(SELECT_DB);
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

impl Source for Unfolded {
    fn read(&mut self, into: &mut [u8], offset: u64) -> Result<usize> {
        loop {
            let ready = self.ready.get(self.taken..).unwrap_or_default();
            if !ready.is_empty() {
                let len = ready.len().min(into.len());
                into[..len].copy_from_slice(&ready[..len]);
                self.taken += len;
                return Ok(len);
            }
            if self.plain > 0 {
                let plain = self.body.bytes();
                let len = self.plain.min(plain.len()).min(into.len());
                into[..len].copy_from_slice(&plain[..len]);
                self.plain -= len;
                self.skip(len);
                return Ok(len);
            }
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(0),
                State::Failed(error) => return Err(error),
                state @ (State::Header | State::Records | State::After) => {
                    self.state = state;
                    self.advance(offset);
                }
            }
        }
    }
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
            let mut unfolding = Unfolding::of(None);
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
