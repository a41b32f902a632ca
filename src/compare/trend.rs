//! Where the memory goes: a straight line through the snapshots, and when it reaches a limit.
//!
//! The line is that of least squares. With three snapshots or more, the scatter around it gives the uncertainty of its
//! slope: the range that holds the true slope in 95 of 100 cases, by Student's distribution, if the growth is steady and the
//! scatter is chance. A weekly rhythm or a campaign is neither, so that the dates are a warning, not a promise.

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::Stored;
use crate::units::{Bytes, Millis};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// Quantiles of Student's distribution that leave 2.5 % above, for 1, 2, 3 … degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same for more.
const NORMAL: f64 = 1.960;

/// Dates beyond this many days are not told.
const FARTHEST_DAYS: f64 = 36_525.0;

/// A line through the memory of several snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// How it was drawn, in words.
    pub method: &'static str,
    /// What is followed: `total` of keys and tables where all reports have it, else `memory` of the keys.
    pub of: &'static str,
    /// Snapshots with a time.
    pub snapshots: usize,
    /// From the first to the last, in milliseconds.
    pub span: u64,
    /// Bytes a day; negative when it shrinks.
    pub per_day: i64,
    /// The least and the most bytes a day that the scatter allows, with 95 %; null with fewer than three snapshots.
    pub per_day_range: Option<[i64; 2]>,
    /// What the line says for the last snapshot.
    pub level: Bytes,
    /// When the limit is reached; null without a limit.
    pub reached: Option<Reached>,
}

/// When the memory is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reached {
    /// The limit.
    pub maxmemory: Bytes,
    /// The date by the line; null when it does not grow, or not within a hundred years.
    pub at: Option<Millis>,
    /// The earliest date that the uncertainty allows.
    pub earliest: Option<Millis>,
    /// The latest; null when the memory may not grow at all.
    pub latest: Option<Millis>,
    /// The limit is exceeded already.
    pub already: bool,
}

/// Draws the line. There have to be two snapshots of different times.
pub fn trend(snapshots: &[Stored], maxmemory: Option<Bytes>) -> Option<Trend> {
    let has_totals = snapshots.iter().all(|stored| stored.total.is_some());
    let size = |stored: &Stored| stored.total.filter(|_| has_totals).unwrap_or(stored.memory);
    let mut points: Vec<(Millis, Bytes)> =
        snapshots.iter().filter_map(|stored| Some((stored.taken()?, size(stored)))).collect();
    points.sort_unstable();
    let (first, last) = (points.first()?.0, points.last()?.0);
    let span = last.0.checked_sub(first.0).filter(|span| *span > 0)?.unsigned_abs();
    let days = |at: Millis| at.0.saturating_sub(last.0) as f64 / DAY;
    let points: Vec<(f64, f64)> = points.iter().map(|&(at, size)| (days(at), size.0 as f64)).collect();
    let line = Line::through(&points)?;
    let range = line.margin.map(|margin| [line.slope - margin, line.slope + margin]);
    Some(Trend {
        method: if range.is_some() {
            "least squares; range of the slope with 95 % by Student's distribution"
        } else {
            "two give a line and nothing about its error"
        },
        of: if has_totals { "total" } else { "memory" },
        snapshots: points.len(),
        span,
        per_day: rounded(line.slope),
        per_day_range: range.map(|range| range.map(rounded)),
        level: Bytes(u64::try_from(rounded(line.level)).unwrap_or_default()),
        reached: maxmemory.map(|limit| reached(&line, range, last, limit)),
    })
}

/// By days before the last snapshot.
struct Line {
    slope: f64,
    /// At the last snapshot.
    level: f64,
    /// Of the slope, to either side.
    margin: Option<f64>,
}

impl Line {
    fn through(points: &[(f64, f64)]) -> Option<Line> {
        let count = points.len() as f64;
        let mean_of = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean_of(&|point| point.0), mean_of(&|point| point.1));
        let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        if points.len() < 2 || spread <= 0.0 {
            return None;
        }
        let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / spread;
        let level = y - slope * x;
        let freedom = points.len() - 2;
        let margin = (freedom > 0).then(|| {
            let scatter: f64 = points.iter().map(|point| (point.1 - level - slope * point.0).powi(2)).sum();
            let quantile = STUDENT.get(freedom - 1).copied().unwrap_or(NORMAL);
            quantile * (scatter / freedom as f64 / spread).sqrt()
        });
        Some(Line { slope, level, margin })
    }
}

