//! Helpers for tests of rules.

use super::checks::{Checks, Judged};
use super::context::Context;
use super::dictionary::Matched;
use super::file::{self, PatternSyntax};
use super::key_view::KeyView;
use super::rule::{KeyRule, Violation};
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::rdb::peek::RawValue;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::record::{Encoding, Kind, Record, ValueFacts};
use crate::units::Bytes;

/// Returns the record of a short string with this name.
pub fn record(name: &[u8]) -> Record<'_> {
    Record {
        file: 0,
        db: 0,
        key: name,
        kind: Kind::String,
        module: None,
        encoding: Encoding::Embstr,
        length: Some(10),
        memory: Bytes(80),
        alternatives: &[],
        allocated_elsewhere: &[],
        allocated: Bytes(80),
        disk: Bytes(40),
        content: Bytes(10),
        expires_at: None,
        idle: None,
        freq: None,
        fields_with_ttl: None,
        module_facts: None,
        stream: None,
        value: &ValueFacts::NONE,
        compact: None,
        raw: None,
    }
}

/// Returns a reference to facts about a value that lives as long as the tests.
pub fn facts(value: ValueFacts) -> &'static ValueFacts {
    Box::leak(Box::new(value))
}

/// Returns a string of up to 16 KiB as a dump stores it.
pub fn string_value(text: &[u8]) -> RawValue<'static> {
    raw(ValueType::String, stored(text))
}

/// Returns a hash of such strings.
pub fn hash_value(pairs: &[(&[u8], &[u8])]) -> RawValue<'static> {
    let mut bytes = vec![u8::try_from(pairs.len()).unwrap()];
    pairs.iter().for_each(|(field, value)| bytes.extend([stored(field), stored(value)].concat()));
    raw(ValueType::Hash, bytes)
}

fn raw(value_type: ValueType, bytes: Vec<u8>) -> RawValue<'static> {
    RawValue { value_type, bytes: bytes.leak(), templates: Templates::NONE }
}

/// Returns a string behind its length of 14 bits.
fn stored(text: &[u8]) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    [&[0x40 | length[0], length[1]], text].concat()
}

/// Calls `see` with the view of a short string with this name.
pub fn with_name<T>(name: &[u8], context: &Context, see: impl FnOnce(&KeyView<'_>) -> T) -> T {
    see(&KeyView { record: &record(name), context, matched: Matched::default() })
}

/// Checks a name against a rule.
pub fn check_name(rule: &dyn KeyRule, name: &str) -> Option<Violation> {
    check_bytes(rule, name.as_bytes())
}

/// Checks a name that may be invalid UTF-8 against a rule.
pub fn check_bytes(rule: &dyn KeyRule, name: &[u8]) -> Option<Violation> {
    with_name(name, &Context::default(), |view| rule.check(view))
}

/// Checks a key against a rule.
pub fn check_record(rule: &dyn KeyRule, record: &Record<'_>, context: &Context) -> Option<Violation> {
    rule.check(&KeyView { record, context, matched: Matched::default() })
}

/// Parses and compiles a policy.
pub fn checks(text: &str) -> Checks {
    checks_in(text, Context::default())
}

/// Parses and compiles a policy for this context.
pub fn checks_in(text: &str, context: Context) -> Checks {
    let classifier = Classifier::default();
    let policy = file::parse(text, "test", PatternSyntax { separators: b":", classifier: &classifier }).unwrap();
    Checks::new(policy, context).unwrap()
}

/// Checks a short string of this name, modified by `change`, against the only rule of a policy.
pub fn broken_by<'n>(checks: &Checks, name: &'n str, change: impl FnOnce(&mut Record<'n>)) -> Option<Violation> {
    let mut record = record(name.as_bytes());
    change(&mut record);
    let (mut judged, mut pattern) = (Judged::default(), PatternBuf::default());
    Classifier::default().classify(record.key, &mut pattern);
    checks.judge(&record, &pattern, &mut judged);
    (judged.broken == 1).then(|| judged.violations[0])
}

/// Returns whether `broken_by` finds a violation.
pub fn breaks<'n>(checks: &Checks, name: &'n str, change: impl FnOnce(&mut Record<'n>)) -> bool {
    broken_by(checks, name, change).is_some()
}

/// Returns the result for a key that violates the rules of these bits.
pub fn broken(bits: u64) -> Judged {
    let mut judged = Judged::default();
    judged.broken = bits;
    judged
}
