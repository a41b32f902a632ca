//! Patterns of two trees that count the same keys: a level may have collapsed to `{*}` in one tree only.
//!
//! A key is counted under one pattern of each tree, so patterns that may count the same key belong together. They are found by
//! collapsing each level that is collapsed in either tree, as the tree itself would: a row then holds the patterns of both sides
//! with the same result, and every key is in the same row on both sides. Comparing the sums of a row is therefore exact if all
//! patterns of both trees are given. Time grows with the length of the texts, whatever they are: reports may be made by anybody.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::classify::{MAX_SEGMENTS, SegmentClass};
use super::segment::Separators;
use super::tree::{CLASSES_COUNT_FROM, TreeLimits};

/// Segment that stands for the names of a collapsed level.
pub const COLLAPSED: &str = "{*}";

/// Patterns of one tree.
#[derive(Debug, Clone, Copy)]
pub struct TreeTexts<'s, 'a> {
    /// Patterns as text.
    pub texts: &'s [&'a str],
    /// True if the tree was in strict mode, where `{*}` also stands for classes and, at the end, for several segments.
    pub strict: bool,
}

/// Patterns of two trees that count the same keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedPattern<'a> {
    /// Pattern of all their keys.
    pub pattern: Cow<'a, str>,
    /// Positions of the patterns in the lists of both sides.
    pub members: [Vec<usize>; 2],
}

impl JoinedPattern<'_> {
    /// Returns whether a side with an incomplete list lists every pattern of this row: with the same text, it is the only one.
    pub fn is_whole(&self, side: usize, sides: [TreeTexts<'_, '_>; 2]) -> bool {
        let [own, other] = if side == 0 { sides } else { [sides[1], sides[0]] };
        let stands_for_more = other.strict && !own.strict && self.pattern.contains(COLLAPSED);
        !stands_for_more && !self.members[side].is_empty() && self.is_one_pattern(side, own)
    }

    /// Returns whether all patterns of a side have the text of this row.
    pub fn is_one_pattern(&self, side: usize, own: TreeTexts<'_, '_>) -> bool {
        self.members[side].iter().all(|at| own.texts.get(*at).is_some_and(|text| *text == self.pattern))
    }
}

/// Puts the patterns of two trees together, sorted by text.
pub fn join<'a>(sides: [TreeTexts<'_, 'a>; 2], separators: &Separators) -> Vec<JoinedPattern<'a>> {
    let mut texts: BTreeMap<&'a str, [Vec<usize>; 2]> = BTreeMap::new();
    for (side, list) in sides.iter().enumerate() {
        for (at, text) in list.texts.iter().enumerate() {
            texts.entry(text).or_default()[side].push(at);
        }
    }
    let is_mixed = sides[0].strict != sides[1].strict;
    let (mut rows, mut open) = (Vec::with_capacity(texts.len()), Vec::new());
    let mut collapsed = false;
    for (text, members) in texts {
        let is_collapsed = text.contains(COLLAPSED);
        // In two trees of the same mode a pattern stands for the same keys.
        if members.iter().all(|side| !side.is_empty()) && !(is_mixed && is_collapsed) {
            rows.push(JoinedPattern { pattern: text.into(), members });
        } else {
            collapsed |= is_collapsed;
            open.push((text, members));
        }
    }
    let single = |(text, members): (&'a str, _)| JoinedPattern { pattern: text.into(), members };
    if collapsed {
        let sides = sides.map(|side| side.strict);
        let mut joining = Joining { separators, sides, last: last_strict(), rows: &mut rows };
        let mut entries: Vec<Entry<'a>> = open.into_iter().map(|(text, members)| Entry::new(text, members)).collect();
        joining.divide(&mut entries, 0, &mut String::new());
    } else {
        rows.extend(open.into_iter().map(single));
    }
    rows.sort_unstable_by(|one, other| one.pattern.cmp(&other.pattern));
    rows
}

/// Returns the level on which strict mode makes one name of the rest of a pattern.
fn last_strict() -> usize {
    TreeLimits::default().last_level(true)
}

/// A pattern on the way down the common tree.
struct Entry<'a> {
    text: &'a str,
    members: [Vec<usize>; 2],
    /// Name on the current level.
    name: &'a str,
    /// Separator after it; `None` at the end of the pattern.
    separator: Option<&'a str>,
    /// Text after the separator.
    rest: &'a str,
}

