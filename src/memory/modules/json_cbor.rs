//! JSON documents as Redis stores them from 8.8 on: CBOR instead of text.
//!
//! Length, elements and levels are read. What the document takes is not computed: arrays are loaded with other capacities than
//! from text, and no server with the module was at hand to compare with.

use super::{ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::ModuleFacts;
use crate::rdb::cbor::{self, CborItem, VisitCbor};
use crate::rdb::walk::ModuleItem;

/// JSON document in CBOR.
#[derive(Debug, Default)]
pub struct JsonCbor {
    items: u64,
    document: Option<DocumentFacts>,
}

/// Facts about a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct DocumentFacts {
    /// Members of the object, elements of the array or bytes of the string at the root.
    length: Option<u64>,
    /// Members and elements on all levels.
    elements: u64,
    /// Objects and arrays within one another.
    levels: u64,
}

impl VisitCbor for DocumentFacts {
    fn item(&mut self, item: CborItem<'_>, depth: usize) {
        let elements = match item {
            CborItem::Array(elements) | CborItem::Object(elements) => elements,
            CborItem::Numbers(numbers) => numbers.len(),
            CborItem::Text(text) => {
                self.length = self.length.or((depth == 0).then_some(text.len() as u64));
                return;
            }
            CborItem::Null | CborItem::Bool(_) | CborItem::Integer(_) | CborItem::Float(_) => return,
        };
        self.length = self.length.or((depth == 0).then_some(elements));
        self.elements = self.elements.saturating_add(elements);
        self.levels = self.levels.max(depth as u64 + 1);
    }
}

impl ModuleValue for JsonCbor {
    fn begin(&mut self) {
        *self = JsonCbor::default();
    }

    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.items += 1;
        if let ModuleItem::String(bytes) = item
            && self.items == 1
        {
            let mut facts = DocumentFacts::default();
            self.document = cbor::walk(bytes.decode(server.scratch)?, &mut facts).map(|()| facts);
        }
        Ok(())
    }

    /// Accepts a document; [`is_priced`](super::is_priced) keeps the figure from being used.
    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        self.document.filter(|_| self.items == 1).map(|_| 0)
    }

    fn length(&self) -> Option<u64> {
        self.document?.length
    }

    fn facts(&self) -> ModuleFacts {
        let Some(DocumentFacts { elements, levels, .. }) = self.document else { return ModuleFacts::default() };
        ModuleFacts { elements: Some(elements), levels: Some(levels), ..ModuleFacts::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_elements_and_levels_are_those_of_the_document() {
        let facts = |bytes: &[u8]| {
            let mut facts = DocumentFacts::default();
            cbor::walk(bytes, &mut facts).map(|()| (facts.length, facts.elements, facts.levels))
        };
        // {"a": [1, [], {}], "b": "text"}, as for text.
        assert_eq!(facts(b"\xa2\x61a\x83\x01\x80\xa0\x61b\x64text"), Some((Some(2), 5, 3)));
        assert_eq!(facts(b"\x80"), Some((Some(0), 0, 1)));
        assert_eq!(facts(b"\x07"), Some((None, 0, 0)));
        assert_eq!(facts(b"\x62ab"), Some((Some(2), 0, 0)));
        assert_eq!(facts(b"\xd8\x40\x43abc"), Some((Some(3), 3, 1)));
    }
}
