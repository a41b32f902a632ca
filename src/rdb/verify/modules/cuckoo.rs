//! Cuckoo filters (`CFRdbLoad` of RedisBloom).

use super::{END, Grammar, Integer, Items, Part, String, none};
use crate::error::Result;

/// Filters, buckets, items, deletions, bucket size, iterations, expansion.
const HEAD: Part = &[Integer; 7];
/// Buckets, their slots.
const FILTER: Part = &[Integer, String];

/// Reader of a chain of filters.
#[derive(Debug, Default)]
pub struct Cuckoo {
    is_begun: bool,
    filters: u64,
    bucket_size: u64,
}

impl Grammar for Cuckoo {
    fn begin(&mut self, _: u64) -> Part {
        *self = Cuckoo::default();
        HEAD
    }

    fn part(&mut self, items: &Items) -> Result<Part> {
        if self.is_begun {
            let buckets = items.number(0) & (u64::MAX >> 8);
            items.expect_len(1, buckets.wrapping_mul(self.bucket_size))?;
            self.filters -= 1;
        } else {
            // The number of filters has 16 bits.
            let filters = items.number(0) & 0xffff;
            if filters == 0 {
                return items.fault(0, none());
            }
            items.expect_some(1)?;
            *self = Cuckoo { is_begun: true, filters, bucket_size: items.number(4) & 0xff };
        }
        Ok(if self.filters > 0 { FILTER } else { END })
    }
}
