//! Folders of a corpus: a dump, and what a server that had loaded it reported about every key.
//!
//! The corpora are the folders in `RDBLENS_CORPUS`, a list separated as in `PATH`, or else `testdata/corpus`. How a dump is
//! to be read (server, allocator, settings) comes from its `server.json`.
//!
//! `truth.tsv.zst` has one row per key. Beside append-only files, `truth_preamble.tsv.zst` describes the moment of the
//! rewrite, the content of their RDB part. `testdata/README.md` describes the columns.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use rdblens::internals::memory::{Server, ServerConfig, ServerFamily};
use serde_json::Value;

use super::program::testdata;

/// Database and raw bytes of a key.
pub type Place = (u64, Vec<u8>);

/// Server's answers about one key.
#[derive(Debug)]
pub struct Truth {
    pub kind: String,
    pub encoding: String,
    /// `None` for module types.
    pub length: Option<u64>,
    pub expires_at: Option<i64>,
    pub idle: Option<u64>,
    pub freq: Option<u8>,
    /// True if it had expired when the dump was written.
    pub expired: bool,
    /// `MEMORY USAGE` in servers started on this dump, once and again.
    pub memory: Option<(u64, u64)>,
    pub fields_with_ttl: Option<u64>,
    pub groups: Option<u64>,
    pub pending: Option<u64>,
    /// What the server says of a value besides.
    pub extra: Value,
}

/// Types that do not belong to modules.
const OWN_TYPES: [&str; 7] = ["string", "list", "set", "zset", "hash", "stream", "array"];

impl Truth {
    /// Returns whether the value belongs to a module, in which case `TYPE` returned the module type's name.
    pub fn is_module(&self) -> bool {
        !OWN_TYPES.contains(&self.kind.as_str())
    }

    /// Returns whether the server draws random numbers for such a value at each start.
    pub fn is_random(&self, server: Server) -> bool {
        let valkey = server.family == ServerFamily::Valkey;
        match (self.kind.as_str(), self.encoding.as_str()) {
            (_, "skiplist") => true,
            ("set", "hashtable") => valkey && server.line() >= (8, 0),
            ("hash", "hashtable") => valkey && server.line() >= (8, 1),
            _ => false,
        }
    }
}

/// Returns the folders of all corpora, in the order of their names; a corpus that is missing or empty is an error.
pub fn folders() -> Vec<Folder> {
    let mut folders: Vec<Folder> = roots().iter().flat_map(|root| Folder::all(root)).collect();
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    folders
}

/// Returns the folders of the repository itself, whatever other corpora are named.
pub fn committed() -> Vec<Folder> {
    let mut folders = Folder::all(&testdata().join("corpus"));
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    folders
}

/// Returns the corpora that `RDBLENS_CORPUS` names, or the one of the test data.
pub fn roots() -> Vec<PathBuf> {
    std::env::var_os("RDBLENS_CORPUS")
        .map_or_else(|| vec![testdata().join("corpus")], |roots| std::env::split_paths(&roots).collect())
}

/// Folder of a corpus.
#[derive(Debug)]
pub struct Folder {
    pub name: String,
    pub path: PathBuf,
    server: Value,
}

