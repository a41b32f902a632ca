//! Names of keys, patterns, files: visible, bounded, and kept apart from the text around them.

use crate::render::key_text;

/// Columns of a name that are shown.
const SHOWN: usize = 56;
/// Columns of a name that is shown shortened, where the reader asks for the whole.
const WHOLE: usize = 240;

/// Characters that begin and end a name within a sentence. They isolate it in plain text as `<bdi>` does in HTML, which the
/// templates make of them. A name cannot hold them: `key_text` makes them visible.
const ISOLATE: char = '\u{2068}';
const END: char = '\u{2069}';

/// A name as it stands on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Shortened in the middle.
    pub shown: String,
    /// The name, where it was shortened; up to a bound itself.
    pub whole: Option<String>,
}

impl Name {
    /// Of a key.
    pub fn key(bytes: &[u8]) -> Name {
        Name::visible(&key_text::key(bytes))
    }

    /// Of a pattern, a file, a model. What is empty is seen as such.
    pub fn text(text: &str) -> Name {
        if text.is_empty() { Name::key(b"") } else { Name::visible(&key_text::text(text)) }
    }

    fn visible(text: &str) -> Name {
        let shown = key_text::fit(text, SHOWN);
        let whole = (shown != text).then(|| key_text::fit(text, WHOLE).into_owned());
        Name { shown: shown.into_owned(), whole }
    }

    /// The name within a sentence.
    pub fn inline(&self) -> String {
        isolated(&self.shown)
    }
}

/// A name that is visible already, within a sentence.
pub fn isolated(visible: &str) -> String {
    format!("{ISOLATE}{visible}{END}")
}

/// Text of a report that is not a name, such as a warning: visible and bounded.
pub fn sentence(text: &str) -> String {
    const LONGEST: usize = 600;
    key_text::fit(&key_text::text(text), LONGEST).into_owned()
}

/// A piece of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Words.
    Text(&'a str),
    /// A name.
    Name(&'a str),
    /// What is to be typed, which stands between backticks.
    Code(&'a str),
}

/// The pieces of a sentence.
pub fn parts(sentence: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for run in sentence.split(ISOLATE) {
        let (name, text) = run.split_once(END).unwrap_or(("", run));
        parts.push(Part::Name(name));
        words(text, &mut parts);
    }
    parts.retain(|part| !matches!(part, Part::Name("") | Part::Text("")));
    parts
}

/// Words, and what is between backticks in them.
fn words<'a>(text: &'a str, parts: &mut Vec<Part<'a>>) {
    let mut rest = text;
    while let Some((before, code, after)) = between_backticks(rest) {
        parts.extend([Part::Text(before), Part::Code(code)]);
        rest = after;
    }
    parts.push(Part::Text(rest));
}

fn between_backticks(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_the_whole_is_at_hand() {
        let name = Name::key("k".repeat(10_000).as_bytes());
        assert_eq!(key_text::width(&name.shown), SHOWN);
        assert_eq!(name.whole.map(|whole| key_text::width(&whole)), Some(WHOLE));
        assert_eq!(Name::key(b"user:1"), Name { shown: "user:1".to_owned(), whole: None });
    }

    #[test]
    fn sentences_know_the_names_in_them() {
        let name = super::Name::text("a\u{2069}b");
        assert_eq!(name.shown, "a\\u{2069}b");
        let sentence = format!("most in {}, few in {}: see `x`.", name.inline(), isolated("c"));
        use Part::{Code, Name, Text};
        let expected =
            [Text("most in "), Name("a\\u{2069}b"), Text(", few in "), Name("c"), Text(": see "), Code("x"), Text(".")];
        assert_eq!(parts(&sentence), expected);
        assert_eq!(parts("a ` b"), [Text("a ` b")]);
    }
}
