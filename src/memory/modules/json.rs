//! JSON documents (RedisJSON), which are stored as text and held as a tree (the `ijson` crate).
//!
//! The text is read once, without building the tree: what counts is the kind of each value, the number of elements of
//! arrays and objects, and the length of strings.

use super::json_array::{BOXED, INLINE, Number, PackedArray};
use super::{ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::ModuleFacts;
use crate::memory::layout::ModuleLine;
use crate::rdb::walk::ModuleItem;

/// Size of a value: a tagged pointer.
const VALUE: u64 = 8;
/// Number of values that an array or object has room for at first.
const FIRST_CAPACITY: u64 = 4;
/// Longest string inside its pointer, from 8.4 on.
const MAX_INLINE_LEN: u64 = 7;
/// Bytes of a number, sign included, whose value fits into 64 bits whatever its digits are.
const SURE_DIGITS: usize = 18;
/// Deepest nesting that is followed. Servers refuse to create documents deeper than 128 levels.
const MAX_DEPTH: usize = 1 << 14;

/// JSON document: its text.
#[derive(Debug, Default)]
pub struct Json {
    items: u64,
    document: Option<Document>,
    /// Open arrays and objects.
    open: Vec<Container>,
}

/// Open array or object.
#[derive(Debug, Clone, Copy)]
struct Container {
    is_object: bool,
    elements: u64,
    /// Allocation of an array whose version packs numbers.
    packed: PackedArray,
}

impl Container {
    fn new(is_object: bool) -> Container {
        Container { is_object, elements: 1, packed: PackedArray::default() }
    }
}

impl ModuleValue for Json {
    fn begin(&mut self) {
        self.items = 0;
        self.document = None;
    }

    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.items += 1;
        if let ModuleItem::String(text) = item
            && self.items == 1
        {
            let sizes = Sizes::of(server.line());
            let text = text.decode(server.scratch)?;
            self.document = document(text, sizes, &mut self.open);
        }
        Ok(())
    }

    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        self.document.filter(|_| self.items == 1).map(|document| document.memory)
    }

    /// Returns what `JSON.OBJLEN`, `JSON.ARRLEN` or `JSON.STRLEN` says of the root.
    fn length(&self) -> Option<u64> {
        self.document?.length
    }

    fn facts(&self) -> ModuleFacts {
        let Some(Document { elements, levels, .. }) = self.document else { return ModuleFacts::default() };
        ModuleFacts { elements: Some(elements), levels: Some(levels), ..ModuleFacts::default() }
    }
}

/// Document that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Document {
    memory: u64,
    /// Members of the object, elements of the array or bytes of the string at the root.
    length: Option<u64>,
    /// Members and elements on all levels.
    elements: u64,
    /// Objects and arrays within one another.
    levels: u64,
}

/// Sizes that a version of the module counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sizes {
    /// Up to 7.4: an assumption for each kind of value, and its pointer.
    Assumed,
    /// 8.0: without the pointers.
    WithoutPointers,
    /// 8.2: what is allocated.
    Allocated,
    /// From 8.4 on: likewise, with short strings in their pointers and arrays of numbers packed.
    Packed,
}

impl Sizes {
    fn of(line: ModuleLine) -> Sizes {
        match line {
            ModuleLine::Foreign | ModuleLine::Stack => Sizes::Assumed,
            ModuleLine::Redis8_0 => Sizes::WithoutPointers,
            ModuleLine::Redis8_2 => Sizes::Allocated,
            ModuleLine::Redis8_4 | ModuleLine::Redis8_6 => Sizes::Packed,
        }
    }

    /// Returns the size of an element's pointer where it is counted besides its container.
    fn pointer(self) -> u64 {
        if self == Sizes::Assumed { VALUE } else { 0 }
    }

    fn string(self, len: u64) -> u64 {
        match self {
            Sizes::Assumed | Sizes::WithoutPointers => len,
            Sizes::Allocated if len == 0 => 0,
            Sizes::Allocated => (len + 16).next_multiple_of(8),
            Sizes::Packed if len <= MAX_INLINE_LEN => 0,
            Sizes::Packed => (len + 8).next_multiple_of(8),
        }
    }

    fn container(self, container: Container) -> u64 {
        if container.elements == 0 {
            return 0;
        }
        let capacity = container.elements.next_power_of_two().max(FIRST_CAPACITY);
        let words = match (container.is_object, self) {
            (false, Sizes::Packed) => return container.packed.size(),
            (false, _) => capacity + 2,
            (true, Sizes::Allocated | Sizes::Packed) => 2 * capacity + capacity + capacity / 4 + 2,
            (true, Sizes::Assumed | Sizes::WithoutPointers) => 3 * capacity + 2,
        };
        8 * words
    }

    fn number(self, number: Number<'_>) -> u64 {
        match (self, number) {
            (Sizes::Allocated | Sizes::Packed, Number::Signed(number)) if INLINE.contains(&number) => 0,
            (Sizes::Allocated | Sizes::Packed, _) => BOXED,
            (Sizes::Assumed | Sizes::WithoutPointers, Number::Signed(-128..384)) => 0,
            (Sizes::Assumed, Number::Signed(-8_388_607..8_388_608)) => 4,
            (Sizes::WithoutPointers, Number::Signed(-8_388_608..8_388_608)) => 4,
            (Sizes::Assumed | Sizes::WithoutPointers, _) => 16,
        }
    }
}

