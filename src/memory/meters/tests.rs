//! Prices of several models on one walk, and without a walk.

use super::*;
use crate::memory::{Allocator, Server, ServerConfig, WhatIf};
use crate::rdb::cursor::Cursor;
use crate::rdb::template::Templates;
use crate::rdb::walk::walk;

fn model(server: &str) -> Model {
    Model::for_server(Server::parse(server).unwrap(), Allocator::Jemalloc, &ServerConfig::default())
}

/// Values of all layouts whose prices follow from what the base meter has found, and a set of three members stored one by one.
fn values() -> Vec<(ValueType, Vec<u8>)> {
    let text = |len: u8| [&[0x40, len], &vec![b'x'; usize::from(len)][..]].concat();
    let packed = b"\x0c\x0c\0\0\0\x02\0\x81a\x02\x01\x01\xff".to_vec();
    let compressed = b"\xc3\x05\x0a\0a\xe0\0\0".to_vec();
    let strings = [b"\xc0\x07".to_vec(), b"\xc1\x39\x30".to_vec(), b"\x0212".to_vec(), compressed];
    let strings = strings.into_iter().chain([0, 1, 20, 43, 44, 45, 63, 64, 128, 200].map(text));
    let blobs = [ValueType::HashListpack, ValueType::ZsetListpack, ValueType::SetListpack];
    let mut values: Vec<_> = strings.map(|value| (ValueType::String, value)).collect();
    values.extend(blobs.map(|value_type| (value_type, packed.clone())));
    values.push((ValueType::SetIntset, b"\x0c\x02\0\0\0\x02\0\0\0\x01\0\x02\0".to_vec()));
    values.push((ValueType::Set, b"\x03\x01a\x02bc\xc0\x07".to_vec()));
    values
}

/// Blobs of each packed layout, of `count` elements.
fn packed(count: u16) -> impl Iterator<Item = (ValueType, Vec<u8>)> {
    let listpack = |count: u16| {
        let elements = b"\x81a\x02".repeat(count.into());
        let size = (6 + elements.len() as u32 + 1).to_le_bytes();
        [&size[..], &count.to_le_bytes(), &elements, b"\xff"].concat()
    };
    let ziplist = |count: u16| {
        let entries = b"\x02\x01a".repeat(count.into());
        let size = (10 + entries.len() as u32 + 1).to_le_bytes();
        let tail = (10 + entries.len().saturating_sub(3) as u32).to_le_bytes();
        [&size[..], &tail, &count.to_le_bytes(), &entries, b"\xff"].concat()
    };
    let intset = [&[2, 0, 0, 0][..], &u32::from(count).to_le_bytes(), &vec![0; 2 * usize::from(count)]].concat();
    let pairs = 2 * count;
    [
        (ValueType::SetIntset, intset),
        (ValueType::SetListpack, listpack(count)),
        (ValueType::ListQuicklist2, listpack(count)),
        (ValueType::ZsetListpack, listpack(pairs)),
        (ValueType::HashListpack, listpack(pairs)),
        (ValueType::HashListpack, listpack(pairs + 1)),
        (ValueType::ZsetZiplist, ziplist(pairs)),
        (ValueType::HashZiplist, ziplist(pairs)),
        (ValueType::HashZiplist, ziplist(pairs + 1)),
    ]
    .into_iter()
}

/// A string as in a file: plain, or as an LZF block of literals.
fn stored(content: &[u8], is_compressed: bool) -> Vec<u8> {
    let length = |len: usize| (0x4000 | len as u16).to_be_bytes();
    if !is_compressed {
        return [&length(content.len())[..], content].concat();
    }
    let block: Vec<u8> = content.chunks(32).flat_map(|run| [&[run.len() as u8 - 1], run].concat()).collect();
    [&[0xc3][..], &length(block.len()), &length(content.len()), &block].concat()
}

