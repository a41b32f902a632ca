//! Growth since an earlier report: in all, by type and by pattern.

use crate::render::document::{Block, Cell, Column, Forms, Scope, Section, Table, Tone, inline};
use crate::render::words::{heads, known, nouns, say};
use crate::render::{Lang, human};
use crate::report::known_memory;
use crate::report::{Fate, PatternChange, PatternChanges, Report, Since, TypeChange, Weight};
use crate::units::Bytes;

/// Builds the section: growth since the baseline.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let since = report.growth.as_ref()?;
    let lang = scope.lang;
    let totals = totals(since.before, since.after, &since.types, scope);
    let mut section = Section::new("growth", title(since, lang)).lead(headline(report, since, lang)).with(totals);
    let changes = since.patterns.certain();
    if !changes.is_empty() {
        let patterns = lang.of("Patterns that changed most", "变化最大的模式");
        let mut table = patterns_table(patterns, &changes, scope);
        let all = since.patterns.counts.certain().max(changes.len() as u64);
        table.hidden = all - table.rows.len() as u64;
        section = section.with(Block::Heading(patterns.to_owned())).with(table);
    }
    Some(section.with_some(uncertain(&since.patterns, lang).map(|text| Block::Paragraph(Tone::Plain, text.into()))))
}

/// Returns `Growth since 2026-11-14`, or a title without a day if the report does not know it.
fn title(since: &Since, lang: Lang) -> String {
    let day = since.taken.and_then(|taken| human::time(taken.0).split(' ').next().map(str::to_owned));
    match day {
        Some(day) => say!(lang, "Growth since {day}", "自 {day} 以来的增长"),
        None => lang.of("Growth since the earlier report", "与此前报告相比的增长").to_owned(),
    }
}

/// Says by how much the memory grew, and within what time.
pub(super) fn headline(report: &Report, since: &Since, lang: Lang) -> String {
    let span = report.server.ctime.zip(since.taken).and_then(|(now, then)| {
        let span = now.saturating_mul(1000).checked_sub(then.0).filter(|span| *span > 0)?;
        Some(span.unsigned_abs())
    });
    sentence(&since.report, [since.before, since.after], span, " ", lang)
}

/// Says by how much the memory grew since the snapshot `name`, `span` milliseconds ago. `joint` is between a figure and its unit.
pub(super) fn sentence(
    name: &str,
    [before, after]: [Weight; 2],
    span: Option<u64>,
    joint: &'static str,
    lang: Lang,
) -> String {
    let joined = |figure: String| figure.replace(' ', joint);
    let (bytes, keys) = (|bytes| joined(human::bytes(bytes)), |keys| joined(human::counted(keys, nouns::KEY, lang)));
    if memory_of(before).is_none() || memory_of(after).is_none() {
        return say!(
            lang,
            "Since {name}: {} before, {} now; their memory is unknown.",
            "与 {name} 相比：此前 {}，当前 {}；内存未知。",
            keys(before.keys),
            keys(after.keys),
            name = inline(name),
        );
    }
    let span = span.map(|span| joined(human::duration(span, lang)));
    let span = span.map(|span| say!(lang, " in {span}", "在 {span}内")).unwrap_or_default();
    let share = share([before.memory.0, after.memory.0], joined, lang);
    let size = bytes(after.memory.0.abs_diff(before.memory.0));
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
        bytes(before.memory.0),
        bytes(after.memory.0),
        keys(before.keys),
        keys(after.keys),
        name = inline(name),
    )
}

/// Returns the memory of some keys; `None` if it is unknown for all of them.
pub(super) fn memory_of(weight: Weight) -> Option<Bytes> {
    known_memory(weight.keys, weight.memory)
}

/// Returns ` (+7.3 %)`, or nothing if there is no change to tell.
fn share([before, after]: [u64; 2], joined: impl Fn(String) -> String, lang: Lang) -> String {
    let change = joined(human::change(before, after));
    if before == 0 || before == after { String::new() } else { say!(lang, " ({change})", "（{change}）") }
}

