//! Prices streams: listpacks in a radix tree, groups with pending entries and consumers (`t_stream.c`).

use std::num::NonZeroU64;

use super::PricedValue;
use crate::error::Result;
use crate::memory::Model;
use crate::memory::StreamFacts;
use crate::memory::alloc::Allocator;
use crate::memory::layout::NamesCount;
use crate::memory::price::{FrameSize, Key};
use crate::memory::rax::RaxTree;
use crate::memory::slack::gap;
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::walk::StreamHead;

/// Number of leading bytes by which names of groups and consumers are compared.
const NAME_BYTES: usize = 64 << 10;

/// Sizes of a linked list (`adlist.h`) and of its nodes.
const LIST: u64 = 48;
const LIST_NODE: u64 = 24;
/// Size of a producer, and of an idempotency id without its text.
const PRODUCER: u64 = 40;
const IDEMPOTENCY_ID: u64 = 32;

/// Meter for streams.
#[derive(Debug)]
pub struct StreamMeter {
    length: u64,
    facts: StreamFacts,
    listpacks: u64,
    /// Sum of the counted sizes of groups and consumers.
    groups: u64,
    /// Allocated bytes of listpacks, groups and consumers.
    given: u64,
    entries: RaxTree,
    group_names: RaxTree,
    consumer_names: RaxTree,
    /// Pending ids of the current group or consumer.
    pending: RaxTree,
    in_consumer: bool,
    in_group: bool,
    /// Number of pending entries of the current group.
    group_pending: u64,
    /// Pending ids of all groups, if counted.
    all_pending: Vec<[u8; 16]>,
    /// Pending entries of a group by time, if counted.
    by_time: Vec<[u8; 24]>,
    /// Names of producers.
    producers: RaxTree,
    /// Allocated bytes of producers and their ids.
    producer_bytes: u64,
}

impl StreamMeter {
    /// Creates a meter for streams.
    pub fn new(allocator: Allocator) -> StreamMeter {
        StreamMeter {
            length: 0,
            facts: StreamFacts::default(),
            listpacks: 0,
            groups: 0,
            given: 0,
            entries: RaxTree::new(allocator),
            group_names: RaxTree::new(allocator),
            consumer_names: RaxTree::new(allocator),
            pending: RaxTree::new(allocator),
            in_consumer: false,
            in_group: false,
            group_pending: 0,
            all_pending: Vec::new(),
            by_time: Vec::new(),
            producers: RaxTree::new(allocator),
            producer_bytes: 0,
        }
    }

    /// Returns a radix tree that other meters may use between two streams.
    pub fn tree(&mut self) -> &mut RaxTree {
        &mut self.entries
    }

    /// Resets the meter for the next stream.
    pub fn begin(&mut self) {
        self.length = 0;
        self.facts = StreamFacts::default();
        self.listpacks = 0;
        self.groups = 0;
        self.given = 0;
        self.in_consumer = false;
        self.in_group = false;
        self.all_pending.clear();
        self.by_time.clear();
        self.entries.clear(true);
        self.group_names.clear(true);
        self.producers.clear(true);
        self.producer_bytes = 0;
    }

    /// Adds a listpack of entries.
    pub fn node(&mut self, model: &Model, master: &[u8; 16], blob: RawString<'_>) {
        self.entries.insert(master);
        if self.facts.first_entry.is_none() {
            let [a, b, c, d, e, f, g, h, ..] = *master;
            self.facts.first_entry = NonZeroU64::new(u64::from_be_bytes([a, b, c, d, e, f, g, h]));
        }
        self.listpacks = self.listpacks.saturating_add(model.counted(blob.len(), model.layout.stream.listpack));
        self.give(model.usable(blob.len()));
    }

    fn give(&mut self, bytes: u64) {
        self.given = self.given.saturating_add(bytes);
    }

    /// Records the counters.
    pub fn head(&mut self, head: StreamHead) {
        self.length = head.length;
        if let Some((first, _)) = head.first_id {
            self.facts.first_entry = NonZeroU64::new(first);
        }
        if head.length == 0 {
            self.facts.first_entry = None;
        }
        self.facts.last_entry = NonZeroU64::new(head.last_id.0);
    }

    /// Starts a group.
    pub fn group(&mut self, model: &Model, name: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        self.end_group(model);
        self.in_group = true;
        self.facts.groups += 1;
        self.group_pending = 0;
        self.pending.clear(true);
        self.consumer_names.clear(true);
        self.group_names.insert(first_bytes(name, scratch)?);
        self.give(model.usable(model.layout.stream.group));
        Ok(())
    }

    /// Adds a pending entry of the group.
    pub fn pending(&mut self, model: &Model, id: &[u8; 16], delivered_at: i64) {
        self.facts.pending += 1;
        self.group_pending += 1;
        self.facts.most_pending = self.facts.most_pending.max(self.group_pending);
        self.facts.oldest_delivery = earlier(self.facts.oldest_delivery, delivered_at);
        self.pending.insert(id);
        let stream = &model.layout.stream;
        self.give(model.usable(stream.pending));
        if stream.pending_lists {
            self.all_pending.push(*id);
        }
        if let NamesCount::Trees { by_time } = stream.names {
            if !stream.pending_lists {
                self.all_pending.push(*id);
            }
            if by_time {
                let mut timed = [0; 24];
                timed[..8].copy_from_slice(&delivered_at.to_be_bytes());
                timed[8..].copy_from_slice(id);
                self.by_time.push(timed);
            }
        }
    }

