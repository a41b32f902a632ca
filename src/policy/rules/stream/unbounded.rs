//! `stream.unbounded`: streams are trimmed.
//!
//! Measured: live entries. A stream of more than `least` entries also violates the rule if the first one is older than `max_age`;
//! nothing is measured in that case. Up to `least` entries, which `MAXLEN` may well be, its length is bounded as far as anybody can
//! tell. Ids of entries hold milliseconds unless clients choose them; ids before 2015 are taken for such. The age is
//! relative to the reference time or, without one, to the last entry of the stream, which then leaves the rule unevaluated. Before Redis 7, dumps hold the id of the
//! first listpack instead of the first entry, and its first entries may be deleted: a trimmed stream may then look older by
//! the time in which one listpack (100 entries by default) was filled.

use std::num::NonZeroU64;

use super::ago;
use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::report::Report;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "stream.unbounded",
    severity: Severity::Should,
    problem: Text {
        en: "stream of more than `max` entries, or with entries older than `max_age`",
        zh: "stream 的消息超过 max 条，或有早于 max_age 的消息",
    },
    what: Text {
        en: "no stream has more than `max` entries, or entries older than `max_age` if it has more than `least`",
        zh: "stream 的消息数不超过 max；超过 least 条时，没有早于 max_age 的消息",
    },
    why: Text {
        en: "Reading and acknowledging do not remove entries: without trimming, a stream keeps its whole history and becomes \
             a big key.",
        zh: "读取和确认都不会删除消息：不修剪的 stream 会保留全部历史消息，最终成为大 key。",
    },
    fix: Text {
        en: "add entries with XADD … MAXLEN ~ 1000 or MINID ~ … (only from 6.2 on), and trim existing ones with XTRIM",
        zh: "写入时使用 XADD … MAXLEN ~ 1000 或 MINID ~ …（6.2 起才有），并用 XTRIM 修剪已有的消息",
    },
    params: &[
        ParamSpec {
            name: "max",
            what: Text { en: "maximum number of entries", zh: "允许的最大消息数" },
            default: ParamDefault::Int(10_000),
        },
        ParamSpec {
            name: "max_age",
            what: Text { en: "maximum age of the first entry", zh: "首条消息允许的最长存在时间" },
            default: ParamDefault::Span(30 * 86_400_000),
        },
        ParamSpec {
            name: "least",
            what: Text {
                en: "entries up to which the age does not count", zh: "不超过此消息数时不看存在时间"
            },
            default: ParamDefault::Int(1_000),
        },
    ],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[SampleKey::of("events:orders", Kind::Stream, 10_000, 900_000)]),
    fails: RuleSample::of(&[SampleKey::of("events:orders", Kind::Stream, 10_001, 900_000)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let (max, max_age) = (params.number("max"), params.number("max_age"));
    Ok(BuiltRule::Key(Box::new(UnboundedRule { max, max_age, least: params.number("least") })))
}

/// Limits length and age of streams.
#[derive(Debug, Clone, Copy)]
pub struct UnboundedRule {
    /// Maximum number of entries.
    pub max: u64,
    /// Maximum age of the first entry, in milliseconds.
    pub max_age: u64,
    /// Entries up to which the age does not count.
    pub least: u64,
}

impl KeyRule for UnboundedRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = key.record.length.unwrap_or_default();
        if measured > self.max {
            return Some(Violation { measured, allowed: self.max });
        }
        if measured <= self.least {
            return None;
        }
        let stream = key.record.stream?;
        let now = match key.reference() {
            Some(now) => u64::try_from(now.0).ok()?,
            None => stream.last_entry.map(NonZeroU64::get)?,
        };
        let too_old = ago(stream.first_entry, now)? > self.max_age;
        too_old.then_some(Violation { measured: 0, allowed: 0 })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        // Up to `least` entries in all streams, none has an age that counts.
        let is_long = |report: &Report| {
            let mut streams = report.types.iter().filter(|row| row.kind == Kind::Stream);
            streams.any(|row| row.elements > self.least)
        };
        known.lacks_time(is_long)
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::Stream]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::record::StreamFacts;
    use crate::units::Millis;

    const NOW: u64 = 1_700_000_000_000;

    fn check(length: u64, first: u64, last: u64, reference: Option<Millis>) -> Option<Violation> {
        let (first_entry, last_entry) = (NonZeroU64::new(first), NonZeroU64::new(last));
        let stream = StreamFacts { first_entry, last_entry, ..StreamFacts::default() };
        let mut record = record(b"events:orders");
        record.stream = Some(&stream);
        (record.kind, record.length) = (Kind::Stream, Some(length));
        let context = Context { reference: reference.into(), ..Context::default() };
        check_record(&UnboundedRule { max: 100, max_age: 1_000, least: 4 }, &record, &context)
    }

    #[test]
    fn more_entries_than_allowed_are_measured() {
        let now = Some(Millis(NOW as i64));
        assert_eq!(check(100, NOW, NOW, now), None);
        assert_eq!(check(101, 0, NOW, now), Some(Violation { measured: 101, allowed: 100 }));
    }

    #[test]
    fn an_old_first_entry_breaks_it_too() {
        let now = Some(Millis(NOW as i64));
        assert_eq!(check(5, NOW - 1_000, NOW, now), None);
        assert_eq!(check(5, NOW - 1_001, NOW, now), Some(Violation { measured: 0, allowed: 0 }));
        assert!(check(5, NOW - 1_001, NOW, None).is_some());
        assert_eq!(check(4, NOW - 1_001, NOW, now), None, "a short one is bounded");
    }

    #[test]
    fn ids_without_a_time_have_no_age() {
        let now = Some(Millis(NOW as i64));
        assert_eq!([check(5, 1, 90, now), check(5, 0, 0, now), check(5, u64::MAX, u64::MAX, now)], [None; 3]);
        assert_eq!([check(5, NOW, 7, None), check(5, NOW - 9_999, 0, None)], [None; 2]);
        assert_eq!(check(5, NOW, NOW, Some(Millis(i64::MIN))), None);
    }
}
