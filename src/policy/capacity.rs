//! Memory figures shared by the rules about capacity.

use super::context::Context;
use crate::report::Report;
use crate::units::Bytes;

/// Memory of the same keys on another server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpgradeEstimate {
    /// Memory model of the other server, such as `redis 8.2`.
    pub model: String,
    /// Memory of all keys there.
    pub memory: Bytes,
}

/// Returns the estimated memory of the server: keys and tables, or keys alone if only some of them were selected.
pub fn estimated_memory(report: &Report) -> Bytes {
    report.instance.as_ref().map_or(report.totals.memory, |instance| instance.total)
}

/// Returns the estimated memory of the server, without the keys whose memory is unknown elsewhere.
pub fn comparable_memory(report: &Report) -> Bytes {
    let base = report.what_if.as_ref().map(|what_if| &what_if.base);
    base.map_or_else(|| estimated_memory(report), |base| base.total.unwrap_or(base.memory))
}

/// Returns the estimates for other servers, comparable with [`comparable_memory`].
pub fn upgrades(report: &Report, context: &Context) -> Vec<UpgradeEstimate> {
    let alternatives = report.what_if.iter().flat_map(|what_if| &what_if.alternatives);
    let whole = report.instance.is_some();
    let computed = alternatives.map(|alternative| UpgradeEstimate {
        model: alternative.model.clone(),
        memory: alternative.total.filter(|_| whole).unwrap_or(alternative.memory),
    });
    context.upgrades.iter().cloned().chain(computed).collect()
}

/// Returns `part` of `whole` in thousandths, rounded like the same share elsewhere in the report; 0 if `whole` is 0.
pub fn permille(part: u64, whole: u64) -> u64 {
    let thousandths = (u128::from(part) * 1000 + u128::from(whole / 2)).checked_div(u128::from(whole));
    u64::try_from(thousandths.unwrap_or_default()).unwrap_or(u64::MAX)
}

/// Like [`permille`], for a share that [`exceeds`] a limit: it is shown as above it, however little it exceeds it by.
pub fn permille_above(part: u64, whole: u64, allowed: u64) -> u64 {
    permille(part, whole).max(allowed.saturating_add(1))
}

/// Returns whether `part` is more than `allowed` thousandths of `whole`, without rounding.
pub fn exceeds(part: u64, whole: u64, allowed: u64) -> bool {
    u128::from(part) * 1000 > u128::from(whole) * u128::from(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_above_a_limit_is_shown_as_above_it() {
        assert_eq!((permille(800, 1000), permille(1, 3), permille(2, 3)), (800, 333, 667));
        assert!(!exceeds(800_000, 1_000_000, 800) && exceeds(800_001, 1_000_000, 800));
        assert_eq!((permille(800_001, 1_000_000), permille_above(800_001, 1_000_000, 800)), (800, 801));
        assert_eq!((permille_above(1, 2, 400), permille(0, 0), permille(5, 0)), (500, 0, 0));
        assert_eq!((permille(u64::MAX, u64::MAX), permille(u64::MAX, 1)), (1000, u64::MAX));
        assert!(exceeds(1, 0, 1000) && !exceeds(0, 0, 0));
    }
}
