//! Memory trend: a straight line through the snapshots, and when it reaches a limit.
//!
//! The line is fitted by least squares. With three or more snapshots, the scatter around it gives the 95 % confidence
//! interval of its slope by Student's distribution, provided that growth is steady and the scatter random. A weekly rhythm or
//! a campaign is neither, so the dates are a warning, not a promise.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::compare::{Point, SnapshotRow};
use crate::units::{self, Bytes, Millis};

/// Milliseconds of a day.
pub(in crate::report) const DAY: f64 = units::DAY as f64;

/// Quantiles of Student's distribution that leave 2.5 % above, for 1, 2, 3 … degrees of freedom.
const STUDENT: [f64; 15] = [
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139, 2.200985,
    2.178813, 2.160369, 2.144787, 2.131450,
];
/// For more degrees of freedom: the quantile of the normal distribution, and by what it is exceeded, a series in the inverse of the
/// degrees of freedom.
const NORMAL: [f64; 5] = [1.959_964, 2.372_271, 2.822_499, 2.555_850, 1.589_534];

/// Returns the quantile of Student's distribution that leaves 2.5 % above, to six decimals.
fn student(freedom: usize) -> f64 {
    let at = freedom.checked_sub(1).and_then(|at| STUDENT.get(at));
    let series = || NORMAL.iter().rev().fold(0.0, |sum, term| sum / freedom as f64 + term);
    at.copied().unwrap_or_else(series)
}

/// Dates further away than this many days are left out.
pub(in crate::report) const MAX_DAYS_AHEAD: f64 = 36_525.0;

/// Line through the memory of several snapshots.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Trend {
    /// Method, in words.
    pub method: &'static str,
    /// Followed figure: `total` of keys and tables where all reports have it, else `memory` of the keys.
    pub of: &'static str,
    /// Number of snapshots with a time.
    pub snapshots: usize,
    /// Time from the first to the last, in milliseconds.
    pub span: u64,
    /// Bytes a day; negative when it shrinks.
    pub per_day: i64,
    /// 95 % confidence interval of `per_day`; null with fewer than three snapshots.
    pub per_day_range: Option<[i64; 2]>,
    /// Height of the line at the last snapshot.
    pub level: Bytes,
    /// Date at which the limit is reached; null without a limit.
    pub reached: Option<Reached>,
}

/// Date at which memory reaches a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Reached {
    /// The limit.
    pub maxmemory: Bytes,
    /// The date by the line; null if memory does not grow, or not within a hundred years.
    pub at: Option<Millis>,
    /// Earliest date within the confidence interval.
    pub earliest: Option<Millis>,
    /// Latest date within the confidence interval; null if memory may not grow at all.
    pub latest: Option<Millis>,
    /// True if the limit is exceeded already, by the line or by the `used-mem` of the last snapshot.
    pub already: bool,
}

impl Trend {
    /// Notes the memory that the server reports for the last snapshot: it includes more than keys and tables, so that the limit may be
    /// exceeded before the line reaches it.
    pub(super) fn note_used(&mut self, used: Option<Bytes>) {
        if let Some(reached) = &mut self.reached
            && used.is_some_and(|used| used >= reached.maxmemory)
        {
            *reached = Reached { maxmemory: reached.maxmemory, at: None, earliest: None, latest: None, already: true };
        }
    }
}

/// Fits the line through complete snapshots of known memory: what others lack would bend it. Returns `None` unless there are two of
/// different times.
pub(super) fn trend(snapshots: &[Point], maxmemory: Option<Bytes>) -> Option<Trend> {
    let is_known = |row: &SnapshotRow| row.unknown.known(row.keys, ()).is_some();
    let whole = || snapshots.iter().map(|point| &point.row).filter(|row| row.complete && is_known(row));
    let has_totals = whole().all(|row| row.total.is_some());
    let size = |row: &SnapshotRow| row.total.filter(|_| has_totals).unwrap_or(row.memory);
    let points = whole().filter_map(|row| Some((row.taken?, size(row)))).collect();
    through(points, if has_totals { "total" } else { "memory" }, maxmemory)
}

/// Fits the line through sizes at points in time. Returns `None` unless there are two different times.
pub(in crate::report) fn through(
    mut points: Vec<(Millis, Bytes)>,
    of: &'static str,
    maxmemory: Option<Bytes>,
) -> Option<Trend> {
    points.sort_unstable();
    // A snapshot that is there twice says nothing of the scatter.
    points.dedup();
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
            "only 2 snapshots: no confidence range"
        },
        of,
        snapshots: points.len(),
        span,
        per_day: rounded(line.slope),
        per_day_range: range.map(|range| range.map(rounded)),
        level: Bytes(u64::try_from(rounded(line.level)).unwrap_or_default()),
        reached: maxmemory.map(|limit| reached(&line, range, last, limit)),
    })
}

