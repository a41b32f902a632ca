//! Tests the examples of all rules: each is turned into keys, which are observed and checked like those of a file.

use std::sync::Arc;

use crate::aggregate::Aggregate;
use crate::analyze::aggregates::Aggregates;
use crate::analyze::assemble;
use crate::analyze::outcome::FileOutcome;
use crate::analyze::plan::{Plan, PolicySource, ReadPlan};
use crate::analyze::questions::{LoadedPolicy, Questions, questions_with};
use crate::analyze::verdict::FileVerdict;
use crate::error::{Error, ErrorKind};
use crate::policy::capacity::UpgradeEstimate;
use crate::policy::registry;
use crate::policy::rule::{Rule, Text};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::rdb::peek::RawValue;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::record::{Compact, Encoding, Kind, Record, StreamFacts, ValueFacts};
use crate::report::{Checksum, ContainerForm, FileServer, NamedReport, Report, SourceFile, Unknown};
use crate::units::{Bytes, Millis};

/// Time at which samples are taken.
const NOW: Millis = Millis(1_700_000_000_000);

/// Checks a sample against one rule and returns the report.
fn report(rule: &Rule, sample: &RuleSample) -> Report {
    let text = format!("[rules]\n\"{}\" = \"must\"\n{}", rule.meta.id, sample.facts.policy);
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    plan.policy = PolicySource::File { name: rule.meta.id.to_owned(), text };
    plan.inspect_values = sample.keys.iter().any(|key| !key.text.is_empty());
    if let Some(limit) = sample.facts.maxmemory {
        plan.read.config.set("maxmemory", &limit.to_string()).unwrap();
    }
    if let Some(policy) = sample.facts.maxmemory_policy {
        plan.read.config.set("maxmemory-policy", policy).unwrap();
    }
    plan.now = sample.facts.age_hours.map(|hours| Millis(NOW.0 + i64::try_from(hours).unwrap() * 3_600_000));
    if !sample.facts.before.is_empty() {
        let earlier = report(rule, &RuleSample::of(sample.facts.before));
        plan.baseline = Some(Arc::new(NamedReport { name: "before.json".to_owned(), report: earlier }));
    }
    let mut questions = questions_with(&plan, LoadedPolicy::load(&plan).unwrap(), Some(NOW), &[]).unwrap();
    if let Some(permille) = sample.facts.upgraded_permille {
        let memory: u64 = sample.keys.iter().map(|key| key.memory * key.times).sum();
        let upgrade = UpgradeEstimate { model: "a newer server".to_owned(), memory: Bytes(memory * permille / 1000) };
        questions.checks.context.upgrades = vec![upgrade];
    }
    let questions: Arc<Questions> = Arc::new(questions);
    let mut aggregates = Aggregates::new(&questions);
    let mut files = vec![file(0)];
    for (key, number) in sample.keys.iter().flat_map(|key| (1..=key.times).map(move |number| (key, number))) {
        let place = if sample.facts.sharded { keys_of(&files) } else { 0 };
        if place == files.len() {
            files.push(file(place));
        }
        observe(&mut aggregates, key, number, place);
        files[place].row.keys += 1;
        files[place].row.keys_read += 1;
        files[place].row.memory += Bytes(key.memory);
    }
    if sample.facts.damaged {
        damage(&mut files[0]);
    }
    let files = files.into_iter().enumerate().map(|(at, verdict)| FileOutcome::new(at, verdict)).collect();
    assemble::report(&plan, None, aggregates, &[], files, &questions)
}

/// Returns a report without keys, for tests of rules about the snapshot.
pub fn empty_report() -> Report {
    let plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    let questions = Arc::new(questions_with(&plan, LoadedPolicy::load(&plan).unwrap(), Some(NOW), &[]).unwrap());
    assemble::report(&plan, None, Aggregates::new(&questions), &[], Vec::new(), &questions)
}

/// Returns the number of keys so far.
fn keys_of(files: &[FileVerdict]) -> usize {
    files.iter().map(|file| file.row.keys).sum::<u64>().try_into().unwrap()
}

/// Returns the verdict on a sound file without keys.
fn file(place: usize) -> FileVerdict {
    FileVerdict {
        row: source_file(place),
        fault: None,
        over_budget: None,
        damage: Vec::new(),
        warnings: Vec::new(),
        ending: None,
    }
}

/// Returns the row of a sound file without keys.
pub fn source_file(place: usize) -> SourceFile {
    SourceFile {
        name: format!("sample-{place}.rdb"),
        container: ContainerForm::Rdb.into(),
        bytes: Bytes(0),
        trailing_bytes: None,
        rdb_version: 11,
        checksum: Checksum::Ok,
        keys: 0,
        keys_read: 0,
        memory: Bytes(0),
        total: None,
        ctime: Some(NOW.0 / 1000),
        used_mem: None,
        server: Some(FileServer { family: "redis".to_owned(), version: "7.2".to_owned(), guessed_from: None }),
        errors: Vec::new(),
        damaged_keys: 0,
        unknown: Unknown::default(),
        salvage: None,
    }
}

