//! All patterns of a snapshot beside each other, for rules about patterns.

use super::evidence::{Expiries, Secrets};
use crate::record::Kind;
use crate::report::{Example, Weight};
use crate::units::Bytes;

/// The patterns, parents before children, in the order of their names.
#[derive(Debug, Clone, Default)]
pub struct Forest<'a> {
    /// All places of the tree. Those with keys are patterns; the others are prefixes.
    pub nodes: Vec<PatternNode<'a>>,
}

/// One place.
#[derive(Debug, Clone)]
pub struct PatternNode<'a> {
    /// The whole pattern, such as `user:{int}:name`; a prefix that goes on ends with its separator.
    pub text: String,
    /// Its last segment.
    pub segment: &'a str,
    /// Whether that is a class or `{*}`: something that varies.
    pub varies: bool,
    /// The place above; `None` at the top.
    pub parent: Option<usize>,
    /// What the keys of the pattern add up to; `None` for what is only a prefix.
    pub facts: Option<PatternSums>,
    /// The keys of the pattern that will expire, if a rule in force [asks](super::rule::PatternRule::wants_expiries) for
    /// them and there are any. Without a reference time there are none.
    pub expiries: Option<&'a Expiries>,
    /// What was found in the values of some of its keys, if a rule in force
    /// [asks](super::rule::PatternRule::inspection) for it and the run looks into values.
    pub secrets: Option<&'a Secrets>,
}

/// What the keys of a pattern add up to.
#[derive(Debug, Clone)]
pub struct PatternSums {
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Their bytes in the file.
    pub disk: Bytes,
    /// Bytes of their names.
    pub name_bytes: Bytes,
    /// Bytes of the texts of strings.
    pub string_bytes: Bytes,
    /// Those that never expire.
    pub without_ttl: Weight,
    /// Keys by type, in the order of [`Kind::ALL`].
    pub kinds: [u64; Kind::ALL.len()],
    /// The heaviest key.
    pub example: Option<Example>,
}

impl PatternSums {
    /// The type, if all keys have the same.
    pub fn only_kind(&self) -> Option<Kind> {
        let at = self.kinds.iter().position(|&keys| keys == self.keys)?;
        Kind::ALL.get(at).copied().filter(|_| self.keys > 0)
    }
}

impl<'a> Forest<'a> {
    /// The patterns with what they add up to.
    pub fn patterns(&self) -> impl Iterator<Item = (&PatternNode<'a>, &PatternSums)> {
        self.nodes.iter().filter_map(|node| node.facts.as_ref().map(|facts| (node, facts)))
    }
}
