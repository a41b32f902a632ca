//! Expected memory of skiplist nodes, whose level is random: each level is exceeded with probability 1/4.
//!
//! Uses the most likely sum for few members, the expected value for more.

use super::alloc::Allocator;
use super::layout::NodeForm;

/// Prices of nodes, by the size of the embedded member.
#[derive(Debug)]
pub struct NodePrices {
    form: NodeForm,
    allocator: Allocator,
    /// Precomputed expected prices of small nodes, in 1/65536 bytes.
    small: Vec<u64>,
}

/// Number of levels in the expectation; higher levels are counted as the last.
const LEVELS: u32 = 16;
const FRACTION_BITS: u32 = 16;
/// Maximum number of nodes for which the most likely sum is used.
const FEW: usize = 16;
/// Search range of the most likely sum, in steps of eight bytes above the minimum.
const STEPS: usize = 48;
/// Number of levels considered for it; higher ones are negligible.
const LIKELY_LEVELS: u64 = 6;

impl NodePrices {
    /// Precomputes prices for one node layout.
    pub fn new(form: NodeForm, allocator: Allocator) -> NodePrices {
        let mut prices = NodePrices { form, allocator, small: Vec::new() };
        let small = if form == NodeForm::Pointer { 1 } else { 160 };
        prices.small = (0..small).map(|inside| prices.compute(inside)).collect();
        prices
    }

    /// Returns whether nodes embed their members.
    #[inline]
    pub fn holds_members(&self) -> bool {
        self.form != NodeForm::Pointer
    }

    fn node(&self, level: u64, inside: u64) -> u64 {
        let fixed = match self.form {
            NodeForm::Pointer => 24,
            NodeForm::Inline(more) => 16 + more,
        };
        self.allocator.usable((fixed + 16 * level).saturating_add(inside))
    }

    fn compute(&self, inside: u64) -> u64 {
        let mut sum: u128 = 0;
        for level in 1..=LEVELS {
            // 3/4 of the remaining nodes stop at each level, and all of the rest at the last.
            let weight: u128 = if level == LEVELS { 4 } else { 3 } << (2 * (LEVELS - level));
            sum += weight * u128::from(self.node(u64::from(level), inside));
        }
        u64::try_from(sum >> (2 * LEVELS - FRACTION_BITS)).unwrap_or(u64::MAX)
    }

    /// Returns the expected price of a node with an embedded member of `inside` bytes.
    #[inline]
    fn expected(&self, inside: u64) -> u64 {
        let ready = usize::try_from(inside).ok().and_then(|at| self.small.get(at).copied());
        ready.unwrap_or_else(|| self.compute(inside))
    }

    /// Returns the most likely sum of a few nodes, by convolution of their distributions.
    fn likeliest(&self, members: &[u64]) -> u64 {
        let mut least: u64 = 0;
        let mut odds = [0.0f64; STEPS];
        odds[0] = 1.0;
        for &inside in members {
            let low = self.node(1, inside);
            least = least.saturating_add(low);
            let mut folded = [0.0f64; STEPS];
            let mut weight = 0.75;
            for level in 1..=LIKELY_LEVELS {
                let above = (self.node(level, inside) - low) / 8;
                if let Some(room) = usize::try_from(above).ok().and_then(|above| folded.get_mut(above..)) {
                    room.iter_mut().zip(&odds).for_each(|(sum, odds)| *sum += weight * odds);
                }
                weight *= 0.25;
            }
            odds = folded;
        }
        let (mut best, mut steps) = (0.0, 0);
        for (odds, above) in odds.into_iter().zip(0u64..) {
            if odds > best {
                (best, steps) = (odds, above);
            }
        }
        least.saturating_add(8 * steps)
    }
}

/// Sum of node prices.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeSum {
    nodes: usize,
    /// Sum in 1/65536 bytes.
    expected: u64,
    few: [u64; FEW],
}

impl NodeSum {
    /// Adds the nodes of `count` members of `len` bytes; `sds_size` computes the size of their strings.
    #[inline]
    pub fn add(&mut self, prices: &NodePrices, len: u64, count: u64, sds_size: impl FnOnce(u64) -> u64) {
        let inside = if prices.holds_members() { sds_size(len) } else { 0 };
        self.expected = self.expected.saturating_add(prices.expected(inside).saturating_mul(count));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if let Some(free) = self.few.get_mut(self.nodes..) {
            free.iter_mut().take(count).for_each(|slot| *slot = inside);
        }
        self.nodes = self.nodes.saturating_add(count);
    }

    /// Returns the total, a multiple of eight.
    pub fn total(&self, prices: &NodePrices) -> u64 {
        match self.few.get(..self.nodes) {
            Some(members) => prices.likeliest(members),
            None => (self.expected.saturating_add(4 << FRACTION_BITS) >> (FRACTION_BITS + 3)) << 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(form: NodeForm, nodes: usize) -> u64 {
        let prices = NodePrices::new(form, Allocator::Jemalloc);
        let mut sum = NodeSum::default();
        (0..nodes).for_each(|_| sum.add(&prices, 10, 1, |len| len));
        sum.total(&prices)
    }

    #[test]
    fn expected_node_size_is_45_84_bytes() {
        let prices = NodePrices::new(NodeForm::Pointer, Allocator::Jemalloc);
        assert_eq!(prices.expected(0) * 10 / 65_536, 458);
        assert_eq!(sum(NodeForm::Pointer, 1000), 45_840);
    }

    #[test]
    fn few_nodes_use_most_likely_sum() {
        assert_eq!([1, 2, 5].map(|nodes| sum(NodeForm::Pointer, nodes)), [40, 80, 216]);
        assert_eq!(sum(NodeForm::Inline(0), 1), 48);
    }

    #[test]
    fn node_and_its_member_are_one_allocation() {
        let node = |more, inside| NodePrices::new(NodeForm::Inline(more), Allocator::Jemalloc).node(1, inside);
        assert_eq!([15, 16, 17].map(|inside| node(0, inside)), [48, 48, 56]);
        assert_eq!([14, 15, 16].map(|inside| node(1, inside)), [48, 48, 56]);
    }

    #[test]
    fn claims_do_not_overflow() {
        let prices = NodePrices::new(NodeForm::Inline(0), Allocator::Jemalloc);
        let mut sum = NodeSum::default();
        (0..20).for_each(|_| sum.add(&prices, u64::MAX, 1, |len| len));
        assert!(sum.total(&prices) > 0);
    }
}
