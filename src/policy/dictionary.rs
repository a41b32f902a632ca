//! What a team says about its patterns: the data dictionary, classes of lifetimes, budgets, exemptions.

use super::matcher::PolicyPattern;
use crate::record::Kind;
use crate::units::Bytes;

/// An entry of the data dictionary: a pattern with its meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct DictionaryEntry {
    /// The keys that it is about.
    pub pattern: PolicyPattern,
    /// The type that they have.
    pub kind: Option<Kind>,
    /// Their class of lifetimes, by place in the policy's list.
    pub class: Option<u16>,
    /// Who answers for them.
    pub owner: Option<String>,
    /// How to reach the owner.
    pub contact: Option<String>,
    /// What they are for.
    pub note: Option<String>,
    /// What they may take together.
    pub budget: Option<Bytes>,
    /// The line of the policy file that says so; 0 for built-in policies.
    pub line: usize,
}

/// A class of lifetimes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TtlClass {
    /// Its name.
    pub name: String,
    /// The keys that belong to it where the dictionary does not say otherwise.
    pub patterns: Vec<PolicyPattern>,
    /// Its keys must expire.
    pub required: bool,
    /// The longest time to live, in milliseconds.
    pub max: Option<u64>,
    /// What its keys may take together.
    pub budget: Option<Bytes>,
    /// The line of the policy file that says so; 0 for built-in policies.
    pub line: usize,
}

/// A limit on the memory of some keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBudget {
    /// The keys.
    pub pattern: PolicyPattern,
    /// What they may take together.
    pub memory: Bytes,
    /// The line of the policy file that says so.
    pub line: usize,
}

/// Keys that may break rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemption {
    /// The keys.
    pub pattern: PolicyPattern,
    /// Ids of the rules; empty for all.
    pub rules: Vec<String>,
    /// Why.
    pub reason: String,
    /// The line of the policy file that says so.
    pub line: usize,
}

/// What a policy says of one key: places in its lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matched {
    /// The entry of the dictionary.
    pub entry: Option<u16>,
    /// The class of lifetimes: the entry's, or the class whose patterns match.
    pub class: Option<u16>,
    /// The budget.
    pub budget: Option<u16>,
}
