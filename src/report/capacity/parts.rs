//! Parts of the memory that could move or go: instances by business, cold data, keys that expire.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::{CapacityPlan, Figure};
use crate::pattern::joined::COLLAPSED;
use crate::report::{COLD_DAYS, ColdDivision, ColdPart, ColdStep, Idle, NamedReport, Report, Weight};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Division of instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Division {
    /// First segment of the key name.
    Prefix,
    /// Owner in the policy's dictionary.
    Owner,
}

/// Instance that would hold one business alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct BusinessPart {
    /// Division of the instance.
    pub by: Division,
    /// First segment or owner; null for all others together.
    pub name: Option<String>,
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Their memory with a proportional share of the tables.
    pub total: Bytes,
    /// Nodes that they need.
    pub nodes: u64,
}

/// Cold keys of one pattern or owner in all servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct ColdSum {
    /// Their figures.
    #[serde(flatten)]
    pub part: ColdPart,
    /// Present if the figures are no exact sums, because a stored report does not list all of its patterns or has no owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

/// Relation of figures to the actual ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// At least this: an input may have more that it does not list.
    Least,
}

impl Bound {
    /// Returns its name in JSON, CSV and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::Least => "least",
        }
    }
}

/// Memory freed by a point in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct FreedStep {
    /// Milliseconds after the reference time; 0 for keys that had expired.
    pub within_ms: i64,
    /// Keys that have expired by then.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
}

/// Divides all servers together by first segment and by owner, heaviest first.
pub(super) fn business(servers: &[NamedReport], figure: Figure, plan: &CapacityPlan) -> Vec<BusinessPart> {
    let all = sum(servers.iter().map(|named| named.report.weight()));
    let total = figure.sum(servers);
    let mut parts = Vec::new();
    for (by, weights) in [(Division::Prefix, prefixes(servers)), (Division::Owner, owners(servers))] {
        if weights.len() > 1 {
            parts.extend(listed(by, weights, all, total, plan));
        }
    }
    parts
}

/// Lists the heaviest parts, and all other keys as one.
fn listed(
    by: Division,
    weights: BTreeMap<String, Weight>,
    all: Weight,
    total: Bytes,
    plan: &CapacityPlan,
) -> Vec<BusinessPart> {
    let mut rows: Vec<(Option<String>, Weight)> =
        weights.into_iter().map(|(name, weight)| (Some(name), weight)).collect();
    // Stable: of equals the first by name comes first.
    rows.compact_sort_by_key(|(_, weight)| Reverse(weight.memory));
    rows.truncate(plan.top);
    let named = sum(rows.iter().map(|(_, weight)| *weight));
    let others = Weight {
        keys: all.keys.saturating_sub(named.keys),
        memory: Bytes(all.memory.0.saturating_sub(named.memory.0)),
    };
    if others.keys > 0 {
        rows.push((None, others));
    }
    let with_tables = |memory: Bytes| {
        let scaled = u128::from(memory.0) * u128::from(total.0) / u128::from(all.memory.0.max(1));
        Bytes(u64::try_from(scaled).unwrap_or(u64::MAX))
    };
    let part = |(name, weight): (Option<String>, Weight)| {
        let total = with_tables(weight.memory);
        BusinessPart { by, name, keys: weight.keys, memory: weight.memory, total, nodes: plan.nodes_for(total) }
    };
    rows.into_iter().map(part).collect()
}

/// Returns whether a report does not tell businesses apart: too many first segments are counted together.
pub(super) fn is_crowded(report: &Report) -> bool {
    report.prefixes.tree.iter().any(|node| node.segment == COLLAPSED && node.prefix != node.segment)
}

fn prefixes(servers: &[NamedReport]) -> BTreeMap<String, Weight> {
    // A business of one server may be hidden in another.
    let servers = if servers.iter().any(|named| is_crowded(&named.report)) { &[] } else { servers };
    let nodes = servers.iter().flat_map(|named| &named.report.prefixes.tree);
    by_name(nodes.map(|node| (node.prefix.clone(), Weight { keys: node.keys, memory: node.memory })))
}

fn owners(servers: &[NamedReport]) -> BTreeMap<String, Weight> {
    let rows = servers.iter().flat_map(|named| &named.report.findings.by_owner);
    let weight = |keys, memory| Weight { keys, memory };
    by_name(rows.filter_map(|row| Some((row.owner.clone()?, weight(row.keys, row.memory)))))
}

fn by_name(weights: impl Iterator<Item = (String, Weight)>) -> BTreeMap<String, Weight> {
    let mut sums: BTreeMap<String, Weight> = BTreeMap::new();
    weights.for_each(|(name, weight)| sums.entry(name).or_default().merge(weight));
    sums
}

fn sum(weights: impl Iterator<Item = Weight>) -> Weight {
    weights.fold(Weight::default(), |mut sum, weight| {
        sum.merge(weight);
        sum
    })
}

/// Adds up keys that were not accessed for 7, 30 and 90 days.
pub(super) fn cold(servers: &[NamedReport]) -> Vec<ColdStep> {
    let idle: Vec<&Idle> = servers.iter().filter_map(|named| named.report.idle.as_ref()).collect();
    let step = |days: u64| {
        let Weight { keys, memory } = sum(idle.iter().map(|idle| unused_for(idle, days)));
        ColdStep { days, keys, memory }
    };
    if idle.is_empty() { Vec::new() } else { COLD_DAYS.map(step).into() }
}

