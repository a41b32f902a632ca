//! Cuckoo filters (RedisBloom): a chain of filters.

use super::{Head, ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::ModuleFacts;
use crate::rdb::walk::ModuleItem;

/// Size of the chain's structure.
const CHAIN: u64 = 40;
/// Size of a filter's structure.
const FILTER: u64 = 16;

/// Cuckoo filter: filters, buckets, items, deletions, bucket size, iterations, expansion; for each filter its buckets.
#[derive(Debug, Default)]
pub struct Cuckoo {
    head: Head<3>,
    filters: u64,
    buckets: u64,
    bucket_allocations: u64,
}

impl ModuleValue for Cuckoo {
    fn begin(&mut self) {
        *self = Cuckoo::default();
    }

    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.head.take(item);
        if let ModuleItem::String(buckets) = item {
            self.filters += 1;
            self.buckets = self.buckets.saturating_add(buckets.len());
            self.bucket_allocations = self.bucket_allocations.saturating_add(server.usable(buckets.len()));
        }
        Ok(())
    }

    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        let [filters, ..] = self.head.get()?;
        let structs = FILTER.saturating_mul(filters).saturating_add(CHAIN);
        (filters == self.filters).then(|| structs.saturating_add(self.buckets))
    }

    fn allocated(&mut self, server: &mut ServerParts<'_>) -> Option<u64> {
        let filters = server.usable(FILTER.checked_mul(self.filters)?);
        self.bucket_allocations.checked_add(filters)?.checked_add(server.usable(CHAIN))
    }

    fn facts(&self) -> ModuleFacts {
        let [filters, _, items] = self.head.numbers;
        // A slot is a byte.
        let capacity = Some(self.buckets);
        ModuleFacts { filters: Some(filters), capacity, items: Some(items), ..ModuleFacts::default() }
    }
}
