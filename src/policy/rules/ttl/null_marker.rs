//! `ttl.null-marker`: a cached "not found" expires soon.
//!
//! Markers of an empty result, whatever serializer wrote them (JSON, Java, PHP, pickle, igbinary, msgpack, Ruby):
//!
//! - one of the strings in `markers`, byte by byte: blanks around it make it another value, except for the newline that Go's JSON encoder
//!   appends. Numbers and flags such as `0` or `false` are not markers;
//! - null, and the `NullValue` object of Spring;
//! - lists, sets and maps without elements;
//! - only in keys of the class `cache`: words such as `EMPTY_VALUE`, `not-found` or 空对象 ([`words::is_missing`]), and collections whose only
//!   element or field is a marker or a placeholder such as `__empty__`.
//!
//! A marker counts if the key holds a result of a query:
//!
//! - The TTL class of the key must require an expiry and must not be listed in `except`.
//! - In a key without a class, no segment may be one of the words in `except`, such as `blacklist`, `online` or `timer`.
//! - An empty string does not count under words that say everything by the key being there (`order:notified:7`).
//! - Empty strings and collections do not count in what users fill themselves, such as a cart.
//! - Empty collections do not count in what may have no members, such as a history or rules. Empty lists do not count if a segment
//!   other than the first one is a plural (`user:tags:7`); empty objects do, since tables have such names, too (`shop:users:7`).
//! - The empty strings by which Spring Session learns that a session expires do not count.
//!
//! Measured: remaining milliseconds at the reference time. The snapshot does not contain the original TTL, which was at least
//! that long. A marker without expiry breaks the rule, too, and measures nothing.

mod words;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use words::{FILLED, LISTED, MARKERS, NO_PLURALS, PLACEHOLDERS, PRESENT, STATES, is_missing};

use crate::policy::KeyView;
use crate::policy::caches::CACHE;
use crate::policy::content::serialized::{JAVA_HEAD, JAVA_OBJECT, java_string, unboxed};
use crate::policy::content::words_of;
use crate::policy::context::Context;
use crate::policy::dictionary::TtlClass;
use crate::policy::harmless::{DoubtfulTexts, HarmlessKeys};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::rdb::peek::{PeekBuffers, ValuePart};
use crate::record::Kind;

/// Longest marker of a policy, in bytes.
const MAX_MARKER_LEN: usize = 63;

/// Longest marker that Java may serialize as a string; the longer ones are objects.
const MAX_WORD_LEN: usize = 16;

/// Length of a UUID as text.
const UUID: usize = 36;

/// Spring's marker, serialized by Java.
const SPRING: &[u8; 64] = b"\xac\xed\0\x05sr\0+org.springframework.cache.support.NullValue\0\0\0\0\0\0\0\x01\x02\0\0xp";

/// `null` as Java serializes it.
const JAVA_NULL: &[u8; 5] = b"\xac\xed\0\x05p";

/// Classes of Java's collections, each with the length of its name before it, and the length of one without elements.
const JAVA_COLLECTIONS: [(&[u8], usize); 11] = [
    (b"\x11java.util.HashMap", 82),
    (b"\x17java.util.LinkedHashMap", 135),
    (b"\x11java.util.TreeMap", 84),
    (b"\x11java.util.HashSet", 53),
    (b"\x17java.util.LinkedHashSet", 91),
    (b"\x11java.util.TreeSet", 46),
    (b"\x14java.util.LinkedList", 48),
    // List.of(), Set.of() and Map.of().
    (b"\x11java.util.CollSer", 55),
    (b"\x1ejava.util.Collections$EmptyMap", 51),
    (b"\x1ejava.util.Collections$EmptySet", 51),
    (b"\x1fjava.util.Collections$EmptyList", 52),
];

/// Longest of them.
const MAX_COLLECTION_LEN: usize = 135;

/// List of no elements as Java serializes it.
#[cfg(test)]
const EMPTY_LIST: &[u8; 52] =
    b"\xac\xed\0\x05sr\0\x1fjava.util.Collections$EmptyList\x7a\xb8\x17\xb4\x3c\xa7\x9e\xde\x02\0\0xp";

/// `ArrayList` of no elements as Java serializes it.
const ARRAY_LIST: &[u8; 58] = b"\xac\xed\0\x05sr\0\x13java.util.ArrayList\x78\x81\xd2\x1d\x99\xc7\x61\x9d\x03\0\x01I\0\x04sizexp\0\0\0\0w\x04\0\0\0\0x";

