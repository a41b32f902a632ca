//! `rdblens show`: prints one key and its value.

use super::args::{ShowArgs, TextFormat};
use super::output::Output;
use super::{ExitStatus, plan, print_error, written};
use crate::error::Result;
use crate::render::words::nouns;
use crate::render::{Lang, human, key_text, value};
use crate::show::{Looked, decode, find};

/// Finds the key, decodes its value and prints it.
pub fn run(args: &ShowArgs) -> Result<ExitStatus> {
    let key = key_text::unescape(&args.key)?;
    let options = plan::read_plan(args.no_mmap, args.temp_dir.as_deref()).open;
    let found = match find(&args.input, &key, args.db, &options)? {
        Looked::Found(found) => found,
        Looked::Missing { keys, damage } => {
            let looked = human::counted(keys, nouns::KEY, Lang::En);
            let place = args.db.map_or(String::new(), |db| format!(" in database {db}"));
            eprintln!("rdblens: {}: key {} not found{place} ({looked} searched)", args.input, key_text::key(&key));
            // The key may be in the part that could not be read, so report the damage and exit with 4.
            damage.iter().for_each(print_error);
            return Ok(if damage.is_some() { ExitStatus::Incomplete } else { ExitStatus::NoReport });
        }
    };
    let decoded = match decode(&found) {
        Ok(decoded) => decoded,
        Err(error) => {
            print_error(&error);
            return Ok(ExitStatus::Incomplete);
        }
    };
    let mut out = Output::open(None)?;
    let printed = match args.format {
        TextFormat::Text => value::write_text(&found, &decoded, args.lang.lang(), &mut out),
        TextFormat::Json => value::write_json(&found, &decoded, &mut out),
    };
    written(printed.and_then(|()| out.finish()))?;
    Ok(ExitStatus::Done)
}
