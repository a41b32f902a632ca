//! Memory layouts of the servers, each defined by its differences from an earlier one.

mod keydb_6;
mod redis_2;
mod redis_4;
mod redis_5;
mod redis_6;
mod redis_7;
mod redis_8;
mod valkey_8;
mod valkey_9;

use super::Caveat;
use super::layout::Layout;
use super::server::{Server, ServerFamily};

/// Returns the layout of a server, and a caveat about the choice if there is one.
pub fn layout(server: &Server) -> (Layout, Option<Caveat>) {
    match server.family {
        ServerFamily::Redis => redis(server.version),
        ServerFamily::Valkey => valkey(server.version),
        ServerFamily::Keydb => (keydb_6::LAYOUT, None),
        ServerFamily::Enterprise => (redis(server.version).0, Some(Caveat::PricedAsOpenSource)),
        ServerFamily::Dragonfly => (redis_6::REDIS_6_2_12, Some(Caveat::NoModel)),
    }
}

const OLD: Caveat = Caveat::ServerTooOld;
const NEW: Caveat = Caveat::ServerTooNew;
const THIN: Caveat = Caveat::ModelLittleChecked;

fn redis(version: (u16, u16, u16)) -> (Layout, Option<Caveat>) {
    match version {
        (0..=2, ..) => (redis_2::LAYOUT, Some(OLD)),
        (3, 0..=1, _) => (redis_2::REDIS_3_0, Some(OLD)),
        (3, ..) => (redis_2::REDIS_3_2, Some(OLD)),
        (4, ..) => (redis_4::LAYOUT, None),
        (5, ..) => (redis_5::LAYOUT, None),
        (6, 0..=1, _) | (6, 2, 0..=4) => (redis_6::LAYOUT, None),
        (6, 2, 5..=11) => (redis_6::REDIS_6_2_5, None),
        (6, ..) => (redis_6::REDIS_6_2_12, None),
        (7, 0..=1, _) => (redis_7::LAYOUT, None),
        (7, 2..=3, _) => (redis_7::REDIS_7_2, None),
        (7, ..) => (redis_7::REDIS_7_4, None),
        (8, 0..=1, _) => (redis_8::LAYOUT, None),
        (8, 2..=3, _) => (redis_8::REDIS_8_2, None),
        (8, 4..=5, _) => (redis_8::REDIS_8_4, Some(THIN)),
        (8, 6..=7, _) => (redis_8::REDIS_8_6, None),
        (8, 8..=9, _) => (redis_8::REDIS_8_8, Some(THIN)),
        (8, 10, _) => (redis_8::REDIS_8_10, None),
        _ => (redis_8::REDIS_8_10, Some(NEW)),
    }
}

fn valkey(version: (u16, u16, u16)) -> (Layout, Option<Caveat>) {
    match version {
        (0..=7, ..) => (valkey_8::VALKEY_7_2, None),
        (8, 0, _) => (valkey_8::LAYOUT, None),
        (8, 1, 0..=2) => (valkey_8::VALKEY_8_1_0, None),
        (8, ..) => (valkey_8::VALKEY_8_1, None),
        (9, 0, _) => (valkey_9::LAYOUT, None),
        (9, 1, _) => (valkey_9::VALKEY_9_1, None),
        _ => (valkey_9::VALKEY_9_1, Some(NEW)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_not_checked_on_dumps_have_a_caveat() {
        let said = |name: &str| layout(&Server::parse(name).unwrap()).1;
        for name in
            ["redis-4.0", "redis-6.2.4", "redis-7.2", "redis-8.2", "redis-8.6", "redis-8.10", "valkey-9.0", "keydb-6.3"]
        {
            assert_eq!(said(name), None, "{name}");
        }
        assert_eq!(["redis-8.4", "redis-8.8"].map(said), [Some(THIN); 2]);
        assert_eq!(["redis-2.8", "redis-3.2"].map(said), [Some(OLD); 2]);
        assert_eq!(layout(&Server::new(ServerFamily::Redis, (9, 0, 0))).1, Some(NEW));
        assert_eq!(layout(&Server::new(ServerFamily::Enterprise, (7, 4, 2))).1, Some(Caveat::PricedAsOpenSource));
    }
}
