//! Sentences with names in them.

use std::borrow::Cow;

use crate::render::Lang;
use crate::render::key_text::{self, is_hidden};
use crate::report::{Key, Wording};

/// Characters that begin and end a name within a sentence. They isolate it in plain text as `<bdi>` does in HTML. A name cannot
/// forge them: [`key_text`] escapes them.
const ISOLATE: char = '\u{2068}';
const END: char = '\u{2069}';

/// A sentence or several in the language of the document. Untrusted text in it is visible (see [`key_text`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prose(String);

impl Prose {
    /// Returns an untrusted text, made visible.
    pub fn foreign(text: &str) -> Prose {
        Prose(key_text::text(text).into_owned())
    }

    /// Returns a text of a report in the language of the document, made visible.
    pub fn wording(wording: &Wording, lang: Lang) -> Prose {
        Prose::foreign(lang.of(&wording.en, &wording.zh))
    }

    /// Returns whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text without marks around names.
    pub fn plain(&self) -> Cow<'_, str> {
        if self.0.contains([ISOLATE, END]) { self.0.replace([ISOLATE, END], "").into() } else { self.0.as_str().into() }
    }

    /// Splits the text into words, names and code.
    pub fn parts(&self) -> Vec<Part<'_>> {
        parts(&self.0)
    }
}

impl<T: Into<String>> From<T> for Prose {
    fn from(text: T) -> Self {
        let text = text.into();
        let is_foreign = |c: char| is_hidden(c) && !matches!(c, ISOLATE | END | '\u{a0}');
        if !text.contains(is_foreign) {
            return Prose(text);
        }
        // A text of a stored report was taken for one of ours.
        let mut shown = String::with_capacity(text.len() + 8);
        for c in text.chars() {
            if is_foreign(c) { key_text::escape(c, &mut shown) } else { shown.push(c) }
        }
        Prose(shown)
    }
}

/// Returns an untrusted name for use within a sentence.
pub fn inline(name: &str) -> String {
    if name.is_empty() { inline_key(&Key::default()) } else { inline_visible(&key_text::text(name)) }
}

/// Returns a pattern for use within a sentence, in the form that it has in tables.
pub fn inline_pattern(pattern: &str) -> String {
    inline_visible(&key_text::pattern(pattern))
}

/// Returns the name of a key for use within a sentence.
pub fn inline_key(key: &Key) -> String {
    inline_visible(&key_text::shown(key))
}

/// Returns a name that is visible already for use within a sentence.
pub fn inline_visible(name: &str) -> String {
    format!("{ISOLATE}{name}{END}")
}

/// A piece of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Words.
    Text(&'a str),
    /// A name.
    Name(&'a str),
    /// Something to type, written between backticks.
    Code(&'a str),
}

fn parts(sentence: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for run in sentence.split(ISOLATE) {
        let (name, text) = run.split_once(END).unwrap_or(("", run));
        parts.push(Part::Name(name));
        words(text, &mut parts);
    }
    parts.retain(|part| !matches!(part, Part::Name("") | Part::Text("")));
    parts
}

/// Appends the words of a text, and the code between its backticks.
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
    fn sentences_know_the_names_in_them() {
        let sentence = Prose::from(format!("most in {}, few in {}: see `x`.", inline("a\u{2069}b"), inline("c")));
        use Part::{Code, Name, Text};
        let expected =
            [Text("most in "), Name("a\\u{2069}b"), Text(", few in "), Name("c"), Text(": see "), Code("x"), Text(".")];
        assert_eq!(sentence.parts(), expected);
        assert_eq!(sentence.plain(), "most in a\\u{2069}b, few in c: see `x`.");
        assert_eq!(Prose::from("a ` b").parts(), [Text("a ` b")]);
    }
}
