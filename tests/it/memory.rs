//! Compares our facts about each key with those of real servers: type, encoding, length, and `MEMORY USAGE`.
//!
//! The corpora are in the folder `RDBLENS_CORPUS`, or else in `testdata/corpus`. Each has the server's own answers for
//! every
//! key after two starts from exactly this file. Figures that are deterministic must be exact; those that depend on
//! randomness in the server (levels of skiplists, collisions in hash tables) must be close. Two random figures may
//! agree by
//! chance: the column `twice` counts all keys whose two figures agree, `exact` those that are deterministic.
//!
//! `UPDATE_GOLDEN=1 RDBLENS_CORPUS=../shared/corpus cargo test --profile ci --test it memory::` renews the tables of
//! docs/memory-model.md; without the first variable it compares the tables with the measurements on the same folders.
//!
//! A folder whose `server.json` has `loaded_by` (such as `redis-7.0`) was loaded by another server than the one that
//! wrote
//! it. `RDBLENS_SHOW=50` prints more of the differences.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use rdblens::ReadPlan;
use rdblens::internals::input::Input;
use rdblens::internals::memory::{
    Allocator, Measured, Meters, Model, Server, ServerConfig, ServerFamily, TemplateShares, TemplateUsers,
};
use rdblens::internals::rdb::batch::Batches;
use rdblens::internals::rdb::cursor::Cursor;
use rdblens::internals::rdb::header::RdbHeader;
use rdblens::internals::rdb::scan::{FileItem, ScanState, Scanner};
use rdblens::internals::record::Kind;
use rdblens::internals::units::Millis;

use crate::common::measured::{MeasuredDump, Tables, share};

/// Server's answers about one key.
#[derive(Debug)]
struct Truth {
    kind: String,
    encoding: String,
    length: Option<u64>,
    memory: Option<(u64, u64)>,
    expired: bool,
    extra: serde_json::Value,
}

type Truths = BTreeMap<(u64, Vec<u8>), Truth>;

/// Result of comparing one corpus.
#[derive(Debug, Default)]
struct Outcome {
    /// Server that loaded the dump, such as `redis 7.0`.
    server: String,
    keys: usize,
    faults: Vec<String>,
    /// Keys with a deterministic figure and how many of those are exact, by type and encoding.
    exact: BTreeMap<String, (usize, usize)>,
    /// Keys whose two figures agree, and how many of those are exact.
    twice: (usize, usize),
    misses: Vec<String>,
    /// Memory of keys with a random figure: ours, and the server's (mean of two).
    random: (u64, u64),
    far: Vec<String>,
}

/// Keys with at least this many elements must be within [`TOLERANCE`] where the server is random.
const MANY: u64 = 100;
const TOLERANCE: f64 = 0.02;
/// Tolerance in chained buckets of a hash table, above or below the expected number, whatever its size.
const BUCKETS: u64 = 3 * 64;
/// Three standard deviations of the size of a skiplist node.
const NODE_DEVIATION: u64 = 3 * 13;
const TOTAL_TOLERANCE: f64 = 0.01;
/// Minimum share of exact keys.
const GOAL: f64 = 0.999;

fn corpora() -> Option<Vec<PathBuf>> {
    let root = match std::env::var_os("RDBLENS_CORPUS") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus"),
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root).ok()?.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("server.json").exists());
    folders.sort();
    (!folders.is_empty()).then_some(folders)
}

fn dump_of(folder: &Path) -> (PathBuf, PathBuf) {
    let dump = folder.join("dump.rdb");
    if dump.exists() {
        return (dump, folder.join("truth.tsv.zst"));
    }
    let truth = folder.join("truth_preamble.tsv.zst");
    let single = folder.join("appendonly.aof");
    if single.exists() {
        return (single, truth);
    }
    let mut files = std::fs::read_dir(folder.join("appendonlydir")).unwrap().map(|entry| entry.unwrap().path());
    let base = files.find(|path| path.to_string_lossy().ends_with(".base.rdb")).unwrap();
    (base, truth)
}

fn truths(path: &Path) -> Truths {
    let text = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let [db, key, kind, encoding, length, restart, restart2, expired, extra] =
        ["db", "key_b64", "type", "encoding", "length", "mem_restart", "mem_restart2", "expired", "extra"].map(column);
    let number = |text: &str| text.parse::<u64>().ok();
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let truth = Truth {
                kind: fields[kind].to_owned(),
                encoding: fields[encoding].to_owned(),
                length: number(fields[length]),
                memory: number(fields[restart]).zip(number(fields[restart2])),
                expired: fields[expired] == "1",
                extra: serde_json::from_str(fields[extra]).unwrap_or_default(),
            };
            ((number(fields[db]).unwrap(), BASE64.decode(fields[key].as_bytes()).unwrap()), truth)
        })
        .collect()
}

