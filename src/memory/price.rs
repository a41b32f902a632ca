//! Memory formulas of the parts of a value, after `objectComputeSize` in `object.c`.

use super::growth::{Growth, TableKind, occupied};
use super::layout::*;
use super::rax::TreeShape;
use super::slack::gap;
use super::{ElementPrice, Model, ShortEmbedding, ShortFrame, ShortPrices};

/// Key properties that affect memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Key {
    /// Length in bytes.
    pub len: u64,
    /// True if the key has an expiry.
    pub expires: bool,
}

/// Memory of key and object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameSize {
    /// Bytes outside the object, added to the value's figure.
    pub outside: u64,
    /// Bytes of the object, the base of the value's figure.
    pub object: u64,
    /// Allocated bytes beyond both, without the main table entry.
    pub slack: i64,
}

impl TableUse {
    /// All uses, in the order of [`TableUse::place`].
    const ALL: [TableUse; 3] = [TableUse::Set, TableUse::Hash, TableUse::Zset];

    #[inline]
    const fn place(self) -> usize {
        match self {
            TableUse::Set => 0,
            TableUse::Hash => 1,
            TableUse::Zset => 2,
        }
    }
}

/// Maximum size of a hash entry that embeds its value.
pub(super) const ENTRY_WITH_VALUE: u64 = 128;
/// Header and terminator of an embedded value.
pub(super) const VALUE_INSIDE: u64 = 4;
/// Pointer to a value that is not embedded.
pub(super) const POINTER: u64 = 8;
/// Key length from which room for an expiry is reserved in any case.
const ROOM_FOR_EXPIRY_FROM: u64 = 128;
/// Minimum string header of a command argument in Redis 4.0.
const ARGUMENT_HEADER: u64 = 3;
/// Header of a reference-counted string (KeyDB) shorter than 64 KiB.
const SHARED_HEADER: u64 = 11;

impl Model {
    /// Returns the allocated size for a requested size.
    #[inline]
    pub(super) fn usable(&self, size: u64) -> u64 {
        self.classes.usable(size)
    }

    /// Returns the counted size for a requested size.
    #[inline]
    pub(super) fn counted(&self, size: u64, count: Count) -> u64 {
        match count {
            Count::Requested => size,
            Count::Usable => self.usable(size),
        }
    }

    /// Returns the size of an embedded string: header, text and terminator.
    #[inline]
    pub(super) fn inner_sds(&self, len: u64) -> u64 {
        let sds = &self.layout.sds;
        // Header of 1, 3, 5 or 9 bytes; summing comparisons avoids unpredictable branches.
        let header = 1 + 2 * u64::from(len >= 32) + 2 * u64::from(len > sds.byte) + 4 * u64::from(len > sds.short);
        len.saturating_add(header + 1)
    }

    /// Like [`Model::inner_sds`], for a field whose header has at least three bytes.
    #[inline]
    pub(super) fn inner_sds_with_long_header(&self, len: u64) -> u64 {
        let size = self.inner_sds(len);
        if len < 32 { size + 2 } else { size }
    }

    /// Returns the size of a separate string. The empty string has a three-byte header, because it is likely to be appended to.
    #[inline]
    pub(super) fn sds_size(&self, len: u64) -> u64 {
        if len == 0 { 4 } else { self.inner_sds(len) }
    }

    /// Precomputes prices of short strings and table entries.
    pub(super) fn short_prices(&self) -> ShortPrices {
        let entries = TableUse::ALL.map(|table_use| self.computed_entry(table_use));
        let string = |len: usize| u32::try_from(self.computed_sds(len as u64)).unwrap_or(u32::MAX);
        ShortPrices { strings: std::array::from_fn(string), entries, ..ShortPrices::NONE }
    }

    /// Precomputes prices of short table elements.
    pub(super) fn short_elements(&mut self) {
        let part = |priced| ElementPrice::of(priced).unwrap_or(ElementPrice::NONE);
        let elements = TableUse::ALL
            .map(|table_use| std::array::from_fn(|len| part(self.computed_element(table_use, len as u64))));
        let values = std::array::from_fn(|len| part((self.sds(len as u64), self.sds_slack(len as u64))));
        let apart = matches!(self.layout.field, FieldForm::Strings | FieldForm::Mstr);
        self.short = ShortPrices { elements, values, apart, ..self.short };
    }

    /// Returns counted size and slack of a table element with its entry: a set member, a sorted set member without its node,
    /// or a hash field without its value.
    #[inline]
    pub(super) fn element(&self, table_use: TableUse, len: u64) -> (u64, i64) {
        let short = usize::try_from(len).ok().and_then(|len| self.short.elements[table_use.place()].get(len));
        short.map_or_else(|| self.computed_element(table_use, len), |part| (u64::from(part.memory), part.slack.into()))
    }

