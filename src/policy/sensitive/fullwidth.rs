//! Full-width digits and marks, as Chinese input methods type them: `１３８１２３４５６７８` is a mobile number, too.

use std::ops::Range;

/// Text whose full-width ASCII characters are replaced by ordinary ones.
#[derive(Debug, Clone)]
pub(super) struct Folded {
    /// The text.
    pub text: Vec<u8>,
    /// Offset in the original of each byte, and its length at the end.
    origins: Vec<usize>,
}

impl Folded {
    /// Folds a text; `None` if it has no full-width digit and no full-width `@`, as nearly all texts.
    pub fn of(original: &[u8]) -> Option<Folded> {
        let matters = |at: usize| matches!(narrow(original.get(at..).unwrap_or_default()), Some(b'0'..=b'9' | b'@'));
        if !memchr::memchr_iter(WIDE, original).any(matters) {
            return None;
        }
        let mut folded =
            Folded { text: Vec::with_capacity(original.len()), origins: Vec::with_capacity(original.len() + 1) };
        let mut at = 0;
        while let Some(rest) = original.get(at..).filter(|rest| !rest.is_empty()) {
            let narrow = narrow(rest);
            folded.text.push(narrow.unwrap_or(rest[0]));
            folded.origins.push(at);
            at += if narrow.is_some() { 3 } else { 1 };
        }
        folded.origins.push(original.len());
        Some(folded)
    }

    /// Returns the range of the original that a range of the text stands for.
    pub fn origin(&self, range: &Range<usize>) -> Range<usize> {
        let at = |place: usize| self.origins.get(place).or(self.origins.last()).copied().unwrap_or_default();
        at(range.start)..at(range.end)
    }
}

/// First byte of full-width characters in UTF-8.
const WIDE: u8 = 0xEF;

/// Returns the ordinary form of the full-width character (U+FF01 to U+FF5E) that a text starts with.
fn narrow(text: &[u8]) -> Option<u8> {
    match *text {
        [WIDE, 0xBC, last @ 0x81..=0xBF, ..] => Some(last - 0x60),
        [WIDE, 0xBD, last @ 0x80..=0x9E, ..] => Some(last - 0x20),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_width_characters_become_ordinary_ones() {
        let folded = Folded::of("电话：１３８-x，ａ～＠b".as_bytes()).unwrap();
        assert_eq!(String::from_utf8(folded.text.clone()).unwrap(), "电话:138-x,a~@b");
        let original = "电话：１３８-x，ａ～＠b";
        let at = String::from_utf8(folded.text.clone()).unwrap().find("138").unwrap();
        assert_eq!(&original[folded.origin(&(at..at + 3))], "１３８");
        assert_eq!(folded.origin(&(folded.text.len() - 1..folded.text.len())).end, original.len());
        assert_eq!(folded.origin(&(90..99)), original.len()..original.len());
    }

    #[test]
    fn other_texts_are_not_copied() {
        for text in ["", "13812345678", "电话：，（）", "ａｂ", "\u{feff}1"] {
            assert!(Folded::of(text.as_bytes()).is_none(), "{text}");
        }
        for bytes in [&b"\xef"[..], b"\xef\xbc", b"\xef\xbd\x9f", b"\xef\xef\xef"] {
            assert!(Folded::of(bytes).is_none());
        }
    }
}
