//! Commands that answer the reader's next question.

use super::command::{inputs, policy, quoted, selection};
use crate::render::Lang;
use crate::render::document::{Block, Hint, Scope, Section};
use crate::report::Text;
use crate::report::{Checksum, Report};
use crate::units::Bytes;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let lang = scope.lang;
    let hints = steps(report).into_iter().map(|step| step.hint(lang)).collect();
    Some(Section::new("next", lang.of("What next", "下一步")).with(Block::Hints(hints)))
}

/// A command with its variants, the best first.
struct Step {
    commands: Vec<String>,
    answer: Text,
    answer_if_cut: Option<Text>,
}

impl Step {
    fn hint(self, lang: Lang) -> Hint {
        Hint {
            commands: self.commands,
            answer: lang.pick(self.answer),
            answer_if_cut: self.answer_if_cut.map(|answer| lang.pick(answer)),
            brief: false,
        }
    }
}

/// Returns the commands of a short report: a check if it is damaged, then everything, the first rule and the heaviest key.
pub(super) fn short(report: &Report, lang: Lang) -> Vec<Hint> {
    let step = |commands, en, zh| Step { commands, answer: Text { en, zh }, answer_if_cut: None };
    let mut steps: Vec<Step> = steps(report);
    // Its last command is for programs.
    steps.pop();
    let heaviest = steps.into_iter().take(1 + usize::from(is_damaged(report)));
    let policy = if report.options.policy.is_empty() { String::new() } else { policy(report) };
    let selected = selection(report).unwrap_or_default();
    let full = inputs(report).into_iter().map(|files| format!("rdblens analyze {files}{policy}{selected} --full"));
    let mut all: Vec<Step> = heaviest.collect();
    let rule = report.findings.list.first().and_then(|finding| quoted(&finding.rule));
    let rule = rule.map(|rule| vec![format!("rdblens rules {rule}")]);
    all.extend(rule.map(|rule| step(rule, "why, and how to fix it", "原因与修复方法")));
    all.push(step(full.collect(), "everything", "全部内容"));
    all.into_iter().map(|step| Hint { brief: true, ..step.hint(lang) }).collect()
}

/// Returns commands with their answers, the most urgent first.
fn steps(report: &Report) -> Vec<Step> {
    let mut steps = Vec::new();
    let step = |command: &dyn Fn(&str) -> String, en, zh| {
        let commands = inputs(report).into_iter().map(|names| command(&names)).collect();
        Step { commands, answer: Text { en, zh }, answer_if_cut: None }
    };
    if is_damaged(report) {
        let check = |files: &str| format!("rdblens check {files}");
        steps.push(step(&check, "where and how the file is damaged", "文件在何处、如何损坏"));
    }
    if let Some(row) = report.top.by_memory.first().filter(|row| !is_masked(&row.key.0)) {
        let key = std::str::from_utf8(&row.key.0)
            .ok()
            .filter(|key| *key != "\"\"")
            .and_then(quoted)
            .unwrap_or_else(|| "KEY".to_owned());
        let db = if row.db == 0 { String::new() } else { format!(" --db {}", row.db) };
        let show = |files: &str| {
            let file = row.source.as_deref().map(|source| quoted(source).unwrap_or_else(|| "FILE".to_owned()));
            format!("rdblens show {} {key}{db}", file.as_deref().unwrap_or(files))
        };
        steps.push(step(&show, "what is in the heaviest key", "最大的 key 里有什么"));
    }
    // Other keys would have other patterns, and the rows of a list could not be told from the rest.
    let selected = selection(report);
    let is_known = |memory: Bytes| memory > Bytes(0);
    let heaviest = report.patterns.list.first().filter(|row| is_known(row.memory));
    let pattern = heaviest.and_then(|row| quoted(&row.pattern));
    if let (Some(pattern), Some(selected)) = (pattern, &selected) {
        let keys = |files: &str| format!("rdblens keys {files} --pattern {pattern}{selected} --format csv");
        steps.push(step(&keys, "the keys of the heaviest pattern, a row each", "最大模式的 key，每个一行"));
    }
    if let (Some(row), Some(selected)) =
        (report.types.first().filter(|row| is_known(row.memory)), selected_of_any_type(report))
    {
        let keys = |files: &str| format!("rdblens keys {files} --type {}{selected}", row.kind);
        steps.push(step(&keys, "the keys of the heaviest type, a row each", "最大类型的 key，每个一行"));
    }
    // Without the policy, all figures but the findings are the same.
    let policy = if report.options.policy.is_empty() { String::new() } else { policy(report) };
    let selected = selected.unwrap_or_default();
    let all = |files: &str| format!("rdblens analyze {files}{policy}{selected} --format json");
    let cut = Text { en: "all rows, and the columns left out here", zh: "所有行，以及此处省略的列" };
    let all = step(&all, "all rows, for programs", "所有行，供程序读取");
    steps.push(Step { answer_if_cut: Some(cut), ..all });
    steps
}

/// Returns the flags that select the keys of the report, without those for types: such flags add up.
fn selected_of_any_type(report: &Report) -> Option<String> {
    let mut report = Report { options: report.options.clone(), source: report.source.clone(), ..Report::default() };
    report.options.selection.retain(|flag| !flag.starts_with("--type "));
    selection(&report)
}

/// Returns whether a name may hold a token such as `{int}~t3pa2oglt7vg` in place of an id: no key has that name.
fn is_masked(name: &[u8]) -> bool {
    name.windows(2).any(|pair| pair == b"}~")
}

fn is_damaged(report: &Report) -> bool {
    let damaged = |checksum| matches!(checksum, Checksum::Mismatch | Checksum::NotReached);
    let mut files = report.source.files.iter();
    !report.complete || files.any(|file| damaged(file.checksum) || !file.errors.is_empty() || file.damaged_keys > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_masked_names_are_recognised() {
        assert!(is_masked(b"page:uv:{int}~t3pa2oglt7vg") && !is_masked(b"page:uv:1") && !is_masked(b"{a}:b~c"));
    }
}
