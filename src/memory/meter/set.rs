//! Prices sets: intset, listpack (from 7.2 on) or table (`t_set.c`, type 2 in `rdbLoadObject`).

use super::PricedValue;
use crate::error::Result;
use crate::memory::Encoding;
use crate::memory::Model;
use crate::memory::growth::Growth;
use crate::memory::item::{Blob, LISTPACK_FRAME, PackedItem};
use crate::memory::layout::Count;
use crate::memory::layout::TableUse;
use crate::memory::price::{FrameSize, Key};
use crate::memory::slack::gap;
use crate::rdb::packed::{PackedElement, intset, listpack};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;

/// Encoding of the set during loading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SetForm {
    #[default]
    Intset,
    Listpack,
    Table,
}

/// Meter for sets.
#[derive(Debug, Default)]
pub struct SetMeter {
    form: SetForm,
    announced: u64,
    members: u64,
    least: i64,
    greatest: i64,
    longest: u64,
    blob: Blob,
    /// Size reserved when the listpack was created.
    reserved: u64,
    /// Size of the packed form, if stored packed.
    stored: u64,
    /// Sum of the counted sizes of members in a table.
    strings: u64,
    /// Sum of the allocated bytes beyond that.
    slack: i64,
    growth: Growth,
    /// Members already inserted into the table; the rest is inserted at once at the end.
    inserted: u64,
}

impl SetMeter {
    /// Resets the meter for the next set.
    pub fn begin(&mut self, model: &Model) {
        *self = SetMeter { growth: model.new_table(), ..SetMeter::default() };
    }

    /// Announces the number of members that follow.
    pub fn announce(&mut self, model: &Model, members: u64) {
        self.announced = members;
        if members > model.config.set_intset_entries {
            self.make_table_for(model, members);
        }
    }

    fn make_table_for(&mut self, model: &Model, members: u64) {
        self.form = SetForm::Table;
        self.growth = model.new_table();
        self.growth.reserve(members);
    }

    /// Adds a member.
    #[inline]
    pub fn member(&mut self, model: &Model, member: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let len = member.len();
        self.add(model, len);
        if self.form == SetForm::Table {
            return Ok(());
        }
        let item = PackedItem::of(member, scratch)?;
        self.longest = self.longest.max(len);
        self.small(model, item, len);
        Ok(())
    }

    /// Returns whether the lengths of the remaining members suffice.
    #[inline]
    pub fn is_table(&self) -> bool {
        self.form == SetForm::Table
    }

    /// Adds a member to a table.
    #[inline]
    pub fn add(&mut self, model: &Model, len: u64) {
        self.add_many(model, len, 1);
    }

    /// Adds `count` members of this length to a table.
    #[inline]
    pub fn add_many(&mut self, model: &Model, len: u64, count: u64) {
        self.members += count;
        self.price(model, len, count);
    }

    #[inline]
    fn price(&mut self, model: &Model, len: u64, count: u64) {
        let (memory, slack) = model.element(TableUse::Set, len);
        self.strings = self.strings.saturating_add(memory.saturating_mul(count));
        self.slack = self.slack.wrapping_add(slack.wrapping_mul(count.cast_signed()));
    }

    /// Adds a member to a set that is not a table yet.
    fn small(&mut self, model: &Model, item: PackedItem, len: u64) {
        let before = self.members - 1;
        if let (SetForm::Intset, PackedItem::Int(number)) = (self.form, item) {
            self.least = if before == 0 { number } else { self.least.min(number) };
            self.greatest = if before == 0 { number } else { self.greatest.max(number) };
            self.blob.push_listpack(item);
            return;
        }
        if !model.layout.packed_sets {
            self.become_growing_table(before);
            return;
        }
        let config = &model.config;
        let fits = before < config.set_entries && len <= config.set_value;
        if self.form == SetForm::Intset && fits && self.longest <= config.set_value {
            self.form = SetForm::Listpack;
            self.reserved = self.room_for_numbers(before);
        }
        if self.form == SetForm::Listpack && fits {
            self.blob.push_listpack(item);
            return;
        }
        self.make_table_for(model, self.announced);
    }

