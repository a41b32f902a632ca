//! Command-line definition: commands and their flags. Parsing has no side effects; `plan` turns the flags into a plan.
#![allow(missing_docs, reason = "the type of a flattened group documents it")]

mod by_key;
mod examples;
mod fleet;
mod groups;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};

pub use by_key::*;
pub use fleet::*;
pub use groups::*;
pub use values::*;

use super::lang::LangArgs;
use super::screen::{ColorArgs, ScreenArgs};
use crate::rdb::slot_info::SLOTS;
use crate::render::csv::CapacityList;
use crate::render::schema::Described;
use crate::report::{Condition, Severity};

/// Colours of help texts: literals have the accent colour of the tables.
const STYLES: Styles = Styles::styled().literal(AnsiColor::Cyan.on_default()).valid(AnsiColor::Green.on_default());

/// Command line of the program.
#[derive(Debug, Parser)]
#[command(
    name = "rdblens",
    version,
    long_version = super::version::LONG.as_str(),
    about = "Reads Redis and Valkey snapshots offline: memory, big keys, missing TTLs, naming",
    long_about = "Reads Redis and Valkey snapshots offline and reports memory usage, big keys, keys without a TTL and \
                  violations of the naming standard.\n\nAn INPUT is a dump file, an append-only file with an RDB preamble, \
                  a directory of either, a quoted glob, or - for standard input. gzip, zstd and lz4 are detected. Several \
                  inputs are read as the shards of one deployment and make one report.",
    after_help = "Exit status: 0 success, 1 a gate failed (such as --fail-on), 2 usage error, 3 no report possible, 4 incomplete \
                  or corrupt snapshot (takes precedence over 1).",
    arg_required_else_help = true,
    propagate_version = true,
    max_term_width = 100,
    styles = STYLES
)]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report memory usage, big keys, missing TTLs and policy findings
    #[command(after_long_help = examples::ANALYZE)]
    Analyze(Box<AnalyzeArgs>),
    /// Write a plan for a report computed by several processes
    #[command(after_long_help = examples::PLAN)]
    Plan(Box<PlanArgs>),
    /// Merge partial reports into one report, identical to that of a single run
    #[command(after_long_help = examples::MERGE)]
    Merge(Box<MergeArgs>),
    /// Write one row per key, in file order
    #[command(after_long_help = examples::KEYS)]
    Keys(KeysArgs),
    /// Verify structure and checksum, and print one verdict per file
    #[command(after_long_help = examples::CHECK)]
    Check(CheckArgs),
    /// Save all intact records of a damaged snapshot to a new one, and list what is missing
    #[command(after_long_help = examples::SALVAGE)]
    Salvage(SalvageArgs),
    /// Compare snapshots: growth by pattern, changed findings and a memory forecast
    #[command(after_long_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Plan capacity: nodes needed now and later, slots by bytes, instances by business, cold data
    #[command(after_long_help = examples::CAPACITY)]
    Capacity(Box<CapacityArgs>),
    /// Convert a stored JSON report to another format, without the dump
    #[command(after_long_help = examples::RENDER)]
    Render(RenderArgs),
    /// Draft a data dictionary: a policy file that lists the patterns of a snapshot, to be completed with owners
    #[command(after_long_help = examples::DICTIONARY)]
    Dictionary(DictionaryArgs),
    /// Find one key and print its value
    #[command(after_long_help = examples::SHOW)]
    Show(ShowArgs),
    /// Print the JSON Schema of the output of --format json
    #[command(after_long_help = examples::SCHEMA)]
    Schema(SchemaArgs),
    /// List the rules, or explain one
    #[command(after_long_help = examples::RULES)]
    Rules(RulesArgs),
    /// Print the completion script for a shell
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write manual pages to a directory
    #[command(after_long_help = examples::MAN)]
    Man(ManArgs),
}

