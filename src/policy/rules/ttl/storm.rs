//! `ttl.storm`: not many keys expire at about the same time, neither of one pattern nor of the whole instance.
//!
//! The rule looks for seconds, ten seconds, half minutes and minutes in which at least `keys` keys expire, and compares them with
//! what expires in the five minutes (`spread`) before and after. A window may hold a share of these keys or, if that is more,
//! `factor` times the share that it would have if they were spread evenly over five minutes, which is what the standards
//! advise (0 to 300 s of random offset). Batches with such an offset pass, however many there are and however long it took to
//! write them: any 300 s of an even spread that touch a window lie within these eleven minutes, and the window gets a fifth of
//! them at most. Close to the reference time, where earlier expiries are past and unknown, the even share is larger; windows
//! that begin within a minute are not judged, since keys that are refreshed all the time look like that, except for single
//! seconds that hold half of the keys.
//!
//! For large patterns only a sample is known (see [`Expiries`]). Three standard deviations are then subtracted from the number
//! in a window: chance causes no finding. Of all patterns together, the number of keys in each second is known exactly
//! ([`SecondCounts`]). If only one pattern is sampled, its own numbers are what the others, which are known completely, leave of these.
//! Otherwise a storm in a sample may go unnoticed: then the counts of the sampled patterns together have a window that stands out, and if the
//! rule finds nothing, it counts as not evaluated. Without such a window, nothing was missed, unless other sampled patterns have a gap in
//! the very window.
//!
//! The instance is measured over all patterns without a finding of their own, so that no key counts twice. Its finding names
//! the patterns with keys in the window, or if samples show none, all those that are sampled.
//!
//! Sessions that each request renews, and presence keys with a heartbeat, pile up at the latest expiry of their pattern. So does a batch
//! that was written a moment before the snapshot, or a cache that fills at a rising rate: nothing in a snapshot tells these apart, so that
//! such patterns are found, unless they are exempt.
//!
//! Measured: thousandths of what expires in, before and after the window. Keys and memory are those of all expiring keys of
//! the pattern or patterns (`expiring`), since which of them are in the window is known of a sample only; `details` has the number in the
//! window, exact or, with `sampled`, estimated.

use std::cmp::{Ordering, Reverse};

use crate::policy::Context;
use crate::policy::evidence::timeline::{BusyWindows, KeyEstimate, TimeWindow, Timeline, within};
use crate::policy::evidence::{Expiries, SecondCounts};
use crate::policy::forest::{Forest, PatternNode};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, ConcernedKeys, DetailField, DetailValue, Known, Need, PatternRule, Rule, RuleMeta, Severity,
    Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::report::{DetailPart, Details, Weight};
