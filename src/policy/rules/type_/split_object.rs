//! `type.split-object`: objects are not spread over several string keys: `user:1:name`, `user:1:age` and `user:1:favor`
//! could be one hash.
//!
//! The attribute stands after the id or before it (`member:name:1`). [`ObjectRule`] says which patterns belong together:
//! all of them strings, with at least `ids` keys each, of about the same lifetime, and about the same ids. Lifetimes are alike if no
//! key expires, or if the keys that live longest have about as much time left, within a factor of 4, and two thirds of those of one id
//! expire together: their times left differ by half at most, or as much as those of the patterns do. The ids are known exactly up
//! to 256 per pattern; beyond that, a sample of them is compared, and half of it must coincide. Of patterns of very different size, too few
//! sampled ids can be compared: if an object may consist of such patterns and the rule finds nothing, it counts as not evaluated.
//! HyperLogLogs and bitmaps are no attributes.
//!
//! Measured: attributes of the object. Distinct ids are not counted: `ids` in the details is the number of keys of the most
//! frequent attribute, a lower bound. `sampled` is the number of ids that were compared, if they are not all.
//!
//! Saving: memory of these keys, minus that of one hash per id with these fields under the memory model of the server
//! (Redis 7.2 if unknown), with values of the mean length of their pattern, as text. Fields that fewer than half of the ids
//! have are ignored on both sides. This is an estimate: values much longer than the mean convert their hash to a table,
//! numbers take less than their text, and the fields of a hash expire together.

