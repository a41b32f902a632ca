//! T-digest sketches (RedisBloom).

use super::{Head, ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::ModuleFacts;
use crate::memory::layout::ModuleLine;
use crate::rdb::walk::ModuleItem;

/// Size of the sketch's structure.
const SKETCH: u64 = 80;
/// Size of a pointer, which versions before 8.6 count instead of the structure.
const POINTER: u64 = 8;
/// Size of a node: mean and weight.
const NODE: u64 = 16;

/// T-digest sketch: compression, minimum, maximum, capacity, node counts, weights, nodes.
#[derive(Debug, Default)]
pub struct TDigest {
    head: Head<1>,
}

impl ModuleValue for TDigest {
    fn begin(&mut self) {
        *self = TDigest::default();
    }

    fn item(&mut self, _: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.head.take(item);
        Ok(())
    }

    fn memory(&mut self, server: &mut ServerParts<'_>) -> Option<u64> {
        let [capacity] = self.head.get()?;
        let structure = if server.line() < ModuleLine::Redis8_6 { POINTER } else { SKETCH };
        capacity.checked_mul(NODE)?.checked_add(structure)
    }

    fn facts(&self) -> ModuleFacts {
        let [capacity] = self.head.numbers.map(Some);
        ModuleFacts { capacity, ..ModuleFacts::default() }
    }
}
