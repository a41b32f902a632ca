use super::*;
use crate::memory::rax::RaxTree;
use crate::memory::{Allocator, Server, ServerConfig};

fn model(name: &str) -> Model {
    Model::for_server(Server::parse(name).unwrap(), Allocator::Jemalloc, &ServerConfig::default())
}

/// Measured on Redis 8.10.2: streams with groups of such names.
#[test]
fn trees_of_8_10_take_a_leaf_less_for_each_key() {
    let size = |keys: &[&str]| {
        let mut tree = RaxTree::new(Allocator::JemallocQ16);
        tree.clear(true);
        keys.iter().for_each(|key| tree.insert(key.as_bytes()));
        let server = Server::parse("redis-8.10").unwrap();
        Model::for_server(server, Allocator::JemallocQ16, &ServerConfig::default()).real_tree(tree.finish())
    };
    // The structure, and a run and a branch.
    assert_eq!(size(&["ca", "cb"]), 48 + 16 + 32);
    assert_eq!(size(&["a", "ab"]), 48 + 16 + 32 - 16);
    assert_eq!(size(&["a", "ab", "ac"]), 48 + 16 + 32 - 16);
}

const KEY: Key = Key { len: 1, expires: false };

fn framed(name: &str, key: Key) -> u64 {
    let FrameSize { outside, object, .. } = model(name).frame(key);
    outside + object
}

#[test]
fn frame_sizes_equal_those_of_servers() {
    let of = |len| Key { len, expires: false };
    assert_eq!(framed("redis-4.0", of(5)), 5 + 4 + 24 + 16);
    assert_eq!(framed("redis-5.0", of(5)), 7 + 24 + 16);
    assert_eq!(framed("redis-7.2", of(5)), 8 + 24 + 16);
    assert_eq!(framed("valkey-8.0", of(5)), 24 + 16);
    assert_eq!(framed("redis-8.2", of(5)), 24);
    assert_eq!(framed("redis-8.2", Key { len: 1, expires: true }), 32);
    assert_eq!(framed("valkey-8.1.1", of(5)), 16);
}

#[test]
fn value_is_embedded_while_it_fits() {
    let embedded = |name: &str, key: Key, len| {
        let model = model(name);
        match model.layout.short {
            ShortStrings::Joint(embedding) => model.embedded(&embedding, key, len),
            ShortStrings::Raw | ShortStrings::Behind { .. } => None,
        }
    };
    assert_eq!(embedded("redis-8.2", KEY, 5), Some(32));
    assert_eq!(embedded("redis-8.2", KEY, 45), None);
    // 8.1 checks without the longer header of keys from 32 bytes on.
    let (short, long) = (Key { len: 31, expires: false }, Key { len: 39, expires: false });
    assert_eq!(embedded("valkey-8.1", long, 1), Some(80));
    assert_eq!((embedded("valkey-9.0", long, 1), embedded("valkey-9.0", short, 9)), (None, Some(64)));
    assert_eq!(embedded("valkey-9.1", KEY, 5), Some(24));
    assert_eq!(embedded("valkey-9.1", KEY, 100), Some(128));
    assert_eq!(embedded("valkey-9.1", Key { len: u64::MAX, expires: true }, 0), None);
}

#[test]
fn headers_grow_with_strings() {
    let redis_7 = model("redis-7.2");
    assert_eq!([0, 1, 31, 32, 255, 256, 65_536].map(|len| redis_7.sds_size(len)), [4, 3, 33, 36, 259, 262, 65_546]);
    assert_eq!(model("redis-8.2").sds_size(253), 259);
}

#[test]
fn claims_do_not_overflow() {
    assert!(model("redis-7.2").average(u64::MAX, u64::MAX, u64::MAX) > 0);
}
