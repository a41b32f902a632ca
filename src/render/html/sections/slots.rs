//! Memory over the slots of a cluster.

use super::section;
use crate::render::html::charts::{Strip, StripCell, step};
use crate::render::html::names::Name;
use crate::render::html::view::{Block, Caps, Cell, Column, Section, Table};
use crate::render::words::{heads, nouns, say};
use crate::render::{Lang, human};
use crate::report::{Report, Slots};

/// Slots of a cluster.
const SLOTS: u64 = 16_384;

/// The strip and the heaviest slots.
pub fn slots(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let slots = report.slots.as_ref().filter(|slots| slots.used > 0)?;
    let title = lang.of("Cluster slots", "集群槽位");
    let lead = say!(
        lang,
        "{} with keys; mean {}, median {}, p99 {}, heaviest {}. {} with a hash tag.",
        "{}有 key；平均 {}，中位数 {}，p99 {}，最大 {}。{} 带 hash tag。",
        human::counted(slots.used, nouns::SLOT, lang),
        human::bytes(slots.mean.0),
        human::bytes(slots.p50.0),
        human::bytes(slots.p99.0),
        human::bytes(slots.max.0),
        human::counted(slots.tagged_keys, nouns::KEY, lang),
    );
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
    Some(section("slots", title).lead(lead).with(Block::Strip(strip(slots, lang))).with(Block::Table(table)))
}

fn strip(slots: &Slots, lang: Lang) -> Strip {
    let cells = slots.list.iter().take(256).map(|row| StripCell {
        start: format!("{:.3}%", f64::from(row.slot) * 100.0 / SLOTS as f64),
        width: "0.25%".to_owned(),
        step: step(row.memory.0, slots.max.0),
        title: say!(lang, "slot {}: {}", "槽 {}：{}", row.slot, human::bytes(row.memory.0)),
    });
    let label = lang.of("The heaviest slots from 0 to 16383", "从 0 到 16383 的最大的槽");
    Strip { label: label.to_owned(), cells: cells.collect() }
}
