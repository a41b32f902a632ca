//! `key.name-cost`: names do not take more bytes than the values.
//!
//! Measured: share of names in the bytes of names and values of a pattern. The size of a value is the length of a string; of a
//! collection, that of its packed form before compression, or of all its elements. Expiries and other metadata are no part of it. Where too many first segments are counted together (`{*}`), a
//! pattern of many keys cannot be told from many of one key each: patterns below are left out, and the rule is not evaluated if none
//! other breaks it. Findings of patterns that are collapsed further down say so.
//!
//! Suggested name: words have their usual [abbreviations](crate::policy::abbreviations), such as `user:{int}:messages` to
//! `user:{int}:msgs`. The saving is the number of bytes per name, before rounding by the allocator. Left alone are segments
//! that have a meaning of their own: prefixes such as `cache`, the business, the module if a further name follows, words of types
//! at the end. A suggestion matches the same patterns of the policy and breaks no further rule about names, and under one first
//! segment no abbreviation stands for two words or equals another segment. Names with hash tags get none: patterns do not
//! show the braces, and another content of the tag would be another slot.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::pattern::classify::Classifier;
use crate::pattern::joined::COLLAPSED;
use crate::pattern::slot::has_tag;
use crate::policy::abbreviations::abbreviated;
use crate::policy::content::lock::is_lock_name;
use crate::policy::forest::{Forest, PatternNode, PatternSums};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, PatternRule, Rule, RuleMeta, Severity, Text, Unit,
};
use crate::policy::rules::instance::mixed::is_usual_prefix;
use crate::policy::rules::key::type_suffix::is_usual_word;
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::{Checks, Context};
use crate::record::Kind;
use crate::report::Report;
use crate::units::Bytes;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.name-cost",
    severity: Severity::Hint,
    problem: Text {
        en: "names take more than `share` of the bytes of names and values, in patterns of `keys` keys or more",
        zh: "key 数不少于 keys 的模式中，key 名字节数超过 key 名与 value 总字节数的 share",
    },
    what: Text {
        en: "names take at most `share` of the bytes of names and values, in patterns of `keys` keys or more",
        zh: "key 数不少于 keys 的模式中，key 名字节数不超过 key 名与 value 总字节数的 share",
    },
    why: Text {
        en: "Every name is kept in memory along with its value. If values are numbers or flags, names take most of the \
             memory, and each byte of a fixed segment is repeated for every key.",
        zh: "每个 key 名都与 value 一起常驻内存。当 value 只是数字或标志时，占内存的主要是 key 名，固定段的每个字节都按 key 数重复。",
    },
    fix: Text {
        en: "abbreviate long words after the business prefix (`user:{uid}:friends:messages:{mid}` to \
             `user:{uid}:friends:msgs:{mid}`) as far as names stay readable and distinct, or put small values into hashes \
             that share a name",
        zh: "在可读、不重名的前提下，业务前缀之后的长单词改用常见缩写（`user:{uid}:friends:messages:{mid}` 简化为 \
             `user:{uid}:friends:msgs:{mid}`），或将小 value 合并到 hash 中共用一个 key 名",
    },
    params: &[
        ParamSpec {
            name: "keys",
            what: Text { en: "patterns with fewer keys are not checked", zh: "key 数更少的模式不检查" },
            default: ParamDefault::Int(1000),
        },
        ParamSpec {
            name: "share",
            what: Text { en: "maximum share of names", zh: "key 名允许的最大占比" },
            default: ParamDefault::Share(500),
        },
    ],
    unit: Some(Unit::Permille),
    passes: RuleSample::of(&[SampleKey { length: 40, times: 1500, ..SampleKey::named("u:{i}:fr:m:{i}") }]),
    fails: RuleSample::of(&[SampleKey { length: 4, times: 1500, ..SampleKey::named("user:{i}:friends:messages:{i}") }]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Pattern(Box::new(NameCost { keys: params.number("keys"), share: params.number("share") })))
}

const NAME_BYTES: DetailField = DetailField::new("name_bytes", "name bytes", "key 名占用");
const VALUE_BYTES: DetailField = DetailField::new("value_bytes", "value bytes", "value 占用");
const SHORTENED: DetailField = DetailField::new("shortened", "shortened", "缩短后");

/// Most bytes of a segment that cannot be abbreviated further.
const ABBREVIATED: usize = 3;

const MERGED: DetailField = DetailField::new("merged", "several patterns counted together", "多个模式合并统计");

/// Level of a pattern that is collapsed to `{*}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collapsed {
    None,
    /// The first: behind it, patterns of many keys cannot be told from those of one.
    First,
    Below,
}

fn is_collapsed(node: &PatternNode<'_>) -> bool {
    node.varies && node.segment == COLLAPSED
}

