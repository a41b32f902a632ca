//! `instance.mixed`: an instance serves one business.
//!
//! Measured: number of owners in the data dictionary that have keys on the instance or, without owners, number of businesses. A snapshot
//! cannot tell whether two names belong to the same business, so more businesses than owners are allowed.
//!
//! A business is a first segment that another one follows, except:
//! - ids, dates and crowded levels (`{int}`, `{*}`);
//! - segments that say what a key is for (`prefixes`: `cache:`, `lock:`) or where it is used (`environments`: `prod:`, `prod1:`): the next
//!   segment is the business, so `lock:order:1`, `prod:order:2:info` and `order:1:info` belong to one;
//! - names of libraries such as Sidekiq and Sa-Token, and names that every application has (`token:`, `captcha_codes:`, `sys_config:`).
//!
//! Where all names begin with the name of a company or system, `level` says which of the remaining segments is the business. First
//! segments that differ in a number at the end (`s0:` to `s7:`) are parts of one business if mostly the same segments follow them.
//!
//! Owners and businesses count if they have at least `share` of the memory or of the keys. Where smaller ones have most of it, a tenth of
//! `share` suffices, so that a mix of many is found, too. If names on a crowded level have `share` together, businesses may be among
//! them: the rule is then not evaluated, unless the others are too many already.

mod purpose;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::policy::Context;
use crate::policy::environments::{ENVIRONMENTS, is_environment};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::{DetailPart, FirstSegment, Report, Weight};
use crate::sorting::CompactSort;
use crate::units::Bytes;

const OWNERS: &str = "[[dictionary]]\npattern = \"user:**\"\nowner = \"accounts\"\n\
                      [[dictionary]]\npattern = \"order:**\"\nowner = \"sales\"\n";

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "instance.mixed",
    severity: Severity::Should,
    problem: Text {
        en: "more than `segments` businesses, or more than `owners` owners of the dictionary, on one instance",
        zh: "同一实例上的业务超过 segments 个，或数据字典中的负责人超过 owners 个",
    },
    what: Text {
        en: "at most `owners` owners of the dictionary on one instance; without owners, at most `segments` businesses",
        zh: "同一实例上，数据字典填有负责人时负责人不超过 owners 个，否则业务不超过 segments 个",
    },
    why: Text {
        en: "Businesses on one instance share its thread, its memory and its failures: one big key or exhausted memory affects \
             all of them, and costs cannot be assigned to one of them.",
        zh: "多个业务共用一个实例，就共用它的线程、内存和故障：一个大 key 或一次内存打满会影响所有业务，也无法按业务核算成本。",
    },
    fix: Text {
        en: "move unrelated businesses to separate instances; provide shared data through a service",
        zh: "不相干的业务拆分到各自的实例，公共数据做服务化",
    },
    params: &[
        ParamSpec {
            name: "segments",
            what: Text {
                en: "maximum number of businesses, counted by first segment",
                zh: "允许的最大业务数，按首段统计",
            },
            default: ParamDefault::Int(5),
        },
        ParamSpec {
            name: "prefixes",
            what: Text {
                en: "first segments that are no business; the next segment is",
                zh: "不代表业务的首段，以其后一段为业务",
            },
            default: ParamDefault::Words(&INFRASTRUCTURE),
        },
        ParamSpec {
            name: "environments",
            what: Text {
                en: "first segments that name an environment; the next segment is the business",
                zh: "表示环境的首段，以其后一段为业务",
            },
            default: ParamDefault::Words(&ENVIRONMENTS),
        },
        ParamSpec {
            name: "level",
            what: Text {
                en: "which of the remaining segments names the business, 1 to 3: 2 if all names begin with that of a system",
                zh: "其余各段中第几段是业务，1 到 3：所有 key 都以系统名开头时为 2",
            },
            default: ParamDefault::Int(1),
        },
        ParamSpec {
            name: "owners",
            what: Text {
                en: "maximum number of owners, counted by the data dictionary",
                zh: "允许的最大负责人数，按数据字典统计",
            },
            default: ParamDefault::Int(1),
        },
        ParamSpec {
            name: "share",
            what: Text {
                en: "minimum share of memory or keys for a business or owner to count; one tenth of this if most of the memory or keys belongs to smaller ones",
                zh: "内存或 key 数占比达到多少才计入；若大部分属于更小的业务，则达到其十分之一即计入",
            },
            default: ParamDefault::Share(50),
        },
    ],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[SampleKey::named("user:profile:{i}"), SampleKey::named("user:session:{i}")])
        .with(SampleFacts { policy: OWNERS, ..SampleFacts::NONE }),
    fails: RuleSample::of(&[SampleKey::named("user:profile:{i}"), SampleKey::named("order:detail:{i}")])
        .with(SampleFacts { policy: OWNERS, ..SampleFacts::NONE }),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let level = params.number("level");
    if !(1..=MAX_LEVELS).contains(&level) {
        return Err(format!("\"level\" must be 1 to {MAX_LEVELS}"));
    }
    Ok(BuiltRule::Snapshot(Box::new(MixedRule {
        segments: params.number("segments"),
        owners: params.number("owners"),
        prefixes: [params.segments("prefixes")?, params.segments("environments")?].concat(),
        level,
        share: params.number("share"),
    })))
}

