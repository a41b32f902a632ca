//! `rdblens check`: one verdict per file.

use std::io::{self, Write};

use super::args::{CheckArgs, TextFormat};
use super::output::Output;
use super::progress::Bar;
use super::{Exit, plan, written};
use crate::analyze::check::{FileCheck, Word, check};
use crate::error::Result;
use crate::render::{human, key_text};

/// Checks and prints.
pub fn run(args: &CheckArgs) -> Result<Exit> {
    let plan = plan::input(&args.input);
    let checks = {
        let bar = Bar::new(args.input.quiet);
        check(&args.input.inputs, &plan, &bar)?
    };
    let mut out = Output::open(None)?;
    let printed = match args.format {
        TextFormat::Text => checks.iter().try_for_each(|check| print_text(check, args.input.quiet, &mut out)),
        TextFormat::Json => checks.iter().try_for_each(|check| {
            serde_json::to_writer(&mut out, check).map_err(io::Error::from)?;
            out.write_all(b"\n")
        }),
    };
    written(printed.and_then(|()| out.finish()))?;
    let all_ok = checks.iter().all(|check| check.verdict == Word::Ok);
    let all_hopeless = checks.iter().all(|check| check.is_hopeless());
    Ok(match (all_ok, all_hopeless) {
        (true, _) => Exit::Done,
        (false, true) => Exit::NoReport,
        (false, false) => Exit::Incomplete,
    })
}

fn print_text(check: &FileCheck, quiet: bool, out: &mut impl Write) -> io::Result<()> {
    let name = key_text::text(&check.name);
    let word = check.verdict.text();
    if check.is_hopeless() {
        return writeln!(out, "{name}: {word}: {}", key_text::text(&check.errors.join("; ")));
    }
    let keys = human::counted(check.keys, "key");
    let size = human::bytes(check.bytes);
    let checksum = check.checksum.name();
    let version = check.rdb_version;
    writeln!(out, "{name}: {word}: {keys}, {size}, RDB {version}, {}, checksum {checksum}", check.server)?;
    for error in &check.errors {
        writeln!(out, "  {}", key_text::text(error))?;
    }
    let unnamed = check.damaged_keys.saturating_sub(check.errors.len() as u64);
    if unnamed > 0 {
        writeln!(out, "  and {unnamed} more")?;
    }
    if !quiet {
        for warning in &check.warnings {
            writeln!(out, "  note: {}", key_text::text(warning))?;
        }
    }
    Ok(())
}
