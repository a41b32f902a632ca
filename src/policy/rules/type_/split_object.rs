//! `type.split-object`: objects are not spread over several string keys: `user:1:name`, `user:1:age` and `user:1:favor`
//! could be one hash.
//!
//! Measured: last segments directly below a variable segment (`user:{int}`) whose keys are all strings, with at least `ids`
//! keys each. Distinct ids are not counted; the number of keys of the most frequent of these patterns is a lower bound.
//!
//! Saving: memory of these keys, minus that of one hash per id with these fields under the memory model of the server
//! (Redis 7.2 if unknown), with values of the mean length of their pattern, as text. Fields that fewer than half of the ids
//! have are ignored on both sides. This is an estimate: values much longer than the mean convert their hash to a table,
//! numbers take less than their text, and the fields of a hash expire together.

use crate::memory::{Allocator, Model, Server, ServerConfig};
use crate::policy::Context;
use crate::policy::forest::{Forest, PatternNode, PatternSums};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, ConcernedKeys, DetailField, DetailValue, PatternRule, Rule, RuleMeta, Severity, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::units::Bytes;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "type.split-object",
    severity: Severity::Hint,
    problem: Text {
        en: "object spread over `leaves` or more string keys, for `ids` or more ids",
        zh: "对象被拆成多个 string key（同一 id 下不少于 leaves 个末段，id 数不少于 ids）",
    },
    what: Text {
        en: "no object is spread over `leaves` or more string keys, for `ids` or more ids",
        zh: "不把对象拆成多个 string key（同一 id 下不少于 leaves 个末段，id 数不少于 ids）",
    },
    why: Text {
        en: "Each key has its own name, dictionary entry and object header, often several times the size of the value. One \
             hash per object stores its fields compactly and is read, expired and deleted with one command.",
        zh: "每个 key 都有自己的 key 名、字典项和对象头，开销常是值的数倍。每个对象用一个 Hash，字段紧凑存放，读取、过期、删除都只需一条命令。",
    },
    fix: Text {
        en: "store each object as one hash (HSET user:1 name tom age 19 favor football)",
        zh: "每个对象存为一个 Hash（HSET user:1 name tom age 19 favor football）",
    },
    params: &[
        ParamSpec {
            name: "leaves",
            what: Text {
                en: "minimum number of names below an id to count as an object",
                zh: "同一 id 下末段达到多少个视为对象",
            },
            default: ParamDefault::Int(3),
        },
        ParamSpec {
            name: "ids",
            what: Text { en: "minimum number of keys of each name", zh: "每个末段至少有多少个 key" },
            default: ParamDefault::Int(100),
        },
    ],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[
        SampleKey { times: 200, ..SampleKey::of("user:{i}", Kind::Hash, 3, 120) },
        SampleKey { times: 200, ..SampleKey::named("user:{i}:token") },
        SampleKey { times: 200, ..SampleKey::named("user:{i}:cart") },
    ]),
    fails: RuleSample::of(&[
        SampleKey { times: 200, ..SampleKey::named("user:{i}:name") },
        SampleKey { times: 200, ..SampleKey::named("user:{i}:age") },
        SampleKey { times: 200, ..SampleKey::named("user:{i}:favor") },
    ]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

/// Maximum number of names and examples in a finding; a prefix may have thousands of names.
const MOST_NAMES: usize = 20;
const EXAMPLES: usize = 3;

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Pattern(Box::new(SplitObject { leaves: params.number("leaves"), ids: params.number("ids") })))
}

/// Rejects objects spread over several string keys.
#[derive(Debug, Clone, Copy)]
pub struct SplitObject {
    /// Minimum number of names that count as an object.
    pub leaves: u64,
    /// Minimum number of keys of each name.
    pub ids: u64,
}

/// Name below an id that could be a field of a hash.
#[derive(Clone, Copy)]
struct FieldPattern<'f> {
    name: &'f str,
    sums: &'f PatternSums,
}

const IDS: DetailField = DetailField::new("ids", "ids", "id 数");
const LEAVES: DetailField = DetailField::new("leaves", "leaves", "末段");

impl PatternRule for SplitObject {
    fn judge(&self, forest: &Forest<'_>, context: &Context) -> Vec<Breach> {
        let mut below: Vec<Vec<FieldPattern<'_>>> = vec![Vec::new(); forest.nodes.len()];
        for (node, sums) in forest.patterns() {
            let strings = sums.only_kind() == Some(Kind::String) && sums.keys >= self.ids;
            let above = node.parent.filter(|&above| forest.nodes.get(above).is_some_and(|above| above.varies));
            if let Some(leaves) = above.filter(|_| strings && !node.varies).and_then(|above| below.get_mut(above)) {
                leaves.push(FieldPattern { name: node.segment, sums });
            }
        }
        let objects = forest.nodes.iter().zip(below).filter(|(_, leaves)| leaves.len() as u64 >= self.leaves.max(2));
        let objects: Vec<_> = objects.collect();
        if objects.is_empty() {
            return Vec::new();
        }
        let model = context.model.clone().unwrap_or_else(|| usual_model(&context.config).into());
        objects.into_iter().map(|(node, leaves)| self.breach(node, &leaves, context, &model)).collect()
    }
}

