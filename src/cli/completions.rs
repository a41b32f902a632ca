//! `rdblens completions`: completion scripts for shells.

use std::io::Write;

use clap::CommandFactory;

use super::args::{Cli, CompletionsArgs};
use super::output::Outlet;
use super::sources::Sources;
use super::{ExitStatus, written};
use crate::error::Result;

/// Prints the completion script.
pub fn run(args: &CompletionsArgs) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rdblens", &mut script);
    let mut out = Outlet::of(Sources::default()).open(None)?;
    written(out.write_all(&script).and_then(|()| out.finish()))?;
    Ok(ExitStatus::Done)
}
