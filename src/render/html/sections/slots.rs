//! Memory over the slots of a cluster.

use std::cmp::Reverse;

use super::section;
use crate::pattern::slot;
use crate::render::html::charts::{Strip, StripCell, step};
use crate::render::html::names::Name;
use crate::render::html::view::{Block, Caps, Cell, Column, Section, Table};
use crate::render::words::{heads, leads, nouns, say};
use crate::render::{Lang, human};
use crate::report::{Report, SlotRange};
use crate::units::Bytes;

/// Slots of a cluster.
const SLOTS: u32 = slot::SLOTS as u32;

/// Cells of the strip, whatever a stored report holds.
const MOST_RANGES: usize = 256;

/// The strip and the heaviest slots.
pub fn slots(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let slots = report.slots.as_ref().filter(|slots| slots.used > 0)?;
    let title = lang.of("Cluster slots", "集群槽位");
    let columns = [
        Column::number(heads::SLOT, lang),
        Column::number(heads::KEYS, lang).spare(),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::OF_MEMORY, lang).spare(),
        Column::text(heads::HEAVIEST_KEY, lang),
    ];
    let table = Table::new(title, columns).fill(&slots.list, caps.rows / 2, slots.used, lang, |row| {
        vec![
            Cell::Number(row.slot.to_string(), u64::from(row.slot)),
            Cell::count(row.keys),
            Cell::bytes(row.memory),
            Cell::share(row.memory.0, report.totals.memory.0),
            Cell::name(Name::key(&row.example.key.0)),
        ]
    });
    let section = section("slots", title).lead(leads::slots(slots, lang));
    Some(match Ranges::of(&slots.ranges) {
        Some(ranges) => section
            .with(Block::Strip(ranges.strip(lang)))
            .with(Block::Table(ranges.table(report.totals.memory, lang, caps)))
            .with(Block::Title(lang.of("Heaviest slots", "最大的槽")))
            .with(Block::Table(table)),
        None => section.with(Block::Table(table)),
    })
}

/// All slots in ranges; reports of the first versions have none.
struct Ranges<'a> {
    list: &'a [SlotRange],
    /// Memory of all.
    sum: Bytes,
    /// Those that hold a key.
    used: u64,
}

impl<'a> Ranges<'a> {
    fn of(list: &'a [SlotRange]) -> Option<Ranges<'a>> {
        let list = list.get(..list.len().min(MOST_RANGES))?;
        let used = list.iter().filter(|range| range.keys > 0).count() as u64;
        (used > 0).then(|| Ranges { list, sum: list.iter().map(|range| range.memory).sum(), used })
    }

    /// All ranges side by side.
    fn strip(&self, lang: Lang) -> Strip {
        let cells = self.list.iter().filter(|range| range.last >= range.first).map(|range| StripCell {
            start: range.first.into(),
            length: u32::from(range.last - range.first) + 1,
            step: step(range.memory.0, self.sum.0, self.used),
            title: say!(
                lang,
                "slots {}: {}, {}",
                "槽 {}：{}，{}",
                named(range),
                human::counted(range.keys, nouns::KEY, lang),
                human::bytes(range.memory.0)
            ),
        });
        Strip {
            label: lang.of("Memory of slots against the mean", "槽内存与平均值之比").to_owned(),
            length: SLOTS,
            ends: [0, SLOTS - 1].map(|slot| slot.to_string()),
            cells: cells.collect(),
            legend: [
                (0, lang.of("no keys", "无 key")),
                (1, "≤ ½"),
                (2, "≤ ¾"),
                (3, "≤ 1½"),
                (4, "≤ 3"),
                (5, lang.of("more", "更多")),
            ],
        }
    }

    /// The same in figures, heaviest first.
    fn table(&self, whole: Bytes, lang: Lang, caps: Caps) -> Table {
        let mut ranges: Vec<&SlotRange> = self.list.iter().filter(|range| range.keys > 0).collect();
        // Stable: of equals the first slots.
        ranges.sort_by_key(|range| Reverse(range.memory));
        let mean = self.sum.0 / self.used.max(1);
        let columns = [
            Column::text(heads::SLOTS, lang),
            Column::number(heads::KEYS, lang),
            Column::number(heads::MEMORY, lang),
            Column::number(heads::OF_MEMORY, lang).spare(),
            Column::number(heads::AGAINST_MEAN, lang),
        ];
        let words = lang.of("Heaviest ranges of slots", "内存最大的槽区间");
        Table::new(words, columns)
            .fill(&ranges, caps.rows / 2, 0, lang, |range| {
                vec![
                    Cell::Text(named(range)),
                    Cell::count(range.keys),
                    Cell::bytes(range.memory),
                    Cell::share(range.memory.0, whole.0),
                    Cell::change(mean, range.memory.0),
                ]
            })
            .folded(words)
    }
}

/// `128–255`.
fn named(range: &SlotRange) -> String {
    format!("{}–{}", range.first, range.last)
}
