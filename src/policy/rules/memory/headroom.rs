//! `memory.headroom`: a share of `maxmemory` stays free.
//!
//! Measured: memory in thousandths of `maxmemory`, rounded up: the estimate, or the `used-mem` of the file if that is more, as it
//! includes what the server itself needs. Without `--maxmemory`, or with 0, nothing is checked; `memory.limit` demands a limit. Several inputs are shards on separate servers
//! with that limit each, so each is checked on its own.

use crate::policy::Context;
use crate::policy::capacity::{estimated_memory, exceeds, permille_above};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::record::Kind;
use crate::report::servers::ServerFiles;
use crate::report::{Report, Weight};
use crate::units::Bytes;

const TEN_MIB: SampleFacts = SampleFacts { maxmemory: Some(10 << 20), ..SampleFacts::NONE };

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "memory.headroom",
    severity: Severity::Must,
    problem: Text { en: "more than `max` of maxmemory in use", zh: "内存使用量超过 maxmemory 的 max" },
    what: Text { en: "at most `max` of maxmemory in use", zh: "内存使用量不超过 maxmemory 的 max" },
    why: Text {
        en: "Traffic peaks, fragmentation, client buffers and copy-on-write during a fork need memory in addition to the data. \
             When memory is exhausted, the server evicts keys or refuses writes.",
        zh: "流量突增、内存碎片、客户端缓冲区和 fork 时的写时复制都需要额外内存。内存打满后，服务器会淘汰 key 或拒绝写入。",
    },
    fix: Text {
        en: "add memory or shards, shorten expiries, or reduce the heaviest data",
        zh: "扩容或增加分片，缩短过期时间，或优化占用最多的数据",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum share of maxmemory in use", zh: "允许使用的 maxmemory 比例" },
        default: ParamDefault::Share(800),
    }],
    unit: Some(Unit::Permille),
    passes: RuleSample::of(&[SampleKey::of("rank:daily:{i}", Kind::Zset, 90_000, 8 << 20)]).with(TEN_MIB),
    fails: RuleSample::of(&[SampleKey::of("rank:daily:{i}", Kind::Zset, 90_000, (8 << 20) + 1)]).with(TEN_MIB),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(HeadroomRule { max: params.number("max") })))
}

/// Limits the share of `maxmemory` in use.
#[derive(Debug, Clone, Copy)]
pub struct HeadroomRule {
    /// Maximum share in use, in thousandths.
    pub max: u64,
}

const MAXMEMORY: DetailField = DetailField::new("maxmemory", "maxmemory", "maxmemory");
const USED_MEM: DetailField = DetailField::new("used_mem", "used-mem", "used-mem");

/// Memory of one server.
struct Load {
    /// File that it comes from, if there are several.
    file: Option<String>,
    /// Weight that a finding has: that of the keys, as in all findings.
    weight: Weight,
    /// Memory of keys and tables.
    estimated: Bytes,
    /// The `used-mem` of the dump, which is about all keys.
    used: Option<Bytes>,
}

impl Load {
    /// Returns the load of each server.
    fn of(report: &Report) -> Vec<Load> {
        let said = |server: &ServerFiles<'_>| report.instance.as_ref().and(server.used_mem());
        let servers = report.servers();
        if let [server] = &servers[..] {
            let weight = Weight { keys: report.totals.keys, memory: report.totals.memory };
            return vec![Load { file: None, weight, estimated: estimated_memory(report), used: said(server) }];
        }
        let of_server = |server: &ServerFiles<'_>| Load {
            file: Some(server.name().to_owned()),
            weight: server.weight(),
            estimated: server.estimated(),
            used: said(server),
        };
        servers.iter().map(of_server).collect()
    }
}

