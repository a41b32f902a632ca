//! Bloom filters (RedisBloom): a chain of filters.

use super::{Head, ModuleValue, ServerParts};
use crate::error::Result;
use crate::rdb::walk::ModuleItem;

/// Size of the chain's structure.
const CHAIN: u64 = 32;
/// Size of a filter's structure.
const FILTER: u64 = 64;

/// Bloom filter: size, filters, options, growth; for each filter its parameters, bits and entries.
#[derive(Debug, Default)]
pub struct Bloom {
    head: Head<2>,
    filters: u64,
    bits: u64,
}

impl ModuleValue for Bloom {
    fn begin(&mut self) {
        *self = Bloom::default();
    }

    fn item(&mut self, _: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.head.take(item);
        if let ModuleItem::String(bits) = item {
            self.filters += 1;
            self.bits = self.bits.saturating_add(bits.len());
        }
        Ok(())
    }

    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        let [_, filters] = self.head.get()?;
        (filters == self.filters)
            .then(|| FILTER.saturating_mul(filters).saturating_add(CHAIN).saturating_add(self.bits))
    }
}
