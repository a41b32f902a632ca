//! Expiries of one or more patterns on one line of time: how many keys expire in a window, and how many around it.
//!
//! Patterns are sampled at different rates, so each sampled key stands for `keys / sampled` keys of its pattern. Sums over
//! windows are estimates with a known variance; they are exact as long as no pattern has more keys than its sample.

use super::{Expiries, SecondCounts};

/// Estimated number of keys.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KeyEstimate {
    /// Expected value.
    pub keys: f64,
    /// Upper bound of the variance; zero if the number is exact.
    variance: f64,
}

impl KeyEstimate {
    /// Creates an exact number.
    pub fn exact(keys: f64) -> KeyEstimate {
        KeyEstimate { keys, variance: 0.0 }
    }

    /// Returns three standard deviations less than the expected value, so that chance alone hardly ever reaches it.
    pub fn certain(self) -> f64 {
        (self.keys - 3.0 * self.variance.sqrt()).max(0.0)
    }

    /// Returns the number rounded to a whole.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and `as` saturates")]
    pub fn rounded(self) -> u64 {
        self.keys.round() as u64
    }

    fn add(self, other: KeyEstimate) -> KeyEstimate {
        KeyEstimate { keys: self.keys + other.keys, variance: self.variance + other.variance }
    }

    fn minus(self, other: KeyEstimate) -> KeyEstimate {
        KeyEstimate { keys: self.keys - other.keys, variance: (self.variance - other.variance).max(0.0) }
    }
}

/// Window of time with the keys that expire in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeWindow {
    /// First second, since 1970.
    pub start: u32,
    /// Keys that expire in it.
    pub inside: KeyEstimate,
    /// Keys that expire shortly before it.
    pub before: KeyEstimate,
    /// Keys that expire in it, shortly before or shortly after.
    pub around: KeyEstimate,
}

/// Windows that deserve a closer look.
#[derive(Debug, Clone, Copy)]
pub struct BusyWindows {
    /// Least number of keys that expire in one.
    pub least: u64,
    /// Seconds before and after it that it is compared with.
    pub margin: u32,
}

/// Expiries of one or more patterns, summed up by second.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    /// Seconds in which keys expire, ascending.
    seconds: Vec<u32>,
    /// Sums over the seconds before each of these, and over all of them.
    before: Vec<KeyEstimate>,
}

