//! Streams, which the `rdb` crate passes over.

use std::sync::Arc;

use super::decode_budget::DecodeBudget;
use super::value::{Consumer, Entry, Group, Pending, Producer, Stream};
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::limits;
use crate::rdb::packed::PackedElement;
use crate::rdb::packed::stream_node::{StreamNode, stream_id};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::walk::{StreamHead, Visit};
use crate::units::Millis;
use crate::wording::wording;

/// Collects a stream.
#[derive(Debug)]
pub struct StreamDecoder<'r> {
    stream: Stream,
    budget: &'r mut DecodeBudget,
    /// Decompressed node.
    scratch: Scratch,
    /// Bytes of all field names once they are written out for each entry.
    names: u64,
    fault: Option<Error>,
}

impl<'r> StreamDecoder<'r> {
    /// Creates a visitor that decodes as far as the budget allows.
    pub fn new(budget: &'r mut DecodeBudget) -> Self {
        let scratch = Scratch::new(budget.most());
        StreamDecoder { stream: Stream::default(), budget, scratch, names: 0, fault: None }
    }

    /// The stream that was walked.
    pub fn finish(self) -> Result<Stream> {
        self.fault.map_or(Ok(self.stream), Err)
    }

    /// Takes memory for one more of a part, and returns whether there is enough.
    fn has_room<T>(&mut self) -> bool {
        if self.fault.is_none() {
            self.fault = self.budget.take_element::<T>().err();
        }
        self.fault.is_none()
    }

    fn name(&mut self, name: RawString<'_>) -> Vec<u8> {
        match self.budget.text(&name) {
            Ok(name) => name,
            Err(error) => {
                self.fault.get_or_insert(error);
                Vec::new()
            }
        }
    }
}

/// Entries of a stream, and what is left for more.
struct Entries<'e> {
    entries: &'e mut Vec<Entry>,
    budget: &'e mut DecodeBudget,
    /// Bytes of all field names once they are written out for each entry.
    names: &'e mut u64,
    /// Offset of the node.
    offset: u64,
}

impl Entries<'_> {
    fn decode_node(&mut self, node_id: (u64, u64), bytes: &[u8]) -> Result<()> {
        let (mut node, count) = StreamNode::new(bytes, self.offset)?;
        let fields = (0..count).map(|_| self.name(&node.element()?)).collect::<Result<Vec<Arc<[u8]>>>>()?;
        node.end_fields()?;
        while let Some(entry) = node.entry()? {
            let kept = !entry.is_deleted() && self.budget.element();
            let mut pairs = Vec::new();
            if entry.has_same_fields() {
                for field in &fields {
                    let value = node.element()?;
                    if kept {
                        pairs.push(self.pair(Arc::clone(field), &value)?);
                    }
                }
            } else {
                for _ in 0..node.number()? {
                    let (field, value) = (node.element()?, node.element()?);
                    if kept {
                        let field = self.name(&field)?;
                        pairs.push(self.pair(field, &value)?);
                    }
                }
            }
            node.end_fields()?;
            if kept {
                self.budget.take_element::<Entry>()?;
                self.entries.push(Entry { id: entry.id(node_id), fields: pairs });
            }
        }
        Ok(())
    }

    fn name(&mut self, name: &PackedElement<'_>) -> Result<Arc<[u8]>> {
        self.budget.take_element::<Arc<[u8]>>()?;
        self.budget.packed(name).map(Arc::from)
    }

    /// Few bytes may name a long field over and over. In memory the name is there once, but somebody will print it.
    fn pair(&mut self, field: Arc<[u8]>, value: &PackedElement<'_>) -> Result<(Arc<[u8]>, Vec<u8>)> {
        *self.names = self.names.saturating_add(field.len() as u64);
        if *self.names > limits::MAX_BLOB_BYTES {
            let what = wording!(
                "the field names of its entries, written out, are beyond what is expanded",
                "各消息的字段名展开后超出上限"
            );
            return Err(Error::at(self.offset, ErrorKind::Limit(what)));
        }
        self.budget.take_element::<(Arc<[u8]>, Vec<u8>)>()?;
        Ok((field, self.budget.packed(value)?))
    }
}

