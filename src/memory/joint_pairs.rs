//! Precomputed prices of short hash pairs, for servers whose table entries hold the field and, if there is room, its value.

use super::layout::{FieldForm, TableUse};
use super::price::{ENTRY_WITH_VALUE, POINTER, VALUE_INSIDE};
use super::slack::gap;
use super::{ElementPrice, Model, ShortPrices};

/// Prices of pairs without an expiry.
#[derive(Debug)]
#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
pub(super) struct JointPairs {
    /// Size of an entry with an empty value inside, by length of the field.
    sizes: [usize; ShortPrices::STRINGS],
    /// Price of an entry with its value inside, by its size.
    together: [ElementPrice; ENTRY_WITH_VALUE as usize + 1],
    /// Price of an entry with its value outside, by length of the field.
    entries: [ElementPrice; ShortPrices::STRINGS],
    /// Price of a value outside, by its length.
    values: [ElementPrice; ShortPrices::STRINGS],
}

impl JointPairs {
    #[expect(clippy::cast_possible_truncation, reason = "sizes of short strings")]
    /// Computes the prices; `None` if the fields of the server's hashes are separate strings.
    pub fn of(model: &Model) -> Option<JointPairs> {
        let counted = match model.layout.field {
            FieldForm::Entry { .. } => true,
            FieldForm::RoundedEntry { .. } => false,
            FieldForm::Strings | FieldForm::Mstr => return None,
        };
        let price = |priced| ElementPrice::of(priced).unwrap_or(ElementPrice::NONE);
        let table_entry = model.entry(TableUse::Hash);
        let entry = |size: u64| match counted {
            true => price((table_entry + size, gap(model.usable(size), size))),
            false => price((model.usable(size), 0)),
        };
        let value = |len: u64| price((model.sds(len), if counted { model.sds_slack(len) } else { 0 }));
        Some(JointPairs {
            sizes: std::array::from_fn(|field| (model.inner_sds(field as u64) + VALUE_INSIDE) as usize),
            together: std::array::from_fn(|size| entry(size as u64)),
            entries: std::array::from_fn(|field| entry(POINTER + model.inner_sds_with_long_header(field as u64))),
            values: std::array::from_fn(|len| value(len as u64)),
        })
    }

    /// Returns counted size and slack of a pair, entry included; `None` if field or value is long.
    #[inline]
    pub fn price(&self, field: u64, value: u64) -> Option<(u64, i64)> {
        let (field, value) = (usize::try_from(field).ok()?, usize::try_from(value).ok()?);
        let size = self.sizes.get(field)?.saturating_add(value);
        if let Some(together) = self.together.get(size) {
            return Some((u64::from(together.memory), i64::from(together.slack)));
        }
        let (entry, value) = (self.entries[field], self.values.get(value)?);
        Some((u64::from(entry.memory) + u64::from(value.memory), i64::from(entry.slack) + i64::from(value.slack)))
    }
}