/// `rdblens analyze`
#[derive(Debug, Args)]
#[command(mut_arg("inputs", |inputs| inputs.required(false).required_unless_present_any(["plan", "partial"])))]
pub struct AnalyzeArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    #[command(flatten)]
    pub mask: MaskArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Print read statistics to standard error: time, rate, and how large files were split among threads
    #[arg(long, help_heading = "Input")]
    pub stats: bool,
    #[command(flatten)]
    pub part: PartArgs,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// `rdblens render`
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Report written by `rdblens analyze --format json`, or - for standard input
    #[arg(value_name = "REPORT.json")]
    pub report: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Maximum rows per list in table, Markdown and HTML [default: the value the report was made with]
    #[arg(long, value_name = "N", value_parser = top(), help_heading = "Output")]
    pub top: Option<u32>,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// Exit with status 1 if there are findings of this severity or higher
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Policy")]
    pub fail_on: Option<Severity>,
    /// With --fail-on: exit with status 1 also if a rule of this severity or higher was not evaluated
    #[arg(long, requires = "fail_on", help_heading = "Policy")]
    pub strict_gate: bool,
}

/// `rdblens keys`
#[derive(Debug, Args)]
pub struct KeysArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub rows: RowArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub mask: MaskArgs,
    /// Output format [default: from the extension of --output, else ndjson]
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<RowFormat>,
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// `rdblens check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Read every key with a second, independent parser and compare database, name, type, length and expiry
    ///
    /// Only intact files are read twice. Streams, module values and other types that the second parser does not support are
    /// counted as not compared.
    #[arg(long)]
    pub second_reader: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextFormat::Text, help_heading = "Output")]
    pub format: TextFormat,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub color: ColorArgs,
}

/// `rdblens salvage`
#[derive(Debug, Args)]
#[command(
    mut_arg("output", |output| output
        .help("Write the intact records to this new snapshot; without it, only the list is printed")
        .long_help(
            "Write the intact records to this new snapshot; without it, only the list is printed\n\nThe list goes to standard \
             output in both cases. The file is replaced when it is complete; it keeps its mode, and a link is followed. The \
             damaged file is never overwritten."
        )),
    mut_arg("max_memory", |memory| memory
        .help("Memory for decompressed values and decoder windows [default: a quarter of RAM, at least 256MB]")
        .long_help(
            "Memory for decompressed values and decoder windows [default: a quarter of RAM, at least 256MB]\n\nA compressed \
             part of a value may take a 64th of it. A larger one is not read."
        )),
    mut_arg("max_temp", |temp| temp
        .help("Temporary space for large records of pipes and compressed files [default: half of what is free in the directory]"))
)]
pub struct SalvageArgs {
    /// Damaged dump file, append-only file with an RDB preamble, or - for standard input
    #[arg(value_name = "INPUT", value_hint = clap::ValueHint::FilePath)]
    pub input: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Output format of the list of what is missing
    #[arg(long, value_enum, default_value_t = TextFormat::Text, help_heading = "Output")]
    pub format: TextFormat,
    /// Read the file instead of memory-mapping it
    #[arg(long, help_heading = "Input")]
    pub no_mmap: bool,
    /// Directory for temporary copies of inputs that are compressed or piped, and of a file whose bytes are restored
    /// [default: $TMPDIR]
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    pub temp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub budget: BudgetArgs,
    #[command(flatten)]
    pub lang: LangArgs,
}

