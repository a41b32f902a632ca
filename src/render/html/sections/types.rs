//! How the memory divides over types, encodings and databases, and how large the keys of each are.

use super::section;
use crate::record::Kind;
use crate::render::html::charts::Split;
use crate::render::html::names::Name;
use crate::render::html::view::{Block, Caps, Cell, Column, Range, Section, Table};
use crate::render::words::{heads, say};
use crate::render::{Lang, human};
use crate::report::Text;
use crate::report::{Report, TypeRow};
use crate::units::Bytes;

const SIZES: Text = Text { en: "sizes of keys", zh: "key 大小分布" };

/// Types and encodings.
pub fn types(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let rows = &report.types;
    if rows.is_empty() {
        return None;
    }
    let whole = report.totals.memory;
    let label = lang.of("Memory by type", "各类型的内存");
    let split = Split::of(label.to_owned(), &by_kind(rows), |memory| human::share_of(memory.0, whole.0));
    let columns = [
        Column::text(heads::TYPE, lang),
        Column::text(heads::ENCODING, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::ELEMENTS, lang).spare(),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::OF_MEMORY, lang),
        Column::text(SIZES, lang).spare(),
        Column::number(heads::P50, lang).spare(),
        Column::number(heads::MEAN, lang).spare(),
        Column::number(heads::P99, lang).spare(),
        Column::number(heads::MAX, lang).spare(),
    ];
    let scale = Scale::of(rows);
    let table = Table::new(label, columns).fill(rows, 2 * caps.rows, 0, lang, |row| {
        let bytes_not_elements = row.kind == Kind::String;
        vec![
            Cell::Kind(row.kind.name()),
            Cell::name(Name::text(&row.encoding)),
            Cell::count(row.keys),
            if bytes_not_elements { Cell::Absent } else { Cell::count(row.elements) },
            Cell::bytes(row.memory),
            Cell::share(row.memory.0, whole.0),
            Cell::Range(scale.range(row)),
            Cell::bytes(row.p50),
            Cell::bytes(row.mean),
            Cell::bytes(row.p99),
            Cell::bytes(row.max),
        ]
    });
    let sizes = say!(
        lang,
        "Sizes of keys, on a scale from {} to {} on which each step is ten times the last: the bar reaches from the size that half of the keys stay below to the one that 99 of 100 do, the dot is the largest key.",
        "key 大小分布的刻度从 {} 到 {}，按对数递增：横条从中位数到第 99 百分位，圆点为最大的 key。",
        human::bytes(scale.least),
        human::bytes(scale.most),
    );
    let section = section("types", lang.of("Types, encodings and sizes", "类型、编码与大小"));
    Some(section.with(Block::Split(split)).with(Block::Table(table)).with(Block::Text(sizes.into())))
}

/// Sums over encodings, heaviest first.
fn by_kind(rows: &[TypeRow]) -> Vec<(Kind, Bytes)> {
    let sum = |kind: Kind| rows.iter().filter(|row| row.kind == kind).map(|row| row.memory).sum();
    let mut kinds: Vec<(Kind, Bytes)> = Kind::ALL.into_iter().map(|kind| (kind, sum(kind))).collect();
    kinds.retain(|(_, memory)| *memory > Bytes(0));
    // Stable: of equals the report's order.
    kinds.sort_by_key(|(_, memory)| std::cmp::Reverse(*memory));
    kinds
}

/// A logarithmic scale over the sizes of all rows.
struct Scale {
    least: u64,
    most: u64,
}

impl Scale {
    fn of(rows: &[TypeRow]) -> Scale {
        let least = rows.iter().map(|row| row.p50.0.max(1)).min().unwrap_or(1);
        let most = rows.iter().map(|row| row.max.0).max().unwrap_or(1);
        Scale { least, most: most.max(least.saturating_add(1)) }
    }

    fn range(&self, row: &TypeRow) -> Range {
        Range { p50: self.place(row.p50.0), p99: self.place(row.p99.0.min(row.max.0)), max: self.place(row.max.0) }
    }

    /// Between 1 % and 99 %, so that nothing is cut at the ends.
    fn place(&self, size: u64) -> u64 {
        let steps = |size: u64| thousandths_of_log2(size).saturating_sub(thousandths_of_log2(self.least));
        10 + steps(size.clamp(self.least, self.most)) * 980 / steps(self.most).max(1)
    }
}

/// The binary logarithm in thousandths, between powers of two by a line: the same on every machine, and near enough for a picture.
fn thousandths_of_log2(n: u64) -> u64 {
    let n = n.max(1);
    let whole = u64::from(n.ilog2());
    let power = 1u128 << whole;
    let rest = (u128::from(n) - power) * 1000 / power;
    whole * 1000 + u64::try_from(rest).unwrap_or(999)
}

/// The databases, where there are several.
pub fn databases(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let databases = &report.databases;
    if databases.iter().all(|database| database.db == 0) {
        return None;
    }
    let title = lang.of("Databases", "数据库");
    let columns = [
        Column::text(heads::DB, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::OF_KEYS, lang).spare(),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::OF_MEMORY, lang),
        Column::number(heads::DISK, lang).spare(),
        Column::number(heads::WITH_TTL, lang).spare(),
        Column::number(heads::EXPIRED, lang).spare(),
    ];
    let table = Table::new(title, columns).fill(databases, caps.rows, 0, lang, |row| {
        vec![
            Cell::Number(row.db.to_string(), row.db),
            Cell::count(row.keys),
            Cell::portion(row.keys, report.totals.keys),
            Cell::bytes(row.memory),
            Cell::share(row.memory.0, report.totals.memory.0),
            Cell::bytes(row.disk),
            Cell::portion(row.with_ttl, row.keys),
            Cell::count(row.expired),
        ]
    });
    Some(section("databases", title).with(Block::Table(table)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_logarithmic_and_stays_within_its_ends() {
        assert_eq!([1, 2, 3, 1024].map(thousandths_of_log2), [0, 1000, 1500, 10_000]);
        assert!(thousandths_of_log2(u64::MAX) < 64_000);
        let scale = Scale { least: 1, most: 1 << 20 };
        assert_eq!([1, 1 << 10, 1 << 20, u64::MAX].map(|size| scale.place(size)), [10, 500, 990, 990]);
        assert_eq!(Scale { least: 5, most: 6 }.place(0), 10);
    }
}
