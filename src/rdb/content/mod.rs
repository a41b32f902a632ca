//! Hash of the logical content of a value: what clients read, whatever its encoding.
//!
//! A value is a set of parts. The hash is the sum of the hashes of its parts, so their order in the file does not matter; where
//! order is content, the position belongs to the part.
//!
//! | type | parts |
//! |---|---|
//! | string | its bytes |
//! | list | position and element |
//! | set | member |
//! | sorted set | score and member; -0 is 0 |
//! | hash | field, value and expiry of the field |
//! | stream | id and fields of each entry, last id, groups with their last ids, consumers and pending entries, ids of producers |
//! | array | index and item |
//! | module | position and item as stored: the same document of two versions of a module may differ |
//!
//! No content: counters of a stream (`entries-added`, greatest deleted id, entries read), which older layouts lack; the times at
//! which consumers were last seen.
//!
//! Hashes have a random key: without it, no values can be made that collide. No hash may reach a report.

mod mixer;
mod stream;

use mixer::Mixer;

use super::cursor::Cursor;
use super::packed::{Layout, PackedElement, Packing, incomplete, intset, listpack, ziplist, zipmap};
use super::peek::RawValue;
use super::score;
use super::scratch::Scratch;
use super::string::RawString;
use super::template::TemplateNames;
use super::value_type::ValueType;
use super::verify::name_hash::NameHasher;
use super::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, StreamHead, Visit, walk};
use crate::error::{Error, Result};
use crate::limits;
use crate::wording::wording;

/// Hash functions for contents, chosen at random.
#[derive(Debug)]
pub struct ContentHasher {
    first: NameHasher,
    /// For the second text of a part.
    second: NameHasher,
    /// Hashes of names are linear, so sums of them do not tell `{a: 1, b: 2}` from `{a: 2, b: 1}`.
    mix: Mixer,
    field_expiries: FieldExpiries,
}

/// Treatment of the expiries of hash fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldExpiries {
    /// They are content.
    Count,
    /// They are left out.
    Ignored,
}

impl ContentHasher {
    /// Chooses functions.
    pub fn random(field_expiries: FieldExpiries) -> ContentHasher {
        ContentHasher {
            first: NameHasher::random(),
            second: NameHasher::random(),
            mix: Mixer::random(),
            field_expiries,
        }
    }

    /// Hashes a text on its own, not as part of a sum.
    #[inline]
    fn alone(&self, text: &[u8]) -> u64 {
        upper(self.first.hash(0, text))
    }

    /// Hashes a part: a number and a text.
    #[inline]
    fn part(&self, number: u64, text: &[u8]) -> u64 {
        self.mixed(self.first.hash(number, text))
    }

    /// Hashes a part: a number and two texts.
    #[inline]
    fn pair(&self, number: u64, one: &[u8], other: &[u8]) -> u64 {
        self.mixed(self.first.hash(number, one).wrapping_add(self.second.hash(0, other)))
    }

    #[inline]
    fn mixed(&self, hash: u128) -> u64 {
        self.mix.mixed(upper(hash))
    }
}

/// Returns the upper half, all bits of which are random.
#[inline]
fn upper(hash: u128) -> u64 {
    u64::try_from(hash >> 64).unwrap_or_default()
}

/// Buffers for decompressed strings, reused from value to value.
#[derive(Debug, Default)]
pub struct ContentScratch {
    one: Scratch,
    other: Scratch,
}

impl ContentScratch {
    /// Creates buffers for strings of at most `most` bytes: values with longer compressed ones have no hash.
    pub fn new(most: u64) -> ContentScratch {
        ContentScratch { one: Scratch::new(most), other: Scratch::new(most) }
    }
}

impl RawValue<'_> {
    /// Returns the hash of the content. Fails if part of it is damaged.
    pub fn content(&self, hasher: &ContentHasher, scratch: &mut ContentScratch) -> Result<u64> {
        if self.value_type == ValueType::String {
            // Most values are short strings.
            return Ok(hasher.alone(Cursor::new(self.bytes, 0).string()?.decode(&mut scratch.one)?));
        }
        let mut sum = ContentSum {
            hasher,
            scratch,
            value_type: self.value_type,
            sum: 0,
            position: 0,
            group: 0,
            consumer: 0,
            fault: None,
        };
        walk(self.value_type, self.templates, &mut Cursor::new(self.bytes, 0), &mut sum)?;
        let (sum, fault) = (sum.sum, sum.fault);
        for buffer in [&mut scratch.one, &mut scratch.other] {
            buffer.keep(limits::EXPAND_AT_ONCE);
        }
        fault.map_or(Ok(sum), Err)
    }
}