use crate::memory::{Allocator, Model, Server, ServerConfig};
use crate::policy::Context;
use crate::policy::forest::{Forest, PatternSums};
use crate::policy::objects::{AttributePattern, ObjectRule, SpreadObject};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, ConcernedKeys, DetailField, DetailValue, Known, Need, PatternRule, Rule, RuleMeta, Severity,
    Text, Unit,
};
use crate::policy::rules::instance::mixed::INFRASTRUCTURE;
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::word_set::WordSet;
use crate::record::Kind;
use crate::report::Details;
use crate::sorting::CompactSort;
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
        zh: "每个 key 都有自己的 key 名、字典项和对象头，开销常是 value 的数倍。每个对象用一个 hash，字段紧凑存放，读取、过期、删除都只需一条命令。",
    },
    fix: Text {
        en: "store each object as one hash (HSET user:1 name tom age 19 favor football)",
        zh: "每个对象存为一个 hash（HSET user:1 name tom age 19 favor football）",
    },
    params: &[
        ParamSpec {
            name: "leaves",
            what: Text {
                en: "minimum number of names with the same ids to count as an object",
                zh: "同一批 id 下的名称达到多少个视为对象",
            },
            default: ParamDefault::Int(3),
        },
        ParamSpec {
            name: "ids",
            what: Text { en: "minimum number of keys of each name", zh: "每个末段至少有多少个 key" },
            default: ParamDefault::Int(20),
        },
        ParamSpec {
            name: "attributes",
            what: Text {
                en: "words that name an attribute where they stand before the id, as `member:name:1`",
                zh: "位于 id 之前时视为属性的词，例如 `member:name:1` 中的 name",
            },
            default: ParamDefault::Words(&ATTRIBUTES),
        },
        ParamSpec {
            name: "prefixes",
            what: Text {
                en: "segments that say what a key is for, which never count as objects; measures among them count as attributes beside others, as `user:1:rate`",
                zh: "说明 key 用途的段，不视为对象；其中的计量词只有与其他属性并列时才算属性，例如 `user:1:rate` 中的 rate",
            },
            default: ParamDefault::Words(&INFRASTRUCTURE),
        },
    ],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[
        SampleKey { times: 200, ..SampleKey::of("user:{i}", Kind::Hash, 3, 120) },
        SampleKey { times: 200, ..SampleKey::named("user:{i}:token") },
        SampleKey { times: 200, ..SampleKey::named("user:{i}:cart") },
        SampleKey { times: 200, ..SampleKey::named("cache:user:{i}") },
        SampleKey { times: 200, ..SampleKey::named("cache:order:{i}") },
        SampleKey { times: 200, ..SampleKey::named("cache:page:{i}") },
    ]),
    fails: RuleSample::of(&[
        SampleKey { times: 20, ..SampleKey::named("user:{i}:name") },
        SampleKey { times: 20, ..SampleKey::named("user:{i}:age") },
        SampleKey { times: 20, ..SampleKey::named("user:{i}:favor") },
    ]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

/// Words that name attributes of something, hardly ever a table or business.
const ATTRIBUTES: [&str; 94] = [
    "name",
    "nickname",
    "nick",
    "username",
    "realname",
    "fullname",
    "firstname",
    "lastname",
    "surname",
    "title",
    "subtitle",
    "age",
    "sex",
    "gender",
    "birthday",
    "birth",
    "birthdate",
    "email",
    "mail",
    "phone",
    "mobile",
    "tel",
    "telephone",
    "wechat",
    "qq",
    "address",
    "addr",
    "zip",
    "zipcode",
    "postcode",
    "avatar",
    "favor",
    "favorite",
    "hobby",
    "hobbies",
    "signature",
    "bio",
    "intro",
    "introduction",
    "description",
    "desc",
    "summary",
    "remark",
    "memo",
    "status",
    "state",
    "balance",
    "amount",
    "price",
    "cost",
    "stock",
    "quantity",
    "weight",
    "height",
    "color",
    "size",
    "score",
    "salary",
    "password",
    "pwd",
    "idcard",
    "created",
    "updated",
    "enabled",
    "姓名",
    "昵称",
    "用户名",
    "年龄",
    "性别",
    "生日",
    "手机",
    "手机号",
    "电话",
    "邮箱",
    "微信",
    "地址",
    "邮编",
    "头像",
    "爱好",
    "签名",
    "简介",
    "描述",
    "备注",
    "标题",
    "状态",
    "余额",
    "金额",
    "价格",
    "库存",
    "数量",
    "重量",
    "颜色",
    "密码",
    "身份证",
];

/// Maximum number of names and examples in a finding; a prefix may have thousands of names.
const MAX_NAMES: usize = 20;
const EXAMPLES: usize = 3;

fn build(params: &Params) -> Result<BuiltRule, String> {
    let (leaves, ids) = (params.number("leaves"), params.number("ids"));
    let objects = ObjectRule::new(leaves, ids, params.words("attributes"), params.words("prefixes"));
    Ok(BuiltRule::Pattern(Box::new(SplitObject { objects })))
}

/// Rejects objects spread over several string keys.
#[derive(Debug, Clone)]
pub struct SplitObject {
    /// Definition of an object.
    pub objects: ObjectRule,
}

const IDS: DetailField = DetailField::new("ids", "ids", "id 数");
const LEAVES: DetailField = DetailField::new("leaves", "attributes", "属性");
const SAMPLED: DetailField = DetailField::new("sampled", "sampled ids", "采样 id 数");

impl PatternRule for SplitObject {
    fn judge(&self, forest: &Forest<'_>, context: &Context) -> Vec<Breach> {
        let objects = self.objects.objects(forest, context.reference.report);
        if objects.is_empty() {
            return Vec::new();
        }
        let model = context.model.clone().unwrap_or_else(|| usual_model(&context.config).into());
        objects.into_iter().map(|object| self.breach(&object, context, &model)).collect()
    }

    fn undecided(&self, forest: &Forest<'_>, context: &Context) -> Option<Need> {
        self.objects.may_miss_objects(forest, context.reference.report).then_some(Need::ComparableIds)
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_keys()
    }

    fn words_before_ids(&self) -> Option<&WordSet> {
        Some(self.objects.words_before_ids())
    }
}

impl SplitObject {
    fn breach(&self, object: &SpreadObject<'_>, context: &Context, model: &Model) -> Breach {
        let leaves = &object.attributes;
        let sum =
            |of: &dyn Fn(&PatternSums) -> u64| leaves.iter().fold(0u64, |sum, leaf| sum.saturating_add(of(leaf.sums)));
        let ids = leaves.iter().map(|leaf| leaf.sums.keys).max().unwrap_or_default();
        let separator = |c: char| u8::try_from(c).is_ok_and(|byte| context.separators.contains(byte));
        let mut examples: Vec<_> = leaves.iter().filter_map(|leaf| leaf.sums.example.clone()).collect();
        // The nodes are sorted by name, and a stable sort keeps that order for equal weights.
        examples.compact_sort_by_key(|example| std::cmp::Reverse(example.memory));
        examples.truncate(EXAMPLES);
        let names = leaves.iter().take(MAX_NAMES).map(|leaf| leaf.name.to_owned()).collect();
        let mut details = Details::from([IDS.with(DetailValue::Count(ids)), LEAVES.with(DetailValue::Texts(names))]);
        details.extend(object.sampled.map(|sampled| SAMPLED.with(DetailValue::Count(sampled))));
        Breach {
            pattern: Some(object.pattern.strip_suffix(separator).unwrap_or(&object.pattern).to_owned()),
            keys: sum(&|sums| sums.keys),
            memory: Bytes(sum(&|sums| sums.memory.0)),
            measured: Some(leaves.len() as u64),
            allowed: Some(self.objects.leaves.max(2) - 1),
            saves: Some(saves(model, leaves, ids)),
            details,
            examples,
            concerned: ConcernedKeys::Patterns(leaves.iter().map(|leaf| leaf.text.to_owned()).collect()),
            ..Breach::default()
        }
    }
}

/// Estimates what hashes would save; zero if they take more.
fn saves(model: &Model, leaves: &[AttributePattern<'_>], ids: u64) -> Bytes {
    let common: Vec<_> = leaves.iter().filter(|leaf| leaf.sums.keys >= ids / 2).copied().collect();
    let mean = |sum: Bytes, keys: u64| sum.0.div_ceil(keys.max(1));
    let fields: Vec<_> =
        common.iter().map(|leaf| (leaf.name.len() as u64, mean(leaf.sums.content, leaf.sums.keys))).collect();
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
mod tests;