impl<'a> Entry<'a> {
    fn new(text: &'a str, members: [Vec<usize>; 2]) -> Self {
        Entry { text, members, name: "", separator: None, rest: text }
    }

    /// Takes the next segment from the rest.
    fn descend(&mut self, level: usize, separators: &Separators) {
        let is_separator = |byte: &u8| separators.contains(*byte);
        let rest = self.rest;
        let end = match rest.strip_prefix(COLLAPSED) {
            // The asterisk may be a separator.
            Some(behind) if behind.as_bytes().first().is_none_or(is_separator) => Some(COLLAPSED.len()),
            _ => rest.as_bytes().iter().position(is_separator),
        };
        // From the last level on, the rest is one name, as in the tree. Separators are ASCII, hence whole characters.
        let divided = end.filter(|_| level < MAX_SEGMENTS).and_then(|end| {
            let (name, behind) = rest.split_at_checked(end)?;
            let (separator, rest) = behind.split_at_checked(1)?;
            Some((name, separator, rest))
        });
        (self.name, self.separator, self.rest) = match divided {
            Some((name, separator, rest)) => (name, Some(separator), rest),
            None => (rest, None, ""),
        };
    }

    fn ends(&self) -> bool {
        self.separator.is_none()
    }

    fn is_class(&self) -> bool {
        SegmentClass::ALL.into_iter().any(|class| class.text() == self.name)
    }
}

struct Joining<'r, 'a> {
    separators: &'r Separators,
    /// Strict mode of each side.
    sides: [bool; 2],
    /// Last level in strict mode.
    last: usize,
    rows: &'r mut Vec<JoinedPattern<'a>>,
}