    #[cold]
    pub(super) fn computed_element(&self, table_use: TableUse, len: u64) -> (u64, i64) {
        let entry = self.entry(table_use);
        match table_use {
            TableUse::Zset if self.nodes.holds_members() => (entry, 0),
            TableUse::Hash if self.layout.field == FieldForm::Mstr => (entry + self.mstr(len, false), 0),
            TableUse::Set | TableUse::Hash | TableUse::Zset => (entry + self.sds(len), self.sds_slack(len)),
        }
    }

    /// Returns counted size and slack of a field without expiry and its value in a table, entry included.
    #[inline(always)]
    pub(super) fn plain_pair(&self, field: u64, value: u64) -> (u64, i64) {
        let short = |parts: &[ElementPrice; ShortPrices::STRINGS], len| {
            usize::try_from(len).ok().and_then(|len| parts.get(len).copied())
        };
        let parts = (short(&self.short.elements[TableUse::Hash.place()], field), short(&self.short.values, value));
        match parts {
            (Some(field), Some(value)) if self.short.apart => {
                (u64::from(field.memory) + u64::from(value.memory), i64::from(field.slack) + i64::from(value.slack))
            }
            _ => {
                let joint = self.joint.as_ref().and_then(|joint| joint.price(field, value));
                joint.unwrap_or_else(|| self.computed_plain_pair(field, value))
            }
        }
    }

    #[inline(never)]
    fn computed_plain_pair(&self, field: u64, value: u64) -> (u64, i64) {
        (self.pair(field, value, false), self.pair_slack(field, value, false))
    }

    /// Returns the size of a field stored as `mstr`.
    fn mstr(&self, field: u64, expires: bool) -> u64 {
        let header = match field {
            0..32 => 1,
            32..65_536 => 3,
            _ => 9,
        };
        let expiry = if expires { 16 + 2 } else { 0 };
        self.usable(field + header + expiry + 1)
    }

    /// Returns the counted size of a separate string.
    #[inline]
    pub(super) fn sds(&self, len: u64) -> u64 {
        match usize::try_from(len).ok().and_then(|len| self.short.strings.get(len)) {
            Some(&price) => u64::from(price),
            None => self.computed_sds(len),
        }
    }

    /// Returns counted size and slack of a separate string.
    #[inline]
    pub(super) fn sds_with_slack(&self, len: u64) -> (u64, i64) {
        match usize::try_from(len).ok().and_then(|len| self.short.values.get(len)) {
            Some(part) => (u64::from(part.memory), part.slack.into()),
            None => self.computed_sds_with_slack(len),
        }
    }

    #[inline(never)]
    fn computed_sds_with_slack(&self, len: u64) -> (u64, i64) {
        (self.computed_sds(len), self.sds_slack(len))
    }

    pub(super) fn computed_sds(&self, len: u64) -> u64 {
        let size = self.sds_size(len);
        match self.layout.sds_count {
            SdsCount::Requested => size,
            SdsCount::UsableUnlessTiny if (1..32).contains(&len) => size,
            SdsCount::Usable | SdsCount::UsableUnlessTiny => self.usable(size),
        }
    }

    /// Returns the size of key and object for a value that is not embedded.
    #[inline]
    pub(super) fn frame(&self, key: Key) -> FrameSize {
        self.short_frame(key).unwrap_or_else(|| self.computed_frame(key))
    }

    /// Like [`Model::frame`]; `None` for a key that is not short.
    #[inline(always)]
    pub(super) fn short_frame(&self, key: Key) -> Option<FrameSize> {
        let short = usize::try_from(key.len).ok().and_then(|len| self.frames[usize::from(key.expires)].get(len));
        let &ShortFrame { outside, object, slack, .. } = short?;
        Some(FrameSize { outside: outside.into(), object: object.into(), slack: slack.into() })
    }

    /// Precomputes the frames of short keys.
    pub(super) fn short_frames(&self) -> [[ShortFrame; ShortPrices::STRINGS]; 2] {
        // Sizes of keys this short fit 32 bits by a wide margin.
        let short = |key: Key| {
            let FrameSize { outside, object, slack } = self.computed_frame(key);
            Some(ShortFrame {
                outside: u32::try_from(outside).ok()?,
                object: u32::try_from(object).ok()?,
                slack: i32::try_from(slack).ok()?,
                embedding: self.short_embedding(key),
            })
        };
        [false, true]
            .map(|expires| std::array::from_fn(|len| short(Key { len: len as u64, expires }).unwrap_or_default()))
    }

