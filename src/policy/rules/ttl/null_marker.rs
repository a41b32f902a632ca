//! `ttl.null-marker`: a cached "not found" expires soon.
//!
//! A marker is a string whose whole value is one of `markers`, byte by byte: blanks around it make it another value. Numbers
//! and flags such as `0` or `false` are none, nor are collections, which are never empty. The object by which Spring caches null
//! (`NullValue`) is a marker however it is serialized. What cannot be written in a policy always counts: that object, `null`, an
//! `ArrayList` and an `EmptyList` of no elements as Java writes them, a marker that Java serialized as a string, the `None`, `[]`
//! and `{}` that Python pickles, and the null and the empty array of igbinary and msgpack.
//!
//! The standards speak of cached results, so keys do not count whose TTL class holds something else: classes of `except`, and those
//! that may live forever, such as counters and configuration. Keys without a class count, since not every cache is named so,
//! unless a segment of their name is a word of `except`: a policy need not have a class for each of them, and the key of one who is
//! blocked or present, of a timer or of something done once says all by being there. Words that also name results that are cached, such
//! as `used` (`coupon:used:7` is a list), are none of these. Nor do the empty strings by which Spring Session is told that a session
//! expires: their names have a form of their own in any namespace.
//!
//! Measured: remaining milliseconds at the reference time. The snapshot does not contain the original TTL, which was at least
//! that long. A marker without expiry breaks the rule, too, and measures nothing.

use std::ops::RangeInclusive;

use crate::policy::KeyView;
use crate::policy::content::serialized::{JAVA_HEAD, java_string};
use crate::policy::context::Context;
use crate::policy::harmless::{DoubtfulTexts, HarmlessKeys};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

/// Longest marker of a policy, in bytes.
const LONGEST: usize = 63;

/// Longest marker that Java may serialize as a string; the longer ones are objects.
const LONGEST_WORD: usize = 16;

/// Length of a UUID as text.
const UUID: usize = 36;

/// Spring's marker, serialized by Java.
const SPRING: &[u8; 64] = b"\xac\xed\0\x05sr\0+org.springframework.cache.support.NullValue\0\0\0\0\0\0\0\x01\x02\0\0xp";

/// Spring's marker as one of its serializers of JSON writes it.
const SPRING_NULL: &str = "{\"@class\":\"org.springframework.cache.support.NullValue\"}";

/// `null` as Java serializes it.
const JAVA_NULL: &[u8; 5] = b"\xac\xed\0\x05p";

/// List of no elements as Java serializes it.
const EMPTY_LIST: &[u8; 52] =
    b"\xac\xed\0\x05sr\0\x1fjava.util.Collections$EmptyList\x7a\xb8\x17\xb4\x3c\xa7\x9e\xde\x02\0\0xp";

/// `ArrayList` of no elements as Java serializes it.
const ARRAY_LIST: &[u8; 58] = b"\xac\xed\0\x05sr\0\x13java.util.ArrayList\x78\x81\xd2\x1d\x99\xc7\x61\x9d\x03\0\x01I\0\x04sizexp\0\0\0\0w\x04\0\0\0\0x";

/// Values in binary form that mark an empty result: those of Java, and the null and the empty array of igbinary and msgpack.
const BINARY: [&[u8]; 8] =
    [SPRING, JAVA_NULL, EMPTY_LIST, ARRAY_LIST, b"\0\0\0\x02\0", b"\0\0\0\x02\x14\0", b"\xc0", b"\x90"];

/// Lengths and first bytes of what [`is_pickled`] accepts.
const PICKLED: (RangeInclusive<usize>, &[u8]) = (4..=6, b"\x80](}");

/// End of the names of Spring Session's empty strings, before the id of the session.
const SPRING_SESSION: &[u8] = b":sessions:expires:";

