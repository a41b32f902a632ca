//! Arguments of the process. An input without a command is analysed: `rdblens dump.rdb` means `rdblens analyze dump.rdb`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Command, CommandFactory};

use super::args::Cli;

/// Returns the arguments with `analyze` before the first of them, if that is an input, or a flag of `analyze` without a command
/// after it.
pub fn with_command(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let program = Cli::command();
    let is_command = |argument: &OsStr| program.find_subcommand(argument).is_some();
    let is_flag = |first: &OsString| {
        is_flag_of_analyze(first, &program) && !arguments.iter().skip(1).any(|argument| is_command(argument))
    };
    if arguments.get(1).is_some_and(|first| is_input(first, &program) || is_flag(first)) {
        arguments.insert(1, "analyze".into());
    }
    arguments
}

/// Returns whether an argument is a long flag that `analyze` has and the program itself has not.
fn is_flag_of_analyze(argument: &OsStr, program: &Command) -> bool {
    let Some(flag) = argument.to_str().and_then(|text| text.strip_prefix("--")) else { return false };
    let name = flag.split_once('=').map_or(flag, |(name, _)| name);
    let has = |command: &Command| command.get_arguments().any(|argument| argument.get_long() == Some(name));
    !has(program) && program.find_subcommand("analyze").is_some_and(has)
}

/// Returns whether an argument is the name of an input, not of a command, misspelled or not.
fn is_input(argument: &OsStr, program: &Command) -> bool {
    let looks_like_path = |text: &str| text == "-" || text.contains(['/', '.', '*', '?', '[', '\\']);
    match argument.to_str() {
        Some("help") => false,
        Some(text) if text.len() > 1 && text.starts_with('-') => false,
        Some(text) if program.find_subcommand(text).is_some() => false,
        Some(text) => looks_like_path(text) || Path::new(text).exists(),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(first: &str) -> bool {
        with_command(["rdblens", first, "--top", "5"].map(OsString::from)).len() == 5
    }

    #[test]
    fn an_input_without_a_command_is_analysed() {
        for input in ["dump.rdb", "backup/dump", "-", "*.rdb", "src"] {
            assert!(completed(input), "{input}");
        }
        for other in ["analyze", "help", "anlyze", "--version", "-h", "", "no-such-file"] {
            assert!(!completed(other), "{other}");
        }
    }

    #[test]
    fn flags_of_analyze_may_come_first() {
        let command = |arguments: &str| {
            let all = with_command(["rdblens"].into_iter().chain(arguments.split(' ')).map(OsString::from));
            all[1].to_str().unwrap().to_owned()
        };
        for arguments in ["--full dump.rdb", "--policy=strict dump.rdb", "--top 5 dump.rdb"] {
            assert_eq!(command(arguments), "analyze", "{arguments}");
        }
        for arguments in
            ["--quiet keys dump.rdb", "--version", "--help analyze", "--no-such-flag dump.rdb", "-q dump.rdb"]
        {
            assert_ne!(command(arguments), "analyze", "{arguments}");
        }
    }
}
