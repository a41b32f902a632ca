//! Inputs that a command maps into memory. The process ends when a mapped file becomes shorter, so the command line maps files only
//! where the process is its own.

#[cfg(unix)]
use std::path::PathBuf;

use super::args::Command;
#[cfg(unix)]
use super::args::InputArgs;

/// Returns the inputs that a command may map.
#[cfg(unix)]
pub fn inputs(command: &Command) -> Vec<PathBuf> {
    let with = |input: &InputArgs, others: &[PathBuf]| {
        let inputs = input.inputs.iter().chain(others).filter(|_| !input.no_mmap);
        inputs.cloned().collect()
    };
    let one = |no_mmap: bool, input: &PathBuf| if no_mmap { Vec::new() } else { vec![input.clone()] };
    match command {
        Command::Analyze(args) => with(&args.read.input, &[]),
        Command::Plan(args) => with(&args.read.input, &[]),
        Command::Keys(args) => with(&args.read.input, &[]),
        Command::Check(args) => with(&args.input, &[]),
        Command::Compare(args) => with(&args.read.input, &args.by_key.with),
        Command::Capacity(args) => with(&args.input, &args.earlier),
        Command::Dictionary(args) => with(&args.read.input, &[]),
        Command::Salvage(args) => one(args.no_mmap, &args.input),
        Command::Show(args) => one(args.no_mmap, &args.input),
        Command::Merge(_)
        | Command::Render(_)
        | Command::Schema(_)
        | Command::Rules(_)
        | Command::Completions(_)
        | Command::Man(_) => Vec::new(),
    }
}

/// Has a command read its inputs instead of mapping them, as with `--no-mmap`.
pub fn map_none(command: &mut Command) {
    let no_mmap = match command {
        Command::Analyze(args) => &mut args.read.input.no_mmap,
        Command::Plan(args) => &mut args.read.input.no_mmap,
        Command::Keys(args) => &mut args.read.input.no_mmap,
        Command::Check(args) => &mut args.input.no_mmap,
        Command::Compare(args) => &mut args.read.input.no_mmap,
        Command::Capacity(args) => &mut args.input.no_mmap,
        Command::Dictionary(args) => &mut args.read.input.no_mmap,
        Command::Salvage(args) => &mut args.no_mmap,
        Command::Show(args) => &mut args.no_mmap,
        Command::Merge(_)
        | Command::Render(_)
        | Command::Schema(_)
        | Command::Rules(_)
        | Command::Completions(_)
        | Command::Man(_) => return,
    };
    *no_mmap = true;
}

#[cfg(all(test, unix))]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::Cli;

    /// Returns a command line of a command, with all that it requires.
    fn parsed(name: &str) -> Command {
        let more: &[&str] = match name {
            "capacity" => &["--node-memory", "1GB", "a.rdb"],
            "merge" => &["--plan", "plan.json", "a.part"],
            "show" => &["a.rdb", "key"],
            "schema" | "rules" => &[],
            "completions" => &["bash"],
            _ => &["a.rdb"],
        };
        Cli::parse_from(["rdblens", name].iter().chain(more)).command
    }

    #[test]
    fn commands_with_the_flag_for_it_map_their_inputs_and_no_others() {
        for definition in Cli::command().get_subcommands() {
            let has_flag = definition.get_arguments().any(|argument| argument.get_id() == "no_mmap");
            let mut command = parsed(definition.get_name());
            let expected = if has_flag { vec![PathBuf::from("a.rdb")] } else { vec![] };
            assert_eq!(inputs(&command), expected, "{definition}");
            map_none(&mut command);
            assert!(inputs(&command).is_empty(), "{definition}");
        }
    }
}
