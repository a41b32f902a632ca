//! Walks streams: listpacks of entries, counters, consumer groups, and from layout 4 on idempotency ids of producers.
//!
//! ```text
//! n, (master id, listpack)[n]   length, last id   [2: first id, max deleted id, entries added]
//! g, group[g]: name, last id, [2: entries read], p, (id, time, deliveries)[p],
//!              c, (name, seen [3: active], q, id[q])[c], [5: k, id[k]]
//! [4: duration, limit, r, (producer, m, (id, entry)[m])[r], added, duplicates]
//! ```

use super::{StreamHead, Visit};
use crate::error::{Error, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::rdb::string::StringForm;

/// Walks a stream of the given layout.
pub fn walk_stream<V: Visit>(input: &mut Cursor<'_>, visit: &mut V, layout: u8) -> Result<()> {
    let nodes = input.count(2).within("number of stream nodes")?;
    visit.count(nodes);
    for _ in 0..nodes {
        walk_node(input, visit)?;
    }
    visit.stream_head(walk_head(input, layout)?);
    let groups = input.count(5).within("number of consumer groups")?;
    visit.groups(groups);
    for _ in 0..groups {
        walk_group(input, visit, layout)?;
    }
    if layout >= 4 {
        walk_producers(input, visit)?;
    }
    Ok(())
}

fn walk_node<V: Visit>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let master = input.string().within("stream node's id")?;
    let id = match master.form {
        StringForm::Plain(bytes) => <&[u8; 16]>::try_from(bytes).ok(),
        StringForm::Int(_) | StringForm::Lzf { .. } => None,
    };
    let blob = input.string().within("stream node")?;
    match (id, master.form) {
        (Some(id), _) => visit.stream_node(id, blob),
        // Servers never compress 16 bytes, but the format allows it.
        (None, StringForm::Lzf { len: 16, .. }) => {
            let mut scratch = Vec::new();
            let id = master.decode(&mut scratch).within("stream node's id")?;
            if let Ok(id) = id.try_into() {
                visit.stream_node(id, blob);
            }
        }
        (None, _) => {
            return Err(Error::corrupt(
                master.offset,
                format!("stream node id has {} bytes instead of 16", master.len()),
            ));
        }
    }
    Ok(())
}

fn id(input: &mut Cursor<'_>, noun: &'static str) -> Result<(u64, u64)> {
    let ms = input.number().within(noun)?;
    Ok((ms, input.number().within(noun)?))
}

fn walk_head(input: &mut Cursor<'_>, layout: u8) -> Result<StreamHead> {
    let length = input.length().within("stream length")?;
    let last_id = id(input, "stream's last id")?;
    if layout < 2 {
        return Ok(StreamHead { length, last_id, ..StreamHead::default() });
    }
    let first_id = Some(id(input, "stream's first id")?);
    let max_deleted_id = Some(id(input, "stream's greatest deleted id")?);
    let entries_added = Some(input.number().within("stream's entries added")?);
    Ok(StreamHead { length, first_id, last_id, entries_added, max_deleted_id })
}

fn walk_group<V: Visit>(input: &mut Cursor<'_>, visit: &mut V, layout: u8) -> Result<()> {
    let name = input.string().within("group name")?;
    let last_id = id(input, "group's last id")?;
    let entries_read = match layout {
        0 | 1 => None,
        _ => Some(input.number().within("group's entries read")?),
    };
    let pending = input.count(25).within("group's pending entries")?;
    visit.group(name, last_id, entries_read, pending);
    for _ in 0..pending {
        let id = input.array().within("pending entry's id")?;
        let delivered_at = input.i64_le().within("pending entry's time")?;
        visit.pending(id, delivered_at, input.number().within("pending entry's deliveries")?);
    }
    for _ in 0..input.count(10).within("group's consumers")? {
        walk_consumer(input, visit, layout)?;
    }
    if layout >= 5 {
        for _ in 0..input.count(16).within("group's returned entries")? {
            visit.nacked(input.array().within("returned entry's id")?);
        }
    }
    Ok(())
}

fn walk_consumer<V: Visit>(input: &mut Cursor<'_>, visit: &mut V, layout: u8) -> Result<()> {
    let name = input.string().within("consumer name")?;
    let seen_at = input.i64_le().within("consumer's time")?;
    let active_at = match layout {
        0..=2 => None,
        _ => Some(input.i64_le().within("consumer's active time")?),
    };
    let pending = input.count(16).within("consumer's pending entries")?;
    visit.consumer(name, seen_at, active_at, pending);
    for _ in 0..pending {
        visit.consumer_pending(input.array().within("consumer's pending entry")?);
    }
    Ok(())
}

fn walk_producers<V: Visit>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    input.number().within("idempotency duration")?;
    input.number().within("idempotency limit")?;
    for _ in 0..input.count(2).within("number of producers")? {
        let name = input.string().within("producer name")?;
        let ids = input.count(3).within("producer's ids")?;
        visit.producer(name, ids);
        for _ in 0..ids {
            let own = input.string().within("idempotency id")?;
            visit.idempotency(own, id(input, "idempotent entry's id")?);
        }
    }
    input.number().within("idempotency ids added")?;
    input.number().within("idempotency duplicates")?;
    Ok(())
}
