//! What breaks the policy: the rules by severity, then where each is broken and what to do; and what the policy itself
//! says: owners, dictionary, budgets, exemptions.

use std::io;

use super::grid::{Cell, Column, Grid};
use super::overview::breaking;
use super::page::{Page, Tone};
use crate::render::{human, key_text};
use crate::report::{Finding, FindingPattern, Report, RuleWeight};
use crate::units::Bytes;

/// Patterns of each finding.
const PATTERNS_OF_A_FINDING: usize = 4;

/// Rules that are named of one owner or pattern.
const RULES_OF_A_ROW: usize = 3;

/// Items of one detail's list.
const ITEMS_OF_A_DETAIL: usize = 6;

/// Entries without keys that are named.
const UNUSED_ENTRIES: usize = 20;

/// All findings in a table, then each by itself.
pub(super) fn findings(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let findings = &report.findings;
    if findings.list.is_empty() {
        return Ok(());
    }
    page.title("Findings")?;
    page.text(&headline(report))?;
    let mut grid = Grid::new([
        Column::text("rule"),
        Column::text("severity"),
        Column::number("patterns").spare(2),
        Column::number("keys"),
        Column::number("of keys").spare(3),
        Column::number("memory"),
        Column::number("of memory").spare(4),
        Column::number("saves").spare(1),
        Column::number("worst"),
        Column::number("allowed"),
    ]);
    for finding in &findings.list {
        grid.toned(tone(finding.severity), summary(report, finding));
    }
    grid.print(page)?;
    for finding in &findings.list {
        detail(finding, page)?;
    }
    Ok(())
}

fn headline(report: &Report) -> String {
    let findings = &report.findings;
    let policy = key_text::text(&findings.policy);
    let extends = findings.extends.as_deref().map(|base| format!(", which extends {}", key_text::text(base)));
    let counts: Vec<String> = findings
        .severities
        .iter()
        .filter(|row| row.findings > 0)
        .map(|row| format!("{} {}", human::count(row.findings), row.severity))
        .collect();
    let broken = breaking(findings);
    let keys = match broken.keys {
        0 => "no single key breaks a rule".to_owned(),
        keys => format!(
            "{} ({}) with {}, {} of all memory, break a rule about keys",
            human::counted(keys, "key"),
            human::share_of(keys, report.totals.keys),
            human::bytes(broken.memory.0),
            human::share_of(broken.memory.0, report.totals.memory.0),
        ),
    };
    format!(
        "Policy {policy}{}, {}: {}; {keys}. `rdblens rules ID` explains a rule.",
        extends.unwrap_or_default(),
        human::counted(findings.checked.len() as u64, "rule"),
        counts.join(", "),
    )
}

fn tone(severity: &str) -> Tone {
    match severity {
        "must" => Tone::Warning,
        "hint" => Tone::Faint,
        _ => Tone::Plain,
    }
}

fn summary(report: &Report, finding: &Finding) -> [Cell; 10] {
    let about_keys = finding.keys > 0;
    let of = |part: u64, whole: u64| if about_keys { Cell::ShareOf(part, whole) } else { Cell::Absent };
    let (worst, allowed) = worst(finding).map_or((Cell::Absent, Cell::Absent), |row| measured(row, finding.unit));
    [
        finding.rule.into(),
        finding.severity.into(),
        if finding.distinct_patterns > 0 { finding.distinct_patterns.into() } else { Cell::Absent },
        if about_keys { finding.keys.into() } else { Cell::Absent },
        of(finding.keys, report.totals.keys),
        if about_keys || finding.memory > Bytes(0) { finding.memory.into() } else { Cell::Absent },
        of(finding.memory.0, report.totals.memory.0),
        finding.saves.map_or(Cell::Absent, Cell::from),
        worst,
        allowed,
    ]
}

/// The row that is farthest over what is allowed there, or below it where less is worse.
fn worst(finding: &Finding) -> Option<&FindingPattern> {
    let distance = |row: &&FindingPattern| row.measured.zip(row.allowed).map(|(one, other)| one.abs_diff(other));
    let rows = finding.patterns.iter().filter(|row| row.measured.is_some());
    // Of equals the first, which is the heaviest.
    rows.rev().max_by_key(distance)
}

