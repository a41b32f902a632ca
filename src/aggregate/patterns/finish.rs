//! Conversion of the tree of patterns to sections of the report.

use std::cmp::Reverse;

use super::counts::{LeafSums, NEVER};
use super::facts::PatternFacts;
use super::{BrokenPatterns, Listed, PatternSections, PatternsPlan};
use crate::aggregate::parts::ColdKeys;
use crate::pattern::joined::COLLAPSED;
use crate::pattern::tree::{PatternTree, PlaceId, TreeNode};
use crate::policy::Violation;
use crate::policy::forest::{Forest, PatternNode, PatternSums};
use crate::policy::rules::instance::mixed::SEGMENT_LEVELS;
use crate::record::Kind;
use crate::report::{
    ColdDivision, ColdPart, Example, FindingPattern, FirstSegment, Hidden, PatternFindings, PatternRow, PatternWeight,
    Patterns, PrefixNode, Prefixes, RuleWeight, TypeCount, Weight, WhatIfPattern, Worst,
};
use crate::units::{Bytes, Millis};

/// Builds all sections.
pub(super) fn sections(tree: &PatternTree<PatternFacts>, plan: &PatternsPlan) -> PatternSections {
    let mut lists = PatternLists {
        total: 0,
        unknown: 0,
        patterns: TopPatterns::new(plan.listed.max(plan.compared)),
        no_ttl: TopPatterns::new(plan.top),
        broken: plan
            .rules
            .iter()
            .map(|_| BreakingPatterns { worst: None, best: TopPatterns::new(plan.breaking()) })
            .collect(),
        worst: TopPatterns::new(plan.top),
        what_if: TopPatterns::new(plan.top),
        cold: TopPatterns::new(plan.listed),
        plan,
    };
    lists.visit(tree.root(), &mut String::new());
    let (total, unknown) = (lists.total, lists.unknown);
    let (first, crowded) = first(tree.root(), SEGMENT_LEVELS);
    let (_, level) = PrefixCut { plan, total, unknown }.level(tree.root(), plan.depth, &mut String::new());
    let broken = lists.broken.into_iter().enumerate();
    let broken = broken.map(|(bit, BreakingPatterns { worst, best })| {
        let worst = worst.map(|farthest| farthest.violation).filter(|violation| has_measurement(plan, bit, violation));
        let worst = worst.map(|violation| Worst { measured: violation.measured, allowed: Some(violation.allowed) });
        BrokenPatterns { distinct: best.offered, worst, list: breaking(plan, bit, best) }
    });
    PatternSections {
        prefixes: Prefixes {
            depth: plan.depth,
            min_share: plan.min_share,
            tree: level.shown,
            hidden: level.hidden,
            first,
            crowded,
        },
        patterns: Patterns {
            distinct: lists.patterns.offered,
            level_limit: tree.limits().top as u64,
            list: lists.patterns.sorted().into_iter().map(|row| pattern_row(row, total)).collect(),
        },
        no_ttl: lists.no_ttl.listed(|row| Some(no_ttl_row(row))),
        broken: broken.collect(),
        worst: lists.worst.sorted().into_iter().map(|row| pattern_findings(plan, row)).collect(),
        what_if: lists.what_if.listed(|row| Some(what_if_row(row))),
        cold: lists.cold.listed(cold_part),
        strict: tree.is_strict(),
    }
}

