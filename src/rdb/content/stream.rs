//! Parts of a stream.
//!
//! Parts of different kinds have different numbers, and names of groups and consumers are hashed once, however many pending
//! entries refer to them.

use super::{ContentHasher, upper};
use crate::error::{Error, ErrorKind, Result};
use crate::rdb::packed::stream_node::{StreamNode, stream_id};
use crate::wording::wording;

/// Numbers of the kinds of parts.
const ENTRY: u64 = 0;
const LAST_ID: u64 = 1;
pub(super) const GROUP: u64 = 2;
pub(super) const CONSUMER: u64 = 3;
const PENDING: u64 = 4;
const OWNED: u64 = 5;
pub(super) const PRODUCER: u64 = 6;
const IDEMPOTENCY: u64 = 7;

/// Stands for the consumer of entries that were returned to the group; a name has this hash by chance only.
pub(super) const NO_CONSUMER: u128 = 0;

/// Most fields of a node whose hashes are kept for its entries.
const MAX_FIELDS: i64 = 1 << 20;

/// Adds up the entries of a node.
pub(super) fn node(hasher: &ContentHasher, id: &[u8; 16], bytes: &[u8], offset: u64) -> Result<u64> {
    let node_id = stream_id(id);
    let (mut node, count) = StreamNode::new(bytes, offset)?;
    let (mut one, mut other) = (itoa::Buffer::new(), itoa::Buffer::new());
    if !(0..=MAX_FIELDS).contains(&count) {
        let what = wording!("stream node of {count} fields", "stream 节点有 {count} 个字段");
        return Err(Error::at(offset, ErrorKind::Limit(what)));
    }
    // Few bytes may name a long field over and over.
    let mut fields = Vec::new();
    for position in 0..count.cast_unsigned() {
        fields.push(hasher.first.hash(position, node.element()?.text(&mut one)));
    }
    node.end_fields()?;
    let mut sum = 0_u64;
    while let Some(entry) = node.entry()? {
        let (ms, seq) = entry.id(node_id);
        let mut pairs = 0_u64;
        let mut add = |field: u128, value: &[u8]| {
            pairs = pairs.wrapping_add(hasher.mixed(field.wrapping_add(hasher.second.hash(0, value))));
        };
        if entry.has_same_fields() {
            for field in &fields {
                add(*field, node.element()?.text(&mut other));
            }
        } else {
            for position in 0..node.number()?.max(0).cast_unsigned() {
                let field = hasher.first.hash(position, node.element()?.text(&mut one));
                add(field, node.element()?.text(&mut other));
            }
        }
        node.end_fields()?;
        if !entry.is_deleted() {
            sum = sum.wrapping_add(part(hasher, ENTRY, &[pairs, ms, seq]));
        }
    }
    Ok(sum)
}

pub(super) fn last_id(hasher: &ContentHasher, (ms, seq): (u64, u64)) -> u64 {
    part(hasher, LAST_ID, &[ms, seq])
}

pub(super) fn group(hasher: &ContentHasher, group: u128, (ms, seq): (u64, u64)) -> u64 {
    let (high, low) = halves(group);
    part(hasher, GROUP, &[high, low, ms, seq])
}

pub(super) fn pending(hasher: &ContentHasher, group: u128, id: &[u8; 16], delivered_at: i64, deliveries: u64) -> u64 {
    let ((high, low), (ms, seq)) = (halves(group), stream_id(id));
    part(hasher, PENDING, &[high, low, ms, seq, delivered_at.cast_unsigned(), deliveries])
}

/// Hashes a consumer, or one of its pending entries.
pub(super) fn owned(hasher: &ContentHasher, group: u128, consumer: u128, id: &[u8]) -> u64 {
    hasher.part(OWNED, &[&group.to_le_bytes(), &consumer.to_le_bytes(), id].concat())
}

pub(super) fn idempotency(hasher: &ContentHasher, producer: u128, id: &[u8], (ms, seq): (u64, u64)) -> u64 {
    let ((high, low), id) = (halves(producer), hasher.first.hash(IDEMPOTENCY, id));
    let (own, rest) = halves(id);
    part(hasher, IDEMPOTENCY, &[high, low, own, rest, ms, seq])
}

/// Hashes a few numbers as a part.
fn part<const N: usize>(hasher: &ContentHasher, number: u64, numbers: &[u64; N]) -> u64 {
    hasher.part(number, numbers.map(u64::to_le_bytes).as_flattened())
}

fn halves(number: u128) -> (u64, u64) {
    (upper(number), upper(number << 64))
}
