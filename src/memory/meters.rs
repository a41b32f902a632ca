//! Several meters on one walk: the memory of a value on its own server and under each what-if alternative.
//!
//! Most values are strings, or packed here and there. For these the meters of the alternatives sleep: their prices follow from
//! what the base meter has found. They are woken for a value that is packed here and not there.

use std::{mem, slice};

use super::meter::{PricedPlain, ValueSize};
use super::price::Key;
use super::string_sizes::{SizePlace, StringSizes};
use super::templates::LazyTemplates;
use super::{Measured, Meter, Model, ModuleFacts};
use crate::error::{Error, Result};
#[cfg(any(test, feature = "internals"))]
use crate::limits;
use crate::rdb::string::RawString;
use crate::rdb::template::{HashTemplate, TemplateNames, Templates};
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::{FieldExpiry, ListNode, ModuleItem, PlainValue, ScoreValue, StreamHead, Visit};
use crate::units::Bytes;

/// Meters of the base model and of the alternatives.
#[derive(Debug)]
pub struct Meters<'m> {
    base: Meter<'m>,
    /// Meters of the alternatives; empty if all of them are the server as it is.
    others: Vec<Meter<'m>>,
    /// True if the meters of the alternatives do not see the current value, whose sizes are set without them.
    asleep: bool,
    /// Memory of the last key, by alternative.
    memory: Vec<Bytes>,
    allocated: Vec<Bytes>,
    /// Sizes of short strings under the only alternative.
    string_sizes: StringSizes,
}

/// Memory of a value under each alternative, in the order given; empty if it is unknown under one of them or on the
/// server itself, so that sums under all of them are of the same keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlternativeSizes<'m> {
    /// Memory as reported by `MEMORY USAGE`.
    pub memory: &'m [Bytes],
    /// Allocated bytes.
    pub allocated: &'m [Bytes],
    /// Facts about a module's value, whatever the server.
    pub module_facts: Option<&'m ModuleFacts>,
}

impl<'m> Meters<'m> {
    /// Creates a meter for each model.
    #[cfg(any(test, feature = "internals"))]
    pub fn new(base: &'m Model, others: &'m [Model]) -> Self {
        Meters::with_templates(base, others, None, limits::MAX_BLOB_BYTES)
    }

