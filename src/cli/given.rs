//! Flags that were given on the command line: those that have no effect on the inputs are refused, not ignored.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::error::{Error, Result};

/// Flags that select what is read of snapshots and computed of it. Stored reports have been computed already. Flags that change
/// no result, such as `--threads`, are not among them: scripts may always give them.
pub(super) const READING: [&str; 11] =
    ["salvage", "db", "kinds", "globs", "regex", "no_expired", "limit", "server", "allocator", "server_config", "at"];

/// Flags of a command line, by argument and as they are written.
#[derive(Debug, Default)]
pub struct GivenFlags(Vec<(String, String)>);

impl GivenFlags {
    /// Returns the flags that are on the command line; defaults are not among them.
    pub fn of(program: &Command, matches: &ArgMatches) -> GivenFlags {
        let Some((name, matches)) = matches.subcommand() else { return GivenFlags::default() };
        let arguments = program.find_subcommand(name).into_iter().flat_map(Command::get_arguments);
        let flag = |argument: &clap::Arg| {
            let (id, long) = (argument.get_id().as_str(), argument.get_long()?);
            let is_given = matches.try_contains_id(id).is_ok_and(|there| there)
                && matches.value_source(id) == Some(ValueSource::CommandLine);
            is_given.then(|| (id.to_owned(), format!("--{long}")))
        };
        GivenFlags(arguments.filter_map(flag).collect())
    }

    /// Refuses those of some flags that were given, since no input is a snapshot that is read. `among` names the inputs.
    pub fn refuse_for_reports<'f>(&self, flags: impl IntoIterator<Item = &'f str>, among: &str) -> Result<()> {
        let flags: Vec<&str> = flags.into_iter().collect();
        let given = self.0.iter().filter(|(id, _)| flags.contains(&id.as_str()));
        let given: Vec<&str> = given.map(|(_, flag)| flag.as_str()).collect();
        let (have, them) = match given.as_slice() {
            [] => return Ok(()),
            [_] => ("has", "it"),
            _ => ("have", "them"),
        };
        let flags = given.join(", ");
        Err(Error::usage(format!(
            "{flags} {have} no effect: {among} are stored reports, which keep the options they were made with"
        ))
        .with_hint(format!("give the snapshots instead, or remove {them}")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::{capacity, compare};

    fn given(line: &str) -> GivenFlags {
        let mut program = Cli::command();
        let matches = program.try_get_matches_from_mut(line.split(' ')).unwrap();
        GivenFlags::of(&program, &matches)
    }

    #[test]
    fn a_default_is_not_given() {
        let flags = given("rdblens compare a.json b.json --policy default --threads 2");
        let names: Vec<&str> = flags.0.iter().map(|(_, flag)| flag.as_str()).collect();
        assert_eq!(names, ["--threads", "--policy"]);
        assert!(given("rdblens compare a.json b.json").0.is_empty());
        let refused = flags.refuse_for_reports(["policy", "separators"], "all inputs").unwrap_err().to_string();
        assert!(refused.starts_with("--policy has no effect: all inputs are stored reports"), "{refused}");
        assert!(refused.contains("or remove it"), "{refused}");
        flags.refuse_for_reports(["separators"], "all inputs").unwrap();
    }

    /// Flags that apply to stored reports, to the comparison or plan, or to the output.
    const OF_REPORTS: [&str; 49] = [
        "no_checksum",
        "max_memory",
        "max_temp",
        "no_mmap",
        "temp_dir",
        "threads",
        "allow_missing",
        "bom",
        "color",
        "cost",
        "earlier",
        "environment",
        "expiry_tolerance",
        "fail_on",
        "fail_on_difference",
        "force",
        "format",
        "formats",
        "headroom",
        "help",
        "ignore",
        "inputs",
        "keys",
        "labels",
        "lang",
        "mask",
        "mask_key",
        "maxmemory",
        "node_memory",
        "nodes",
        "output",
        "private",
        "quiet",
        "rows",
        "section",
        "strict_gate",
        "title",
        "top",
        "until",
        "what_if",
        "wide",
        "with",
        "version",
        "allow_same",
        "no_pager",
        "full",
        "sections",
        "stats",
        "verbose",
    ];

    #[test]
    fn every_flag_is_decided() {
        let program = Cli::command();
        let of_dumps = |command: &str| match command {
            "compare" => [&READING[..], &compare::OF_SNAPSHOTS].concat(),
            _ => [&READING[..], &capacity::OF_INPUTS].concat(),
        };
        for command in ["compare", "capacity"] {
            let known: BTreeSet<&str> = of_dumps(command).into_iter().chain(OF_REPORTS).collect();
            let arguments = program.find_subcommand(command).unwrap().get_arguments();
            let open: Vec<_> = arguments.map(|it| it.get_id().as_str()).filter(|id| !known.contains(id)).collect();
            assert!(open.is_empty(), "{command}: {open:?}");
        }
    }
}
