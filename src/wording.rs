//! Texts for people in both languages of the reports.

use std::fmt;

/// A fixed text in both languages of the reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    /// English.
    pub en: &'static str,
    /// Chinese.
    pub zh: &'static str,
}

/// A text in both languages, with the numbers in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wording {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

impl Wording {
    /// Formats a text in both languages; see [`wording!`].
    // Out of line, so that code on hot paths that may fail stays small.
    #[cold]
    #[inline(never)]
    pub(crate) fn format(en: fmt::Arguments<'_>, zh: fmt::Arguments<'_>) -> Wording {
        Wording { en: en.to_string(), zh: zh.to_string() }
    }
}

impl From<Text> for Wording {
    fn from(text: Text) -> Wording {
        Wording { en: text.en.to_owned(), zh: text.zh.to_owned() }
    }
}

/// Makes a [`Wording`]: `wording!("{n} bytes left", "剩余 {n} 字节")`, with arguments as of `format!`. Both texts have to use
/// every argument that is passed.
macro_rules! wording {
    ($en:literal, $zh:literal $(, $($argument:tt)*)?) => {
        $crate::wording::Wording::format(
            format_args!($en $(, $($argument)*)?),
            format_args!($zh $(, $($argument)*)?),
        )
    };
}

pub(crate) use wording;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_are_filled() {
        let n = 7;
        let Wording { en, zh } = wording!("{n} of {all} left", "共 {all}，剩余 {n}", all = 9);
        assert_eq!((en.as_str(), zh.as_str()), ("7 of 9 left", "共 9，剩余 7"));
    }
}