impl Folder {
    fn all(root: &Path) -> Vec<Folder> {
        let entries = fs::read_dir(root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
        let paths = entries.map(|entry| entry.expect("the folder is readable").path());
        let folders: Vec<Folder> = paths.filter(|path| path.is_dir()).map(Folder::open).collect();
        assert!(!folders.is_empty(), "{} holds no folder", root.display());
        folders
    }

    fn open(path: PathBuf) -> Folder {
        let name = path.file_name().expect("it is below the root").to_string_lossy().into_owned();
        let json = fs::read(path.join("server.json")).unwrap_or_else(|error| panic!("{name}/server.json: {error}"));
        let server = serde_json::from_slice(&json).unwrap_or_else(|error| panic!("{name}/server.json: {error}"));
        Folder { name, path, server }
    }

    /// Returns the dump, the append-only file, or the directory of a multi-part one.
    pub fn input(&self) -> PathBuf {
        let candidates = ["dump.rdb", "appendonly.aof", "appendonlydir"];
        let found = candidates.iter().map(|name| self.path.join(name)).find(|path| path.exists());
        found.unwrap_or_else(|| panic!("{}: no dump and no append-only file", self.name))
    }

    /// Returns every key in the RDB part of the folder's file.
    pub fn truth(&self) -> BTreeMap<Place, Truth> {
        let preamble = self.path.join("truth_preamble.tsv.zst");
        let table = if preamble.exists() { preamble } else { self.path.join("truth.tsv.zst") };
        let file = File::open(&table).unwrap_or_else(|error| panic!("{}: {error}", table.display()));
        let bytes = zstd::decode_all(file).unwrap_or_else(|error| panic!("{}: {error}", table.display()));
        let text = String::from_utf8(bytes).expect("the table is ASCII");
        let mut lines = text.lines();
        let columns: Vec<&str> = lines.next().expect("the table has a header").split('\t').collect();
        let mut rows: BTreeMap<Place, Truth> = lines.map(|line| row(&columns, line)).collect();
        if self.was_written_by_another() {
            // The server that was asked has dropped these: their encoding is that of the writer.
            rows.values_mut().filter(|truth| truth.expired).for_each(|truth| truth.encoding.clear());
        }
        if !self.keeps_expired_keys() {
            rows.retain(|_, truth| !truth.expired);
        }
        rows
    }

    /// Returns the options with which the tool reads the folder's file as its server did.
    pub fn options(&self) -> Vec<String> {
        let mut options = vec!["--allocator".to_owned(), self.allocator().to_owned()];
        if self.was_written_by_another() {
            options.extend(["--server".to_owned(), self.server_name()]);
        }
        let settings = self.settings().into_iter().map(|(name, value)| format!("{name}={value}"));
        options.extend(settings.flat_map(|setting| ["--server-config".to_owned(), setting]));
        options
    }

    /// Returns the settings of the server that the tool knows. Up to 5.0 servers do not tell `cluster-enabled`.
    fn settings(&self) -> Vec<(&str, &str)> {
        let config = self.server["config"].as_object().expect("server.json holds the settings");
        let texts = config.iter().map(|(name, value)| (name.as_str(), value.as_str().expect("a setting is a text")));
        texts.filter(|(name, _)| ServerConfig::knows(name)).collect()
    }

    /// Returns the server that loaded the file and was asked, such as `redis-8.10.2`.
    pub fn server_name(&self) -> String {
        let part = |name: &str| self.server[name].as_str().unwrap_or_else(|| panic!("server.json has no {name}"));
        format!("{}-{}", part("flavor"), part("version"))
    }

    /// Returns the server that loaded the file and was asked.
    pub fn loaded_by(&self) -> Server {
        Server::parse(&self.server_name()).expect("server.json names a server")
    }

    /// Returns whether another server wrote the file than the one that was asked.
    pub fn was_written_by_another(&self) -> bool {
        self.writer() != self.server_name()
    }

    /// Returns the server that wrote the file.
    pub fn writer(&self) -> String {
        self.server["written_by"].as_str().map_or_else(|| self.server_name(), str::to_owned)
    }

    /// Returns the server's allocator, which no dump records. Debian's jemalloc has another quantum than the servers'
    /// own, which its version does not show.
    pub fn allocator(&self) -> &'static str {
        match self.server["allocator"].as_str().expect("server.json names the allocator") {
            "libc" => "glibc",
            "jemalloc-q16" => "jemalloc-q16",
            _ if self.name.ends_with("-debian") => "jemalloc-q16",
            jemalloc => {
                assert!(jemalloc.starts_with("jemalloc-"), "{}: no model of the allocator {jemalloc}", self.name);
                "jemalloc"
            }
        }
    }

    /// Returns what a server.json says besides.
    pub fn description(&self) -> &Value {
        &self.server
    }

    /// Returns whether modules that are not part of the server had been loaded.
    pub fn has_modules(&self) -> bool {
        let path = |module: &Value| {
            let words = module.as_array().expect("a module is a list");
            let at = words.iter().position(|word| word == "path");
            at.and_then(|at| words.get(at + 1)).and_then(Value::as_str).is_some_and(|path| !path.is_empty())
        };
        self.server["modules"].as_array().is_some_and(|modules| modules.iter().any(path))
    }

    /// Returns whether the dump has expired keys: servers before 4.0 do not write them.
    fn keeps_expired_keys(&self) -> bool {
        let version = self.server["version"].as_str().expect("server.json names the version");
        self.server["flavor"] != "redis" || !matches!(version.split('.').next(), Some("2" | "3"))
    }
}

fn row(columns: &[&str], line: &str) -> (Place, Truth) {
    let fields: Vec<&str> = line.split('\t').collect();
    assert_eq!(fields.len(), columns.len(), "a row has a field for each column: {line}");
    let field = |name: &str| {
        let at = columns.iter().position(|&column| column == name).unwrap_or_else(|| panic!("no column {name}"));
        fields[at]
    };
    let number = |name: &str| match field(name) {
        "" => None,
        text => Some(text.parse::<i64>().unwrap_or_else(|error| panic!("{name} {text:?}: {error}"))),
    };
    let unsigned = |name: &str| number(name).map(|value| u64::try_from(value).expect("sizes are not negative"));
    let extra: Value = match field("extra") {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|error| panic!("extra {text:?}: {error}")),
    };
    let groups = extra["groups"].as_array();
    let pending = |group: &Value| group["pending"].as_u64().expect("a group tells its pending entries");
    let key = BASE64.decode(field("key_b64").as_bytes()).expect("keys are in base64");
    let truth = Truth {
        kind: field("type").to_owned(),
        encoding: field("encoding").to_owned(),
        length: unsigned("length"),
        expires_at: number("expire_ms").filter(|&at| at != -1),
        idle: unsigned("idle_s"),
        freq: number("freq").map(|freq| u8::try_from(freq).expect("counters fit a byte")),
        expired: field("expired") == "1",
        memory: unsigned("mem_restart").zip(unsigned("mem_restart2")),
        fields_with_ttl: extra["fields_with_ttl"].as_u64(),
        groups: groups.map(|groups| groups.len() as u64),
        pending: groups.map(|groups| groups.iter().map(pending).sum()),
        extra: extra.clone(),
    };
    ((unsigned("db").expect("every row has a database"), key), truth)
}
