//! Escaping for Markdown.
//!
//! Names are untrusted, and Markdown gives meaning to nearly every sign. So names are code, which no renderer searches for
//! links, mentions or emoji, and everything else has its signs escaped. Both are visible text already, so that no line break or
//! direction mark is left.

use std::borrow::Cow;

use crate::render::key_text::fit;

/// Longest name; a longer one loses its middle, to keep tables readable.
const LONGEST_NAME: usize = 120;

/// Returns a table of cells that are escaped already.
pub fn table(heads: Vec<String>, numeric: &[bool], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rule = numeric.iter().map(|numeric| if *numeric { "---:" } else { "---" }.to_owned()).collect();
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    [heads, rule].into_iter().chain(rows).map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a text for a cell of a table; its indentation stays visible.
pub fn cell(text: &str) -> String {
    let (indent, text) = indented(text);
    format!("{indent}{}", escape(text))
}

/// Returns a name for a cell of a table; its indentation stays visible.
pub fn name(name: &str) -> String {
    let (indent, name) = indented(name);
    format!("{indent}{}", code(&fit(name, LONGEST_NAME)))
}

fn indented(text: &str) -> (String, &str) {
    let rest = text.trim_start_matches(' ');
    ("&emsp;".repeat((text.len() - rest.len()).div_ceil(2)), rest)
}

/// Returns a text as a paragraph that begins no list, heading or rule.
pub fn paragraph(text: &str) -> String {
    let escaped = escape(text);
    let digits = escaped.bytes().take_while(u8::is_ascii_digit).count();
    let mut behind = escaped[digits..].chars();
    match (behind.next(), behind.next()) {
        (Some('-' | '+' | '='), _) if digits == 0 => format!("\\{escaped}"),
        (Some('.' | ')'), None | Some(' ')) if digits > 0 => format!("{}\\{}", &escaped[..digits], &escaped[digits..]),
        _ => escaped,
    }
}

/// Escapes a text. Text between backticks is code, and so are words that a renderer would turn into a link, a mention or an
/// emoji.
pub fn escape(text: &str) -> String {
    let words = |text: &str| text.split(' ').map(word).collect::<Vec<_>>().join(" ");
    let (mut escaped, mut rest) = (String::new(), text);
    while let Some((before, inside, behind)) = backticks(rest) {
        escaped.push_str(&words(before));
        escaped.push_str(&code(inside));
        rest = behind;
    }
    escaped + &words(rest)
}

/// Splits a text into what is before, in and after its first pair of backticks that is not empty.
fn backticks(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (inside, behind) = rest.split_once('`').filter(|(inside, _)| !inside.is_empty())?;
    Some((before, inside, behind))
}

fn word(word: &str) -> Cow<'_, str> {
    if is_magic(word) {
        let inner = word.trim_start_matches(['(', '“', '「', '（']);
        let bare = inner.trim_end_matches([',', '.', ';', ':', ')', '，', '。', '；', '：', '）', '、', '”', '」']);
        let (before, after) = (&word[..word.len() - inner.len()], &inner[bare.len()..]);
        return format!("{before}{}{}", code(bare), escaped_signs(after)).into();
    }
    escaped_signs(word)
}

/// Returns whether a renderer may see more in the word than its letters, escaped or not.
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
        // Within a word an underscore has no meaning.
        if SIGNS.contains(&c) && !(c == '_' && inner()) {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped.into()
}

/// Returns a name as code. Signs that neither a code span nor a cell can hold are written by number.
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
        assert_eq!(
            escape("命名：「格式: {业务}:{标识}」 (a:b) “http://x”"),
            "命名：「格式: `{业务}:{标识}`」 (`a:b`) “`http://x`”"
        );
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
