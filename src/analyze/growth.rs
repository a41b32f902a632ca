//! What grew between two snapshots, as far as their reports tell: in all, by type, by pattern.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::report::{Growth, PatternChange, PatternChanges, Report, Since, Stored, TypeChange, Weight};

/// Growth since an earlier report, with `top` patterns in each list.
pub fn since(earlier: &Stored, report: &Report, top: usize) -> Option<Since> {
    // Both sides are read in the same way, so that a report does not differ from itself.
    let now = Stored::of(report, "").ok()?;
    let totals = earlier.total.zip(now.total);
    Some(Since {
        report: earlier.name.clone(),
        taken: earlier.taken(),
        complete: earlier.complete,
        before: earlier.whole(),
        after: now.whole(),
        growth: between(earlier.whole(), now.whole()),
        total_before: totals.map(|(before, _)| before),
        total_after: totals.map(|(_, after)| after),
        types: types(earlier, &now),
        patterns: patterns(earlier, &now, top),
    })
}

/// The change of keys and memory.
pub fn between(before: Weight, after: Weight) -> Growth {
    let difference = |after: u64, before: u64| {
        let size = i64::try_from(after.abs_diff(before)).unwrap_or(i64::MAX);
        if after >= before { size } else { -size }
    };
    let share = (before.memory.0 > 0).then(|| after.memory.0 as f64 / before.memory.0 as f64 - 1.0);
    Growth { keys: difference(after.keys, before.keys), memory: difference(after.memory.0, before.memory.0), share }
}

/// By type, the largest change first.
pub fn types(first: &Stored, last: &Stored) -> Vec<TypeChange> {
    let mut types: BTreeMap<&str, (Weight, Weight)> = BTreeMap::new();
    first.types.iter().for_each(|(kind, weight)| types.entry(kind).or_default().0 = *weight);
    last.types.iter().for_each(|(kind, weight)| types.entry(kind).or_default().1 = *weight);
    let change = |(kind, (before, after)): (&str, (Weight, Weight))| TypeChange {
        kind: kind.to_owned(),
        before,
        after,
        growth: between(before, after),
    };
    let mut types: Vec<_> = types.into_iter().map(change).collect();
    types.sort_by_key(|change| Reverse(change.growth.memory.unsigned_abs()));
    types
}

/// The patterns of a report, and whether they are all.
fn listed(stored: &Stored) -> (BTreeMap<&str, Weight>, bool) {
    let patterns = stored.patterns.iter().map(|row| (row.pattern.as_str(), row.weight)).collect();
    (patterns, stored.patterns.len() as u64 >= stored.distinct_patterns)
}

/// By pattern, `top` of each list. A pattern that is missing in a list that was cut is neither new nor vanished.
pub fn patterns(first: &Stored, last: &Stored, top: usize) -> PatternChanges {
    let ((before, before_whole), (after, after_whole)) = (listed(first), listed(last));
    let mut changes = PatternChanges::default();
    let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    for name in names {
        let (before, after) = (before.get(name).copied(), after.get(name).copied());
        let change = PatternChange {
            pattern: name.to_owned(),
            before,
            after,
            growth: between(before.unwrap_or_default(), after.unwrap_or_default()),
        };
        let counts = &mut changes.counts;
        let (list, count) = match (before, after) {
            (None, _) if before_whole => (&mut changes.new, &mut counts.new),
            (_, None) if after_whole => (&mut changes.vanished, &mut counts.vanished),
            (None, _) | (_, None) => (&mut changes.uncertain, &mut counts.uncertain),
            _ if (change.growth.memory, change.growth.keys) > (0, 0) => (&mut changes.grown, &mut counts.grown),
            _ if (change.growth.memory, change.growth.keys) < (0, 0) => (&mut changes.shrunk, &mut counts.shrunk),
            _ => {
                counts.unchanged += 1;
                continue;
            }
        };
        *count += 1;
        list.push(change);
    }
    let lists =
        [&mut changes.grown, &mut changes.shrunk, &mut changes.new, &mut changes.vanished, &mut changes.uncertain];
    for list in lists {
        // Stable: of equal changes the smaller name comes first.
        list.sort_by_key(|change| Reverse((change.growth.memory.unsigned_abs(), change.growth.keys.unsigned_abs())));
        list.truncate(top);
    }
    changes
}
