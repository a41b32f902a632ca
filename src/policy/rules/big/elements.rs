//! `big.elements`: collections have at most `max` elements.
//!
//! Measured: elements of hashes, lists, sets and sorted sets, the types that the standards name. The length of streams is
//! limited by `stream.unbounded`.

use super::{COLLECTIONS, NotLonger};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Rule, RuleMeta, Severity, Text, Unit};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::report::BigRules;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "big.elements",
    severity: Severity::Must,
    problem: Text { en: "collection of more than {max} elements", zh: "集合类型的元素超过 {max} 个" },
    what: Text { en: "no collection has more than {max} elements", zh: "集合类型的元素不超过 {max} 个" },
    why: Text {
        en: "Commands that read or delete a whole collection take time proportional to its size, while all other clients \
             wait: a list of two million elements blocks the server for seconds.",
        zh: "读取或删除整个 key 的命令耗时随元素个数增长，期间其他客户端都要等待：200 万个元素的 list 会阻塞服务器数秒。",
    },
    fix: Text {
        en: "split it over several keys by id or time; read it incrementally with HSCAN, SSCAN or ZSCAN; delete it with UNLINK \
             (before 4.0 in steps)",
        zh: "按 id 或时间拆成多个 key；用 HSCAN、SSCAN、ZSCAN 渐进读取；用 UNLINK 删除（4.0 之前分批删除）",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum number of elements", zh: "允许的最大元素个数" },
        default: ParamDefault::Int(BigRules::ELEMENTS),
    }],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[SampleKey::of("rank:daily:{i}", Kind::Zset, 5_000, 400_000)]),
    fails: RuleSample::of(&[SampleKey::of("rank:daily:{i}", Kind::Zset, 5_001, 400_000)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(NotLonger::built(params, COLLECTIONS))
}
