//! `ttl.expired-present`: the snapshot has no expired keys.
//!
//! Measured: milliseconds since the expiry, at the reference time. Servers also save expired keys that they have not
//! reclaimed yet; a replica keeps them until its master deletes them.

use crate::policy::harmless::HarmlessKeys;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, Known, Lifetime, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::{Context, KeyView};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.expired-present",
    severity: Severity::Hint,
    problem: Text { en: "expired keys not reclaimed yet", zh: "已过期的 key 仍未回收" },
    what: Text { en: "no expired key is still in memory", zh: "没有已过期但仍未回收的 key" },
    why: Text {
        en: "The server reclaims expired keys on access, and a few at a time in the background. Many remaining ones mean that \
             keys expire faster than that; they take memory until they are reclaimed.",
        zh: "服务器在访问时惰性删除过期 key，并在后台定期少量清理：残留很多说明过期速度超过清理速度，在回收之前它们仍占用内存。",
    },
    fix: Text {
        en: "spread expiries, raise active-expire-effort (only from 6.0 on), and watch expired_keys and expired_stale_perc",
        zh: "打散过期时间，调高 active-expire-effort（6.0 起才有），并关注 expired_keys 与 expired_stale_perc",
    },
    params: &[],
    unit: Some(Unit::Millis),
    passes: RuleSample::of(&[SampleKey::named("otp:1001:code").expiring_in(0)]),
    fails: RuleSample::of(&[SampleKey::named("otp:1001:code").expiring_in(-60)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(ExpiredPresent)))
}

/// Rejects keys past their expiry.
#[derive(Debug, Clone, Copy)]
pub struct ExpiredPresent;

impl KeyRule for ExpiredPresent {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let left = key.left().filter(|&left| left < 0)?;
        Some(Violation { measured: left.unsigned_abs(), allowed: 0 })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_reference()
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Expires
    }

    fn harmless(&self, _: Kind, context: &Context) -> Option<HarmlessKeys> {
        Some(HarmlessKeys { from: context.reference.latest()?, ..HarmlessKeys::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{check_record, record};
    use crate::units::Millis;

    fn check(expires_at: Option<i64>, reference: Option<i64>) -> Option<u64> {
        let mut record = record(b"a:b");
        record.expires_at = expires_at.map(Millis);
        let context = Context { reference: reference.map(Millis).into(), ..Context::default() };
        check_record(&ExpiredPresent, &record, &context).map(|violation| violation.measured)
    }

    #[test]
    fn only_keys_past_their_expiry_at_the_reference_time_break_it() {
        assert_eq!(check(Some(999), Some(1000)), Some(1));
        assert_eq!([check(Some(1000), Some(1000)), check(None, Some(1000)), check(Some(999), None)], [None; 3]);
        assert_eq!(check(Some(i64::MIN), Some(i64::MAX)), Some(1 << 63));
    }
}
