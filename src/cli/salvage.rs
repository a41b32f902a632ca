//! `rdblens salvage`: writes a new snapshot of all sound records of a damaged one, and lists what is missing.

use std::io::{self, Write};

use super::args::{SalvageArgs, TextFormat};
use super::output::Outlet;
use super::sources::{Reads, names_stdout};
use super::{ExitStatus, plan, written};
use crate::analyze::salvage::salvage;
use crate::error::{Error, Result};
use crate::render::words::{known, say};
use crate::render::{self, Lang, human, key_text};
use crate::report::SalvagedFile;

/// Salvages one file and prints what was saved.
pub fn run(args: &SalvageArgs) -> Result<ExitStatus> {
    let plan = plan::read_plan(args.no_mmap, args.temp_dir.as_deref(), args.budget);
    let outlet = Outlet::new(&args.output, args.sources()).with_temporary(&plan.open);
    let path = args.output.output.as_deref();
    if path.is_some_and(names_stdout) {
        return Err(Error::usage("salvage prints what is missing to standard output")
            .with_hint("write the snapshot to a file: -o saved.rdb"));
    }
    // Opened first: standard output may be the file to write.
    let mut out = outlet.open(None)?;
    let mut file = path.map(|path| outlet.open(Some(path))).transpose()?;
    let found = salvage(&args.input, &plan, file.as_mut().map(|file| file as &mut dyn Write))?;
    if found.written.0 > 0
        && let Some(file) = file
    {
        file.finish()?;
    }
    let printed = match args.format {
        TextFormat::Text => print_text(&found, path.is_some(), args.lang.lang(), &mut out),
        TextFormat::Json => {
            serde_json::to_writer(&mut out, &found).map_err(io::Error::from).and_then(|()| out.write_all(b"\n"))
        }
    };
    written(printed.and_then(|()| out.finish()))?;
    Ok(match (found.sound, found.salvage.keys) {
        (true, _) => ExitStatus::Done,
        (false, 0) => ExitStatus::NoReport,
        (false, _) => ExitStatus::Incomplete,
    })
}

fn print_text(found: &SalvagedFile, writes: bool, lang: Lang, out: &mut impl Write) -> io::Result<()> {
    let name = key_text::text(&found.name);
    let server = known::server(&found.server, lang);
    let version = found.rdb_version;
    if found.sound {
        let sound = say!(lang, "{name}: intact, RDB {version}, {server}", "{name}：完好，RDB {version}，{server}");
        writeln!(out, "{sound}")?;
    } else {
        let said = render::salvage::headline(&found.salvage, lang);
        writeln!(
            out,
            "{}",
            say!(lang, "{name}: {said}, RDB {version}, {server}", "{name}：{said}，RDB {version}，{server}")
        )?;
        for line in render::salvage::lines(&found.salvage, usize::MAX, lang) {
            writeln!(out, "  {line}")?;
        }
        for line in render::salvage::unverified(&found.unverified, lang) {
            writeln!(out, "  {line}")?;
        }
    }
    if found.behind.0 > 0 {
        let behind = human::bytes(found.behind.0);
        let said = say!(
            lang,
            "  {behind} after the snapshot, such as commands of an append-only file, are not copied",
            "  快照之后的 {behind}（如 AOF 命令）不会写入新文件"
        );
        writeln!(out, "{said}")?;
    }
    let size = human::bytes(found.written.0);
    let said = match (found.written.0, writes) {
        (0, true) => lang.of("nothing was written: no key can be saved", "没有可恢复的 key，未写入文件").to_owned(),
        (0, false) => lang.of("nothing was written: give a file with -o", "未写入文件：请用 -o 指定").to_owned(),
        _ => say!(lang, "written: {size}", "已写入：{size}"),
    };
    writeln!(out, "{said}")
}
