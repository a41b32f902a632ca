//! Keys that certainly comply with rules: one cheap test clears most keys of rules that few can violate.

use crate::rdb::peek::StringStart;
use crate::record::Record;
use crate::units::Millis;

/// Keys that certainly comply with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarmlessKeys {
    /// Earliest expiry, if they expire.
    pub from: Millis,
    /// Latest expiry, if they expire.
    pub to: Millis,
    /// True if only keys comply whose last access the dump does not store.
    pub unknown_use: bool,
    /// True if only keys comply that are not [slightly above a packing limit](crate::record::Record::compact).
    pub far_from_compact: bool,
    /// Strings that may not comply.
    pub doubtful: DoubtfulTexts,
}

impl Default for HarmlessKeys {
    /// Returns all keys.
    fn default() -> Self {
        HarmlessKeys {
            from: Millis(i64::MIN),
            to: Millis(i64::MAX),
            unknown_use: false,
            far_from_compact: false,
            doubtful: DoubtfulTexts::default(),
        }
    }
}

impl HarmlessKeys {
    /// Returns the keys that comply with two rules.
    pub fn both(mut self, other: HarmlessKeys) -> Self {
        self.doubtful.merge(&other.doubtful);
        HarmlessKeys {
            from: self.from.max(other.from),
            to: self.to.min(other.to),
            unknown_use: self.unknown_use || other.unknown_use,
            far_from_compact: self.far_from_compact || other.far_from_compact,
            doubtful: self.doubtful,
        }
    }

    /// Returns `None` if all keys are among them.
    pub fn unless_all(self) -> Option<Self> {
        (self != HarmlessKeys::default()).then_some(self)
    }

    /// Returns whether a key is one of them.
    #[inline]
    pub fn includes(&self, record: &Record<'_>) -> bool {
        let expires = record.expires_at.is_none_or(|at| self.from <= at && at <= self.to);
        expires
            && (!self.unknown_use || record.idle.is_none() && record.freq.is_none())
            && (!self.far_from_compact || record.compact.is_none())
            && !self.doubtful.may_include(record)
    }
}

/// Short strings that may violate a rule, by length and first byte.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoubtfulTexts {
    /// Lengths up to 64, as bits; 63 and 64 share the last one.
    lengths: u64,
    /// Lengths of those that begin with a byte; empty if there are none at all.
    by_start: Vec<u64>,
    /// Lengths of those that may be stored as a number.
    numbers: u64,
    /// Lengths from 65 on, as bits, and their only first byte.
    longer: u128,
    longer_start: u8,
}

impl DoubtfulTexts {
    /// Maximum length of a text.
    pub const MAX_LEN: usize = 64;

    /// Maximum length of a text that is told by its length and one first byte.
    const MAX_LEN_BY_LENGTH: u64 = Self::MAX_LEN as u64 + 128;

    /// Adds texts of this length that begin with any of `starts`; texts longer than [`Self::MAX_LEN`] must not be added.
    pub fn add(&mut self, length: usize, starts: &[u8]) {
        let bit = Self::bit(length as u64);
        self.lengths |= bit;
        self.by_start.resize(256, 0);
        for &start in starts {
            self.by_start[usize::from(start)] |= bit;
            if matches!(start, b'-' | b'0'..=b'9') {
                self.numbers |= bit;
            }
        }
    }

    /// Adds texts of a length from 65 to [`Self::MAX_LEN_BY_LENGTH`], all of which begin with the same byte.
    pub fn add_longer(&mut self, length: usize, start: u8) {
        match length.checked_sub(Self::MAX_LEN + 1) {
            Some(bit) => (self.longer, self.longer_start) = (self.longer | 1 << (bit % 128), start),
            None => self.add(length, &[start]),
        }
    }

    fn bit(length: u64) -> u64 {
        1 << length.min(Self::MAX_LEN as u64 - 1)
    }

