//! Command-line interface. Results go to standard output, progress, warnings and errors to standard error.

mod analyze;
mod archives;
pub mod args;
mod arguments;
mod capacity;
mod check;
mod compare;
mod compare_keys;
mod completions;
mod delivery;
mod destinations;
mod dictionary;
mod exit;
mod fleet;
mod gate;
mod given;
mod hints;
mod keys;
pub mod lang;
mod man;
mod mapped;
mod message;
mod output;
mod pager;
mod parts;
mod plan;
mod progress;
mod render;
mod rules;
mod salvage;
mod schema;
pub mod screen;
mod show;
#[cfg(unix)]
mod shrunk;
mod sources;
mod system;
mod temporary;
mod version;

use std::ffi::OsString;
use std::io;

use clap::{CommandFactory, FromArgMatches};

pub use args::Cli;
pub use exit::ExitStatus;

use crate::analyze::read::snapshot::passed_over;
use crate::analyze::verdict::FileVerdict;
use crate::error::{Error, ErrorKind, Result};
use args::{Command, InputArgs};
use given::GivenFlags;
use message::notice;

/// Parses the command line of this process and runs the command.
///
/// Inputs are mapped into memory. One that becomes shorter meanwhile ends the process, after a message, with status 4.
pub fn run() -> ExitStatus {
    run_command(std::env::args_os(), watch)
}

/// Runs the command of a command line, whose first argument is the name of the program, within a process that goes on after it.
///
/// Inputs are read instead of mapped, as with `--no-mmap`: no input ends the process.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    run_command(arguments, mapped::map_none)
}

#[cfg(unix)]
fn watch(command: &mut Command) {
    shrunk::watch(&mapped::inputs(command));
}

#[cfg(not(unix))]
fn watch(_: &mut Command) {}

/// Runs the command of a command line after `prepare` has seen it.
fn run_command(arguments: impl IntoIterator<Item = OsString>, prepare: impl FnOnce(&mut Command)) -> ExitStatus {
    temporary::report_large_files();
    let arguments = arguments::with_command(arguments);
    let (mut cli, given) = match parsed(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            return match (error.use_stderr(), message::print_usage(&error, &arguments)) {
                (true, _) => ExitStatus::Usage,
                // Help may be piped into a pager that has quit: a closed pipe is not an error.
                (false, Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => failed(&error.into()),
                (false, _) => ExitStatus::Done,
            };
        }
    };
    prepare(&mut cli.command);
    let done = match &cli.command {
        Command::Analyze(args) => analyze::run(args),
        Command::Plan(args) => fleet::plan(args),
        Command::Merge(args) => fleet::merge(args),
        Command::Keys(args) => keys::run(args),
        Command::Check(args) => check::run(args),
        Command::Salvage(args) => salvage::run(args),
        Command::Compare(args) => compare::run(args, &given),
        Command::Capacity(args) => capacity::run(args, &given),
        Command::Render(args) => render::run(args),
        Command::Dictionary(args) => dictionary::run(args),
        Command::Show(args) => show::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Rules(args) => rules::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    };
    match done {
        Ok(exit) => exit,
        Err(error) if is_closed_pipe(&error) => ExitStatus::Done,
        Err(error) => failed(&error),
    }
}

/// Parses a command line; keeps which of the flags were given.
fn parsed(arguments: &[OsString]) -> std::result::Result<(Cli, GivenFlags), clap::Error> {
    let mut program = Cli::command();
    let matches = program.try_get_matches_from_mut(arguments)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut program))?;
    Ok((cli, GivenFlags::of(&program, &matches)))
}

/// Prints the error that ends the program, and returns its exit status.
fn failed(error: &Error) -> ExitStatus {
    print_error(error);
    match error.kind() {
        ErrorKind::Usage(_) => ExitStatus::Usage,
        _ => ExitStatus::NoReport,
    }
}

/// Prints an error to standard error.
fn print_error(error: &Error) {
    notice!("{error}");
}

/// Prints what is wrong with the files that rows came from. Damage explains the exit status, so it is said even if `quiet`.
fn print_verdicts(verdicts: &[FileVerdict], quiet: bool) {
    for verdict in verdicts {
        verdict.fault.iter().for_each(print_error);
        verdict.damage.iter().for_each(print_error);
        if !quiet {
            verdict.warnings.iter().for_each(|warning| notice!("{}", warning.wording.en));
        }
    }
}

/// Returns whether standard output was closed early: outputs with a name have other errors.
fn is_closed_pipe(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints what was found in directories and is no file.
fn print_passed_over(input: &InputArgs) {
    if !input.quiet {
        for warning in passed_over(&input.inputs) {
            notice!("{}", warning.wording.en);
        }
    }
}

/// Converts the result of writing output; closing standard output early counts as success.
fn written(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Error::from),
    }
}
