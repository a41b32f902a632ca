//! Flags of reports that are computed in parts.
#![allow(missing_docs, reason = "the type of a flattened group documents it")]

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::groups::*;
use super::values::{shard, shard_index, share, size, top, whole};
use crate::cli::lang::LangArgs;
use crate::cli::screen::ScreenArgs;
use crate::report::{Prefixes, Severity};

/// `rdblens plan`
// Parts count keys apart, so that the limit is always refused.
#[derive(Debug, Args)]
#[command(mut_arg("limit", |limit| limit.hide(true)))]
pub struct PlanArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Maximum rows per list [default: 20 in JSON and CSV, 10 in other formats]
    #[arg(long, value_name = "N", value_parser = top(), help_heading = "Report")]
    pub top: Option<u32>,
    #[command(flatten)]
    pub big: BigArgs,
    /// Also compute memory for another server, allocator or setting (repeatable, at most 8)
    #[arg(long, value_name = "SERVER|ALLOCATOR|KEY=VALUE", help_heading = "Server")]
    pub what_if: Vec<String>,
    /// Preset (default, service, hzero, platform, strict, aliyun, none) or a policy file that ends in .toml, whose text is
    /// stored in the plan
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "default", help_heading = "Policy")]
    pub policy: OsString,
    /// Memory limit of each server, such as 4GB; 0 is no limit
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "Policy")]
    pub maxmemory: Option<u64>,
    /// Eviction policy of the servers, such as volatile-lru
    #[arg(long, value_name = "POLICY", help_heading = "Policy")]
    pub maxmemory_policy: Option<String>,
    /// Search the values of a sample of keys for secrets and personal data (rule value.sensitive)
    #[arg(long, help_heading = "Policy")]
    pub inspect_values: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A part of a plan, read by `rdblens analyze --partial`.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Partial report")]
pub struct PartArgs {
    /// Write a partial report of some files of a plan, for `rdblens merge`; it holds key names as they are and is readable by its
    /// owner only
    ///
    /// All options that figures depend on are those of the plan.
    #[arg(
        long,
        requires_all = ["plan", "output", "part"],
        conflicts_with_all = PLANNED
    )]
    pub partial: bool,
    /// Plan written by `rdblens plan`
    #[arg(long, value_name = "PLAN.json", requires = "partial", value_hint = clap::ValueHint::FilePath)]
    pub plan: Option<PathBuf>,
    /// Read the files of one of N parts of similar size, such as 3/16
    #[arg(long, value_name = "I/N", requires = "partial", group = "part", value_parser = shard)]
    pub shard: Option<(u64, u64)>,
    /// Like --shard, but parts count from 0, such as 0/16: for the index of a Kubernetes Job or a job array
    #[arg(long, value_name = "I/N", requires = "partial", group = "part", conflicts_with = "shard", value_parser = shard_index)]
    pub shard_index: Option<(u64, u64)>,
    /// Read this file of the plan, counted from 1 (repeatable)
    #[arg(
        long,
        value_name = "K",
        requires = "partial",
        group = "part",
        conflicts_with_all = ["shard", "shard_index"],
        value_parser = whole::<usize>(0..=u64::MAX)
    )]
    pub file: Vec<usize>,
}

/// Flags of `analyze` that a partial report has no say in: the plan or `merge` decides them.
pub const PLANNED: [&str; 39] = [
    "inputs",
    "no_checksum",
    "allow_same",
    "salvage",
    "db",
    "kinds",
    "globs",
    "regex",
    "no_expired",
    "limit",
    "server",
    "allocator",
    "server_config",
    "at",
    "separators",
    "top",
    "big_string",
    "big_elements",
    "big_memory",
    "depth",
    "min_share",
    "what_if",
    "policy",
    "fail_on",
    "strict_gate",
    "maxmemory",
    "maxmemory_policy",
    "now",
    "baseline",
    "earlier",
    "inspect_values",
    "mask",
    "mask_key",
    "formats",
    "sections",
    "title",
    "environment",
    "labels",
    "bom",
];

/// `rdblens merge`
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Partial reports written by `rdblens analyze --partial` or `rdblens merge --partial`: files, directories with *.part files,
    /// globs, or objects such as s3://bucket/parts/
    #[arg(required = true, value_name = "PART", value_hint = clap::ValueHint::AnyPath)]
    pub parts: Vec<PathBuf>,
    /// Plan that the partial reports were made with
    #[arg(long, value_name = "PLAN.json", required = true, value_hint = clap::ValueHint::FilePath)]
    pub plan: PathBuf,
    /// Write one partial report of all that are given, for a tree of merges
    #[arg(
        long,
        requires = "output",
        conflicts_with_all = ["formats", "sections", "full", "mask", "baseline", "earlier", "now", "depth", "min_share", "fail_on"]
    )]
    pub partial: bool,
    /// Depth of the prefix tree
    #[arg(long, value_name = "N", default_value_t = Prefixes::USUAL_DEPTH, value_parser = whole::<u8>(1..=16), help_heading = "Report")]
    pub depth: u8,
    /// Omit prefixes below this share of the memory, such as 0.01 or 1%
    #[arg(long, value_name = "SHARE", default_value_t = Prefixes::USUAL_MIN_SHARE, value_parser = share, help_heading = "Report")]
    pub min_share: f64,
    /// Exit with status 1 if there are findings of this severity or higher
    #[arg(long, value_enum, value_name = "SEVERITY", help_heading = "Policy")]
    pub fail_on: Option<Severity>,
    /// With --fail-on: exit with status 1 also if a rule of this severity or higher was not evaluated
    #[arg(long, requires = "fail_on", help_heading = "Policy")]
    pub strict_gate: bool,
    /// Current time, to compute the age of the snapshot; same syntax as --at of `rdblens plan`
    #[arg(long, value_name = "TIME", help_heading = "Policy")]
    pub now: Option<String>,
    /// Earlier JSON report to compare with: --fail-on counts only findings that are new or worse, or of rules evaluated for the first
    /// time, and growth is checked
    #[arg(long, value_name = "REPORT.json", help_heading = "Policy")]
    pub baseline: Option<PathBuf>,
    /// Earlier JSON report for the trend of memory (repeatable); the history stored in each report is used, too
    #[arg(long, value_name = "REPORT.json", value_hint = clap::ValueHint::FilePath, help_heading = "Report")]
    pub earlier: Vec<PathBuf>,
    #[command(flatten)]
    pub mask: MaskArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Suppress warnings
    #[arg(long, short, help_heading = "Input")]
    pub quiet: bool,
    #[command(flatten)]
    pub lang: LangArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_flag_of_analyze_is_decided_by_the_plan_or_says_how_to_read_and_write() {
        /// Flags that figures do not depend on.
        const OWN: [&str; 22] = [
            "partial",
            "plan",
            "shard",
            "shard_index",
            "file",
            "part",
            "no_mmap",
            "temp_dir",
            "max_memory",
            "max_temp",
            "threads",
            "quiet",
            "stats",
            "output",
            "force",
            "private",
            "lang",
            "color",
            "wide",
            "full",
            "no_pager",
            "help",
        ];
        let program = Cli::command();
        let analyze = program.find_subcommand("analyze").unwrap();
        let known: BTreeSet<&str> = PLANNED.into_iter().chain(OWN).collect();
        let unknown: Vec<_> = analyze.get_arguments().filter(|arg| !known.contains(arg.get_id().as_str())).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
