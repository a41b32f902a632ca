//! Sections that list single keys.

use std::io;

use super::grid::{Cell, Column, Grid};
use super::page::Page;
use super::source::common_folder;
use crate::render::{human, key_text};
use crate::report::{KeyRow, Report};

/// Rows of each type where all types share one table.
const ROWS_OF_A_TYPE: usize = 3;

/// What the column of that name means.
const LENGTH: &str = "Length is elements, of strings bytes.";

/// Keys over the limits.
pub(super) fn big(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let big = &report.big_keys;
    if big.keys == 0 {
        return Ok(());
    }
    page.title(if are_the_heaviest(report, page) { "Big keys, which are the heaviest" } else { "Big keys" })?;
    let mut limits = format!(
        "strings over {}, collections over {} elements",
        human::bytes(big.rules.string_bytes),
        human::count(big.rules.elements)
    );
    if let Some(memory) = big.rules.memory {
        limits.push_str(&format!(", any key over {}", human::bytes(memory.0)));
    }
    let expiring = match big.expiring {
        0 => "none of them expires".to_owned(),
        n => format!("{} of them will expire, which can block the server", human::count(n)),
    };
    page.text(&format!(
        "{} ({limits}) with {}, {} of all memory; {expiring}. {LENGTH}",
        human::counted(big.keys, "key"),
        human::bytes(big.memory.0),
        human::share_of(big.memory.0, report.totals.memory.0),
    ))?;
    list(report, page, &big.list)
}

/// The heaviest keys, unless they are the big keys just shown.
pub(super) fn heaviest(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.top.by_memory.is_empty() || are_the_heaviest(report, page) {
        return Ok(());
    }
    page.title("Heaviest keys")?;
    page.text(LENGTH)?;
    list(report, page, &report.top.by_memory)
}

/// Whether the lists of big and of heaviest keys show the same rows.
fn are_the_heaviest(report: &Report, page: &Page<'_>) -> bool {
    report.big_keys.keys > 0 && page.first(&report.big_keys.list) == page.first(&report.top.by_memory)
}

/// The longest collections.
pub(super) fn longest(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.top.by_length.is_empty() {
        return Ok(());
    }
    page.title("Longest collections")?;
    list(report, page, &report.top.by_length)
}

/// The heaviest keys of each type; with a single type they are the heaviest of all.
pub(super) fn by_type(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let types = &report.top.by_type;
    if types.len() < 2 {
        return Ok(());
    }
    page.title("Heaviest keys of each type")?;
    let mut grid = key_grid(report);
    let mut shown = 0;
    for of_type in types {
        for row in page.first(&of_type.list).iter().take(ROWS_OF_A_TYPE) {
            grid.row(key_row(report, row));
            shown += 1;
        }
    }
    grid.print(page)?;
    page.more(shown, types.iter().map(|of_type| of_type.list.len()).sum())
}

fn list(report: &Report, page: &mut Page<'_>, rows: &[KeyRow]) -> io::Result<()> {
    let shown = page.first(rows);
    let mut grid = key_grid(report);
    for row in shown {
        grid.row(key_row(report, row));
    }
    grid.print(page)?;
    page.more(shown.len(), rows.len())
}

fn key_grid(report: &Report) -> Grid {
    let expires = if report.expiry.reference_time.is_some() { "expires in" } else { "expires" };
    Grid::new([
        Column::text("key").shrink(24),
        Column::number("db").spare(if report.databases.len() > 1 { 0 } else { 5 }),
        Column::text("type"),
        Column::text("encoding").spare(4),
        Column::number("length").spare(3),
        Column::number("memory"),
        Column::number("share").spare(2),
        Column::number(expires).spare(1),
        Column::text("file").shrink(12).spare(2),
    ])
}

fn key_row(report: &Report, row: &KeyRow) -> [Cell; 9] {
    [
        key_text::key(&row.key.0).into(),
        row.db.into(),
        row.kind.name().into(),
        row.encoding.name().into(),
        row.length.map_or(Cell::Absent, Cell::from),
        row.memory.into(),
        Cell::ShareOf(row.memory.0, report.totals.memory.0),
        expiry(report, row).into(),
        row.source.as_deref().map_or(Cell::Absent, |source| file(report, source).into()),
    ]
}

/// The file of a key, without the folders that all files are in.
fn file(report: &Report, source: &str) -> String {
    let own = source.get(common_folder(&report.source.files)..).unwrap_or(source);
    key_text::text(own).into_owned()
}

/// Time left, where there is a time to hold it against.
fn expiry(report: &Report, row: &KeyRow) -> String {
    match (row.expires_at, report.expiry.reference_time) {
        (None, _) => "never".to_owned(),
        (Some(at), None) => human::time(at.0),
        (Some(at), Some(now)) if at <= now => "expired".to_owned(),
        (Some(at), Some(now)) => human::duration(at.0.abs_diff(now.0)),
    }
}

/// Streams with their groups and what those left unacknowledged.
pub(super) fn streams(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(streams) = report.streams.as_ref().filter(|streams| streams.keys > 0) else {
        return Ok(());
    };
    page.title("Streams")?;
    page.text(&format!(
        "{} with {} in {}; {}, {} not acknowledged.",
        human::counted(streams.keys, "stream"),
        entries(streams.entries),
        human::bytes(streams.memory.0),
        human::counted(streams.groups, "consumer group"),
        entries(streams.pending),
    ))?;
    let mut grid = Grid::new([
        Column::text("stream").shrink(24),
        Column::number("db").spare(2),
        Column::number("entries"),
        Column::number("groups").spare(1),
        Column::number("pending"),
        Column::number("memory"),
    ]);
    let shown = page.first(&streams.list);
    for row in shown {
        let key = key_text::key(&row.key.0);
        grid.row([
            key.into(),
            row.db.into(),
            row.entries.into(),
            row.groups.into(),
            row.pending.into(),
            row.memory.into(),
        ]);
    }
    grid.print(page)?;
    page.more(shown.len(), streams.list.len())
}

fn entries(n: u64) -> String {
    if n == 1 { "1 entry".to_owned() } else { format!("{} entries", human::count(n)) }
}
