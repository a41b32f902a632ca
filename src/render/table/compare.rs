//! Several snapshots against each other, for people.

use std::io::{self, Write};

use super::grid::{Cell, Column, Grid};
use super::page::{Page, Tone};
use super::{DEFAULT_WIDTH, LEAST_WIDTH, TableOptions};
use crate::compare::{Comparison, PatternChange, Reached, SnapshotRow, Trend};
use crate::render::{human, key_text};
use crate::report::{Baseline, BaselineRow, Weight};
use crate::units::Millis;

/// Writes a comparison as tables.
pub fn write_comparison(comparison: &Comparison, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let width = options.width.unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH);
    let page = &mut Page::new(out, width, options.ansi, options.rows);
    snapshots(comparison, page)?;
    growth(comparison, page)?;
    trend(comparison, page)?;
    let patterns = &comparison.patterns;
    let counts = patterns.counts;
    changes("Patterns that grew", &patterns.grown, counts.grown, page)?;
    changes("New patterns", &patterns.new, counts.new, page)?;
    changes("Patterns that shrank", &patterns.shrunk, counts.shrunk, page)?;
    changes("Patterns that vanished", &patterns.vanished, counts.vanished, page)?;
    changes("Patterns that only one of the reports lists", &patterns.uncertain, counts.uncertain, page)?;
    if let Some(baseline) = &comparison.findings {
        findings(baseline, page)?;
    }
    if !comparison.warnings.is_empty() {
        page.title("Notes")?;
        for warning in &comparison.warnings {
            page.hanging(Tone::Plain, "- ", &key_text::text(warning))?;
        }
    }
    Ok(())
}

fn snapshots(comparison: &Comparison, page: &mut Page<'_>) -> io::Result<()> {
    let mut grid = Grid::new([
        Column::text("snapshot").shrink(16),
        Column::text("taken"),
        Column::number("keys"),
        Column::number("memory"),
        Column::number("in total"),
        Column::text(""),
    ]);
    for row in &comparison.snapshots {
        let tone = if row.complete { Tone::Plain } else { Tone::Alarm };
        grid.toned(
            tone,
            [
                key_text::text(&row.name).into_owned().into(),
                row.taken.map_or(Cell::Absent, |at| human::time(at.0).into()),
                row.keys.into(),
                row.memory.into(),
                row.total.map_or(Cell::Absent, Cell::from),
                if row.complete { "".into() } else { "incomplete".into() },
            ],
        );
    }
    grid.print(page)
}

/// What the whole and each type grew by.
fn growth(comparison: &Comparison, page: &mut Page<'_>) -> io::Result<()> {
    let [Some(first), Some(last)] = [comparison.snapshots.first(), comparison.snapshots.last()] else { return Ok(()) };
    page.title("Growth")?;
    let mut grid = Grid::new([
        Column::text("what"),
        Column::number("keys before"),
        Column::number("keys"),
        Column::number("memory before"),
        Column::number("memory"),
        Column::number("change"),
    ]);
    let row = |what: &str, before: Weight, after: Weight| -> [Cell; 6] {
        [
            what.into(),
            before.keys.into(),
            after.keys.into(),
            before.memory.into(),
            after.memory.into(),
            human::change(before.memory.0, after.memory.0).into(),
        ]
    };
    let whole = |row: &SnapshotRow| Weight { keys: row.keys, memory: row.memory };
    grid.toned(Tone::Bold, row("all keys", whole(first), whole(last)));
    for change in &comparison.types {
        grid.row(row(&key_text::text(&change.kind), change.before, change.after));
    }
    grid.print(page)
}

fn trend(comparison: &Comparison, page: &mut Page<'_>) -> io::Result<()> {
    let Some(trend) = &comparison.trend else { return Ok(()) };
    page.title("Trend")?;
    page.text(&format!(
        "{} over {}: {} a day{}. ({} snapshots, {}.)",
        if trend.of == "total" { "Keys and tables" } else { "Memory of the keys" },
        human::duration(trend.span),
        signed(trend.per_day),
        range(trend),
        trend.snapshots,
        trend.method,
    ))?;
    match &trend.reached {
        None => Ok(()),
        Some(reached) => page.hanging(tone(reached), "", &outlook(reached)),
    }
}