    /// Precomputes which strings are embedded beside a short key.
    fn short_embedding(&self, key: Key) -> Option<ShortEmbedding> {
        let ShortStrings::Joint(embedding) = &self.layout.short else { return None };
        if embedding.expiry == EmbeddedExpiry::Later {
            return None; // Of two strings, the longer one may be embedded.
        }
        let fits = |len: &u64| self.computed_embedded(embedding, key, *len).is_some();
        let lengths = (0..=embedding.longest).take_while(fits).count();
        let expiry = if key.expires { 8 } else { 0 };
        let frame = embedding.object + 1 + self.inner_sds(key.len) + expiry;
        Some(ShortEmbedding { frame: u32::try_from(frame).ok()?, lengths: u32::try_from(lengths).ok()? })
    }

    #[inline(never)]
    pub(super) fn computed_frame(&self, key: Key) -> FrameSize {
        let object = self.layout.object;
        let framed = |outside, slack| FrameSize { outside, object, slack };
        match self.layout.frame {
            Frame::Argument => {
                let header = self.inner_sds(key.len).saturating_sub(key.len + 1).max(ARGUMENT_HEADER);
                let outside = key.len + header + 1 + MAIN_ENTRY;
                framed(outside, gap(self.usable(self.sds_size(key.len)), outside))
            }
            Frame::Entry { cluster } => {
                let links = if self.config.in_cluster() { cluster } else { 0 };
                let entry = MAIN_ENTRY + links;
                let (name, slack) = self.sds_with_slack(key.len);
                framed(name + entry, slack + gap(0, entry))
            }
            Frame::SharedKey => {
                let key = if key.len < 1 << 16 { self.usable(key.len + SHARED_HEADER + 1) } else { self.sds(key.len) };
                framed(key + MAIN_ENTRY, gap(0, MAIN_ENTRY))
            }
            Frame::KeyInEntry => framed(self.usable(16 + 1 + self.inner_sds(key.len)), 0),
            Frame::Joint(joint) => self.joint(joint, key),
        }
    }

    #[inline]
    fn joint(&self, joint: Joint, key: Key) -> FrameSize {
        let expiry = if key.expires || key.len >= ROOM_FOR_EXPIRY_FROM { 8 } else { 0 };
        let size = self.layout.object + expiry + 1 + self.inner_sds(key.len);
        let given = self.usable(size);
        let object = match joint {
            Joint::Usable => given,
            Joint::Requested => size,
            Joint::RequestedWithSpareExpiry if expiry == 0 && given - size >= 8 => size + 8,
            Joint::RequestedWithSpareExpiry => size,
            Joint::ObjectOnly => self.layout.object,
        };
        FrameSize { outside: 0, object, slack: gap(given, object) }
    }

    /// Returns the size of key and embedded value together, or `None` if the value is not embedded.
    #[inline]
    pub(super) fn embedded(&self, embedding: &Embedding, key: Key, len: u64) -> Option<u64> {
        let short = usize::try_from(key.len).ok().and_then(|len| self.frames[usize::from(key.expires)].get(len));
        match short.and_then(|frame| frame.embedding) {
            Some(ShortEmbedding { frame, lengths }) => (len < u64::from(lengths))
                .then(|| self.usable(u64::from(frame) + (VALUE_INSIDE + len).max(embedding.least))),
            None => self.computed_embedded(embedding, key, len),
        }
    }

    pub(super) fn computed_embedded(&self, embedding: &Embedding, key: Key, len: u64) -> Option<u64> {
        if len > embedding.longest || key.len > embedding.room {
            return None;
        }
        let expiry = if key.expires { 8 } else { 0 };
        let inner = self.inner_sds(key.len);
        let tested_key = if embedding.flat_key { key.len + 3 } else { 1 + inner };
        let tested = embedding.object + tested_key + VALUE_INSIDE + len;
        let bare = embedding.object + 1 + inner + (VALUE_INSIDE + len).max(embedding.least);
        let fits = match embedding.expiry {
            EmbeddedExpiry::Ignored => tested <= embedding.room,
            EmbeddedExpiry::Counted => tested + expiry <= embedding.room,
            EmbeddedExpiry::Later => {
                tested + expiry <= embedding.room || tested <= embedding.room && bare + expiry <= self.usable(bare)
            }
        };
        fits.then(|| self.usable(bare + expiry))
    }

    /// Returns the counted size of a packed blob.
    #[inline]
    pub(super) fn packed(&self, size: u64) -> u64 {
        self.counted(size, self.layout.packed_count)
    }