impl Visit for StreamDecoder<'_> {
    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {
        if self.fault.is_some() {
            return;
        }
        let mut to = Entries {
            entries: &mut self.stream.entries,
            budget: self.budget,
            names: &mut self.names,
            offset: blob.offset,
        };
        let decoded = blob
            .decode(&mut self.scratch)
            .and_then(|bytes| to.decode_node(stream_id(master), bytes))
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
        if !self.has_room::<Group>() {
            return;
        }
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
        if !self.has_room::<Pending>() {
            return;
        }
        if let Some(group) = self.stream.groups.last_mut() {
            group.pending.push(Pending { id: stream_id(bytes), delivered_at: Millis(delivered_at), deliveries });
        }
    }

    fn consumer(&mut self, name: RawString<'_>, seen_at: i64, active_at: Option<i64>, _pending: u64) {
        if !self.has_room::<Consumer>() {
            return;
        }
        let name = self.name(name);
        if let Some(group) = self.stream.groups.last_mut() {
            let active_at = active_at.filter(|&at| at >= 0).map(Millis);
            group.consumers.push(Consumer { name, seen_at: Millis(seen_at), active_at, pending: Vec::new() });
        }
    }

    fn consumer_pending(&mut self, bytes: &[u8; 16]) {
        if !self.has_room::<(u64, u64)>() {
            return;
        }
        if let Some(consumer) = self.stream.groups.last_mut().and_then(|group| group.consumers.last_mut()) {
            consumer.pending.push(stream_id(bytes));
        }
    }

    fn nacked(&mut self, bytes: &[u8; 16]) {
        if !self.has_room::<(u64, u64)>() {
            return;
        }
        if let Some(group) = self.stream.groups.last_mut() {
            group.returned.push(stream_id(bytes));
        }
    }

    fn producer(&mut self, name: RawString<'_>, _ids: u64) {
        if !self.has_room::<Producer>() {
            return;
        }
        let name = self.name(name);
        self.stream.producers.push(Producer { name, ids: Vec::new() });
    }

    fn idempotency(&mut self, own: RawString<'_>, entry: (u64, u64)) {
        if !self.has_room::<(Vec<u8>, (u64, u64))>() {
            return;
        }
        let own = self.name(own);
        if let Some(producer) = self.stream.producers.last_mut() {
            producer.ids.push((own, entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::decode_budget::Extent;
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
        let mut budget = DecodeBudget::new(Extent::default(), 0);
        Entries { entries: &mut entries, budget: &mut budget, names: &mut 0, offset: 0 }
            .decode_node((100, 5), &listpack(elements))?;
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
    fn numbers_may_be_texts() {
        let [two, zero, four] = [Text(b"2"), Text(b"0"), Text(b"4")];
        let node = [Text(b"1"), zero, Text(b"1"), Text(b"name"), zero, two, zero, Text(b"1"), Text(b"Ann"), four];
        let entry = Entry { id: (100, 6), fields: vec![(b"name"[..].into(), b"Ann".to_vec())] };
        assert_eq!(read(&node).unwrap(), [entry]);
        for flags in [&b"02"[..], b"+2", b" 2", b"x"] {
            assert!(read(&[&node[..5], &[Text(flags)], &node[6..]].concat()).is_err());
        }
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
        let name: Arc<[u8]> = Arc::from(vec![0; 1 << 20]);
        let mut budget = DecodeBudget::new(Extent::default(), 0);
        let mut to = Entries { entries: &mut Vec::new(), budget: &mut budget, names: &mut 0, offset: 0 };
        assert!((0..4096).all(|_| to.pair(Arc::clone(&name), &Int(1)).is_ok()));
        assert!(to.pair(name, &Int(1)).is_err());
    }

    #[test]
    fn entries_beyond_those_kept_are_counted_and_take_no_room() {
        let entry = [Int(0), Int(0), Int(0), Int(1), Text(b"city"), Int(7), Int(6)];
        let node = listpack(&[&[Int(3), Int(0), Int(0), Int(0)][..], &entry, &entry, &entry].concat());
        let mut entries = Vec::new();
        let mut budget = DecodeBudget::new(Extent { elements: 1, memory: 400 }, 0);
        let mut to = Entries { entries: &mut entries, budget: &mut budget, names: &mut 0, offset: 0 };
        to.decode_node((100, 5), &node).unwrap();
        assert_eq!((entries.len(), budget.elements()), (1, 3));
        let mut budget = DecodeBudget::new(Extent { elements: 3, memory: 400 }, 0);
        let mut to = Entries { entries: &mut Vec::new(), budget: &mut budget, names: &mut 0, offset: 0 };
        let error = to.decode_node((100, 5), &node).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OverBudget(_)), "{error}");
    }
}
