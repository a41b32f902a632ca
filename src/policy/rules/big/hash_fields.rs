//! `big.hash-fields`: a hash is one object, not a table of them.
//!
//! Measured: fields, as `HLEN` answers.

use super::NotLonger;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Chapter, Rule, RuleMeta, Severity, Text, Unit};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

static META: RuleMeta = RuleMeta {
    id: "big.hash-fields",
    severity: Severity::Should,
    problem: Text { en: "hash of more than `max` fields", zh: "Hash 字段超过 max 个" },
    what: Text { en: "no hash of more than `max` fields", zh: "Hash 字段数不超过 max" },
    why: Text {
        en: "Applications read hashes whole, with HGETALL, whose time grows with the fields; and a hash with few of them \
             stays in the compact encoding.",
        zh: "应用常用 HGETALL 读取整个 Hash，耗时随字段数增长；字段少的 Hash 还能保持紧凑编码。",
    },
    fix: Text {
        en: "split it by field prefix into several hashes, or make each object a hash of its own; read single fields with \
             HMGET",
        zh: "按字段前缀拆成多个 Hash，或每个对象单独一个 Hash；用 HMGET 只读需要的字段",
    },
    chapters: &[Chapter { preset: "strict", heading: "三、业务规范 / 关于集合类操作" }],
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "the most fields that are allowed", zh: "允许的最多字段数" },
        default: ParamDefault::Int(100),
    }],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[SampleKey::of("doctor:basic.info:7:hash", Kind::Hash, 100, 6_000)]),
    fails: RuleSample::of(&[SampleKey::of("doctor:basic.info:7:hash", Kind::Hash, 101, 6_000)]),
};

/// The rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(NotLonger::question(params, &[Kind::Hash]))
}
