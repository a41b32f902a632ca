//! Reads the tables of `docs/standards.md`: demands with their rules and cases, and demands that no snapshot shows.

use super::case::{Case, cases};
use super::notation::split;

pub const PAGE: &str = include_str!("../../../docs/standards.md");

/// Demand that a snapshot can prove or refute.
#[derive(Debug)]
pub struct Demand {
    /// Its number on the page, such as `S3`.
    pub id: &'static str,
    /// The rules that check it.
    pub checks: Vec<Check>,
}

/// Rule at one severity, with snapshots that keep and break it.
#[derive(Debug)]
pub struct Check {
    pub rule: String,
    pub severity: String,
    /// Parameters in TOML, as far as the page gives them.
    pub params: Vec<String>,
    pub passes: Vec<Case>,
    pub fails: Vec<Case>,
}

impl Demand {
    /// Returns whether it is a sentence of the standard, not a rule without one.
    pub fn is_sentence(&self) -> bool {
        self.id.starts_with(|letter: char| letter.is_ascii_uppercase())
    }
}

impl Check {
    /// Returns whether the program does not enforce it yet, or not as meant.
    pub fn is_open(&self) -> bool {
        self.passes.iter().chain(&self.fails).any(|case| case.open.is_some())
    }
}

/// Returns the part of the page on one standard.
pub fn part(preset: &str) -> &'static str {
    let from = PAGE.find(&format!("\n## {preset}: ")).unwrap_or_else(|| panic!("no part on {preset}"));
    let rest = &PAGE[from + 1..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

/// Iterates over the rows of all tables, as cells.
pub fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = text.lines().filter_map(|line| line.trim_end().strip_prefix('|')?.strip_suffix('|'));
    rows.map(|row| split(row, "|")).filter(|cells| !cells[0].starts_with("--") && !cells[0].starts_with(":-"))
}

/// Returns the demands of a standard that a snapshot can prove or refute.
pub fn demands(preset: &str) -> Vec<Demand> {
    let mut demands: Vec<Demand> = Vec::new();
    for cells in rows(part(preset)).filter(|cells| cells.len() == 5 && cells[0] != "#") {
        if !cells[0].is_empty() {
            demands.push(Demand { id: cells[0], checks: Vec::new() });
        }
        let demand = demands.last_mut().unwrap_or_else(|| panic!("{preset}: {cells:?} belongs to no demand"));
        demand.checks.push(check(&cells));
    }
    demands
}

fn check(cells: &[&'static str]) -> Check {
    let mut code = cells[2].split('`').skip(1).step_by(2);
    let rule = code.next().unwrap_or_else(|| panic!("no rule: {cells:?}")).to_owned();
    let severity = ["must", "should", "hint"].into_iter().find(|word| cells[2].contains(word));
    Check {
        rule,
        severity: severity.unwrap_or_else(|| panic!("no severity: {cells:?}")).to_owned(),
        params: code.map(str::to_owned).collect(),
        passes: cases(cells[3]),
        fails: cases(cells[4]),
    }
}

/// Returns the rows on demands that no snapshot shows: words and reason.
pub fn unseen(preset: &str) -> Vec<(&'static str, &'static str)> {
    let rows = rows(part(preset)).filter(|cells| cells.len() == 2 && cells[1] != "why no snapshot shows it");
    rows.map(|cells| (cells[0], cells[1])).collect()
}
