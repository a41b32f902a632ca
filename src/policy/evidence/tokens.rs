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
pub const MAX_TOKENS: usize = 1024;
/// Maximum number of sampled locks per pattern, and the number that is kept however many patterns there are.
const MAX_LOCKS: usize = 256;
const MIN_LOCKS: usize = 32;
/// Maximum number of example keys, and of bytes of their names.
const EXAMPLES: usize = 3;
const MAX_NAME_LEN: usize = 256;
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
    pub fn of(record: &Record<'_>, min: u64, buffers: &mut PeekBuffers) -> LockValue {
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
            _ => raw.peek(buffers, |part| match part {
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
    pub fn observe(&mut self, record: &Record<'_>, needs: TokenNeeds, buffers: &mut PeekBuffers) -> usize {
        match LockValue::of(record, needs.min, buffers) {
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
        let hashed = bottom_k::hash(NAME_SEED, record.key);
        let (name, lock) = (bottom_k::finish(hashed), SampledLock { name: bottom_k::upper(hashed), value });
        self.sampled.offer(lock) + self.offer(value, TokenUse { locks: weight(record), names: (name, name) })
    }

    fn add_missing(&mut self, record: &Record<'_>) -> usize {
        self.missing.add(record.memory);
        let key = kept_name::stored(record.key, MAX_NAME_LEN).as_ref().into();
        self.offer_example(LockExample { memory: record.memory.0, db: record.db, key });
        size_of::<LockExample>() + MAX_NAME_LEN.min(record.key.len())
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
            key: Key::kept(&example.key, MAX_NAME_LEN),
            memory: Bytes(example.memory).known(),
        })
    }

    /// Returns the values of the sample by their identities, ascending: with exact numbers, or estimated from the sampled locks for
    /// values that several of these hold and that were left out otherwise.
    pub fn known(&self) -> Vec<KnownToken> {
        let exact = |(&value, &uses): (&u64, &TokenUse)| KnownToken { value, uses, estimated: false };
        let mut known: Vec<KnownToken> = self.lowest.iter().map(exact).collect();
        if self.cut.is_some() {
            known.extend(self.frequent().into_iter().filter(|token| token.uses.is_shared()));
            known.sort_unstable_by_key(|token| token.value);
        }
        known
    }

    /// Returns the values of the sampled locks that are not among the distinct values.
    fn frequent(&self) -> Vec<KnownToken> {
        let mut locks: Vec<SampledLock> = self.sampled.entries().collect();
        locks.sort_unstable_by_key(|lock| (lock.value, lock.name));
        let all = locks.len() as u64;
        let estimate = |locks: &[SampledLock]| {
            let (first, last) = (locks.first()?, locks.last()?);
            if self.lowest.contains_key(&first.value) {
                return None;
            }
            let share = |of: u64| scaled(of, locks.len() as u64, all);
            let locks = Weight { keys: share(self.compared.keys), memory: Bytes(share(self.compared.memory.0)) };
            let name = |lock: &SampledLock| u64::from(lock.name) << 32;
            let uses = TokenUse { locks, names: (name(first), name(last)) };
            Some(KnownToken { value: first.value, uses, estimated: true })
        };
        locks.chunk_by(|one, other| one.value == other.value).filter_map(estimate).collect()
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
        let random = self.frequent().into_iter().filter(|token| is_random(token.value));
        let frequent = random.max_by_key(|token| token.uses.locks.keys);
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
    most.clamp(MIN_LOCKS, MAX_LOCKS)
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
mod tests;