/// Default markers: of databases, JSON, Lua, Python, PHP and JavaScript, and the empty values of JSON and PHP; behind them, those that
/// Jackson and Fastjson write with their class, and Spring's.
const MARKERS: [&str; 41] = [
    "",
    "NULL",
    "null",
    "Null",
    "nil",
    "NIL",
    "None",
    "\"\"",
    "\"null\"",
    "\"NULL\"",
    "{}",
    "[]",
    "<null>",
    "N;",
    "a:0:{}",
    "s:0:\"\";",
    "undefined",
    "[\"java.util.ArrayList\",[]]",
    "[\"java.util.LinkedList\",[]]",
    "[\"java.util.HashSet\",[]]",
    "[\"java.util.LinkedHashSet\",[]]",
    "[\"java.util.TreeSet\",[]]",
    "[\"java.util.Collections$EmptyList\",[]]",
    "[\"java.util.Collections$EmptySet\",[]]",
    "[\"java.util.ImmutableCollections$ListN\",[]]",
    "[\"java.util.ImmutableCollections$SetN\",[]]",
    "[\"java.util.HashMap\",{}]",
    "[\"java.util.LinkedHashMap\",{}]",
    "[\"java.util.Collections$EmptyMap\",{}]",
    "{\"@class\":\"java.util.HashMap\"}",
    "{\"@class\":\"java.util.LinkedHashMap\"}",
    "{\"@class\":\"java.util.TreeMap\"}",
    "{\"@class\":\"java.util.concurrent.ConcurrentHashMap\"}",
    "{\"@class\":\"java.util.Collections$EmptyMap\"}",
    "{\"@class\":\"java.util.ImmutableCollections$MapN\"}",
    "{\"@type\":\"java.util.HashMap\"}",
    "{\"@type\":\"java.util.LinkedHashMap\"}",
    "{\"@type\":\"java.util.TreeMap\"}",
    SPRING_NULL,
    "{\"@type\":\"org.springframework.cache.support.NullValue\"}",
    "[\"org.springframework.cache.support.NullValue\",{}]",
];

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.null-marker",
    severity: Severity::Should,
    problem: Text {
        en: "marker for an empty result lives longer than {max}", zh: "空值标记的剩余时间超过 {max}"
    },
    what: Text { en: "markers for empty results live at most {max}", zh: "空值标记的过期时间不超过 {max}" },
    why: Text {
        en: "A marker keeps requests for missing data away from the database. As long as it lives, data written in the meantime \
             stays invisible, and requests for made-up ids fill the memory with markers.",
        zh: "空值标记挡住对不存在数据的查询，避免缓存穿透。但标记存在期间新写入的数据读不到，用随机 id 发起的请求还会让标记占满内存。",
    },
    fix: Text {
        en: "cache empty results for {max} at most (SET key NULL EX seconds); delete the marker when the data is written",
        zh: "缓存空值时过期时间不超过 {max}（SET key NULL EX 秒数）；写入数据时删除空值标记",
    },
    params: &[
        ParamSpec {
            name: "max",
            what: Text { en: "maximum time to live of a marker", zh: "空值标记允许的最长过期时间" },
            default: ParamDefault::Span(300_000),
        },
        ParamSpec {
            name: "markers",
            what: Text { en: "values that mark an empty result", zh: "视为空值标记的 value" },
            default: ParamDefault::Words(&MARKERS),
        },
        ParamSpec {
            name: "except",
            what: Text {
                en: "keys that are no cached results: TTL classes, and segments of keys without a class; those of Spring \
                     Session never count",
                zh: "不属于缓存结果的 key：TTL 类别名，或不属于任何类别的 key 中的一段；Spring Session 的 key 一律不计",
            },
            default: ParamDefault::Words(&[
                "session",
                "lock",
                "queue",
                "counter",
                "rate",
                "tmp",
                "blacklist",
                "whitelist",
                "denylist",
                "allowlist",
                "blocklist",
                "blacklisted",
                "ban",
                "banned",
                "mute",
                "muted",
                "online",
                "flag",
                "limit",
                "once",
                "dedup",
                "idempotent",
                "idempotency",
                "expire",
                "expired",
                "delay",
                "timer",
                "timeout",
                "nonce",
                "revoke",
                "revoked",
                "sent",
                "passed",
                "verified",
                "processed",
                "handled",
                "seen",
                "kicked",
                "黑名单",
                "白名单",
                "封禁",
                "禁言",
                "去重",
                "幂等",
            ]),
        },
    ],
    unit: Some(Unit::Millis),
    passes: RuleSample::of(&[
        SampleKey::holding("cache:user:{i}", "NULL").expiring_in(300),
        SampleKey::holding("cache:user:name:{i}", "\"Nil\"").expiring_in(3600),
    ]),
    fails: RuleSample::of(&[SampleKey::holding("cache:user:{i}", "NULL").expiring_in(301)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let markers: Vec<Box<[u8]>> = params.words("markers").iter().map(|word| word.as_bytes().into()).collect();
    if markers.is_empty() || markers.iter().any(|marker| marker.len() > LONGEST) {
        return Err(format!("\"markers\" must hold one or more values of at most {LONGEST} bytes"));
    }
    let mut doubtful = DoubtfulTexts::default();
    for marker in markers.iter().map(AsRef::as_ref).chain(BINARY) {
        doubtful.add(marker.len(), marker.get(..1).unwrap_or_default());
        if marker.len() <= LONGEST_WORD {
            doubtful.add(marker.len() + JAVA_HEAD, &JAVA_NULL[..1]);
        }
    }
    PICKLED.0.for_each(|length| doubtful.add(length, PICKLED.1));
    let except = params.segments("except")?.to_vec();
    Ok(BuiltRule::Key(Box::new(NullMarker { max: params.number("max"), markers, doubtful, except })))
}

/// Limits the time to live of markers for empty results.
#[derive(Debug, Clone)]
pub struct NullMarker {
    /// Maximum time to live, in milliseconds.
    pub max: u64,
    markers: Vec<Box<[u8]>>,
    /// What the markers have in common, in any form in which they are stored.
    doubtful: DoubtfulTexts,
    /// TTL classes whose keys do not count, and segments of other keys that do not.
    except: Vec<String>,
}

impl KeyRule for NullMarker {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        // Fast path: hardly any value has the length and the beginning of a marker.
        if self.doubtful.may_include(key.record) { self.check_short(key) } else { None }
    }

    fn harmless(&self, _: &Context) -> Option<HarmlessKeys> {
        Some(HarmlessKeys { doubtful: self.doubtful.clone(), ..HarmlessKeys::default() })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_reference()
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::String]
    }
}

