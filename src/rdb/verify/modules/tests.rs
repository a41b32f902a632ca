use Item::{D, F, I, N, S};

use crate::error::Result;
use crate::rdb::cursor::Cursor;
use crate::rdb::header::{Family, RdbHeader};
use crate::rdb::kind::module_id;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::rdb::verify::{Notes, Verify};
use crate::rdb::walk::walk;

/// Item of a module's value.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    I(u64),
    /// An integer with the tag of signed ones.
    N(u64),
    F(f32),
    D(f64),
    S(Vec<u8>),
}

fn s(text: &[u8]) -> Item {
    S(text.to_vec())
}

/// A string of so many bytes.
fn blob(len: usize) -> Item {
    S(vec![b'b'; len])
}

/// Value of a module: its type, its encoding version, its items.
#[derive(Debug, Clone)]
struct Value {
    name: &'static [u8; 9],
    version: u64,
    items: Vec<Item>,
}

impl Value {
    fn new(name: &'static [u8; 9], version: u64, items: impl IntoIterator<Item = Item>) -> Value {
        Value { name, version, items: items.into_iter().collect() }
    }

    /// Returns the value with another item at a place.
    fn with(&self, place: usize, item: Item) -> Value {
        let mut value = self.clone();
        value.items[place] = item;
        value
    }

    /// Returns the value without the items of a range.
    fn without(&self, range: std::ops::Range<usize>) -> Value {
        let mut value = self.clone();
        value.items.drain(range);
        value
    }

    /// Returns the value with an item in front of the one at a place.
    fn with_more(&self, place: usize, item: Item) -> Value {
        let mut value = self.clone();
        value.items.insert(place, item);
        value
    }

    /// Returns the stored value, and the place of each item and of the end.
    fn stored(&self) -> (Vec<u8>, Vec<u64>) {
        let number = |number: u64| [&[0x81], &number.to_be_bytes()[..]].concat();
        let mut bytes = number(module_id(self.name, self.version));
        let mut places = Vec::new();
        for item in &self.items {
            places.push(bytes.len() as u64);
            bytes.extend(match item {
                I(value) => [&[2], &number(*value)[..]].concat(),
                N(value) => [&[1], &number(*value)[..]].concat(),
                F(value) => [&[3], &value.to_le_bytes()[..]].concat(),
                D(value) => [&[4], &value.to_le_bytes()[..]].concat(),
                S(text) => [&[5, 0x80], &u32::try_from(text.len()).unwrap().to_be_bytes()[..], text].concat(),
            });
        }
        places.push(bytes.len() as u64);
        bytes.push(0);
        (bytes, places)
    }

    fn checked_by(&self, verify: &mut Verify) -> Result<Notes> {
        let (bytes, _) = self.stored();
        loop {
            walk(ValueType::Module2, Templates::NONE, &mut Cursor::new(&bytes, 0), verify)?;
            if !verify.needs_another_walk() {
                return verify.finish();
            }
        }
    }

    /// Returns the item at which the value is refused, and why.
    fn fault_by(&self, verify: &mut Verify) -> Option<(usize, std::string::String)> {
        let (_, places) = self.stored();
        let error = self.checked_by(verify).err()?;
        let offset = error.offset().unwrap();
        Some((places.iter().rposition(|&place| place <= offset).unwrap(), error.to_string()))
    }

    fn fault(&self) -> Option<(usize, std::string::String)> {
        self.fault_by(&mut verify())
    }
}

/// A visitor for files of Redis 7.4.
fn verify() -> Verify {
    Verify::new(RdbHeader { family: Family::Redis, version: 12 })
}

