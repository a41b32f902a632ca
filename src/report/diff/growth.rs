//! Growth from one snapshot to another: in total, by type and by pattern.

use std::cmp::Reverse;
use std::collections::BTreeSet;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NamedReport, Report, Weight, separators};
use crate::pattern::joined::{TreeTexts, join};
use crate::sorting::CompactSort;
use crate::units::{Bytes, Millis};

/// Growth since the snapshot of an earlier report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Since {
    /// The earlier report's file, without its directory.
    pub report: String,
    /// When its snapshot was taken, in milliseconds.
    pub taken: Option<Millis>,
    /// False when it could not be read completely: what it lacks looks like growth.
    pub complete: bool,
    /// All keys then.
    pub before: Weight,
    /// All keys now.
    pub after: Weight,
    /// The difference.
    #[serde(flatten)]
    pub growth: Growth,
    /// Memory of keys and tables then, where both reports have it.
    pub total_before: Option<Bytes>,
    /// Memory of keys and tables now, where both reports have it.
    pub total_after: Option<Bytes>,
    /// By type, the largest change first.
    pub types: Vec<TypeChange>,
    /// By pattern.
    pub patterns: PatternChanges,
}

/// A change of keys and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Growth {
    /// Change in the number of keys; negative if there are fewer.
    pub keys: i64,
    /// Change in memory, in bytes.
    pub memory: i64,
    /// Change in memory as a fraction of the memory before; null if there was none.
    pub share: Option<f64>,
}

/// Keys of one type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct TypeChange {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Before.
    pub before: Weight,
    /// After.
    pub after: Weight,
    /// The difference.
    #[serde(flatten)]
    pub growth: Growth,
}

/// Changes of patterns, each list with the largest change first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct PatternChanges {
    /// Patterns that take more memory or have more keys.
    pub grown: Vec<PatternChange>,
    /// Patterns that take less.
    pub shrunk: Vec<PatternChange>,
    /// Patterns that only the later snapshot has.
    pub new: Vec<PatternChange>,
    /// Patterns that only the earlier snapshot has.
    pub vanished: Vec<PatternChange>,
    /// Patterns that one report lists and the other may have left out, because it lists only its heaviest.
    pub uncertain: Vec<PatternChange>,
    /// Number of patterns of each sort, listed or not.
    pub counts: PatternCounts,
}

/// Number of patterns by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct PatternCounts {
    /// Patterns in `grown`.
    pub grown: u64,
    /// Patterns in `shrunk`.
    pub shrunk: u64,
    /// Patterns in `new`.
    pub new: u64,
    /// Patterns in `vanished`.
    pub vanished: u64,
    /// Patterns with as many keys and as much memory as before.
    pub unchanged: u64,
    /// Patterns in `uncertain`.
    pub uncertain: u64,
}

/// The change of one pattern.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct PatternChange {
    /// The pattern. Those that only one snapshot has collapsed to `{*}` are one row.
    pub pattern: String,
    /// Before; null if the earlier report does not list it, or not all that the pattern covers.
    pub before: Option<Weight>,
    /// After; null if the later report does not list it, or not all that the pattern covers.
    pub after: Option<Weight>,
    /// The difference; where a side is unknown, it counts as nothing.
    #[serde(flatten)]
    pub growth: Growth,
}

/// Fate of a pattern between two snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Fate {
    Grown,
    New,
    Shrunk,
    Vanished,
    Uncertain,
}

impl Fate {
    /// Returns the name of its list in [`PatternChanges`].
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Grown => "grown",
            Fate::New => "new",
            Fate::Shrunk => "shrunk",
            Fate::Vanished => "vanished",
            Fate::Uncertain => "uncertain",
        }
    }
}

impl PatternChanges {
    /// Returns all lists, each with the fate of its patterns.
    pub fn lists(&self) -> [(Fate, &[PatternChange]); 5] {
        [
            (Fate::Grown, &self.grown),
            (Fate::New, &self.new),
            (Fate::Shrunk, &self.shrunk),
            (Fate::Vanished, &self.vanished),
            (Fate::Uncertain, &self.uncertain),
        ]
    }

    /// Returns the patterns that certainly changed, largest change in memory first.
    pub fn certain(&self) -> Vec<(Fate, &PatternChange)> {
        let lists = self.lists().into_iter().filter(|(fate, _)| *fate != Fate::Uncertain);
        let mut all: Vec<_> = lists.flat_map(|(fate, list)| list.iter().map(move |change| (fate, change))).collect();
        all.compact_sort_by(|(_, one), (_, other)| {
            let size =
                |change: &PatternChange| (change.growth.memory.unsigned_abs(), change.growth.keys.unsigned_abs());
            Reverse(size(one)).cmp(&Reverse(size(other))).then_with(|| one.pattern.cmp(&other.pattern))
        });
        all
    }

