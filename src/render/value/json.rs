//! JSON form of a key and its value: one object on one line, as `docs/show.md` describes it. It is serialised straight into
//! the output, so that a large value is not copied.

use std::io::{self, Write};
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::document::{self, Layout};
use super::{ShownKey, id};
use crate::policy::{BrokenRule, KeyJudgement};
use crate::rdb::kind::module;
use crate::record::ModuleFacts;
use crate::render::json;
use crate::report::{Severity, Unit, base64};
use crate::show::{
    CompactionRule, Consumer, Entry, Group, HashField, Item, Pending, Producer, Sample, Series, Stream, Value,
    VectorElement, VectorSet,
};
use crate::units::{Bytes, Millis};

/// Name and version of the JSON form.
pub const SCHEMA: &str = "rdblens.value/1";

/// Writes the key and its value for programs. Bytes that are not UTF-8 are `{"base64": "…"}`.
pub fn write_json(key: &ShownKey<'_>, out: &mut dyn Write) -> io::Result<()> {
    let &ShownKey { found, value, omitted } = key;
    let facts = found.facts.as_ref();
    let elements = facts.and_then(|facts| facts.elements);
    let document = ValueDocument {
        schema: SCHEMA,
        file: &found.file,
        db: found.db,
        key: JsonText(&found.key),
        kind: found.value_type.kind().name(),
        encoding: facts.map(|facts| facts.encoding.name()),
        memory: facts.and_then(|facts| facts.memory),
        model: facts.map(|facts| facts.model.as_str()),
        expires_at: found.expires_at,
        idle: found.idle,
        freq: found.freq,
        offset: found.offset,
        disk: found.disk,
        pattern: facts.map(|facts| facts.pattern.as_str()),
        module_facts: facts.and_then(|facts| facts.module),
        longest_element: elements.map(|of| of.longest),
        mean_element: elements.map(|of| of.mean),
        judgement: facts.map(|facts| judgement(&facts.judgement)),
        omitted,
        value: match value {
            Value::Json(_) => None,
            value => Some(As(value)),
        },
    };
    let Value::Json(text) = value else {
        json::write_line(&document, out)?;
        return writeln!(out);
    };
    // A document of any depth is copied as text, since writing it level by level takes stack for each.
    let mut head = Vec::new();
    json::write_line(&document, &mut head)?;
    head.pop();
    out.write_all(&head)?;
    out.write_all(b",\"value\":{\"module\":\"ReJSON-RL\",\"document\":")?;
    document::write(text.text(), Layout::Line, out)?;
    out.write_all(b"}}\n")
}

/// Document: facts about the key, then its value.
#[derive(Serialize)]
struct ValueDocument<'a> {
    schema: &'static str,
    file: &'a str,
    db: u64,
    key: JsonText<'a>,
    #[serde(rename = "type")]
    kind: &'static str,
    encoding: Option<&'static str>,
    memory: Option<Bytes>,
    model: Option<&'a str>,
    expires_at: Option<Millis>,
    idle: Option<u64>,
    freq: Option<u8>,
    offset: u64,
    disk: Bytes,
    pattern: Option<&'a str>,
    #[serde(flatten)]
    module_facts: Option<ModuleFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_element: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_element: Option<Bytes>,
    #[serde(flatten)]
    judgement: Option<JudgementForm<'a>>,
    omitted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<As<&'a Value>>,
}

/// Verdict of the policy on the key.
#[derive(Serialize)]
struct JudgementForm<'a> {
    policy: &'a str,
    owner: Option<&'a str>,
    contact: Option<&'a str>,
    class: Option<&'a str>,
    breaks: Vec<BrokenForm<'a>>,
}

/// Rule that the key breaks.
#[derive(Serialize)]
struct BrokenForm<'a> {
    rule: &'static str,
    severity: Severity,
    problem: &'a str,
    problem_zh: &'a str,
    measured: Option<u64>,
    allowed: Option<u64>,
    unit: Option<Unit>,
    /// Reason of the exemption.
    #[serde(skip_serializing_if = "Option::is_none")]
    exempted: Option<&'a str>,
}

