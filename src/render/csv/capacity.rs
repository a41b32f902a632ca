//! Lists of a capacity plan as CSV.

use std::io::{self, Write};

use super::rows::{cold_part, row};
use super::sheet::{CsvRow, Sheet};
use crate::report::{Bound, Capacity, Division, SlotPlan, SlotSpan};

/// A list of a capacity plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CapacityList {
    /// Nodes needed at each date, as it is and under each what-if question.
    #[default]
    Nodes,
    /// Slots by node, before and after the moves.
    Slots,
    /// Moves of slots between nodes, in order.
    Moves,
    /// Slots that are a notable part of a node.
    HeavySlots,
    /// Instances by first segment and by owner.
    Business,
    /// Memory not accessed for days: all, by pattern and by owner.
    Cold,
    /// Memory that present keys free by expiring.
    Freed,
}

impl CapacityList {
    /// All lists, the default first.
    pub const ALL: [CapacityList; 7] = [
        CapacityList::Nodes,
        CapacityList::Slots,
        CapacityList::Moves,
        CapacityList::HeavySlots,
        CapacityList::Business,
        CapacityList::Cold,
        CapacityList::Freed,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            CapacityList::Nodes => "nodes",
            CapacityList::Slots => "slots",
            CapacityList::Moves => "moves",
            CapacityList::HeavySlots => "heavy-slots",
            CapacityList::Business => "business",
            CapacityList::Cold => "cold",
            CapacityList::Freed => "freed",
        }
    }

    /// Returns the names of its columns.
    pub fn columns(self) -> Vec<&'static str> {
        match self {
            CapacityList::Nodes => {
                "date what_if model memory memory_least memory_most nodes nodes_least nodes_most fill_permille \
                 cost_per_month full_at"
            }
            CapacityList::Slots => "node name id slots_now memory_now slots memory ranges",
            CapacityList::Moves => "step from_node to_node slots memory ranges",
            CapacityList::HeavySlots => {
                "slot keys memory of_share example_db example_key example_key_base64 example_key_bytes example_memory"
            }
            CapacityList::Business => "by name keys memory total nodes bound",
            CapacityList::Cold => {
                "by name keys memory cold7_keys cold7_memory cold30_keys cold30_memory cold90_keys cold90_memory bound"
            }
            CapacityList::Freed => "within_ms keys memory",
        }
        .split(' ')
        .collect()
    }

    /// Writes the list.
    pub fn write(self, plan: &Capacity, out: &mut dyn Write) -> io::Result<()> {
        let slots = plan.slots.as_ref();
        let rows: Vec<CsvRow> = match self {
            CapacityList::Nodes => nodes(plan),
            CapacityList::Slots => slots.map_or_else(Vec::new, by_node),
            CapacityList::Moves => slots.map_or_else(Vec::new, moves),
            CapacityList::HeavySlots => slots.map_or_else(Vec::new, heavy),
            CapacityList::Business => business(plan),
            CapacityList::Cold => cold(plan),
            CapacityList::Freed => {
                plan.freed.iter().map(|step| row().number(step.within_ms).weight(step.keys, step.memory)).collect()
            }
        };
        Sheet::new(&self.columns(), rows).write(out)
    }
}

fn nodes(plan: &Capacity) -> Vec<CsvRow> {
    let mut rows = Vec::new();
    for scenario in &plan.demand.scenarios {
        for (date, need) in plan.demand.dates.iter().zip(&scenario.needs) {
            let row = row().number(*date).maybe(scenario.what_if.as_deref()).text(&scenario.model).number(need.total);
            let row = row.number(need.total_range.map(|range| range[0])).number(need.total_range.map(|range| range[1]));
            let row = row.number(need.nodes);
            let row = row.number(need.nodes_range.map(|range| range[0])).number(need.nodes_range.map(|range| range[1]));
            rows.push(row.number(need.fill_permille).number(need.cost_per_month).number(scenario.full_at));
        }
    }
    rows
}

fn by_node(slots: &SlotPlan) -> Vec<CsvRow> {
    let row = |(number, node): (u64, &crate::report::NodeLoad)| {
        let row = row().number(number).maybe(node.name.as_deref()).maybe(node.id.as_deref());
        let row = row.number(node.slots_now).number(node.memory_now).number(node.slots).number(node.memory);
        row.text(&ranges(&node.ranges))
    };
    (1..).zip(&slots.nodes).map(row).collect()
}

fn moves(slots: &SlotPlan) -> Vec<CsvRow> {
    let row = |(number, step): (u64, &crate::report::SlotMove)| {
        let row = row().number(number).number(step.from + 1).number(step.to + 1).number(step.slots);
        row.number(step.memory).text(&ranges(&step.ranges))
    };
    (1..).zip(&slots.moves).map(row).collect()
}

fn heavy(slots: &SlotPlan) -> Vec<CsvRow> {
    let heavy = slots.heavy_slots.iter();
    let row = heavy.map(|slot| {
        row().number(slot.slot).weight(slot.keys, slot.memory).number(slot.of_share).example(slot.example.as_ref())
    });
    row.collect()
}

fn business(plan: &Capacity) -> Vec<CsvRow> {
    let row = |part: &crate::report::BusinessPart| {
        let by = match part.by {
            Division::Prefix => "prefix",
            Division::Owner => "owner",
        };
        let row = row().text(by).maybe(part.name.as_deref()).weight(part.keys, part.memory);
        row.number(part.total).number(part.nodes).maybe(part.bound.map(Bound::name))
    };
    plan.business.iter().map(row).collect()
}

/// Returns the whole first, then its parts.
fn cold(plan: &Capacity) -> Vec<CsvRow> {
    let keys = plan.servers.iter().fold(0_u64, |sum, server| sum.saturating_add(server.keys));
    let memory = plan.servers.iter().map(|server| server.memory).sum();
    let all = row().text("all").text("").weight(keys, memory);
    let all = plan.cold.iter().fold(all, |row, step| row.weight(step.keys, step.memory));
    let all = all.maybe(None);
    let parts = plan.cold_parts.iter().map(|sum| cold_part(&sum.part).maybe(sum.bound.map(Bound::name)));
    (!plan.cold.is_empty()).then_some(all).into_iter().chain(parts).collect()
}

/// Writes ranges as `0-99 200`, which `CLUSTER NODES` does, too.
fn ranges(spans: &[SlotSpan]) -> String {
    let text = |span: &SlotSpan| {
        if span.first == span.last { span.first.to_string() } else { format!("{}-{}", span.first, span.last) }
    };
    spans.iter().map(text).collect::<Vec<_>>().join(" ")
}
