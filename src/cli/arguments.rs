//! Arguments of the process. An input without a command is analysed: `rdblens dump.rdb` means `rdblens analyze dump.rdb`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::CommandFactory;

use super::args::Cli;

/// Returns the arguments with `analyze` before the first of them, if that is an input.
pub fn with_command(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|first| is_input(first)) {
        arguments.insert(1, "analyze".into());
    }
    arguments
}

/// Returns whether an argument is the name of an input, not of a command, misspelled or not.
fn is_input(argument: &OsStr) -> bool {
    let looks_like_path = |text: &str| text == "-" || text.contains(['/', '.', '*', '?', '[', '\\']);
    match argument.to_str() {
        Some("help") => false,
        Some(text) if text.len() > 1 && text.starts_with('-') => false,
        Some(text) if Cli::command().find_subcommand(text).is_some() => false,
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
}
