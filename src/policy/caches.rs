//! Names of caches whose data is of another kind: `shop:config:cache:7` is a cache of configuration.

use super::content::is_one_of;
use crate::pattern::PartKind;
use crate::pattern::name::KeyName;

/// Name of the TTL class of caches.
pub const CACHE: &str = "cache";

/// Name of the TTL class of data that may live forever, such as counters and settings.
pub const PERSISTENT: &str = "persistent";

/// Segments that name a cache.
const WORDS: [&[u8]; 4] = [b"cache", b"caches", b"cached", "缓存".as_bytes()];

/// Segments behind such a word that make the key a setting or a counter of the cache, whatever words follow: `sys:cache:switch:course`.
const CONTROLS: [&[u8]; 18] = [
    b"ttl",
    b"expire",
    b"expires",
    b"expiry",
    b"timeout",
    b"size",
    b"max",
    b"capacity",
    b"enable",
    b"enabled",
    b"switch",
    b"refresh",
    b"reload",
    "开关".as_bytes(),
    "过期".as_bytes(),
    "过期时间".as_bytes(),
    "大小".as_bytes(),
    "容量".as_bytes(),
];

/// Segments that make it a counter of the cache even with an id behind them: `cache:hits:course:7`.
const COUNTERS: [&[u8]; 8] =
    [b"hit", b"hits", b"miss", b"misses", b"evict", b"evicted", "命中".as_bytes(), "未命中".as_bytes()];

/// Segments that make the key a setting or counter only if no others than segments of these lists follow, since they may also be
/// cached: `course:cache:config`, `cache:config:ttl`, not `cache:config:theme`.
const SETTINGS: [&[u8]; 17] = [
    b"config",
    b"conf",
    b"setting",
    b"settings",
    b"version",
    b"stats",
    b"count",
    b"counter",
    b"counters",
    b"limit",
    b"strategy",
    b"prefix",
    b"ratio",
    "配置".as_bytes(),
    "版本".as_bytes(),
    "统计".as_bytes(),
    "计数".as_bytes(),
];

/// Segments that never make a key a setting of a cache, but keep a key of a class that may live forever from being a cache:
/// `config:cache:rate`.
const OTHERS: [&[u8]; 3] = [b"rate", b"total", b"policy"];

/// Returns whether a segment says something about a cache.
fn is_measure(segment: &[u8]) -> bool {
    is_one_of(segment, &CONTROLS) || is_one_of(segment, &COUNTERS) || is_one_of(segment, &SETTINGS)
}

/// Returns whether a name is that of a setting or a counter of a cache, by what follows the first segment that names one.
pub fn measures_cache(name: &KeyName<'_>) -> bool {
    match name {
        KeyName::Plain(plain) => are_measures(plain.segments().map(|name| (name, PartKind::Literal))),
        KeyName::Classified(_, pattern) => are_measures(pattern.segments()),
    }
}

fn are_measures<'n>(mut segments: impl Iterator<Item = (&'n [u8], PartKind)> + Clone) -> bool {
    if !segments.any(|(word, _)| is_one_of(word, &WORDS)) {
        return false;
    }
    let Some((first, _)) = segments.next().filter(|(first, _)| is_measure(first)) else { return false };
    is_one_of(first, &COUNTERS)
        || is_one_of(first, &CONTROLS) && !segments.clone().any(is_id)
        || segments.all(|(segment, _)| is_measure(segment))
}

/// Returns whether a name has a segment that names a cache, with the id of what is cached behind it.
pub fn names_cache(name: &KeyName<'_>) -> bool {
    match name {
        // Plain names have no ids.
        KeyName::Plain(_) => false,
        KeyName::Classified(_, pattern) => {
            let mut rest = pattern.segments();
            while let Some((word, _)) = rest.next() {
                let mut behind = rest.clone();
                let names = is_one_of(word, &WORDS)
                    && rest.clone().next().is_some_and(|(next, _)| !is_measure(next) && !is_one_of(next, &OTHERS));
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

    #[test]
    fn settings_and_counters_of_a_cache_may_live_forever() {
        let policy = |kept: &str| {
            format!(
                "[rules.\"ttl.missing\"]\nunclassified = false\n\
                 [[ttl_class]]\nname = \"cache\"\npatterns = [\"**:cache:**\", \"**:缓存:**\"]\n{kept}"
            )
        };
        let kept = "[[ttl_class]]\nname = \"persistent\"\nrequired = false\npatterns = [\"**:config:**\"]\n\
             [[dictionary]]\npattern = \"own:cache:ttl\"\nttl = \"cache\"\n";
        for policy in [policy(kept), policy("[[dictionary]]\npattern = \"own:cache:ttl\"\nttl = \"cache\"\n")] {
            let checks = checks(&policy);
            let must_expire = |name: &str| breaks(&checks, name, |_| {});
            for measure in ["ttl", "size", "switch", "version", "config", "stats", "hits", "miss", "counter", "开关"]
            {
                let name = format!("edu:course:cache:{measure}");
                assert!(!must_expire(&name), "{measure}");
            }
            for name in [
                "edu:cache:config:ttl",
                "edu:cache:settings:ttl",
                "sys:cache:switch:course",
                "edu:缓存:开关",
                "cache:hits:course:7",
                "{edu}:cache:ttl",
            ] {
                assert!(!must_expire(name), "{name}");
            }
            // What is cached under such a word.
            for name in [
                "cache:config:theme",
                "cache:config:1",
                "cache:version:course:1",
                "shop:cache:size:1001",
                "fx:cache:rate",
                "cache:course:ttl",
                "cache:course:version:7",
                "cache:user:1",
                "own:cache:ttl",
            ] {
                assert!(must_expire(name), "{name}");
            }
        }
    }
}
