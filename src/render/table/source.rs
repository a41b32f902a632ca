//! Where the figures come from: files and server; and how they divide over databases and types.

use std::io;

use super::grid::{Cell, Column, Grid};
use super::page::{Page, Tone};
use crate::record::Kind;
use crate::render::{human, key_text};
use crate::report::{Checksum, Report, SourceFile};

/// The files, one a row.
pub(super) fn files(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let files = &report.source.files;
    if files.is_empty() {
        return Ok(());
    }
    page.title("Files")?;
    if files.len() > 1 {
        let bytes = human::bytes(report.source.bytes.0);
        page.text(&format!("{} files of together {bytes}, read as one snapshot.", files.len()))?;
    }
    let mut grid = Grid::new([
        Column::text("file").shrink(16),
        Column::text("form").shrink(8).spare(3),
        Column::number("RDB"),
        Column::number("size"),
        Column::number("commands behind").spare(4),
        Column::number("keys"),
        Column::number("memory"),
        Column::text("checksum"),
        Column::text("server").shrink(8).spare(1),
        Column::text("written").spare(2),
    ]);
    let common = common_folder(files);
    if common > 0 {
        page.text(&format!("All in {}.", key_text::text(&files[0].name[..common])))?;
    }
    for file in files {
        grid.toned(tone(file), file_row(file, &file.name[common..]));
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
pub(super) fn common_folder(files: &[SourceFile]) -> usize {
    let Some((first, others)) = files.split_first().filter(|(_, others)| !others.is_empty()) else { return 0 };
    let shared = |other: &SourceFile| first.name.bytes().zip(other.name.bytes()).take_while(|(a, b)| a == b).count();
    let shared = others.iter().map(shared).min().unwrap_or_default();
    first.name.as_bytes()[..shared].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}

fn file_row(file: &SourceFile, name: &str) -> [Cell; 10] {
    [
        key_text::text(name).into_owned().into(),
        key_text::text(&file.container).into_owned().into(),
        u64::from(file.rdb_version).into(),
        file.bytes.into(),
        file.trailing_bytes.map_or(Cell::Absent, Cell::from),
        file.keys.into(),
        file.memory.into(),
        file.checksum.name().into(),
        key_text::text(&file.server).into_owned().into(),
        file.ctime.map_or(Cell::Absent, |ctime| human::time_of_seconds(ctime).into()),
    ]
}

/// What the dump says about the server that wrote it.
pub(super) fn server(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let server = &report.server;
    if server.family.is_empty() {
        return Ok(());
    }
    page.title("Server")?;
    let mut facts = vec![format!("{} {}, sized as {}", server.family, server.version, server.model)];
    if server.cluster {
        facts.push("a cluster node".to_owned());
    }
    if server.functions > 0 {
        facts.push(format!("{} of functions", counted_libraries(server.functions)));
    }
    if !server.module_aux.is_empty() {
        facts.push(format!("module data outside keys: {}", server.module_aux.join(", ")));
    }
    if !report.options.server_config.is_empty() {
        facts.push(format!("with {}", report.options.server_config.join(", ")));
    }
    page.text(&format!("{}.", key_text::text(&facts.join("; "))))?;
    let aux: Vec<String> = server.aux.iter().map(|field| format!("{}={}", field.name, field.value)).collect();
    if aux.is_empty() {
        return Ok(());
    }
    page.hanging(Tone::Plain, "aux: ", &key_text::text(&aux.join("  ")))
}

fn counted_libraries(n: u64) -> String {
    if n == 1 { "1 library".to_owned() } else { format!("{} libraries", human::count(n)) }
}

/// The databases; left out when 0 is the only one, whose figures are the totals.
pub(super) fn databases(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let databases = &report.databases;
    if databases.iter().all(|database| database.db == 0) {
        return Ok(());
    }
    page.title("Databases")?;
    let mut grid = Grid::new([
        Column::text("db"),
        Column::number("keys"),
        Column::number("of keys").spare(1),
        Column::number("memory"),
        Column::number("of memory"),
        Column::number("disk").spare(2),
        Column::number("with TTL"),
        Column::number("expired").spare(3),
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
    page.title("Types")?;
    let mut grid = Grid::new([
        Column::text("type"),
        Column::text("encoding"),
        Column::number("keys"),
        Column::number("elements").spare(4),
        Column::number("memory"),
        Column::number("share"),
        Column::number("mean").wide_range().spare(3),
        Column::number("p50").wide_range().spare(1),
        Column::number("p99").wide_range().spare(2),
        Column::number("max").wide_range(),
    ]);
    for row in &report.types {
        let bytes_not_elements = row.kind == Kind::String;
        grid.row([
            row.kind.name().into(),
            key_text::text(&row.encoding).into_owned().into(),
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
