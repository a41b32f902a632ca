//! Sections by name: the map of prefixes, patterns, what never expires.

use super::section;
use crate::render::html::names::Name;
use crate::render::html::treemap::treemap;
use crate::render::html::view::{Block, Caps, Cell, Column, Section, Table};
use crate::render::words::{heads, leads, nouns, say};
use crate::render::{Lang, human};
use crate::report::{Example, Report};

/// The map of prefixes.
pub fn prefixes(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let map = treemap(report, caps.map, lang)?;
    let section = section("prefixes", lang.of("Memory by prefix", "各前缀的内存"));
    Some(section.with(Block::Treemap(map)))
}

/// The heaviest patterns.
pub fn patterns(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let patterns = &report.patterns;
    if patterns.list.is_empty() {
        return None;
    }
    let title = lang.of("Patterns", "模式");
    let distinct = human::counted(patterns.distinct, nouns::DIFFERENT_PATTERN, lang);
    let lead = say!(
        lang,
        "{distinct}: names with their ids collapsed, the heaviest first.",
        "{distinct}：键名中的 id 已归并，按内存从大到小排列。"
    );
    let columns = [
        Column::text(heads::PATTERN, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::OF_MEMORY, lang).spare(),
        Column::number(heads::MEAN, lang).spare(),
        Column::number(heads::WITHOUT_TTL, lang).spare(),
        Column::text(heads::TYPES, lang).spare(),
        Column::text(heads::EXAMPLE, lang).spare(),
    ];
    let table = Table::new(title, columns).fill(&patterns.list, caps.rows, patterns.distinct, lang, |row| {
        let types: Vec<&str> = row.types.iter().map(|of_type| of_type.kind.name()).collect();
        vec![
            Cell::name(Name::text(&row.pattern)),
            Cell::count(row.keys),
            Cell::bytes(row.memory),
            Cell::share(row.memory.0, report.totals.memory.0),
            Cell::bytes(row.mean),
            Cell::portion(row.without_ttl.keys, row.keys),
            Cell::Text(types.join(" ")),
            example(Some(&row.example)),
        ]
    });
    Some(section("patterns", title).lead(lead).with(Block::Table(table)))
}

/// Keys that never expire, by pattern.
pub fn without_ttl(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let no_ttl = &report.no_ttl;
    if no_ttl.keys == 0 {
        return None;
    }
    let title = lang.of("Keys without TTL", "无 TTL 的 key");
    let columns = [
        Column::text(heads::PATTERN, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::OF_MEMORY, lang).spare(),
        Column::text(heads::EXAMPLE, lang).spare(),
    ];
    let most = caps.rows / 2;
    let table = Table::new(title, columns).fill(&no_ttl.patterns, most, 0, lang, |row| {
        vec![
            Cell::name(Name::text(&row.pattern)),
            Cell::count(row.keys),
            Cell::bytes(row.memory),
            Cell::share(row.memory.0, report.totals.memory.0),
            example(row.examples.first()),
        ]
    });
    Some(section("without-ttl", title).lead(leads::without_ttl(report, lang)).with(Block::Table(table)))
}

fn example(example: Option<&Example>) -> Cell {
    example.map_or(Cell::Absent, |example| Cell::name(Name::key(&example.key.0)))
}
