//! Prices sorted sets: packed, or a skiplist with a table (`t_zset.c`).

use super::PricedValue;
use crate::error::{Error, Result};
use crate::memory::Encoding;
use crate::memory::Model;
use crate::memory::growth::Growth;
use crate::memory::item::{Blob, LISTPACK_FRAME, PackedItem, ZIPLIST_FRAME};
use crate::memory::layout::PackedForm;
use crate::memory::layout::TableUse;
use crate::memory::price::{FrameSize, Key};
use crate::memory::score;
use crate::memory::skiplist::NodeSum;
use crate::rdb::packed::{listpack, ziplist};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::walk::ScoreValue;
use crate::wording::wording;

/// Meter for sorted sets.
#[derive(Debug, Default)]
pub struct ZsetMeter {
    announced: u64,
    members: u64,
    longest: u64,
    blob: Blob,
    /// Size of the packed form; 0 for a skiplist.
    packed: u64,
    /// Sum of the counted sizes of members in a table, without skiplist nodes.
    strings: u64,
    /// Sum of the allocated bytes beyond that.
    slack: i64,
    nodes: NodeSum,
    growth: Growth,
}

impl ZsetMeter {
    /// Resets the meter for the next sorted set.
    pub fn begin(&mut self, model: &Model) {
        *self = ZsetMeter { growth: model.new_table(), ..ZsetMeter::default() };
    }

    /// Announces the number of members that follow.
    pub fn announce(&mut self, model: &Model, members: u64) {
        self.announced = members;
        if model.layout.presize.elements {
            self.growth.reserve(members);
        }
    }

    /// Adds a member.
    #[inline]
    pub fn member(
        &mut self,
        model: &Model,
        member: RawString<'_>,
        score: ScoreValue<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let len = member.len();
        self.longest = self.longest.max(len);
        self.add(model, len);
        if self.announced <= model.config.zset_entries && self.longest <= model.config.zset_value {
            self.pack(model, PackedItem::of(member, scratch)?);
            self.pack(model, score::item(score::value(score), model.layout.score));
        }
        Ok(())
    }

    /// Returns whether the lengths of the remaining members suffice: the set has too many members to be packed.
    #[inline]
    pub fn is_table(&self, model: &Model) -> bool {
        self.announced > model.config.zset_entries
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
        self.nodes.add(&model.nodes, len, count, |len| model.sds_size(len));
        let (memory, slack) = model.element(TableUse::Zset, len);
        self.slack = self.slack.wrapping_add(slack.wrapping_mul(count.cast_signed()));
        self.strings = self.strings.saturating_add(memory.saturating_mul(count));
    }

    fn pack(&mut self, model: &Model, item: PackedItem) {
        match model.layout.packed {
            PackedForm::Ziplist => self.blob.push_ziplist(item),
            PackedForm::Listpack => self.blob.push_listpack(item),
        }
    }

    /// Handles a sorted set stored as a ziplist.
    pub fn ziplist(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let entries = super::ziplist_count(blob, scratch)?;
        let members = self.stored(model, entries, blob)?;
        let packed_anew = model.layout.packed == PackedForm::Listpack;
        if members <= model.config.zset_entries && !packed_anew {
            return Ok(());
        }
        let bytes = blob.decode(scratch)?;
        let mut listpack = Blob::default();
        for (at, entry) in ziplist::Entries::new(bytes, blob.offset)?.enumerate() {
            let item = PackedItem::of_packed(entry?);
            listpack.push_listpack(item);
            if self.packed == 0 && at % 2 == 0 {
                self.add(model, item.len());
            }
        }
        if self.packed > 0 {
            self.packed = LISTPACK_FRAME + listpack.body();
        }
        Ok(())
    }

    /// Handles a sorted set stored as a listpack.
    pub fn listpack(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let elements = super::listpack_count(blob, scratch)?;
        if self.stored(model, elements, blob)? > model.config.zset_entries {
            for element in listpack::Elements::new(blob.decode(scratch)?, blob.offset)?.step_by(2) {
                self.add(model, element?.len());
            }
        }
        Ok(())
    }

    /// Records a packed form of `elements` elements and returns the number of members.
    fn stored(&mut self, model: &Model, elements: u64, blob: RawString<'_>) -> Result<u64> {
        if !elements.is_multiple_of(2) {
            return Err(Error::corrupt(
                blob.offset,
                wording!(
                    "sorted set has {elements} elements; expected member–score pairs",
                    "zset 有 {elements} 个元素，应为成对的成员和 score"
                ),
            ));
        }
        let members = elements / 2;
        if members <= model.config.zset_entries {
            self.members = members;
            self.packed = blob.len();
        } else if model.layout.presize.packed_zset {
            self.growth.reserve(members);
        }
        Ok(members)
    }

    /// Returns the priced sorted set.
    pub fn finish(&mut self, model: &Model, key: Key) -> PricedValue {
        let FrameSize { outside, object, slack } = model.frame(key);
        let config = &model.config;
        if self.packed == 0 && self.members <= config.zset_entries && self.longest <= config.zset_value {
            self.packed = self.blob.body()
                + match model.layout.packed {
                    PackedForm::Ziplist => ZIPLIST_FRAME,
                    PackedForm::Listpack => LISTPACK_FRAME,
                };
        }
        if self.packed > 0 {
            let memory = outside + object + model.packed(self.packed);
            let slack = slack + model.packed_slack(self.packed);
            return PricedValue::new(model.layout.packed.encoding(), self.members, memory, slack);
        }
        // The table was expanded, if at all, before the members were inserted.
        self.growth.insert_many(self.members);
        let base = object + model.skiplist(self.members, &self.growth);
        let sum = self.strings.saturating_add(self.nodes.total(&model.nodes));
        let slack = slack.saturating_add(model.skiplist_slack(self.members, &self.growth)).saturating_add(self.slack);
        PricedValue::new(Encoding::Skiplist, self.members, outside + model.average(base, sum, self.members), slack)
    }
}
