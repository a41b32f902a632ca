use proptest::prelude::*;

use super::*;
use crate::rdb::string::canonical_int;
use crate::rdb::template::Templates;

type Texts = Vec<Vec<u8>>;
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

fn length(len: usize) -> Vec<u8> {
    let len = u32::try_from(len).unwrap();
    if len < 64 { vec![u8::try_from(len).unwrap()] } else { [&[0x80], &len.to_be_bytes()[..]].concat() }
}

/// A string as servers write it: integers as such.
fn string(text: &[u8]) -> Vec<u8> {
    match canonical_int(text).and_then(|number| i32::try_from(number).ok()) {
        Some(number) => [&[0xC2], &number.to_le_bytes()[..]].concat(),
        None => plain(text),
    }
}

fn plain(text: &[u8]) -> Vec<u8> {
    [length(text.len()), text.to_vec()].concat()
}

/// A string compressed, where that is possible.
fn compressed(text: &[u8]) -> Vec<u8> {
    match lzf::compress(text) {
        Ok(block) => [&[0xC3], &length(block.len())[..], &length(text.len()), &block].concat(),
        Err(_) => plain(text),
    }
}

fn listpack(texts: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::new();
    for text in texts {
        let element = match canonical_int(text) {
            Some(number) => [&[0xF4], &number.to_le_bytes()[..]].concat(),
            None => [&[0xF0], &u32::try_from(text.len()).unwrap().to_le_bytes()[..], text].concat(),
        };
        // Elements of these tests are short.
        let len = u8::try_from(element.len()).unwrap();
        assert!(len < 128);
        body.extend(element);
        body.push(len);
    }
    let total = u32::try_from(body.len() + 7).unwrap();
    let count = u16::try_from(texts.len()).unwrap();
    [&total.to_le_bytes()[..], &count.to_le_bytes(), &body, &[0xFF]].concat()
}

fn ziplist(texts: &[&[u8]]) -> Vec<u8> {
    let (mut body, mut before) = (Vec::new(), 0);
    let mut tail = 10;
    for text in texts {
        let entry = match canonical_int(text) {
            Some(number) => [&[before, 0xE0], &number.to_le_bytes()[..]].concat(),
            None => [&[before, 0x40, u8::try_from(text.len()).unwrap()], *text].concat(),
        };
        tail = 10 + body.len();
        before = u8::try_from(entry.len()).unwrap();
        body.extend(entry);
    }
    let (total, tail) = (u32::try_from(body.len() + 11).unwrap(), u32::try_from(tail).unwrap());
    let count = u16::try_from(texts.len()).unwrap();
    [&total.to_le_bytes()[..], &tail.to_le_bytes(), &count.to_le_bytes(), &body, &[0xFF]].concat()
}

fn zipmap(pairs: &Pairs) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(pairs.len()).unwrap()];
    for (field, value) in pairs {
        bytes.extend([&[u8::try_from(field.len()).unwrap()], &field[..]].concat());
        bytes.extend([&[u8::try_from(value.len()).unwrap(), 0], &value[..]].concat());
    }
    [bytes, vec![0xFF]].concat()
}

fn hash_of(hasher: &ContentHasher, value_type: ValueType, bytes: &[u8]) -> u64 {
    RawValue { value_type, bytes, templates: Templates::NONE }.content(hasher, &mut ContentScratch::default()).unwrap()
}

/// Asserts that all forms have the same hash, and returns it.
fn same(hasher: &ContentHasher, forms: &[(ValueType, Vec<u8>)]) -> u64 {
    let hashes: Vec<u64> = forms.iter().map(|(value_type, bytes)| hash_of(hasher, *value_type, bytes)).collect();
    for (hash, form) in hashes.iter().zip(forms) {
        assert_eq!(*hash, hashes[0], "{form:?}");
    }
    hashes[0]
}

fn elements(texts: &Texts, form: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    texts.iter().fold(length(texts.len()), |bytes, text| [bytes, form(text)].concat())
}

fn refs(texts: &Texts) -> Vec<&[u8]> {
    texts.iter().map(Vec::as_slice).collect()
}

