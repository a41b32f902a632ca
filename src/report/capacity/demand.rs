//! Nodes needed now and at later dates, as it is and under each what-if question.

use std::collections::BTreeSet;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::{CapacityPlan, Figure};
use crate::report::diff::trend::{DAY, MAX_DAYS_AHEAD, Trend, rounded};
use crate::report::{Alternative, NamedReport};
use crate::units::{Bytes, Millis};

/// Days ahead of the snapshot for which nodes are computed, before the last date asked for.
const AHEAD: [u64; 4] = [30, 90, 180, 365];

/// Nodes needed under each scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Demand {
    /// Dates, ascending; the first is that of the snapshot, null if it has none.
    pub dates: Vec<Option<Millis>>,
    /// Date at which shrinking memory would reach zero: there is no forecast from then on, and there are no later dates. Null if
    /// memory does not shrink, or not within a hundred years, or growth is not known.
    pub nothing_at: Option<Millis>,
    /// The deployment as it is, then each what-if question in the order asked. Empty if the memory of all keys is unknown.
    pub scenarios: Vec<Scenario>,
}

/// One way to run the deployment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Scenario {
    /// The what-if question; null for the deployment as it is.
    pub what_if: Option<String>,
    /// Memory model of the figures. The first server's.
    pub model: String,
    /// Need at each of the dates.
    pub needs: Vec<NodeNeed>,
    /// Date at which the nodes asked for, or else those needed today, no longer suffice; null if growth does not come to it
    /// within a hundred years, or is not known.
    pub full_at: Option<Millis>,
}

/// Need at one date.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct NodeNeed {
    /// Memory of all servers together.
    pub total: Bytes,
    /// Least and most memory by the confidence interval of growth; null where there is none.
    pub total_range: Option<[Bytes; 2]>,
    /// Number of nodes.
    pub nodes: u64,
    /// Least and most nodes by the confidence interval of growth; null where there is none.
    pub nodes_range: Option<[u64; 2]>,
    /// Mean part of the memory of these nodes that is taken, in thousandths.
    pub fill_permille: u64,
    /// Price of these nodes a month; null without a price.
    pub cost_per_month: Option<f64>,
}

impl Demand {
    /// Returns the nodes that the deployment needs as it is now.
    pub fn nodes_today(&self) -> u64 {
        self.scenarios.first().and_then(|scenario| scenario.needs.first()).map_or(1, |need| need.nodes)
    }
}

/// Computes the need of all servers together. `now` is the time of the present snapshots.
pub(super) fn demand(
    servers: &[NamedReport],
    figure: Figure,
    trend: Option<&Trend>,
    now: Option<Millis>,
    plan: &CapacityPlan,
) -> Demand {
    let total = figure.sum(servers);
    let end = days_to_nothing(total, trend);
    let days = days_ahead(trend, now, plan.until, end);
    let date = |day: f64| now.map(|now| Millis(now.0.saturating_add(rounded(day * DAY))));
    let model = servers.first().map_or_else(String::new, |named| named.report.server.model.clone());
    let scenario = |what_if: Option<String>, model: String, scaled: Bytes| {
        // Growth is of the same keys, so it shrinks and swells as they do.
        let scale = if total.0 == 0 { 1.0 } else { scaled.0 as f64 / total.0 as f64 };
        let need = |day: &f64| need(scaled, scale, *day, trend, plan);
        let needs: Vec<NodeNeed> = days.iter().map(need).collect();
        let nodes = plan.nodes.or_else(|| needs.first().map(|need| need.nodes)).unwrap_or(1);
        let full_at = full_day(scaled, scale, nodes, trend, plan).and_then(date);
        Scenario { what_if, model, needs, full_at }
    };
    let mut scenarios = vec![scenario(None, model, total)];
    scenarios
        .extend(alternatives(servers, figure).into_iter().map(|(ask, model, sum)| scenario(Some(ask), model, sum)));
    let nothing_at = end.filter(|day| *day <= MAX_DAYS_AHEAD).and_then(date);
    Demand { dates: days.iter().map(|day| date(*day)).collect(), nothing_at, scenarios }
}

