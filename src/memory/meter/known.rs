//! Prices of values without a walk, given what another meter has found: integers, elements, and that nothing is damaged.

use super::{Meter, PricedValue, string};
use crate::memory::price::{FrameSize, Key};
use crate::memory::{Encoding, Measured};
use crate::rdb::string::RawString;
use crate::rdb::value_type::ValueType;
use crate::units::Bytes;

/// Memory of a value, and its allocated bytes; 0 if the server's memory is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueSize {
    /// Memory as reported by `MEMORY USAGE`.
    pub memory: Bytes,
    /// Allocated bytes.
    pub allocated: Bytes,
}

impl Meter<'_> {
    /// Returns whether the size of most values of a layout follows from what another meter has found.
    #[inline]
    pub(in crate::memory) fn may_follow(value_type: ValueType) -> bool {
        matches!(
            value_type,
            ValueType::String
                | ValueType::HashListpack
                | ValueType::ZsetListpack
                | ValueType::SetListpack
                | ValueType::SetIntset
        )
    }

    /// Returns key and layout of the current value.
    #[inline]
    pub(in crate::memory) fn current(&self) -> (Key, ValueType) {
        (self.key, self.value_type)
    }

    /// Returns what was found of the current value, once it is priced.
    #[inline]
    pub(in crate::memory) fn found(&self) -> Option<&Measured> {
        self.priced.then_some(&self.measured)
    }

    /// Returns the size of a string; `found` is that of another meter.
    pub(in crate::memory) fn string_size(
        &mut self,
        key: Key,
        value: &RawString<'_>,
        found: &Measured,
    ) -> Option<ValueSize> {
        let priced = match found.encoding {
            Encoding::Int => string::measure(self.model, key, *value, &mut self.scratch).ok()?,
            _ => string::text(self.model, key, found.length?),
        };
        Some(self.size(priced))
    }

    /// Returns the size of a value packed in `blob`, if it stays packed on this server; `found` is that of another meter.
    #[inline]
    pub(in crate::memory) fn blob_size(
        &self,
        (key, value_type): (Key, ValueType),
        blob: RawString<'_>,
        found: &Measured,
    ) -> Option<ValueSize> {
        let (model, config) = (self.model, &self.model.config);
        let most = match value_type {
            ValueType::HashListpack if !self.may_convert => config.hash_entries,
            ValueType::ZsetListpack => config.zset_entries,
            ValueType::SetListpack => config.set_entries,
            ValueType::SetIntset => config.set_intset_entries,
            _ => return None,
        };
        let length = found.length.filter(|&length| length <= most)?;
        let FrameSize { outside, object, slack } = model.frame(key);
        let memory = outside + object + model.packed(blob.len());
        let slack = slack.saturating_add(model.packed_slack(blob.len()));
        Some(self.size(PricedValue::new(found.encoding, length, memory, slack)))
    }

    #[inline]
    fn size(&self, priced: PricedValue) -> ValueSize {
        if self.model.is_unknown {
            return ValueSize { memory: Bytes(0), allocated: Bytes(0) };
        }
        let allocated = Bytes(priced.memory.saturating_add_signed(priced.slack));
        ValueSize { memory: Bytes(priced.memory), allocated }
    }
}
