//! Cases of the page: keys, flags and a policy, as its cells write them.

use super::notation::{bytes, code, number, span, split};

/// One snapshot with what is known about it.
#[derive(Debug, Default)]
pub struct Case {
    /// Text of the case on the page.
    pub text: String,
    /// Keys of the snapshot.
    pub keys: Vec<Keys>,
    /// Keys of an earlier snapshot.
    pub earlier: Vec<Keys>,
    /// Flags of the run.
    pub flags: Vec<String>,
    /// Lines added to the preset.
    pub policy: String,
    /// Whether the file is cut short.
    pub cut: bool,
    /// Rules that are broken besides that of the row: severity and id.
    pub also: Vec<(String, String)>,
    /// Reason why the program does not do this yet.
    pub open: Option<String>,
}

/// One key, or several that differ in a number.
#[derive(Debug)]
pub struct Keys {
    /// Name with placeholders.
    pub name: String,
    /// Number of keys.
    pub times: u64,
    /// What they hold.
    pub value: Value,
    /// Earliest and latest time left, in milliseconds; `None` for keys without expiry.
    pub ttl: Option<(i64, i64)>,
    /// Database.
    pub db: usize,
    /// File, counted from 1.
    pub file: usize,
    /// Idle time in milliseconds.
    pub idle: Option<i64>,
    /// Access counter.
    pub freq: Option<u8>,
}

/// Value of a key.
#[derive(Debug, Clone)]
pub enum Value {
    /// String of this content and length.
    Text(Content, u64),
    /// String as given, with placeholders.
    Given(String),
    /// Collection as given: an object for hashes, else an array.
    GivenCollection(Collection, serde_json::Value),
    /// Collection of so many elements, each of so many bytes.
    Many(Collection, u64, u64),
    /// Stream.
    Stream(StreamSpec),
}

/// Content of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Random letters and digits, which do not compress.
    Random,
    /// Prose, which does.
    Prose,
    /// Bits, most of them zero.
    Bits,
    /// Dense HyperLogLog.
    HyperLogLog,
}

/// Type of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collection {
    Hash,
    List,
    Set,
    Zset,
}

/// Stream with one group; times are how long ago something happened, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct StreamSpec {
    pub entries: u64,
    pub pending: u64,
    pub first: i64,
    pub delivered: i64,
    pub seen: i64,
}

/// Parses the cases of a cell.
pub fn cases(cell: &str) -> Vec<Case> {
    split(cell, "<br>").into_iter().filter(|text| !text.is_empty()).map(case).collect()
}

fn case(text: &str) -> Case {
    let mut case = Case { text: text.to_owned(), ..Case::default() };
    for clause in split(text, ";") {
        if let Some(keys) = clause.strip_prefix("earlier: ") {
            case.earlier = split(keys, " + ").into_iter().map(keys_of).collect();
        } else if let Some(policy) = clause.strip_prefix("policy ") {
            case.policy += &format!("{}\n", code(policy).unwrap_or_else(|| panic!("{clause}")).0);
        } else if let Some(rules) = clause.strip_prefix("also ") {
            case.also.extend(rules_of(rules));
        } else if let Some(reason) = clause.strip_prefix("open: ") {
            case.open = Some(reason.to_owned());
        } else if clause == "cut short" {
            case.cut = true;
        } else if let Some((flags, "")) = code(clause).filter(|(flags, _)| flags.starts_with("--")) {
            case.flags.extend(flags.split(' ').map(str::to_owned));
        } else {
            case.keys = split(clause, " + ").into_iter().map(keys_of).collect();
        }
    }
    case
}

/// Parses rules such as "must `a` `b`, should `c`".
pub fn rules_of(text: &str) -> Vec<(String, String)> {
    let of = |part: &str| {
        let (severity, ids) = part.trim().split_once(' ').unwrap_or_else(|| panic!("{text}"));
        let ids = ids.split('`').skip(1).step_by(2).map(|id| (severity.to_owned(), id.to_owned()));
        ids.collect::<Vec<_>>()
    };
    text.split(',').flat_map(of).collect()
}

