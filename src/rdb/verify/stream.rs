//! Checks of streams: entries inside nodes, and pending entries of groups against those of their consumers.

mod node;

use std::ops::RangeInclusive;
use std::sync::Arc;

use node::Node;

use super::name_hash::NameHasher;
use super::unique::Unique;
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::rdb::header::{Family, RdbHeader};
use crate::rdb::packed::listpack;
use crate::rdb::packed::stream_node::stream_id;
use crate::rdb::walk::StreamHead;
use crate::wording::{Wording, wording};

/// First layout of Redis whose readers compare the length of a stream with its entries; Valkey's do for all.
const COMPARED_SINCE: u8 = 5;
/// First version of files of Redis whose readers compare all counts of a stream with each other (Redis 8.10).
const STRICT_SINCE: u32 = 15;
/// Number of entries read by a group that does not know it.
const UNKNOWN_READ: i64 = -1;
/// Seconds for which ids of entries are kept, and how many of them.
const IDEMPOTENCY_SECONDS: RangeInclusive<u64> = 1..=86_400;
const IDEMPOTENCY_IDS: RangeInclusive<u64> = 1..=10_000;
/// Owner of a pending entry that no consumer has listed yet, and of one that was returned to the group.
const NO_OWNER: u32 = 0;
const RETURNED: u32 = u32::MAX;

/// State of the check of one stream.
#[derive(Debug)]
pub struct StreamCheck {
    family: Family,
    counts: Counts,
    /// True if the servers that load the file compare the length with the entries.
    compared: bool,
    /// Ids of the nodes.
    nodes: Vec<u128>,
    /// Id of the last live entry of the nodes so far.
    last: (u64, u64),
    /// Live entries, by the nodes' own counts.
    live: i64,
    /// Entries ever added.
    added: Option<i64>,
    groups: Unique,
    consumers: Unique,
    /// Ids pending in the group, sorted, with the number of the consumer that has them.
    pending: Vec<(u128, u32)>,
    consumer: u32,
    /// True if a node was too large to be decompressed, so that the entries are not counted.
    uncounted: bool,
    /// True for oddities that servers load: counts that differ from the entries, numbers stored as text.
    pub odd: bool,
    /// True if an element has a size that servers of different versions store differently.
    pub edge_element: bool,
}

impl StreamCheck {
    /// Creates the check of streams in files with this header.
    pub fn new(header: RdbHeader, hasher: &Arc<NameHasher>) -> StreamCheck {
        StreamCheck {
            family: header.family,
            counts: Counts::of(header),
            compared: false,
            nodes: Vec::new(),
            last: (0, 0),
            live: 0,
            added: None,
            groups: Unique::new(hasher),
            consumers: Unique::new(hasher),
            pending: Vec::new(),
            consumer: 0,
            uncounted: false,
            odd: false,
            edge_element: false,
        }
    }

    /// Starts with a new stream.
    pub fn begin(&mut self, layout: u8) {
        self.compared = self.family == Family::Valkey || self.counts == Counts::All || layout >= COMPARED_SINCE;
        self.nodes.clear();
        self.pending.clear();
        self.groups.clear();
        self.consumers.clear();
        (self.live, self.last, self.consumer, self.odd, self.uncounted) = (0, (0, 0), 0, false, false);
        self.edge_element = false;
    }

    /// Notes a node that is too large to be decompressed.
    pub fn large_node(&mut self, master: &[u8; 16]) {
        self.nodes.push(u128::from_be_bytes(*master));
        self.uncounted = true;
    }

