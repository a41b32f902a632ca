//! One key with its value, for `rdblens show`.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{human, json, key_text};
use crate::report::base64;
use crate::show::{Entry, Found, Group, Item, Stream, Value};
use crate::units::Millis;

/// Name and version of the JSON form.
pub const SCHEMA: &str = "rdblens.value/1";

/// Writes the key and its value for people.
pub fn write_text(found: &Found, value: &Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "key      {}", key_text::key(&found.key))?;
    writeln!(out, "file     {}", key_text::text(&found.file))?;
    writeln!(out, "db       {}", found.db)?;
    writeln!(out, "type     {}", found.value_type.kind())?;
    writeln!(out, "length   {}", length_text(value))?;
    writeln!(out, "expires  {}", found.expires_at.map_or("never".to_owned(), |at| human::time(at.0)))?;
    if let Some(idle) = found.idle {
        writeln!(out, "idle     {}", human::duration(idle.saturating_mul(1000)))?;
    }
    if let Some(freq) = found.freq {
        writeln!(out, "freq     {freq}")?;
    }
    writeln!(out, "on disk  {} bytes at byte {:#x}", human::count(found.disk.0), found.offset)?;
    writeln!(out)?;
    match value {
        Value::Text(text) => writeln!(out, "{}", shown(text)),
        Value::List(elements) | Value::Set(elements) => numbered(out, elements.iter().map(|element| shown(element))),
        Value::Zset(members) => {
            numbered(out, members.iter().map(|(member, score)| format!("{score}  {}", shown(member))))
        }
        Value::Hash(fields) => numbered(
            out,
            fields.iter().map(|field| {
                let expiry = field.expires_at.map(|at| format!("  (expires {})", human::time(at.0)));
                format!("{} = {}{}", shown(&field.field), shown(&field.value), expiry.unwrap_or_default())
            }),
        ),
        Value::Stream(stream) => write_stream(stream, out),
        Value::Module(_, items) => numbered(out, items.iter().map(item_text)),
        Value::Array(slots) => {
            slots.iter().try_for_each(|(index, item)| writeln!(out, "[{index}] {}", item_text(item)))
        }
    }
}

/// Bytes as people read them, on one line.
fn shown(bytes: &[u8]) -> String {
    key_text::whole(bytes)
}

fn numbered(out: &mut dyn Write, lines: impl ExactSizeIterator<Item = String>) -> io::Result<()> {
    let width = lines.len().to_string().len();
    lines.enumerate().try_for_each(|(index, line)| writeln!(out, "{:>width$}) {line}", index + 1))
}

fn length_text(value: &Value) -> String {
    let (count, noun) = match value {
        Value::Text(text) => (text.len(), "byte"),
        Value::List(elements) => (elements.len(), "element"),
        Value::Set(elements) => (elements.len(), "member"),
        Value::Zset(members) => (members.len(), "member"),
        Value::Hash(fields) => (fields.len(), "field"),
        Value::Stream(stream) => return stream_length(stream),
        Value::Module(name, items) => {
            let name = name.map(|name| format!(" of module type {name}"));
            return format!("{}{}", human::counted(items.len() as u64, "part"), name.unwrap_or_default());
        }
        Value::Array(slots) => (slots.len(), "slot"),
    };
    human::counted(count as u64, noun)
}

fn stream_length(stream: &Stream) -> String {
    let entries = stream.entries.len() as u64;
    let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{} entries", human::count(entries)) };
    format!("{entries}, {}", human::counted(stream.groups.len() as u64, "group"))
}

fn id_text((ms, sequence): (u64, u64)) -> String {
    format!("{ms}-{sequence}")
}

