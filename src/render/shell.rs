//! Words of commands to paste into a shell. Names are quoted. A name that quotes cannot make safe, or that cannot be read, has no
//! word; commands show a placeholder instead.

use super::key_text;
use crate::policy::rules::key::special_chars;

/// Longest word, and all inputs of a command together, in bytes.
const MAX_LEN: usize = 200;
const MAX_INPUTS_LEN: usize = 400;
/// Maximum number of inputs.
const MAX_INPUTS: usize = 16;

/// Returns names of inputs as words; `None` if there are none, or too many to paste.
pub fn inputs(names: impl IntoIterator<Item = impl AsRef<str>>) -> Option<String> {
    let names = names.into_iter().map(|name| input(name.as_ref())).collect::<Option<Vec<String>>>()?;
    let line = names.join(" ");
    ((1..=MAX_INPUTS).contains(&names.len()) && line.len() <= MAX_INPUTS_LEN).then_some(line)
}

/// Returns a key's name as a word of a command line, in the form that `show` reads.
pub fn key(name: &[u8]) -> Option<String> {
    let text = key_text::whole(name);
    // A dash at the start would make it a flag.
    let text = text.strip_prefix('-').map_or_else(|| text.to_string(), |rest| format!("\\x2d{rest}"));
    // Between single quotes, a backslash stands for itself.
    in_quotes(&text, |c| c == '\\')
}

/// Returns an input as a word of a command line; `None` for standard input, which is gone once it was read.
pub fn input(name: &str) -> Option<String> {
    match name {
        "<stdin>" => None,
        // A dash at the start would make it a flag.
        name if name.starts_with('-') => quoted(&format!("./{name}")),
        name => quoted(name),
    }
}

/// Returns the text as one word of a shell's command line, if it can be read and pasted without risk.
pub fn quoted(text: &str) -> Option<String> {
    in_quotes(text, |_| false)
}

/// Returns the text as one word, as [`quoted`] does; `kept` says which characters that need a backslash elsewhere stand for themselves
/// between quotes.
fn in_quotes(text: &str, kept: impl Fn(char) -> bool) -> Option<String> {
    let ascii = |c: char| c == ' ' || c.is_ascii_graphic();
    // Letters of other scripts, but for those that fonts may leave out.
    let printable = |c: char| ascii(c) || !c.is_ascii() && c.is_alphanumeric() && !special_chars::is_special(c);
    let safe = !text.is_empty() && text.len() <= MAX_LEN && !text.starts_with('-');
    // At the start of a word, some shells take `=` for the path of a command.
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '_' | '-' | '/' | '@' | ',' | '+' | '=');
    if !safe || !text.chars().all(printable) {
        return None;
    }
    if text.chars().all(bare) && !text.starts_with('=') {
        return Some(text.to_owned());
    }
    let (mut word, mut is_open) = (String::new(), false);
    for c in text.chars() {
        // Some shells see these between single quotes, too; behind a backslash, none does.
        let is_escaped = matches!(c, '\'' | '!' | '\\') && !kept(c);
        if is_escaped == is_open {
            word.push('\'');
            is_open = !is_open;
        }
        if is_escaped {
            word.push('\\');
        }
        word.push(c);
    }
    if is_open {
        word.push('\'');
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        assert_eq!(quoted("dumps/a-1.rdb").as_deref(), Some("dumps/a-1.rdb"));
        assert_eq!(quoted("user:{1}:$(x)").as_deref(), Some("'user:{1}:$(x)'"));
        for hostile in ["", "-rf", "a\nb", "\u{202e}", "a\u{3164}b", "“a”", "a\u{a0}b"] {
            assert_eq!(quoted(hostile), None);
        }
        assert_eq!(quoted(&"a".repeat(201)), None);
        assert_eq!(quoted("it's").as_deref(), Some(r"'it'\''s'"));
        assert_eq!((quoted("'").as_deref(), quoted("!!").as_deref()), (Some(r"\'"), Some(r"\!\!")));
        assert_eq!(quoted(r"a\b c").as_deref(), Some(r"'a'\\'b c'"));
        assert_eq!(input("-rf").as_deref(), Some("./-rf"));
        assert_eq!(quoted("快照/门诊.rdb").as_deref(), Some("'快照/门诊.rdb'"));
        assert_eq!(quoted("=ls").as_deref(), Some("'=ls'"));
        assert_eq!(input("<stdin>"), None);
        assert_eq!(key(b"back\\slash\xff").as_deref(), Some(r"'back\\slash\xff'"));
        assert_eq!(key(b"it's").as_deref(), Some(r"'it'\''s'"));
        assert_eq!(key(b"-rf").as_deref(), Some(r"'\x2drf'"));
    }
}
