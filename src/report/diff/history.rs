//! Sizes of earlier snapshots, from which a report tells the trend of its memory.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trend::{Trend, through};
use super::{NamedReport, Report};
use crate::units::{Bytes, Millis};

/// Earlier snapshots that a report keeps, the latest: a year of nights.
const MOST: usize = 366;

/// Size of an earlier snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct EarlierSnapshot {
    /// When it was taken, in milliseconds.
    pub taken: Millis,
    /// Memory of its keys.
    pub memory: Bytes,
    /// Memory of keys and tables together, where the earlier report has it.
    pub total: Option<Bytes>,
    /// The earlier report's file, without its directory.
    pub report: String,
}

impl EarlierSnapshot {
    /// Returns the sizes that an earlier report tells of: its own, and those that it knew. Empty if it is incomplete or has
    /// another selection of keys, since its figures would bend the trend.
    pub fn all_of(earlier: &NamedReport, selection: &[String]) -> Vec<EarlierSnapshot> {
        let NamedReport { name, report } = earlier;
        if !report.complete || report.options.selection != selection {
            return Vec::new();
        }
        let own = report.taken().map(|taken| EarlierSnapshot {
            taken,
            memory: report.totals.memory,
            total: report.total(),
            report: name.clone(),
        });
        report.history.iter().cloned().chain(own).collect()
    }
}

/// Returns the sizes of snapshots before `taken`, each once, the latest of them if there are very many.
pub(crate) fn history(mut earlier: Vec<EarlierSnapshot>, taken: Option<Millis>) -> Vec<EarlierSnapshot> {
    earlier.retain(|row| taken.is_some_and(|taken| row.taken < taken));
    earlier.sort_unstable();
    earlier.dedup_by(|one, other| (one.taken, one.memory, one.total) == (other.taken, other.memory, other.total));
    let surplus = earlier.len().saturating_sub(MOST);
    earlier.split_off(surplus)
}

impl Report {
    /// Returns the sizes of this and earlier snapshots, oldest first, and the line through them; `None` without an earlier one.
    pub(crate) fn trend(&self) -> Option<(Vec<(Millis, Bytes)>, Trend)> {
        let own = (self.taken()?, self.totals.memory, self.total());
        let mut rows: Vec<(Millis, Bytes, Option<Bytes>)> =
            self.history.iter().map(|row| (row.taken, row.memory, row.total)).collect();
        if rows.is_empty() {
            // A report of an earlier version knows its baseline only.
            let since = self.growth.as_ref().filter(|since| since.complete)?;
            rows.push((since.taken?, since.before.memory, since.total_before));
        }
        rows.push(own);
        let has_totals = rows.iter().all(|(.., total)| total.is_some());
        let of = if has_totals { "total" } else { "memory" };
        let size = |(taken, memory, total): (Millis, Bytes, Option<Bytes>)| {
            (taken, total.filter(|_| has_totals).unwrap_or(memory))
        };
        let points: Vec<(Millis, Bytes)> = rows.into_iter().map(size).collect();
        let limit = self.instance.as_ref().and_then(|instance| instance.maxmemory).filter(|limit| limit.0 > 0);
        let trend = through(points.clone(), of, limit.filter(|_| has_totals))?;
        Some((points, trend))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(day: i64, mib: u64) -> EarlierSnapshot {
        EarlierSnapshot {
            taken: Millis(day * 86_400_000),
            memory: Bytes(mib << 20),
            total: Some(Bytes(mib << 20)),
            report: format!("{day}.json"),
        }
    }

    fn report(day: i64, mib: u64, history: Vec<EarlierSnapshot>) -> Report {
        let mut report = Report { history, complete: true, ..Report::default() };
        report.server.ctime = Some(day * 86_400);
        report.totals.memory = Bytes(mib << 20);
        report
    }

    #[test]
    fn a_report_passes_on_what_it_knew() {
        let monday = NamedReport { name: "mon.json".to_owned(), report: report(1, 10, Vec::new()) };
        let tuesday = report(2, 11, history(EarlierSnapshot::all_of(&monday, &[]), Some(Millis(2 * 86_400_000))));
        let tuesday = NamedReport { name: "tue.json".to_owned(), report: tuesday };
        let known = EarlierSnapshot::all_of(&tuesday, &[]);
        let names: Vec<&str> = known.iter().map(|row| row.report.as_str()).collect();
        assert_eq!(names, ["mon.json", "tue.json"]);
        assert_eq!(EarlierSnapshot::all_of(&tuesday, &["--db 1".to_owned()]), []);
        let cut = NamedReport { report: Report { complete: false, ..tuesday.report }, ..tuesday };
        assert_eq!(EarlierSnapshot::all_of(&cut, &[]), []);
    }

    #[test]
    fn snapshots_count_once_and_before_the_present_one_only() {
        let rows = vec![row(3, 5), row(1, 5), row(2, 5), row(1, 5), row(9, 5)];
        let days = |rows: Vec<EarlierSnapshot>| rows.iter().map(|row| row.taken.0 / 86_400_000).collect::<Vec<_>>();
        assert_eq!(days(history(rows.clone(), Some(Millis(3 * 86_400_000)))), [1, 2]);
        assert_eq!(history(rows, None), []);
        let many: Vec<EarlierSnapshot> = (0..1_000).map(|day| row(day, 5)).collect();
        let kept = days(history(many, Some(Millis(i64::MAX))));
        assert_eq!((kept.len(), kept.first(), kept.last()), (366, Some(&634), Some(&999)));
    }

    #[test]
    fn the_trend_is_of_keys_where_a_total_is_missing() {
        let (points, trend) = report(3, 14, vec![row(1, 10), row(2, 12)]).trend().unwrap();
        assert_eq!((trend.of, trend.per_day, trend.snapshots), ("memory", 2 << 20, 3));
        assert_eq!(points.last(), Some(&(Millis(3 * 86_400_000), Bytes(14 << 20))));
        assert!(report(3, 14, Vec::new()).trend().is_none());
    }
}
