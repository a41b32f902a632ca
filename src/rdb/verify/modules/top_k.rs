//! Top-k lists (`TopKRdbLoad` of RedisBloom).

use super::{Double, END, Grammar, Integer, Items, Part, String, none};
use crate::error::Result;

/// K, width, depth, decay, buckets, list.
const HEAD: Part = &[Integer, Integer, Integer, Double, String, String];
/// Text of a listed item.
const ITEM: Part = &[String];
/// Size of a bucket.
const BUCKET: u64 = 8;
/// Size of a listed item without its text.
const LISTED: u64 = 24;

/// Reader of a list.
#[derive(Debug, Default)]
pub struct TopK {
    is_begun: bool,
    left: u32,
}

impl Grammar for TopK {
    fn begin(&mut self, _: u64) -> Part {
        *self = TopK::default();
        HEAD
    }

    fn part(&mut self, items: &Items) -> Result<Part> {
        if self.is_begun {
            self.left -= 1;
        } else {
            let [k, width, depth] = [0, 1, 2].map(|place| items.number_32(place));
            if let Some(place) = [k, width, depth].iter().position(|&size| size == 0) {
                return items.fault(place, none());
            }
            let buckets = u64::from(width).wrapping_mul(depth.into()).wrapping_mul(BUCKET);
            items.expect_len(4, buckets)?;
            items.expect_len(5, u64::from(k) * LISTED)?;
            *self = TopK { is_begun: true, left: k };
        }
        Ok(if self.left > 0 { ITEM } else { END })
    }
}
