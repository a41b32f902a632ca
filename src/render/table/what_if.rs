//! What the same keys would take on other servers, with other allocators and settings.

use std::io;

use super::grid::{Cell, Column, Grid};
use super::page::{Page, Tone};
use crate::limits::MAX_ALTERNATIVES;
use crate::render::words::heads;
use crate::render::{human, key_text};
use crate::report::{Alternative, Report, Warning, WhatIf};
use crate::units::Bytes;

/// Alternatives have long names; columns are headed by their numbers.
pub(in crate::render) const NUMBERS: [&str; MAX_ALTERNATIVES] = ["1", "2", "3", "4", "5", "6", "7", "8"];

/// The alternatives in full, then where the difference is; nothing if none was asked about.
pub(super) fn what_if(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(what_if) = &report.what_if else { return Ok(()) };
    page.title(page.lang().of("What if", "假设对比"))?;
    alternatives(what_if, page)?;
    page.gap()?;
    differences(what_if, page)?;
    let shown = page.first(&what_if.patterns).len();
    page.more(shown, what_if.patterns.len())?;
    let lang = page.lang();
    let mut told: Vec<&Warning> = Vec::new();
    for caveat in what_if.alternatives.iter().flat_map(|alternative| &alternative.caveats) {
        // The same for several alternatives is said once; the notes say what the base has, too.
        if !told.contains(&caveat) && !report.warnings.contains(caveat) {
            told.push(caveat);
            page.hanging(Tone::Plain, "- ", &key_text::text(lang.of(&caveat.wording.en, &caveat.wording.zh)))?;
        }
    }
    Ok(())
}

/// A row for each model, with everything that is known of the whole.
fn alternatives(what_if: &WhatIf, page: &mut Page<'_>) -> io::Result<()> {
    let mut grid = Grid::new([
        Column::text(heads::NONE),
        Column::text(heads::WHAT_IF).shrink(16),
        Column::text(heads::MODEL).shrink(16).spare(3),
        Column::number(heads::KEYS_MEMORY),
        Column::number(heads::CHANGE),
        Column::number(heads::TABLES).spare(2),
        Column::number(heads::IN_TOTAL).spare(1),
        Column::number(heads::CHANGE).spare(1),
    ]);
    let known = |bytes: Option<Bytes>| bytes.map_or(Cell::Absent, Cell::from);
    let base = &what_if.base;
    let model = key_text::text(&base.model).into_owned();
    grid.row([
        "".into(),
        page.lang().pick(heads::NOW).into(),
        model.into(),
        base.memory.into(),
        "".into(),
        known(base.tables),
        known(base.total),
        "".into(),
    ]);
    for (number, alternative) in NUMBERS.iter().zip(&what_if.alternatives) {
        let Alternative { ask, model, memory, tables, total, .. } = alternative;
        grid.row([
            (*number).into(),
            Cell::text(ask),
            Cell::text(model),
            (*memory).into(),
            human::change(base.memory.0, memory.0).into(),
            known(*tables),
            known(*total),
            total_change(base.total, *total),
        ]);
    }
    grid.print(page)
}

/// The change of the whole, where both are known.
fn total_change(base: Option<Bytes>, total: Option<Bytes>) -> Cell {
    base.zip(total).map_or(Cell::Absent, |(base, total)| human::change(base.0, total.0).into())
}

/// All keys, each type, and the patterns that differ most: memory now, and the difference under each alternative.
fn differences(what_if: &WhatIf, page: &mut Page<'_>) -> io::Result<()> {
    let mut columns =
        vec![Column::text(heads::WHAT), Column::text(heads::WHICH).shrink(16), Column::number(heads::NOW)];
    // The last ones are the first to go.
    columns.extend((1u8..).zip(NUMBERS).take(what_if.alternatives.len()).map(|(at, number)| {
        let column = Column::number(heads::same(number));
        if at == 1 { column } else { column.spare(at) }
    }));
    let width = columns.len();
    let mut grid = Grid::new(columns);
    let mut add = |tone, what: &str, which: Cell, now: Bytes, alternatives: &mut dyn Iterator<Item = Bytes>| {
        let mut cells = vec![what.into(), which, now.into()];
        cells.extend(alternatives.map(|memory| Cell::from(human::change(now.0, memory.0))));
        cells.resize(width, Cell::Absent);
        grid.toned(tone, cells);
    };
    let lang = page.lang();
    let all = &mut what_if.alternatives.iter().map(|alternative| alternative.memory);
    add(Tone::Bold, lang.of("all keys", "所有 key"), "".into(), what_if.base.memory, all);
    for row in &what_if.types {
        add(
            Tone::Plain,
            lang.of("type", "类型"),
            row.kind.name().into(),
            row.memory,
            &mut row.alternatives.iter().copied(),
        );
    }
    for row in page.first(&what_if.patterns) {
        let pattern = Cell::name(&row.pattern);
        add(Tone::Plain, lang.of("pattern", "模式"), pattern, row.memory, &mut row.alternatives.iter().copied());
    }
    grid.print(page)
}
