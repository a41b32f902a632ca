//! What changed from one snapshot to another: in all, by type and by pattern.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Weight;
use crate::units::{Bytes, Millis};

/// Growth since the snapshot of an earlier report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Since {
    /// The earlier report's file, without its folder.
    pub report: String,
    /// When its snapshot was taken, in milliseconds.
    pub taken: Option<Millis>,
    /// False when it could not be read whole: what it lacks looks like growth.
    pub complete: bool,
    /// All keys then.
    pub before: Weight,
    /// All keys now.
    pub after: Weight,
    /// By how much they grew.
    #[serde(flatten)]
    pub growth: Growth,
    /// Memory of keys and tables then, where both reports have it.
    pub total_before: Option<Bytes>,
    /// The same now.
    pub total_after: Option<Bytes>,
    /// By type, the largest change first.
    pub types: Vec<TypeChange>,
    /// By pattern.
    pub patterns: PatternChanges,
}

/// A change of keys and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Growth {
    /// Keys more; negative if less.
    pub keys: i64,
    /// Memory more.
    pub memory: i64,
    /// The change of the memory as a part of what it was; null where nothing was.
    pub share: Option<f64>,
}

/// Keys of one type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PatternChanges {
    /// Those that take more memory or have more keys.
    pub grown: Vec<PatternChange>,
    /// Those that take less.
    pub shrunk: Vec<PatternChange>,
    /// Those that were not there.
    pub new: Vec<PatternChange>,
    /// Those that are not there any more.
    pub vanished: Vec<PatternChange>,
    /// Those that only one of two reports lists, where the other lists its heaviest patterns only.
    pub uncertain: Vec<PatternChange>,
    /// How many there are of each, listed or not.
    pub counts: PatternCounts,
}

/// How many patterns changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PatternCounts {
    /// Those in `grown`.
    pub grown: u64,
    /// Those in `shrunk`.
    pub shrunk: u64,
    /// Those in `new`.
    pub new: u64,
    /// Those in `vanished`.
    pub vanished: u64,
    /// Those with as many keys and as much memory as before.
    pub unchanged: u64,
    /// Those in `uncertain`.
    pub uncertain: u64,
}

/// The change of one pattern.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PatternChange {
    /// The pattern.
    pub pattern: String,
    /// Before; null if it was not there, or the report does not list it.
    pub before: Option<Weight>,
    /// After; null the same way.
    pub after: Option<Weight>,
    /// The difference; where a side is unknown, it counts as nothing.
    #[serde(flatten)]
    pub growth: Growth,
}

/// What became of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Fate {
    Grown,
    New,
    Shrunk,
    Vanished,
    Uncertain,
}

impl Fate {
    /// The name of its list.
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
    /// All lists with what they are of.
    pub fn lists(&self) -> [(Fate, &[PatternChange]); 5] {
        [
            (Fate::Grown, &self.grown),
            (Fate::New, &self.new),
            (Fate::Shrunk, &self.shrunk),
            (Fate::Vanished, &self.vanished),
            (Fate::Uncertain, &self.uncertain),
        ]
    }

    /// What is certain to have changed, by memory, the largest change first.
    pub fn certain(&self) -> Vec<(Fate, &PatternChange)> {
        let lists = self.lists().into_iter().filter(|(fate, _)| *fate != Fate::Uncertain);
        let mut all: Vec<_> = lists.flat_map(|(fate, list)| list.iter().map(move |change| (fate, change))).collect();
        all.sort_by(|(_, one), (_, other)| {
            let size =
                |change: &PatternChange| (change.growth.memory.unsigned_abs(), change.growth.keys.unsigned_abs());
            Reverse(size(one)).cmp(&Reverse(size(other))).then_with(|| one.pattern.cmp(&other.pattern))
        });
        all
    }
}

impl PatternCounts {
    /// How many are certain to have changed.
    pub fn certain(&self) -> u64 {
        [self.new, self.shrunk, self.vanished].into_iter().fold(self.grown, u64::saturating_add)
    }
}
