//! Tests: the name pass agrees with the rules, only the most severe violated limit of a rule counts, and declarations of
//! the policy apply to the keys that match their patterns.

use proptest::prelude::*;

use super::*;
use crate::pattern::segment::Separators;
use crate::policy::KeyView;
use crate::policy::dictionary::Matched;
use crate::policy::rule::Violation;
use crate::policy::testing::{checks, checks_in, record};
use crate::rdb::payload::Payload;
use crate::rdb::peek::RawValue;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::record::{Record, ValueFacts};
use crate::units::Bytes;

/// Judges a key under the pattern of its name.
fn judged(checks: &Checks, record: &Record<'_>) -> Judged {
    let (mut judged, mut pattern) = (Judged::default(), PatternBuf::default());
    Classifier::default().classify(record.key, &mut pattern);
    checks.judge(record, &pattern, &mut judged);
    judged
}

fn ids(checks: &Checks, name: &[u8]) -> Vec<&'static str> {
    let judged = judged(checks, &record(name));
    let broken = |(bit, _): &(usize, &RuleCheck<dyn KeyRule>)| judged.broken >> bit & 1 == 1;
    checks.keys.iter().enumerate().filter(broken).map(|(_, check)| check.meta.id).collect()
}

#[test]
fn a_pattern_has_the_dictionary_entry_of_its_keys() {
    let classifier = Classifier::default();
    let entries = "[[dictionary]]\npattern = \"user:{int}\"\nowner = \"accounts\"\n\
                   [[dictionary]]\npattern = \"cart:**\"\nowner = \"shop\"\n";
    let checks = checks(entries);
    let owner = |pattern: &str| {
        let mut read = PatternBuf::default();
        classifier.read_pattern(pattern, &mut read);
        checks.entry_of(&read).and_then(|entry| entry.owner.as_deref())
    };
    let found = ["user:{int}", "cart:{int}:items", "user:name"].map(owner);
    assert_eq!(found, [Some("accounts"), Some("shop"), None]);
}

const NAMES: &str = "[rules]\n\"key.prefix\" = \"must\"\n\"key.empty-segment\" = \"must\"\n\"key.special-chars\" = \"must\"\n\"key.length\" = \"should\"\n";

fn with_separators(separators: &[u8]) -> Checks {
    checks_in(NAMES, Context { separators: Separators::of(separators), ..Context::default() })
}

#[test]
fn a_good_name_breaks_nothing() {
    let checks = checks(NAMES);
    let names = ["user:profile:12345", "{user:1001}:profile", "lock:task:{7}", "\u{7528}\u{6237}:1", "a:b"];
    names.iter().for_each(|name| assert_eq!(ids(&checks, name.as_bytes()), [""; 0], "{name}"));
}

#[test]
fn bad_names_break_the_rules_of_the_standards() {
    let checks = checks(NAMES);
    assert_eq!(ids(&checks, b"user_profile_12345"), ["key.prefix"]);
    assert_eq!(ids(&checks, b"12345:name"), ["key.prefix"]);
    assert_eq!(ids(&checks, b"user:profile:"), ["key.empty-segment"]);
    assert_eq!(ids(&checks, b""), ["key.empty-segment", "key.prefix"]);
    assert_eq!(ids(&checks, b"user:\xff"), ["key.special-chars"]);
    assert_eq!(ids(&checks, &[b"u:".repeat(65), b" ".to_vec()].concat()), ["key.length", "key.special-chars"]);
}

#[test]
fn names_divide_by_the_separators_in_force() {
    let checks = with_separators(b"|/");
    assert_eq!(ids(&checks, b"user:1"), ["key.prefix"]);
    assert_eq!(ids(&checks, b"user|1/name"), [""; 0]);
    assert_eq!(ids(&checks, b"user|/1"), ["key.empty-segment"]);
}

#[test]
fn only_the_most_severe_violated_limit_of_a_rule_counts() {
    let checks = checks(
        "[[rules.\"key.length\"]]\nseverity = \"should\"\nmax = 4\n[[rules.\"key.length\"]]\nseverity = \"must\"\nmax = 8\n",
    );
    let severities = |name: &[u8]| {
        let judged = judged(&checks, &record(name));
        let broken = checks.keys.iter().enumerate().filter(|(bit, _)| judged.broken >> bit & 1 == 1);
        broken.map(|(bit, check)| (check.severity, judged.violations[bit])).collect::<Vec<_>>()
    };
    let of = |severity, measured, allowed| vec![(severity, Violation { measured, allowed })];
    assert_eq!(severities(b"abcd"), []);
    assert_eq!(severities(b"abcde"), of(Severity::Should, 5, 4));
    assert_eq!(severities(b"abcdefghi"), of(Severity::Must, 9, 8));
}

