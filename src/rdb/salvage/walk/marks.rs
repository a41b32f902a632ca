//! Items that a walk has read: the last of them may be retracted, the others become parts of stretches and gaps.

use std::ops::Range;

use super::Walk;
use super::search::Leading;
use crate::error::Error;
use crate::limits;
use crate::rdb::opcode::byte;
use crate::rdb::resync::KeyFacts;
use crate::rdb::salvage::GapKind;

/// Number of records before a failure that may be retracted if they look false.
const SUSPICIOUS: usize = 6;

/// Item that has been read, but may be retracted.
#[derive(Debug)]
pub(super) struct Mark {
    pub range: Range<usize>,
    /// Database in force behind it.
    pub db: Option<u64>,
    pub kind: MarkKind,
}

#[derive(Debug)]
pub(super) enum MarkKind {
    Key {
        facts: KeyFacts,
        expires: bool,
        is_empty: bool,
    },
    /// A key whose value is damaged, or another item whose content is.
    Damaged {
        key: Option<Vec<u8>>,
        error: Error,
        /// True if it looks like the sound keys.
        is_trusted: bool,
    },
    /// An item that is copied: auxiliary field, function, slot, template.
    Other,
    /// `SELECTDB`, which is written anew. It is due if the keys before it are as many as their database announced.
    Database {
        is_due: bool,
    },
    /// `RESIZEDB` with the number of keys, which is written anew.
    DatabaseSize(u64),
}

/// Evidence for an item before a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strength {
    Sound,
    /// A real record, but the damage may lie in it.
    Suspicious,
    False,
}

