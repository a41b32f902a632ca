//! Tests of small values on every server and of arbitrary bytes.

use proptest::prelude::*;

use super::*;
use crate::memory::{Allocator, Server, ServerConfig};
use crate::rdb::cursor::Cursor;
use crate::rdb::template::Templates;
use crate::rdb::walk;

const SERVERS: [&str; 19] = [
    "redis-2.8",
    "redis-3.2",
    "redis-4.0",
    "redis-5.0",
    "redis-6.0",
    "redis-6.2",
    "redis-7.0",
    "redis-7.2",
    "redis-7.4",
    "redis-8.0",
    "redis-8.2",
    "redis-8.4",
    "redis-8.6",
    "redis-8.8",
    "valkey-7.2",
    "valkey-8.0",
    "valkey-8.1",
    "valkey-9.0",
    "valkey-9.1",
];

fn model(server: &str, allocator: Allocator, config: &[(&str, &str)]) -> Model {
    let mut settings = ServerConfig::default();
    config.iter().for_each(|(name, value)| settings.set(name, value).unwrap());
    Model::for_server(Server::parse(server).unwrap(), allocator, &settings)
}

/// Walks a value of elements: strings alternate with scores for sorted sets.
fn measure(model: &Model, key: &str, expires: bool, value: &[u8], value_type: ValueType) -> Measured {
    let mut meter = Meter::new(model);
    meter.begin_key(key.len() as u64, expires);
    walk::walk(value_type, Templates::NONE, &mut Cursor::new(value, 0), &mut meter).unwrap();
    *meter.finish().unwrap()
}

fn string(text: &str) -> Vec<u8> {
    let len = u16::try_from(text.len()).unwrap();
    [&(len | 0x4000).to_be_bytes()[..], text.as_bytes()].concat()
}

fn elements<'a>(count: usize, texts: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut value = (u16::try_from(count).unwrap() | 0x4000).to_be_bytes().to_vec();
    texts.into_iter().for_each(|text| value.extend(string(text)));
    value
}

fn memory_of(server: &str) -> [u64; 11] {
    let allocator = if server == "redis-7.0" { Allocator::JemallocQ16 } else { Allocator::Jemalloc };
    let model = model(server, allocator, &[]);
    let of = |key, expires, value: &[u8], value_type| measure(&model, key, expires, value, value_type).memory.0;
    let text = |key, expires, text: &str| of(key, expires, &string(text), ValueType::String);
    let zset = [&elements(1, ["m"])[..], &1.0f64.to_le_bytes()].concat();
    let fields: Vec<String> = (0..600).map(|n| format!("f{n}")).collect();
    let pairs = elements(600, fields.iter().flat_map(|field| [field.as_str(), "v"]));
    [
        text("a", false, "hello"),
        text("ee", true, "hello"),
        text("b", false, &"x".repeat(45)),
        text("c", false, &"x".repeat(44)),
        text("d", false, &"x".repeat(1000)),
        text("n", false, "12345"),
        of("h", false, &elements(1, ["f", "v"]), ValueType::Hash),
        of("l", false, &elements(2, ["x", "y"]), ValueType::List),
        of("s", false, &elements(3, ["1", "2", "3"]), ValueType::Set),
        of("z", false, &zset, ValueType::Zset2),
        of("hb", false, &pairs, ValueType::Hash),
    ]
}

/// Figures are from running servers after a reload.
#[test]
fn small_values_equal_memory_usage_of_servers() {
    assert_eq!(memory_of("redis-6.2.14"), [55, 55, 104, 94, 1072, 48, 65, 137, 62, 64, 32_336]);
    // Debian's build.
    assert_eq!(memory_of("redis-7.0"), [64, 64, 112, 96, 1072, 48, 64, 144, 64, 64, 32_296]);
    assert_eq!(memory_of("redis-7.2.6"), [64, 64, 104, 96, 1072, 48, 64, 64, 64, 64, 32_296]);
    assert_eq!(memory_of("redis-8.2.3"), [32, 40, 80, 72, 1048, 24, 40, 40, 40, 40, 32_272]);
    assert_eq!(memory_of("redis-8.4.0"), [32, 40, 76, 68, 1044, 20, 33, 33, 34, 32, 29_269]);
    assert_eq!(memory_of("redis-8.6.3"), [32, 40, 80, 72, 1048, 24, 37, 37, 38, 36, 29_162]);
    assert_eq!(memory_of("valkey-8.0.1"), [56, 56, 96, 88, 1064, 40, 56, 56, 56, 56, 32_288]);
    // The last figure depends on the server's hash seed.
    assert_eq!(memory_of("valkey-9.0")[..10], [32, 40, 80, 72, 1048, 24, 40, 40, 40, 40]);
    assert_eq!(memory_of("valkey-9.1")[..10], [24, 32, 64, 64, 1048, 24, 40, 40, 40, 40]);
}