impl NullMarker {
    #[inline(never)]
    fn check_short(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = match key.record.expires_at {
            Some(_) => u64::try_from(key.left()?).ok()?,
            None => u64::MAX,
        };
        let exceeds = measured > self.max && self.is_marker(key) && self.is_cached(key) && !is_spring_session(key);
        // No number expresses a life without end.
        let measured = if measured == u64::MAX { self.max } else { measured };
        exceeds.then_some(Violation { measured, allowed: self.max })
    }

    fn is_cached(&self, key: &KeyView<'_>) -> bool {
        match key.class() {
            Some(class) => class.required && !self.except.contains(&class.name),
            None => !key.context.separators.split(&key.untagged()).any(|segment| self.excepts(segment)),
        }
    }

    fn excepts(&self, segment: &[u8]) -> bool {
        self.except.iter().any(|word| segment.eq_ignore_ascii_case(word.as_bytes()))
    }

    fn is_marker(&self, key: &KeyView<'_>) -> bool {
        let value = key.record.raw.and_then(|raw| raw.short_string(SPRING.len()));
        value.is_some_and(|value| {
            let text = java_string(&value).unwrap_or(&value);
            self.markers.iter().any(|marker| **marker == *text) || BINARY.contains(&&*value) || is_pickled(&value)
        })
    }
}

/// Returns whether a value is the `None`, `[]` or `{}` of Python, as its versions pickle them: with the number of the protocol from 2 on,
/// and with that of the object for later use unless it was optimized.
fn is_pickled(value: &[u8]) -> bool {
    matches!(
        value,
        [0x80, 2..=5, b'N' | b']' | b'}', b'.']
            | [0x80, 2..=5, b']' | b'}', b'q', 0 | 1, b'.']
            | [0x80, 4 | 5, b']' | b'}', 0x94, b'.']
            | [b']' | b'}', b'q', 0 | 1, b'.']
            | [b'(', b'l' | b'd', b'p', b'0' | b'1', b'\n', b'.']
    )
}

/// Returns whether a key is the empty string by which Spring Session learns that a session expires:
/// `{namespace}:sessions:expires:{uuid}`.
fn is_spring_session(key: &KeyView<'_>) -> bool {
    let Some((name, id)) = key.record.key.split_last_chunk::<UUID>() else { return false };
    let is_uuid = id.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let namespace = name.strip_suffix(SPRING_SESSION);
    key.record.length == Some(0) && is_uuid && namespace.is_some_and(|namespace| !namespace.is_empty())
}

#[cfg(test)]
mod tests;
