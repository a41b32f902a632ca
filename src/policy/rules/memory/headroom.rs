//! `memory.headroom`: a share of `maxmemory` stays free.
//!
//! Measured: estimated memory in thousandths of `maxmemory`, rounded up. Without `--maxmemory` nothing is checked. Several
//! inputs are shards on separate servers with that limit each, so each is checked on its own.

use crate::policy::Context;
use crate::policy::capacity::{estimated_memory, exceeds, permille};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::record::Kind;
use crate::report::{Report, SourceFile, Weight};
use crate::units::Bytes;

const TEN_MIB: SampleFacts = SampleFacts { maxmemory: Some(10 << 20), ..SampleFacts::NONE };

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "memory.headroom",
    severity: Severity::Must,
    problem: Text { en: "more than `max` of maxmemory in use", zh: "内存使用超过 maxmemory 的 max" },
    what: Text { en: "at most `max` of maxmemory in use", zh: "内存使用不超过 maxmemory 的 max" },
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

impl SnapshotRule for HeadroomRule {
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach> {
        let Some(limit) = context.maxmemory.filter(|limit| limit.0 > 0) else { return Vec::new() };
        let files = &report.source.files;
        // What counts is all that a server needs; a finding has the memory of keys, as all findings have.
        let loads: Vec<(Option<String>, Weight, Bytes)> = if files.len() > 1 {
            let of_file = |file: &SourceFile| Weight { keys: file.keys, memory: file.memory };
            files.iter().map(|file| (Some(file.name.clone()), of_file(file), file.memory)).collect()
        } else {
            let totals = &report.totals;
            vec![(None, Weight { keys: totals.keys, memory: totals.memory }, estimated_memory(report))]
        };
        let full = loads.into_iter().filter(|(_, _, needed)| exceeds(needed.0, limit.0, self.max));
        full.map(|(pattern, Weight { keys, memory }, needed)| Breach {
            pattern,
            keys,
            memory,
            measured: Some(permille(needed.0, limit.0)),
            allowed: Some(self.max),
            details: [MAXMEMORY.with(DetailValue::Bytes(limit))].into(),
            ..Breach::default()
        })
        .collect()
    }
    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        match known.context.maxmemory {
            Some(Bytes(1..)) => known.lacks_sums(),
            Some(Bytes(0)) | None => Some(Need::Maxmemory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::{empty_report, source_file};

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
    }
}