#[test]
fn lengths_and_encodings_follow_the_limits() {
    let value = elements(3, ["1", "2", "x"]);
    let encoding = |server, config: &[(&str, &str)]| {
        let measured = measure(&model(server, Allocator::Jemalloc, config), "k", false, &value, ValueType::Set);
        assert_eq!(measured.length, Some(3));
        measured.encoding
    };
    assert_eq!(encoding("redis-7.0", &[]), Encoding::Hashtable);
    assert_eq!(encoding("redis-7.2", &[]), Encoding::Listpack);
    assert_eq!(encoding("redis-7.2", &[("set-max-listpack-entries", "2")]), Encoding::Hashtable);
    assert_eq!(encoding("redis-7.2", &[("set-max-listpack-value", "0")]), Encoding::Hashtable);
    assert_eq!(encoding("redis-7.2", &[("set-max-intset-entries", "2")]), Encoding::Hashtable);
}

#[test]
fn listpack_that_does_not_say_its_count_may_be_empty() {
    let model = model("redis-7.2", Allocator::Jemalloc, &[]);
    let value = [7, 7, 0, 0, 0, 0xFF, 0xFF, 0xFF];
    for value_type in [ValueType::HashListpack, ValueType::ZsetListpack, ValueType::SetListpack] {
        assert_eq!(measure(&model, "k", false, &value, value_type).length, Some(0));
    }
}

#[test]
fn lists_of_old_servers_are_ziplists_up_to_the_limit() {
    let model = model("redis-3.0", Allocator::Jemalloc, &[("list-max-ziplist-entries", "3")]);
    let encoding = |count| {
        let value = elements(count, std::iter::repeat_n("a", count));
        measure(&model, "k", false, &value, ValueType::List).encoding
    };
    assert_eq!([3, 4].map(encoding), [Encoding::Ziplist, Encoding::Linkedlist]);
}

#[test]
fn inner_nodes_of_a_pushed_list_are_compressed() {
    let texts: Vec<String> = (0..20).map(|n| format!("item:{n}:{}", "na".repeat(20))).collect();
    let value = elements(20, texts.iter().map(String::as_str));
    let servers = [("redis-7.0", Allocator::JemallocQ16), ("redis-8.2", Allocator::Jemalloc)];
    let of = |depth| {
        servers.map(|(server, allocator)| {
            let model = model(server, allocator, &[("list-max-listpack-size", "5"), ("list-compress-depth", depth)]);
            measure(&model, "l", false, &value, ValueType::List).memory.0
        })
    };
    // Read off running servers.
    assert_eq!((of("0"), of("1")), ([1400, 1376], [952, 912]));
}

#[test]
fn damaged_blob_costs_only_its_key() {
    let model = model("redis-7.2", Allocator::Jemalloc, &[]);
    let mut meter = Meter::new(&model);
    meter.begin_key(1, false);
    walk::walk(ValueType::HashListpack, Templates::NONE, &mut Cursor::new(b"\x08\x09\0\0\0\0\0\0\xff", 50), &mut meter)
        .unwrap();
    assert_eq!(meter.finish().unwrap_err().offset(), Some(51));
    meter.begin_key(1, false);
    walk::walk(ValueType::String, Templates::NONE, &mut Cursor::new(b"\x01x", 0), &mut meter).unwrap();
    assert_eq!(meter.finish().unwrap().memory, Bytes(56));
}

