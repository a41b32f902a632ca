//! Throughput of each stage of a report, in bytes and keys per second on one thread:
//!
//! ```text
//! cargo bench --bench stages
//! cargo bench --bench stages -- price
//! ```
//!
//! Every stage runs on the output of the one before, prepared in advance from dumps of about 16 MB in memory.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests and benches use small numbers and panic on purpose"
)]

mod dump;

use std::io::Cursor;
use std::sync::{Arc, LazyLock};

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use rdblens::internals::aggregate::Aggregate;
use rdblens::internals::analyze::aggregates::Aggregates;
use rdblens::internals::analyze::read::file::InputFile;
use rdblens::internals::analyze::read::reader::{Continue, ReadOptions, read_batch};
use rdblens::internals::analyze::read::schedule::Schedule;
use rdblens::internals::analyze::read::tally::FileTally;
use rdblens::internals::analyze::{
    Plan, PolicySource, ReadPlan, Selection, Snapshot, Unwatched, analyze, questions_of,
};
use rdblens::internals::pattern::PatternBuf;
use rdblens::internals::pattern::classify::Classifier;
use rdblens::internals::pattern::segment::Separators;
use rdblens::internals::pattern::slot::slot_of;
use rdblens::internals::pattern::tree::{PatternTree, Payload, TreeLimits};
use rdblens::internals::policy::Judged;
use rdblens::internals::rdb::batch::Batch;
use rdblens::internals::rdb::crc64;
use rdblens::internals::rdb::cursor::Cursor as Reader;
use rdblens::internals::rdb::header::RdbHeader;
use rdblens::internals::rdb::scan::{FileItem, ScanState, Scanner};
use rdblens::internals::rdb::value_type::ValueType;
use rdblens::internals::record::Record;
use rdblens::internals::render::{JsonRenderer, Renderer};

use dump::{Options, Profile, Scale};

const BYTES: u64 = 16 << 20;
/// Profiles that resemble real servers.
const LOADS: [&str; 5] = ["small", "packed", "tables", "large", "wide"];
/// Value types measured separately: the profile that contains them, and the type.
const FORMS: [(&str, &str, ValueType); 10] = [
    ("short string", "small", ValueType::String),
    ("large string", "large", ValueType::String),
    ("hash listpack", "packed", ValueType::HashListpack),
    ("list of one node", "packed", ValueType::ListQuicklist2),
    ("intset", "packed", ValueType::SetIntset),
    ("set listpack", "packed", ValueType::SetListpack),
    ("zset listpack", "packed", ValueType::ZsetListpack),
    ("hash table", "tables", ValueType::Hash),
    ("skiplist", "tables", ValueType::Zset2),
    ("set", "tables", ValueType::Set),
];

fn main() {
    divan::main();
}

/// Dump with the prepared input of every stage.
struct Load {
    name: &'static str,
    bytes: Vec<u8>,
    batches: Vec<Batch>,
    file: Arc<InputFile>,
    /// Names of the keys, in order.
    names: Vec<Vec<u8>>,
    patterns: Vec<PatternBuf>,
    records: Vec<Record<'static>>,
    /// Keeps the file that the batches are mapped from.
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
}

static ALL: LazyLock<Vec<Load>> = LazyLock::new(|| LOADS.map(Load::new).into());

fn load(name: &str) -> &'static Load {
    ALL.iter().find(|load| load.name == name).expect("one of the loads")
}

fn made(name: &str) -> Vec<u8> {
    let profile = <Profile as clap::ValueEnum>::from_str(name, false).expect("a profile");
    let options = Options { scale: Scale::Bytes(BYTES), seed: 1, version: 11, made_at: 1_767_225_600 };
    let mut bytes = Cursor::new(Vec::new());
    dump::write(profile, &options, &mut bytes).expect("memory takes every write");
    bytes.into_inner()
}

