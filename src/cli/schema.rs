//! `rdblens schema`: the JSON Schema of what is written as JSON.

use super::args::SchemaArgs;
use super::output::Output;
use super::{Exit, written};
use crate::error::Result;

/// Prints it.
pub fn run(args: &SchemaArgs) -> Result<Exit> {
    let mut out = Output::open(None)?;
    written(args.form.write(&mut out).and_then(|()| out.finish()))?;
    Ok(Exit::Done)
}