    /// Checks a node.
    pub fn node(&mut self, master: &[u8; 16], bytes: &[u8], offset: u64) -> Result<()> {
        let id = u128::from_be_bytes(*master);
        // Servers sort nodes, but write them in order.
        self.odd |= self.nodes.last().is_some_and(|before| *before > id);
        self.nodes.push(id);
        let elements = match self.family {
            Family::Redis | Family::Dragonfly => listpack::Elements::uncounted(bytes, offset)?,
            Family::Valkey => listpack::Elements::new(bytes, offset)?,
        };
        let mut node =
            Node { elements, counts: self.counts, odd: false, seen: 0, master: stream_id(master), last: self.last };
        let live = node.check()?;
        self.edge_element |= node.elements.met_edge();
        let announced = listpack::count(bytes, bytes.len() as u64, offset).ok().flatten();
        self.odd |= node.odd || announced.is_some_and(|announced| announced != node.seen);
        self.last = node.last;
        self.live = self.live.wrapping_add(live);
        Ok(())
    }

    /// Checks the nodes against the length behind them.
    pub fn head(&mut self, head: StreamHead) -> Result<()> {
        self.nodes.sort_unstable();
        if self.nodes.windows(2).any(|two| two[0] == two[1]) {
            return Err(corrupt(wording!("two stream nodes have the same id", "两个 stream 节点的 id 相同")));
        }
        let length = head.length;
        // 2^64-1 and the like are negative to servers.
        self.added = head.entries_added.map(u64::cast_signed);
        if let Some(added) = self.added.filter(|&added| added < length.cast_signed()) {
            if self.compared && self.family == Family::Redis {
                return Err(corrupt(wording!(
                    "stream: length is {length}, but the count of entries ever added is {added}",
                    "stream：长度为 {length}，累计消息数却为 {added}"
                )));
            }
            self.odd = true;
        }
        if self.uncounted || i64::try_from(length) == Ok(self.live) && (length == 0 || !self.nodes.is_empty()) {
            return Ok(());
        }
        if self.compared || (length > 0 && self.nodes.is_empty()) {
            let live = self.live;
            return Err(corrupt(wording!(
                "stream: nodes hold {live} entries, but its length is {length}",
                "stream：节点中有 {live} 条消息，长度却为 {length}"
            )));
        }
        self.odd = true;
        Ok(())
    }

    /// Checks the previous group and starts with another; `None` stands for a name that is too large to be compared.
    pub fn group(&mut self, name: Option<&[u8]>, offset: u64) -> Result<()> {
        let done = self.finish_group();
        if let Some(name) = name {
            self.groups.add(name, offset);
        }
        done
    }

    /// Checks the number of entries that a group has read against those ever added.
    pub fn entries_read(&mut self, read: Option<u64>) -> Result<()> {
        let (Some(read), Some(added)) = (read.map(u64::cast_signed), self.added) else { return Ok(()) };
        if (UNKNOWN_READ..=added.max(UNKNOWN_READ)).contains(&read) {
            return Ok(());
        }
        if self.counts != Counts::All {
            self.odd = true;
            return Ok(());
        }
        Err(corrupt(wording!(
            "consumer group has read {read} entries, but {added} were ever added",
            "消费组已读 {read} 条消息，累计消息数却为 {added}"
        )))
    }

    /// Adds a pending entry of the group.
    pub fn pending(&mut self, id: &[u8; 16]) {
        self.pending.push((u128::from_be_bytes(*id), NO_OWNER));
    }

    /// Starts with a consumer of the group; `None` stands for a name that is too large to be compared.
    pub fn consumer(&mut self, name: Option<&[u8]>, offset: u64) -> Result<()> {
        let sorted = if self.consumer == 0 { self.sort_pending() } else { Ok(()) };
        if let Some(name) = name {
            self.consumers.add(name, offset);
        }
        self.consumer += 1;
        sorted
    }