/// Checks that a value is sound, and no other is whose items are of other kinds, fewer or more.
#[track_caller]
fn is_read_item_by_item(value: &Value) {
    assert_eq!(value.fault(), None);
    for place in 0..value.items.len() {
        for other in [I(1), N(1), F(1.0), D(1.0), s(b"1")] {
            if std::mem::discriminant(&other) != std::mem::discriminant(&value.items[place]) {
                let (at, why) = value.with(place, other).fault().unwrap();
                assert!(at == place && why.contains("where the module reads"), "{place}: {at} {why}");
            }
        }
        let (at, why) = value.without(place..value.items.len()).fault().unwrap();
        assert!(at == place && why.contains("the end where the module reads"), "{place}: {at} {why}");
    }
    let end = value.items.len();
    let (at, why) = value.with_more(end, I(0)).fault().unwrap();
    assert!(at == end && why.contains("an unsigned integer where the module reads the end"), "{at} {why}");
}

/// Checks that a value is refused at an item for a reason.
#[track_caller]
fn is_refused(value: &Value, place: usize, reason: &str) {
    let (at, why) = value.fault().expect("is accepted");
    assert!(at == place && why.contains(reason), "{at}: {why}");
}

fn bloom() -> Value {
    let filter = |bytes: usize, n2| [I(10), D(0.01), I(7), D(9.585_058), I(bytes as u64 * 8), I(n2), blob(bytes), I(3)];
    Value::new(b"MBbloom--", 4, [I(6), I(2), I(0), I(2)].into_iter().chain(filter(16, 7)).chain(filter(24, 0)))
}

#[test]
fn bloom_filters_are_read_as_by_the_module() {
    let sound = bloom();
    is_read_item_by_item(&sound);
    is_refused(&sound.with(1, I(0)), 1, "Bloom filter: 0 where");
    is_refused(&sound.with(1, I(1)), 12, "where the module reads the end");
    is_refused(&sound.with(1, I(3)), 20, "the end where");
    is_refused(&sound.with(5, D(1.0)), 5, "error rate 1");
    is_refused(&sound.with(6, I(8)), 6, "8 hashes for 9.585058 bits per entry");
    is_refused(&sound.with(8, I(127)), 10, "16 bytes for 127 bits");
    is_refused(&sound.with(18, blob(23)), 18, "23 bytes for 192 bits");
    is_refused(&sound.with(9, I(8)), 9, "2^8 bits of 128");
    // Eight bits of the logarithm are kept.
    assert_eq!(sound.with(9, I(256)).fault(), None);
}

#[test]
fn count_min_sketches_are_read_as_by_the_module() {
    let sound = Value::new(b"CMSk-TYPE", 0, [I(10), I(3), I(77), blob(120)]);
    is_read_item_by_item(&sound);
    is_refused(&sound.with(0, I(0)), 0, "count-min sketch: 0 where");
    is_refused(&sound.with(1, I(0)), 1, "0 where");
    is_refused(&sound.with(1, I(4)), 3, "120 bytes where 160 are expected");
}

#[test]
fn cuckoo_filters_are_read_as_by_the_module() {
    let sound =
        Value::new(b"MBbloomCF", 4, [I(2), I(8), I(5), I(0), I(2), I(20), I(1), I(8), blob(16), I(16), blob(32)]);
    is_read_item_by_item(&sound);
    is_refused(&sound.with(0, I(0x1_0000)), 0, "0 where");
    is_refused(&sound.with(1, I(0)), 1, "Cuckoo filter: 0 where");
    is_refused(&sound.with(4, I(3)), 8, "16 bytes where 24 are expected");
    is_refused(&sound.with(9, I(15)), 10, "32 bytes where 30 are expected");
    is_refused(&sound.with(0, I(3)), 11, "the end where");
    assert_eq!(sound.with(0, I(0x1_0002)).fault(), None);
}

