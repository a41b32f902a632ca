//! Streams, which the `rdb` crate passes over.
//!
//! A node is a listpack (`t_stream.c` of the servers) whose ids are relative to its master id:
//!
//! ```text
//! live, deleted, n, field[n], 0
//! { flags, ms, seq, [n, (field, value)[n] | value[n] if the fields are the master's], elements of this entry }*
//! ```

use std::sync::Arc;

use super::value::{Consumer, Entry, Group, Pending, Stream};
use crate::error::{Error, Result, Within};
use crate::rdb::packed::{Packed, listpack};
use crate::rdb::string::RawString;
use crate::rdb::walk::{StreamHead, Visit};
use crate::units::Millis;

/// The entry is deleted and only its place is left.
const DELETED: i64 = 1;
/// The entry has the fields of the master.
const SAME_FIELDS: i64 = 2;

/// Collects a stream.
#[derive(Debug, Default)]
pub struct StreamDecoder {
    stream: Stream,
    fault: Option<Error>,
}

impl StreamDecoder {
    /// The stream that was walked.
    pub fn finish(self) -> Result<Stream> {
        self.fault.map_or(Ok(self.stream), Err)
    }

    fn name(&mut self, name: RawString<'_>) -> Vec<u8> {
        match name.to_bytes() {
            Ok(name) => name.into_owned(),
            Err(error) => {
                self.fault.get_or_insert(error);
                Vec::new()
            }
        }
    }
}

fn id(bytes: &[u8; 16]) -> (u64, u64) {
    let number = u128::from_be_bytes(*bytes);
    // The upper and the lower half.
    ((number >> 64) as u64, number as u64)
}

/// The elements of a node, taken one by one.
struct Node<'a> {
    elements: listpack::Elements<'a>,
    offset: u64,
}

impl<'a> Node<'a> {
    fn next(&mut self) -> Result<Option<Packed<'a>>> {
        self.elements.next().transpose()
    }

    fn element(&mut self) -> Result<Packed<'a>> {
        self.next()?.ok_or_else(|| Error::corrupt(self.offset, "a stream node ends inside an entry"))
    }

    fn text(&mut self) -> Result<Vec<u8>> {
        self.element().map(|element| element.to_bytes())
    }

    fn number(&mut self) -> Result<i64> {
        match self.element()? {
            Packed::Int(number) => Ok(number),
            Packed::Text(_) => Err(Error::corrupt(self.offset, "a text where a stream node has a number")),
        }
    }
}

fn decode_node(master: (u64, u64), bytes: &[u8], offset: u64, entries: &mut Vec<Entry>) -> Result<()> {
    let mut node = Node { elements: listpack::Elements::new(bytes, offset)?, offset };
    node.number()?;
    node.number()?;
    let count = node.number()?;
    let fields = (0..count).map(|_| node.text().map(Arc::from)).collect::<Result<Vec<Arc<[u8]>>>>()?;
    node.number()?;
    while let Some(flags) = node.next()? {
        let Packed::Int(flags) = flags else {
            return Err(Error::corrupt(offset, "a text where a stream node has flags"));
        };
        let id = (master.0.wrapping_add_signed(node.number()?), master.1.wrapping_add_signed(node.number()?));
        let pairs = if flags & SAME_FIELDS != 0 {
            fields.iter().map(|field| Ok((Arc::clone(field), node.text()?))).collect::<Result<Vec<_>>>()?
        } else {
            let count = node.number()?;
            (0..count).map(|_| Ok((Arc::from(node.text()?), node.text()?))).collect::<Result<Vec<_>>>()?
        };
        node.number()?;
        if flags & DELETED == 0 {
            entries.push(Entry { id, fields: pairs });
        }
    }
    Ok(())
}

impl Visit for StreamDecoder {
    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {
        let decoded = blob
            .to_bytes()
            .and_then(|bytes| decode_node(id(master), &bytes, blob.offset, &mut self.stream.entries))
            .within("stream node");
        if let Err(error) = decoded {
            self.fault.get_or_insert(error);
        }
    }

    fn stream_head(&mut self, head: StreamHead) {
        self.stream.last_id = head.last_id;
        self.stream.entries_added = head.entries_added;
    }

    fn group(&mut self, name: RawString<'_>, last_id: (u64, u64), entries_read: Option<u64>, _pending: u64) {
        let name = self.name(name);
        // The servers write -1 for "not known".
        let entries_read = entries_read.filter(|&read| read != u64::MAX);
        self.stream.groups.push(Group { name, last_id, entries_read, pending: Vec::new(), consumers: Vec::new() });
    }

    fn pending(&mut self, bytes: &[u8; 16], delivered_at: i64, deliveries: u64) {
        if let Some(group) = self.stream.groups.last_mut() {
            group.pending.push(Pending { id: id(bytes), delivered_at: Millis(delivered_at), deliveries });
        }
    }

    fn consumer(&mut self, name: RawString<'_>, seen_at: i64, active_at: Option<i64>, _pending: u64) {
        let name = self.name(name);
        if let Some(group) = self.stream.groups.last_mut() {
            let active_at = active_at.filter(|&at| at >= 0).map(Millis);
            group.consumers.push(Consumer { name, seen_at: Millis(seen_at), active_at, pending: Vec::new() });
        }
    }

    fn consumer_pending(&mut self, bytes: &[u8; 16]) {
        if let Some(consumer) = self.stream.groups.last_mut().and_then(|group| group.consumers.last_mut()) {
            consumer.pending.push(id(bytes));
        }
    }
}
