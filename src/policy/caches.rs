//! Names of caches whose data is of another kind: `shop:config:cache:7` is a cache of configuration.

mod compound;
mod kept;

pub use compound::{is_compound, may_be_compound};
pub use kept::must_stay;

use super::content::{is_one_of, words_of};
use crate::pattern::PartKind;
use crate::pattern::name::KeyName;

/// Name of the TTL class of caches.
pub const CACHE: &str = "cache";

/// Name of the TTL class of data that may live forever, such as counters and settings.
pub const PERSISTENT: &str = "persistent";

/// Segments that name a cache.
const WORDS: [&[u8]; 5] = [b"cache", b"caches", b"cached", "缓存".as_bytes(), b"huancun"];

/// Returns whether a segment is a word for a cache.
pub fn is_word(segment: &[u8]) -> bool {
    is_one_of(segment, &WORDS)
}

/// Segments behind such a word that make the key a setting of the cache, whatever words follow: `sys:cache:switch:course`. Nothing cached is
/// called by them, so that an id behind one says whose setting it is: `cdn:cache:ttl:7`.
const SWITCHES: [&[u8]; 14] = [
    b"ttl",
    b"expire",
    b"expires",
    b"expiry",
    b"timeout",
    b"enable",
    b"enabled",
    b"disable",
    b"disabled",
    b"bypass",
    b"switch",
    "开关".as_bytes(),
    "过期".as_bytes(),
    "过期时间".as_bytes(),
];

/// Others, behind which an id may be that of something cached: `shop:cache:size:1001`.
const CONTROLS: [&[u8]; 7] =
    [b"size", b"max", b"capacity", b"refresh", b"reload", "大小".as_bytes(), "容量".as_bytes()];

/// Segments that make it a counter of the cache even with an id behind them: `cache:hits:course:7`.
const COUNTERS: [&[u8]; 19] = [
    b"hit",
    b"hits",
    b"miss",
    b"misses",
    b"evict",
    b"evicted",
    b"eviction",
    b"evictions",
    b"hitrate",
    b"hitratio",
    b"hitcount",
    b"missrate",
    b"misscount",
    "命中".as_bytes(),
    "未命中".as_bytes(),
    "命中率".as_bytes(),
    "命中数".as_bytes(),
    "命中次数".as_bytes(),
    "未命中次数".as_bytes(),
];

/// Segments of what a cache consists of, which one of [`COUNTS`] behind them counts: `cache:keys:count:course`.
const PARTS: [&[u8]; 10] =
    [b"key", b"keys", b"entry", b"entries", b"bytes", b"memory", b"request", b"requests", b"loads", "请求".as_bytes()];

/// Segments that say of the one before them that it is counted.
const COUNTS: [&[u8]; 9] = [
    b"count",
    b"counter",
    b"counters",
    b"total",
    b"num",
    b"size",
    "计数".as_bytes(),
    "数量".as_bytes(),
    "总数".as_bytes(),
];

/// Segments that make the key a setting or counter only if no others than segments of these lists follow, since they may also be
/// cached: `course:cache:config`, `cache:config:ttl`, not `cache:config:theme`.
const SETTINGS: [&[u8]; 19] = [
    b"config",
    b"conf",
    b"setting",
    b"settings",
    b"version",
    b"stats",
    b"statistics",
    b"metrics",
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
const OTHERS: [&[u8]; 4] = [b"rate", b"total", b"policy", b"tokens"];

/// Segments right before a word for a cache at the end of a name that make the key one of its settings: `sys:config:cache`.
const CONFIGURATION: [&[u8]; 14] = [
    b"config",
    b"configs",
    b"conf",
    b"setting",
    b"settings",
    b"param",
    b"params",
    b"parameter",
    b"parameters",
    b"switch",
    b"switches",
    "配置".as_bytes(),
    "参数".as_bytes(),
    "开关".as_bytes(),
];

/// Segments of caches as a part of a system: what stands before them in a name are their settings, `sys:config:cache:redis`.
const SYSTEMS: [&[u8]; 15] = [
    b"redis",
    b"redisson",
    b"caffeine",
    b"guava",
    b"ehcache",
    b"memcached",
    b"jetcache",
    b"j2cache",
    b"hazelcast",
    b"local",
    b"remote",
    b"l1",
    b"l2",
    b"default",
    b"global",
];

/// Returns whether a segment is one of `words`, or consists of words about caches of which it has one: `hit_count`, `maxSize`.
fn is_or_has(segment: &[u8], words: &[&[u8]], may_be_other: bool) -> bool {
    let is_about = |word: &[u8]| {
        [&SWITCHES[..], &CONTROLS, &COUNTERS, &SETTINGS, &WORDS].into_iter().any(|list| is_one_of(word, list))
            || may_be_other && is_one_of(word, &OTHERS)
    };
    is_one_of(segment, words) || words_of(segment).any(|word| is_one_of(word, words)) && words_of(segment).all(is_about)
}

/// Returns whether a segment is about counts of a cache: `hits`, `hit_rate`.
fn is_counter(segment: &[u8]) -> bool {
    is_or_has(segment, &COUNTERS, true)
}

fn is_control(segment: &[u8]) -> bool {
    is_or_has(segment, &SWITCHES, false) || is_or_has(segment, &CONTROLS, false)
}

/// Returns whether a segment says something about a cache.
fn is_measure(segment: &[u8]) -> bool {
    is_control(segment) || is_counter(segment) || is_or_has(segment, &SETTINGS, false)
}

/// Segment of a name, with its kind.
type Segment<'n> = (&'n [u8], PartKind);

