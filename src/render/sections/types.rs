//! Types and encodings, and how large their keys are.

use crate::record::Kind;
use crate::render::document::{Block, Cell, Column, Forms, Range, Scale, Scope, Section, Split, Table, Tone};
use crate::render::human;
use crate::render::words::{heads, say};
use crate::report::Text;
use crate::report::{Report, TypeRow};
use crate::sorting::CompactSort;
use crate::units::Bytes;

const SIZES: Text = Text { en: "sizes of keys", zh: "key 大小分布" };

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let rows = &report.types;
    if rows.is_empty() {
        return None;
    }
    let lang = scope.lang;
    let label = lang.of("Memory by type", "各类型的内存");
    let sized = || rows.iter().filter(|row| row.unknown.known(row.keys, ()).is_some());
    let scale = Scale::of(sized().map(|row| row.p50), sized().map(|row| row.max));
    let range = |row: &TypeRow| {
        row.unknown.known(row.keys, Cell::Range(Range { p50: row.p50, p99: row.p99, max: row.max, scale }))
    };
    let table = Table::of(label, rows, scope.many)
        .column(Column::text(heads::TYPE), |row| row.kind)
        .column(Column::text(heads::ENCODING), |row| Cell::words(&row.encoding))
        .column(Column::number(heads::KEYS), |row| row.keys)
        // Of strings it would be bytes.
        .column(Column::number(heads::ELEMENTS).spare(4), |row| (row.kind != Kind::String).then_some(row.elements))
        .column(Column::number(heads::MEMORY), |row| row.unknown.known(row.keys, row.memory))
        .column(Column::number(heads::SHARE).bars(), |row| row.unknown.known(row.keys, Cell::Share(row.share)))
        .column(Column::text(SIZES).spare(5).only(Forms::HTML), range)
        .column(Column::number(heads::MEAN).wide_range().spare(3), |row| row.unknown.known(row.keys, row.mean))
        .column(Column::number(heads::P50).wide_range().spare(1), |row| row.unknown.known(row.keys, row.p50))
        .column(Column::number(heads::P99).wide_range().spare(2), |row| row.unknown.known(row.keys, row.p99))
        .column(Column::number(heads::MAX).wide_range(), |row| row.unknown.known(row.keys, row.max))
        .build();
    let sizes = say!(
        lang,
        "Sizes of keys, on a scale from {} to {} on which each step is ten times the last: the bar reaches from the size that half of the keys stay below to the one that 99 of 100 do, the dot is the largest key.",
        "key 大小分布的刻度从 {} 到 {}，按对数递增：横条从中位数到第 99 百分位，圆点为最大的 key。",
        human::bytes(scale.least),
        human::bytes(scale.most),
    );
    Some(
        Section::new("types", lang.of("Types", "类型"))
            .with(Block::Split(Split { label: label.to_owned(), parts: by_kind(rows) }))
            .with(table)
            .with_in(Forms::HTML, Block::Paragraph(Tone::Faint, sizes.into())),
    )
}

/// Sums up encodings, heaviest first.
fn by_kind(rows: &[TypeRow]) -> Vec<(Kind, Bytes)> {
    let sum = |kind: Kind| rows.iter().filter(|row| row.kind == kind).map(|row| row.memory).sum();
    let mut kinds: Vec<(Kind, Bytes)> = Kind::ALL.into_iter().map(|kind| (kind, sum(kind))).collect();
    kinds.retain(|(_, memory)| *memory > Bytes(0));
    // Stable: equals keep the report's order.
    kinds.compact_sort_by_key(|(_, memory)| std::cmp::Reverse(*memory));
    kinds
}
