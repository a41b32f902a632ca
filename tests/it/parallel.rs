//! Reports do not depend on the number of threads, the size of batches, or the source of the bytes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rdblens::internals::aggregate::Aggregate;
use rdblens::internals::aggregate::databases::DatabaseStats;
use rdblens::internals::aggregate::runs::Runs;
use rdblens::internals::aggregate::top_keys::TopKeys;
use rdblens::internals::aggregate::totals::TotalStats;
use rdblens::internals::analyze::read::file::InputFile;
use rdblens::internals::analyze::read::part::FilePart;
use rdblens::internals::analyze::read::reader::{Continue, ReadOptions, read_batch};
use rdblens::internals::analyze::read::schedule::Schedule;
use rdblens::internals::analyze::read::tally::FileTally;
use rdblens::internals::analyze::{InputCheck, Plan, ReadPlan, Selection, Unwatched, analyze};
use rdblens::internals::input::{Input, OpenOptions};
use rdblens::internals::limits::Budget;
use rdblens::internals::memory::{Allocator, Model, Server, ServerConfig, WriterTraces};
use rdblens::internals::rdb::batch::{Batch, Batches, FIRST_DATABASE};
use rdblens::internals::record::Record;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Returns a plan that takes dumps of any servers and times for shards.
fn plan() -> Plan {
    Plan::new(ReadPlan { inputs: InputCheck::None, ..ReadPlan::new(std::env::temp_dir()) })
}

fn report(input: &Path, plan: &Plan) -> String {
    let report = analyze(&[input], plan, &Unwatched).unwrap();
    serde_json::to_string_pretty(&report).unwrap()
}

#[test]
fn reports_are_the_same_for_any_number_of_threads() {
    for input in [testdata("dumps/shop.rdb"), testdata("corpus/*/dump.rdb")] {
        let with = |threads| {
            let mut plan = plan();
            plan.read.threads = threads;
            report(&input, &plan)
        };
        let one = with(1);
        assert!(one.len() > 1000);
        for threads in [2, 3, 16] {
            assert!(with(threads) == one, "{threads} threads make another report of {}", input.display());
        }
    }
}

#[test]
fn rows_come_in_file_order_for_any_number_of_threads() {
    let rows = |threads: &str| {
        let input = testdata("corpus/*/dump.rdb");
        let args = ["keys", input.to_str().unwrap(), "--threads", threads, "--quiet"];
        std::process::Command::new(env!("CARGO_BIN_EXE_rdblens")).args(args).output().unwrap().stdout
    };
    let one = rows("1");
    assert!(one.len() > 1_000_000);
    for threads in ["2", "3", "16"] {
        assert!(rows(threads) == one, "{threads} threads make other rows");
    }
}

#[test]
fn mapped_streamed_and_compressed_are_the_same() {
    let shop = testdata("dumps/shop.rdb");
    let bytes = fs::read(&shop).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let sections = |input: &Path, plan: &Plan| {
        let mut report = analyze(&[input], plan, &Unwatched).unwrap();
        for file in &mut report.source.files {
            file.name.clear();
            file.container.compression = None;
        }
        serde_json::to_string_pretty(&report).unwrap()
    };
    let mapped = sections(&shop, &plan());
    let mut streamed = plan();
    streamed.read.open.mmap = false;
    assert!(sections(&shop, &streamed) == mapped);
    // A window smaller than the largest records sends them through the spill file.
    streamed.read.open.window = 4096;
    assert!(sections(&shop, &streamed) == mapped);

    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(&bytes).unwrap();
    let zstd = zstd::encode_all(&bytes[..], 1).unwrap();
    for (name, compressed) in [("gz", gzip.finish().unwrap()), ("lz4", lz4.finish().unwrap()), ("zst", zstd)] {
        // The container is detected by its magic, not by its name.
        let path = folder.path().join(format!("as-{name}.rdb"));
        fs::write(&path, compressed).unwrap();
        assert!(sections(&path, &plan()) == mapped, "{name}");
    }
}

