//! Charts of classes and parts, with lengths in thousandths. A table with the same figures accompanies each.

use super::prose::HtmlProse;
use super::view::permille;
use crate::render::document::{ClassBar, Classes, Split, Strip, StripRange};
use crate::render::words::{heads, nouns, say};
use crate::render::{Lang, human};
use crate::units::Bytes;

/// A whole as one bar of parts.
#[derive(Debug)]
pub struct SplitBar {
    /// Description.
    pub label: String,
    /// Parts in order.
    pub parts: Vec<SplitPart>,
}

/// One part.
#[derive(Debug)]
pub struct SplitPart {
    /// Type, which gives the colour.
    pub kind: &'static str,
    /// Share in words.
    pub share: String,
    /// Begin.
    pub start: u64,
    /// Length.
    pub length: u64,
}

impl SplitBar {
    /// Returns the bar of a division.
    pub fn of(split: &Split) -> SplitBar {
        let whole: Bytes = split.parts.iter().map(|(_, memory)| *memory).sum();
        let mut before = Bytes(0);
        let parts = split.parts.iter().map(|(kind, memory)| {
            // The ends are rounded, not the lengths: parts neither overlap nor leave gaps.
            let start = place(before, whole);
            before += *memory;
            let length = place(before, whole).saturating_sub(start);
            SplitPart { kind: kind.name(), share: human::share_of(memory.0, whole.0), start, length }
        });
        SplitBar { label: split.label.clone(), parts: parts.collect() }
    }
}

fn place(sum: Bytes, whole: Bytes) -> u64 {
    if sum == Bytes(0) { 0 } else { permille(sum.0, whole.0) }
}

/// Columns over classes.
#[derive(Debug)]
pub struct ClassColumns {
    /// Description.
    pub label: String,
    /// Names of the first and the second column of each class.
    pub legend: [&'static str; 2],
    /// Classes.
    pub classes: Vec<ClassColumn>,
    /// Meaning of marked classes.
    pub note: Option<HtmlProse>,
}

/// One class with its two columns.
#[derive(Debug)]
pub struct ClassColumn {
    /// Name.
    pub name: String,
    /// First figure as text.
    pub figure: String,
    /// Height of the first column.
    pub first: u64,
    /// Height of the second column.
    pub second: u64,
    /// Set if something stands out in it.
    pub marked: bool,
}

impl ClassColumns {
    /// Returns the columns of classes, the highest of each kind at full height.
    pub fn of(classes: &Classes, lang: Lang) -> ClassColumns {
        let most_keys = classes.list.iter().map(|class| class.keys).max().unwrap_or(0);
        let most_memory = classes.list.iter().map(|class| class.memory.0).max().unwrap_or(0);
        let column = |class: &ClassBar| ClassColumn {
            name: class.name.clone(),
            figure: human::count(class.keys),
            first: permille(class.keys, most_keys),
            second: permille(class.memory.0, most_memory),
            marked: class.marked,
        };
        ClassColumns {
            label: classes.label.clone(),
            legend: [lang.pick(heads::KEYS), lang.pick(heads::MEMORY)],
            classes: classes.list.iter().map(column).collect(),
            note: classes.note.map(|note| note.to_owned().into()),
        }
    }
}

impl ClassColumn {
    /// Returns the top of the first column.
    pub fn first_top(&self) -> u64 {
        1000 - self.first.min(1000)
    }

    /// Returns the top of the second column.
    pub fn second_top(&self) -> u64 {
        1000 - self.second.min(1000)
    }
}

/// Colours over a line that is divided into parts.
#[derive(Debug)]
pub struct StripView {
    /// Description.
    pub label: &'static str,
    /// Length in the unit of its cells.
    pub length: u32,
    /// Numbers at its two ends.
    pub ends: [String; 2],
    /// Parts.
    pub cells: Vec<StripCell>,
    /// Meaning of each step of the colour.
    pub legend: [(u64, &'static str); 6],
}

/// A part of one colour.
#[derive(Debug)]
pub struct StripCell {
    /// Begin.
    pub start: u32,
    /// Length.
    pub length: u32,
    /// Step from 0 for nothing to 5 for much, see [`step`].
    pub step: u64,
    /// Text for a pointer over it.
    pub title: String,
}

impl StripView {
    /// Returns the colours of slots, by their memory compared with the mean of those used.
    pub fn of(strip: &Strip, lang: Lang) -> StripView {
        let sum: Bytes = strip.ranges.iter().map(|range| range.memory).sum();
        let used = strip.ranges.iter().filter(|range| range.keys > 0).count() as u64;
        let title = |range: &StripRange| {
            say!(
                lang,
                "slots {}–{}: {}, {}",
                "槽 {}–{}：{}，{}",
                range.first,
                range.last,
                human::counted(range.keys, nouns::KEY, lang),
                human::bytes(range.memory.0)
            )
        };
        let cells = strip.ranges.iter().filter(|range| range.last >= range.first).map(|range| StripCell {
            start: range.first.into(),
            length: u32::from(range.last - range.first) + 1,
            step: step(range.memory.0, sum.0, used),
            title: title(range),
        });
        StripView {
            label: strip.label,
            length: strip.length,
            ends: [0, strip.length.saturating_sub(1)].map(|slot| slot.to_string()),
            cells: cells.collect(),
            legend: [
                (0, lang.of("no keys", "无 key")),
                (1, "≤ ½"),
                (2, "≤ ¾"),
                (3, "≤ 1½"),
                (4, "≤ 3"),
                (5, lang.of("more", "更多")),
            ],
        }
    }
}

/// Returns the step of a weight compared with the mean of `count` weights with this sum: 3 is about the mean, 5 more than three
/// times as much.
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
    use crate::record::Kind;

    #[test]
    fn parts_of_a_whole_fill_it_without_gaps() {
        let weights = [(Kind::Hash, Bytes(1)), (Kind::String, Bytes(1)), (Kind::List, Bytes(1))];
        let bar = |parts: &[(Kind, Bytes)]| SplitBar::of(&Split { label: String::new(), parts: parts.to_vec() });
        let split = bar(&weights);
        let ends: Vec<_> = split.parts.iter().map(|part| (part.start, part.start + part.length)).collect();
        assert_eq!(ends, [(0, 333), (333, 666), (666, 1000)]);
        assert_eq!(bar(&[(Kind::Hash, Bytes(0))]).parts[0].length, 0);
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
