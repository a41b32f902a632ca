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
        Wording { en: singular(en.to_string()), zh: zh.to_string() }
    }
}

/// Returns an integer with its thousands grouped: `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Plural nouns behind counts in messages, with what their singular has in place of the ending.
pub(crate) const NOUNS: [(&str, &str); 20] = [
    ("bits", "bit"),
    ("businesses", "business"),
    ("bytes", "byte"),
    ("characters", "character"),
    ("databases", "database"),
    ("elements", "element"),
    ("entries", "entry"),
    ("fields", "field"),
    ("files", "file"),
    ("hashes", "hash"),
    ("integers", "integer"),
    ("keys", "key"),
    ("links", "link"),
    ("members", "member"),
    ("nodes", "node"),
    ("pairs", "pair"),
    ("places", "place"),
    ("samples", "sample"),
    ("shards", "shard"),
    ("values", "value"),
];

/// Puts nouns behind a count of 1 into the singular, so that a message is one literal whatever its counts are: `1 bytes left`
/// becomes `1 byte left`.
pub(crate) fn singular(text: String) -> String {
    const ONE: &str = "1 ";
    if !text.contains(ONE) {
        return text;
    }
    let mut fixed = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(ONE) {
        let (before, behind) = rest.split_at(at + ONE.len());
        let is_count = !before[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '^' | '-'));
        fixed.push_str(before);
        rest = behind;
        // A name such as `1 keys.rdb` stays as it is.
        let ends = |behind: &str| {
            let mut behind = behind.chars();
            match behind.next() {
                None | Some(' ' | ',' | ';' | ':' | ')') => true,
                Some('.') => matches!(behind.next(), None | Some(' ')),
                Some(_) => false,
            }
        };
        let noun = NOUNS.iter().filter(|_| is_count).find_map(|&(many, one)| {
            let behind = behind.strip_prefix(many).filter(|behind| ends(behind))?;
            Some((one, behind))
        });
        if let Some((one, behind)) = noun {
            fixed.push_str(one);
            rest = behind;
        }
    }
    fixed + rest
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
    fn nouns_agree_with_a_count_of_one() {
        let fixed = |text: &str| singular(text.to_owned());
        assert_eq!(fixed("LZF block of 1 bytes declares 1 entries"), "LZF block of 1 byte declares 1 entry");
        assert_eq!(fixed("1 keys, 21 bytes, 1 bytes"), "1 key, 21 bytes, 1 byte");
        assert_eq!(fixed("zipmap of 1 pairs, 1 links of 0, 1 hashes"), "zipmap of 1 pair, 1 link of 0, 1 hash");
        for plural in [
            "11 bytes",
            "0.1 bytes",
            "1,001 keys",
            "2^1 bits",
            "-1 nodes",
            "1 bytestring",
            "of 1 of 5 bytes",
            "1 ",
            "a1 keys",
            "1 keys.rdb",
            "1 keys/a.rdb",
        ] {
            assert_eq!(fixed(plural), plural);
        }
        let n = 1;
        assert_eq!(wording!("{n} bytes left", "剩余 {n} 字节").en, "1 byte left");
    }

    #[test]
    fn both_texts_are_filled() {
        let n = 7;
        let Wording { en, zh } = wording!("{n} of {all} left", "共 {all}，剩余 {n}", all = 9);
        assert_eq!((en.as_str(), zh.as_str()), ("7 of 9 left", "共 9，剩余 7"));
    }
}
