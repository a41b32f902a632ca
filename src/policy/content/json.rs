//! Recognition of JSON that holds objects: an object with members, an array of objects, or a JSON string that holds one of
//! these, as clients that encode twice write it. An object or array may have the name of its Java class in front, as Jackson
//! writes it: `["com.shop.User",{"id":1}]`, `["java.util.ArrayList",[{"id":1}]]`. Values may be as Fastjson writes them with
//! the names of classes: numbers with a letter for their type (`1001L`) and sets (`Set["a"]`).
//!
//! The beginning of the text must follow the grammar of JSON, and its last character must be the one that ends such a value.
//! Texts up to [`EXAMINED`] bytes are parsed completely. Templates, log lines and configuration files that begin with a brace
//! or bracket break the grammar within their first bytes.

use super::{beginning, stored};
use crate::rdb::string::StringForm;
use crate::record::Record;

/// Maximum number of bytes parsed. Also bounds the depth of nested values.
const EXAMINED: usize = 128;
/// Maximum number of white space characters skipped at the end.
const BLANKS_AT_END: usize = 16;
/// Maximum number of times that a value is encoded as a string.
const ENCODINGS: u8 = 3;

/// Returns whether a string holds JSON with objects.
pub fn holds_objects(record: &Record<'_>) -> bool {
    beginning(record, EXAMINED, |text, whole| {
        let examined = text.get(..EXAMINED).unwrap_or(text);
        let end = match examined.iter().find(|byte| !is_blank(**byte))? {
            b'{' => b'}',
            b'[' => b']',
            quote => *quote,
        };
        is_objects(examined, whole && examined.len() == text.len(), ENCODINGS).then_some(end)
    })
    .flatten()
    .is_some_and(|end| ends_with(record, end))
}

/// Returns whether a string ends with this byte, apart from white space.
///
/// The last byte of a compressed string is that of the text: compressors end a block with literals. White space may have a copy
/// before it, whose last byte is unknown.
fn ends_with(record: &Record<'_>, end: u8) -> bool {
    let Some(string) = stored(record) else { return false };
    let (StringForm::Plain(text) | StringForm::Lzf { block: text, .. }) = string.form else { return false };
    let ends_blank = text.last().is_some_and(|&last| is_blank(last));
    let last = text.iter().rev().take(BLANKS_AT_END).find(|byte| !is_blank(**byte));
    last == Some(&end) || string.is_compressed() && ends_blank
}

/// Returns whether a text, or the beginning of one, is JSON with objects.
fn is_objects(text: &[u8], whole: bool, encodings: u8) -> bool {
    let mut json = Json { rest: text, members: false };
    let parsed = match json.blank().split_first() {
        Some((b'{', _)) => json.value(),
        Some((b'[', _)) => json.array_of_objects(),
        Some((b'"', inner)) if encodings > 0 => return is_encoded(inner, whole, encodings - 1),
        _ => return false,
    };
    let is_complete = parsed.is_ok() && json.blank().is_empty() && whole;
    let is_cut = !whole && (parsed == Err(Stop::Cut) || parsed.is_ok() && json.blank().is_empty());
    json.members && (is_complete || is_cut)
}

/// Returns whether a JSON string, given from the byte after its quote, holds JSON with objects.
fn is_encoded(text: &[u8], whole: bool, encodings: u8) -> bool {
    let starts = text.iter().find(|byte| !is_blank(**byte));
    if !matches!(starts, Some(b'{' | b'[' | b'\\')) {
        return false; // mostly a string without JSON
    }
    let mut inner = Vec::with_capacity(text.len());
    match unescape(text, &mut inner) {
        Ok(rest) => {
            let ends = rest.iter().all(|&byte| is_blank(byte));
            ends && is_objects(&inner, true, encodings)
        }
        Err(Stop::Cut) => !whole && is_objects(&inner, false, encodings),
        Err(Stop::Malformed) => false,
    }
}

