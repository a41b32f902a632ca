//! Arrays of JSON documents from Redis 8.4 on: while all elements are numbers, they are packed in the smallest type that
//! holds them (`IArray` of the `ijson` crate).
//!
//! An array grows as elements are added. One that does not fit the type turns all into a wider type, with no spare room at
//! first, or into values of their own.

use std::ops::Range;

/// Integers held inside their pointer.
pub const INLINE: Range<i64> = -(1 << 60)..1 << 60;
/// Size of a number that is allocated.
pub const BOXED: u64 = 8;
/// Size of the structure before the elements.
const HEADER: u64 = 8;
/// Elements that an array has room for at first.
const FIRST_CAPACITY: u64 = 4;

/// Type of the elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ElementType {
    /// Values of their own, at pointers.
    #[default]
    Values,
    /// Signed integers of this many bytes.
    Signed(u8),
    /// Unsigned integers of this many bytes.
    Unsigned(u8),
    /// Half-precision floats.
    Half,
    /// Floats of 16 bits with the exponent of single precision.
    Brain,
    /// Single-precision floats.
    Single,
    /// Double-precision floats.
    Double,
}

/// A number of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number<'a> {
    /// Integer of 64 bits.
    Signed(i64),
    /// Integer above all signed ones.
    Unsigned,
    /// Text of a fraction, of an integer beyond 64 bits, or of a zero with a sign.
    Float(&'a [u8]),
}

impl<'a> Number<'a> {
    /// Parses a number.
    pub fn of(text: &'a [u8]) -> Number<'a> {
        let is_whole = text.iter().all(|&byte| byte.is_ascii_digit() || byte == b'-') && text != b"-0";
        let whole = if is_whole { std::str::from_utf8(text).ok() } else { None };
        match whole.map(|text| (text.parse(), text.parse::<u64>())) {
            Some((Ok(number), _)) => Number::Signed(number),
            Some((Err(_), Ok(_))) => Number::Unsigned,
            Some((Err(_), Err(_))) | None => Number::Float(text),
        }
    }

    /// Returns the smallest type that holds the number; of equal sizes the signed one.
    fn smallest(self) -> ElementType {
        match self {
            Number::Signed(number) => SIZES
                .into_iter()
                .flat_map(|size| [ElementType::Signed(size), ElementType::Unsigned(size)])
                .find(|element| element.holds_integer(number))
                .unwrap_or(ElementType::Signed(8)),
            Number::Unsigned => ElementType::Unsigned(8),
            Number::Float(text) => smallest_float(text),
        }
    }

    fn is_boxed(self) -> bool {
        match self {
            Number::Signed(number) => !INLINE.contains(&number),
            Number::Unsigned | Number::Float(_) => true,
        }
    }
}

/// Sizes of integers.
const SIZES: [u8; 4] = [1, 2, 4, 8];

impl ElementType {
    fn size(self) -> u64 {
        match self {
            ElementType::Signed(size) | ElementType::Unsigned(size) => size.into(),
            ElementType::Half | ElementType::Brain => 2,
            ElementType::Single => 4,
            ElementType::Double | ElementType::Values => 8,
        }
    }

    fn holds_integer(self, number: i64) -> bool {
        match self {
            ElementType::Signed(8) => true,
            ElementType::Signed(size) => number >> (8 * size - 1) == number >> 63,
            ElementType::Unsigned(8) => number >= 0,
            ElementType::Unsigned(size) => number >> (8 * size) == 0,
            ElementType::Half
            | ElementType::Brain
            | ElementType::Single
            | ElementType::Double
            | ElementType::Values => false,
        }
    }

    /// Returns whether a number needs no other type.
    fn holds(self, number: Number<'_>) -> bool {
        match (self, number) {
            (ElementType::Values, _) | (ElementType::Double, Number::Float(_)) => true,
            (element, Number::Signed(number)) => element.holds_integer(number),
            (element, Number::Unsigned) => element == ElementType::Unsigned(8),
            (ElementType::Signed(_) | ElementType::Unsigned(_), Number::Float(_)) => false,
            (element, Number::Float(text)) => {
                let single = float(text).and_then(single);
                single.is_some_and(|single| match element {
                    ElementType::Half => is_half(single),
                    ElementType::Brain => is_brain(single),
                    _ => true,
                })
            }
        }
    }