#[test]
fn t_digests_are_read_as_by_the_module() {
    let head = [D(100.0), D(1.0), D(9.0), I(610), I(2), I(0), I(3), D(2.0), D(0.0)];
    let sound = Value::new(b"TDIS-TYPE", 0, head.into_iter().chain([D(1.0), D(9.0), D(1.0), D(1.0)]));
    is_read_item_by_item(&sound);
    is_refused(&sound.with(4, I(611)), 4, "t-digest sketch: 611 nodes in room for 610");
    is_refused(&sound.with(4, I(u64::MAX)), 4, "-1 nodes");
    is_refused(&sound.with(5, I(609)), 5, "609 unmerged nodes in room for 610");
    is_refused(&sound.with(5, I(1 << 31)), 5, "unmerged nodes");
    is_refused(&sound.with(3, I(310)), 3, "does not suit the compression 100");
    for compression in [f64::NAN, f64::INFINITY, -1.0, 1e300, 50.0] {
        is_refused(&sound.with(0, D(compression)), 3, "does not suit the compression");
    }
    is_refused(&sound.with(4, I(1)), 11, "a double where the module reads the end");
}

#[test]
fn top_k_lists_are_read_as_by_the_module() {
    let sound = Value::new(b"TopK-TYPE", 0, [I(2), I(3), I(4), D(0.9), blob(96), blob(48), s(b"item\0"), s(b"\0")]);
    is_read_item_by_item(&sound);
    for place in 0..3 {
        is_refused(&sound.with(place, I(0)), place, "top-k list: 0 where");
    }
    is_refused(&sound.with(1, I(4)), 4, "96 bytes where 128 are expected");
    is_refused(&sound.with(0, I(3)), 5, "48 bytes where 72 are expected");
}

/// A series with a source, two labels, the rules and the chunks.
fn series(version: u64, options: u64, rules: &[&[Item]], chunks: &[&[Item]]) -> Value {
    let head = [s(b"key"), I(0), I(4096), I(options), I(2), D(2.5), I(2), I(0), I(1), s(b"source")];
    let labels = [I(0), D(0.0), I(2), s(b"a"), s(b"b"), s(b"c"), s(b"d")];
    let rules = [I(rules.len() as u64)].into_iter().chain(rules.concat());
    let chunks = [I(chunks.len() as u64)].into_iter().chain(chunks.concat());
    Value::new(b"TSDB-TYPE", version, head.into_iter().chain(labels).chain(rules).chain(chunks))
}

fn chunk(size: usize, samples: u64, bits: u64) -> Vec<Item> {
    let numbers = [size as u64, samples, bits, 0, 1, 2, 1, 0, 32, 32].map(I);
    numbers.into_iter().chain([blob(size)]).collect()
}

#[test]
fn time_series_are_read_as_by_the_module() {
    let rule = |aggregation| vec![s(b"target"), I(60), I(0), I(aggregation), I(0)];
    let maximum = [rule(2), vec![D(0.0), D(1.0)]].concat();
    let average = [rule(4), vec![D(0.0), D(1.0), I(0)]].concat();
    let weighted = [rule(13), vec![D(0.0), I(0), D(0.0)], vec![I(0); 7]].concat();
    let rules: [&[Item]; 3] = [&maximum, &average, &weighted];
    let (one, two) = (chunk(64, 9, 100), chunk(16, 1, 0));
    let sound = series(8, 2, &rules, &[&one, &two]);
    is_read_item_by_item(&sound);
    let with_validity: Vec<Item> = [&rule(6)[..], &[I(1), D(0.0), I(1)]].concat();
    is_read_item_by_item(&series(9, 2, &[&with_validity], &[&one]));
    // A rule of version 9 in a value of version 8.
    is_refused(&series(8, 2, &[&with_validity], &[&one]), 23, "an unsigned integer where the module reads a double");
    is_refused(&sound.with(2, I(0)), 2, "time series: 0 where");
    is_refused(&sound.with(8, I(0)), 9, "a string where");
    is_refused(&sound.with(12, I(3)), 17, "an unsigned integer where the module reads a string");
    is_refused(&sound.with(19, I(0)), 19, "0 where");
    is_refused(&sound.with(21, I(16)), 21, "unknown aggregation 16");
    let rules_end = sound.items.len() - 2 * one.len() - 1;
    is_refused(&sound.with(rules_end, I(1)), rules_end + 1 + one.len(), "where the module reads the end");
    let chunk_at = rules_end + 1;
    is_refused(&sound.with(chunk_at, I(0)), chunk_at, "0 where");
    is_refused(&sound.with(chunk_at, I(72)), chunk_at + 10, "64 bytes where 72 are expected");
    is_refused(&sound.with(chunk_at + 2, I(513)), chunk_at + 2, "513 bits in 64 bytes");
    is_refused(&sound.with(chunk_at + 1, I(52)), chunk_at + 1, "52 samples in a chunk of 64 bytes");
}