/// Null in binary form: that of Spring and Java, and those of igbinary, msgpack and Ruby.
const BINARY_NULLS: [&[u8]; 5] = [SPRING, JAVA_NULL, b"\0\0\0\x02\0", b"\xc0", b"\x04\x080"];

/// Empty collections in binary form: a list of Java, the array of igbinary, the array and the map of msgpack.
const BINARY_COLLECTIONS: [(&[u8], Marker); 4] = [
    (ARRAY_LIST, Marker::List),
    (b"\0\0\0\x02\x14\0", Marker::List),
    (b"\x90", Marker::List),
    (b"\x80", Marker::Object),
];

/// Longest marker that is looked for in other forms: pickled, packed, or before a newline.
const MAX_WRAPPED_LEN: usize = 4;

/// Bytes before a string of igbinary.
const IGBINARY_HEAD: usize = 6;

/// Bytes that pickle adds to a string, in its protocols with and without a frame and the number of the object.
const PICKLE_HEADS: [usize; 6] = [5, 6, 8, 10, 14, 15];

/// Length of the shortest plural; shorter words with an s at the end are mostly abbreviations.
const MIN_PLURAL_LEN: usize = 4;

/// Lengths and first bytes of what [`is_pickled`] accepts.
const PICKLED: (RangeInclusive<usize>, &[u8]) = (4..=6, b"\x80](}");

/// End of the names of Spring Session's empty strings, before the id of the session.
const SPRING_SESSION: &[u8] = b":sessions:expires:";

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
    if markers.is_empty() || markers.iter().any(|marker| marker.len() > MAX_MARKER_LEN) {
        return Err(format!("\"markers\" must hold one or more values of at most {MAX_MARKER_LEN} bytes"));
    }
    let mut doubtful = DoubtfulTexts::default();
    let words = || markers.iter().map(AsRef::as_ref);
    for marker in words().chain(BINARY_NULLS).chain(BINARY_COLLECTIONS.map(|(value, _)| value)) {
        doubtful.add(marker.len(), marker.get(..1).unwrap_or_default());
        if marker.len() <= MAX_WORD_LEN {
            doubtful.add(marker.len() + JAVA_HEAD, &JAVA_NULL[..1]);
        }
    }
    for marker in words().filter(|marker| marker.len() <= MAX_WRAPPED_LEN) {
        if let Some(start) = marker.get(..1) {
            doubtful.add(marker.len() + 1, start);
        }
        doubtful.add(marker.len() + 1, &[0xA0 | u8::try_from(marker.len()).unwrap_or_default()]);
        doubtful.add(marker.len() + IGBINARY_HEAD, b"\0");
        PICKLE_HEADS.iter().for_each(|head| doubtful.add(marker.len() + head, b"\x80"));
    }
    JAVA_COLLECTIONS.iter().for_each(|(_, length)| doubtful.add_longer(*length, JAVA_OBJECT[0]));
    PICKLED.0.for_each(|length| doubtful.add(length, PICKLED.1));
    let except = params.segments("except")?.to_vec();
    let worded = words::doubtful();
    Ok(BuiltRule::Key(Box::new(NullMarker { max: params.number("max"), markers, doubtful, worded, except })))
}

/// Limits the time to live of markers for empty results.
#[derive(Debug, Clone)]
pub struct NullMarker {
    /// Maximum time to live, in milliseconds.
    pub max: u64,
    markers: Vec<Box<[u8]>>,
    /// What the markers have in common, in any form in which they are stored.
    doubtful: DoubtfulTexts,
    /// What words for a missing result have in common, which are markers in caches only.
    worded: DoubtfulTexts,
    /// TTL classes whose keys do not count, and segments of other keys that do not.
    except: Vec<String>,
}

