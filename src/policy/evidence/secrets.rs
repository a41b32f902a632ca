//! Sensitive data in the keys of a pattern: a bounded sample that holds results of inspections, never values.
//!
//! A **bottom-k sample** inspects the `k` keys whose names have the lowest hashes. It depends on the set of keys alone and
//! is a commutative monoid. Up to `k` keys it is complete; above, it is a uniform sample. Other keys cost the hash and one
//! comparison. As long as no more keys are seen, all of them are inspected, and those with each set of kinds are counted
//! with their memory.
//!
//! An entry has the hash in its upper bits and two bytes of kinds below: found, and near misses. Evidence is kept for one
//! key per kind, that with the lowest entry, and dropped when the key leaves the sample. No other key has to take its
//! place: a key of the final sample was in the sample of its worker ever since it was read, so its evidence was compared
//! then.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bottom_k::{self, BottomK};
use crate::pattern::kept_name::{self, WholeName};
use crate::policy::sensitive::{Inspection, MaskedMatch, SensitiveKinds, ValueVerdict};
use crate::rdb::peek::{MAX_TEXT_BYTES, PeekBuffers};
use crate::record::Record;
use crate::report::{Example, Key, Weight};
use crate::units::Bytes;

/// Number of inspected keys per pattern.
pub const SAMPLED: usize = 64;
/// Longest name kept with evidence, in bytes.
const MAX_NAME_LEN: usize = 256;
/// Seed of the hashes.
const SEED: u64 = 0x0452_821e_638d_0137;
/// Bits of an entry below the hash.
const KIND_BITS: u32 = 16;

/// Sample of inspected keys of a pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Secrets {
    /// Entries: hash in the upper bits, kinds in the lower.
    lowest: BottomK,
    /// Evidence sorted by kind, at most one per kind.
    evidence: Vec<SecretEvidence>,
    /// Number of keys seen, inspected or not.
    seen: u64,
    /// Keys with a match by the bits of their kinds. INVARIANT: empty if more keys were seen than are inspected.
    matching: BTreeMap<u8, Weight>,
}

/// Masked match in one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretEvidence {
    /// Match.
    pub found: MaskedMatch,
    entry: u64,
    db: u64,
    memory: u64,
    /// Name of the key with all matches in it masked, or its beginning.
    key: Box<[u8]>,
    /// Length and checksum of the whole name, if that is only its beginning.
    whole: Option<(u64, u64)>,
}

impl SecretEvidence {
    /// Returns the key as an example.
    pub fn example(&self) -> Example {
        let key = match self.whole {
            None => self.key.as_ref().into(),
            Some((bytes, checksum)) => Key::part(&self.key, WholeName { bytes, checksum }),
        };
        Example { db: self.db, key, memory: Bytes(self.memory).known() }
    }

    /// Returns what evidence of one kind is ordered by: the entry decides, the rest makes ties independent of threads.
    fn order(&self) -> impl Ord {
        (self.entry, self.db, self.memory, &self.key, self.whole, &self.found)
    }
}

impl Default for Secrets {
    fn default() -> Self {
        Secrets { lowest: BottomK::new(SAMPLED), evidence: Vec::new(), seen: 0, matching: BTreeMap::new() }
    }
}

