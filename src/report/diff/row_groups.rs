//! Rows of findings of two reports that are about the same keys: those of one pattern, and those of patterns that only one of the
//! reports has collapsed to `{*}`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::nights::without_date;
use super::{Report, separators};
use crate::pattern::joined::{COLLAPSED, JoinedPattern, TreeTexts, join};
use crate::pattern::segment::Separators;
use crate::report::{FindingPattern, Weight};

/// Settings by which rows of two reports are put together.
#[derive(Debug)]
pub(super) struct RowMatching {
    /// Strict mode of the patterns of each report.
    strict: [bool; 2],
    separators: Separators,
    /// Shards of the files of each report, by name: rows about files are told by shard, as every night has other names.
    shards: [BTreeMap<String, String>; 2],
}

/// Rows about the same keys.
#[derive(Debug)]
pub(super) struct RowGroup<'a> {
    /// Pattern of all of them; `None` for rows without one.
    pub pattern: Option<Cow<'a, str>>,
    /// Positions of the rows in the lists of both sides.
    pub members: [Vec<usize>; 2],
    /// True if all rows have this very pattern.
    pub is_one_pattern: bool,
    /// True if no other row of the earlier report can be about these keys, whether it is listed or not.
    pub is_whole_before: bool,
}

impl RowMatching {
    /// Returns the settings for two reports.
    pub fn of(before: &Report, now: &Report) -> RowMatching {
        RowMatching {
            strict: [before, now].map(Report::has_strict_patterns),
            separators: separators(before, now),
            shards: [before, now].map(shards_by_file),
        }
    }

    /// Puts rows of the earlier and the later report together.
    pub fn groups<'a>(&'a self, rows: [&[&'a FindingPattern]; 2]) -> Vec<RowGroup<'a>> {
        let listed = [0, 1].map(|side| {
            let text = |pattern: &'a str| self.shards[side].get(pattern).map_or(pattern, String::as_str);
            let named = rows[side].iter().enumerate();
            let named = named.filter_map(|(at, row)| Some((at, text(row.pattern.as_deref()?))));
            named.unzip::<usize, &str, Vec<_>, Vec<_>>()
        });
        let [before, now] = &listed;
        let sides = [
            TreeTexts { texts: &before.1, strict: self.strict[0] },
            TreeTexts { texts: &now.1, strict: self.strict[1] },
        ];
        let group = |row: JoinedPattern<'a>| {
            let is_one_pattern = (0..2).all(|side| row.is_one_pattern(side, sides[side]));
            let is_whole_before = row.is_whole(0, sides);
            let [then, now] = row.members;
            let places = |members: Vec<usize>, listed: &[usize]| {
                members.into_iter().filter_map(|at| listed.get(at).copied()).collect::<Vec<usize>>()
            };
            let members = [places(then, &before.0), places(now, &listed[1].0)];
            RowGroup { pattern: Some(row.pattern), members, is_one_pattern, is_whole_before }
        };
        let mut groups: Vec<RowGroup<'a>> = join(sides, &self.separators).into_iter().map(group).collect();
        let nameless = rows.map(|rows| {
            let nameless = rows.iter().enumerate().filter(|(_, row)| row.pattern.is_none());
            nameless.map(|(at, _)| at).collect::<Vec<usize>>()
        });
        if nameless.iter().any(|rows| !rows.is_empty()) {
            groups.push(RowGroup { pattern: None, members: nameless, is_one_pattern: true, is_whole_before: true });
        }
        groups
    }
}

/// Returns the shard of each file of a report, unless several files have the same.
fn shards_by_file(report: &Report) -> BTreeMap<String, String> {
    let files = || report.source.files.iter().map(|file| (file.name.clone(), without_date(&file.name)));
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    files().for_each(|(_, shard)| *times.entry(shard).or_default() += 1);
    files().filter(|(_, shard)| times.get(shard) == Some(&1)).collect()
}

impl RowGroup<'_> {
    /// Returns whether a level of the pattern is collapsed, so that it may stand for many others.
    pub fn is_collapsed(&self) -> bool {
        self.pattern.as_deref().is_some_and(|pattern| pattern.contains(COLLAPSED))
    }
}

/// Sums up the keys of rows.
pub(super) fn weight<'a>(rows: impl IntoIterator<Item = &'a FindingPattern>) -> Weight {
    rows.into_iter().map(|row| Weight { keys: row.keys, memory: row.memory }).sum()
}
