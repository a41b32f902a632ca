//! What grew since an earlier report: in all, by type and by pattern.

use super::section;
use crate::render::html::names::Name;
use crate::render::html::view::{Block, Caps, Cell, Column, Section, Table};
use crate::render::table::growth::{headline, title, uncertain};
use crate::render::words::{heads, known};
use crate::render::{Lang, human};
use crate::report::{Fate, PatternChange, Report, Since, Weight};

/// Growth since the baseline.
pub fn growth(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let since = report.growth.as_ref()?;
    let mut section = section("growth", title(since, lang)).lead(said(report, since, lang));
    section.lead.extend(uncertain(&since.patterns, lang).map(Into::into));
    let section = section.with(Block::Table(totals(since, lang)));
    let changes = since.patterns.certain();
    if changes.is_empty() {
        return Some(section);
    }
    let patterns = lang.of("Patterns that changed most", "变化最大的模式");
    Some(section.with(Block::Title(patterns)).with(Block::Table(table(patterns, since, &changes, lang, caps))))
}

/// The whole growth in a sentence.
pub fn said(report: &Report, since: &Since, lang: Lang) -> String {
    headline(report, since, &Name::text(&since.report).inline(), lang)
}

/// The whole and each type.
fn totals(since: &Since, lang: Lang) -> Table {
    let columns = [
        Column::text(heads::WHAT, lang),
        Column::number(heads::KEYS_BEFORE, lang).spare(),
        Column::number(heads::KEYS, lang).spare(),
        Column::number(heads::MEMORY_BEFORE, lang).spare(),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::DIFFERENCE, lang).spare(),
        Column::number(heads::CHANGE, lang),
    ];
    let row = |what: Cell, before: Weight, after: Weight| {
        vec![
            what,
            Cell::count(before.keys),
            Cell::count(after.keys),
            Cell::bytes(before.memory),
            Cell::bytes(after.memory),
            Cell::Text(human::signed(difference(before, after))),
            Cell::change(before.memory.0, after.memory.0),
        ]
    };
    let mut table = Table::new(lang.of("Growth by type", "各类型的增长"), columns).in_order();
    table.rows.push(row(Cell::Text(lang.of("all keys", "所有 key").to_owned()), since.before, since.after));
    let types = since.types.iter().take(TYPES);
    table.rows.extend(types.map(|change| row(Cell::name(Name::text(&change.kind)), change.before, change.after)));
    table
}

/// More types than any server has.
const TYPES: usize = 20;

fn difference(before: Weight, after: Weight) -> i64 {
    let size = i64::try_from(after.memory.0.abs_diff(before.memory.0)).unwrap_or(i64::MAX);
    if after.memory < before.memory { -size } else { size }
}

/// Patterns, the largest change first; the bars are as long as the changes are beside each other.
fn table(label: &str, since: &Since, changes: &[(Fate, &PatternChange)], lang: Lang, caps: Caps) -> Table {
    let columns = [
        Column::text(heads::CHANGE, lang),
        Column::text(heads::PATTERN, lang),
        Column::number(heads::KEYS_BEFORE, lang).spare(),
        Column::number(heads::KEYS, lang).spare(),
        Column::number(heads::MEMORY_BEFORE, lang).spare(),
        Column::number(heads::MEMORY, lang).spare(),
        Column::number(heads::DIFFERENCE, lang),
    ];
    let largest = changes.iter().map(|(_, change)| change.growth.memory.unsigned_abs()).max().unwrap_or(0);
    let all = since.patterns.counts.certain();
    let table = Table::new(label, columns).fill(changes, caps.rows, all, lang, |(fate, change)| {
        let keys = |side: Option<Weight>| side.map_or(Cell::Absent, |side| Cell::count(side.keys));
        let memory = |side: Option<Weight>| side.map_or(Cell::Absent, |side| Cell::bytes(side.memory));
        vec![
            Cell::Text(known::fate(*fate, lang).to_owned()),
            Cell::name(Name::text(&change.pattern)),
            keys(change.before),
            keys(change.after),
            memory(change.before),
            memory(change.after),
            Cell::difference(change.growth.memory, largest),
        ]
    });
    table.in_order()
}