/// Says what lists that were cut cannot tell.
fn uncertain(patterns: &PatternChanges, lang: Lang) -> Option<String> {
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

/// Builds the table of the whole and each type, before and after.
pub(super) fn totals(before: Weight, after: Weight, types: &[TypeChange], scope: &Scope) -> Table {
    struct WeightLine {
        tone: Tone,
        what: Cell,
        before: Weight,
        after: Weight,
    }
    let lang = scope.lang;
    let all = lang.of("all keys", "所有 key").into();
    let mut lines = vec![WeightLine { tone: Tone::Strong, what: all, before, after }];
    lines.extend(types.iter().take(scope.many).map(|change| WeightLine {
        tone: Tone::Plain,
        what: Cell::words(&change.kind),
        before: change.before,
        after: change.after,
    }));
    let both = |line: &WeightLine| memory_of(line.before).zip(memory_of(line.after));
    let difference = |line: &WeightLine| {
        both(line).map(|(before, after)| {
            let size = i64::try_from(after.0.abs_diff(before.0)).unwrap_or(i64::MAX);
            Cell::Difference { bytes: if after < before { -size } else { size }, of: None }
        })
    };
    Table::of(lang.of("Growth by type", "各类型的增长"), &lines, usize::MAX)
        .tones(|line| line.tone)
        .column(Column::text(heads::WHAT), |line| line.what.clone())
        .column(Column::number(heads::KEYS_BEFORE).spare(2), |line| line.before.keys)
        .column(Column::number(heads::KEYS), |line| line.after.keys)
        .column(Column::number(heads::MEMORY_BEFORE).spare(1), |line| memory_of(line.before))
        .column(Column::number(heads::MEMORY), |line| memory_of(line.after))
        .column(Column::number(heads::DIFFERENCE).only(Forms::HTML), difference)
        .column(Column::number(heads::CHANGE), |line| {
            both(line).map(|(before, after)| Cell::Change { from: before.0, to: after.0 })
        })
        .build()
        .in_order()
}

/// Builds the table of patterns that changed, the largest change first.
fn patterns_table(label: &str, changes: &[(Fate, &PatternChange)], scope: &Scope) -> Table {
    let lang = scope.lang;
    let table =
        Table::of(label, changes, scope.rows).column(Column::text(heads::NONE), |(fate, _)| known::fate(*fate, lang));
    pattern_columns(table, lang, |(_, change)| change)
}

/// Adds the columns of a pattern that changed.
pub(super) fn pattern_columns<'t, T>(
    table: crate::render::document::TableOf<'t, T>,
    lang: Lang,
    change: impl Fn(&'t T) -> &'t PatternChange,
) -> Table {
    let keys = |weight: Option<Weight>| weight.map(|weight| weight.keys);
    let memory = |weight: Option<Weight>| weight.and_then(memory_of);
    table
        .column(Column::text(heads::PATTERN).shrink(20), |it| Cell::pattern(&change(it).pattern))
        .column(Column::number(heads::KEYS_BEFORE).spare(3), |it| keys(change(it).before))
        .column(Column::number(heads::KEYS).spare(2), |it| keys(change(it).after))
        .column(Column::number(heads::MEMORY_BEFORE).spare(1), |it| memory(change(it).before))
        .column(Column::number(heads::MEMORY), |it| memory(change(it).after))
        .column(Column::text(heads::CHANGE), |it| {
            let it = change(it);
            let is_known = [it.before, it.after].into_iter().flatten().all(|weight| memory_of(weight).is_some());
            match (it.growth.filter(|_| is_known), it.memory_range) {
                (Some(growth), _) => Some(Cell::Difference {
                    bytes: growth.memory,
                    of: it.before.zip(it.after).map(|(before, after)| (before.memory.0, after.memory.0)),
                }),
                (None, Some(range)) => {
                    let [least, most] = range.map(human::signed);
                    Some(Cell::words(&say!(lang, "{least} to {most}", "{least} 至 {most}")))
                }
                (None, None) => None,
            }
        })
        .build()
        .in_order()
}
