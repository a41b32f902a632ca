//! Stretches and gaps of a walk, in file order.

use std::ops::Range;

use super::{Gap, GapKind, Stretch};
use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::wording::wording;

/// Stretch whose database may be unknown as yet.
#[derive(Debug)]
pub(super) struct Piece {
    pub stretch: Stretch,
    pub db: Option<u64>,
    /// Index of the framing gap right before it.
    pub behind: Option<usize>,
}

/// Sound and damaged parts of a file, as far as it has been walked.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub pieces: Vec<Piece>,
    pub gaps: Vec<Gap>,
    /// Index of the last framing gap, if no piece follows it yet.
    fresh_gap: Option<usize>,
    /// Number of pieces before the last framing gap.
    pieces_before_gap: usize,
    pub has_framing_gap: bool,
}

impl Parts {
    /// Returns whether there are as many parts as are kept.
    pub fn are_full(&self) -> bool {
        self.gaps.len() >= limits::MAX_GAPS || self.pieces.len() >= limits::MAX_STRETCHES
    }

    /// Returns the stretch that ends with `range`: the last one if it is adjacent.
    pub fn stretch(&mut self, range: Range<usize>, db: Option<u64>) -> &mut Stretch {
        let is_adjacent = self.fresh_gap.is_none()
            && self.pieces.last().is_some_and(|piece| {
                let last = &piece.stretch.range;
                piece.db == db && last.end == range.start && range.end - last.start <= limits::BATCH_BYTES
            });
        if !is_adjacent {
            let stretch = Stretch {
                range: range.start..range.start,
                db: db.unwrap_or_default(),
                is_certain: db.is_some(),
                records: 0,
                keys: 0,
                expires: 0,
            };
            self.pieces.push(Piece { stretch, db, behind: self.fresh_gap.take() });
        }
        let last = self.pieces.len() - 1;
        let stretch = &mut self.pieces[last].stretch;
        stretch.range.end = range.end;
        stretch
    }

    /// Adds a gap.
    pub fn push_gap(&mut self, range: &Range<usize>, kind: GapKind, db: u64, error: Error) {
        self.gaps.push(Gap {
            range: range.start as u64..range.end as u64,
            kind,
            db,
            error,
            keys_before: 0,
            keys_behind: 0,
        });
    }

    /// Adds a gap in which records cannot be told apart.
    pub fn push_framing_gap(&mut self, range: Range<usize>, db: u64, error: Error) {
        self.has_framing_gap = true;
        self.pieces_before_gap = self.pieces.len();
        self.push_gap(&range, GapKind::Framing, db, error);
        self.fresh_gap = Some(self.gaps.len() - 1);
    }

    /// Drops everything behind the last framing gap, and returns the gap.
    pub fn reopen_gap(&mut self) -> Option<Gap> {
        self.pieces.truncate(self.pieces_before_gap);
        self.fresh_gap = None;
        std::iter::from_fn(|| self.gaps.pop()).find(|gap| gap.kind == GapKind::Framing)
    }
}

/// Returns the error for parts that are too many to be kept.
pub(super) fn too_many(at: usize) -> Error {
    let what = ErrorKind::Limit(wording!("too many damaged places or databases", "损坏之处或数据库过多"));
    Error::at(at as u64, what)
}

/// Fills in the number of keys before and behind each gap. Both lists are in file order.
pub(super) fn count_keys(stretches: &[Stretch], gaps: &mut [Gap]) {
    let all: u64 = stretches.iter().map(|stretch| stretch.keys).sum();
    let (mut passed, mut next) = (0, stretches.iter().peekable());
    for gap in gaps {
        while let Some(stretch) = next.next_if(|stretch| stretch.range.end as u64 <= gap.range.start) {
            passed += stretch.keys;
        }
        (gap.keys_before, gap.keys_behind) = (passed, all - passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reopening_a_framing_gap_drops_what_follows_it() {
        let error = || Error::corrupt(0, wording!("damage", "损坏"));
        let mut parts = Parts::default();
        parts.push_gap(&(10..20), GapKind::Value(None), 0, error());
        parts.push_framing_gap(20..30, 0, error());
        parts.stretch(30..40, Some(0));
        parts.push_gap(&(40..50), GapKind::Value(None), 0, error());
        assert_eq!(parts.reopen_gap().map(|gap| gap.range), Some(20..30));
        assert_eq!(parts.gaps.iter().map(|gap| gap.range.start).collect::<Vec<_>>(), [10]);
        assert!(parts.pieces.is_empty());
    }
}
