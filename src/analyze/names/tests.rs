//! Cached answers about names are equal to computed ones.

use proptest::prelude::*;

use super::*;
use crate::analyze::plan::{Plan, PolicySource, ReadPlan};
use crate::analyze::questions::{LoadedPolicy, questions_with};
use crate::pattern::shape::tests::{siblings, twins};
use crate::pattern::slot::has_tag;
use crate::pattern::tree::TreeLimits;
use crate::policy::presets;
use crate::policy::testing::record;
use crate::policy::{Checks, Judged};
use crate::units::Millis;

/// Every rule about names, some with two limits, and every list that names are matched with; `|` stands for the
/// separator.
const ALL: &str = r#"[rules]
"key.empty-segment" = "must"
"key.hash-tag" = "must"
"key.lowercase" = "must"
"key.prefix" = "must"
"key.special-chars" = "must"
"key.type-suffix" = "must"
"key.registered" = "should"
[[rules."key.charset"]]
severity = "must"
chars = "a-z:_.{}-"
[[rules."key.length"]]
severity = "must"
max = 30
[[rules."key.length"]]
severity = "hint"
max = 10
[[rules."key.levels"]]
severity = "must"
min = 2
[[rules."key.levels"]]
severity = "should"
min = 4
[[rules."key.starts-with-letter"]]
severity = "must"
tags = true
[[ttl_class]]
name = "cache"
patterns = ["sess|**", "{int}|**"]
budget = "1MB"
[[dictionary]]
pattern = "user|{int}"
[[dictionary]]
pattern = "user|{date}|**"
[[exempt]]
pattern = "a|**"
rules = ["key.length"]
reason = "old"
[[exempt]]
pattern = "*|{ip}"
reason = "old"
"#;

/// Rule that treats some digits differently.
const SOME_DIGITS: &str = "[[rules.\"key.charset\"]]\nseverity = \"must\"\nchars = \"a-z0-4:\"\n";

fn policies() -> Vec<PolicySource> {
    let files = [ALL, SOME_DIGITS].map(|text| PolicySource::File { name: "test".to_owned(), text: text.to_owned() });
    presets::names().map(|name| PolicySource::Preset(name.to_owned())).chain(files).collect()
}

fn questions(policy: PolicySource, separators: &str) -> Questions {
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    plan.read.separators = separators.chars().map(String::from).collect();
    plan.policy = match policy {
        PolicySource::File { name, text } => PolicySource::File { name, text: text.replace('|', &separators[..1]) },
        preset @ PolicySource::Preset(_) => preset,
    };
    questions_with(&plan, LoadedPolicy::load(&plan).unwrap(), Some(Millis(0)), &[]).unwrap()
}

/// Returns the final verdict on a key: broken rules, deviations, matches, and exemptions.
fn said(checks: &Checks, judged: &Judged) -> impl PartialEq + std::fmt::Debug + use<> {
    let bits = (0..checks.keys.len()).filter(|bit| (judged.broken | judged.excused) >> bit & 1 == 1);
    let each: Vec<_> = bits.map(|bit| (judged.violations[bit], checks.exemption(judged, bit))).collect();
    (judged.broken, judged.excused, judged.matched, each)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn cached_names_are_judged_like_new_ones(
        twins in prop::collection::vec(prop_oneof![twins(), siblings()], 1..12),
        plain in prop::collection::vec("[a-dA_]{0,2}([:/.][a-c]{0,2}){0,17}", 0..24),
        policy in prop::sample::select(policies()),
        separators in prop::sample::select(&[":", ":/", "-", ".", "_:"][..]),
        order in prop::collection::vec(any::<prop::sample::Index>(), 60),
        top in 1usize..20,
    ) {
        let questions = questions(policy, separators);
        let limits = TreeLimits { top, below: 3, strict_above: 30, ..TreeLimits::default() };
        let mut patterns = PatternStats::new(limits, 0);
        let mut names = NameCache::new(&questions);
        let (mut pattern, mut judged) = (PatternBuf::default(), Judged::default());
        let all: Vec<String> = twins.into_iter().flat_map(|(one, other)| [one, other]).chain(plain).collect();
        for index in order {
            let name = index.get(&all);
            let record = record(name.as_bytes());
            let known = names.know(name.as_bytes(), &questions, &mut patterns);
            questions.checks.judge_named(&record, known.judged, &mut judged);
            prop_assert_eq!(known.tagged, has_tag(name.as_bytes()));
            questions.classifier.classify(name.as_bytes(), &mut pattern);
            let mut expected = Judged::default();
            questions.checks.judge(&record, &pattern, &mut expected);
            prop_assert_eq!(said(&questions.checks, &judged), said(&questions.checks, &expected), "{}", name);
            prop_assert!(patterns.holds(known.leaf));
            prop_assert_eq!(known.leaf, patterns.leaf(&pattern), "{}", name);
        }
    }
}

#[test]
fn a_name_is_cached_the_second_time_and_hits_the_third() {
    let questions = questions(PolicySource::Preset("default".to_owned()), ":");
    let mut patterns = PatternStats::new(TreeLimits::default(), 0);
    let mut names = NameCache::new(&questions);
    for number in 1000..1003 {
        names.know(format!("user:{number}").as_bytes(), &questions, &mut patterns);
    }
    assert!(names.slots.iter().filter(|slot| slot.leaf.is_some()).count() == 1);
}