/// Limits the share of names.
#[derive(Debug, Clone, Copy)]
pub struct NameCost {
    /// Minimum number of keys of a checked pattern.
    pub keys: u64,
    /// Maximum share of names, in thousandths.
    pub share: u64,
}

impl PatternRule for NameCost {
    fn judge(&self, forest: &Forest<'_>, _: &Context) -> Vec<Breach> {
        // Parents stand before their children.
        let mut collapsed: Vec<Collapsed> = Vec::with_capacity(forest.nodes.len());
        for node in &forest.nodes {
            let above = node.parent.and_then(|parent| collapsed.get(parent).copied());
            collapsed.push(match above {
                None if is_collapsed(node) && node.facts.is_none() => Collapsed::First,
                None | Some(Collapsed::None) if is_collapsed(node) => Collapsed::Below,
                above => above.unwrap_or(Collapsed::None),
            });
        }
        let rest = forest.nodes.iter().zip(collapsed).filter(|(_, collapsed)| *collapsed != Collapsed::First);
        let breach = |(node, collapsed): (&PatternNode<'_>, Collapsed)| {
            let sums = node.facts.as_ref().filter(|sums| sums.keys >= self.keys.max(1))?;
            let mut breach = self.of_pattern(node, sums).filter(|_| !is_short(forest, node))?;
            breach.details.extend((collapsed == Collapsed::Below).then(|| MERGED.with(DetailValue::Flag(true))));
            Some(breach)
        };
        rest.filter_map(breach).collect()
    }

    fn complete(&self, breaches: &mut [Breach], forest: &Forest<'_>, checks: &Checks, classifier: &Classifier) {
        suggest(breaches, forest, checks, classifier);
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let crowded = |report: &Report| report.prefixes.crowded.keys >= self.keys.max(1);
        known.lacks_keys().or_else(|| known.lacks(Need::DistinctNames, crowded))
    }
}

/// Returns whether a pattern has no name that could be shorter: `u:{int}:fr:m:{int}` as the standard abbreviates.
fn is_short(forest: &Forest<'_>, node: &PatternNode<'_>) -> bool {
    let above = |node: &&PatternNode<'_>| forest.nodes.get(node.parent?);
    let is_class = |segment: &str| segment.starts_with('{') && segment.find('}') == Some(segment.len() - 1);
    let mut path = std::iter::successors(Some(node), above);
    path.all(|node| node.segment != COLLAPSED && (node.segment.len() <= ABBREVIATED || is_class(node.segment)))
}

impl NameCost {
    fn of_pattern(&self, node: &PatternNode<'_>, sums: &PatternSums) -> Option<Breach> {
        let (Bytes(names), Bytes(values)) = (sums.name_bytes, sums.content);
        let all = u128::from(names) + u128::from(values);
        if u128::from(names) * 1000 <= all * u128::from(self.share) {
            return None;
        }
        let permille = u128::from(names) * 1000 / all.max(1);
        let mut breach = Breach {
            pattern: Some(node.text.clone()),
            keys: sums.keys,
            memory: sums.memory,
            // At most 1000, so it fits.
            measured: u64::try_from(permille).ok(),
            allowed: Some(self.share),
            examples: sums.example.clone().into_iter().collect(),
            ..Breach::default()
        };
        breach.details.extend([
            NAME_BYTES.with(DetailValue::Bytes(sums.name_bytes)),
            VALUE_BYTES.with(DetailValue::Bytes(sums.content)),
        ]);
        Some(breach)
    }
}

/// Suggests a name for each pattern that can have one.
fn suggest(breaches: &mut [Breach], forest: &Forest<'_>, checks: &Checks, classifier: &Classifier) {
    let broken: BTreeSet<&str> = breaches.iter().filter_map(|breach| breach.pattern.as_deref()).collect();
    let concerned = forest.patterns().filter(|(node, _)| broken.contains(node.text.as_str()));
    let paths: Vec<Path<'_, '_>> = concerned.map(|(node, sums)| Path::to(forest, node, sums)).collect();
    let unique = unique(&paths, forest);
    let mut suggested = BTreeMap::new();
    for path in &paths {
        let name = path.suggestion(&unique, checks, classifier);
        suggested.extend(name.map(|name| (path.text().to_owned(), name)));
    }
    for breach in breaches {
        let Some((old, new)) = breach.pattern.as_ref().and_then(|old| suggested.get_key_value(old)) else { continue };
        let saved = (old.len() - new.len()) as u64;
        breach.saves = Some(Bytes(saved.saturating_mul(breach.keys)));
        breach.details.extend([SHORTENED.with(DetailValue::Pattern(new.clone()))]);
    }
}

/// Segments of a pattern from the first to the last.
struct Path<'f, 'a> {
    nodes: Vec<&'f PatternNode<'a>>,
    sums: &'f PatternSums,
}

/// First segment of a pattern and abbreviation of another one.
type Abbreviation<'f> = (&'f str, String);