/// Returns whether a name is that of a setting or a counter of a cache, by what follows the first segment that names one.
pub fn measures_cache(name: &KeyName<'_>) -> bool {
    let mut segments = name.segments();
    if !segments.any(|(word, _)| is_one_of(word, &WORDS) || is_compound(word)) {
        return false;
    }
    if are_counters(segments.clone()) {
        return true;
    }
    let Some((first, _)) = segments.next().filter(|(first, _)| is_measure(first)) else { return false };
    let are_ids = || segments.clone().all(|segment| is_id(segment) || is_measure(segment.0));
    is_control(first) && !segments.clone().any(is_id)
        || is_one_of(first, &SWITCHES) && are_ids()
        || segments.clone().all(|(segment, _)| is_measure(segment))
}

/// Returns whether the segments behind the word for a cache count something of it, whatever follows: `hits`, `stats:hits`, `keys:count`.
fn are_counters<'n>(behind: impl Iterator<Item = Segment<'n>> + Clone) -> bool {
    let mut two = behind.clone().map(|(segment, _)| segment);
    let counts_parts = two.next().is_some_and(|first| is_one_of(first, &PARTS))
        && two.next().is_some_and(|second| is_one_of(second, &COUNTS));
    let mut measures = behind.take_while(|(segment, _)| is_measure(segment) || is_one_of(segment, &OTHERS));
    counts_parts || measures.any(|(segment, _)| is_counter(segment))
}

/// Returns whether a name that begins with a word for settings, dictionaries or counters is that of a cache of them: `gov:dict:cache:sex`.
///
/// A segment has to follow the word for a cache that is not about the cache itself, as in `sys:config:cache:ttl`.
pub fn names_cache(name: &KeyName<'_>) -> bool {
    let mut segments = name.segments();
    while let Some((word, _)) = segments.next() {
        let behind = segments.clone();
        if is_one_of(word, &WORDS) && behind.clone().next().is_some_and(|(next, _)| !is_of_cache(next, behind)) {
            return true;
        }
    }
    false
}

/// Returns whether a name with a word for what may live forever may be that of a cache all the same: one for a cache stands last
/// (`sys:dict:sex:cache`), or at the end of a compound (`mall:stats:page_cache:1`).
///
/// Such a name does not say which of the two it is. `is_kept` says whether keys with a segment were declared to live forever.
pub fn may_name_cache(name: &KeyName<'_>, is_kept: impl Fn(&[u8]) -> bool) -> bool {
    let mut segments = name.segments();
    let mut before: &[u8] = b"";
    while let Some((word, _)) = segments.next() {
        let behind = segments.clone();
        let is_of_some = is_compound(word) && !words_of(word).any(|word| is_one_of(word, &SYSTEMS));
        let may_be = match behind.clone().next() {
            None => is_of_some || is_one_of(word, &WORDS) && !is_one_of(before, &CONFIGURATION),
            Some((next, _)) => is_of_some && !is_of_cache(next, behind),
        };
        if may_be && !is_kept(word) {
            return true;
        }
        before = word;
    }
    false
}

/// Returns whether the segment behind the word for a cache, the first of `behind`, is about the cache itself.
fn is_of_cache<'n>(next: &[u8], mut behind: impl Iterator<Item = Segment<'n>> + Clone) -> bool {
    let sets = |word: &[u8]| [&SWITCHES[..], &CONTROLS, &OTHERS].into_iter().any(|list| is_one_of(word, list));
    is_measure(next)
        || is_one_of(next, &OTHERS)
        || are_counters(behind.clone())
        || (is_one_of(next, &SYSTEMS) || words_of(next).any(sets)) && !behind.any(is_id)
}

