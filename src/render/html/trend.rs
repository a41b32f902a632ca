//! Chart of memory over time: the snapshots, the line through them, and the range of its forecast.
//!
//! Places are thousandths of the picture, so that it fits any width; texts keep their size.

use super::prose::HtmlProse;
use super::view::percent;
use crate::render::document::TrendChart;
use crate::render::words::say;
use crate::render::{Lang, human};
use crate::units::{self, Bytes, Millis};

const DAY: i128 = units::DAY as i128;
/// Thousandths of the width before the first and behind the last time.
const MARGIN: i128 = 12;
/// A limit more than this many times as high as all else is not drawn: the rest would be a line at the bottom.
const MAX_LIMIT: i128 = 5;
/// Charts of fewer days show the time of day.
const MIN_DAYS: i128 = 3;

/// The chart.
#[derive(Debug)]
pub struct TrendView {
    /// Growth and forecast in words.
    pub said: HtmlProse,
    /// Corners of the range of the forecast.
    pub range: Option<String>,
    /// Line through the snapshots, from point to point.
    pub measured: String,
    /// Forecast.
    pub ahead: String,
    /// Snapshots.
    pub dots: Vec<Dot>,
    /// Height of the limit, and its name and size.
    pub limit: Option<(u64, String)>,
    /// Figures beside the last snapshot and at the end of the forecast.
    pub figures: [Figure; 2],
    /// First day, day of the last snapshot and last day, each at its place.
    pub days: [(String, String); 3],
}

/// A snapshot.
#[derive(Debug)]
pub struct Dot {
    /// Distance from the left.
    pub x: String,
    /// Distance from the top.
    pub y: String,
    /// Text for a pointer over it.
    pub title: String,
}

/// A figure in the picture.
#[derive(Debug)]
pub struct Figure {
    /// Distance from the left.
    pub x: String,
    /// Distance from the top.
    pub y: String,
    /// Distance of the text from there: below the line where the limit may be above it.
    pub dy: i8,
    /// The figure.
    pub text: String,
}

/// Maps times and sizes to places.
struct Axes {
    first: i128,
    last: i128,
    low: i128,
    high: i128,
}

impl Axes {
    fn x(&self, at: i128) -> i128 {
        MARGIN + (at - self.first) * (1000 - 2 * MARGIN) / (self.last - self.first).max(1)
    }

    fn y(&self, size: i128) -> i128 {
        1000 - (size - self.low).saturating_mul(1000) / (self.high - self.low).max(1)
    }
}

impl TrendView {
    /// Returns the chart; none with fewer than two different times.
    pub fn of(chart: &TrendChart, lang: Lang) -> Option<TrendView> {
        let (first, last) = (chart.points.first()?.0, chart.points.last()?.0);
        let (first, last) = (i128::from(first.0), i128::from(last.0));
        let span = Some(last - first).filter(|span| *span > 0)?;
        // As far ahead as back, and up to the limit if that is not much farther.
        let until = chart.reached.map_or(0, |at| (i128::from(at.0) - last) * 8 / 7);
        let forecast = |per_day: i64, at: i128| i128::from(chart.level.0) + i128::from(per_day) * (at - last) / DAY;
        let horizon = last + until.clamp(span, 4 * span);
        // A line that falls to nothing says nothing there: it ends where half is left.
        let horizon = match i128::from(chart.per_day) {
            falling @ ..0 if forecast(chart.per_day, horizon) <= 0 => {
                last + (i128::from(chart.level.0) * DAY / -falling / 2).max(1)
            }
            _ => horizon,
        };
        let end = forecast(chart.per_day, horizon).max(0);

        let sizes = || chart.points.iter().map(|(_, size)| i128::from(size.0));
        let most = sizes().max()?.max(end).max(i128::from(chart.level.0)).max(1);
        let least = sizes().min()?.min(end);
        let limit = chart.limit.filter(|(limit, _)| i128::from(limit.0) <= MAX_LIMIT.saturating_mul(most));
        let high = limit.map_or(most, |(limit, _)| most.max(i128::from(limit.0)));
        // Against a limit, heights are shares of it; else small changes should be seen.
        let low = if limit.is_some() { 0 } else { (least - (most - least) / 2).max(0) };
        let axes = Axes { first, last: horizon, low, high: high + (high - low).max(10) / 6 };

        let place = |at: i128, size: i128| {
            let clipped = axes.y(size).clamp(-9_000, 9_000);
            format!("{},{}", axes.x(at), clipped)
        };
        let level = i128::from(chart.level.0);
        let range = chart.range.map(|[least, most]| {
            let corners =
                [(last, level), (horizon, forecast(most, horizon)), (horizon, forecast(least, horizon).max(0))];
            corners.map(|(at, size)| place(at, size)).join(" ")
        });
        let dots = chart.points.iter().map(|&(at, size)| Dot {
            x: percent(permille(axes.x(at.0.into()))),
            y: percent(permille(axes.y(size.0.into()))),
            title: say!(lang, "{}: {}", "{}：{}", human::time(at.0), human::bytes(size.0)),
        });
        let figure = |at: i128, size: i128| Figure {
            x: percent(permille(axes.x(at))),
            y: percent(permille(axes.y(size))),
            dy: if axes.y(size) < 350 { 18 } else { -9 },
            text: human::bytes(u64::try_from(size).unwrap_or(u64::MAX)),
        };
        let present = i128::from(chart.points.last()?.1.0);
        let [from, now, to] = [first, last, horizon].map(|at| human::time(i64::try_from(at).unwrap_or(i64::MAX)));
        // Days alone would be equal within a day.
        let with_time = horizon - first < MIN_DAYS * DAY;
        let labels = [day(&from, "", with_time), day(&now, &from, with_time), day(&to, &now, with_time)];
        let [from, now, to] = labels;
        let at = |at: i128| percent(permille(axes.x(at)));
        let named = |(limit, name): (Bytes, &str)| {
            (permille(axes.y(limit.0.into())), say!(lang, "{name} {}", "{name} {}", human::bytes(limit.0)))
        };
        Some(TrendView {
            said: (&chart.said).into(),
            range,
            measured: chart
                .points
                .iter()
                .map(|&(Millis(at), size)| place(at.into(), size.0.into()))
                .collect::<Vec<_>>()
                .join(" "),
            ahead: [place(last, level), place(horizon, end)].join(" "),
            dots: dots.collect(),
            limit: limit.map(named),
            figures: [figure(last, present), figure(horizon, end)],
            days: [(at(first), from), (at(last), now), (at(horizon), to)],
        })
    }
}

