//! Items to batches: a file cut at record boundaries into pieces of a few MiB, each with all that a worker must know to
//! read it alone. One scan finds the boundaries and decodes nothing.

use super::cursor::Cursor;
use super::file_info::FileInfo;
use super::header::RdbHeader;
use super::scan::{FileItem, ScanState, Scanner};
use crate::error::{Error, Result, Within};
use crate::input::{Block, Body, Mapped};
use crate::limits;

/// A piece of a file that begins and ends at a record boundary.
#[derive(Debug)]
pub struct Batch {
    /// The bytes, mapped or owned.
    pub bytes: Block,
    /// Bytes in front of the first item: the header of a file's first batch.
    pub skip: usize,
    /// Absolute offset of the first byte.
    pub base: u64,
    /// What a scanner needs to start.
    pub state: ScanState,
    /// Position among the file's batches.
    pub index: u32,
}

impl Batch {
    /// A scanner over the batch's items.
    pub fn scanner(&self) -> Scanner<'_> {
        let items = self.bytes.get(self.skip..).unwrap_or_default();
        Scanner::new(Cursor::new(items, self.base + self.skip as u64), self.state)
    }
}

/// The database that keys belong to before a file says otherwise.
pub const FIRST_DATABASE: u64 = 0;

/// Cuts a file into batches, and learns what stands between the keys.
#[derive(Debug)]
pub struct Batches {
    body: Body,
    state: ScanState,
    about: FileInfo,
    next_index: u32,
    stored_checksum: Option<u64>,
    trailing: u64,
    strays: u64,
    ended: bool,
    /// Why the source has no more bytes, until the bytes before run out.
    failure: Option<Error>,
    stopped: Option<Error>,
    start: u64,
    batch_bytes: usize,
}

/// What is known of a file once its batches have run out.
#[derive(Debug)]
pub struct FileEnding {
    /// What the file says about itself.
    pub about: FileInfo,
    /// Bytes from the magic to the end of the checksum, or to where reading stopped.
    pub bytes: u64,
    /// The checksum behind the last opcode, if the version has one and it was reached.
    pub stored_checksum: Option<u64>,
    /// Bytes behind the snapshot.
    pub trailing: u64,
    /// Prefixes that no key followed.
    pub strays: u64,
    /// Why reading stopped early.
    pub stopped: Option<Error>,
}

impl Batches {
    /// Reads the header. The bytes begin with the magic.
    pub fn open(mut body: Body) -> Result<Self> {
        let start = body.offset();
        body.fill(RdbHeader::LEN as u64)?;
        let header = RdbHeader::read(&mut Cursor::new(body.bytes(), start)).within("header")?;
        Ok(Batches {
            body,
            state: ScanState { family: header.family, db: Some(FIRST_DATABASE) },
            about: FileInfo::new(header),
            next_index: 0,
            stored_checksum: None,
            trailing: 0,
            strays: 0,
            ended: false,
            failure: None,
            stopped: None,
            start,
            batch_bytes: limits::BATCH_BYTES,
        })
    }