    /// Starts a consumer of the group; `idle_since` is when it was last seen, if it has pending entries.
    pub fn consumer(
        &mut self,
        model: &Model,
        name: RawString<'_>,
        idle_since: Option<i64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.end_pending(model);
        if let Some(seen_at) = idle_since {
            self.facts.idle_since = earlier(self.facts.idle_since, seen_at);
        }
        self.in_consumer = true;
        self.pending.clear(true);
        let stream = &model.layout.stream;
        self.consumer_names.insert(first_bytes(name, scratch)?);
        let own = match stream.names {
            NamesCount::Length => stream.consumer + name.len(),
            NamesCount::Trees { .. } => model.usable(stream.consumer) + model.sds(name.len()),
        };
        self.give(model.usable(stream.consumer) + model.usable(model.sds_size(name.len())));
        self.groups = self.groups.saturating_add(own);
        Ok(())
    }

    /// Adds a pending entry of the consumer.
    pub fn consumer_pending(&mut self, id: &[u8; 16]) {
        self.pending.insert(id);
    }

    /// Adds a producer.
    pub fn producer(&mut self, model: &Model, name: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        self.producers.insert(first_bytes(name, scratch)?);
        self.producer_bytes = self.producer_bytes.saturating_add(model.usable(PRODUCER));
        Ok(())
    }

    /// Adds an idempotency id of the producer.
    pub fn idempotency(&mut self, model: &Model, id: RawString<'_>) {
        let size = model.usable(IDEMPOTENCY_ID.saturating_add(id.len()));
        self.producer_bytes = self.producer_bytes.saturating_add(size);
    }

    /// Counts the pending entries of the finished group or consumer.
    fn end_pending(&mut self, model: &Model) {
        if !self.in_group {
            return;
        }
        let shape = self.pending.finish();
        self.give(model.real_tree(shape));
        let mut own = model.tree(shape);
        if !self.in_consumer {
            let stream = &model.layout.stream;
            let (group, entry) = match stream.names {
                NamesCount::Length => (stream.group, stream.pending),
                NamesCount::Trees { .. } => (model.usable(stream.group), model.usable(stream.pending)),
            };
            own = own.saturating_add(group).saturating_add(entry.saturating_mul(shape.keys));
        }
        self.groups = self.groups.saturating_add(own);
        self.in_consumer = false;
    }

    fn end_group(&mut self, model: &Model) {
        if !self.in_group {
            return;
        }
        self.end_pending(model);
        self.in_group = false;
        let names = self.consumer_names.finish();
        self.give(model.real_tree(names));
        if let NamesCount::Trees { by_time } = model.layout.stream.names {
            self.groups = self.groups.saturating_add(model.tree(names));
            if by_time {
                self.by_time.sort_unstable();
                self.pending.clear(false);
                self.by_time.drain(..).for_each(|key| self.pending.insert(&key));
                let shape = self.pending.finish();
                self.give(model.real_tree(shape));
                self.groups = self.groups.saturating_add(model.tree(shape));
            }
        }
    }

    /// Returns the priced stream and its facts.
    pub fn finish(&mut self, model: &Model, key: Key) -> (PricedValue, StreamFacts) {
        self.end_group(model);
        let stream = &model.layout.stream;
        let FrameSize { outside, object, slack } = model.frame(key);
        let entries = self.entries.finish();
        let trees = self.trees(model);
        let own = match stream.names {
            NamesCount::Length => stream.stream,
            NamesCount::Trees { .. } => model.usable(stream.stream) + trees,
        };
        self.give(model.usable(stream.real_stream) + model.real_tree(entries));
        let parts = [outside, object, own, model.tree(entries), self.listpacks, self.groups];
        let memory = parts.into_iter().fold(0, u64::saturating_add);
        let given = [outside, object, self.given].into_iter().fold(0, u64::saturating_add);
        let slack = slack.saturating_add(gap(given, memory));
        (PricedValue::new(stream.encoding, self.length, memory, slack), self.facts)
    }

    /// Returns the size of the trees of group names and of all pending ids.
    fn trees(&mut self, model: &Model) -> u64 {
        let mut sum = 0;
        if self.facts.groups > 0 {
            let names = self.group_names.finish();
            self.give(model.real_tree(names));
            sum += model.tree(names);
        }
        if !self.all_pending.is_empty() {
            self.all_pending.sort_unstable();
            self.pending.clear(true);
            let references = self.all_pending.len() as u64;
            self.all_pending.drain(..).for_each(|id| self.pending.insert(&id));
            let ids = self.pending.finish();
            self.give(model.real_tree(ids));
            if model.layout.stream.pending_lists {
                let lists = model.usable(LIST).saturating_mul(ids.keys);
                self.give(lists.saturating_add(model.usable(LIST_NODE).saturating_mul(references)));
            }
            sum += model.tree(ids);
        }
        if self.producer_bytes > 0 {
            let producers = self.producers.finish();
            let size = model.real_tree(producers).saturating_add(self.producer_bytes);
            self.give(size);
            sum = sum.saturating_add(size);
        }
        sum
    }
}

/// Returns the earlier of two times, ignoring times that are not after 1970.
fn earlier(one: Option<NonZeroU64>, other: i64) -> Option<NonZeroU64> {
    let Some(other) = u64::try_from(other).ok().and_then(NonZeroU64::new) else { return one };
    Some(one.map_or(other, |one| one.min(other)))
}

fn first_bytes<'a: 's, 's>(name: RawString<'a>, scratch: &'s mut Scratch) -> Result<&'s [u8]> {
    let bytes = name.prefix(NAME_BYTES, scratch)?;
    Ok(&bytes[..bytes.len().min(NAME_BYTES)])
}
