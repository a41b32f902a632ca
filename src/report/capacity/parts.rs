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
use crate::units::{Bytes, DAY_SECONDS};

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
    /// Present if the figures are no exact sums, because a stored report hides prefixes or has no owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
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
    /// At most this: others may have a part of it.
    Most,
}

impl Bound {
    /// Returns its name in JSON, CSV and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::Least => "least",
            Bound::Most => "most",
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
    let mut parts = Vec::new();
    // A single segment is the whole deployment; a single owner may have others beside it that are not in the dictionary.
    for (by, sums, least) in [(Division::Prefix, prefixes(servers), 2), (Division::Owner, owners(servers), 1)] {
        if sums.len() >= least {
            parts.extend(listed(by, sums, servers, figure, plan));
        }
    }
    parts
}

/// Lists the heaviest parts, and all other keys as one.
fn listed(
    by: Division,
    mut rows: Vec<NamedSum>,
    servers: &[NamedReport],
    figure: Figure,
    plan: &CapacityPlan,
) -> Vec<BusinessPart> {
    let all: Weight = servers.iter().map(|named| named.report.weight()).sum();
    let total = figure.sum(servers);
    // Stable: of equals the first by name comes first.
    rows.compact_sort_by_key(|row| Reverse(row.weight.memory));
    rows.truncate(plan.top);
    let named: Weight = rows.iter().map(|row| row.weight).sum();
    let others = Weight {
        keys: all.keys.saturating_sub(named.keys),
        memory: Bytes(all.memory.0.saturating_sub(named.memory.0)),
    };
    let with_tables = |memory: Bytes| {
        let scaled = u128::from(memory.0) * u128::from(total.0) / u128::from(all.memory.0.max(1));
        Bytes(u64::try_from(scaled).unwrap_or(u64::MAX))
    };
    let part = |name: Option<String>, Weight { keys, memory }: Weight, bound: Option<Bound>| {
        let total = with_tables(memory);
        BusinessPart { by, name, keys, memory, total, nodes: plan.nodes_for(total), bound }
    };
    // What the listed parts lack is among the others.
    let lacks = rows.iter().any(|row| row.lacks);
    let mut parts: Vec<BusinessPart> = rows
        .into_iter()
        .map(|row| part(Some(row.name.to_owned()), row.weight, row.lacks.then_some(Bound::Least)))
        .collect();
    if others.keys > 0 {
        parts.push(part(None, others, lacks.then_some(Bound::Most)));
    }
    parts
}

/// Returns whether a report does not tell businesses apart: too many first segments are counted together.
pub(super) fn is_crowded(report: &Report) -> bool {
    report.prefixes.tree.iter().any(|node| node.segment == COLLAPSED && node.prefix != node.segment)
}

fn prefixes<'r>(servers: &'r [NamedReport]) -> Vec<NamedSum<'r>> {
    // A business of one server may be hidden in another.
    let servers = if servers.iter().any(|named| is_crowded(&named.report)) { &[] } else { servers };
    let rows = |report: &'r Report| {
        let nodes = report.prefixes.tree.iter();
        nodes.map(|node| (node.prefix.as_str(), Weight { keys: node.keys, memory: node.memory }))
    };
    by_name(servers, rows, |report| report.prefixes.hidden.nodes > 0)
}

fn owners<'r>(servers: &'r [NamedReport]) -> Vec<NamedSum<'r>> {
    let rows = |report: &'r Report| {
        let owners = by_owner(report);
        owners.filter_map(|(owner, weight)| Some((owner?, weight)))
    };
    by_name(servers, rows, has_no_owners)
}

/// Returns the keys of each owner in one server, and of none.
fn by_owner(report: &Report) -> impl Iterator<Item = (Option<&str>, Weight)> {
    let rows = report.findings.by_owner.iter();
    rows.map(|row| (row.owner.as_deref(), Weight { keys: row.keys, memory: row.memory }))
}

/// Keys of one name in all servers.
struct NamedSum<'r> {
    name: &'r str,
    weight: Weight,
    /// True if a server may have more of them that it does not list.
    lacks: bool,
}

/// Adds up the rows of all servers by name. The list of a server that `is_cut` may lack some.
fn by_name<'r, R: Iterator<Item = (&'r str, Weight)>>(
    servers: &'r [NamedReport],
    rows: impl Fn(&'r Report) -> R,
    is_cut: impl Fn(&Report) -> bool,
) -> Vec<NamedSum<'r>> {
    // With the number of servers that list the name although their lists are cut.
    let mut sums: BTreeMap<&str, (Weight, usize)> = BTreeMap::new();
    let mut cut = 0;
    for NamedReport { report, .. } in servers {
        let is_cut = usize::from(is_cut(report));
        cut += is_cut;
        for (name, weight) in rows(report) {
            let (sum, known) = sums.entry(name).or_default();
            sum.merge(weight);
            *known += is_cut;
        }
    }
    let row = |(name, (weight, known))| NamedSum { name, weight, lacks: known < cut };
    sums.into_iter().map(row).collect()
}

/// Adds up keys that were not accessed for 7, 30 and 90 days.
pub(super) fn cold(servers: &[NamedReport]) -> Vec<ColdStep> {
    let idle: Vec<&Idle> = servers.iter().filter_map(|named| named.report.idle.as_ref()).collect();
    let step = |days: u64| {
        let Weight { keys, memory } = idle.iter().map(|idle| unused_for(idle, days)).sum();
        ColdStep { days, keys, memory }
    };
    if idle.is_empty() { Vec::new() } else { COLD_DAYS.map(step).into() }
}

/// Adds up the keys of one server that were not accessed for `days` days.
fn unused_for(idle: &Idle, days: u64) -> Weight {
    // A class lies beyond the limit if the one before it ends there or later.
    let begins = std::iter::once(Some(0)).chain(idle.classes.iter().map(|class| class.below_s));
    let is_beyond = |begin: Option<u64>| begin.is_some_and(|begin| begin >= days * DAY_SECONDS);
    let beyond = begins.zip(&idle.classes).filter(|(begin, _)| is_beyond(*begin));
    beyond.map(|(_, class)| Weight { keys: class.keys, memory: class.memory }).sum()
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
    match by {
        ColdDivision::Pattern => {
            let rows = report.patterns.list.iter();
            rows.map(|row| (Some(row.pattern.as_str()), Weight { keys: row.keys, memory: row.memory })).collect()
        }
        ColdDivision::Owner => by_owner(report).collect(),
    }
}

/// Returns whether [`weights`] may lack parts.
fn is_cut(report: &Report, by: ColdDivision) -> bool {
    match by {
        ColdDivision::Pattern => !report.lists_all_patterns(),
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
