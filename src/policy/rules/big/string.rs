//! `big.string`: strings are at most `max` bytes long.
//!
//! Measured: length in bytes, as reported by `STRLEN`. HyperLogLogs do not count: the standards recommend them, and a dense one
//! always has 12,304 bytes. Bitmaps cannot be distinguished from other strings and do count.

use super::NotLonger;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Rule, RuleMeta, Severity, Text, Unit};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::report::BigRules;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "big.string",
    severity: Severity::Must,
    problem: Text { en: "string longer than {max}", zh: "string 超过 {max}" },
    what: Text { en: "no string is longer than {max}", zh: "string 不超过 {max}" },
    why: Text {
        en: "Frequent reads and writes of long strings can saturate the network and delay all other commands of the \
             single-threaded server.",
        zh: "频繁读写很长的 string 容易打满网卡，并让单线程服务器上的其他命令排队等待。",
    },
    fix: Text {
        en: "split the value, store the object as a hash and read single fields, or compress it in the client",
        zh: "拆分 value；改用 hash 并按字段读取；或在客户端压缩",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum length of a string", zh: "允许的最大长度" },
        default: ParamDefault::Bytes(BigRules::STRING_BYTES),
    }],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("page:home:html", Kind::String, 10_240, 12_400)]),
    fails: RuleSample::of(&[SampleKey::of("page:home:html", Kind::String, 10_241, 12_400)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(NotLonger::built(params, &[Kind::String]))
}
