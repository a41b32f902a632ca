//! Several meters on one walk: the memory of a value on its own server and under each what-if alternative.
//!
//! Most values are strings, or packed here and there. For these the meters of the alternatives sleep: their prices follow from
//! what the base meter has found. They are woken for a value that is packed here and not there.

use std::mem;

use super::meter::{PricedText, ValueSize};
use super::price::Key;
use super::string_sizes::{SizePlace, StringSizes};
use super::templates::LazyTemplates;
use super::{Measured, Meter, Model, ModuleFacts};
use crate::error::{Error, Result};
#[cfg(any(test, feature = "internals"))]
use crate::limits;
use crate::rdb::string::RawString;
use crate::rdb::template::{HashTemplate, TemplateNames};
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, StreamHead, Visit};
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

    /// Returns the size of a plain string without a walk, if it takes no more than a lookup, with that under the alternatives: none,
    /// or the one that a policy asks for.
    #[inline(always)] // for nearly every key
    pub fn text(&mut self, key_len: u64, has_ttl: bool, text: &[u8]) -> Option<(PricedText, AlternativeSizes<'_>)> {
        let key = Key { len: key_len, expires: has_ttl };
        let priced = self.base.text(key, text)?;
        match (&mut self.memory[..], &mut self.allocated[..]) {
            ([], _) => return Some((priced, AlternativeSizes::default())),
            ([memory], [allocated]) => {
                let known =
                    || SizePlace::of_text(key, text.len() as u64).and_then(|place| self.string_sizes.get(place));
                let size = match self.others.first() {
                    None => priced.size(), // the server as it is
                    Some(other) => known().or_else(|| Some(other.text(key, text)?.size()))?,
                };
                (*memory, *allocated) = (size.memory, size.allocated);
            }
            _ => return None,
        }
        Some((priced, AlternativeSizes { memory: &self.memory, allocated: &self.allocated, module_facts: None }))
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
mod tests {
    use super::*;
    use crate::memory::{Allocator, Server, ServerConfig, WhatIf};
    use crate::rdb::cursor::Cursor;
    use crate::rdb::template::Templates;
    use crate::rdb::walk::walk;

    fn model(server: &str) -> Model {
        Model::for_server(Server::parse(server).unwrap(), Allocator::Jemalloc, &ServerConfig::default())
    }

    /// Values of all layouts whose prices follow from what the base meter has found, and a set of three members stored one by one.
    fn values() -> Vec<(ValueType, Vec<u8>)> {
        let text = |len: u8| [&[0x40, len], &vec![b'x'; usize::from(len)][..]].concat();
        let packed = b"\x0c\x0c\0\0\0\x02\0\x81a\x02\x01\x01\xff".to_vec();
        let compressed = b"\xc3\x05\x0a\0a\xe0\0\0".to_vec();
        let strings = [b"\xc0\x07".to_vec(), b"\xc1\x39\x30".to_vec(), b"\x0212".to_vec(), compressed];
        let strings = strings.into_iter().chain([0, 1, 20, 43, 44, 45, 63, 64, 128, 200].map(text));
        let blobs = [ValueType::HashListpack, ValueType::ZsetListpack, ValueType::SetListpack];
        let mut values: Vec<_> = strings.map(|value| (ValueType::String, value)).collect();
        values.extend(blobs.map(|value_type| (value_type, packed.clone())));
        values.push((ValueType::SetIntset, b"\x0c\x02\0\0\0\x02\0\0\0\x01\0\x02\0".to_vec()));
        values.push((ValueType::Set, b"\x03\x01a\x02bc\xc0\x07".to_vec()));
        values
    }

    #[test]
    fn texts_have_the_same_size_with_a_walk_and_without() {
        let sizes =
            |alternatives: AlternativeSizes<'_>| (alternatives.memory.to_vec(), alternatives.allocated.to_vec());
        for [base, other] in [["redis-7.2", "redis-8.2"], ["redis-8.2", "valkey-8.0"], ["valkey-9.1", "valkey-9.1"]] {
            let (base, other) = (model(base), [model(other)]);
            for others in [&[][..], &other] {
                let mut meters = Meters::new(&base, others);
                let mut looked_up = 0;
                for (key_len, has_ttl, len) in [5, 40]
                    .iter()
                    .flat_map(|&key| [false, true].map(|ttl| (0..600).map(move |len| (key, ttl, len))))
                    .flatten()
                {
                    let text = vec![b'{'; len];
                    meters.begin_key(key_len, has_ttl);
                    meters.begin(ValueType::String);
                    meters.string(RawString::plain(&text));
                    let (walked, elsewhere) = meters.finish().unwrap();
                    let (walked, elsewhere) = (*walked, sizes(elsewhere));
                    let Some((priced, alternatives)) = meters.text(key_len, has_ttl, &text) else { continue };
                    looked_up += 1;
                    let PricedText { encoding, memory, allocated, facts } = priced;
                    assert_eq!(
                        (encoding, memory, allocated),
                        (walked.encoding, walked.memory, walked.allocated),
                        "{len}"
                    );
                    assert_eq!((*facts, sizes(alternatives)), (walked.value, elsewhere), "{len}");
                }
                assert!(looked_up > 200, "{base:?}: {looked_up}");
            }
        }
    }

    #[test]
    fn each_model_gives_what_it_gives_alone() {
        let asked = [
            "redis-8.2",
            "valkey-8.1",
            "jemalloc-q16",
            "redis-7.2,set-max-listpack-entries=1",
            "redis-8.10",
            "redis-6.2,glibc",
            "valkey-9.1,hash-max-listpack-entries=0,zset-max-listpack-entries=0,set-max-intset-entries=1",
            "redis-8.10,hash-rdb-load-min-template-entries=1",
        ];
        for base in ["redis-7.0", "valkey-9.0", "redis-8.2"].map(model) {
            let others: Vec<Model> = asked.iter().map(|text| WhatIf::parse(text).unwrap().apply(&base)).collect();
            let alone = |model: &Model, (value_type, bytes): &(ValueType, Vec<u8>), expires: bool| {
                let mut meter = Meter::new(model);
                meter.begin_key(3, expires);
                walk(*value_type, Templates::NONE, &mut Cursor::new(bytes, 0), &mut meter).unwrap();
                *meter.finish().unwrap()
            };
            // All at once, and one by one: the meters sleep for a value only if all of them may.
            let groups = std::iter::once(&others[..]).chain(others.chunks(1));
            for group in groups {
                let mut meters = Meters::new(&base, group);
                assert_eq!(meters.alone().is_none(), group.iter().any(|model| !model.is(&base)));
                for (value, expires) in values().iter().flat_map(|value| [(value, false), (value, true)]) {
                    meters.begin_key(3, expires);
                    let mut bytes = Cursor::new(&value.1, 0);
                    match meters.alone() {
                        Some(meter) => walk(value.0, Templates::NONE, &mut bytes, meter).unwrap(),
                        None => walk(value.0, Templates::NONE, &mut bytes, &mut meters).unwrap(),
                    }
                    let (measured, sizes) = meters.finish().unwrap();
                    assert_eq!(*measured, alone(&base, value, expires));
                    let expected = group.iter().map(|model| alone(model, value, expires));
                    let (memory, allocated): (Vec<_>, Vec<_>) = expected.map(|one| (one.memory, one.allocated)).unzip();
                    assert_eq!((sizes.memory, sizes.allocated), (&memory[..], &allocated[..]), "{value:?}");
                }
            }
        }
    }

    #[test]
    fn damage_that_only_an_alternative_sees_does_not_cost_the_key() {
        // A listpack of two entries whose first claims to be longer than the whole.
        let blob = b"\x0b\x0b\x00\x00\x00\x02\x00\xa0\x61\x02\xff\xff";
        let base = model("redis-7.2");
        let others = [WhatIf::parse("hash-max-listpack-entries=0").unwrap().apply(&base)];
        let mut alone = Meter::new(&others[0]);
        alone.begin_key(1, false);
        walk(ValueType::HashListpack, Templates::NONE, &mut Cursor::new(blob, 0), &mut alone).unwrap();
        assert!(alone.finish().is_err());

        let mut meters = Meters::new(&base, &others);
        meters.begin_key(1, false);
        walk(ValueType::HashListpack, Templates::NONE, &mut Cursor::new(blob, 0), &mut meters).unwrap();
        let (measured, AlternativeSizes { memory, .. }) = meters.finish().unwrap();
        assert_eq!(memory, [measured.memory]);
    }
}