impl Load {
    fn new(name: &'static str) -> Load {
        let bytes = made(name);
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("dump.rdb");
        std::fs::write(&path, &bytes).expect("room for a small dump");
        let plan = ReadPlan::new(folder.path().to_owned());
        let mut snapshot = Snapshot::open(&[&path], &plan, &Unwatched).expect("a valid dump");
        let file = Arc::clone(&snapshot.files()[0]);
        let batches: Vec<Batch> = snapshot.feed(1, &Unwatched).map(|work| work.batch).collect();
        let classifier = Classifier::new(Separators::default());
        let (mut names, mut patterns, mut records) = (Vec::new(), Vec::new(), Vec::new());
        let reading = snapshot.reading(&plan);
        for batch in &batches {
            read_batch(batch, &file, reading, &mut FileTally::default(), |record, _| {
                let mut pattern = PatternBuf::default();
                classifier.classify(record.key, &mut pattern);
                patterns.push(pattern);
                names.push(record.key.to_vec());
                records.push(kept(record));
                Continue::Yes
            });
        }
        Load { name, bytes, batches, file, names, patterns, records, _folder: folder, path }
    }

    /// Sets the bytes and keys that one round processes.
    fn bench<'a, 'b>(&self, bencher: Bencher<'a, 'b>) -> Bencher<'a, 'b> {
        bencher.counter(BytesCount::new(self.bytes.len())).counter(ItemsCount::new(self.names.len()))
    }
}

/// Leaks the name of a record and the facts about its value, so that they live as long as the program; the value itself is not
/// read again.
fn kept(record: &Record<'_>) -> Record<'static> {
    Record {
        file: record.file,
        db: record.db,
        key: Vec::leak(record.key.to_vec()),
        kind: record.kind,
        module: record.module,
        encoding: record.encoding,
        length: record.length,
        memory: record.memory,
        alternatives: &[],
        allocated_elsewhere: &[],
        allocated: record.allocated,
        disk: record.disk,
        content: record.content,
        expires_at: record.expires_at,
        idle: record.idle,
        freq: record.freq,
        module_facts: None,
        fields_with_ttl: record.fields_with_ttl,
        stream: None,
        value: Box::leak(Box::new(*record.value)),
        compact: record.compact,
        raw: None,
    }
}

fn scanner(bytes: &[u8]) -> Scanner<'_> {
    let mut reader = Reader::new(bytes, 0);
    let header = RdbHeader::read(&mut reader).expect("our own header");
    Scanner::new(reader, ScanState { family: header.family, db: Some(0) })
}

/// Finds all record boundaries; returns their number.
fn scan(bytes: &[u8]) -> u64 {
    let (mut scanner, mut keys) = (scanner(bytes), 0);
    loop {
        match scanner.next_item().expect("our own dump") {
            FileItem::Key(entry) => {
                scanner.skip_value(&entry).expect("our own dump");
                keys += 1;
            }
            FileItem::End => return keys,
            _ => {}
        }
    }
}

/// Measures the checksum of the file.
#[divan::bench(args = LOADS)]
fn a_crc(bencher: Bencher, name: &str) {
    let load = load(name);
    load.bench(bencher).bench(|| crc64::checksum(black_box(&load.bytes)));
}

/// Measures the structural scan.
#[divan::bench(args = LOADS)]
fn b_scan(bencher: Bencher, name: &str) {
    let load = load(name);
    load.bench(bencher).bench(|| scan(black_box(&load.bytes)));
}

/// Returns the dump reduced to records of one value type, and their number.
fn only(bytes: &[u8], form: ValueType) -> (Vec<u8>, usize) {
    let (mut scanner, mut keys) = (scanner(bytes), 0);
    let mut kept = b"REDIS0011".to_vec();
    loop {
        match scanner.next_item().expect("our own dump") {
            FileItem::Key(entry) => {
                scanner.skip_value(&entry).expect("our own dump");
                if entry.value_type == form {
                    kept.extend_from_slice(&bytes[entry.start..scanner.cursor().consumed()]);
                    keys += 1;
                }
            }
            FileItem::End => {
                kept.push(0xFF);
                return (kept, keys);
            }
            _ => {}
        }
    }
}