/// Decodes a JSON string up to its closing quote and returns the bytes after it. Characters beyond ASCII become `?`.
fn unescape<'t>(mut text: &'t [u8], inner: &mut Vec<u8>) -> Result<&'t [u8], Stop> {
    loop {
        let (&byte, rest) = text.split_first().ok_or(Stop::Cut)?;
        text = rest;
        match byte {
            b'"' => return Ok(rest),
            0..0x20 => return Err(Stop::Malformed),
            b'\\' => {
                let (&escaped, rest) = rest.split_first().ok_or(Stop::Cut)?;
                text = rest;
                match escaped {
                    b'"' | b'\\' | b'/' => inner.push(escaped),
                    b'n' | b'r' | b't' | b'b' | b'f' => inner.push(b' '),
                    b'u' => {
                        let (digits, rest) = rest.split_at_checked(4).ok_or(Stop::Cut)?;
                        text = rest;
                        inner.push(code_unit(digits)?);
                    }
                    _ => return Err(Stop::Malformed),
                }
            }
            _ => inner.push(byte),
        }
    }
}

/// Returns the character of four hexadecimal digits, or `?` beyond ASCII.
fn code_unit(digits: &[u8]) -> Result<u8, Stop> {
    let hex = |sum: u32, digit: &u8| Some(sum << 4 | char::from(*digit).to_digit(16)?);
    let code = digits.iter().try_fold(0, hex).ok_or(Stop::Malformed)?;
    Ok(u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(b'?'))
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Reason why parsing stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The text ends inside the value.
    Cut,
    /// The text is not JSON.
    Malformed,
}

/// Parser of the beginning of a JSON text.
struct Json<'t> {
    rest: &'t [u8],
    /// True once an object has a member: a name with a colon.
    members: bool,
}

