//! Rules that a snapshot is checked against, each with an id, a severity and its reasons, and the policies that enable
//! them.
//!
//! ```text
//! presets/*.toml, a team's file  ->  file  ->  Policy  ->  Checks  -+-> judge(key)      bits, counted per rule and pattern
//! rules/*  ->  registry  --------------------------------------/    +-> judge(forest)   once, over all patterns
//!                                                                   `-> judge(report)   once, over the finished report
//! ```
//!
//! Each rule is one file under `rules/` whose path is its id. To add one, write that file, list it in the [`registry`],
//! and enable it in the presets whose standard demands it.

mod abbreviations;
mod caches;
pub mod capacity;
pub mod checks;
pub mod content;
pub mod context;
pub mod dictionary;
pub mod digest;
pub mod earlier;
mod environments;
pub mod evidence;
mod explain;
pub mod file;
pub mod forest;
pub mod harmless;
mod job_queues;
mod key_view;
mod labels;
pub mod matcher;
mod name_filter;
mod name_pass;
pub mod need;
pub mod objects;
pub mod params;
pub mod presets;
pub mod registry;
pub mod rule;
pub mod rules;
pub mod sample;
pub mod sensitive;
pub mod settings;
pub mod spelling;
#[cfg(test)]
pub mod testing;
mod type_words;
pub mod word_set;
pub mod wording;

pub use crate::report::Severity;
pub use checks::{Checks, Judged, NameJudged, UsualJudged};
pub use context::Context;
pub use explain::{BrokenRule, KeyJudgement};
pub use key_view::KeyView;
pub use labels::KeyLabels;
pub use rule::{KeyRule, RuleMeta, Violation};
pub use settings::Policy;
