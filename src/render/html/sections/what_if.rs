//! What the same keys would take on other servers, with other allocators and settings.

use super::section;
use crate::render::html::names::{Name, sentence};
use crate::render::html::view::{Block, Caps, Cell, Column, Prose, Section, Table};
use crate::render::table::what_if::NUMBERS;
use crate::render::words::heads;
use crate::render::{Lang, human};
use crate::report::Text;
use crate::report::{Report, Warning, WhatIf};
use crate::units::Bytes;

/// The alternatives in full, then where the difference is.
pub fn what_if(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let what_if = report.what_if.as_ref()?;
    let section = section("what-if", lang.of("What if", "假设对比"));
    let section = section
        .lead(lang.of("What the same keys would take elsewhere.", "同样的 key 在其他服务器或设置下占用的内存。"));
    let mut told: Vec<&Warning> = Vec::new();
    for caveat in what_if.alternatives.iter().flat_map(|alternative| &alternative.caveats) {
        if told.len() < caps.rows && !told.contains(&caveat) && !report.warnings.contains(caveat) {
            told.push(caveat);
        }
    }
    let notes: Vec<Prose> =
        told.into_iter().map(|it| sentence(lang.of(&it.wording.en, &it.wording.zh)).into()).collect();
    let section = section
        .with(Block::Table(alternatives(what_if, lang)))
        .with(Block::Title(lang.of("Where the difference is", "差异所在")))
        .with(Block::Table(differences(what_if, lang, caps)));
    Some(if notes.is_empty() { section } else { section.with(Block::Notes(notes)) })
}

fn alternatives(what_if: &WhatIf, lang: Lang) -> Table {
    const KEYS_CHANGE: Text = Text { en: "change of keys", zh: "key 内存变化" };
    const TOTAL_CHANGE: Text = Text { en: "change in total", zh: "总计变化" };
    let columns = [
        Column::number(heads::same("#"), lang),
        Column::text(heads::WHAT_IF, lang),
        Column::text(heads::MODEL, lang).spare(),
        Column::number(heads::KEYS_MEMORY, lang),
        Column::number(KEYS_CHANGE, lang),
        Column::number(heads::TABLES, lang).spare(),
        Column::number(heads::IN_TOTAL, lang),
        Column::number(TOTAL_CHANGE, lang).spare(),
    ];
    let known = |bytes: Option<Bytes>| bytes.map_or(Cell::Absent, Cell::bytes);
    let base = &what_if.base;
    let mut table = Table::new(lang.of("What if", "假设对比"), columns).in_order();
    table.rows.push(vec![
        Cell::Absent,
        Cell::Text(lang.pick(heads::NOW).to_owned()),
        Cell::name(Name::text(&base.model)),
        Cell::bytes(base.memory),
        Cell::Absent,
        known(base.tables),
        known(base.total),
        Cell::Absent,
    ]);
    for (number, row) in NUMBERS.iter().zip(&what_if.alternatives) {
        let total = base.total.zip(row.total);
        table.rows.push(vec![
            Cell::Text((*number).to_owned()),
            Cell::name(Name::text(&row.ask)),
            Cell::name(Name::text(&row.model)),
            Cell::bytes(row.memory),
            Cell::change(base.memory.0, row.memory.0),
            known(row.tables),
            known(row.total),
            total.map_or(Cell::Absent, |(base, total)| Cell::change(base.0, total.0)),
        ]);
    }
    table
}

/// All keys, each type, and the patterns that differ most.
fn differences(what_if: &WhatIf, lang: Lang, caps: Caps) -> Table {
    let mut columns =
        vec![Column::text(heads::WHAT, lang), Column::text(heads::WHICH, lang), Column::number(heads::NOW, lang)];
    columns.extend(NUMBERS.iter().take(what_if.alternatives.len()).map(|number| {
        let head = heads::same(number);
        if *number == "1" { Column::number(head, lang) } else { Column::number(head, lang).spare() }
    }));
    let width = columns.len();
    let mut table = Table::new(lang.of("Where the difference is", "差异所在"), columns).in_order();
    let mut add = |what: &str, which: Cell, now: Bytes, alternatives: &mut dyn Iterator<Item = Bytes>| {
        let mut cells = vec![Cell::Text(what.to_owned()), which, Cell::bytes(now)];
        cells.extend(alternatives.map(|memory| Cell::change(now.0, memory.0)));
        cells.resize_with(width, || Cell::Absent);
        table.rows.push(cells);
    };
    let all = &mut what_if.alternatives.iter().map(|alternative| alternative.memory);
    add(lang.of("all keys", "所有 key"), Cell::Absent, what_if.base.memory, all);
    for row in &what_if.types {
        let memory = &mut row.alternatives.iter().copied();
        add(lang.of("type", "类型"), Cell::Kind(row.kind.name()), row.memory, memory);
    }
    for row in what_if.patterns.iter().take(caps.rows / 2) {
        let memory = &mut row.alternatives.iter().copied();
        add(lang.of("pattern", "模式"), Cell::name(Name::text(&row.pattern)), row.memory, memory);
    }
    table
}

/// The alternative that takes least, in words, if it takes less than now.
pub fn best(what_if: &WhatIf) -> Option<(String, Bytes, String)> {
    let base = what_if.base.total?;
    let best = what_if.alternatives.iter().filter_map(|row| Some((row, row.total?))).min_by_key(|(_, total)| *total)?;
    let (row, total) = best;
    (total < base).then(|| (Name::text(&row.ask).inline(), total, human::share_of(base.0 - total.0, base.0)))
}
