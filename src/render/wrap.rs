//! Breaks a paragraph into lines: between words, and in Chinese between characters.

use super::key_text::{fit, width};

/// Breaks a text into lines of at most `room` columns. A word that is wider loses its middle.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut joint = usize::from(used > 0);
        for atom in atoms(word) {
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

/// Splits a word where a line may break: around its wide characters, each with the punctuation that belongs to it.
fn atoms(word: &str) -> Vec<&str> {
    let mut atoms = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, c) in word.char_indices() {
        let breaks = before
            .is_some_and(|before| (is_wide(before) || is_wide(c)) && !CLOSING.contains(c) && !OPENING.contains(before));
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
    }

    #[test]
    fn chinese_breaks_between_characters_but_not_before_its_punctuation() {
        assert_eq!(wrap("拆分大的集合，按字段读取", 12), ["拆分大的集", "合，按字段读", "取"]);
        assert_eq!(wrap("用 UNLINK 删除；分批（渐进）", 10), ["用 UNLINK", "删除；分批", "（渐进）"]);
    }

    #[test]
    fn no_line_is_wider_than_the_room() {
        let text = "每个键名都与值一起常驻内存，user:{uid}:friends 简化为 u:{uid}:fr，，，，，，，，，，，，，，，，";
        for room in 1..40 {
            assert!(wrap(text, room).iter().all(|line| width(line) <= room), "{room}");
        }
    }
}
