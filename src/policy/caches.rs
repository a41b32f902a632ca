//! Names of caches whose data is of another kind: `shop:config:cache:7` is a cache of configuration.

use super::content::is_one_of;
use crate::pattern::PartKind;
use crate::pattern::name::KeyName;

/// Name of the TTL class of caches.
pub const CACHE: &str = "cache";

/// Segments that name a cache.
const WORDS: [&[u8]; 4] = [b"cache", b"caches", b"cached", "缓存".as_bytes()];

/// Segments behind such a word that make the key a setting or a counter of the cache: `sys:config:cache:ttl`.
const MEASURES: [&[u8]; 32] = [
    b"ttl",
    b"expire",
    b"expires",
    b"expiry",
    b"timeout",
    b"size",
    b"max",
    b"limit",
    b"capacity",
    b"enable",
    b"enabled",
    b"switch",
    b"hit",
    b"hits",
    b"miss",
    b"misses",
    b"rate",
    b"ratio",
    b"stats",
    b"count",
    b"total",
    b"version",
    b"policy",
    b"strategy",
    b"prefix",
    b"config",
    b"evict",
    b"evicted",
    b"refresh",
    b"reload",
    "开关".as_bytes(),
    "过期".as_bytes(),
];

/// Returns whether a name has a segment that names a cache, with the id of what is cached behind it.
pub fn names_cache(name: &KeyName<'_>) -> bool {
    match name {
        // Plain names have no ids.
        KeyName::Plain(_) => false,
        KeyName::Classified(_, pattern) => {
            let mut rest = pattern.segments();
            while let Some((word, _)) = rest.next() {
                let mut behind = rest.clone();
                let names =
                    is_one_of(word, &WORDS) && rest.clone().next().is_some_and(|(next, _)| !is_one_of(next, &MEASURES));
                if names && behind.any(is_id) {
                    return true;
                }
            }
            false
        }
    }
}

/// Returns whether a segment of a pattern is an id, or a name with one.
fn is_id((segment, kind): (&[u8], PartKind)) -> bool {
    kind == PartKind::Class || segment.iter().any(|byte| byte.is_ascii_digit() || *byte == b'{')
}

#[cfg(test)]
mod tests {
    use crate::policy::testing::{breaks, checks};
    use crate::units::Millis;

    #[test]
    fn a_cache_of_what_may_live_forever_is_a_cache() {
        let policy = "[rules]\n\"ttl.missing\" = \"must\"\n\
             [[ttl_class]]\nname = \"persistent\"\nrequired = false\npatterns = [\"**:config:**\", \"**:配置:**\", \"kept:**\"]\n\
             [[ttl_class]]\nname = \"cache\"\npatterns = [\"**:cache:**\", \"**:缓存:**\"]\n\
             [[ttl_class]]\nname = \"tmp\"\npatterns = [\"**:tmp:**\"]\n";
        let checks = checks(policy);
        let must_expire = |name: &str| breaks(&checks, name, |_| {});
        for name in [
            "gov:config:cache:1",
            "gov:配置:缓存:1",
            "gov:config:cache:user:u7",
            "gov:cache:config:1",
            "{gov}:config:cache:1",
        ] {
            assert!(must_expire(name), "{name}");
        }
        // Settings of a cache, names of configuration, other classes, and what a team declares by its whole name.
        for name in [
            "sys:config:cache:ttl",
            "sys:config:cache:size:1",
            "sys:config:cache:redis",
            "sys:config:cache",
            "gov:config:tmp:1",
            "kept:cache:1",
        ] {
            assert!(!must_expire(name), "{name}");
        }
        assert!(!breaks(&checks, "gov:config:cache:1", |record| record.expires_at = Some(Millis(1))));
    }
}