    /// Returns the size reserved for a listpack converted from an intset: each integer counts as the widest one.
    fn room_for_numbers(&self, numbers: u64) -> u64 {
        if numbers == 0 {
            return 0;
        }
        let widest = PackedItem::Int(self.least).in_listpack().max(PackedItem::Int(self.greatest).in_listpack());
        LISTPACK_FRAME + widest * numbers
    }

    /// Converts an intset to a table created for its integers, which then expands for all members (up to 7.0).
    fn become_growing_table(&mut self, before: u64) {
        self.form = SetForm::Table;
        self.growth.reserve(before);
        self.growth.insert_many(before);
        self.growth.reserve(self.announced);
        self.inserted = before;
    }

    /// Handles a set stored as an intset.
    pub fn intset(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let header = intset::header(blob.prefix(intset::HEADER, scratch)?, blob.len(), blob.offset)?;
        self.members = header.count;
        self.stored = blob.len();
        if header.count > model.config.set_intset_entries {
            self.make_table_for(model, header.count);
            self.growth.fill(header.count);
            self.inserted = header.count;
            for number in intset::numbers(blob.decode(scratch)?, blob.offset)? {
                self.price(model, PackedElement::Int(number).len(), 1);
            }
        }
        Ok(())
    }

    /// Handles a set stored as a listpack.
    pub fn listpack(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        self.form = SetForm::Listpack;
        self.members = super::listpack_count(blob, scratch)?;
        self.stored = blob.len();
        if self.members > model.config.set_entries {
            self.make_table_for(model, self.members);
            self.growth.fill(self.members);
            self.inserted = self.members;
            for member in listpack::Elements::new(blob.decode(scratch)?, blob.offset)? {
                self.price(model, member?.len(), 1);
            }
        }
        Ok(())
    }

    /// Returns the priced set.
    pub fn finish(&mut self, model: &Model, key: Key) -> PricedValue {
        let FrameSize { outside, object, slack } = model.frame(key);
        let (encoding, memory, more) = match self.form {
            SetForm::Intset => {
                let size = self.intset_size();
                (Encoding::Intset, outside + object + model.packed(size), model.packed_slack(size))
            }
            SetForm::Listpack => {
                let size = self.listpack_size(model);
                let given = model.usable(self.listpack_bytes());
                (Encoding::Listpack, outside + object + size, gap(given, size))
            }
            SetForm::Table => {
                self.growth.insert_many(self.members.saturating_sub(self.inserted));
                let base = object + model.table(TableUse::Set, self.members, &self.growth);
                let table = model.table_slack(TableUse::Set, self.members, &self.growth);
                let memory = outside + model.average(base, self.strings, self.members);
                (Encoding::Hashtable, memory, table.saturating_add(self.slack))
            }
        };
        PricedValue::new(encoding, self.members, memory, slack.saturating_add(more))
    }

    fn intset_size(&self) -> u64 {
        if self.stored > 0 {
            return self.stored;
        }
        let fits = |least: i64, greatest: i64| self.least >= least && self.greatest <= greatest;
        let width = if fits(i16::MIN.into(), i16::MAX.into()) {
            2
        } else if fits(i32::MIN.into(), i32::MAX.into()) {
            4
        } else {
            8
        };
        intset::HEADER as u64 + width * self.members
    }

    /// Returns the requested size of the listpack, which never shrinks below its reserved size.
    fn listpack_bytes(&self) -> u64 {
        if self.stored > 0 { self.stored } else { (LISTPACK_FRAME + self.blob.body()).max(self.reserved) }
    }

    fn listpack_size(&self, model: &Model) -> u64 {
        if self.stored > 0 {
            return model.packed(self.stored);
        }
        let size = LISTPACK_FRAME + self.blob.body();
        match model.layout.packed_count {
            Count::Requested => size,
            // The listpack never shrinks below its reserved size.
            Count::Usable => model.usable(size.max(self.reserved)),
        }
    }
}