fn hash_of_list(hasher: &ContentHasher, texts: &Texts) -> u64 {
    let (one, other) = texts.split_at(texts.len() / 2);
    let nodes = |pack: fn(&[&[u8]]) -> Vec<u8>| [one, other].map(|half| plain(&pack(&refs(&half.to_vec()))));
    let plain_nodes = texts.iter().map(|text| [vec![1], plain(text)].concat());
    same(
        hasher,
        &[
            (ValueType::List, elements(texts, string)),
            (ValueType::List, elements(texts, compressed)),
            (ValueType::ListZiplist, compressed(&ziplist(&refs(texts)))),
            (ValueType::ListQuicklist, [&[2], &nodes(ziplist).concat()[..]].concat()),
            (
                ValueType::ListQuicklist2,
                nodes(listpack).iter().fold(vec![2], |all, node| [&all[..], &[2], node].concat()),
            ),
            (ValueType::ListQuicklist2, plain_nodes.fold(length(texts.len()), |all, node| [all, node].concat())),
        ],
    )
}

fn hash_of_set(hasher: &ContentHasher, texts: &Texts) -> u64 {
    let backwards: Texts = texts.iter().rev().cloned().collect();
    let numbers: Option<Vec<i64>> = texts.iter().map(|text| canonical_int(text)).collect();
    let intset = numbers.map(|numbers| {
        let count = u32::try_from(numbers.len()).unwrap();
        let body: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        (ValueType::SetIntset, plain(&[&8_u32.to_le_bytes()[..], &count.to_le_bytes(), &body].concat()))
    });
    let forms = [
        (ValueType::Set, elements(texts, string)),
        (ValueType::Set, elements(&backwards, compressed)),
        (ValueType::SetListpack, plain(&listpack(&refs(&backwards)))),
    ];
    same(hasher, &forms.into_iter().chain(intset.filter(|_| !texts.is_empty())).collect::<Vec<_>>())
}

fn hash_of_hash(hasher: &ContentHasher, pairs: &Pairs) -> u64 {
    let flat: Texts = pairs.iter().rev().flat_map(|(field, value)| [field.clone(), value.clone()]).collect();
    let table =
        pairs.iter().fold(length(pairs.len()), |all, (field, value)| [all, string(field), string(value)].concat());
    let timeless =
        |all: Vec<u8>, (field, value): &(Vec<u8>, Vec<u8>)| [all, vec![0], plain(field), string(value)].concat();
    let metadata = pairs.iter().fold([vec![0; 8], length(pairs.len())].concat(), timeless);
    let triples: Texts =
        pairs.iter().flat_map(|(field, value)| [field.clone(), value.clone(), b"0".to_vec()]).collect();
    same(
        hasher,
        &[
            (ValueType::Hash, table),
            (ValueType::HashZipmap, plain(&zipmap(pairs))),
            (ValueType::HashZiplist, plain(&ziplist(&refs(&flat)))),
            (ValueType::HashListpack, compressed(&listpack(&refs(&flat)))),
            (ValueType::HashMetadata, metadata),
            (ValueType::HashListpackEx, [vec![0; 8], plain(&listpack(&refs(&triples)))].concat()),
        ],
    )
}

fn hash_of_zset(hasher: &ContentHasher, members: &[(Vec<u8>, f64)]) -> u64 {
    let text = |score: f64| if score.is_infinite() { format!("{score}") } else { format!("{score:?}") };
    let flat: Texts =
        members.iter().rev().flat_map(|(member, score)| [member.clone(), text(*score).into_bytes()]).collect();
    let binary = members
        .iter()
        .fold(length(members.len()), |all, (member, score)| [&all[..], &string(member), &score.to_le_bytes()].concat());
    let texts = members.iter().fold(length(members.len()), |all, (member, score)| {
        let score = text(*score);
        [&all[..], &plain(member), &[u8::try_from(score.len()).unwrap()], score.as_bytes()].concat()
    });
    same(
        hasher,
        &[
            (ValueType::Zset2, binary),
            (ValueType::Zset, texts),
            (ValueType::ZsetZiplist, plain(&ziplist(&refs(&flat)))),
            (ValueType::ZsetListpack, plain(&listpack(&refs(&flat)))),
        ],
    )
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[ab]{0,2}".prop_map(String::into_bytes),
        any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        (-3_i64..300).prop_map(|number| number.to_string().into_bytes()),
        proptest::collection::vec(any::<u8>(), 0..40),
        Just(vec![b'x'; 100]),
    ]
}