use crate::sorting::CompactSort;
use crate::units::Millis;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.storm",
    severity: Severity::Should,
    problem: Text { en: "many keys expire at once", zh: "大量 key 集中过期" },
    what: Text {
        en: "the keys of a pattern or of the instance do not expire all at once",
        zh: "同一模式或整个实例的 key 不集中在同一时刻过期",
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
                en: "windows in which fewer keys expire are not checked",
                zh: "过期 key 少于此数的时间窗口不检查",
            },
            default: ParamDefault::Int(1_000),
        },
        ParamSpec {
            name: "second",
            what: Text {
                en: "of the keys that expire around a one-second window, the maximum share within it",
                zh: "在一秒的时间窗口及其前后过期的 key 中，该窗口内允许的最大占比",
            },
            default: ParamDefault::Share(50),
        },
        ParamSpec {
            name: "ten_seconds",
            what: Text {
                en: "of the keys that expire around a ten-second window, the maximum share within it",
                zh: "在十秒的时间窗口及其前后过期的 key 中，该窗口内允许的最大占比",
            },
            default: ParamDefault::Share(100),
        },
        ParamSpec {
            name: "minute",
            what: Text {
                en: "of the keys that expire around a one-minute window, the maximum share within it; half of that share for half a minute",
                zh: "在一分钟的时间窗口及其前后过期的 key 中，该窗口内允许的最大占比；半分钟的窗口减半",
            },
            default: ParamDefault::Share(400),
        },
        ParamSpec {
            name: "spread",
            what: Text {
                en: "time over which a batch is to be spread; the shares are of what expires within it before and after",
                zh: "一批 key 的过期时间应打散到多长时间；比例按窗口前后这段时间内过期的 key 计算",
            },
            default: ParamDefault::Span(300_000),
        },
        ParamSpec {
            name: "factor",
            what: Text {
                en: "shares up to this multiple of an even spread are always allowed",
                zh: "占比不超过均匀打散时的多少倍不算违规",
            },
            default: ParamDefault::Int(2),
        },
    ],
    unit: Some(Unit::Permille),
    passes: RuleSample::of(&[SampleKey::named("page:{i}:html").expiring_in(60).times(1_500, 7)]),
    fails: RuleSample::of(&[SampleKey::named("page:{i}:html").expiring_in(21_600).times(1_500, 0)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let factor = params.number("factor");
    if factor == 0 {
        return Err("\"factor\" must be at least 1".to_owned());
    }
    let spread = u32::try_from(params.number("spread") / 1000).unwrap_or(u32::MAX);
    // Otherwise even a second, the shortest window, could hold all keys, and the rule would find nothing.
    if u64::from(spread) <= factor {
        return Err("\"spread\" must be longer than \"factor\" seconds".to_owned());
    }
    Ok(BuiltRule::Pattern(Box::new(StormRule {
        keys: params.number("keys"),
        windows: windows(params.number("second"), params.number("ten_seconds"), params.number("minute")),
        spread,
        factor,
    })))
}

/// Returns the windows to judge, the shortest first.
///
/// A second that is due within a minute must hold half of the keys around it: keys that are refreshed every few seconds may
/// well fill a tenth.
fn windows(second: u64, ten_seconds: u64, minute: u64) -> [ExpiryWindow; 5] {
    [
        ExpiryWindow { seconds: 1, share: second, lead: 60 },
        ExpiryWindow { seconds: 1, share: second.max(500), lead: 10 },
        ExpiryWindow { seconds: 10, share: ten_seconds, lead: 60 },
        ExpiryWindow { seconds: 30, share: minute / 2, lead: 60 },
        ExpiryWindow { seconds: 60, share: minute, lead: 60 },
    ]
}

/// Time window with its limit.
#[derive(Debug, Clone, Copy)]
struct ExpiryWindow {
    /// Length in seconds.
    seconds: u32,
    /// Maximum share of the keys around it that expire in it, in thousandths.
    share: u64,
    /// Seconds after the reference time in which no window begins.
    lead: u32,
}

/// Limits the share of keys that expire within a window.
#[derive(Debug, Clone, Copy)]
struct StormRule {
    /// Minimum number of keys that expire in a window.
    keys: u64,
    /// Windows, the shortest first.
    windows: [ExpiryWindow; 5],
    /// Seconds over which a batch is to be spread.
    spread: u32,
    /// Multiple of an even spread that is always allowed.
    factor: u64,
}

/// Window in which too many keys expire.
#[derive(Debug, Clone, Copy)]
struct Storm {
    seconds: u32,
    start: u32,
    inside: KeyEstimate,
    /// Thousandths of the keys around it.
    measured: u64,
    allowed: u64,
}

const WINDOW: DetailField = DetailField::new("window", "window", "窗口");
const START: DetailField = DetailField::new("start", "start", "起始时间");
const IN_WINDOW: DetailField = DetailField::new("in_window", "in window", "该窗口内过期数");
const ABOUT_IN_WINDOW: DetailField = DetailField::new("in_window", "in window, estimated", "该窗口内过期数（估算）");
/// Maximum number of patterns that a finding about the instance names.
const MAX_PATTERNS: usize = 20;

const PATTERNS: DetailField = DetailField::new("patterns", "patterns", "模式");
const ABOUT_PATTERNS: DetailField = DetailField::new("patterns", "patterns, numbers estimated", "模式（数量为估算）");
/// Number of keys of the finding.
const EXPIRING: DetailField = DetailField::new("expiring", "expiring keys, all counted", "会过期的 key（全部计入）");
const SAMPLED: DetailField = DetailField::new("sampled", "sampled", "采样数");

/// Pattern with the expiries of its keys.
type PatternExpiries<'f> = (&'f PatternNode<'f>, &'f Expiries);

/// Returns the patterns with keys that have yet to expire.
fn expiring<'f>(forest: &'f Forest<'_>) -> impl Iterator<Item = PatternExpiries<'f>> {
    forest.nodes.iter().filter_map(|node| Some((node, node.expiries?)))
}

/// Returns the expiries of the patterns of which only a sample is known, and those of all others.
fn sampled_and_known<'f>(forest: &'f Forest<'_>) -> (Vec<&'f Expiries>, Vec<&'f Expiries>) {
    expiring(forest).map(|(_, expiries)| expiries).partition(|expiries| expiries.is_sampled())
}