    /// Creates a meter for each model; compact hashes bear their shares of `templates`, which count users for these models.
    /// Parts of more than `part` bytes are not decompressed.
    pub fn with_templates(
        base: &'m Model,
        others: &'m [Model],
        templates: Option<&'m LazyTemplates>,
        part: u64,
    ) -> Self {
        let meter = |model: &'m Model, place: usize| match templates {
            Some(templates) => Meter::new(model).with_templates(templates, place),
            None => Meter::new(model),
        };
        let meter = |model, place| meter(model, place).with_parts_up_to(part);
        let other = |(place, model)| meter(model, place + 1);
        let differ = others.iter().any(|other| !other.is(base));
        Meters {
            base: meter(base, 0),
            others: others.iter().filter(|_| differ).enumerate().map(other).collect(),
            asleep: false,
            memory: vec![Bytes(0); others.len()],
            allocated: vec![Bytes(0); others.len()],
            string_sizes: StringSizes::default(),
        }
    }

    /// Starts a key: see [`Meter::begin_key`].
    #[inline]
    pub fn begin_key(&mut self, key_len: u64, has_ttl: bool) {
        self.base.begin_key(key_len, has_ttl);
    }

    /// Returns the base meter if no alternative differs from it, as the fast path: walking with it costs less.
    #[inline]
    pub fn alone(&mut self) -> Option<&mut Meter<'m>> {
        if self.others.is_empty() { Some(&mut self.base) } else { None }
    }

    /// Returns the price of a text, the value of a string key, with its size under the alternatives: none, or the one that a policy
    /// asks for. `None` if it has to be walked.
    #[inline(always)] // for nearly every key
    pub(crate) fn text(
        &mut self,
        key_len: u64,
        has_ttl: bool,
        value: PlainValue<'_>,
    ) -> Option<(PricedPlain<'_>, AlternativeSizes<'_>)> {
        let key = Key { len: key_len, expires: has_ttl };
        let priced = self.base.text(key, value)?;
        let (others, known) = (&self.others, &self.string_sizes);
        let elsewhere = only_alternative(&mut self.memory, &mut self.allocated, || match others.first() {
            None => Some(priced.size()), // the server as it is
            Some(other) => {
                let size = SizePlace::of_text(key, value.len as u64).and_then(|place| known.get(place));
                size.or_else(|| Some(other.text(key, value)?.size()))
            }
        })?;
        Some((priced, elsewhere))
    }

    /// Like [`Meters::text`], for a collection of this layout that is stored in one string. `templates` are those of the file.
    #[inline(always)]
    pub(crate) fn packed(
        &mut self,
        key_len: u64,
        has_ttl: bool,
        value_type: ValueType,
        value: PlainValue<'_>,
        templates: &Templates,
    ) -> Option<(PricedPlain<'_>, AlternativeSizes<'_>)> {
        let key = Key { len: key_len, expires: has_ttl };
        let priced = self.base.packed(key, value_type, value, templates)?;
        let others = &mut self.others;
        let elsewhere = only_alternative(&mut self.memory, &mut self.allocated, || match others.first_mut() {
            None => Some(priced.size()),
            Some(other) => Some(other.packed(key, value_type, value, templates)?.size()),
        })?;
        Some((priced, elsewhere))
    }

    /// Returns the first part of the walked value that was too large to be decompressed.
    #[inline]
    pub fn take_over_budget(&mut self) -> Option<Box<Error>> {
        self.base.take_over_budget()
    }

    /// Returns the value as measured for the base model, and its memory under each alternative.
    ///
    /// If only an alternative has to decode a damaged blob, the base figure is used for it, too, so that alternatives never
    /// change which keys are counted.
    #[inline(always)]
    pub fn finish(&mut self) -> Result<(&Measured, AlternativeSizes<'_>)> {
        self.base.settle_lengths(&mut self.others);
        self.base.finish()?;
        let (measured, module_facts) = self.base.last();
        if self.memory.is_empty() {
            return Ok((measured, AlternativeSizes { module_facts, ..AlternativeSizes::default() })); // the common case
        }
        if self.others.is_empty() {
            self.memory.fill(measured.memory);
            self.allocated.fill(measured.allocated);
        } else if !self.asleep {
            let sizes = self.memory.iter_mut().zip(&mut self.allocated);
            for (meter, (memory, allocated)) in self.others.iter_mut().zip(sizes) {
                let other = meter.finish().unwrap_or(measured);
                (*memory, *allocated) = (other.memory, other.allocated);
            }
        }
        if measured.memory == Bytes(0) || self.memory.contains(&Bytes(0)) {
            return Ok((measured, AlternativeSizes { module_facts, ..AlternativeSizes::default() }));
        }
        Ok((measured, AlternativeSizes { memory: &self.memory, allocated: &self.allocated, module_facts }))
    }

    /// Has the meters of the alternatives begin the current value.
    fn wake(&mut self) {
        self.asleep = false;
        self.others.iter_mut().for_each(|meter| meter.begin_like(&self.base));
    }

    /// Sets the size under each alternative; returns false if `size` does not know one of them.
    #[inline]
    fn set_sizes(&mut self, size: impl Fn(&mut Meter<'m>, &Meter<'m>, &Measured) -> Option<ValueSize>) -> bool {
        // A damaged value has no sizes, and none will be asked for.
        let Some(found) = self.base.found() else { return true };
        for (place, meter) in self.others.iter_mut().enumerate() {
            let Some(priced) = size(meter, &self.base, found) else { return false };
            (self.memory[place], self.allocated[place]) = (priced.memory, priced.allocated);
        }
        true
    }

    #[inline(never)]
    fn other_string(&mut self, value: RawString<'_>, place: Option<SizePlace>) {
        if !self.set_sizes(|meter, base, found| meter.string_size(base.current().0, &value, found)) {
            self.wake_for(|meter| meter.string(value));
        } else if let (Some(place), [memory], [allocated]) = (place, &self.memory[..], &self.allocated[..]) {
            self.string_sizes.keep(place, ValueSize { memory: *memory, allocated: *allocated });
        }
    }

    /// Wakes the meters of the alternatives for a value that the base meter has seen.
    #[cold]
    fn wake_for(&mut self, mut see: impl FnMut(&mut Meter<'m>)) {
        self.wake();
        for meter in &mut self.others {
            mem::swap(&mut self.base.scratch, &mut meter.scratch);
            see(meter);
            mem::swap(&mut self.base.scratch, &mut meter.scratch);
        }
    }

    /// Passes an uncompressed part to all meters, without sharing the buffer, which would cost more than pricing.
    #[inline]
    fn each_plain(&mut self, mut see: impl FnMut(&mut Meter<'m>)) {
        see(&mut self.base);
        self.others.iter_mut().for_each(see);
    }

    /// Passes a part that holds this string to all meters.
    #[inline]
    fn each_holding(&mut self, string: RawString<'_>, see: impl FnMut(&mut Meter<'m>)) {
        if string.is_compressed() { self.each(see) } else { self.each_plain(see) }
    }

    /// Passes a part to all meters in turn, sharing one decompression buffer so that only one copy of it is in memory.
    #[inline]
    fn each(&mut self, mut see: impl FnMut(&mut Meter<'m>)) {
        see(&mut self.base);
        for meter in &mut self.others {
            mem::swap(&mut self.base.scratch, &mut meter.scratch);
            see(meter);
            mem::swap(&mut self.base.scratch, &mut meter.scratch);
        }
    }
}

/// Sets the size under the only alternative, if there is one, and returns it; `None` if it is not known, or there are several.
#[inline(always)]
fn only_alternative<'a>(
    memory: &'a mut [Bytes],
    allocated: &'a mut [Bytes],
    size: impl FnOnce() -> Option<ValueSize>,
) -> Option<AlternativeSizes<'a>> {
    if memory.is_empty() {
        return Some(AlternativeSizes::default());
    }
    let ([memory], [allocated]) = (memory, allocated) else { return None };
    let size = size()?;
    (*memory, *allocated) = (size.memory, size.allocated);
    Some(AlternativeSizes {
        memory: slice::from_ref(memory),
        allocated: slice::from_ref(allocated),
        module_facts: None,
    })
}

