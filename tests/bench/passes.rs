//! Baseline passes over a dump that produce no report, to compare the time of a report with.
//!
//! ```text
//! cargo bench --bench passes -- scan dump.rdb
//! ```
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests and benches use small numbers and panic on purpose"
)]

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use rdblens::internals::analyze::ReadPlan;
use rdblens::internals::error::Error;
use rdblens::internals::input::Input;
use rdblens::internals::rdb::batch::FIRST_DATABASE;
use rdblens::internals::rdb::crc64;
use rdblens::internals::rdb::cursor::Cursor;
use rdblens::internals::rdb::header::RdbHeader;
use rdblens::internals::rdb::scan::{FileItem, ScanState, Scanner};

/// Makes one pass over a dump and prints the totals.
#[derive(Debug, Parser)]
struct Args {
    /// Pass to make.
    pass: Pass,
    /// Dump to read.
    dump: PathBuf,
    /// Threads that share the bytes for `sum`; the other passes use one.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Passed by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Pass {
    /// Adds up the mapped bytes, eight at a time.
    Sum,
    /// Checksums the mapped bytes.
    Crc,
    /// Finds the boundaries of all records with our own scanner, decoding nothing.
    Scan,
    /// Reads with the `rdb` crate, skipping every value.
    RdbSkip,
    /// Reads with the `rdb` crate, decoding every value.
    RdbDecode,
}

/// Totals of a pass.
struct PassTotals {
    what: &'static str,
    count: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let seen = match args.pass {
        Pass::Sum => sum(&args.dump, args.threads),
        Pass::Crc => crc(&args.dump),
        Pass::Scan => scan(&args.dump),
        Pass::RdbSkip => decode(&args.dump, Skipped),
        Pass::RdbDecode => decode(&args.dump, rdb::filter::Simple::new()),
    };
    match seen {
        Ok(PassTotals { what, count }) => {
            println!("{what}: {count}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", args.dump.display());
            ExitCode::FAILURE
        }
    }
}

fn open(dump: &Path) -> Result<rdblens::internals::input::Opened, Error> {
    let options = ReadPlan::new(std::env::temp_dir()).open;
    Input::file(dump.to_owned()).open(&options)
}

fn sum(dump: &Path, threads: usize) -> Result<PassTotals, String> {
    let opened = open(dump).map_err(|error| error.to_string())?;
    let bytes = opened.body.bytes();
    let share = bytes.len().div_ceil(threads.max(1)).next_multiple_of(8).max(8);
    let count = std::thread::scope(|scope| {
        let parts: Vec<_> = bytes.chunks(share).map(|part| scope.spawn(|| add_up(part))).collect();
        parts.into_iter().filter_map(|part| part.join().ok()).fold(0, u64::wrapping_add)
    });
    Ok(PassTotals { what: "sum", count })
}

fn add_up(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let rest: u64 = rest.iter().map(|&byte| u64::from(byte)).sum();
    words.iter().fold(rest, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

fn crc(dump: &Path) -> Result<PassTotals, String> {
    let opened = open(dump).map_err(|error| error.to_string())?;
    Ok(PassTotals { what: "checksum", count: crc64::checksum(opened.body.bytes()) })
}

fn scan(dump: &Path) -> Result<PassTotals, String> {
    let keys = open(dump).and_then(|opened| {
        let mut cursor = Cursor::new(opened.body.bytes(), opened.body.offset());
        let header = RdbHeader::read(&mut cursor)?;
        let mut scanner = Scanner::new(cursor, ScanState { family: header.family, db: Some(FIRST_DATABASE) });
        let mut keys = 0;
        loop {
            match scanner.next_item()? {
                FileItem::Key(entry) => {
                    scanner.skip_value(&entry)?;
                    keys += 1;
                }
                FileItem::End => return Ok(keys),
                _ => {}
            }
        }
    });
    Ok(PassTotals { what: "keys", count: keys.map_err(|error| error.to_string())? })
}

/// Filter that rejects every key. The crate's own filter would match an expression against every name.
struct Skipped;

impl rdb::Filter for Skipped {
    fn matches_key(&self, _key: &[u8]) -> bool {
        false
    }
}

fn decode(dump: &Path, filter: impl rdb::Filter) -> Result<PassTotals, String> {
    let file = File::open(dump).map_err(|error| error.to_string())?;
    // Measured: 64 KiB to 1 MiB are equally fast, the default of 8 KiB is slower.
    let reader = BufReader::with_capacity(1 << 18, file);
    let decoder = rdb::RdbDecoder::new(reader, filter).map_err(|error| error.to_string())?;
    let mut items = 0;
    for item in decoder {
        std::hint::black_box(&item.map_err(|error| error.to_string())?);
        items += 1;
    }
    Ok(PassTotals { what: "items", count: items })
}
