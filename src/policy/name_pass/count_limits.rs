//! Limits on a count of a name, such as its length.

use crate::policy::checks::MAX_KEY_CHECKS;
use crate::policy::rule::Violation;

/// Measured violations by bit.
pub type Violations = [Violation; MAX_KEY_CHECKS];

/// Limits on one count, each with its bit.
#[derive(Debug, Default)]
pub struct CountLimits {
    /// Strictest limit: if it holds, all others do.
    pub first: Option<u64>,
    /// Bits of all limits.
    bits: u64,
    all: Vec<(usize, u64)>,
}

impl CountLimits {
    /// Adds a limit whose bit is at `place`; `first` returns the stricter of two.
    pub fn add(&mut self, place: usize, limit: u64, first: fn(u64, u64) -> u64) {
        self.first = Some(self.first.map_or(limit, |other| first(other, limit)));
        self.bits |= 1 << (place % MAX_KEY_CHECKS);
        self.all.push((place, limit));
    }

    /// Returns the bits of the limits that `breaks` reports as violated.
    #[inline]
    pub fn broken(&self, measured: u64, breaks: fn(u64, u64) -> bool) -> u64 {
        match self.first {
            Some(first) if breaks(measured, first) => self.all_broken(measured, breaks),
            _ => 0,
        }
    }

    /// Like [`CountLimits::broken`], without a look at the strictest limit first.
    pub fn all_broken(&self, measured: u64, breaks: fn(u64, u64) -> bool) -> u64 {
        let broken = self.all.iter().filter(|(_, limit)| breaks(measured, *limit));
        broken.fold(0, |bits, (place, _)| bits | 1 << (place % MAX_KEY_CHECKS))
    }

    /// Writes measured and allowed value of the violated limits.
    #[inline]
    pub fn measure(&self, broken: u64, measured: u64, violations: &mut Violations) {
        if broken & self.bits == 0 {
            return;
        }
        for &(place, allowed) in self.all.iter().filter(|(place, _)| broken >> (place % MAX_KEY_CHECKS) & 1 == 1) {
            violations[place % MAX_KEY_CHECKS] = Violation { measured, allowed };
        }
    }
}
