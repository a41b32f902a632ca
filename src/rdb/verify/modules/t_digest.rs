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
///
/// The module makes room for nodes by the compression alone and reads as many as the value says.
fn nodes(items: &Items) -> Result<u64> {
    let capacity = items.number_32(3).cast_signed();
    let nodes = items.number_32(4).cast_signed();
    let unmerged = items.number_32(5).cast_signed();
    let compression = items.double(0);
    if capacity_at(compression) != Some(i64::from(capacity)) {
        return items.fault(
            3,
            wording!(
                "room for {capacity} nodes does not suit the compression {compression}",
                "容量 {capacity} 与 compression {compression} 不符"
            ),
        );
    }
    if !(0..=capacity).contains(&nodes) {
        return items
            .fault(4, wording!("{nodes} nodes in room for {capacity}", "有 {nodes} 个节点，容量却只有 {capacity}"));
    }
    if !(0..=capacity - nodes).contains(&unmerged) {
        return items.fault(
            5,
            wording!(
                "{unmerged} unmerged nodes in room for {capacity}",
                "有 {unmerged} 个未合并节点，容量却只有 {capacity}"
            ),
        );
    }
    Ok(u64::from(nodes.unsigned_abs()))
}

/// Returns the nodes that the module makes room for.
#[expect(clippy::cast_possible_truncation, reason = "within the limits of a 32-bit number")]
fn capacity_at(compression: f64) -> Option<i64> {
    (0.0..f64::from(i32::MAX / 6 - 10)).contains(&compression).then(|| 6 * compression as i64 + 10)
}
