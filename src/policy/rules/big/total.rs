//! `big.total`: values of any type have at most `max` bytes of payload.
//!
//! Measured: the [payload](crate::rdb::payload): bytes of the string, of all elements, fields and values; 8 for a score, 16 for
//! the id of a stream entry. The key's name and the server's overhead do not count. HyperLogLogs, which the standards
//! recommend, always comply. The content of module values is not measured: those whose memory is at most `max` comply, and of
//! others the rule knows nothing.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, SizeTest, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::report::{Report, TypeRow};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "big.total",
    severity: Severity::Should,
    problem: Text { en: "value larger than {max}", zh: "value 总大小超过 {max}" },
    what: Text { en: "no value is larger than {max}", zh: "value 总大小不超过 {max}" },
    why: Text {
        en: "A collection of few long elements can be as heavy as one with many: reading it can saturate the network, freeing \
             it blocks the server, and it makes one node of a cluster heavier than the others.",
        zh: "元素不多但单个元素很长的集合类型同样是大 key：读取时容易打满网卡，释放时阻塞服务器，并使集群中某个节点的内存明显偏多。",
    },
    fix: Text {
        en: "split it by field prefix, id or time; compress long texts; delete it with UNLINK (before 4.0 in \
             steps)",
        zh: "按字段前缀、id 或时间拆分；长文本压缩存储；用 UNLINK 删除（4.0 之前分批删除）",
    },
    params: &[
        ParamSpec {
            name: "max",
            what: Text {
                en: "maximum size of a value: bytes of its content, without overhead of the server",
                zh: "value 允许的最大总大小：内容的字节数，不含服务器开销",
            },
            default: ParamDefault::Bytes(1 << 20),
        },
        ParamSpec {
            name: "strings",
            what: Text { en: "true if strings count, too", zh: "为 true 时也包括 string" },
            default: ParamDefault::Flag(true),
        },
        ParamSpec {
            name: "streams",
            what: Text { en: "true if streams count, too", zh: "为 true 时也包括 stream" },
            default: ParamDefault::Flag(true),
        },
    ],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("page:home:html", Kind::String, 1 << 20, 1_310_776)]),
    fails: RuleSample::of(&[SampleKey::of("page:home:html", Kind::String, (1 << 20) + 1, 1_310_776)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let (strings, streams) = (params.flag("strings"), params.flag("streams"));
    Ok(BuiltRule::Key(Box::new(BigTotal { max: params.number("max"), strings, streams })))
}

/// Limits the payload of a key.
#[derive(Debug, Clone, Copy)]
pub struct BigTotal {
    /// Maximum payload in bytes.
    pub max: u64,
    /// True if strings count.
    pub strings: bool,
    /// True if streams count.
    pub streams: bool,
}

impl KeyRule for BigTotal {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = key.record.payload_over(self.max)?;
        (!key.record.is_hyperloglog()).then_some(Violation { measured, allowed: self.max })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        // Stored bytes may be compressed, so they are no bound.
        let may_exceed = |row: &TypeRow| !row.unknown.is_none() || row.max.0 > self.max;
        let is_missing = |report: &Report| report.types.iter().any(|row| row.kind == Kind::Module && may_exceed(row));
        known.lacks(Need::ModuleContent, is_missing).or_else(|| known.lacks_values())
    }

    fn kinds(&self) -> &'static [Kind] {
        let all = &[Kind::String, Kind::List, Kind::Set, Kind::Zset, Kind::Hash, Kind::Array, Kind::Stream];
        let (from, to) = (usize::from(!self.strings), all.len() - usize::from(!self.streams));
        &all[from..to]
    }

    fn size_test(&self, kind: Kind) -> Option<SizeTest> {
        Some(if kind == Kind::String { SizeTest::Length(self.max) } else { SizeTest::Payload(self.max) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::empty_report;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::rdb::payload::Payload;
    use crate::record::{Record, ValueFacts};
    use crate::report::Unknown;
    use crate::units::Bytes;

    fn check(record: &Record<'_>) -> Option<Violation> {
        check_record(&BigTotal { max: 10_240, strings: true, streams: true }, record, &Context::default())
    }

    #[test]
    fn strings_and_streams_count_only_where_the_policy_says_so() {
        use crate::policy::testing::{breaks, checks, facts};
        let value = facts(ValueFacts { payload: Some(Payload::at_least(2 << 20)), ..ValueFacts::NONE });
        for (kinds, broken) in [
            ("", [true, true, true]),
            ("streams = false", [true, true, false]),
            ("strings = false", [false, true, true]),
            ("strings = false\nstreams = false", [false, true, false]),
        ] {
            let checks = checks(&format!("[rules.\"big.total\"]\nseverity = \"must\"\n{kinds}"));
            let breaks = |kind| {
                breaks(&checks, "log:app", |record| {
                    (record.kind, record.memory, record.length) = (kind, Bytes(2 << 20), Some(2 << 20));
                    record.value = value;
                })
            };
            assert_eq!([Kind::String, Kind::List, Kind::Stream].map(breaks), broken, "{kinds}");
        }
    }

    #[test]
    fn the_limit_itself_is_allowed_whatever_the_memory() {
        let over = Some(Violation { measured: 10_241, allowed: 10_240 });
        for (payload, expected) in [(10_240, None), (10_241, over)] {
            let memory = Bytes(99_999);
            let value = &ValueFacts { payload: Some(Payload { bytes: payload, longest: 0 }), ..ValueFacts::NONE };
            assert_eq!(check(&Record { kind: Kind::Set, memory, value, ..record(b"a:b") }), expected);
            assert_eq!(check(&Record { memory, length: Some(payload), ..record(b"a:b") }), expected);
        }
    }

    #[test]
    fn unknown_payload_is_not_judged() {
        for kind in [Kind::Module, Kind::Stream, Kind::List] {
            assert_eq!(check(&Record { kind, memory: Bytes(1 << 30), ..record(b"a:b") }), None);
        }
    }

    #[test]
    fn module_values_that_may_be_larger_are_not_judged_and_said_so() {
        let lacks = |kind, max, unknown| {
            let mut report = empty_report();
            let unknown = Unknown { keys: unknown, stored_bytes: Bytes(1) };
            let row = |kind| serde_json::json!({"type": kind, "keys": 9, "memory": 20_000});
            let mut row: TypeRow = serde_json::from_value(row(kind)).unwrap();
            (row.max, row.unknown) = (Bytes(max), unknown);
            report.types = vec![row];
            let context = Context::default();
            let known = Known { context: &context, report: Some(&report), sizes_hidden: false };
            BigTotal { max: 10_240, strings: true, streams: true }.needs(&known)
        };
        assert_eq!(lacks(Kind::Module, 10_240, 0), None);
        assert_eq!(lacks(Kind::Module, 10_241, 0), Some(Need::ModuleContent));
        assert_eq!(lacks(Kind::Module, 0, 1), Some(Need::ModuleContent));
        assert_eq!((lacks(Kind::Hash, 10_241, 0), lacks(Kind::Hash, 0, 1)), (None, None));
    }
}