#[test]
fn values_have_the_same_price_with_a_walk_and_without() {
    let sizes = |alternatives: AlternativeSizes<'_>| (alternatives.memory.to_vec(), alternatives.allocated.to_vec());
    let texts = || (0..600).map(|len| (ValueType::String, vec![b'{'; len]));
    let values: Vec<_> = texts().chain((0..140).chain([256, 511, 512, 513, 1000]).flat_map(packed)).collect();
    let limits = "list-max-listpack-size=100,zset-max-listpack-entries=7,hash-max-listpack-entries=0";
    for [base, other] in [
        ["redis-7.2", "redis-8.2"],
        ["redis-8.2", "valkey-8.0"],
        ["valkey-9.1", "valkey-9.1"],
        ["redis-6.2", "redis-7.0"],
        ["redis-7.2", limits],
    ] {
        let (base, other) = (model(base), [WhatIf::parse(other).unwrap().apply(&model(base))]);
        let keys = [(5, false), (5, true), (40, false), (40, true)];
        for (others, (key_len, has_ttl)) in
            [&[][..], &other].into_iter().flat_map(|others| keys.map(|key| (others, key)))
        {
            let mut meters = Meters::new(&base, others);
            let mut without_walk = [0; 3];
            for ((value_type, content), is_compressed) in
                values.iter().flat_map(|value| [(value, false), (value, true)])
            {
                let is_list = *value_type == ValueType::ListQuicklist2;
                let bytes = [if is_list { &[1, 2][..] } else { &[] }, &stored(content, is_compressed)].concat();
                let mut cursor = Cursor::new(&bytes, 0);
                let is_text = *value_type == ValueType::String;
                let found = if is_text { cursor.plain_text() } else { cursor.packed_value(*value_type) };
                let Some(value) = found else { continue };
                assert_eq!((value.stored, value.len), (&bytes[..], content.len()));
                assert!(content.starts_with(value.content));
                assert!(is_compressed || value.content == content);
                let priced = if is_text {
                    meters.text(key_len, has_ttl, value)
                } else {
                    meters.packed(key_len, has_ttl, *value_type, value, Templates::NONE)
                };
                let Some((priced, alternatives)) = priced else { continue };
                without_walk[if is_text { 0 } else { 1 + usize::from(is_compressed) }] += 1;
                let PricedPlain { encoding, length, memory, allocated, facts } = priced;
                let (plain, alternatives) = (*facts, sizes(alternatives));

                meters.begin_key(key_len, has_ttl);
                walk(*value_type, Templates::NONE, &mut cursor, &mut meters).unwrap();
                let (walked, elsewhere) = meters.finish().unwrap();
                let what = format!("{value_type:?} of {} bytes, {base:?}", content.len());
                assert_eq!(
                    (encoding, Some(length), memory, allocated),
                    (walked.encoding, walked.length, walked.memory, walked.allocated),
                    "{what}"
                );
                assert_eq!((plain, alternatives), (walked.value, sizes(elsewhere)), "{what}");
                assert_eq!((walked.module, walked.fields_with_ttl, walked.stream), (None, None, None));
            }
            assert!(without_walk.iter().all(|&values| values > 200), "{base:?}: {without_walk:?}");
        }
    }
}

#[test]
fn each_model_gives_what_it_gives_alone() {
    let asked = [
        "redis-8.2",
        "valkey-8.1",
        "jemalloc-q16",
        "redis-7.2,set-max-listpack-entries=1",
        "redis-8.10",
        "redis-6.2,glibc",
        "valkey-9.1,hash-max-listpack-entries=0,zset-max-listpack-entries=0,set-max-intset-entries=1",
        "redis-8.10,hash-rdb-load-min-template-entries=1",
    ];
    for base in ["redis-7.0", "valkey-9.0", "redis-8.2"].map(model) {
        let others: Vec<Model> = asked.iter().map(|text| WhatIf::parse(text).unwrap().apply(&base)).collect();
        let alone = |model: &Model, (value_type, bytes): &(ValueType, Vec<u8>), expires: bool| {
            let mut meter = Meter::new(model);
            meter.begin_key(3, expires);
            walk(*value_type, Templates::NONE, &mut Cursor::new(bytes, 0), &mut meter).unwrap();
            *meter.finish().unwrap()
        };
        // All at once, and one by one: the meters sleep for a value only if all of them may.
        let groups = std::iter::once(&others[..]).chain(others.chunks(1));
        for group in groups {
            let mut meters = Meters::new(&base, group);
            assert_eq!(meters.alone().is_none(), group.iter().any(|model| !model.is(&base)));
            for (value, expires) in values().iter().flat_map(|value| [(value, false), (value, true)]) {
                meters.begin_key(3, expires);
                let mut bytes = Cursor::new(&value.1, 0);
                match meters.alone() {
                    Some(meter) => walk(value.0, Templates::NONE, &mut bytes, meter).unwrap(),
                    None => walk(value.0, Templates::NONE, &mut bytes, &mut meters).unwrap(),
                }
                let (measured, sizes) = meters.finish().unwrap();
                assert_eq!(*measured, alone(&base, value, expires));
                let expected = group.iter().map(|model| alone(model, value, expires));
                let (memory, allocated): (Vec<_>, Vec<_>) = expected.map(|one| (one.memory, one.allocated)).unzip();
                assert_eq!((sizes.memory, sizes.allocated), (&memory[..], &allocated[..]), "{value:?}");
            }
        }
    }
}

#[test]
fn damage_that_only_an_alternative_sees_does_not_cost_the_key() {
    // A listpack of two entries whose first claims to be longer than the whole.
    let blob = b"\x0b\x0b\x00\x00\x00\x02\x00\xa0\x61\x02\xff\xff";
    let base = model("redis-7.2");
    let others = [WhatIf::parse("hash-max-listpack-entries=0").unwrap().apply(&base)];
    let mut alone = Meter::new(&others[0]);
    alone.begin_key(1, false);
    walk(ValueType::HashListpack, Templates::NONE, &mut Cursor::new(blob, 0), &mut alone).unwrap();
    assert!(alone.finish().is_err());

    let mut meters = Meters::new(&base, &others);
    meters.begin_key(1, false);
    walk(ValueType::HashListpack, Templates::NONE, &mut Cursor::new(blob, 0), &mut meters).unwrap();
    let (measured, AlternativeSizes { memory, .. }) = meters.finish().unwrap();
    assert_eq!(memory, [measured.memory]);
}
