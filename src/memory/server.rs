//! Server that memory is estimated for: detected from the dump or given by the user.

mod lines;

use std::fmt;

pub use lines::Writers;

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
    /// Redis Enterprise and Redis Cloud.
    Enterprise,
    /// Dragonfly.
    Dragonfly,
}

impl ServerFamily {
    /// Returns the lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            ServerFamily::Redis => "redis",
            ServerFamily::Valkey => "valkey",
            ServerFamily::Keydb => "keydb",
            ServerFamily::Enterprise => "redis-enterprise",
            ServerFamily::Dragonfly => "dragonfly",
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

/// Facts in a dump that tell which server wrote it.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriterTraces<'a> {
    /// Auxiliary field `redis-ver`.
    pub redis_ver: Option<&'a [u8]>,
    /// Auxiliary field `valkey-ver`.
    pub valkey_ver: Option<&'a [u8]>,
    /// Auxiliary field `df-ver`.
    pub dragonfly_ver: Option<&'a [u8]>,
    /// True if opcodes or auxiliary fields are those of Redis Enterprise.
    pub enterprise: bool,
}

/// Version line of KeyDB, which continues Redis' numbering with a line that no Redis has.
const KEYDB_LINE: (u16, u16) = (6, 3);

impl Server {
    /// Patch number of a version given without one.
    pub const ANY_PATCH: u16 = u16::MAX;

    /// Version of a dump that names its server without a number, as builds of developers do.
    const NO_VERSION: (u16, u16, u16) = (0, 0, Server::ANY_PATCH);

    /// Creates a server from project and version.
    pub const fn new(family: ServerFamily, version: (u16, u16, u16)) -> Server {
        Server { family, version, guessed: None }
    }

    /// Returns the lines that may have written the dump, such as `2.6–3.0`, or the version if the dump tells it.
    pub fn written_by(&self) -> String {
        self.writers().map_or_else(|| self.version_text(), |writers| writers.lines().to_owned())
    }

    /// Returns project and version without a note on a guess: `redis 2.8`.
    pub fn line_name(&self) -> String {
        format!("{} {}", self.family.name(), self.version_text())
    }

    /// Returns the value of `--server` that stands for it: `redis-7.2.6`.
    pub(crate) fn flag(self) -> String {
        format!("{}-{}", self.family.name(), self.version_text())
    }

    /// Returns the version as text: `7.2.6`, or `7.2` if the patch number is unknown.
    pub fn version_text(&self) -> String {
        let (major, minor, patch) = self.version;
        if self.version == Server::NO_VERSION {
            return "of unknown version".to_owned();
        }
        if patch == Server::ANY_PATCH { format!("{major}.{minor}") } else { format!("{major}.{minor}.{patch}") }
    }

    /// Detects the server that wrote a dump.
    ///
    /// Without any version in the dump, returns the server that is assumed for its RDB version, marked as guessed.
    pub fn detect(header: &RdbHeader, traces: WriterTraces<'_>) -> Server {
        let version = |text: Option<&[u8]>| text.and_then(|text| std::str::from_utf8(text).ok()).and_then(version);
        if let Some(dragonfly) = traces.dragonfly_ver {
            return Server::new(ServerFamily::Dragonfly, dragonfly_version(dragonfly).unwrap_or(Server::NO_VERSION));
        }
        if let Some(version) = version(traces.valkey_ver) {
            return Server::new(ServerFamily::Valkey, version);
        }
        match version(traces.redis_ver) {
            Some(version) if header.family == Family::Valkey => Server::new(ServerFamily::Valkey, version),
            Some(version) if traces.enterprise => Server::new(ServerFamily::Enterprise, version),
            Some(version) if (version.0, version.1) == KEYDB_LINE => Server::new(ServerFamily::Keydb, version),
            Some(version) => Server::new(ServerFamily::Redis, version),
            None => Server::guess(header),
        }
    }

    fn guess(header: &RdbHeader) -> Server {
        let assumed = Writers::of(header.family, header.version).assumed();
        Server { guessed: Some(header.version), ..assumed }
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

/// Parses Dragonfly's version: `v1.27.1` or `df-v1.27.1`.
fn dragonfly_version(text: &[u8]) -> Option<(u16, u16, u16)> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_prefix("df-").unwrap_or(text);
    version(text.strip_prefix('v').unwrap_or(text))
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.family.name(), self.written_by())?;
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
        let detect = |redis_ver: Option<&[u8]>, valkey_ver: Option<&[u8]>| {
            Server::detect(&REDIS_11, WriterTraces { redis_ver, valkey_ver, ..WriterTraces::default() }).to_string()
        };
        assert_eq!(detect(Some(b"7.2.6"), None), "redis 7.2.6");
        assert_eq!(detect(None, Some(b"8.0.1")), "valkey 8.0.1");
        assert_eq!(detect(Some(b"7.2.4"), Some(b"8.1.0-rc1")), "valkey 8.1.0");
        assert_eq!(detect(Some(b"6.3.4"), None), "keydb 6.3.4");
    }

    #[test]
    fn traces_of_other_servers_name_them() {
        let detect =
            |traces| Server::detect(&REDIS_11, WriterTraces { redis_ver: Some(b"7.4.2"), ..traces }).to_string();
        let dragonfly = |text| detect(WriterTraces { dragonfly_ver: Some(text), ..WriterTraces::default() });
        assert_eq!(detect(WriterTraces { enterprise: true, ..WriterTraces::default() }), "redis-enterprise 7.4.2");
        assert_eq!(dragonfly(b"df-v1.34.2"), "dragonfly 1.34.2");
        assert_eq!(dragonfly(b"v1.9.0"), "dragonfly 1.9.0");
        assert_eq!(dragonfly(b"dev-4c0ffee"), "dragonfly of unknown version");
    }

    #[test]
    fn server_without_auxiliary_fields_is_marked_as_guessed() {
        let (traces, none) =
            (WriterTraces { valkey_ver: Some(b"x"), ..WriterTraces::default() }, WriterTraces::default());
        assert_eq!(Server::detect(&REDIS_11, traces).to_string(), "redis 7.2 (guessed from RDB version 11)");
        let old = RdbHeader { family: Family::Redis, version: 6 };
        assert_eq!(Server::detect(&old, none).to_string(), "redis 2.6–3.0 (guessed from RDB version 6)");
        assert_eq!(Server::detect(&old, none).version_text(), "2.8");
        let valkey = RdbHeader { family: Family::Valkey, version: 80 };
        assert_eq!(Server::detect(&valkey, none).line(), (9, 1));
    }
}