/// Returns what expires of the only sampled pattern: all that the others, which are known completely, leave. `None` if several are sampled.
fn only_sampled(forest: &Forest<'_>, all: &SecondCounts, busy: BusyWindows) -> Option<Timeline> {
    let (sampled, known) = sampled_and_known(forest);
    (sampled.len() == 1).then(|| Timeline::of_rest(all, busy, known, sampled))
}

impl PatternRule for StormRule {
    fn judge(&self, forest: &Forest<'_>, context: &Context) -> Vec<Breach> {
        // Without a reference time no expiries are collected.
        let Some(now) = context.reference.report else { return Vec::new() };
        let now = u64::try_from(now.0 / 1000).unwrap_or(0);
        let all = forest.seconds.as_deref();
        let busy = self.busy(self.keys.max(1));
        let mut exact = all.and_then(|all| only_sampled(forest, all, busy));
        let (mut breaches, mut others, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for (node, expiries) in expiring(forest) {
            let exact = exact.take_if(|_| expiries.is_sampled());
            match self.of_pattern(&node.text, expiries, exact, now) {
                Some(breach) => {
                    breaches.push(breach);
                    own.push(expiries);
                }
                None => others.push((node, expiries)),
            }
        }
        let all = all.filter(|_| own.iter().all(|expiries| !expiries.is_sampled()));
        let rest = all.map(|all| Timeline::of_rest(all, busy, own, others.iter().map(|(_, expiries)| *expiries)));
        breaches.extend(self.of_instance(&others, rest, now));
        breaches
    }

    fn undecided(&self, forest: &Forest<'_>, _: &Context) -> Option<Need> {
        let all = forest.seconds.as_deref()?;
        let (sampled, known) = sampled_and_known(forest);
        // Of a single sampled pattern, all is known but what expires late.
        let is_late = || Timeline::of(sampled.iter().copied()).keys_from(all.end()) >= self.keys.max(1) as f64;
        // In a storm of one pattern, three fifths of its keys or more exceed the rate around it.
        let least = self.keys.max(1) as f64 / 2.0;
        let stands_out = || {
            let busy = self.busy(self.keys.max(1) / 2);
            let rest = Timeline::of_rest(all, busy, known.iter().copied(), sampled.iter().copied());
            self.windows.iter().any(|window| rest.stands_out(window.seconds, self.spread, least))
        };
        let may_be_missed = !sampled.is_empty() && (is_late() || sampled.len() > 1 && stands_out());
        may_be_missed.then_some(Need::AllExpiries)
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_reference().or_else(|| known.lacks_keys())
    }

    fn wants_expiries(&self) -> bool {
        true
    }
}

impl StormRule {
    /// Returns the windows to look at: those with at least this many keys.
    fn busy(&self, least: u64) -> BusyWindows {
        BusyWindows { least, margin: self.spread }
    }

    /// Judges a pattern, by its exact numbers if these are known, otherwise by its sample.
    fn of_pattern(&self, pattern: &str, expiries: &Expiries, exact: Option<Timeline>, now: u64) -> Option<Breach> {
        let all = expiries.all();
        if all.keys < self.keys {
            return None;
        }
        let is_sampled = expiries.is_sampled() && exact.is_none();
        let storm = self.worst(&exact.unwrap_or_else(|| Timeline::of([expiries])), now)?;
        let mut details = storm.details(is_sampled, all.keys);
        if is_sampled {
            details.extend([SAMPLED.with(DetailValue::Count(expiries.kept() as u64))]);
        }
        Some(Breach {
            pattern: Some(pattern.to_owned()),
            keys: all.keys,
            memory: all.memory,
            details,
            concerned: ConcernedKeys::Expiring,
            ..storm.breach()
        })
    }

