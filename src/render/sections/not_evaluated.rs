//! Rules in force that were not evaluated, with what they lack.

use std::borrow::Cow;

use crate::render::document::{Block, Cell, Column, Forms, Scope, Section, Table, Tone};
use crate::render::words::{heads, say};
use crate::render::{Lang, key_text};
use crate::report::{NotEvaluated, Report};

/// Builds the section: a paragraph in text, a table in HTML.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let list = &report.findings.not_evaluated;
    if list.is_empty() {
        return None;
    }
    let lang = scope.lang;
    let title = lang.of("Not evaluated", "未评估");
    let table = Table::of(title, list, usize::MAX)
        .column(Column::text(heads::RULE), |row| &*row.rule)
        .column(Column::text(heads::SEVERITY), |row| Cell::Severity(row.severity))
        .column(Column::text(heads::REASON).prose(), |row| Cell::words(lang.of(&row.reason.en, &row.reason.zh)))
        .column(Column::text(heads::REMEDY).prose(), |row| Cell::words(lang.of(&row.remedy.en, &row.remedy.zh)))
        .build();
    let paragraph = Block::Paragraph(Tone::Plain, text(list, lang).into());
    Some(Section::new("not-evaluated", title).with_in(Forms::TEXT, paragraph).with_in(Forms::HTML, table))
}

/// Lists the rules with the flags that they need, or with the reasons: those that lack the same together.
fn text(list: &[NotEvaluated], lang: Lang) -> String {
    let mut groups: Vec<(String, Vec<Cow<'_, str>>)> = Vec::new();
    for row in list {
        let rule = key_text::text(&row.rule);
        let lacks = match row.flag.as_deref().map(key_text::text) {
            Some(flag) => say!(lang, "needs {flag}", "需要 {flag}"),
            None => key_text::text(lang.of(&row.reason.en, &row.reason.zh)).into_owned(),
        };
        match groups.iter_mut().find(|(known, _)| *known == lacks) {
            Some((_, rules)) => rules.push(rule),
            None => groups.push((lacks, vec![rule])),
        }
    }
    let comma = lang.of(", ", "、");
    let group = |(lacks, rules): (String, Vec<Cow<'_, str>>)| {
        let rules = rules.join(comma);
        say!(lang, "{rules} ({lacks})", "{rules}（{lacks}）")
    };
    let list = groups.into_iter().map(group).collect::<Vec<_>>().join(comma);
    say!(lang, "Could not be evaluated: {list}.", "未能评估：{list}。")
}
