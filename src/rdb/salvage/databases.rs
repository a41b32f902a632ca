//! Databases of keys behind gaps, in which `SELECTDB` may be lost.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::parts::Piece;
use super::{DatabaseSurvey, Gap, Stretch};
use crate::rdb::batch::FIRST_DATABASE;

/// Minimum size of a record in bytes.
const MIN_RECORD: u64 = 4;

/// Minimum size of a record and the `SELECTDB` behind it in bytes.
const MIN_DATABASE: u64 = MIN_RECORD + 2;

/// Part of the missing keys of a database that may be lost if all that are behind a gap are taken for the others.
const MISSED: u64 = 4;

/// Number of `SELECTDB` in a sequence, and keys that follow them.
type Weight = (u64, u64);

/// Returns whether the keys behind the gap before piece `index` end at another gap.
fn is_enclosed(pieces: &[Piece], index: usize) -> bool {
    let end = pieces[index + 1..].iter().find(|piece| piece.db.is_some() || piece.behind.is_some());
    end.is_some_and(|piece| piece.db.is_none())
}

/// Returns, for each piece, whether its `SELECTDB` is in order; true for pieces that have none.
///
/// Servers store databases in ascending order. A block from elsewhere in the file has a `SELECTDB` that is out of order; those that
/// are in order are the longest ascending sequence, of several as long the one with most keys.
fn in_order(pieces: &[Piece]) -> Vec<bool> {
    // A run is what one SELECTDB is in force for: its database, its keys, and its last piece.
    let mut runs: Vec<(u64, u64, usize)> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        match (piece.db, runs.last_mut()) {
            (Some(db), Some((last, keys, end))) if db == *last && *end + 1 == index => {
                (*keys, *end) = (*keys + piece.stretch.keys, index);
            }
            (Some(db), _) => runs.push((db, piece.stretch.keys, index)),
            (None, _) => {}
        }
    }
    // By the database that a sequence ends with: its length and keys, which grow from one to the next, and its last run.
    let mut best: BTreeMap<u64, (Weight, usize)> = BTreeMap::new();
    let mut before = Vec::with_capacity(runs.len());
    for (number, &(db, keys, _)) in runs.iter().enumerate() {
        let (weight, previous) =
            best.range(..db).next_back().map_or(((0, 0), None), |(_, &(weight, run))| (weight, Some(run)));
        before.push(previous);
        let weight = (weight.0 + 1, weight.1 + keys);
        if best.get(&db).is_some_and(|(other, _)| *other >= weight) {
            continue;
        }
        best.insert(db, (weight, number));
        let above = (Bound::Excluded(db), Bound::Unbounded);
        while let Some((&worse, _)) = best.range(above).next().filter(|(_, (other, _))| *other <= weight) {
            best.remove(&worse);
        }
    }
    let mut kept = vec![false; runs.len()];
    let mut last = best.last_key_value().map(|(_, &(_, run))| run);
    while let Some(run) = last {
        kept[run] = true;
        last = before[run];
    }
    let mut order = vec![true; pieces.len()];
    let mut run = 0;
    for (index, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.db.is_some()) {
        debug_assert_eq!(piece.db, Some(runs[run].0));
        order[index] = kept[run];
        run += usize::from(runs[run].2 == index);
    }
    order
}

/// Sets the database of keys to the last one selected, which is uncertain behind gaps.
pub(super) fn databases_in_force(pieces: &mut [Piece]) {
    let mut current = InferredDb::certain(FIRST_DATABASE);
    for piece in pieces {
        match piece.db {
            Some(db) => current = InferredDb::certain(db),
            None => current.is_certain &= piece.behind.is_none(),
        }
        (piece.stretch.db, piece.stretch.is_certain) = (current.db, current.is_certain);
    }
}

