//! Nodes of skiplists. Their level is random: one in four goes one higher. So no single node has a fixed price.
//!
//! For few members the likeliest sum is told, for more the expected one.

use super::alloc::Allocator;
use super::layout::NodeForm;

/// What nodes take, by the size of the member inside.
#[derive(Debug)]
pub struct NodePrices {
    form: NodeForm,
    allocator: Allocator,
    /// Expected prices of small nodes, in 65536ths of a byte.
    small: Vec<u64>,
}

/// Levels up to this have a share in the expectation; those above share the last one's.
const LEVELS: u32 = 16;
const FRACTION_BITS: u32 = 16;
/// Up to so many nodes their likeliest sum is told.
const FEW: usize = 16;
/// Where the likeliest sum is looked for: so many steps of eight bytes above the least.
const STEPS: usize = 48;
/// Levels that count in that: higher ones are rare.
const LIKELY_LEVELS: u64 = 6;

impl NodePrices {
    /// Prices for one form of node.
    pub fn new(form: NodeForm, allocator: Allocator) -> NodePrices {
        let mut prices = NodePrices { form, allocator, small: Vec::new() };
        let small = if form == NodeForm::Pointer { 1 } else { 160 };
        prices.small = (0..small).map(|inside| prices.compute(inside)).collect();
        prices
    }

    /// The member's string is part of its node.
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
            // Three in four stop at each level; all that is left does at the last.
            let weight: u128 = if level == LEVELS { 4 } else { 3 } << (2 * (LEVELS - level));
            sum += weight * u128::from(self.node(u64::from(level), inside));
        }
        u64::try_from(sum >> (2 * LEVELS - FRACTION_BITS)).unwrap_or(u64::MAX)
    }

    /// The expected price of a node with a member of so many bytes inside.
    #[inline]
    fn expected(&self, inside: u64) -> u64 {
        let ready = usize::try_from(inside).ok().and_then(|at| self.small.get(at).copied());
        ready.unwrap_or_else(|| self.compute(inside))
    }

    /// The likeliest sum of a few nodes: the distributions of each, folded.
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

/// A sum of nodes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeSum {
    nodes: usize,
    /// In 65536ths of a byte.
    expected: u64,
    few: [u64; FEW],
}

impl NodeSum {
    /// Adds the node of a member of so many bytes; `sds_size` tells what its string takes.
    #[inline]
    pub fn add(&mut self, prices: &NodePrices, len: u64, sds_size: impl FnOnce(u64) -> u64) {
        let inside = if prices.holds_members() { sds_size(len) } else { 0 };
        self.expected = self.expected.saturating_add(prices.expected(inside));
        if let Some(slot) = self.few.get_mut(self.nodes) {
            *slot = inside;
        }
        self.nodes += 1;
    }

    /// What they take; always a multiple of eight.
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
        (0..nodes).for_each(|_| sum.add(&prices, 10, |len| len));
        sum.total(&prices)
    }

    #[test]
    fn a_node_is_expected_to_take_45_84_bytes() {
        let prices = NodePrices::new(NodeForm::Pointer, Allocator::Jemalloc);
        assert_eq!(prices.expected(0) * 10 / 65_536, 458);
        assert_eq!(sum(NodeForm::Pointer, 1000), 45_840);
    }

    #[test]
    fn few_nodes_are_likely_low() {
        assert_eq!([1, 2, 5].map(|nodes| sum(NodeForm::Pointer, nodes)), [40, 80, 216]);
        assert_eq!(sum(NodeForm::Inline(0), 1), 48);
    }

    #[test]
    fn claims_do_not_overflow() {
        let prices = NodePrices::new(NodeForm::Inline(0), Allocator::Jemalloc);
        let mut sum = NodeSum::default();
        (0..20).for_each(|_| sum.add(&prices, u64::MAX, |len| len));
        assert!(sum.total(&prices) > 0);
    }
}