fn tone(reached: &Reached) -> Tone {
    if reached.already || reached.at.is_some() { Tone::Warning } else { Tone::Plain }
}

fn range(trend: &Trend) -> String {
    trend
        .per_day_range
        .map_or_else(String::new, |[least, most]| format!(" (between {} and {})", signed(least), signed(most)))
}

fn outlook(reached: &Reached) -> String {
    let limit = human::bytes(reached.maxmemory.0);
    let day = |at: Millis| human::time(at.0).split(' ').next().unwrap_or_default().to_owned();
    match (reached.at, reached.earliest, reached.latest) {
        _ if reached.already => format!("The limit of {limit} is exceeded already."),
        (None, None, _) => format!("By this line the limit of {limit} is not reached."),
        (None, Some(earliest), _) => {
            format!("By this line the limit of {limit} is not reached, though it may be from {} on.", day(earliest))
        }
        (Some(at), None, None) => format!("By this line the limit of {limit} is reached on {}.", day(at)),
        (Some(at), earliest, Some(latest)) => format!(
            "By this line the limit of {limit} is reached on {}, with 95 % between {} and {}.",
            day(at),
            earliest.map_or_else(String::new, day),
            day(latest),
        ),
        (Some(at), Some(earliest), None) => format!(
            "By this line the limit of {limit} is reached on {}, at the earliest on {}; it may also never be.",
            day(at),
            day(earliest),
        ),
    }
}

fn signed(bytes: i64) -> String {
    let size = human::bytes(bytes.unsigned_abs());
    match bytes {
        0 => size,
        1.. => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

fn changes(title: &str, list: &[PatternChange], count: u64, page: &mut Page<'_>) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    page.title(title)?;
    let mut grid = Grid::new([
        Column::text("pattern").shrink(20),
        Column::number("keys before").spare(2),
        Column::number("keys").spare(1),
        Column::number("memory before"),
        Column::number("memory"),
        Column::text("change"),
    ]);
    let shown = page.first(list);
    for change in shown {
        let keys = |weight: Option<Weight>| weight.map_or(Cell::Absent, |weight| weight.keys.into());
        let memory = |weight: Option<Weight>| weight.map_or(Cell::Absent, |weight| Cell::from(weight.memory));
        let share = match (change.before, change.after) {
            (Some(before), Some(after)) => format!(", {}", human::change(before.memory.0, after.memory.0)),
            _ => String::new(),
        };
        grid.row([
            key_text::text(&change.pattern).into_owned().into(),
            keys(change.before),
            keys(change.after),
            memory(change.before),
            memory(change.after),
            format!("{}{share}", signed(change.growth.memory)).into(),
        ]);
    }
    grid.print(page)?;
    page.more(shown.len(), usize::try_from(count).unwrap_or(usize::MAX))
}

fn findings(findings: &Baseline, page: &mut Page<'_>) -> io::Result<()> {
    let lists = [("new", &findings.new), ("worse", &findings.worse), ("fixed", &findings.fixed)];
    page.title("Findings")?;
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return page.text("Nothing is new, worse or fixed.");
    }
    let mut grid = Grid::new([
        Column::text(""),
        Column::text("severity"),
        Column::text("rule"),
        Column::text("pattern").shrink(16),
        Column::number("keys before").spare(1),
        Column::number("keys"),
        Column::number("memory").spare(2),
    ]);
    let mut hidden = 0;
    for (what, list) in lists {
        let shown = page.first(list);
        hidden += list.len() - shown.len();
        for row in shown {
            let tone = if what == "fixed" { Tone::Plain } else { Tone::Warning };
            grid.toned(tone, finding(what, row));
        }
    }
    grid.print(page)?;
    page.more(0, hidden)
}

fn finding(what: &str, row: &BaselineRow) -> [Cell; 7] {
    [
        what.into(),
        row.severity.as_str().into(),
        row.rule.as_str().into(),
        row.pattern.as_deref().map_or("all".into(), |pattern| key_text::text(pattern).into_owned().into()),
        row.before.as_ref().map_or(Cell::Absent, |before| before.keys.into()),
        row.keys.into(),
        row.memory.into(),
    ]
}
