//! The input files.

use crate::render::document::{Cell, Column, Scope, Section, Table, Tone, inline};
use crate::render::human;
use crate::render::words::{heads, known, nouns, say};
use crate::report::{Checksum, Report, SourceFile};
use crate::units::Millis;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let files = &report.source.files;
    if files.is_empty() {
        return None;
    }
    let lang = scope.lang;
    let title = lang.of("Files", "文件");
    let mut section = Section::new("files", title);
    if files.len() > 1 {
        let bytes = human::bytes(report.source.bytes.0);
        let files = human::counted(files.len() as u64, nouns::FILE, lang);
        section = section.lead(say!(
            lang,
            "{files}, {bytes} in total, read as shards of one deployment.",
            "{files}，共 {bytes}，按同一部署的分片分析。"
        ));
    }
    let common = common_folder(files);
    if common > 0 {
        let folder = inline(&files[0].name[..common]);
        section = section.lead(say!(lang, "All in {folder}.", "均在 {folder} 下。"));
    }
    let taken = |file: &SourceFile| file.ctime.map(|ctime| Cell::Time(Millis(ctime.saturating_mul(1000))));
    let table = Table::of(title, files, scope.many)
        .tones(tone)
        .column(Column::text(heads::FILE).shrink(16), |file| Cell::plain(&file.name[common..]))
        .column(Column::text(heads::FORM).shrink(8).spare(3), |file| Cell::words(&known::form(&file.container, lang)))
        .column(Column::number(heads::RDB), |file| u64::from(file.rdb_version))
        .column(Column::number(heads::SIZE), |file| file.bytes)
        .column(Column::number(heads::COMMANDS_BEHIND).spare(4), |file| file.trailing_bytes)
        .column(Column::number(heads::KEYS), |file| file.keys)
        .column(Column::number(heads::MEMORY), |file| file.unknown.known(file.keys, file.memory))
        .column(Column::text(heads::CHECKSUM), |file| known::checksum(file.checksum, file.salvage.is_some(), lang))
        .column(Column::text(heads::SERVER).shrink(8).spare(1), |file| {
            file.server.as_ref().map(|server| Cell::words(&known::server(server, lang)))
        })
        .column(Column::text(heads::WRITTEN).spare(2), taken)
        .build();
    Some(section.with(table))
}

fn tone(file: &SourceFile) -> Tone {
    let sound = file.errors.is_empty() && file.damaged_keys == 0;
    match file.checksum {
        Checksum::Mismatch | Checksum::NotReached => Tone::Alarm,
        _ if !sound => Tone::Alarm,
        Checksum::Ok | Checksum::NotComputed | Checksum::Absent | Checksum::Skipped => Tone::Plain,
    }
}

/// Returns the length in bytes of the folders that all of several names begin with: shards differ in what follows.
fn common_folder(files: &[SourceFile]) -> usize {
    let Some((first, others)) = files.split_first().filter(|(_, others)| !others.is_empty()) else { return 0 };
    let shared = |other: &SourceFile| first.name.bytes().zip(other.name.bytes()).take_while(|(a, b)| a == b).count();
    let shared = others.iter().map(shared).min().unwrap_or_default();
    first.name.as_bytes()[..shared].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}

/// Returns a file's name without the folders that all files are in.
pub(super) fn own_part<'n>(files: &[SourceFile], name: &'n str) -> &'n str {
    name.get(common_folder(files)..).unwrap_or(name)
}
