//! The command line, grouped as its users think. Flags do not act while they are parsed; they fill a plan.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::lang::LangArgs;
use crate::report::Prefixes;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "rdblens",
    version,
    about = "Reads Redis and Valkey snapshots offline: memory, big keys, missing TTLs, naming",
    long_about = "Reads Redis and Valkey snapshots offline and tells what takes the memory, which keys are too big, which \
                  never expire and which break the naming standard.\n\nAn INPUT is a dump file, an append-only file with \
                  an RDB preamble, a directory of either, a glob in quotes, or - for standard input; gzip, zstd and lz4 are \
                  recognised. Several inputs are the shards of one deployment and make one report.",
    after_help = "Exit status: 0 done, 1 findings at or above --fail-on, 2 wrong usage, 3 no report possible, 4 incomplete or \
                  corrupt snapshot (wins over 1).",
    arg_required_else_help = true,
    propagate_version = true,
    max_term_width = 100
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report what takes the memory and what is wrong
    #[command(after_long_help = "Example: rdblens analyze testdata/dumps/shop.rdb --top 5")]
    Analyze(AnalyzeArgs),
    /// Stream one row per key, in file order
    #[command(after_long_help = "Example: rdblens keys testdata/dumps/shop.rdb --type hash --format csv -o hashes.csv")]
    Keys(KeysArgs),
    /// Read everything, verify structure and checksum, print one verdict per file
    #[command(after_long_help = "Example: rdblens check /backup/*.rdb")]
    Check(CheckArgs),
    /// Tell what changed between snapshots: growth by pattern, findings, and when the memory will be used up
    #[command(
        after_long_help = "An input that ends in .json is a report, anything else a dump.\n\nExample: rdblens compare \
                                 monday.json tuesday.rdb --maxmemory 4GB"
    )]
    Compare(CompareArgs),
    /// Draft a data dictionary: the patterns of a snapshot as a policy file, with blanks for owner and meaning
    #[command(after_long_help = "Example: rdblens dictionary testdata/dumps/shop.rdb -o dictionary.toml")]
    Dictionary(DictionaryArgs),
    /// Find one key and print its value
    #[command(after_long_help = "Example: rdblens show testdata/dumps/shop.rdb events:stock")]
    Show(ShowArgs),
    /// List the rules, or explain one
    #[command(after_long_help = "Examples:\n  rdblens rules --policy strict\n  rdblens rules key.prefix --lang zh")]
    Rules(RulesArgs),
}

/// Where the bytes come from and how they are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Dump files, append-only files, directories, globs, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
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
    pub kinds: Vec<KindArg>,
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
    #[arg(long, value_enum, default_value_t = AllocatorArg::Jemalloc)]
    pub allocator: AllocatorArg,
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
    #[allow(missing_docs)]
    pub input: InputArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub server: ServerArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub names: NameArgs,
}

/// `rdblens analyze`
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub read: ReadArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub report: ReportArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub policy: PolicyArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub mask: MaskArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: OutputArgs,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Table, help_heading = "Output")]
    pub format: ReportFormat,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub lang: LangArgs,
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
    pub fail_on: Option<SeverityArg>,
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

/// `rdblens keys`
#[derive(Debug, Args)]
pub struct KeysArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub read: ReadArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: OutputArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub mask: MaskArgs,
    /// The form of the rows
    #[arg(long, value_enum, default_value_t = RowFormat::Ndjson, help_heading = "Output")]
    pub format: RowFormat,
}

/// `rdblens check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub input: InputArgs,
    /// The form of the verdicts
    #[arg(long, value_enum, default_value_t = TextFormat::Text, help_heading = "Output")]
    pub format: TextFormat,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub lang: LangArgs,
}

/// `rdblens compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub read: ReadArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: OutputArgs,
    /// The form of the comparison
    #[arg(long, value_enum, default_value_t = ReportFormat::Table, help_heading = "Output")]
    pub format: ReportFormat,
    /// Rows in each list [default: 20, of which the table shows 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Output")]
    pub top: Option<u32>,
    /// What dumps are held against
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "default", help_heading = "Policy")]
    pub policy: String,
    /// The memory that there is, such as 4GB: tells when it will be used up
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "Policy")]
    pub maxmemory: Option<u64>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub lang: LangArgs,
}

/// `rdblens dictionary`
#[derive(Debug, Args)]
pub struct DictionaryArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub read: ReadArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: OutputArgs,
    /// A policy with a dictionary already: draft what it lacks, and tell what it has in vain
    #[arg(long, value_name = "FILE.toml", help_heading = "Output")]
    pub policy: Option<String>,
    /// Entries at most, those of the heaviest patterns
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Output")]
    pub top: u32,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub lang: LangArgs,
}

/// `rdblens show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A dump file, an append-only file, a directory, or - for standard input
    #[arg(value_name = "INPUT")]
    pub input: String,
    /// The key; bytes that are not text as \xff
    #[arg(value_name = "KEY")]
    pub key: String,
    /// The database to look in [default: the first that has the key]
    #[arg(long, value_name = "N")]
    pub db: Option<u64>,
    /// The form of the value
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub format: TextFormat,
    /// Read the file instead of mapping it
    #[arg(long)]
    pub no_mmap: bool,
    /// Where a record larger than 64 MiB of a stream goes while it is read [default: $TMPDIR]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub lang: LangArgs,
}

/// `rdblens rules`
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// The rule to explain, such as key.prefix; without it all are listed
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// The rules that this policy puts in force, with their parameters: a preset or a file that ends in .toml
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub policy: Option<String>,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t = TextFormat::Text, help_heading = "Output")]
    pub format: TextFormat,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub lang: LangArgs,
}

/// A type of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum KindArg {
    String,
    List,
    Set,
    Zset,
    Hash,
    Stream,
    Module,
    Array,
}

/// An allocator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum AllocatorArg {
    /// The servers' own: 8-byte quantum
    #[default]
    Jemalloc,
    /// Distribution packages: 16-byte quantum
    JemallocQ16,
    /// The C library's; approximate
    Glibc,
}

/// A severity of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum SeverityArg {
    /// Hints and everything above
    Hint,
    /// Recommendations and everything above
    Should,
    /// Only what the standards forbid
    Must,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    Table,
    /// For programs: see docs/report-schema.md
    Json,
}

/// The form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// One JSON object a line
    Ndjson,
    /// Comma-separated values with a header
    Csv,
}

/// For people or for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// A number of bytes: `10240`, `10KB` (1024 each), `1MiB`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1u64,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err("expected a number of bytes such as 10240, 10KB or 1MB".to_owned()),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| "expected a number of bytes such as 10240, 10KB or 1MB".to_owned())
}

/// A part of the whole, 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a part of the whole between 0 and 1, such as 0.01".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!((size("10240"), size("10KB"), size("1MiB")), (Ok(10_240), Ok(10_240), Ok(1 << 20)));
        assert!(size("ten").is_err() && size("99999999999999999999").is_err() && size("99999999999GB").is_err());
    }
}