    /// Returns the type that holds all that this one and `other` hold.
    fn widened(self, other: ElementType) -> ElementType {
        use ElementType::{Brain, Double, Half, Signed, Single, Unsigned, Values};
        match (self, other) {
            (one, other) if one == other => one,
            (Signed(one), Signed(other)) => Signed(one.max(other)),
            (Unsigned(one), Unsigned(other)) => Unsigned(one.max(other)),
            (Unsigned(8), Signed(_)) | (Signed(_), Unsigned(8)) => Values,
            (Unsigned(one), Signed(other)) | (Signed(other), Unsigned(one)) => Signed(other.max(2 * one)),
            (Double, Half | Brain | Single) | (Half | Brain | Single, Double) => Double,
            (Half | Brain | Single, Half | Brain | Single) => Single,
            (Values | Signed(_) | Unsigned(_) | Half | Brain | Single | Double, _) => Values,
        }
    }
}

fn smallest_float(text: &[u8]) -> ElementType {
    match float(text).and_then(single) {
        None => ElementType::Double,
        Some(single) if is_half(single) => ElementType::Half,
        Some(single) if is_brain(single) => ElementType::Brain,
        Some(_) => ElementType::Single,
    }
}

fn float(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Returns the number in single precision, if that is exact.
#[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
fn single(number: f64) -> Option<f32> {
    let single = number as f32;
    (f64::from(single) == number).then_some(single)
}

/// Returns whether a number is exact in half precision: 10 bits of fraction, exponents from -14 on, multiples of 2^-24 below.
fn is_half(number: f32) -> bool {
    const UNIT: f32 = 1.0 / 16_777_216.0;
    let magnitude = number.abs();
    let has_few_bits = number.to_bits().trailing_zeros() >= 13;
    if magnitude < 1.0 / 16_384.0 { (magnitude / UNIT).fract() == 0.0 } else { has_few_bits && magnitude <= 65_504.0 }
}

/// Returns whether a number is exact with 7 bits of fraction.
fn is_brain(number: f32) -> bool {
    number.to_bits().trailing_zeros() >= 16
}

/// Allocation of an array, as it grows.
#[derive(Debug, Clone, Copy, Default)]
pub struct PackedArray {
    element: ElementType,
    capacity: u64,
    /// Bytes of the numbers that are allocated once elements are values of their own.
    boxed: u64,
}

impl PackedArray {
    /// Adds a number after `len` elements.
    pub fn push_number(&mut self, len: u64, number: Number<'_>) {
        if len == 0 {
            (self.element, self.capacity) = (number.smallest(), FIRST_CAPACITY);
        } else if !self.element.holds(number) {
            self.widen(len, self.element.widened(number.smallest()));
        }
        self.reserve(len);
        if number.is_boxed() {
            self.boxed = self.boxed.saturating_add(BOXED);
        }
    }

    /// Adds anything else after `len` elements.
    pub fn push_other(&mut self, len: u64) {
        if len > 0 && self.element != ElementType::Values {
            self.widen(len, ElementType::Values);
        }
        self.reserve(len);
    }

    fn widen(&mut self, len: u64, element: ElementType) {
        (self.element, self.capacity) = (element, len);
    }

    fn reserve(&mut self, len: u64) {
        if self.capacity <= len {
            self.capacity = (2 * self.capacity).max(len + 1).max(FIRST_CAPACITY);
        }
    }

    /// Returns the allocated bytes, without those of strings, arrays and objects in it.
    pub fn size(&self) -> u64 {
        let elements = self.capacity.saturating_mul(self.element.size()).saturating_add(HEADER);
        let boxed = if self.element == ElementType::Values { self.boxed } else { 0 };
        elements.next_multiple_of(8).saturating_add(boxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(numbers: &[&str]) -> u64 {
        let mut array = PackedArray::default();
        numbers.iter().zip(0..).for_each(|(number, len)| array.push_number(len, Number::of(number.as_bytes())));
        array.size()
    }

    #[test]
    fn numbers_are_packed_in_the_smallest_type() {
        assert_eq!(size(&["1", "-2", "3"]), 8 + 8);
        assert_eq!(size(&["1"; 9]), 8 + 16);
        // From one byte to two after four: no room to spare at first, then twice as much.
        assert_eq!(size(&["1", "2", "3", "4", "300"]), 8 + 2 * 8);
        assert_eq!(size(&["200", "-1"]), 8 + 2 * 4);
        assert_eq!(size(&["1.5", "2.5"]), 8 + 2 * 4);
        assert_eq!(size(&["0.1", "2"]), 8 + 8 * 4 + 8);
        assert_eq!(size(&["18446744073709551615", "-1"]), 8 + 8 * 4 + 8);
        assert_eq!(size(&["9223372036854775807"; 2]), 8 + 8 * 4);
    }

    #[test]
    fn floats_have_the_smallest_exact_type() {
        for (text, element) in [
            ("1.5", ElementType::Half),
            ("65504.0", ElementType::Half),
            ("65536.0", ElementType::Brain),
            ("5.960464477539063e-8", ElementType::Half),
            ("1e38", ElementType::Double),
            ("16777217.5", ElementType::Double),
            ("0.1", ElementType::Double),
            ("2049.5", ElementType::Single),
        ] {
            assert_eq!(smallest_float(text.as_bytes()), element, "{text}");
        }
    }
}
