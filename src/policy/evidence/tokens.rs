//! Values of the locks of a pattern: how many are too short for a token, and which are held by more than one lock.
//!
//! Only hashes of values are kept, in two samples that depend on the set of locks alone and are commutative monoids:
//!
//! - the lowest **distinct values** (bottom-k), with the number of locks that hold each. Constants sort before random values, so that
//!   locks with tokens do not displace them. The counts are exact: a value of the final sample was in the sample of its worker ever since
//!   it was read. Up to `k` distinct values the sample is complete.
//! - the **locks** whose names have the lowest hashes, with the value of each: a uniform sample. Of the values that the first sample left
//!   out, it still shows those that many locks hold, with an estimate of their number: with 32 locks, a value of half of them is missed once
//!   in 100 million patterns.
//!
//! Values with a UUID are not kept at all if the rule allows them on several locks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bottom_k::{self, BottomK, SampleEntry};
use crate::pattern::kept_name;
use crate::policy::content::lock::{is_constant, is_detail, is_predictable, is_stamp};
use crate::policy::content::random;
use crate::policy::content::serialized::{unboxed, unwrapped};
use crate::policy::rule::TokenNeeds;
use crate::rdb::peek::{MAX_PARTS, PeekBuffers, ValuePart};
use crate::record::{Kind, Record};
use crate::report::{Example, Key, Weight};
use crate::units::Bytes;

/// Maximum number of distinct values per pattern.
pub const MOST_TOKENS: usize = 1024;
/// Maximum number of sampled locks per pattern, and the number that is kept however many patterns there are.
const MOST_LOCKS: usize = 256;
const FEWEST_LOCKS: usize = 32;
/// Maximum number of example keys, and of bytes of their names.
const EXAMPLES: usize = 3;
const LONGEST_NAME: usize = 256;
/// Bytes of a value that are searched for something random.
const EXAMINED: usize = 256;
/// Seeds of the hashes of values and names.
const VALUE_SEED: u64 = 0x1319_8a2e_0370_7344;
const NAME_SEED: u64 = 0xa409_3822_299f_31d0;

/// Sample of the values of the locks of a pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tokens {
    most: usize,
    /// Least form of the distinct values that were left out.
    cut: Option<TokenForm>,
    /// By [identity](value_id).
    lowest: BTreeMap<u64, TokenUse>,
    /// Locks whose values may be in the samples.
    compared: Weight,
    /// Number of locks with a token, compared or not.
    with_token: u64,
    sampled: BottomK<SampledLock>,
    /// Locks whose value is no token.
    missing: Weight,
    /// The heaviest of these, the heaviest first.
    examples: Vec<LockExample>,
}

/// Locks that hold one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUse {
    /// Number and memory of the locks.
    pub locks: Weight,
    /// Lowest and highest hash of their names: equal if all have one name, as on the instances of a Redlock.
    pub names: (u64, u64),
}

/// Value of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownToken {
    /// Identity of the value.
    pub value: u64,
    /// Locks that hold it.
    pub uses: TokenUse,
    /// True if number and memory of the locks are estimated from a sample of locks.
    pub estimated: bool,
}

/// Form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TokenForm {
    /// A word, a number, or another constant.
    Constant,
    /// Random without a UUID, so that it can be the id of a client with several locks.
    Random,
    /// With a UUID in its usual form, by which libraries name a client with all its locks.
    Uuid,
}

/// Lock of the sample of locks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SampledLock {
    /// Upper half of the hash of its name.
    name: u32,
    /// Identity of its value.
    value: u64,
}

impl SampleEntry for SampledLock {
    const LAST: SampledLock = SampledLock { name: u32::MAX, value: u64::MAX };

    fn upper(self) -> u32 {
        self.name
    }
}

/// Whether more than half of the locks of a pattern hold one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Majority {
    /// No value is held by more than half.
    None,
    /// One is, with this identity.
    Held(u64),
    /// The sample is too small to tell.
    Unknown,
}