    /// Judges all patterns without a finding of their own together, by their exact numbers if these are known.
    fn of_instance(&self, patterns: &[PatternExpiries<'_>], exact: Option<Timeline>, now: u64) -> Option<Breach> {
        let keys = patterns.iter().fold(0u64, |sum, (_, expiries)| sum.saturating_add(expiries.all().keys));
        if keys < self.keys {
            return None;
        }
        let is_exact = exact.is_some();
        let line = exact.unwrap_or_else(|| Timeline::of(patterns.iter().map(|(_, expiries)| *expiries)));
        let storm = self.worst(&line, now)?;
        let inside = |(node, expiries): &(&PatternNode<'_>, &Expiries)| {
            let inside = within(expiries, storm.start, storm.seconds);
            let part = DetailPart {
                name: node.text.clone(),
                name_zh: None,
                keys: Some(inside.rounded()),
                memory: None,
                share: None,
                share_of_keys: Some(inside.keys / storm.inside.keys.max(1.0)),
            };
            // At least one key is known to expire in it.
            (inside.rounded() > 0).then_some(part)
        };
        let with_expiries = patterns.iter().filter_map(|pattern| Some((inside(pattern)?, pattern.1)));
        let mut concerned: Vec<(DetailPart, &Expiries)> = with_expiries.collect();
        let sampled = || patterns.iter().filter(|(_, expiries)| expiries.is_sampled());
        if concerned.len() < 2 && sampled().next().is_none() {
            return None; // a single pattern has passed by itself
        }
        if concerned.is_empty() {
            let part = |node: &PatternNode<'_>| DetailPart { name: node.text.clone(), ..DetailPart::default() };
            concerned = sampled().map(|(node, expiries)| (part(node), *expiries)).collect();
        }
        let mut all = Weight::default();
        concerned.iter().for_each(|(_, expiries)| all.merge(expiries.all()));
        let is_estimate = concerned.iter().any(|(_, expiries)| expiries.is_sampled());
        let is_sampled = is_estimate && !is_exact;
        let kept = concerned.iter().map(|(_, expiries)| expiries.kept() as u64).sum();
        let texts = concerned.iter().map(|(part, _)| part.name.clone()).collect();
        concerned.compact_sort_by(|(one, _), (other, _)| {
            (Reverse(one.keys), &one.name).cmp(&(Reverse(other.keys), &other.name))
        });
        concerned.truncate(MAX_PATTERNS);
        let mut details = storm.details(is_sampled, all.keys);
        if is_sampled {
            details.extend([SAMPLED.with(DetailValue::Count(kept))]);
        }
        let field = if is_estimate { ABOUT_PATTERNS } else { PATTERNS };
        details.extend([field.with(DetailValue::Parts(concerned.into_iter().map(|(part, _)| part).collect()))]);
        let concerned = ConcernedKeys::ExpiringOf(texts);
        Some(Breach { keys: all.keys, memory: all.memory, details, concerned, ..storm.breach() })
    }

    /// Returns the window that exceeds its limit by the largest factor; the shortest of equals.
    fn worst(&self, line: &Timeline, now: u64) -> Option<Storm> {
        let fullest = self.windows.iter().filter_map(|window| {
            let windows = line.windows(window.seconds, self.spread, self.keys.max(1));
            let storms = windows.filter_map(|found| self.storm(window, &found, now));
            // The first of equals.
            storms.reduce(|one, other| if other.inside.keys > one.inside.keys { other } else { one })
        });
        fullest.reduce(|one, other| {
            let worse = (other.measured * one.allowed.max(1)).cmp(&(one.measured * other.allowed.max(1)));
            if worse == Ordering::Greater { other } else { one }
        })
    }

    /// Returns the storm if too many keys expire in the window.
    fn storm(&self, window: &ExpiryWindow, found: &TimeWindow, now: u64) -> Option<Storm> {
        let &TimeWindow { start, inside, around, .. } = found;
        let after = u64::from(start).checked_sub(now)?;
        if after < u64::from(window.lead) {
            return None;
        }
        // Keys of an even spread that touches the window expire outside, too, for at least as long.
        let (length, spread) = (u64::from(window.seconds), u64::from(self.spread));
        let even = length * 1000 / (length + spread.saturating_sub(length).min(after));
        let allowed = window.share.max(even.saturating_mul(self.factor));
        let permille = |keys: f64| keys * 1000.0 / around.keys.max(inside.keys);
        let measured = KeyEstimate::exact(permille(inside.keys)).rounded();
        (permille(inside.certain()) > allowed as f64).then_some(Storm {
            seconds: window.seconds,
            start,
            inside,
            measured,
            allowed,
        })
    }
}

impl Storm {
    fn details(&self, is_sampled: bool, expiring: u64) -> Details {
        let in_window = if is_sampled { ABOUT_IN_WINDOW } else { IN_WINDOW };
        Details::from([
            WINDOW.with(DetailValue::Duration(u64::from(self.seconds) * 1000)),
            START.with(DetailValue::Time(Millis(i64::from(self.start) * 1000))),
            in_window.with(DetailValue::Count(self.inside.rounded())),
            EXPIRING.with(DetailValue::Count(expiring)),
        ])
    }

    fn breach(&self) -> Breach {
        Breach { measured: Some(self.measured), allowed: Some(self.allowed), ..Breach::default() }
    }
}

#[cfg(test)]
mod tests;
