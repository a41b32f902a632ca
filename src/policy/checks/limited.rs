//! Rules that few keys can violate, with cheap tests that clear the other keys.

use super::MAX_KEY_CHECKS;
use crate::policy::harmless::HarmlessKeys;
use crate::policy::rule::SizeTest;
use crate::rdb::payload::PACKED_GAIN;
use crate::record::Record;

/// Rules about keys of one type that expire, or that do not.
#[derive(Debug, Default)]
pub(super) struct KindRules {
    /// Rules to check one by one.
    pub(super) asked: Vec<u8>,
    /// Bits of rules that are asked only about keys with one of their words.
    pub(super) worded: u64,
    /// Bits that all keys violate if they match no pattern of the policy.
    pub(super) constant: u64,
    /// Rules in `asked` whose verdict on such keys depends on more.
    pub(super) varying: VaryingRules,
    /// Verdict on most keys; `None` if it depends on more.
    pub(super) settled: Option<SettledRules>,
}

/// Rules to check one by one about keys of one type and lifetime that match no pattern of the policy.
#[derive(Debug, Default)]
pub(super) struct VaryingRules {
    /// All of them.
    pub(super) rules: Vec<u8>,
    /// Keys that comply with some of them.
    pub(super) harmless: HarmlessKeys,
    /// The others.
    pub(super) others: Vec<u8>,
}

/// Rules whose result is known for most keys of a type and lifetime.
#[derive(Debug)]
pub(super) struct SettledRules {
    /// Bits that such keys violate if their names violate nothing and match no pattern of the policy.
    pub(super) broken: u64,
    /// The keys that this holds for; `None` if for all.
    pub(super) harmless: Option<HarmlessKeys>,
}

impl SettledRules {
    /// Returns the bits that a key violates if its name violates nothing; `None` if rules have to be asked.
    #[inline(always)]
    pub(super) fn broken_by(&self, record: &Record<'_>) -> Option<u64> {
        let is_harmless = self.harmless.as_ref().is_none_or(|harmless| harmless.includes(record));
        is_harmless.then_some(self.broken)
    }
}

impl VaryingRules {
    pub(super) fn add(&mut self, bit: u8, harmless: Option<HarmlessKeys>) {
        self.rules.push(bit);
        match harmless {
            Some(harmless) => self.harmless = std::mem::take(&mut self.harmless).both(harmless),
            None => self.others.push(bit),
        }
    }
}

/// Rules about sizes, with the smallest of their limits.
#[derive(Debug)]
pub(super) struct SizeRules {
    /// Smallest limit on the length. A key that exceeds neither limit violates none of the rules.
    pub(super) length: u64,
    /// Smallest limit on the memory.
    pub(super) memory: u64,
    /// Smallest limit on the payload.
    pub(super) payload: u64,
    /// All limits on the payload, with the bits of their rules.
    pub(super) payloads: Vec<(u64, u8)>,
    /// Bits of the rules.
    pub(super) asked: Vec<u8>,
}

impl Default for SizeRules {
    fn default() -> Self {
        SizeRules { length: u64::MAX, memory: u64::MAX, payload: u64::MAX, payloads: Vec::new(), asked: Vec::new() }
    }
}

impl SizeRules {
    /// Adds a rule about keys, whose payload may exceed their memory by far if they are `denser`.
    pub(super) fn add(&mut self, test: SizeTest, place: u8, denser: bool) {
        if let SizeTest::Payload(most) = test {
            self.payload = self.payload.min(most);
            self.payloads.push((most, place));
        }
        match test {
            SizeTest::Length(most) => self.length = self.length.min(most),
            SizeTest::Payload(_) if denser => (self.length, self.memory) = (0, 0),
            SizeTest::Payload(most) => {
                // Packed elements take less memory than their payload by at most `PACKED_GAIN` each, two to a pair.
                self.memory = self.memory.min(most / 2);
                self.length = self.length.min(most / 2 / (2 * PACKED_GAIN));
            }
        }
        self.asked.push(place);
    }

    /// Returns the bits of the rules that a payload violates.
    pub(super) fn broken_by(&self, payload: u64) -> u64 {
        let broken = self.payloads.iter().filter(|(most, _)| payload > *most);
        broken.fold(0, |bits, (_, place)| bits | 1 << (usize::from(*place) % MAX_KEY_CHECKS))
    }

    /// Returns whether a key is large enough to violate one of the rules.
    #[inline]
    pub(super) fn concerns(&self, record: &Record<'_>) -> bool {
        record.length.unwrap_or(0) > self.length
            || record.memory.0 > self.memory
            || record.encoding.shares_names() && record.payload_over(self.payload).is_some()
    }
}
