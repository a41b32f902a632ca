//! Release lines of the servers: which RDB version each writes, and the names accepted on the command line.

use super::{Server, ServerFamily, version};
use crate::error::{Error, Result};
use crate::memory::servers;
use crate::near;
use crate::rdb::header::{Family, RdbHeader};

type Line = (u16, u16);

/// Release lines of Redis.
const REDIS: [Line; 20] = [
    (2, 0),
    (2, 2),
    (2, 4),
    (2, 6),
    (2, 8),
    (3, 0),
    (3, 2),
    (4, 0),
    (5, 0),
    (6, 0),
    (6, 2),
    (7, 0),
    (7, 2),
    (7, 4),
    (8, 0),
    (8, 2),
    (8, 4),
    (8, 6),
    (8, 8),
    (8, 10),
];
/// Release lines of Valkey.
const VALKEY: [Line; 6] = [(7, 2), (8, 0), (8, 1), (9, 0), (9, 1), (9, 2)];
/// Release line of KeyDB that has a model.
const KEYDB: [Line; 1] = [(6, 3)];

/// Maximum number of names that are suggested.
const SUGGESTED: usize = 3;

/// Servers that write one RDB version.
#[derive(Debug, Clone, Copy)]
pub struct Writers {
    family: ServerFamily,
    /// Release lines of the family that write it.
    lines: &'static str,
    /// Other projects that write it; empty if there are none.
    others: &'static str,
    /// The line that figures are computed for.
    assumed: Line,
}

impl Writers {
    /// Returns the writers of files with this magic and version.
    pub fn of(family: Family, rdb_version: u32) -> Writers {
        let (lines, others, assumed) = match (family, rdb_version) {
            (Family::Valkey, ..=80) => ("9.0–9.1", "", (9, 1)),
            (Family::Valkey, 81) => ("9.2", "", (9, 2)),
            (Family::Dragonfly, _) => ("of unknown version", "", (0, 0)),
            (Family::Valkey, 82..) => ("9.2+", "", (9, 2)),
            (Family::Redis, 0..=1) => ("1.0–2.2", "", (2, 2)),
            (Family::Redis, 2) => ("2.4", "", (2, 4)),
            (Family::Redis, 3..=5) => ("2.5", "", (2, 6)),
            (Family::Redis, 6) => ("2.6–3.0", "", (2, 8)),
            (Family::Redis, 7) => ("3.2", "", (3, 2)),
            (Family::Redis, 8) => ("4.0", "", (4, 0)),
            (Family::Redis, 9) => ("5.0–6.2", "keydb, dragonfly", (6, 2)),
            (Family::Redis, 10) => ("7.0", "", (7, 0)),
            (Family::Redis, 11) => ("7.2", "valkey 7.2–8.1", (7, 2)),
            (Family::Redis, 12) => ("7.4–8.4", "", (8, 4)),
            (Family::Redis, 13) => ("8.6", "", (8, 6)),
            (Family::Redis, 14) => ("8.8", "", (8, 8)),
            (Family::Redis, 15) => ("8.10", "", (8, 10)),
            (Family::Redis, 16..) => ("8.10+", "", (8, 10)),
        };
        let family = match family {
            Family::Redis => ServerFamily::Redis,
            Family::Valkey => ServerFamily::Valkey,
            Family::Dragonfly => ServerFamily::Dragonfly,
        };
        Writers { family, lines, others, assumed }
    }

    /// Returns the release lines of the family: `2.6–3.0`.
    pub fn lines(&self) -> &'static str {
        self.lines
    }

    /// Returns all servers that write the version: `redis 7.2, valkey 7.2–8.1`.
    pub fn names(&self) -> String {
        let separator = if self.others.is_empty() { "" } else { ", " };
        format!("{} {}{separator}{}", self.family.name(), self.lines, self.others)
    }

    /// Returns the server that figures are computed for.
    pub fn assumed(&self) -> Server {
        Server::new(self.family, (self.assumed.0, self.assumed.1, Server::ANY_PATCH))
    }
}

impl Server {
    /// Returns the writers of the RDB version that the server was guessed from; `None` if the dump names its server.
    pub fn writers(&self) -> Option<Writers> {
        let family = match self.family {
            ServerFamily::Valkey => Family::Valkey,
            ServerFamily::Dragonfly => Family::Dragonfly,
            ServerFamily::Redis | ServerFamily::Keydb | ServerFamily::Enterprise => Family::Redis,
        };
        self.guessed.map(|rdb_version| Writers::of(family, rdb_version))
    }

    /// Parses the name of a released server, with or without a patch number: `redis-7.2`, `redis-7.2.6`, `valkey-8.1`.
    pub fn parse(text: &str) -> Result<Server> {
        let parsed = text.split_once('-').and_then(|(name, number)| {
            let family = FAMILIES.into_iter().find(|family| family.name() == name)?;
            let server = Server::new(family, version(number)?);
            lines(family).contains(&server.line()).then_some(server)
        });
        parsed.ok_or_else(|| {
            let near = Server::near(text);
            let near: Vec<_> = near.iter().map(String::as_str).collect();
            Error::usage(format!("unknown server {text:?}")).with_hint(format!(
                "{}give a family and a release line, with or without a patch number: {}",
                near::did_you_mean(&near),
                known()
            ))
        })
    }

