//! Texts for people that several sections share, in both languages. A text of a single sentence is written there, both
//! languages side by side (`say!`, [`Lang::of`](super::Lang::of)). A text without its translation does not compile.
//!
//! - `heads`: the headings of columns;
//! - `nouns`: what is counted;
//! - `leads`: sentences below the headings of sections;
//! - `known`: words that reports are made with in English, such as the state of a checksum.

pub(in crate::render) mod heads;
pub mod known;
pub(in crate::render) mod leads;
pub mod nouns;

use crate::render::Lang;
use crate::report::Bound;

/// Formats a sentence in a language: `say!(lang, "{n} left", "剩余 {n}")`, with arguments as of `format!`. Both texts
/// have to use every argument that is passed.
macro_rules! say {
    ($lang:expr, $en:literal, $zh:literal $(, $($argument:tt)*)?) => {
        match $lang {
            $crate::render::Lang::En => format!($en $(, $($argument)*)?),
            $crate::render::Lang::Zh => format!($zh $(, $($argument)*)?),
        }
    };
}

pub(crate) use say;

/// Says how many items of a list are not named.
pub(in crate::render) fn others(more: usize, lang: Lang) -> String {
    say!(lang, "and {more} more", "另有 {more} 个")
}

/// Says how figures relate to the actual ones.
pub(in crate::render) fn bound(bound: Bound, lang: Lang) -> &'static str {
    match bound {
        Bound::Least => lang.of("at least", "至少"),
        Bound::Most => lang.of("at most", "至多"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_takes_its_arguments_in_any_order() {
        let (part, whole) = (1, 2);
        let said = Lang::ALL.map(|lang| say!(lang, "{part} of {whole}{end}", "{whole} 中的 {part}{end}", end = '!'));
        assert_eq!(said, ["1 of 2!", "2 中的 1!"]);
    }
}
