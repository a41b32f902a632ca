//! Strict parser of HTML pages: balanced tags, attributes by name, text separate.

use std::collections::BTreeMap;

use html5gum::{DefaultEmitter, Token, Tokenizer};

/// Start of an element.
#[derive(Debug, Clone)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Attributes by name.
    pub attributes: BTreeMap<String, String>,
}

/// Parsed page.
#[derive(Debug, Default)]
pub struct Page {
    /// All elements, in order.
    pub elements: Vec<Element>,
    /// All text except style and script.
    pub text: Vec<String>,
    /// Content of the style element.
    pub style: String,
    /// Content of the script elements.
    pub script: String,
}

/// Elements without an end tag.
const VOID: [&str; 4] = ["input", "meta", "br", "hr"];

impl Page {
    /// Parses a page; panics on parse errors of the standard, and on tags that do not balance.
    #[track_caller]
    pub fn read(html: &str) -> Page {
        let mut page = Page::default();
        let mut open: Vec<String> = Vec::new();
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(token) = token;
            match token {
                Token::StartTag(tag) => {
                    let name = text(&tag.name);
                    let attributes = tag.attributes.iter().map(|(name, value)| (text(name), text(value))).collect();
                    page.elements.push(Element { name: name.clone(), attributes });
                    if !tag.self_closing && !VOID.contains(&name.as_str()) {
                        open.push(name);
                    }
                }
                Token::EndTag(tag) => assert_eq!(open.pop(), Some(text(&tag.name)), "this closes what is not open"),
                Token::String(string) => match open.last().map(String::as_str) {
                    Some("style") => page.style.push_str(&text(&string)),
                    Some("script") => page.script.push_str(&text(&string)),
                    _ => page.text.push(text(&string)),
                },
                Token::Doctype(_) => assert!(page.elements.is_empty()),
                Token::Comment(comment) => panic!("a comment: {comment:?}"),
                Token::Error(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(open, [""; 0], "these stay open");
        page
    }

    /// Returns the values of an attribute in all elements.
    pub fn values(&self, attribute: &str) -> impl Iterator<Item = &str> {
        self.elements.iter().filter_map(move |element| element.attributes.get(attribute)).map(String::as_str)
    }
}
