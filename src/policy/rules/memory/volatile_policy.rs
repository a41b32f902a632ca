//! `memory.volatile-policy`: under a `volatile-*` policy, nearly all memory can be evicted.
//!
//! Measured: memory of keys without expiry in thousandths of all memory, rounded up. Checked only if `--maxmemory-policy`
//! states that the server evicts only keys with an expiry. Where `ttl.missing` is in force, only keys that it counts are measured: the
//! standards demand an expiry of cached data, and let configuration and counters live forever. Hashes whose fields expire count as well,
//! which satisfy `ttl.missing`: servers evict none that has no expiry of its own. Several inputs are shards on separate servers, which evict
//! only what they have themselves, so each is measured on its own.

use std::cmp::Reverse;

use crate::policy::Context;
use crate::policy::capacity::{exceeds, permille_above};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit,
};
use crate::policy::rules::ttl::missing;
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::servers::ServerFiles;
use crate::report::{Detail, DetailPart, Report, Weight, Word};
use crate::sorting::CompactSort;

/// Maximum number of patterns in a finding.
const NAMED: usize = 5;

const VOLATILE: SampleFacts = SampleFacts { maxmemory_policy: Some("volatile-lru"), ..SampleFacts::NONE };

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "memory.volatile-policy",
    severity: Severity::Must,
    problem: Text {
        en: "more than `max` of the memory lacks a TTL under maxmemory-policy volatile-*",
        zh: "使用 volatile-* 淘汰策略，但未设置过期时间的 key 占用内存超过 max",
    },
    what: Text {
        en: "at most `max` of the memory lacks a TTL under maxmemory-policy volatile-*",
        zh: "使用 volatile-* 淘汰策略时，未设置过期时间的 key 占用内存不超过 max",
    },
    why: Text {
        en: "Under volatile-* a server evicts only keys with a TTL. Keys without one stay forever; once they fill the memory, \
             everything else has been evicted and writes fail. Keys that `ttl.missing` allows to live forever do not count; \
             hashes whose fields expire, but not the key, do.",
        zh: "volatile-* 策略只淘汰设置了过期时间的 key，未设置过期时间的数据会成为“永久数据”，永远不被回收；它们占满内存后，其他数据都已被淘汰，写入也会失败（OOM）。按 `ttl.missing` 可以永久保存的 key 不计；只有字段设置了过期时间、key 本身未设置的 hash 也计入。",
    },
    fix: Text {
        en: "set a TTL on cached data, move permanent data to a separate instance, or use an allkeys-* policy",
        zh: "为缓存数据设置过期时间，把需要长期保留的数据放到单独的实例，或改用 allkeys-* 策略",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text {
            en: "maximum share of the memory without TTL", zh: "未设置过期时间的 key 允许占用的内存比例"
        },
        default: ParamDefault::Share(100),
    }],
    unit: Some(Unit::Permille),
    passes: RuleSample::of(&[
        SampleKey::named("cache:page:{i}").times(9, 0),
        SampleKey::named("config:site").forever(),
    ])
    .with(VOLATILE),
    fails: RuleSample::of(&[SampleKey::named("cache:page:{i}").times(8, 0), SampleKey::named("config:site").forever()])
        .with(VOLATILE),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(VolatilePolicy { max: params.number("max") })))
}

/// Limits the share of memory that cannot be evicted.
#[derive(Debug, Clone, Copy)]
pub struct VolatilePolicy {
    /// Maximum share of memory without expiry, in thousandths.
    pub max: u64,
}

const POLICY: DetailField = DetailField::new("policy", "policy", "策略");
const PATTERNS: DetailField = DetailField::new("patterns", "patterns", "模式");
const PATTERNS_OF_ALL: DetailField = DetailField::new("patterns", "patterns of all files", "所有文件的模式");

impl SnapshotRule for VolatilePolicy {
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach> {
        let Some(policy) = context.maxmemory_policy.as_deref().filter(|policy| policy.starts_with("volatile-")) else {
            return Vec::new();
        };
        let judge = |Unevictable { file, weight, forever, patterns }: Unevictable| {
            let (part, whole) = (forever.memory.0, weight.memory.0);
            exceeds(part, whole, self.max).then(|| Breach {
                pattern: file,
                is_label: true,
                keys: forever.keys,
                memory: forever.memory,
                measured: Some(permille_above(part, whole, self.max)),
                allowed: Some(self.max),
                details: [POLICY.with(DetailValue::Text(policy.to_owned())), patterns].into(),
                ..Breach::default()
            })
        };
        Unevictable::of(report, context).into_iter().filter_map(judge).collect()
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        match known.context.maxmemory_policy.as_deref() {
            None => Some(Need::MaxmemoryPolicy),
            Some(policy) if policy.starts_with("volatile-") => known.lacks_sums(),
            Some(_) => None,
        }
    }

    fn is_about_shares(&self) -> bool {
        true
    }
}

/// Keys of one server that it never evicts.
struct Unevictable {
    /// File that they come from, if there are several.
    file: Option<String>,
    /// All keys of the server.
    weight: Weight,
    /// Those that lack an expiry.
    forever: Weight,
    /// Their heaviest patterns; those of all servers if there are several.
    patterns: (Word, Detail),
}

