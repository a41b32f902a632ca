//! Top-k lists (RedisBloom).

use super::{Head, ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::ModuleFacts;
use crate::rdb::walk::ModuleItem;

/// Size of the list's structure, which holds a table of powers of the decay.
const LIST: u64 = 2088;
/// Size of a bucket.
const BUCKET: u64 = 8;
/// Size of a listed item, without its text.
const ITEM: u64 = 24;

/// Top-k list: k, width, depth, decay, buckets, items.
#[derive(Debug, Default)]
pub struct TopK {
    head: Head<3>,
}

impl ModuleValue for TopK {
    fn begin(&mut self) {
        *self = TopK::default();
    }

    fn item(&mut self, _: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.head.take(item);
        Ok(())
    }

    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        let [k, width, depth] = self.head.get()?;
        let buckets = width.checked_mul(depth)?.checked_mul(BUCKET)?;
        k.checked_mul(ITEM)?.checked_add(buckets)?.checked_add(LIST)
    }

    fn facts(&self) -> ModuleFacts {
        let [k, width, depth] = self.head.numbers.map(Some);
        ModuleFacts { k, width, depth, ..ModuleFacts::default() }
    }
}
