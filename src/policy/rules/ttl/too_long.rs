//! `ttl.too-long`: the remaining time to live does not exceed the maximum of the TTL class.
//!
//! Measured: remaining milliseconds at the reference time. The snapshot does not contain the original TTL, which was at
//! least that long.

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, Lifetime, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.too-long",
    severity: Severity::Should,
    problem: Text {
        en: "key lives longer than its ttl class allows", zh: "剩余时间超过所属 ttl 类别的上限"
    },
    what: Text {
        en: "no key lives longer than its ttl class allows", zh: "剩余时间不超过所属 ttl 类别的上限"
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
    params: &[],
    unit: Some(Unit::Millis),
    passes: RuleSample::of(&[SampleKey::named("lock:order:17").expiring_in(60)]).with(CLASSES),
    fails: RuleSample::of(&[SampleKey::named("lock:order:17").expiring_in(3600)]).with(CLASSES),
};

const CLASSES: SampleFacts = SampleFacts {
    policy: "[[ttl_class]]\nname = \"lock\"\npatterns = [\"lock:**\"]\nmax = \"60s\"\n",
    ..SampleFacts::NONE
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(TooLong)))
}

/// Limits the remaining time to live to the maximum of the class.
#[derive(Debug, Clone, Copy)]
pub struct TooLong;

impl KeyRule for TooLong {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        key.record.expires_at?;
        let allowed = key.class()?.max?;
        let measured = u64::try_from(key.left()?).ok()?;
        (measured > allowed).then_some(Violation { measured, allowed })
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Expires
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::Context;
    use crate::policy::testing::{broken_by, checks_in};
    use crate::units::Millis;

    const POLICY: &str = "[rules]\n\"ttl.too-long\" = \"should\"\n\
         [[ttl_class]]\nname = \"tmp\"\npatterns = [\"tmp:**\"]\nmax = \"30min\"\n\
         [[ttl_class]]\nname = \"kept\"\npatterns = [\"kept:**\"]\n";

    fn allowed(name: &str, left: i64, reference: Option<Millis>) -> Option<(u64, u64)> {
        let checks = checks_in(POLICY, Context { reference, ..Context::default() });
        broken_by(&checks, name, |record| record.expires_at = Some(Millis(1_000_000i64.saturating_add(left))))
            .map(|violation| (violation.measured, violation.allowed))
    }

    #[test]
    fn exactly_the_limit_of_the_class_is_allowed() {
        let now = Some(Millis(1_000_000));
        assert_eq!(allowed("tmp:a", 1_800_000, now), None);
        assert_eq!(allowed("tmp:a", 1_800_001, now), Some((1_800_001, 1_800_000)));
        assert_eq!(allowed("tmp:a", i64::MAX, Some(Millis(i64::MIN))), Some((i64::MAX as u64, 1_800_000)));
        assert_eq!(allowed("tmp:a", -5, now), None);
    }

    #[test]
    fn without_a_limit_or_a_time_nothing_is_too_long() {
        let now = Some(Millis(1_000_000));
        assert_eq!(allowed("kept:a", i64::MAX, now), None);
        assert_eq!(allowed("other:a", i64::MAX, now), None);
        assert_eq!(allowed("tmp:a", i64::MAX, None), None);
    }
}
