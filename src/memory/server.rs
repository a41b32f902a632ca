//! Server that memory is estimated for: detected from the dump or given by the user.

use std::fmt;

use crate::error::{Error, Result};
use crate::near;
use crate::rdb::header::{Family, RdbHeader};

/// Server project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerFamily {
    /// Redis.
    Redis,
    /// Valkey.
    Valkey,
    /// KeyDB.
    Keydb,
}

impl ServerFamily {
    /// Returns the lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            ServerFamily::Redis => "redis",
            ServerFamily::Valkey => "valkey",
            ServerFamily::Keydb => "keydb",
        }
    }
}

/// Server project and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Server {
    /// Project.
    pub family: ServerFamily,
    /// Major, minor, patch; [`Server::ANY_PATCH`] stands for the last patch of the line.
    pub version: (u16, u16, u16),
    /// RDB version that the server was guessed from, if the dump does not name it.
    pub guessed: Option<u32>,
}

/// Version line of KeyDB, which continues Redis' numbering with a line that no Redis has.
const KEYDB_LINE: (u16, u16) = (6, 3);

/// First Redis line to write each RDB version (`RDB_VERSION` in `rdb.h`).
const FORMATS: [((u16, u16), u32); 11] = [
    ((2, 4), 2),
    ((2, 6), 6),
    ((3, 2), 7),
    ((4, 0), 8),
    ((5, 0), 9),
    ((7, 0), 10),
    ((7, 2), 11),
    ((7, 4), 12),
    ((8, 6), 13),
    ((8, 8), 14),
    ((8, 10), 15),
];
const NEWEST_REDIS_LINE: (u16, u16) = (8, 10);
/// First and last Valkey line that write RDB version 80.
const VALKEY_80: ((u16, u16), (u16, u16)) = ((9, 0), (9, 1));

impl Server {
    /// Patch number of a version given without one.
    pub const ANY_PATCH: u16 = u16::MAX;

    /// Creates a server from project and version.
    pub const fn new(family: ServerFamily, version: (u16, u16, u16)) -> Server {
        Server { family, version, guessed: None }
    }

    /// Returns the version as text: `7.2.6`, or `7.2` if the patch number is unknown.
    pub fn version_text(&self) -> String {
        let (major, minor, patch) = self.version;
        if patch == Server::ANY_PATCH { format!("{major}.{minor}") } else { format!("{major}.{minor}.{patch}") }
    }

    /// Detects the server that wrote a dump, by its header and the auxiliary fields `redis-ver` and `valkey-ver`.
    ///
    /// Without them, returns the newest server that writes this RDB version, marked as guessed. Version 6 is taken for Redis
    /// 2.8; 3.0 writes it, too.
    pub fn detect(header: &RdbHeader, redis_ver: Option<&[u8]>, valkey_ver: Option<&[u8]>) -> Server {
        let version = |text: Option<&[u8]>| text.and_then(|text| std::str::from_utf8(text).ok()).and_then(version);
        if let Some(version) = version(valkey_ver) {
            return Server::new(ServerFamily::Valkey, version);
        }
        match version(redis_ver) {
            Some(version) if header.family == Family::Valkey => Server::new(ServerFamily::Valkey, version),
            Some(version) if (version.0, version.1) == KEYDB_LINE => Server::new(ServerFamily::Keydb, version),
            Some(version) => Server::new(ServerFamily::Redis, version),
            None => Server::guess(header),
        }
    }

    fn guess(header: &RdbHeader) -> Server {
        let (family, (major, minor)) = match (header.family, header.version) {
            (Family::Valkey, _) => (ServerFamily::Valkey, (9, 1)),
            (Family::Redis, 0..=6) => (ServerFamily::Redis, (2, 8)),
            (Family::Redis, 7) => (ServerFamily::Redis, (3, 2)),
            (Family::Redis, 8) => (ServerFamily::Redis, (4, 0)),
            (Family::Redis, 9) => (ServerFamily::Redis, (6, 2)),
            (Family::Redis, 10) => (ServerFamily::Redis, (7, 0)),
            (Family::Redis, 11) => (ServerFamily::Redis, (7, 2)),
            (Family::Redis, 12) => (ServerFamily::Redis, (8, 4)),
            (Family::Redis, 13) => (ServerFamily::Redis, (8, 6)),
            (Family::Redis, 14) => (ServerFamily::Redis, (8, 8)),
            (Family::Redis, 15..) => (ServerFamily::Redis, (8, 10)),
        };
        Server { guessed: Some(header.version), ..Server::new(family, (major, minor, Server::ANY_PATCH)) }
    }

    /// Parses a server name such as `redis-7.2`, `redis-7.2.6`, `valkey-8.1` or `keydb-6.3`.
    pub fn parse(text: &str) -> Result<Server> {
        let parsed = text.split_once('-').and_then(|(name, number)| {
            let families = [ServerFamily::Redis, ServerFamily::Valkey, ServerFamily::Keydb];
            let family = families.into_iter().find(|family| family.name() == name)?;
            Some(Server::new(family, version(number)?))
        });
        parsed.ok_or_else(|| {
            let near = Server::near(text).map_or_else(String::new, |near| format!("did you mean {near}? "));
            Error::usage(format!("{text:?} names no server")).with_hint(format!(
                "{near}a family and a version, such as redis-7.2, redis-6.2.14, valkey-8.1 or keydb-6.3"
            ))
        })
    }