#[test]
fn the_dictionary_gives_a_key_its_entry_class_and_budget() {
    let checks = checks(
        "[[ttl_class]]\nname = \"cache\"\npatterns = [\"cache:**\"]\nbudget = \"1MB\"\n\
         [[ttl_class]]\nname = \"kept\"\nrequired = false\n\
         [[dictionary]]\npattern = \"cache:page:{int}\"\nttl = \"kept\"\n",
    );
    let matched = |name: &str| judged(&checks, &record(name.as_bytes())).matched;
    assert_eq!(matched("cache:x"), Matched { class: Some(0), budget: Some(0), ..Matched::default() });
    assert_eq!(matched("cache:page:7"), Matched { entry: Some(0), class: Some(1), ..Matched::default() });
    assert_eq!(matched("user:7"), Matched::default());
}

#[test]
fn a_class_for_some_types_leaves_the_others_without_a_class() {
    let checks = checks(
        "[[ttl_class]]\nname = \"lock\"\npatterns = [\"**:lock:**\"]\ntypes = [\"string\", \"hash\"]\n\
         [rules.\"ttl.missing\"]\nunclassified = false\n",
    );
    let breaking = Kind::ALL.into_iter().filter(|&kind| {
        let record = Record { kind, ..record(b"shop:lock:7") };
        let mut pattern = PatternBuf::default();
        Classifier::default().classify(record.key, &mut pattern);
        !checks.broken_by(&record, &pattern).is_empty()
    });
    assert_eq!(breaking.collect::<Vec<_>>(), [Kind::String, Kind::Hash]);
}

#[test]
fn of_several_classes_the_first_in_order_of_precedence_applies() {
    let class = |name: &str| format!("[[ttl_class]]\nname = \"{name}\"\npatterns = [\"**:{name}:**\"]\n");
    let own = "[[ttl_class]]\nname = \"own\"\npatterns = [\"shop:*:lock:**\"]\n";
    let exempt = "[[exempt]]\npattern = \"**:lock:**\"\nreason = \"x\"\n";
    let checks = checks(&[&class("lock"), &class("cache"), own, exempt].concat());
    let class = |name: &str| {
        let (mut named, mut pattern) = (NameJudged::default(), PatternBuf::default());
        checks.judge_name(&Classifier::default().read(name.as_bytes(), &mut pattern), &mut named);
        assert!(named.exemptions() <= 1, "{name}");
        named.matched.class.map(|class| checks.policy.classes[usize::from(class)].name.as_str())
    };
    assert_eq!((class("a:cache:lock:1"), class("a:lock:cache:1")), (Some("cache"), Some("lock")));
    assert_eq!((class("shop:1:lock:x"), class("lock:lock:lock:x"), class("a:b")), (Some("own"), Some("lock"), None));
}

#[test]
fn exemptions_excuse_breaches_by_text_by_match_and_as_a_whole() {
    let checks = checks(
        "[[exempt]]\npattern = \"user:**\"\nrules = [\"db.multiple\"]\nreason = \"x\"\n\
         [[exempt]]\npattern = \"db {int}\"\nrules = [\"db.multiple\"]\nreason = \"x\"\n[[exempt]]\npattern = \"**\"\nrules = [\"slot.skew\"]\nreason = \"x\"\n",
    );
    let by = |rule, pattern: Option<&str>| {
        let breach = Breach { pattern: pattern.map(str::to_owned), is_label: true, ..Breach::default() };
        checks.exemption_of(rule, &breach, &Classifier::default())
    };
    assert_eq!((by("db.multiple", Some("user:{int}")), by("slot.skew", Some("user:{int}"))), (Some(0), Some(2)));
    assert_eq!((by("db.multiple", Some("db 3")), by("db.multiple", Some("dump 3"))), (Some(1), None));
    assert_eq!((by("slot.skew", None), by("db.multiple", None)), (Some(2), None));
}

#[test]
fn an_exemption_of_keys_is_none_of_files_databases_and_budgets() {
    let checks = checks("[[exempt]]\npattern = \"*\"\nreason = \"x\"\n");
    let excused = |pattern: &str, is_label| {
        let breach = Breach { pattern: Some(pattern.to_owned()), is_label, ..Breach::default() };
        checks.exemption_of("memory.growth", &breach, &Classifier::default()).is_some()
    };
    assert!(excused("counter", false));
    for label in ["dump", "db 3", "slot 17"] {
        assert!(!excused(label, true), "{label}");
    }
}

