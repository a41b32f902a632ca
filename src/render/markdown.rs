//! The report for wikis and tickets: GitHub-flavoured Markdown of the same sections as the table.
//!
//! Names come from strangers, and Markdown gives meaning to nearly every sign. So names are code, which no renderer looks
//! into for links, mentions or emoji, and everything else has its signs escaped. Both are escaped as for a terminal before,
//! so that no line break or direction mark is left.

use std::borrow::Cow;
use std::io::{self, Write};

use super::key_text::fit;
use super::table::page::Page;
use super::table::write_sections;
use super::{Lang, Renderer};
use crate::report::Report;

/// A longer name loses its middle: a table of such would not be read.
const LONGEST_NAME: usize = 120;

/// Writes [`Format::Markdown`](super::Format::Markdown).
#[derive(Debug, Clone, Copy)]
pub struct MarkdownRenderer {
    rows: usize,
    lang: Lang,
}

impl MarkdownRenderer {
    /// A renderer of pages with so many rows in each list at most.
    pub fn new(rows: usize, lang: Lang) -> Self {
        MarkdownRenderer { rows, lang }
    }
}

impl Renderer for MarkdownRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        write_sections(report, &mut Page::markdown(out, self.rows, self.lang))
    }
}

/// A table of cells that are escaped already.
pub(super) fn table(heads: Vec<String>, numeric: &[bool], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rule = numeric.iter().map(|numeric| if *numeric { "---:" } else { "---" }.to_owned()).collect();
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    [heads, rule].into_iter().chain(rows).map(line).collect::<Vec<_>>().join("\n")
}

/// A text in a cell of a table; what it is indented by stays visible.
pub(super) fn cell(text: &str) -> String {
    let (indent, text) = indented(text);
    format!("{indent}{}", escape(text))
}

/// A name in a cell of a table, indented likewise.
pub(super) fn name(name: &str) -> String {
    let (indent, name) = indented(name);
    format!("{indent}{}", code(&fit(name, LONGEST_NAME)))
}

fn indented(text: &str) -> (String, &str) {
    let rest = text.trim_start_matches(' ');
    ("&emsp;".repeat((text.len() - rest.len()).div_ceil(2)), rest)
}

/// A paragraph: what would begin a list, a heading or a rule there is text.
pub(super) fn paragraph(text: &str) -> String {
    let escaped = escape(text);
    let digits = escaped.bytes().take_while(u8::is_ascii_digit).count();
    let mut behind = escaped[digits..].chars();
    match (behind.next(), behind.next()) {
        (Some('-' | '+' | '='), _) if digits == 0 => format!("\\{escaped}"),
        (Some('.' | ')'), None | Some(' ')) if digits > 0 => format!("{}\\{}", &escaped[..digits], &escaped[digits..]),
        _ => escaped,
    }
}

/// A text whose words mean themselves. What stands in backticks is code, and so are words that a renderer would make a
/// link, a mention or an emoji of.
pub(super) fn escape(text: &str) -> String {
    let words = |text: &str| text.split(' ').map(word).collect::<Vec<_>>().join(" ");
    let (mut escaped, mut rest) = (String::new(), text);
    while let Some((before, inside, behind)) = backticks(rest) {
        escaped.push_str(&words(before));
        escaped.push_str(&code(inside));
        rest = behind;
    }
    escaped + &words(rest)
}

/// What stands before, in and behind the first pair of backticks with something in it.
fn backticks(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (inside, behind) = rest.split_once('`').filter(|(inside, _)| !inside.is_empty())?;
    Some((before, inside, behind))
}

fn word(word: &str) -> Cow<'_, str> {
    if is_magic(word) {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')', '，', '。', '；', '：', '）', '、']);
        return format!("{}{}", code(bare), escaped_signs(&word[bare.len()..])).into();
    }
    escaped_signs(word)
}

/// Whether a renderer may see more in the word than its letters, escaped or not.
fn is_magic(word: &str) -> bool {
    let is_time = || word.bytes().all(|byte| byte.is_ascii_digit() || b"Z:-,.()".contains(&byte));
    let colon_inside = word.find(':').is_some_and(|at| word[at + 1..].starts_with(|c: char| c.is_ascii_graphic()));
    let number_sign = word.find('#').is_some_and(|at| word[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric()));
    word.contains('@') || number_sign || word.starts_with("www.") || (colon_inside && !is_time())
}

fn escaped_signs(word: &str) -> Cow<'_, str> {
    const SIGNS: &[char] = &['\\', '`', '*', '_', '[', ']', '<', '>', '|', '~', '#', '&', '$'];
    if !word.contains(SIGNS) {
        return word.into();
    }
    let mut escaped = String::with_capacity(word.len() + 8);
    let mut before = ' ';
    for (at, c) in word.char_indices() {
        let inner = || before.is_alphanumeric() && word[at + 1..].starts_with(char::is_alphanumeric);
        // Within a word an underscore is but a letter.
        if SIGNS.contains(&c) && !(c == '_' && inner()) {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped.into()
}

/// A name as code. What neither a code span nor a cell can hold is written by number.
fn code(name: &str) -> String {
    if name.is_empty() {
        return String::new();
    }
    if !name.contains(['`', '|']) && !name.starts_with(' ') && !name.ends_with(' ') {
        return format!("`{name}`");
    }
    let mut html = String::from("<code>");
    for c in name.chars() {
        if c.is_ascii_punctuation() || c == ' ' {
            html.push_str(&format!("&#{};", u32::from(c)));
        } else {
            html.push(c);
        }
    }
    html + "</code>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_code_whatever_is_in_them() {
        assert_eq!(name("user:{int}:<b>*x*"), "`user:{int}:<b>*x*`");
        assert_eq!(name("a|b"), "<code>a&#124;b</code>");
        assert_eq!(name("`<img src=x>`"), "<code>&#96;&#60;img&#32;src&#61;x&#62;&#96;</code>");
        assert_eq!(name("  {int}"), "&emsp;`{int}`");
        assert_eq!(name(""), "");
        assert!(name(&"键".repeat(5_000)).chars().count() < LONGEST_NAME);
    }

    #[test]
    fn texts_mean_themselves() {
        assert_eq!(
            escape("used_memory is *not* <b> [x](y) | `z` & $a$"),
            r"used_memory is \*not\* \<b\> \[x\](y) \| `z` \& \$a\$"
        );
        assert_eq!(
            escape("most in user:{int}, by @all, see #12: http://x"),
            "most in `user:{int}`, by `@all`, see `#12`: `http://x`"
        );
        assert_eq!(escape("at 2026-11-21 03:27:48Z: next"), "at 2026-11-21 03:27:48Z: next");
        assert_eq!(escape("a_b _c_"), r"a_b \_c\_");
        assert_eq!(escape("`a` ``b ` c"), r"`a` \`\`b \` c");
    }

    #[test]
    fn a_paragraph_begins_nothing_else() {
        assert_eq!(
            (paragraph("- x"), paragraph("1. x"), paragraph("# x")),
            (r"\- x".into(), r"1\. x".into(), r"\# x".into())
        );
        assert_eq!((paragraph("1.5 keys"), paragraph("+ x")), ("1.5 keys".into(), r"\+ x".into()));
    }

    #[test]
    fn figures_stand_on_the_right() {
        let rows = [vec!["a".to_owned(), "1".to_owned()]].into_iter();
        let heads = ["key", "keys"].map(str::to_owned).to_vec();
        assert_eq!(table(heads, &[false, true], rows), "| key | keys |\n| --- | ---: |\n| a | 1 |");
    }
}