impl TokenUse {
    /// Adds locks with the same value.
    pub fn merge(&mut self, other: TokenUse) {
        self.locks.merge(other.locks);
        self.names = (self.names.0.min(other.names.0), self.names.1.max(other.names.1));
    }

    /// Returns whether locks of different names hold the value.
    pub fn is_shared(&self) -> bool {
        self.names.0 != self.names.1
    }
}

/// Value of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockValue {
    /// Too short for a token.
    NoToken,
    /// A string, or a hash whose tokens name no client.
    Token {
        /// [Identity](value_id) of the value, or of all that is long enough for a token in a hash.
        id: u64,
        /// Form of the value.
        form: TokenForm,
    },
    /// A hash with a token that may name a client, or a value that cannot be read or is too large.
    NotCompared,
}

impl TokenForm {
    fn of(text: &[u8]) -> Self {
        match () {
            () if random::has_uuid(text) => TokenForm::Uuid,
            () if random::has_random(text) => TokenForm::Random,
            () => TokenForm::Constant,
        }
    }

    /// Returns the form of the value with this identity.
    pub fn of_id(id: u64) -> Self {
        match id >> FORM_SHIFT {
            0 => TokenForm::Constant,
            1 => TokenForm::Random,
            _ => TokenForm::Uuid,
        }
    }
}

/// Place of the form in the identity of a value.
const FORM_SHIFT: u32 = 62;

/// Returns the identity of a value: its form, then as much of its hash as fits.
fn value_id(form: TokenForm, hash: u64) -> u64 {
    let form = match form {
        TokenForm::Constant => 0,
        TokenForm::Random => 1,
        TokenForm::Uuid => 2,
    };
    form << FORM_SHIFT | hash >> (u64::BITS - FORM_SHIFT)
}