fn keys_of(text: &str) -> Keys {
    let (name, rest) = code(text).unwrap_or_else(|| panic!("no name: {text:?}"));
    let mut keys = Keys {
        name: name.to_owned(),
        times: 1,
        value: Value::Text(Content::Random, 10),
        ttl: Some((3_600_000, 3_600_000)),
        db: 0,
        file: 1,
        idle: None,
        freq: None,
    };
    let mut rest = rest.trim();
    if let Some(times) = rest.strip_prefix("× ") {
        let end = times.find(' ').unwrap_or(times.len());
        keys.times = number(&times[..end]).unwrap_or_else(|| panic!("{text}"));
        rest = times[end..].trim();
    }
    for attribute in split(rest, ", ").into_iter().filter(|attribute| !attribute.is_empty()) {
        keys.set(attribute).unwrap_or_else(|| panic!("{attribute:?} in {text:?}"));
    }
    keys
}

impl Keys {
    /// Applies an attribute; `None` if it is none.
    fn set(&mut self, attribute: &str) -> Option<()> {
        if let Some(value) = value(attribute) {
            self.value = value;
            return Some(());
        }
        match attribute.split_once(' ') {
            None if attribute == "expired" => self.ttl = Some((-60_000, -60_000)),
            Some(("no", "TTL")) => self.ttl = None,
            Some(("TTL", span)) => self.ttl = Some(time_left(span)?),
            Some(("db", number)) => self.db = number.parse().ok()?,
            Some(("file", number)) => self.file = number.parse().ok()?,
            Some(("idle", time)) => self.idle = Some(span(time)?),
            Some(("freq", number)) => self.freq = Some(number.parse().ok()?),
            _ => return self.set_stream(attribute),
        }
        Some(())
    }

    fn set_stream(&mut self, attribute: &str) -> Option<()> {
        let Value::Stream(stream) = &mut self.value else { return None };
        if let Some(pending) = attribute.strip_suffix(" pending") {
            stream.pending = number(pending)?;
            return Some(());
        }
        let (what, ago) = attribute.strip_suffix(" ago")?.split_once(' ')?;
        let time = match what {
            "first" => &mut stream.first,
            "delivered" => &mut stream.delivered,
            "seen" => &mut stream.seen,
            _ => return None,
        };
        *time = span(ago)?;
        Some(())
    }
}

fn value(attribute: &str) -> Option<Value> {
    if attribute == "HyperLogLog" {
        return Some(Value::Text(Content::HyperLogLog, 12_304));
    }
    let (word, rest) = attribute.split_once(' ')?;
    match word {
        "string" => Some(Value::Text(Content::Random, bytes(rest)?)),
        "text" => Some(Value::Text(Content::Prose, bytes(rest)?)),
        "bitmap" => Some(Value::Text(Content::Bits, bytes(rest)?)),
        "=" => Some(Value::Given(code(rest)?.0.to_owned())),
        "stream" => {
            let entries = number(rest.strip_suffix(" entries")?)?;
            Some(Value::Stream(StreamSpec { entries, pending: 0, first: 3_600_000, delivered: 60_000, seen: 60_000 }))
        }
        "hash" => collection(Collection::Hash, rest),
        "list" => collection(Collection::List, rest),
        "set" => collection(Collection::Set, rest),
        "zset" => collection(Collection::Zset, rest),
        _ => None,
    }
}

fn collection(kind: Collection, text: &str) -> Option<Value> {
    if let Some(json) = text.strip_prefix("= ") {
        return Some(Value::GivenCollection(kind, serde_json::from_str(code(json)?.0).ok()?));
    }
    let (count, each) = text.split_once(" of ").unwrap_or((text, "16 B"));
    Some(Value::Many(kind, number(count)?, bytes(each)?))
}

/// Parses "1 h", or "60 min to 65 min".
fn time_left(text: &str) -> Option<(i64, i64)> {
    let (from, to) = text.split_once(" to ").unwrap_or((text, text));
    Some((span(from)?, span(to)?))
}