/// Measures a walk that prices every value, by value type; the records are built and discarded.
#[divan::bench(args = FORMS.map(|(name, ..)| name))]
fn c_walk_and_price(bencher: Bencher, name: &str) {
    let (_, profile, form) = FORMS.into_iter().find(|(form, ..)| *form == name).expect("one of the forms");
    let load = load(profile);
    let (bytes, keys) = only(&load.bytes, form);
    bencher.counter(BytesCount::new(bytes.len())).counter(ItemsCount::new(keys)).bench(|| {
        let (mut scanner, mut memory) = (scanner(black_box(&bytes)), 0);
        let mut meter = rdblens::internals::memory::Meter::new(&load.file.model);
        loop {
            match scanner.next_item().expect("our own dump") {
                FileItem::Key(entry) => {
                    meter.begin_key(entry.key.len(), entry.expires_at.is_some());
                    scanner.value(&entry, &mut meter).expect("our own dump");
                    memory += meter.finish().expect("our own dump").memory.0;
                }
                FileItem::End => return memory,
                _ => {}
            }
        }
    });
}

/// Measures batches to records: checksum, scan, walk and price, as for a report.
#[divan::bench(args = LOADS)]
fn d_read(bencher: Bencher, name: &str) {
    let load = load(name);
    let selection = Selection::default();
    let reading = ReadOptions { selection: &selection, reference: None, checksum: true };
    load.bench(bencher).bench(|| {
        let mut tally = FileTally::default();
        for batch in &load.batches {
            read_batch(batch, &load.file, reading, &mut tally, |record, _| {
                black_box(record.memory);
                Continue::Yes
            });
        }
        tally.keys
    });
}

/// Measures names to patterns.
#[divan::bench(args = LOADS)]
fn e_classify(bencher: Bencher, name: &str) {
    let load = load(name);
    let classifier = Classifier::new(Separators::default());
    load.bench(bencher).bench(|| {
        let mut pattern = PatternBuf::default();
        for name in &load.names {
            classifier.classify(black_box(name), &mut pattern);
        }
        pattern.text.len()
    });
}

/// Measures names to cluster slots.
#[divan::bench(args = ["small", "wide"])]
fn f_slot(bencher: Bencher, name: &str) {
    let load = load(name);
    load.bench(bencher).bench(|| load.names.iter().map(|name| u64::from(slot_of(name))).sum::<u64>());
}

#[derive(Default)]
struct Count(u64);

impl Payload for Count {
    fn absorb(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// Measures insertion of patterns into the tree.
#[divan::bench(args = LOADS)]
fn g_tree(bencher: Bencher, name: &str) {
    let load = load(name);
    load.bench(bencher).bench(|| {
        let mut tree = PatternTree::<Count>::new(TreeLimits::default());
        for pattern in &load.patterns {
            let leaf = tree.leaf(pattern);
            if let Some(count) = tree.payload(leaf) {
                count.0 += 1;
            }
        }
        tree.len()
    });
}

fn plan(policy: &str) -> Plan {
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    plan.policy = PolicySource::Preset(policy.to_owned());
    plan
}

/// Measures the rules about keys of a policy.
#[divan::bench(args = ["default", "service", "strict", "platform"])]
fn h_judge(bencher: Bencher, policy: &str) {
    let load = load("small");
    let questions = questions_of(&plan(policy), None).expect("a preset");
    load.bench(bencher).bench(|| {
        let mut judged = Judged::default();
        for (record, pattern) in load.records.iter().zip(&load.patterns) {
            questions.checks.judge(record, pattern, &mut judged);
            black_box(&judged);
        }
    });
}

/// Measures all aggregates, including classification and the default policy.
#[divan::bench(args = LOADS)]
fn i_observe(bencher: Bencher, name: &str) {
    let load = load(name);
    let questions = Arc::new(questions_of(&plan("default"), None).expect("a preset"));
    load.bench(bencher).bench(|| {
        let mut aggregates = Aggregates::new(&questions);
        load.records.iter().for_each(|record| aggregates.observe(record));
        aggregates.heap_bytes()
    });
}

/// Measures the JSON of a report.
#[divan::bench(args = LOADS)]
fn j_json(bencher: Bencher, name: &str) {
    let load = load(name);
    let report = analyze(&[&load.path], &plan("default"), &Unwatched).expect("our own dump");
    let render = || {
        let mut out = Vec::new();
        JsonRenderer.render(black_box(&report), &mut out).expect("memory takes every write");
        out.len()
    };
    bencher.counter(BytesCount::new(render())).bench(render);
}