#[test]
fn chunks_that_are_not_compressed_are_read_as_by_the_module() {
    let sound = series(8, 1, &[], &[&[I(0), I(2), I(48), blob(48)]]);
    is_read_item_by_item(&sound);
    is_refused(&sound.with(20, I(4)), 20, "4 samples in a chunk of 48 bytes");
    is_refused(&sound.with(21, I(64)), 22, "48 bytes where 64 are expected");
    // The option decides.
    is_refused(&sound.with(3, I(2)), 22, "a string where the module reads an unsigned integer");
}

/// Parameters of a node without links on its upper levels, and with these in the lowest one.
fn parameters(id: u64, level: u64, links: &[u64]) -> Vec<u64> {
    let lowest = [&[links.len() as u64, 32], links, &[0]].concat();
    [&[id, 1 << 24 | level], &lowest[..], &[0, 16, 0].repeat(usize::try_from(level).unwrap()), &[99]].concat()
}

fn node(name: &[u8], vector: usize, parameters: &[u64]) -> Vec<Item> {
    let head = [s(name), blob(vector), I(parameters.len() as u64)];
    head.into_iter().chain(parameters.iter().copied().map(I)).collect()
}

fn vectors(dimension: u64, quantization: u64, nodes: &[Vec<Item>]) -> Value {
    let head = [I(dimension), I(nodes.len() as u64), I(16 << 8 | quantization), I(0)];
    Value::new(b"vectorset", 0, head.into_iter().chain(nodes.concat()))
}

/// Three nodes, all linked; the first one is on two levels.
fn three_vectors() -> Value {
    vectors(
        2,
        0,
        &[
            node(b"one", 8, &parameters(1, 1, &[2, 3])),
            node(b"two", 8, &parameters(2, 0, &[3, 1])),
            node(b"three", 8, &parameters(3, 0, &[1, 2])),
        ],
    )
}

#[test]
fn vector_sets_are_read_as_by_the_server() {
    let sound = three_vectors();
    is_read_item_by_item(&sound);
    for (quantization, len) in [(0, 400), (1, 100), (2, 16)] {
        assert_eq!(vectors(100, quantization, &[node(b"one", len, &parameters(1, 0, &[]))]).fault(), None);
    }
    is_refused(&sound.with(0, I(0)), 0, "vector set: vectors without a dimension");
    is_refused(&sound.with(2, I(3)), 2, "unknown quantization 3");
    is_refused(&sound.with(0, I(3)), 5, "8 bytes where 12 are expected");
    is_refused(&sound.with(1, I(2)), 29, "a string where the module reads the end");
    // Of the first node: id, level, links, limit, both links, the worst, the upper level, the range.
    is_refused(&sound.with(6, I(1)), 6, "more numbers than the 1 left");
    is_refused(&sound.with(8, I(1 << 24 | 17)), 8, "level 17 of 16");
    is_refused(&sound.with(8, I(2 << 24 | 1)), 8, "unknown form 2");
    is_refused(&sound.with(8, I(1 << 24 | 3)), 16, "more numbers than the 1 left");
    is_refused(&sound.with(9, I(33)), 10, "33 links of 32");
    is_refused(&sound.with(10, I(16_385)), 10, "2 links of 16385");
    is_refused(&sound.with(9, I(8)), 10, "more numbers than the 7 left");
    is_refused(&sound.with(13, I(2)), 13, "link 2 of 2 links");
    is_refused(&sound.with(11, I(1)), 11, "a link of element 1 to itself");
    is_refused(&sound.with(6, I(12)), 18, "a string where the module reads an unsigned integer");
    is_refused(&sound.with(6, I(10)), 16, "more numbers than the 0 left");
}