/// Straight line over days before the last snapshot.
struct Line {
    slope: f64,
    /// Height at the last snapshot.
    level: f64,
    /// Half the width of the confidence interval of the slope.
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
            student(freedom) * (scatter / freedom as f64 / spread).sqrt()
        });
        Some(Line { slope, level, margin })
    }
}

fn reached(line: &Line, range: Option<[f64; 2]>, last: Millis, limit: Bytes) -> Reached {
    let left = limit.0 as f64 - line.level;
    let date = |slope: f64| {
        let days = left / slope;
        (left > 0.0 && slope > 0.0 && days <= MAX_DAYS_AHEAD)
            .then(|| Millis(last.0.saturating_add(rounded(days * DAY))))
    };
    Reached {
        maxmemory: limit,
        at: date(line.slope),
        earliest: range.and_then(|[_, most]| date(most)),
        latest: range.and_then(|[least, _]| date(least)),
        already: left <= 0.0,
    }
}

/// Rounds to the nearest integer, saturating.
#[expect(clippy::cast_possible_truncation, reason = "saturates beyond the memory of any machine")]
pub(in crate::report) fn rounded(number: f64) -> i64 {
    number.round() as i64
}

#[cfg(test)]
mod tests {
    use super::super::compare::tests::named;
    use super::*;

    const GIB: u64 = 1 << 30;

    fn point(ctime: i64, memory: u64) -> Point {
        Point::of(&named("night", ctime, memory, &[]))
    }

    /// Snapshots of these sizes, a day apart.
    fn nights(sizes: &[u64]) -> Vec<Point> {
        (0..).zip(sizes).map(|(night, &size)| point(1_700_000_000 + night * 86_400, size)).collect()
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

    /// Figures computed with the closed form of the distribution, to nine decimals.
    #[test]
    fn quantiles_are_exact_to_six_decimals() {
        for (freedom, exact) in [
            (1, 12.706_204_736),
            (3, 3.182_446_305),
            (15, 2.131_449_546),
            (16, 2.119_905_299),
            (30, 2.042_272_456),
            (31, 2.039_513_446),
            (100, 1.983_971_519),
            (10_000, 1.960_201_240),
        ] {
            assert!((student(freedom) - exact).abs() < 1.5e-6, "{freedom}: {}", student(freedom));
        }
        // Nights of 3.89, 5.03, 6.54, 7.70 and 9.05 MB: slope 1,261,026 a day, half the interval 197,927.
        let sizes =
            [(0, 3_890_088), (86_400, 5_029_144), (172_800, 6_543_720), (280_800, 7_701_256), (345_600, 9_048_608)];
        let nights: Vec<_> = sizes.iter().map(|&(at, size)| point(1_700_000_000 + at, size)).collect();
        let trend = trend(&nights, None).unwrap();
        assert_eq!((trend.per_day, trend.per_day_range), (1_261_026, Some([1_063_099, 1_458_953])));
    }

    #[test]
    fn two_nights_make_a_line_without_an_error() {
        let trend = trend(&nights(&[100, 150]), None).unwrap();
        assert_eq!((trend.per_day, trend.per_day_range, trend.reached), (50, None, None));
    }

    #[test]
    fn incomplete_snapshots_do_not_bend_the_line() {
        let mut series = nights(&[100, 110, 60, 130]);
        series[2].row.complete = false;
        let line = trend(&series, None).unwrap();
        assert_eq!((line.per_day, line.snapshots), (10, 3));
        series[0].row.complete = false;
        series[1].row.complete = false;
        assert_eq!(trend(&series, None), None);
    }

    #[test]
    fn what_does_not_grow_reaches_nothing() {
        let reached = |sizes: &[u64], limit| trend(&nights(sizes), Some(Bytes(limit))).unwrap().reached.unwrap();
        assert_eq!(reached(&[300, 200, 100], 1000).at, None);
        assert_eq!(reached(&[100, 100, 100], 1000).at, None);
        let already = reached(&[100, 200, 300], 250);
        assert!(already.already && already.at.is_none());
        // The server reports more than keys and tables take.
        let mut by_server = trend(&nights(&[100, 200, 300]), Some(Bytes(400))).unwrap();
        by_server.note_used(Some(Bytes(399)));
        assert!(by_server.reached.is_some_and(|reached| !reached.already && reached.at.is_some()));
        by_server.note_used(Some(Bytes(400)));
        assert!(by_server.reached.is_some_and(|reached| reached.already && reached.at.is_none()));
    }

    #[test]
    fn times_decide_not_the_order_and_one_time_is_no_trend() {
        let mut order = nights(&[1, 2, 3]);
        order.reverse();
        assert_eq!(trend(&order, None).unwrap().per_day, 1);
        assert!(trend(&[point(5, 1), point(5, 2)], None).is_none());
        // Times that no calendar has.
        let far = |first| [point(first, u64::MAX), point(i64::MAX, 0)];
        assert!(trend(&far(i64::MIN), Some(Bytes(0))).is_none());
        assert!(trend(&far(0), Some(Bytes(0))).is_some());
    }
}
