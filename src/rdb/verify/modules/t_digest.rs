//! T-digest sketches (`TDigestRdbLoad` of RedisBloom).

use super::{Double, END, Grammar, Integer, Items, Part};
use crate::error::Result;
use crate::wording::wording;

/// Compression, minimum, maximum, capacity, merged nodes, unmerged nodes, compressions, merged weight, unmerged weight.
const HEAD: Part = &[Double, Double, Double, Integer, Integer, Integer, Integer, Double, Double];
/// Mean or weight of a node.
const NODE: Part = &[Double];

/// Reader of a sketch.
#[derive(Debug, Default)]
pub struct TDigest {
    is_begun: bool,
    /// Means and weights that follow.
    left: u64,
}

impl Grammar for TDigest {
    fn begin(&mut self, _: u64) -> Part {
        *self = TDigest::default();
        HEAD
    }

    fn part(&mut self, items: &Items) -> Result<Part> {
        if self.is_begun {
            self.left -= 1;
        } else {
            *self = TDigest { is_begun: true, left: 2 * nodes(items)? };
        }
        Ok(if self.left > 0 { NODE } else { END })
    }
}

/// Returns the number of nodes.
fn nodes(items: &Items) -> Result<u64> {
    let capacity = items.number_32(3).cast_signed();
    let nodes = items.number_32(4).cast_signed();
    match u64::try_from(nodes) {
        Ok(nodes) if i64::try_from(nodes).is_ok_and(|nodes| nodes <= capacity.into()) => Ok(nodes),
        _ => {
            items.fault(4, wording!("{nodes} nodes in room for {capacity}", "有 {nodes} 个节点，容量却只有 {capacity}"))
        }
    }
}
