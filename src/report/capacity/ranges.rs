//! Contiguous ranges of slots for the nodes of a new cluster.

use super::cluster::SLOTS;
use crate::report::Weight;

/// Returns the node of each slot: ranges of equal memory, as nearly as slots allow. If a node would then get more than `most`, the
/// ranges differ as far as it takes to keep that limit, where ranges can.
pub(super) fn divide(all: &[Weight], count: usize, most: u64) -> Vec<usize> {
    let equal = equal(all, count);
    let mut load = vec![0_u64; count];
    for (node, weight) in equal.iter().zip(all) {
        load[*node] = load[*node].saturating_add(weight.memory.0);
    }
    if load.iter().all(|load| *load <= most) {
        return equal;
    }
    within(all, &equal, count, most).unwrap_or(equal)
}

/// Returns the least number of ranges of at most this much memory; `None` if a single slot has more.
pub(super) fn fewest(all: &[Weight], most: u64) -> Option<u64> {
    needed(all, most)?.first().map(|count| *count as u64)
}

/// Divides all slots into `count` ranges of equal memory, as nearly as slots allow.
fn equal(all: &[Weight], count: usize) -> Vec<usize> {
    let whole = all.iter().fold(0_u64, |sum, weight| sum.saturating_add(weight.memory.0));
    let mut before = 0_u128;
    let node = |(slot, weight): (u16, &Weight)| {
        // The middle of the slot's bytes decides; empty slots are divided by number.
        let middle = before + u128::from(weight.memory.0 / 2);
        let node = match whole {
            0 => u128::from(slot) * count as u128 / u128::from(SLOTS),
            _ => middle * count as u128 / u128::from(whole),
        };
        before += u128::from(weight.memory.0);
        usize::try_from(node).unwrap_or(usize::MAX).min(count - 1)
    };
    (0..SLOTS).zip(all).map(node).collect()
}

/// Divides all slots into at most `count` ranges of at most `most` bytes that end where those `wanted` do, if the rest then fits.
fn within(all: &[Weight], wanted: &[usize], count: usize, most: u64) -> Option<Vec<usize>> {
    let needed = needed(all, most)?;
    if *needed.first()? > count {
        return None;
    }
    let (mut node, mut load) = (0, 0_u64);
    let mut nodes = Vec::with_capacity(all.len());
    for ((weight, wanted), needed) in all.iter().zip(wanted).zip(needed) {
        let is_full = load.saturating_add(weight.memory.0) > most;
        let may_end = nodes.last() == Some(&node) && needed < count - node;
        if is_full || (*wanted > node && may_end) {
            (node, load) = (node + 1, 0);
        }
        nodes.push(node);
        load = load.saturating_add(weight.memory.0);
    }
    Some(nodes)
}

/// Returns for each slot how few ranges of at most `most` bytes hold it and all slots after it: each range is as long as it can be.
/// `None` if a single slot has more.
fn needed(all: &[Weight], most: u64) -> Option<Vec<usize>> {
    let mut needed = vec![0; all.len() + 1];
    let (mut end, mut sum) = (all.len(), 0_u128);
    for (begin, weight) in all.iter().enumerate().rev() {
        sum += u128::from(weight.memory.0);
        while sum > u128::from(most) {
            end -= 1;
            sum -= u128::from(all[end].memory.0);
        }
        if end == begin {
            return None;
        }
        needed[begin] = 1 + needed[end];
    }
    Some(needed)
}
