//! Capacity plan: how many nodes a deployment needs now and later, which node holds which slots, and what could leave memory.
//!
//! All of it works on [`Report`]s, one for each server, whether just made or stored, and on the totals of earlier nights.

mod cluster;
mod demand;
mod layout;
mod parts;
mod ranges;
mod slots;

use std::collections::BTreeSet;

pub use cluster::{ClusterNode, ClusterNodes, NodeState, OpenSlot, SlotSpan};
pub use demand::{Demand, NodeNeed, Scenario};
pub use parts::{Bound, BusinessPart, ColdSum, Division, FreedStep};
use slots::NoPlan;
pub use slots::{HeavySlot, NodeLoad, SlotCommand, SlotEffect, SlotLayout, SlotMove, SlotPlan};

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::diff::history::{EarlierSnapshot, MAX_EARLIER};
use super::diff::nights::{NightPart, NightParts};
use super::diff::trend::{self, Trend};
use super::{ColdStep, NamedReport, Report, SnapshotRow, Unknown, Warning, WarningKind};
use crate::units::{Bytes, Millis};

/// Name and version of the JSON form.
pub const SCHEMA: &str = "rdblens.capacity/1";

/// Questions to a capacity plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct CapacityPlan {
    /// Memory of one node.
    pub node_memory: Bytes,
    /// Part of it that stays free, in thousandths.
    pub headroom_permille: u64,
    /// Number of nodes to plan for; null plans for as many as are needed today.
    pub nodes: Option<u64>,
    /// Last date to plan for.
    pub until: Option<Millis>,
    /// Price of a GB (2^30 bytes) of node memory a month, in any currency.
    pub cost_per_gb_month: Option<f64>,
    /// Rows in each list.
    pub top: usize,
}

impl CapacityPlan {
    /// Returns the memory of a node that data may take.
    pub fn usable(&self) -> Bytes {
        let free = u128::from(self.node_memory.0) * u128::from(self.headroom_permille.min(1000)) / 1000;
        Bytes(self.node_memory.0 - u64::try_from(free).unwrap_or(self.node_memory.0))
    }

    /// Returns the number of nodes that hold `total` bytes; at least one.
    pub fn nodes_for(&self, total: Bytes) -> u64 {
        total.0.div_ceil(self.usable().0.max(1)).max(1)
    }

    /// Returns the price of that many nodes a month.
    fn cost(&self, nodes: u64) -> Option<f64> {
        let gigabytes = self.node_memory.0 as f64 / (1u64 << 30) as f64;
        self.cost_per_gb_month.map(|price| (price * gigabytes * nodes as f64 * 100.0).round() / 100.0)
    }
}

/// Capacity plan of a deployment.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Capacity {
    /// Always `rdblens.capacity/1`.
    #[cfg_attr(feature = "internals", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// The program's version.
    pub rdblens: &'static str,
    /// The questions.
    pub options: CapacityPlan,
    /// Memory of one node that data may take.
    pub usable: Bytes,
    /// The servers, in the order given.
    pub servers: Vec<SnapshotRow>,
    /// Earlier nights that growth is computed from, oldest first, and the present one unless an input is damaged.
    pub nights: Vec<Night>,
    /// Growth; null without earlier nights.
    pub trend: Option<Trend>,
    /// Nodes needed now and later. If the memory of all keys is unknown, it is empty, and so is all that follows from memory.
    pub demand: Demand,
    /// Slots by node; null if slots do not apply.
    pub slots: Option<SlotPlan>,
    /// Instances by first segment and by owner.
    pub business: Vec<BusinessPart>,
    /// Memory not accessed for some time; empty if the snapshots do not record it.
    pub cold: Vec<ColdStep>,
    /// Division by pattern, then by owner; parts that would free most come first.
    pub cold_parts: Vec<ColdSum>,
    /// Memory that present keys free by expiring.
    pub freed: Vec<FreedStep>,
    /// Circumstances that the reader should know.
    pub warnings: Vec<Warning>,
}

impl Capacity {
    /// Returns whether every server and earlier night could be read whole.
    pub fn is_complete(&self) -> bool {
        let is_damaged = |warning: &Warning| warning.kind == WarningKind::NightDamaged;
        self.servers.iter().all(|server| server.complete) && !self.warnings.iter().any(is_damaged)
    }

    /// Returns whether the memory of any key is known, or there are none. If not, the plan has no figures.
    pub(crate) fn knows_memory(&self) -> bool {
        let keys = self.servers.iter().fold(0_u64, |sum, server| sum.saturating_add(server.keys));
        self.unknown().known(keys, ()).is_some()
    }

    /// Returns the keys whose memory is unknown.
    pub(crate) fn unknown(&self) -> Unknown {
        let mut unknown = Unknown::default();
        self.servers.iter().for_each(|server| unknown.merge(server.unknown));
        unknown
    }