/// Returns the first segments of names below a node: literal ones that other segments follow. The keys of those that are collapsed
/// to `{*}` are summed up.
fn first(node: TreeNode<'_, PatternFacts>, levels: usize) -> (Vec<FirstSegment>, Weight) {
    let goes_on = |child: &TreeNode<'_, PatternFacts>| !child.name().is_empty() && !child.separator().is_empty();
    let (mut first, mut collapsed): (Vec<FirstSegment>, _) = (Vec::new(), Weight::default());
    for child in children(node).into_iter().filter(goes_on) {
        let below = || {
            let LeafSums { keys, memory, .. } = all(child);
            Weight { keys, memory }
        };
        if child.varies() {
            if child.name() == COLLAPSED {
                collapsed.merge(below());
            }
            continue;
        }
        let below = below();
        let (next, crowded) = if levels > 1 { self::first(child, levels - 1) } else { Default::default() };
        match first.last_mut().filter(|last| last.segment == child.name()) {
            // The same segment with another separator.
            Some(last) => {
                last.weight.merge(below);
                last.next.extend(next);
                last.crowded.merge(crowded);
            }
            None => {
                first.push(FirstSegment { segment: child.name().to_owned(), weight: below, next, crowded });
            }
        }
    }
    (first, collapsed)
}

/// Sums up a place and everything below it. Recurses as deep as the tree, whose depth is limited.
fn all(node: TreeNode<'_, PatternFacts>) -> LeafSums {
    let mut sums = node.payload().map_or_else(LeafSums::default, PatternFacts::sums);
    node.children().for_each(|child| sums.add(&all(child)));
    sums
}

/// Returns a fraction of the total; 0 if the total is 0.
fn share(memory: Bytes, total: u64) -> f64 {
    if total == 0 { 0.0 } else { memory.0 as f64 / total as f64 }
}

fn pattern_row(row: ListedPattern<'_>, total: u64) -> PatternRow {
    let LeafSums { keys, memory, disk, elements, without_ttl, last_expiry, unknown, .. } = row.facts.sums();
    let types = Kind::ALL.iter().zip(row.facts.kinds).filter(|(_, keys)| *keys > 0);
    let nothing = Example { db: 0, key: [].as_slice().into(), memory: None };
    PatternRow {
        pattern: row.text,
        keys,
        memory,
        share: share(memory, total),
        mean: Bytes(memory.0.checked_div(keys.saturating_sub(unknown.keys)).unwrap_or(0)),
        disk,
        elements,
        without_ttl,
        last_expiry: (last_expiry != NEVER).then_some(Millis(last_expiry)),
        types: types.map(|(&kind, keys)| TypeCount { kind, keys }).collect(),
        example: row.facts.heaviest().unwrap_or(nothing),
        unknown,
    }
}

fn what_if_row(row: ListedPattern<'_>) -> WhatIfPattern {
    let Weight { keys, memory } = row.weight;
    let alternatives = row.facts.alternatives().map_or_else(Vec::new, |(_, then)| then.to_vec());
    WhatIfPattern { pattern: row.text, keys, memory, alternatives }
}

fn cold_part(row: ListedPattern<'_>) -> Option<ColdPart> {
    let Weight { keys, memory } = row.weight;
    let steps = row.facts.cold()?.steps();
    Some(ColdPart { by: ColdDivision::Pattern, name: Some(row.text), keys, memory, steps })
}

fn no_ttl_row(row: ListedPattern<'_>) -> PatternWeight {
    let Weight { keys, memory } = row.weight;
    PatternWeight { pattern: row.text, keys, memory, examples: row.facts.without_ttl() }
}

/// Returns the patterns that break a rule, heaviest first.
fn breaking(plan: &PatternsPlan, bit: usize, best: TopPatterns<'_>) -> Vec<FindingPattern> {
    let saves = plan.rules.get(bit).is_some_and(|rule| rule.saves);
    let pattern = |row: ListedPattern<'_>| {
        let worst = Some(row.facts.worst(bit)).filter(|worst| has_measurement(plan, bit, worst));
        FindingPattern {
            pattern: Some(row.text),
            keys: row.weight.keys,
            memory: row.weight.memory,
            measured: worst.map(|worst| worst.measured),
            allowed: worst.map(|worst| worst.allowed),
            saves: saves.then(|| row.facts.saves(bit)),
            examples: row.facts.breaking(bit),
            ..FindingPattern::default()
        }
    };
    best.sorted().into_iter().map(pattern).collect()
}

