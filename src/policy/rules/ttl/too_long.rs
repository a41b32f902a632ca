//! `ttl.too-long`: the remaining time to live does not exceed the maximum of the TTL class, or `max` without a class.
//!
//! Measured: remaining milliseconds at the reference time. The snapshot does not contain the original TTL, which was at
//! least that long. Applications spread expiries by adding a random offset to the TTL, so `jitter` is allowed on top of every
//! maximum; a class can set its own.

use crate::policy::harmless::HarmlessKeys;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Lifetime, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::policy::{Context, KeyView};
use crate::record::Kind;
use crate::units::Millis;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.too-long",
    severity: Severity::Should,
    problem: Text {
        en: "key lives longer than its TTL class allows[, or than {max} without a class]",
        zh: "剩余时间超过所属 TTL 类别的上限[，无类别的 key 超过 {max}]",
    },
    what: Text {
        en: "no key lives longer than its TTL class allows[, or than {max} without a class]",
        zh: "剩余时间不超过所属 TTL 类别的上限[，无类别的 key 不超过 {max}]",
    },
    why: Text {
        en: "An expiry far beyond the useful life of the data is almost as bad as none: stale cache entries are served, locks \
             outlive a crashed holder by hours, temporary data fills the memory.",
        zh: "远超数据有效期的过期时间几乎等于没有：会读到陈旧缓存，锁在持有者崩溃后数小时才释放，临时数据占满内存。",
    },
    fix: Text {
        en: "shorten the expiry to the maximum of the class, or define a separate class for these keys",
        zh: "把过期时间缩短到类别规定的范围，或为这些 key 单独定义类别",
    },
    params: &[
        ParamSpec {
            name: "jitter",
            what: Text {
                en: "random offset allowed on top of every maximum, unless the TTL class sets its own",
                zh: "在上限之上允许的随机偏移；TTL 类别可另行设定",
            },
            default: ParamDefault::Span(300_000),
        },
        ParamSpec {
            name: "max",
            what: Text {
                en: "maximum for keys without a TTL class; 0s for none",
                zh: "不属于任何 TTL 类别的 key 的上限；0s 表示不限",
            },
            default: ParamDefault::Span(0),
        },
    ],
    unit: Some(Unit::Millis),
    passes: RuleSample::of(&[SampleKey::named("cache:order:17").expiring_in(86_700)]).with(CLASSES),
    fails: RuleSample::of(&[SampleKey::named("cache:order:17").expiring_in(86_701)]).with(CLASSES),
};

const CLASSES: SampleFacts = SampleFacts {
    policy: "[[ttl_class]]\nname = \"cache\"\npatterns = [\"**:cache:**\"]\nmax = \"24h\"\n",
    ..SampleFacts::NONE
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(TooLong { jitter: params.number("jitter"), max: params.number("max") })))
}

/// Limits the remaining time to live.
#[derive(Debug, Clone, Copy)]
pub struct TooLong {
    /// Milliseconds allowed on top of a maximum.
    pub jitter: u64,
    /// Maximum for keys without a class, in milliseconds; 0 for none.
    pub max: u64,
}

impl KeyRule for TooLong {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = u64::try_from(key.left()?).ok()?;
        let (max, jitter) = match key.class() {
            Some(class) => (class.max?, class.jitter.unwrap_or(self.jitter)),
            None if self.max == 0 => return None,
            None => (self.max, self.jitter),
        };
        let allowed = max.saturating_add(jitter);
        (measured > allowed).then_some(Violation { measured, allowed })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let classes = &known.context.classes;
        if self.max == 0 && classes.iter().all(|class| class.max.is_none()) {
            return Some(Need::LongestLife);
        }
        known.lacks_reference()
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Expires
    }

    fn harmless(&self, _: Kind, context: &Context) -> Option<HarmlessKeys> {
        let allowed = i64::try_from(self.max.saturating_add(self.jitter)).unwrap_or(i64::MAX);
        let to = context.reference.earliest().map_or(i64::MAX, |reference| reference.0.saturating_add(allowed));
        Some(HarmlessKeys { to: Millis(to), ..HarmlessKeys::default() })
    }

    fn constant_result(&self) -> Option<bool> {
        (self.max == 0).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::Context;
    use crate::policy::testing::{broken_by, checks_in};
    use crate::units::Millis;

    const POLICY: &str = "[[ttl_class]]\nname = \"tmp\"\npatterns = [\"**:tmp:**\"]\nmax = \"30min\"\n\
         [[ttl_class]]\nname = \"lock\"\npatterns = [\"lock:**\"]\nmax = \"60s\"\njitter = \"0s\"\n\
         [[ttl_class]]\nname = \"kept\"\npatterns = [\"kept:**\"]\n";

    fn allowed(params: &str, name: &str, left: i64, reference: Option<Millis>) -> Option<(u64, u64)> {
        let policy = format!("[rules.\"ttl.too-long\"]\n{params}\n{POLICY}");
        let checks = checks_in(&policy, Context { reference: reference.into(), ..Context::default() });
        broken_by(&checks, name, |record| record.expires_at = Some(Millis(1_000_000i64.saturating_add(left))))
            .map(|violation| (violation.measured, violation.allowed))
    }

    const NOW: Option<Millis> = Some(Millis(1_000_000));

    #[test]
    fn the_limit_of_the_class_and_the_jitter_are_allowed() {
        assert_eq!(allowed("", "tmp:a", 2_100_000, NOW), None);
        assert_eq!(allowed("", "shop:tmp:a", 2_100_001, NOW), Some((2_100_001, 2_100_000)));
        assert_eq!(allowed("jitter = \"0s\"", "tmp:a", 1_800_000, NOW), None);
        assert_eq!(allowed("jitter = \"0s\"", "tmp:a", 1_800_001, NOW), Some((1_800_001, 1_800_000)));
        assert_eq!(allowed("", "lock:a", 60_000, NOW), None);
        assert_eq!(allowed("", "lock:a", 60_001, NOW), Some((60_001, 60_000)));
        assert_eq!(allowed("", "tmp:a", i64::MAX, Some(Millis(i64::MIN))), Some((i64::MAX as u64, 2_100_000)));
        assert_eq!(allowed("", "tmp:a", -5, NOW), None);
    }

    #[test]
    fn without_a_limit_or_a_time_nothing_is_too_long() {
        assert_eq!(allowed("", "kept:a", i64::MAX, NOW), None);
        assert_eq!(allowed("", "other:a", i64::MAX, NOW), None);
        assert_eq!(allowed("", "tmp:a", i64::MAX, None), None);
    }

    #[test]
    fn keys_without_a_class_can_have_a_limit() {
        let limit = "max = \"1h\"";
        assert_eq!(allowed(limit, "other:a", 3_900_000, NOW), None);
        assert_eq!(allowed(limit, "other:a", 3_900_001, NOW), Some((3_900_001, 3_900_000)));
        assert_eq!(allowed(limit, "kept:a", i64::MAX, NOW), None);
        assert_eq!(allowed(limit, "tmp:a", 2_100_001, NOW), Some((2_100_001, 2_100_000)));
    }
}
