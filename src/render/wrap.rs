//! Breaks a paragraph into lines: between words, and in Chinese between characters.

use std::ops::Range;

use super::key_text::{fit, width};

/// Breaks a text into lines of at most `room` columns. A word that is wider breaks behind `,` and `=`, as those of settings; one that
/// has none loses its middle.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for Word { text: word, whole } in words(text) {
        let mut joint = usize::from(used > 0);
        for atom in atoms(word, &whole).into_iter().flat_map(|atom| settings(atom, room)) {
            let atom = fit(atom, room);
            let columns = width(&atom);
            if used > 0 && used + joint + columns > room {
                lines.push(std::mem::take(&mut line));
                (used, joint) = (0, 0);
            }
            line.push_str(&" ".repeat(joint));
            line.push_str(&atom);
            used += joint + columns;
            joint = 0;
        }
    }
    lines.push(line);
    lines
}

/// Splits a word that is wider than a line behind its commas and equals signs: `redis-8.2,hash-max-listpack-entries=64`.
fn settings(word: &str, room: usize) -> impl Iterator<Item = &str> {
    let is_wide = width(word) > room;
    word.split_inclusive(move |c| is_wide && matches!(c, ',' | '='))
}

/// Part of a text between spaces, or two parts that are a number and its unit.
struct Word<'t> {
    text: &'t str,
    /// Bytes of `text` that stay on one line: a number and its unit.
    whole: Range<usize>,
}

/// Splits a text at its spaces, except that between a number and its unit.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(' ');
    while !rest.is_empty() {
        let end = rest.find(' ').unwrap_or(rest.len());
        let (first, behind) = rest.split_at(end);
        let second = behind.strip_prefix(' ').and_then(|behind| behind.split(' ').next()).unwrap_or_default();
        let (text, whole) = match (number(first), unit(second)) {
            (Some(start), Some(len)) => (&rest[..end + 1 + second.len()], start..end + 1 + len),
            _ => (first, 0..0),
        };
        words.push(Word { text, whole });
        rest = rest[text.len()..].trim_start_matches(' ');
    }
    words
}

/// Returns the offset of the number that a word ends with, such as 4 of `(<0.1`.
fn number(word: &str) -> Option<usize> {
    if !word.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '+' | '-' | '<' | '~');
    let before = word.trim_end_matches(is_part);
    let belongs = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (!belongs).then_some(before.len())
}

/// Returns the length of the unit that a word begins with.
fn unit(word: &str) -> Option<usize> {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    UNITS
        .iter()
        .find(|unit| word.strip_prefix(**unit).is_some_and(|rest| !unit.is_ascii() || ends(rest)))
        .map(|it| it.len())
}

/// Units that stay on the line of their number.
const UNITS: [&str; 36] = [
    "%",
    "B",
    "KiB",
    "MiB",
    "GiB",
    "TiB",
    "PiB",
    "EiB",
    "KB",
    "MB",
    "GB",
    "TB",
    "byte",
    "bytes",
    "ms",
    "s",
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "milliseconds",
    "字节",
    "毫秒",
    "秒",
    "分钟",
    "小时",
    "天",
    "周",
    "个",
    "条",
];

/// Splits a word where a line may break: around its wide characters, each with the punctuation that belongs to it, but not
/// within `whole`.
fn atoms<'w>(word: &'w str, whole: &Range<usize>) -> Vec<&'w str> {
    let mut atoms = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, c) in word.char_indices() {
        let breaks = before
            .is_some_and(|before| (is_wide(before) || is_wide(c)) && !CLOSING.contains(c) && !OPENING.contains(before))
            && !(whole.start < at && at < whole.end);
        if breaks {
            atoms.push(&word[start..at]);
            start = at;
        }
        before = Some(c);
    }
    atoms.push(&word[start..]);
    atoms
}

/// Punctuation that no line begins with.
const CLOSING: &str = "，。；：！？、）》」』】”’…";
/// Punctuation that no line ends with.
const OPENING: &str = "（《「『【“‘";

fn is_wide(c: char) -> bool {
    !c.is_ascii() && width(c.encode_utf8(&mut [0; 4])) == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("  one  two ", 80), ["one two"]);
        assert_eq!(wrap("abcdefghijkl", 7), ["abc…jkl"]);
        assert_eq!(wrap("", 7), [""]);
        assert_eq!(wrap("redis-8.2,hash-max=64 x", 12), ["redis-8.2,", "hash-max=64", "x"]);
        assert_eq!(wrap("a,b=1", 5), ["a,b=1"]);
    }

    #[test]
    fn chinese_breaks_between_characters_but_not_before_its_punctuation() {
        assert_eq!(wrap("拆分大的集合，按字段读取", 12), ["拆分大的集", "合，按字段读", "取"]);
        assert_eq!(wrap("用 UNLINK 删除；分批（渐进）", 10), ["用 UNLINK", "删除；分批", "（渐进）"]);
    }

    #[test]
    fn a_number_stays_on_the_line_of_its_unit() {
        assert_eq!(wrap("keys with 52.6 % of it", 14), ["keys with", "52.6 % of it"]);
        assert_eq!(wrap("take (2.2 MiB), less", 11), ["take", "(2.2 MiB),", "less"]);
        assert_eq!(wrap("id7 s, 12 apples", 6), ["id7 s,", "12", "apples"]);
        assert_eq!(wrap("共占内存 2.2 MiB，其中", 12), ["共占内存", "2.2 MiB，其", "中"]);
        assert_eq!(wrap("已过期 585 毫秒的", 12), ["已过期", "585 毫秒的"]);
    }

    #[test]
    fn no_line_is_wider_than_the_room() {
        let text = "每个键名都与值一起常驻内存 52.6 %，12 毫秒，user:{uid}:friends 简化为 u:{uid}:fr，，，，，，，，，，，，，，，，";
        for room in 1..40 {
            assert!(wrap(text, room).iter().all(|line| width(line) <= room), "{room}");
        }
    }
}
