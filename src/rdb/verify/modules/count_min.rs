//! Count-min sketches (`CMSRdbLoad` of RedisBloom).

use super::{END, Grammar, Integer, Items, Part, String};
use crate::error::Result;

/// Reader of a sketch.
#[derive(Debug)]
pub struct CountMin;

impl Grammar for CountMin {
    fn begin(&mut self, _: u64) -> Part {
        // Width, depth, count, counters.
        &[Integer, Integer, Integer, String]
    }

    fn part(&mut self, items: &Items) -> Result<Part> {
        const COUNTER: u64 = 4;
        items.expect_some(0)?;
        items.expect_some(1)?;
        items.expect_len(3, items.number(0).wrapping_mul(items.number(1)).wrapping_mul(COUNTER))?;
        Ok(END)
    }
}