fn write_stream(stream: &Stream, out: &mut dyn Write) -> io::Result<()> {
    for entry in &stream.entries {
        write!(out, "{}", id_text(entry.id))?;
        for (field, value) in &entry.fields {
            write!(out, "  {} = {}", shown(field), shown(value))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "last id {}", id_text(stream.last_id))?;
    stream.groups.iter().try_for_each(|group| write_group(group, out))
}

fn write_group(group: &Group, out: &mut dyn Write) -> io::Result<()> {
    let pending = human::count(group.pending.len() as u64);
    writeln!(out, "group {}: delivered up to {}, {pending} pending", shown(&group.name), id_text(group.last_id))?;
    for consumer in &group.consumers {
        let (seen, pending) = (human::time(consumer.seen_at.0), human::count(consumer.pending.len() as u64));
        writeln!(out, "  consumer {}: seen {seen}, {pending} pending", shown(&consumer.name))?;
    }
    for pending in &group.pending {
        let (id, times) = (id_text(pending.id), human::counted(pending.deliveries, "time"));
        writeln!(out, "  pending {id}: delivered {times}, last {}", human::time(pending.delivered_at.0))?;
    }
    Ok(())
}

fn item_text(item: &Item) -> String {
    match item {
        Item::Integer(number) => number.to_string(),
        Item::Float(number) => number.to_string(),
        Item::Text(text) => shown(text),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: &'a str,
    db: u64,
    key: Json,
    #[serde(rename = "type")]
    kind: &'static str,
    expires_at: Option<Millis>,
    idle: Option<u64>,
    freq: Option<u8>,
    offset: u64,
    disk: u64,
    value: Json,
}

/// Writes the key and its value for programs. Bytes that are not UTF-8 are `{"base64": "…"}`.
pub fn write_json(found: &Found, value: &Value, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema: SCHEMA,
        file: &found.file,
        db: found.db,
        key: text_json(&found.key),
        kind: found.value_type.kind().name(),
        expires_at: found.expires_at,
        idle: found.idle,
        freq: found.freq,
        offset: found.offset,
        disk: found.disk.0,
        value: value_json(value),
    };
    json::write_line(&document, out)?;
    writeln!(out)
}

fn text_json(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({ "base64": base64(bytes) }),
    }
}

/// Numbers that JSON has no form for are their names.
fn float_json(number: f64) -> Json {
    serde_json::Number::from_f64(number).map_or_else(|| number.to_string().into(), Json::Number)
}

fn item_json(item: &Item) -> Json {
    match item {
        Item::Integer(number) => (*number).into(),
        Item::Float(number) => float_json(*number),
        Item::Text(text) => text_json(text),
    }
}

fn value_json(value: &Value) -> Json {
    match value {
        Value::Text(text) => text_json(text),
        Value::List(elements) | Value::Set(elements) => elements.iter().map(|element| text_json(element)).collect(),
        Value::Zset(members) => members
            .iter()
            .map(|(member, score)| json!({ "member": text_json(member), "score": float_json(*score) }))
            .collect(),
        Value::Hash(fields) => fields
            .iter()
            .map(|field| {
                json!({
                    "field": text_json(&field.field),
                    "value": text_json(&field.value),
                    "expires_at": field.expires_at,
                })
            })
            .collect(),
        Value::Stream(stream) => stream_json(stream),
        Value::Module(name, items) => json!({
            "module": name.map(|name| name.to_string()),
            "parts": items.iter().map(item_json).collect::<Vec<_>>(),
        }),
        Value::Array(slots) => {
            slots.iter().map(|(index, item)| json!({ "index": index, "item": item_json(item) })).collect()
        }
    }
}

fn stream_json(stream: &Stream) -> Json {
    json!({
        "last_id": id_text(stream.last_id),
        "entries_added": stream.entries_added,
        "entries": stream.entries.iter().map(entry_json).collect::<Vec<_>>(),
        "groups": stream.groups.iter().map(group_json).collect::<Vec<_>>(),
    })
}

fn entry_json(entry: &Entry) -> Json {
    let fields: Vec<Json> = entry
        .fields
        .iter()
        .map(|(field, value)| json!({ "field": text_json(field), "value": text_json(value) }))
        .collect();
    json!({ "id": id_text(entry.id), "fields": fields })
}

fn group_json(group: &Group) -> Json {
    let pending: Vec<Json> = group
        .pending
        .iter()
        .map(|pending| {
            json!({
                "id": id_text(pending.id),
                "delivered_at": pending.delivered_at,
                "deliveries": pending.deliveries,
            })
        })
        .collect();
    let consumers: Vec<Json> = group
        .consumers
        .iter()
        .map(|consumer| {
            json!({
                "name": text_json(&consumer.name),
                "seen_at": consumer.seen_at,
                "active_at": consumer.active_at,
                "pending": consumer.pending.iter().map(|id| id_text(*id)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "name": text_json(&group.name),
        "last_id": id_text(group.last_id),
        "entries_read": group.entries_read,
        "pending": pending,
        "consumers": consumers,
    })
}
