//! Prices lists: stored nodes, or elements pushed one by one (`quicklist.c`).

use std::collections::VecDeque;

use super::PricedValue;
use crate::error::Result;
use crate::memory::Encoding;
use crate::memory::Model;
use crate::memory::compress::{Compressor, Listpack};
use crate::memory::item::{Blob, LISTPACK_FRAME, PackedItem, ZIPLIST_FRAME};
use crate::memory::layout::{AverageOver, ListForm, PackedForm, PlainNodes};
use crate::memory::price::{FrameSize, Key};
use crate::memory::slack::gap;
use crate::rdb::packed::{PackedElement, ziplist};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::{RawString, StringForm};
use crate::rdb::walk::ListNode;

/// Maximum node size if the limit is a number of elements.
const SIZE_SAFETY_LIMIT: u64 = 8192;
/// Overhead per element that the servers assume when checking whether it fits a listpack.
const LISTPACK_OVERHEAD: u64 = 8;
/// Minimum size of a compressed node; nodes that would shrink by at most [`MIN_SAVED`] bytes stay uncompressed, too.
const MIN_COMPRESSED: u64 = 48;
const MIN_SAVED: u64 = 8;

/// Limit of a node: bytes or elements.
#[derive(Debug, Clone, Copy)]
enum Limit {
    Bytes(u64),
    Elements(u64),
}

impl Limit {
    fn of(setting: i64) -> Limit {
        match setting {
            -1 => Limit::Bytes(4096),
            -2 => Limit::Bytes(8192),
            -3 => Limit::Bytes(16_384),
            -4 => Limit::Bytes(32_768),
            ..=-5 => Limit::Bytes(65_536),
            0 => Limit::Elements(1),
            count => Limit::Elements(count.unsigned_abs()),
        }
    }

    /// Returns whether a node of this size is within the limit.
    fn allows(self, bytes: u64, elements: u64) -> bool {
        match self {
            Limit::Bytes(most) => bytes <= most,
            Limit::Elements(most) => bytes <= SIZE_SAFETY_LIMIT && elements <= most,
        }
    }

    /// Returns the most bytes and elements of a node that is the only one and stays a listpack; only one of the two limits applies
    /// here.
    fn whole(self) -> (u64, u64) {
        match self {
            Limit::Bytes(most) => (most, u64::MAX),
            Limit::Elements(most) => (u64::MAX, most),
        }
    }

    /// Returns whether an element is too large for a shared node.
    fn refuses(self, element: u64) -> bool {
        match self {
            Limit::Bytes(most) => element > most,
            Limit::Elements(_) => element > SIZE_SAFETY_LIMIT,
        }
    }
}

/// Node that elements are pushed to.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    blob: Blob,
    elements: u64,
}

/// Meter for lists.
#[derive(Debug, Default)]
pub struct ListMeter {
    elements: u64,
    nodes: u64,
    plain_nodes: u64,
    /// Sum of the counted sizes of the nodes' contents.
    contents: u64,
    /// Size of the last closed node.
    last: u64,
    open: Option<Open>,
    /// Savings by compression of the last nodes, counted and allocated. Nodes near the end stay uncompressed, and these may
    /// turn out to be the last.
    tail: VecDeque<(u64, i64)>,
    /// Sum of the allocated bytes of the nodes' contents beyond those counted.
    slack: i64,
    saved: u64,
    longest: u64,
    texts: u64,
    ziplist: u64,
    /// True if the value was stored as one ziplist, which stays a quicklist.
    was_ziplist: bool,
    work: Work,
}

/// Buffers for compressing nodes, reused between lists; empty unless the server compresses nodes.
#[derive(Debug, Default)]
struct Work {
    compressor: Compressor,
    /// The open node, or the listpack converted from a ziplist.
    listpack: Listpack,
}

impl ListMeter {
    /// Resets the meter for the next list.
    pub fn begin(&mut self) {
        let mut tail = std::mem::take(&mut self.tail);
        tail.clear();
        let mut work = std::mem::take(&mut self.work);
        work.listpack.clear();
        *self = ListMeter { tail, work, ..ListMeter::default() };
    }

    /// Pushes an element.
    #[inline]
    pub fn element(&mut self, model: &Model, element: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let item = PackedItem::of(element, scratch)?;
        let text = if compresses(model) { element.decode(scratch)? } else { &[] };
        self.push(model, item, text);
        Ok(())
    }