    /// Removes all that follows from memory.
    fn without_memory(mut self) -> Capacity {
        self.demand = Demand { dates: Vec::new(), nothing_at: None, scenarios: Vec::new() };
        (self.trend, self.slots) = (None, None);
        self.nights.clear();
        self.business.clear();
        self.cold.clear();
        self.cold_parts.clear();
        self.freed.clear();
        let is_of_memory = |kind: &WarningKind| {
            matches!(kind, WarningKind::TablesNotCounted | WarningKind::SlotsNotStored | WarningKind::PresentNotCounted)
        };
        self.warnings.retain(|warning| !is_of_memory(&warning.kind));
        self
    }
}

/// Memory of the whole deployment at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Night {
    /// Time of the latest of its snapshots.
    pub taken: Millis,
    /// Number of snapshots.
    pub snapshots: u64,
    /// Their keys and tables together, or their keys alone if [`Trend::of`] says so.
    pub total: Bytes,
}

/// Figure that stands for the memory of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    /// Keys and tables.
    Total,
    /// Keys alone: not every report has the tables.
    Keys,
}

impl Figure {
    fn of_all(servers: &[NamedReport], earlier: &[&NamedReport]) -> Figure {
        let have_totals = servers.iter().chain(earlier.iter().copied()).all(|named| named.report.total().is_some());
        let have_earlier_totals = known_nights(servers, earlier).all(|night| night.total.is_some());
        if have_totals && have_earlier_totals { Figure::Total } else { Figure::Keys }
    }

    fn of(self, report: &Report) -> Bytes {
        match self {
            Figure::Total => report.total().unwrap_or(report.totals.memory),
            Figure::Keys => report.totals.memory,
        }
    }

    fn of_earlier(self, night: &EarlierSnapshot) -> Bytes {
        match self {
            Figure::Total => night.total.unwrap_or(night.memory),
            Figure::Keys => night.memory,
        }
    }

    /// Returns the sum over servers.
    fn sum(self, servers: &[NamedReport]) -> Bytes {
        servers.iter().map(|named| self.of(&named.report)).sum()
    }

    const fn name(self) -> &'static str {
        match self {
            Figure::Total => "total",
            Figure::Keys => "memory",
        }
    }
}

/// Plans for servers, each with its report. `earlier` are reports of the same deployment on earlier nights, in any order, and
/// `nodes` the nodes of the cluster, where they are known. Returns `None` without a server.
///
/// Without `earlier`, growth is computed from the earlier sizes that the reports of the servers know.
pub fn capacity(
    servers: &[NamedReport],
    earlier: &[NamedReport],
    nodes: Option<&ClusterNodes>,
    plan: CapacityPlan,
) -> Option<Capacity> {
    if servers.is_empty() {
        return None;
    }
    // Other keys would look like growth or a shrink.
    let is_alike = |named: &&NamedReport| has_same_keys(servers, named);
    let (alike, unlike): (Vec<&NamedReport>, Vec<&NamedReport>) = earlier.iter().partition(is_alike);
    let earlier = alike.as_slice();
    let figure = Figure::of_all(servers, earlier);
    let nights = nights(servers, earlier, figure);
    let points = nights.iter().map(|night| (night.taken, night.total)).collect();
    let trend = trend::through(points, figure.name(), None);
    let now = taken(servers).or(nights.last().map(|night| night.taken));
    // Later dates start from the present memory.
    let ahead = trend.as_ref().filter(|_| are_whole(servers));
    let demand = demand::demand(servers, figure, ahead, now, &plan);
    let count = plan.nodes.unwrap_or_else(|| demand.nodes_today());
    let room = slots::NodeRoom { usable: plan.usable(), keys: Figure::Keys.sum(servers), total: figure.sum(servers) };
    let slots = slots::plan(servers, nodes.map(ClusterNodes::in_use).as_ref(), count, room, plan.top);
    let mut warnings = warnings(servers, earlier, figure);
    let other_keys = |named: &&NamedReport| Warning::about(&named.name, WarningKind::NightOfOtherKeys);
    warnings.extend(unlike.iter().map(other_keys));
    warnings.extend(
        match slots {
            Ok(SlotPlan { owners_guessed: true, .. }) if nodes.is_some() => Some(WarningKind::ClusterNodesDiffer),
            Ok(_) | Err(NoPlan::OneNode) => None,
            Err(NoPlan::SlotsNotStored) => Some(WarningKind::SlotsNotStored),
            Err(NoPlan::SlotsOverlap) => Some(WarningKind::SlotsOverlap),
            Err(NoPlan::NodeMissing) => Some(WarningKind::ClusterNodeMissing),
        }
        .map(Warning::new),
    );
    warnings.extend(nodes.into_iter().flat_map(ClusterNodes::warnings));
    let planned = Capacity {
        schema: SCHEMA,
        rdblens: env!("CARGO_PKG_VERSION"),
        usable: plan.usable(),
        servers: servers.iter().map(SnapshotRow::of).collect(),
        slots: slots.ok(),
        business: parts::business(servers, figure, &plan),
        cold: parts::cold(servers),
        cold_parts: parts::cold_parts(servers, plan.top),
        freed: parts::freed(servers),
        warnings,
        nights,
        trend,
        demand,
        options: plan,
    };
    // Zero bytes would fit on any node.
    Some(if planned.knows_memory() { planned } else { planned.without_memory() })
}

