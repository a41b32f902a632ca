//! Findings against those of an earlier report.

use std::io;

use super::grid::{Cell, Column, Grid, Paint};
use super::page::{Page, Tone};
use crate::render::words::{heads, say};
use crate::render::{Lang, key_text};
use crate::report::{Baseline, BaselineRow, Report};

/// What `--fail-on` counts when there is a baseline; nothing without one.
pub(super) fn section(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(baseline) = &report.findings.baseline else { return Ok(()) };
    let name = key_text::text(&baseline.report);
    let title = say!(page.lang(), "Findings against {name}", "与 {name} 相比的违规");
    changes(&title, baseline, page)
}

/// What is new, worse and fixed, under a heading.
pub(super) fn changes(title: &str, findings: &Baseline, page: &mut Page<'_>) -> io::Result<()> {
    let lang = page.lang();
    let lists = [
        (lang.of("new", "新增"), Tone::Warning, &findings.new),
        (lang.of("worse", "加重"), Tone::Warning, &findings.worse),
        (lang.of("fixed", "已修复"), Tone::Plain, &findings.fixed),
    ];
    page.title(title)?;
    if lists.iter().all(|(_, _, list)| list.is_empty()) {
        return page.text(lang.of("Nothing is new, worse or fixed.", "没有新增、加重或已修复的违规。"));
    }
    let mut grid = Grid::new([
        Column::text(heads::NONE),
        Column::text(heads::SEVERITY).painted(Paint::Severity),
        Column::text(heads::RULE),
        Column::text(heads::PATTERN).painted(Paint::Placeholders).shrink(16),
        Column::number(heads::KEYS_BEFORE).spare(1),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY).spare(2),
    ]);
    let mut hidden = 0;
    for (what, tone, list) in lists {
        let shown = page.first(list);
        hidden += list.len() - shown.len();
        for row in shown {
            grid.toned(tone, finding(what, row, lang));
        }
    }
    grid.print(page)?;
    page.more(0, hidden)
}

fn finding(what: &str, row: &BaselineRow, lang: Lang) -> [Cell; 7] {
    [
        what.into(),
        row.severity.name().into(),
        row.rule.as_str().into(),
        row.pattern.as_deref().map_or_else(|| lang.of("all", "全部").into(), Cell::name),
        row.before.as_ref().map_or(Cell::Absent, |before| before.keys.into()),
        row.keys.into(),
        row.memory.into(),
    ]
}
