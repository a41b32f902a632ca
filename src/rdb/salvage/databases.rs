//! Databases of keys behind gaps, in which `SELECTDB` may be lost.

use std::collections::BTreeMap;

use super::parts::Piece;
use super::{DatabaseSurvey, Gap, Stretch};
use crate::rdb::batch::FIRST_DATABASE;

/// Minimum size of a record in bytes.
const LEAST_RECORD: u64 = 4;

/// Returns whether the keys behind the gap before piece `index` end at another gap.
fn is_enclosed(pieces: &[Piece], index: usize) -> bool {
    let end = pieces[index + 1..].iter().find(|piece| piece.db.is_some() || piece.behind.is_some());
    end.is_some_and(|piece| piece.db.is_none())
}

/// Infers the database of keys behind gaps, in which `SELECTDB` may be lost.
pub(super) fn infer_databases(pieces: &mut [Piece], gaps: &[Gap], announced: &BTreeMap<u64, u64>) {
    let mut keys: BTreeMap<u64, u64> = BTreeMap::new();
    let mut current = (FIRST_DATABASE, true);
    let sizes: (u64, u64) = pieces
        .iter()
        .fold((0, 0), |(keys, bytes), piece| (keys + piece.stretch.keys, bytes + piece.stretch.range.len() as u64));
    let usual = (sizes.1 / sizes.0.max(1)).max(LEAST_RECORD);
    let mut selected: Vec<Option<u64>> = Vec::with_capacity(pieces.len());
    for piece in pieces.iter().rev() {
        selected.push(piece.db.or(selected.last().copied().flatten()));
    }
    selected.reverse();
    for (index, &next) in selected.iter().enumerate() {
        let piece = &pieces[index];
        if let Some(db) = piece.db {
            if db < current.0 {
                // Out of order: a block from elsewhere. What follows it does not belong to its database.
                let stretch = &mut pieces[index].stretch;
                (stretch.db, stretch.is_certain) = (db, false);
                *keys.entry(db).or_default() += stretch.keys;
                continue;
            }
            current = (db, true);
        } else if let Some(gap) = piece.behind {
            let is_run = |piece: &&Piece| piece.db.is_none() && piece.behind.is_none();
            let more: u64 = pieces[index + 1..].iter().take_while(is_run).map(|next| next.stretch.keys).sum();
            let lost = gaps.get(gap).map_or(0, |gap| gap.range.end - gap.range.start);
            let db = current.0;
            let left = announced
                .get(&db)
                .map(|announced| announced.saturating_sub(keys.get(&db).copied().unwrap_or_default()));
            let run = piece.stretch.keys + more;
            let next = next.filter(|next| *next > db);
            let (mut found, is_certain) = database_behind(db, left, run, lost, usual, next);
            if found > db
                && let Some((&announced, _)) = announced.range(db + 1..next.unwrap_or(u64::MAX)).next()
            {
                found = announced;
            }
            // A block of another database may have taken the place of lost records.
            let is_enclosed = announced.len() > 1 && is_enclosed(pieces, index);
            current = (found, is_certain && current.1 && !is_enclosed);
        }
        let stretch = &mut pieces[index].stretch;
        (stretch.db, stretch.is_certain) = current;
        *keys.entry(current.0).or_default() += stretch.keys;
    }
}

/// Returns the database of `run` keys behind a gap of `lost` bytes, and whether that is certain.
///
/// `left` is the number of keys that database `db`, in force before the gap, announced and that were not found before it;
/// `next` is the next database selected. Databases are stored in ascending order.
pub(super) fn database_behind(
    db: u64,
    left: Option<u64>,
    run: u64,
    lost: u64,
    usual: u64,
    next: Option<u64>,
) -> (u64, bool) {
    let has_room = next.is_none_or(|next| next > db + 1);
    if !has_room {
        return (db, true);
    }
    let Some(left) = left else { return (db, false) };
    if left > lost / LEAST_RECORD {
        return (db, run <= left); // too many keys to be lost in the gap
    }
    // The number of keys that the gap probably held: all that were left, or all but those behind it.
    let expected = lost / usual;
    if run > left {
        // Too many for the database: the next one began in the gap, or keys from elsewhere were counted in their place.
        return match (run - left).saturating_add(expected) < expected.abs_diff(left) {
            true => (db, false),
            false => (db + 1, next == Some(db + 2)),
        };
    }
    match expected.abs_diff(left - run) <= expected.abs_diff(left) {
        true => (db, false),
        false => (db + 1, false),
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
