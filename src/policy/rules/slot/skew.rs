//! `slot.skew`: memory is distributed evenly over hash slots and shards.
//!
//! Measured: memory of a slot, or of a file if several files are the shards of one deployment.
//!
//! - A slot is too heavy above `slot_ratio` times the mean of the slots with keys, or above `slot_share` of all memory, which
//!   applies if few slots are in use and the mean is meaningless; never below `slot_least`. In a snapshot of a server without
//!   cluster mode, only slots in which most keys have a hash tag are checked, since only tags gather keys on purpose there.
//! - A shard is too heavy if it exceeds the mean by more than `shard_over`; never below `shard_least`.
//!
//! Findings state the cause: a big key with at least half of the memory, a hash tag if most keys have one, or many keys.

use crate::policy::Context;
use crate::policy::capacity::exceeds;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::report::servers::ServerFiles;
use crate::report::{Example, Report, SlotRow, Weight};
use crate::units::Bytes;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "slot.skew",
    severity: Severity::Must,
    problem: Text { en: "hash slot or shard much heavier than the others", zh: "哈希槽或分片存在内存倾斜" },
    what: Text {
        en: "no hash slot or shard is much heavier than the others", zh: "哈希槽之间、分片之间没有内存倾斜"
    },
    why: Text {
        en: "A slot is the smallest unit that a cluster can move. Data concentrated in one slot, by a hash tag or a big key, \
             overloads its shard while others have room, and resharding does not help.",
        zh: "哈希槽是集群迁移的最小单位。数据因哈希标签或大 key 集中到一个槽，会使该分片内存压力过大，其他分片却有余量，重新分片也无济于事。",
    },
    fix: Text {
        en: "use the part that varies most as hash tag (`{user:1001}`, not `{user}`); split big keys; move slots off heavy shards",
        zh: "用区分度最高的部分作哈希标签（如 `{user:1001}` 而不是 `{user}`）；拆分大 key；把槽从内存偏多的分片迁走",
    },
    params: &[
        ParamSpec {
            name: "slot_ratio",
            what: Text {
                en: "maximum memory of a slot, as multiple of the mean",
                zh: "单个槽的内存允许达到平均值的倍数",
            },
            default: ParamDefault::Int(10),
        },
        ParamSpec {
            name: "slot_share",
            what: Text {
                en: "maximum memory of a slot, as share of all memory", zh: "单个槽允许占总内存的比例"
            },
            default: ParamDefault::Share(100),
        },
        ParamSpec {
            name: "slot_least",
            what: Text { en: "slots up to this size are not checked", zh: "不超过此大小的槽不检查" },
            default: ParamDefault::Bytes(64 << 20),
        },
        ParamSpec {
            name: "shard_over",
            what: Text {
                en: "maximum excess of a shard over the mean", zh: "单个分片的内存允许超出平均值的比例"
            },
            default: ParamDefault::Share(300),
        },
        ParamSpec {
            name: "shard_least",
            what: Text { en: "shards up to this size are not checked", zh: "不超过此大小的分片不检查" },
            default: ParamDefault::Bytes(64 << 20),
        },
    ],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("{user:{i}}:cart", Kind::Hash, 900, 10 << 20).times(20, 0)]),
    fails: RuleSample::of(&[SampleKey::of("{user}:cart:{i}", Kind::Hash, 900, 10 << 20).times(20, 0)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(SkewRule {
        slot_ratio: params.number("slot_ratio"),
        slot_share: params.number("slot_share"),
        slot_least: params.number("slot_least"),
        shard_over: params.number("shard_over"),
        shard_least: params.number("shard_least"),
    })))
}

/// Limits the imbalance of slots and shards.
#[derive(Debug, Clone, Copy)]
pub struct SkewRule {
    /// Maximum memory of a slot, as multiple of the mean.
    pub slot_ratio: u64,
    /// Maximum memory of a slot, in thousandths of all memory.
    pub slot_share: u64,
    /// Largest slot that is not checked, in bytes.
    pub slot_least: u64,
    /// Maximum excess of a shard over the mean, in thousandths.
    pub shard_over: u64,
    /// Largest shard that is not checked, in bytes.
    pub shard_least: u64,
}

