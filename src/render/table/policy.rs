//! What the policy says besides rules: owners, the data dictionary, budgets, exemptions, each in a section of its own.

use std::io;

use super::grid::{Cell, Column, Grid};
use super::page::{Page, Tone};
use crate::render::{human, key_text};
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
    page.title("Owners")?;
    let mut grid = Grid::new([
        Column::text("owner").shrink(12),
        Column::text("contact").shrink(12).spare(3),
        Column::number("keys"),
        Column::number("memory"),
        Column::number("share").spare(2),
        Column::number("without TTL").spare(4),
        Column::number("breaking"),
        Column::text("break").shrink(20).spare(1),
    ]);
    let shown = page.first(owners);
    for row in shown {
        grid.row([
            row.owner.as_deref().map_or_else(|| "nobody".into(), escaped),
            row.contact.as_deref().map_or(Cell::Absent, escaped),
            row.keys.into(),
            row.memory.into(),
            Cell::ShareOf(row.memory.0, report.totals.memory.0),
            row.without_ttl.map_or(Cell::Absent, |without| Cell::ShareOf(without.keys, row.keys)),
            row.broken.keys.into(),
            rules(&row.rules),
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
    page.title("Patterns that break most")?;
    let mut grid = Grid::new([
        Column::text("pattern").shrink(24),
        Column::text("owner").shrink(8).spare(1),
        Column::number("keys"),
        Column::number("memory"),
        Column::text("break").shrink(24),
    ]);
    let shown = page.first(patterns);
    for row in shown {
        let owner = row.owner.as_deref().map_or(Cell::Absent, escaped);
        grid.row([escaped(&row.pattern), owner, row.keys.into(), row.memory.into(), rules(&row.rules)]);
    }
    grid.print(page)?;
    page.more(shown.len(), patterns.len())
}

/// The gravest rules by name.
fn rules(rules: &[RuleWeight]) -> Cell {
    if rules.is_empty() {
        return Cell::Absent;
    }
    let mut names: Vec<String> =
        rules.iter().take(RULES_OF_A_ROW).map(|rule| format!("{} {}", rule.severity, rule.rule)).collect();
    if let Some(more) = rules.len().checked_sub(RULES_OF_A_ROW).filter(|more| *more > 0) {
        names.push(format!("{more} more"));
    }
    names.join(", ").into()
}

/// How the dictionary fits.
fn dictionary(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(fit) = &report.findings.dictionary else { return Ok(()) };
    page.title("Data dictionary")?;
    let used = fit.entries.len().saturating_sub(fit.unused.len());
    let unregistered = match fit.unregistered.keys {
        0 => "every key is registered".to_owned(),
        keys => format!(
            "{} ({}) with {} match no entry",
            human::counted(keys, "key"),
            human::share_of(keys, report.totals.keys),
            human::bytes(fit.unregistered.memory.0),
        ),
    };
    let entries = if fit.entries.len() == 1 { "entry" } else { "entries" };
    page.text(&format!("{} {entries}, {used} of them with keys; {unregistered}.", fit.entries.len()))?;
    let mut grid = Grid::new([
        Column::text("entry").shrink(24),
        Column::text("owner").shrink(8).spare(1),
        Column::number("keys"),
        Column::number("memory"),
        Column::number("without TTL").spare(2),
        Column::text("note").shrink(16).spare(3),
    ]);
    let entries: Vec<_> = fit.entries.iter().filter(|entry| entry.keys > 0).collect();
    let shown = page.first(&entries);
    for entry in shown {
        grid.row([
            escaped(&entry.pattern),
            entry.owner.as_deref().map_or(Cell::Absent, escaped),
            entry.keys.into(),
            entry.memory.into(),
            Cell::ShareOf(entry.without_ttl.keys, entry.keys),
            entry.note.as_deref().map_or(Cell::Absent, escaped),
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
        unused.push(format!("{more} more"));
    }
    page.hanging(Tone::Plain, "unused: ", &unused.join(", "))
}

fn budgets(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let budgets = &report.findings.budgets;
    if budgets.is_empty() {
        return Ok(());
    }
    page.title("Memory budgets")?;
    let mut grid = Grid::new([
        Column::text("budget of").shrink(24),
        Column::number("keys"),
        Column::number("memory"),
        Column::number("allowed"),
        Column::number("used"),
    ]);
    let shown = page.first(budgets);
    for row in shown {
        let tone = if row.memory > row.allowed { Tone::Warning } else { Tone::Plain };
        let used = Cell::ShareOf(row.memory.0, row.allowed.0);
        grid.toned(tone, [escaped(&row.pattern), row.keys.into(), row.memory.into(), row.allowed.into(), used]);
    }
    grid.print(page)?;
    page.more(shown.len(), budgets.len())
}

fn exempted(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let exempted = &report.findings.exempted;
    if exempted.is_empty() {
        return Ok(());
    }
    page.title("Exempted")?;
    let mut grid = Grid::new([
        Column::text("pattern").shrink(24),
        Column::text("rule"),
        Column::number("keys"),
        Column::number("memory"),
        Column::text("reason").shrink(20),
    ]);
    let shown = page.first(exempted);
    for row in shown {
        let reason = escaped(&row.reason);
        grid.row([escaped(&row.pattern), row.rule.into(), row.keys.into(), row.memory.into(), reason]);
    }
    grid.print(page)?;
    page.more(shown.len(), exempted.len())
}

fn escaped(text: &str) -> Cell {
    key_text::text(text).into_owned().into()
}