impl<'t> Json<'t> {
    /// Skips white space and returns the rest.
    fn blank(&mut self) -> &'t [u8] {
        while let Some((&byte, rest)) = self.rest.split_first()
            && is_blank(byte)
        {
            self.rest = rest;
        }
        self.rest
    }

    /// Skips white space and returns the next byte, which is consumed.
    fn next(&mut self) -> Result<u8, Stop> {
        let (&byte, rest) = self.blank().split_first().ok_or(Stop::Cut)?;
        self.rest = rest;
        Ok(byte)
    }

    /// Parses an array of objects, or a pair of a class name and an object or array.
    fn array_of_objects(&mut self) -> Result<(), Stop> {
        self.next()?;
        if self.blank().first() == Some(&b'"') {
            return self.typed();
        }
        loop {
            match self.next()? {
                b'{' => self.members()?,
                b'[' => self.typed()?,
                _ => return Err(Stop::Malformed),
            }
            match self.next()? {
                b',' => {}
                b']' => return Ok(()),
                _ => return Err(Stop::Malformed),
            }
        }
    }

    /// Parses a pair from the byte after its bracket: a class name, and an object or an array of objects.
    fn typed(&mut self) -> Result<(), Stop> {
        self.class_name()?;
        match *self.blank().first().ok_or(Stop::Cut)? {
            b'{' => self.value()?,
            b'[' => self.array_of_objects()?,
            _ => return Err(Stop::Malformed),
        }
        if self.next()? == b']' { Ok(()) } else { Err(Stop::Malformed) }
    }

    /// Parses the name of a Java class and the comma behind it: words joined by dots, the last of which begins with a capital.
    fn class_name(&mut self) -> Result<(), Stop> {
        if self.next()? != b'"' {
            return Err(Stop::Malformed);
        }
        let name = self.rest;
        self.string()?;
        let name = name.get(..name.len() - self.rest.len() - 1).unwrap_or_default();
        let package = name.iter().rposition(|&byte| byte == b'.').ok_or(Stop::Malformed)?;
        let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$');
        let is_class =
            package > 0 && name.get(package + 1).is_some_and(u8::is_ascii_uppercase) && name.iter().all(in_name);
        if is_class && self.next()? == b',' { Ok(()) } else { Err(Stop::Malformed) }
    }

    /// Parses a value of any type.
    fn value(&mut self) -> Result<(), Stop> {
        match self.next()? {
            b'{' => self.members(),
            b'[' => self.elements(),
            b'"' => self.string(),
            b'-' if self.rest.first() == Some(&b'I') => self.word(b"Infinity"),
            digit @ (b'-' | b'0'..=b'9') => self.number(digit),
            b't' => self.word(b"rue"),
            b'f' => self.word(b"alse"),
            b'n' => self.word(b"ull"),
            // Written by Python.
            b'N' => self.word(b"aN"),
            b'I' => self.word(b"nfinity"),
            // Written by Fastjson.
            b'S' => self.word(b"et[").and_then(|()| self.elements()),
            b'T' => self.word(b"reeSet[").and_then(|()| self.elements()),
            _ => Err(Stop::Malformed),
        }
    }

    /// Parses an object from the byte after its brace.
    fn members(&mut self) -> Result<(), Stop> {
        if *self.blank().first().ok_or(Stop::Cut)? == b'}' {
            self.next()?;
            return Ok(());
        }
        loop {
            if self.next()? != b'"' {
                return Err(Stop::Malformed);
            }
            self.string()?;
            if self.next()? != b':' {
                return Err(Stop::Malformed);
            }
            self.members = true;
            self.value()?;
            match self.next()? {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(Stop::Malformed),
            }
        }
    }

    /// Parses an array from the byte after its bracket.
    fn elements(&mut self) -> Result<(), Stop> {
        if *self.blank().first().ok_or(Stop::Cut)? == b']' {
            self.next()?;
            return Ok(());
        }
        loop {
            self.value()?;
            match self.next()? {
                b',' => {}
                b']' => return Ok(()),
                _ => return Err(Stop::Malformed),
            }
        }
    }

    /// Parses a string from the byte after its quote.
    fn string(&mut self) -> Result<(), Stop> {
        loop {
            let end =
                self.rest.iter().position(|&byte| byte < 0x20 || matches!(byte, b'"' | b'\\')).ok_or(Stop::Cut)?;
            let (&byte, rest) = self.rest.get(end..).and_then(<[u8]>::split_first).ok_or(Stop::Cut)?;
            self.rest = rest;
            match byte {
                b'"' => return Ok(()),
                b'\\' => match rest.split_first().ok_or(Stop::Cut)? {
                    (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u', rest) => self.rest = rest,
                    _ => return Err(Stop::Malformed),
                },
                _ => return Err(Stop::Malformed),
            }
        }
    }

    /// Parses the rest of a number, and the letter of its type in Java.
    fn number(&mut self, first: u8) -> Result<(), Stop> {
        let belongs = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
        let end = self.rest.iter().position(|byte| !belongs(byte)).ok_or(Stop::Cut)?;
        let (number, rest) = self.rest.split_at_checked(end).ok_or(Stop::Cut)?;
        self.rest = match rest {
            [b'B' | b'S' | b'L' | b'F' | b'D', rest @ ..] if number.last().unwrap_or(&first).is_ascii_digit() => rest,
            rest => rest,
        };
        Ok(())
    }

    /// Parses the rest of a literal.
    fn word(&mut self, word: &[u8]) -> Result<(), Stop> {
        match self.rest.strip_prefix(word) {
            Some(rest) => self.rest = rest,
            None if word.starts_with(self.rest) => return Err(Stop::Cut),
            None => return Err(Stop::Malformed),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::record;
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;

    /// Checks a string as a record would hold it.
    fn holds(text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        let bytes = [&[0x80], &(text.len() as u32).to_be_bytes()[..], text].concat();
        let raw = RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE };
        holds_objects(&crate::record::Record { raw: Some(raw), ..record(b"a:b") })
    }

    /// Checks a string as the server compresses it.
    fn holds_compressed(text: &str) -> bool {
        let block = lzf::compress(text.as_bytes()).unwrap();
        let length = |len: usize| [&[0x80], &(len as u32).to_be_bytes()[..]].concat();
        let bytes = [vec![0xC3], length(block.len()), length(text.len()), block].concat();
        let raw = RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE };
        holds_objects(&crate::record::Record { raw: Some(raw), ..record(b"a:b") })
    }

    /// Returns an object of about `len` bytes.
    fn long(len: usize) -> String {
        let members: Vec<String> = (0..len / 20).map(|i| format!("\"name {i:04}\": {i:05}")).collect();
        format!("{{{}}}", members.join(", "))
    }

    #[test]
    fn objects_are_found_however_they_are_encoded() {
        for text in [
            r#"{"a":1}"#,
            "{\n  \"a\" : [1, -2.5e3, true, false, null, {}, []],\n\t\"b\": \"\\\"\\u4e2d\"\n}\n",
            r#"  {"a":{"b":{"c":[[{}]]}}}"#,
            r#"{"a":NaN,"b":Infinity,"c":[-Infinity,-1]}"#,
            r#"{"@type":"com.shop.user.entity.User","age":19,"id":1001L,"name":"tom"}"#,
            r#"{"@type":"com.shop.A","a":12.50B,"b":1S,"c":-3.0D,"d":2.5F,"e":1.0E10D,"f":[1L,2B]}"#,
            r#"{"@type":"com.shop.A","a":Set["a","b"],"b":TreeSet[1L],"c":Set[]}"#,
            r#"[{"@type":"com.shop.A","id":1L}]"#,
            r#""{\"@type\":\"com.shop.A\",\"id\":1L}""#,
            r#"[{"a":1}]"#,
            r#" [ {} , {"a":1} ]"#,
            r#"{"@class":"com.shop.User","id":1}"#,
            r#"["com.shop.User",{"id":1}]"#,
            r#"["java.util.HashMap",{"a":1}]"#,
            r#"["java.util.ArrayList",[{"@class":"com.shop.User"}]]"#,
            r#"["java.util.ArrayList",[ ["com.shop.Order$Line_1", {"id":1}] , ["com.shop.User",{"id":2}]]]"#,
            r#"[["com.shop.User",{"id":1}],{"id":2}]"#,
            r#""[\"com.shop.User\",{\"id\":1}]""#,
            r#""{\"a\":1}""#,
            r#""[{\"a\":\"b\\\\n\"}]""#,
            r#""{\u0022a\u0022:\u00221\u0022}""#,
            r#""\"{\\\"a\\\":1}\"""#,
            "\"{\\n  \\\"a\\\": 1}\" ",
        ] {
            assert!(holds(text), "{text}");
        }
    }

    #[test]
    fn values_encoded_too_often_hold_none() {
        let mut text = r#"{"a":1}"#.to_owned();
        for encodings in 0..=ENCODINGS + 1 {
            assert!(text.len() <= EXAMINED);
            assert_eq!(holds(&text), encodings <= ENCODINGS, "{text}");
            text = serde_json::to_string(&text).unwrap();
        }
    }

    #[test]
    fn other_texts_hold_none() {
        for text in [
            "",
            "{",
            "{}",
            "[]",
            "[{}]",
            "{ }",
            "{\"",
            "{\"a",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "[1,2,3]",
            r#"["a","b"]"#,
            r#"[[{"a":1}]]"#,
            r#"[{"a":1},2]"#,
            r#"["java.util.ArrayList",[]]"#,
            r#"["java.lang.Long",12]"#,
            r#"["java.util.ArrayList",["java.lang.Long",12]]"#,
            r#"["com.shop.User",{}]"#,
            r#"["com.shop.User",{"id":1},2]"#,
            r#"["user",{"id":1}]"#,
            r#"["com.shop.user",{"id":1}]"#,
            r#"["Mr. Smith",{"id":1}]"#,
            r#"[".User",{"id":1}]"#,
            r#"["a","b",{"id":1}]"#,
            r#"[{"a":1}"#,
            r#"{"a":1}]"#,
            r#"{"a":1LL}"#,
            r#"{"a":1X}"#,
            r#"{"a":-L}"#,
            r#"{"a":1 L}"#,
            r#"{"a":1.L}"#,
            r#"{"a":Set}"#,
            r#"{"a":Set "b"}"#,
            r#"{"a":Settings["b"]}"#,
            r#"{"a":TreeMap["b"]}"#,
            r#"{"a":Inf}"#,
            r#"{"a":-Infinite}"#,
            r#"{"a":1} trailing"#,
            r#"{"a":1}{"b":2}"#,
            "{\"a\":1}\n{\"b\":2}\n",
            r#"{"level":"info"} GET /{id}"#,
            "{{name}}",
            "{{ \"name\" | upper }}",
            r#"{"greeting": {{name}}}"#,
            r#"{% if "a" %}"#,
            r#"{"a", "b"}"#,
            r#"{ "a" = 1 }"#,
            "{'a': 1}",
            "{a: 1}",
            "{user:1}:cart",
            "[INFO] started {\"a\":1}",
            "[section]\nkey={\"a\":1}",
            "[2024-01-01] \"}",
            r#""plain text""#,
            r#""{name} has logged in""#,
            r#""{\"a\":1} and more""#,
            r#""{\"a\":1""#,
            r#""{\"a\":1}" and more"#,
            "\"quoted\" words }",
            "{\"a\":\"line\nbreak\"}",
            "\u{feff}{\"a\":1}",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn of_long_texts_beginning_and_end_count() {
        for len in [200, 256, 300, 5_000, 100_000] {
            let object = long(len);
            assert!(holds(&object), "{len}");
            assert!(holds(format!("[{object},{object}]\n")), "{len}");
            assert!(holds(serde_json::to_string(&object).unwrap()), "{len}");
            assert!(!holds(format!("{object} is what I said")), "{len}");
            assert!(!holds(object.trim_end_matches('}')), "{len}");
        }
        assert!(!holds(format!("{{\"{}\":1}}", "x".repeat(300))), "no name within the examined bytes");
        assert!(!holds(format!("{{\"a\":1}}\n{}", long(1_000))), "several objects");
        assert!(!holds("[".repeat(100_000)) && !holds(format!("{{\"a\":{}", "[".repeat(100_000))));
    }

    #[test]
    fn compressed_texts_are_examined_alike() {
        for len in [200, 400, 5_000] {
            let object = long(len);
            assert!(holds_compressed(&object) && holds_compressed(&format!("[{object}, {object}]")), "{len}");
            assert!(holds_compressed(&serde_json::to_string(&object).unwrap()), "{len}");
            assert!(holds_compressed(&format!("{object}\n")), "{len}");
            assert!(!holds_compressed(&format!("{object} is what I said")), "{len}");
            assert!(!holds_compressed(&format!("{{{object}")), "{len}");
        }
    }

    proptest::proptest! {
        #[test]
        fn documents_with_members_are_recognised(
            members in proptest::collection::btree_map("[a-z\"\\\\\u{4e2d} ]{0,9}", "[ -~]{0,30}", 1..30),
            times in 0..3,
        ) {
            let mut text = serde_json::to_string(&members).unwrap();
            for _ in 0..times {
                text = serde_json::to_string(&text).unwrap();
            }
            proptest::prop_assert!(holds(&text), "{}", text);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(text in proptest::collection::vec(proptest::num::u8::ANY, 0..300), start in 0usize..4) {
            holds([&b"{\"["[..start.min(3)], &text].concat());
            holds([&b"{\"a\":"[..], &text].concat());
            holds([&b"\"{\\\"a\\\":"[..], &text].concat());
        }

        #[test]
        fn whole_json_agrees_with_a_parser(text in "[{}\\[\\]\",:a1 \\\\]{0,12}") {
            let parsed = serde_json::from_str::<serde_json::Value>(&text).ok();
            let has_members = |value: &serde_json::Value| value.as_object().is_some_and(|object| !object.is_empty());
            if let Some(serde_json::Value::Object(object)) = &parsed {
                proptest::prop_assert_eq!(holds(&text), !object.is_empty());
            }
            if let Some(serde_json::Value::Array(array)) = &parsed {
                let objects = array.iter().all(serde_json::Value::is_object) && array.iter().any(has_members);
                proptest::prop_assert!(!objects || holds(&text));
            }
            if parsed.is_none() {
                proptest::prop_assert!(!holds(&text), "{}", text);
            }
        }
    }
}