fn texts() -> impl Strategy<Value = Texts> {
    proptest::collection::vec(text(), 0..6)
}

fn pairs() -> impl Strategy<Value = Pairs> {
    proptest::collection::btree_map(text(), text(), 0..5).prop_map(|map| map.into_iter().collect())
}

fn sorted<T: Clone + PartialOrd>(items: &[T]) -> Vec<T> {
    let mut items = items.to_vec();
    items.sort_by(|one, other| one.partial_cmp(other).unwrap());
    items
}

proptest! {
    #[test]
    fn hashes_of_lists_differ_if_and_only_if_the_lists_do(one in texts(), other in texts()) {
        let hasher = ContentHasher::random(FieldExpiries::Count);
        prop_assert_eq!(hash_of_list(&hasher, &one) == hash_of_list(&hasher, &other), one == other);
    }

    #[test]
    fn hashes_of_sets_depend_on_the_members_alone(one in texts(), other in texts()) {
        let hasher = ContentHasher::random(FieldExpiries::Count);
        let set = |texts: &Texts| texts.iter().cloned().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        let (one, other): (Texts, Texts) = (set(&one), set(&other));
        prop_assert_eq!(hash_of_set(&hasher, &one) == hash_of_set(&hasher, &other), one == other);
    }

    #[test]
    fn hashes_of_hashes_depend_on_the_pairs_alone(one in pairs(), other in pairs()) {
        let hasher = ContentHasher::random(FieldExpiries::Count);
        prop_assert_eq!(hash_of_hash(&hasher, &one) == hash_of_hash(&hasher, &other), one == other);
    }

    #[test]
    fn one_changed_part_changes_the_hash(pairs in pairs(), place in any::<prop::sample::Index>(), to in text()) {
        let hasher = ContentHasher::random(FieldExpiries::Count);
        prop_assume!(!pairs.is_empty());
        let mut changed = pairs.clone();
        place.get_mut(&mut changed).1 = to;
        prop_assert_eq!(hash_of_hash(&hasher, &pairs) == hash_of_hash(&hasher, &changed), pairs == changed);
        let flat = |pairs: &Pairs| pairs.iter().flat_map(|(field, value)| [field.clone(), value.clone()]).collect();
        prop_assert_eq!(hash_of_list(&hasher, &flat(&pairs)) == hash_of_list(&hasher, &flat(&changed)), pairs == changed);
    }

    #[test]
    fn hashes_of_sorted_sets_depend_on_members_and_scores(
        one in proptest::collection::btree_map(text(), prop_oneof![(-4_i32..4).prop_map(f64::from), -1e300..1e300], 0..5),
        other in proptest::collection::btree_map(text(), -1.0..1.0, 0..2),
    ) {
        let hasher = ContentHasher::random(FieldExpiries::Count);
        let (one, other): (Vec<_>, Vec<_>) = (one.into_iter().collect(), other.into_iter().collect());
        prop_assert_eq!(hash_of_zset(&hasher, &one) == hash_of_zset(&hasher, &other), sorted(&one) == sorted(&other));
        let mut changed = one.clone();
        if let Some((_, score)) = changed.first_mut() {
            *score += 1e299;
            prop_assert_ne!(hash_of_zset(&hasher, &one), hash_of_zset(&hasher, &changed));
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), byte in 0_u8..40) {
        if let Some(value_type) = ValueType::from_byte(crate::rdb::header::Family::Redis, byte) {
            let value = RawValue { value_type, bytes: &bytes, templates: Templates::NONE };
            let _ = value.content(&ContentHasher::random(FieldExpiries::Count), &mut ContentScratch::default());
        }
    }
}

