//! Growth from one snapshot to another: in total, by type and by pattern.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::{NamedReport, Report, Weight, separators};
use crate::pattern::joined::{COLLAPSED, JoinedPattern, TreeTexts, join};
use crate::report::known_memory;
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
    /// The difference; its fields are absent where a report may have left out keys of the pattern.
    #[serde(flatten, deserialize_with = "read_difference")]
    pub growth: Option<Growth>,
    /// Least and most change in memory where a report may have left out keys of the pattern; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_range: Option<[i64; 2]>,
}

/// Reads the difference of a pattern, which is known only if the change in memory is.
fn read_difference<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Growth>, D::Error> {
    #[derive(Deserialize)]
    struct Stored {
        #[serde(default)]
        keys: i64,
        memory: Option<i64>,
        share: Option<f64>,
    }
    let Stored { keys, memory, share } = Stored::deserialize(deserializer)?;
    Ok(memory.map(|memory| Growth { keys, memory, share }))
}

impl PatternChange {
    /// Returns the size of the change in memory and keys; where it is not known, that of what is listed.
    fn size(&self) -> (u64, u64) {
        let listed = || self.before.or(self.after).map_or((0, 0), |weight| (weight.memory.0, weight.keys));
        self.growth.map_or_else(listed, |growth| (growth.memory.unsigned_abs(), growth.keys.unsigned_abs()))
    }
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
            Reverse(one.size()).cmp(&Reverse(other.size())).then_with(|| one.pattern.cmp(&other.pattern))
        });
        all
    }

    /// Sorts each list by the size of the change and cuts it to `top` rows.
    fn keep_largest(&mut self, top: usize) {
        for list in [&mut self.grown, &mut self.shrunk, &mut self.new, &mut self.vanished, &mut self.uncertain] {
            // Stable: of equal changes the smaller name stays first.
            list.compact_sort_by_key(|change| Reverse(change.size()));
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

/// A pattern of two reports. Patterns that only one side has collapsed to `{*}` are one pair with those of the other side.
#[derive(Debug)]
pub(super) struct PatternPair<'r> {
    /// The pattern of all keys of the pair.
    pub pattern: Cow<'r, str>,
    /// The keys in the earlier report.
    pub before: PatternSide,
    /// The keys in the later report.
    pub after: PatternSide,
}

/// Keys of a pattern in one report.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatternSide {
    /// Their weight; `None` if the report does not list them, or not all of them.
    pub weight: Option<Weight>,
    /// True if the report tells of all of them, listed or not.
    pub is_known: bool,
    /// Least and most memory that they can take.
    pub memory: [u64; 2],
}

impl PatternSide {
    fn of(listed: Option<Weight>, is_known: bool, unlisted: u64) -> PatternSide {
        let least = listed.unwrap_or_default().memory.0;
        let most = if is_known { least } else { least.saturating_add(unlisted) };
        PatternSide { weight: listed.filter(|_| is_known), is_known, memory: [least, most] }
    }
}

/// Most memory of patterns that a report does not list, as its list was cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unlisted {
    /// Of one pattern.
    pub one: u64,
    /// Of all of them together.
    pub all: u64,
}

impl Unlisted {
    /// Returns the bounds of a report.
    pub fn of(report: &Report) -> Unlisted {
        let listed = report.patterns.list.iter().map(|row| row.memory);
        Unlisted::beside(listed, report.unlisted_patterns(), report.totals.memory)
    }

    /// Returns the bounds of `hidden` patterns beside those listed, given the memory of all keys: none is heavier than the lightest
    /// listed, and all together take what the listed leave.
    pub fn beside(listed: impl Iterator<Item = Bytes> + Clone, hidden: u64, all: Bytes) -> Unlisted {
        if hidden == 0 {
            return Unlisted { one: 0, all: 0 };
        }
        let lightest = listed.clone().min().map(|least| least.0);
        // Reports made by others may list more than there is.
        let rest = all.0.checked_sub(listed.sum::<Bytes>().0);
        let rest = rest.or(lightest.map(|least| least.saturating_mul(hidden))).unwrap_or(u64::MAX);
        let one = lightest.map_or(rest, |least| least.min(rest));
        Unlisted { one, all: rest.min(one.saturating_mul(hidden)) }
    }
}

