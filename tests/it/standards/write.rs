//! Writes the keys of a case as snapshots.

use serde_json::Value as Json;

use super::case::{Collection, Content, Keys, StreamSpec, Value};
use super::notation::{fill, random};
use crate::common::dump::{CTIME, Dump, Stream};

/// Returns the files that hold the keys.
pub fn files(keys: &[Keys]) -> Vec<Vec<u8>> {
    let last = keys.iter().map(|keys| keys.file).max().unwrap_or(1);
    (1..=last).map(|file| file_of(keys.iter().filter(|keys| keys.file == file))).collect()
}

fn file_of<'k>(keys: impl Iterator<Item = &'k Keys>) -> Vec<u8> {
    let mut dump = Dump::new();
    for keys in keys {
        for number in 1..=keys.times {
            write(&mut dump, keys, number);
        }
    }
    dump.sealed()
}

fn write(dump: &mut Dump, keys: &Keys, number: u64) {
    let name = fill(&keys.name, number);
    let seed = name.iter().fold(number, |seed, byte| random(seed ^ u64::from(*byte)));
    dump.db(keys.db);
    if let Some((least, most)) = keys.ttl {
        dump.expires_at(CTIME + least + (seed % ((most - least).unsigned_abs() + 1)) as i64);
    }
    if let Some(idle) = keys.idle {
        dump.idle(idle / 1000);
    }
    if let Some(freq) = keys.freq {
        dump.freq(freq);
    }
    match &keys.value {
        Value::Text(content, len) => _ = dump.stored(name, content.bytes(*len, seed)),
        Value::Given(text) => _ = dump.stored(name, fill(text, number)),
        Value::Many(kind, count, each) => many(dump, name, *kind, *count, *each),
        Value::GivenCollection(kind, json) => given(dump, name, *kind, json),
        Value::Stream(spec) => _ = dump.stream(name, &spec.stream()),
    }
}

impl Content {
    fn bytes(self, len: u64, seed: u64) -> Vec<u8> {
        const LETTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let byte = |at: u64| match self {
            // Letters first, so that no value is taken for a number.
            Content::Random if at == 0 => LETTERS[10 + (seed % 52) as usize],
            Content::Random => LETTERS[(random(seed ^ at << 20) % 62) as usize],
            Content::Prose => b"A long text repeats its words, and so it compresses well. "[(at % 58) as usize],
            Content::Bits => u8::from(at.is_multiple_of(97)),
            Content::HyperLogLog => b"HYLL"[..].get(at as usize).copied().unwrap_or(u8::from(at % 16 == 15) << 3),
        };
        (0..len).map(byte).collect()
    }
}

impl StreamSpec {
    fn stream(&self) -> Stream {
        Stream {
            entries: self.entries,
            first: CTIME - self.first,
            pending: self.pending,
            delivered: CTIME - self.delivered,
            seen: CTIME - self.seen,
        }
    }
}

/// Adds a collection of `count` elements; a field and its value take `each` bytes together.
fn many(dump: &mut Dump, name: Vec<u8>, kind: Collection, count: u64, each: u64) {
    let element = |number: u64, len: u64| {
        let head = format!("m{number:07}");
        let padding = (8..len.max(8)).map(|at| char::from(b'a' + (random(number ^ at << 24) % 26) as u8));
        format!("{}{}", &head[8 - len.min(8) as usize..], padding.collect::<String>())
    };
    if kind == Collection::Hash {
        let value = |number| element(number, each.max(8))[8..].to_owned();
        let pairs: Vec<_> = (0..count).map(|number| (element(number, 8), value(number))).collect();
        let pairs: Vec<_> = pairs.iter().map(|(field, value)| (field.as_str(), value.as_str())).collect();
        dump.hash_stored(name, &pairs);
        return;
    }
    collect(dump, name, kind, &(0..count).map(|number| element(number, each)).collect::<Vec<_>>());
}

fn given(dump: &mut Dump, name: Vec<u8>, kind: Collection, json: &Json) {
    let text = |json: &Json| json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    if let Json::Object(fields) = json {
        let pairs: Vec<_> = fields.iter().map(|(field, value)| (field.as_str(), text(value))).collect();
        let pairs: Vec<_> = pairs.iter().map(|(field, value)| (*field, value.as_str())).collect();
        dump.hash_stored(name, &pairs);
        return;
    }
    collect(dump, name, kind, &json.as_array().unwrap().iter().map(text).collect::<Vec<_>>());
}

fn collect(dump: &mut Dump, name: Vec<u8>, kind: Collection, elements: &[String]) {
    match kind {
        Collection::List => dump.list(name, elements),
        Collection::Set => dump.set_table(name, elements),
        Collection::Zset => dump.zset(name, elements),
        Collection::Hash => panic!("a hash is given as an object"),
    };
}
