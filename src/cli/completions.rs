//! `rdblens completions`: completion scripts for shells.

use std::io::Write;

use clap::CommandFactory;

use super::args::{Cli, CompletionsArgs};
use super::output::Output;
use super::{ExitStatus, written};
use crate::error::Result;

/// Prints the completion script.
pub fn run(args: &CompletionsArgs) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rdblens", &mut script);
    let mut out = Output::open(None)?;
    written(out.write_all(&script).and_then(|()| out.finish()))?;
    Ok(ExitStatus::Done)
}
