//! `rdblens schema`: prints the JSON Schema of JSON output.

use super::args::SchemaArgs;
use super::output::Outlet;
use super::sources::Sources;
use super::{ExitStatus, written};
use crate::error::Result;

/// Prints the schema.
pub fn run(args: &SchemaArgs) -> Result<ExitStatus> {
    let mut out = Outlet::of(Sources::default()).open(None)?;
    written(args.form.write(&mut out).and_then(|()| out.finish()))?;
    Ok(ExitStatus::Done)
}