impl KeyRule for NullMarker {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        match key.record.kind {
            // Fast path: hardly any value has the length and the beginning of a marker.
            Kind::String if self.doubtful.may_include(key.record) => self.check_short(key),
            Kind::String if is_named_cache(key) && self.worded.may_include(key.record) => self.check_short(key),
            Kind::String => None,
            _ if key.record.length == Some(1) => self.check_collection(key),
            _ => None,
        }
    }

    fn harmless(&self, kind: Kind, _: &Context) -> Option<HarmlessKeys> {
        // Collections count in caches only, whose names match the patterns of their class.
        let doubtful = if kind == Kind::String { self.doubtful.clone() } else { DoubtfulTexts::default() };
        Some(HarmlessKeys { doubtful, ..HarmlessKeys::default() })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_reference()
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::String, Kind::Hash, Kind::List, Kind::Set, Kind::Zset]
    }
}

impl NullMarker {
    #[inline(never)]
    fn check_short(&self, key: &KeyView<'_>) -> Option<Violation> {
        let violation = self.outlives(key)?;
        let is_marker = self.marker(key).is_some_and(|marker| self.is_cached(key, marker)) && !is_spring_session(key);
        is_marker.then_some(violation)
    }

    /// Checks a collection of one element: in a cache, a placeholder stands for a result without any.
    #[inline(never)]
    fn check_collection(&self, key: &KeyView<'_>) -> Option<Violation> {
        let is_cache = key.class().is_some_and(|class| class.name == CACHE && self.is_of_results(class));
        let violation = if is_cache { self.outlives(key)? } else { return None };
        let mut is_placeholder = false;
        key.record.raw?.peek(&mut PeekBuffers::default(), |part| {
            is_placeholder |= match part {
                ValuePart::Element(element) => self.is_placeholder(element),
                ValuePart::Pair(field, _) => self.is_placeholder(field),
                ValuePart::String(_) => false,
            };
        });
        is_placeholder.then_some(violation)
    }

    /// Returns the violation of a key that lives longer than markers may; one without an expiry does.
    fn outlives(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = match key.record.expires_at {
            Some(_) => u64::try_from(key.left()?).ok()?,
            // The fields of a hash expire one by one.
            None if key.record.is_to_expire() => return None,
            None => u64::MAX,
        };
        let exceeds = measured > self.max;
        // No number expresses a life without end.
        let measured = if measured == u64::MAX { self.max } else { measured };
        exceeds.then_some(Violation { measured, allowed: self.max })
    }

    /// Returns whether keys of a class are results that may be missing.
    fn is_of_results(&self, class: &TtlClass) -> bool {
        class.required && !self.except.contains(&class.name)
    }

    fn is_cached(&self, key: &KeyView<'_>, marker: Marker) -> bool {
        match key.class() {
            Some(class) if marker == Marker::Word => {
                self.is_of_results(class) && class.name == CACHE && !is_of_state(key)
            }
            Some(class) => self.is_of_results(class),
            None => {
                let name = key.untagged();
                let mut segments = key.context.separators.split(&name).enumerate();
                let is_filled = |segment: &[u8]| begins_or_ends_with_one(segment, &FILLED);
                let excepts = |at: usize, segment: &[u8]| match marker {
                    Marker::Null | Marker::Word => false,
                    Marker::Text => ends_with_one(segment, &PRESENT) || is_filled(segment),
                    Marker::Object => is_filled(segment) || ends_with_one(segment, &LISTED),
                    // The first segment names a business or a table: `orders:7`.
                    Marker::List => {
                        is_filled(segment) || ends_with_one(segment, &LISTED) || at > 0 && is_plural(segment)
                    }
                };
                marker != Marker::Word
                    && !segments.any(|(at, segment)| is_among(segment, &self.except) || excepts(at, segment))
            }
        }
    }

    /// Returns what the value of a key marks, if it is a marker.
    fn marker(&self, key: &KeyView<'_>) -> Option<Marker> {
        self.marker_of(&key.record.raw.and_then(|raw| raw.short_string(MAX_COLLECTION_LEN))?)
    }

    /// Returns whether the only element of a collection stands for none.
    fn is_placeholder(&self, element: &[u8]) -> bool {
        let marker = (element.len() <= MAX_COLLECTION_LEN).then(|| self.marker_of(element)).flatten();
        let is_null = matches!(marker, Some(Marker::Null | Marker::Text | Marker::Word));
        let start = element.iter().take_while(|byte| **byte == b'_').count();
        let end = element.iter().rposition(|byte| *byte != b'_').map_or(start, |last| last + 1);
        is_null || element.get(start..end).is_some_and(|word| is_among(word, &PLACEHOLDERS))
    }

