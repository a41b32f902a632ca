//! `rdblens show`: one key and its value.

use super::args::{ShowArgs, TextFormat};
use super::output::Output;
use super::{Exit, complain, plan, written};
use crate::error::Result;
use crate::render::words::nouns;
use crate::render::{Lang, human, key_text, value};
use crate::show::{Looked, decode, find};

/// Finds, decodes and prints.
pub fn run(args: &ShowArgs) -> Result<Exit> {
    let key = key_text::unescape(&args.key)?;
    let options = plan::read_plan(args.no_mmap, args.temp_dir.as_deref()).open;
    let found = match find(&args.input, &key, args.db, &options)? {
        Looked::Found(found) => found,
        Looked::Missing { keys, damage } => {
            let looked = human::counted(keys, nouns::KEY, Lang::En);
            let place = args.db.map_or(String::new(), |db| format!(" in database {db}"));
            eprintln!("rdblens: {}: no key {}{place} among {looked}", args.input, key_text::key(&key));
            // It may be in what could not be read.
            damage.iter().for_each(complain);
            return Ok(if damage.is_some() { Exit::Incomplete } else { Exit::NoReport });
        }
    };
    let decoded = match decode(&found) {
        Ok(decoded) => decoded,
        Err(error) => {
            complain(&error);
            return Ok(Exit::Incomplete);
        }
    };
    let mut out = Output::open(None)?;
    let printed = match args.format {
        TextFormat::Text => value::write_text(&found, &decoded, args.lang.lang(), &mut out),
        TextFormat::Json => value::write_json(&found, &decoded, &mut out),
    };
    written(printed.and_then(|()| out.finish()))?;
    Ok(Exit::Done)
}