impl<'a> Joining<'_, 'a> {
    /// Adds the rows of patterns that have the same place above this level. Recurses at most [`MAX_SEGMENTS`] times.
    fn divide(&mut self, entries: &mut [Entry<'a>], level: usize, path: &mut String) {
        // Names and classes that are collapsed, by whether the pattern goes on or ends.
        let (mut names, mut classes, mut all) = ([false; 2], [false; 2], false);
        for entry in &mut *entries {
            entry.descend(level, self.separators);
            if entry.name == COLLAPSED {
                let end = usize::from(entry.ends());
                let strict = self.is_strict(entry);
                names[end] = true;
                classes[end] |= strict && level >= CLASSES_COUNT_FROM;
                all |= strict && level >= self.last && entry.ends();
            }
        }
        if all {
            path.push_str(COLLAPSED);
            return self.add(entries, path);
        }
        for entry in &mut *entries {
            let end = usize::from(entry.ends());
            let collapsed = if entry.is_class() { classes[end] } else { names[end] };
            if collapsed {
                entry.name = COLLAPSED;
            }
        }
        fn place<'a>(entry: &Entry<'a>) -> (Option<&'a str>, &'a str) {
            (entry.separator, entry.name)
        }
        entries.sort_unstable_by(|one, other| place(one).cmp(&place(other)));
        for group in entries.chunk_by_mut(|one, other| place(one) == place(other)) {
            let Some((separator, name)) = group.first().map(place) else { continue };
            let whole = path.len();
            path.push_str(name);
            match separator {
                Some(separator) => {
                    path.push_str(separator);
                    self.divide(group, level + 1, path);
                }
                None => self.add(group, path),
            }
            path.truncate(whole);
        }
    }

    fn is_strict(&self, entry: &Entry<'_>) -> bool {
        entry.members.iter().zip(self.sides).any(|(side, strict)| strict && !side.is_empty())
    }

    /// Adds a row of patterns.
    fn add(&mut self, entries: &mut [Entry<'a>], path: &str) {
        let mut members = [Vec::new(), Vec::new()];
        for entry in &mut *entries {
            members.iter_mut().zip(&mut entry.members).for_each(|(all, own)| all.append(own));
        }
        members.iter_mut().for_each(|side| side.sort_unstable());
        let same = entries.iter().map(|entry| entry.text).find(|text| *text == path);
        let pattern = same.map_or_else(|| Cow::Owned(path.to_owned()), Cow::Borrowed);
        self.rows.push(JoinedPattern { pattern, members });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows as `pattern = first + … | second + …`.
    fn rows(first: &[&str], second: &[&str], strict: [bool; 2]) -> Vec<String> {
        let sides = [TreeTexts { texts: first, strict: strict[0] }, TreeTexts { texts: second, strict: strict[1] }];
        let named = |side: usize, members: &[usize]| {
            members.iter().map(|at| sides[side].texts[*at]).collect::<Vec<_>>().join(" + ")
        };
        let row = |row: JoinedPattern<'_>| {
            let [first, second] = &row.members;
            format!("{} = {} | {}", row.pattern, named(0, first), named(1, second))
        };
        join(sides, &Separators::default()).into_iter().map(row).collect()
    }

    #[test]
    fn equal_patterns_are_joined_by_their_text() {
        let rows = rows(&["a:{*}", "b:{int}", "c"], &["a:{*}", "b:{int}", "d"], [false; 2]);
        assert_eq!(rows, ["a:{*} = a:{*} | a:{*}", "b:{int} = b:{int} | b:{int}", "c = c | ", "d =  | d"]);
    }

    #[test]
    fn a_collapsed_level_is_joined_with_the_names_that_it_stands_for() {
        let (names, collapsed) =
            (["pay:{int}", "shop:{int}", "{int}:{int}", "user"], ["{*}:{int}", "{int}:{int}", "user"]);
        let expected = [
            "user = user | user",
            "{*}:{int} = pay:{int} + shop:{int} | {*}:{int}",
            "{int}:{int} = {int}:{int} | {int}:{int}",
        ];
        assert_eq!(rows(&names, &collapsed, [false; 2]), expected);
        let expected = [
            "user = user | user",
            "{*}:{int} = {*}:{int} | pay:{int} + shop:{int}",
            "{int}:{int} = {int}:{int} | {int}:{int}",
        ];
        assert_eq!(rows(&collapsed, &names, [false; 2]), expected);
        // Names that go on and names that end are counted apart, and so are separators.
        assert_eq!(
            rows(&["a:x"], &["{*}", "a:{*}:n"], [false; 2]),
            ["a:x = a:x | ", "a:{*}:n =  | a:{*}:n", "{*} =  | {*}"]
        );
    }

    #[test]
    fn different_levels_may_be_collapsed_on_each_side() {
        assert_eq!(
            rows(&["{*}:item", "{*}:list"], &["shop:{*}", "user:item"], [false; 2]),
            ["{*}:{*} = {*}:item + {*}:list | shop:{*} + user:item"]
        );
    }

    #[test]
    fn in_strict_mode_an_ending_stands_for_several_segments_and_for_classes() {
        let strict = ["app:{*}:order:{int}:{*}", "b:c:{*}:d"];
        let names = ["app:m:order:{int}:detail:item", "app:n:order:{int}:{int}", "b:c:{int}:d", "b:c:x:d"];
        assert_eq!(
            rows(&names, &strict, [false, true]),
            [
                "app:{*}:order:{int}:{*} = app:m:order:{int}:detail:item + app:n:order:{int}:{int} | app:{*}:order:{int}:{*}",
                "b:c:{*}:d = b:c:{int}:d + b:c:x:d | b:c:{*}:d",
            ]
        );
        let plain = rows(&names, &strict, [false; 2]);
        assert!(plain.contains(&"b:c:{int}:d = b:c:{int}:d | ".to_owned()), "{plain:?}");
        // The same text stands for more keys on the strict side.
        let mixed = rows(&["a:b:{*}", "a:b:{int}"], &["a:b:{*}"], [false, true]);
        assert_eq!(mixed, ["a:b:{*} = a:b:{*} + a:b:{int} | a:b:{*}"]);
    }

    #[test]
    fn the_asterisk_may_be_a_separator() {
        let separators = Separators::of(b"*");
        let sides = [&["a*{*}*b"][..], &["a*x*b"]].map(|texts| TreeTexts { texts, strict: false });
        assert_eq!(join(sides, &separators).len(), 1);
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        let deep = ":".repeat(1 << 20);
        let texts: Vec<String> = (0..20_000).map(|n| format!("{{*}}:{n}:{{*}}:{n}")).collect();
        let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        texts.extend([&deep, "", "{*}", "{*}{*}", "ä{*}:{", "{*"]);
        let other = [&deep, "x:y", "{*}:{*}:{*}:{*}"];
        let sides = [&texts[..], &other].map(|texts| TreeTexts { texts, strict: true });
        assert!(join(sides, &Separators::default()).len() > 3);
    }
}