    /// Cuts batches of about this size instead.
    #[must_use]
    pub fn with_batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = bytes.max(1);
        self
    }

    /// The whole file, if it is mapped and no batch was cut yet.
    pub fn mapped(&self) -> Option<Mapped> {
        match &self.body {
            Body::Mapped(mapped) if self.next_index == 0 => Some(mapped.clone()),
            Body::Mapped(_) | Body::Stream(_) => None,
        }
    }

    /// What the file's header says.
    pub fn header(&self) -> RdbHeader {
        self.about.header
    }

    /// Asks for bytes. What arrives before a failure of the source is still good; the failure is told where it runs out.
    fn fill(&mut self, wanted: u64) -> bool {
        self.body.fill(wanted).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            false
        })
    }

    /// What the items in front of the first key tell, without consuming anything: enough to choose a memory model.
    /// Damage is passed over here; it will be met again.
    pub fn preamble(&mut self) -> FileInfo {
        let mut wanted = limits::MAX_AUX_BYTES;
        loop {
            let more = self.fill(wanted);
            let mut about = FileInfo::new(self.about.header);
            match read_preamble(&mut about, self.body.bytes(), self.body.offset(), self.state) {
                Err(error) if more && error.needed().is_some() && wanted < limits::BATCH_BYTES as u64 => wanted *= 4,
                _ => return about,
            }
        }
    }

    fn skip(&self) -> usize {
        if self.next_index == 0 { RdbHeader::LEN } else { 0 }
    }

    /// The next batch; `None` at the end, whether the file's or that of its intact part: see [`Batches::ending`].
    pub fn next_batch(&mut self) -> Option<Batch> {
        if self.ended {
            return None;
        }
        let mut wanted = self.batch_bytes as u64;
        loop {
            let more = self.fill(wanted);
            let base = self.body.offset();
            let cut = self.scan_batch();
            match cut.reason {
                CutReason::Full => return self.emit(cut.end, cut.state),
                CutReason::End => return self.finish(cut.end),
                // A record that goes on behind the bytes at hand: let go what is whole, or fetch more.
                CutReason::Failed(error) if more && error.needed().is_some() => {
                    if cut.end > self.skip() {
                        return self.emit(cut.end, cut.state);
                    }
                    let needed = error.needed().unwrap_or_default();
                    let reach = error.offset().unwrap_or(base).saturating_sub(base).saturating_add(needed);
                    wanted = reach.max(self.body.bytes().len() as u64 * 2);
                }
                CutReason::Failed(error) => {
                    let error = self.failure.take().unwrap_or(error);
                    return self.stop(cut.end, error);
                }
            }
        }
    }

    /// Scans from the last boundary on, as far as a batch goes.
    fn scan_batch(&mut self) -> BatchCut {
        let skip = self.skip();
        let items = self.body.bytes().get(skip..).unwrap_or_default();
        let mut scanner = Scanner::new(Cursor::new(items, self.body.offset() + skip as u64), self.state);
        let mut cut = BatchCut { end: skip, state: self.state, reason: CutReason::Full };
        let first = skip;
        let mut keys = 0;
        // A compressed name is a few bytes here and many in a row of `keys`.
        let mut names: u64 = 0;
        while cut.end - first < self.batch_bytes && keys < limits::BATCH_KEYS && names < limits::BATCH_BYTES as u64 {
            match step(&mut scanner, &mut self.about) {
                Ok(ScanStep::Key(name)) => {
                    keys += 1;
                    names = names.saturating_add(name);
                }
                Ok(ScanStep::Other) if scanner.at_boundary() => {}
                Ok(ScanStep::Other) => continue,
                Ok(ScanStep::End) => {
                    cut.reason = CutReason::End;
                    cut.end = skip + scanner.cursor().consumed();
                    break;
                }
                Err(error) => {
                    cut.reason = CutReason::Failed(error);
                    break;
                }
            }
            cut.end = skip + scanner.cursor().consumed();
            cut.state = scanner.state();
        }
        self.strays += scanner.strays();
        cut
    }

    fn emit(&mut self, end: usize, next: ScanState) -> Option<Batch> {
        let (skip, base, state, index) = (self.skip(), self.body.offset(), self.state, self.next_index);
        self.state = next;
        self.next_index += 1;
        Some(Batch { bytes: self.body.take(end), skip, base, state, index })
    }

    /// Hands out what is whole in front of a damage, and ends.
    fn stop(&mut self, end: usize, error: Error) -> Option<Batch> {
        self.stopped = Some(error);
        self.ended = true;
        let end = end.min(self.body.bytes().len());
        if end == 0 { None } else { self.emit(end, self.state) }
    }

    /// Hands out the last batch and reads what stands behind it.
    fn finish(&mut self, end: usize) -> Option<Batch> {
        self.ended = true;
        let batch = self.emit(end, self.state);
        if let Err(error) = self.read_checksum().and_then(|()| self.count_trailing()) {
            self.stopped = Some(error);
        }
        batch
    }

    fn read_checksum(&mut self) -> Result<()> {
        if !self.about.header.has_checksum() {
            return Ok(());
        }
        self.fill(8);
        let stored = Cursor::new(self.body.bytes(), self.body.offset()).u64_le().within("checksum");
        let stored = stored.map_err(|error| self.failure.take().unwrap_or(error))?;
        self.body.skip(8);
        self.stored_checksum = Some(stored);
        Ok(())
    }

    /// Runs through what follows the snapshot, so that a compressed container is verified to its end, too.
    fn count_trailing(&mut self) -> Result<()> {
        let snapshot_end = self.body.offset();
        loop {
            let more = self.fill(limits::BATCH_BYTES as u64);
            self.body.skip(self.body.bytes().len());
            if !more {
                self.trailing = self.body.offset() - snapshot_end;
                return self.failure.take().map_or(Ok(()), Err);
            }
        }
    }

    /// What is known of the file, after the batches have run out.
    pub fn ending(self) -> FileEnding {
        let end = self.body.offset() - self.trailing;
        FileEnding {
            about: self.about,
            bytes: end - self.start,
            stored_checksum: self.stored_checksum,
            trailing: self.trailing,
            strays: self.strays,
            stopped: self.stopped,
        }
    }
}

