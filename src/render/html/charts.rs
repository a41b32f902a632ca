//! Pictures of classes and parts: what they show, as lengths in thousandths. Each stands beside a table with the same figures.

use super::view::{Prose, tenths};
use crate::record::Kind;
use crate::units::Bytes;

/// A whole as one bar of parts.
#[derive(Debug)]
pub struct Split {
    /// What it shows.
    pub label: String,
    /// Its parts, in order.
    pub parts: Vec<SplitPart>,
}

/// One part.
#[derive(Debug)]
pub struct SplitPart {
    /// The type, which gives the colour.
    pub kind: &'static str,
    /// Its share in words.
    pub share: String,
    /// Where it begins.
    pub start: u64,
    /// How long it is.
    pub length: u64,
}

impl Split {
    /// The parts of these weights beside each other.
    pub fn of(label: String, weights: &[(Kind, Bytes)], share: impl Fn(Bytes) -> String) -> Split {
        let whole: Bytes = weights.iter().map(|(_, memory)| *memory).sum();
        let mut before = Bytes(0);
        let parts = weights.iter().map(|(kind, memory)| {
            // The ends are rounded, not the lengths: parts neither overlap nor leave gaps.
            let start = place(before, whole);
            before += *memory;
            let length = place(before, whole).saturating_sub(start);
            SplitPart { kind: kind.name(), share: share(*memory), start, length }
        });
        Split { label, parts: parts.collect() }
    }
}

fn place(sum: Bytes, whole: Bytes) -> u64 {
    if sum == Bytes(0) { 0 } else { tenths(sum.0, whole.0) }
}

/// Columns over classes.
#[derive(Debug)]
pub struct Columns {
    /// What they show.
    pub label: String,
    /// What the first and the second column of each class are.
    pub legend: [&'static str; 2],
    /// The classes.
    pub classes: Vec<Class>,
    /// What is to be known of marked classes.
    pub note: Option<Prose>,
}

/// One class with its two columns.
#[derive(Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The first figure as text.
    pub figure: String,
    /// The height of the first column.
    pub first: u64,
    /// The height of the second column.
    pub second: u64,
    /// Something stands out in it.
    pub marked: bool,
}

impl Class {
    /// Where the first column begins, from the top.
    pub fn first_top(&self) -> u64 {
        1000 - self.first.min(1000)
    }

    /// Where the second column begins, from the top.
    pub fn second_top(&self) -> u64 {
        1000 - self.second.min(1000)
    }
}

/// Colours over a line that is divided into parts.
#[derive(Debug)]
pub struct Strip {
    /// What it shows.
    pub label: String,
    /// How long it is, in the unit of its cells.
    pub length: u32,
    /// What stands at its two ends.
    pub ends: [String; 2],
    /// Its parts.
    pub cells: Vec<StripCell>,
    /// What each step of the colour means.
    pub legend: [(u64, &'static str); 6],
}

/// A part of one colour.
#[derive(Debug)]
pub struct StripCell {
    /// Where it begins.
    pub start: u32,
    /// How long it is.
    pub length: u32,
    /// From 0 for nothing to 5 for much, as [`step`] says.
    pub step: u64,
    /// What a pointer over it shows.
    pub title: String,
}

/// The step of a weight beside the mean of `count` weights with this sum: 3 is about the mean, 5 more than three times as much.
pub fn step(weight: u64, sum: u64, count: u64) -> u64 {
    // Four times the weight in means, without a division.
    let quarters = (4 * u128::from(weight)).saturating_mul(count.into());
    let is_above = |limit: u64| quarters > u128::from(limit) * u128::from(sum);
    match weight {
        0 => 0,
        _ => 1 + [2, 3, 6, 12].into_iter().filter(|&limit| is_above(limit)).count() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_whole_fill_it_without_gaps() {
        let weights = [(Kind::Hash, Bytes(1)), (Kind::String, Bytes(1)), (Kind::List, Bytes(1))];
        let split = Split::of(String::new(), &weights, |memory| memory.0.to_string());
        let ends: Vec<_> = split.parts.iter().map(|part| (part.start, part.start + part.length)).collect();
        assert_eq!(ends, [(0, 333), (333, 666), (666, 1000)]);
        assert!(Split::of(String::new(), &[(Kind::Hash, Bytes(0))], |_| String::new()).parts[0].length == 0);
    }

    #[test]
    fn colours_go_by_the_mean() {
        // Ten weights with a mean of 100.
        let steps = [0, 1, 50, 51, 75, 76, 100, 150, 151, 300, 301, u64::MAX].map(|weight| step(weight, 1_000, 10));
        assert_eq!(steps, [0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5]);
        assert_eq!(step(u64::MAX, u64::MAX, u64::MAX), 5);
        assert_eq!((step(7, 7, 1), step(1, 0, 0)), (3, 1));
    }
}
