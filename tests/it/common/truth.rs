//! Folders of a corpus: a dump, and what the server that wrote it reported about every key.
//!
//! `truth.tsv.zst` has one row per key. Beside append-only files, `truth_preamble.tsv.zst` describes the moment of the
//! rewrite, the content of their RDB part. `testdata/README.md` describes the columns.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use serde_json::Value;

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
    /// `MEMORY USAGE` in a server started on this dump, if two starts agreed.
    pub memory: Option<u64>,
    pub fields_with_ttl: Option<u64>,
    pub groups: Option<u64>,
    pub pending: Option<u64>,
}

/// Types that do not belong to modules.
const OWN_TYPES: [&str; 7] = ["string", "list", "set", "zset", "hash", "stream", "array"];

impl Truth {
    /// Returns whether the value belongs to a module, in which case `TYPE` returned the module type's name.
    pub fn is_module(&self) -> bool {
        !OWN_TYPES.contains(&self.kind.as_str())
    }
}

/// Folder of a corpus.
#[derive(Debug)]
pub struct Folder {
    pub name: String,
    pub path: PathBuf,
    server: Value,
}

impl Folder {
    /// Returns all folders in `root`, by name.
    pub fn all(root: &Path) -> Vec<Folder> {
        let entries = fs::read_dir(root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
        let mut folders: Vec<Folder> = entries
            .map(|entry| entry.expect("the folder is readable").path())
            .filter(|path| path.is_dir())
            .map(Folder::open)
            .collect();
        folders.sort_by(|a, b| a.name.cmp(&b.name));
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
        if !self.keeps_expired_keys() {
            rows.retain(|_, truth| !truth.expired);
        }
        rows
    }

    /// Returns the non-default settings that affect encodings or memory, as command-line arguments.
    pub fn settings(&self) -> Vec<String> {
        let config = self.server["config"].as_object().expect("server.json holds the settings");
        let set = |name: &str, default: &str| {
            let value = config.get(name).and_then(Value::as_str).unwrap_or(default);
            (value != default).then(|| format!("{name}={value}"))
        };
        DEFAULTS.iter().filter_map(|(name, default)| set(name, default)).collect()
    }

    /// Returns the server's allocator, which no dump records. Debian's jemalloc has another quantum than the servers'
    /// own.
    pub fn allocator(&self) -> &'static str {
        match self.server["allocator"].as_str() {
            Some("libc") => "glibc",
            Some("jemalloc-q16") => "jemalloc-q16",
            _ if self.name.ends_with("-debian") => "jemalloc-q16",
            _ => "jemalloc",
        }
    }

    /// Returns whether the dump has expired keys: servers before 4.0 do not write them.
    fn keeps_expired_keys(&self) -> bool {
        let version = self.server["version"].as_str().expect("server.json names the version");
        self.server["flavor"] != "redis" || !matches!(version.split('.').next(), Some("2" | "3"))
    }
}

/// Limits that determine encodings, with the default of all servers in the corpus.
const DEFAULTS: [(&str, &str); 17] = [
    ("hash-max-listpack-entries", "512"),
    ("hash-max-listpack-value", "64"),
    ("hash-max-ziplist-entries", "512"),
    ("hash-max-ziplist-value", "64"),
    ("list-compress-depth", "0"),
    ("list-max-listpack-size", "-2"),
    ("list-max-ziplist-entries", "512"),
    ("list-max-ziplist-size", "-2"),
    ("list-max-ziplist-value", "64"),
    ("set-max-intset-entries", "512"),
    ("set-max-listpack-entries", "128"),
    ("set-max-listpack-value", "64"),
    ("stream-node-max-bytes", "4096"),
    ("zset-max-listpack-entries", "128"),
    ("zset-max-listpack-value", "64"),
    ("zset-max-ziplist-entries", "128"),
    ("zset-max-ziplist-value", "64"),
];

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
        memory: unsigned("mem_restart").filter(|_| field("mem_restart") == field("mem_restart2")),
        fields_with_ttl: extra["fields_with_ttl"].as_u64(),
        groups: groups.map(|groups| groups.len() as u64),
        pending: groups.map(|groups| groups.iter().map(pending).sum()),
    };
    ((unsigned("db").expect("every row has a database"), key), truth)
}
