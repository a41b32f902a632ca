//! How much memory the server needs, for the rules about capacity. What they measure is decided here, once.

use super::context::Context;
use crate::report::Report;
use crate::units::Bytes;

/// What the same keys would take on another server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpgradeEstimate {
    /// The other server's memory model, such as `redis 8.2`.
    pub model: String,
    /// What the keys would take there.
    pub memory: Bytes,
}

/// What the server takes for this snapshot: keys and tables, or the keys alone where only some of them count.
pub fn estimated_memory(report: &Report) -> Bytes {
    report.instance.as_ref().map_or(report.totals.memory, |instance| instance.total)
}

/// What was computed for other servers, comparable with [`estimated_memory`].
pub fn upgrades(report: &Report, context: &Context) -> Vec<UpgradeEstimate> {
    let alternatives = report.what_if.iter().flat_map(|what_if| &what_if.alternatives);
    let whole = report.instance.is_some();
    let computed = alternatives.map(|alternative| UpgradeEstimate {
        model: alternative.model.clone(),
        memory: alternative.total.filter(|_| whole).unwrap_or(alternative.memory),
    });
    context.upgrades.iter().cloned().chain(computed).collect()
}

/// `part` of `whole` in thousandths, rounded up, so that whatever is above a limit also reads as above it. All of nothing
/// is nothing.
pub fn permille(part: u64, whole: u64) -> u64 {
    let thousandths = (u128::from(part) * 1000).checked_div(u128::from(whole)).unwrap_or_default();
    let exact = thousandths * u128::from(whole) == u128::from(part) * 1000;
    u64::try_from(thousandths + u128::from(!exact && whole > 0)).unwrap_or(u64::MAX)
}

/// Whether `part` is more than so many thousandths of `whole`, exactly.
pub fn exceeds(part: u64, whole: u64, allowed: u64) -> bool {
    u128::from(part) * 1000 > u128::from(whole) * u128::from(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_a_share_reads_as_more_than_it() {
        assert_eq!((permille(800, 1000), permille(801, 1000), permille(1, 3)), (800, 801, 334));
        assert!(!exceeds(800_000, 1_000_000, 800) && exceeds(800_001, 1_000_000, 800));
        assert_eq!((permille(800_001, 1_000_000), permille(0, 0), permille(5, 0)), (801, 0, 0));
        assert_eq!((permille(u64::MAX, u64::MAX), permille(u64::MAX, 1)), (1000, u64::MAX));
        assert!(exceeds(1, 0, 1000) && !exceeds(0, 0, 0));
    }
}
