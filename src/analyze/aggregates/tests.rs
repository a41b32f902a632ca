//! The fast path for usual keys gives the results of the slow one; exchange of hints between trees of names.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::aggregate::testing::{NOW, OwnedRecord};
use crate::analyze::plan::{Plan, PolicySource, ReadPlan};
use crate::analyze::questions::{LoadedPolicy, questions_with};
use crate::memory::TemplateUse;
use crate::policy::presets;
use crate::rdb::payload::{PACKED_GAIN, Payload};
use crate::record::Encoding;
use crate::units::{Bytes, Millis};

fn questions(policy: PolicySource, reference: Option<Millis>, top: usize) -> Arc<Questions> {
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    (plan.policy, plan.top) = (policy, top);
    Arc::new(questions_with(&plan, LoadedPolicy::load(&plan).unwrap(), reference, &[]).unwrap())
}

/// Generates presets, and a policy with parameterised rules about names and two limits of one rule.
fn policies() -> impl Strategy<Value = PolicySource> {
    let text = "extends = \"default\"\n[rules]\n\"key.lowercase\" = \"must\"\n[[rules.\"big.string\"]]\nseverity = \"must\"\n\
                max = \"90B\"\n[[rules.\"big.string\"]]\nseverity = \"hint\"\nmax = \"70B\"\n\
                [rules.\"big.total\"]\nseverity = \"should\"\nmax = \"200B\"\n";
    let file = PolicySource::File { name: "test".to_owned(), text: text.to_owned() };
    let presets = presets::names().map(|name| PolicySource::Preset(name.to_owned()));
    // Policies other than the default examine every key.
    prop_oneof![
        4 => Just(PolicySource::Preset("default".to_owned())),
        2 => Just(file),
        1 => select(presets.collect::<Vec<_>>()),
    ]
}

/// Generates few names and sizes, so that lists fill and ties are common; occasionally a key of another file or
/// database.
fn records() -> impl Strategy<Value = OwnedRecord> {
    let names = select(
        &["user:1", "user:22", "user:333", "flat", "flatter", "a:b:c", "A:b", "a::b", "{u}:1", "u:\u{4e2d}"][..],
    );
    let kinds = select(&[Kind::String, Kind::String, Kind::Hash, Kind::Zset, Kind::Stream][..]);
    let encodings = select(&[Encoding::Raw, Encoding::Listpack, Encoding::TemplateListpack][..]);
    let sizes = (prop::option::weighted(0.95, 0u64..100), select(&[48, 56, 64, 64, 64, 300, u64::MAX][..]));
    let times = (prop::option::of(-9i64..9_000_000), prop::option::weighted(0.1, 0u64..9));
    let places = (prop_oneof![9 => Just(0), 1 => 1usize..3], prop_oneof![9 => Just(0), 1 => 0u64..99_999]);
    // Memory of a compact hash as an ordinary one, if known, and thousandths of the largest payload it may have then.
    let shared = (prop::option::weighted(0.9, select(&[40, 90, 110, 190, 5_000][..])), 0u64..=1_000);
    let all = (names, kinds, encodings, sizes, times, places, shared);
    all.prop_map(|(name, kind, encoding, sizes, times, (file, db), (ordinary, share))| {
        let mut record = OwnedRecord::of(name, kind, encoding, 0, sizes.1);
        (record.rest.length, record.rest.file, record.rest.db) = (sizes.0, file, db);
        (record.rest.expires_at, record.rest.idle) = (times.0.map(|left| Millis(NOW.0 + left)), times.1);
        if encoding.shares_names() && kind == Kind::Hash {
            record.value.template = ordinary.map(|ordinary| TemplateUse { set: 0, ordinary: Bytes(ordinary) });
            let most = ordinary.unwrap_or(50_000) + sizes.0.unwrap_or_default() * 2 * PACKED_GAIN;
            record.value.payload = Some(Payload { bytes: most * share / 1_000, longest: 1 });
        }
        record
    })
}

/// Returns everything that a report is made of, and the number of usual keys.
fn found(questions: &Arc<Questions>, records: &[OwnedRecord], cuts: [usize; 2], usual: bool) -> (String, u64) {
    let mut keys = 0;
    let mut part = |records: &[OwnedRecord]| {
        let mut part = Aggregates::new(questions);
        part.takes_usual &= usual;
        records.iter().for_each(|record| part.observe(&record.record()));
        keys += part.usual.keys();
        part
    };
    let mut whole = part(&records[..cuts[0]]);
    let mut late = part(&records[cuts[0]..cuts[1]]);
    late.settle_database(3);
    whole.merge(late);
    whole.merge(part(&records[cuts[1]..]));
    let mut report = Report::default();
    let rest = whole.finish(false, &[], &mut report);
    let rest = (rest.instances, rest.what_if, rest.what_if_patterns, rest.patterns_strict);
    (format!("{report:?} {rest:?}"), keys)
}

