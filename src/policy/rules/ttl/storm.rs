//! `ttl.storm`: the keys of a pattern do not all expire at about the same time.
//!
//! For every pattern with enough keys that expire after the reference time, the rule finds the second, the minute and the
//! ten minutes in which most of them expire. The share of keys in each window is limited to its parameter or, if that is
//! more, to `factor` times the share under a uniform distribution over the time in which 90 % of the keys expire, so that
//! keys that live for a minute may all expire within a minute. The window that exceeds its limit most is reported.
//!
//! For large patterns only a sample is known (see [`Expiries`]). Three standard deviations are then subtracted from its
//! share: chance causes no finding, but a small storm in a large pattern can go unnoticed. So can one that is due within
//! seconds, since a uniform distribution over these seconds looks the same.
//!
//! Measured: thousandths of the expiring keys. Keys and memory of the finding are those of all expiring keys; `details` has
//! the number in the window, exact or, with `sampled`, estimated.

use std::cmp::Ordering;

use crate::policy::Context;
use crate::policy::evidence::Expiries;
use crate::policy::forest::{Forest, PatternNode};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, ConcernedKeys, DetailField, DetailValue, PatternRule, Rule, RuleMeta, Severity, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::report::Details;
use crate::units::Millis;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.storm",
    severity: Severity::Should,
    problem: Text { en: "many keys of a pattern expire at once", zh: "同一模式的大量 key 集中过期" },
    what: Text {
        en: "the keys of a pattern do not expire all at once", zh: "同一模式的 key 不集中在同一时刻过期"
    },
    why: Text {
        en: "When many cache entries expire together, all requests for them hit the database at once, and deleting them \
             delays the server: a cache avalanche.",
        zh: "大量缓存同时失效时，请求会一齐打到数据库，集中删除也会卡住服务器：即缓存雪崩。",
    },
    fix: Text {
        en: "add a random offset to the expiry, such as 3600 s + random(0, 300); use a wider range for larger batches",
        zh: "在基础过期时间上加随机偏移，例如 3600 秒 + random(0, 300)：批量越大，偏移范围应越宽",
    },
    params: &[
        ParamSpec {
            name: "keys",
            what: Text {
                en: "patterns with fewer expiring keys are not checked", zh: "过期 key 少于此数的模式不检查"
            },
            default: ParamDefault::Int(1_000),
        },
        ParamSpec {
            name: "second",
            what: Text { en: "maximum share that expires within one second", zh: "一秒内允许过期的比例" },
            default: ParamDefault::Share(50),
        },
        ParamSpec {
            name: "minute",
            what: Text { en: "maximum share that expires within one minute", zh: "一分钟内允许过期的比例" },
            default: ParamDefault::Share(200),
        },
        ParamSpec {
            name: "ten_minutes",
            what: Text { en: "maximum share that expires within ten minutes", zh: "十分钟内允许过期的比例" },
            default: ParamDefault::Share(500),
        },
        ParamSpec {
            name: "factor",
            what: Text {
                en: "multiple of the share under a uniform distribution that is always allowed",
                zh: "不超过均匀分布期望值的该倍数时始终允许",
            },
            default: ParamDefault::Int(3),
        },
    ],
    unit: Some(Unit::Permille),
    passes: RuleSample::of(&[SampleKey::named("page:{i}:html").expiring_in(60).times(1_500, 7)]),
    fails: RuleSample::of(&[SampleKey::named("page:{i}:html").expiring_in(21_600).times(1_500, 0)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    if params.number("factor") == 0 {
        return Err("\"factor\" must be at least 1".to_owned());
    }
    Ok(BuiltRule::Pattern(Box::new(StormRule {
        keys: params.number("keys"),
        windows: [
            ExpiryWindow { seconds: 1, share: params.number("second") },
            ExpiryWindow { seconds: 60, share: params.number("minute") },
            ExpiryWindow { seconds: 600, share: params.number("ten_minutes") },
        ],
        factor: params.number("factor"),
    })))
}

/// Time window with its limit.
#[derive(Debug, Clone, Copy)]
pub struct ExpiryWindow {
    /// Length in seconds.
    pub seconds: u32,
    /// Maximum share of keys that expire in it, in thousandths.
    pub share: u64,
}

/// Limits the share of keys that expire within a window.
#[derive(Debug, Clone, Copy)]
pub struct StormRule {
    /// Minimum number of expiring keys of a checked pattern.
    pub keys: u64,
    /// Windows, the shortest first.
    pub windows: [ExpiryWindow; 3],
    /// Multiple of a uniform distribution that is always allowed.
    pub factor: u64,
}

/// Position of a window with the most keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FullestWindow {
    /// Sampled keys in it.
    kept: u64,
    /// First second.
    start: u32,
}

