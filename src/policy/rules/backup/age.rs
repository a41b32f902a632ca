//! `backup.age`: the snapshot is recent.
//!
//! Measured: time from the `ctime` of the snapshot, at which the server started writing it, to the time given with `--now`.
//! Without both, nothing is checked. Each file is checked on its own. A snapshot that is more than an hour newer than that time means
//! that the time is wrong: clocks of two machines differ by less.

use crate::policy::Context;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::{Report, SourceFile};
use crate::units::Millis;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "backup.age",
    severity: Severity::Should,
    problem: Text { en: "snapshot older than `max`", zh: "快照距今超过 max" },
    what: Text { en: "the snapshot is at most `max` old", zh: "快照距今不超过 max" },
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
        what: Text { en: "maximum age of a snapshot", zh: "快照距今的最长时间" },
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

/// Maximum difference between the clocks of two machines, in milliseconds.
const CLOCK_SKEW: i64 = 3_600_000;

/// Limits the age of snapshots.
#[derive(Debug, Clone, Copy)]
pub struct AgeRule {
    /// Maximum age, in milliseconds.
    pub max: u64,
}

/// Returns the age of a snapshot in milliseconds: negative if it is from the future, and never the number that has no opposite.
fn age(ctime: i64, now: Millis) -> i64 {
    now.0.saturating_sub(ctime.saturating_mul(1000)).max(-i64::MAX)
}

impl SnapshotRule for AgeRule {
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach> {
        let Some(now) = context.now else { return Vec::new() };
        let dated = report.source.files.iter().filter_map(|file| file.ctime.map(|ctime| (file, ctime)));
        dated
            // A snapshot from the future has a negative age and passes.
            .filter_map(|(file, ctime)| u64::try_from(age(ctime, now)).ok().map(|age| (file, ctime, age)))
            .filter(|(_, _, age)| *age > self.max)
            .map(|(file, ctime, age)| Breach {
                pattern: Some(file.name.clone()),
                is_label: true,
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
        let Some(now) = known.context.now else { return Some(Need::Now) };
        let is_later = |file: &SourceFile| file.ctime.is_some_and(|ctime| -age(ctime, now) > CLOCK_SKEW);
        let undated =
            known.lacks(Need::SnapshotTime, |report| report.source.files.iter().any(|file| file.ctime.is_none()));
        undated.or_else(|| known.lacks(Need::LaterNow, |report| report.source.files.iter().any(is_later)))
    }

    fn is_about_files(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::{empty_report, source_file};

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

    #[test]
    fn a_time_before_a_snapshot_is_wrong() {
        let needs = |now| {
            let mut report = empty_report();
            report.source.files = vec![SourceFile { ctime: Some(1_700_000_000), ..source_file(0) }];
            let context = Context { now: Some(Millis(now)), ..Context::default() };
            AgeRule { max: 100_000 }.needs(&Known { report: Some(&report), ..Known::before(&context) })
        };
        assert_eq!(needs(1_699_996_400_000), None, "an hour before it");
        assert_eq!(needs(1_699_996_399_999), Some(Need::LaterNow));
        assert_eq!(needs(i64::MIN), Some(Need::LaterNow));
    }
}