/// Returns whether a rule measures a number, and measured one here.
fn has_measurement(plan: &PatternsPlan, bit: usize, violation: &Violation) -> bool {
    plan.rules.get(bit).is_some_and(|rule| rule.measures) && violation.measured != violation.allowed
}

/// Returns all rules that the keys of one pattern break.
fn pattern_findings(plan: &PatternsPlan, row: ListedPattern<'_>) -> PatternFindings {
    let LeafSums { keys, memory, .. } = row.facts.sums();
    let mut rules: Vec<_> =
        row.facts.broken_rules().filter_map(|(bit, weight)| plan.rules.get(bit).map(|rule| (*rule, weight))).collect();
    rules.sort_by_key(|(rule, weight)| (Reverse(rule.severity), Reverse(weight.memory), Reverse(weight.keys), rule.id));
    let rule = |(rule, weight): (super::RuleBit, Weight)| RuleWeight {
        rule: rule.id.into(),
        severity: rule.severity,
        keys: weight.keys,
        memory: weight.memory,
    };
    PatternFindings { pattern: row.text, owner: None, keys, memory, rules: rules.into_iter().map(rule).collect() }
}

/// Returns all nodes of the tree as a flat list, and the place of each.
pub(super) fn forest(tree: &PatternTree<PatternFacts>) -> (Forest<'_>, Vec<PlaceId>) {
    let mut planted = Planted { nodes: Vec::new(), places: Vec::new() };
    planted.plant(tree.root(), None, &mut String::new());
    (Forest { nodes: planted.nodes, strict: tree.is_strict(), seconds: None }, planted.places)
}

/// Nodes of a tree as a flat list.
struct Planted<'a> {
    nodes: Vec<PatternNode<'a>>,
    /// Place of each of the nodes.
    places: Vec<PlaceId>,
}

impl<'a> Planted<'a> {
    /// Adds everything below a node. Recurses as deep as the tree, whose depth is limited.
    fn plant(&mut self, node: TreeNode<'a, PatternFacts>, above: Option<usize>, path: &mut String) {
        for child in children(node) {
            let whole = path.len();
            path.push_str(child.name());
            path.push_str(child.separator());
            let at = self.nodes.len();
            self.places.push(child.place());
            self.nodes.push(PatternNode {
                text: path.clone(),
                segment: child.name(),
                varies: child.varies(),
                parent: above,
                facts: child.payload().map(sums),
                expiries: child.payload().and_then(PatternFacts::expiries),
                ids: child.payload().and_then(PatternFacts::ids),
                secrets: child.payload().and_then(PatternFacts::secrets),
                tokens: child.payload().and_then(PatternFacts::tokens),
            });
            self.plant(child, Some(at), path);
            path.truncate(whole);
        }
    }
}

fn sums(facts: &PatternFacts) -> PatternSums {
    let LeafSums { keys, memory, name_bytes, content, without_ttl, last_expiry, .. } = facts.sums();
    let last_expiry = (last_expiry != NEVER).then_some(Millis(last_expiry));
    let (kinds, example) = (facts.kinds, facts.heaviest());
    PatternSums { keys, memory, name_bytes, content, without_ttl, last_expiry, kinds, example }
}

/// Returns the children in a defined order, since that of the tree's lists depends on the order of keys.
fn children<'a>(node: TreeNode<'a, PatternFacts>) -> Vec<TreeNode<'a, PatternFacts>> {
    let mut children: Vec<_> = node.children().collect();
    children.sort_unstable_by_key(|child| child.order());
    children
}

/// Leaves, sorted into the lists of the report.
struct PatternLists<'a> {
    total: u64,
    /// Bytes in the file of all keys of unknown memory.
    unknown: u64,
    patterns: TopPatterns<'a>,
    no_ttl: TopPatterns<'a>,
    /// By bit of the rule.
    broken: Vec<BreakingPatterns<'a>>,
    worst: TopPatterns<'a>,
    what_if: TopPatterns<'a>,
    /// By memory out of use.
    cold: TopPatterns<'a>,
    plan: &'a PatternsPlan,
}