    /// Returns the counted size of a field and its value in a table, entry included.
    #[inline]
    pub(super) fn pair(&self, field: u64, value: u64, expires: bool) -> u64 {
        match self.layout.field {
            FieldForm::Strings => self.entry(TableUse::Hash) + self.sds(field) + self.sds(value),
            FieldForm::Mstr => self.entry(TableUse::Hash) + self.mstr(field, expires) + self.sds(value),
            FieldForm::Entry { expiry } => {
                let (own, outside) = self.joint_pair(field, value, if expires { expiry } else { 0 });
                self.entry(TableUse::Hash) + own + outside
            }
            FieldForm::RoundedEntry { expiry } => {
                let (own, outside) = self.joint_pair(field, value, if expires { expiry } else { 0 });
                self.usable(own) + outside
            }
        }
    }

    /// Returns the size of an entry, and of the value outside it.
    #[inline]
    pub(super) fn joint_pair(&self, field: u64, value: u64, expiry: u64) -> (u64, u64) {
        // Fields with an expiry or a separate value never have the one-byte header.
        let long_header = self.inner_sds_with_long_header(field);
        let with_expiry = if expiry > 0 { long_header } else { self.inner_sds(field) };
        let inside = expiry.saturating_add(with_expiry).saturating_add(value).saturating_add(VALUE_INSIDE);
        if inside <= ENTRY_WITH_VALUE {
            return (inside, 0);
        }
        (expiry + POINTER + long_header, self.sds(value))
    }

    /// Returns the counted size of a table entry; 0 where elements are not counted with one.
    #[inline]
    pub(super) fn entry(&self, table_use: TableUse) -> u64 {
        self.short.entries[table_use.place()]
    }

    pub(super) fn computed_entry(&self, table_use: TableUse) -> u64 {
        match (self.layout.table, table_use) {
            (TableLayout::Buckets { .. }, _) | (TableLayout::Dict { lone_members: true, .. }, TableUse::Set) => 0,
            (TableLayout::Dict { zset_entry, .. }, TableUse::Zset) => zset_entry,
            (TableLayout::Dict { entry, .. }, _) => entry,
        }
    }

    /// Creates an empty table.
    pub(super) fn new_table(&self) -> Growth {
        Growth::new(match self.layout.table {
            TableLayout::Dict { .. } => TableKind::Slots,
            TableLayout::Buckets { .. } => TableKind::Buckets,
        })
    }

    /// Returns the size of a table's structure.
    pub(super) fn bare_table(&self) -> u64 {
        match self.layout.table {
            TableLayout::Dict { table, .. } | TableLayout::Buckets { table, .. } => table,
        }
    }

    /// Returns the counted size of a table, without entries.
    pub(super) fn table(&self, table_use: TableUse, elements: u64, growth: &Growth) -> u64 {
        match self.layout.table {
            TableLayout::Dict { table, lone_members, .. } => {
                let slots = growth.size();
                let chained = if lone_members && table_use == TableUse::Set {
                    16 * elements.saturating_sub(occupied(elements, slots))
                } else {
                    0
                };
                table + 8 * slots + chained
            }
            TableLayout::Buckets { table, hash_metadata } => {
                let metadata = if table_use == TableUse::Hash { hash_metadata } else { 0 };
                table + metadata + 64 * growth.buckets()
            }
        }
    }

    /// Returns the size of a sorted set without object, entries, members and nodes.
    pub(super) fn skiplist(&self, members: u64, growth: &Growth) -> u64 {
        let skiplist = &self.layout.skiplist;
        if skiplist.only_nodes {
            return skiplist.zset + 8 * growth.size();
        }
        let header = if skiplist.header == 0 { 0 } else { self.usable(skiplist.header) };
        let list = self.counted(skiplist.list, skiplist.list_count);
        skiplist.zset + list + header + self.table(TableUse::Zset, members, growth)
    }

    /// Returns the counted size of a radix tree.
    pub(super) fn tree(&self, shape: TreeShape) -> u64 {
        match self.layout.stream.tree {
            TreeCount::Estimated => 16 * shape.keys + 244 * shape.nodes,
            TreeCount::Measured(_) | TreeCount::Leafless(_) => self.real_tree(shape),
        }
    }

    /// Adds the sum over elements to `base`, in the servers' arithmetic.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the arithmetic of the servers; the cast saturates"
    )]
    pub(super) fn average(&self, base: u64, sum: u64, divisor: u64) -> u64 {
        match self.layout.average {
            Average::Double if divisor > 0 => {
                // The cast saturates; sums of real elements are far below 2^53.
                (base as f64 + sum as f64 / divisor as f64 * divisor as f64) as u64
            }
            Average::Double | Average::Exact => base.saturating_add(sum),
        }
    }
}

#[cfg(test)]
mod tests;
