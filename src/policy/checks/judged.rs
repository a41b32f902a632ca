//! What is found about one key, and what its name alone decides of it.

use super::{MOST_KEY_CHECKS, PatternTarget};
use crate::policy::dictionary::Matched;
use crate::policy::name_pass::{NameFailures, Violations};
use crate::policy::rule::Violation;
use crate::units::Bytes;

/// What the name of a key alone decides. Names that differ in the values of digits only, and have one pattern, share it if
/// [`Checks::takes_digits_alike`](super::Checks::takes_digits_alike).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameJudged {
    pub(super) broken: NameFailures,
    pub(super) matched: Matched,
    /// The bits that it is exempt from.
    pub(super) excuse: u64,
    /// Exemptions that it matches, by place.
    pub(super) exemptions: Vec<u16>,
    pub(super) targets: Vec<PatternTarget>,
}

impl NameJudged {
    /// Whether there is nothing to say about the name.
    pub fn is_plain(&self) -> bool {
        self.broken.bits == 0 && self.matched == Matched::default() && self.exemptions.is_empty()
    }

    /// The same, in no more memory than it takes.
    pub fn kept(&self) -> NameJudged {
        NameJudged { exemptions: self.exemptions.clone(), targets: Vec::new(), ..*self }
    }

    /// How many exemptions it matches.
    pub fn exemptions(&self) -> usize {
        self.exemptions.len()
    }
}

/// What is found about one key. Made once a worker, filled for every key.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The bits of rules that it breaks.
    pub broken: u64,
    /// The bits of rules that it breaks and is exempt from.
    pub excused: u64,
    /// What the policy says of its pattern.
    pub matched: Matched,
    /// By bit: by how much. Only where the bit is set and the rule measures a number.
    pub violations: Violations,
    /// By bit: what the remedy would save. Zero where the bit is not set or the rule does not tell.
    pub savings: [Bytes; MOST_KEY_CHECKS],
    /// The bits that are set in `savings`.
    pub(super) saving: u64,
    /// Exemptions that it matches, by place.
    pub(super) exemptions: Vec<u16>,
}

impl Default for Judged {
    fn default() -> Self {
        Judged {
            broken: 0,
            excused: 0,
            matched: Matched::default(),
            violations: [Violation { measured: 0, allowed: 0 }; MOST_KEY_CHECKS],
            savings: [Bytes(0); MOST_KEY_CHECKS],
            saving: 0,
            exemptions: Vec::new(),
        }
    }
}
