//! Several snapshots against each other, for people.

use std::io::{self, Write};

use super::grid::{Cell, Column, Grid};
use super::page::{Page, Tone};
use super::{TableOptions, baseline, growth};
use crate::render::words::{heads, say};
use crate::render::{Lang, human, key_text};
use crate::report::{Comparison, PatternChange, Reached, SnapshotRow, Trend, Weight};
use crate::units::Millis;

/// Writes a comparison as tables.
pub fn write_comparison(comparison: &Comparison, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let lang = options.lang;
    let page = &mut Page::new(out, options.columns(), options);
    snapshots(comparison, page)?;
    all_growth(comparison, page)?;
    trend(comparison, page)?;
    let patterns = &comparison.patterns;
    let counts = patterns.counts;
    changes(lang.of("Patterns that grew", "增长的模式"), &patterns.grown, counts.grown, page)?;
    changes(lang.of("New patterns", "新增的模式"), &patterns.new, counts.new, page)?;
    changes(lang.of("Patterns that shrank", "缩小的模式"), &patterns.shrunk, counts.shrunk, page)?;
    changes(lang.of("Patterns that vanished", "消失的模式"), &patterns.vanished, counts.vanished, page)?;
    let uncertain = lang.of("Patterns that only one of the reports lists", "仅一份报告列出的模式");
    changes(uncertain, &patterns.uncertain, counts.uncertain, page)?;
    if let Some(findings) = &comparison.findings {
        baseline::changes(page.lang().of("Findings", "违规"), findings, page)?;
    }
    if !comparison.warnings.is_empty() {
        page.title(lang.of("Notes", "说明"))?;
        for warning in &comparison.warnings {
            page.hanging(Tone::Plain, "- ", &key_text::text(lang.of(&warning.wording.en, &warning.wording.zh)))?;
        }
    }
    Ok(())
}

fn snapshots(comparison: &Comparison, page: &mut Page<'_>) -> io::Result<()> {
    let mut grid = Grid::new([
        Column::text(heads::SNAPSHOT).shrink(16),
        Column::text(heads::TAKEN),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::number(heads::IN_TOTAL),
        Column::text(heads::NONE),
    ]);
    for row in &comparison.snapshots {
        let tone = if row.complete { Tone::Plain } else { Tone::Alarm };
        grid.toned(
            tone,
            [
                Cell::text(&row.name),
                row.taken.map_or(Cell::Absent, |at| human::time(at.0).into()),
                row.keys.into(),
                row.memory.into(),
                row.total.map_or(Cell::Absent, Cell::from),
                if row.complete { "".into() } else { page.lang().of("incomplete", "不完整").into() },
            ],
        );
    }
    grid.print(page)
}

/// What the whole and each type grew by.
fn all_growth(comparison: &Comparison, page: &mut Page<'_>) -> io::Result<()> {
    let [Some(first), Some(last)] = [comparison.snapshots.first(), comparison.snapshots.last()] else { return Ok(()) };
    page.title(page.lang().of("Growth", "增长"))?;
    let whole = |row: &SnapshotRow| Weight { keys: row.keys, memory: row.memory };
    growth::totals(whole(first), whole(last), &comparison.types, page)
}

fn trend(comparison: &Comparison, page: &mut Page<'_>) -> io::Result<()> {
    let Some(trend) = &comparison.trend else { return Ok(()) };
    let lang = page.lang();
    page.title(lang.of("Trend", "趋势"))?;
    page.text(&say!(
        lang,
        "{} over {}: {} a day{}. ({} snapshots; {}.)",
        "{}，跨度 {}：每天 {}{}。（{} 个快照；{}。）",
        if trend.of == "total" {
            lang.of("Keys and tables", "key 与哈希表")
        } else {
            lang.of("Memory of the keys", "key 的内存")
        },
        human::duration(trend.span, lang),
        human::signed(trend.per_day),
        range(trend, lang),
        trend.snapshots,
        method(trend, lang),
    ))?;
    match &trend.reached {
        None => Ok(()),
        Some(reached) => page.hanging(tone(reached), "", &outlook(reached, lang)),
    }
}

fn tone(reached: &Reached) -> Tone {
    if reached.already || reached.at.is_some() { Tone::Warning } else { Tone::Plain }
}

fn range(trend: &Trend, lang: Lang) -> String {
    trend.per_day_range.map_or_else(String::new, |[least, most]| {
        say!(lang, " (between {} and {})", "（{} 至 {} 之间）", human::signed(least), human::signed(most))
    })
}

/// How the line was drawn.
fn method(trend: &Trend, lang: Lang) -> &'static str {
    match trend.per_day_range {
        Some(_) => lang.of(trend.method, "最小二乘法，斜率范围为 t 分布的 95 % 置信区间"),
        None => lang.of(trend.method, "过两点的直线，误差未知"),
    }
}

fn outlook(reached: &Reached, lang: Lang) -> String {
    let limit = human::bytes(reached.maxmemory.0);
    let day = |at: Millis| human::time(at.0).split(' ').next().unwrap_or_default().to_owned();
    match (reached.at, reached.earliest, reached.latest) {
        _ if reached.already => say!(lang, "The limit of {limit} is exceeded already.", "已超过上限 {limit}。"),
        (None, None, _) => {
            say!(lang, "By this line the limit of {limit} is not reached.", "按此趋势，不会达到上限 {limit}。")
        }
        (None, Some(earliest), _) => say!(
            lang,
            "By this line the limit of {limit} is not reached, though it may be from {} on.",
            "按此趋势，不会达到上限 {limit}，但自 {} 起仍有可能。",
            day(earliest)
        ),
        (Some(at), None, None) => say!(
            lang,
            "By this line the limit of {limit} is reached on {}.",
            "按此趋势，将于 {} 达到上限 {limit}。",
            day(at)
        ),
        (Some(at), earliest, Some(latest)) => say!(
            lang,
            "By this line the limit of {limit} is reached on {}, with 95 % between {} and {}.",
            "按此趋势，将于 {} 达到上限 {limit}，95 % 置信区间为 {} 至 {}。",
            day(at),
            earliest.map_or_else(String::new, day),
            day(latest),
        ),
        (Some(at), Some(earliest), None) => say!(
            lang,
            "By this line the limit of {limit} is reached on {}, at the earliest on {}; it may also never be.",
            "按此趋势，将于 {} 达到上限 {limit}，最早 {}；也可能永远不会达到。",
            day(at),
            day(earliest),
        ),
    }
}

fn changes(title: &str, list: &[PatternChange], count: u64, page: &mut Page<'_>) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    page.title(title)?;
    let mut grid = Grid::new(growth::pattern_columns());
    let shown = page.first(list);
    for change in shown {
        grid.row(growth::pattern(change));
    }
    grid.print(page)?;
    page.more(shown.len(), usize::try_from(count).unwrap_or(usize::MAX))
}