    /// Pushes an element; `text` is used only if nodes are compressed.
    fn push(&mut self, model: &Model, item: PackedItem, text: &[u8]) {
        self.elements += 1;
        let len = item.len();
        if model.layout.list.form == ListForm::Linked {
            self.longest = self.longest.max(len);
            self.texts += linked_element(model, len);
            let open = self.open.get_or_insert_default();
            open.blob.push_ziplist(item);
            return;
        }
        let limit = Limit::of(model.config.list_size);
        let plain = match model.layout.list.plain {
            PlainNodes::Never => false,
            PlainNodes::From(least) => len >= least,
            PlainNodes::BeyondLimit => limit.refuses(len),
        };
        if plain {
            self.close(model);
            self.plain_nodes += 1;
            let compressed = self.compressed(model, text);
            self.node_of(model, len, compressed);
            return;
        }
        let full = self.open.is_some_and(|open| !fits(model, open, limit, len));
        if full {
            self.close(model);
        }
        let open = self.open.get_or_insert_default();
        open.elements += 1;
        match model.layout.packed {
            PackedForm::Ziplist => open.blob.push_ziplist(item),
            PackedForm::Listpack => {
                open.blob.push_listpack(item);
                if compresses(model) {
                    self.work.listpack.push(item, text);
                }
            }
        }
    }

    fn close(&mut self, model: &Model) {
        if let Some(open) = self.open.take() {
            let compressed = match model.layout.packed {
                PackedForm::Listpack => self.listpack_compressed(model),
                PackedForm::Ziplist => None,
            };
            self.node_of(model, open_size(model, open), compressed);
        }
    }

    /// Returns the compressed size of the next node, or `None` if it stays uncompressed.
    fn compressed(&mut self, model: &Model, bytes: &[u8]) -> Option<u64> {
        let inner = compresses(model) && self.nodes >= model.config.list_depth;
        if inner { self.work.compressor.compressed(bytes) } else { None }
    }

    /// Like [`Self::compressed`], for the listpack written so far, which is closed.
    fn listpack_compressed(&mut self, model: &Model) -> Option<u64> {
        let mut listpack = std::mem::take(&mut self.work.listpack);
        let compressed = self.compressed(model, listpack.finish());
        listpack.clear();
        self.work.listpack = listpack;
        compressed
    }

    /// Adds a stored node, converting a ziplist to a listpack if the server does.
    pub fn node(&mut self, model: &Model, node: ListNode, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let stored = match blob.form {
            StringForm::Lzf { block, .. } => Some(block.len() as u64),
            StringForm::Plain(bytes) => self.compressed(model, bytes),
            StringForm::Int(_) => None,
        };
        if node == ListNode::Plain {
            self.elements += 1;
            self.plain_nodes += 1;
            self.node_of(model, blob.len(), stored);
            return Ok(());
        }
        let (elements, size, compressed) = match node {
            ListNode::Ziplist if model.layout.packed == PackedForm::Listpack => {
                self.work.listpack.clear();
                let written = compresses(model).then_some(&mut self.work.listpack);
                let (elements, size) = ziplist_as_listpack(blob, scratch, written)?;
                (elements, size, self.listpack_compressed(model))
            }
            ListNode::Ziplist => (super::ziplist_count(blob, scratch)?, blob.len(), stored),
            ListNode::Listpack | ListNode::Plain => (super::listpack_count(blob, scratch)?, blob.len(), stored),
        };
        if elements > 0 {
            self.elements += elements;
            self.node_of(model, size, compressed);
        }
        Ok(())
    }

    fn node_of(&mut self, model: &Model, size: u64, compressed: Option<u64>) {
        self.nodes += 1;
        self.last = size;
        let content = model.counted(size, model.layout.list.entry);
        self.contents = self.contents.saturating_add(content);
        let slack = model.slack(size, model.layout.list.entry);
        self.slack = self.slack.wrapping_add(slack);
        let depth = model.config.list_depth;
        if depth == 0 {
            return;
        }
        let saving = compressed.filter(|c| size >= MIN_COMPRESSED && c + MIN_SAVED < size).map_or((0, 0), |c| {
            let size = c + model.layout.list.lzf_header;
            let entry = model.layout.list.entry;
            (content.saturating_sub(model.counted(size, entry)), slack.wrapping_sub(model.slack(size, entry)))
        });
        // The first and last `depth` nodes stay uncompressed: count a node's savings only once `depth` more have followed.
        if self.nodes <= depth {
            return;
        }
        self.tail.push_back(saving);
        if self.tail.len() as u64 > depth {
            let (saved, slack) = self.tail.pop_front().unwrap_or_default();
            self.saved = self.saved.saturating_add(saved);
            self.slack = self.slack.wrapping_sub(slack);
        }
    }

    /// Handles a list stored as one ziplist.
    pub fn ziplist(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        self.was_ziplist = true;
        self.ziplist = blob.len();
        let offset = blob.offset;
        let bytes = blob.decode(scratch)?;
        for entry in ziplist::Entries::new(bytes, offset)? {
            let entry = entry?;
            let (item, mut digits) = (PackedItem::of_packed(entry), Vec::new());
            let text = match entry {
                PackedElement::Text(text) => text,
                PackedElement::Int(_) => {
                    if compresses(model) {
                        digits = entry.to_bytes();
                    }
                    &digits
                }
            };
            self.push(model, item, text);
        }
        Ok(())
    }

