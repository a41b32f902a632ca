//! What a rule is: its description, and the question it asks.

use super::KeyView;

/// How much a violation matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing (建议).
    Hint,
    /// Recommended, with a stated number (推荐).
    Should,
    /// Mandatory (强制, 禁止, 必须).
    Must,
}

impl Severity {
    /// The word in reports and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Should => "should",
            Severity::Must => "must",
        }
    }
}

/// All that a rule says about itself.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// Its name, which is the path of its file: `key.empty-segment` is `rules/key/empty_segment.rs`.
    pub id: &'static str,
    /// How much a violation matters where no policy says otherwise.
    pub severity: Severity,
    /// What it demands, in a line.
    pub what: &'static str,
    /// Why, in a few sentences.
    pub why: &'static str,
    /// Where the standards demand it.
    pub chapters: &'static [Chapter],
    /// What to do about a violation.
    pub fix: &'static str,
    /// A name that keeps the rule.
    pub passes: &'static str,
    /// A name that breaks it.
    pub fails: &'static str,
}

/// A place in one of the standards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chapter {
    /// The standard's preset.
    pub preset: &'static str,
    /// The chapter's heading, as the standard writes it.
    pub heading: &'static str,
}

/// By how much a name breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// What was found, in the unit that the rule's file names.
    pub measured: u64,
    /// What is allowed.
    pub allowed: u64,
}

/// A rule that one key's name keeps or breaks.
pub trait KeyRule: std::fmt::Debug + Send + Sync {
    /// The rule's description.
    fn meta(&self) -> &'static Meta;

    /// By how much the name breaks the rule; `None` when it keeps it.
    fn check(&self, key: &KeyView<'_>) -> Option<Violation>;
}
