//! `rdblens completions`: what a shell has to know to complete our command lines.

use std::io::Write;

use clap::CommandFactory;

use super::args::{Cli, CompletionsArgs};
use super::output::Output;
use super::{Exit, written};
use crate::error::Result;

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rdblens", &mut script);
    let mut out = Output::open(None)?;
    written(out.write_all(&script).and_then(|()| out.finish()))?;
    Ok(Exit::Done)
}