impl<'a> PatternLists<'a> {
    /// Adds all leaves below a place. Recurses as deep as the tree, whose depth is limited.
    fn visit(&mut self, node: TreeNode<'a, PatternFacts>, path: &mut String) {
        if let Some(facts) = node.payload() {
            self.leaf(facts, path);
        }
        for child in children(node) {
            let whole = path.len();
            path.push_str(child.name());
            path.push_str(child.separator());
            self.visit(child, path);
            path.truncate(whole);
        }
    }

    fn leaf(&mut self, facts: &'a PatternFacts, text: &str) {
        let LeafSums { keys, memory, without_ttl, unknown, .. } = facts.sums();
        self.total = self.total.saturating_add(memory.0);
        self.unknown = self.unknown.saturating_add(unknown.stored_bytes.0);
        // Among patterns of unknown memory, those with most bytes in the file come first.
        self.patterns.offer((memory.0, unknown.stored_bytes.0), Weight { keys, memory }, text, facts);
        if without_ttl.keys > 0 {
            // Among patterns of unknown memory, those with most keys come first.
            let keys = if without_ttl.memory == Bytes(0) { without_ttl.keys } else { 0 };
            self.no_ttl.offer((without_ttl.memory.0, keys), without_ttl, text, facts);
        }
        if let Some((now, _)) = facts.alternatives() {
            self.what_if.offer((facts.largest_difference(), now.0), Weight { keys, memory: now }, text, facts);
        }
        if let Some(cold) = facts.cold().map(ColdKeys::least) {
            self.cold.offer((cold.memory.0, cold.keys), Weight { keys, memory }, text, facts);
        }
        for (rule, weight) in facts.broken_rules() {
            if let Some(breaking) = self.broken.get_mut(rule) {
                breaking.add(facts.worst(rule), weight, text, facts);
            }
        }
        let grave =
            |(bit, weight): (usize, Weight)| self.plan.rules.get(bit).map(|rule| (rule.severity as u64, weight));
        if let Some((severity, weight)) =
            facts.broken_rules().filter_map(grave).max_by_key(|(severity, weight)| (*severity, weight.memory))
        {
            self.worst.offer((severity, weight.memory.0), weight, text, facts);
        }
    }
}

/// Patterns that break one rule.
struct BreakingPatterns<'a> {
    /// Worst violation of all patterns, listed or not: the list goes by weight.
    worst: Option<WorstViolation>,
    best: TopPatterns<'a>,
}

/// Violation ranked by its deviation from the limit, then by the weight of its pattern.
struct WorstViolation {
    rank: (u64, u64, u64),
    violation: Violation,
}

impl<'a> BreakingPatterns<'a> {
    fn add(&mut self, violation: Violation, weight: Weight, text: &str, facts: &'a PatternFacts) {
        let rank = (violation.measured.abs_diff(violation.allowed), weight.memory.0, weight.keys);
        if self.worst.as_ref().is_none_or(|worst| worst.rank < rank) {
            self.worst = Some(WorstViolation { rank, violation });
        }
        self.best.offer((weight.memory.0, weight.keys), weight, text, facts);
    }
}

/// Pattern in a list.
struct ListedPattern<'a> {
    rank: (u64, u64),
    weight: Weight,
    text: String,
    facts: &'a PatternFacts,
}

/// The first rows of a list. Rows beyond the limit are dropped in batches.
struct TopPatterns<'a> {
    limit: usize,
    /// Number of all rows, listed or not.
    offered: u64,
    rows: Vec<ListedPattern<'a>>,
    /// Lowest rank among the first rows; lower ones are rejected at once.
    least: (u64, u64),
}

impl<'a> TopPatterns<'a> {
    fn new(limit: usize) -> Self {
        TopPatterns { limit, offered: 0, rows: Vec::new(), least: (0, 0) }
    }

