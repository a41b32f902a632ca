//! `ttl.null-marker`: a cached "not found" expires soon.
//!
//! A marker is a string whose whole value is one of `markers`, byte by byte: blanks around it make it another value. Numbers
//! and flags such as `0` or `false` are none, nor are collections, which are never empty. The object by which Spring caches null
//! (`NullValue`) is a marker however it is serialized. What cannot be written in a policy always counts: that object, `null`, an
//! `ArrayList` and an `EmptyList` of no elements as Java writes them, a marker that Java serialized as a string, and the `None`, `[]`
//! and `{}` that Python pickles.
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

use crate::policy::KeyView;
use crate::policy::content::serialized::{JAVA_HEAD, java_string};
use crate::policy::context::Context;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    BuiltRule, HarmlessKeys, KeyRule, Known, Need, Rule, RuleMeta, Severity, Text, Unit, Violation,
};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

/// Longest marker, in bytes: lengths are bits of a word, the last of which is that of [`SPRING`] as well.
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

/// The same as an `ArrayList`.
const ARRAY_LIST: &[u8; 58] = b"\xac\xed\0\x05sr\0\x13java.util.ArrayList\x78\x81\xd2\x1d\x99\xc7\x61\x9d\x03\0\x01I\0\x04sizexp\0\0\0\0w\x04\0\0\0\0x";

/// Lengths of what [`is_pickled`] accepts and of the values of Java, as bits.
const BINARY_LENGTHS: u64 =
    0b111 << 4 | 1 << JAVA_NULL.len() | 1 << EMPTY_LIST.len() | 1 << ARRAY_LIST.len() | 1 << LONGEST;

/// End of the names of Spring Session's empty strings, before the id of the session.
const SPRING_SESSION: &[u8] = b":sessions:expires:";

/// Default markers: of databases, JSON, Lua, Python, PHP and JavaScript, and the empty values of JSON and PHP; behind them, those that
/// Jackson and Fastjson write with their class, and Spring's.
const MARKERS: [&str; 37] = [
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
    let lengths = markers.iter().fold(BINARY_LENGTHS, |lengths, marker| {
        let serialized = if marker.len() <= LONGEST_WORD { 1 << (marker.len() + JAVA_HEAD) } else { 0 };
        lengths | 1 << marker.len() | serialized
    });
    let except = params.segments("except")?.to_vec();
    Ok(BuiltRule::Key(Box::new(NullMarker { max: params.number("max"), markers, lengths, except })))
}

/// Limits the time to live of markers for empty results.
#[derive(Debug, Clone)]
pub struct NullMarker {
    /// Maximum time to live, in milliseconds.
    pub max: u64,
    markers: Vec<Box<[u8]>>,
    /// Lengths of the markers, as bits.
    lengths: u64,
    /// TTL classes whose keys do not count, and segments of other keys that do not.
    except: Vec<String>,
}

impl KeyRule for NullMarker {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        // Fast path: hardly any value has the length of a marker.
        let length = key.record.length.filter(|&length| length <= SPRING.len() as u64)?;
        if self.lengths >> length.min(LONGEST as u64) & 1 == 0 { None } else { self.check_short(key) }
    }

    fn harmless(&self, _: &Context) -> Option<HarmlessKeys> {
        Some(HarmlessKeys { doubtful_lengths: self.lengths, ..HarmlessKeys::default() })
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
            self.markers.iter().any(|marker| **marker == *text) || is_of_java(&value) || is_pickled(&value)
        })
    }
}

