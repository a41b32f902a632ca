//! `big.collection-hard`: the size from which on a collection harms the server, whatever it is read with.
//!
//! Measured: elements of lists, sets, sorted sets, hashes and arrays, and entries of streams. The `strict` standard has two
//! limits: 5 000 elements as a demand (`big.elements`) and, beside the talk of O(N) commands, 10 000 as the size that
//! collections should not reach by any means; who set the first one higher still learns of the second.

use super::{COLLECTIONS, NotLonger};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Chapter, Rule, RuleMeta, Severity, Text, Unit};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

static META: RuleMeta = RuleMeta {
    id: "big.collection-hard",
    severity: Severity::Should,
    problem: Text {
        en: "collection of more than `max` elements, far too many", zh: "集合类元素超过 max 个，过于庞大"
    },
    what: Text {
        en: "no collection beyond `max` elements by any means", zh: "集合类、链表类元素尽量不要超过 max"
    },
    why: Text {
        en: "From some ten thousand elements on, a single O(N) command is felt by all clients as time-outs.",
        zh: "元素达到上万后，一条 O(N) 命令就会让所有客户端感到超时。",
    },
    fix: Text {
        en: "split it over several keys, trim it when it is written to, and read it with HSCAN, SSCAN or ZSCAN",
        zh: "拆成多个 key 处理；写入时裁剪；用 HSCAN、SSCAN、ZSCAN 渐进读取",
    },
    chapters: &[Chapter { preset: "strict", heading: "三、业务规范 / 关于集合类操作" }],
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "the most elements that are allowed", zh: "允许的最多元素个数" },
        default: ParamDefault::Int(10_000),
    }],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[SampleKey::of("doctor:peers:7:list", Kind::List, 10_000, 400_000)]),
    fails: RuleSample::of(&[SampleKey::of("doctor:peers:7:list", Kind::List, 10_001, 400_000)]),
};

/// The rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(NotLonger::question(params, COLLECTIONS))
}