/// Some aggregates that a wrong database would change.
struct Facts {
    totals: Runs<TotalStats>,
    databases: Runs<DatabaseStats>,
    top: TopKeys,
}

impl Facts {
    fn new() -> Self {
        Facts {
            totals: Runs::new(None, false, TotalStats::default()),
            databases: Runs::new(None, false, DatabaseStats::default()),
            top: TopKeys::new(5),
        }
    }

    fn text(self) -> String {
        let parts = (self.totals.finish().finish(), self.databases.finish().finish(), self.top.finish());
        serde_json::to_string(&parts).unwrap()
    }
}

impl Aggregate for Facts {
    fn observe(&mut self, record: &Record<'_>) {
        self.totals.observe(record);
        self.databases.observe(record);
        self.top.observe(record);
    }

    fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        self.databases.merge(other.databases);
        self.top.merge(other.top);
    }

    fn settle_database(&mut self, db: u64) {
        self.totals.settle_database(db);
        self.databases.settle_database(db);
        self.top.settle_database(db);
    }
}

impl Schedule for Facts {}

fn file(batches: &Batches) -> Arc<InputFile> {
    let server = Server::detect(&batches.header(), WriterTraces::default());
    let model = Model::for_server(server, Allocator::default(), &ServerConfig::default());
    Arc::new(InputFile {
        index: 0,
        name: String::new(),
        reference: None,
        model: Arc::new(model),
        alternatives: Arc::new([]),
        raised: std::sync::OnceLock::new(),
        budget: Budget::default(),
        held_templates: Default::default(),
    })
}

fn batches(path: PathBuf, batch_bytes: usize) -> Batches {
    let options = OpenOptions {
        mmap: true,
        spool_dir: std::env::temp_dir(),
        window: 1 << 20,
        budget: Budget::default(),
        inflaters: 1,
    };
    let opened = Input::file(path).open(&options).unwrap();
    Batches::open(opened.body).unwrap().with_batch_bytes(batch_bytes)
}

fn part(batch: &Batch, file: &InputFile, selection: &Selection) -> FilePart<Facts> {
    let reading = ReadOptions { selection, reference: None, checksum: false };
    let mut part = FilePart::new(Facts::new());
    let mut tally = FileTally::default();
    let end = read_batch(batch, file, reading, &mut tally, |record, known| {
        part.take(record, known, Facts::new);
        Continue::Yes
    });
    assert_eq!((end.more, tally.damaged), (Continue::Yes, 0));
    part.ends_in(end.db);
    part
}

/// Reads the file in pieces that do not know their first database, and joins them from the left or from the right.
fn in_pieces(path: &Path, batch_bytes: usize, selection: &Selection, from_the_right: bool) -> String {
    let mut batches = batches(path.to_owned(), batch_bytes);
    let file = file(&batches);
    let mut parts = Vec::new();
    while let Some(mut batch) = batches.next_batch() {
        batch.state.db = None;
        parts.push(part(&batch, &file, selection));
    }
    assert!(parts.len() > 2, "the file was not cut");
    let wanted = |db| selection.wants_database(db);
    let empty = || FilePart::new(Facts::new());
    let joined = if from_the_right {
        parts.into_iter().rev().fold(empty(), |right, left| left.join(right, wanted))
    } else {
        parts.into_iter().fold(empty(), |left, right| left.join(right, wanted))
    };
    joined.finish(FIRST_DATABASE, Facts::new, wanted).text()
}

#[test]
fn a_database_settled_late_changes_nothing() {
    let path = testdata("dumps/shop.rdb");
    for databases in [vec![], vec![0], vec![1, 2]] {
        let selection = Selection { databases, ..Selection::default() };
        let mut all = batches(path.clone(), usize::MAX);
        let file = file(&all);
        let whole = part(&all.next_batch().unwrap(), &file, &selection);
        let whole = whole.finish(FIRST_DATABASE, Facts::new, |_| true).text();
        for batch_bytes in [1, 1000, 50_000] {
            for from_the_right in [false, true] {
                assert_eq!(in_pieces(&path, batch_bytes, &selection, from_the_right), whole, "{batch_bytes}");
            }
        }
    }
}