/// Visitor that adds up the hashes of parts.
struct ContentSum<'h> {
    hasher: &'h ContentHasher,
    scratch: &'h mut ContentScratch,
    value_type: ValueType,
    sum: u64,
    /// Elements of a list, or items of a module, so far.
    position: u64,
    /// Hash of the name of the group, producer and consumer that are being read.
    group: u128,
    consumer: u128,
    fault: Option<Error>,
}

impl ContentSum<'_> {
    fn add(&mut self, hash: u64) {
        self.sum = self.sum.wrapping_add(hash);
    }

    /// Adds what `hash` computes, or keeps the first fault.
    fn note(&mut self, hash: Result<u64>) {
        match hash {
            Ok(hash) => self.add(hash),
            Err(error) => _ = self.fault.get_or_insert(error),
        }
    }

    /// Adds a part: a number and a stored string.
    fn string_part(&mut self, number: u64, string: RawString<'_>) {
        let hash = string.decode(&mut self.scratch.one).map(|text| self.hasher.part(number, text));
        self.note(hash);
    }

    /// Adds the elements of a blob, `blob_sum` of which depends on the position of the first.
    fn unpack(&mut self, blob: RawString<'_>, packing: Packing) {
        let Self { hasher, scratch, value_type, position, .. } = self;
        let layout = Layout::of(*value_type);
        let sum = blob.decode(&mut scratch.one).and_then(|bytes| match packing {
            Packing::Ziplist => {
                packed(hasher, layout, position, ziplist::Entries::new(bytes, blob.offset)?, blob.offset)
            }
            Packing::Listpack => {
                packed(hasher, layout, position, listpack::Elements::new(bytes, blob.offset)?, blob.offset)
            }
            Packing::Intset => {
                let numbers = intset::numbers(bytes, blob.offset)?.map(|number| Ok(PackedElement::Int(number)));
                packed(hasher, layout, position, numbers, blob.offset)
            }
            Packing::Zipmap => zipmap::Pairs::new(bytes, blob.offset)?
                .map(|pair| pair.map(|(field, value)| hasher.pair(0, field, value)))
                .try_fold(0_u64, |sum, hash| hash.map(|hash| sum.wrapping_add(hash))),
        });
        self.note(sum);
    }

    fn item(&mut self, number: u64, item: ModuleItem<'_>) {
        let hash = match item {
            ModuleItem::String(string) => {
                string.decode(&mut self.scratch.one).map(|text| self.hasher.pair(number, text, b"text"))
            }
            ModuleItem::Integer(bits) => {
                let mut digits = itoa::Buffer::new();
                Ok(self.hasher.pair(number, digits.format(bits.cast_signed()).as_bytes(), b"text"))
            }
            ModuleItem::Float(bytes) => Ok(self.hasher.pair(number, &bytes, b"number")),
            ModuleItem::Double(bytes) => Ok(self.hasher.pair(number, &bytes, b"number")),
        };
        self.note(hash);
    }
}

/// Adds up the parts of packed elements.
fn packed<'b>(
    hasher: &ContentHasher,
    layout: Layout,
    position: &mut u64,
    mut elements: impl Iterator<Item = Result<PackedElement<'b>>>,
    offset: u64,
) -> Result<u64> {
    let (mut one, mut other) = (itoa::Buffer::new(), itoa::Buffer::new());
    let mut sum = 0_u64;
    let mut following = || elements.next().transpose();
    let incomplete = || incomplete(offset);
    while let Some(first) = following()? {
        let text = first.text(&mut one);
        let hash = match layout {
            Layout::List => {
                let hash = hasher.part(*position, text);
                *position += 1;
                hash
            }
            Layout::Set => hasher.part(0, text),
            Layout::Zset => hasher.part(packed_score(&following()?.ok_or_else(incomplete)?), text),
            Layout::Hash => hasher.pair(0, text, following()?.ok_or_else(incomplete)?.text(&mut other)),
            Layout::ExpiringHash => {
                let value = following()?.ok_or_else(incomplete)?;
                let expiry = following()?.ok_or_else(incomplete)?.field_expiry(offset)?;
                hasher.pair(hasher.expiry(expiry), text, value.text(&mut other))
            }
        };
        sum = sum.wrapping_add(hash);
    }
    Ok(sum)
}

impl ContentHasher {
    /// Returns the number that stands for the expiry of a field.
    fn expiry(&self, expires_at: Option<i64>) -> u64 {
        match (self.field_expiries, expires_at) {
            (FieldExpiries::Count, Some(time)) => time.cast_unsigned().wrapping_add(1),
            (FieldExpiries::Count, None) | (FieldExpiries::Ignored, _) => 0,
        }
    }
}

/// Returns the bits of a score. Servers that pack a sorted set write -0 as 0.
fn score_bits(score: f64) -> u64 {
    if score == 0.0 { 0 } else { score.to_bits() }
}

