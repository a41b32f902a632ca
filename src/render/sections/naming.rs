//! Names that break the naming rules.

use super::command::keys_breaking;
use crate::render::document::{Block, Cell, Column, More, Scope, Section, Table};
use crate::render::words::heads;
use crate::report::known_memory;
use crate::report::{NamingRule, PatternWeight, Report};

/// Patterns of each naming rule.
const PATTERNS_OF_A_RULE: usize = 4;

/// Builds the section: the rules that are broken, then where, except those that the findings show with the same figures.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let shown_above =
        |rule: &NamingRule| !scope.apart && report.findings.list.iter().any(|finding| finding.rule == rule.rule);
    let broken: Vec<&NamingRule> =
        report.naming.rules.iter().filter(|rule| rule.keys > 0 && !shown_above(rule)).collect();
    if broken.is_empty() {
        return None;
    }
    let lang = scope.lang;
    let title = lang.of("Names that violate rules", "违反命名规则的 key 名");
    let rules = Table::of(title, &broken, usize::MAX)
        .column(Column::text(heads::RULE), |rule| &*rule.rule)
        .column(Column::text(heads::SEVERITY).spare(2), |rule| Cell::Severity(rule.severity))
        .column(Column::number(heads::KEYS), |rule| rule.keys)
        .column(Column::number(heads::OF_KEYS).spare(1), |rule| Cell::ShareOf(rule.keys, report.totals.keys))
        .column(Column::number(heads::MEMORY), |rule| known_memory(rule.keys, rule.memory))
        .column(Column::text(heads::DEMANDS).shrink(38).prose(), |rule| {
            Cell::words(lang.of(&rule.demand.en, &rule.demand.zh))
        })
        .build();
    let heading = lang.of("Where", "位置");
    let most = PATTERNS_OF_A_RULE.min(scope.rows);
    let shown: Vec<(&NamingRule, &PatternWeight)> =
        broken.iter().flat_map(|rule| rule.patterns.iter().take(most).map(move |row| (*rule, row))).collect();
    let mut places = Table::of(heading, &shown, usize::MAX)
        .column(Column::text(heads::PATTERN).shrink(24), |(_, row)| Cell::pattern(&row.pattern))
        .column(Column::text(heads::BREAKS), |(rule, _)| &*rule.rule)
        .column(Column::number(heads::KEYS), |(_, row)| row.keys)
        .column(Column::number(heads::MEMORY), |(_, row)| known_memory(row.keys, row.memory))
        .column(Column::text(heads::EXAMPLE).shrink(20).spare(1), |(_, row)| row.examples.first())
        .build();
    let all: usize = broken.iter().map(|rule| rule.patterns.len()).sum();
    places.hidden = (all - shown.len()) as u64;
    let ids: Vec<&str> = broken.iter().map(|rule| &*rule.rule).collect();
    places.more = More::Keys(keys_breaking(report, &ids));
    Some(Section::new("naming", title).with(rules).with(Block::Heading(heading.to_owned())).with(places))
}
