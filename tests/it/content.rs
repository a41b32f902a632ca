//! Hashes of contents, compared with decoded values over the dumps of all servers.

use std::collections::BTreeMap;

use rdblens::ReadPlan;
use rdblens::internals::rdb::content::{ContentHasher, ContentScratch, FieldExpiries};
use rdblens::internals::show::{Entry, Stream, Value, decode_value};

use crate::common::{dumps, is_hostile, read_records};

/// Parts of a value that count, sorted where their order does not.
fn normalized(value: Value) -> String {
    match value {
        Value::Set(mut members) => {
            members.sort();
            format!("{members:?}")
        }
        Value::Zset(mut members) => {
            members.sort_by(|one, other| one.partial_cmp(other).unwrap());
            // -0 is 0.
            members.iter_mut().for_each(|(_, score)| *score += 0.0);
            format!("{members:?}")
        }
        Value::Hash(mut fields) => {
            fields.sort_by(|one, other| one.field.cmp(&other.field));
            format!("{fields:?}")
        }
        Value::Stream(stream) => stream_text(stream),
        other => format!("{other:?}"),
    }
}

fn stream_text(Stream { last_id, entries, groups, producers, .. }: Stream) -> String {
    let entries: Vec<_> = entries.into_iter().map(|Entry { id, fields }| (id, fields)).collect();
    let mut groups: Vec<_> = groups
        .into_iter()
        .map(|mut group| {
            group.pending.sort_by_key(|pending| pending.id);
            group.returned.sort_unstable();
            let mut consumers: Vec<_> = group
                .consumers
                .into_iter()
                .map(|mut consumer| {
                    consumer.pending.sort_unstable();
                    (consumer.name, consumer.pending)
                })
                .collect();
            consumers.sort();
            (group.name, group.last_id, format!("{:?}", group.pending), consumers, group.returned)
        })
        .collect();
    groups.sort();
    let mut ids: Vec<_> = producers.into_iter().filter(|producer| !producer.ids.is_empty()).collect();
    ids.iter_mut().for_each(|producer| producer.ids.sort());
    ids.sort_by(|one, other| one.name.cmp(&other.name));
    format!("{last_id:?} {entries:?} {groups:?} {ids:?}")
}

/// The same keys are in the dumps of many servers, each with encodings of its own and some with other values.
#[test]
fn two_hashes_are_equal_if_and_only_if_the_decoded_values_are() {
    let hasher = ContentHasher::random(FieldExpiries::Count);
    let plan = ReadPlan::new(std::env::temp_dir());
    let mut by_key: BTreeMap<(String, Vec<u8>), BTreeMap<String, u64>> = BTreeMap::new();
    let (mut values, mut forms) = (0, 0);
    for dump in dumps() {
        let mut scratch = ContentScratch::default();
        read_records(&dump, &plan, |record| {
            let raw = record.raw.unwrap();
            let value = match decode_value(raw.value_type, raw.templates, raw.bytes, 0) {
                Ok(value) => value,
                // What no server wrote need not be decodable.
                Err(_) if is_hostile(&dump) => return,
                Err(error) => panic!("{}: {error}", dump.display()),
            };
            // Modules are compared as stored.
            if matches!(value, Value::Json(_) | Value::Series(_) | Value::Vectors(_) | Value::Module(..)) {
                return;
            }
            let hash = raw.content(&hasher, &mut scratch).unwrap_or_else(|error| panic!("{}: {error}", dump.display()));
            let known = by_key.entry((record.kind.to_string(), record.key.to_vec())).or_default();
            let text = normalized(value);
            values += 1;
            match known.get(&text) {
                Some(before) => {
                    assert_eq!(*before, hash, "{}: {:?}", dump.display(), String::from_utf8_lossy(record.key));
                    forms += 1;
                }
                None => {
                    assert!(known.values().all(|other| *other != hash), "{}: {:?}", dump.display(), record.key);
                    known.insert(text, hash);
                }
            }
        });
    }
    assert!(values > 20_000 && forms > 5_000, "{values} values, {forms} of them again");
}
