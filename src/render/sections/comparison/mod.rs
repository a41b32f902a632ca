//! Sections of a comparison of several snapshots.

mod gate;
mod headline;

use super::trend::slope;
use super::{baseline, growth};
use crate::render::document::{Block, Cell, Column, Document, Prose, Scope, Section, Table, Tone};
use crate::render::words::{heads, say};
use crate::render::{Lang, human};
use crate::report::{
    Comparison, LeftOut, PatternChange, Reached, TemplateChange, TemplateDifference, TemplateSums, Trend, Warning,
};
use crate::units::Millis;

/// Builds the document of a comparison.
pub(in crate::render) fn document(comparison: &Comparison, scope: &Scope) -> Document {
    let headline = headline::headline(comparison, scope.lang);
    Document { lang: scope.lang, headline, sections: sections(comparison, scope) }
}

/// Builds the sections of a comparison.
pub(in crate::render) fn sections(comparison: &Comparison, scope: &Scope) -> Vec<Section> {
    let lang = scope.lang;
    let (lists, counts) = (&comparison.patterns, comparison.patterns.counts);
    let uncertain = lang.of("Patterns that only one of the reports lists", "仅一份报告列出的模式");
    let changed = [
        ("grown", lang.of("Patterns that grew", "增长的模式"), &lists.grown, counts.grown),
        ("new", lang.of("New patterns", "新增的模式"), &lists.new, counts.new),
        ("shrunk", lang.of("Patterns that shrank", "缩小的模式"), &lists.shrunk, counts.shrunk),
        ("vanished", lang.of("Patterns that vanished", "消失的模式"), &lists.vanished, counts.vanished),
        ("uncertain", uncertain, &lists.uncertain, counts.uncertain),
    ];
    let mut sections = vec![snapshots(comparison, scope)];
    sections.extend(left_out(&comparison.left_out, lang));
    sections.extend(gate::section(&comparison.gate, lang));
    sections.extend(all_growth(comparison, scope));
    sections.extend(comparison.trend.as_ref().map(|trend| trend_section(trend, lang)));
    sections.extend(changed.into_iter().filter_map(|(id, title, list, count)| changes(id, title, list, count, scope)));
    sections.extend(comparison.hash_templates.as_ref().map(|change| templates(change, scope)));
    let findings = lang.of("Findings", "违规");
    sections.extend(comparison.findings.iter().map(|it| baseline::changes("findings", findings.into(), it, scope)));
    let notes: Vec<Prose> = comparison.warnings.iter().map(|it| Prose::wording(&it.wording, lang)).collect();
    if !notes.is_empty() {
        sections.push(Section::new("notes", lang.of("Notes", "说明")).with(Block::Notes(notes, 0)));
    }
    sections
}

fn snapshots(comparison: &Comparison, scope: &Scope) -> Section {
    let table = Table::of(scope.lang.of("Snapshots", "快照"), &comparison.snapshots, usize::MAX)
        .tones(|row| if row.complete { Tone::Plain } else { Tone::Alarm })
        .column(Column::text(heads::SNAPSHOT).shrink(16), |row| Cell::words(&row.name))
        .column(Column::text(heads::TAKEN), |row| row.taken.map(Cell::Time))
        .column(Column::text(heads::FILES).shrink(16).spare(2), |row| files(&row.files))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| row.unknown.known(row.keys, row.memory))
        .column(Column::number(heads::IN_TOTAL).spare(1), |row| row.unknown.known(row.keys, row.total))
        .column(Column::text(heads::NONE), |row| {
            if row.complete { Cell::Blank } else { scope.lang.of("incomplete", "不完整").into() }
        })
        .build();
    Section::new("snapshots", "").with(table)
}

/// Names the files of a night if there are several, below the folder that all of them are in.
fn files(names: &[String]) -> Cell {
    let [first, rest @ ..] = names else { return Cell::Absent };
    if rest.is_empty() {
        return Cell::Absent;
    }
    let mut folder = first.rfind('/').map_or("", |end| &first[..=end]);
    while !rest.iter().all(|name| name.starts_with(folder)) {
        folder = folder.trim_end_matches('/').rfind('/').map_or("", |end| &folder[..=end]);
    }
    let below: Vec<&str> = names.iter().map(|name| name.strip_prefix(folder).unwrap_or(name)).collect();
    Cell::words(&below.join(", "))
}

/// Names nights that are not compared, each with the reason.
fn left_out(nights: &[LeftOut], lang: Lang) -> Option<Section> {
    let about = |night: &LeftOut| Warning::about(&night.name, night.reason.kind.clone()).wording;
    let notes: Vec<Prose> = nights.iter().map(|night| Prose::wording(&about(night), lang)).collect();
    let section = || Section::new("left-out", lang.of("Left out", "未计入"));
    (!notes.is_empty()).then(|| section().with(Block::Notes(notes, 0)))
}

/// A row of the table of hash templates: one of the snapshots, or their difference.
enum TemplateLine<'c> {
    Snapshot(&'static str, &'c TemplateSums),
    Difference(&'c TemplateDifference),
}

