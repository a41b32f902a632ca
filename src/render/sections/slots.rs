//! Memory over the slots of a cluster.

use std::cmp::Reverse;

use crate::pattern::slot;
use crate::render::document::{Block, Cell, Column, Forms, Scope, Section, Strip, StripRange, Table};
use crate::render::words::{heads, leads};
use crate::report::{Report, SlotRange};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Slots of a cluster.
const SLOTS: u32 = slot::SLOTS as u32;

/// Ranges of the strip, whatever a stored report holds.
const MAX_RANGES: usize = 256;

/// Builds the section: all ranges of slots as a strip, then the heaviest slots.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let slots = report.slots.as_ref().filter(|slots| slots.used > 0)?;
    let has_slot_tables = report.instance.as_ref().is_some_and(|instance| instance.tables.slots > Bytes(0));
    // Without hash tags, a single server that is no cluster spreads keys over slots at random.
    if !scope.apart && slots.tagged_keys == 0 && !has_slot_tables && report.servers().len() < 2 {
        return None;
    }
    let lang = scope.lang;
    let title = lang.of("Cluster slots", "集群槽");
    let table = Table::of(title, &slots.list, scope.rows)
        .column(Column::text(heads::SLOT), |row| Cell::Id(row.slot.into()))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| row.unknown.known(row.keys, row.memory))
        .column(Column::number(heads::SHARE).bars(), |row| row.unknown.known(row.keys, Cell::Share(row.share)))
        .column(Column::text(heads::HEAVIEST_KEY).shrink(20), |row| &row.example)
        .column(Column::number(heads::UNKNOWN_KEYS), |row| row.unknown.keys_if_any())
        .build()
        .out_of(slots.used);
    let mut section = Section::new("slots", title).lead(leads::slots(slots, lang));
    // Reports of the first versions have no ranges.
    let ranges = slots.ranges.get(..MAX_RANGES).unwrap_or(&slots.ranges);
    if ranges.iter().any(|range| range.keys > 0) {
        section = section
            .with(Block::Strip(strip(ranges, scope)))
            .with_in(Forms::HTML, range_table(report, ranges, scope))
            .with_in(Forms::HTML, Block::Heading(lang.of("Heaviest slots", "最大的槽").to_owned()));
    }
    Some(section.with(table))
}

fn strip(ranges: &[SlotRange], scope: &Scope) -> Strip {
    let range = |it: &SlotRange| StripRange { first: it.first, last: it.last, keys: it.keys, memory: it.memory };
    Strip {
        label: scope.lang.of("Memory of slots against the mean", "槽内存与平均值之比"),
        length: SLOTS,
        ranges: ranges.iter().map(range).collect(),
    }
}

/// Lists ranges with keys, heaviest first, compared with their mean.
fn range_table(report: &Report, ranges: &[SlotRange], scope: &Scope) -> Table {
    let mut used: Vec<&SlotRange> = ranges.iter().filter(|range| range.keys > 0).collect();
    // Stable: of equals the first slots come first.
    used.compact_sort_by_key(|range| Reverse(range.memory));
    let sum: Bytes = ranges.iter().map(|range| range.memory).sum();
    let mean = sum.0 / (used.len() as u64).max(1);
    let title = scope.lang.of("Heaviest ranges of slots", "内存最大的槽区间");
    Table::of(title, &used, scope.rows)
        .column(Column::text(heads::SLOTS), |range| format!("{}–{}", range.first, range.last))
        .column(Column::number(heads::KEYS), |range| range.keys)
        .column(Column::number(heads::MEMORY), |range| range.unknown.known(range.keys, range.memory))
        .column(Column::number(heads::OF_MEMORY).bars().spare(1), |range| {
            range.unknown.known(range.keys, Cell::ShareOf(range.memory.0, report.totals.memory.0))
        })
        .column(Column::number(heads::AGAINST_MEAN), |range| {
            range.unknown.known(range.keys, Cell::Change { from: mean, to: range.memory.0 })
        })
        .column(Column::number(heads::UNKNOWN_KEYS), |range| range.unknown.keys_if_any())
        .build()
        .folded(title)
}