#[test]
fn vector_sets_are_counted_and_other_modules_named() {
    let model = model("redis-8.2", Allocator::Jemalloc, &[]);
    let of = |version: u64, items: &[u8]| {
        let id = (0xBDE7_2DA2_BB1E_B400u64 | version).to_be_bytes();
        let value = [&[0x81][..], &id, items].concat();
        measure(&model, "k", false, &value, ValueType::Module2)
    };
    // Three dimensions, an element of one byte with a vector of three, in one layer without links.
    let items = [&[2, 3, 2, 1, 2, 0, 2, 0][..], b"\x05\x01a\x05\x03xyz", &node(0, &[(0, 32)])].concat();
    let measured = of(0, &items);
    assert_eq!((measured.length, measured.encoding), (Some(1), Encoding::Raw));
    assert_eq!(measured.memory, Bytes(24 + 1784 + 312 + 32 + 3 + 24 + 16 + 256 + 42));
    // The structures with the dictionary, an element, its links, the tree of names, and the value's type.
    let given = 24 + (112 + 1792 + 8) + (384 + 8 + 16 + 24) + 256 + (24 + 16 + 16) + 16;
    assert_eq!(measured.allocated, Bytes(given));
    assert_eq!(measured.module.unwrap().as_str(), "vectorset");
    // Another version, and fewer elements than announced: unknown.
    assert_eq!((of(1, &items).length, of(1, &items).memory), (None, Bytes(0)));
    assert_eq!((of(0, &[2, 3, 2, 7, 0]).length, of(0, &[2, 3, 2, 7, 0]).memory), (None, Bytes(0)));
}

/// Returns the parameters of a node of this level, with the number of its links and the room for them in each layer, as items
/// that end the value.
fn node(level: u8, layers: &[(u8, u8)]) -> Vec<u8> {
    let mut parameters = vec![7, level];
    for &(links, room) in layers {
        parameters.extend([links, room]);
        parameters.extend(1..=links);
    }
    parameters.push(0);
    let mut items = vec![2, u8::try_from(parameters.len()).unwrap()];
    items.extend(parameters.into_iter().flat_map(|parameter| [2, parameter]));
    items.push(0);
    items
}

#[test]
fn links_beyond_the_usual_room_are_counted() {
    let model = model("redis-8.2", Allocator::Jemalloc, &[]);
    let of = |node: Vec<u8>| {
        let id = 0xBDE7_2DA2_BB1E_B400u64.to_be_bytes();
        let items = [&[2, 3, 2, 1, 2, 0, 2, 0][..], b"\x05\x01a\x05\x03xyz", &node].concat();
        measure(&model, "k", false, &[&[0x81][..], &id, &items].concat(), ValueType::Module2)
    };
    let usual = of(node(0, &[(2, 32)]));
    // The server takes the lowest layer of this node as typical, and a third of half of it as the next.
    let larger = of(node(0, &[(2, 38)]));
    assert_eq!(larger.memory.0 - usual.memory.0, (8 * 38 + 8 * 19 / 3) - (8 * 32 + 8 * 16 / 3));
    assert_eq!(larger.allocated.0 - usual.allocated.0, 320 - 256);
    let higher = of(node(1, &[(2, 32), (1, 16)]));
    assert_eq!((higher.memory, higher.allocated.0 - usual.allocated.0), (usual.memory, 128));
}

#[test]
fn compressed_names_are_strings_of_their_own() {
    let model = model("redis-8.2", Allocator::Jemalloc, &[]);
    let of = |name: &[u8]| {
        let id = 0xBDE7_2DA2_BB1E_B400u64.to_be_bytes();
        let items = [&[2, 3, 2, 1, 2, 0, 2, 0, 5][..], name, b"\x05\x03xyz", &node(0, &[(0, 32)])].concat();
        measure(&model, "k", false, &[&[0x81][..], &id, &items].concat(), ValueType::Module2).memory.0
    };
    let plain = |len: u8| of(&[&[len][..], &vec![b'x'; len.into()]].concat());
    // One literal, then a copy of the rest from the byte before.
    let compressed = |len: u8| of(&[0xC3, 5, len, 0, b'x', 0xE0, len - 10, 0]);
    // Read off servers: 24 + 1784 + 312 + 32 + 16 + 256 + 42 besides vector and name.
    let name = |memory: u64| memory - 24 - 1784 - 312 - 32 - 16 - 256 - 42 - 3;
    assert_eq!([21, 22, 23, 28, 29, 30, 31].map(|len| name(plain(len))), [48, 48, 48, 48, 56, 56, 56]);
    assert_eq!([21, 22, 23, 28, 29, 30, 31].map(|len| name(compressed(len))), [40, 40, 48, 48, 48, 48, 56]);
}