/// Every rule about names, some with two limits; `key.charset` has three, of which the pass can take only one.
const ALL_NAMES: &str = r#"[rules]
"key.hash-tag" = "must"
"key.lowercase" = "must"
"key.prefix" = "must"
"key.special-chars" = "must"
"key.type-suffix" = "must"
[[rules."key.empty-segment"]]
severity = "must"
[[rules."key.empty-segment"]]
severity = "should"
word_separators = ["."]
[[rules."key.empty-segment"]]
severity = "hint"
word_separators = ["-", "."]
[[rules."key.charset"]]
severity = "must"
chars = "a-z0-9:_.{}-"
[[rules."key.charset"]]
severity = "should"
chars = "a-z0-9.:"
[[rules."key.charset"]]
severity = "hint"
chars = "a-z0-9:\u4e00-\u9fff"
[[rules."key.length"]]
severity = "must"
max = 130
[[rules."key.length"]]
severity = "hint"
max = 20
[[rules."key.levels"]]
severity = "must"
min = 2
[[rules."key.levels"]]
severity = "should"
min = 4
[[rules."key.starts-with-letter"]]
severity = "must"
tags = true
[[rules."key.starts-with-letter"]]
severity = "should"
tags = false
"#;

const PIECES: [&[u8]; 28] = [
    b"id",
    b"$",
    b":",
    b":",
    b"{",
    b"}",
    b"a",
    b"b",
    b"1",
    b"42",
    b".",
    b" ",
    b"\\",
    b"\x7f",
    b"\xff",
    b"\xe4",
    b"\xc2\x85",
    b"\xe3\x80\x80",
    b"\xe4\xb8\xad",
    b"user",
    b"User",
    b"-",
    b"`",
    b"\xe2\x80\x8b",
    b"\xe2\x80\x9c",
    b"\xef\xbc\x91",
    b"\xe2\x85\xa3",
    b"\xf0\x9f\x8e\xae",
];
const SEPARATORS: [&[u8]; 10] = [b":", b"", b".", b":.", b"{", b"}", b":{}", b"1", b" :", b"\xff:"];

fn names() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(&PIECES[..]), 0..12).prop_map(|pieces| pieces.concat()),
        prop::collection::vec(prop::sample::select(&PIECES[..8]), 0..6).prop_map(|pieces| pieces.concat()),
        "[a-z]{0,12}(:[a-z.]{0,9}){0,3}[ A-Z]?".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..140),
        (120usize..140).prop_map(|length| [b"u:".to_vec(), b"x".repeat(length)].concat()),
        (110usize..140).prop_map(|length| format!("u:{}", "\u{7528}".repeat(length)).into_bytes()),
        "[a-z]{0,3}[.-]{0,2}[a-z]{0,3}(:[.-]{0,2}[a-z]{0,3}[.-]{0,2}){0,3}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn one_pass_finds_what_the_rules_find_one_by_one(name in names(), separators in prop::sample::select(&SEPARATORS[..])) {
        let checks = checks_in(ALL_NAMES, Context { separators: Separators::of(separators), ..Context::default() });
        let record = record(&name);
        let view = KeyView { record: &record, context: &checks.context, matched: Matched::default() };
        let mut judged = Judged::default();
        checks.judge(&record, &PatternBuf::default(), &mut judged);
        let mut expected: Vec<(usize, &'static str, Violation)> = Vec::new();
        for (bit, check) in checks.keys.iter().enumerate() {
            // The most severe limit of a rule comes first and supersedes the others.
            if let Some(violation) = check.rule.check(&view) && !expected.iter().any(|(_, id, _)| *id == check.meta.id) {
                expected.push((bit, check.meta.id, violation));
            }
        }
        let bits = expected.iter().fold(0u64, |bits, (bit, ..)| bits | 1 << bit);
        prop_assert_eq!(judged.broken, bits, "{:?}", expected);
        let divides: Vec<String> = separators.iter().map(|&byte| char::from(byte).to_string()).collect();
        if let Ok(divides) = Separators::new(&divides) {
            let (classifier, mut buffer) = (Classifier::new(divides), PatternBuf::default());
            let (mut one, mut other) = (NameJudged::default(), NameJudged::default());
            checks.judge_name(&classifier.read(&name, &mut buffer), &mut one);
            classifier.classify(&name, &mut buffer);
            checks.judge_name(&KeyName::Classified(&name, &buffer), &mut other);
            prop_assert_eq!(one, other);
        }
        for (bit, id, violation) in expected.into_iter().filter(|(bit, ..)| checks.keys[*bit].meta.unit.is_some()) {
            prop_assert_eq!(judged.violations[bit], violation, "{}", id);
        }
    }
}