    /// Adds the texts of another set.
    fn merge(&mut self, other: &DoubtfulTexts) {
        self.lengths |= other.lengths;
        self.numbers |= other.numbers;
        self.by_start.resize(self.by_start.len().max(other.by_start.len()), 0);
        self.by_start.iter_mut().zip(&other.by_start).for_each(|(mine, other)| *mine |= other);
        self.longer |= other.longer;
        self.longer_start |= other.longer_start; // one rule at most has longer ones
    }

    /// Returns whether the value of a string key may be one of them.
    #[inline]
    pub fn may_include(&self, record: &Record<'_>) -> bool {
        // Most lengths are those of no text.
        let Some(length) = record.length else { return false };
        if length > Self::MAX_LEN as u64 {
            let is_length =
                length <= Self::MAX_LEN_BY_LENGTH && self.longer >> (length - Self::MAX_LEN as u64 - 1) & 1 == 1;
            return is_length && self.may_include_longer(record);
        }
        let bit = Self::bit(length);
        if self.lengths & bit == 0 {
            return false;
        }
        let lengths = match record.raw.map(|raw| raw.short_start()) {
            Some(StringStart::Plain(first)) => self.by_start.get(usize::from(first)).copied().unwrap_or_default(),
            Some(StringStart::Number) => self.numbers,
            Some(StringStart::Other) | None => self.lengths,
        };
        lengths & bit != 0
    }

    /// Returns whether a value of one of the longer lengths begins as it should, as far as its first bytes tell.
    #[inline(never)] // few values have such a length
    fn may_include_longer(&self, record: &Record<'_>) -> bool {
        match record.raw.map(|raw| raw.bytes) {
            Some([0x40..0x80, _, first, ..]) => *first == self.longer_start,
            Some(_) | None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::record;
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;

    fn doubts(texts: &DoubtfulTexts, length: u64, bytes: &[u8]) -> bool {
        let raw = RawValue { value_type: ValueType::String, bytes, templates: Templates::NONE };
        texts.may_include(&Record { length: Some(length), raw: Some(raw), ..record(b"k") })
    }

    #[test]
    fn texts_are_told_by_length_and_first_byte() {
        let mut texts = DoubtfulTexts::default();
        assert!(!doubts(&texts, 4, b"\x04null"));
        texts.add(4, b"nN");
        texts.add(2, b"-");
        texts.add(0, b"");
        assert!(doubts(&texts, 4, b"\x04null") && doubts(&texts, 4, b"\x04Noon"));
        assert!(!doubts(&texts, 4, b"\x04zero") && !doubts(&texts, 3, b"\x03nil"));
        assert!(doubts(&texts, 0, b"\0"));
        // A number in binary form, and a string whose length has another form.
        assert!(doubts(&texts, 2, b"\xc0\xff") && !doubts(&texts, 4, b"\xc1\xe8\x03"));
        assert!(doubts(&texts, 4, b"\x40\x04zero"));
    }

    #[test]
    fn longer_texts_are_told_by_length_and_one_first_byte() {
        let mut texts = DoubtfulTexts::default();
        texts.add_longer(82, b'x');
        texts.add_longer(40, b'x');
        let long = |length: u64, first: u8| doubts(&texts, length, &[0x40, length as u8, first, b'a']);
        assert!(long(82, b'x') && !long(82, b'y') && !long(81, b'x') && !long(83, b'x'));
        assert!(doubts(&texts, 40, b"\x28xa") && !doubts(&texts, 40, b"\x28ya"));
        assert!(
            doubts(&texts, 82, b"\xc3\x40\x20")
                && !doubts(&texts, 210, b"\x40\xd2x")
                && !doubts(&texts, 1 << 40, b"\x80")
        );
        let mut all = DoubtfulTexts::default();
        all.merge(&texts);
        assert!(doubts(&all, 82, b"\x40\x52xa"));
    }

    #[test]
    fn texts_of_63_and_64_bytes_share_a_length() {
        let mut texts = DoubtfulTexts::default();
        texts.add(64, b"x");
        let long = [&b"\x40\x40"[..], &[b'x'; 64]].concat();
        assert!(doubts(&texts, 64, &long) && !doubts(&texts, 65, &long));
        assert!(doubts(&texts, 63, b"\x3fx") && !doubts(&texts, 63, b"\x3fy"));
    }
}