impl LockValue {
    /// Reads the value of a lock; those shorter than `min` are no tokens, nor are those that [any client would write](is_constant) or
    /// that [show](is_predictable) that nothing in them is random. Lengths are in characters, or in bytes if a value is no text.
    ///
    /// A hash has a token if one of its fields or values is long enough, as the fields of a lock that counts its holders are. Those
    /// name a client and its thread, which may hold several locks, so only texts that name none, without a digit, are compared. Numbers
    /// that say more about the lock, such as its expiry, are neither.
    pub fn of(record: &Record<'_>, min: u64, room: &mut PeekBuffers) -> LockValue {
        let Some(raw) = record.raw else { return LockValue::NotCompared };
        let length = record.length.unwrap_or_default();
        let is_token = |text: &&[u8]| characters(text) as u64 >= min;
        let form = |text: &[u8]| TokenForm::of(text.get(..EXAMINED).unwrap_or(text));
        let may_name_client = |text: &[u8]| text.iter().any(u8::is_ascii_digit) || form(text) != TokenForm::Constant;
        let is_long = length > MAX_PARTS as u64;
        let (mut has_token, mut value) = (is_long, LockValue::NotCompared);
        // For a hash, the sum of its tokens' hashes, which does not depend on their order.
        let (mut sum, mut compared, mut names_client) = (0u64, false, is_long);
        match record.kind {
            Kind::String if length < min => has_token = false,
            _ => raw.peek(room, |part| match part {
                ValuePart::String(text) => {
                    let scalar = unwrapped(text);
                    let form = form(&unboxed(text));
                    let text_of = scalar.trim_ascii();
                    let says_nothing = || is_constant(text_of, record.key) || is_predictable(text_of, record);
                    // Its digits look random, and are a date.
                    let is_date = || is_stamp(text_of, record.expires_at);
                    let is_bad = if form == TokenForm::Constant { says_nothing() } else { is_date() };
                    has_token = is_token(&&*scalar) && !is_bad;
                    value = LockValue::Token { id: value_id(form, hash(VALUE_SEED ^ length, text)), form };
                }
                ValuePart::Pair(field, text) => {
                    let is_detail = is_detail(field, text);
                    [field, text].into_iter().filter(is_token).for_each(|token| {
                        has_token = true;
                        if !is_detail {
                            compared = true;
                            names_client |= may_name_client(token);
                            sum = sum.wrapping_add(hash(VALUE_SEED ^ length, token));
                        }
                    });
                }
                ValuePart::Element(_) => {}
            }),
        }
        match has_token {
            false => LockValue::NoToken,
            true if record.kind == Kind::Hash && compared && !names_client => {
                LockValue::Token { id: value_id(TokenForm::Constant, sum), form: TokenForm::Constant }
            }
            true => value,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LockExample {
    memory: u64,
    db: u64,
    key: Box<[u8]>,
}

impl Tokens {
    /// Creates an empty sample of at most `most` distinct values.
    pub fn new(most: usize) -> Self {
        Tokens {
            most,
            cut: None,
            lowest: BTreeMap::new(),
            compared: Weight::default(),
            with_token: 0,
            sampled: BottomK::new(most_locks(most)),
            missing: Weight::default(),
            examples: Vec::new(),
        }
    }

    /// Adds a lock. Returns the growth in bytes.
    pub fn observe(&mut self, record: &Record<'_>, needs: TokenNeeds, room: &mut PeekBuffers) -> usize {
        match LockValue::of(record, needs.min, room) {
            LockValue::NoToken => self.add_missing(record),
            LockValue::NotCompared => 0,
            LockValue::Token { id, form } => {
                self.with_token = self.with_token.saturating_add(1);
                if form == TokenForm::Uuid && !needs.uuids { 0 } else { self.compare(record, id) }
            }
        }
    }

    fn compare(&mut self, record: &Record<'_>, value: u64) -> usize {
        self.compared.add(record.memory);
        let name = hash(NAME_SEED, record.key);
        let lock = SampledLock { name: bottom_k::upper(bottom_k::hash(NAME_SEED, record.key)), value };
        self.sampled.offer(lock) + self.offer(value, TokenUse { locks: weight(record), names: (name, name) })
    }

    fn add_missing(&mut self, record: &Record<'_>) -> usize {
        self.missing.add(record.memory);
        let key = kept_name::stored(record.key, LONGEST_NAME).as_ref().into();
        self.offer_example(LockExample { memory: record.memory.0, db: record.db, key });
        size_of::<LockExample>() + LONGEST_NAME.min(record.key.len())
    }

    fn offer_example(&mut self, example: LockExample) {
        self.examples.push(example);
        self.sort_examples();
    }

    fn sort_examples(&mut self) {
        self.examples.sort_by(|one, other| {
            (std::cmp::Reverse(one.memory), one.db, &one.key).cmp(&(
                std::cmp::Reverse(other.memory),
                other.db,
                &other.key,
            ))
        });
        self.examples.truncate(EXAMPLES);
    }

    fn offer(&mut self, value: u64, new: TokenUse) -> usize {
        if let Some(known) = self.lowest.get_mut(&value) {
            known.merge(new);
            return 0;
        }
        self.lowest.insert(value, new);
        self.keep(self.most);
        size_of::<(u64, TokenUse)>()
    }

    /// Lowers the limit to `most` distinct values.
    pub fn keep(&mut self, most: usize) {
        self.most = self.most.min(most);
        self.sampled.keep(most_locks(self.most));
        while self.lowest.len() > self.most {
            let form = self.lowest.pop_last().map(|(value, _)| TokenForm::of_id(value));
            self.cut = least(self.cut, form);
        }
    }

    /// Merges another sample; the smaller limit of the two applies.
    pub fn merge(&mut self, other: Tokens) {
        self.cut = least(self.cut, other.cut);
        self.keep(other.most);
        other.lowest.into_iter().for_each(|(value, uses)| _ = self.offer(value, uses));
        self.compared.merge(other.compared);
        self.with_token = self.with_token.saturating_add(other.with_token);
        self.sampled.merge(other.sampled);
        self.missing.merge(other.missing);
        self.examples.extend(other.examples);
        self.sort_examples();
    }

    /// Assigns all locks so far to database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.examples.iter_mut().for_each(|example| example.db = db);
        self.sort_examples();
    }

    /// Returns the locks whose value is no token.
    pub fn missing(&self) -> Weight {
        self.missing
    }

    /// Returns the heaviest locks without a token.
    pub fn examples(&self) -> impl Iterator<Item = Example> {
        self.examples.iter().map(|example| Example {
            db: example.db,
            key: Key::kept(&example.key, LONGEST_NAME),
            memory: Bytes(example.memory).known(),
        })
    }

    /// Returns the values of the sample by their identities, ascending: with exact numbers, or estimated from the sampled locks for
    /// values that several of these hold and that were left out otherwise.
    pub fn known(&self) -> Vec<KnownToken> {
        let exact = |(&value, &uses): (&u64, &TokenUse)| KnownToken { value, uses, estimated: false };
        let mut known: Vec<KnownToken> = self.lowest.iter().map(exact).collect();
        if self.cut.is_some() {
            known.extend(self.frequent().filter(|token| token.uses.is_shared()));
            known.sort_unstable_by_key(|token| token.value);
        }
        known
    }

    /// Returns the values of the sampled locks that are not among the distinct values.
    fn frequent(&self) -> impl Iterator<Item = KnownToken> {
        let mut locks: Vec<SampledLock> = self.sampled.entries().collect();
        locks.sort_unstable_by_key(|lock| (lock.value, lock.name));
        let all = locks.len() as u64;
        let of_value: Vec<Vec<SampledLock>> =
            locks.chunk_by(|one, other| one.value == other.value).map(<[_]>::to_vec).collect();
        let is_left_out =
            |locks: &Vec<SampledLock>| locks.first().is_some_and(|lock| !self.lowest.contains_key(&lock.value));
        of_value.into_iter().filter(is_left_out).filter_map(move |locks| {
            let (first, last) = (locks.first()?, locks.last()?);
            let share = |of: u64| scaled(of, locks.len() as u64, all);
            let locks = Weight { keys: share(self.compared.keys), memory: Bytes(share(self.compared.memory.0)) };
            let name = |lock: &SampledLock| u64::from(lock.name) << 32;
            let uses = TokenUse { locks, names: (name(first), name(last)) };
            Some(KnownToken { value: first.value, uses, estimated: true })
        })
    }

    /// Returns whether a value that is random but no UUID is held by `least` locks or more, and by more than half of those with a token.
    pub fn majority(&self, least: u64) -> Majority {
        let is_random = |value: u64| TokenForm::of_id(value) == TokenForm::Random;
        let most = self.lowest.iter().filter(|(value, _)| is_random(**value)).max_by_key(|(_, uses)| uses.locks.keys);
        if let Some((value, uses)) = most
            && uses.locks.keys > self.with_token / 2
        {
            return if uses.locks.keys >= least { Majority::Held(*value) } else { Majority::None };
        }
        // Values with random parts are left out first.
        if self.cut.is_none() || self.compared.keys <= self.with_token / 2 {
            return Majority::None;
        }
        let frequent = self.frequent().filter(|token| is_random(token.value)).max_by_key(|token| token.uses.locks.keys);
        let Some(KnownToken { value, uses, .. }) = frequent else { return Majority::None };
        // Three standard deviations of the share of one half among the sampled locks, in locks.
        let (all, half) = (self.compared.keys as f64, self.with_token as f64 / 2.0);
        let (held, chance) = (uses.locks.keys as f64, 1.5 * all / (self.sampled.len().max(1) as f64).sqrt());
        match () {
            () if held - chance > half && uses.locks.keys >= least => Majority::Held(value),
            () if held + chance > half => Majority::Unknown,
            () => Majority::None,
        }
    }

    /// Returns the least form of the distinct values that were left out.
    pub fn cut(&self) -> Option<TokenForm> {
        self.cut
    }
}

/// Returns the limit of the sample of locks beside that of distinct values.
fn most_locks(most: usize) -> usize {
    most.clamp(FEWEST_LOCKS, MOST_LOCKS)
}

/// Returns the lesser of two forms.
fn least(one: Option<TokenForm>, other: Option<TokenForm>) -> Option<TokenForm> {
    one.into_iter().chain(other).min()
}

/// Returns `whole * part / all`, rounded down.
fn scaled(whole: u64, part: u64, all: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(part) / u128::from(all.max(1))).unwrap_or(u64::MAX)
}

/// Returns the number of characters of a text, or of bytes of anything else.
fn characters(text: &[u8]) -> usize {
    std::str::from_utf8(text).map_or(text.len(), |text| text.chars().count())
}

fn weight(record: &Record<'_>) -> Weight {
    let mut weight = Weight::default();
    weight.add(record.memory);
    weight
}

fn hash(seed: u64, text: &[u8]) -> u64 {
    bottom_k::finish(bottom_k::hash(seed, text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::testing::record;
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;

    const NEEDS: TokenNeeds = TokenNeeds { min: 8, uuids: false };

    fn add(tokens: &mut Tokens, name: &str, value: &str) {
        let bytes = [&[value.len() as u8], value.as_bytes()].concat();
        let raw = Some(RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE });
        let record = Record { raw, length: Some(value.len() as u64), ..record(name.as_bytes()) };
        tokens.observe(&record, NEEDS, &mut PeekBuffers::default());
    }

    fn add_hash(tokens: &mut Tokens, bytes: &[u8], length: u64) {
        let raw = Some(RawValue { value_type: ValueType::Hash, bytes, templates: Templates::NONE });
        let record = Record { raw, kind: Kind::Hash, length: Some(length), ..record(b"lock:a") };
        tokens.observe(&record, NEEDS, &mut PeekBuffers::default());
    }

    fn numbers(tokens: &Tokens) -> Vec<u64> {
        tokens.known().iter().map(|token| token.uses.locks.keys).collect()
    }

    #[test]
    fn short_values_are_no_tokens_and_shared_ones_are_told() {
        let mut tokens = Tokens::new(9);
        for (name, value) in
            [("a", "1"), ("b", ""), ("c", "1234567"), ("d", "12345678"), ("e", "12345678"), ("f", "abcdefgh")]
        {
            add(&mut tokens, name, value);
        }
        add(&mut tokens, "f", "abcdefgh");
        assert_eq!((tokens.missing().keys, tokens.examples().count(), tokens.cut()), (3, 3, None));
        let mut uses: Vec<_> = tokens.known().iter().map(|it| (it.uses.locks.keys, it.uses.is_shared())).collect();
        uses.sort_unstable();
        // The second holder of `abcdefgh` is the same lock on another instance.
        assert_eq!(uses, [(2, false), (2, true)]);
    }

    /// Returns pseudo-random hexadecimal digits.
    fn random_hex(seed: u64) -> String {
        format!("{:016x}{:016x}", hash(1, &seed.to_le_bytes()), hash(2, &seed.to_le_bytes()))
    }

    #[test]
    fn random_values_displace_no_constant() {
        let mut tokens = Tokens::new(8);
        for lock in 0..500u64 {
            add(&mut tokens, &format!("lock:{lock}"), &random_hex(lock));
            add(&mut tokens, &format!("lock:u{lock}"), &format!("8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d{lock:04x}"));
        }
        (0..3).for_each(|lock| add(&mut tokens, &format!("lock:c{lock}"), "wagon-service"));
        assert_eq!(
            (tokens.cut(), tokens.compared.keys, tokens.majority(20)),
            (Some(TokenForm::Random), 503, Majority::None)
        );
        let shared: Vec<_> = tokens.known().into_iter().filter(|token| token.uses.is_shared()).collect();
        let [token] = shared[..] else { panic!("{shared:?}") };
        assert_eq!(
            (token.uses.locks.keys, token.estimated, TokenForm::of_id(token.value)),
            (3, false, TokenForm::Constant)
        );
    }

    #[test]
    fn sampled_locks_show_values_that_were_left_out() {
        for number in 0..40 {
            let mut tokens = Tokens::new(8);
            let constant = format!("service-{number}");
            for lock in 0..1_000 {
                add(&mut tokens, &format!("lock:a{lock}"), &format!("host-{lock}:1790000000000"));
                add(&mut tokens, &format!("lock:b{lock}"), &constant);
            }
            assert_eq!(tokens.cut(), Some(TokenForm::Constant));
            let shared: Vec<_> = tokens.known().into_iter().filter(|token| token.uses.is_shared()).collect();
            let [token] = shared[..] else { panic!("{number}: {shared:?}") };
            let keys = token.uses.locks.keys;
            assert!(if token.estimated { (400..1_600).contains(&keys) } else { keys == 1_000 }, "{number}: {token:?}");
        }
    }

    #[test]
    fn a_random_value_is_held_by_most_locks_or_not() {
        let majority = |held: u64, others: u64, most: usize| {
            let mut tokens = Tokens::new(most);
            (0..held).for_each(|lock| add(&mut tokens, &format!("lock:a{lock}"), &random_hex(7_000_000)));
            (0..others).for_each(|lock| add(&mut tokens, &format!("lock:b{lock}"), &random_hex(lock)));
            tokens.majority(20)
        };
        assert!(matches!(majority(30, 29, 1024), Majority::Held(_)) && majority(29, 30, 1024) == Majority::None);
        assert_eq!(majority(19, 0, 1024), Majority::None);
        // Of the many others, only some are kept.
        let of = |held, others| (8..40).map(|most| majority(held, others, most)).collect::<Vec<_>>();
        assert!(of(1_900, 100).iter().all(|most| matches!(most, Majority::Held(_))));
        assert!(of(100, 1_900).iter().all(|most| *most == Majority::None));
        assert!(of(1_000, 1_001).iter().all(|most| !matches!(most, Majority::Held(_))));
    }

    #[test]
    fn parts_of_the_name_and_serialized_words_are_no_tokens() {
        let missing = |name: &str, value: &str| {
            let mut tokens = Tokens::new(9);
            add(&mut tokens, name, value);
            tokens.missing().keys == 1
        };
        assert!(missing("lock:order:20251126000001", "20251126000001") && missing("lock:shop:order", "shop:order"));
        assert!(missing("lock:a", "[\"java.lang.Long\",1]") && missing("lock:a", "s:6:\"locked\";"));
        // Nothing random in them.
        assert!(missing("lock:a", "1700000000037") && missing("lock:a", "\"2023-11-14 22:13:20\""));
        assert!(missing("lock:a", "http-nio-8080-exec-1") && missing("lock:a", "10.0.0.3:8080"));
        // The name of a host, which is the same for all of its clients.
        let LockValue::Token { form, .. } = lock_value(b"iZbp13k8s9d7f6g5h4j3Z") else { panic!() };
        assert_eq!(form, TokenForm::Constant);
        assert!(!missing("lock:a", "[\"java.lang.String\",\"host-7:12\"]"));
        // Words and states are measured in characters; what names its holder may be in Chinese.
        for value in ["加锁", "已锁定", "分布式锁", "processing", "00000000", "order-lock-10001"] {
            assert!(missing("shop:lock:order:10001", value), "{value}");
        }
        assert!(!missing("lock:order:1", "订单服务实例甲一号") && !missing("lock:order:1", "order-service"));
        // `1` and a random number, as Java serializes a `Long`.
        let long = |value: u64| {
            let class = b"\xac\xed\0\x05sr\0\x0ejava.lang.Long;\x8b\xe4\x90\xcc\x8f#\xdf\x02\0\x01J\0\x05valuexr\0\x10\
                java.lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\x02\0\0xp";
            lock_value(&[&class[..], &value.to_be_bytes()].concat())
        };
        assert_eq!(long(1), LockValue::NoToken);
        let LockValue::Token { form, .. } = long(7_261_548_390_215_467_382) else { panic!() };
        assert_eq!(form, TokenForm::Random);
        // A word that Python pickles, and a UUID.
        assert_eq!(lock_value(b"\x80\x04\x8c\x06locked\x94."), LockValue::NoToken);
        let LockValue::Token { form, .. } = lock_value(b"\x80\x04\x8c\x0fdispatch-center\x94.") else { panic!() };
        assert_eq!(form, TokenForm::Constant);
        let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
        assert!(!missing(&format!("lock:{uuid}"), uuid), "perhaps the holder is in the name");
    }

    fn lock_value(value: &[u8]) -> LockValue {
        let bytes = [&[0x40, u8::try_from(value.len()).unwrap()], value].concat();
        let raw = Some(RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE });
        let record = Record { raw, length: Some(value.len() as u64), ..record(b"lock:a") };
        LockValue::of(&record, 8, &mut PeekBuffers::default())
    }

    #[test]
    fn a_hash_needs_one_long_field_or_value() {
        let mut tokens = Tokens::new(9);
        add_hash(&mut tokens, b"\x01\x268d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:1\x011", 1);
        assert_eq!((tokens.missing().keys, tokens.known().len()), (0, 0));
        add_hash(&mut tokens, b"\x01\x0ahost-7:221\x011", 1);
        assert_eq!((tokens.missing().keys, tokens.known().len()), (0, 0));
        // No digit: a constant, whatever the order of the fields.
        add_hash(&mut tokens, b"\x02\x05owner\x0dorder-service\x08hostname\x011", 2);
        add_hash(&mut tokens, b"\x02\x08hostname\x011\x05owner\x0dorder-service", 2);
        assert_eq!((tokens.missing().keys, numbers(&tokens)), (0, vec![2]));
        add_hash(&mut tokens, b"\x01\x05owner\x03job", 1);
        assert_eq!(tokens.missing().keys, 1);
    }

    #[test]
    fn the_expiry_in_a_hash_names_no_holder() {
        let mut tokens = Tokens::new(9);
        add_hash(&mut tokens, b"\x02\x05owner\x0bcore-teller\x06expire\x0a1795776000", 2);
        add_hash(&mut tokens, b"\x02\x05owner\x0bcore-teller\x06expire\x0a1795779999", 2);
        assert_eq!((tokens.missing().keys, numbers(&tokens)), (0, vec![2]));
        // Its digits do not make a token, but nothing else is compared either.
        let mut tokens = Tokens::new(9);
        add_hash(&mut tokens, b"\x02\x05owner\x03job\x06expire\x0a1795776000", 2);
        assert_eq!((tokens.missing().keys, tokens.known().len()), (0, 0));
        add_hash(&mut tokens, b"\x02\x05owner\x0a1795776000\x04mode\x01x", 2);
        assert_eq!((tokens.missing().keys, tokens.known().len()), (0, 0));
    }

    proptest! {
        #[test]
        fn splitting_and_order_do_not_matter(
            locks in proptest::collection::vec(("[a-z]{1,2}", "[a-c]{0,3}|[ab]{8}|[a-d]{9}"), 0..60), cut in 0usize..60, most in 1usize..20,
        ) {
            let sample = |locks: &[(String, String)], most| {
                let mut tokens = Tokens::new(most);
                locks.iter().for_each(|(name, value)| add(&mut tokens, name, value));
                tokens
            };
            let shown = |tokens: &Tokens| postcard::to_stdvec(tokens).unwrap();
            let (left, right) = locks.split_at(cut.min(locks.len()));
            let whole = shown(&sample(&locks, most));
            for (one, other) in [(left, right), (right, left)] {
                let mut merged = sample(one, most);
                merged.merge(sample(other, most));
                prop_assert_eq!(shown(&merged), whole.clone());
            }
            let mut later = sample(left, MOST_TOKENS);
            later.merge(sample(right, most));
            prop_assert_eq!(shown(&later), whole);
        }
    }
}