#[test]
fn values_of_two_fields_cannot_be_exchanged() {
    let hasher = ContentHasher::random(FieldExpiries::Count);
    let hash = |pairs: [(&str, &str); 4]| {
        let pairs: Pairs = pairs.map(|(field, value)| (field.into(), value.into())).to_vec();
        hash_of_hash(&hasher, &pairs)
    };
    // Sums of linear hashes are the same for both.
    let even = [("a0", "0"), ("a1", "1"), ("b0", "1"), ("b1", "0")];
    let odd = [("a0", "1"), ("a1", "0"), ("b0", "0"), ("b1", "1")];
    assert_ne!(hash(even), hash(odd));
}

#[test]
fn zero_has_no_sign_and_infinities_do() {
    let hasher = ContentHasher::random(FieldExpiries::Count);
    let hash = |score: f64| hash_of(&hasher, ValueType::Zset2, &[&b"\x01\x01a"[..], &score.to_le_bytes()].concat());
    assert_eq!(hash(-0.0), hash(0.0));
    assert_ne!(hash(f64::INFINITY), hash(f64::NEG_INFINITY));
    assert_eq!(hash(f64::INFINITY), hash_of(&hasher, ValueType::Zset, b"\x01\x01a\xfe"));
}

#[test]
fn expiries_of_fields_are_content_unless_ignored() {
    let time = 1_700_000_000_000_i64;
    let hash = |hasher: &ContentHasher, time: i64| {
        let digits = time.to_string();
        let table = [&time.to_le_bytes()[..], &[1, 1, 1], b"f", &[1], b"v"].concat();
        same(
            hasher,
            &[
                (ValueType::HashMetadata, table),
                (ValueType::Hash2, [&[1, 1][..], b"f", &[1], b"v", &time.to_le_bytes()].concat()),
                (
                    ValueType::HashListpackEx,
                    [&time.to_le_bytes()[..], &plain(&listpack(&[b"f", b"v", digits.as_bytes()]))].concat(),
                ),
            ],
        )
    };
    let counted = ContentHasher::random(FieldExpiries::Count);
    assert_ne!(hash(&counted, time), hash(&counted, time + 1));
    let without = |hasher: &ContentHasher| hash_of(hasher, ValueType::Hash, b"\x01\x01f\x01v");
    assert_ne!(hash(&counted, time), without(&counted));
    let ignored = ContentHasher::random(FieldExpiries::Ignored);
    assert_eq!(hash(&ignored, time), without(&ignored));
}

#[test]
fn damaged_values_have_no_hash() {
    let hasher = ContentHasher::random(FieldExpiries::Count);
    for (value_type, bytes) in [
        (ValueType::HashListpack, plain(&listpack(&[b"f"]))),
        (ValueType::ZsetZiplist, plain(&ziplist(&[b"m", b"1", b"n"]))),
        (ValueType::SetListpack, plain(b"no listpack")),
        (ValueType::Set, b"\x02\x01a".to_vec()),
    ] {
        let value = RawValue { value_type, bytes: &bytes, templates: Templates::NONE };
        assert!(value.content(&hasher, &mut ContentScratch::default()).is_err(), "{value_type:?}");
    }
}

/// A node with the master id 5-0: shared fields, then entries, each with flags, sequence number, fields and values.
fn node(fields: &[&str], entries: &[(u8, u8, &[&str])]) -> Vec<u8> {
    let mut texts: Vec<String> = vec![entries.len().to_string(), "0".into(), fields.len().to_string()];
    texts.extend(fields.iter().map(ToString::to_string));
    texts.push("0".into());
    for (flags, seq, pairs) in entries {
        texts.extend([flags.to_string(), "0".into(), seq.to_string()]);
        if flags & 2 == 0 {
            texts.push((pairs.len() / 2).to_string());
        }
        texts.extend(pairs.iter().map(ToString::to_string));
        texts.push("9".into());
    }
    let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let master = [5_u64.to_be_bytes(), 0_u64.to_be_bytes()].concat();
    [plain(&master), plain(&listpack(&texts))].concat()
}

