//! A run that is cancelled ends soon, at any number of threads, and makes no report.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rdblens::rows::{ColumnChoice, RowColumns, RowConditions, RowReader};
use rdblens::{Error, ErrorKind, Plan, PolicySource, Progress, ReadPlan, analyze, check};

/// Cancels the run once this much was read.
struct CancelAfter {
    bytes: u64,
    read: AtomicU64,
}

impl CancelAfter {
    fn new(bytes: u64) -> Self {
        CancelAfter { bytes, read: AtomicU64::new(0) }
    }
}

impl Progress for CancelAfter {
    fn bytes(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.read.load(Ordering::Relaxed) >= self.bytes
    }
}

const KEYS: u32 = 260_000;

/// Writes a dump of some 9 MB, so that several threads read it.
fn write_dump(path: &Path) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    out.write_all(b"REDIS0011\xfe\x00").unwrap();
    for number in 0..KEYS {
        let key = format!("user:{number:010}:name");
        out.write_all(&[0, key.len() as u8]).unwrap();
        out.write_all(key.as_bytes()).unwrap();
        out.write_all(b"\x10sixteen bytes ok").unwrap();
    }
    out.write_all(b"\xff\0\0\0\0\0\0\0\0").unwrap();
}

fn plan(threads: usize, mmap: bool) -> Plan {
    let mut read = ReadPlan { threads, ..ReadPlan::new(std::env::temp_dir()) };
    read.open.mmap = mmap;
    Plan { policy: PolicySource::Preset("none".to_owned()), ..Plan::new(read) }
}

fn is_cancelled(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Cancelled)
}

#[test]
fn cancelled_runs_end_before_all_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    write_dump(&path);
    let size = std::fs::metadata(&path).unwrap().len();
    for (threads, mmap) in [(1, true), (3, true), (2, false)] {
        let plan = plan(threads, mmap);
        for bytes in [0, size / 2] {
            let progress = || CancelAfter::new(bytes);
            let choice = ColumnChoice::of(&["key"], RowColumns::Facts).unwrap();
            let (one, two, three) = (progress(), progress(), progress());
            let report = analyze(&[&path], &plan, &one).map(|report| report.totals.keys);
            let verdicts = check(&[&path], &plan.read, &two).map(|files| files.len() as u64);
            let reader = RowReader::open(&[&path], &plan, RowConditions::default(), &three).unwrap();
            let rows = reader.columns(&choice, |_| Ok(())).map(|read| read.rows);
            for (result, progress) in [(report, one), (verdicts, two), (rows, three)] {
                assert!(result.as_ref().is_err_and(is_cancelled), "{threads} {mmap} {bytes}: {result:?}");
                assert!(progress.read.into_inner() < size, "{threads} {mmap} {bytes}");
            }
        }
        let whole = analyze(&[&path], &plan, &CancelAfter::new(u64::MAX)).unwrap();
        assert_eq!(whole.totals.keys, u64::from(KEYS));
    }
}