const OWNER_LIST: DetailField = DetailField::new("owners", "owners", "负责人");
const SEGMENT_LIST: DetailField = DetailField::new("segments", "businesses", "业务");

/// First segments that say what a key is for, not whose it is: those of 常用前缀约定, with their plurals and in Chinese.
pub const INFRASTRUCTURE: [&str; 21] = [
    "cache", "caches", "cached", "缓存", "huancun", "session", "sessions", "会话", "lock", "locks", "mutex", "锁",
    "queue", "queues", "队列", "counter", "counters", "计数", "rate", "tmp", "temp",
];

/// First segments under which libraries keep the sessions, jobs and caches of any business: they are none, nor is what follows.
const FRAMEWORKS: [&str; 16] = [
    "satoken",
    "sa-token",
    "jetcache",
    "shiro",
    "sidekiq",
    "asynq",
    "celery",
    "celery-task-meta",
    "rq",
    "bull",
    "bullmq",
    "resque",
    "hangfire",
    "horizon",
    "laravel_horizon",
    "redisson",
];

/// Returns whether a first segment is that of a library. Spring is one if its sessions follow.
fn is_framework(FirstSegment { segment, next, .. }: &FirstSegment) -> bool {
    let is_session = |next: &FirstSegment| next.segment.eq_ignore_ascii_case("session");
    FRAMEWORKS.iter().any(|word| segment.eq_ignore_ascii_case(word))
        || segment.eq_ignore_ascii_case("spring") && !next.is_empty() && next.iter().all(is_session)
}

/// Returns whether a first segment is usually no business, in whatever case: the next one is.
pub fn is_usual_prefix(segment: &str) -> bool {
    is_environment(segment.as_bytes()) || INFRASTRUCTURE.iter().any(|word| segment.eq_ignore_ascii_case(word))
}

/// Largest level of a business.
const MAX_LEVELS: u64 = 3;

/// Levels of first segments that are needed: [`MAX_LEVELS`], and a prefix and an environment before them.
pub const SEGMENT_LEVELS: usize = 5;

/// Limits the number of businesses.
#[derive(Debug, Clone)]
pub struct MixedRule {
    /// Maximum number of businesses by first segment.
    pub segments: u64,
    /// Maximum number of owners.
    pub owners: u64,
    /// First segments that are no business: they say what a key is for, or name an environment.
    pub prefixes: Vec<String>,
    /// Which of the remaining segments is the business, from 1.
    pub level: u64,
    /// Minimum share of memory or keys that counts, in thousandths.
    pub share: u64,
}

/// Half, in thousandths.
const HALF: u64 = 500;

