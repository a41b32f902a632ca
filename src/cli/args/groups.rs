//! Groups of flags, some shared by several commands.
#![allow(missing_docs, reason = "the type of a flattened group documents it")]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::values::{
    ComparedList, ReportFormat, compared_list, label, report_format, section, share, size, top, whole,
};
use crate::memory::Allocator;
use crate::record::Kind;
use crate::render::extent::SectionName;
use crate::report::{Prefixes, Severity};

/// Inputs and how they are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Dump files, append-only files, directories, globs, or - for standard input
    #[arg(required = true, value_name = "INPUT", value_hint = clap::ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,
    /// Skip checksum verification
    #[arg(long)]
    pub no_checksum: bool,
    /// Read files instead of memory-mapping them; use this for files that may be truncated while they are read
    ///
    /// If another process truncates a mapped file, rdblens names the file and ends with status 4; with this flag, it reports
    /// what was read. Files on network file systems are never mapped.
    #[arg(long)]
    pub no_mmap: bool,
    /// Directory for temporary copies of records over 64 MiB and of snapshots with a table of hash templates, read from a pipe [default: $TMPDIR]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Number of worker threads [default: number of CPUs]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=1024))]
    pub threads: Option<u16>,
    /// Suppress progress and warnings
    #[arg(long, short)]
    pub quiet: bool,
}

/// Limits on memory and temporary space.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct BudgetArgs {
    /// Memory for decompressed values, decoder windows, key hashes of check and values that Dragonfly stores in
    /// parts [default: a quarter of RAM, at least 256MB]
    ///
    /// A compressed part of a value may take a 64th of it. A larger one is not read, and a warning counts such keys.
    /// Batches and aggregates come on top; docs/architecture.md lists them.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<u64>,
    /// Temporary space for large records of pipes and compressed files, and for key hashes of check [default: half of what is
    /// free in the directory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_temp: Option<u64>,
}

/// Filters for keys.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// Include only keys of this database (repeatable)
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub db: Vec<u64>,
    /// Include only keys of this type (repeatable)
    #[arg(long = "type", value_name = "TYPE")]
    pub kinds: Vec<Kind>,
    /// Include only keys that match this glob, in the syntax of the KEYS command; \xNN is a byte (repeatable)
    #[arg(long = "match", value_name = "GLOB")]
    pub globs: Vec<String>,
    /// Include only keys that match this regular expression (repeatable)
    #[arg(long, value_name = "RE")]
    pub regex: Vec<String>,
    /// Exclude keys that had expired at the reference time
    #[arg(long)]
    pub no_expired: bool,
    /// Stop after N keys, in file order
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub limit: Option<u64>,
}

/// Server model for memory, encodings and expiry.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Server")]
pub struct ServerArgs {
    /// Server to compute memory and encodings for, such as redis-7.2 or valkey-8.1 [default: the server that wrote the dump]
    #[arg(long, value_name = "SERVER")]
    pub server: Option<String>,
    /// Memory allocator of the server
    #[arg(long, value_enum, default_value_t = Allocator::Jemalloc)]
    pub allocator: Allocator,
    /// Server setting as KEY=VALUE, or the path of a redis.conf (repeatable)
    ///
    /// Dumps do not contain the settings of the server. Settings such as hash-max-listpack-entries determine encodings and
    /// memory; give those that differ from the defaults.
    #[arg(long, value_name = "KEY=VALUE|FILE")]
    pub server_config: Vec<OsString>,
    /// Reference time for expiry and time to live [default: the creation time recorded in each dump (field ctime)]
    ///
    /// Seconds since the Unix epoch, or an RFC 3339 time such as 2026-11-21T03:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

/// Splitting of key names into segments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Names")]
pub struct NameArgs {
    /// Character that separates the segments of a key name (repeatable)
    #[arg(long = "separator", value_name = "CHAR", default_values_t = [":".to_owned()])]
    pub separators: Vec<String>,
}

/// Flags of commands that read records.
#[derive(Debug, Args)]
pub struct ReadArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Add up inputs even if they are copies of one snapshot or snapshots of different times, not shards
    #[arg(long, help_heading = "Input")]
    pub allow_same: bool,
    /// Continue after damage and read all intact records of a damaged file, not only those before it
    ///
    /// The report is marked incomplete and lists the damaged ranges. The whole file is verified first.
    #[arg(long, help_heading = "Input")]
    pub salvage: bool,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub server: ServerArgs,
    #[command(flatten)]
    pub names: NameArgs,
}

