//! Escaping for Markdown.
//!
//! Names are untrusted, and Markdown gives meaning to nearly every sign. So names are code, which no renderer searches for
//! links, mentions or emoji, and everything else has its signs escaped. Both are visible text already, so that no line break or
//! direction mark is left.

use std::borrow::Cow;

use crate::render::document::{Part, Prose};
use crate::render::key_text::fit;

/// Longest name; a longer one loses its middle, to keep tables readable.
const MAX_NAME_LEN: usize = 120;

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
    format!("{indent}{}", code(&fit(name, MAX_NAME_LEN)))
}

fn indented(text: &str) -> (String, &str) {
    let rest = text.trim_start_matches(' ');
    ("&emsp;".repeat((text.len() - rest.len()).div_ceil(2)), rest)
}

/// Returns a text as a paragraph that begins no list, heading or rule.
pub fn paragraph(text: &str) -> String {
    begun(escape(text))
}

/// Returns a sentence as a paragraph that begins no list, heading or rule.
pub fn sentence(text: &Prose) -> String {
    begun(prose(text))
}

/// Escapes the beginning of a paragraph.
fn begun(escaped: String) -> String {
    let digits = escaped.bytes().take_while(u8::is_ascii_digit).count();
    let mut behind = escaped[digits..].chars();
    match (behind.next(), behind.next()) {
        (Some('-' | '+' | '='), _) if digits == 0 => format!("\\{escaped}"),
        (Some('.' | ')'), None | Some(' ')) if digits > 0 => format!("{}\\{}", &escaped[..digits], &escaped[digits..]),
        _ => escaped,
    }
}

/// Escapes a sentence: its names are code.
pub fn prose(prose: &Prose) -> String {
    let part = |part: Part<'_>| match part {
        Part::Text(text) => words(text),
        // Two backticks with nothing in between are no code.
        Part::Code("") => "\\`\\`".to_owned(),
        Part::Name(name) | Part::Code(name) => code(name),
    };
    prose.parts().into_iter().map(part).collect()
}

/// Escapes a text. Text between backticks is code, and so are words that a renderer would turn into a link, a mention or an
/// emoji, or that look like a key.
pub fn escape(text: &str) -> String {
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

/// Escapes the words of a text. Chinese has no blanks between words, so its punctuation divides them, too.
fn words(text: &str) -> String {
    const DIVIDING: &[char] =
        &[' ', '，', '。', '；', '：', '、', '（', '）', '“', '”', '‘', '’', '「', '」', '《', '》'];
    text.split_inclusive(DIVIDING)
        .map(|piece| {
            let bare = piece.trim_end_matches(DIVIDING);
            format!("{}{}", word(bare), &piece[bare.len()..])
        })
        .collect()
}

fn word(word: &str) -> Cow<'_, str> {
    let inner = word.trim_start_matches('(');
    let bare = inner.trim_end_matches([',', '.', ';', ')']);
    // The colon of a sentence is not part of a name, but that of an emoji is.
    let bare = if has_emoji(bare) { bare } else { bare.trim_end_matches([',', '.', ';', ':', ')']) };
    if is_magic(bare) || looks_like_key(bare) {
        let (before, after) = (&word[..word.len() - inner.len()], &inner[bare.len()..]);
        return format!("{before}{}{}", code(bare), escaped_signs(after)).into();
    }
    escaped_signs(word)
}

/// Returns whether a renderer may see more in the word than its letters, escaped or not: a link, a mention, an issue, an emoji.
fn is_magic(word: &str) -> bool {
    let number_sign = word.find('#').is_some_and(|at| word[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric()));
    word.contains('@') || number_sign || word.contains("www.") || word.contains("://") || has_emoji(word)
}

/// Returns whether a word has the name of an emoji in it: `:heart:`, `:+1:`. No emoji is named by two digits, as minutes are.
fn has_emoji(word: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'+' | b'-');
    let is_name = |name: &str| {
        let is_minute = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_digit());
        !name.is_empty() && !is_minute && name.bytes().all(is_sign)
    };
    let mut between = word.split(':').skip(1).collect::<Vec<_>>();
    between.pop();
    between.into_iter().any(is_name)
}

/// Returns whether a word looks like a key or a pattern: `user:{int}`. Neither a time nor a word of a Chinese sentence does.
fn looks_like_key(word: &str) -> bool {
    let is_time = || word.bytes().all(|byte| byte.is_ascii_digit() || b"TZ:-,.".contains(&byte));
    let colon_inside = word.find(':').is_some_and(|at| word[at + 1..].starts_with(|c: char| c.is_ascii_graphic()));
    word.is_ascii() && colon_inside && !is_time()
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
    use crate::render::document::inline;

    #[test]
    fn names_are_code_whatever_is_in_them() {
        assert_eq!(name("user:{int}:<b>*x*"), "`user:{int}:<b>*x*`");
        assert_eq!(name("a|b"), "<code>a&#124;b</code>");
        assert_eq!(name("`<img src=x>`"), "<code>&#96;&#60;img&#32;src&#61;x&#62;&#96;</code>");
        assert_eq!(name("  {int}"), "&emsp;`{int}`");
        assert_eq!(name(""), "");
        assert!(name(&"键".repeat(5_000)).chars().count() < MAX_NAME_LEN);
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
            "命名：「格式: {业务}:{标识}」 (`a:b`) “`http://x`”"
        );
        assert_eq!(escape("`a` ``b ` c"), r"`a` \`\`b \` c");
    }

    #[test]
    fn times_and_quotations_are_not_code() {
        let times = "下一次过期在 18 秒后（2026-11-21 04:32:14Z），最后一次在 397 天后（2027-12-23 16:43:39Z）。";
        assert_eq!(escape(times), times);
        assert_eq!(escape("at 2026-11-21T04:32:14Z (04:32:14Z), 4:05"), "at 2026-11-21T04:32:14Z (04:32:14Z), 4:05");
        for quote in [
            "“字符串(String)类型:Value 大小超过 10KB”",
            "「小写字母、英文点号(.)和英文半角冒号(:)」",
            "《规约》业务:模块:表",
        ] {
            assert_eq!(escape(quote), quote);
        }
        assert_eq!(escape("“格式为 业务名:表名[:子属性]”"), r"“格式为 业务名:表名\[:子属性\]”");
    }

    #[test]
    fn what_a_renderer_would_replace_is_code_in_any_sentence() {
        assert_eq!(
            escape("由 a:heart:b 占用，见 https://x/y，或@all。"),
            "由 `a:heart:b` 占用，见 `https://x/y`，`或@all`。"
        );
        assert_eq!(escape("用户:+1:1，用户:100:2，锁:12:3"), "`用户:+1:1`，`用户:100:2`，锁:12:3");
        assert_eq!(escape("见www.x.org"), "`见www.x.org`");
        assert_eq!(escape("是 键:heart:，或 :heart:"), "是 `键:heart:`，或 `:heart:`");
    }

    #[test]
    fn names_of_a_sentence_are_code() {
        let sentence = |name: &str| prose(&Prose::from(format!("其中{}占用 *5*，`x`。", inline(name))));
        assert_eq!(sentence("用户:1"), r"其中`用户:1`占用 \*5\*，`x`。");
        assert_eq!(prose(&Prose::from("a `` b")), r"a \`\` b");
        assert_eq!(sentence("a|`b"), r"其中<code>a&#124;&#96;b</code>占用 \*5\*，`x`。");
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
