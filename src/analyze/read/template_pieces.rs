//! Counts the users of hash templates of a mapped file on several threads.
//!
//! The file is cut at guessed record boundaries. A piece counts only if the reader of the piece before arrives exactly where it
//! begins; a guess that was wrong, or whatever else depends on the order of keys, leaves the count to a single reader.

use std::sync::Arc;
use std::thread;

use super::template_users::Counting;
use crate::input::Mapped;
use crate::limits;
use crate::memory::TemplateCensus;
use crate::rdb::batch::{FIRST_DATABASE, ReadValue};
use crate::rdb::boundary::{self, FileFormat};
use crate::rdb::cursor::Cursor;
use crate::rdb::header::RdbHeader;
use crate::rdb::scan::{FileItem, ScanState, Scanner};
use crate::rdb::template::Templates;

/// Mapped file whose hash templates precede its first key.
#[derive(Debug, Clone, Copy)]
pub struct CountedFile<'f> {
    /// The bytes.
    pub map: &'f Mapped,
    /// The header.
    pub header: RdbHeader,
    /// Hash templates before the first key.
    pub templates: &'f Arc<Templates>,
    /// True if Redis Enterprise wrote it.
    pub enterprise: bool,
}

/// Keys counted from one boundary to another.
struct Piece {
    census: TemplateCensus,
    start: usize,
    /// The boundary reached.
    end: usize,
    /// True if nothing follows: the snapshot ended, or is damaged.
    is_last: bool,
    /// True if templates were among the keys.
    has_late_templates: bool,
}

impl CountedFile<'_> {
    /// Counts the users of templates on `threads` threads. Returns `None` if the pieces do not fit together, or if the count
    /// depends on the order of keys.
    pub fn count(self, threads: usize, empty: impl Fn() -> Counting + Sync) -> Option<TemplateCensus> {
        let starts = self.starts(threads);
        let ends = starts.iter().copied().skip(1).chain([self.map.bytes.len()]);
        let empty = &empty;
        let pieces: Vec<Piece> = thread::scope(|scope| {
            let begin = |(&start, until)| scope.spawn(move || self.piece(start, until, empty()));
            let running: Vec<_> = starts.iter().zip(ends).map(begin).collect();
            running.into_iter().map(|piece| piece.join().ok()).collect::<Option<_>>()
        })?;
        if pieces.iter().any(|piece| piece.has_late_templates) {
            return None;
        }
        let mut pieces = pieces.into_iter();
        let mut whole = pieces.next()?;
        for next in pieces {
            if whole.is_last {
                break;
            }
            if whole.end != next.start || !whole.census.merge(next.census) {
                return None;
            }
            (whole.end, whole.is_last) = (next.end, next.is_last);
        }
        Some(whole.census)
    }

    /// Returns where pieces begin: the start of the snapshot, then probable record boundaries.
    fn starts(self, threads: usize) -> Vec<usize> {
        let (bytes, start) = (&self.map.bytes, self.map.start());
        let format =
            FileFormat { family: self.header.family, templates: Some(self.templates), enterprise: self.enterprise };
        let size = bytes.len() - start;
        let pieces = threads.min(size / limits::MIN_CHUNK).max(1);
        let mut starts = vec![start];
        for piece in 1..pieces {
            let from = start + size / pieces * piece;
            let found = boundary::find(bytes, format, from, from.saturating_add(limits::SEARCH_WINDOW));
            starts.extend(found.filter(|&found| starts.last().is_some_and(|&last| found > last)));
        }
        starts
    }

    /// Counts from the boundary `start` to the first one at or after `until`.
    fn piece(self, start: usize, until: usize, mut counting: Counting) -> Piece {
        let bytes = self.map.bytes.get(start..).unwrap_or_default();
        let mut cursor = Cursor::new(bytes, start as u64);
        if start == self.map.start() {
            // Its magic was checked when the file was opened.
            let _ = cursor.take(RdbHeader::LEN as u64);
        }
        let state = ScanState { family: self.header.family, db: Some(FIRST_DATABASE) };
        let none = Templates::before(self.header);
        let mut scanner = Scanner::new(cursor, state).with_templates(none, Some(Arc::clone(self.templates)));
        let (mut end, mut is_last) = (start, false);
        while end < until {
            if let Some(user) = scanner.pass_template_user() {
                counting.count(user);
                end = start + scanner.cursor().consumed();
                continue;
            }
            let read = match scanner.plain_entry() {
                Some(entry) => counting.read(&mut scanner, &entry).map(|()| true),
                None => scanner.other_item().and_then(|item| match item {
                    FileItem::Key(entry) => counting.read(&mut scanner, &entry).map(|()| true),
                    FileItem::End => Ok(false),
                    _ => Ok(true),
                }),
            };
            // Damage ends the count, as it ends the pass that prices keys.
            if !read.unwrap_or(false) {
                is_last = true;
                break;
            }
            if scanner.at_boundary() {
                end = start + scanner.cursor().consumed();
            }
        }
        let has_late_templates = scanner.templates().len() > self.templates.len();
        Piece { census: counting.census, start, end, is_last, has_late_templates }
    }
}
