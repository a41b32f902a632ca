//! Walks streams: listpacks of entries, counters, consumer groups, and from layout 4 on idempotency ids of producers.
//!
//! ```text
//! n, (master id, listpack)[n]   length, last id   [2: first id, max deleted id, entries added]
//! g, group[g]: name, last id, [2: entries read], p, (id, time, deliveries)[p],
//!              c, (name, seen [3: active], q, id[q])[c], [5: k, id[k]]
//! [4: duration, limit, r, (producer, m, (id, entry)[m])[r], added, duplicates]
//! ```

use super::{StreamHead, Visit};
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::rdb::scratch::Scratch;
use crate::rdb::string::StringForm;
use crate::wording::wording;

/// Walks a stream of the given layout.
pub fn walk_stream<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V, layout: u8) -> Result<()> {
    let nodes = input.count(2).within(Reading::NumberOfStreamNodes)?;
    visit.count(nodes);
    for _ in 0..nodes {
        walk_node(input, visit)?;
    }
    visit.stream_head(walk_head(input, layout)?);
    let groups = input.count(5).within(Reading::NumberOfConsumerGroups)?;
    visit.groups(groups);
    for _ in 0..groups {
        walk_group(input, visit, layout)?;
    }
    if layout >= 4 {
        walk_producers(input, visit)?;
    }
    Ok(())
}

fn walk_node<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let master = input.string().within(Reading::StreamNodeId)?;
    let id = match master.form {
        StringForm::Plain(bytes) => <&[u8; 16]>::try_from(bytes).ok(),
        StringForm::Int(_) | StringForm::Lzf { .. } => None,
    };
    let blob = input.string().within(Reading::StreamNode)?;
    match (id, master.form) {
        (Some(id), _) => visit.stream_node(id, blob),
        // Servers never compress 16 bytes, but the format allows it.
        (None, StringForm::Lzf { len: 16, .. }) => {
            let mut scratch = Scratch::default();
            let id = master.decode(&mut scratch).within(Reading::StreamNodeId)?;
            if let Ok(id) = id.try_into() {
                visit.stream_node(id, blob);
            }
        }
        (None, _) => {
            return Err(Error::corrupt(
                master.offset,
                wording!(
                    "stream node id has {} bytes instead of 16",
                    "stream 节点的 id 长 {} 字节，应为 16 字节",
                    master.len()
                ),
            ));
        }
    }
    Ok(())
}

fn id(input: &mut Cursor<'_>, reading: Reading) -> Result<(u64, u64)> {
    let ms = input.number().within(reading)?;
    Ok((ms, input.number().within(reading)?))
}

fn walk_head(input: &mut Cursor<'_>, layout: u8) -> Result<StreamHead> {
    let length = input.number().within(Reading::StreamLength)?;
    let last_id = id(input, Reading::StreamLastId)?;
    if layout < 2 {
        return Ok(StreamHead { length, last_id, ..StreamHead::default() });
    }
    let first_id = Some(id(input, Reading::StreamFirstId)?);
    let max_deleted_id = Some(id(input, Reading::StreamGreatestDeletedId)?);
    let entries_added = Some(input.number().within(Reading::StreamEntriesAdded)?);
    Ok(StreamHead { length, first_id, last_id, entries_added, max_deleted_id })
}

fn walk_group<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V, layout: u8) -> Result<()> {
    let name = input.string().within(Reading::GroupName)?;
    let last_id = id(input, Reading::GroupLastId)?;
    let entries_read = match layout {
        0 | 1 => None,
        _ => Some(input.number().within(Reading::GroupEntriesRead)?),
    };
    let pending = input.count(25).within(Reading::GroupPendingEntries)?;
    visit.group(name, last_id, entries_read, pending);
    for _ in 0..pending {
        let id = input.array().within(Reading::PendingEntryId)?;
        let delivered_at = input.i64_le().within(Reading::PendingEntryTime)?;
        visit.pending(id, delivered_at, input.number().within(Reading::PendingEntryDeliveries)?);
    }
    for _ in 0..input.count(10).within(Reading::GroupConsumers)? {
        walk_consumer(input, visit, layout)?;
    }
    if layout >= 5 {
        for _ in 0..input.count(16).within(Reading::GroupReturnedEntries)? {
            visit.nacked(input.array().within(Reading::ReturnedEntryId)?);
        }
    }
    Ok(())
}

fn walk_consumer<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V, layout: u8) -> Result<()> {
    let name = input.string().within(Reading::ConsumerName)?;
    let seen_at = input.i64_le().within(Reading::ConsumerTime)?;
    let active_at = match layout {
        0..=2 => None,
        _ => Some(input.i64_le().within(Reading::ConsumerActiveTime)?),
    };
    let pending = input.count(16).within(Reading::ConsumerPendingEntries)?;
    visit.consumer(name, seen_at, active_at, pending);
    for _ in 0..pending {
        visit.consumer_pending(input.array().within(Reading::ConsumerPendingEntry)?);
    }
    Ok(())
}

fn walk_producers<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let duration = input.number().within(Reading::IdempotencyDuration)?;
    visit.idempotency_limits(duration, input.number().within(Reading::IdempotencyLimit)?);
    for _ in 0..input.count(2).within(Reading::NumberOfProducers)? {
        let name = input.string().within(Reading::ProducerName)?;
        let ids = input.count(3).within(Reading::ProducerIds)?;
        visit.producer(name, ids);
        for _ in 0..ids {
            let own = input.string().within(Reading::IdempotencyId)?;
            visit.idempotency(own, id(input, Reading::IdempotentEntryId)?);
        }
    }
    input.number().within(Reading::IdempotencyIdsAdded)?;
    input.number().within(Reading::IdempotencyDuplicates)?;
    Ok(())
}
