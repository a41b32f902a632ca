//! Head of a comparison: how much there is now, how much it grew, and since when.

use super::growth;
use crate::render::document::{Cell, Headline, Prose, Tile, TrendChart};
use crate::render::sections::growth::memory_of;
use crate::render::sections::trend;
use crate::render::words::{nouns, say};
use crate::render::{Lang, human};
use crate::report::{Comparison, SnapshotRow, Weight};
use crate::units::{Bytes, Millis};

/// Space between a figure and its unit, at which no line breaks.
const JOINT: &str = "\u{a0}";

/// Builds the head.
pub(super) fn headline(comparison: &Comparison, lang: Lang) -> Headline {
    let incomplete = comparison.snapshots.iter().filter(|row| !row.complete).count();
    let counted = |count: usize| human::counted(count as u64, nouns::SNAPSHOT, lang);
    let problem = |count| {
        let snapshots = counted(count);
        say!(
            lang,
            "incomplete: {snapshots}; the figures are those of what was read",
            "{snapshots}不完整：数字仅包含已读取的部分"
        )
    };
    let without = |count| {
        let snapshots = counted(count);
        say!(lang, "incomplete and left out: {snapshots}", "不完整、未计入：{snapshots}")
    };
    let not_whole = comparison.left_out.len();
    let problems = [(incomplete > 0).then(|| problem(incomplete)), (not_whole > 0).then(|| without(not_whole))];
    let [before, after] = comparison.ends().map_or([Weight::default(); 2], |ends| ends.map(SnapshotRow::weight));
    let share = match memory_of(before).zip(memory_of(after)) {
        Some((before, after)) if before.0 > 0 => human::change(before.0, after.0),
        _ => String::new(),
    };
    let size =
        memory_of(after).map_or_else(|| lang.of("memory unknown", "内存未知").to_owned(), |it| human::bytes(it.0));
    let first = comparison.ends().map_or_else(String::new, |[first, _]| first.name.clone());
    Headline {
        problems: problems.into_iter().flatten().map(Prose::from).collect(),
        more_problems: 0,
        name: Err(human::counted(comparison.snapshots.len() as u64, nouns::SNAPSHOT, lang)),
        identity: period(comparison, lang).into_iter().collect(),
        size: [human::counted(after.keys, nouns::KEY, lang).into(), size.into()],
        facts: (!share.is_empty()).then(|| say!(lang, "memory {share}", "内存 {share}").into()).into_iter().collect(),
        selection: None,
        answers: None,
        sentence: growth::sentence(&first, [before, after], comparison.span(), JOINT, lang).into(),
        tiles: tiles(comparison, [before, after], lang),
        trend: chart(comparison, lang),
        points: Vec::new(),
    }
}

/// Returns the picture of the trend.
fn chart(comparison: &Comparison, lang: Lang) -> Option<TrendChart> {
    let trend = comparison.trend.as_ref()?;
    let size = |row: &SnapshotRow| Some((row.taken?, row.total.filter(|_| trend.of == "total").unwrap_or(row.memory)));
    let whole = comparison.snapshots.iter().filter(|row| row.complete);
    Some(trend::chart_of(trend, whole.filter_map(size).collect(), None, lang))
}

/// Says from when to when, where that is known.
fn period(comparison: &Comparison, lang: Lang) -> Option<Prose> {
    let [first, last] = comparison.ends()?.map(|row| row.taken);
    let day = |at: Millis| human::time(at.0);
    let (first, last) = (day(first?), day(last?));
    Some(say!(lang, "from {first} to {last}", "{first} 至 {last}").into())
}

fn tiles(comparison: &Comparison, ends: [Weight; 2], lang: Lang) -> Vec<Tile> {
    let memory = ends[1].memory;
    let is_known = ends.into_iter().all(|weight| memory_of(weight).is_some());
    let tile = |section, label, figure, note: String, part| Tile {
        label,
        figure,
        note: note.into(),
        memory: (part, memory),
        section,
    };
    let growth = comparison.growth;
    let sign = if growth.keys > 0 {
        "+"
    } else if growth.keys < 0 {
        "-"
    } else {
        ""
    };
    let keys = format!("{sign}{}", human::counted(growth.keys.unsigned_abs(), nouns::KEY, lang));
    let mut tiles = vec![
        tile(
            "growth",
            lang.of("Growth", "增长"),
            if is_known { Cell::Difference { bytes: growth.memory, of: None } } else { Cell::Absent },
            keys,
            Bytes(growth.memory.unsigned_abs()),
        ),
        tile(
            "new",
            lang.of("New patterns", "新增的模式"),
            comparison.patterns.counts.new.into(),
            say!(lang, "{} grew", "{} 个增长", human::count(comparison.patterns.counts.grown)),
            Bytes(0),
        ),
    ];
    if let Some(trend) = &comparison.trend {
        let snapshots = human::counted(trend.snapshots as u64, nouns::SNAPSHOT, lang);
        let note = say!(lang, "over {snapshots}", "基于 {snapshots}");
        let grown = Cell::Difference { bytes: trend.per_day, of: None };
        let part = Bytes(trend.per_day.unsigned_abs());
        tiles.insert(1, tile("trend", lang.of("Growth a day", "日增长"), grown, note, part));
    }
    if let Some(findings) = &comparison.findings {
        let (new, worse) = (findings.new.len() as u64, findings.worse.len());
        let note = say!(lang, "{worse} worse", "{worse} 项恶化");
        tiles.push(tile("findings", lang.of("New findings", "新增违规"), new.into(), note, Bytes(0)));
    }
    tiles
}
