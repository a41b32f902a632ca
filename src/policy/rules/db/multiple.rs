//! `db.multiple`: all keys are in one database.
//!
//! Measured: databases with keys. The heaviest `max` databases are allowed; findings list the others. Several inputs are
//! shards of one deployment, so databases of the same number count as one.

use std::cmp::Reverse;

use crate::policy::Context;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{Breach, BuiltRule, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::report::Report;
use crate::sorting::CompactSort;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "db.multiple",
    severity: Severity::Should,
    problem: Text { en: "keys in more than `max` databases", zh: "使用的数据库超过 max 个" },
    what: Text { en: "at most `max` databases in use", zh: "使用的数据库不超过 max 个" },
    why: Text {
        en: "Databases have only a number, many clients support them poorly, clusters not at all, and all of them share one \
             thread: applications in different databases still delay each other.",
        zh: "多数据库只用数字区分，很多客户端支持较差，集群不支持；多业务用多数据库实际还是单线程处理，会互相干扰。",
    },
    fix: Text {
        en: "keep the keys of an application in database 0 under its own prefix, and use a separate instance per application",
        zh: "同一业务的 key 放在 0 号库并使用自己的前缀；不同业务使用各自的实例",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum number of databases with keys", zh: "允许有 key 的数据库个数上限" },
        default: ParamDefault::Int(1),
    }],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[SampleKey::named("user:profile:{i}"), SampleKey::named("order:detail:{i}")]),
    fails: RuleSample::of(&[
        SampleKey::named("user:profile:{i}"),
        SampleKey { db: 3, ..SampleKey::named("order:detail:{i}") },
    ]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(MultipleRule { max: params.number("max") })))
}

/// Limits the number of databases.
#[derive(Debug, Clone, Copy)]
pub struct MultipleRule {
    /// Maximum number of databases with keys.
    pub max: u64,
}

impl SnapshotRule for MultipleRule {
    fn judge(&self, report: &Report, _: &Context) -> Vec<Breach> {
        let mut used: Vec<_> = report.databases.iter().filter(|database| database.keys > 0).collect();
        used.compact_sort_by_key(|database| (Reverse(database.memory), database.db));
        let measured = used.len() as u64;
        let too_many = used.into_iter().skip(usize::try_from(self.max).unwrap_or(usize::MAX));
        too_many
            .map(|database| Breach {
                pattern: Some(format!("db {}", database.db)),
                is_label: true,
                keys: database.keys,
                memory: database.memory,
                measured: Some(measured),
                allowed: Some(self.max),
                ..Breach::default()
            })
            .collect()
    }
    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::empty_report;
    use crate::report::{Database, Unknown};
    use crate::units::Bytes;

    #[test]
    fn empty_databases_do_not_count_and_the_heaviest_stay() {
        let mut report = empty_report();
        let database = |db, keys, memory| {
            let disk = Bytes(0);
            Database { db, keys, memory: Bytes(memory), disk, with_ttl: 0, expired: 0, unknown: Unknown::default() }
        };
        report.databases = vec![database(0, 1, 10), database(1, 0, 0), database(5, 9, 90), database(7, 1, 10)];
        let named = |max| {
            let breaches = MultipleRule { max }.judge(&report, &Context::default());
            breaches.into_iter().map(|breach| breach.pattern.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!((named(1), named(2), named(3)), (vec!["db 0".into(), "db 7".into()], vec!["db 7".into()], vec![]));
    }
}
