//! Where the figures come from: files and server; and how they divide over databases and types.

use std::io;

use super::grid::{Cell, Column, Grid};
use super::page::{Page, Tone};
use crate::record::Kind;
use crate::render::words::{heads, known, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::{Checksum, Report, SourceFile};

/// The files, one a row.
pub(super) fn files(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let files = &report.source.files;
    if files.is_empty() {
        return Ok(());
    }
    let lang = page.lang();
    page.title(lang.of("Files", "文件"))?;
    if files.len() > 1 {
        let bytes = human::bytes(report.source.bytes.0);
        let files = human::counted(files.len() as u64, nouns::FILE, lang);
        page.text(&say!(
            lang,
            "{files} of together {bytes}, read as one snapshot.",
            "{files}，共 {bytes}，作为一个快照读取。"
        ))?;
    }
    let mut grid = Grid::new([
        Column::text(heads::FILE).shrink(16),
        Column::text(heads::FORM).shrink(8).spare(3),
        Column::number(heads::RDB),
        Column::number(heads::SIZE),
        Column::number(heads::COMMANDS_BEHIND).spare(4),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::text(heads::CHECKSUM),
        Column::text(heads::SERVER).shrink(8).spare(1),
        Column::text(heads::WRITTEN).spare(2),
    ]);
    let common = common_folder(files);
    if common > 0 {
        let folder = key_text::text(&files[0].name[..common]);
        page.text(&say!(lang, "All in {folder}.", "均在 {folder} 下。"))?;
    }
    for file in files {
        grid.toned(tone(file), file_row(file, &file.name[common..], lang));
    }
    grid.print(page)
}

fn tone(file: &SourceFile) -> Tone {
    let sound = file.errors.is_empty() && file.damaged_keys == 0;
    match file.checksum {
        Checksum::Mismatch | Checksum::NotReached => Tone::Alarm,
        _ if !sound => Tone::Alarm,
        Checksum::Ok | Checksum::NotComputed | Checksum::Absent | Checksum::Skipped => Tone::Plain,
    }
}

/// Bytes of the folders that all names begin with, when there are several: what tells shards apart comes behind.
pub(in crate::render) fn common_folder(files: &[SourceFile]) -> usize {
    let Some((first, others)) = files.split_first().filter(|(_, others)| !others.is_empty()) else { return 0 };
    let shared = |other: &SourceFile| first.name.bytes().zip(other.name.bytes()).take_while(|(a, b)| a == b).count();
    let shared = others.iter().map(shared).min().unwrap_or_default();
    first.name.as_bytes()[..shared].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}

/// A file's name without the folders that all files are in.
pub(in crate::render) fn own_part<'n>(files: &[SourceFile], name: &'n str) -> &'n str {
    name.get(common_folder(files)..).unwrap_or(name)
}

fn file_row(file: &SourceFile, name: &str, lang: Lang) -> [Cell; 10] {
    [
        Cell::name(name),
        Cell::text(&known::form(&file.container, lang)),
        u64::from(file.rdb_version).into(),
        file.bytes.into(),
        file.trailing_bytes.map_or(Cell::Absent, Cell::from),
        file.keys.into(),
        file.memory.into(),
        known::checksum(file.checksum, lang).into(),
        Cell::text(&known::server(&file.server, lang)),
        file.ctime.map_or(Cell::Absent, |ctime| human::time_of_seconds(ctime).into()),
    ]
}

/// What the dump says about the server that wrote it.
pub(super) fn server(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let server = &report.server;
    if server.family.is_empty() {
        return Ok(());
    }
    let lang = page.lang();
    page.title(lang.of("Server", "服务器"))?;
    let (family, version, model) = (&server.family, &server.version, &server.model);
    let mut facts = vec![say!(lang, "{family} {version}, sized as {model}", "{family} {version}，内存按 {model} 估算")];
    if server.cluster {
        facts.push(lang.of("a cluster node", "集群节点").to_owned());
    }
    if server.functions > 0 {
        let libraries = human::counted(server.functions, nouns::LIBRARY, lang);
        facts.push(say!(lang, "{libraries} of functions", "{libraries}的函数"));
    }
    if !server.module_aux.is_empty() {
        let modules = server.module_aux.join(", ");
        facts.push(say!(lang, "module data outside keys: {modules}", "key 之外的模块数据：{modules}"));
    }
    if !report.options.server_config.is_empty() {
        facts.push(say!(lang, "with {}", "设置 {}", report.options.server_config.join(", ")));
    }
    let facts = facts.join(lang.of("; ", "；"));
    page.text(&say!(lang, "{}.", "{}。", key_text::text(&facts)))?;
    let aux: Vec<String> = server.aux.iter().map(|field| format!("{}={}", field.name, field.value)).collect();
    if aux.is_empty() {
        return Ok(());
    }
    page.hanging(Tone::Plain, "aux: ", &key_text::text(&aux.join("  ")))
}

/// The databases; left out when 0 is the only one, whose figures are the totals.
pub(super) fn databases(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let databases = &report.databases;
    if databases.iter().all(|database| database.db == 0) {
        return Ok(());
    }
    page.title(page.lang().of("Databases", "数据库"))?;
    let mut grid = Grid::new([
        Column::text(heads::DB),
        Column::number(heads::KEYS),
        Column::number(heads::OF_KEYS).spare(1),
        Column::number(heads::MEMORY),
        Column::number(heads::OF_MEMORY).bars(),
        Column::number(heads::DISK).spare(2),
        Column::number(heads::WITH_TTL),
        Column::number(heads::EXPIRED).spare(3),
    ]);
    let shown = page.first(databases);
    for database in shown {
        grid.row([
            database.db.to_string().into(),
            database.keys.into(),
            Cell::ShareOf(database.keys, report.totals.keys),
            database.memory.into(),
            Cell::ShareOf(database.memory.0, report.totals.memory.0),
            database.disk.into(),
            Cell::ShareOf(database.with_ttl, database.keys),
            database.expired.into(),
        ]);
    }
    grid.print(page)?;
    page.more(shown.len(), databases.len())
}

/// Types and encodings with the sizes of their keys.
pub(super) fn types(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.types.is_empty() {
        return Ok(());
    }
    page.title(page.lang().of("Types", "类型"))?;
    let mut grid = Grid::new([
        Column::text(heads::TYPE),
        Column::text(heads::ENCODING),
        Column::number(heads::KEYS),
        Column::number(heads::ELEMENTS).spare(4),
        Column::number(heads::MEMORY),
        Column::number(heads::SHARE).bars(),
        Column::number(heads::MEAN).wide_range().spare(3),
        Column::number(heads::P50).wide_range().spare(1),
        Column::number(heads::P99).wide_range().spare(2),
        Column::number(heads::MAX).wide_range(),
    ]);
    for row in &report.types {
        let bytes_not_elements = row.kind == Kind::String;
        grid.row([
            row.kind.name().into(),
            Cell::text(&row.encoding),
            row.keys.into(),
            if bytes_not_elements { Cell::Absent } else { row.elements.into() },
            row.memory.into(),
            Cell::Share(row.share),
            row.mean.into(),
            row.p50.into(),
            row.p99.into(),
            row.max.into(),
        ]);
    }
    grid.print(page)
}