/// Adds up the keys of one server that were not accessed for so many days.
fn unused_for(idle: &Idle, days: u64) -> Weight {
    const DAY_SECONDS: u64 = 86_400;
    // A class lies beyond the limit if the one before it ends there or later.
    let begins = std::iter::once(Some(0)).chain(idle.classes.iter().map(|class| class.below_s));
    let is_beyond = |begin: Option<u64>| begin.is_some_and(|begin| begin >= days * DAY_SECONDS);
    let beyond = begins.zip(&idle.classes).filter(|(begin, _)| is_beyond(*begin));
    sum(beyond.map(|(_, class)| Weight { keys: class.keys, memory: class.memory }))
}

/// Adds up cold keys by pattern and by owner, those first that would free most.
pub(super) fn cold_parts(servers: &[NamedReport], top: usize) -> Vec<ColdSum> {
    let listed = |by| {
        let mut sums = cold_sums(servers, by);
        // Stable: of equals the first by name comes first.
        sums.compact_sort_by_key(|sum| Reverse(sum.part.cold()));
        sums.truncate(top);
        sums
    };
    [ColdDivision::Pattern, ColdDivision::Owner].into_iter().flat_map(listed).collect()
}

/// Sums of a part over the servers so far.
struct PartSums {
    part: ColdPart,
    /// Number of servers that list it although their lists are cut.
    known: usize,
    /// True if a server lists its keys, but not those of them that are cold.
    lacks_cold: bool,
}

/// Adds up the parts of one division, by name. A part counts its keys of servers where none of them is cold, too.
fn cold_sums(servers: &[NamedReport], by: ColdDivision) -> Vec<ColdSum> {
    let mut sums: BTreeMap<Option<&str>, PartSums> = BTreeMap::new();
    for part in servers.iter().flat_map(|named| cold_of(&named.report, by)) {
        match sums.entry(part.name.as_deref()) {
            Entry::Vacant(place) => {
                place.insert(PartSums { part: part.clone(), known: 0, lacks_cold: false });
            }
            Entry::Occupied(mut place) => place.get_mut().part.merge(part),
        }
    }
    let mut cut = 0;
    for NamedReport { report, .. } in servers {
        let own: BTreeSet<Option<&str>> = cold_of(report, by).map(|part| part.name.as_deref()).collect();
        let (is_cut, lacks_cold) = (is_cut(report, by), lacks_cold(report, by));
        cut += usize::from(is_cut);
        for name in &own {
            if let Some(sum) = sums.get_mut(name) {
                sum.known += usize::from(is_cut);
            }
        }
        for (name, Weight { keys, memory }) in weights(report, by) {
            if let Some(sum) = sums.get_mut(&name).filter(|_| !own.contains(&name)) {
                sum.part.keys = sum.part.keys.saturating_add(keys);
                sum.part.memory += memory;
                sum.known += usize::from(is_cut);
                sum.lacks_cold |= lacks_cold;
            }
        }
    }
    let sum = |PartSums { part, known, lacks_cold }| ColdSum {
        part,
        bound: (known < cut || lacks_cold).then_some(Bound::Least),
    };
    sums.into_values().map(sum).collect()
}

/// Returns the parts of one server that have cold keys, as far as it lists them.
fn cold_of(report: &Report, by: ColdDivision) -> impl Iterator<Item = &ColdPart> {
    report.idle.iter().flat_map(|idle| &idle.parts).filter(move |part| part.by == by)
}

/// Returns all keys of one server by part, as far as it lists them.
fn weights(report: &Report, by: ColdDivision) -> Vec<(Option<&str>, Weight)> {
    let weight = |keys, memory| Weight { keys, memory };
    match by {
        ColdDivision::Pattern => {
            let rows = report.patterns.list.iter();
            rows.map(|row| (Some(row.pattern.as_str()), weight(row.keys, row.memory))).collect()
        }
        ColdDivision::Owner => {
            let rows = report.findings.by_owner.iter();
            rows.map(|row| (row.owner.as_deref(), weight(row.keys, row.memory))).collect()
        }
    }
}

/// Returns whether [`weights`] may lack parts.
fn is_cut(report: &Report, by: ColdDivision) -> bool {
    match by {
        ColdDivision::Pattern => report.patterns.distinct > report.patterns.list.len() as u64,
        ColdDivision::Owner => has_no_owners(report),
    }
}

/// Returns whether a report was made without a dictionary, so that the owners of its keys are not known.
fn has_no_owners(report: &Report) -> bool {
    report.totals.keys > 0 && report.findings.by_owner.is_empty()
}

/// Returns whether [`cold_of`] lacks cold keys: each of them has a pattern, and an owner or none.
fn lacks_cold(report: &Report, by: ColdDivision) -> bool {
    let all = report.idle.as_ref().map_or(0, |idle| unused_for(idle, COLD_DAYS[0]).keys);
    let steps = cold_of(report, by).filter_map(|part| part.steps.first());
    steps.fold(0_u64, |sum, step| sum.saturating_add(step.keys)) < all
}

/// Adds up keys by the time at which they have expired; the limits are those of the report's classes.
pub(super) fn freed(servers: &[NamedReport]) -> Vec<FreedStep> {
    let mut steps: BTreeMap<i64, Weight> = BTreeMap::new();
    for class in servers.iter().flat_map(|named| &named.report.expiry.classes) {
        if let Some(below) = class.below_ms {
            steps.entry(below).or_default().merge(Weight { keys: class.keys, memory: class.memory });
        }
    }
    let mut sum = Weight::default();
    let steps: Vec<FreedStep> = steps
        .into_iter()
        .map(|(within_ms, weight)| {
            sum.merge(weight);
            FreedStep { within_ms, keys: sum.keys, memory: sum.memory }
        })
        .collect();
    if sum.keys == 0 { Vec::new() } else { steps }
}
