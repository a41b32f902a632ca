//! From the tree of patterns to the sections of the report.

use std::cmp::Reverse;

use super::facts::{NEVER, PatternFacts, Sums};
use super::{BrokenPatterns, PatternSections, PatternsPlan};
use crate::pattern::tree::{Node, PatternTree};
use crate::policy::Violation;
use crate::policy::forest::{Forest, PatternNode, PatternSums};
use crate::record::Kind;
use crate::report::{
    Example, FindingPattern, FirstSegment, Hidden, PatternFindings, PatternRow, PatternWeight, Patterns, PrefixNode,
    Prefixes, RuleWeight, TypeCount, Weight, WhatIfPattern, Worst,
};
use crate::units::{Bytes, Millis};

/// Makes all sections.
pub(super) fn sections(tree: &PatternTree<PatternFacts>, plan: &PatternsPlan) -> PatternSections {
    let mut lists = Lists {
        total: 0,
        distinct: 0,
        patterns: Best::new(plan.top),
        no_ttl: Best::new(plan.top),
        broken: plan.rules.iter().map(|_| Breaking { distinct: 0, worst: None, best: Best::new(plan.top) }).collect(),
        worst: Best::new(plan.top),
        what_if: Best::new(plan.top),
        plan,
    };
    lists.visit(tree.root(), &mut String::new());
    let total = lists.total;
    let (_, level) = Cut { plan, total }.level(tree.root(), plan.depth, &mut String::new());
    let broken = lists.broken.into_iter().enumerate();
    let broken = broken.map(|(bit, Breaking { distinct, worst, best })| {
        let worst = worst.map(|farthest| farthest.violation).filter(|violation| says_something(plan, bit, violation));
        let worst = worst.map(|violation| Worst { measured: violation.measured, allowed: Some(violation.allowed) });
        BrokenPatterns { distinct, worst, list: breaking(plan, bit, best) }
    });
    PatternSections {
        prefixes: Prefixes {
            depth: plan.depth,
            min_share: plan.min_share,
            tree: level.shown,
            hidden: level.hidden,
            first: first(tree),
        },
        patterns: Patterns {
            distinct: lists.distinct,
            level_limit: tree.limits().top as u64,
            list: lists.patterns.sorted().into_iter().map(|row| pattern_row(row, total)).collect(),
        },
        no_ttl_patterns: weights(lists.no_ttl, PatternFacts::without_ttl),
        broken: broken.collect(),
        worst: lists.worst.sorted().into_iter().map(|row| pattern_findings(plan, row)).collect(),
        what_if: lists.what_if.sorted().into_iter().map(what_if_row).collect(),
        strict: tree.is_strict(),
    }
}

/// What names begin with, as far as it says something and they go on.
fn first(tree: &PatternTree<PatternFacts>) -> Vec<FirstSegment> {
    let goes_on =
        |child: &Node<'_, PatternFacts>| !child.varies() && !child.name().is_empty() && !child.separator().is_empty();
    let mut first: Vec<FirstSegment> = Vec::new();
    for child in children(tree.root()).into_iter().filter(goes_on) {
        let below = all(child);
        match first.last_mut().filter(|last| last.segment == child.name()) {
            // The same name before another separator.
            Some(last) => {
                last.weight.merge(Weight { keys: below.keys, memory: below.memory });
            }
            None => first.push(FirstSegment {
                segment: child.name().to_owned(),
                weight: Weight { keys: below.keys, memory: below.memory },
            }),
        }
    }
    first
}

/// The sums over a place and all below. Recurses as deep as the tree, which its limits bound.
fn all(node: Node<'_, PatternFacts>) -> Sums {
    let mut sums = node.payload().map_or_else(Sums::default, PatternFacts::sums);
    node.children().for_each(|child| sums.add(&all(child)));
    sums
}

/// The part of the whole; nothing of nothing is nothing.
fn share(memory: Bytes, total: u64) -> f64 {
    if total == 0 { 0.0 } else { memory.0 as f64 / total as f64 }
}