/// Infers the database of keys behind gaps, in which `SELECTDB` may be lost.
pub(super) fn infer_databases(pieces: &mut [Piece], gaps: &[Gap], announced: &BTreeMap<u64, u64>) {
    let in_order = in_order(pieces);
    let selected = next_selected(pieces, &in_order);
    let mut inference = Inference::new(pieces, announced);
    for (index, &next) in selected.iter().enumerate() {
        let piece = &pieces[index];
        let lost = piece.behind.and_then(|gap| gaps.get(gap)).map_or(0, |gap| gap.range.end - gap.range.start);
        inference.lost_here += lost;
        let found = match piece.db {
            // A block from elsewhere. What follows it does not belong to its database.
            Some(db) if !in_order[index] => InferredDb::uncertain(db),
            Some(db) => inference.select(db),
            None if piece.behind.is_some() => inference.pass_gap(pieces, index, lost, next),
            None => inference.current,
        };
        let stretch = &mut pieces[index].stretch;
        (stretch.db, stretch.is_certain) = (found.db, found.is_certain);
        *inference.keys.entry(found.db).or_default() += stretch.keys;
    }
}

/// Returns, for each piece, the first database that is selected in order from it on.
fn next_selected(pieces: &[Piece], in_order: &[bool]) -> Vec<Option<u64>> {
    let mut selected: Vec<Option<u64>> = Vec::with_capacity(pieces.len());
    for (piece, in_order) in pieces.iter().zip(in_order).rev() {
        selected.push(piece.db.filter(|_| *in_order).or(selected.last().copied().flatten()));
    }
    selected.reverse();
    selected
}

/// Facts about the database of a piece, from the pieces before it.
struct Inference<'a> {
    /// Number of keys that each database announced.
    announced: &'a BTreeMap<u64, u64>,
    /// Keys found so far, by database.
    keys: BTreeMap<u64, u64>,
    /// Usual size of a record.
    usual: u64,
    /// Database in force.
    current: InferredDb,
    /// Bytes of gaps since the current database was selected.
    lost_here: u64,
    /// The database before it and the bytes of its gaps, if there were any.
    before: Option<(u64, u64)>,
}