fn judgement(judgement: &KeyJudgement) -> JudgementForm<'_> {
    fn of(broken: &BrokenRule) -> BrokenForm<'_> {
        BrokenForm {
            rule: broken.rule,
            severity: broken.severity,
            problem: &broken.problem.en,
            problem_zh: &broken.problem.zh,
            measured: broken.figures.map(|[measured, _]| measured),
            allowed: broken.figures.map(|[_, allowed]| allowed),
            unit: broken.unit,
            exempted: broken.exempted.as_deref(),
        }
    }
    JudgementForm {
        policy: &judgement.policy,
        owner: judgement.owner.as_deref(),
        contact: judgement.contact.as_deref(),
        class: judgement.class.as_deref(),
        breaks: judgement.breaks.iter().map(of).collect(),
    }
}

/// Bytes as a string if they are UTF-8, else as `{"base64": "…"}`.
struct JsonText<'a>(&'a [u8]);

impl Serialize for JsonText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.collect_map([("base64", base64(self.0))]),
        }
    }
}

/// Number; infinities and NaN, which JSON lacks, are strings.
struct JsonNumber(f64);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

/// Part of a value, to be serialised.
struct As<T>(T);

fn list<T>(all: &[T]) -> As<&[T]> {
    As(all)
}

impl<'a, T> Serialize for As<&'a [T]>
where
    As<&'a T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(As))
    }
}

impl Serialize for As<&Value> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Text(text) => JsonText(text).serialize(serializer),
            Value::List(elements) | Value::Set(elements) => list(elements).serialize(serializer),
            Value::Zset(members) => list(members).serialize(serializer),
            Value::Hash(fields) => list(fields).serialize(serializer),
            Value::Stream(stream) => As(stream).serialize(serializer),
            Value::Json(document) => JsonText(document.text().as_bytes()).serialize(serializer),
            Value::Series(series) => As(&**series).serialize(serializer),
            Value::Vectors(set) => As(set).serialize(serializer),
            Value::Module(name, items) => {
                #[derive(Serialize)]
                struct Module<'a> {
                    module: Option<&'a str>,
                    parts: As<&'a [Item]>,
                }
                let module = name.as_ref().map(|name| name.as_str());
                Module { module, parts: list(items) }.serialize(serializer)
            }
            Value::Array(slots) => list(slots).serialize(serializer),
        }
    }
}

impl Serialize for As<&Series> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Samples<'a>(&'a Series);
        impl Serialize for Samples<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.0.samples().map(As))
            }
        }
        let series = self.0;
        let mut object = serializer.serialize_map(Some(9))?;
        object.serialize_entry("module", "TSDB-TYPE")?;
        object.serialize_entry("retention", &series.retention)?;
        object.serialize_entry("chunk_bytes", &series.chunk_bytes)?;
        object.serialize_entry("compressed", &series.compressed)?;
        object.serialize_entry("duplicate_policy", &series.duplicate_policy)?;
        object.serialize_entry("source", &series.source.as_deref().map(JsonText))?;
        object.serialize_entry("labels", &list(&series.labels))?;
        object.serialize_entry("rules", &list(&series.rules))?;
        object.serialize_entry("samples", &Samples(series))?;
        object.end()
    }
}

impl Serialize for As<&VectorSet> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let set = self.0;
        let mut object = serializer.serialize_map(Some(6))?;
        object.serialize_entry("module", module::VECTOR_SET)?;
        object.serialize_entry("dimension", &set.dimension)?;
        object.serialize_entry("input_dimension", &set.input_dimension)?;
        object.serialize_entry("quantization", &set.quantization)?;
        object.serialize_entry("most_links", &set.most_links)?;
        object.serialize_entry("elements", &list(&set.elements))?;
        object.end()
    }
}

impl Serialize for As<&VectorElement> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("name", &JsonText(&self.0.name))?;
        object.serialize_entry("attributes", &self.0.attributes.as_deref().map(JsonText))?;
        object.serialize_entry("links", &self.0.links)?;
        object.end()
    }
}

