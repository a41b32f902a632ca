//! What the policy says besides rules: owners, the data dictionary, budgets, exemptions, each in a section of its own.

use std::io;

use super::grid::{Cell, Column, Grid, Paint};
use super::page::{Page, Tone};
use crate::render::words::{heads, leads, others};
use crate::render::{Lang, key_text};
use crate::report::{Report, RuleWeight};

/// Rules that are named of one owner or pattern.
const RULES_OF_A_ROW: usize = 3;

/// Entries without keys that are named.
const UNUSED_ENTRIES: usize = 20;

/// All of them, as far as the policy has them.
pub(super) fn sections(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.findings.dictionary.is_some() {
        owners(report, page)?;
        patterns(report, page)?;
    }
    dictionary(report, page)?;
    budgets(report, page)?;
    exempted(report, page)
}

fn owners(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let owners = &report.findings.by_owner;
    if owners.is_empty() {
        return Ok(());
    }
    page.title(page.lang().of("Owners", "负责人"))?;
    let mut grid = Grid::new([
        Column::text(heads::OWNER).shrink(12),
        Column::text(heads::CONTACT).shrink(12).spare(3),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::number(heads::SHARE).bars().spare(2),
        Column::number(heads::WITHOUT_TTL).spare(4),
        Column::number(heads::BREAKING),
        Column::text(heads::BREAK).shrink(20).spare(1),
    ]);
    let shown = page.first(owners);
    for row in shown {
        grid.row([
            row.owner.as_deref().map_or_else(|| page.lang().of("nobody", "无人负责").into(), Cell::text),
            row.contact.as_deref().map_or(Cell::Absent, Cell::text),
            row.keys.into(),
            row.memory.into(),
            Cell::ShareOf(row.memory.0, report.totals.memory.0),
            row.without_ttl.map_or(Cell::Absent, |without| Cell::ShareOf(without.keys, row.keys)),
            row.broken.keys.into(),
            rules(&row.rules, page.lang()).map_or(Cell::Absent, Cell::from),
        ]);
    }
    grid.print(page)?;
    page.more(shown.len(), owners.len())
}

fn patterns(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let patterns = &report.findings.by_pattern;
    if patterns.is_empty() {
        return Ok(());
    }
    page.title(page.lang().of("Patterns that break most", "违规最多的模式"))?;
    let mut grid = Grid::new([
        Column::text(heads::PATTERN).painted(Paint::Placeholders).shrink(24),
        Column::text(heads::OWNER).shrink(8).spare(1),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::text(heads::BREAK).shrink(24),
    ]);
    let shown = page.first(patterns);
    for row in shown {
        let owner = row.owner.as_deref().map_or(Cell::Absent, Cell::text);
        let rules = rules(&row.rules, page.lang()).map_or(Cell::Absent, Cell::from);
        grid.row([Cell::name(&row.pattern), owner, row.keys.into(), row.memory.into(), rules]);
    }
    grid.print(page)?;
    page.more(shown.len(), patterns.len())
}

/// The gravest rules by name; none of none.
pub(in crate::render) fn rules(rules: &[RuleWeight], lang: Lang) -> Option<String> {
    let mut names: Vec<String> =
        rules.iter().take(RULES_OF_A_ROW).map(|rule| format!("{} {}", rule.severity, rule.rule)).collect();
    if let Some(more) = rules.len().checked_sub(RULES_OF_A_ROW).filter(|more| *more > 0) {
        names.push(others(more, lang));
    }
    (!names.is_empty()).then(|| names.join(lang.of(", ", "，")))
}

/// How the dictionary fits.
fn dictionary(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(fit) = &report.findings.dictionary else { return Ok(()) };
    let lang = page.lang();
    page.title(lang.of("Data dictionary", "数据字典"))?;
    page.text(&leads::dictionary(report, fit, lang))?;
    let mut grid = Grid::new([
        Column::text(heads::ENTRY).shrink(24),
        Column::text(heads::OWNER).shrink(8).spare(1),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::number(heads::WITHOUT_TTL).spare(2),
        Column::text(heads::NOTE).shrink(16).spare(3),
    ]);
    let entries: Vec<_> = fit.entries.iter().filter(|entry| entry.keys > 0).collect();
    let shown = page.first(&entries);
    for entry in shown {
        grid.row([
            Cell::name(&entry.pattern),
            entry.owner.as_deref().map_or(Cell::Absent, Cell::text),
            entry.keys.into(),
            entry.memory.into(),
            Cell::ShareOf(entry.without_ttl.keys, entry.keys),
            entry.note.as_deref().map_or(Cell::Absent, Cell::text),
        ]);
    }
    grid.print(page)?;
    page.more(shown.len(), entries.len())?;
    if fit.unused.is_empty() {
        return Ok(());
    }
    let mut unused: Vec<String> =
        fit.unused.iter().take(UNUSED_ENTRIES).map(|entry| key_text::text(entry).into_owned()).collect();
    if let Some(more) = fit.unused.len().checked_sub(UNUSED_ENTRIES).filter(|more| *more > 0) {
        unused.push(others(more, lang));
    }
    page.hanging(Tone::Plain, lang.of("unused: ", "未使用："), &unused.join(", "))
}

fn budgets(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let budgets = &report.findings.budgets;
    if budgets.is_empty() {
        return Ok(());
    }
    page.title(page.lang().of("Memory budgets", "内存预算"))?;
    let mut grid = Grid::new([
        Column::text(heads::BUDGET_OF).shrink(24),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::number(heads::ALLOWED),
        Column::number(heads::USED),
    ]);
    let shown = page.first(budgets);
    for row in shown {
        let tone = if row.memory > row.allowed { Tone::Warning } else { Tone::Plain };
        let used = Cell::ShareOf(row.memory.0, row.allowed.0);
        grid.toned(tone, [Cell::name(&row.pattern), row.keys.into(), row.memory.into(), row.allowed.into(), used]);
    }
    grid.print(page)?;
    page.more(shown.len(), budgets.len())
}

fn exempted(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let exempted = &report.findings.exempted;
    if exempted.is_empty() {
        return Ok(());
    }
    page.title(page.lang().of("Exempted", "豁免"))?;
    let mut grid = Grid::new([
        Column::text(heads::PATTERN).painted(Paint::Placeholders).shrink(24),
        Column::text(heads::RULE),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::text(heads::REASON).shrink(20),
    ]);
    let shown = page.first(exempted);
    for row in shown {
        let reason = Cell::text(&row.reason);
        grid.row([Cell::name(&row.pattern), (&*row.rule).into(), row.keys.into(), row.memory.into(), reason]);
    }
    grid.print(page)?;
    page.more(shown.len(), exempted.len())
}