    /// Returns what a text marks, if it is a marker.
    fn marker_of(&self, value: &[u8]) -> Option<Marker> {
        if BINARY_NULLS.contains(&value) {
            return Some(Marker::Null);
        }
        if let Some(marker) = BINARY_COLLECTIONS.iter().find(|(known, _)| *known == value) {
            return Some(marker.1);
        }
        if is_java_collection(value) {
            let is_map = memchr::memmem::find(value, b"Map").is_some();
            return Some(if is_map { Marker::Object } else { Marker::List });
        }
        if is_pickled(value) {
            return Some(match value {
                _ if value.contains(&b'N') => Marker::Null,
                _ if value.iter().any(|byte| matches!(byte, b'}' | b'd')) => Marker::Object,
                _ => Marker::List,
            });
        }
        let text = java_string(value).map_or_else(|| unboxed(value), Cow::Borrowed);
        let line = text.strip_suffix(b"\n").filter(|line| (1..=MAX_WRAPPED_LEN).contains(&line.len()));
        let is_text = |text: &[u8]| self.markers.iter().any(|marker| **marker == *text);
        let found = [Some(&*text), line].into_iter().flatten().find(|text| is_text(text));
        let word = || is_missing(&text).then_some(Marker::Word);
        found.map(Marker::of).or_else(word)
    }
}

/// Returns whether the patterns of the policy count a key among caches, whatever it holds.
#[inline]
fn is_named_cache(key: &KeyView<'_>) -> bool {
    let class = key.matched.class.and_then(|class| key.context.classes.get(usize::from(class)));
    class.is_some_and(|class| class.name == CACHE)
}

/// Meaning of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    /// A null, or a word for it.
    Null,
    /// An empty string.
    Text,
    /// An object or a map without members.
    Object,
    /// A list or a set without elements.
    List,
    /// A word that marks an empty result in caches.
    Word,
}

impl Marker {
    fn of(text: &[u8]) -> Marker {
        match text {
            b"" | b"\"\"" | b"s:0:\"\";" => Marker::Text,
            _ if memchr::memmem::find(text, b"NullValue").is_some() => Marker::Null,
            // Jackson writes the class of a map before it.
            [b'[', .., b'{', b'}', b']'] | [b'{', ..] | [b'"', b'{', ..] | [b'O', b':', ..] => Marker::Object,
            [b'[', ..] | [b'"', b'[', ..] | [b'a', b':', ..] => Marker::List,
            _ => Marker::Null,
        }
    }
}

/// Returns whether a key says that its value is a state, which may be `empty`: `cache:room:status:7`.
fn is_of_state(key: &KeyView<'_>) -> bool {
    let name = key.untagged();
    key.context.separators.split(&name).any(|segment| ends_with_one(segment, &STATES))
}

fn is_among<W: AsRef<str>>(segment: &[u8], words: &[W]) -> bool {
    words.iter().any(|word| segment.eq_ignore_ascii_case(word.as_ref().as_bytes()))
}

/// Returns whether a segment is one of some words, or its last word is: `repeat_submit`, `repeatSubmit`.
fn ends_with_one(segment: &[u8], words: &[&str]) -> bool {
    is_among(segment, words) || words_of(segment).next_back().is_some_and(|word| is_among(word, words))
}

/// Returns whether a segment is one of some words, or its first or last word is: `shopping_cart`, `cartItems`.
fn begins_or_ends_with_one(segment: &[u8], words: &[&str]) -> bool {
    ends_with_one(segment, words) || words_of(segment).next().is_some_and(|word| is_among(word, words))
}

/// Returns whether the last word of a segment names several things, as far as its ending tells: `tags`, `userCoupons`, not `address`.
fn is_plural(segment: &[u8]) -> bool {
    let Some(word) = words_of(segment).next_back() else { return false };
    let is_singular = [&b"ss"[..], b"us", b"is"].iter().any(|end| word.ends_with(end)) || is_among(word, &NO_PLURALS);
    word.len() >= MIN_PLURAL_LEN && word.ends_with(b"s") && !is_singular
}

/// Returns whether a value is a collection of Java without elements, of which there is one form of each length.
fn is_java_collection(value: &[u8]) -> bool {
    let Some(object) = value.strip_prefix(JAVA_OBJECT) else { return false };
    JAVA_COLLECTIONS.iter().any(|(class, length)| value.len() == *length && object.starts_with(class))
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
