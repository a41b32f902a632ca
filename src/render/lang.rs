//! Languages of texts for people. Ids, JSON fields and numbers are the same in both.

use crate::report::{Text, Wording};

/// A language of texts for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Lang {
    /// English.
    #[default]
    #[cfg_attr(feature = "cli", value(help = "English"))]
    En,
    /// Chinese.
    #[cfg_attr(feature = "cli", value(help = "中文"))]
    Zh,
}

impl Lang {
    /// All languages, the default first.
    pub const ALL: [Lang; 2] = [Lang::En, Lang::Zh];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Zh => "zh",
        }
    }

    /// Returns the text in this language.
    pub const fn pick(self, text: Text) -> &'static str {
        self.of(text.en, text.zh)
    }

    /// Returns the wording in this language.
    pub fn say(self, wording: &Wording) -> &str {
        self.of(&wording.en, &wording.zh)
    }

    /// Returns the one of two texts that is in this language.
    pub const fn of<'t>(self, en: &'t str, zh: &'t str) -> &'t str {
        match self {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_picks_its_own_text() {
        let text = Text { en: "key", zh: "键" };
        assert_eq!(Lang::ALL.map(|lang| lang.pick(text)), ["key", "键"]);
    }
}