impl Secrets {
    /// Inspects a key if it enters the sample. Returns the growth in bytes.
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>, inspection: &Inspection, buffers: &mut PeekBuffers) -> usize {
        self.seen = self.seen.saturating_add(1);
        self.drop_matching();
        let hash = hash(record.key) >> KIND_BITS;
        let enters = self.lowest.highest().is_none_or(|highest| hash <= highest >> KIND_BITS);
        if enters { self.inspect(hash, record, inspection, buffers) } else { 0 }
    }

    fn inspect(&mut self, hash: u64, record: &Record<'_>, inspection: &Inspection, buffers: &mut PeekBuffers) -> usize {
        let before = self.heap_bytes();
        // Skip kinds with evidence of a lower hash: that of this key would be dropped.
        let kept = self.evidence.iter().filter(|evidence| evidence.entry >> KIND_BITS < hash);
        let shown = SensitiveKinds::ALL.without(kept.map(|evidence| evidence.found.kind).collect());
        let ValueVerdict { found, near, evidence } = inspection.inspect(record, shown, buffers);
        let entry = hash << KIND_BITS | u64::from(found.bits()) << 8 | u64::from(near.bits());
        self.lowest.offer(entry);
        if !found.is_empty() && self.is_complete() {
            self.matching.entry(found.bits()).or_default().add(record.memory);
        }
        if evidence.is_empty() {
            self.drop_evidence();
            return self.heap_bytes().saturating_sub(before); // the common case
        }
        let masked = inspection.masked_name(record.key);
        let (name, is_whole) = match &masked {
            Some(masked) => (masked.as_slice(), record.key.len() <= MAX_TEXT_BYTES),
            None => (record.key, true),
        };
        let kept = kept_name::beginning(name, MAX_NAME_LEN);
        let is_whole = is_whole && kept.len() == name.len();
        let whole = (!is_whole).then(|| WholeName::of(record.key)).map(|whole| (whole.bytes, whole.checksum));
        for found in evidence {
            self.offer_evidence(SecretEvidence {
                found,
                entry,
                db: record.db,
                memory: record.memory.0,
                key: kept.into(),
                whole,
            });
        }
        self.drop_evidence();
        self.heap_bytes().saturating_sub(before)
    }

    fn offer_evidence(&mut self, evidence: SecretEvidence) {
        match self.evidence.binary_search_by_key(&evidence.found.kind, |kept| kept.found.kind) {
            Ok(at) if evidence.order() < self.evidence[at].order() => self.evidence[at] = evidence,
            Ok(_) => {}
            Err(at) => {
                self.evidence.reserve_exact(1);
                self.evidence.insert(at, evidence);
            }
        }
    }

    /// Drops evidence of keys that have left the sample.
    fn drop_evidence(&mut self) {
        if let Some(highest) = self.lowest.highest() {
            self.evidence.retain(|evidence| evidence.entry <= highest);
        }
    }

    /// Drops the counts of matching keys once there are keys that were not inspected.
    #[inline]
    fn drop_matching(&mut self) {
        if !self.is_complete() && !self.matching.is_empty() {
            self.matching = BTreeMap::new();
        }
    }

    /// Returns the bytes on the heap.
    fn heap_bytes(&self) -> usize {
        let bytes =
            |evidence: &SecretEvidence| size_of::<SecretEvidence>() + evidence.key.len() + evidence.found.text.len();
        let matching = self.matching.len() * size_of::<(u8, Weight)>();
        self.lowest.heap_bytes() + matching + self.evidence.iter().map(bytes).sum::<usize>()
    }

    /// Merges another sample.
    pub fn merge(&mut self, other: Secrets) {
        self.lowest.merge(other.lowest);
        other.evidence.into_iter().for_each(|evidence| self.offer_evidence(evidence));
        self.drop_evidence();
        self.seen = self.seen.saturating_add(other.seen);
        other.matching.into_iter().for_each(|(kinds, keys)| self.matching.entry(kinds).or_default().merge(keys));
        self.drop_matching();
    }

    /// Assigns all keys so far to database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.evidence.iter_mut().for_each(|evidence| evidence.db = db);
    }

    /// Returns true if every key was inspected, so that the sample is all of them.
    pub fn is_complete(&self) -> bool {
        self.seen <= SAMPLED as u64
    }

    /// Returns the keys that hold one of these kinds; `None` if only some of the keys were inspected.
    pub fn holding(&self, kinds: SensitiveKinds) -> Option<Weight> {
        let holds = |found: u8| !SensitiveKinds::from_bits(found).both(kinds).is_empty();
        let mut all = Weight::default();
        self.matching.iter().filter(|(found, _)| holds(**found)).for_each(|(_, keys)| all.merge(*keys));
        self.is_complete().then_some(all)
    }

    /// Returns the number of inspected keys.
    pub fn sampled(&self) -> u64 {
        self.lowest.len() as u64
    }

    /// Returns the kinds found in each inspected key, and the kinds of its near misses.
    #[expect(clippy::cast_possible_truncation, reason = "each kind set is one byte of the entry")]
    pub fn verdicts(&self) -> impl Iterator<Item = (SensitiveKinds, SensitiveKinds)> {
        self.lowest
            .entries()
            .map(|entry| (SensitiveKinds::from_bits((entry >> 8) as u8), SensitiveKinds::from_bits(entry as u8)))
    }

    /// Returns the evidence, at most one per kind.
    pub fn evidence(&self) -> &[SecretEvidence] {
        &self.evidence
    }
}