/// Every rule about sizes, some with two limits.
const ALL_SIZES: &str = r#"[rules]
"big.collection-hard" = "should"
"big.hash-fields" = "should"
[rules."big.expiring"]
elements = 20
[[rules."big.elements"]]
severity = "must"
max = 60
[[rules."big.elements"]]
severity = "hint"
max = 10
[rules."big.string"]
max = 50
[[rules."big.total"]]
severity = "must"
max = 900
[[rules."big.total"]]
severity = "should"
max = 500
"#;

proptest! {
    #[test]
    fn the_size_test_skips_no_key_that_breaks_a_rule(
        kind in prop::sample::select(&Kind::ALL[..]),
        length in prop::option::of(prop_oneof![0u64..120, 9_990u64..10_010]),
        memory in 400u64..1_000,
        payload in prop::option::of(200u64..1_000),
        expires in any::<bool>(),
    ) {
        let checks = checks(ALL_SIZES);
        let expires_at = expires.then_some(crate::units::Millis(1));
        // Packed elements gain at most this much.
        let gained = 2 * crate::rdb::payload::PACKED_GAIN * length.unwrap_or(0);
        let payload = payload.map(|payload| Payload { bytes: payload.min(memory + gained), longest: 0 });
        let value = &ValueFacts { payload, ..ValueFacts::NONE };
        let record = Record { kind, length, memory: Bytes(memory), expires_at, value, ..record(b"a:b") };
        let view = KeyView { record: &record, context: &checks.context, matched: Matched::default() };
        let asked = checks.keys.iter().filter(|check| check.rule.kinds().contains(&kind));
        let mut expected: Vec<_> = asked
            .filter(|check| check.rule.check(&view).is_some())
            .map(|check| (check.meta.id, check.severity))
            .collect();
        expected.dedup_by_key(|(id, _)| *id);
        prop_assert_eq!(checks.broken_by(&record, &PatternBuf::default()), expected);
    }
}

/// Returns a list with one packed node of this many strings of 60 bytes.
fn packed_list(elements: usize) -> Vec<u8> {
    let node: Vec<u8> = (0..elements).flat_map(|_| [&[0x80 | 60][..], &[b'x'; 60], &[61]].concat()).collect();
    let len = u32::try_from(node.len() + 7).unwrap();
    let head = [&[1, 2, 0x80][..], &len.to_be_bytes(), &len.to_le_bytes(), &[elements as u8, 0]].concat();
    [&head[..], &node, b"\xff"].concat()
}

fn payload_of_list(checks: &Checks, elements: usize, listed: u64, worst: u64) -> Option<u64> {
    let bytes = packed_list(elements);
    let raw = RawValue { value_type: ValueType::ListQuicklist2, bytes: &bytes, templates: Templates::NONE };
    let length = Some(elements as u64);
    let list = Record { kind: Kind::List, length, memory: Bytes(9_999), raw: Some(raw), ..record(b"queue:1") };
    checks.packed_payload(&list, false, listed, |_| worst).map(|payload| payload.bytes)
}

#[test]
fn blobs_are_not_read_without_a_rule_about_payloads() {
    let checks = checks("[rules.\"big.elements\"]\nmax = 10\n");
    assert_eq!(payload_of_list(&checks, 90, 0, 0), None);
}

#[test]
fn blobs_are_read_only_where_the_payload_matters() {
    let checks = checks(
        "[[rules.\"big.total\"]]\nseverity = \"should\"\nmax = 100\n[[rules.\"big.total\"]]\nseverity = \"must\"\nmax = 4000\n",
    );
    let payload = |elements, listed, worst| payload_of_list(&checks, elements, listed, worst).unwrap_or(0);
    let never = u64::MAX;
    // Bounds of 50 elements of 62 bytes: 2,596 to 3,707.
    assert_eq!((payload(50, never, 0), payload(50, never, 3_706)), (3_000, 3_000));
    assert_eq!(payload(50, never, 3_707), 2_596);
    // By another limit, the bounds are on different sides.
    assert_eq!(payload(50, 2_900, 9_999), 3_000);
    // The same between 4,000 bytes.
    assert_eq!(payload(60, never, 9_999), 3_600);
    assert_eq!(payload(90, never, 9_999), 4_676);
    // No rule is violated.
    assert_eq!(payload(1, never, 0), 0);
}
