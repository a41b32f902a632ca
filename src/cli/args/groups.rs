//! Flags that several commands share, or that belong together.
#![allow(missing_docs, reason = "the type of a flattened group documents it")]

use std::path::PathBuf;

use clap::Args;

use super::values::{ReportFormat, label, section, share, size};
use crate::memory::Allocator;
use crate::record::Kind;
use crate::render::csv::CsvSection;
use crate::report::{Prefixes, Severity};

/// Where the bytes come from and how they are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Dump files, append-only files, directories, globs, or - for standard input
    #[arg(required = true, value_name = "INPUT", value_hint = clap::ValueHint::AnyPath)]
    pub inputs: Vec<String>,
    /// Do not verify the checksum
    #[arg(long)]
    pub no_checksum: bool,
    /// Read files instead of mapping them: for files that may shrink meanwhile
    ///
    /// A mapped file that another program truncates ends this program by a signal. Network file systems and files that are
    /// still being written are better read.
    #[arg(long)]
    pub no_mmap: bool,
    /// Where a record larger than 64 MiB of a stream goes while it is read [default: $TMPDIR]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
    /// Worker threads [default: all processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// No progress, no warnings
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which keys count.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// Only keys of this database (repeatable)
    #[arg(long, value_name = "N")]
    pub db: Vec<u64>,
    /// Only keys of this type (repeatable)
    #[arg(long = "type", value_name = "TYPE")]
    pub kinds: Vec<Kind>,
    /// Only keys that match this glob, as Redis' KEYS has it (repeatable)
    #[arg(long = "match", value_name = "GLOB")]
    pub globs: Vec<String>,
    /// Only keys in which this regular expression is found (repeatable)
    #[arg(long, value_name = "RE")]
    pub regex: Vec<String>,
    /// Leave out keys that had expired at the reference time
    #[arg(long)]
    pub no_expired: bool,
    /// Stop after this many keys, in file order
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// What the figures of memory come from.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Server")]
pub struct ServerArgs {
    /// The server to compute memory and encodings for, such as redis-7.2 or valkey-8.1 [default: the dump's writer]
    #[arg(long, value_name = "SERVER")]
    pub server: Option<String>,
    /// The server's allocator
    #[arg(long, value_enum, default_value_t = Allocator::Jemalloc)]
    pub allocator: Allocator,
    /// A setting that was not the default, as KEY=VALUE, or a redis.conf (repeatable)
    ///
    /// No dump holds the settings of its server. Limits such as hash-max-listpack-entries decide encodings and memory.
    #[arg(long, value_name = "KEY=VALUE|FILE")]
    pub server_config: Vec<String>,
    /// The time that expiries are held against [default: the snapshot's ctime]
    ///
    /// Seconds since the epoch, or a date such as 2026-11-21T03:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

/// How names are divided.
#[derive(Debug, Args)]
#[command(next_help_heading = "Names")]
pub struct NameArgs {
    /// A character that divides names into segments (repeatable)
    #[arg(long = "separator", value_name = "CHAR", default_values_t = [":".to_owned()])]
    pub separators: Vec<String>,
}

/// What `analyze` and `keys` have to know to read records.
#[derive(Debug, Args)]
pub struct ReadArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub server: ServerArgs,
    #[command(flatten)]
    pub names: NameArgs,
}

/// What the snapshot is held against.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policy")]
pub struct PolicyArgs {
    /// A preset (default, service, hzero, platform, strict, aliyun, none) or a policy file that ends in .toml
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "default")]
    pub policy: String,
    /// Exit with status 1 if there are findings of this severity or above
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<Severity>,
    /// The limit on the server's memory, such as 4GB
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub maxmemory: Option<u64>,
    /// What the server evicts at the limit, such as volatile-lru
    #[arg(long, value_name = "POLICY")]
    pub maxmemory_policy: Option<String>,
    /// The time of this run, for the age of the snapshot; written as for --at
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// An earlier JSON report: --fail-on counts only what is new or worse, and growth is judged
    ///
    /// Write it with --format json --top 10000, so that it knows as many patterns as there may be.
    #[arg(long, value_name = "REPORT.json")]
    pub baseline: Option<PathBuf>,
    /// Look into the values of some keys of each pattern for secrets and personal data (rule value.sensitive)
    ///
    /// Reads key names, and the beginning of strings and hashes, of at most 64 keys of each pattern. The report shows masked
    /// evidence only, such as 138****5678.
    #[arg(long)]
    pub inspect_values: bool,
}

/// What a report shows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub struct ReportArgs {
    /// Rows in each list [default: 20, of which the table shows 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub top: Option<u32>,
    /// Strings longer than this many bytes are big [default: the policy's big.string, or 10240]
    ///
    /// As with --big-elements and --big-memory, what is given here is also the limit of the policy's rule.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub big_string: Option<u64>,
    /// Collections with more elements than this are big [default: the policy's big.elements, or 5000]
    #[arg(long, value_name = "N")]
    pub big_elements: Option<u64>,
    /// Keys of any type that take more memory than this are big, too [default: the policy's big.total]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub big_memory: Option<u64>,
    /// Levels of the prefix tree
    #[arg(long, value_name = "N", default_value_t = Prefixes::USUAL_DEPTH, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub depth: u8,
    /// Prefixes below this part of the memory are left out, such as 0.01 for 1 %
    #[arg(long, value_name = "SHARE", default_value_t = Prefixes::USUAL_MIN_SHARE, value_parser = share)]
    pub min_share: f64,
    /// What the same keys would take with another server, allocator or setting (repeatable, at most 8)
    ///
    /// Such as valkey-8.1, jemalloc-q16 or hash-max-listpack-entries=512; several with commas between make one question. The
    /// rest stays as it is in the figures of the report. All is computed in one pass over the file.
    #[arg(long, value_name = "SERVER|ALLOCATOR|KEY=VALUE", help_heading = "Server")]
    pub what_if: Vec<String>,
}

/// Where output goes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// In which forms a report is written.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct FormatArgs {
    /// The form of the report (repeatable) [default: what the name of --output ends in, else table]
    ///
    /// Several forms are made in one pass, each in its own file: -o report writes report.json, report.md and so on.
    #[arg(long = "format", value_enum, value_name = "FORMAT")]
    pub formats: Vec<ReportFormat>,
    /// The list that --format csv writes (repeatable with -o) [default: patterns]
    ///
    /// Such as findings, types, no-ttl or prefixes; docs/formats.md has all of them with their columns.
    #[arg(long = "section", value_parser = section(), value_name = "NAME", hide_possible_values = true)]
    pub sections: Vec<CsvSection>,
    /// A label on every sample of --format prometheus, such as snapshot=cache-1 (repeatable)
    #[arg(long = "label", value_parser = label, value_name = "NAME=VALUE")]
    pub labels: Vec<(String, String)>,
}

/// For reports that leave the machine.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct MaskArgs {
    /// Replace ids in names by tokens: patterns stay readable, rows still join
    #[arg(long)]
    pub mask: bool,
    /// The key of the tokens: the bytes of this file. Reports made with the same key use the same tokens [default: a key
    /// that comes from the snapshot]
    #[arg(long, value_name = "FILE", requires = "mask")]
    pub mask_key: Option<PathBuf>,
}