/// Hashes a name; entries use the upper bits.
#[inline]
fn hash(key: &[u8]) -> u64 {
    bottom_k::finish(bottom_k::hash(SEED, key).rotate_left(32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::sensitive::SensitiveKind;
    use crate::policy::sensitive::testing::everything;
    use crate::policy::testing::record;

    fn sample(names: &[String]) -> Secrets {
        let (mut secrets, inspection, mut buffers) = (Secrets::default(), everything(), PeekBuffers::default());
        for name in names {
            secrets.observe(&record(name.as_bytes()), &inspection, &mut buffers);
        }
        secrets
    }

    /// Formats the whole sample in a fixed order.
    fn shown(secrets: &Secrets) -> String {
        let mut entries: Vec<_> = secrets.lowest.entries().collect();
        entries.sort_unstable();
        format!("{:?} {:?} {} {:?}", entries, secrets.evidence, secrets.seen, secrets.matching)
    }

    #[test]
    fn a_sample_is_complete_up_to_its_size_and_uniform_above() {
        let names: Vec<String> = (0..50).map(|i| format!("sms:138123{i:05}")).collect();
        let few = sample(&names);
        assert_eq!((few.sampled(), few.verdicts().filter(|(found, _)| !found.is_empty()).count()), (50, 50));
        // Half of ten thousand keys; of 64, between a quarter and three quarters.
        let names: Vec<String> =
            (0..10_000).map(|i| if i % 2 == 0 { format!("sms:138123{i:05}") } else { format!("job:{i}") }).collect();
        let many = sample(&names);
        let found = many.verdicts().filter(|(found, _)| !found.is_empty()).count();
        assert!(many.sampled() == 64 && (16..48).contains(&found), "{found}");
    }

    #[test]
    fn keys_with_a_match_are_counted_while_all_are_inspected() {
        let names = |clean: u32| {
            let clean = (0..clean).map(|i| format!("job:{i}"));
            clean.chain(["sms:13812345678".to_owned(), "mail:a@corp.cn".to_owned()]).collect::<Vec<_>>()
        };
        let of = |kind: SensitiveKind| [kind].into_iter().collect::<SensitiveKinds>();
        let few = sample(&names(62));
        assert_eq!(few.holding(SensitiveKinds::ALL).unwrap().keys, 2);
        assert_eq!(few.holding(of(SensitiveKind::Phone)).unwrap().keys, 1);
        assert_eq!(few.holding(of(SensitiveKind::Jwt)).unwrap().keys, 0);
        let many = sample(&names(63));
        assert!(many.holding(SensitiveKinds::ALL).is_none() && many.matching.is_empty() && many.sampled() == 64);
        // Whichever key comes last, and whether it enters the sample or not.
        let mut all = names(63);
        for _ in 0..all.len() {
            all.rotate_left(1);
            assert!(sample(&all).matching.is_empty(), "{:?}", all.last());
        }
    }

    #[test]
    fn evidence_and_the_name_of_its_key_are_masked() {
        let one = sample(&["sms:13812345678".to_owned()]);
        let [evidence] = one.evidence() else { panic!() };
        assert_eq!(evidence.found.wording().en, "phone 138****5678 in the name");
        assert_eq!(evidence.example().key.as_text(), Some("sms:138****5678"));
    }

    #[test]
    fn names_that_are_cut_are_marked_with_the_length_of_the_whole() {
        let long = format!("sms:13812345678:{}", "你".repeat(100));
        let example = sample(std::slice::from_ref(&long)).evidence()[0].example().key;
        assert!(example.as_text().unwrap().starts_with("sms:138****5678:你") && example.0.len() <= MAX_NAME_LEN);
        assert_eq!(example.whole_bytes(), Some(long.len() as u64));
        // Of a name that is longer than what is inspected, the rest is unknown however short the mask is.
        let token = format!("s:eyJhbGciOiJIUzI1NiJ9.eyJ{}", "x".repeat(MAX_TEXT_BYTES));
        let example = sample(&[format!("13812345678:{token}")]).evidence()[0].example().key;
        assert_eq!(example.whole_bytes(), Some(token.len() as u64 + 12));
        let short = sample(&["sms:13812345678".to_owned()]).evidence()[0].example().key;
        assert_eq!(short.whole_bytes(), None);
    }

    #[test]
    fn a_full_sample_stays_small() {
        let names: Vec<String> = (0..5000).map(|i| format!("sms:138123{i:05}:{}", "x".repeat(2000))).collect();
        let full = sample(&names);
        assert!(full.lowest.heap_bytes() <= 2 * SAMPLED * 8 && full.evidence.capacity() <= SensitiveKind::ALL.len());
        assert!(full.evidence.iter().all(|evidence| evidence.key.len() <= MAX_NAME_LEN));
    }

    proptest! {
        #[test]
        fn splitting_and_order_do_not_matter(
            picks in proptest::collection::vec((0u8..4, 0u32..400), 0..300), cut in 0usize..300,
        ) {
            let name = |&(form, number): &(u8, u32)| match form {
                0 => format!("sms:138123{number:05}"),
                1 => format!("mail:u{number}@corp.cn"),
                2 => format!("order:100000{number:05}"),
                _ => format!("job:{number}"),
            };
            let names: Vec<String> = picks.iter().map(name).collect();
            let (left, right) = names.split_at(cut.min(names.len()));
            let whole = shown(&sample(&names));
            let mut forward = sample(left);
            forward.merge(sample(right));
            prop_assert_eq!(shown(&forward), whole.clone());
            let mut backward = sample(right);
            backward.merge(sample(left));
            prop_assert_eq!(shown(&backward), whole);
        }
    }
}
