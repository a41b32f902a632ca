//! What is kept under names of caches and must not expire: Bloom filters, queues, and maps of Redisson whose entries expire.
//!
//! Name and value have to agree, since names alone say too little: `bloom:cache:goods:7` may be what a shop called Bloom caches, and
//! `cache:queue:7` a queue as it was read.

use super::is_word;
use crate::pattern::segment::Separators;
use crate::policy::content::bits::may_be_bits;
use crate::policy::content::{is_one_of, without_braces, words_of};
use crate::rdb::peek::{MAX_TEXT_BYTES, PeekBuffers, RawValue, ValuePart};
use crate::record::{Kind, Record};

/// Bytes before a value in a map of Redisson whose entries expire: idle time and length.
const MAP_HEAD: usize = 16;

/// Fields of the settings of a Bloom filter, as Redisson writes them.
const FILTER_FIELDS: [&[u8]; 3] = [b"hashIterations", b"expectedInsertions", b"falseProbability"];

/// Last words of segments that name a queue, and of those that name a log if the key is a stream.
const QUEUES: [&[u8]; 3] = [b"queue", b"queues", b"mq"];
const LOGS: [&[u8]; 6] = [b"stream", b"streams", b"event", b"events", b"log", b"messages"];
const CHINESE_QUEUE: &str = "队列";

/// Returns whether a key without an expiry whose name says cache holds something else that has to stay.
#[cold]
pub fn must_stay(record: &Record<'_>, separators: &Separators) -> bool {
    let segments = || separators.split(record.key).map(without_braces);
    let names_queue = |words: &[&[u8]]| {
        let behind = segments().skip_while(|segment| !is_word(segment) && !super::is_compound(segment)).skip(1);
        behind.into_iter().any(|segment| ends_with_one(segment, words))
    };
    match record.kind {
        Kind::List | Kind::Zset => names_queue(&QUEUES),
        Kind::Stream => names_queue(&QUEUES) || names_queue(&LOGS),
        Kind::String => names_filter(record.key) && may_be_bits(record),
        Kind::Hash => record.raw.is_some_and(|raw| names_filter(record.key) && is_of_filter(raw) || is_map(raw)),
        Kind::Module => names_filter(record.key),
        Kind::Set | Kind::Array => false,
    }
}

fn ends_with_one(segment: &[u8], words: &[&[u8]]) -> bool {
    let last = words_of(segment).next_back().unwrap_or_default();
    let is_fused = || {
        let lower = last.to_ascii_lowercase();
        words.first() == Some(&QUEUES[0]) && (lower.ends_with(b"queue") || lower.ends_with(b"queues"))
    };
    is_one_of(last, words) || is_fused() || last.ends_with(CHINESE_QUEUE.as_bytes())
}

/// Returns whether a name has a word for Bloom filters.
fn names_filter(name: &[u8]) -> bool {
    ["bloom", "Bloom", "BLOOM", "布隆"].iter().any(|word| memchr::memmem::find(name, word.as_bytes()).is_some())
}

/// Returns whether a hash holds the settings of a Bloom filter.
fn is_of_filter(raw: RawValue<'_>) -> bool {
    let mut found = 0;
    raw.peek(&mut PeekBuffers::default(), |part| {
        found += usize::from(matches!(part, ValuePart::Pair(field, _) if is_one_of(field, &FILTER_FIELDS)));
    });
    found > 0
}

/// Returns whether a hash is a map of Redisson whose entries expire, each on its own: every value is behind its idle time and its length.
fn is_map(raw: RawValue<'_>) -> bool {
    let (mut pairs, mut fit) = (0, 0);
    raw.peek(&mut PeekBuffers::default(), |part| {
        let ValuePart::Pair(_, value) = part else { return };
        pairs += 1;
        fit += usize::from(is_entry(value));
    });
    pairs > 0 && fit == pairs
}

fn is_entry(value: &[u8]) -> bool {
    let Some((head, body)) = value.split_first_chunk::<MAP_HEAD>() else { return false };
    let (idle, length) = head.split_at(8);
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let (idle, length) = (f64::from_bits(number(idle)), number(length));
    let fits = length == body.len() as u64 || value.len() >= MAX_TEXT_BYTES && length > body.len() as u64;
    // A whole number of milliseconds.
    fits && idle >= 0.0 && idle.fract() == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{hash_value, record, string_value};

    fn stays(name: &str, kind: Kind, raw: Option<RawValue<'static>>, length: u64) -> bool {
        let mut record = record(name.as_bytes());
        (record.kind, record.raw, record.length) = (kind, raw, Some(length));
        must_stay(&record, &Separators::default())
    }

    #[test]
    fn filters_have_a_word_and_bits_or_settings() {
        let bits = || Some(string_value(&b"\xff\x00".repeat(50)));
        let text = || Some(string_value(b"{\"id\":7,\"name\":\"tulip\"}"));
        for name in [
            "cache:bloom:shop:v1",
            "railway:cache:bloom",
            "bloom:cache:protection",
            "goods:cache:filter:bloom",
            "缓存:布隆:1",
        ] {
            assert!(stays(name, Kind::String, bits(), 100), "{name}");
            assert!(!stays(name, Kind::String, text(), 23), "{name}");
            assert!(stays(name, Kind::Module, None, 1), "{name}");
        }
        assert!(!stays("cache:page:7", Kind::String, bits(), 100));
        let settings = || Some(hash_value(&[(b"size", b"958505"), (b"hashIterations", b"7")]));
        assert!(stays("{cache:bloom:shop:v1}:config", Kind::Hash, settings(), 2));
        assert!(!stays("cache:shop:v1", Kind::Hash, settings(), 2));
        assert!(!stays("cache:bloom:7", Kind::Hash, Some(hash_value(&[(b"name", b"tulip")])), 1));
    }

    #[test]
    fn queues_have_a_word_behind_that_for_a_cache() {
        for name in [
            "cache:queue:ready",
            "cms:data:cache:queue",
            "cdn:cache:purge:queue",
            "cache:refresh_queue:7",
            "cache:delayqueue",
            "缓存:刷新队列:1",
        ] {
            for kind in [Kind::List, Kind::Zset, Kind::Stream] {
                assert!(stays(name, kind, None, 3), "{name}");
            }
            assert!(
                !stays(name, Kind::Set, None, 3) && !stays(name, Kind::String, Some(string_value(b"x")), 1),
                "{name}"
            );
        }
        assert!(stays("cache:events", Kind::Stream, None, 3) && !stays("cache:events", Kind::List, None, 3));
        assert!(!stays("queue:cache:7", Kind::List, None, 3) && !stays("cache:goods:7", Kind::Stream, None, 3));
    }

    #[test]
    fn maps_of_redisson_have_a_head_before_each_value() {
        let entry = |length: u8, body: &[u8]| [&[0; 8][..], &[length, 0, 0, 0, 0, 0, 0, 0], body].concat();
        let idle = [&60_000f64.to_le_bytes()[..], &5u64.to_le_bytes(), b"hello"].concat();
        let map =
            |pairs: &[(&[u8], &[u8])]| stays("sys:cache:user", Kind::Hash, Some(hash_value(pairs)), pairs.len() as u64);
        assert!(map(&[(b"1", &entry(5, b"hello")), (b"2", &idle)]));
        assert!(!map(&[(b"1", &entry(6, b"hello"))]) && !map(&[(b"1", &entry(5, b"hello")), (b"2", b"plain")]));
        assert!(!map(&[(b"1", b"tom"), (b"2", b"{\"id\":7,\"name\":\"tulip\"}")]));
    }
}
