//! Declarations of a team about its patterns: data dictionary, TTL classes, budgets and exemptions.

use super::content::lock::LockName;
use super::matcher::PolicyPattern;
use crate::record::Kind;
use crate::units::Bytes;

/// Entry of the data dictionary: a pattern with its meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct DictionaryEntry {
    /// Keys described by the entry.
    pub pattern: PolicyPattern,
    /// Expected type.
    pub kind: Option<Kind>,
    /// TTL class, as index into the policy's list.
    pub class: Option<u16>,
    /// Owner of the keys.
    pub owner: Option<String>,
    /// Contact of the owner.
    pub contact: Option<String>,
    /// Purpose of the keys.
    pub note: Option<String>,
    /// Memory that the keys may take in total.
    pub budget: Option<Bytes>,
    /// Line of the policy file; 0 for built-in policies.
    pub line: usize,
}

/// TTL class: keys with common demands on their lifetime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TtlClass {
    /// Name of the class.
    pub name: String,
    /// Keys of the class, unless the dictionary assigns them to another.
    pub patterns: Vec<PolicyPattern>,
    /// Types of its keys; empty for all.
    pub kinds: Vec<Kind>,
    /// True if only keys count that [may be locks](super::content::lock::may_be_lock).
    pub locks: bool,
    /// True if its keys must expire.
    pub required: bool,
    /// Longest time to live, in milliseconds.
    pub max: Option<u64>,
    /// Random offset allowed on top of it, in milliseconds, if the class sets its own.
    pub jitter: Option<u64>,
    /// Memory that its keys may take in total.
    pub budget: Option<Bytes>,
    /// Line of the policy file; 0 for built-in policies.
    pub line: usize,
}

/// Limit on the memory of the keys that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBudget {
    /// Keys that the budget applies to.
    pub pattern: PolicyPattern,
    /// Memory that they may take in total.
    pub memory: Bytes,
    /// Line of the policy file.
    pub line: usize,
}

/// Types that the keys of a pattern are to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedTypes {
    /// Keys that it applies to.
    pub pattern: PolicyPattern,
    /// Types; empty for any.
    pub kinds: Vec<Kind>,
    /// Segments anywhere behind the first name of the pattern, in whatever case, that make a key something else.
    pub except: Vec<String>,
    /// Line of the policy file; 0 for built-in policies.
    pub line: usize,
}

/// Keys that are exempt from rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemption {
    /// Exempt keys.
    pub pattern: PolicyPattern,
    /// Ids of the rules; empty for all.
    pub rules: Vec<String>,
    /// Reason, shown in reports.
    pub reason: String,
    /// Line of the policy file.
    pub line: usize,
}

/// Declarations of the policy that a key matches, as indexes into its lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matched {
    /// Entry of the dictionary.
    pub entry: Option<u16>,
    /// TTL class: that of the entry, or the class whose patterns match.
    pub class: Option<u16>,
    /// TTL class of locks whose patterns match behind those of `class`: that of the key if it is a lock (`cache:lock:7`).
    pub lock_class: Option<u16>,
    /// Memory budget.
    pub budget: Option<u16>,
    /// Expected types.
    pub expected: Option<u16>,
    /// Form in which the name says that the key may be a lock, if it does for a rule or a class.
    pub lock_name: LockName,
    /// True if the name is that of a lock, by a rule that [asks](super::rule::PatternRule::locks) for locks.
    pub lock: bool,
    /// Bits of the rules that recognise the key by one of their [words](super::rule::KeyRule::words).
    pub rules: u64,
}
