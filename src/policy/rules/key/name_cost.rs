//! `key.name-cost`: names do not take more bytes than the values.
//!
//! Measured: share of names in the bytes of names and values of a pattern. The size of a value is the length of a string;
//! for collections, the bytes of the key in the dump without its name. Where too many first segments are counted together (`{*}`), a
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
        zh: "key 数不少于 keys 的模式中，key 名字节数不超过 key 名与值总字节数的 share",
    },
    why: Text {
        en: "Every name is kept in memory along with its value. If values are numbers or flags, names take most of the \
             memory, and each byte of a fixed segment is repeated for every key.",
        zh: "每个 key 名都与值一起常驻内存。当值只是数字或标志时，占内存的主要是 key 名，固定段的每个字节都按 key 数重复。",
    },
    fix: Text {
        en: "abbreviate long words behind the business prefix (`user:{uid}:friends:messages:{mid}` to \
             `user:{uid}:friends:msgs:{mid}`) as far as names stay readable and distinct, or put small values into hashes \
             that share a name",
        zh: "在可读、不重名的前提下，业务前缀之后的长单词改用常见缩写（`user:{uid}:friends:messages:{mid}` 简化为 \
             `user:{uid}:friends:msgs:{mid}`），或将小值合并到 Hash 中共用一个 key 名",
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
            let mut breach = self.of_pattern(node, sums)?;
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

impl NameCost {
    fn of_pattern(&self, node: &PatternNode<'_>, sums: &PatternSums) -> Option<Breach> {
        let (Bytes(names), Bytes(values)) = (sums.name_bytes, value_bytes(sums));
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
            VALUE_BYTES.with(DetailValue::Bytes(value_bytes(sums))),
        ]);
        Some(breach)
    }
}

