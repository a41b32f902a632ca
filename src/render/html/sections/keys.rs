//! Sections that list single keys.

use super::section;
use crate::render::html::names::Name;
use crate::render::html::view::{Block, Caps, Cell, Column, Section, Table};
use crate::render::table::keys::{LENGTH, expires, expiry};
use crate::render::table::source::own_part;
use crate::render::words::{heads, leads, nouns, say};
use crate::render::{Lang, human};
use crate::report::{KeyRow, Report};

/// Keys over the limits.
pub fn big(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let big = &report.big_keys;
    if big.keys == 0 {
        return None;
    }
    let title = lang.of("Big keys", "大 key");
    let lead = say!(
        lang,
        "{} with {}, {} of all memory.",
        "{}，占 {}，为总内存的 {}。",
        human::counted(big.keys, nouns::KEY, lang),
        human::bytes(big.memory.0),
        human::share_of(big.memory.0, report.totals.memory.0),
    );
    let blocking = match big.expiring {
        0 => lang.of("None of them expires.", "均不会过期。").to_owned(),
        n => say!(
            lang,
            "{} of them will expire, which can block the server.",
            "其中 {} 个将过期，过期删除可能阻塞服务器。",
            human::count(n)
        ),
    };
    let (limits, length) = (leads::big(&big.rules, lang), lang.pick(LENGTH));
    let limits = say!(lang, "Big are {limits}. {length}", "大 key 指：{limits}。{length}");
    let section = section("big-keys", title).lead(format!("{lead} {blocking}")).lead(limits);
    let table = list(report, title, &big.list, big.keys, lang, caps);
    Some(section.with(Block::Table(table)))
}

/// The heaviest keys and the longest collections.
pub fn heaviest(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let top = &report.top;
    if top.by_memory.is_empty() {
        return None;
    }
    let title = lang.of("Heaviest keys", "最大的 key");
    let fewer = Caps { rows: caps.rows / 2, ..caps };
    let mut section = section("heaviest", title).lead(lang.pick(LENGTH));
    section = section.with(Block::Table(list(report, title, &top.by_memory, 0, lang, fewer)));
    if !top.by_length.is_empty() {
        let title = lang.of("Longest collections", "元素最多的集合");
        let table = list(report, title, &top.by_length, 0, lang, fewer).folded(title);
        section = section.with(Block::Table(table));
    }
    if top.by_type.len() > 1 {
        let title = lang.of("Heaviest keys of each type", "各类型中最大的 key");
        let few = fewer.rows / 4;
        let rows: Vec<KeyRow> = top.by_type.iter().flat_map(|of_type| of_type.list.iter().take(few)).cloned().collect();
        let all = top.by_type.iter().map(|of_type| of_type.list.len() as u64).sum();
        let every = Caps { rows: rows.len(), ..caps };
        section = section.with(Block::Table(list(report, title, &rows, all, lang, every).folded(title)));
    }
    Some(section)
}

fn list(report: &Report, title: &str, rows: &[KeyRow], all: u64, lang: Lang, caps: Caps) -> Table {
    let columns = [
        Column::text(heads::KEY, lang),
        Column::number(heads::DB, lang).spare(),
        Column::text(heads::TYPE, lang),
        Column::text(heads::ENCODING, lang).spare(),
        Column::number(heads::LENGTH, lang).spare(),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::OF_MEMORY, lang).spare(),
        Column::number(expires(report), lang),
        Column::text(heads::FILE, lang).spare(),
    ];
    let several = report.databases.len() > 1;
    let table = Table::new(title, columns).fill(rows, caps.rows, all, lang, |row| {
        vec![
            Cell::name(Name::key(&row.key.0)),
            if several { Cell::count(row.db) } else { Cell::Absent },
            Cell::Kind(row.kind.name()),
            Cell::Text(row.encoding.name().to_owned()),
            row.length.map_or(Cell::Absent, Cell::count),
            Cell::bytes(row.memory),
            Cell::share(row.memory.0, report.totals.memory.0),
            Cell::Number(expiry(report, row, lang), raw_expiry(row)),
            Cell::opt(row.source.as_deref().map(|source| own_part(&report.source.files, source))),
        ]
    });
    table.compact()
}

/// For the order: what never expires comes last.
fn raw_expiry(row: &KeyRow) -> u64 {
    row.expires_at.map_or(u64::MAX, |at| u64::try_from(at.0).unwrap_or(0))
}

/// Streams with their groups and what those left unacknowledged.
pub fn streams(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let streams = report.streams.as_ref().filter(|streams| streams.keys > 0)?;
    let title = lang.of("Streams", "Stream");
    let columns = [
        Column::text(heads::STREAM, lang),
        Column::number(heads::DB, lang).spare(),
        Column::number(heads::ENTRIES, lang),
        Column::number(heads::GROUPS, lang).spare(),
        Column::number(heads::PENDING, lang),
        Column::number(heads::MEMORY, lang),
    ];
    let table = Table::new(title, columns).fill(&streams.list, caps.rows, streams.keys, lang, |row| {
        vec![
            Cell::name(Name::key(&row.key.0)),
            Cell::count(row.db),
            Cell::count(row.entries),
            Cell::count(row.groups),
            Cell::count(row.pending),
            Cell::bytes(row.memory),
        ]
    });
    Some(section("streams", title).lead(leads::streams(streams, lang)).with(Block::Table(table)))
}
