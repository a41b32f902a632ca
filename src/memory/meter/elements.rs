//! Elements of tables, whose lengths suffice: counted by length first, then priced.

use super::Meter;
use crate::rdb::kind::Kind;
use crate::rdb::payload::SCORE_BYTES;

impl Meter<'_> {
    /// Adds a set member of a table here and to the meters beside this one.
    #[inline(always)]
    pub(in crate::memory) fn add_member(&mut self, len: u64, beside: &mut [Meter<'_>]) {
        if !self.lengths.count(len) {
            self.count_element(len);
            self.set.add(self.model, len);
            beside.iter_mut().for_each(|meter| meter.set.add(meter.model, len));
        }
    }

    /// Adds a pair of a table here and to the meters beside this one.
    #[inline(always)]
    pub(in crate::memory) fn add_pair(&mut self, field: u64, value: u64, beside: &mut [Meter<'_>]) {
        if !self.lengths.count_pair(field, value) {
            self.count_element(field.saturating_add(value));
            self.hash.add(self.model, field, value);
            beside.iter_mut().for_each(|meter| meter.hash.add(meter.model, field, value));
        }
    }

    /// Adds a member of a skiplist here and to the meters beside this one.
    #[inline(always)]
    pub(in crate::memory) fn add_scored(&mut self, member: u64, beside: &mut [Meter<'_>]) {
        if !self.lengths.count(member) {
            self.payload.add(member, SCORE_BYTES);
            self.zset.add(self.model, member);
            beside.iter_mut().for_each(|meter| meter.zset.add(meter.model, member));
        }
    }

    /// Starts to count lengths if a walk of `count` elements, which may give only these, is long enough.
    #[inline]
    pub(in crate::memory) fn expect(&mut self, count: u64) {
        match self.value_type.kind() {
            Kind::Set | Kind::Zset => self.lengths.expect_elements(count),
            Kind::Hash => self.lengths.expect_pairs(count),
            Kind::String | Kind::List | Kind::Stream | Kind::Module | Kind::Array => {}
        }
    }

    /// Announces the number of elements that follow.
    #[inline]
    pub(in crate::memory) fn announce(&mut self, count: u64) {
        match self.value_type.kind() {
            Kind::Set => self.set.announce(self.model, count),
            Kind::Zset => self.zset.announce(self.model, count),
            Kind::Hash => self.hash.announce(self.model, count),
            Kind::String | Kind::List | Kind::Stream | Kind::Module | Kind::Array => {}
        }
    }

    /// Prices the elements whose lengths were counted, for this model and for those of the meters beside it.
    #[inline]
    pub(in crate::memory) fn settle_lengths(&mut self, beside: &mut [Meter<'_>]) {
        if self.lengths.is_counting() {
            self.price_lengths(beside);
        }
    }

    #[inline(never)]
    fn price_lengths(&mut self, beside: &mut [Meter<'_>]) {
        let mut lengths = std::mem::take(&mut self.lengths);
        match self.value_type.kind() {
            Kind::Set => lengths.take(|len, count| {
                self.payload.add_many(len, 0, count);
                self.set.add_many(self.model, len, count);
                beside.iter_mut().for_each(|meter| meter.set.add_many(meter.model, len, count));
            }),
            Kind::Zset => lengths.take(|len, count| {
                self.payload.add_many(len, SCORE_BYTES, count);
                self.zset.add_many(self.model, len, count);
                beside.iter_mut().for_each(|meter| meter.zset.add_many(meter.model, len, count));
            }),
            Kind::Hash => lengths.take_pairs(|field, value, count| {
                self.payload.add_many(field.saturating_add(value), 0, count);
                self.hash.add_many(self.model, field, value, count);
                beside.iter_mut().for_each(|meter| meter.hash.add_many(meter.model, field, value, count));
            }),
            Kind::String | Kind::List | Kind::Stream | Kind::Module | Kind::Array => lengths.forget(),
        }
        self.lengths = lengths;
    }
}