/// Returns all patterns that two reports list, by text.
pub(super) fn pairs<'r>(reports: [&'r Report; 2]) -> Vec<PatternPair<'r>> {
    let [first, last] = reports;
    let weights = reports.map(Report::weights_by_pattern);
    let texts = [&weights[0], &weights[1]].map(|side| side.keys().copied().collect::<Vec<&'r str>>());
    let weights = weights.map(|side| side.into_values().collect::<Vec<Weight>>());
    let [first_texts, last_texts] = &texts;
    let sides = [
        TreeTexts { texts: first_texts, strict: first.has_strict_patterns() },
        TreeTexts { texts: last_texts, strict: last.has_strict_patterns() },
    ];
    let lists_all = reports.map(Report::lists_all_patterns);
    let unlisted = reports.map(Unlisted::of);
    let pair = |row: JoinedPattern<'r>| {
        let is_joined = row.members.iter().all(|members| !members.is_empty());
        let is_collapsed = row.pattern.contains(COLLAPSED);
        let [before, after] = [0, 1].map(|side| {
            let members = row.members[side].iter().filter_map(|at| weights[side].get(*at)).copied();
            let listed = members.reduce(|mut sum, weight| {
                sum.merge(weight);
                sum
            });
            // A part of a row says nothing of its growth.
            let is_whole = listed.is_some() && (!is_joined || row.is_whole(side, sides));
            let hidden = if is_collapsed { unlisted[side].all } else { unlisted[side].one };
            PatternSide::of(listed, lists_all[side] || is_whole, hidden)
        });
        PatternPair { pattern: row.pattern, before, after }
    };
    join(sides, &separators(first, last)).into_iter().map(pair).collect()
}

/// Computes the change of each pattern, with at most `top` in each list.
///
/// A pattern that is missing in a list that was cut is uncertain, neither new nor vanished; so is a row whose patterns may be missing
/// there.
pub fn patterns(first: &Report, last: &Report, top: usize) -> PatternChanges {
    let mut changes = PatternChanges::default();
    for PatternPair { pattern, before, after } in pairs([first, last]) {
        let is_known = before.is_known && after.is_known;
        let [weight_before, weight_after] = [before, after].map(|side| side.weight);
        let growth = is_known.then(|| between(weight_before.unwrap_or_default(), weight_after.unwrap_or_default()));
        let change = PatternChange {
            pattern: pattern.into_owned(),
            before: weight_before,
            after: weight_after,
            growth,
            memory_range: range(before, after).filter(|_| !is_known),
        };
        let counts = &mut changes.counts;
        let sign = growth.map(|growth| (growth.memory, growth.keys));
        let (list, count) = match (sign, weight_before, weight_after) {
            (None, ..) => (&mut changes.uncertain, &mut counts.uncertain),
            (Some(_), None, _) => (&mut changes.new, &mut counts.new),
            (Some(_), _, None) => (&mut changes.vanished, &mut counts.vanished),
            (Some(sign), ..) if sign > (0, 0) => (&mut changes.grown, &mut counts.grown),
            (Some(sign), ..) if sign < (0, 0) => (&mut changes.shrunk, &mut counts.shrunk),
            (Some(_), ..) => {
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

/// Returns the least and the most change in memory; `None` if the memory of the listed keys is unknown.
fn range(before: PatternSide, after: PatternSide) -> Option<[i64; 2]> {
    let mut listed = [before.weight, after.weight].into_iter().flatten();
    let is_known = listed.all(|weight| known_memory(weight.keys, weight.memory).is_some());
    is_known.then(|| [difference(before.memory[1], after.memory[0]), difference(before.memory[0], after.memory[1])])
}