fn is_of_java(value: &[u8]) -> bool {
    [&SPRING[..], JAVA_NULL, EMPTY_LIST, ARRAY_LIST].contains(&value)
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
mod tests {
    use crate::policy::Context;
    use crate::policy::checks::Checks;
    use crate::policy::testing::{broken_by, checks_in};
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;
    use crate::units::Millis;

    const CLASSES: &str = "[[ttl_class]]\nname = \"cache\"\npatterns = [\"cache:**\"]\n\
         [[ttl_class]]\nname = \"lock\"\npatterns = [\"lock:**\"]\n\
         [[ttl_class]]\nname = \"settings\"\npatterns = [\"config:**\"]\nrequired = false\n";

    fn rule(params: &str) -> Checks {
        let text = format!("[rules.\"ttl.null-marker\"]\nseverity = \"should\"\n{params}\n{CLASSES}");
        checks_in(&text, Context { reference: Some(Millis(0)), ..Context::default() })
    }

    /// Checks a string stored as `bytes`, of this length, with these milliseconds left.
    fn stored(checks: &Checks, name: &str, bytes: &[u8], length: u64, left: Option<i64>) -> Option<(u64, u64)> {
        let raw = RawValue { value_type: ValueType::String, bytes, templates: Templates::NONE };
        let violation = broken_by(checks, name, |record| {
            (record.raw, record.length, record.expires_at) = (Some(raw), Some(length), left.map(Millis));
        });
        violation.map(|violation| (violation.measured, violation.allowed))
    }

    #[test]
    fn markers_that_java_serialized_count() {
        let checks = rule("max = \"60s\"");
        let java = |text: &str| [&b"\xac\xed\0\x05t\0"[..], &[text.len() as u8], text.as_bytes()].concat();
        let breaks = |text: &str| {
            let value = java(text);
            let bytes = [&[value.len() as u8][..], &value].concat();
            stored(&checks, "cache:user:1", &bytes, value.len() as u64, Some(60_001)).is_some()
        };
        assert!(["NULL", "null", "", "{}"].into_iter().all(breaks));
        assert!(!breaks("nothing") && !breaks("0"));
    }

    fn plain(checks: &Checks, name: &str, value: &str, left: Option<i64>) -> Option<(u64, u64)> {
        let bytes = [&[value.len() as u8], value.as_bytes()].concat();
        stored(checks, name, &bytes, value.len() as u64, left)
    }

    #[test]
    fn words_that_no_class_bears_except_keys_by_a_segment() {
        let checks = rule("max = \"60s\"");
        for name in [
            "session:car:1",
            "shop:queue:1",
            "{shop:tmp}:1",
            "shop:Counter:1",
            "auth:blacklist:1",
            "shop:黑名单:1",
            "order:expire:1",
            "nonce:api:1",
            "jwt:revoked:1",
        ] {
            assert_eq!(plain(&checks, name, "{}", Some(60_001)), None, "{name}");
        }
        for name in
            ["sessions:car:1", "shop:car:1", "cache:session:1", "cache:expire:1", "coupon:used:1", "user:read:1"]
        {
            assert_eq!(plain(&checks, name, "{}", Some(60_001)), Some((60_001, 60_000)), "{name}");
        }
    }

    #[test]
    fn the_sessions_of_spring_have_a_form_of_their_own_in_any_namespace() {
        let checks = rule("max = \"60s\"");
        let id = "0f4a3c9e-2b61-4d3f-9a57-c1d2e3f4a5b6";
        for namespace in ["shop", "shop:web", "spring:session", "{shop}", "cache:shop"] {
            let name = format!("{namespace}:sessions:expires:{id}");
            assert_eq!(plain(&checks, &name, "", Some(1_800_000)), None, "{name}");
        }
        for (name, value) in [
            (format!("shop:sessions:expires:{id}"), "null"),
            (format!("shop:sessions:{id}"), ""),
            (format!("shop:sessions:expiring:{id}"), ""),
            (format!("sessions:expires:{id}"), ""),
            (format!("shop:mysessions:expires:{id}"), ""),
            (format!("shop:sessions:expires:{id}:x"), ""),
            (format!("shop:sessions:expires:x{id}"), ""),
            (format!(":sessions:expires:{id}"), ""),
            ("shop:sessions:expires:1001".to_owned(), ""),
            (format!("shop:sessions:expires:{}", id.replace('-', "a")), ""),
        ] {
            assert!(plain(&checks, &name, value, Some(1_800_000)).is_some(), "{name}");
        }
    }

    #[test]
    fn exactly_the_limit_is_allowed() {
        let checks = rule("max = \"60s\"");
        for value in super::MARKERS {
            assert_eq!(plain(&checks, "cache:user:1", value, Some(60_000)), None, "{value}");
            assert_eq!(plain(&checks, "cache:user:1", value, Some(60_001)), Some((60_001, 60_000)), "{value}");
            // Equal values: reports show neither.
            assert_eq!(plain(&checks, "cache:user:1", value, None), Some((60_000, 60_000)), "{value}");
            assert_eq!(plain(&checks, "cache:user:1", value, Some(-5)), None, "{value}");
        }
        assert_eq!(plain(&checks, "cache:user:1", "NULL", Some(i64::MAX)), Some((i64::MAX as u64, 60_000)));
    }

    #[test]
    fn the_null_of_spring_is_a_marker_as_java_writes_it() {
        let checks = rule("markers = [\"-\"]");
        let with_length = |value: &[u8]| [&[0x40, 64][..], value].concat();
        assert!(stored(&checks, "cache:user:1", &with_length(super::SPRING), 64, Some(300_001)).is_some());
        assert!(stored(&checks, "cache:user:1", &with_length(super::SPRING), 64, Some(300_000)).is_none());
        assert!(stored(&checks, "cache:user:1", &with_length(&[b'a'; 64]), 64, None).is_none());
    }

    #[test]
    fn empty_values_are_markers_as_java_and_python_write_them() {
        let checks = rule("markers = [\"-\"]");
        let breaks = |value: &[u8]| {
            let bytes = [&[value.len() as u8], value].concat();
            stored(&checks, "cache:user:1", &bytes, value.len() as u64, Some(300_001)).is_some()
        };
        for value in [
            &b"\x80\x04N."[..],
            b"(lp0\n.",
            b"(dp1\n.",
            b"]q\0.",
            b"\x80\x02}q\0.",
            b"\x80\x03]q\x01.",
            b"\x80\x05]\x94.",
            b"\x80\x04}.",
            super::JAVA_NULL,
            super::EMPTY_LIST,
            super::ARRAY_LIST,
        ] {
            assert!(breaks(value), "{}", value.escape_ascii());
        }
        for value in
            [&b"\x80\x04K."[..], b"\x80\x06N.", b"N.", b"].", b"\x80\x03]\x94.", b"(lp2\n.", b"\xac\xed\0\x05q"]
        {
            assert!(!breaks(value), "{}", value.escape_ascii());
        }
        assert!(!breaks(&[&super::ARRAY_LIST[..57], b"y"].concat()));
    }

    #[test]
    fn other_values_are_no_markers() {
        let checks = rule("");
        for value in [
            "NUll",
            "none",
            "NULL ",
            " null",
            "null\n",
            "nul",
            "0",
            "1",
            "false",
            "none",
            "{ }",
            "[1]",
            "{\"a\":1}",
            "\0",
        ] {
            assert_eq!(plain(&checks, "cache:user:1", value, None), None, "{value:?}");
        }
    }

    #[test]
    fn every_encoding_of_a_string_is_read_and_damage_is_no_marker() {
        let checks = rule("markers = [\"-1\", \"NULL\"]");
        assert!(stored(&checks, "cache:a", b"\xc0\xff", 2, None).is_some(), "an integer");
        assert!(stored(&checks, "cache:a", b"\xc0\xfe", 2, None).is_none());
        // A compressed marker, as only a hostile writer stores it.
        assert!(stored(&checks, "cache:a", b"\xc3\x05\x04\x03NULL", 4, None).is_some());
        for bytes in
            [&b""[..], b"\x04NU", b"\xc3\x05\x04\x1fNULL", b"\xc3\x05\x80\xff\xff\xff\xff\x03NULL", b"\x05NULLs"]
        {
            assert!(stored(&checks, "cache:a", bytes, 4, None).is_none(), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn keys_that_are_no_cached_results_do_not_count() {
        let checks = rule("");
        for name in ["cache:user:1", "user:1", "user", "other:a:b"] {
            assert!(plain(&checks, name, "{}", None).is_some(), "{name}");
        }
        for name in ["lock:task:1", "config:features"] {
            assert!(plain(&checks, name, "{}", None).is_none(), "{name}");
        }
        let checks = rule("except = [\"cache\"]");
        assert!(plain(&checks, "cache:user:1", "{}", None).is_none() && plain(&checks, "lock:a", "{}", None).is_some());
    }

    #[test]
    fn markers_are_checked_when_the_policy_is_read() {
        use crate::policy::params::{ParamValue, Params};
        let built = |words: &[&str]| {
            let mut params = Params::defaults(super::META.params);
            params.set("markers", ParamValue::Words(words.iter().map(|&word| word.to_owned()).collect()));
            (super::RULE.build)(&params)
        };
        assert!(built(&[""]).is_ok() && built(&[&"x".repeat(63)]).is_ok());
        assert!(built(&[]).is_err() && built(&["a", &"x".repeat(64)]).is_err());
    }

    #[test]
    fn only_strings_are_asked_about() {
        let checks = rule("");
        assert_eq!(checks.keys[0].rule.kinds(), [crate::record::Kind::String]);
    }
}