fn pattern_row(row: Row<'_>, total: u64) -> PatternRow {
    let Sums { keys, memory, disk, elements, without_ttl, last_expiry, .. } = row.facts.sums();
    let types = Kind::ALL.iter().zip(row.facts.kinds).filter(|(_, keys)| *keys > 0);
    let nothing = Example { db: 0, key: [].as_slice().into(), memory: Bytes(0) };
    PatternRow {
        pattern: row.text,
        keys,
        memory,
        share: share(memory, total),
        mean: Bytes(memory.0.checked_div(keys).unwrap_or(0)),
        disk,
        elements,
        without_ttl,
        last_expiry: (last_expiry != NEVER).then_some(Millis(last_expiry)),
        types: types.map(|(&kind, keys)| TypeCount { kind, keys }).collect(),
        example: row.facts.heaviest().unwrap_or(nothing),
    }
}

fn what_if_row(row: Row<'_>) -> WhatIfPattern {
    let Weight { keys, memory } = row.weight;
    WhatIfPattern { pattern: row.text, keys, memory, alternatives: row.facts.alternatives().to_vec() }
}

fn weights(best: Best<'_>, examples: impl Fn(&PatternFacts) -> Vec<Example>) -> Vec<PatternWeight> {
    let weight = |row: Row<'_>| PatternWeight {
        pattern: row.text,
        keys: row.weight.keys,
        memory: row.weight.memory,
        examples: examples(row.facts),
    };
    best.sorted().into_iter().map(weight).collect()
}

/// The patterns that break a rule.
fn breaking(plan: &PatternsPlan, bit: usize, best: Best<'_>) -> Vec<FindingPattern> {
    let saves = plan.rules.get(bit).is_some_and(|rule| rule.saves);
    let pattern = |row: Row<'_>| {
        let worst = Some(row.facts.worst(bit)).filter(|worst| says_something(plan, bit, worst));
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

/// Whether a rule measures, and this.
fn says_something(plan: &PatternsPlan, bit: usize, violation: &Violation) -> bool {
    plan.rules.get(bit).is_some_and(|rule| rule.measures) && violation.measured != violation.allowed
}

/// All that the keys of one pattern break.
fn pattern_findings(plan: &PatternsPlan, row: Row<'_>) -> PatternFindings {
    let Sums { keys, memory, .. } = row.facts.sums();
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

/// All places of the tree.
pub(super) fn forest(tree: &PatternTree<PatternFacts>) -> Forest<'_> {
    let mut forest = Forest::default();
    plant(tree.root(), None, &mut String::new(), &mut forest);
    forest
}

/// Recurses as deep as the tree, which its limits bound.
fn plant<'a>(node: Node<'a, PatternFacts>, above: Option<usize>, path: &mut String, forest: &mut Forest<'a>) {
    for child in children(node) {
        let whole = path.len();
        path.push_str(child.name());
        path.push_str(child.separator());
        let at = forest.nodes.len();
        forest.nodes.push(PatternNode {
            text: path.clone(),
            segment: child.name(),
            varies: child.varies(),
            parent: above,
            facts: child.payload().map(sums),
            expiries: child.payload().and_then(PatternFacts::expiries),
            secrets: child.payload().and_then(PatternFacts::secrets),
        });
        plant(child, Some(at), path, forest);
        path.truncate(whole);
    }
}

fn sums(facts: &PatternFacts) -> PatternSums {
    let Sums { keys, memory, disk, elements, name_bytes, string_bytes, without_ttl, .. } = facts.sums();
    let (kinds, example) = (facts.kinds, facts.heaviest());
    PatternSums { keys, memory, disk, elements, name_bytes, string_bytes, without_ttl, kinds, example }
}

/// Children in an order of their own, so that nothing depends on the order of the tree's lists.
fn children<'a>(node: Node<'a, PatternFacts>) -> Vec<Node<'a, PatternFacts>> {
    let mut children: Vec<_> = node.children().collect();
    children.sort_unstable_by_key(|child| child.order());
    children
}

/// All leaves, sorted into the lists.
struct Lists<'a> {
    total: u64,
    distinct: u64,
    patterns: Best<'a>,
    no_ttl: Best<'a>,
    /// By bit of the rule.
    broken: Vec<Breaking<'a>>,
    worst: Best<'a>,
    what_if: Best<'a>,
    plan: &'a PatternsPlan,
}