impl SnapshotRule for SkewRule {
    fn judge(&self, report: &Report, _: &Context) -> Vec<Breach> {
        if !report.totals.unknown.is_none() {
            return Vec::new(); // Shares of known memory are not those of all memory.
        }
        let mut breaches = self.slots(report);
        breaches.extend(self.shards(report));
        breaches
    }
    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let single = |report: &Report| {
            let has_slots = report.slots.is_some() && !has_databases(report);
            !report.server.cluster && !has_slots && is_one_server(report)
        };
        // The slots of one node are checked, the node itself cannot be.
        let lacks_nodes = |report: &Report| report.server.cluster && is_one_server(report);
        known
            .lacks(Need::Shards, single)
            .or_else(|| known.lacks(Need::OtherNodes, lacks_nodes))
            .or_else(|| known.lacks_sums())
    }

    fn is_about_shares(&self) -> bool {
        true
    }
}

/// Returns whether there are keys outside of database 0, which nodes of a cluster do not have as a rule.
fn has_databases(report: &Report) -> bool {
    report.databases.iter().any(|database| database.db > 0 && database.keys > 0)
}

fn is_one_server(report: &Report) -> bool {
    report.servers().len() < 2
}

impl SkewRule {
    fn slots(&self, report: &Report) -> Vec<Breach> {
        let Some(slots) = &report.slots else { return Vec::new() };
        let spread = report.server.cluster || !is_one_server(report);
        if !spread && has_databases(report) {
            return Vec::new();
        }
        let of_mean = slots.mean.0.saturating_mul(self.slot_ratio);
        let allowed = of_mean.min(thousandths(report.totals.memory.0, self.slot_share)).max(self.slot_least);
        let heavy = slots.heaviest.iter().filter(|slot| slot.memory.0 > allowed && (spread || gathered(slot)));
        heavy
            .map(|slot| Breach {
                pattern: Some(format!("slot {}", slot.slot)),
                is_label: true,
                keys: slot.keys,
                memory: slot.memory,
                measured: Some(slot.memory.0),
                allowed: Some(allowed),
                details: [
                    SLOT.with(DetailValue::Number(slot.slot.into())),
                    MEAN.with(DetailValue::Bytes(slots.mean)),
                    CAUSE.with(cause(slot).into()),
                    TAGGED_KEYS.with(DetailValue::Count(slot.tagged_keys)),
                ]
                .into(),
                examples: vec![slot.example.clone()],
                ..Breach::default()
            })
            .collect()
    }

    fn shards(&self, report: &Report) -> Vec<Breach> {
        let servers: Vec<_> = report.servers().into_iter().map(|server| (server.weight(), server)).collect();
        if servers.len() < 2 {
            return Vec::new();
        }
        let total: Bytes = servers.iter().map(|(weight, _)| weight.memory).sum();
        let mean = total.0 / servers.len() as u64;
        let allowed = mean.saturating_add(thousandths(mean, self.shard_over)).max(self.shard_least);
        let heavy = servers.iter().filter(|(weight, _)| weight.memory.0 > allowed);
        heavy
            .map(|(Weight { keys, memory }, server)| {
                let (keys, memory) = (*keys, *memory);
                let heaviest = heaviest_key(report, server);
                let is_big = heaviest.as_ref().is_some_and(|key| is_half(key.memory.unwrap_or_default(), memory));
                let cause = if is_big { BIG_KEY } else { MANY_KEYS };
                Breach {
                    pattern: Some(server.name().to_owned()),
                    is_label: true,
                    keys,
                    memory,
                    measured: Some(memory.0),
                    allowed: Some(allowed),
                    details: [MEAN.with(DetailValue::Bytes(Bytes(mean))), CAUSE.with(cause.into())].into(),
                    examples: heaviest.into_iter().collect(),
                    ..Breach::default()
                }
            })
            .collect()
    }
}

/// Returns `share` thousandths of a number.
fn thousandths(whole: u64, share: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(share) / 1000).unwrap_or(u64::MAX)
}

const SLOT: DetailField = DetailField::new("slot", "slot", "槽");
const MEAN: DetailField = DetailField::new("mean", "mean", "平均");
const CAUSE: DetailField = DetailField::new("cause", "cause", "起因");
const TAGGED_KEYS: DetailField = DetailField::new("tagged_keys", "tagged keys", "带哈希标签的 key 数");

const BIG_KEY: Text = Text { en: "big key", zh: "大 key" };
const HASH_TAG: Text = Text { en: "hash tag", zh: "哈希标签" };
const MANY_KEYS: Text = Text { en: "many keys", zh: "key 过多" };

fn cause(slot: &SlotRow) -> Text {
    match slot {
        slot if is_half(slot.example.memory.unwrap_or_default(), slot.memory) => BIG_KEY,
        slot if gathered(slot) => HASH_TAG,
        _ => MANY_KEYS,
    }
}

/// Returns whether most keys of a slot have a hash tag.
fn gathered(slot: &SlotRow) -> bool {
    exceeds(slot.tagged_keys, slot.keys, 500)
}