/// How far a scan came, and why no further.
struct BatchCut {
    /// The last boundary, in bytes at hand.
    end: usize,
    /// The state there.
    state: ScanState,
    reason: CutReason,
}

enum CutReason {
    /// The batch is big enough.
    Full,
    /// The last opcode was read.
    End,
    /// The item behind the boundary cannot be read.
    Failed(Error),
}

enum ScanStep {
    /// A key with a name of so many bytes, decoded.
    Key(u64),
    Other,
    End,
}

#[inline]
fn step(scanner: &mut Scanner<'_>, about: &mut FileInfo) -> Result<ScanStep> {
    match scanner.next_item()? {
        FileItem::Key(entry) => scanner.skip_value(&entry).map(|()| ScanStep::Key(entry.key.len())),
        FileItem::End => Ok(ScanStep::End),
        other => {
            about.observe(&other);
            Ok(ScanStep::Other)
        }
    }
}

fn read_preamble(about: &mut FileInfo, bytes: &[u8], base: u64, state: ScanState) -> Result<()> {
    let items = bytes.get(RdbHeader::LEN..).unwrap_or_default();
    let mut scanner = Scanner::new(Cursor::new(items, base + RdbHeader::LEN as u64), state);
    loop {
        match scanner.next_item()? {
            // A slot's mark stands behind the database's, and tells that the dump is of a cluster.
            FileItem::Database(_) | FileItem::DatabaseSize(..) => {}
            FileItem::Key(_) | FileItem::End => return Ok(()),
            other => about.observe(&other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Window;
    use crate::input::source::Plain;

    fn batches(bytes: Vec<u8>) -> Batches {
        let window = Window::new(Box::new(Plain(std::io::Cursor::new(bytes))), 1 << 20, std::env::temp_dir());
        Batches::open(Body::Stream(window)).unwrap()
    }

    fn cut(mut batches: Batches) -> (Vec<usize>, FileEnding) {
        let sizes = std::iter::from_fn(|| batches.next_batch()).map(|batch| batch.bytes.len()).collect();
        (sizes, batches.ending())
    }

    #[test]
    fn names_that_expand_fill_a_batch() {
        let name = vec![0u8; 1 << 20];
        let block = lzf::compress(&name).unwrap();
        let length = |len: usize| [&[0x80][..], &u32::try_from(len).unwrap().to_be_bytes()].concat();
        let key = [&[0, 0xC3][..], &length(block.len()), &length(name.len()), &block, b"\x01v"].concat();
        let file = [&b"REDIS0011"[..], &key.repeat(10), &[0xFF], &[0; 8]].concat();
        let (sizes, ending) = cut(batches(file));
        assert_eq!(sizes, [9 + 4 * key.len(), 4 * key.len(), 2 * key.len() + 1]);
        assert!(ending.stopped.is_none());
    }

    #[test]
    fn the_batches_are_the_whole_file_up_to_the_checksum() {
        let file = [&b"REDIS0011\xfe\x03"[..], &b"\x00\x01k\x01v".repeat(40_000), b"\xff", &[0; 8], b"tail"].concat();
        let (sizes, ending) = cut(batches(file.clone()));
        assert_eq!(sizes.len(), 3);
        assert_eq!(sizes.iter().sum::<usize>(), file.len() - 12);
        assert_eq!((ending.bytes, ending.trailing, ending.stored_checksum), (file.len() as u64 - 4, 4, Some(0)));
    }
}