impl<'a> Lists<'a> {
    /// Recurses as deep as the tree, which its limits bound.
    fn visit(&mut self, node: Node<'a, PatternFacts>, path: &mut String) {
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
        let Sums { keys, memory, without_ttl, .. } = facts.sums();
        self.total = self.total.saturating_add(memory.0);
        self.distinct += 1;
        self.patterns.offer((memory.0, 0), Weight { keys, memory }, text, facts);
        if without_ttl.keys > 0 {
            self.no_ttl.offer((without_ttl.memory.0, 0), without_ttl, text, facts);
        }
        if !facts.alternatives().is_empty() {
            self.what_if.offer((facts.largest_difference(), memory.0), Weight { keys, memory }, text, facts);
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

/// The patterns that break one rule.
struct Breaking<'a> {
    distinct: u64,
    /// Of all of them: which are listed is a matter of their weight.
    worst: Option<Farthest>,
    best: Best<'a>,
}

/// A violation, ranked by its distance from what is allowed, then by the weight of its pattern.
struct Farthest {
    rank: (u64, u64, u64),
    violation: Violation,
}

impl<'a> Breaking<'a> {
    fn add(&mut self, violation: Violation, weight: Weight, text: &str, facts: &'a PatternFacts) {
        self.distinct += 1;
        let rank = (violation.measured.abs_diff(violation.allowed), weight.memory.0, weight.keys);
        if self.worst.as_ref().is_none_or(|worst| worst.rank < rank) {
            self.worst = Some(Farthest { rank, violation });
        }
        self.best.offer((weight.memory.0, weight.keys), weight, text, facts);
    }
}

/// A pattern in a list.
struct Row<'a> {
    rank: (u64, u64),
    weight: Weight,
    text: String,
    facts: &'a PatternFacts,
}

/// The first rows of a list; the texts of the others are forgotten now and then.
struct Best<'a> {
    limit: usize,
    rows: Vec<Row<'a>>,
    /// No row of a lower rank is among the first.
    least: (u64, u64),
}

impl<'a> Best<'a> {
    fn new(limit: usize) -> Self {
        Best { limit, rows: Vec::new(), least: (0, 0) }
    }

    fn offer(&mut self, rank: (u64, u64), weight: Weight, text: &str, facts: &'a PatternFacts) {
        if rank < self.least {
            return;
        }
        self.rows.push(Row { rank, weight, text: text.to_string(), facts });
        if self.rows.len() >= self.limit.saturating_mul(2).saturating_add(1024) {
            self.trim();
        }
    }

    /// A stable sort: rows of the same text keep the order of their offering, which is that of the sorted tree.
    fn trim(&mut self) {
        self.rows.sort_by(|a, b| (Reverse(a.rank), &a.text).cmp(&(Reverse(b.rank), &b.text)));
        self.rows.truncate(self.limit);
        if self.rows.len() == self.limit {
            self.least = self.rows.last().map_or((u64::MAX, u64::MAX), |last| last.rank);
        }
    }

    fn sorted(mut self) -> Vec<Row<'a>> {
        self.trim();
        self.rows
    }
}

/// What the tree of prefixes leaves out.
#[derive(Clone, Copy)]
struct Cut<'a> {
    plan: &'a PatternsPlan,
    total: u64,
}

/// The children of a place as rows.
#[derive(Default)]
struct Level {
    shown: Vec<PrefixNode>,
    hidden: Hidden,
}

impl Cut<'_> {
    /// The children of a place, `depth` levels of them, and the sums over all below. Recurses as deep as the tree.
    fn level(self, node: Node<'_, PatternFacts>, depth: usize, path: &mut String) -> (Sums, Level) {
        let mut sums = node.payload().map_or_else(Sums::default, PatternFacts::sums);
        let mut level = Level::default();
        for child in children(node) {
            let whole = path.len();
            path.push_str(child.name());
            path.push_str(child.separator());
            let (below, next) = self.level(child, depth.saturating_sub(1), path);
            let shown = depth > 0 && share(below.memory, self.total) >= self.plan.min_share;
            if shown {
                level.shown.push(self.row(path.clone(), child, &below, next));
            } else {
                hide(&mut level.hidden, &below);
            }
            path.truncate(whole);
            sums.add(&below);
        }
        level.shown.sort_by(|a, b| (Reverse(a.memory), &a.prefix).cmp(&(Reverse(b.memory), &b.prefix)));
        (sums, level)
    }

    fn row(self, prefix: String, node: Node<'_, PatternFacts>, below: &Sums, next: Level) -> PrefixNode {
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
        }
    }
}

fn hide(hidden: &mut Hidden, sums: &Sums) {
    hidden.nodes = hidden.nodes.saturating_add(1);
    hidden.keys = hidden.keys.saturating_add(sums.keys);
    hidden.memory += sums.memory;
}
