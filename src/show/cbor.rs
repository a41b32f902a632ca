//! JSON text of documents that are stored in CBOR.

use std::fmt::Write;

use crate::rdb::cbor::{self, CborItem, PackedNumber, VisitCbor};

/// Returns a document as JSON text, or `None` if the bytes are not one.
pub fn json_text(bytes: &[u8]) -> Option<String> {
    let mut text = JsonText::default();
    cbor::walk(bytes, &mut text)?;
    Some(text.0)
}

/// Text written so far.
#[derive(Default)]
struct JsonText(String);

impl JsonText {
    fn string(&mut self, text: &str) {
        // A string always has a JSON form.
        self.0 += &serde_json::to_string(text).unwrap_or_default();
    }

    fn number(&mut self, number: PackedNumber) {
        // Writing to a string cannot fail.
        let _ = match number {
            PackedNumber::Integer(number) => write!(self.0, "{number}"),
            PackedNumber::Single(number) => return self.0 += &serde_json::to_string(&number).unwrap_or_default(),
            PackedNumber::Double(number) => return self.0 += &serde_json::to_string(&number).unwrap_or_default(),
        };
    }
}

impl VisitCbor for JsonText {
    fn item(&mut self, item: CborItem<'_>, _depth: usize) {
        match item {
            CborItem::Null => self.0 += "null",
            CborItem::Bool(true) => self.0 += "true",
            CborItem::Bool(false) => self.0 += "false",
            CborItem::Integer(number) => self.number(PackedNumber::Integer(number)),
            CborItem::Float(number) => self.number(PackedNumber::Double(number)),
            CborItem::Text(text) => self.string(text),
            CborItem::Array(_) => self.0.push('['),
            CborItem::Object(_) => self.0.push('{'),
            CborItem::Numbers(numbers) => {
                self.0.push('[');
                for (at, number) in numbers.numbers().enumerate() {
                    if at > 0 {
                        self.separator();
                    }
                    self.number(number);
                }
                self.0.push(']');
            }
        }
    }

    fn name(&mut self, name: &str) {
        self.string(name);
        self.0.push(':');
    }

    fn separator(&mut self) {
        self.0.push(',');
    }

    fn close(&mut self, is_object: bool) {
        self.0.push(if is_object { '}' } else { ']' });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(json_text(bytes).as_deref(), Some(text));
        }
        assert_eq!(json_text(b"\x82\x01"), None);
    }
}
