//! Passages of documents as text.

use super::{Lang, key_text};
use crate::report::Passage;

/// Returns document, chapter and sentence in one line, escaped: `Redis 使用规范, 禁止事项: “…”`.
pub fn line(passage: &Passage, lang: Lang) -> String {
    let place = place(passage, lang);
    match quoted(passage) {
        Some(quote) if place.is_empty() => quote,
        Some(quote) => format!("{place}{}{quote}", lang.of(": ", "：")),
        None => place,
    }
}

/// Returns document and chapter, escaped.
pub fn place(passage: &Passage, lang: Lang) -> String {
    let document = passage.document.as_deref().map(key_text::text);
    let document = document.map(|title| lang.of("{}", "《{}》").replacen("{}", &title, 1));
    let chapter = passage.chapter.as_deref().map(|chapter| key_text::text(chapter).into_owned());
    [document, chapter].into_iter().flatten().collect::<Vec<_>>().join(lang.of(", ", ""))
}

/// Returns the sentence in quotation marks, escaped. Quotations in it get single marks.
pub fn quoted(passage: &Passage) -> Option<String> {
    let quote = passage.quote.as_deref().map(key_text::text)?;
    Some(format!("“{}”", quote.replace('“', "‘").replace('”', "’")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_one_line_whatever_is_missing() {
        let passage = |document: &str, chapter: &str, quote: &str| {
            let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            Passage { document: known(document), chapter: known(chapter), quote: known(quote) }
        };
        let whole = passage("A {} b", "1 / 2", "no\u{1b}[31m {} keys");
        assert_eq!(line(&whole, Lang::En), "A {} b, 1 / 2: “no\\x1b[31m {} keys”");
        assert_eq!(line(&whole, Lang::Zh), "《A {} b》1 / 2：“no\\x1b[31m {} keys”");
        assert_eq!(line(&passage("", "", "x"), Lang::En), "“x”");
        assert_eq!(line(&passage("A", "", ""), Lang::En), "A");
        assert_eq!(line(&passage("", "3", "x“y”"), Lang::Zh), "3：“x‘y’”");
    }
}
