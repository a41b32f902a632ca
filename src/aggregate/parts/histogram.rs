//! Log-linear histogram: classes grow with the number, so that every quantile is exact to 3.2 %.
//!
//! Numbers below 64 have a class each; above, every power of two is divided into 32 classes of equal width, so a class
//! is at most 1/32 wider than its lowest number. The counts are integers and a merge adds them, so neither splitting
//! nor order changes a quantile. Memory is bounded by the 1,920 classes of 64-bit numbers (15 KiB), and grows only up
//! to the largest number seen: 4 KiB for numbers up to a MiB.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Powers of two are divided into `1 << CLASS_BITS` classes.
const CLASS_BITS: u32 = 5;

/// Number of classes of 64-bit numbers.
const CLASSES: usize = 1_920;

/// A mergeable histogram of unsigned numbers with an exact maximum.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Counts by class, grown to the class of the largest number seen.
    #[serde(deserialize_with = "counts")]
    counts: Vec<u64>,
    max: u64,
}

impl Histogram {
    /// Counts one number.
    #[inline]
    pub fn add(&mut self, number: u64) {
        let class = class_of(number);
        if class >= self.counts.len() {
            self.grow(class);
        }
        self.counts[class] += 1;
        self.max = self.max.max(number);
    }

    #[cold]
    fn grow(&mut self, class: usize) {
        self.counts.resize(class + 1, 0);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count = count.saturating_add(*more));
        self.max = self.max.max(other.max);
    }

    /// Returns the number of numbers counted.
    pub fn numbers(&self) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// Returns the largest number, exactly; 0 if nothing was counted.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns an upper bound of the `percent`th percentile: at most 1/32 above it, and never above the maximum. 0 if
    /// nothing was counted.
    pub fn quantile(&self, percent: u32) -> u64 {
        let total: u128 = self.counts.iter().map(|&count| u128::from(count)).sum();
        let rank = (total * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0u128;
        for (class, &count) in self.counts.iter().enumerate() {
            seen += u128::from(count);
            if seen >= rank {
                return highest_of(class).min(self.max);
            }
        }
        self.max
    }
}

/// Reads the counts of a stored histogram, which has no more classes than there are.
fn counts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let counts: Vec<u64> = Vec::deserialize(deserializer)?;
    if counts.len() > CLASSES { Err(D::Error::custom("a histogram has too many classes")) } else { Ok(counts) }
}

/// Returns the class of a number; at most 1,919.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the shifted number is below 64, the shift at most 58")]
fn class_of(number: u64) -> usize {
    let bits = u64::BITS - number.leading_zeros();
    // The top six bits select the class within a power of two; their leading one counts as the 32 classes before.
    let shift = bits.saturating_sub(CLASS_BITS + 1);
    ((shift as usize) << CLASS_BITS) + (number >> shift) as usize
}

/// Returns the largest number of a class.
fn highest_of(class: usize) -> u64 {
    let shift = (class >> CLASS_BITS).saturating_sub(1);
    let lowest = (class - (shift << CLASS_BITS)) as u64;
    (lowest << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_have_a_class_each() {
        (0..64).for_each(|number| assert_eq!(highest_of(class_of(number)), number));
    }

    #[test]
    fn the_largest_number_has_the_last_class() {
        assert_eq!(class_of(u64::MAX), 1919);
        assert_eq!(highest_of(1919), u64::MAX);
    }

    #[test]
    fn classes_follow_each_other_without_a_gap() {
        (0..1919).for_each(|class| assert_eq!(class_of(highest_of(class) + 1), class + 1));
    }

    #[test]
    fn an_empty_histogram_answers_zero() {
        assert_eq!((Histogram::default().quantile(50), Histogram::default().max()), (0, 0));
    }

    fn of(numbers: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        numbers.iter().for_each(|&number| histogram.add(number));
        histogram
    }

    fn numbers() -> impl proptest::strategy::Strategy<Value = Vec<u64>> {
        use proptest::prelude::*;
        prop::collection::vec(prop_oneof![0u64..100, 0u64..1_000_000, any::<u64>()], 1..60)
    }

    proptest::proptest! {
        #[test]
        fn a_quantile_is_at_most_a_32nd_above_the_sorted_answer(numbers in numbers(), percent in 1u32..=100) {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            let exact = sorted[(sorted.len() * percent as usize).div_ceil(100) - 1];
            let found = of(&numbers).quantile(percent);
            proptest::prop_assert!(exact <= found && found - exact <= exact / 32, "{found} for {exact}");
            proptest::prop_assert_eq!(of(&numbers).quantile(100), *sorted.last().unwrap());
        }

        #[test]
        fn splitting_and_order_do_not_matter(numbers in numbers(), cut in 0usize..60) {
            let (left, right) = numbers.split_at(cut.min(numbers.len()));
            let (mut forward, mut backward) = (of(left), of(right));
            forward.merge(&of(right));
            backward.merge(&of(left));
            proptest::prop_assert_eq!(&forward, &of(&numbers));
            proptest::prop_assert_eq!(&backward, &of(&numbers));
        }
    }
}