impl<'a> Inference<'a> {
    fn new(pieces: &[Piece], announced: &'a BTreeMap<u64, u64>) -> Inference<'a> {
        let sum = |(keys, bytes), piece: &Piece| (keys + piece.stretch.keys, bytes + piece.stretch.range.len() as u64);
        let (keys, bytes) = pieces.iter().fold((0, 0), sum);
        Inference {
            announced,
            keys: BTreeMap::new(),
            usual: (bytes / keys.max(1)).max(MIN_RECORD),
            current: InferredDb::certain(FIRST_DATABASE),
            lost_here: 0,
            before: None,
        }
    }

    /// Passes a `SELECTDB` that is in order.
    fn select(&mut self, db: u64) -> InferredDb {
        if db != self.current.db {
            self.before = (self.lost_here > 0).then_some((self.current.db, self.lost_here));
            self.lost_here = 0;
        }
        self.current = InferredDb::certain(db);
        self.current
    }

    /// Returns how many of the keys that a database announced were not found yet.
    fn left(&self, db: u64) -> Option<u64> {
        let announced = self.announced.get(&db)?;
        Some(announced.saturating_sub(self.keys.get(&db).copied().unwrap_or_default()))
    }

    /// Passes the gap of `lost` bytes before piece `index`, behind which `next` is the next database selected.
    fn pass_gap(&mut self, pieces: &[Piece], index: usize, lost: u64, next: Option<u64>) -> InferredDb {
        let is_run = |piece: &&Piece| piece.db.is_none() && piece.behind.is_none();
        let more: u64 = pieces[index + 1..].iter().take_while(is_run).map(|next| next.stretch.keys).sum();
        let run = pieces[index].stretch.keys + more;
        self.return_to_earlier(run);
        let db = self.current.db;
        let next = next.filter(|next| *next > db);
        let gap = GapFacts { db, left: self.left(db), run, lost, usual: self.usual, next };
        let InferredDb { db: mut found, mut is_certain } = gap.database_behind();
        let between = (Bound::Excluded(db), next.map_or(Bound::Unbounded, Bound::Excluded));
        if found > db
            && let Some((&announced, _)) = self.announced.range(between).next()
        {
            found = announced;
        }
        // The SELECTDB is right before the gap, and another one does not fit into it.
        let is_head = index.checked_sub(1).is_some_and(|before| pieces[before].stretch.range.is_empty());
        if is_head && lost < MIN_DATABASE {
            (found, is_certain) = (db, true);
        }
        // A block of another database may have taken the place of lost records.
        let is_enclosed = self.announced.len() > 1 && is_enclosed(pieces, index);
        self.current = InferredDb { db: found, is_certain: is_certain && self.current.is_certain && !is_enclosed };
        self.current
    }

    /// Returns to the database before the current one if `run` keys are too many for the current one, but not for the one before,
    /// which lacks more than its gaps can have held: the `SELECTDB` between them came with a block from elsewhere.
    fn return_to_earlier(&mut self, run: u64) {
        let Some((earlier, lost)) = self.before else { return };
        let is_too_many = self.left(self.current.db).is_some_and(|left| left < run);
        if is_too_many && self.left(earlier).is_some_and(|left| left >= run && left / 2 > lost / self.usual) {
            self.current = InferredDb::uncertain(earlier);
            self.before = None;
        }
    }
}

/// Facts about a gap that tell which database the keys behind it are of.
#[derive(Debug, Clone, Copy)]
pub(super) struct GapFacts {
    /// Database in force before the gap.
    pub db: u64,
    /// Number of keys that this database announced and that were not found before the gap.
    pub left: Option<u64>,
    /// Number of keys behind the gap.
    pub run: u64,
    /// Bytes in the gap.
    pub lost: u64,
    /// Usual size of a record.
    pub usual: u64,
    /// Next database selected.
    pub next: Option<u64>,
}

impl GapFacts {
    /// Returns the database of the keys behind the gap. Databases are stored in ascending order.
    pub fn database_behind(self) -> InferredDb {
        let GapFacts { db, left, run, lost, usual, next } = self;
        let has_room = next.is_none_or(|next| next > db.saturating_add(1));
        if !has_room {
            return InferredDb::certain(db);
        }
        let Some(left) = left else { return InferredDb::uncertain(db) };
        if left > lost / MIN_RECORD {
            // Too many keys to be lost in the gap.
            return InferredDb { db, is_certain: run <= left };
        }
        // The number of keys that the gap probably held: all that were left, or all but those behind it.
        let expected = lost / usual;
        if run > left {
            // Too many for the database: the next one began in the gap, or keys from elsewhere were counted in their place.
            return if (run - left).saturating_add(expected) < expected.abs_diff(left) {
                InferredDb::uncertain(db)
            } else {
                InferredDb { db: db.saturating_add(1), is_certain: next == db.checked_add(2) }
            };
        }
        // One large value can fill a gap, so few keys may be lost in it. That another database has just about as many keys as
        // are missing here is a rare coincidence.
        let is_nearly_all = left - run <= left / MISSED;
        if is_nearly_all || expected.abs_diff(left - run) <= expected.abs_diff(left) {
            InferredDb::uncertain(db)
        } else {
            InferredDb::uncertain(db.saturating_add(1))
        }
    }
}

/// Database of some keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InferredDb {
    /// Its number.
    pub db: u64,
    /// False if another one is possible.
    pub is_certain: bool,
}

impl InferredDb {
    /// Returns a database that is certain.
    pub const fn certain(db: u64) -> InferredDb {
        InferredDb { db, is_certain: true }
    }

    /// Returns a database that is the most likely one.
    pub const fn uncertain(db: u64) -> InferredDb {
        InferredDb { db, is_certain: false }
    }
}

/// Adds up the keys of each database, announced or found.
pub(super) fn databases(stretches: &[Stretch], announced: &BTreeMap<u64, u64>) -> Vec<DatabaseSurvey> {
    let mut all: BTreeMap<u64, DatabaseSurvey> = BTreeMap::new();
    for (&db, &keys) in announced {
        all.insert(db, DatabaseSurvey { db, announced: Some(keys), is_certain: true, ..DatabaseSurvey::default() });
    }
    for stretch in stretches.iter().filter(|stretch| stretch.keys > 0) {
        let entry = all.entry(stretch.db).or_insert(DatabaseSurvey {
            db: stretch.db,
            is_certain: true,
            ..DatabaseSurvey::default()
        });
        entry.keys += stretch.keys;
        entry.expires += stretch.expires;
        entry.is_certain &= stretch.is_certain;
    }
    all.into_values().collect()
}

/// Takes databases for uncertain that have more keys than they announce: a `SELECTDB` is lost among them.
pub(super) fn doubt_excess(databases: &mut [DatabaseSurvey]) {
    for database in databases {
        database.is_certain &= database.announced.is_none_or(|announced| database.keys <= announced);
    }
}