/// Policy and the facts that its rules need.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policy")]
pub struct PolicyArgs {
    /// Preset (default, service, hzero, platform, strict, aliyun, none) or a policy file that ends in .toml
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "default")]
    pub policy: OsString,
    /// Exit with status 1 if there are findings of this severity or higher
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<Severity>,
    /// With --fail-on: exit with status 1 also if a rule of this severity or higher was not evaluated
    #[arg(long, requires = "fail_on")]
    pub strict_gate: bool,
    /// Memory limit of each server, such as 4GB; 0 is no limit
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub maxmemory: Option<u64>,
    /// Eviction policy of the server, such as volatile-lru
    #[arg(long, value_name = "POLICY")]
    pub maxmemory_policy: Option<String>,
    /// Current time, to compute the age of the snapshot; same syntax as --at
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Earlier JSON report to compare with: --fail-on counts only findings that are new or worse, or of rules evaluated for the first
    /// time, and growth is checked
    ///
    /// Write it with --format json --top 10000, so that it lists as many patterns as possible.
    #[arg(long, value_name = "REPORT.json")]
    pub baseline: Option<PathBuf>,
    /// Earlier JSON report for the trend of memory (repeatable); the history stored in each report is used, too
    #[arg(long, value_name = "REPORT.json", value_hint = clap::ValueHint::FilePath, help_heading = "Report")]
    pub earlier: Vec<PathBuf>,
    /// Search the values of a sample of keys for secrets and personal data (rule value.sensitive)
    ///
    /// Inspects at most 64 keys per pattern: their names, and of values of every type the beginning, fields and elements. The
    /// report shows only masked evidence, such as 138****5678.
    #[arg(long)]
    pub inspect_values: bool,
}

/// Limits of big keys.
#[derive(Debug, Default, Clone, Copy, Args)]
pub struct BigArgs {
    /// Strings longer than this are big keys [default: big.string of the policy, or 10240]
    ///
    /// Like --big-elements, this also overrides the limit of the policy's rule.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub big_string: Option<u64>,
    /// Collections with more elements than this are big keys [default: big.elements of the policy, or 5000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub big_elements: Option<u64>,
    /// Keys of any type that use more memory than this are big keys, too
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub big_memory: Option<u64>,
}

/// Conditions on rows besides the selection.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Policy")]
pub struct RowArgs {
    /// Include only keys of this pattern, as reports print it, such as 'user:{int}:profile' (repeatable)
    ///
    /// A pattern with {*} needs a first pass over the input.
    #[arg(long = "pattern", value_name = "PATTERN", help_heading = "Selection")]
    pub patterns: Vec<String>,
    /// Add the columns breaks, owner and class: a preset or a policy file that ends in .toml [default with the flags below:
    /// default]
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub policy: Option<OsString>,
    /// Include only keys that break a rule: any rule about keys, or one of those named (repeatable, or separated by commas)
    ///
    /// A rule about patterns, such as ttl.storm, lists the keys that its finding counts; this needs a first pass over the input.
    #[arg(long, value_name = "RULE", num_args = 0..=1, default_missing_value = ANY_RULE, value_delimiter = ',', action = ArgAction::Append)]
    pub breaking: Vec<String>,
    /// Include only keys that break a rule of this severity or higher
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub severity: Option<Severity>,
    /// Include only keys of this owner of the data dictionary, or '' for keys without one (repeatable)
    #[arg(long = "owner", value_name = "NAME")]
    pub owners: Vec<String>,
    #[command(flatten)]
    pub big: BigArgs,
    /// Earlier JSON report, for --breaking memory.growth
    #[arg(long, value_name = "REPORT.json", help_heading = "Policy")]
    pub baseline: Option<PathBuf>,
    /// Search the values of a sample of keys, for --breaking value.sensitive
    #[arg(long, help_heading = "Policy")]
    pub inspect_values: bool,
}

/// Value of --breaking without a rule.
pub const ANY_RULE: &str = "any";

/// Contents of a report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
pub struct ReportArgs {
    /// Maximum rows per list [default: 20 in JSON and CSV, 10 in other formats]
    #[arg(long, value_name = "N", value_parser = top())]
    pub top: Option<u32>,
    #[command(flatten)]
    pub big: BigArgs,
    /// Depth of the prefix tree
    #[arg(long, value_name = "N", default_value_t = Prefixes::USUAL_DEPTH, value_parser = whole::<u8>(1..=16))]
    pub depth: u8,
    /// Omit prefixes below this share of the memory, such as 0.01 or 1%
    #[arg(long, value_name = "SHARE", default_value_t = Prefixes::USUAL_MIN_SHARE, value_parser = share)]
    pub min_share: f64,
    /// Also compute memory for another server, allocator or setting (repeatable, at most 8)
    ///
    /// Examples: valkey-8.1, jemalloc-q16, hash-max-listpack-entries=512. Separate several changes of one alternative with
    /// commas. Everything else stays as in the rest of the report. All alternatives are computed in the same pass.
    #[arg(long, value_name = "SERVER|ALLOCATOR|KEY=VALUE", help_heading = "Server")]
    pub what_if: Vec<String>,
}