/// Returns the earlier sizes that the reports of the servers know; none if there are earlier reports.
fn known_nights<'r>(servers: &'r [NamedReport], earlier: &[&NamedReport]) -> impl Iterator<Item = &'r EarlierSnapshot> {
    let servers = if earlier.is_empty() { servers } else { &[] };
    servers.iter().flat_map(|named| &named.report.history)
}

/// Returns the time of the latest snapshot.
fn taken(servers: &[NamedReport]) -> Option<Millis> {
    servers.iter().filter_map(|named| named.report.taken()).max()
}

/// Returns whether every server was read whole.
fn are_whole(servers: &[NamedReport]) -> bool {
    servers.iter().all(|named| named.report.complete)
}

/// Adds up the snapshots of each night. The present one is last, whatever the times are; without a time it is left out, and so it is
/// if it lacks something.
fn nights(servers: &[NamedReport], earlier: &[&NamedReport], figure: Figure) -> Vec<Night> {
    let mut dated: Vec<(NightPart, Bytes)> =
        earlier.iter().filter_map(|named| Some((NightPart::of(named)?, figure.of(&named.report)))).collect();
    if earlier.is_empty() {
        for (server, named) in servers.iter().enumerate() {
            let known = named.report.history.iter().rev().take(MAX_EARLIER);
            dated.extend(known.map(|night| (NightPart::at(night.taken, server.to_string()), figure.of_earlier(night))));
        }
    }
    let sum_up = |night: Vec<usize>| {
        let members = || night.iter().filter_map(|at| dated.get(*at));
        let taken = members().map(|(part, _)| part.taken).max()?;
        Some(Night { taken, snapshots: night.len() as u64, total: members().map(|(_, total)| *total).sum() })
    };
    let parts = NightParts::new(dated.iter().map(|(part, _)| part.clone()).collect());
    let mut nights: Vec<Night> = parts.nights().into_iter().filter_map(sum_up).collect();
    if earlier.is_empty() {
        // The reports of some servers may know more nights than those of others.
        nights.retain(|night| night.snapshots == servers.len() as u64);
    }
    let now = taken(servers).filter(|_| are_whole(servers));
    nights.extend(now.map(|taken| Night { taken, snapshots: servers.len() as u64, total: figure.sum(servers) }));
    nights
}

/// Returns whether the report of an earlier night has keys selected like those of one of the servers.
fn has_same_keys(servers: &[NamedReport], earlier: &NamedReport) -> bool {
    servers.iter().any(|named| named.report.options.selection == earlier.report.options.selection)
}

fn warnings(servers: &[NamedReport], earlier: &[&NamedReport], figure: Figure) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for NamedReport { name, report } in servers.iter().filter(|named| !named.report.options.selection.is_empty()) {
        let selection = report.options.selection.clone();
        warnings.push(Warning::about(name, WarningKind::KeysSelected { selection }));
    }
    for NamedReport { name, report } in servers.iter().chain(earlier.iter().copied()) {
        if !report.complete {
            warnings.push(Warning::about(name, WarningKind::SnapshotIncomplete));
        }
        let Unknown { keys, stored_bytes } = report.totals.unknown;
        if keys > 0 {
            warnings.push(Warning::about(name, WarningKind::UnknownMemory { keys, stored_bytes, modules: Vec::new() }));
        }
        if report.taken().is_none() {
            warnings.push(Warning::about(name, WarningKind::TimesMissing));
        }
    }
    let model = |named: &NamedReport| named.report.server.model.clone();
    let now: BTreeSet<String> = servers.iter().map(model).collect();
    let then: BTreeSet<String> = earlier.iter().copied().map(model).collect();
    if !then.is_empty() && now != then {
        let models = now.union(&then).cloned().collect();
        warnings.push(Warning::new(WarningKind::ModelsDiffer { models }));
    }
    if !are_whole(servers) && (!earlier.is_empty() || known_nights(servers, earlier).next().is_some()) {
        warnings.push(Warning::new(WarningKind::PresentNotCounted));
    }
    let separators: Vec<_> = servers.iter().map(|named| named.report.options.separators_in_order()).collect();
    warnings.extend(WarningKind::separators_differ(separators.iter().map(|it| &it[..])).map(Warning::new));
    for NamedReport { name, .. } in servers.iter().filter(|named| parts::is_crowded(&named.report)) {
        warnings.push(Warning::about(name, WarningKind::CrowdedFirstLevel));
    }
    if figure == Figure::Keys {
        warnings.push(Warning::new(WarningKind::TablesNotCounted));
    }
    let latest = taken(servers);
    let last_before = earlier.iter().filter_map(|named| named.report.taken()).max();
    if last_before.zip(latest).is_some_and(|(before, now)| before > now) {
        warnings.push(Warning::new(WarningKind::NotInOrder));
    }
    for night in earlier {
        let same = servers.iter().find(|server| server.report.is_of_snapshot_of(&night.report));
        let of = same.map(|server| server.name.clone());
        warnings.extend(of.map(|of| Warning::about(&night.name, WarningKind::SameSnapshot { of })));
    }
    warnings
}

#[cfg(test)]
mod tests;
