//! Types and encodings, and how large their keys are.

use crate::record::Kind;
use crate::render::document::{Block, Cell, Column, Forms, Range, Scale, Scope, Section, Split, Table, Tone};
use crate::render::human;
use crate::render::words::{heads, say};
use crate::report::Text;
use crate::report::{Report, TypeRow, Weight};
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
        // For strings, `elements` would be bytes.
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
        "Key sizes on a logarithmic scale from {} to {}: the bar spans the median to the 99th percentile, the dot is the largest key.",
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

/// Type that takes most memory, over all its encodings.
pub(super) struct HeaviestType<'r> {
    pub kind: Kind,
    pub weight: Weight,
    /// Its encoding, if there is only one.
    pub encoding: Option<&'r str>,
}

/// Returns the heaviest type; `None` if no memory is known.
pub(super) fn heaviest(rows: &[TypeRow]) -> Option<HeaviestType<'_>> {
    let (kind, memory) = by_kind(rows).into_iter().next()?;
    let of_kind: Vec<&TypeRow> = rows.iter().filter(|row| row.kind == kind).collect();
    let keys = of_kind.iter().fold(0_u64, |sum, row| sum.saturating_add(row.keys));
    let encoding = if let [row] = of_kind[..] { Some(row.encoding.as_str()) } else { None };
    Some(HeaviestType { kind, weight: Weight { keys, memory }, encoding })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Unknown;

    #[test]
    fn the_heaviest_type_is_that_of_all_its_encodings() {
        let row = |kind, encoding: &str, keys, memory| TypeRow {
            kind,
            encoding: encoding.to_owned(),
            keys,
            elements: 0,
            string_bytes: None,
            memory: Bytes(memory),
            share: 0.0,
            mean: Bytes(0),
            p50: Bytes(0),
            p99: Bytes(0),
            max: Bytes(0),
            unknown: Unknown::default(),
        };
        let rows = [
            row(Kind::Stream, "stream", 1, 761),
            row(Kind::Hash, "hashtable", 2, 500),
            row(Kind::Hash, "listpack", 3, 272),
        ];
        let of = |rows| heaviest(rows).map(|it| (it.kind, it.weight.keys, it.weight.memory, it.encoding));
        assert_eq!(of(&rows[..]), Some((Kind::Hash, 5, Bytes(772), None)));
        assert_eq!(of(&rows[..2]), Some((Kind::Stream, 1, Bytes(761), Some("stream"))));
        assert_eq!(of(&[]), None);
    }
}
