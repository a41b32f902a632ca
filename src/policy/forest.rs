//! Tree of all patterns of a snapshot, for rules about patterns.

use std::borrow::Cow;

use super::evidence::{Expiries, IdSample, SecondCounts, Secrets, Tokens};
use crate::record::Kind;
use crate::report::{Example, Weight};
use crate::units::{Bytes, Millis};

/// Patterns and their prefixes, sorted by name, parents before children.
#[derive(Debug, Clone, Default)]
pub struct Forest<'a> {
    /// Nodes of the tree. Nodes with keys are patterns, the others are prefixes.
    pub nodes: Vec<PatternNode<'a>>,
    /// True if the tree is in strict mode, where `{*}` also stands for ids and, at the end, for several segments.
    pub strict: bool,
    /// Keys of all patterns that expire in each second, if an enabled rule [needs](super::rule::PatternRule::wants_expiries) them. `None`
    /// without a reference time.
    pub seconds: Option<Cow<'a, SecondCounts>>,
}

/// Pattern or prefix.
#[derive(Debug, Clone)]
pub struct PatternNode<'a> {
    /// Full text of the pattern, such as `user:{int}:name`; a prefix ends with its separator.
    pub text: String,
    /// Last segment.
    pub segment: &'a str,
    /// True if the last segment is a class or `{*}`, that is variable.
    pub varies: bool,
    /// Index of the parent; `None` at the top level.
    pub parent: Option<usize>,
    /// Totals over the keys of the pattern; `None` for a mere prefix.
    pub facts: Option<PatternSums>,
    /// Expiry times of keys that have yet to expire, if an enabled rule [needs](super::rule::PatternRule::wants_expiries)
    /// them. `None` without a reference time.
    pub expiries: Option<&'a Expiries>,
    /// Ids of its strings, if an enabled rule [needs](super::rule::PatternRule::words_before_ids) them.
    pub ids: Option<&'a IdSample>,
    /// Findings in the values of sampled keys, if an enabled rule [needs](super::rule::PatternRule::inspection) them.
    pub secrets: Option<&'a Secrets>,
    /// Values of locks, if an enabled rule [needs](super::rule::PatternRule::locks) them.
    pub tokens: Option<&'a Tokens>,
}

/// Totals over the keys of a pattern.
#[derive(Debug, Clone)]
pub struct PatternSums {
    /// Number of keys.
    pub keys: u64,
    /// Memory of the keys.
    pub memory: Bytes,
    /// Bytes of key names.
    pub name_bytes: Bytes,
    /// Bytes of the values themselves, without overhead of the server: see [`Record::content`](crate::record::Record::content).
    pub content: Bytes,
    /// Keys without expiry.
    pub without_ttl: Weight,
    /// Latest expiry; `None` if no key expires.
    pub last_expiry: Option<Millis>,
    /// Keys by type, in the order of [`Kind::ALL`].
    pub kinds: [u64; Kind::ALL.len()],
    /// Heaviest key.
    pub example: Option<Example>,
}

impl PatternSums {
    /// Returns the type if all keys have the same.
    pub fn only_kind(&self) -> Option<Kind> {
        let at = self.kinds.iter().position(|&keys| keys == self.keys)?;
        Kind::ALL.get(at).copied().filter(|_| self.keys > 0)
    }
}

impl<'a> Forest<'a> {
    /// Returns patterns with their totals.
    pub fn patterns(&self) -> impl Iterator<Item = (&PatternNode<'a>, &PatternSums)> {
        self.nodes.iter().filter_map(|node| node.facts.as_ref().map(|facts| (node, facts)))
    }
}