    /// Returns the names of all release lines that have a model.
    pub fn names() -> Vec<String> {
        let names = |family: ServerFamily| {
            lines(family).iter().map(move |(major, minor)| format!("{}-{major}.{minor}", family.name()))
        };
        FAMILIES.into_iter().flat_map(names).collect()
    }

    /// Returns the last release line with a model, of each family that has models.
    pub fn newest_of_each() -> [Server; FAMILIES.len()] {
        FAMILIES.map(|family| {
            let (major, minor) = lines(family).iter().copied().max().unwrap_or_default();
            Server::new(family, (major, minor, Server::ANY_PATCH))
        })
    }

    /// Returns the newest line of the project whose model was checked on whole dumps of real servers, or `self` if newer.
    #[must_use]
    pub fn newest(self) -> Server {
        let of = |line: &Line| Server::new(self.family, (line.0, line.1, Server::ANY_PATCH));
        let is_checked = |server: &Server| servers::layout(server).1.is_none();
        let checked = lines(self.family).iter().map(of).filter(is_checked);
        checked.filter(|server| server.line() > self.line()).max_by_key(Server::line).unwrap_or(self)
    }

    /// Returns the likely intended names for one that is misspelt or unknown, such as `redsi-7.2`, `redis7.2`, `Redis 7.2`,
    /// `redis-7.9` or `valkey-8`.
    pub fn near(text: &str) -> Vec<String> {
        let text = text.trim();
        let (name, number) = text.split_at(text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len()));
        let name = name.trim_end_matches(['-', '_', ' ', ':', '=', '@', '/', 'v']);
        let named = |family: &ServerFamily| !near::names(name, [family.name()]).is_empty();
        let Some(family) =
            FAMILIES.into_iter().find(|family| family.name() == name).or_else(|| FAMILIES.into_iter().find(named))
        else {
            return Vec::new();
        };
        let written = version(number).filter(|version| lines(family).contains(&(version.0, version.1)));
        if written.is_some() {
            return vec![format!("{}-{number}", family.name())];
        }
        near_lines(lines(family), number)
            .into_iter()
            .map(|(major, minor)| format!("{}-{major}.{minor}", family.name()))
            .collect()
    }
}

/// Projects that names on the command line start with.
const FAMILIES: [ServerFamily; 3] = [ServerFamily::Redis, ServerFamily::Valkey, ServerFamily::Keydb];

/// Returns the release lines that have a model.
fn lines(family: ServerFamily) -> &'static [Line] {
    match family {
        ServerFamily::Redis => &REDIS,
        ServerFamily::Valkey => &VALKEY,
        ServerFamily::Keydb => &KEYDB,
        ServerFamily::Enterprise | ServerFamily::Dragonfly => &[],
    }
}

/// Returns the newest lines of a major version, or those around a version that does not exist.
fn near_lines(lines: &[Line], number: &str) -> Vec<Line> {
    let mut parts = number.split(|c: char| !c.is_ascii_digit());
    let mut next = || parts.next().and_then(|digits| digits.parse::<u16>().ok());
    let (major, minor) = (next(), next());
    let newest_first = lines.iter().rev().copied();
    match (major, minor) {
        (Some(major), None) if lines.iter().any(|line| line.0 == major) => {
            newest_first.filter(|line| line.0 == major).take(SUGGESTED).collect()
        }
        (Some(major), minor) => {
            let asked = (major, minor.unwrap_or_default());
            let below = newest_first.clone().find(|line| *line < asked);
            below.into_iter().chain(lines.iter().copied().find(|line| *line > asked)).collect()
        }
        (None, _) => newest_first.take(SUGGESTED).collect(),
    }
}

/// Returns all accepted families and lines, for the hint of an error.
fn known() -> String {
    let of = |family: ServerFamily| {
        let lines: Vec<_> = lines(family).iter().map(|(major, minor)| format!("{major}.{minor}")).collect();
        format!("{}-{{{}}}", family.name(), lines.join(","))
    };
    FAMILIES.map(of).join(", ")
}