/// Part of `share` that suffices where most of the instance belongs to businesses with less than `share`.
const OF_MANY: u64 = 10;

/// Owner or first segment with the weight of its keys.
struct BusinessShare<'a> {
    name: Cow<'a, str>,
    weight: Weight,
}

impl SnapshotRule for MixedRule {
    fn judge(&self, report: &Report, _: &Context) -> Vec<Breach> {
        let owners = report.findings.by_owner.iter().filter_map(|row| {
            let weight = Weight { keys: row.keys, memory: row.memory };
            row.owner.as_deref().map(|name| BusinessShare { name: name.into(), weight })
        });
        let mut tenants: Vec<BusinessShare<'_>> = owners.collect();
        let by_owner = !tenants.is_empty();
        if !by_owner {
            tenants = self.businesses(&report.prefixes.first);
        }
        let allowed = if by_owner { self.owners } else { self.segments };
        let share = self.least_share(&tenants, report);
        tenants.retain(|tenant| counts(tenant.weight, share, report));
        tenants.compact_sort_by(|one, other| {
            (Reverse(one.weight.memory), &one.name).cmp(&(Reverse(other.weight.memory), &other.name))
        });
        let measured = tenants.len() as u64;
        if measured <= allowed {
            return Vec::new();
        }
        let sum = |of: fn(&Weight) -> u64| tenants.iter().fold(0u64, |sum, one| sum.saturating_add(of(&one.weight)));
        let list = tenants.iter().map(|tenant| row(tenant, report)).collect();
        let field = if by_owner { OWNER_LIST } else { SEGMENT_LIST };
        vec![Breach {
            keys: sum(|weight| weight.keys),
            memory: Bytes(sum(|weight| weight.memory.0)),
            measured: Some(measured),
            allowed: Some(allowed),
            details: [field.with(DetailValue::Parts(list))].into(),
            ..Breach::default()
        }]
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_sums().or_else(|| known.lacks(Need::DistinctNames, |report| self.is_obscured(report)))
    }

    fn is_about_shares(&self) -> bool {
        true
    }
}

impl MixedRule {
    /// Returns the businesses by name: first segments, or those behind prefixes.
    fn businesses<'a>(&self, first: &'a [FirstSegment]) -> Vec<BusinessShare<'a>> {
        let mut businesses = BTreeMap::new();
        self.collect(first, self.level, &mut businesses);
        parts_joined(businesses)
    }

    /// Adds the businesses of a level. Recurses as deep as the list, which has [`SEGMENT_LEVELS`].
    fn collect<'a>(&self, segments: &'a [FirstSegment], level: u64, businesses: &mut BTreeMap<&'a str, Business<'a>>) {
        for first in segments.iter().filter(|first| !is_framework(first)) {
            let FirstSegment { segment, weight, next, .. } = first;
            match level {
                _ if self.is_prefix(segment) => self.collect(next, level, businesses),
                ..=1 if purpose::is_purpose(segment) => {}
                ..=1 => {
                    let business = businesses.entry(segment).or_default();
                    business.weight.merge(*weight);
                    business.next.extend(next.iter().map(|next| &*next.segment));
                }
                _ => self.collect(next, level - 1, businesses),
            }
        }
    }

    /// Returns whether a segment is a prefix or an environment, perhaps with a number: `prod`, `prod1`.
    fn is_prefix(&self, segment: &str) -> bool {
        let is_one = |segment: &str| self.prefixes.iter().any(|prefix| prefix.eq_ignore_ascii_case(segment));
        is_one(segment) || numbered(segment).is_some_and(is_one)
    }

    /// Returns whether businesses that would count may be among names that are not told apart.
    fn is_obscured(&self, report: &Report) -> bool {
        let by_owner = report.findings.by_owner.iter().any(|row| row.owner.is_some());
        let mut crowded = report.prefixes.crowded;
        self.add_crowded(&report.prefixes.first, self.level, &mut crowded);
        !by_owner && counts(crowded, self.share, report)
    }

    /// Returns the share that a business must have: less if most of the memory or of the keys belongs to smaller ones.
    fn least_share(&self, tenants: &[BusinessShare<'_>], report: &Report) -> u64 {
        let reduced = self.share / OF_MANY;
        let mut small = Weight::default();
        for BusinessShare { weight, .. } in tenants {
            if counts(*weight, reduced, report) && !counts(*weight, self.share, report) {
                small.merge(*weight);
            }
        }
        if counts(small, HALF, report) { reduced } else { self.share }
    }

    /// Adds the keys behind names that are not told apart, on the levels that [`MixedRule::collect`] visits.
    fn add_crowded(&self, segments: &[FirstSegment], level: u64, sum: &mut Weight) {
        for FirstSegment { segment, next, crowded, .. } in segments {
            let is_prefix = self.is_prefix(segment);
            if is_prefix || level > 1 {
                sum.merge(*crowded);
                self.add_crowded(next, if is_prefix { level } else { level - 1 }, sum);
            }
        }
    }
}