#[test]
fn allocated_bytes_of_sketches_are_those_of_their_structures() {
    let model = model("redis-7.4", Allocator::Jemalloc, &[]);
    let of = |id: u64, items: &[u8]| {
        let value = [&[0x81][..], &id.to_be_bytes(), items, &[0]].concat();
        let measured = measure(&model, "k", false, &value, ValueType::Module2);
        // Besides the value: the name, the object, and the module's type.
        (measured.memory.0 - 32, measured.allocated.0 - 8 - 16 - 16)
    };
    // A filter of nine bytes.
    let filter = [&[2, 1, 2, 1, 2, 0, 2, 2, 2, 9][..], &[2, 7, 2, 7, 2, 7], b"\x05\x09123456789", &[2, 1]].concat();
    assert_eq!(of(0x3016_E5A2_89BE_F804, &filter), (32 + 64 + 9, 32 + 64 + 16));
    // Width, depth, count.
    assert_eq!(of(0x08C4_A4F9_360F_1000, &[2, 3, 2, 5, 2, 0]), (8 + 8 * 15, 32 + 64));
}

/// Returns all layouts that can be walked over arbitrary bytes.
fn layouts() -> Vec<ValueType> {
    use crate::rdb::header::Family;
    let of = |family| (0..=255u8).filter_map(move |byte| ValueType::from_byte(family, byte));
    of(Family::Redis).chain(of(Family::Valkey)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_bytes_do_not_panic(
        bytes in proptest::collection::vec(prop_oneof![0u8..8, Just(0x81), Just(0xC3), any::<u8>()], 0..120),
        server in 0..SERVERS.len(),
        layout in 0usize..64,
        depth in 0u8..3,
    ) {
        let layouts = layouts();
        let config = [("list-compress-depth", &*depth.to_string()), ("hash-max-listpack-entries", "2")];
        let model = model(SERVERS[server], Allocator::Jemalloc, &config);
        let mut meter = Meter::new(&model);
        meter.begin_key(bytes.len() as u64, depth == 1);
        if walk::walk(layouts[layout % layouts.len()], Templates::NONE, &mut Cursor::new(&bytes, 0), &mut meter).is_ok() {
            let _ = meter.finish();
        }
    }

    /// A reused meter gives the same result as a new one.
    #[test]
    fn result_does_not_depend_on_earlier_keys(
        texts in proptest::collection::vec("[a-z0-9]{0,70}", 2..40),
        server in 0..SERVERS.len(),
    ) {
        let model = model(SERVERS[server], Allocator::Jemalloc, &[("set-max-listpack-entries", "10")]);
        let mut meter = Meter::new(&model);
        for value_type in [ValueType::Set, ValueType::List, ValueType::Hash, ValueType::Set] {
            for texts in [&texts[..], &texts[..2]] {
                let count = if value_type == ValueType::Hash { texts.len() / 2 } else { texts.len() };
                let even = &texts[..if value_type == ValueType::Hash { count * 2 } else { count }];
                let value = elements(count, even.iter().map(String::as_str));
                meter.begin_key(1, false);
                walk::walk(value_type, Templates::NONE, &mut Cursor::new(&value, 0), &mut meter).unwrap();
                prop_assert_eq!(*meter.finish().unwrap(), measure(&model, "k", false, &value, value_type));
            }
        }
    }
}

proptest! {
    #[test]
    fn counted_lengths_cost_what_elements_cost(
        lens in proptest::collection::vec((0u64..70, prop_oneof![9 => 0u64..300, 1 => 0u64..70_000]), 600..1500),
        value_type in prop_oneof![Just(ValueType::Set), Just(ValueType::Hash), Just(ValueType::Zset2)],
    ) {
        let models: Vec<Model> = ["redis-7.2", "redis-8.10", "valkey-8.1", "valkey-9.1", "keydb-6.3"].map(|server| {
            model(server, Allocator::Jemalloc, &[])
        }).into();
        for model in &models {
            let (mut counted, mut single) = (Meter::new(model), Meter::new(model));
            // The second value of a meter, behind a damaged one, costs no more than the first.
            for damaged in [true, false] {
                for meter in [&mut counted, &mut single] {
                    meter.begin_key(3, false);
                    meter.begin(value_type);
                    meter.count(lens.len() as u64);
                }
                single.lengths.forget();
                for &(first, second) in &lens {
                    for meter in [&mut counted, &mut single] {
                        match value_type.kind() {
                            Kind::Set => meter.element_len(second),
                            Kind::Hash => meter.pair_len(first, second),
                            _ => meter.scored_len(second),
                        }
                    }
                }
                if !damaged {
                    prop_assert!(counted.lengths.is_counting() && !single.lengths.is_counting());
                    prop_assert_eq!(*counted.finish().unwrap(), *single.finish().unwrap());
                }
            }
        }
    }
}
