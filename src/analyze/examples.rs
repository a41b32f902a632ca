//! The examples of all rules, held against the rules: each is made into keys, observed as those of a file are, and judged.

use std::sync::Arc;

use super::plan::{Plan, PolicySource, ReadPlan};
use super::set::{Aggregates, Questions};
use super::{assemble, questions_with};
use crate::aggregate::Aggregate;
use crate::policy::registry;
use crate::policy::rule::{Rule, Text};
use crate::policy::sample::{Sample, SampleKey};
use crate::rdb::peek::RawValue;
use crate::rdb::value_type::ValueType;
use crate::record::{Encoding, Kind, Record, StreamFacts};
use crate::report::Report;
use crate::units::{Bytes, Millis};

/// When samples are taken.
const NOW: Millis = Millis(1_700_000_000_000);

/// The report on a sample that is held against one rule.
fn report(rule: &Rule, sample: &Sample) -> Report {
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
    let questions: Arc<Questions> = Arc::new(questions_with(&plan, Some(NOW)).unwrap());
    let mut aggregates = Aggregates::new(&questions);
    for key in sample.keys {
        (1..=key.times).for_each(|number| observe(&mut aggregates, key, number));
    }
    assemble::report(&plan, None, Some(NOW), None, aggregates, Vec::new(), &questions)
}

fn observe(aggregates: &mut Aggregates, key: &SampleKey, number: u64) {
    let name = key.name.replace("{i}", &number.to_string());
    let value = stored(key.text);
    let left = key.ttl.map(|ttl| ttl + key.ttl_step * i64::try_from(number - 1).unwrap());
    aggregates.observe(&Record {
        file: 0,
        db: key.db,
        key: name.as_bytes(),
        kind: key.kind,
        module: None,
        encoding: encoding(key.kind, key.length),
        length: Some(key.length),
        memory: Bytes(key.memory),
        alternatives: &[],
        disk: Bytes(key.disk),
        expires_at: left.map(|left| Millis(NOW.0 + left * 1000)),
        idle: key.idle,
        freq: None,
        fields_with_ttl: None,
        stream: (key.kind == Kind::Stream).then_some(StreamFacts { groups: 1, pending: key.pending }),
        value: (key.kind == Kind::String).then_some(RawValue { value_type: ValueType::String, bytes: &value }),
    });
}

/// A string as it stands in a file.
fn stored(text: &str) -> Vec<u8> {
    let len = u32::try_from(text.len()).unwrap();
    [&[0x80], &len.to_be_bytes()[..], text.as_bytes()].concat()
}

/// The encoding of so many short elements.
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
        let found = |sample: &Sample| {
            report(rule, sample)
                .findings
                .list
                .iter()
                .any(|finding| finding.rule == rule.meta.id && finding.severity == "must")
        };
        assert!(!found(&rule.meta.passes), "{}: the example that passes does not", rule.meta.id);
        assert!(found(&rule.meta.fails), "{}: the example that fails does not", rule.meta.id);
        let Text { en, zh } = rule.meta.what;
        assert!(!en.ends_with('.') && !zh.ends_with('。'), "{}", rule.meta.id);
    }
}