impl SnapshotRule for HeadroomRule {
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach> {
        let Some(limit) = context.maxmemory.filter(|limit| limit.0 > 0) else { return Vec::new() };
        let judge = |Load { file, weight: Weight { keys, memory }, estimated, used }: Load| {
            let used = used.filter(|used| *used > estimated);
            let needed = used.unwrap_or(estimated);
            let said = used.map(|used| USED_MEM.with(DetailValue::Bytes(used)));
            exceeds(needed.0, limit.0, self.max).then(|| Breach {
                pattern: file,
                is_label: true,
                keys,
                memory,
                measured: Some(permille_above(needed.0, limit.0, self.max)),
                allowed: Some(self.max),
                details: [MAXMEMORY.with(DetailValue::Bytes(limit))].into_iter().chain(said).collect(),
                ..Breach::default()
            })
        };
        Load::of(report).into_iter().filter_map(judge).collect()
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        match known.context.maxmemory {
            // The memory that servers report includes keys of unknown memory.
            Some(Bytes(1..)) => known.lacks_keys().or_else(|| {
                known.lacks(Need::KnownMemory, |report| {
                    let loads = Load::of(report);
                    !report.totals.unknown.is_none() && loads.iter().any(|load| load.used.is_none())
                })
            }),
            Some(Bytes(0)) => Some(Need::MemoryLimit),
            None => Some(Need::Maxmemory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::{empty_report, source_file};
    use crate::report::{Instance, SourceFile, Unknown};

    #[test]
    fn each_shard_is_compared_with_the_limit() {
        let mut report = empty_report();
        for (place, memory) in [70, 81].into_iter().enumerate() {
            report.source.files.push(SourceFile { memory: Bytes(memory), ..source_file(place) });
        }
        report.totals.memory = Bytes(151);
        let context = |limit| Context { maxmemory: Some(Bytes(limit)), ..Context::default() };
        let [breach] = &HeadroomRule { max: 800 }.judge(&report, &context(100))[..] else { panic!() };
        assert_eq!((breach.pattern.as_deref(), breach.measured), (Some("sample-1.rdb"), Some(810)));
        assert!(HeadroomRule { max: 800 }.judge(&report, &context(0)).is_empty(), "0 is no limit");
        // Tables count for several files as for one.
        report.source.files[0].total = Some(Bytes(90));
        let breaches = HeadroomRule { max: 800 }.judge(&report, &context(100));
        let measured: Vec<_> = breaches.iter().map(|breach| (breach.memory, breach.measured)).collect();
        assert_eq!(measured, [(Bytes(70), Some(900)), (Bytes(81), Some(810))]);
    }

    #[test]
    fn what_the_server_used_counts_if_it_is_more_than_its_keys() {
        let judge = |used: Option<u64>, selected: bool| {
            let mut report = empty_report();
            report.totals.memory = Bytes(70);
            report.source.files = vec![SourceFile { used_mem: used.map(Bytes), ..source_file(0) }];
            report.instance = (!selected).then(|| Instance { total: Bytes(75), ..Instance::default() });
            let context = Context { maxmemory: Some(Bytes(100)), ..Context::default() };
            let breaches = HeadroomRule { max: 740 }.judge(&report, &context);
            breaches.into_iter().map(|breach| (breach.measured, breach.details.len())).collect::<Vec<_>>()
        };
        assert_eq!(judge(None, false), [(Some(750), 1)]);
        assert_eq!(judge(Some(74), false), [(Some(750), 1)], "the estimate is more");
        assert_eq!(judge(Some(91), false), [(Some(910), 2)]);
        assert!(judge(Some(91), true).is_empty(), "it is about all keys");
    }

    #[test]
    fn what_the_server_used_includes_keys_of_unknown_memory() {
        let needs = |used: Option<u64>| {
            let mut report = empty_report();
            report.totals.unknown = Unknown { keys: 1, stored_bytes: Bytes(9) };
            report.source.files = vec![SourceFile { used_mem: used.map(Bytes), ..source_file(0) }];
            report.instance = Some(Instance::default());
            let context = Context { maxmemory: Some(Bytes(100)), ..Context::default() };
            HeadroomRule { max: 740 }.needs(&Known { report: Some(&report), ..Known::before(&context) })
        };
        assert!(needs(None).is_some() && needs(Some(50)).is_none());
    }
}
