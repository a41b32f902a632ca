//! Time since the last access, where the dump tells.

use super::spread::{Class, Spread, spread};
use crate::render::Lang;
use crate::render::document::{Cell, Column, Scope, Section, Table};
use crate::render::words::{self, heads, known};
use crate::report::{Bound, ColdDivision, ColdPart, IdleClass, Report};

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let idle = report.idle.as_ref().filter(|idle| idle.keys > 0)?;
    let lang = scope.lang;
    let title = lang.of("Time since the last access", "距上次访问的时间");
    let name = |class: &IdleClass| known::class(&class.idle, lang).to_owned();
    let class = |class: &IdleClass| Class::new(name(class), class.keys, class.memory, class.unknown);
    let classes: Vec<Class> = idle.classes.iter().map(class).collect();
    let classes = Spread { heading: heads::IDLE, label: title, classes: &classes, note: None };
    let section = spread(Section::new("idle", title), report, &classes, scope);
    let parts: Vec<_> = idle.parts.iter().map(|part| (part, None)).collect();
    Some(cold_tables(&parts, idle.distinct_patterns, scope.rows, lang).into_iter().fold(section, Section::with))
}

/// Builds the tables of patterns and of owners with keys out of use. `patterns` is the number of patterns, listed or not; 0 if it is
/// not known.
pub(super) fn cold_tables(parts: &[(&ColdPart, Option<Bound>)], patterns: u64, rows: usize, lang: Lang) -> Vec<Table> {
    let table = |by: ColdDivision| {
        let parts: Vec<_> = parts.iter().copied().filter(|(part, _)| part.by == by).collect();
        let is_exact = parts.iter().all(|(_, bound)| bound.is_none());
        let (head, title) = match by {
            ColdDivision::Pattern => (heads::PATTERN, lang.of("Cold keys by pattern", "长期未访问：按模式")),
            ColdDivision::Owner => (heads::OWNER, lang.of("Cold keys by owner", "长期未访问：按负责人")),
        };
        let memory = |part: &ColdPart, step: usize| part.steps.get(step).map(|step| step.memory);
        let table = Table::of(title, &parts, rows)
            .column(Column::text(head).shrink(16), |(part, _)| match (&part.name, by) {
                (Some(name), ColdDivision::Pattern) => Cell::pattern(name),
                (Some(name), ColdDivision::Owner) => Cell::words(name),
                (None, _) => lang.of("no owner", "无人负责").into(),
            })
            .column(Column::number(heads::IDLE_KEYS), |(part, _)| part.steps.first().map(|step| step.keys))
            .column(Column::number(heads::NOT_USED_7), |(part, _)| memory(part, 0))
            .column(Column::number(heads::NOT_USED_30), |(part, _)| memory(part, 1))
            .column(Column::number(heads::NOT_USED_90), |(part, _)| memory(part, 2))
            .column(Column::number(heads::COLD_SHARE).bars(), |(part, bound)| {
                // Of two sums that lack something the share may be anything.
                bound.is_none().then(|| Cell::ShareOf(part.cold().0, part.memory.0))
            })
            .column(Column::text(heads::NONE), |(_, bound)| match bound {
                Some(bound) => words::bound(*bound, lang).into(),
                None if is_exact => Cell::Absent,
                None => Cell::Blank,
            })
            .build();
        // All owners are listed.
        let table = if by == ColdDivision::Pattern { table.out_of_known(patterns, false) } else { table };
        (!parts.is_empty()).then_some(table)
    };
    [ColdDivision::Pattern, ColdDivision::Owner].into_iter().filter_map(table).collect()
}
