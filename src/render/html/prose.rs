//! Names and sentences of the page: visible, bounded, and isolated from the text around them.

use crate::render::document::{Name, Part, Prose};
use crate::render::key_text;

/// Width of a name that is shown.
const SHOWN: usize = 56;
/// Width of a shortened name where the reader asks for the whole.
const WHOLE: usize = 240;
/// Width of the words between two names, or of a sentence in a cell.
pub(super) const MAX_COLUMNS: usize = 600;

/// A name as it stands on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlName {
    /// Shortened in the middle.
    pub shown: String,
    /// The name, if it was shortened; bounded itself.
    pub whole: Option<String>,
}

impl HtmlName {
    /// Returns a name; an empty one is shown as such.
    pub fn of(name: &Name) -> HtmlName {
        match &*name.visible() {
            "" => HtmlName::visible("\"\""),
            visible => HtmlName::visible(visible),
        }
    }

    /// Returns whether the name stays on one line: broken, it would be a column of letters on paper.
    pub fn is_short(&self) -> bool {
        key_text::width(&self.shown) <= 16
    }

    /// Returns the name of a prefix.
    pub fn prefix(prefix: &str) -> HtmlName {
        HtmlName::of(&Name::Plain(prefix.to_owned()))
    }

    /// Returns a name that is visible already.
    pub fn visible(text: &str) -> HtmlName {
        let shown = key_text::fit(text, SHOWN);
        let whole = (shown != text).then(|| key_text::fit(text, WHOLE).into_owned());
        HtmlName { shown: shown.into_owned(), whole }
    }
}

/// A sentence as it stands on the page.
#[derive(Debug, Clone, Default)]
pub struct HtmlProse(pub Vec<Piece>);

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A name.
    Name(String),
    /// Something to type.
    Code(String),
}

impl From<&Prose> for HtmlProse {
    fn from(prose: &Prose) -> HtmlProse {
        let fit = |text: &str, width| key_text::fit(text, width).into_owned();
        let pieces = prose.parts().into_iter().map(|part| match part {
            Part::Text(text) => Piece::Text(fit(text, MAX_COLUMNS)),
            Part::Name(name) => Piece::Name(fit(name, SHOWN)),
            Part::Code(code) => Piece::Code(fit(code, MAX_COLUMNS)),
        });
        HtmlProse(pieces.collect())
    }
}

impl From<String> for HtmlProse {
    fn from(text: String) -> HtmlProse {
        HtmlProse::from(&Prose::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::document::inline;
    use crate::report::Key;

    #[test]
    fn names_are_bounded_and_the_whole_is_at_hand() {
        let key = |bytes: &[u8]| HtmlName::of(&Name::Key(Key::from(bytes)));
        let name = key("k".repeat(10_000).as_bytes());
        assert_eq!(key_text::width(&name.shown), SHOWN);
        assert_eq!(name.whole.map(|whole| key_text::width(&whole)), Some(WHOLE));
        assert_eq!(key(b"user:1"), HtmlName { shown: "user:1".to_owned(), whole: None });
        assert_eq!(HtmlName::prefix("").shown, "\"\"");
    }

    #[test]
    fn names_within_sentences_are_bounded() {
        let prose = HtmlProse::from(format!("most in {}: see `x`.", inline(&"k".repeat(1_000))));
        let [Piece::Text(before), Piece::Name(name), Piece::Text(_), Piece::Code(code), _] = prose.0.as_slice() else {
            panic!("{prose:?}")
        };
        assert_eq!((before.as_str(), key_text::width(name), code.as_str()), ("most in ", SHOWN, "x"));
    }
}