/// Returns the days until a falling line reaches zero. It is the same under each question, as growth is scaled with the memory.
fn days_to_nothing(total: Bytes, trend: Option<&Trend>) -> Option<f64> {
    let shrinks = trend.filter(|trend| trend.per_day < 0)?.per_day.unsigned_abs();
    Some(total.0 as f64 / shrinks as f64)
}

/// Returns the days after the snapshot for which there is a figure: today only, if growth is not known, and none from the `end` of the
/// line on.
fn days_ahead(trend: Option<&Trend>, now: Option<Millis>, until: Option<Millis>, end: Option<f64>) -> Vec<f64> {
    let mut days = vec![0.0];
    let (Some(_), Some(now)) = (trend, now) else { return days };
    let last = until.map(|until| until.0.saturating_sub(now.0) as f64 / DAY);
    days.extend(AHEAD.map(|day| day as f64).into_iter().filter(|day| last.is_none_or(|last| *day < last)));
    days.extend(last.filter(|last| *last > 0.0));
    days.retain(|day| *day == 0.0 || end.is_none_or(|end| *day < end));
    days
}

fn need(total: Bytes, scale: f64, day: f64, trend: Option<&Trend>, plan: &CapacityPlan) -> NodeNeed {
    let after =
        |per_day: i64| Bytes(u64::try_from(rounded(total.0 as f64 + per_day as f64 * scale * day)).unwrap_or(0));
    let later = trend.map_or(total, |trend| after(trend.per_day));
    let range = trend.and_then(|trend| trend.per_day_range).filter(|_| day > 0.0).map(|range| range.map(after));
    let nodes = plan.nodes_for(later);
    let whole = u128::from(plan.node_memory.0.max(1)) * u128::from(nodes);
    NodeNeed {
        total: later,
        total_range: range,
        nodes,
        nodes_range: range.map(|range| range.map(|total| plan.nodes_for(total))),
        fill_permille: u64::try_from((u128::from(later.0) * 1000 + whole / 2) / whole).unwrap_or(u64::MAX),
        cost_per_month: plan.cost(nodes),
    }
}

/// Returns the day after the snapshot at which `nodes` nodes are full.
fn full_day(total: Bytes, scale: f64, nodes: u64, trend: Option<&Trend>, plan: &CapacityPlan) -> Option<f64> {
    let room = plan.usable().0 as f64 * nodes as f64 - total.0 as f64;
    let day = room.max(0.0) / (trend?.per_day as f64 * scale);
    (day.is_finite() && (0.0..=MAX_DAYS_AHEAD).contains(&day)).then_some(day)
}

/// Adds up what each question gives over all servers; questions that not every server was asked are left out.
fn alternatives(servers: &[NamedReport], figure: Figure) -> Vec<(String, String, Bytes)> {
    let answers = |named: &NamedReport| named.report.what_if.iter().flat_map(|it| it.alternatives.clone()).collect();
    // A server without keys is as empty whatever is asked.
    let asked_of = || servers.iter().filter(|named| !named.report.is_of_empty_server());
    let mut first: Vec<Alternative> = asked_of().next().map_or_else(Vec::new, answers);
    let mut asked = BTreeSet::new();
    first.retain(|alternative| asked.insert(alternative.ask.clone()));
    let sum = |Alternative { ask, model, .. }: Alternative| {
        let mut sum = Bytes(0);
        for NamedReport { report, .. } in asked_of() {
            let alternative = report.what_if.as_ref()?.alternatives.iter().find(|it| it.ask == ask)?;
            let whole = alternative.total.filter(|_| figure == Figure::Total);
            sum += whole.unwrap_or(alternative.memory);
        }
        Some((ask, model, sum))
    };
    first.into_iter().filter_map(sum).collect()
}