/// Truncates a file.
fn damage(file: &mut FileVerdict) {
    let fault = Error::at(100, ErrorKind::Truncated { needed: 9, left: 4 });
    file.row.checksum = Checksum::NotReached;
    file.row.errors.push((&fault).into());
    file.fault = Some(fault);
}

fn observe(aggregates: &mut Aggregates, key: &SampleKey, number: u64, file: usize) {
    let name = key.name.replace("{i}", &number.to_string());
    let value = stored(key.text);
    let left = key.ttl.map(|ttl| ttl + key.ttl_step * i64::try_from(number - 1).unwrap());
    let stream = StreamFacts { groups: 1, pending: key.pending, most_pending: key.pending, ..StreamFacts::default() };
    aggregates.observe(&Record {
        file,
        db: key.db,
        key: name.as_bytes(),
        kind: key.kind,
        module: None,
        encoding: encoding(key.kind, key.length),
        length: Some(key.length),
        memory: Bytes(key.memory),
        alternatives: &[],
        allocated_elsewhere: &[],
        allocated: Bytes(key.memory),
        disk: Bytes(key.disk),
        content: Bytes(if key.kind == Kind::String { key.length } else { key.disk }),
        expires_at: left.map(|left| Millis(NOW.0 + left * 1000)),
        idle: key.idle,
        freq: None,
        fields_with_ttl: None,
        module_facts: None,
        stream: (key.kind == Kind::Stream).then_some(&stream),
        value: &value_facts(key),
        compact: compact(key),
        raw: (key.kind == Kind::String && !key.text.is_empty()).then_some(RawValue {
            value_type: ValueType::String,
            bytes: &value,
            templates: Templates::NONE,
        }),
    });
}

/// Returns the facts about a value. A string that takes less space in the file than in memory counts as compressed.
fn value_facts(key: &SampleKey) -> ValueFacts {
    ValueFacts {
        may_be_json: key.text.starts_with('{'),
        compressed: (key.kind == Kind::String && key.disk < key.length).then_some(Bytes(key.disk)),
        ..ValueFacts::NONE
    }
}

/// Returns the packed form of a collection that would be compact if the default limits were doubled.
fn compact(key: &SampleKey) -> Option<Compact> {
    let most = match key.kind {
        Kind::Hash => 1024,
        Kind::Set | Kind::Zset => 256,
        _ => 0,
    };
    let table = matches!(encoding(key.kind, key.length), Encoding::Hashtable | Encoding::Skiplist);
    let compact = Compact { encoding: Encoding::Listpack, memory: Bytes(key.memory / 4) };
    (table && key.length <= most).then_some(compact)
}

/// Returns a string as encoded in a file.
fn stored(text: &str) -> Vec<u8> {
    let len = u32::try_from(text.len()).unwrap();
    [&[0x80], &len.to_be_bytes()[..], text.as_bytes()].concat()
}

/// Returns the encoding of a collection of `length` short elements.
fn encoding(kind: Kind, length: u64) -> Encoding {
    match kind {
        Kind::String if length <= 44 => Encoding::Embstr,
        Kind::String => Encoding::Raw,
        Kind::List if length <= 500 => Encoding::Listpack,
        Kind::List => Encoding::Quicklist,
        Kind::Zset if length > 128 => Encoding::Skiplist,
        Kind::Set if length > 128 => Encoding::Hashtable,
        Kind::Hash if length > 512 => Encoding::Hashtable,
        Kind::Set | Kind::Zset | Kind::Hash => Encoding::Listpack,
        Kind::Stream => Encoding::Stream,
        Kind::Module | Kind::Array => Encoding::Unknown,
    }
}

#[test]
fn the_examples_of_every_rule_hold() {
    for rule in registry::RULES {
        let found = |sample: &RuleSample| {
            report(rule, sample)
                .findings
                .list
                .iter()
                .any(|finding| finding.rule == rule.meta.id && finding.severity == crate::report::Severity::Must)
        };
        assert!(!found(&rule.meta.passes), "{}: the example that passes does not", rule.meta.id);
        let passing = report(rule, &rule.meta.passes).findings;
        assert_eq!(passing.not_evaluated, [], "the example that passes was not evaluated");
        assert!(passing.checked.iter().any(|id| *id == rule.meta.id), "{}", rule.meta.id);
        assert!(found(&rule.meta.fails), "{}: the example that fails does not", rule.meta.id);
        let Text { en, zh } = rule.meta.what;
        assert!(!en.ends_with('.') && !zh.ends_with('。'), "{}", rule.meta.id);
    }
}

#[test]
fn the_details_of_every_rule_have_labels_in_both_languages() {
    for rule in registry::RULES {
        let report = report(rule, &rule.meta.fails);
        let rows = report.findings.list.iter().flat_map(|finding| &finding.patterns);
        for (name, detail) in rows.flat_map(|row| &row.details) {
            // Settings of servers keep their names.
            assert!(name == "maxmemory" || !detail.label.zh.is_ascii(), "{}: {name}", rule.meta.id);
            assert!(detail.label.en.is_ascii() && !detail.label.en.is_empty(), "{}: {name}", rule.meta.id);
        }
    }
}
