//! `big.total`: keys of any type take at most `max` of memory.
//!
//! Measured: total memory of the key, as reported by `MEMORY USAGE`: name, value and overhead of the server.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Rule, RuleMeta, Severity, SizeTest, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "big.total",
    severity: Severity::Should,
    problem: Text { en: "key that takes more than `max` of memory", zh: "单个 key 占用内存超过 max" },
    what: Text { en: "no key takes more than `max` of memory", zh: "单个 key 占用内存不超过 max" },
    why: Text {
        en: "A collection of few long elements can be as heavy as one with many: reading it saturates the network, freeing \
             it blocks the server, and it makes one node of a cluster heavier than the others.",
        zh: "元素不多但很长的集合同样沉重：读取时占满网卡，释放时阻塞服务器，并使集群中某个节点明显偏重。",
    },
    fix: Text {
        en: "split it by field prefix, id or time; compress long texts; delete it with UNLINK",
        zh: "按字段前缀、id 或时间拆分；长文本压缩存储；用 UNLINK 删除",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum memory of a key", zh: "允许占用的最大内存" },
        default: ParamDefault::Bytes(1 << 20),
    }],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("page:parts:home", Kind::Hash, 40, 1 << 20)]),
    fails: RuleSample::of(&[SampleKey::of("page:parts:home", Kind::Hash, 40, (1 << 20) + 1)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(BigTotal { max: params.number("max") })))
}

/// Limits the memory of a key.
#[derive(Debug, Clone, Copy)]
pub struct BigTotal {
    /// Maximum memory in bytes.
    pub max: u64,
}

impl KeyRule for BigTotal {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = key.record.memory.0;
        (measured > self.max).then_some(Violation { measured, allowed: self.max })
    }

    fn size_test(&self, _: Kind) -> Option<SizeTest> {
        Some(SizeTest::Memory(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::record::Record;
    use crate::units::Bytes;

    #[test]
    fn the_limit_itself_is_allowed_whatever_the_type() {
        for kind in Kind::ALL {
            let check = |memory| {
                let record = Record { kind, memory: Bytes(memory), length: None, ..record(b"a:b") };
                check_record(&BigTotal { max: 10_240 }, &record, &Context::default())
            };
            assert_eq!(check(10_240), None);
            assert_eq!(check(10_241), Some(Violation { measured: 10_241, allowed: 10_240 }));
        }
    }
}