#[test]
fn numbers_of_a_vector_set_that_servers_ignore_do_not_count() {
    let sound = three_vectors();
    // More parameters than needed, numbers of more than 32 bits, the worst link of no links.
    assert_eq!(sound.with(6, I(12)).with_more(18, I(5)).fault(), None);
    assert_eq!(sound.with(0, I(1 << 32 | 2)).fault(), None);
    assert_eq!(sound.with(16, I(7)).fault(), None);
    // The first form has no worst links.
    let old = [1, 0, 1, 32, 2, 9];
    let set = vectors(2, 0, &[node(b"one", 8, &old), node(b"two", 8, &parameters(2, 0, &[1]))]);
    assert_eq!(set.fault(), None);
}

#[test]
fn a_node_without_an_id_has_the_one_after_the_highest() {
    let sound = three_vectors();
    for place in [7, 21, 32] {
        assert_eq!(sound.with(place, I(0)).fault(), None);
    }
    let two =
        |link| vectors(2, 0, &[node(b"one", 8, &parameters(5, 0, &[link])), node(b"two", 8, &parameters(0, 0, &[5]))]);
    assert_eq!(two(6).fault(), None);
    is_refused(&two(2), two(2).items.len(), "a link between elements");
}

#[test]
fn links_of_a_vector_set_are_mutual() {
    let sound = three_vectors();
    let end = sound.items.len();
    for place in [11, 12] {
        is_refused(&sound.with(place, I(4)), end, "a link between elements that the other one lacks");
    }
    // The id of a node that others are linked to.
    is_refused(&sound.with(7, I(4)), end, "a link between elements");
    // A node that is linked with itself by its name in both places of another one's list.
    is_refused(&sound.with(12, I(2)), end, "a link between elements");
}

#[test]
fn element_of_a_vector_set_that_occurs_twice_is_a_note() {
    let mut verify = verify();
    let is_odd = |value: Value, verify: &mut Verify| value.checked_by(verify).unwrap().odd_vector_set;
    assert!(!is_odd(three_vectors(), &mut verify));
    assert!(is_odd(three_vectors().with(18, s(b"one")), &mut verify));
    assert!(!is_odd(three_vectors(), &mut verify));
}

#[test]
fn attributes_and_projections_belong_to_the_flags_of_a_vector_set() {
    let one = node(b"one", 8, &parameters(1, 0, &[]));
    let attributed = vectors(2, 0, &[one]).with(3, I(2)).with_more(5, s(b"{}"));
    is_read_item_by_item(&attributed);
    let projected = attributed.with(3, I(3)).with_more(4, I(5)).with_more(5, blob(40));
    is_read_item_by_item(&projected);
    is_refused(&projected.with(4, I(0)), 4, "vectors without a dimension");
    is_refused(&projected.with(4, I(6)), 5, "projection matrix of 40 bytes instead of 48");
    is_refused(&projected.with(3, I(2)), 4, "an unsigned integer where the module reads a string");
}

#[test]
fn large_vector_sets_are_compared_in_several_walks() {
    let nodes = |twice: Option<u64>| {
        let name = |id: u64| twice.filter(|_| id == 2500).unwrap_or(id).to_be_bytes();
        let nodes: Vec<_> = (1..=2500).map(|id| node(&name(id), 8, &parameters(id, 0, &[]))).collect();
        vectors(2, 0, &nodes)
    };
    for (twice, is_odd) in [(None, false), (Some(17), true)] {
        assert_eq!(nodes(twice).checked_by(&mut verify()).unwrap().odd_vector_set, is_odd);
    }
}