    /// Sorts each list by the size of the change and cuts it to `top` rows.
    pub(super) fn keep_largest(&mut self, top: usize) {
        for list in [&mut self.grown, &mut self.shrunk, &mut self.new, &mut self.vanished, &mut self.uncertain] {
            // Stable: of equal changes the smaller name stays first.
            list.compact_sort_by_key(|change| {
                Reverse((change.growth.memory.unsigned_abs(), change.growth.keys.unsigned_abs()))
            });
            list.truncate(top);
        }
    }
}

impl PatternCounts {
    /// Returns the number of patterns that certainly changed.
    pub fn certain(&self) -> u64 {
        [self.new, self.shrunk, self.vanished].into_iter().fold(self.grown, u64::saturating_add)
    }
}

/// Computes the growth since an earlier report, with at most `top` patterns in each list.
pub fn since(earlier: &NamedReport, now: &Report, top: usize) -> Since {
    let before = &earlier.report;
    let totals = before.total().zip(now.total());
    Since {
        report: earlier.name.clone(),
        taken: before.taken(),
        complete: before.complete,
        before: before.weight(),
        after: now.weight(),
        growth: between(before.weight(), now.weight()),
        total_before: totals.map(|(before, _)| before),
        total_after: totals.map(|(_, after)| after),
        types: types(before, now),
        patterns: patterns(before, now, top),
    }
}

/// Computes the change in keys and memory; saturates.
pub fn between(before: Weight, after: Weight) -> Growth {
    let share = (before.memory.0 > 0).then(|| after.memory.0 as f64 / before.memory.0 as f64 - 1.0);
    Growth { keys: difference(before.keys, after.keys), memory: difference(before.memory.0, after.memory.0), share }
}

/// Returns `after` less `before`.
pub(super) fn difference(before: u64, after: u64) -> i64 {
    let size = i64::try_from(after.abs_diff(before)).unwrap_or(i64::MAX);
    if after >= before { size } else { -size }
}

/// Computes the change of each type, the largest first.
pub fn types(first: &Report, last: &Report) -> Vec<TypeChange> {
    let (before, after) = (first.weights_by_type(), last.weights_by_type());
    let kinds: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    let change = |kind: &str| {
        let [before, after] = [&before, &after].map(|side| side.get(kind).copied().unwrap_or_default());
        TypeChange { kind: kind.to_owned(), before, after, growth: between(before, after) }
    };
    let mut types: Vec<_> = kinds.into_iter().map(change).collect();
    // Stable: types with the same change stay sorted by name.
    types.compact_sort_by_key(|change| Reverse(change.growth.memory.unsigned_abs()));
    types
}

/// Computes the change of each pattern, with at most `top` in each list.
///
/// Patterns that only one side has collapsed to `{*}` are one row with those of the other side. A pattern that is missing in a list
/// that was cut is uncertain, neither new nor vanished; so is a row whose patterns may be missing there.
pub fn patterns(first: &Report, last: &Report, top: usize) -> PatternChanges {
    let weights = [first, last].map(Report::weights_by_pattern);
    let texts = [&weights[0], &weights[1]].map(|side| side.keys().copied().collect::<Vec<&str>>());
    let weights = weights.map(|side| side.into_values().collect::<Vec<Weight>>());
    let [first_texts, last_texts] = &texts;
    let sides = [
        TreeTexts { texts: first_texts, strict: first.has_strict_patterns() },
        TreeTexts { texts: last_texts, strict: last.has_strict_patterns() },
    ];
    let lists_all = [first, last].map(Report::lists_all_patterns);
    let mut changes = PatternChanges::default();
    for row in join(sides, &separators(first, last)) {
        let is_joined = row.members.iter().all(|members| !members.is_empty());
        let [before, after] = [0, 1].map(|side| {
            // A part of a row says nothing of its growth.
            let is_known = lists_all[side] || !is_joined || row.is_whole(side, sides);
            let members = row.members[side].iter().filter_map(|at| weights[side].get(*at)).filter(|_| is_known);
            members.copied().reduce(|mut sum, weight| {
                sum.merge(weight);
                sum
            })
        });
        let change = PatternChange {
            pattern: row.pattern.into_owned(),
            before,
            after,
            growth: between(before.unwrap_or_default(), after.unwrap_or_default()),
        };
        let counts = &mut changes.counts;
        let (list, count) = match (before, after) {
            (None, None) => (&mut changes.uncertain, &mut counts.uncertain),
            (None, _) if lists_all[0] => (&mut changes.new, &mut counts.new),
            (_, None) if lists_all[1] => (&mut changes.vanished, &mut counts.vanished),
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
    changes.keep_largest(top);
    changes
}
