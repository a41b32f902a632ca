//! Target `price`: memory of any value on any server, alone and beside alternatives.

use std::sync::LazyLock;

use rdblens::internals::memory::{Allocator, Meter, Meters, Model, Server, ServerConfig};
use rdblens::internals::rdb::cursor::Cursor;
use rdblens::internals::rdb::walk::walk;

use super::value::ValueInput;

static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let servers = ["redis-4.0", "redis-6.2", "redis-7.2", "redis-8.2", "redis-8.6", "valkey-8.0", "valkey-9.1"];
    let allocators = [Allocator::Jemalloc, Allocator::JemallocQ16, Allocator::Glibc];
    let config = ServerConfig::default();
    let mut small = ServerConfig::default();
    for name in ["hash-max-listpack-entries", "zset-max-listpack-entries", "set-max-intset-entries"] {
        small.set(name, "2").expect("the setting is known");
    }
    servers
        .iter()
        .map(|server| Server::parse(server).expect("the server is known"))
        .flat_map(|server| allocators.map(|allocator| (server, allocator)))
        .flat_map(|(server, allocator)| [&config, &small].map(|config| Model::for_server(server, allocator, config)))
        .collect()
});

/// Prices a value.
pub fn check(input: &[u8]) {
    let Some(value) = ValueInput::new(input) else { return };
    let models = &*MODELS;
    let model = &models[usize::from(value.choice) % models.len()];
    let (key_len, has_ttl) = (u64::from(value.choice), value.choice % 2 == 1);
    let mut alone = Meter::new(model);
    alone.begin_key(key_len, has_ttl);
    let mut cursor = Cursor::new(value.bytes, 0);
    let walked = walk(value.value_type, value.templates, &mut cursor, &mut alone);
    let end = cursor.consumed();
    let alone = walked.and_then(|()| alone.finish().copied());

    let others = &models[..4];
    let mut meters = Meters::new(model, others);
    meters.begin_key(key_len, has_ttl);
    let mut cursor = Cursor::new(value.bytes, 0);
    let walked = walk(value.value_type, value.templates, &mut cursor, &mut meters);
    assert_eq!(cursor.consumed(), end, "the end of a value depends on who looks");
    let beside = walked.and_then(|()| {
        let (measured, sizes) = meters.finish()?;
        assert!([0, others.len()].contains(&sizes.memory.len()));
        Ok(*measured)
    });
    match (alone, beside) {
        (Ok(alone), Ok(beside)) => assert_eq!(alone, beside, "alternatives change the price"),
        (Err(_), Err(_)) => {}
        (alone, beside) => panic!("alternatives change what is damaged: {alone:?}, {beside:?}"),
    }
}