impl SplitObject {
    fn breach(&self, node: &PatternNode<'_>, leaves: &[FieldPattern<'_>], context: &Context, model: &Model) -> Breach {
        let sum =
            |of: &dyn Fn(&PatternSums) -> u64| leaves.iter().fold(0u64, |sum, leaf| sum.saturating_add(of(leaf.sums)));
        let ids = leaves.iter().map(|leaf| leaf.sums.keys).max().unwrap_or_default();
        let separator = |c: char| u8::try_from(c).is_ok_and(|byte| context.separators.contains(byte));
        let mut examples: Vec<_> = leaves.iter().filter_map(|leaf| leaf.sums.example.clone()).collect();
        // The nodes are sorted by name, and a stable sort keeps that order for equal weights.
        examples.sort_by_key(|example| std::cmp::Reverse(example.memory));
        examples.truncate(EXAMPLES);
        let names = leaves.iter().take(MOST_NAMES).map(|leaf| leaf.name.to_owned()).collect();
        Breach {
            pattern: Some(node.text.strip_suffix(separator).unwrap_or(&node.text).to_owned()),
            keys: sum(&|sums| sums.keys),
            memory: Bytes(sum(&|sums| sums.memory.0)),
            measured: Some(leaves.len() as u64),
            allowed: Some(self.leaves.max(2) - 1),
            saves: Some(saves(model, leaves, ids)),
            details: [IDS.with(DetailValue::Count(ids)), LEAVES.with(DetailValue::Texts(names))].into(),
            examples,
            concerned: ConcernedKeys::Patterns(
                leaves.iter().map(|leaf| format!("{}{}", node.text, leaf.name)).collect(),
            ),
        }
    }
}

/// Estimates what hashes would save; zero if they take more.
fn saves(model: &Model, leaves: &[FieldPattern<'_>], ids: u64) -> Bytes {
    let common: Vec<_> = leaves.iter().filter(|leaf| leaf.sums.keys >= ids / 2).copied().collect();
    let mean = |sum: Bytes, keys: u64| sum.0.div_ceil(keys.max(1));
    let fields: Vec<_> =
        common.iter().map(|leaf| (leaf.name.len() as u64, mean(leaf.sums.string_bytes, leaf.sums.keys))).collect();
    let Some(most) = common.iter().max_by_key(|leaf| leaf.sums.keys) else { return Bytes(0) };
    let name = mean(most.sums.name_bytes, most.sums.keys).saturating_sub(most.name.len() as u64 + 1);
    let expires = common.iter().any(|leaf| leaf.sums.without_ttl.keys < leaf.sums.keys);
    let hashes = model.hash_of_texts(name, expires, &fields).0.saturating_mul(ids);
    let now = common.iter().fold(0u64, |sum, leaf| sum.saturating_add(leaf.sums.memory.0));
    Bytes(now.saturating_sub(hashes))
}

/// Returns the model to use if that of the snapshot is unknown.
fn usual_model(config: &ServerConfig) -> Model {
    let server = Server::parse("redis-7.2").expect("a server that has a model");
    Model::for_server(server, Allocator::default(), config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Weight;

    fn sums(kind: Kind, keys: u64, name: u64) -> PatternSums {
        let mut kinds = [0; Kind::ALL.len()];
        kinds[kind as usize] = keys;
        PatternSums {
            keys,
            memory: Bytes(72 * keys),
            disk: Bytes(20 * keys),
            name_bytes: Bytes(name * keys),
            string_bytes: Bytes(5 * keys),
            without_ttl: Weight { keys, memory: Bytes(72 * keys) },
            kinds,
            example: None,
        }
    }

    fn judge(id: &str, leaves: &[(&str, Kind, u64)]) -> Vec<Breach> {
        let varies = id.starts_with('{');
        let mut nodes = vec![
            PatternNode {
                text: "user:".into(),
                segment: "user",
                varies: false,
                parent: None,
                facts: None,
                expiries: None,
                secrets: None,
            },
            PatternNode {
                text: format!("user:{id}:"),
                segment: id,
                varies,
                parent: Some(0),
                facts: None,
                expiries: None,
                secrets: None,
            },
        ];
        for (name, kind, keys) in leaves {
            nodes.push(PatternNode {
                expiries: None,
                secrets: None,
                text: format!("user:{id}:{name}"),
                segment: name,
                varies: name.starts_with('{'),
                parent: Some(1),
                facts: Some(sums(*kind, *keys, 10 + name.len() as u64)),
            });
        }
        SplitObject { leaves: 3, ids: 100 }.judge(&Forest { nodes }, &Context::default())
    }

    const STRING: Kind = Kind::String;

    #[test]
    fn three_names_of_strings_below_an_id_are_an_object() {
        let found = judge("{int}", &[("age", STRING, 100), ("favor", STRING, 120), ("name", STRING, 120)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].pattern.as_deref(), Some("user:{int}"));
        assert_eq!((found[0].keys, found[0].measured, found[0].allowed), (340, Some(3), Some(2)));
        assert_eq!(found[0].details["ids"].value, DetailValue::Count(120));
        assert_eq!(
            found[0].details["leaves"].value,
            DetailValue::Texts(["age", "favor", "name"].map(str::to_owned).into())
        );
        let saves = found[0].saves.unwrap().0;
        assert!((1..340 * 72).contains(&saves), "{saves}");
    }

    #[test]
    fn other_types_other_levels_and_few_keys_are_none() {
        let two = [("age", STRING, 500), ("name", STRING, 500)];
        assert!(judge("{int}", &two).is_empty());
        for third in [("favor", STRING, 99), ("favor", Kind::Hash, 500), ("{int}", STRING, 500)] {
            assert!(judge("{int}", &[two[0], two[1], third]).is_empty(), "{third:?}");
        }
        assert!(judge("admin", &[two[0], two[1], ("favor", STRING, 500)]).is_empty());
    }

    #[test]
    fn fields_of_few_ids_save_nothing() {
        let common = [("age", STRING, 1000), ("favor", STRING, 1000), ("name", STRING, 1000)];
        let with = judge("{int}", &[common[0], common[1], common[2], ("rare", STRING, 100)]);
        let without = judge("{int}", &common);
        assert_eq!(with[0].saves, without[0].saves);
        assert_eq!(with[0].keys, 3100);
    }
}
