//! Sections that list single keys.

use std::io;

use super::grid::{Cell, Column, Grid};
use super::page::Page;
use super::source::own_part;
use crate::render::words::{heads, leads, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::Text;
use crate::report::{KeyRow, Report};

/// Rows of each type where all types share one table.
const ROWS_OF_A_TYPE: usize = 3;

/// What the column of that name means.
pub(in crate::render) const LENGTH: Text =
    Text { en: "Length is elements, of strings bytes.", zh: "长度为元素数，string 为字节数。" };

/// Keys over the limits.
pub(super) fn big(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let big = &report.big_keys;
    if big.keys == 0 {
        return Ok(());
    }
    let lang = page.lang();
    page.title(if are_the_heaviest(report, page) {
        lang.of("Big keys, which are the heaviest", "大 key（也是最大的 key）")
    } else {
        lang.of("Big keys", "大 key")
    })?;
    let limits = leads::big(&big.rules, lang);
    let expiring = match big.expiring {
        0 => lang.of("none of them expires", "均不会过期").to_owned(),
        n => say!(
            lang,
            "{} of them will expire, which can block the server",
            "其中 {} 个将过期，过期删除可能阻塞服务器",
            human::count(n)
        ),
    };
    page.text(&say!(
        lang,
        "{} ({limits}) with {}, {} of all memory; {expiring}. {length}",
        "{}（{limits}），占 {}，为总内存的 {}；{expiring}。{length}",
        human::counted(big.keys, nouns::KEY, lang),
        human::bytes(big.memory.0),
        human::share_of(big.memory.0, report.totals.memory.0),
        length = lang.pick(LENGTH),
    ))?;
    list(report, page, &big.list)
}

/// The heaviest keys, unless they are the big keys just shown.
pub(super) fn heaviest(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.top.by_memory.is_empty() || are_the_heaviest(report, page) {
        return Ok(());
    }
    let lang = page.lang();
    page.title(lang.of("Heaviest keys", "最大的 key"))?;
    page.text(lang.pick(LENGTH))?;
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
    page.title(page.lang().of("Longest collections", "元素最多的集合"))?;
    list(report, page, &report.top.by_length)
}

/// The heaviest keys of each type; with a single type they are the heaviest of all.
pub(super) fn by_type(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let types = &report.top.by_type;
    if types.len() < 2 {
        return Ok(());
    }
    page.title(page.lang().of("Heaviest keys of each type", "各类型中最大的 key"))?;
    let mut grid = key_grid(report);
    let mut shown = 0;
    for of_type in types {
        for row in page.first(&of_type.list).iter().take(ROWS_OF_A_TYPE) {
            grid.row(key_row(report, row, page.lang()));
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
        grid.row(key_row(report, row, page.lang()));
    }
    grid.print(page)?;
    page.more(shown.len(), rows.len())
}

fn key_grid(report: &Report) -> Grid {
    Grid::new([
        Column::text(heads::KEY).shrink(24),
        Column::number(heads::DB).spare(if report.databases.len() > 1 { 0 } else { 5 }),
        Column::text(heads::TYPE),
        Column::text(heads::ENCODING).spare(4),
        Column::number(heads::LENGTH).spare(3),
        Column::number(heads::MEMORY),
        Column::number(heads::SHARE).bars().spare(2),
        Column::number(expires(report)).spare(1),
        Column::text(heads::FILE).shrink(12).spare(2),
    ])
}

fn key_row(report: &Report, row: &KeyRow, lang: Lang) -> [Cell; 9] {
    [
        Cell::Name(key_text::key(&row.key.0)),
        row.db.into(),
        row.kind.name().into(),
        row.encoding.name().into(),
        row.length.map_or(Cell::Absent, Cell::from),
        row.memory.into(),
        Cell::ShareOf(row.memory.0, report.totals.memory.0),
        expiry(report, row, lang).into(),
        row.source.as_deref().map_or(Cell::Absent, |source| Cell::name(own_part(&report.source.files, source))),
    ]
}

/// The heading of what [`expiry`] says.
pub(in crate::render) fn expires(report: &Report) -> Text {
    if report.expiry.reference_time.is_some() { heads::EXPIRES_IN } else { heads::EXPIRES }
}

/// Time left, where there is a time to hold it against.
pub(in crate::render) fn expiry(report: &Report, row: &KeyRow, lang: Lang) -> String {
    match (row.expires_at, report.expiry.reference_time) {
        (None, _) => lang.of("never", "永不过期").to_owned(),
        (Some(at), None) => human::time(at.0),
        (Some(at), Some(now)) if at <= now => lang.of("expired", "已过期").to_owned(),
        (Some(at), Some(now)) => human::duration(at.0.abs_diff(now.0), lang),
    }
}

/// Streams with their groups and what those left unacknowledged.
pub(super) fn streams(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(streams) = report.streams.as_ref().filter(|streams| streams.keys > 0) else {
        return Ok(());
    };
    let lang = page.lang();
    page.title(lang.of("Streams", "Stream"))?;
    page.text(&leads::streams(streams, lang))?;
    let mut grid = Grid::new([
        Column::text(heads::STREAM).shrink(24),
        Column::number(heads::DB).spare(2),
        Column::number(heads::ENTRIES),
        Column::number(heads::GROUPS).spare(1),
        Column::number(heads::PENDING),
        Column::number(heads::MEMORY),
    ]);
    let shown = page.first(&streams.list);
    for row in shown {
        let key = key_text::key(&row.key.0);
        grid.row([
            Cell::Name(key),
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