/// First Redis line to write each RDB version (`RDB_VERSION` in `rdb.h`).
const FORMATS: [(Line, u32); 11] = [
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
const NEWEST_REDIS: Line = (8, 10);
/// First Valkey line to write each RDB version of its own.
const VALKEY_FORMATS: [(Line, u32); 2] = [((9, 0), 80), ((9, 2), 81)];
const NEWEST_VALKEY: Line = (9, 2);
/// Last RDB version that KeyDB and Valkey share with Redis.
const KEYDB_FORMAT: u32 = 9;
const VALKEY_REDIS_FORMAT: u32 = 11;

impl Server {
    /// Returns whether the server can load files with this header.
    ///
    /// A server rejects newer versions than its own, and Valkey rejects versions that only Redis writes. Servers newer than the
    /// known ones are assumed to load everything of their project.
    pub fn loads(&self, header: &RdbHeader) -> bool {
        let (line, version) = (self.line(), header.version);
        let newest_of =
            |formats: &[(Line, u32)]| formats.iter().rev().find(|(since, _)| line >= *since).map(|(_, newest)| *newest);
        match (header.family, self.family) {
            (Family::Valkey, ServerFamily::Valkey) => {
                line > NEWEST_VALKEY || newest_of(&VALKEY_FORMATS).is_some_and(|newest| version <= newest)
            }
            // These are only ever the writers of files, and load what they wrote.
            (_, ServerFamily::Enterprise | ServerFamily::Dragonfly) => true,
            (Family::Dragonfly, _) => false,
            (Family::Valkey, ServerFamily::Redis | ServerFamily::Keydb) => false,
            (Family::Redis, ServerFamily::Valkey) => version <= VALKEY_REDIS_FORMAT,
            (Family::Redis, ServerFamily::Keydb) => version <= KEYDB_FORMAT || line > KEYDB[0],
            (Family::Redis, ServerFamily::Redis) => line > NEWEST_REDIS || version <= newest_of(&FORMATS).unwrap_or(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(!loads("valkey-8.1", valkey, 80) && !loads("redis-8.8", valkey, 80));
        assert!(loads("keydb-6.3", redis, 9) && !loads("keydb-6.3", redis, 10));
        let later = Server::new(ServerFamily::Redis, (9, 0, 0));
        assert!(later.loads(&RdbHeader { family: redis, version: 16 }));
    }

    #[test]
    fn names_on_the_command_line() {
        assert_eq!(Server::parse("redis-7.2").unwrap().to_string(), "redis 7.2");
        assert_eq!(Server::parse("redis-7.2.4").unwrap().to_string(), "redis 7.2.4");
        assert_eq!(Server::parse("valkey-8.1.3").unwrap().to_string(), "valkey 8.1.3");
        assert_eq!(Server::parse("keydb-6.3.4").unwrap().to_string(), "keydb 6.3.4");
        for text in
            ["", "redis", "redis-7", "redis-x.y", "mongo-4.0", "redis7.2", "redis-7.2.", "redis-7.9", "redis-9.0"]
        {
            assert!(Server::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn newest_server_is_the_last_checked_line_of_the_project() {
        let newest = |text: &str| Server::parse(text).unwrap().newest().to_string();
        for (text, expected) in [
            ("redis-6.2.14", "redis 8.10"),
            ("redis-8.8.1", "redis 8.10"),
            ("redis-8.10.2", "redis 8.10.2"),
            ("valkey-7.2", "valkey 9.1"),
            ("valkey-9.2", "valkey 9.2"),
            ("keydb-6.3", "keydb 6.3"),
        ] {
            assert_eq!(newest(text), expected, "{text}");
        }
        let enterprise = Server::new(ServerFamily::Enterprise, (7, 4, 2));
        assert_eq!(enterprise.newest(), enterprise);
    }

    #[test]
    fn unknown_names_are_answered_with_near_ones() {
        for (text, near) in [
            ("redis-7.9", &["redis-7.4", "redis-8.0"][..]),
            ("redis-7", &["redis-7.4", "redis-7.2", "redis-7.0"]),
            ("redis-8.12", &["redis-8.10"]),
            ("redis-255.255.255", &["redis-8.10"]),
            ("valky-8", &["valkey-8.1", "valkey-8.0"]),
            ("Valkey 8.1.3", &["valkey-8.1.3"]),
            ("redsi-7.2", &["redis-7.2"]),
            ("redis7.2", &["redis-7.2"]),
            ("redis-v7.2", &["redis-7.2"]),
            ("keydb-6.0", &["keydb-6.3"]),
            ("valkey", &["valkey-9.2", "valkey-9.1", "valkey-9.0"]),
            ("mongo-4.0", &[]),
            ("", &[]),
        ] {
            assert_eq!(Server::near(text), near, "{text}");
        }
        let hint = Server::parse("redis-7.9").unwrap_err().hint().unwrap().to_string();
        assert!(hint.starts_with("did you mean redis-7.4 or redis-8.0?") && hint.contains("8.8,8.10"), "{hint}");
    }

    #[test]
    fn every_line_is_accepted_and_writes_a_known_version() {
        for family in FAMILIES {
            for (major, minor) in lines(family) {
                let name = format!("{}-{major}.{minor}", family.name());
                assert_eq!(Server::parse(&name).unwrap().line(), (*major, *minor));
            }
        }
        for version in 1..=NEWEST {
            let writers = Writers::of(Family::Redis, version);
            let assumed = writers.assumed();
            assert!(REDIS.contains(&assumed.line()), "{version}");
            assert!(assumed.loads(&RdbHeader { family: Family::Redis, version }), "{version}");
        }
    }

    const NEWEST: u32 = crate::rdb::header::NEWEST_REDIS;
}
