//! `rdblens check`: verifies files and prints one verdict per file.

use std::io::{self, Write};

use clap::builder::styling::AnsiColor;

use super::args::{CheckArgs, TextFormat};
use super::output::{Outlet, escapes};
use super::progress::ProgressLine;
use super::sources::Reads;
use super::{ExitStatus, plan, written};
use crate::analyze::check::check;
use crate::analyze::first_pass::require_files;
use crate::analyze::second_reader::compare_readers;
use crate::error::Result;
use crate::render::words::{known, nouns, say};
use crate::render::{self, Lang, human, key_text};
use crate::report::{CheckVerdict, DifferenceKind, FileCheck, FileError, NotCompared, SecondReading};

/// Maximum number of damaged ranges in the text.
const SALVAGE_ROWS: usize = 10;

/// Checks every input and prints the verdicts.
pub fn run(args: &CheckArgs) -> Result<ExitStatus> {
    if args.second_reader {
        // Before they are checked, which reads them.
        require_files(&args.input.inputs, "--second-reader")?;
    }
    let plan = plan::input(&args.input);
    let mut checks = {
        let bar = ProgressLine::new(args.input.quiet);
        check(&args.input.inputs, &plan, &bar)?
    };
    if args.second_reader {
        compare_readers(&args.input.inputs, &plan, &mut checks);
    }
    super::print_passed_over(&args.input);
    let mut out = Outlet::of(args.sources()).open(None)?;
    out.set_escapes(escapes(args.format));
    let printed = match args.format {
        TextFormat::Text => {
            let lang = args.lang.lang();
            let color = args.color.on(&out);
            checks.iter().try_for_each(|check| {
                print_text(check, args.input.quiet, lang, color, &mut out)?;
                if args.second_reader { print_second(check, lang, &mut out) } else { Ok(()) }
            })
        }
        TextFormat::Json => checks.iter().try_for_each(|check| {
            serde_json::to_writer(&mut out, check).map_err(io::Error::from)?;
            out.write_all(b"\n")
        }),
    };
    written(printed.and_then(|()| out.finish()))?;
    let all_ok = checks.iter().all(FileCheck::is_sound);
    let all_hopeless = checks.iter().all(|check| check.is_hopeless());
    Ok(match (all_ok, all_hopeless) {
        (true, _) => ExitStatus::Done,
        (false, true) => ExitStatus::NoReport,
        (false, false) => ExitStatus::Incomplete,
    })
}

/// Words an error, without the verdict if it is repeated there.
fn said(error: &FileError, verdict: CheckVerdict, lang: Lang) -> String {
    let said = lang.say(&error.wording);
    match verdict {
        CheckVerdict::NotASnapshot | CheckVerdict::ChecksumMismatch => {
            said.replacen(&format!("{}{}", known::verdict(verdict, lang), lang.of(": ", "：")), "", 1)
        }
        CheckVerdict::Ok
        | CheckVerdict::Truncated
        | CheckVerdict::Unsupported
        | CheckVerdict::Corrupt
        | CheckVerdict::Unreadable
        | CheckVerdict::OverBudget => said.to_owned(),
    }
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
        let errors: Vec<String> = check.errors.iter().map(|error| said(error, check.verdict, lang)).collect();
        let errors = errors.join(lang.of("; ", "；"));
        let errors = key_text::text(&errors);
        return writeln!(out, "{}", say!(lang, "{name}: {word}: {errors}", "{name}：{word}：{errors}"));
    }
    let keys = human::counted(check.keys, nouns::KEY, lang);
    let size = human::bytes(check.bytes);
    // The verdict says it already.
    let checksum = match check.verdict {
        CheckVerdict::ChecksumMismatch => String::new(),
        _ => lang.of(", ", "，").to_owned() + &known::checksum_fact(check.checksum, false, lang),
    };
    let version = check.rdb_version;
    let server = check.server.as_ref().map(|server| known::server(server, lang)).unwrap_or_default();
    let line = say!(
        lang,
        "{name}: {word}: {keys}, {size}, RDB {version}, {server}{checksum}",
        "{name}：{word}：{keys}，{size}，RDB {version}，{server}{checksum}"
    );
    writeln!(out, "{line}")?;
    for error in &check.errors {
        writeln!(out, "  {}", key_text::text(&said(error, check.verdict, lang)))?;
    }
    let unnamed = check.damaged_keys.saturating_sub(check.errors.len() as u64);
    if unnamed > 0 {
        writeln!(out, "{}", say!(lang, "  and {unnamed} more", "  另有 {unnamed} 个"))?;
    }
    if let Some(salvage) = &check.salvage {
        let said = render::salvage::headline(salvage, lang);
        writeln!(out, "{}", say!(lang, "  can be saved: {said}", "  可恢复：{said}"))?;
        for line in render::salvage::lines(salvage, SALVAGE_ROWS, lang) {
            writeln!(out, "    {line}")?;
        }
    }
    if !quiet {
        for warning in &check.warnings {
            let warning = key_text::text(lang.say(&warning.wording));
            writeln!(out, "{}", say!(lang, "  note: {warning}", "  说明：{warning}"))?;
        }
    }
    Ok(())
}