const WINDOW: DetailField = DetailField::new("window", "window", "窗口");
const START: DetailField = DetailField::new("start", "start", "起始时间");
const IN_WINDOW: DetailField = DetailField::new("in_window", "in window", "该窗口内过期数");
const SAMPLED: DetailField = DetailField::new("sampled", "sampled", "采样数");

impl PatternRule for StormRule {
    fn judge(&self, forest: &Forest<'_>, context: &Context) -> Vec<Breach> {
        // Without a reference time no expiries are collected.
        let Some(now) = context.reference else { return Vec::new() };
        let now = u64::try_from(now.0 / 1000).unwrap_or(0);
        let breach = |node: &PatternNode<'_>| self.breach(&node.text, node.expiries?, now);
        forest.nodes.iter().filter_map(breach).collect()
    }

    fn wants_expiries(&self) -> bool {
        true
    }
}

impl StormRule {
    fn breach(&self, pattern: &str, expiries: &Expiries, now: u64) -> Option<Breach> {
        let all = expiries.all();
        if all.keys < self.keys || expiries.kept() == 0 {
            return None;
        }
        let seconds = expiries.seconds();
        let span = span(&seconds, now);
        let sampled = all.keys > seconds.len() as u64;
        let kept = seconds.len() as u64;
        let judged = |window: &ExpiryWindow| {
            let fullest = fullest(&seconds, window.seconds)?;
            let even = (u64::from(window.seconds) * 1000).checked_div(span).unwrap_or(1000);
            let allowed = window.share.max(even.saturating_mul(self.factor));
            let measured = fullest.kept * 1000 / kept;
            let chance = if sampled { (9 * fullest.kept).isqrt() } else { 0 };
            let certain = fullest.kept.saturating_sub(chance) * 1000 / kept;
            (certain > allowed).then_some((*window, fullest, measured, allowed))
        };
        let found = self.windows.iter().filter_map(judged);
        // The window that exceeds its limit by the largest factor; the shortest of equals.
        let (window, fullest, measured, allowed) = found.reduce(|one, other| {
            let worse = (other.2 * one.3.max(1)).cmp(&(one.2 * other.3.max(1))) == Ordering::Greater;
            if worse { other } else { one }
        })?;
        let in_window = u128::from(all.keys) * u128::from(fullest.kept) / u128::from(kept);
        let mut details = Details::from([
            WINDOW.with(DetailValue::Duration(u64::from(window.seconds) * 1000)),
            START.with(DetailValue::Time(Millis(i64::from(fullest.start) * 1000))),
            IN_WINDOW.with(DetailValue::Count(u64::try_from(in_window).unwrap_or(u64::MAX))),
        ]);
        if sampled {
            details.extend([SAMPLED.with(DetailValue::Count(kept))]);
        }
        Some(Breach {
            pattern: Some(pattern.to_owned()),
            keys: all.keys,
            memory: all.memory,
            measured: Some(measured),
            allowed: Some(allowed),
            details,
            concerned: ConcernedKeys::Expiring,
            ..Breach::default()
        })
    }
}

/// Returns the seconds within which 90 % of the keys expire, at least one.
fn span(seconds: &[Option<u32>], now: u64) -> u64 {
    let far = |second: Option<u32>| second.map_or(u64::from(u32::MAX), u64::from);
    let at = |place: usize| seconds.get(place).copied().map_or(0, far);
    let last = at((seconds.len() * 9 / 10).min(seconds.len().saturating_sub(1)));
    last.saturating_sub(now).saturating_add(1)
}

