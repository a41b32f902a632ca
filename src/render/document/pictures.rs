//! Charts as raw values. A table with the same figures accompanies each.

use super::Prose;
use crate::record::Kind;
use crate::units::{Bytes, Millis};

/// A whole that types divide.
#[derive(Debug)]
pub struct Split {
    /// Description.
    pub label: String,
    /// Parts in order.
    pub parts: Vec<(Kind, Bytes)>,
}

/// Columns of keys and memory over classes.
#[derive(Debug)]
pub struct Classes {
    /// Description.
    pub label: String,
    /// Classes in order.
    pub list: Vec<ClassBar>,
    /// Meaning of marked classes.
    pub note: Option<&'static str>,
}

/// One class of a picture.
#[derive(Debug)]
pub struct ClassBar {
    /// Name.
    pub name: String,
    /// Keys in it.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Set if something stands out in it.
    pub marked: bool,
}

/// Memory along a line of slots.
#[derive(Debug)]
pub struct Strip {
    /// Description.
    pub label: &'static str,
    /// Number of slots.
    pub length: u32,
    /// Ranges in order.
    pub ranges: Vec<StripRange>,
}

/// A range of slots.
#[derive(Debug, Clone, Copy)]
pub struct StripRange {
    /// First slot.
    pub first: u16,
    /// Last slot.
    pub last: u16,
    /// Keys in it.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
}

/// Memory over time, and where it goes at this rate.
#[derive(Debug, Clone)]
pub struct TrendChart {
    /// Times and sizes, oldest first.
    pub points: Vec<(Millis, Bytes)>,
    /// Height of the line at the last time.
    pub level: Bytes,
    /// Slope of the line, in bytes a day.
    pub per_day: i64,
    /// Least and most slope, where there are enough points to tell.
    pub range: Option<[i64; 2]>,
    /// Limit of memory, with its name.
    pub limit: Option<(Bytes, &'static str)>,
    /// When the line reaches the limit.
    pub reached: Option<Millis>,
    /// Growth and forecast in words.
    pub said: Prose,
}

/// Sizes of keys on a logarithmic scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Median.
    pub p50: Bytes,
    /// Size that 99 of 100 keys stay below.
    pub p99: Bytes,
    /// Largest size.
    pub max: Bytes,
    /// Scale that all rows of the table share.
    pub scale: Scale,
}

/// Ends of a logarithmic scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Lower end.
    pub least: u64,
    /// Upper end, above the lower one.
    pub most: u64,
}

impl Scale {
    /// Returns the scale between the least and the most of these sizes.
    pub fn of(least: impl Iterator<Item = Bytes>, most: impl Iterator<Item = Bytes>) -> Scale {
        let least = least.map(|size| size.0.max(1)).min().unwrap_or(1);
        let most = most.map(|size| size.0).max().unwrap_or(1);
        Scale { least, most: most.max(least.saturating_add(1)) }
    }

    /// Returns the place of a size in thousandths, between 10 and 990, so that nothing is cut at the ends.
    pub fn place(&self, size: u64) -> u64 {
        let steps = |size: u64| thousandths_of_log2(size).saturating_sub(thousandths_of_log2(self.least));
        10 + steps(size.clamp(self.least, self.most)) * 980 / steps(self.most).max(1)
    }
}

/// Returns the binary logarithm in thousandths, linear between powers of two: integers give the same picture on every machine.
fn thousandths_of_log2(n: u64) -> u64 {
    let n = n.max(1);
    let whole = u64::from(n.ilog2());
    let power = 1u128 << whole;
    let rest = (u128::from(n) - power) * 1000 / power;
    whole * 1000 + u64::try_from(rest).unwrap_or(999)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_logarithmic_and_stays_within_its_ends() {
        assert_eq!([1, 2, 3, 1024].map(thousandths_of_log2), [0, 1000, 1500, 10_000]);
        assert!(thousandths_of_log2(u64::MAX) < 64_000);
        let scale = Scale { least: 1, most: 1 << 20 };
        assert_eq!([1, 1 << 10, 1 << 20, u64::MAX].map(|size| scale.place(size)), [10, 500, 990, 990]);
        assert_eq!(Scale { least: 5, most: 6 }.place(0), 10);
    }
}
