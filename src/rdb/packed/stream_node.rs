//! Nodes of streams: listpacks of entries whose ids are relative to the id of their node (`t_stream.c` of the servers).
//!
//! ```text
//! node     live, deleted, n, field[n], 0, entry[live + deleted]
//! entry    flags, ms, seq, value[n], elements of this entry                  with the fields of the node (flag 2)
//!          flags, ms, seq, m, (field, value)[m], elements of this entry      with its own fields
//! ```
//!
//! Deleted entries (flag 1) stay in a node until it is rewritten; no command reads them.

use super::{PackedElement, listpack};
use crate::error::{Error, Result};
use crate::wording::wording;

/// Flag of a deleted entry.
pub const DELETED: i64 = 1;
/// Flag of an entry with the fields of its node.
pub const SAME_FIELDS: i64 = 2;

/// Reader of a node. The caller reads the fields and values between its parts, in the order of the layout.
#[derive(Debug)]
pub struct StreamNode<'a> {
    elements: listpack::Elements<'a>,
    offset: u64,
}

/// Start of an entry, up to its fields.
#[derive(Debug, Clone, Copy)]
pub struct EntryStart {
    flags: i64,
    ms: i64,
    seq: i64,
}

impl EntryStart {
    /// Returns whether the entry is deleted.
    #[inline]
    pub fn is_deleted(self) -> bool {
        self.flags & DELETED != 0
    }

    /// Returns whether only values follow, of the fields of the node.
    #[inline]
    pub fn has_same_fields(self) -> bool {
        self.flags & SAME_FIELDS != 0
    }

    /// Returns the id of the entry in a node with this id.
    #[inline]
    pub fn id(self, (ms, seq): (u64, u64)) -> (u64, u64) {
        (ms.wrapping_add_signed(self.ms), seq.wrapping_add_signed(self.seq))
    }
}

impl<'a> StreamNode<'a> {
    /// Starts to read a node at this offset. Returns the number of its fields, too, which come next.
    pub fn new(bytes: &'a [u8], offset: u64) -> Result<(StreamNode<'a>, i64)> {
        let mut node = StreamNode { elements: listpack::Elements::uncounted(bytes, offset)?, offset };
        let (_live, _deleted) = (node.number()?, node.number()?);
        let fields = node.number()?;
        Ok((node, fields))
    }

    /// Reads the start of the next entry, or returns `None` behind the last.
    #[inline]
    pub fn entry(&mut self) -> Result<Option<EntryStart>> {
        let Some(flags) = self.elements.next().transpose()? else { return Ok(None) };
        let flags = flags.number().ok_or_else(|| self.not_a_number())?;
        Ok(Some(EntryStart { flags, ms: self.number()?, seq: self.number()? }))
    }

    /// Reads the number behind the fields of the node, which is 0, or of an entry, which counts its elements.
    #[inline]
    pub fn end_fields(&mut self) -> Result<()> {
        self.number().map(drop)
    }

    /// Reads a number.
    #[inline]
    pub fn number(&mut self) -> Result<i64> {
        self.element()?.number().ok_or_else(|| self.not_a_number())
    }

    /// Reads a field or value.
    #[inline]
    pub fn element(&mut self) -> Result<PackedElement<'a>> {
        self.elements.next().transpose()?.ok_or_else(|| self.cut_short())
    }

    /// Reads the length of a field or value only.
    #[inline]
    pub fn element_len(&mut self) -> Result<u64> {
        self.elements.next_len()?.ok_or_else(|| self.cut_short())
    }

    #[cold]
    fn cut_short(&self) -> Error {
        Error::corrupt(self.offset, wording!("stream node ends inside an entry", "stream 节点在消息中间结束"))
    }

    #[cold]
    fn not_a_number(&self) -> Error {
        let what = wording!("stream node has a text where a number belongs", "stream 节点中应为数字的位置是文本");
        Error::corrupt(self.offset, what)
    }
}

/// Returns milliseconds and sequence number of an id, which is stored with its highest byte first.
pub fn stream_id(id: &[u8; 16]) -> (u64, u64) {
    let half = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes));
    (half(id.first_chunk()), half(id.last_chunk()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A listpack of numbers below 128.
    fn node(numbers: &[u8]) -> Vec<u8> {
        let total = u32::try_from(2 * numbers.len() + 7).unwrap().to_le_bytes();
        let count = u16::try_from(numbers.len()).unwrap().to_le_bytes();
        let body = numbers.iter().flat_map(|&number| [number, 1]);
        [&total[..], &count, &body.collect::<Vec<u8>>(), &[0xFF]].concat()
    }

    #[test]
    fn parts_are_read_in_the_order_of_the_layout() {
        // A live entry with the field of the node, and a deleted one with a field of its own.
        let bytes = node(&[1, 1, 1, 50, 0, 2, 3, 4, 60, 4, 1, 5, 0, 1, 70, 80, 6]);
        let (mut node, fields) = StreamNode::new(&bytes, 0).unwrap();
        assert_eq!((fields, node.element().unwrap()), (1, PackedElement::Int(50)));
        node.end_fields().unwrap();
        let shared = node.entry().unwrap().unwrap();
        assert_eq!((shared.has_same_fields(), shared.is_deleted(), shared.id((10, 20))), (true, false, (13, 24)));
        assert_eq!(node.element_len().unwrap(), 2);
        node.end_fields().unwrap();
        let own = node.entry().unwrap().unwrap();
        assert_eq!((own.has_same_fields(), own.is_deleted(), own.id((10, 20))), (false, true, (15, 20)));
        assert_eq!(node.number().unwrap(), 1);
        let pair = [node.element().unwrap(), node.element().unwrap()];
        assert_eq!(pair, [PackedElement::Int(70), PackedElement::Int(80)]);
        node.end_fields().unwrap();
        assert!(node.entry().unwrap().is_none());
    }

    #[test]
    fn a_node_that_ends_inside_an_entry_is_corrupt() {
        let bytes = node(&[1, 0, 0, 0, 2, 0]);
        let (mut node, _) = StreamNode::new(&bytes, 7).unwrap();
        node.end_fields().unwrap();
        let error = node.entry().unwrap_err();
        assert!(error.to_string().contains("byte 0x7: stream node ends inside an entry"), "{error}");
        assert!(StreamNode::new(&node_of_texts(), 7).unwrap_err().to_string().contains("a text where a number"));
    }

    fn node_of_texts() -> Vec<u8> {
        b"\x0a\0\0\0\x01\0\x81x\x02\xff".to_vec()
    }

    #[test]
    fn halves_of_an_id_are_stored_with_the_highest_byte_first() {
        assert_eq!(stream_id(&[0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3]), (0x102, 3));
    }
}
