//! `stream.pending`: consumer groups acknowledge delivered entries.
//!
//! Measured: pending entries of the group with the most. A stream also violates the rule if a pending entry was delivered
//! more than `max_age` ago, or if a consumer with pending entries has been inactive for more than `idle`, both at the
//! reference time; nothing is measured in that case.

use super::ago;
use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::report::Report;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "stream.pending",
    severity: Severity::Must,
    problem: Text {
        en: "consumer group with many or long unacknowledged entries",
        zh: "消费组有大量或长期未确认的消息",
    },
    what: Text {
        en: "no consumer group has too many unacknowledged entries, or entries unacknowledged for too long",
        zh: "消费组没有大量或长期未确认的消息",
    },
    why: Text {
        en: "A delivered but unacknowledged entry is unfinished work: its consumer has failed, is too slow, or does not call \
             XACK. The list of pending entries takes memory itself and keeps growing.",
        zh: "已投递但未确认的消息意味着工作没有完成：消费者故障、过慢，或漏掉 XACK。未确认消息列表（PEL）本身占用内存并持续增长。",
    },
    fix: Text {
        en: "inspect with XPENDING, reassign entries with XAUTOCLAIM (before 6.2: XCLAIM), acknowledge with XACK, remove dead consumers with \
             XGROUP DELCONSUMER",
        zh: "用 XPENDING 查看，用 XAUTOCLAIM（6.2 之前为 XCLAIM）转移，处理后用 XACK 确认，用 XGROUP DELCONSUMER 移除失效消费者",
    },
    params: &[
        ParamSpec {
            name: "max",
            what: Text {
                en: "maximum number of pending entries of a group", zh: "单个消费组允许的最大未确认消息数"
            },
            default: ParamDefault::Int(1_000),
        },
        ParamSpec {
            name: "max_age",
            what: Text {
                en: "maximum time since the delivery of a pending entry",
                zh: "未确认消息自投递起允许的最长时间",
            },
            default: ParamDefault::Span(86_400_000),
        },
        ParamSpec {
            name: "idle",
            what: Text {
                en: "maximum idle time of a consumer with pending entries",
                zh: "有未确认消息的消费者允许的最长空闲时间",
            },
            default: ParamDefault::Span(3_600_000),
        },
    ],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[SampleKey {
        pending: 1_000,
        ..SampleKey::of("events:orders", Kind::Stream, 5_000, 400_000)
    }]),
    fails: RuleSample::of(&[SampleKey {
        pending: 1_001,
        ..SampleKey::of("events:orders", Kind::Stream, 5_000, 400_000)
    }]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let number = |name| params.number(name);
    Ok(BuiltRule::Key(Box::new(PendingRule { max: number("max"), max_age: number("max_age"), idle: number("idle") })))
}

/// Limits number and age of pending entries.
#[derive(Debug, Clone, Copy)]
pub struct PendingRule {
    /// Maximum number of pending entries of a group.
    pub max: u64,
    /// Maximum time since a delivery, in milliseconds.
    pub max_age: u64,
    /// Maximum idle time of a consumer with pending entries, in milliseconds.
    pub idle: u64,
}

impl KeyRule for PendingRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let stream = key.record.stream?;
        let measured = stream.most_pending;
        if measured > self.max {
            return Some(Violation { measured, allowed: self.max });
        }
        let now = u64::try_from(key.reference()?.0).ok()?;
        let late = ago(stream.oldest_delivery, now).is_some_and(|age| age > self.max_age);
        let gone = ago(stream.idle_since, now).is_some_and(|idle| idle > self.idle);
        (late || gone).then_some(Violation { measured: 0, allowed: 0 })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let has_streams = |report: &Report| report.types.iter().any(|row| row.kind == Kind::Stream);
        known.lacks_time(has_streams)
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::Stream]
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::record::StreamFacts;
    use crate::units::Millis;

    const NOW: u64 = 1_700_000_000_000;

    fn check(most_pending: u64, delivered: u64, seen: u64, reference: Option<Millis>) -> Option<(u64, u64)> {
        let (oldest_delivery, idle_since) = (NonZeroU64::new(delivered), NonZeroU64::new(seen));
        let stream = StreamFacts { most_pending, oldest_delivery, idle_since, ..StreamFacts::default() };
        let mut record = record(b"events:orders");
        record.stream = Some(&stream);
        record.kind = Kind::Stream;
        let rule = PendingRule { max: 10, max_age: 1_000, idle: 500 };
        let context = Context { reference: reference.into(), ..Context::default() };
        check_record(&rule, &record, &context).map(|violation| (violation.measured, violation.allowed))
    }

    #[test]
    fn many_pending_entries_of_one_group_are_measured() {
        assert_eq!(check(10, NOW, NOW, Some(Millis(NOW as i64))), None);
        assert_eq!(check(11, NOW, NOW, None), Some((11, 10)));
    }

    #[test]
    fn few_entries_that_are_pending_for_long_break_it_too() {
        let now = Some(Millis(NOW as i64));
        assert_eq!(check(1, NOW - 1_000, NOW - 500, now), None);
        assert_eq!(check(1, NOW - 1_001, NOW, now), Some((0, 0)));
        assert_eq!(check(1, NOW, NOW - 501, now), Some((0, 0)));
        assert_eq!(check(1, NOW - 1_001, NOW - 501, None), None);
    }

    #[test]
    fn undelivered_entries_are_not_pending() {
        let now = Some(Millis(NOW as i64));
        assert_eq!([check(0, 0, 0, now), check(1, 1, 1, now), check(1, u64::MAX, u64::MAX, now)], [None; 3]);
    }
}