/// Weight of a business and the segments that follow it.
#[derive(Debug, Clone, Default)]
struct Business<'a> {
    weight: Weight,
    next: BTreeSet<&'a str>,
}

impl Business<'_> {
    /// Returns whether most of the segments that follow one of two businesses follow the other, too.
    fn is_like(&self, other: &Self) -> bool {
        self.next.intersection(&other.next).count() * 2 >= self.next.len().max(other.next.len())
    }
}

/// Joins businesses that differ in a number only, if they are like the first of them.
fn parts_joined<'a>(businesses: BTreeMap<&'a str, Business<'a>>) -> Vec<BusinessShare<'a>> {
    let mut all: Vec<BusinessShare<'a>> = Vec::new();
    // By the name without a number: the first business, and its place in the list.
    let mut numbered_ones: BTreeMap<&'a str, (usize, Business<'a>)> = BTreeMap::new();
    for (name, business) in businesses {
        let stem = numbered(name);
        if let Some((place, first)) = stem.and_then(|stem| numbered_ones.get(stem))
            && business.is_like(first)
            && let Some(share) = all.get_mut(*place)
        {
            share.name = format!("{}*", stem.unwrap_or_default()).into();
            share.weight.merge(business.weight);
            continue;
        }
        all.push(BusinessShare { name: name.into(), weight: business.weight });
        if let Some(stem) = stem {
            numbered_ones.entry(stem).or_insert((all.len() - 1, business));
        }
    }
    all
}

/// Returns a name without the number at its end; `None` if it has none, or is nothing else.
fn numbered(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|last: char| last.is_ascii_digit());
    (stem.len() < name.len()).then(|| stem.trim_end_matches(['_', '-'])).filter(|stem| !stem.is_empty())
}

/// Returns whether a weight has at least this share, in thousandths, of the memory or of the keys.
fn counts(weight: Weight, share: u64, report: &Report) -> bool {
    let totals = &report.totals;
    let reaches = |part, whole| reaches(part, whole, share);
    // Shares of known memory are not those of all memory.
    let is_known = totals.unknown.is_none();
    weight.keys > 0 && (is_known && reaches(weight.memory.0, totals.memory.0) || reaches(weight.keys, totals.keys))
}

/// Returns whether `part` is at least `share` thousandths of `whole`.
fn reaches(part: u64, whole: u64, share: u64) -> bool {
    u128::from(part) * 1000 >= u128::from(whole) * u128::from(share)
}

fn row(tenant: &BusinessShare<'_>, report: &Report) -> DetailPart {
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    DetailPart {
        name: tenant.name.clone().into_owned(),
        name_zh: None,
        keys: Some(tenant.weight.keys),
        memory: Some(tenant.weight.memory),
        share: Some(share(tenant.weight.memory.0, report.totals.memory.0)),
        share_of_keys: Some(share(tenant.weight.keys, report.totals.keys)),
    }
}

#[cfg(test)]
mod tests;