fn model_of(folder: &Path, dump: &[u8]) -> Model {
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("server.json")).unwrap()).unwrap();
    let mut config = ServerConfig::default();
    for (name, value) in json["config"].as_object().unwrap() {
        if ServerConfig::knows(name) {
            config.set(name, value.as_str().unwrap()).unwrap();
        }
    }
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let told = json["allocator"].as_str().unwrap_or_default();
    let allocator = if name.ends_with("-debian") || told.contains("q16") {
        Allocator::JemallocQ16
    } else if name.ends_with("-libc") {
        Allocator::Glibc
    } else {
        Allocator::Jemalloc
    };
    if let Some(other) = json["loaded_by"].as_str() {
        return Model::for_server(Server::parse(other).unwrap(), allocator, &config);
    }
    let server = server_of(dump);
    let (flavor, version) = (json["flavor"].as_str().unwrap(), json["version"].as_str().unwrap());
    let told = server.to_string();
    let guessed = server.guessed.is_some() && told.starts_with("redis 2.8");
    assert!(guessed || told == format!("{flavor} {version}"), "{name}: taken for {told}");
    Model::for_server(server, allocator, &config)
}

fn server_of(dump: &[u8]) -> Server {
    let mut cursor = Cursor::new(dump, 0);
    let header = RdbHeader::read(&mut cursor).unwrap();
    let mut scanner = Scanner::new(cursor, ScanState { family: header.family, db: None });
    let (mut redis, mut valkey) = (None, None);
    while let Ok(FileItem::Aux(name, value)) = scanner.next_item() {
        match &*name.to_bytes().unwrap() {
            b"redis-ver" => redis = Some(value.to_bytes().unwrap()),
            b"valkey-ver" => valkey = Some(value.to_bytes().unwrap()),
            _ => {}
        }
    }
    Server::detect(&header, redis.as_deref(), valkey.as_deref())
}

/// Counts the users of the hash templates of a dump that were alive when it was written.
fn template_shares(dump: &Path, model: &Model) -> TemplateShares {
    let options = ReadPlan::new(std::env::temp_dir()).open;
    let mut batches = Batches::open(Input::file(dump.to_owned()).open(&options).unwrap().body).unwrap();
    let preamble = batches.preamble();
    let mut users = TemplateUsers::default();
    while let Some(batch) = batches.next_batch() {
        let mut scanner = batch.scanner();
        while scanner.cursor().left() > 0 {
            if let FileItem::Key(entry) = scanner.next_item().unwrap() {
                scanner.value(&entry, &mut users).unwrap();
                let expired = |at: Millis| Some(at.0 / 1000) <= preamble.ctime();
                users.count(!entry.expires_at.is_some_and(expired));
            }
        }
    }
    users.shares(&preamble.templates.unwrap_or_default(), std::iter::once(model))
}

fn compare(folder: &Path) -> Outcome {
    let (dump, truth) = dump_of(folder);
    let path = dump;
    let dump = std::fs::read(&path).unwrap();
    let mut truths = truths(&truth);
    let model = model_of(folder, &dump);
    let shares = template_shares(&path, &model);
    let mut meters = Meters::with_shares(&model, &[], Some(&shares));
    let mut cursor = Cursor::new(&dump, 0);
    let header = RdbHeader::read(&mut cursor).unwrap();
    let mut scanner = Scanner::new(cursor, ScanState { family: header.family, db: None });
    let server = model.server();
    let line = server.line();
    let mut outcome =
        Outcome { server: format!("{} {}.{}", server.family.name(), line.0, line.1), ..Outcome::default() };
    loop {
        let entry = match scanner.next_item().unwrap() {
            FileItem::Key(entry) => entry,
            FileItem::End => break,
            _ => continue,
        };
        let key = entry.key.to_bytes().unwrap().into_owned();
        meters.begin_key(key.len() as u64, entry.expires_at.is_some());
        scanner.value(&entry, &mut meters).unwrap();
        let (measured, _) = meters.finish().unwrap();
        let place = (entry.db.unwrap(), key);
        let truth = truths.remove(&place).unwrap_or_else(|| panic!("{}: no truth about {place:?}", folder.display()));
        let name = format!("db {} {}", place.0, place.1.escape_ascii());
        outcome.keys += 1;
        outcome.same_facts(&name, entry.value_type.kind(), measured, &truth);
        outcome.same_memory(&name, measured, &truth, is_random(&model, &truth));
    }
    let folder = folder.to_string_lossy();
    let old = folder.contains("redis-2") || folder.contains("redis-3");
    for (place, truth) in truths {
        // Redis before 4.0 does not save expired keys.
        if !(old && truth.expired) {
            outcome.faults.push(format!("missing: {place:?}"));
        }
    }
    outcome
}