/// Returns the day of a point in time; with the time of day if asked, then without the day if it is that of the label before.
fn day(time: &str, before: &str, with_time: bool) -> String {
    let (day, clock) = time.split_once(' ').unwrap_or((time, ""));
    match clock.rsplit_once(':').filter(|_| with_time) {
        Some((minutes, _)) if before.starts_with(day) => format!("{minutes}Z"),
        Some((minutes, _)) => format!("{day} {minutes}Z"),
        None => day.to_owned(),
    }
}

fn permille(place: i128) -> u64 {
    u64::try_from(place.clamp(0, 1000)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(i64, u64)], per_day: i64, range: Option<[i64; 2]>, limit: Option<u64>) -> Option<TrendView> {
        let points: Vec<(Millis, Bytes)> =
            points.iter().map(|&(day, size)| (Millis(day.saturating_mul(86_400_000)), Bytes(size))).collect();
        let level = points.last().map_or(Bytes(0), |point| point.1);
        let limit = limit.map(|limit| (Bytes(limit), "maxmemory"));
        let chart = TrendChart { points, level, per_day, range, limit, reached: None, said: "".into() };
        TrendView::of(&chart, Lang::En)
    }

    #[test]
    fn the_forecast_goes_as_far_ahead_as_the_snapshots_go_back() {
        let view = chart(&[(0, 100), (10, 200)], 10, Some([5, 15]), Some(600)).unwrap();
        // 600 and a sixth of it are the height, so that the limit is a seventh from the top.
        assert_eq!(view.measured, "12,858 500,715");
        assert_eq!(view.ahead, "500,715 988,572");
        assert_eq!(view.range.as_deref(), Some("500,715 988,500 988,643"));
        assert_eq!(view.limit, Some((143, "maxmemory 600 B".to_owned())));
        assert_eq!(view.figures.map(|figure| figure.text), ["200 B", "300 B"]);
        assert_eq!(view.days.map(|(_, day)| day), ["1970-01-01", "1970-01-11", "1970-01-21"]);
        let hours = |time: &str, before: &str| day(time, before, true);
        assert_eq!(hours("2026-11-21 04:31:55Z", ""), "2026-11-21 04:31Z");
        assert_eq!(hours("2026-11-21 08:08:00Z", "2026-11-21 04:31:55Z"), "08:08Z");
        assert_eq!(hours("2026-11-22 00:00:00Z", "2026-11-21 08:08:00Z"), "2026-11-22 00:00Z");
    }

    #[test]
    fn a_limit_far_above_is_not_drawn_and_small_changes_are_seen() {
        let view = chart(&[(0, 1_000), (1, 1_001)], 1, None, Some(1_000_000)).unwrap();
        assert_eq!((view.limit, view.range), (None, None));
        assert_ne!(view.dots[0].y, view.dots[1].y);
    }

    #[test]
    fn extremes_have_a_place_and_one_time_has_no_chart() {
        assert!(chart(&[(5, 1)], 0, None, None).is_none() && chart(&[(5, 1), (5, 2)], 0, None, None).is_none());
        for limit in [None, Some(0), Some(1), Some(u64::MAX)] {
            for (per_day, size) in [(i64::MAX, u64::MAX), (i64::MIN, u64::MAX), (0, 0), (i64::MIN, 0)] {
                let range = Some([i64::MIN, i64::MAX]);
                let view = chart(&[(i64::MIN / 86_400_000, 0), (i64::MAX, size)], per_day, range, limit).unwrap();
                assert!(view.dots.iter().all(|dot| dot.x.ends_with('%') && !dot.y.starts_with('-')));
            }
        }
    }
}