/// Reads a document; returns `None` if the text is not one.
fn document(text: &[u8], sizes: Sizes, open: &mut Vec<Container>) -> Option<Document> {
    open.clear();
    let mut reader = Reader { text, at: 0 };
    let mut sum = VALUE;
    let mut read = Document::default();
    loop {
        // A value begins here.
        let mut is_packed = false;
        match reader.next()? {
            opening @ (b'[' | b'{') => {
                let is_object = opening == b'{';
                let closing = if is_object { b'}' } else { b']' };
                if reader.peek()? == closing {
                    reader.at += 1;
                    read.levels = read.levels.max(open.len() as u64 + 1);
                    read.length = read.length.or(open.is_empty().then_some(0));
                } else {
                    if open.len() == MAX_DEPTH {
                        return None;
                    }
                    open.push(Container::new(is_object));
                    read.levels = read.levels.max(open.len() as u64);
                    sum += sizes.pointer();
                    if is_object {
                        sum += reader.name(sizes)?;
                    }
                    continue;
                }
            }
            b'"' => {
                let len = reader.string()?;
                sum += sizes.string(len);
                if open.is_empty() {
                    read.length = Some(len);
                }
            }
            b'-' | b'0'..=b'9' => {
                let number = reader.number();
                match open.last_mut().filter(|container| sizes == Sizes::Packed && !container.is_object) {
                    Some(array) => {
                        array.packed.push_number(array.elements - 1, number);
                        is_packed = true;
                    }
                    None => sum += sizes.number(number),
                }
            }
            b't' => reader.word(b"rue")?,
            b'f' => reader.word(b"alse")?,
            b'n' => reader.word(b"ull")?,
            _ => return None,
        }
        // A value ends here: close what it completes.
        loop {
            let Some(container) = open.last_mut() else {
                return reader.is_at_end().then_some(Document { memory: sum, ..read });
            };
            if sizes == Sizes::Packed && !container.is_object && !std::mem::take(&mut is_packed) {
                container.packed.push_other(container.elements - 1);
            }
            match (reader.next()?, container.is_object) {
                (b',', is_object) => {
                    container.elements += 1;
                    sum += sizes.pointer();
                    if is_object {
                        sum += reader.name(sizes)?;
                    }
                    break;
                }
                (b']', false) | (b'}', true) => {
                    sum += sizes.container(*container);
                    read.elements += container.elements;
                    read.length = Some(container.elements);
                    open.pop();
                }
                _ => return None,
            }
        }
    }
}

/// Position in a JSON text.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Returns the next byte that is not white space, without taking it.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Takes the next byte that is not white space.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Takes the name of an object's value and the colon, and returns the size of the name.
    fn name(&mut self, sizes: Sizes) -> Option<u64> {
        if self.next()? != b'"' {
            return None;
        }
        let name = sizes.string(self.string()?);
        (self.next()? == b':').then_some(name)
    }

    /// Takes a string after its opening quote, and returns its length in UTF-8.
    #[inline]
    fn string(&mut self) -> Option<u64> {
        let mut len = 0;
        loop {
            let rest = self.text.get(self.at..)?;
            let plain = plain_bytes(rest);
            let end = *rest.get(plain)?;
            self.at += plain + 1;
            len += plain as u64;
            if end == b'"' {
                return Some(len);
            }
            len += self.escape()?;
        }
    }

    /// Takes an escape sequence after its backslash, and returns its length in UTF-8.
    #[cold]
    fn escape(&mut self) -> Option<u64> {
        let kind = *self.text.get(self.at)?;
        self.at += 1;
        if kind != b'u' {
            return Some(1);
        }
        let unit = self.hexadecimal()?;
        if !(0xd800..0xdc00).contains(&unit) {
            return Some(char::from_u32(unit).map_or(3, |character| character.len_utf8() as u64));
        }
        // The first half of a surrogate pair.
        if self.text.get(self.at..self.at + 2) != Some(br"\u") {
            return None;
        }
        self.at += 2;
        self.hexadecimal()?;
        Some(4)
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// Returns the number whose first byte was taken.
    #[inline]
    fn number(&mut self) -> Number<'a> {
        let start = self.at - 1;
        let number = &self.text[start..];
        let is_negative = number.first() == Some(&b'-');
        let (mut value, mut len) = (0i64, usize::from(is_negative));
        // Fast path for integers that cannot overflow.
        while let Some(digit) = number.get(len).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
            && len < SURE_DIGITS
        {
            value = 10 * value + i64::from(digit);
            len += 1;
        }
        // Neither "-" nor "-0", which is a float. Without a sign the first byte is a digit.
        let has_value = value != 0 || !is_negative;
        let next = number.get(len).copied().filter(|&byte| is_part_of_number(byte));
        if has_value && next.is_none() {
            self.at = start + len;
            return Number::Signed(if is_negative { -value } else { value });
        }
        len += number[len..].iter().take_while(|&&byte| is_part_of_number(byte)).count();
        self.at = start + len;
        if next == Some(b'.') { Number::Float(&number[..len]) } else { Number::of(&number[..len]) }
    }

    fn word(&mut self, rest: &[u8]) -> Option<()> {
        let found = self.text.get(self.at..)?.starts_with(rest);
        self.at += rest.len();
        found.then_some(())
    }
}