/// What was measured and what is allowed, each with its unit.
fn measured(row: &FindingPattern, unit: Option<&str>) -> (Cell, Cell) {
    let cell = |number: Option<u64>| number.map_or(Cell::Absent, |number| in_unit(number, unit).into());
    (cell(row.measured), cell(row.allowed))
}

/// A number of a rule's unit for people.
fn in_unit(number: u64, unit: Option<&str>) -> String {
    match unit {
        Some("bytes") => human::bytes(number),
        Some("milliseconds") => human::duration(number),
        Some("permille") => human::share_of(number, 1000),
        _ => human::count(number),
    }
}

/// One finding: what is demanded, where it is broken, what to do.
fn detail(finding: &Finding, page: &mut Page<'_>) -> io::Result<()> {
    page.gap()?;
    let head = format!("{} {}: {}", finding.severity, finding.rule, key_text::text(&finding.demand.en));
    page.hanging(Tone::Bold, "", &head)?;
    let mut grid = Grid::new([
        Column::text("pattern").shrink(24),
        Column::text("owner").shrink(8).spare(3),
        Column::number("keys"),
        Column::number("memory"),
        Column::number("saves").spare(4),
        Column::number("worst").spare(5),
        Column::number("allowed").spare(6),
        Column::text("heaviest example").shrink(16).spare(1),
    ]);
    let limit = finding.patterns.first().and_then(|row| row.allowed);
    let alike = finding.patterns.iter().all(|row| row.allowed == limit);
    let shown = page.first(&finding.patterns);
    let shown = &shown[..shown.len().min(PATTERNS_OF_A_FINDING)];
    for row in shown {
        let (worst, allowed) = measured(row, finding.unit);
        grid.row([
            row.pattern.as_deref().map_or_else(|| "the whole snapshot".into(), escaped),
            row.owner.as_deref().map_or(Cell::Absent, escaped),
            if row.keys > 0 { row.keys.into() } else { Cell::Absent },
            if row.keys > 0 || row.memory > Bytes(0) { row.memory.into() } else { Cell::Absent },
            row.saves.map_or(Cell::Absent, Cell::from),
            worst,
            // One limit for all is in the summary.
            if alike { Cell::Absent } else { allowed },
            row.examples.first().map_or(Cell::Absent, |example| key_text::key(&example.key.0).into()),
        ]);
    }
    grid.print(page)?;
    page.more(
        shown.len(),
        usize::try_from(finding.distinct_patterns).unwrap_or(usize::MAX).max(finding.patterns.len()),
    )?;
    for row in shown {
        details(row, page)?;
    }
    page.hanging(Tone::Plain, "→ ", &key_text::text(&finding.fix.en))
}

fn escaped(text: &str) -> Cell {
    key_text::text(text).into_owned().into()
}

/// What else is known of a row, behind its pattern.
fn details(row: &FindingPattern, page: &mut Page<'_>) -> io::Result<()> {
    if row.details.is_empty() {
        return Ok(());
    }
    let facts: Vec<String> =
        row.details.iter().map(|(name, value)| format!("{} {}", name.replace('_', " "), plain(name, value))).collect();
    let pattern = row.pattern.as_deref().map_or_else(String::new, |pattern| format!("{pattern}: "));
    let text = format!("{pattern}{}", facts.join("; "));
    page.hanging(Tone::Faint, "  ", &key_text::text(&text))
}

/// A value of a detail without the marks of JSON, where it has a plain form. Names say what is counted in bytes.
fn plain(name: &str, value: &serde_json::Value) -> String {
    use serde_json::Value;
    let bytes = ["memory", "bytes", "saves"].iter().any(|part| name.contains(part));
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_u64() {
            Some(number) if bytes => human::bytes(number),
            Some(number) => human::count(number),
            None => number.to_string(),
        },
        Value::Array(items) => {
            let shown = items.iter().take(ITEMS_OF_A_DETAIL).map(|item| plain(name, item));
            let more = items.len().checked_sub(ITEMS_OF_A_DETAIL).filter(|more| *more > 0);
            shown.chain(more.map(|more| format!("{more} more"))).collect::<Vec<_>>().join(", ")
        }
        Value::Object(members) => {
            members.iter().map(|(name, value)| format!("{name} {}", plain(name, value))).collect::<Vec<_>>().join(" ")
        }
        Value::Null => human::ABSENT.to_owned(),
        Value::Bool(flag) => flag.to_string(),
    }
}

/// What the policy says besides rules, each in a section of its own.
pub(super) fn policy(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
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