/// Returns whether a segment of a pattern is an id, or a name with one.
fn is_id((segment, kind): Segment<'_>) -> bool {
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
            "sys:config:cache:sex",
            "gov:配置:缓存:民族",
            "iot:config:cache:device:abc",
            "{gov}:config:cache:sex",
            "sys:config:user:cache:theme",
            "sys:config:cache:redis:7",
        ] {
            assert!(must_expire(name), "{name}");
        }
        // Settings of a cache, names of configuration, other classes, and what a team declares by its whole name.
        for name in [
            "sys:config:cache:ttl",
            "sys:config:cache:size:1",
            "sys:config:cache:redis",
            "sys:config:cache:hits:course",
            "sys:config:cache:stats:hits:course:7",
            "sys:config:cache:keys:count",
            "sys:config:cache:max_entries",
            "sys:config:cache:defaultTtl",
            "sys:config:cache",
            "gov:config:tmp:1",
            "kept:cache:1",
        ] {
            assert!(!must_expire(name), "{name}");
        }
        assert!(!breaks(&checks, "gov:config:cache:1", |record| record.expires_at = Some(Millis(1))));
    }

    #[test]
    fn compounds_are_caches_and_what_may_be_one_has_no_class() {
        let classes = "[[ttl_class]]\nname = \"persistent\"\nrequired = false\n\
             patterns = [\"**:config:**\", \"**:dict:**\", \"**:stats:**\", \"**:kept_cache:**\", \"kept:**\"]\n\
             [[ttl_class]]\nname = \"cache\"\npatterns = [\"**:cache:**\", \"**:缓存:**\"]\n";
        let policy = |unclassified| {
            format!("[rules.\"ttl.missing\"]\nseverity = \"must\"\nunclassified = {unclassified}\n{classes}")
        };
        let (all, classed) = (checks(&policy(true)), checks(&policy(false)));
        let is_cache = |name: &str| breaks(&classed, name, |_| {});
        let must_expire = |name: &str| breaks(&all, name, |_| {});
        for name in ["goodsCache:1", "mall:goods_cache:1", "goodsCache::1", "{mall}:GOODS_CACHE:1", "商品缓存:1"] {
            assert!(is_cache(name), "{name}");
        }
        for name in ["goods_cache", "mall:goodsCache", "clear_cache:1", "apache:1"] {
            assert!(!is_cache(name) && must_expire(name), "{name}");
        }
        // It is open which of the two they are.
        for name in ["sys:dict:sex:cache", "sys:config:pay:cache", "sys:dict:cache", "mall:stats:page_cache:1"] {
            assert!(!is_cache(name) && must_expire(name), "{name}");
        }
        for name in [
            "goods_cache:ttl",
            "sys:config:cache",
            "sys:config:redis_cache:1",
            "sys:config:goods_cache:size",
            "sys:dict:sex",
            "kept:dict:cache",
            "kept_cache:dict:1",
            "sys:dict:kept_cache:1",
        ] {
            assert!(!must_expire(name), "{name}");
        }
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
                "cache:stats:hits:llm",
                "cache:stats:hit:total",
                "cache:total:hits:llm:7",
                "cache:hit_count:llm",
                "cache:hitCount:llm:7",
                "cache:hit-rate:llm",
                "cache:hitrate:llm",
                "cache:cache_hits:llm",
                "cache:命中率:llm:7",
                "cache:keys:count:llm",
                "cache:max_size:llm",
                "edu:cache:metrics",
                "cdn:cache:ttl:7",
                "gw:cache:enabled:7",
                "gw:cache:bypass:1001",
                "mall:缓存:开关:7",
                "llm:prompt_cache:hit_tokens:7",
            ] {
                assert!(!must_expire(name), "{name}");
            }
            // What is cached under such a word.
            for name in [
                "cache:config:theme",
                "cache:config:1",
                "cache:version:course:1",
                "shop:cache:size:1001",
                "shop:cache:ttl:goods:7",
                "shop:cache:refresh:7",
                "auth:cache:tokens:7",
                "fx:cache:rate",
                "cache:course:ttl",
                "cache:course:version:7",
                "cache:user:1",
                "cache:count:course",
                "cache:user:count:7",
                "cache:keys:7",
                "cache:max_score:course",
                "cache:hit_songs:7",
                "cache:stats:course:hits",
                "own:cache:ttl",
            ] {
                assert!(must_expire(name), "{name}");
            }
        }
    }
}
