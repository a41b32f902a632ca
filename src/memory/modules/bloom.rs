//! Bloom filters (RedisBloom): a chain of filters.

use super::{Head, ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::ModuleFacts;
use crate::rdb::walk::ModuleItem;

/// Size of the chain's structure.
const CHAIN: u64 = 32;
/// Size of a filter's structure.
const FILTER: u64 = 64;
/// Integers before those of the filters.
const HEAD: u64 = 4;
/// Integers of each filter.
const PER_FILTER: u64 = 5;

/// Bloom filter: size, filters, options, growth; for each filter its parameters, bits and entries.
#[derive(Debug, Default)]
pub struct Bloom {
    head: Head<2>,
    integers: u64,
    filters: u64,
    bits: u64,
    bit_allocations: u64,
    capacity: u64,
}

impl ModuleValue for Bloom {
    fn begin(&mut self) {
        *self = Bloom::default();
    }

    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.head.take(item);
        match item {
            ModuleItem::Integer(number) => {
                // Integers of each filter: entries, hashes, bits, their logarithm, and behind the data the items.
                if self.integers >= HEAD && (self.integers - HEAD).is_multiple_of(PER_FILTER) {
                    self.capacity = self.capacity.saturating_add(number);
                }
                self.integers += 1;
            }
            ModuleItem::String(bits) => {
                self.filters += 1;
                self.bits = self.bits.saturating_add(bits.len());
                self.bit_allocations = self.bit_allocations.saturating_add(server.usable(bits.len()));
            }
            ModuleItem::Float(_) | ModuleItem::Double(_) => {}
        }
        Ok(())
    }

    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        let [_, filters] = self.head.get()?;
        (filters == self.filters)
            .then(|| FILTER.saturating_mul(filters).saturating_add(CHAIN).saturating_add(self.bits))
    }

    fn allocated(&mut self, server: &mut ServerParts<'_>) -> Option<u64> {
        let filters = server.usable(FILTER.checked_mul(self.filters)?);
        self.bit_allocations.checked_add(filters)?.checked_add(server.usable(CHAIN))
    }

    fn facts(&self) -> ModuleFacts {
        let [items, _] = self.head.numbers;
        ModuleFacts {
            filters: Some(self.filters),
            capacity: Some(self.capacity),
            items: Some(items),
            ..ModuleFacts::default()
        }
    }
}