fn reached(line: &Line, range: Option<[f64; 2]>, last: Millis, limit: Bytes) -> Reached {
    let left = limit.0 as f64 - line.level;
    let date = |slope: f64| {
        let days = left / slope;
        (left > 0.0 && slope > 0.0 && days <= FARTHEST_DAYS).then(|| Millis(last.0.saturating_add(rounded(days * DAY))))
    };
    Reached {
        maxmemory: limit,
        at: date(line.slope),
        earliest: range.and_then(|[_, most]| date(most)),
        latest: range.and_then(|[least, _]| date(least)),
        already: left <= 0.0,
    }
}

/// Saturates where the number is beyond all machines.
#[allow(clippy::cast_possible_truncation)]
fn rounded(number: f64) -> i64 {
    number.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::stored;

    const GIB: u64 = 1 << 30;

    /// Snapshots of these sizes, a day apart.
    fn nights(sizes: &[u64]) -> Vec<Stored> {
        (0..).zip(sizes).map(|(night, &size)| stored("night", 1_700_000_000 + night * 86_400, size, &[])).collect()
    }

    #[test]
    fn steady_growth_reaches_the_limit_on_its_day() {
        let trend = trend(&nights(&[GIB, 2 * GIB, 3 * GIB]), Some(Bytes(8 * GIB))).unwrap();
        assert_eq!((trend.per_day, trend.level), (1 << 30, Bytes(3 * GIB)));
        assert_eq!(trend.per_day_range, Some([1 << 30, 1 << 30]));
        let reached = trend.reached.unwrap();
        let in_five_days = Some(Millis((1_700_000_000 + 7 * 86_400) * 1000));
        assert_eq!((reached.at, reached.earliest, reached.latest), (in_five_days, in_five_days, in_five_days));
    }

    #[test]
    fn scatter_makes_the_date_uncertain() {
        let trend = trend(&nights(&[100, 210, 290, 405, 500]), Some(Bytes(1000))).unwrap();
        // By hand: slope 99.5 bytes a day, standard error 2.2 with three degrees of freedom.
        assert_eq!(trend.per_day, 100);
        let [least, most] = trend.per_day_range.unwrap();
        assert!((90..=94).contains(&least) && (105..=109).contains(&most), "{least} {most}");
        let reached = trend.reached.unwrap();
        assert!(reached.earliest < reached.at && reached.at < reached.latest);
    }

    #[test]
    fn two_nights_make_a_line_without_an_error() {
        let trend = trend(&nights(&[100, 150]), None).unwrap();
        assert_eq!((trend.per_day, trend.per_day_range, trend.reached), (50, None, None));
    }

    #[test]
    fn what_does_not_grow_reaches_nothing() {
        let reached = |sizes: &[u64], limit| trend(&nights(sizes), Some(Bytes(limit))).unwrap().reached.unwrap();
        assert_eq!(reached(&[300, 200, 100], 1000).at, None);
        assert_eq!(reached(&[100, 100, 100], 1000).at, None);
        let already = reached(&[100, 200, 300], 250);
        assert!(already.already && already.at.is_none());
    }

    #[test]
    fn times_decide_not_the_order_and_one_time_is_no_trend() {
        let mut order = nights(&[1, 2, 3]);
        order.reverse();
        assert_eq!(trend(&order, None).unwrap().per_day, 1);
        assert!(trend(&[stored("a", 5, 1, &[]), stored("b", 5, 2, &[])], None).is_none());
        // Times that no calendar has.
        let far = |first| [stored("a", first, u64::MAX, &[]), stored("b", i64::MAX, 0, &[])];
        assert!(trend(&far(i64::MIN), Some(Bytes(0))).is_none());
        assert!(trend(&far(0), Some(Bytes(0))).is_some());
    }
}