impl Unevictable {
    /// Returns the keys of each server, without servers that have keys of unknown memory: shares of known memory are not those of all
    /// memory.
    fn of(report: &Report, context: &Context) -> Vec<Unevictable> {
        let (Lasting { weight: forever, patterns }, servers) = (Lasting::of(report), report.servers());
        let patterns = DetailValue::Parts(patterns);
        if servers.len() <= 1 {
            let weight = Weight { keys: report.totals.keys, memory: report.totals.memory };
            let known = report.totals.unknown.is_none();
            let one = Unevictable { file: None, weight, forever, patterns: PATTERNS.with(patterns) };
            return known.then_some(one).into_iter().collect();
        }
        let of_server = |(server, forever): (&ServerFiles<'_>, Weight)| Unevictable {
            file: Some(server.name().to_owned()),
            weight: server.weight(),
            forever,
            patterns: PATTERNS_OF_ALL.with(patterns.clone()),
        };
        let without_ttl = report.by_server(&context.without_ttl);
        servers.iter().zip(without_ttl).filter(|(server, _)| !server.has_unknown()).map(of_server).collect()
    }
}

/// Keys that lack an expiry.
struct Lasting {
    weight: Weight,
    /// Their heaviest patterns.
    patterns: Vec<DetailPart>,
}

impl Lasting {
    fn of(report: &Report) -> Lasting {
        let part = |name: &str, keys, memory| DetailPart {
            name: name.to_owned(),
            keys: Some(keys),
            memory: Some(memory),
            ..DetailPart::default()
        };
        // Lists of the report have this many rows: more of two of them together would lack heavier ones.
        let named = NAMED.min(report.options.top.max(1));
        let findings = &report.findings;
        let in_force = findings.checked.iter().chain(findings.not_evaluated.iter().map(|row| &row.rule));
        if !in_force.into_iter().any(|rule| *rule == missing::ID) {
            let heaviest = report.no_ttl.patterns.iter().take(named);
            let patterns = heaviest.map(|row| part(&row.pattern, row.keys, row.memory)).collect();
            return Lasting { weight: report.totals.without_ttl, patterns };
        }
        let (mut weight, mut rows) = (report.totals.fields_expire, Vec::new());
        for finding in report.findings.list.iter().filter(|finding| finding.rule == missing::ID) {
            weight.merge(Weight { keys: finding.keys, memory: finding.memory });
            rows.extend(
                finding.patterns.iter().filter_map(|row| Some((row.pattern.as_deref()?, row.keys, row.memory))),
            );
        }
        // In the order of the lists, so that a shorter list is the beginning of a longer one.
        rows.compact_sort_by_key(|&(pattern, keys, memory)| (Reverse(memory), Reverse(keys), pattern.to_owned()));
        let patterns =
            rows.into_iter().take(named).map(|(pattern, keys, memory)| part(pattern, keys, memory)).collect();
        Lasting { weight, patterns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::{empty_report, source_file};
    use crate::report::{Finding, SourceFile};
    use crate::units::Bytes;
    use crate::wording::Wording;

    #[test]
    fn only_keys_that_a_volatile_policy_cannot_evict_count() {
        let mut report = empty_report();
        report.findings.checked.clear();
        report.totals.memory = Bytes(1000);
        report.totals.without_ttl = Weight { keys: 3, memory: Bytes(101) };
        let under = |policy: Option<&str>| {
            let context = Context { maxmemory_policy: policy.map(str::to_owned), ..Context::default() };
            VolatilePolicy { max: 100 }.judge(&report, &context).len()
        };
        let volatile = ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"];
        assert!(volatile.into_iter().all(|policy| under(Some(policy)) == 1));
        assert!([None, Some("allkeys-lfu"), Some("noeviction")].into_iter().all(|policy| under(policy) == 0));
    }

    #[test]
    fn each_server_is_measured_on_its_own() {
        let mut report = empty_report();
        for (place, memory) in [9_000, 10, 500].into_iter().enumerate() {
            report.source.files.push(SourceFile { memory: Bytes(memory), keys: 5, ..source_file(place) });
        }
        report.totals.memory = Bytes(9_510);
        let weight = |memory| Weight { keys: 1, memory: Bytes(memory) };
        let maxmemory_policy = Some("volatile-lru".to_owned());
        let context =
            Context { maxmemory_policy, without_ttl: [(0, weight(900)), (1, weight(10))].into(), ..Context::default() };
        let named = |report: &Report| -> Vec<_> {
            let found = VolatilePolicy { max: 100 }.judge(report, &context);
            found.into_iter().map(|breach| (breach.pattern, breach.memory, breach.measured)).collect()
        };
        assert_eq!(named(&report), [(Some("sample-1.rdb".to_owned()), Bytes(10), Some(1000))]);
        report.source.files[1].unknown.keys = 1;
        assert_eq!(named(&report), []);
    }

    #[test]
    fn keys_that_may_live_forever_do_not_count() {
        let mut report = empty_report();
        report.totals.memory = Bytes(1000);
        report.totals.without_ttl = Weight { keys: 9, memory: Bytes(900) };
        report.findings.checked = vec![missing::ID.into()];
        let context = Context { maxmemory_policy: Some("volatile-lru".to_owned()), ..Context::default() };
        assert!(VolatilePolicy { max: 100 }.judge(&report, &context).is_empty());
        let finding = |memory| Finding {
            rule: missing::ID.into(),
            severity: Severity::Must,
            problem: Wording::default(),
            demand: Wording::default(),
            fix: Wording::default(),
            source: None,
            unit: None,
            keys: 2,
            memory: Bytes(memory),
            saves: None,
            distinct_patterns: 1,
            worst: None,
            patterns: Vec::new(),
        };
        report.findings.list = vec![finding(60), finding(41)];
        report.totals.fields_expire = Weight { keys: 1, memory: Bytes(7) };
        let [breach] = &VolatilePolicy { max: 100 }.judge(&report, &context)[..] else { panic!() };
        assert_eq!((breach.keys, breach.memory, breach.measured), (5, Bytes(108), Some(108)));
    }
}
