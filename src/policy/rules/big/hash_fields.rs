//! `big.hash-fields`: hashes have at most `max` fields.
//!
//! Measured: fields, as reported by `HLEN`.

use super::NotLonger;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Rule, RuleMeta, Severity, Text, Unit};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "big.hash-fields",
    severity: Severity::Should,
    problem: Text { en: "hash of more than {max} fields", zh: "hash 字段超过 {max} 个" },
    what: Text { en: "no hash has more than {max} fields", zh: "hash 字段不超过 {max} 个" },
    why: Text {
        en: "Applications often read whole hashes with HGETALL, whose time grows with the number of fields; hashes with few \
             fields also keep the compact encoding.",
        zh: "应用常用 HGETALL 读取整个 hash，耗时随字段数增长；字段少的 hash 还能保持紧凑编码。",
    },
    fix: Text {
        en: "split it by field prefix into several hashes, or use one hash per object; read single fields with HMGET",
        zh: "按字段前缀拆成多个 hash，或每个对象单独一个 hash；用 HMGET 只读需要的字段",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum number of fields", zh: "允许的最大字段数" },
        default: ParamDefault::Int(100),
    }],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[SampleKey::of("doctor:basic.info:7:hash", Kind::Hash, 100, 6_000)]),
    fails: RuleSample::of(&[SampleKey::of("doctor:basic.info:7:hash", Kind::Hash, 101, 6_000)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(NotLonger::built(params, &[Kind::Hash]))
}