    /// Returns the likely intended name for a misspelt one such as `redsi-7.2`, `redis7.2` or `Redis 7.2`.
    pub fn near(text: &str) -> Option<String> {
        let text = text.trim();
        let (name, number) = text.split_at(text.find(|c: char| c.is_ascii_digit())?);
        let families = [ServerFamily::Redis, ServerFamily::Valkey, ServerFamily::Keydb];
        let name = name.trim_end_matches(['-', '_', ' ', ':', '=', '@', '/']);
        let nearest = *near::names(name, families.map(|family| family.name())).first()?;
        version(number).map(|_| format!("{nearest}-{number}"))
    }

    /// Returns whether the server can load files with this header.
    ///
    /// A server rejects newer versions than its own, and Valkey rejects versions that only Redis writes. Servers newer than the
    /// known ones are assumed to load everything of their project.
    pub fn loads(&self, header: &RdbHeader) -> bool {
        let (line, version) = (self.line(), header.version);
        match (header.family, self.family) {
            (Family::Valkey, ServerFamily::Valkey) => line > VALKEY_80.1 || line >= VALKEY_80.0 && version <= 80,
            (Family::Valkey, ServerFamily::Redis | ServerFamily::Keydb) => false,
            (Family::Redis, ServerFamily::Valkey) => version <= 11,
            (Family::Redis, ServerFamily::Keydb) => version <= 9 || line > KEYDB_LINE,
            (Family::Redis, ServerFamily::Redis) => {
                let known = FORMATS.iter().rev().find(|(since, _)| line >= *since);
                line > NEWEST_REDIS_LINE || version <= known.map_or(1, |(_, newest)| *newest)
            }
        }
    }

    /// Returns the newest server of the project whose estimates are checked against real servers, or `self` if newer.
    #[must_use]
    pub fn newest(self) -> Server {
        let line = match self.family {
            ServerFamily::Redis => (8, 6),
            ServerFamily::Valkey => (9, 1),
            ServerFamily::Keydb => self.line(),
        };
        if self.line() >= line { self } else { Server::new(self.family, (line.0, line.1, Server::ANY_PATCH)) }
    }

    /// Returns major and minor version.
    pub const fn line(&self) -> (u16, u16) {
        (self.version.0, self.version.1)
    }
}

/// Parses `7.2` or `7.2.6`, ignoring a suffix such as `-rc1`.
fn version(text: &str) -> Option<(u16, u16, u16)> {
    let mut parts = text.splitn(3, '.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?.parse().ok()?;
    let Some(rest) = parts.next() else { return Some((major, minor, Server::ANY_PATCH)) };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((major, minor, rest[..digits].parse().ok()?))
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.family.name(), self.version_text())?;
        match self.guessed {
            Some(rdb) => write!(f, " (guessed from RDB version {rdb})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REDIS_11: RdbHeader = RdbHeader { family: Family::Redis, version: 11 };

    #[test]
    fn auxiliary_fields_name_the_server() {
        let detect = |redis: Option<&[u8]>, valkey: Option<&[u8]>| Server::detect(&REDIS_11, redis, valkey).to_string();
        assert_eq!(detect(Some(b"7.2.6"), None), "redis 7.2.6");
        assert_eq!(detect(None, Some(b"8.0.1")), "valkey 8.0.1");
        assert_eq!(detect(Some(b"7.2.4"), Some(b"8.1.0-rc1")), "valkey 8.1.0");
        assert_eq!(detect(Some(b"6.3.4"), None), "keydb 6.3.4");
    }

    #[test]
    fn server_without_auxiliary_fields_is_marked_as_guessed() {
        assert_eq!(Server::detect(&REDIS_11, None, Some(b"x")).to_string(), "redis 7.2 (guessed from RDB version 11)");
        let valkey = RdbHeader { family: Family::Valkey, version: 80 };
        assert_eq!(Server::detect(&valkey, None, None).line(), (9, 1));
    }

    #[test]
    fn server_loads_versions_up_to_its_own() {
        let loads =
            |server: &str, family, version| Server::parse(server).unwrap().loads(&RdbHeader { family, version });
        let (redis, valkey) = (Family::Redis, Family::Valkey);
        for (server, newest) in [
            ("redis-2.2", 1),
            ("redis-3.0", 6),
            ("redis-6.2", 9),
            ("redis-8.4", 12),
            ("redis-8.8", 14),
            ("redis-8.10", 15),
            ("valkey-9.1", 11),
        ] {
            assert!(loads(server, redis, newest) && !loads(server, redis, newest + 1), "{server}");
        }
        assert!(loads("valkey-9.0", valkey, 80) && !loads("valkey-9.1", valkey, 81) && loads("valkey-9.2", valkey, 81));
        assert!(!loads("valkey-8.1", valkey, 80) && !loads("redis-8.8", valkey, 80) && loads("redis-9.0", redis, 16));
        assert!(loads("keydb-6.3", redis, 9) && !loads("keydb-6.3", redis, 10));
    }

    #[test]
    fn newest_server_is_of_the_same_project() {
        let newest = |text: &str| Server::parse(text).unwrap().newest().to_string();
        assert_eq!((newest("redis-6.2.14"), newest("redis-8.6.1")), ("redis 8.6".to_owned(), "redis 8.6.1".to_owned()));
        assert_eq!((newest("valkey-7.2"), newest("keydb-6.3")), ("valkey 9.1".to_owned(), "keydb 6.3".to_owned()));
    }

    #[test]
    fn names_on_the_command_line() {
        assert_eq!(Server::parse("redis-7.2").unwrap().to_string(), "redis 7.2");
        assert_eq!(Server::parse("keydb-6.3.4").unwrap().to_string(), "keydb 6.3.4");
        for text in ["", "redis", "redis-7", "redis-x.y", "mongo-4.0", "redis7.2", "redis-7.2."] {
            assert!(Server::parse(text).is_err(), "{text}");
        }
    }
}
