//! Checks of the entries in a node of a stream.

use super::Counts;
use crate::error::{Error, Result};
use crate::rdb::packed::stream_node::{DELETED, SAME_FIELDS};
use crate::rdb::packed::{PackedElement, listpack};
use crate::wording::{Wording, wording};

/// Reader of a node that trusts none of its numbers: it counts the elements, places each fault and notes oddities, none of which
/// [`StreamNode`](crate::rdb::packed::stream_node::StreamNode) does.
pub(super) struct Node<'a> {
    pub elements: listpack::Elements<'a>,
    pub counts: Counts,
    /// True for oddities that servers load.
    pub odd: bool,
    /// Number of elements read.
    pub seen: u64,
    /// Id of the node.
    pub master: (u64, u64),
    /// Id of the last live entry so far.
    pub last: (u64, u64),
}

impl Node<'_> {
    /// Checks all entries, live and deleted, and returns the number of live ones.
    pub fn check(&mut self) -> Result<i64> {
        let live = self.number()?;
        if self.counts == Counts::All && (live <= 0 || self.odd) {
            return Err(self.wrong(wording!(
                "stream node has no number of live entries above 0",
                "stream 节点的有效消息数不是大于 0 的整数"
            )));
        }
        let deleted = self.number()?;
        let fields = self.number()?;
        self.skip(fields)?;
        if self.number()? != 0 {
            return Err(self.wrong(wording!(
                "field names of the stream node are not followed by 0",
                "stream 节点的字段名之后不是 0"
            )));
        }
        let mut left = live.wrapping_add(deleted);
        let mut marked = 0;
        while left != 0 {
            marked += i64::from(self.entry(fields)?);
            left = left.wrapping_sub(1);
        }
        if self.counts != Counts::Entries && marked != deleted {
            return Err(self.wrong(wording!(
                "stream node has {marked} entries marked as deleted, but declares {deleted}",
                "stream 节点有 {marked} 条消息标记为已删除，却声明有 {deleted} 条"
            )));
        }
        match self.elements.next() {
            None => Ok(live),
            Some(Err(error)) => Err(error),
            Some(Ok(_)) => Err(self.wrong(wording!(
                "stream node has more entries than the {live} live and {deleted} deleted ones that it declares",
                "stream 节点的消息多于其声明的 {live} 条有效消息和 {deleted} 条已删除消息"
            ))),
        }
    }

    /// Checks an entry: flags, id, fields if they are its own, values, number of its elements. Returns whether it is deleted.
    fn entry(&mut self, fields: i64) -> Result<bool> {
        let flags = self.number()?;
        let (time, sequence) = (self.number()?, self.number()?);
        let deleted = flags & DELETED != 0;
        if !deleted {
            self.follow(time, sequence);
        }
        let (values, elements) = if flags & SAME_FIELDS != 0 {
            (fields, fields.wrapping_add(3))
        } else {
            let own = self.number()?;
            self.skip(own)?;
            (own, own.wrapping_mul(2).wrapping_add(4))
        };
        self.skip(values)?;
        let told = self.number()?;
        if told == elements {
            return Ok(deleted);
        }
        Err(self.wrong(wording!(
            "stream entry of {elements} elements declares {told}",
            "stream 消息有 {elements} 个元素，却声明有 {told} 个"
        )))
    }

    /// Notes a live entry that is not behind the one before it. Deleted ones may be: `XSETID` lowers the id of the next entry to
    /// that of the last live one.
    fn follow(&mut self, time: i64, sequence: i64) {
        let id = (self.master.0.wrapping_add_signed(time), self.master.1.wrapping_add_signed(sequence));
        self.odd |= id <= self.last;
        self.last = id;
    }

    fn next(&mut self) -> Result<PackedElement<'_>> {
        self.seen += 1;
        match self.elements.next() {
            Some(element) => element,
            None => Err(self.wrong(wording!("stream node ends inside an entry", "stream 节点在消息中间结束"))),
        }
    }

    /// Reads over as many elements as a count in the node says.
    fn skip(&mut self, elements: i64) -> Result<()> {
        if elements < 0 {
            return Err(self.wrong(wording!("stream node has {elements} fields", "stream 节点的字段数为 {elements}")));
        }
        for _ in 0..elements {
            self.next()?;
        }
        Ok(())
    }

    /// Reads a number, which servers accept as text, too.
    fn number(&mut self) -> Result<i64> {
        let at = self.elements.position();
        let element = self.next()?;
        let (is_text, number) = (matches!(element, PackedElement::Text(_)), element.number());
        self.odd |= is_text;
        number.ok_or_else(|| {
            Error::corrupt(
                at,
                wording!("stream node has a text where a number belongs", "stream 节点中应为数字的位置是文本"),
            )
        })
    }

    fn wrong(&self, what: Wording) -> Error {
        Error::corrupt(self.elements.position(), what)
    }
}