/// A stream of layout 1 with these nodes and a group with one pending entry.
fn stream(nodes: &[Vec<u8>], last: u8, deliveries: u8, consumer: &str) -> Vec<u8> {
    let id = [5_u64.to_be_bytes(), 1_u64.to_be_bytes()].concat();
    [
        length(nodes.len()),
        nodes.concat(),
        vec![2, 5, last, 1],
        plain(b"group"),
        vec![5, 1, 1],
        id.clone(),
        7_i64.to_le_bytes().to_vec(),
        vec![deliveries, 1],
        plain(consumer.as_bytes()),
        9_i64.to_le_bytes().to_vec(),
        vec![1],
        id,
    ]
    .concat()
}

#[test]
fn streams_are_compared_by_entries_and_groups() {
    let hasher = ContentHasher::random(FieldExpiries::Count);
    let hash = |bytes: &[u8]| hash_of(&hasher, ValueType::Stream(1), bytes);
    let shared = stream(&[node(&["f", "g"], &[(2, 1, &["1", "b"]), (2, 2, &["3", "d"])])], 2, 1, "c");
    let own = stream(&[node(&["x"], &[(0, 1, &["f", "1", "g", "b"]), (0, 2, &["f", "3", "g", "d"])])], 2, 1, "c");
    let deleted = [(3, 0, &["z", "z"][..]), (2, 1, &["1", "b"]), (2, 2, &["3", "d"])];
    let halves = [node(&["f", "g"], &[(2, 1, &["1", "b"])]), node(&["f", "g"], &[(2, 2, &["3", "d"])])];
    let same = [own, stream(&[node(&["f", "g"], &deleted)], 2, 1, "c"), stream(&halves, 2, 1, "c")];
    for bytes in &same {
        assert_eq!(hash(&shared), hash(bytes));
    }
    let entries: [(u8, u8, &[&str]); 2] = [(2, 1, &["1", "b"]), (2, 2, &["3", "d"])];
    let nodes = [node(&["f", "g"], &entries)];
    let differing = [
        stream(&[node(&["g", "f"], &entries)], 2, 1, "c"),
        stream(&[node(&["f", "g"], &[(2, 1, &["1", "d"]), (2, 2, &["3", "b"])])], 2, 1, "c"),
        stream(&[node(&["f", "g"], &[(2, 1, &["1", "b"]), (2, 3, &["3", "d"])])], 2, 1, "c"),
        stream(&[node(&["f", "g"], &entries[..1])], 2, 1, "c"),
        stream(&nodes, 3, 1, "c"),
        stream(&nodes, 2, 2, "c"),
        stream(&nodes, 2, 1, "d"),
    ];
    for (number, bytes) in differing.iter().enumerate() {
        assert_ne!(hash(&shared), hash(bytes), "{number}");
    }
}

#[test]
fn counters_and_times_of_consumers_are_no_content() {
    let hasher = ContentHasher::random(FieldExpiries::Count);
    let hash = |layout: u8, first: u8, added: u8, read: u8, seen: i64| {
        let mut bytes = [length(1), node(&["f"], &[(2, 1, &["1"])]), vec![1, 5, 1]].concat();
        if layout >= 2 {
            bytes.extend([5, first, 0, 0, added]);
        }
        bytes.extend([&[1][..], &plain(b"group"), &[5, 1]].concat());
        bytes.extend((layout >= 2).then_some(read));
        bytes.extend([&[0, 1][..], &plain(b"c"), &seen.to_le_bytes()].concat());
        if layout >= 3 {
            bytes.extend(seen.to_le_bytes());
        }
        bytes.push(0);
        hash_of(&hasher, ValueType::Stream(layout), &bytes)
    };
    let one = hash(1, 0, 0, 0, 1);
    for other in [hash(2, 1, 1, 1, 2), hash(2, 1, 7, 3, 2), hash(3, 1, 1, 1, 9)] {
        assert_eq!(one, other);
    }
}