/// Returns whether the server's figure is random and may differ at each start.
fn is_random(model: &Model, truth: &Truth) -> bool {
    let valkey = model.server().family == ServerFamily::Valkey;
    match (truth.kind.as_str(), truth.encoding.as_str()) {
        (_, "skiplist") => true,
        ("set", "hashtable") => valkey && model.server().line() >= (8, 0),
        ("hash", "hashtable") => valkey && model.server().line() >= (8, 1),
        _ => false,
    }
}

impl Outcome {
    fn same_facts(&mut self, name: &str, kind: Kind, measured: &Measured, truth: &Truth) {
        let told = match measured.module {
            Some(module) => module.to_string(),
            None => kind.name().to_owned(),
        };
        let (kind, encoding) = (told.as_str(), measured.encoding.name());
        if (kind, encoding) != (&*truth.kind, &*truth.encoding) {
            self.faults.push(format!("{name}: {kind}/{encoding} instead of {}/{}", truth.kind, truth.encoding));
        }
        if truth.length.is_some() && truth.length != measured.length {
            self.faults.push(format!("{name}: length {:?} instead of {:?}", measured.length, truth.length));
        }
        if let (Some(stream), Some(groups)) = (measured.stream, truth.extra["groups"].as_array()) {
            let pending: u64 = groups.iter().filter_map(|group| group["pending"].as_u64()).sum();
            if (stream.groups, stream.pending) != (groups.len() as u64, pending) {
                self.faults.push(format!("{name}: {stream:?} instead of {} groups, {pending}", groups.len()));
            }
        }
    }

    fn same_memory(&mut self, name: &str, measured: &Measured, truth: &Truth, random: bool) {
        let Some((first, second)) = truth.memory else { return };
        // KeyDB's cron jobs have no formula.
        if measured.module.is_some_and(|module| module.as_str() == "keydbcron") {
            return;
        }
        let ours = measured.memory.0;
        let kind = format!("{}/{}", truth.kind, truth.encoding);
        if first == second {
            self.twice = (self.twice.0 + 1, self.twice.1 + usize::from(ours == first));
        }
        if first == second && !random {
            let (keys, hits) = self.exact.entry(kind.clone()).or_default();
            *keys += 1;
            *hits += usize::from(ours == first);
            if ours != first {
                self.misses.push(format!("{kind} {name}: {ours} instead of {first} ({:?})", measured.length));
            }
            return;
        }
        let mean = first.midpoint(second);
        self.random = (self.random.0 + ours, self.random.1 + mean);
        let luck =
            if truth.encoding == "skiplist" { NODE_DEVIATION * measured.length.unwrap_or(0).isqrt() } else { BUCKETS };
        let near = |theirs: u64| apart(ours, theirs) <= TOLERANCE || ours.abs_diff(theirs) <= luck;
        if measured.length.unwrap_or(0) >= MANY && !near(first) && !near(second) {
            self.far.push(format!("far: {kind} {name}: {ours} instead of {first} or {second} ({:?})", measured.length));
        }
    }

    fn exact(&self) -> (usize, usize) {
        self.exact.values().fold((0, 0), |(keys, hits), (k, h)| (keys + k, hits + h))
    }
}

fn apart(ours: u64, theirs: u64) -> f64 {
    (ours as f64 - theirs as f64).abs() / theirs as f64
}

#[test]
fn every_key_matches_its_server() {
    let Some(folders) = corpora() else {
        println!("SKIPPED: no corpus in testdata/corpus, and RDBLENS_CORPUS names none");
        return;
    };
    let limit = std::env::var("RDBLENS_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut tables = Tables::default();
    let mut faults = String::new();
    let mut below = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let outcome = compare(&folder);
        let exact = outcome.exact();
        let drift = if outcome.random.1 == 0 { 0.0 } else { apart(outcome.random.0, outcome.random.1) };
        for fault in outcome.faults.iter().take(limit) {
            writeln!(faults, "{name}: {fault}").unwrap();
        }
        for miss in outcome.misses.iter().chain(&outcome.far).take(limit) {
            println!("{name}: {miss}");
        }
        println!("{name}: {:.2} % of all that said the same twice", share(outcome.twice) * 100.0);
        let approximate = name.ends_with("-libc");
        if !approximate && (share(exact) < GOAL || drift > TOTAL_TOLERANCE || !outcome.far.is_empty()) {
            below.push(name.clone());
        }
        tables.add(MeasuredDump {
            name,
            server: outcome.server,
            keys: outcome.keys,
            exact: outcome.exact,
            drift,
            approximate,
        });
    }
    println!("{}", tables.by_dump());
    println!("{}", tables.by_server());
    assert!(faults.is_empty(), "\n{faults}");
    assert!(below.is_empty(), "below the goal: {below:?}");
    tables.compare_with_document();
}
