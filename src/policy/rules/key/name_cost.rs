//! `key.name-cost`: names do not take more bytes than the values.
//!
//! Measured: share of names in the bytes of names and values of a pattern. The size of a value is the length of a string;
//! for collections, the bytes of the key in the dump without its name.
//!
//! Saving: every fixed segment of more than two characters is shortened to two, such as
//! `user:{uid}:friends:messages:{mid}` to `us:{uid}:fr:me:{mid}`. The estimate is the number of bytes saved per name, before
//! rounding by the allocator. Ids, classes and segments with a brace are kept.

use crate::policy::Context;
use crate::policy::forest::{Forest, PatternNode, PatternSums};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, PatternRule, Rule, RuleMeta, Severity, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
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
        en: "shorten the fixed segments (`user:{uid}:friends:messages:{mid}` to `u:{uid}:fr:m:{mid}`), or put small \
             values into hashes that share a name",
        zh: "缩短固定的段（`user:{uid}:friends:messages:{mid}` 简化为 `u:{uid}:fr:m:{mid}`），或将小值合并到 Hash 中共用一个 key 名",
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

/// Length of a shortened segment, in characters.
const LEFT: usize = 2;

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
        let of = |(node, sums): (&PatternNode<'_>, &PatternSums)| self.of_pattern(forest, node, sums);
        forest.patterns().filter(|(_, sums)| sums.keys >= self.keys.max(1)).filter_map(of).collect()
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_keys()
    }
}

impl NameCost {
    fn of_pattern(&self, forest: &Forest<'_>, node: &PatternNode<'_>, sums: &PatternSums) -> Option<Breach> {
        let (Bytes(names), Bytes(values)) = (sums.name_bytes, value_bytes(sums));
        let all = u128::from(names) + u128::from(values);
        if u128::from(names) * 1000 <= all * u128::from(self.share) {
            return None;
        }
        let (shortened, per_key) = shortened(forest, node);
        let permille = u128::from(names) * 1000 / all.max(1);
        let mut breach = Breach {
            pattern: Some(node.text.clone()),
            keys: sums.keys,
            memory: sums.memory,
            // At most 1000, so it fits.
            measured: u64::try_from(permille).ok(),
            allowed: Some(self.share),
            saves: Some(Bytes(per_key.saturating_mul(sums.keys))),
            examples: sums.example.clone().into_iter().collect(),
            ..Breach::default()
        };
        breach.details.extend([
            NAME_BYTES.with(DetailValue::Bytes(sums.name_bytes)),
            VALUE_BYTES.with(DetailValue::Bytes(value_bytes(sums))),
        ]);
        if per_key > 0 {
            breach.details.extend([SHORTENED.with(DetailValue::Pattern(shortened))]);
        }
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

/// Returns the pattern with shortened segments, and the bytes saved per name.
fn shortened(forest: &Forest<'_>, node: &PatternNode<'_>) -> (String, u64) {
    let mut path = vec![node];
    while let Some(above) = path.last().and_then(|node| forest.nodes.get(node.parent?)) {
        path.push(above);
    }
    let (mut text, mut saved, mut above) = (String::new(), 0u64, 0);
    for node in path.into_iter().rev() {
        let own = node.text.get(above..).unwrap_or_default();
        above = node.text.len();
        let rest = own.get(node.segment.len()..).unwrap_or_default();
        let end = node.segment.char_indices().nth(LEFT).map(|(at, _)| at);
        let stays = node.varies || node.segment.contains(['{', '}', '\\']);
        let kept = end.filter(|_| !stays).and_then(|end| node.segment.get(..end)).unwrap_or(node.segment);
        saved += (node.segment.len() - kept.len()) as u64;
        text.push_str(kept);
        text.push_str(rest);
    }
    (text, saved)
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
        NameCost { keys: 1000, share: 500 }.judge(&Forest { nodes }, &Context::default())
    }

    #[test]
    fn fixed_segments_shrink_to_two_characters() {
        let found = judge(sums(Kind::String, 1000, 20_000, 5_000, 90_000));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].details["shortened"].value, DetailValue::Pattern("us:{int}:ä_b{int}:nä".into()));
        assert_eq!((found[0].measured, found[0].saves), (Some(800), Some(Bytes(4_000))));
    }

    #[test]
    fn strings_count_by_length_and_collections_by_their_bytes_in_the_dump() {
        assert!(judge(sums(Kind::String, 1000, 20_000, 20_000, 0)).is_empty());
        assert_eq!(judge(sums(Kind::String, 1000, 20_001, 20_000, 90_000)).len(), 1);
        assert!(judge(sums(Kind::Hash, 1000, 20_000, 0, 40_000)).is_empty());
        assert_eq!(judge(sums(Kind::Hash, 1000, 20_000, 0, 39_999)).len(), 1);
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