impl Walk<'_> {
    /// Adds an item, and settles the one that is too far back to be retracted.
    pub(super) fn mark(&mut self, mark: Mark) {
        self.marks.push_back(mark);
        if self.marks.len() > SUSPICIOUS
            && let Some(mark) = self.marks.pop_front()
        {
            self.settle(mark);
        }
    }

    /// Returns where the sound part before a failure ends, and drops the suspicious records behind that place.
    pub(super) fn retract(&mut self, resumed: usize, failed: usize, is_credible: bool) -> usize {
        if is_credible {
            self.note_head();
            return failed;
        }
        let mut cut = failed;
        // Drop records that look false, and the one before them: its changed length may have led there.
        while let Some(mark) = self.marks.back() {
            let strength = match &mark.kind {
                _ if self.database.complete == Some(mark.range.end) && self.are_named() => {
                    self.strength_of_last(failed)
                }
                MarkKind::Key { facts, .. } if self.profile.trusts(facts) => Strength::Suspicious,
                // The damage is known to lie in it: what ends where it begins is sound.
                MarkKind::Damaged { is_trusted: true, .. } => Strength::Suspicious,
                MarkKind::Key { .. } | MarkKind::Damaged { .. } => Strength::False,
                MarkKind::Other => Strength::Sound,
                MarkKind::DatabaseSize(_) if self.is_database_head() => Strength::Sound,
                MarkKind::Database { is_due: true } => Strength::Sound,
                MarkKind::Database { is_due: false } | MarkKind::DatabaseSize(_) => Strength::False,
            };
            if strength == Strength::Sound {
                break;
            }
            cut = mark.range.start;
            self.marks.pop_back();
            if strength == Strength::Suspicious {
                break;
            }
        }
        self.note_head();
        self.database.last =
            self.marks.back().map_or(self.database.settled, |mark| mark.db.unwrap_or(self.database.settled));
        cut.max(resumed)
    }

    /// Returns whether the keys before a failure, as far as they may be retracted, have names of text or look like the others.
    fn are_named(&self) -> bool {
        let keys = self.marks.iter().rev();
        let mut keys = keys.take_while(|mark| matches!(mark.kind, MarkKind::Key { .. } | MarkKind::Damaged { .. }));
        keys.all(|mark| match &mark.kind {
            MarkKind::Key { facts, .. } => facts.has_text_name() || self.profile.trusts(facts),
            MarkKind::Damaged { is_trusted, .. } => *is_trusted,
            MarkKind::Other | MarkKind::Database { .. } | MarkKind::DatabaseSize(_) => false,
        })
    }

    /// Returns the evidence for the last key that a database announces, with damage up to `failed` behind it.
    ///
    /// If the end mark is intact, the bytes between may be the rest of the key's value. Where no end mark is, they are damage.
    fn strength_of_last(&self, failed: usize) -> Strength {
        let mark = self.bytes.len().checked_sub(1 + self.header.checksum_len());
        let is_ended = mark.is_some_and(|mark| mark > failed && self.bytes.get(mark) == Some(&byte::EOF));
        if is_ended { Strength::Suspicious } else { Strength::Sound }
    }

    /// Returns whether the file seems to be cut off within the item that failed, soon behind the head of a database: the few keys since
    /// then cannot be compared with others, but they have names of text, and are fewer than the database announces.
    pub(super) fn may_be_cut_off(&self, error: &Error) -> bool {
        let is_named = |mark: &&Mark| matches!(&mark.kind, MarkKind::Key { facts, .. } if facts.has_text_name());
        error.needed().is_some()
            && self.database.left.is_some_and(|left| left > 0)
            && self.marks.iter().rev().take_while(is_named).count() == self.database.keys_of_size
    }

    /// Notes the `SELECTDB` that the sound part ends with.
    fn note_head(&mut self) {
        self.database.head = match self.marks.back() {
            Some(Mark { kind: MarkKind::Database { is_due: true }, db, .. }) => *db,
            _ => None,
        };
    }

    /// Returns whether the last two items are `SELECTDB` and `RESIZEDB`, which hardly come by chance.
    fn is_database_head(&self) -> bool {
        let before = self.marks.len().checked_sub(2).and_then(|index| self.marks.get(index));
        before.is_some_and(|mark| matches!(mark.kind, MarkKind::Database { .. }))
    }

    /// Settles all items.
    pub(super) fn settle_all(&mut self) {
        while let Some(mark) = self.marks.pop_front() {
            self.settle(mark);
        }
    }

    /// Makes an item part of a stretch, or of a gap if its value is damaged.
    fn settle(&mut self, mark: Mark) {
        self.database.settled = mark.db.unwrap_or(self.database.settled);
        match mark.kind {
            MarkKind::Key { facts, expires, is_empty } => {
                self.profile.learn(&facts);
                self.parts.stretch(mark.range, mark.db).count(is_empty, expires);
            }
            MarkKind::Other => {
                self.parts.stretch(mark.range, mark.db);
            }
            MarkKind::Database { .. } => {}
            MarkKind::DatabaseSize(keys) => {
                if let Some(db) = mark.db
                    && self.database.announced.len() < limits::MAX_GAPS
                {
                    self.database.announced.insert(db, keys);
                }
            }
            MarkKind::Damaged { key, error, .. } => {
                self.parts.push_gap(&mark.range, GapKind::Value(key), self.database.settled, error);
            }
        }
    }

    /// Ends the gap before the first accepted item behind it.
    pub(super) fn end_leading(&mut self, at: usize) {
        if let Some(leading) = self.leading.take() {
            let range = leading.gap_start..at.max(leading.gap_start);
            self.parts.push_framing_gap(range, self.database.settled, leading.error);
        }
    }

    /// Drops everything behind the last framing gap, which then goes on.
    pub(super) fn drop_pieces(&mut self) {
        self.marks.clear();
        if self.leading.is_some() {
            return; // none of them has been accepted
        }
        self.leading = self.parts.reopen_gap().map(|gap| {
            let gap_start = usize::try_from(gap.range.start).unwrap_or(self.start);
            Leading { gap_start, error: gap.error, resumed: gap_start, rejected: 0 }
        });
    }
}
