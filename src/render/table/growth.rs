//! Growth since an earlier report.

use std::io;

use super::grid::{Cell, Column, Grid, Paint};
use super::page::{Page, Tone};
use crate::render::words::{heads, known, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::{PatternChange, PatternChanges, Report, Since, TypeChange, Weight};

/// What grew since the baseline; nothing without one.
pub(super) fn section(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(since) = &report.growth else { return Ok(()) };
    let lang = page.lang();
    page.title(&title(since, lang))?;
    page.text(&headline(report, since, &key_text::text(&since.report), lang))?;
    totals(since.before, since.after, &since.types, page)?;
    let changes = since.patterns.certain();
    if !changes.is_empty() {
        let shown = page.first(&changes);
        page.gap()?;
        let mut grid = Grid::new([&[Column::text(heads::NONE)], &pattern_columns()[..]].concat());
        for (fate, change) in shown {
            grid.row([&[known::fate(*fate, lang).into()], &pattern(change)[..]].concat());
        }
        grid.print(page)?;
        let all = since.patterns.counts.certain().max(changes.len() as u64);
        page.more(shown.len(), usize::try_from(all).unwrap_or(usize::MAX))?;
    }
    uncertain(&since.patterns, lang).map_or(Ok(()), |text| page.text(&text))
}

/// `Growth since 2026-11-14`; the report's name where it does not say when its snapshot was taken.
pub(in crate::render) fn title(since: &Since, lang: Lang) -> String {
    let day = since.taken.and_then(|taken| human::time(taken.0).split(' ').next().map(str::to_owned));
    match day {
        Some(day) => say!(lang, "Growth since {day}", "自 {day} 以来的增长"),
        None => lang.of("Growth since the earlier report", "与此前报告相比的增长").to_owned(),
    }
}

/// By how much, within what time. `name` is the earlier report's, made visible.
pub(in crate::render) fn headline(report: &Report, since: &Since, name: &str, lang: Lang) -> String {
    let (before, after) = (since.before, since.after);
    let span = report.server.ctime.zip(since.taken).and_then(|(now, then)| {
        let span = now.saturating_mul(1000).checked_sub(then.0).filter(|span| *span > 0)?;
        let span = human::duration(span.unsigned_abs(), lang);
        Some(say!(lang, " in {span}", " 在 {span}内"))
    });
    let (span, share) = (span.unwrap_or_default(), share(before.memory.0, after.memory.0, lang));
    let size = human::bytes(after.memory.0.abs_diff(before.memory.0));
    let change = match after.memory.cmp(&before.memory) {
        std::cmp::Ordering::Greater => {
            say!(lang, "the memory of the keys grew by {size}{share}{span}", "key 的内存{span}增长 {size}{share}")
        }
        std::cmp::Ordering::Less => {
            say!(lang, "the memory of the keys shrank by {size}{share}{span}", "key 的内存{span}减少 {size}{share}")
        }
        std::cmp::Ordering::Equal => {
            say!(lang, "the memory of the keys has not changed{span}", "key 的内存{span}没有变化")
        }
    };
    say!(
        lang,
        "Since {name} {change}: {} before, {} now; {} before, {} now.",
        "与 {name} 相比，{change}：此前 {}，当前 {}；此前 {}，当前 {}。",
        human::bytes(before.memory.0),
        human::bytes(after.memory.0),
        human::counted(before.keys, nouns::KEY, lang),
        human::counted(after.keys, nouns::KEY, lang),
    )
}

/// ` (+7.3 %)`; nothing where nothing was.
fn share(before: u64, after: u64, lang: Lang) -> String {
    let change = human::change(before, after);
    if before == 0 || before == after { String::new() } else { say!(lang, " ({change})", "（{change}）") }
}

/// What lists that were cut cannot tell.
pub(in crate::render) fn uncertain(patterns: &PatternChanges, lang: Lang) -> Option<String> {
    let count = patterns.counts.uncertain;
    let listed = human::counted(count, nouns::PATTERN, lang);
    (count > 0).then(|| {
        say!(
            lang,
            "Only one of the two reports lists {listed}, since lists are cut at `--top`: whether they grew is not known.",
            "{listed}仅在一份报告中列出（列表按 `--top` 截断），其变化未知。"
        )
    })
}

/// The whole and each type, before and after.
pub(super) fn totals(before: Weight, after: Weight, types: &[TypeChange], page: &mut Page<'_>) -> io::Result<()> {
    let mut grid = Grid::new([
        Column::text(heads::WHAT),
        Column::number(heads::KEYS_BEFORE),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY_BEFORE),
        Column::number(heads::MEMORY),
        Column::number(heads::CHANGE),
    ]);
    let row = |what: &str, before: Weight, after: Weight| -> [Cell; 6] {
        [
            what.into(),
            before.keys.into(),
            after.keys.into(),
            before.memory.into(),
            after.memory.into(),
            human::change(before.memory.0, after.memory.0).into(),
        ]
    };
    grid.toned(Tone::Bold, row(page.lang().of("all keys", "所有 key"), before, after));
    for change in types {
        grid.row(row(&key_text::text(&change.kind), change.before, change.after));
    }
    grid.print(page)
}

/// The columns of [`pattern`].
pub(super) fn pattern_columns() -> [Column; 6] {
    [
        Column::text(heads::PATTERN).painted(Paint::Placeholders).shrink(20),
        Column::number(heads::KEYS_BEFORE).spare(2),
        Column::number(heads::KEYS).spare(1),
        Column::number(heads::MEMORY_BEFORE),
        Column::number(heads::MEMORY),
        Column::text(heads::CHANGE),
    ]
}

/// A pattern with keys and memory before and after, and the difference.
pub(super) fn pattern(change: &PatternChange) -> [Cell; 6] {
    let keys = |weight: Option<Weight>| weight.map_or(Cell::Absent, |weight| weight.keys.into());
    let memory = |weight: Option<Weight>| weight.map_or(Cell::Absent, |weight| Cell::from(weight.memory));
    let share = match (change.before, change.after) {
        (Some(before), Some(after)) => format!(", {}", human::change(before.memory.0, after.memory.0)),
        _ => String::new(),
    };
    [
        Cell::text(&change.pattern),
        keys(change.before),
        keys(change.after),
        memory(change.before),
        memory(change.after),
        format!("{}{share}", human::signed(change.growth.memory)).into(),
    ]
}
