//! Prometheus form of a capacity plan.

use std::io::{self, Write};

use super::exposition::Exposition;
use crate::report::{COLD_DAYS, Capacity, ColdDivision, ColdSum, NodeNeed, Scenario};

/// Writes a capacity plan: what is needed at snapshot time, when the nodes are full, how even slots are, and what is out of use.
pub fn write_capacity(plan: &Capacity, labels: Vec<(String, String)>, out: &mut dyn Write) -> io::Result<()> {
    let mut metrics = Exposition::new(labels);
    let to = &mut metrics;
    to.family("rdblens_capacity_info", "Build that made the plan; always 1.")
        .sample(&[("version", plan.rdblens)], true);
    let taken = plan.servers.iter().filter_map(|server| server.taken).max();
    to.one("rdblens_capacity_timestamp_seconds", "When the latest snapshot was taken.", taken);
    let incomplete = plan.servers.iter().filter(|server| !server.complete).count() as u64;
    to.one("rdblens_capacity_servers_incomplete", "Inputs that could not be read completely.", Some(incomplete));
    let usable = "Memory of one node that is available for data.";
    to.one("rdblens_capacity_node_usable_bytes", usable, Some(plan.usable));
    needs(plan, to);
    if let Some(trend) = &plan.trend {
        to.one("rdblens_capacity_growth_bytes_per_day", "Growth per day.", Some(trend.per_day));
    }
    if let Some(slots) = &plan.slots {
        let family = to.family("rdblens_capacity_slots_max_to_mean", "The heaviest node as a multiple of the mean.");
        if let Some(now) = slots.max_to_mean_now {
            family.sample(&[("stat", "now")], now);
        }
        family.sample(&[("stat", "planned")], slots.max_to_mean);
        let heavy = slots.heavy_slots.iter().filter(|slot| !slot.fits).count() as u64;
        let help = "Listed slots that are larger than a node, so that no number of nodes suffices.";
        to.one("rdblens_capacity_slots_above_node", help, Some(heavy));
        let moved = "Cluster slots to move for an even distribution.";
        to.one("rdblens_capacity_slots_to_move", moved, Some(slots.moved_slots));
    }
    cold(plan, to);
    let freed = plan.freed.iter().map(|step| (left(step.within_ms), step.memory.into()));
    to.each("rdblens_capacity_freed_bytes", "Memory freed as the present keys expire.", "left", freed);
    metrics.write(out)
}

/// Adds the need at snapshot time; an empty question stands for the deployment as it is.
fn needs(plan: &Capacity, to: &mut Exposition) {
    let today = |scenario: &Scenario| scenario.needs.first().cloned();
    let mut each = |name, help, value: &dyn Fn(&NodeNeed) -> u64| {
        let family = to.family(name, help).apart();
        for (scenario, need) in plan.demand.scenarios.iter().filter_map(|it| Some((it, today(it)?))) {
            family.sample(&[("ask", scenario.what_if.as_deref().unwrap_or_default())], value(&need));
        }
    };
    let memory = "Memory of all servers at snapshot time, by alternative; an empty label for the present setup.";
    each("rdblens_capacity_memory_bytes", memory, &|need| need.total.0);
    each("rdblens_capacity_nodes", "Nodes needed at snapshot time, by alternative.", &|need| need.nodes);
    let family = to.family("rdblens_capacity_full_timestamp_seconds", "When the nodes no longer suffice.").apart();
    for (scenario, at) in plan.demand.scenarios.iter().filter_map(|it| Some((it, it.full_at?))) {
        family.sample(&[("ask", scenario.what_if.as_deref().unwrap_or_default())], at);
    }
}

fn cold(plan: &Capacity, to: &mut Exposition) {
    let idle = |days: u64| format!("{days}d");
    let rows = plan.cold.iter().map(|step| (idle(step.days), step.memory.into()));
    to.each("rdblens_capacity_cold_bytes", "Memory not accessed for at least this time.", "idle", rows);
    let divisions = [
        (ColdDivision::Pattern, "rdblens_capacity_cold_pattern_bytes", "pattern"),
        (ColdDivision::Owner, "rdblens_capacity_cold_owner_bytes", "owner"),
    ];
    for (by, name, label) in divisions {
        let family = to.family(name, "Memory by pattern or owner not accessed for at least this time.");
        for ColdSum { part, bound } in plan.cold_parts.iter().filter(|sum| sum.part.by == by) {
            for (days, step) in COLD_DAYS.into_iter().zip(&part.steps) {
                let idle = idle(days);
                let mut labels = vec![(label, part.name.as_deref().unwrap_or_default()), ("idle", idle.as_str())];
                labels.extend(bound.map(|bound| ("bound", bound.name())));
                family.sample(&labels, step.memory);
            }
        }
    }
}

/// Names a time in whole seconds.
fn left(within_ms: i64) -> String {
    format!("{}s", within_ms / 1000)
}
