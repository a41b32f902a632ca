//! Count-min sketches (RedisBloom).

use super::{Head, ModuleValue, ServerParts};
use crate::error::Result;
use crate::memory::ModuleFacts;
use crate::memory::layout::ModuleLine;
use crate::rdb::walk::ModuleItem;

/// Size of the sketch's structure.
const SKETCH: u64 = 32;
/// Size of a counter.
const COUNTER: u64 = 4;
/// Size of a pointer, which versions before 8.6 count for structure and counters alike.
const POINTER: u64 = 8;

/// Count-min sketch: width, depth, count, counters.
#[derive(Debug, Default)]
pub struct CountMin {
    head: Head<3>,
}

impl ModuleValue for CountMin {
    fn begin(&mut self) {
        *self = CountMin::default();
    }

    fn item(&mut self, _: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()> {
        self.head.take(item);
        Ok(())
    }

    fn memory(&mut self, server: &mut ServerParts<'_>) -> Option<u64> {
        let [width, depth, _] = self.head.get()?;
        let (structure, counter) =
            if server.line() < ModuleLine::Redis8_6 { (POINTER, POINTER) } else { (SKETCH, COUNTER) };
        width.checked_mul(depth)?.checked_mul(counter)?.checked_add(structure)
    }

    fn allocated(&mut self, server: &mut ServerParts<'_>) -> Option<u64> {
        let [width, depth, _] = self.head.get()?;
        let counters = server.usable(width.checked_mul(depth)?.checked_mul(COUNTER)?);
        counters.checked_add(server.usable(SKETCH))
    }

    fn facts(&self) -> ModuleFacts {
        let [width, depth, items] = self.head.numbers.map(Some);
        ModuleFacts { width, depth, items, ..ModuleFacts::default() }
    }
}
