//! Parts of the memory that could move or go: instances by business, cold data, keys that expire.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::{CapacityPlan, Figure};
use crate::pattern::joined::COLLAPSED;
use crate::report::{COLD_DAYS, ColdDivision, ColdPart, ColdStep, NamedReport, Report, Weight};
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
    const DAY_SECONDS: u64 = 86_400;
    let idle: Vec<_> = servers.iter().filter_map(|named| named.report.idle.as_ref()).collect();
    let step = |days: u64| {
        // A class lies beyond the limit if the one before it ends there or later.
        let beyond = idle.iter().flat_map(|idle| {
            let begins = std::iter::once(Some(0)).chain(idle.classes.iter().map(|class| class.below_s));
            begins.zip(&idle.classes).filter(move |(begin, _)| begin.is_some_and(|begin| begin >= days * DAY_SECONDS))
        });
        let sum = sum(beyond.map(|(_, class)| Weight { keys: class.keys, memory: class.memory }));
        ColdStep { days, keys: sum.keys, memory: sum.memory }
    };
    if idle.is_empty() { Vec::new() } else { COLD_DAYS.map(step).into() }
}

/// Adds up cold keys by pattern and by owner, those first that would free most. A report lists its first patterns only, so what
/// is rare in one of several servers may count too little.
pub(super) fn cold_parts(servers: &[NamedReport], top: usize) -> Vec<ColdPart> {
    let mut parts: BTreeMap<(ColdDivision, Option<&str>), ColdPart> = BTreeMap::new();
    for part in servers.iter().flat_map(|named| &named.report.idle).flat_map(|idle| &idle.parts) {
        match parts.entry((part.by, part.name.as_deref())) {
            Entry::Vacant(place) => {
                place.insert(part.clone());
            }
            Entry::Occupied(mut place) => {
                let sum = place.get_mut();
                sum.keys = sum.keys.saturating_add(part.keys);
                sum.memory += part.memory;
                for (sum, step) in sum.steps.iter_mut().zip(&part.steps) {
                    sum.keys = sum.keys.saturating_add(step.keys);
                    sum.memory += step.memory;
                }
            }
        }
    }
    let mut parts: Vec<ColdPart> = parts.into_values().collect();
    // Stable: of equals the first by name comes first.
    parts.compact_sort_by_key(|part| (part.by, Reverse(part.cold())));
    let of = |by: ColdDivision| parts.iter().filter(move |part| part.by == by).take(top).cloned();
    of(ColdDivision::Pattern).chain(of(ColdDivision::Owner)).collect()
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
