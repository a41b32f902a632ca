//! The command line, grouped as its users think. Flags do not act while they are parsed; they fill a plan.
#![allow(missing_docs, reason = "the type of a flattened group documents it")]

mod examples;
mod groups;
mod values;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};

pub use groups::*;
pub use values::*;

use super::lang::LangArgs;
use super::screen::{ColorArgs, ScreenArgs};
use crate::render::schema::Described;
use crate::report::Severity;

/// Where help has colour, what is typed as it stands has the accent of the tables.
const STYLES: Styles = Styles::styled().literal(AnsiColor::Cyan.on_default()).valid(AnsiColor::Green.on_default());

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
    max_term_width = 100,
    styles = STYLES
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
    #[command(after_long_help = examples::ANALYZE)]
    Analyze(Box<AnalyzeArgs>),
    /// Stream one row per key, in file order
    #[command(after_long_help = examples::KEYS)]
    Keys(KeysArgs),
    /// Read everything, verify structure and checksum, print one verdict per file
    #[command(after_long_help = examples::CHECK)]
    Check(CheckArgs),
    /// Tell what changed between snapshots: growth by pattern, findings, and when the memory will be used up
    #[command(after_long_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Write a stored JSON report in another form, without the dump
    #[command(after_long_help = examples::RENDER)]
    Render(RenderArgs),
    /// Draft a data dictionary: the patterns of a snapshot as a policy file, with blanks for owner and meaning
    #[command(after_long_help = examples::DICTIONARY)]
    Dictionary(DictionaryArgs),
    /// Find one key and print its value
    #[command(after_long_help = examples::SHOW)]
    Show(ShowArgs),
    /// Print the JSON Schema of what --format json writes
    #[command(after_long_help = examples::SCHEMA)]
    Schema(SchemaArgs),
    /// List the rules, or explain one
    #[command(after_long_help = examples::RULES)]
    Rules(RulesArgs),
    /// Print the completions of a shell
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder
    #[command(after_long_help = examples::MAN)]
    Man(ManArgs),
}

/// `rdblens analyze`
#[derive(Debug, Args)]
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
    /// Tell on standard error how the inputs were read: time, rate, and what dividing large files among threads came to
    #[arg(long, help_heading = "Input")]
    pub stats: bool,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// `rdblens render`
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// A report that `rdblens analyze --format json` wrote, or - for standard input
    #[arg(value_name = "REPORT.json")]
    pub report: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Rows that a page for people shows of each list [default: what the report was made with]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000), help_heading = "Output")]
    pub top: Option<u32>,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// Exit with status 1 if there are findings of this severity or above
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Policy")]
    pub fail_on: Option<Severity>,
}

/// `rdblens keys`
#[derive(Debug, Args)]
pub struct KeysArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub mask: MaskArgs,
    /// The form of the rows
    #[arg(long, value_enum, default_value_t = RowFormat::Ndjson, help_heading = "Output")]
    pub format: RowFormat,
}

/// `rdblens check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Also read every key by a second, independent reader and compare database, name, type, length and expiry
    ///
    /// Only files that are sound are read twice. Streams, module values and other types that the second
    /// reader does not know are counted as not compared.
    #[arg(long)]
    pub second_reader: bool,
    /// The form of the verdicts
    #[arg(long, value_enum, default_value_t = TextFormat::Text, help_heading = "Output")]
    pub format: TextFormat,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub color: ColorArgs,
}

/// `rdblens compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// The form of the comparison
    #[arg(long, value_enum, default_value_t = ComparisonFormat::Table, help_heading = "Output")]
    pub format: ComparisonFormat,
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
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// `rdblens dictionary`
#[derive(Debug, Args)]
pub struct DictionaryArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// A policy with a dictionary already: draft what it lacks, and tell what it has in vain
    #[arg(long, value_name = "FILE.toml", help_heading = "Output")]
    pub policy: Option<String>,
    /// Entries at most, those of the heaviest patterns
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Output")]
    pub top: u32,
    #[command(flatten)]
    pub lang: LangArgs,
}

/// `rdblens show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A dump file, an append-only file, a directory, or - for standard input
    #[arg(value_name = "INPUT", value_hint = clap::ValueHint::FilePath)]
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
    pub lang: LangArgs,
}

/// `rdblens schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Whose JSON: that of analyze, or that of compare
    #[arg(value_name = "FORM", default_value = Described::Report.name(), value_parser = described())]
    pub form: Described,
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
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// `rdblens completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `rdblens man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder; it is made if it is not there
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
