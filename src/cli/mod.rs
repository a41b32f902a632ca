//! The command line: parse, run, say how it went. Results go to standard output, progress and warnings to standard error.
#![allow(clippy::print_stderr, reason = "errors and warnings of commands go to standard error")]

mod analyze;
pub mod args;
mod check;
mod compare;
mod completions;
mod delivery;
mod dictionary;
mod exit;
mod keys;
pub mod lang;
mod man;
mod output;
mod plan;
mod progress;
mod render;
mod rules;
mod schema;
pub mod screen;
mod show;

use std::io;

use clap::Parser;

pub use args::Cli;
pub use exit::Exit;

use crate::error::{Error, ErrorKind, Result};
use args::Command;

/// Parses the command line of this process and does what it says.
pub fn run() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // A closed pipe is a normal end, here too.
            let _ = error.print();
            return exit;
        }
    };
    let done = match &cli.command {
        Command::Analyze(args) => analyze::run(args),
        Command::Keys(args) => keys::run(args),
        Command::Check(args) => check::run(args),
        Command::Compare(args) => compare::run(args),
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
        Err(error) if is_closed_pipe(&error) => Exit::Done,
        Err(error) => {
            complain(&error);
            match error.kind() {
                ErrorKind::Usage(_) => Exit::Usage,
                _ => Exit::NoReport,
            }
        }
    }
}

/// Tells the user what went wrong.
fn complain(error: &Error) {
    eprintln!("rdblens: {error}");
}

fn is_closed_pipe(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
}

/// The outcome of writing results: a reader that has seen enough is a normal end, and the command's own outcome stands.
fn written(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Error::from),
    }
}