#[inline]
fn is_part_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

/// Returns the number of bytes before the first quote or backslash, eight at a time.
#[inline]
fn plain_bytes(text: &[u8]) -> usize {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // The lowest high bit set is that of the first byte equal to `byte`.
    let equal = |word: u64, byte: u8| {
        let differs = word ^ (LOW * u64::from(byte));
        differs.wrapping_sub(LOW) & !differs & HIGH
    };
    let (words, rest) = text.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = equal(word, b'"') | equal(word, b'\\');
        if found != 0 {
            return 8 * place + (found.trailing_zeros() / 8) as usize;
        }
    }
    8 * words.len() + rest.iter().take_while(|&&byte| byte != b'"' && byte != b'\\').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(text: &str, sizes: Sizes) -> Option<u64> {
        document(text.as_bytes(), sizes, &mut Vec::new()).map(|document| document.memory)
    }

    #[test]
    fn values_have_the_sizes_of_their_version() {
        let text = r#"{"a": 100.12, "b": "foo", "c": true, "d": 126, "e": -112, "f": 7388608, "g": -6388608,
            "h": 9388608, "i": -9485608, "j": [], "k": {}, "l": [1, "asas", {"a": 1}], "m": {"t": "f"}}"#;
        assert_eq!(memory(text, Sizes::WithoutPointers), Some(759));
        assert_eq!(memory(text, Sizes::Assumed), Some(759 + 8 * 18));
        assert_eq!(memory(text, Sizes::Allocated), Some(1168));
        assert_eq!(memory(text, Sizes::Packed), Some(728));
    }

    proptest::proptest! {
        #[test]
        fn numbers_are_read_as_they_are_parsed(
            text in "-?[0-9]{0,22}(\\.[0-9]{1,3})?(e[+-]?[0-9]{1,2})?[,\\] x]?",
        ) {
            let text = format!("{text},");
            let end = text.bytes().position(|byte| !is_part_of_number(byte)).unwrap();
            if end > 0 {
                let mut reader = Reader { text: text.as_bytes(), at: 1 };
                proptest::prop_assert_eq!(reader.number(), Number::of(&text.as_bytes()[..end]));
                proptest::prop_assert_eq!(reader.at, end);
            }
        }
    }

    #[test]
    fn numbers_are_packed_and_short_strings_inline_from_8_4_on() {
        for (text, expected) in
            [("[1,2,3,4,300]", 32), ("[1,\"long enough\",2.5]", 80), ("{\"eight by\":\"seven b\"}", 144)]
        {
            assert_eq!(memory(text, Sizes::Packed), Some(expected), "{text}");
        }
    }

    #[test]
    fn length_elements_and_levels_are_those_of_the_document() {
        let facts = |text: &str| {
            let read = document(text.as_bytes(), Sizes::Assumed, &mut Vec::new()).unwrap();
            (read.length, read.elements, read.levels)
        };
        assert_eq!(facts("{\"a\": [1, [], {}], \"b\": \"text\"}"), (Some(2), 5, 3));
        assert_eq!((facts("[]"), facts("7"), facts("\"ab\"")), ((Some(0), 0, 1), (None, 0, 0), (Some(2), 0, 0)));
    }

    #[test]
    fn strings_count_decoded() {
        for (text, len) in
            [(r#""""#, 0), (r#""a\"b""#, 3), (r#""\u00e9\n""#, 3), (r#""\ud83d\ude00""#, 4), ("\"中\"", 3)]
        {
            assert_eq!(memory(text, Sizes::Assumed), Some(8 + len), "{text}");
        }
    }

    #[test]
    fn numbers_count_by_their_range() {
        let sizes = |text: &str| [Sizes::Assumed, Sizes::Allocated].map(|sizes| memory(text, sizes).map(|sum| sum - 8));
        assert_eq!(sizes("383"), [Some(0), Some(0)]);
        assert_eq!(sizes("-129"), [Some(4), Some(0)]);
        assert_eq!(sizes("8388608"), [Some(16), Some(0)]);
        assert_eq!(sizes("1152921504606846976"), [Some(16), Some(8)]);
        assert_eq!(sizes("1e3"), [Some(16), Some(8)]);
        assert_eq!(sizes("-0"), [Some(16), Some(8)]);
    }

    #[test]
    fn text_that_is_no_document_has_no_size() {
        for text in
            ["", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}", "\"\\u12", "\"\\ud800\"", "tru", "1 2", "[}", "\"a"]
        {
            assert_eq!(memory(text, Sizes::Assumed), None, "{text}");
        }
        assert_eq!(memory(&"[".repeat(1 << 20), Sizes::Assumed), None);
    }
}
