//! JSON text of documents that are stored in CBOR.

use super::decode_budget::DecodeBudget;
use crate::error::{Error, Result};
use crate::rdb::cbor::{self, CborItem, PackedNumber, VisitCbor};

/// Returns a document as JSON text, or `None` if the bytes are not one. Fails if the text exceeds the budget.
pub fn json_text(bytes: &[u8], budget: &mut DecodeBudget) -> Result<Option<String>> {
    let mut text = JsonText { text: String::new(), budget, fault: None };
    let walked = cbor::walk(bytes, &mut text);
    let JsonText { text, fault, .. } = text;
    fault.map_or(Ok(walked.map(|_| text)), Err)
}

/// Text written so far, and the budget for more.
struct JsonText<'r> {
    text: String,
    budget: &'r mut DecodeBudget,
    /// Error for a text that is too long; nothing is written after it.
    fault: Option<Error>,
}

impl JsonText<'_> {
    fn push(&mut self, text: &str) {
        if self.fault.is_none() {
            // A string doubles as it grows.
            self.fault = self.budget.take(2 * text.len() as u64).err();
        }
        if self.fault.is_none() {
            self.text += text;
        }
    }

    fn string(&mut self, text: &str) {
        // A string always has a JSON form.
        self.push(&serde_json::to_string(text).unwrap_or_default());
    }

    fn number(&mut self, number: PackedNumber) {
        let text = match number {
            PackedNumber::Integer(number) => number.to_string(),
            PackedNumber::Single(number) => serde_json::to_string(&number).unwrap_or_default(),
            PackedNumber::Double(number) => serde_json::to_string(&number).unwrap_or_default(),
        };
        self.push(&text);
    }
}

impl VisitCbor for JsonText<'_> {
    fn item(&mut self, item: CborItem<'_>, _depth: usize) {
        match item {
            CborItem::Null => self.push("null"),
            CborItem::Bool(true) => self.push("true"),
            CborItem::Bool(false) => self.push("false"),
            CborItem::Integer(number) => self.number(PackedNumber::Integer(number)),
            CborItem::Float(number) => self.number(PackedNumber::Double(number)),
            CborItem::Text(text) => self.string(text),
            CborItem::Array(_) => self.push("["),
            CborItem::Object(_) => self.push("{"),
            CborItem::Numbers(numbers) => {
                self.push("[");
                for (at, number) in numbers.numbers().enumerate() {
                    if at > 0 {
                        self.separator();
                    }
                    self.number(number);
                }
                self.push("]");
            }
        }
    }

    fn name(&mut self, name: &str) {
        self.string(name);
        self.push(":");
    }

    fn separator(&mut self) {
        self.push(",");
    }

    fn close(&mut self, is_object: bool) {
        self.push(if is_object { "}" } else { "]" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::Extent;

    fn json(bytes: &[u8]) -> Option<String> {
        json_text(bytes, &mut DecodeBudget::new(Extent::default(), 0)).unwrap()
    }

    #[test]
    fn text_that_outgrows_its_room_is_refused() {
        let mut budget = DecodeBudget::new(Extent { memory: 19, ..Extent::default() }, 0);
        assert_eq!(json_text(b"\x82\x01\x02", &mut budget).unwrap().as_deref(), Some("[1,2]"));
        assert!(json_text(b"\x82\x01\x02", &mut budget).is_err());
    }

    #[test]
    fn documents_are_written_as_json() {
        for (bytes, text) in [
            (&b"\xa2\x61a\x83\x01\x80\xa0\x62\"\n\x64t\xc3\xa9x"[..], r#"{"a":[1,[],{}],"\"\n":"téx"}"#),
            (b"\x83\xf5\xf4\xf6", "[true,false,null]"),
            (b"\xd8\x48\x42\xff\x02", "[-1,2]"),
            // 0.1 in single precision keeps its digits; as a double it is another number.
            (b"\xd8\x55\x44\xcd\xcc\xcc\x3d", "[0.1]"),
            (b"\xf9\x3e\x00", "1.5"),
            (b"\xf9\x7c\x00", "null"),
            (b"\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a", "1.1"),
            (b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"),
            (b"\xda\x00\x01\x00\x00\x42\x80\x3f", "[1.0]"),
        ] {
            assert_eq!(json(bytes).as_deref(), Some(text));
        }
        assert_eq!(json(b"\x82\x01"), None);
    }
}