#[test]
fn claimed_elements_that_are_not_there_take_no_time() {
    is_refused(&three_vectors().with(1, I(u64::MAX)), 40, "the end where");
}

#[test]
fn json_is_what_the_module_reads() {
    let json = |text: &[u8]| Value::new(b"ReJSON-RL", 3, [s(text)]);
    is_read_item_by_item(&json(b"{\"a\": [1, -2.5e3, null, \"\\u00e9\xc3\xa9\"]}\n"));
    for text in ["", "{", "[1,]", "{\"a\":1", "tru", "1 2", "\"\\x\"", "\"\x01\"", "01"] {
        let (_, why) = json(text.as_bytes()).fault().unwrap();
        assert!(why.contains("JSON document: the module cannot read it"), "{text}: {why}");
    }
    // Only some releases refuse these.
    for text in ["1e999".to_owned(), "\"\\ud800\"".to_owned(), "[".repeat(500) + &"]".repeat(500)] {
        assert_eq!(json(text.as_bytes()).fault(), None);
    }
}

#[test]
fn fault_in_json_is_told_by_its_byte() {
    let fault = |text: &[u8]| {
        let value = Value::new(b"ReJSON-RL", 3, [s(text)]);
        let (bytes, places) = value.stored();
        let mut verify = verify();
        walk(ValueType::Module2, Templates::NONE, &mut Cursor::new(&bytes, 0), &mut verify).unwrap();
        verify.finish().unwrap_err().offset().unwrap() - places[0] - 6
    };
    assert_eq!((fault(b"{\"a\": x}"), fault(b"[1,\n2,\n !]"), fault(b"\"a\xffb\"")), (6, 8, 2));
}

#[test]
fn json_of_valkey_may_have_any_bytes() {
    let text = Value::new(b"ReJSON-RL", 3, [s(b"\"\xff\"")]);
    for (family, version, is_sound) in
        [(Family::Redis, 12, false), (Family::Redis, 11, true), (Family::Redis, 9, false), (Family::Valkey, 80, true)]
    {
        let fault = text.fault_by(&mut Verify::new(RdbHeader { family, version }));
        assert_eq!(fault.is_none(), is_sound, "{family:?} {version}");
    }
}

#[test]
fn cbor_is_what_the_module_reads() {
    let document = |bytes: &[u8]| Value::new(b"ReJSON-RL", 4, [s(bytes)]);
    is_read_item_by_item(&document(b"\xa1\x61a\x82\x01\xf6"));
    is_refused(&document(b"\xa1\x61a\x82\x01"), 1, "JSON document: the module cannot read it from here on");
    is_refused(&document(b"\xa1\x61a\x41a"), 0, "JSON document");
    // Its decoder ignores what is behind a document.
    assert_eq!(document(b"\xf6\xf6").fault(), None);
}

#[test]
fn values_of_other_modules_and_versions_are_only_parsed() {
    for value in [
        Value::new(b"vectorset", 1, [D(1.0)]),
        Value::new(b"MBbloom--", 5, [s(b"")]),
        Value::new(b"mytype-01", 0, [F(1.0), N(2)]),
        Value::new(b"graphdata", 18, [I(1)]),
    ] {
        assert_eq!(value.fault(), None, "{value:?}");
    }
}

#[test]
fn values_that_are_only_shown_are_only_parsed() {
    assert_eq!(Value::new(b"vectorset", 0, [D(1.0)]).fault_by(&mut Verify::lenient()), None);
}

#[test]
fn fault_does_not_outlive_its_value() {
    let mut verify = verify();
    for _ in 0..2 {
        assert!(three_vectors().with(7, I(4)).fault_by(&mut verify).is_some());
        assert_eq!(three_vectors().fault_by(&mut verify), None);
        assert!(bloom().with(1, I(3)).fault_by(&mut verify).is_some());
        assert_eq!(bloom().fault_by(&mut verify), None);
    }
}
