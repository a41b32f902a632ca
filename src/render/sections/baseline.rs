//! Findings compared with those of an earlier report.

use crate::render::Lang;
use crate::render::document::{Cell, Column, Forms, Prose, Scope, Section, Table, Tone, inline};
use crate::render::words::{heads, say};
use crate::report::diff::baseline::BaselineChange;
use crate::report::{Baseline, BaselineRow, Report, Severity, Weight};

/// Builds the section: what `--fail-on` counts with `--baseline`.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let baseline = report.findings.baseline.as_ref()?;
    let name = inline(&baseline.report);
    Some(changes(
        "baseline",
        say!(scope.lang, "Findings compared with {name}", "与 {name} 相比的违规").into(),
        baseline,
        scope,
    ))
}

/// Builds a section of what is new, worse and fixed.
pub(super) fn changes(id: &'static str, title: Prose, findings: &Baseline, scope: &Scope) -> Section {
    let lang = scope.lang;
    let lists = findings.lists();
    let section = match &findings.undecided_from(Severity::Hint)[..] {
        [] => Section::new(id, title),
        rules => Section::new(id, title).lead(undecided(rules, lang)),
    };
    if lists.iter().all(|(_, list)| list.is_empty()) {
        let nothing = lang.of("Nothing is new, worse or fixed.", "没有新增、恶化或已修复的违规。");
        return if findings.undecided.is_empty() { section.lead(nothing) } else { section };
    }
    let all: usize = lists.iter().map(|(_, list)| list.len()).sum();
    let rows: Vec<FindingChange<'_>> = lists
        .into_iter()
        .flat_map(|(change, list)| {
            let (what, fixed) = (in_words(change, lang), change == BaselineChange::Fixed);
            let tone = if fixed { Tone::Plain } else { Tone::Warning };
            scope.first(list).iter().map(move |row| FindingChange { what, tone, row, fixed })
        })
        .collect();
    let mut table = table(&rows, scope);
    table.hidden = (all - rows.len()) as u64;
    section.with(table)
}

/// Names the rules of which it cannot be told whether violations are new or worse.
fn undecided(rules: &[String], lang: Lang) -> String {
    let rules = rules.iter().map(|rule| inline(rule)).collect::<Vec<_>>().join(lang.of(", ", "、"));
    say!(
        lang,
        "Whether violations of {rules} are new or worse cannot be told: a report lists only its heaviest patterns.",
        "无法判断 {rules} 的违规是否新增或恶化：有报告只列出内存最多的模式。"
    )
}

fn in_words(change: BaselineChange, lang: Lang) -> &'static str {
    match change {
        BaselineChange::New => lang.of("new", "新增"),
        BaselineChange::FirstEvaluated => lang.of("first evaluated", "首次评估"),
        BaselineChange::Worse => lang.of("worse", "恶化"),
        BaselineChange::Fixed => lang.of("fixed", "已修复"),
        BaselineChange::OtherPolicy => lang.of("other policy", "策略不同"),
    }
}

/// A finding that changed.
struct FindingChange<'r> {
    what: &'static str,
    tone: Tone,
    row: &'r BaselineRow,
    /// True if the figures are those of the earlier report, and nothing of it is left.
    fixed: bool,
}

impl FindingChange<'_> {
    /// Returns keys and memory in the earlier report.
    fn before(&self) -> Option<Weight> {
        let BaselineRow { keys, memory, before, .. } = *self.row;
        match before {
            _ if self.fixed => Some(Weight { keys, memory }),
            before => before.map(|before| Weight { keys: before.keys, memory: before.memory }),
        }
    }

    /// Returns keys and memory now.
    fn now(&self) -> Option<Weight> {
        (!self.fixed).then_some(Weight { keys: self.row.keys, memory: self.row.memory })
    }
}

fn table(rows: &[FindingChange<'_>], scope: &Scope) -> Table {
    let lang = scope.lang;
    Table::of(lang.of("Findings that changed", "有变化的违规"), rows, usize::MAX)
        .tones(|it| it.tone)
        .column(Column::text(heads::NONE), |it| it.what)
        .column(Column::text(heads::SEVERITY), |it| Cell::Severity(it.row.severity))
        .column(Column::text(heads::RULE), |it| it.row.rule.as_str())
        .column(Column::text(heads::PATTERN).shrink(24), |it| match &it.row.pattern {
            Some(pattern) => Cell::pattern(pattern),
            None => lang.of("all", "全部").into(),
        })
        .column(Column::number(heads::KEYS_BEFORE).spare(3), |it| it.before().map(|before| before.keys))
        .column(Column::number(heads::KEYS), |it| it.now().map(|now| now.keys))
        .column(Column::number(heads::MEMORY_BEFORE).spare(3).only(Forms::HTML), |it| {
            it.before().and_then(|before| before.memory.known())
        })
        .column(Column::number(heads::MEMORY).spare(2), |it| it.now().and_then(|now| now.memory.known()))
        .column(Column::number(heads::CHANGE).spare(4).only(Forms::HTML), |it| {
            Some(Cell::Change { from: it.before()?.memory.known()?.0, to: it.now()?.memory.known()?.0 })
        })
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::terminal::page::TextPage;
    use crate::render::terminal::table::print;
    use crate::render::{Lang, TableOptions};
    use crate::report::BeforeRow;

    #[test]
    fn keys_before_give_way_to_patterns() {
        let pattern = Some("cache:page:fr:steel-boots".to_owned());
        let before = Some(BeforeRow { keys: 1, ..BeforeRow::default() });
        let row = BaselineRow { rule: "key.name-cost".into(), pattern, keys: 2, before, ..BaselineRow::default() };
        let rows = [FindingChange { what: "worse", tone: Tone::Warning, row: &row, fixed: false }];
        let table = table(&rows, &Scope::text(10, Lang::En));
        let printed = |width| {
            let mut out = Vec::new();
            print(&table, &mut TextPage::new(&mut out, width, TableOptions::default())).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(printed(100).contains("keys before"));
        let narrow = printed(72);
        assert!(!narrow.contains("keys before") && narrow.contains("cache:page:fr:steel-boots"), "{narrow}");
    }
}
