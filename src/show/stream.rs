//! Streams, which the `rdb` crate passes over.
//!
//! A node is a listpack (`t_stream.c` of the servers) whose ids are relative to its master id:
//!
//! ```text
//! live, deleted, n, field[n], 0
//! { flags, ms, seq, [n, (field, value)[n] | value[n] if the fields are the master's], elements of this entry }*
//! ```

use std::sync::Arc;

use super::value::{Consumer, Entry, Group, Pending, Producer, Stream};
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::limits;
use crate::rdb::packed::{PackedElement, listpack};
use crate::rdb::string::{RawString, canonical_int};
use crate::rdb::walk::{StreamHead, Visit};
use crate::units::Millis;
use crate::wording::wording;

/// The entry is deleted and only its place is left.
const DELETED: i64 = 1;
/// The entry has the fields of the master.
const SAME_FIELDS: i64 = 2;

/// Collects a stream.
#[derive(Debug, Default)]
pub struct StreamDecoder {
    stream: Stream,
    /// Bytes of all field names once they are written out for each entry.
    names: u64,
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

#[expect(clippy::cast_possible_truncation, reason = "splits the number in two halves")]
fn id(bytes: &[u8; 16]) -> (u64, u64) {
    let number = u128::from_be_bytes(*bytes);
    ((number >> 64) as u64, number as u64)
}

/// The elements of a node, taken one by one.
struct Node<'a> {
    elements: listpack::Elements<'a>,
    offset: u64,
}

impl<'a> Node<'a> {
    fn next(&mut self) -> Result<Option<PackedElement<'a>>> {
        self.elements.next().transpose()
    }

    fn element(&mut self) -> Result<PackedElement<'a>> {
        self.next()?.ok_or_else(|| {
            Error::corrupt(self.offset, wording!("a stream node ends inside an entry", "stream 节点在条目中间结束"))
        })
    }

    fn text(&mut self) -> Result<Vec<u8>> {
        self.element().map(|element| element.to_bytes())
    }

    fn number(&mut self) -> Result<i64> {
        match self.element()? {
            PackedElement::Int(number) => Ok(number),
            // Servers accept numbers as text.
            PackedElement::Text(text) => canonical_int(text).ok_or_else(|| {
                Error::corrupt(
                    self.offset,
                    wording!("a text where a stream node has a number", "stream 节点中应为数字处是文本"),
                )
            }),
        }
    }
}

/// Few bytes may name a long field over and over. In memory the name is there once, but somebody will print it.
fn admit(pairs: &[(Arc<[u8]>, Vec<u8>)], offset: u64, names: &mut u64) -> Result<()> {
    let these = pairs.iter().map(|(field, _)| field.len() as u64).sum();
    *names = names.saturating_add(these);
    if *names <= limits::MAX_BLOB_BYTES {
        return Ok(());
    }
    let what = wording!(
        "the field names of its entries, written out, are beyond what is expanded",
        "各条目的字段名展开后超出上限"
    );
    Err(Error::at(offset, ErrorKind::Limit(what)))
}

fn decode_node(master: (u64, u64), bytes: &[u8], offset: u64, names: &mut u64, entries: &mut Vec<Entry>) -> Result<()> {
    let mut node = Node { elements: listpack::Elements::uncounted(bytes, offset)?, offset };
    node.number()?;
    node.number()?;
    let count = node.number()?;
    let fields = (0..count).map(|_| node.text().map(Arc::from)).collect::<Result<Vec<Arc<[u8]>>>>()?;
    node.number()?;
    while let Some(flags) = node.next()? {
        let PackedElement::Int(flags) = flags else {
            return Err(Error::corrupt(
                offset,
                wording!("a text where a stream node has flags", "stream 节点中应为标志处是文本"),
            ));
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
            admit(&pairs, offset, names)?;
            entries.push(Entry { id, fields: pairs });
        }
    }
    Ok(())
}

impl Visit for StreamDecoder {
    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {
        let decoded = blob
            .to_bytes()
            .and_then(|bytes| decode_node(id(master), &bytes, blob.offset, &mut self.names, &mut self.stream.entries))
            .within(Reading::StreamNode);
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
        self.stream.groups.push(Group {
            name,
            last_id,
            entries_read,
            pending: Vec::new(),
            consumers: Vec::new(),
            returned: Vec::new(),
        });
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

    fn nacked(&mut self, bytes: &[u8; 16]) {
        if let Some(group) = self.stream.groups.last_mut() {
            group.returned.push(id(bytes));
        }
    }

    fn producer(&mut self, name: RawString<'_>, _ids: u64) {
        let name = self.name(name);
        self.stream.producers.push(Producer { name, ids: Vec::new() });
    }

    fn idempotency(&mut self, own: RawString<'_>, entry: (u64, u64)) {
        let own = self.name(own);
        if let Some(producer) = self.stream.producers.last_mut() {
            producer.ids.push((own, entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PackedElement::{Int, Text};

    /// A listpack of numbers below 128 and of short texts.
    fn listpack(elements: &[PackedElement<'_>]) -> Vec<u8> {
        let mut body = Vec::new();
        for element in elements {
            match *element {
                Int(number) => body.extend([u8::try_from(number).unwrap(), 1]),
                Text(text) => {
                    body.push(0x80 | u8::try_from(text.len()).unwrap());
                    body.extend_from_slice(text);
                    body.push(u8::try_from(text.len() + 1).unwrap());
                }
            }
        }
        let total = u32::try_from(body.len() + 7).unwrap();
        let count = u16::try_from(elements.len()).unwrap();
        [&total.to_le_bytes()[..], &count.to_le_bytes(), &body, &[0xFF]].concat()
    }

    fn read(elements: &[PackedElement<'_>]) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        decode_node((100, 5), &listpack(elements), 0, &mut 0, &mut entries)?;
        Ok(entries)
    }

    #[test]
    fn entries_have_the_masters_fields_or_their_own_and_deleted_ones_are_left_out() {
        let master = [Int(2), Int(1), Int(1), Text(b"name"), Int(0)];
        let same = [Int(2), Int(0), Int(0), Text(b"Ann"), Int(4)];
        let deleted = [Int(3), Int(1), Int(0), Int(9), Int(4)];
        let own = [Int(0), Int(2), Int(1), Int(1), Text(b"city"), Int(7), Int(6)];
        assert_eq!(
            read(&[&master[..], &same, &deleted, &own].concat()).unwrap(),
            [
                Entry { id: (100, 5), fields: vec![(b"name"[..].into(), b"Ann".to_vec())] },
                Entry { id: (102, 6), fields: vec![(b"city"[..].into(), b"7".to_vec())] },
            ]
        );
    }

    #[test]
    fn lies_end_in_errors() {
        for numbers in [&[1][..], &[1, 0, 99, 1], &[1, 0, 0, 0, 0, 0, 0, 99, 1], &[1, 0, 0, 0, 2, 0]] {
            assert!(read(&numbers.iter().map(|&number| Int(number)).collect::<Vec<_>>()).is_err(), "{numbers:?}");
        }
        assert!(read(&[Int(1), Int(0), Int(0), Int(0), Text(b"x")]).is_err());
        assert!(read(&[Int(0), Int(0), Int(0), Int(0)]).unwrap().is_empty());
    }

    #[test]
    fn a_name_that_is_repeated_beyond_measure_is_refused() {
        let pairs = [(Arc::from(vec![0; 1 << 20]), Vec::new())];
        let mut names = 0;
        assert!((0..4096).all(|_| admit(&pairs, 0, &mut names).is_ok()));
        assert!(admit(&pairs, 0, &mut names).is_err());
    }
}