impl Timeline {
    /// Sums up the expiries of these patterns. Times beyond 32 bits are ignored.
    pub fn of<'e>(patterns: impl IntoIterator<Item = &'e Expiries>) -> Timeline {
        let (mut weights, mut entries) = (Vec::new(), Vec::new());
        for (number, pattern) in (0u32..).zip(patterns) {
            weights.push(one_key(pattern));
            entries.extend(pattern.known_seconds().map(|second| (second, number)));
        }
        // Also fixes the order of the sums, which decides about their last bits.
        entries.sort_unstable();
        let weight = |number: u32| weights.get(number as usize).copied().unwrap_or_default();
        Timeline::sum_up(entries.into_iter().map(|(second, number)| (second, weight(number))))
    }

    /// Sums up the expiries of the patterns that `known` ones leave of all, around `busy` windows: exact, since these are
    /// [known](Expiries::is_sampled) completely. Beyond the end of the counts, the expiries are those in the samples of the patterns
    /// that are left.
    pub fn of_rest<'e>(
        all: &SecondCounts,
        busy: BusyWindows,
        known: impl IntoIterator<Item = &'e Expiries>,
        rest: impl IntoIterator<Item = &'e Expiries>,
    ) -> Timeline {
        let spans = all.busy_spans(busy.least, busy.margin);
        let is_busy = |second: u32| {
            let before = spans.partition_point(|span| span.start <= second);
            before.checked_sub(1).and_then(|at| spans.get(at)).is_some_and(|span| second < span.end)
        };
        let known = known.into_iter().filter(|_| !spans.is_empty());
        let mut others: Vec<u32> = known.flat_map(Expiries::known_seconds).filter(|second| is_busy(*second)).collect();
        others.sort_unstable();
        let mut others = others.as_slice();
        let left = spans.iter().flat_map(|span| all.counts_within(span.clone())).filter_map(|(second, keys)| {
            let later = others.partition_point(|other| *other < second);
            others = others.get(later..).unwrap_or_default();
            let of_second = others.partition_point(|other| *other == second);
            others = others.get(of_second..).unwrap_or_default();
            let keys = f64::from(keys) - of_second as f64;
            (keys > 0.0).then_some((second, KeyEstimate::exact(keys)))
        });
        let late = Timeline::of(rest).each_from(all.end());
        Timeline::sum_up(left.chain(late))
    }

    /// Returns the keys of each second from this one on.
    fn each_from(self, start: u32) -> impl Iterator<Item = (u32, KeyEstimate)> {
        let sums = self.before.clone().into_iter().zip(self.before.into_iter().skip(1));
        let each = self.seconds.into_iter().zip(sums).map(|(second, (before, until))| (second, until.minus(before)));
        each.skip_while(move |(second, _)| *second < start)
    }

    /// Estimates the keys that expire from a second on.
    pub fn keys_from(self, start: u32) -> f64 {
        self.each_from(start).map(|(_, keys)| keys.keys).sum()
    }

    /// Sums up keys by second, which ascend.
    fn sum_up(keys: impl Iterator<Item = (u32, KeyEstimate)>) -> Timeline {
        let mut line = Timeline { seconds: Vec::new(), before: vec![KeyEstimate::default()] };
        for (second, keys) in keys {
            let sum = line.before.last().copied().unwrap_or_default().add(keys);
            match line.before.last_mut() {
                Some(last) if line.seconds.last() == Some(&second) => *last = sum,
                _ => {
                    line.seconds.push(second);
                    line.before.push(sum);
                }
            }
        }
        line
    }

    /// Returns whether, in some window of this length, `least` keys more expire than at the rate of the `spread` seconds before it or after
    /// it, whichever is higher.
    pub fn stands_out(&self, length: u32, spread: u32, least: f64) -> bool {
        let even = f64::from(length) / f64::from(spread.max(1));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of keys")]
        let fewest = least as u64;
        self.windows(length, spread, fewest).any(|TimeWindow { inside, before, around, .. }| {
            let after = around.keys - inside.keys - before.keys;
            inside.keys - before.keys.max(after) * even >= least
        })
    }

    /// Returns the window of this length that begins at each second, with what expires up to `spread` seconds before and
    /// after it. Windows of less than `least` keys are left out.
    pub fn windows(&self, length: u32, spread: u32, least: u64) -> impl Iterator<Item = TimeWindow> {
        let (mut left, mut end, mut right) = (0, 0, 0);
        // Numbers are compared as they are rounded.
        let least = least as f64 - 0.5;
        self.seconds.iter().enumerate().filter_map(move |(first, &start)| {
            let stop = u64::from(start) + u64::from(length);
            end = self.reach(end, stop);
            let inside = self.sum(first, end);
            // Most windows of most patterns.
            if inside.keys < least {
                return None;
            }
            left = self.reach(left, u64::from(start.saturating_sub(spread)));
            right = self.reach(right, stop + u64::from(spread));
            Some(TimeWindow { start, inside, before: self.sum(left, first), around: self.sum(left, right) })
        })
    }

    /// Advances to the first second that is not before `until`.
    fn reach(&self, mut at: usize, until: u64) -> usize {
        while self.seconds.get(at).is_some_and(|&second| u64::from(second) < until) {
            at += 1;
        }
        at
    }

    fn sum(&self, from: usize, to: usize) -> KeyEstimate {
        let before = |at: usize| self.before.get(at).copied().unwrap_or_default();
        before(to).minus(before(from))
    }
}

/// Returns what a sampled key of a pattern stands for.
fn one_key(pattern: &Expiries) -> KeyEstimate {
    if !pattern.is_sampled() {
        return KeyEstimate::exact(1.0);
    }
    let keys = pattern.all().keys as f64 / pattern.kept() as f64;
    KeyEstimate { keys, variance: keys * keys }
}

