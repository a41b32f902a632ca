//! `backup.age`: the snapshot is recent.
//!
//! Measured: time from the `ctime` of the snapshot, at which the server started writing it, to the time given with `--now`.
//! Without both, nothing is checked. Each file is checked on its own.

use crate::policy::Context;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::Report;
use crate::units::Millis;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "backup.age",
    severity: Severity::Should,
    problem: Text { en: "snapshot older than `max`", zh: "快照早于 max 之前" },
    what: Text { en: "the snapshot is at most `max` old", zh: "快照不超过 max" },
    why: Text {
        en: "If the server fails, everything written after the last snapshot is lost. A snapshot older than the backup interval \
             shows that saving or copying has stopped, which often goes unnoticed.",
        zh: "服务器故障时，最后一次快照之后写入的数据会丢失。快照比备份周期还旧，说明保存或拷贝已经停止，而且往往没有人发现。",
    },
    fix: Text {
        en: "check rdb_last_bgsave_status and the job that copies snapshots; create a new snapshot with BGSAVE",
        zh: "检查 rdb_last_bgsave_status 和拷贝快照的任务；用 BGSAVE 重新生成快照",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum age of a snapshot", zh: "快照的最长时间" },
        default: ParamDefault::Span(24 * 3_600_000),
    }],
    unit: Some(Unit::Millis),
    passes: RuleSample::of(&[SampleKey::named("user:profile:{i}")])
        .with(SampleFacts { age_hours: Some(24), ..SampleFacts::NONE }),
    fails: RuleSample::of(&[SampleKey::named("user:profile:{i}")])
        .with(SampleFacts { age_hours: Some(25), ..SampleFacts::NONE }),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(AgeRule { max: params.number("max") })))
}

const TAKEN: DetailField = DetailField::new("taken", "taken", "快照时间");

/// Limits the age of snapshots.
#[derive(Debug, Clone, Copy)]
pub struct AgeRule {
    /// Maximum age, in milliseconds.
    pub max: u64,
}

impl SnapshotRule for AgeRule {
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach> {
        let Some(now) = context.now else { return Vec::new() };
        let age = |ctime: i64| now.0.saturating_sub(ctime.saturating_mul(1000));
        let dated = report.source.files.iter().filter_map(|file| file.ctime.map(|ctime| (file, ctime)));
        dated
            // A snapshot from the future has a negative age and passes.
            .filter_map(|(file, ctime)| u64::try_from(age(ctime)).ok().map(|age| (file, ctime, age)))
            .filter(|(_, _, age)| *age > self.max)
            .map(|(file, ctime, age)| Breach {
                pattern: Some(file.name.clone()),
                keys: file.keys,
                memory: file.memory,
                measured: Some(age),
                allowed: Some(self.max),
                details: [TAKEN.with(DetailValue::Time(Millis(ctime.saturating_mul(1000))))].into(),
                ..Breach::default()
            })
            .collect()
    }
    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        if known.context.now.is_none() {
            return Some(Need::Now);
        }
        known.lacks(Need::SnapshotTime, |report| report.source.files.iter().any(|file| file.ctime.is_none()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::{empty_report, source_file};
    use crate::report::SourceFile;

    #[test]
    fn files_without_a_time_or_from_the_future_are_not_old() {
        let mut report = empty_report();
        for (place, ctime) in [None, Some(10_000), Some(i64::MAX), Some(i64::MIN), Some(900)].into_iter().enumerate() {
            report.source.files.push(SourceFile { ctime, ..source_file(place) });
        }
        let old = |now| {
            let context = Context { now, ..Context::default() };
            let breaches = AgeRule { max: 100_000 }.judge(&report, &context);
            breaches.into_iter().map(|breach| breach.pattern.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(old(Some(Millis(1_000_000))), ["sample-3.rdb"]);
        assert_eq!(old(Some(Millis(1_000_001))), ["sample-3.rdb", "sample-4.rdb"]);
        assert!(old(None).is_empty());
    }
}