/// Returns the abbreviations that patterns could use and that stand for one segment only below their first segment.
fn unique<'f>(paths: &[Path<'f, '_>], forest: &'f Forest<'_>) -> HashMap<Abbreviation<'f>, &'f str> {
    let mut unique = HashMap::new();
    for path in paths {
        let Some(root) = path.nodes.first() else { continue };
        unique.extend(
            path.abbreviable().filter_map(|(_, node)| Some(((root.segment, abbreviated(node.segment)?), node.segment))),
        );
    }
    if unique.is_empty() {
        return unique;
    }
    // Parents stand before their children.
    let mut roots: Vec<&str> = Vec::with_capacity(forest.nodes.len());
    for node in &forest.nodes {
        let root = node.parent.and_then(|parent| roots.get(parent).copied()).unwrap_or(node.segment);
        roots.push(root);
        let segment = node.segment;
        for name in [Some(segment.to_owned()), abbreviated(segment)].into_iter().flatten() {
            let name = (root, name);
            if unique.get(&name).is_some_and(|whole| *whole != segment) {
                unique.remove(&name);
            }
        }
    }
    // The names behind `{*}` are not known: one of them may be the abbreviation of its neighbour.
    let crowded = forest.nodes.iter().filter(|node| is_collapsed(node));
    let crowded: BTreeSet<_> = crowded.map(|node| node.parent).collect();
    for (node, root) in forest.nodes.iter().zip(roots).filter(|(node, _)| crowded.contains(&node.parent)) {
        if let Some(short) = abbreviated(node.segment) {
            unique.remove(&(root, short));
        }
    }
    unique
}

impl<'f, 'a> Path<'f, 'a> {
    fn to(forest: &'f Forest<'a>, node: &'f PatternNode<'a>, sums: &'f PatternSums) -> Self {
        let mut nodes = vec![node];
        while let Some(above) = nodes.last().and_then(|node| forest.nodes.get(node.parent?)) {
            nodes.push(above);
        }
        nodes.reverse();
        Path { nodes, sums }
    }

    fn text(&self) -> &'f str {
        self.nodes.last().map_or("", |node| &node.text)
    }

    /// Returns the segments that may be abbreviated, with their places.
    fn abbreviable(&self) -> impl Iterator<Item = (usize, &'f PatternNode<'a>)> {
        let is_prefix = |node: &&&PatternNode<'_>| is_usual_prefix(node.segment);
        let business = self.nodes.iter().take_while(is_prefix).count();
        let last = self.nodes.len().saturating_sub(1);
        let is_type = move |at: usize, node: &PatternNode<'_>| at == last && is_usual_word(node.segment);
        let names = self.nodes.iter().enumerate().skip(business + 1);
        let mut names = names.filter(move |(at, node)| !node.varies && !is_type(*at, node));
        // Behind the business, a segment that further names follow is the module.
        let has_module = names.clone().next().is_some_and(|(at, _)| at == business + 1) && names.clone().count() > 1;
        if has_module {
            names.next();
        }
        names.filter(|(_, node)| !is_lock_name(node.segment.as_bytes())).map(|(at, node)| (at, *node))
    }

    /// Returns a shorter name that demands nothing else.
    fn suggestion(
        &self,
        unique: &HashMap<Abbreviation<'_>, &str>,
        checks: &Checks,
        classifier: &Classifier,
    ) -> Option<String> {
        let root = self.nodes.first()?.segment;
        if self.sums.example.as_ref().is_none_or(|example| has_tag(&example.key.0)) {
            return None;
        }
        let kinds = || Kind::ALL.into_iter().zip(self.sums.kinds).filter(|(_, keys)| *keys > 0).map(|(kind, _)| kind);
        let mut segments: Vec<&str> = self.nodes.iter().map(|node| node.segment).collect();
        let mut best = None;
        let short: Vec<_> =
            self.abbreviable().filter_map(|(at, node)| Some((at, abbreviated(node.segment)?))).collect();
        for (at, short) in &short {
            let is_unique = unique.contains_key(&(root, short.clone()));
            if !is_unique || classifier.pattern_text(short.as_bytes()) != *short {
                continue;
            }
            let before = std::mem::replace(&mut segments[*at], short);
            let name = self.joined(&segments);
            match checks.demands_no_more(self.text(), &name, kinds(), classifier) {
                true => best = Some(name),
                false => segments[*at] = before,
            }
        }
        best
    }

    /// Joins segments with the separators of the pattern.
    fn joined(&self, segments: &[&str]) -> String {
        let (mut text, mut above) = (String::new(), 0);
        for (node, segment) in self.nodes.iter().zip(segments) {
            let own = node.text.get(above..).unwrap_or_default();
            above = node.text.len();
            text.push_str(segment);
            text.push_str(own.get(node.segment.len()..).unwrap_or_default());
        }
        text
    }
}

#[cfg(test)]
mod tests;
