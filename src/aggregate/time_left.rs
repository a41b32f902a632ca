//! Counts of keys by the time left until they expire.

use crate::report::{Unknown, Weight};
use crate::units::{Bytes, DAY, HOUR, MINUTE, Millis};

/// Classes with an upper end, in order of time, each with its limit in milliseconds (exclusive).
pub(super) const BELOW: [(&str, i64); 10] = [
    ("expired", 0),
    ("< 1 min", MINUTE),
    ("< 10 min", 10 * MINUTE),
    ("< 1 hour", HOUR),
    ("< 6 hours", 6 * HOUR),
    ("< 1 day", DAY),
    ("< 7 days", 7 * DAY),
    ("< 30 days", 30 * DAY),
    ("< 90 days", 90 * DAY),
    ("< 1 year", 365 * DAY),
];
/// Classes without an upper end.
pub(super) const OPEN: [&str; 3] = ["> 1 year", "unknown", "none"];

const UNKNOWN: usize = BELOW.len() + 1;
const NONE: usize = BELOW.len() + 2;
pub(super) const CLASSES: usize = BELOW.len() + OPEN.len();

/// First class and last time in that class, by the number of bits of the time left.
///
/// At most one limit lies between two powers of two, so one comparison replaces a search.
static BY_BITS: [(u8, i64); 65] = by_bits();

#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 256 classes, and 64 bits")]
const fn by_bits() -> [(u8, i64); 65] {
    let mut by_bits = [(0, i64::MAX); 65];
    let mut bits = 0;
    // Past times have the sign bit set, hence 64 bits, and are in the first class.
    while bits < 64 {
        let (mut class, mut last) = (0, i64::MAX);
        while class < BELOW.len() && bits_of(BELOW[class].1) < bits || class == 0 {
            class += 1;
        }
        if class < BELOW.len() && bits_of(BELOW[class].1) == bits {
            last = BELOW[class].1 - 1;
        }
        by_bits[bits as usize] = (class as u8, last);
        bits += 1;
    }
    by_bits
}

const fn bits_of(left: i64) -> u32 {
    u64::BITS - left.cast_unsigned().leading_zeros()
}

/// Returns the class of a time left.
#[inline]
fn class_of(left: i64) -> usize {
    let (class, last) = BY_BITS[bits_of(left) as usize];
    usize::from(class) + usize::from(left > last)
}

/// Keys and memory by the time left.
#[derive(Debug, Clone)]
pub struct TimeLeft {
    /// In the order of the report.
    pub classes: [Weight; CLASSES],
    /// Keys of each class whose memory is unknown.
    pub unknown: [Unknown; CLASSES],
    /// Next expiry that is still to come; `i64::MAX` without any.
    next: i64,
    /// Last expiry; `i64::MIN` without any.
    last: i64,
}

impl Default for TimeLeft {
    fn default() -> Self {
        TimeLeft {
            classes: [Weight::default(); CLASSES],
            unknown: [Unknown::default(); CLASSES],
            next: i64::MAX,
            last: i64::MIN,
        }
    }
}

impl TimeLeft {
    /// Counts a key of `disk` bytes in the file by the time left at `reference`. The next expiry is one from `report` on, the
    /// time of the report.
    #[inline]
    pub fn add(
        &mut self,
        expires_at: Option<Millis>,
        (reference, report): (Option<Millis>, Option<Millis>),
        memory: Bytes,
        disk: Bytes,
    ) {
        let class = match (expires_at, reference) {
            (None, _) => NONE,
            (Some(Millis(at)), reference) => {
                self.last = self.last.max(at);
                reference.map_or(UNKNOWN, |Millis(reference)| {
                    let is_to_come = report.is_some_and(|Millis(report)| at >= report);
                    self.next = self.next.min(if is_to_come { at } else { i64::MAX });
                    class_of(at.saturating_sub(reference))
                })
            }
        };
        self.classes[class].add(memory);
        self.unknown[class].note(memory, disk);
    }

    /// Returns all keys whose memory is unknown.
    pub fn all_unknown(&self) -> Unknown {
        let mut all = Unknown::default();
        self.unknown.iter().for_each(|class| all.merge(*class));
        all
    }

    /// Returns the keys without an expiry.
    pub fn without_ttl(&self) -> Weight {
        self.classes[NONE]
    }

    /// Adds keys without an expiry.
    pub fn add_without_ttl(&mut self, keys: Weight) {
        self.classes[NONE].merge(keys);
    }

    /// Returns the expired keys.
    pub fn expired(&self) -> Weight {
        self.classes[0]
    }

    /// Returns the next expiry, unless all have passed.
    pub fn next(&self) -> Option<Millis> {
        // The last expiry may itself be `i64::MAX`.
        let any = self.next < i64::MAX
            || self.last == i64::MAX && self.classes[1..UNKNOWN].iter().any(|class| class.keys > 0);
        any.then_some(Millis(self.next))
    }

    /// Returns the last expiry.
    pub fn last(&self) -> Option<Millis> {
        let any = self.classes[..NONE].iter().any(|class| class.keys > 0);
        any.then_some(Millis(self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_by_bits_is_the_one_between_the_limits() {
        let near = BELOW.iter().flat_map(|(_, below)| (below - 2)..(below + 2));
        let powers = (0..63).flat_map(|bits| [(1i64 << bits) - 1, 1 << bits]);
        for left in near.chain(powers).chain([i64::MIN, -1, 0, i64::MAX]) {
            let slowly = BELOW.iter().filter(|(_, below)| left >= *below).count();
            assert_eq!(class_of(left), slowly, "{left}");
        }
    }
}