    /// Returns the priced list.
    pub fn finish(&mut self, model: &Model, key: Key) -> PricedValue {
        if model.layout.list.form == ListForm::Linked {
            return self.linked(model, key);
        }
        self.close(model);
        let list = &model.layout.list;
        let FrameSize { outside, object, slack } = model.frame(key);
        if self.is_one_listpack(model) {
            let memory = outside + object + model.packed(self.last);
            return PricedValue::new(Encoding::Listpack, self.elements, memory, slack + model.packed_slack(self.last));
        }
        let base = object + model.counted(list.list, list.structs);
        let node = model.counted(list.node, list.structs);
        let sum = self.contents.saturating_sub(self.saved).saturating_add(node.saturating_mul(self.nodes));
        let divisor = match list.average_over {
            AverageOver::Nodes => self.nodes,
            AverageOver::Elements => self.elements,
        };
        let structs = gap(model.usable(list.list), model.counted(list.list, list.structs))
            .saturating_add(gap(model.usable(list.node), node).saturating_mul(self.nodes.cast_signed()));
        let slack = slack.saturating_add(structs).saturating_add(self.slack);
        PricedValue::new(Encoding::Quicklist, self.elements, outside + model.average(base, sum, divisor), slack)
    }

    fn is_one_listpack(&self, model: &Model) -> bool {
        let (most_bytes, most_elements) = most_of_listpack(model.config.list_size);
        model.layout.list.form == ListForm::ListpackOrQuicklist
            && self.nodes == 1
            && self.plain_nodes == 0
            && !self.was_ziplist
            && self.last <= most_bytes
            && self.elements <= most_elements
    }

    fn linked(&mut self, model: &Model, key: Key) -> PricedValue {
        let config = &model.config;
        let FrameSize { outside, object, slack } = model.frame(key);
        let frame = outside + object;
        // A list stored as a ziplist is checked against the element limit only.
        let too_long = !self.was_ziplist && self.longest > config.list_value;
        if self.elements > config.list_entries || too_long {
            return PricedValue::new(Encoding::Linkedlist, self.elements, frame.saturating_add(48 + self.texts), slack);
        }
        let size = match self.open {
            Some(open) if !self.was_ziplist => ZIPLIST_FRAME + open.blob.body(),
            _ => self.ziplist,
        };
        PricedValue::new(Encoding::Ziplist, self.elements, frame.saturating_add(size), slack)
    }
}

/// Returns the most bytes and elements of a list that is one listpack.
pub(super) fn most_of_listpack(list_size: i64) -> (u64, u64) {
    Limit::of(list_size).whole()
}

/// Returns whether an element of `len` bytes fits the open node.
fn fits(model: &Model, open: Open, limit: Limit, len: u64) -> bool {
    let size = open_size(model, open);
    let overhead = match model.layout.packed {
        PackedForm::Listpack => LISTPACK_OVERHEAD,
        PackedForm::Ziplist => {
            let previous = if len < 254 { 1 } else { 5 };
            previous
                + match len {
                    0..64 => 1,
                    64..16_384 => 2,
                    _ => 5,
                }
        }
    };
    limit.allows(size.saturating_add(len).saturating_add(overhead), open.elements + 1)
}

fn open_size(model: &Model, open: Open) -> u64 {
    match model.layout.packed {
        PackedForm::Ziplist => ZIPLIST_FRAME.saturating_add(open.blob.body()),
        PackedForm::Listpack => LISTPACK_FRAME.saturating_add(open.blob.body()),
    }
}

/// Returns the size of a linked list node with its object and string.
fn linked_element(model: &Model, len: u64) -> u64 {
    24 + 16 + model.sds(len)
}

/// Returns whether the server compresses inner nodes.
fn compresses(model: &Model) -> bool {
    model.config.list_depth > 0
}

/// Returns element count and size of a ziplist converted to a listpack, which is also written out if requested.
fn ziplist_as_listpack(
    blob: RawString<'_>,
    scratch: &mut Scratch,
    mut written: Option<&mut Listpack>,
) -> Result<(u64, u64)> {
    let offset = blob.offset;
    let bytes = blob.decode(scratch)?;
    let mut listpack = Blob::default();
    let mut elements = 0;
    for entry in ziplist::Entries::new(bytes, offset)? {
        let entry = entry?;
        let item = PackedItem::of_packed(entry);
        listpack.push_listpack(item);
        if let Some(written) = &mut written {
            written.push(item, if let PackedElement::Text(text) = entry { text } else { &[] });
        }
        elements += 1;
    }
    Ok((elements, LISTPACK_FRAME.saturating_add(listpack.body())))
}