fn print_second(check: &FileCheck, lang: Lang, out: &mut impl Write) -> io::Result<()> {
    let Some(reading) = &check.second_reader else {
        return writeln!(
            out,
            "{}",
            lang.of("  second reader: skipped, the file is damaged", "  第二解析器：文件已损坏，跳过")
        );
    };
    let SecondReading { compared, different, differences, not_compared } = reading;
    let alike = compared.saturating_sub(*different);
    let same = human::counted(alike, nouns::KEY, lang);
    let agree = if alike == 1 { "agrees" } else { "agree" };
    let differ = if *different == 1 { "differs" } else { "differ" };
    let said = match different {
        0 => say!(lang, "  second reader: {same} {agree}", "  第二解析器：{same} 一致"),
        _ => say!(
            lang,
            "  second reader: {same} {agree}, {different} {differ}",
            "  第二解析器：{same} 一致，{different} 个不一致"
        ),
    };
    writeln!(out, "{said}")?;
    for row in differences {
        let (db, key, what) = (row.db, key_text::key(&row.key.0), fact(row.what, lang));
        let (ours, theirs) = (key_text::text(lang.say(&row.ours)), key_text::text(lang.say(&row.theirs)));
        let line = say!(
            lang,
            "    db {db} {key}: {what}: {ours} by rdblens, {theirs} by the second reader",
            "    db {db} {key}：{what}：rdblens 为 {ours}，第二解析器为 {theirs}"
        );
        writeln!(out, "{line}")?;
    }
    let reasons: Vec<String> =
        not_compared.iter().map(|(why, keys)| format!("{} {keys}", reason(*why, lang))).collect();
    if reasons.is_empty() {
        return Ok(());
    }
    let reasons = reasons.join(lang.of(", ", "，"));
    writeln!(out, "{}", say!(lang, "  not compared: {reasons}", "  未比较：{reasons}"))
}

fn fact(what: DifferenceKind, lang: Lang) -> &'static str {
    match what {
        DifferenceKind::Db => lang.of("database", "数据库"),
        DifferenceKind::Key => lang.of("key", "key"),
        DifferenceKind::Type => lang.of("type", "类型"),
        DifferenceKind::Length => lang.of("length", "长度"),
        DifferenceKind::Expiry => lang.of("expiry", "过期时间"),
        DifferenceKind::Unread => lang.of("readable", "可读性"),
    }
}

fn reason(why: NotCompared, lang: Lang) -> &'static str {
    match why {
        NotCompared::Stream => "stream",
        NotCompared::Module => lang.of("module value", "模块类型 value"),
        NotCompared::Array => "array",
        NotCompared::CompactHash => lang.of("compact hash", "紧凑 hash"),
        NotCompared::Zipmap => "zipmap",
        NotCompared::ValkeyHash => lang.of("Valkey hash with field expiries", "含字段过期时间的 Valkey hash"),
        NotCompared::Dragonfly => lang.of("type of Dragonfly", "Dragonfly 类型"),
        NotCompared::CronJob => lang.of("KeyDB cron job", "KeyDB cron 任务"),
        NotCompared::KeyMetadata => lang.of("unknown key metadata", "未知的 key 元数据"),
        NotCompared::LongZiplist => lang.of("ziplist too long for its count", "长度超出计数的 ziplist"),
        NotCompared::Database => lang.of("database number above 32 bits", "超过 32 位的数据库编号"),
        NotCompared::Large => lang.of("value above 1 GiB", "超过 1 GiB 的 value"),
        NotCompared::Changed => lang.of("file changed since it was checked", "校验之后文件已变化"),
    }
}