#[expect(clippy::cast_precision_loss, reason = "servers read packed integers as doubles, too")]
fn packed_score(score: &PackedElement<'_>) -> u64 {
    match *score {
        PackedElement::Int(number) => score_bits(number as f64),
        PackedElement::Text(text) => score_bits(score::packed_value(text)),
    }
}

impl Visit for ContentSum<'_> {
    fn element(&mut self, element: RawString<'_>) {
        let number = match self.value_type {
            ValueType::Set | ValueType::DragonflySet => 0,
            _ => {
                self.position += 1;
                self.position - 1
            }
        };
        self.string_part(number, element);
    }

    fn scored(&mut self, member: RawString<'_>, score: ScoreValue<'_>) {
        let score = match score {
            ScoreValue::Binary(score) => Some(score),
            ScoreValue::Text(text) => score::value(text),
        };
        match score {
            Some(score) => self.string_part(score_bits(score), member),
            None => {
                self.note(Err(Error::corrupt(member.offset, wording!("score is not a number", "score 不是数字"))));
            }
        }
    }

    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {
        self.expiring_pair(field, value, FieldExpiry(None));
    }

    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, expiry: FieldExpiry) {
        let Self { hasher, scratch, .. } = self;
        let hash = field.decode(&mut scratch.one).and_then(|field| {
            let value = value.decode(&mut scratch.other)?;
            Ok(hasher.pair(hasher.expiry(expiry.0), field, value))
        });
        self.note(hash);
    }

    fn blob(&mut self, blob: RawString<'_>) {
        self.unpack(blob, Packing::of(self.value_type));
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        let Self { hasher, scratch, .. } = self;
        let sum = blob.decode(&mut scratch.one).and_then(|bytes| {
            let (template, mut values) = names.unpack(bytes, blob.offset)?;
            let (mut sum, mut digits) = (0_u64, itoa::Buffer::new());
            template.pairs(&mut values, blob.offset, |field, value| {
                sum = sum.wrapping_add(hasher.pair(0, field, value.text(&mut digits)));
            })?;
            Ok(sum)
        });
        self.note(sum);
    }

    fn node(&mut self, node: ListNode, blob: RawString<'_>) {
        match node {
            ListNode::Ziplist => self.unpack(blob, Packing::Ziplist),
            ListNode::Listpack => self.unpack(blob, Packing::Listpack),
            ListNode::Plain => self.element(blob),
        }
    }

    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {
        let Self { hasher, scratch, .. } = self;
        let sum = blob.decode(&mut scratch.one).and_then(|bytes| stream::node(hasher, master, bytes, blob.offset));
        self.note(sum);
    }

    fn stream_head(&mut self, head: StreamHead) {
        self.add(stream::last_id(self.hasher, head.last_id));
    }

    fn group(&mut self, name: RawString<'_>, last_id: (u64, u64), _read: Option<u64>, _pending: u64) {
        match name.decode(&mut self.scratch.one) {
            Ok(name) => {
                self.group = self.hasher.first.hash(stream::GROUP, name);
                self.add(stream::group(self.hasher, self.group, last_id));
            }
            Err(error) => self.note(Err(error)),
        }
    }

    fn pending(&mut self, id: &[u8; 16], delivered_at: i64, deliveries: u64) {
        self.add(stream::pending(self.hasher, self.group, id, delivered_at, deliveries));
    }

    fn consumer(&mut self, name: RawString<'_>, _seen_at: i64, _active_at: Option<i64>, _pending: u64) {
        match name.decode(&mut self.scratch.one) {
            Ok(name) => {
                self.consumer = self.hasher.first.hash(stream::CONSUMER, name);
                self.add(stream::owned(self.hasher, self.group, self.consumer, &[]));
            }
            Err(error) => self.note(Err(error)),
        }
    }

    fn consumer_pending(&mut self, id: &[u8; 16]) {
        self.add(stream::owned(self.hasher, self.group, self.consumer, id));
    }

    fn nacked(&mut self, id: &[u8; 16]) {
        self.add(stream::owned(self.hasher, self.group, stream::NO_CONSUMER, id));
    }

    fn producer(&mut self, name: RawString<'_>, _ids: u64) {
        match name.decode(&mut self.scratch.one) {
            Ok(name) => self.group = self.hasher.first.hash(stream::PRODUCER, name),
            Err(error) => self.note(Err(error)),
        }
    }

    fn idempotency(&mut self, id: RawString<'_>, entry: (u64, u64)) {
        let hash = id.decode(&mut self.scratch.one).map(|id| stream::idempotency(self.hasher, self.group, id, entry));
        self.note(hash);
    }

    fn module_item(&mut self, item: ModuleItem<'_>) {
        self.item(self.position, item);
        self.position += 1;
    }

    fn array_item(&mut self, index: u64, item: ModuleItem<'_>) {
        self.item(index, item);
    }
}

#[cfg(test)]
mod tests;
