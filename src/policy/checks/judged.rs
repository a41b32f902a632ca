//! Results of checking one key: the part that depends on its name alone, and all of it.

use super::{MAX_KEY_CHECKS, PatternTarget};
use crate::policy::content::lock::LockName;
use crate::policy::dictionary::Matched;
use crate::policy::name_pass::{NameFailures, Violations};
use crate::policy::rule::Violation;
use crate::units::Bytes;

/// Result of the checks that depend on the name alone.
///
/// Names of one pattern that differ only in the values of digits share it if
/// [`Checks::ignores_digit_values`](super::Checks::ignores_digit_values).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameJudged {
    pub(super) broken: NameFailures,
    pub(super) matched: Matched,
    /// True if it matches a pattern of the policy: an exemption, or something in `matched`.
    pub(super) is_matched: bool,
    /// Bits of rules that a segment of the name violates, which the pass over the name does not see.
    pub(super) failing: u64,
    /// Bits that the key is exempt from.
    pub(super) excuse: u64,
    /// Indexes of matching exemptions.
    pub(super) exemptions: Vec<u16>,
    pub(super) targets: Vec<PatternTarget>,
}

impl NameJudged {
    /// Returns whether the name violates nothing and matches no pattern of the policy.
    pub fn is_plain(&self) -> bool {
        self.broken.is_none() && !self.is_matched
    }

    /// Returns whether names of the same shape may be judged otherwise: they are counted anew.
    pub fn varies(&self) -> bool {
        self.broken.has_empty
    }

    /// Clears what the name matches.
    #[inline]
    pub(super) fn unmatch(&mut self) {
        (self.matched, self.is_matched, self.failing, self.excuse) = (Matched::default(), false, 0, 0);
        self.exemptions.clear();
        self.targets.clear();
    }

    /// Adds the rules that a segment violates to those that the pass over the name found, which has not counted them.
    #[inline]
    pub(super) fn add_failing(&mut self) {
        self.broken.bits |= self.failing;
        self.broken.counted &= !self.failing;
    }

    /// Returns the declarations of the policy that the name matches.
    pub fn matched(&self) -> Matched {
        self.matched
    }

    /// Returns a copy without spare capacity, for keeping in a cache.
    pub fn kept(&self) -> NameJudged {
        NameJudged { exemptions: self.exemptions.clone(), targets: Vec::new(), ..*self }
    }

    /// Returns the number of matching exemptions.
    pub fn exemptions(&self) -> usize {
        self.exemptions.len()
    }
}

/// Result of checking a usual key: the rules that it violates are exempt from nothing and save nothing.
#[derive(Debug, Clone, Copy)]
pub struct UsualJudged<'v> {
    /// Bits of violated rules.
    pub broken: u64,
    /// Bits of those that measure a number.
    pub(super) measured: u64,
    /// Form of a name of locks, if a rule about their tokens asks for it.
    pub lock: Option<LockName>,
    pub(super) violations: &'v Violations,
}

impl UsualJudged<'_> {
    /// Returns the bits of violated rules that measure a number.
    #[inline]
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// Returns the measured violation of a rule; valid only for bits of [`UsualJudged::measured`].
    #[inline]
    pub fn violation(&self, bit: usize) -> Violation {
        self.violations[bit % MAX_KEY_CHECKS]
    }
}

/// Result of checking one key. Each worker reuses one for all its keys.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Bits of violated rules.
    pub broken: u64,
    /// Bits of violated rules that the key is exempt from.
    pub excused: u64,
    /// Declarations of the policy that the key matches.
    pub matched: Matched,
    /// Measured violations by bit; valid only where the bit is set and the rule measures a number.
    pub violations: Violations,
    /// Estimated savings by bit; zero where the bit is not set or the rule has no estimate.
    pub savings: [Bytes; MAX_KEY_CHECKS],
    /// Bits whose `savings` are set.
    pub(super) saving: u64,
    /// Indexes of matching exemptions.
    pub(super) exemptions: Vec<u16>,
}

impl Default for Judged {
    fn default() -> Self {
        Judged {
            broken: 0,
            excused: 0,
            matched: Matched::default(),
            violations: [Violation { measured: 0, allowed: 0 }; MAX_KEY_CHECKS],
            savings: [Bytes(0); MAX_KEY_CHECKS],
            saving: 0,
            exemptions: Vec::new(),
        }
    }
}
