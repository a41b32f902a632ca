//! Coverage of the keys by the data dictionary.

use crate::render::Lang;
use crate::render::document::{Block, Cell, Column, Scope, Section, Table, inline_pattern};
use crate::render::words::{heads, leads, others};
use crate::report::known_memory;
use crate::report::{EntryRow, Report};

/// Maximum number of entries named in a line.
const NAMED_ENTRIES: usize = 20;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let fit = report.findings.dictionary.as_ref()?;
    let lang = scope.lang;
    let title = lang.of("Data dictionary", "数据字典");
    let entries: Vec<&EntryRow> = fit.entries.iter().filter(|entry| entry.keys > 0).collect();
    let table = Table::of(title, &entries, scope.rows)
        .column(Column::text(heads::ENTRY).shrink(24), |row| Cell::pattern(&row.pattern))
        .column(Column::text(heads::OWNER).shrink(8).spare(1), |row| Cell::maybe_words(row.owner.as_deref()))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| known_memory(row.keys, row.memory))
        .column(Column::number(heads::WITHOUT_TTL).spare(2), |row| Cell::ShareOf(row.without_ttl.keys, row.keys))
        .column(Column::text(heads::NOTE).shrink(16).spare(3), |row| Cell::maybe_words(row.note.as_deref()))
        .build();
    let section = Section::new("dictionary", title).lead(leads::dictionary(report, fit, lang)).with(table);
    let section = section.with_some(named(lang.of("unused: ", "未使用："), &fit.unused, lang));
    Some(section.with_some(named(lang.of("no owner: ", "未填负责人："), &fit.incomplete, lang)))
}

/// Names entries.
fn named(label: &'static str, entries: &[String], lang: Lang) -> Option<Block> {
    let mut names: Vec<String> = entries.iter().take(NAMED_ENTRIES).map(|entry| inline_pattern(entry)).collect();
    if let Some(more) = entries.len().checked_sub(NAMED_ENTRIES).filter(|more| *more > 0) {
        names.push(others(more, lang));
    }
    (!names.is_empty()).then(|| Block::Labelled(label, names.join(lang.of(", ", "、")).into()))
}