impl Serialize for As<Sample> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("time", &self.0.time)?;
        object.serialize_entry("value", &JsonNumber(self.0.value))?;
        object.end()
    }
}

impl Serialize for As<&(Vec<u8>, Vec<u8>)> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("name", &JsonText(&self.0.0))?;
        object.serialize_entry("value", &JsonText(&self.0.1))?;
        object.end()
    }
}

impl Serialize for As<&CompactionRule> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(4))?;
        object.serialize_entry("target", &JsonText(&self.0.target))?;
        object.serialize_entry("aggregation", self.0.aggregation)?;
        object.serialize_entry("bucket", &self.0.bucket)?;
        object.serialize_entry("alignment", &self.0.alignment)?;
        object.end()
    }
}

impl Serialize for As<&Vec<u8>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        JsonText(self.0).serialize(serializer)
    }
}

impl Serialize for As<&(u64, u64)> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&id(*self.0))
    }
}

impl Serialize for As<&Item> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Item::Integer(number) => number.serialize(serializer),
            Item::Float(number) => JsonNumber(*number).serialize(serializer),
            Item::Text(text) => JsonText(text).serialize(serializer),
        }
    }
}

impl Serialize for As<&(Vec<u8>, f64)> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("member", &JsonText(&self.0.0))?;
        object.serialize_entry("score", &JsonNumber(self.0.1))?;
        object.end()
    }
}

impl Serialize for As<&HashField> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("field", &JsonText(&self.0.field))?;
        object.serialize_entry("value", &JsonText(&self.0.value))?;
        object.serialize_entry("expires_at", &self.0.expires_at)?;
        object.end()
    }
}

impl Serialize for As<&(u64, Item)> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("index", &self.0.0)?;
        object.serialize_entry("item", &As(&self.0.1))?;
        object.end()
    }
}

impl Serialize for As<&Stream> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(5))?;
        object.serialize_entry("last_id", &As(&self.0.last_id))?;
        object.serialize_entry("entries_added", &self.0.entries_added)?;
        object.serialize_entry("entries", &list(&self.0.entries))?;
        object.serialize_entry("groups", &list(&self.0.groups))?;
        object.serialize_entry("producers", &list(&self.0.producers))?;
        object.end()
    }
}

impl Serialize for As<&Entry> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("id", &As(&self.0.id))?;
        object.serialize_entry("fields", &list(&self.0.fields))?;
        object.end()
    }
}

impl Serialize for As<&(Arc<[u8]>, Vec<u8>)> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("field", &JsonText(&self.0.0))?;
        object.serialize_entry("value", &JsonText(&self.0.1))?;
        object.end()
    }
}

impl Serialize for As<&Group> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(6))?;
        object.serialize_entry("name", &JsonText(&self.0.name))?;
        object.serialize_entry("last_id", &As(&self.0.last_id))?;
        object.serialize_entry("entries_read", &self.0.entries_read)?;
        object.serialize_entry("pending", &list(&self.0.pending))?;
        object.serialize_entry("consumers", &list(&self.0.consumers))?;
        object.serialize_entry("returned", &list(&self.0.returned))?;
        object.end()
    }
}

impl Serialize for As<&Pending> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("id", &As(&self.0.id))?;
        object.serialize_entry("delivered_at", &self.0.delivered_at)?;
        object.serialize_entry("deliveries", &self.0.deliveries)?;
        object.end()
    }
}

impl Serialize for As<&Consumer> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(4))?;
        object.serialize_entry("name", &JsonText(&self.0.name))?;
        object.serialize_entry("seen_at", &self.0.seen_at)?;
        object.serialize_entry("active_at", &self.0.active_at)?;
        object.serialize_entry("pending", &list(&self.0.pending))?;
        object.end()
    }
}

impl Serialize for As<&Producer> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("name", &JsonText(&self.0.name))?;
        object.serialize_entry("ids", &list(&self.0.ids))?;
        object.end()
    }
}

impl Serialize for As<&(Vec<u8>, (u64, u64))> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("id", &JsonText(&self.0.0))?;
        object.serialize_entry("entry", &As(&self.0.1))?;
        object.end()
    }
}

#[cfg(test)]
mod tests;