/// Group of the flags that name a file to write.
pub(super) const WRITTEN: &str = "written";

/// Destination of the output.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output", group = clap::ArgGroup::new(WRITTEN).multiple(true))]
pub struct OutputArgs {
    /// Write to this file instead of standard output
    ///
    /// The file is replaced when the output is complete; it keeps its mode, and a link is followed. A file that the command
    /// reads is never overwritten.
    #[arg(long, short, value_name = "FILE", group = WRITTEN)]
    pub output: Option<PathBuf>,
    /// Overwrite a file even if it is a snapshot, an append-only file or an archive
    #[arg(long, requires = WRITTEN)]
    pub force: bool,
    /// Create the file readable by its owner only (mode 0600) instead of by the umask
    #[arg(long, requires = WRITTEN)]
    pub private: bool,
}

/// Formats of a report.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct FormatArgs {
    /// Output format (repeatable) [default: from the extension of --output, else table]
    ///
    /// Several formats are written in one pass, each to its own file: -o report writes report.json, report.md and so on.
    #[arg(long = "format", value_parser = report_format("docs/report-schema.md"), value_name = "FORMAT")]
    pub formats: Vec<ReportFormat>,
    /// Write only these sections (repeatable, or separated by commas) [default for CSV: patterns]
    ///
    /// Applies to every format; CSV writes one list to a file. Examples: findings, types, no-ttl, prefixes. docs/formats.md
    /// describes all of them.
    #[arg(
        long = "section",
        value_parser = section(),
        value_name = "NAME",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub sections: Vec<SectionName>,
    /// Write every section of tables and Markdown, not only the summary
    ///
    /// On a terminal, tables go through $PAGER, or `less -FRX`.
    #[arg(long, conflicts_with = "sections")]
    pub full: bool,
    /// Title of the HTML page [default: the name of the file]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Environment shown on the HTML page, such as production
    #[arg(long, value_name = "NAME")]
    pub environment: Option<String>,
    /// With --full: do not start a pager
    #[arg(long)]
    pub no_pager: bool,
    /// Label for every sample of --format prometheus, such as snapshot=cache-1 (repeatable)
    #[arg(long = "label", value_parser = label, value_name = "NAME=VALUE")]
    pub labels: Vec<(String, String)>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// Form of CSV files.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct CsvArgs {
    /// Begin CSV files with a byte order mark, so that Excel and other spreadsheet programs recognise UTF-8
    #[arg(long)]
    pub bom: bool,
}

/// Formats of a comparison.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct ComparisonFormatArgs {
    /// Output format (repeatable) [default: from the extension of --output, else table]
    ///
    /// Several formats are written in one pass, each to its own file: -o growth writes growth.json, growth.md and so on.
    #[arg(long = "format", value_parser = report_format("docs/compare.md"), value_name = "FORMAT")]
    pub formats: Vec<ReportFormat>,
    /// List to write as CSV [default: growth; with --keys: sums]
    ///
    /// growth, snapshots or findings; with --keys: sums, sides, types, patterns or examples.
    #[arg(long, value_name = "NAME", value_parser = compared_list())]
    pub section: Option<ComparedList>,
    #[command(flatten)]
    pub csv: CsvArgs,
    /// Title of the HTML page [default: the number of snapshots]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Environment shown on the HTML page, such as production
    #[arg(long, value_name = "NAME")]
    pub environment: Option<String>,
    /// Label for every sample of --format prometheus, such as snapshot=cache-1 (repeatable)
    #[arg(long = "label", value_parser = label, value_name = "NAME=VALUE")]
    pub labels: Vec<(String, String)>,
}

impl ComparisonFormatArgs {
    /// Returns the flags as those of a report.
    pub fn as_of_report(&self) -> FormatArgs {
        FormatArgs {
            formats: self.formats.clone(),
            title: self.title.clone(),
            environment: self.environment.clone(),
            labels: self.labels.clone(),
            csv: self.csv,
            ..FormatArgs::default()
        }
    }
}

/// Masking of key names.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct MaskArgs {
    /// Replace ids in key names with tokens; patterns stay readable and equal ids get equal tokens
    #[arg(long)]
    pub mask: bool,
    /// File with the secret key for the tokens; reports made with the same key use the same tokens [default: a key derived
    /// from the snapshot]
    #[arg(long, value_name = "FILE", requires = "mask")]
    pub mask_key: Option<PathBuf>,
}