    /// Looks up a pending entry of the consumer in the group.
    pub fn consumer_pending(&mut self, id: &[u8; 16]) -> Result<()> {
        let consumer = self.consumer;
        match self.find(id) {
            None => Err(corrupt(wording!(
                "entry is pending for a consumer, but not for its group",
                "消息在消费者中未确认，消费组中却没有"
            ))),
            Some(owner @ &mut NO_OWNER) => {
                *owner = consumer;
                Ok(())
            }
            Some(owner) if *owner == consumer => {
                Err(corrupt(wording!("entry is pending twice for a consumer", "消息在同一消费者中重复出现")))
            }
            Some(_) => Err(corrupt(wording!("entry is pending for two consumers", "消息同时属于两个消费者"))),
        }
        .within(Reading::ConsumerPendingEntry)
    }

    /// Looks up an entry that was returned to the group; servers load one that is listed twice.
    pub fn returned(&mut self, id: &[u8; 16]) -> Result<()> {
        if self.consumer == 0 {
            // Before the error of the sort: the entries are sorted once, or time would grow with the square of their number.
            self.consumer = 1;
            self.sort_pending()?;
        }
        match self.find(id) {
            Some(owner @ &mut (NO_OWNER | RETURNED)) => {
                *owner = RETURNED;
                Ok(())
            }
            _ => Err(corrupt(wording!(
                "returned entry is not pending for the group alone",
                "退回的消息不是仅属于消费组的未确认消息"
            ))),
        }
        .within(Reading::ReturnedEntryId)
    }

    /// Checks the last group and the names of all.
    pub fn finish(&mut self) -> Result<()> {
        self.finish_group()?;
        self.groups.finish().within(Reading::GroupName)
    }

    fn finish_group(&mut self) -> Result<()> {
        let sorted = if self.consumer == 0 { self.sort_pending() } else { Ok(()) };
        let all_owned = self.pending.iter().all(|&(_, owner)| owner != NO_OWNER);
        self.pending.clear();
        self.consumer = 0;
        self.consumers.finish().within(Reading::ConsumerName)?;
        sorted?;
        if all_owned {
            return Ok(());
        }
        Err(corrupt(wording!("pending entry has no consumer", "未确认消息不属于任何消费者")))
            .within(Reading::PendingEntryId)
    }

    fn sort_pending(&mut self) -> Result<()> {
        self.pending.sort_unstable();
        if self.pending.windows(2).all(|two| two[0].0 != two[1].0) {
            return Ok(());
        }
        Err(corrupt(wording!("entry is pending twice for a group", "消息在同一消费组中重复出现")))
            .within(Reading::PendingEntryId)
    }

    fn find(&mut self, id: &[u8; 16]) -> Option<&mut u32> {
        let id = u128::from_be_bytes(*id);
        let at = self.pending.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        self.pending.get_mut(at).map(|(_, owner)| owner)
    }
}

/// Checks the limits of the idempotency ids that a stream keeps.
pub fn check_idempotency(duration: u64, ids: u64) -> Result<()> {
    let check = |number: u64, range: RangeInclusive<u64>| {
        if range.contains(&number) { Ok(()) } else { Err(out_of_range(number)) }
    };
    check(duration, IDEMPOTENCY_SECONDS).within(Reading::IdempotencyDuration)?;
    check(ids, IDEMPOTENCY_IDS).within(Reading::IdempotencyLimit)
}

fn out_of_range(number: u64) -> Error {
    corrupt(wording!("{number} is outside the range that servers load", "{number} 超出服务器可加载的范围"))
}

fn corrupt(what: Wording) -> Error {
    Error::new(ErrorKind::Corrupt(what))
}

/// Counts in a stream that servers compare with what they count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// The number of entries of a node.
    Entries,
    /// The number of entries, and of those that are marked as deleted.
    Deleted,
    /// Also the number of entries that groups have read. No node is without live entries, and their number is not stored as text.
    All,
}

impl Counts {
    fn of(header: RdbHeader) -> Counts {
        match header.family {
            Family::Redis if header.version >= STRICT_SINCE => Counts::All,
            Family::Valkey => Counts::Deleted,
            Family::Redis | Family::Dragonfly => Counts::Entries,
        }
    }
}
