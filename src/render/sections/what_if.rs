//! Memory of the same keys on other servers, with other allocators and settings.

use crate::limits::MAX_ALTERNATIVES;
use crate::memory::NEWEST;
use crate::render::document::{Block, Cell, Column, Prose, Scope, Section, Table, Tone, inline};
use crate::render::words::heads;
use crate::render::{Lang, human};
use crate::report::Text;
use crate::report::{Alternative, Report, Warning, WhatIf, WhatIfPattern};
use crate::units::Bytes;

/// Headings of columns: alternatives have long names, so that columns bear their numbers.
const NUMBERS: [&str; MAX_ALTERNATIVES] = ["1", "2", "3", "4", "5", "6", "7", "8"];

/// Width of the names of settings that are asked for most: `hash-max-listpack-entries=` and its like are not cut.
const MAX_SETTING_COLUMNS: usize = 26;

/// Builds the section: the alternatives in full, then where the difference is.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let what_if = report.what_if.as_ref()?;
    let lang = scope.lang;
    let heading = lang.of("Where the difference is", "差异所在");
    let section = Section::new("what-if", lang.of("What if", "假设分析（What-if）"))
        .with(alternatives(what_if, lang))
        .with(Block::Heading(heading.to_owned()))
        .with(differences(heading, what_if, scope));
    let mut caveats = caveats(report, what_if, lang);
    if what_if.known(what_if.base.memory).is_none() {
        let said = "The memory of the keys is unknown for a model, so there is nothing to compare: --server computes it as for another \
                    server.";
        caveats.insert(
            0,
            lang.of(said, "某个模型下所有 key 的内存未知，无法对比：可用 --server 按其他服务器计算。").into(),
        );
    }
    Some(if caveats.is_empty() { section } else { section.with(Block::Notes(caveats, 0)) })
}

/// Lists the caveats, each once; the notes of the report have those of the base.
fn caveats(report: &Report, what_if: &WhatIf, lang: Lang) -> Vec<Prose> {
    let mut told: Vec<&Warning> = Vec::new();
    for caveat in what_if.alternatives.iter().flat_map(|alternative| &alternative.caveats) {
        if !told.contains(&caveat) && !report.warnings.contains(caveat) {
            told.push(caveat);
        }
    }
    told.into_iter().map(|it| Prose::wording(&it.wording, lang)).collect()
}

/// A row for each model, with everything that is known of the whole.
fn alternatives(what_if: &WhatIf, lang: Lang) -> Table {
    let base = &what_if.base;
    let now = (None, what_if.alternatives.len());
    let numbered = what_if.alternatives.iter().enumerate().map(|(at, row)| (Some(row), at));
    let rows: Vec<(Option<&Alternative>, usize)> = std::iter::once(now).chain(numbered).collect();
    let change = |from: Bytes, to: Bytes| Cell::Change { from: from.0, to: to.0 };
    let known = |memory| what_if.known(memory);
    let mut table = Table::of(lang.of("What if", "假设分析（What-if）"), &rows, usize::MAX)
        .column(Column::text(heads::NONE), |(row, at)| match row {
            None => Cell::Blank,
            Some(_) => NUMBERS.get(*at).copied().into(),
        })
        .column(Column::text(heads::WHAT_IF).shrink(MAX_SETTING_COLUMNS).prose(), |(row, _)| match row {
            None => lang.pick(heads::NOW).into(),
            Some(row) => Cell::words(&asked(&row.ask, &row.model)),
        })
        .column(Column::text(heads::MODEL).shrink(MAX_SETTING_COLUMNS).prose().spare(4), |(row, _)| {
            Cell::words(row.map_or(&base.model, |row| &row.model))
        })
        .column(Column::number(heads::KEYS_MEMORY), |(row, _)| known(row.map_or(base.memory, |row| row.memory)))
        .column(Column::number(heads::KEYS_CHANGE), |(row, _)| {
            row.map_or(Cell::Blank, |row| known(base.memory).map(|memory| change(memory, row.memory)).into())
        })
        // The smallest part of the total gives way before the tables do.
        .column(Column::number(heads::CORRECTION).spare(3), |(row, _)| {
            let bytes = row.map_or(base.correction, |row| row.correction);
            bytes.map(|bytes| Cell::Difference { bytes, of: None })
        })
        .column(Column::number(heads::TABLES).spare(2), |(row, _)| row.map_or(base.tables, |row| row.tables))
        .column(Column::number(heads::IN_TOTAL).spare(1), |(row, _)| row.map_or(base.total, |row| row.total))
        .column(Column::number(heads::COMPACT_HASHES).spare(4), |(row, _)| {
            row.and_then(|row| row.compact_hashes).map(|compact| compact.keys)
        })
        .column(Column::number(heads::TOTAL_CHANGE).spare(1), |(row, _)| match row {
            None => Cell::Blank,
            Some(row) => base.total.zip(row.total).map(|(base, total)| change(base, total)).into(),
        })
        .build()
        .in_order();
    table.explain(heads::CORRECTION, CORRECTION);
    table
}