/// Stores aggregates and reads them into new ones, as if by another process.
fn reread(questions: &Arc<Questions>, aggregates: Aggregates) -> (Aggregates, Vec<u8>) {
    let bytes = postcard::to_stdvec(&aggregates.into_stored()).unwrap();
    let mut fresh = Aggregates::new(questions);
    fresh.add_stored(postcard::from_bytes(&bytes).unwrap()).unwrap();
    (fresh, bytes)
}

/// Returns the report of aggregates that have passed through any number of processes, and their stored form.
fn finished(questions: &Arc<Questions>, aggregates: Aggregates) -> (String, Vec<u8>) {
    let (aggregates, bytes) = reread(questions, aggregates);
    let mut report = Report::default();
    let rest = aggregates.finish(false, &[], &mut report);
    let rest = (rest.instances, rest.what_if, rest.what_if_patterns, rest.patterns_strict, rest.sizes_hidden);
    (format!("{report:?} {rest:?}"), bytes)
}

proptest! {
    #[test]
    fn stored_parts_merge_to_the_whole_in_any_tree(
        policy in policies(),
        knows_time in any::<bool>(),
        top in 0usize..4,
        records in prop::collection::vec((records(), 0usize..5), 1..150),
        merges in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 4),
        strict in prop::option::of(0usize..5),
    ) {
        let questions = questions(policy, knows_time.then_some(NOW), top);
        let part = |part: Option<usize>| {
            let mut aggregates = Aggregates::new(&questions);
            let own = records.iter().filter(|(_, by)| part.is_none_or(|part| part == *by));
            own.for_each(|(record, _)| aggregates.observe(&record.record()));
            if strict.is_some() && (part == strict || part.is_none()) {
                aggregates.patterns.become_strict();
            }
            aggregates
        };
        let mut parts: Vec<Aggregates> = (0..5).map(|number| part(Some(number))).collect();
        for [one, other] in merges {
            let one = parts.swap_remove(one.index(parts.len()));
            let other = parts.swap_remove(other.index(parts.len()));
            let mut merged = reread(&questions, one).0;
            merged.merge(reread(&questions, other).0);
            parts.push(merged);
        }
        prop_assert_eq!(parts.len(), 1);
        prop_assert_eq!(finished(&questions, parts.remove(0)), finished(&questions, part(None)));
    }
}

proptest! {
    #[test]
    fn the_fast_path_gives_the_results_of_the_slow_one(
        policy in policies(),
        knows_time in any::<bool>(),
        top in 0usize..4,
        records in prop::collection::vec(records(), 1..200),
        cuts in [any::<prop::sample::Index>(), any::<prop::sample::Index>()],
    ) {
        let questions = questions(policy, knows_time.then_some(NOW), top);
        let mut cuts = cuts.map(|cut| cut.index(records.len()));
        cuts.sort_unstable();
        prop_assert_eq!(found(&questions, &records, cuts, true).0, found(&questions, &records, cuts, false).0);
    }
}

#[test]
fn most_keys_are_usual() {
    let questions = questions(PolicySource::Preset("default".to_owned()), Some(NOW), 3);
    let record = |number: u64| {
        let mut record = OwnedRecord::string(&format!("user:{number}"), 20, 64 + number % 3 * 16);
        record.rest.expires_at = (number % 5 < 3).then_some(Millis(NOW.0 + 1));
        record
    };
    let records: Vec<_> = (0..1000).map(record).collect();
    let (_, usual) = found(&questions, &records, [1000, 1000], true);
    assert!(usual > 950, "{usual}");
}

#[test]
fn only_confirmed_parts_share_the_hint_of_varied_names() {
    let questions = questions(PolicySource::Preset("default".to_owned()), None, 1);
    let [mut one, mut other] = [0, 1].map(|_| Aggregates::new(&questions));
    one.patterns.become_strict();
    one.exchange_hints(false);
    other.exchange_hints(true);
    assert!(!other.patterns.is_strict());
    one.exchange_hints(true);
    other.exchange_hints(false);
    assert!(other.patterns.is_strict());
}
