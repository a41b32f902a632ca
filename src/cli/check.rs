//! `rdblens check`: one verdict per file.

use std::io::{self, Write};

use clap::builder::styling::AnsiColor;

use super::args::{CheckArgs, TextFormat};
use super::output::Output;
use super::progress::Bar;
use super::{Exit, plan, written};
use crate::analyze::check::check;
use crate::error::Result;
use crate::render::words::{known, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::{CheckVerdict, FileCheck};

/// Checks and prints.
pub fn run(args: &CheckArgs) -> Result<Exit> {
    let plan = plan::input(&args.input);
    let checks = {
        let bar = Bar::new(args.input.quiet);
        check(&args.input.inputs, &plan, &bar)?
    };
    let mut out = Output::open(None)?;
    let printed = match args.format {
        TextFormat::Text => {
            let lang = args.lang.lang();
            let color = args.color.on(&out);
            checks.iter().try_for_each(|check| print_text(check, args.input.quiet, lang, color, &mut out))
        }
        TextFormat::Json => checks.iter().try_for_each(|check| {
            serde_json::to_writer(&mut out, check).map_err(io::Error::from)?;
            out.write_all(b"\n")
        }),
    };
    written(printed.and_then(|()| out.finish()))?;
    let all_ok = checks.iter().all(|check| check.verdict == CheckVerdict::Ok);
    let all_hopeless = checks.iter().all(|check| check.is_hopeless());
    Ok(match (all_ok, all_hopeless) {
        (true, _) => Exit::Done,
        (false, true) => Exit::NoReport,
        (false, false) => Exit::Incomplete,
    })
}

fn painted(word: &str, verdict: CheckVerdict) -> String {
    let color = if verdict == CheckVerdict::Ok { AnsiColor::Green } else { AnsiColor::Red };
    let style = color.on_default();
    format!("{style}{word}{style:#}")
}

fn print_text(check: &FileCheck, quiet: bool, lang: Lang, color: bool, out: &mut impl Write) -> io::Result<()> {
    let name = key_text::text(&check.name);
    let word = known::verdict(check.verdict, lang);
    let word = if color { painted(word, check.verdict) } else { word.to_owned() };
    if check.is_hopeless() {
        let errors = check.errors.join("; ");
        let errors = key_text::text(&errors);
        return writeln!(out, "{}", say!(lang, "{name}: {word}: {errors}", "{name}: {word}：{errors}"));
    }
    let keys = human::counted(check.keys, nouns::KEY, lang);
    let size = human::bytes(check.bytes);
    let checksum = known::checksum(check.checksum, lang);
    let (version, server) = (check.rdb_version, known::server(&check.server, lang));
    let line = say!(
        lang,
        "{name}: {word}: {keys}, {size}, RDB {version}, {server}, checksum {checksum}",
        "{name}: {word}：{keys}，{size}，RDB {version}，{server}，校验和{checksum}"
    );
    writeln!(out, "{line}")?;
    for error in &check.errors {
        writeln!(out, "  {}", key_text::text(error))?;
    }
    let unnamed = check.damaged_keys.saturating_sub(check.errors.len() as u64);
    if unnamed > 0 {
        writeln!(out, "{}", say!(lang, "  and {unnamed} more", "  另有 {unnamed} 个"))?;
    }
    if !quiet {
        for warning in &check.warnings {
            let warning = key_text::text(lang.of(&warning.wording.en, &warning.wording.zh));
            writeln!(out, "{}", say!(lang, "  note: {warning}", "  说明：{warning}"))?;
        }
    }
    Ok(())
}