fn is_half(part: Bytes, whole: Bytes) -> bool {
    exceeds(part.0, whole.0, 499)
}

/// Returns the heaviest key of a server, if it is among the heaviest of all.
fn heaviest_key(report: &Report, server: &ServerFiles<'_>) -> Option<Example> {
    let is_of_server = |source: &str| server.files().any(|file| file.name == source);
    let row = report.top.by_memory.iter().find(|row| row.source.as_deref().is_some_and(is_of_server))?;
    Some(Example { db: row.db, key: row.key.clone(), memory: row.memory })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::{empty_report, source_file};
    use crate::report::{KeyRow, Slots};

    const SKEW: SkewRule =
        SkewRule { slot_ratio: 10, slot_share: 100, slot_least: 50, shard_over: 300, shard_least: 50 };

    fn slot(number: u16, keys: u64, tagged_keys: u64, memory: u64, heaviest: u64) -> SlotRow {
        let example = Example { db: 0, key: b"k".as_slice().into(), memory: Some(Bytes(heaviest)) };
        SlotRow {
            slot: number,
            keys,
            tagged_keys,
            memory: Bytes(memory),
            share: 0.0,
            unknown: crate::report::Unknown::default(),
            example,
        }
    }

    /// Returns a report with this total memory and a mean of 20 per slot.
    fn with_slots(total: u64, heaviest: Vec<SlotRow>) -> Report {
        let mut report = empty_report();
        report.totals.memory = Bytes(total);
        let (p50, p99, max) = (Bytes(0), Bytes(0), Bytes(0));
        let slots = Slots {
            used: 9,
            tagged_keys: 1,
            mean: Bytes(20),
            p50,
            p99,
            max,
            list: vec![],
            ranges: vec![],
            heaviest,
            weights: vec![],
        };
        report.slots = Some(slots);
        report
    }

    fn causes(report: &Report) -> Vec<(String, DetailValue)> {
        let breaches = SKEW.judge(report, &Context::default());
        breaches.into_iter().map(|breach| (breach.pattern.unwrap(), breach.details["cause"].value.clone())).collect()
    }

    fn told(rows: &[(&str, Text)]) -> Vec<(String, DetailValue)> {
        rows.iter().map(|(part, cause)| ((*part).to_owned(), (*cause).into())).collect()
    }

    #[test]
    fn in_a_cluster_every_heavy_slot_counts_with_its_cause() {
        let heavy = vec![slot(1, 9, 9, 300, 50), slot(2, 9, 0, 250, 125), slot(3, 9, 1, 201, 5), slot(4, 9, 9, 200, 5)];
        let mut report = with_slots(10_000, heavy);
        assert_eq!(causes(&report), told(&[("slot 1", HASH_TAG)]), "one server without cluster: tags alone count");
        report.server.cluster = true;
        assert_eq!(causes(&report), told(&[("slot 1", HASH_TAG), ("slot 2", BIG_KEY), ("slot 3", MANY_KEYS)]));
    }

    #[test]
    fn few_slots_are_checked_by_share_and_small_ones_not_at_all() {
        let mut report = with_slots(600, vec![slot(1, 9, 9, 61, 5), slot(2, 9, 9, 60, 5)]);
        assert_eq!(causes(&report), told(&[("slot 1", HASH_TAG)]), "above a tenth of everything");
        report.totals.memory = Bytes(300);
        report.slots = Some(Slots { heaviest: vec![slot(1, 9, 9, 50, 5)], ..report.slots.unwrap() });
        assert_eq!(causes(&report), []);
    }

    #[test]
    fn a_shard_is_compared_with_the_mean_of_all() {
        let mut report = empty_report();
        for (place, memory) in [100, 100, 101, 245].into_iter().enumerate() {
            report.source.files.push(crate::report::SourceFile { memory: Bytes(memory), ..source_file(place) });
        }
        assert_eq!(causes(&report), told(&[("sample-3.rdb", MANY_KEYS)]));
        report.top.by_memory.push(KeyRow {
            db: 0,
            key: b"huge".as_slice().into(),
            kind: Kind::Hash,
            encoding: crate::record::Encoding::Hashtable,
            length: Some(9),
            memory: Some(Bytes(200)),
            expires_at: None,
            source: Some("sample-3.rdb".to_owned()),
            longest_element: None,
            mean_element: None,
            file: 3,
        });
        assert_eq!(causes(&report), told(&[("sample-3.rdb", BIG_KEY)]));
        report.source.files.truncate(1);
        assert_eq!(causes(&report), [], "a single file is no shard");
    }
}