/// Returns the first window of `length` seconds with the most keys.
///
/// `seconds` are sorted; times beyond 32 bits (`None`) come last and are in no window.
fn fullest(seconds: &[Option<u32>], length: u32) -> Option<FullestWindow> {
    let known: Vec<u32> = seconds.iter().map_while(|second| *second).collect();
    let mut best: Option<FullestWindow> = None;
    let mut end = 0;
    for (first, &start) in known.iter().enumerate() {
        while known.get(end).is_some_and(|&second| second - start < length) {
            end += 1;
        }
        let kept = (end - first) as u64;
        if best.is_none_or(|best| kept > best.kept) {
            best = Some(FullestWindow { kept, start });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::evidence::MOST_EXPIRIES;
    use crate::units::Bytes;

    const NOW: u64 = 1_700_000_000;

    fn storm() -> StormRule {
        match build(&Params::defaults(META.params)).unwrap() {
            BuiltRule::Pattern(_) => {}
            question => panic!("{question:?}"),
        }
        StormRule {
            keys: 1_000,
            windows: [
                ExpiryWindow { seconds: 1, share: 50 },
                ExpiryWindow { seconds: 60, share: 200 },
                ExpiryWindow { seconds: 600, share: 500 },
            ],
            factor: 3,
        }
    }

    fn expiries(left: impl Iterator<Item = u64>) -> Expiries {
        let mut expiries = Expiries::new(MOST_EXPIRIES);
        for (number, left) in left.enumerate() {
            let at = i64::try_from((NOW + left) * 1000).unwrap();
            expiries.add(format!("page:{number}").as_bytes(), Bytes(10), Millis(at));
        }
        expiries
    }

    fn judge(left: impl Iterator<Item = u64>) -> Option<(u64, u64, u64, u64)> {
        let breach = storm().breach("page:{int}", &expiries(left), NOW)?;
        let value = |name: &str| breach.details[name].value.clone();
        let (DetailValue::Duration(window), DetailValue::Count(keys)) = (value("window"), value("in_window")) else {
            panic!("{breach:?}")
        };
        Some((window / 1000, keys, breach.measured?, breach.allowed?))
    }

    #[test]
    fn keys_that_expire_in_one_second_are_a_storm() {
        let found = judge((0..2_000).map(|_| 3_600));
        assert_eq!(found, Some((1, 2_000, 1_000, 50)));
    }

    #[test]
    fn a_storm_in_a_spread_out_pattern_is_found() {
        let (window, keys, ..) = judge((0..10_000).map(|n| if n % 3 == 0 { 7_200 } else { n * 8 })).unwrap();
        assert_eq!(window, 1);
        assert!((2_800..3_900).contains(&keys), "{keys}");
        let (window, ..) = judge((0..10_000).map(|n| if n % 2 == 0 { 7_200 + n % 60 } else { n * 8 })).unwrap();
        assert_eq!(window, 60);
    }

    #[test]
    fn a_uniform_distribution_is_no_storm_however_short() {
        for span in [2, 10, 60, 300, 1_800, 3_600, 86_400, 7 * 86_400] {
            assert_eq!(judge((0..20_000).map(|n| n * 7_919 % span)), None, "{span} s");
        }
        // Sliding expiries: most keys were used a moment ago.
        assert_eq!(judge((1..20_000u64).map(|n| 604_800 - (n * 7_919 % 20_000).pow(2) / 700)), None);
    }

    #[test]
    fn few_keys_are_no_storm() {
        assert_eq!(judge((0..999).map(|_| 3_600)), None);
        assert!(judge((0..1_000).map(|_| 3_600)).is_some());
    }

    #[test]
    fn keys_of_the_far_future_share_no_second() {
        assert_eq!(judge((0..2_000).map(|n| u64::from(u32::MAX) * (n + 1))), None);
    }

    #[test]
    fn counts_beyond_the_sample_are_marked_as_estimates() {
        let mut rule = storm();
        rule.keys = 10;
        let breach = rule.breach("a", &expiries((0..500).map(|n| if n < 100 { 900 } else { 1_000 * n })), NOW).unwrap();
        assert_eq!((breach.measured, breach.keys), (Some(200), 500));
        assert_eq!(breach.details.get("sampled"), None);
        assert_eq!(
            (&breach.details["in_window"].value, &breach.details["start"].value),
            (&DetailValue::Count(100), &DetailValue::Time(Millis(1_700_000_900_000)))
        );
        let breach = rule.breach("a", &expiries((0..5_000).map(|_| 900)), NOW).unwrap();
        assert_eq!(breach.details["sampled"].value, DetailValue::Count(MOST_EXPIRIES as u64));
    }

    #[test]
    fn the_fullest_window_can_start_at_any_second() {
        let seconds: Vec<_> = [0, 59, 60, 61, 118, 200].map(Some).into_iter().chain([None]).collect();
        assert_eq!(fullest(&seconds, 60), Some(FullestWindow { kept: 4, start: 59 }));
        assert_eq!(fullest(&seconds, 1), Some(FullestWindow { kept: 1, start: 0 }));
        assert_eq!(fullest(&[None], 1), None);
    }
}