/// `rdblens compare`
#[derive(Debug, Args)]
#[command(mut_arg("mask", |mask| mask.requires("keys")))]
pub struct CompareArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Compare nights that lack shards of earlier nights, too; for shards removed on purpose
    #[arg(long, help_heading = "Input")]
    pub allow_missing: bool,
    #[command(flatten)]
    pub by_key: ByKeyArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub mask: MaskArgs,
    #[command(flatten)]
    pub format: ComparisonFormatArgs,
    /// Maximum rows per list [default: 20; the table shows 10]
    #[arg(long, value_name = "N", value_parser = top(), help_heading = "Output")]
    pub top: Option<u32>,
    /// Policy to check dumps against: a preset or a file that ends in .toml
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "default", help_heading = "Policy")]
    pub policy: OsString,
    /// Exit with status 1 if a condition is broken (repeatable, or separated by commas)
    ///
    /// growth=20%/week: all memory, per day, week or month; growth=20%: from the first to the last snapshot. keys=30% and
    /// keys=30%/month: likewise for the number of keys. pattern=50%: any pattern, or a new one; only growth of 1 MiB or more
    /// counts. must, should or hint: findings of this severity or higher that are new or worse since the first snapshot, or of
    /// rules evaluated for the first time.
    #[arg(long, value_name = "CONDITION", value_delimiter = ',', help_heading = "Policy")]
    pub fail_on: Vec<Condition>,
    /// With --fail-on: exit with status 1 also if a condition was not evaluated
    #[arg(long, requires = "fail_on", help_heading = "Policy")]
    pub strict_gate: bool,
    /// Memory limit of each server, such as 4GB; forecasts when that of all shards together is reached. 0 is no limit
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "Policy")]
    pub maxmemory: Option<u64>,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// `rdblens capacity`
#[derive(Debug, Args)]
pub struct CapacityArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Add up inputs even if they are copies of one snapshot or snapshots of different times, not shards
    #[arg(long, help_heading = "Input")]
    pub allow_same: bool,
    /// Memory of one node, such as 16GB
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "Plan")]
    pub node_memory: u64,
    /// Part of a node's memory that stays free, such as 25% or 0.25
    #[arg(long, value_name = "SHARE", value_parser = permille, default_value = "30%", help_heading = "Plan")]
    pub headroom: u64,
    /// Number of nodes to plan for [default: as many as are needed today]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u64::from(SLOTS)), help_heading = "Plan")]
    pub nodes: Option<u64>,
    /// Last date to plan for, such as 2027-06-30; growth comes from --earlier, or from the history in stored reports
    #[arg(long, value_name = "DATE", help_heading = "Plan")]
    pub until: Option<String>,
    /// Price of node memory, such as 9.5/GB-month
    #[arg(long, value_name = "PRICE", value_parser = price, help_heading = "Plan")]
    pub cost: Option<f64>,
    /// Reports or dumps of earlier nights, or a directory or archive of them, from which growth is computed (repeatable); snapshots
    /// within an hour are added up
    #[arg(long, value_name = "INPUT", value_hint = clap::ValueHint::AnyPath, help_heading = "Plan")]
    pub earlier: Vec<PathBuf>,
    /// Count nights that lack shards of earlier nights, too; for shards removed on purpose
    #[arg(long, requires = "earlier", help_heading = "Plan")]
    pub allow_missing: bool,
    /// Nodes of the cluster: the output of CLUSTER NODES, or the nodes.conf of a node
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Plan")]
    pub cluster_nodes: Option<PathBuf>,
    /// Also plan for another server, allocator or setting, such as valkey-8.1 (repeatable)
    #[arg(long, value_name = "SERVER|ALLOCATOR|KEY=VALUE", help_heading = "Plan")]
    pub what_if: Vec<String>,
    #[command(flatten)]
    pub server: ServerArgs,
    #[command(flatten)]
    pub names: NameArgs,
    /// Policy whose dictionary names the owners: a preset or a file that ends in .toml
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "none", help_heading = "Policy")]
    pub policy: OsString,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Output format (repeatable) [default: from the extension of --output, else table]
    ///
    /// Several formats are written in one pass, each to its own file: -o plan writes plan.json, plan.md and so on.
    #[arg(long = "format", value_parser = report_format("docs/capacity.md"), value_name = "FORMAT", help_heading = "Output")]
    pub formats: Vec<ReportFormat>,
    /// List to write as CSV [default: nodes]
    #[arg(long, value_name = "NAME", value_parser = capacity_list(), help_heading = "Output")]
    pub section: Option<CapacityList>,
    #[command(flatten)]
    pub csv: CsvArgs,
    /// Title of the HTML page [default: the inputs]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub title: Option<String>,
    /// Environment shown on the HTML page, such as production
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub environment: Option<String>,
    /// Label for every sample of --format prometheus, such as snapshot=cache-1 (repeatable)
    #[arg(long = "label", value_parser = label, value_name = "NAME=VALUE", help_heading = "Output")]
    pub labels: Vec<(String, String)>,
    /// Maximum rows per list
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = top(), help_heading = "Output")]
    pub top: u32,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

