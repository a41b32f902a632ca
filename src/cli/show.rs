//! `rdblens show`: prints one key and its value.

use super::args::{ShowArgs, TextFormat};
use super::message::notice;
use super::output::{Outlet, escapes};
use super::sources::Reads;
use super::{ExitStatus, plan, print_error, screen, written};
use crate::error::{ErrorKind, Result};
use crate::input::shown_path;
use crate::render::value::{self, ShownKey};
use crate::render::words::nouns;
use crate::render::{Lang, human, key_text};
use crate::show::{Decoded, Extent, Looked, decode, find};

/// Finds the key, decodes its value and prints it.
pub fn run(args: &ShowArgs) -> Result<ExitStatus> {
    let key = key_text::unescape(&args.key)?;
    let plan = plan::one_key(args)?;
    let found = match find(&args.input, &key, args.db, &plan)? {
        Looked::Found(found) => found,
        Looked::Missing { keys, damage, elsewhere, near } => {
            let looked = human::counted(keys, nouns::KEY, Lang::En);
            let place = args.db.map_or(String::new(), |db| format!(" in database {db}"));
            let hint = elsewhere.map_or_else(|| did_you_mean(&near), |db| format!("; it is in database {db}"));
            let key = key_text::key(&key);
            notice!("{}: key {key} not found{place} ({looked} searched){hint}", shown_path(&args.input));
            // The key may be in the part that could not be read, so report the damage and exit with 4.
            damage.iter().for_each(print_error);
            return Ok(if damage.is_some() { ExitStatus::Incomplete } else { ExitStatus::NoReport });
        }
    };
    let extent = Extent { elements: args.limit.unwrap_or(usize::MAX), memory: plan.read.open.budget.shown_value() };
    let decoded = decode(&found, extent);
    // A file that was written to meanwhile explains a value that is damaged.
    if let Err(error) = found.check_unchanged() {
        print_error(&error);
        return Ok(ExitStatus::Incomplete);
    }
    let Decoded { value: decoded, omitted } = match decoded {
        Ok(decoded) => decoded,
        Err(error) => {
            print_error(&error);
            // A value that is too large is not damaged.
            let too_large = matches!(error.kind(), ErrorKind::OverBudget(_));
            return Ok(if too_large { ExitStatus::NoReport } else { ExitStatus::Incomplete });
        }
    };
    let shown = ShownKey { found: &found, value: &decoded, omitted };
    let mut out = Outlet::of(args.sources()).open(None)?;
    out.set_escapes(escapes(if args.json { TextFormat::Json } else { args.format }));
    let width = screen::width(&out);
    let printed = match args.format {
        TextFormat::Text if !args.json => value::write_text(&shown, args.lang.lang(), width, &mut out),
        TextFormat::Text | TextFormat::Json => value::write_json(&shown, &mut out),
    };
    written(printed.and_then(|()| out.finish()))?;
    Ok(ExitStatus::Done)
}

/// Returns suggestions for a name that is missing; empty without any.
fn did_you_mean(near: &[String]) -> String {
    let names: Vec<String> = near.iter().map(|name| key_text::key(name.as_bytes())).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
}