/// Returns the bytes of values: lengths if all are strings, otherwise their bytes in the dump.
fn value_bytes(sums: &PatternSums) -> Bytes {
    match sums.only_kind() {
        Some(Kind::String) => sums.string_bytes,
        _ => Bytes(sums.disk.0.saturating_sub(sums.name_bytes.0)),
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
mod tests {
    use super::*;
    use crate::report::Weight;

    fn sums(kind: Kind, keys: u64, names: u64, strings: u64, disk: u64) -> PatternSums {
        let mut kinds = [0; Kind::ALL.len()];
        kinds[kind as usize] = keys;
        PatternSums {
            keys,
            memory: Bytes(keys),
            disk: Bytes(disk),
            name_bytes: Bytes(names),
            string_bytes: Bytes(strings),
            without_ttl: Weight::default(),
            last_expiry: None,
            kinds,
            example: None,
        }
    }

    fn node<'a>(text: &str, segment: &'a str, parent: Option<usize>, facts: Option<PatternSums>) -> PatternNode<'a> {
        PatternNode {
            text: text.into(),
            segment,
            varies: segment.starts_with('{'),
            parent,
            facts,
            expiries: None,
            ids: None,
            secrets: None,
            tokens: None,
        }
    }

    fn judge(sums: PatternSums) -> Vec<Breach> {
        let nodes = vec![
            node("user:", "user", None, None),
            node("user:{int}:", "{int}", Some(0), None),
            node("user:{int}:ä_b{int}:", "ä_b{int}", Some(1), None),
            node("user:{int}:ä_b{int}:näme", "näme", Some(2), Some(sums)),
        ];
        NameCost { keys: 1000, share: 500 }.judge(&Forest { nodes, strict: false }, &Context::default())
    }

    /// Returns the suggested names of patterns, one line each, `-` for none. A name in brackets has a tag.
    fn suggested(preset: &str, names: &[&str]) -> Vec<String> {
        suggested_by(&format!("extends = \"{preset}\"\n"), names)
    }

    fn suggested_by(policy: &str, names: &[&str]) -> Vec<String> {
        let mut nodes: Vec<PatternNode<'_>> = Vec::new();
        for name in names {
            let is_tagged = name.starts_with('[');
            let name = name.trim_matches(['[', ']']);
            let (mut parent, mut start) = (None, 0);
            for segment in name.split(':') {
                let end = (start + segment.len() + 1).min(name.len());
                let text = &name[..end];
                let known = nodes.iter().position(|node| node.text == text);
                if known.is_none() {
                    nodes.push(node(text, segment, parent, None));
                }
                (parent, start) = (known.or(Some(nodes.len() - 1)), end);
            }
            let key = if is_tagged { format!("{{{name}}}") } else { name.replace("{int}", "7") };
            let key = crate::report::Key::from(key.as_bytes());
            let mut facts = sums(Kind::String, 1000, 20_000, 5_000, 90_000);
            facts.example = Some(crate::report::Example { db: 0, key, memory: None });
            nodes[parent.unwrap()].facts = Some(facts);
        }
        let forest = Forest { nodes, strict: false };
        let classifier = Classifier::default();
        let checks = crate::policy::testing::checks(policy);
        let rule = NameCost { keys: 1000, share: 500 };
        let mut found = rule.judge(&forest, &checks.context);
        rule.complete(&mut found, &forest, &checks, &classifier);
        let of = |name: &&str| {
            let name = name.trim_matches(['[', ']']);
            let breach = found.iter().find(|breach| breach.pattern.as_deref() == Some(name)).unwrap();
            match breach.details.get("shortened").map(|detail| &detail.value) {
                Some(DetailValue::Pattern(short)) => {
                    assert_eq!(breach.saves, Some(Bytes(1000 * (name.len() - short.len()) as u64)), "{name}");
                    short.clone()
                }
                _ => {
                    assert_eq!(breach.saves, None, "{name}");
                    "-".to_owned()
                }
            }
        };
        names.iter().map(of).collect()
    }

    #[test]
    fn suggestions_keep_what_each_segment_means() {
        for preset in ["default", "service", "hzero", "platform", "strict", "aliyun"] {
            for (name, short) in [
                ("user:basic.information:{int}:string", "user:basic.info:{int}:string"),
                ("user:{int}:friends:messages:{int}", "user:{int}:friends:msgs:{int}"),
                ("cache:user:information:{int}", "cache:user:info:{int}"),
                ("lock:task:processing:{int}", "lock:task:proc:{int}"),
                ("hpfm:lov:description:{int}", "hpfm:lov:desc:{int}"),
                ("session:token:{int}", "-"),
                ("message:information:messages:{int}", "message:information:msgs:{int}"),
                ("prod:cache:message:{int}", "-"),
                ("counter:api:rate:user:{int}", "-"),
                ("messages:{int}", "-"),
                ("u:{int}:f:m:x", "-"),
                ("用户:资料:昵称:{int}", "-"),
                ("[user:profile:{int}:message:count]", "-"),
            ] {
                assert_eq!(suggested(preset, &[name]), [short], "{preset}: {name}");
            }
        }
    }

    #[test]
    fn suggestions_stay_distinct() {
        let collide = ["user:follow:list:{int}", "user:folder:limit:{int}", "usage:follow:list:{int}"];
        assert_eq!(suggested("hzero", &collide), ["-", "-", "-"]);
        // Another segment has the abbreviation; it stands for two segments; unknown names may have it.
        for other in ["user:{int}:msgs:x", "user:msgs:{int}", "user:{int}:{*}", "user:{*}:messages"] {
            let expected = if other == "user:{*}:messages" { "user:{int}:msgs" } else { "-" };
            assert_eq!(suggested("hzero", &["user:{int}:messages", other])[0], expected, "{other}");
        }
        let plain = suggested("hzero", &["user:{int}:messages", "shop:{int}:msgs", "user:{int}:a:messages:x"]);
        assert_eq!(plain, ["user:{int}:msgs", "-", "user:{int}:a:msgs:x"]);
    }

    #[test]
    fn suggestions_match_the_same_patterns_of_the_policy() {
        let name = "user:{int}:friends:messages";
        for (list, short) in [
            ("[[dictionary]]\npattern = \"user:{int}:friends:messages\"\n", "-"),
            ("[[dictionary]]\npattern = \"user:{int}:friends:msgs\"\n", "-"),
            ("[[dictionary]]\npattern = \"user:{int}:friends:*\"\n", "user:{int}:friends:msgs"),
            ("[[ttl_class]]\nname = \"long\"\npatterns = [\"**:messages\"]\n", "-"),
            ("[[expected]]\npattern = \"**:msgs\"\ntypes = [\"list\"]\n", "-"),
            ("[[budget]]\npattern = \"user:**\"\nmemory = \"1GB\"\n", "user:{int}:friends:msgs"),
            ("[[exempt]]\npattern = \"user:{int}:friends:messages\"\nrules = [\"ttl.missing\"]\nreason = \"-\"\n", "-"),
        ] {
            assert_eq!(suggested_by(&format!("extends = \"hzero\"\n{list}"), &[name]), [short], "{list}");
        }
    }

    #[test]
    fn strings_count_by_length_and_collections_by_their_bytes_in_the_dump() {
        assert!(judge(sums(Kind::String, 1000, 20_000, 20_000, 0)).is_empty());
        assert_eq!(judge(sums(Kind::String, 1000, 20_001, 20_000, 90_000)).len(), 1);
        assert!(judge(sums(Kind::Hash, 1000, 20_000, 0, 40_000)).is_empty());
        assert_eq!(judge(sums(Kind::Hash, 1000, 20_000, 0, 39_999)).len(), 1);
        assert_eq!(judge(sums(Kind::String, 1000, 30_000, 10_000, 90_000))[0].measured, Some(750));
    }

    #[test]
    fn patterns_behind_a_crowded_first_level_are_left_out_and_others_say_that_they_are_several() {
        let costly = || Some(sums(Kind::String, 1000, 20_000, 5_000, 0));
        let merged = |nodes| {
            let found =
                NameCost { keys: 1000, share: 500 }.judge(&Forest { nodes, strict: false }, &Context::default());
            found.iter().map(|breach| breach.details.contains_key("merged")).collect::<Vec<bool>>()
        };
        let behind = vec![node("{*}:", "{*}", None, None), node("{*}:clicks", "clicks", Some(0), costly())];
        assert!(merged(behind).is_empty());
        assert_eq!(merged(vec![node("{*}", "{*}", None, costly())]), [true]);
        assert_eq!(merged(vec![node("a:", "a", None, None), node("a:{*}", "{*}", Some(0), costly())]), [true]);
        assert_eq!(merged(vec![node("a:", "a", None, None), node("a:{int}", "{int}", Some(0), costly())]), [false]);

        let mut report = crate::analyze::examples::empty_report();
        report.prefixes.crowded.keys = 1000;
        let context = Context::default();
        let known = Known { report: Some(&report), ..Known::before(&context) };
        assert_eq!(NameCost { keys: 1000, share: 500 }.needs(&known), Some(Need::DistinctNames));
    }

    #[test]
    fn few_keys_may_have_long_names() {
        assert!(judge(sums(Kind::String, 999, 20_000, 0, 0)).is_empty());
    }

    #[test]
    fn saturated_sums_do_not_overflow() {
        assert_eq!(judge(sums(Kind::String, u64::MAX, u64::MAX, u64::MAX - 1, 0)).len(), 1);
    }
}
