//! `big.collection-hard`: no collection exceeds the size that harms the server with any O(N) command.
//!
//! Measured: elements of hashes, lists, sets and sorted sets. The `strict` standard has two
//! limits: 5 000 elements as a demand (`big.elements`), and 10 000, in its chapter on O(N) commands, which collections
//! should not reach under any circumstances. This rule still applies if a policy raises the first limit.

use super::{COLLECTIONS, NotLonger};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Rule, RuleMeta, Severity, Text, Unit};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "big.collection-hard",
    severity: Severity::Should,
    problem: Text {
        en: "collection of more than {max} elements, far too many",
        zh: "集合类型的元素超过 {max} 个，过于庞大",
    },
    what: Text {
        en: "no collection exceeds {max} elements, whatever the ordinary limit is",
        zh: "集合类型的元素不超过 {max} 个（硬上限）",
    },
    why: Text {
        en: "From about ten thousand elements, a single O(N) command takes milliseconds, during which all other clients wait.",
        zh: "元素达到上万后，一条 O(N) 命令要执行数毫秒以上，期间其他客户端都要等待。",
    },
    fix: Text {
        en: "split it over several keys, trim it on writes, and read it with HSCAN, SSCAN or ZSCAN",
        zh: "拆成多个 key；写入时裁剪；用 HSCAN、SSCAN、ZSCAN 渐进读取",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum number of elements", zh: "允许的最大元素个数" },
        default: ParamDefault::Int(10_000),
    }],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[SampleKey::of("doctor:peers:7:list", Kind::List, 10_000, 400_000)]),
    fails: RuleSample::of(&[SampleKey::of("doctor:peers:7:list", Kind::List, 10_001, 400_000)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(NotLonger::built(params, COLLECTIONS))
}