impl CapacityArgs {
    /// Returns the flags of the output as those of a report.
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

/// `rdblens dictionary`
#[derive(Debug, Args)]
pub struct DictionaryArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Policy with an existing dictionary: draft only the missing entries and list entries that match no key
    #[arg(long, value_name = "FILE.toml", help_heading = "Output")]
    pub policy: Option<OsString>,
    /// Maximum number of entries; the heaviest patterns come first
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = top(), help_heading = "Output")]
    pub top: u32,
    #[command(flatten)]
    pub lang: LangArgs,
}

/// `rdblens show`
#[derive(Debug, Args)]
#[command(mut_arg("max_memory", |memory| memory
    .help("Memory for the decompressed value and decoder windows [default: a quarter of RAM, at least 256MB]")
    .long_help(
        "Memory for the decompressed value and decoder windows [default: a quarter of RAM, at least 256MB]\n\nThe decoded \
         value may take a quarter of it, and so may each of its compressed parts. A larger one is not printed: the message \
         says so."
    )),
mut_arg("max_temp", |temp| temp
    .help("Temporary space for large records of pipes and compressed files [default: half of what is free in the directory]"))
)]
pub struct ShowArgs {
    /// Dump file, append-only file, directory, or - for standard input
    #[arg(value_name = "INPUT", value_hint = clap::ValueHint::FilePath)]
    pub input: PathBuf,
    /// Key name; write bytes that are not UTF-8 as \xff
    #[arg(value_name = "KEY")]
    pub key: String,
    /// Database to search [default: the first that contains the key]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub db: Option<u64>,
    /// Policy to check the key against: a preset or a file that ends in .toml
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "default")]
    pub policy: OsString,
    /// Show at most N elements of the value
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=u64::MAX))]
    pub limit: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub format: TextFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    #[command(flatten)]
    pub server: ServerArgs,
    #[command(flatten)]
    pub names: NameArgs,
    /// Read the file instead of memory-mapping it
    #[arg(long, help_heading = "Input")]
    pub no_mmap: bool,
    /// Directory for temporary copies of records over 64 MiB and of snapshots with a table of hash templates, read from a pipe [default: $TMPDIR]
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    pub temp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub budget: BudgetArgs,
    #[command(flatten)]
    pub lang: LangArgs,
}

/// `rdblens schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Output to describe: that of analyze (report; with --section: sections), of compare (with --keys: compare-keys), of capacity or
    /// of plan
    #[arg(value_name = "SCHEMA", default_value = Described::Report.name(), value_parser = described())]
    pub form: Described,
}

/// `rdblens rules`
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// Rule to explain, such as key.prefix [default: list all rules]
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// Show the rules that this policy enables, with their parameters: a preset or a file that ends in .toml
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub policy: Option<OsString>,
    #[command(flatten)]
    pub names: NameArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextFormat::Text, help_heading = "Output")]
    pub format: TextFormat,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// `rdblens completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `rdblens man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Target directory; it is created if missing
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub folder: PathBuf,
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
    fn every_command_shows_examples_and_each_of_them_is_right() {
        let mut program = Cli::command();
        program.build();
        for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
            let shown = command.get_after_long_help().unwrap_or_else(|| panic!("{command}: no examples")).to_string();
            let examples: Vec<_> = shown.lines().filter_map(|line| line.strip_prefix("  rdblens ")).collect();
            assert!(!examples.is_empty(), "{command}");
            for example in examples {
                let own = example.split([';', '|', '>']).next().unwrap_or_default();
                let words = own.split(' ').map(|word| word.trim_matches('\'')).filter(|word| !word.is_empty());
                let parsed = Cli::try_parse_from(["rdblens"].into_iter().chain(words));
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
                assert!(own.starts_with(command.get_name()), "{example} is no example of {command}");
            }
        }
    }
}
