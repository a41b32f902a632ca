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
    strings: u64,
    /// Allocated bytes of the items' texts.
    texts: u64,
}

impl ModuleValue for TopK {
    fn begin(&mut self) {
        *self = TopK::default();
    }

    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.head.take(item);
        if let ModuleItem::String(text) = item {
            // The first two are the buckets and the list. Then come the items with a final zero; one alone is none.
            self.strings += 1;
            if self.strings > 2 && text.len() > 1 {
                self.texts = self.texts.saturating_add(server.usable(text.len()));
            }
        }
        Ok(())
    }

    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        let [k, width, depth] = self.head.get()?;
        let buckets = width.checked_mul(depth)?.checked_mul(BUCKET)?;
        k.checked_mul(ITEM)?.checked_add(buckets)?.checked_add(LIST)
    }

    fn allocated(&mut self, server: &mut ServerParts<'_>) -> Option<u64> {
        let [k, width, depth] = self.head.get()?;
        let buckets = server.usable(width.checked_mul(depth)?.checked_mul(BUCKET)?);
        let list = server.usable(k.checked_mul(ITEM)?).checked_add(server.usable(LIST))?;
        buckets.checked_add(list)?.checked_add(self.texts)
    }

    fn facts(&self) -> ModuleFacts {
        let [k, width, depth] = self.head.numbers.map(Some);
        ModuleFacts { k, width, depth, ..ModuleFacts::default() }
    }
}