/// Estimates the keys of one pattern that expire in the `length` seconds from `start` on.
pub fn within(pattern: &Expiries, start: u32, length: u32) -> KeyEstimate {
    let is_inside = |second: &u32| second.checked_sub(start).is_some_and(|after| after < length);
    let inside = pattern.known_seconds().filter(is_inside).count() as f64;
    let KeyEstimate { keys, variance } = one_key(pattern);
    KeyEstimate { keys: inside * keys, variance: inside * variance }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::evidence::MAX_EXPIRIES;
    use crate::units::{Bytes, Millis};

    fn pattern(name: &str, most: usize, seconds: &[u32]) -> Expiries {
        let mut expiries = Expiries::new(most);
        for (number, &second) in seconds.iter().enumerate() {
            expiries.add(format!("{name}:{number}").as_bytes(), Bytes(10), Millis(i64::from(second) * 1000));
        }
        expiries
    }

    #[test]
    fn the_rest_is_all_but_what_is_known() {
        const ALL: BusyWindows = BusyWindows { least: 0, margin: 0 };
        let mut all = SecondCounts::new(Millis(0));
        [3, 7, 7, 9, 9, 9].into_iter().for_each(|second| all.add(Millis(second * 1000)));
        all.settle();
        let shown =
            |line: Timeline| line.windows(1, 0, 0).map(|it| (it.start, it.inside.rounded())).collect::<Vec<_>>();
        assert_eq!(shown(Timeline::of_rest(&all, ALL, [], [])), [(3, 1), (7, 2), (9, 3)]);
        let (one, other) = (pattern("a", 9, &[3, 9]), pattern("b", 9, &[9, 7]));
        assert_eq!(shown(Timeline::of_rest(&all, ALL, [&one, &other], [])), [(7, 1), (9, 1)]);
        // What expires beyond the end of the counts is known from samples only.
        let late = pattern("c", 2, &[4_000_000_000; 6]);
        let rest = Timeline::of_rest(&all, ALL, [&one, &other], [&late]);
        assert_eq!(rest.clone().keys_from(10), 6.0);
        assert_eq!(shown(rest), [(7, 1), (9, 1), (4_000_000_000, 6)]);
    }

    #[test]
    fn windows_stand_out_by_what_exceeds_an_even_share() {
        let even: Vec<u32> = (0..6_000).map(|key| key % 600).collect();
        let peak: Vec<u32> = even.iter().copied().chain([300; 50]).collect();
        let stands_out =
            |seconds: &[u32], length| Timeline::of([&pattern("a", 9_999, seconds)]).stands_out(length, 300, 40.0);
        for length in [1, 10, 30] {
            assert!(stands_out(&peak, length), "{length}");
        }
        // The beginning and the end of an even spread do not.
        for length in [1, 10, 30] {
            assert!(!stands_out(&even, length), "{length}");
        }
    }

    #[test]
    fn samples_stand_for_all_keys_of_their_pattern() {
        let all = [7u32; 100];
        let line = Timeline::of([&pattern("a", 10, &all), &pattern("b", 100, &all)]);
        let window = line.windows(1, 0, 0).next().unwrap();
        assert_eq!((window.start, window.inside.rounded()), (7, 200));
        assert!(window.inside.certain() > 100.0 && window.inside.certain() < 110.0, "{window:?}");
        assert_eq!(Timeline::of([&pattern("b", 100, &all)]).windows(1, 0, 0).next().unwrap().inside.certain(), 100.0);
        assert_eq!(within(&pattern("a", 10, &all), 7, 1).rounded(), 100);
        assert_eq!(within(&pattern("a", 10, &all), 8, 9).rounded(), 0);
    }

    proptest! {
        #[test]
        fn windows_are_counted_as_one_by_one(
            seconds in prop::collection::vec(0u32..60, 0..80), length in 1u32..20, spread in 0u32..20, cut in 0usize..80,
        ) {
            let (one, other) = seconds.split_at(cut.min(seconds.len()));
            let patterns = [pattern("a", MAX_EXPIRIES, one), pattern("b", MAX_EXPIRIES, other)];
            let line = Timeline::of(&patterns);
            let count = |from: u32, to: u32| seconds.iter().filter(|&&second| (from..to).contains(&second)).count() as u64;
            let mut starts: Vec<_> = seconds.clone();
            starts.sort_unstable();
            starts.dedup();
            let found: Vec<_> = line.windows(length, spread, 0).collect();
            prop_assert_eq!(found.iter().map(|window| window.start).collect::<Vec<_>>(), starts);
            for TimeWindow { start, inside, around, .. } in found {
                prop_assert_eq!(inside.rounded(), count(start, start + length));
                prop_assert_eq!(around.rounded(), count(start.saturating_sub(spread), start + length + spread));
                prop_assert!(inside.certain() == inside.keys);
                let parts: u64 = patterns.iter().map(|pattern| within(pattern, start, length).rounded()).sum();
                prop_assert_eq!(parts, inside.rounded());
            }
        }
    }
}