    fn offer(&mut self, rank: (u64, u64), weight: Weight, text: &str, facts: &'a PatternFacts) {
        self.offered += 1;
        if rank < self.least {
            return;
        }
        self.rows.push(ListedPattern { rank, weight, text: text.to_string(), facts });
        if self.rows.len() >= self.limit.saturating_mul(2).saturating_add(1024) {
            self.trim();
        }
    }

    /// Drops rows beyond the limit. The sort is stable: rows of the same text stay in the order of the sorted tree.
    fn trim(&mut self) {
        self.rows.sort_by(|a, b| (Reverse(a.rank), &a.text).cmp(&(Reverse(b.rank), &b.text)));
        self.rows.truncate(self.limit);
        if self.rows.len() == self.limit {
            self.least = self.rows.last().map_or((u64::MAX, u64::MAX), |last| last.rank);
        }
    }

    fn sorted(mut self) -> Vec<ListedPattern<'a>> {
        self.trim();
        self.rows
    }

    fn listed<T>(self, row: impl FnMut(ListedPattern<'a>) -> Option<T>) -> Listed<T> {
        Listed { distinct: self.offered, rows: self.sorted().into_iter().filter_map(row).collect() }
    }
}

/// Limits of the tree of prefixes: small prefixes are summed up as hidden.
#[derive(Clone, Copy)]
struct PrefixCut<'a> {
    plan: &'a PatternsPlan,
    total: u64,
    unknown: u64,
}

/// Children of a place as rows.
#[derive(Default)]
struct PrefixLevel {
    shown: Vec<PrefixNode>,
    hidden: Hidden,
}

impl PrefixCut<'_> {
    /// Returns the sums over a place, and `depth` levels of rows below it. Recurses as deep as the tree, whose depth is
    /// limited.
    fn level(self, node: TreeNode<'_, PatternFacts>, depth: usize, path: &mut String) -> (LeafSums, PrefixLevel) {
        let mut sums = node.payload().map_or_else(LeafSums::default, PatternFacts::sums);
        let mut level = PrefixLevel::default();
        for child in children(node) {
            let whole = path.len();
            path.push_str(child.name());
            path.push_str(child.separator());
            let (below, next) = self.level(child, depth.saturating_sub(1), path);
            let shown = depth > 0 && self.shows(&below);
            if shown {
                level.shown.push(self.row(path.clone(), child, &below, next));
            } else {
                hide(&mut level.hidden, &below);
            }
            path.truncate(whole);
            sums.add(&below);
        }
        let rank = |node: &PrefixNode| Reverse((node.memory, node.unknown.stored_bytes));
        level.shown.sort_by(|a, b| (rank(a), &a.prefix).cmp(&(rank(b), &b.prefix)));
        (sums, level)
    }

    /// Returns whether a place has enough of the memory, or of the stored bytes of keys whose memory is unknown.
    fn shows(self, below: &LeafSums) -> bool {
        let of_unknown = || share(below.unknown.stored_bytes, self.unknown);
        let is_unknown = !below.unknown.is_none() && of_unknown() >= self.plan.min_share;
        is_unknown || share(below.memory, self.total) >= self.plan.min_share
    }

    fn row(self, prefix: String, node: TreeNode<'_, PatternFacts>, below: &LeafSums, next: PrefixLevel) -> PrefixNode {
        PrefixNode {
            prefix,
            segment: node.name().to_string(),
            keys: below.keys,
            memory: below.memory,
            share: share(below.memory, self.total),
            disk: below.disk,
            elements: below.elements,
            without_ttl: below.without_ttl,
            children: next.shown,
            hidden: next.hidden,
            unknown: below.unknown,
        }
    }
}

fn hide(hidden: &mut Hidden, sums: &LeafSums) {
    hidden.nodes = hidden.nodes.saturating_add(1);
    hidden.keys = hidden.keys.saturating_add(sums.keys);
    hidden.memory += sums.memory;
}