/// Builds the section on the hash templates of the first and the last snapshot.
fn templates(change: &TemplateChange, scope: &Scope) -> Section {
    use TemplateLine::{Difference, Snapshot};
    let lang = scope.lang;
    let lines = [
        Snapshot(lang.of("before", "此前"), &change.before),
        Snapshot(lang.of("after", "当前"), &change.after),
        Difference(&change.difference),
    ];
    let signed = |number: i64| Cell::words(&format!("{number:+}"));
    let bytes = |bytes: i64| Cell::Difference { bytes, of: None };
    let title = lang.of("Hash templates", "hash 模板");
    let table = Table::of(title, &lines, usize::MAX)
        .tones(|line| if matches!(line, Difference(_)) { Tone::Strong } else { Tone::Plain })
        .column(Column::text(heads::NONE), |line| match line {
            Snapshot(name, _) => *name,
            Difference(_) => lang.of("change", "变化"),
        })
        .column(Column::number(heads::TEMPLATES), |line| match line {
            Snapshot(_, sums) => Cell::Count(sums.templates),
            Difference(by) => signed(by.templates),
        })
        .column(Column::number(heads::KEYS), |line| match line {
            Snapshot(_, sums) => Cell::Count(sums.keys),
            Difference(by) => signed(by.keys),
        })
        .column(Column::number(heads::MEMORY), |line| match line {
            Snapshot(_, sums) => Cell::Bytes(sums.memory),
            Difference(by) => bytes(by.memory),
        })
        .column(Column::number(heads::OF_TEMPLATE), |line| match line {
            Snapshot(_, sums) => Cell::Bytes(sums.bytes),
            Difference(by) => bytes(by.bytes),
        })
        .column(Column::number(heads::AGAINST_ORDINARY), |line| match line {
            Snapshot(_, sums) => bytes(sums.saved.saturating_neg()),
            Difference(by) => bytes(by.saved.saturating_neg()),
        })
        .build()
        .in_order();
    Section::new("templates", title).with(table)
}

/// Builds the section of the growth of the whole and of each type.
fn all_growth(comparison: &Comparison, scope: &Scope) -> Option<Section> {
    let [first, last] = comparison.ends()?;
    let table = growth::totals(first.weight(), last.weight(), &comparison.types, scope);
    Some(Section::new("growth", scope.lang.of("Growth", "增长")).with(table))
}

fn trend_section(trend: &Trend, lang: Lang) -> Section {
    let outlook = trend.reached.as_ref().map(|reached| Block::Paragraph(tone(reached), outlook(reached, lang).into()));
    Section::new("trend", lang.of("Trend", "趋势")).lead(slope(trend, lang)).with_some(outlook)
}

pub(super) fn tone(reached: &Reached) -> Tone {
    if reached.already || reached.at.is_some() { Tone::Warning } else { Tone::Plain }
}

pub(super) fn outlook(reached: &Reached, lang: Lang) -> String {
    let limit = human::bytes(reached.maxmemory.0);
    let day = |at: Millis| human::time(at.0).split(' ').next().unwrap_or_default().to_owned();
    match (reached.at, reached.earliest, reached.latest) {
        _ if reached.already => say!(lang, "The limit of {limit} is exceeded already.", "已超过上限 {limit}。"),
        (None, None, _) => {
            say!(lang, "At this rate the limit of {limit} is not reached.", "按此趋势，不会达到上限 {limit}。")
        }
        (None, Some(earliest), _) => say!(
            lang,
            "At this rate the limit of {limit} is not reached, though it may be from {} on.",
            "按此趋势，不会达到上限 {limit}，但自 {} 起仍有可能。",
            day(earliest)
        ),
        (Some(at), None, None) => say!(
            lang,
            "At this rate the limit of {limit} is reached on {}.",
            "按此趋势，将于 {} 达到上限 {limit}。",
            day(at)
        ),
        (Some(at), earliest, Some(latest)) => say!(
            lang,
            "At this rate the limit of {limit} is reached on {}, with 95 % between {} and {}.",
            "按此趋势，将于 {} 达到上限 {limit}，95 % 置信区间为 {} 至 {}。",
            day(at),
            earliest.map_or_else(String::new, day),
            day(latest),
        ),
        (Some(at), Some(earliest), None) => say!(
            lang,
            "At this rate the limit of {limit} is reached on {}, at the earliest on {}; perhaps it is never reached.",
            "按此趋势，将于 {} 达到上限 {limit}，最早 {}；也可能永远不会达到。",
            day(at),
            day(earliest),
        ),
    }
}

fn changes(id: &'static str, title: &str, list: &[PatternChange], count: u64, scope: &Scope) -> Option<Section> {
    let mut table = growth::pattern_columns(Table::of(title, list, scope.rows), scope.lang, |change| change);
    table.hidden = count.saturating_sub(table.rows.len() as u64);
    (!list.is_empty()).then(|| Section::new(id, title).with(table))
}
