//! Flags of `compare --keys`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::groups::WRITTEN;
use crate::policy::params::span;

/// Comparison key by key.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Comparison key by key")]
pub struct ByKeyArgs {
    /// Compare two snapshots key by key: which keys were added, removed or changed
    ///
    /// Each INPUT is one side: a file, or a directory or glob of shards. Values are compared by content, not by encoding.
    #[arg(long, conflicts_with_all = ["allow_missing", "policy", "fail_on", "strict_gate", "maxmemory"])]
    pub keys: bool,
    /// Inputs of the new side; those before it are the old side, so that each may consist of several files
    #[arg(long, value_name = "INPUT", num_args = 1.., requires = "keys", value_hint = clap::ValueHint::AnyPath)]
    pub with: Vec<PathBuf>,
    /// Write one row per differing key, by database and name; the extension is .ndjson, .csv or .parquet, and - is NDJSON on
    /// standard output
    #[arg(long, value_name = "FILE", requires = "keys", group = WRITTEN, value_hint = clap::ValueHint::FilePath)]
    pub rows: Option<PathBuf>,
    /// Leave this out of the comparison
    #[arg(long, value_enum, value_name = "WHAT", requires = "keys")]
    pub ignore: Vec<IgnoredFact>,
    /// Treat expiries of a key as equal if they differ by at most this time, such as 500ms, 1s or 2m
    #[arg(long, value_name = "TIME", value_parser = tolerance, requires = "keys", conflicts_with = "ignore")]
    pub expiry_tolerance: Option<u64>,
    /// Exit with status 1 if any key differs; keys that expired in between do not count
    #[arg(long, requires = "keys")]
    pub fail_on_difference: bool,
}

/// Fact that a comparison can leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IgnoredFact {
    /// Expiries of keys and of hash fields
    Expiry,
}

/// Parses a time with its unit; returns milliseconds.
fn tolerance(text: &str) -> Result<u64, String> {
    span(text).ok_or_else(|| "expected a time with its unit, such as 500ms or 1s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(["500ms", "1s", "2m", "3h"].map(tolerance), [500, 1000, 120_000, 10_800_000].map(Ok));
        for wrong in ["", "1", "s", "-1s", "1y", "99999999999999999999s", "9999999999999999999h"] {
            assert!(tolerance(wrong).is_err(), "{wrong}");
        }
    }
}
