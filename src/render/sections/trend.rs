//! Memory over earlier snapshots, and where it goes at this rate.

use super::comparison::{outlook, tone};
use crate::render::document::{Block, Cell, Column, Prose, Scope, Section, Table, TrendChart};
use crate::render::words::{heads, nouns, say};
use crate::render::{Lang, human};
use crate::report::{Report, Trend};
use crate::units::{Bytes, Millis};

/// Snapshots from which on the trend is more than the growth since the baseline.
const MIN_SNAPSHOTS: usize = 3;

/// Builds the section: a row for each snapshot. Two of them are left to the growth since the baseline, if there is one.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let lang = scope.lang;
    let fewest = if scope.apart || report.growth.is_none() { 2 } else { MIN_SNAPSHOTS };
    let (points, trend) = report.trend().filter(|(points, _)| points.len() >= fewest)?;
    let latest = points.get(points.len().saturating_sub(scope.rows)..).unwrap_or_default();
    let mut table = Table::of(lang.of("Snapshots", "快照"), latest, usize::MAX)
        .column(Column::text(heads::TAKEN), |(taken, _)| Cell::Time(*taken))
        .column(Column::number(heads::MEMORY), |(_, size)| *size)
        .build()
        .in_order();
    table.hidden = (points.len() - latest.len()) as u64;
    let outlook = trend.reached.as_ref().map(|reached| Block::Paragraph(tone(reached), outlook(reached, lang).into()));
    let section = Section::new("trend", lang.of("Trend", "趋势")).lead(slope(&trend, lang));
    Some(section.with_some(outlook).with(table))
}

/// Returns the picture of a report's trend.
pub(super) fn chart(report: &Report, lang: Lang) -> Option<TrendChart> {
    let (points, trend) = report.trend()?;
    Some(chart_of(&trend, points, None, lang))
}

/// Returns the picture of a trend. A trend without a limit of its own may be shown against another one.
pub(super) fn chart_of(
    trend: &Trend,
    points: Vec<(Millis, Bytes)>,
    limit: Option<(Bytes, &'static str)>,
    lang: Lang,
) -> TrendChart {
    let mut said = slope(trend, lang);
    if let Some(reached) = &trend.reached {
        said += lang.of(" ", "");
        said += &outlook(reached, lang);
    }
    TrendChart {
        points,
        level: trend.level,
        per_day: trend.per_day,
        range: trend.per_day_range,
        limit: trend.reached.map(|reached| (reached.maxmemory, "maxmemory")).or(limit),
        reached: trend.reached.and_then(|reached| reached.at),
        said: Prose::from(said),
    }
}

/// Says how much memory grows.
pub(super) fn slope(trend: &Trend, lang: Lang) -> String {
    let what = match trend.of {
        "total" => lang.of("Keys and tables", "key 与哈希表"),
        _ => lang.of("Memory of the keys", "key 的内存"),
    };
    let (grown, span) = (human::signed(trend.per_day), human::duration(trend.span, lang));
    let snapshots = human::counted(trend.snapshots as u64, nouns::SNAPSHOT, lang);
    match trend.per_day_range {
        Some([least, most]) => say!(
            lang,
            "{what}: {grown} a day ({snapshots} over {span}), with 95 % between {} and {} if growth is steady.",
            "{what}：每天 {grown}（{span}内 {snapshots}）；若增长平稳，95 % 置信区间为 {} 至 {}。",
            human::signed(least),
            human::signed(most)
        ),
        None => say!(
            lang,
            "{what}: {grown} a day ({snapshots} over {span}). A confidence range needs at least three snapshots.",
            "{what}：每天 {grown}（{span}内 {snapshots}）。置信区间至少需要三个快照。"
        ),
    }
}