/// Forwards each part that any meter uses.
impl Visit for Meters<'_> {
    #[inline]
    fn begin(&mut self, value_type: ValueType) {
        self.base.begin(value_type);
        self.asleep = Meter::may_follow(value_type);
        if !self.asleep {
            self.wake();
        }
    }

    #[inline(always)] // for nearly every key
    fn string(&mut self, value: RawString<'_>) {
        self.base.string(value);
        // Fast path for one alternative, as a policy asks for one.
        let mut place = None;
        if let ([memory], [allocated]) = (&mut self.memory[..], &mut self.allocated[..]) {
            place = self.base.found().and_then(|found| SizePlace::of(self.base.current().0, &value, found));
            if let Some(size) = place.and_then(|place| self.string_sizes.get(place)) {
                (*memory, *allocated) = (size.memory, size.allocated);
                return;
            }
        }
        self.other_string(value, place);
    }

    #[inline]
    fn count(&mut self, count: u64) {
        self.base.expect(count);
        self.each_plain(|meter| meter.announce(count));
    }

    #[inline]
    fn lengths_suffice(&self) -> bool {
        self.base.lengths_suffice() && self.others.iter().all(Visit::lengths_suffice)
    }

    #[inline(always)]
    fn element_len(&mut self, len: u64) {
        self.base.add_member(len, &mut self.others);
    }

    #[inline(always)]
    fn pair_len(&mut self, field: u64, value: u64) {
        self.base.add_pair(field, value, &mut self.others);
    }

    #[inline(always)]
    fn scored_len(&mut self, member: u64) {
        self.base.add_scored(member, &mut self.others);
    }

    #[inline]
    fn element(&mut self, element: RawString<'_>) {
        self.each_holding(element, |meter| meter.element(element));
    }

    #[inline]
    fn scored(&mut self, member: RawString<'_>, score: ScoreValue<'_>) {
        self.each_holding(member, |meter| meter.scored(member, score));
    }

    #[inline]
    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {
        match field.is_compressed() || value.is_compressed() {
            false => self.each_plain(|meter| meter.pair(field, value)),
            true => self.each(|meter| meter.pair(field, value)),
        }
    }

    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, expiry: FieldExpiry) {
        self.each(|meter| meter.expiring_pair(field, value, expiry));
    }

    #[inline]
    fn blob(&mut self, blob: RawString<'_>) {
        if !self.asleep {
            return self.each_holding(blob, |meter| meter.blob(blob));
        }
        self.base.blob(blob);
        if !self.set_sizes(|meter, base, found| meter.blob_size(base.current(), blob, found)) {
            self.wake_for(|meter| meter.blob(blob));
        }
    }

    fn template(&mut self, template: &HashTemplate) {
        self.each_plain(|meter| meter.template(template));
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        self.each(|meter| meter.template_blob(names, blob));
    }

    fn node(&mut self, node: ListNode, blob: RawString<'_>) {
        self.each_holding(blob, |meter| meter.node(node, blob));
    }

    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {
        self.each(|meter| meter.stream_node(master, blob));
    }

    fn stream_head(&mut self, head: StreamHead) {
        self.each(|meter| meter.stream_head(head));
    }

    fn groups(&mut self, count: u64) {
        self.each(|meter| meter.groups(count));
    }

    fn group(&mut self, name: RawString<'_>, last_id: (u64, u64), entries_read: Option<u64>, pending: u64) {
        self.each(|meter| meter.group(name, last_id, entries_read, pending));
    }

    fn pending(&mut self, id: &[u8; 16], delivered_at: i64, deliveries: u64) {
        self.each(|meter| meter.pending(id, delivered_at, deliveries));
    }

    fn consumer(&mut self, name: RawString<'_>, seen_at: i64, active_at: Option<i64>, pending: u64) {
        self.each(|meter| meter.consumer(name, seen_at, active_at, pending));
    }

    fn consumer_pending(&mut self, id: &[u8; 16]) {
        self.each(|meter| meter.consumer_pending(id));
    }

    fn nacked(&mut self, id: &[u8; 16]) {
        self.each(|meter| meter.nacked(id));
    }

    fn producer(&mut self, name: RawString<'_>, ids: u64) {
        self.each(|meter| meter.producer(name, ids));
    }

    fn idempotency(&mut self, id: RawString<'_>, entry: (u64, u64)) {
        self.each(|meter| meter.idempotency(id, entry));
    }

    fn module(&mut self, id: u64) {
        self.each(|meter| meter.module(id));
    }

    fn module_item(&mut self, item: ModuleItem<'_>) {
        self.each(|meter| meter.module_item(item));
    }

    fn array_item(&mut self, index: u64, item: ModuleItem<'_>) {
        self.each(|meter| meter.array_item(index, item));
    }
}

#[cfg(test)]
mod tests;
