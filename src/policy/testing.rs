//! Keys for the tests of rules.

use super::checks::{Checks, Judged};
use super::context::Context;
use super::dictionary::Matched;
use super::file::{self, PatternSyntax};
use super::key_view::KeyView;
use super::rule::{KeyRule, Violation};
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::record::{Encoding, Kind, Record};
use crate::units::Bytes;

/// A short string of this name.
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
        expires_at: None,
        idle: None,
        freq: None,
        fields_with_ttl: None,
        stream: None,
        value: Default::default(),
        raw: None,
    }
}

/// Shows a short string of this name to `see`.
pub fn with_name<T>(name: &[u8], context: &Context, see: impl FnOnce(&KeyView<'_>) -> T) -> T {
    see(&KeyView { record: &record(name), context, matched: Matched::default() })
}

/// What a rule says of a name.
pub fn check_name(rule: &dyn KeyRule, name: &str) -> Option<Violation> {
    check_bytes(rule, name.as_bytes())
}

/// What a rule says of a name that may be no text.
pub fn check_bytes(rule: &dyn KeyRule, name: &[u8]) -> Option<Violation> {
    with_name(name, &Context::default(), |view| rule.check(view))
}

/// What a rule says of a key.
pub fn check_record(rule: &dyn KeyRule, record: &Record<'_>, context: &Context) -> Option<Violation> {
    rule.check(&KeyView { record, context, matched: Matched::default() })
}

/// A policy of this text, ready.
pub fn checks(text: &str) -> Checks {
    checks_in(text, Context::default())
}

/// The same with something known besides.
pub fn checks_in(text: &str, context: Context) -> Checks {
    let classifier = Classifier::default();
    let policy = file::parse(text, "test", PatternSyntax { separators: b":", classifier: &classifier }).unwrap();
    Checks::new(policy, context).unwrap()
}

/// By how much a short string of this name, changed by `change`, breaks the only rule of a policy.
pub fn broken_by<'n>(checks: &Checks, name: &'n str, change: impl FnOnce(&mut Record<'n>)) -> Option<Violation> {
    let mut record = record(name.as_bytes());
    change(&mut record);
    let (mut judged, mut pattern) = (Judged::default(), PatternBuf::default());
    Classifier::default().classify(record.key, &mut pattern);
    checks.judge(&record, &pattern, &mut judged);
    (judged.broken == 1).then(|| judged.violations[0])
}

/// Whether such a key breaks it.
pub fn breaks<'n>(checks: &Checks, name: &'n str, change: impl FnOnce(&mut Record<'n>)) -> bool {
    broken_by(checks, name, change).is_some()
}

/// What is said of a key that breaks the rules of these bits.
pub fn broken(bits: u64) -> Judged {
    let mut judged = Judged::default();
    judged.broken = bits;
    judged
}
