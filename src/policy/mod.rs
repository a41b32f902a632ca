//! What a snapshot is held against: rules, each with an id, a severity and its reasons.
//!
//! So far these are the naming rules that all five published standards agree on. Each is one file under `rules/`,
//! whose path is its id; [`registry`] lists them; [`KeyRules`] asks all of them about a key in one pass.

mod key_rules;
mod key_view;
pub mod registry;
pub mod rule;
pub mod rules;

pub use key_rules::KeyRules;
pub use key_view::{KeyView, Separators};
pub use rule::{KeyRule, Meta, Severity, Violation};