/// Explains the column of that name.
const CORRECTION: Text = Text {
    en: "Correction: what the allocator adds to MEMORY USAGE, minus what MEMORY USAGE double-counts or is listed under tables.",
    zh: "修正：分配器在 MEMORY USAGE 之外增加的内存，减去其中重复计算或已列入哈希表的部分。",
};

/// Returns what was asked for, with the server that `newest` stands for: `newest (redis 8.10)`.
pub(super) fn asked(ask: &str, model: &str) -> String {
    let server = model.split(',').next().unwrap_or_default();
    match ask.strip_prefix(NEWEST) {
        Some(rest) if !server.is_empty() && (rest.is_empty() || rest.starts_with(',')) => {
            format!("{NEWEST} ({server}){rest}")
        }
        _ => ask.to_owned(),
    }
}

/// All keys, each type, and the patterns that differ most: memory now, and the change under each alternative.
fn differences(label: &str, what_if: &WhatIf, scope: &Scope) -> Table {
    struct DifferenceRow {
        tone: Tone,
        what: &'static str,
        which: Cell,
        now: Bytes,
        then: Vec<Bytes>,
    }
    let lang = scope.lang;
    let line =
        |what, which, now, then: &[Bytes]| DifferenceRow { tone: Tone::Plain, what, which, now, then: then.to_vec() };
    let all: Vec<Bytes> = what_if.alternatives.iter().map(|alternative| alternative.memory).collect();
    let whole = line(lang.of("all keys", "所有 key"), Cell::Blank, what_if.base.memory, &all);
    let mut lines = vec![DifferenceRow { tone: Tone::Strong, ..whole }];
    let kind = lang.of("type", "类型");
    lines.extend(what_if.types.iter().map(|row| line(kind, row.kind.into(), row.memory, &row.alternatives)));
    let pattern = lang.of("pattern", "模式");
    let shown = what_if.patterns.get(..scope.rows).unwrap_or(&what_if.patterns);
    lines.extend(shown.iter().map(|row| line(pattern, Cell::pattern(&row.pattern), row.memory, &row.alternatives)));
    let mut table = Table::of(label, &lines, usize::MAX)
        .tones(|line| line.tone)
        .column(Column::text(heads::WHAT), |line| line.what)
        .column(Column::text(heads::WHICH).shrink(16), |line| line.which.clone())
        .column(Column::number(heads::NOW), |line| what_if.known(line.now));
    for (at, number) in NUMBERS.iter().enumerate().take(what_if.alternatives.len()) {
        // On a narrow page the last ones go first, the first stays.
        let spare = if at == 0 { 0 } else { u8::try_from(at + 1).unwrap_or(u8::MAX) };
        table = table.column(Column::number(Text { en: number, zh: number }).spare(spare), |line| {
            line.then.get(at).zip(what_if.known(line.now)).map(|(then, now)| Cell::Change { from: now.0, to: then.0 })
        });
    }
    let mut table = table.build().in_order();
    table.hidden = (what_if.patterns.len() - shown.len()) as u64;
    let others_differ = others_differ(what_if);
    if what_if.distinct_patterns == 0 {
        return table.out_of_known(0, others_differ);
    }
    // Patterns that no alternative changes are no reason to ask for more.
    if table.hidden > 0 || others_differ {
        table.unlisted = what_if.distinct_patterns.saturating_sub(what_if.patterns.len() as u64);
    }
    table
}

/// Returns whether patterns that the report does not list differ, too: those listed do not sum up to the change of all keys.
fn others_differ(what_if: &WhatIf) -> bool {
    let change = |from: Bytes, to: Bytes| i128::from(to.0) - i128::from(from.0);
    what_if.alternatives.iter().enumerate().any(|(at, alternative)| {
        let of_row = |row: &WhatIfPattern| row.alternatives.get(at).map_or(0, |then| change(row.memory, *then));
        what_if.patterns.iter().map(of_row).sum::<i128>() != change(what_if.base.memory, alternative.memory)
    })
}

/// Returns the alternative that takes least, if it takes less than now: what it is, its total, and the share it saves.
pub(super) fn best(what_if: &WhatIf) -> Option<(String, Bytes, String)> {
    let base = what_if.base.total?;
    let best = what_if.alternatives.iter().filter_map(|row| Some((row, row.total?))).min_by_key(|(_, total)| *total)?;
    let (row, total) = best;
    (total < base).then(|| (inline(&asked(&row.ask, &row.model)), total, human::share_of(base.0 - total.0, base.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_is_shown_with_its_server() {
        assert_eq!(asked("newest", "redis 8.10, jemalloc"), "newest (redis 8.10)");
        assert_eq!(asked("newest,glibc", "redis 8.10, glibc"), "newest (redis 8.10),glibc");
        assert_eq!(asked("redis-7.2", "redis 7.2, jemalloc"), "redis-7.2");
        assert_eq!((asked("newest", "").as_str(), asked("newest-x", "redis 8.10").as_str()), ("newest", "newest-x"));
    }
}
