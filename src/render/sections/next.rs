//! Commands that answer the reader's next question.

use super::command::{self, Command, input, inputs, policy, quoted, settings};
use super::types;
use crate::render::Lang;
use crate::render::document::{Block, Hint, Scope, Section};
use crate::report::{Checksum, Options, Report, Text};
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
    let check = is_damaged(report).then(|| check(report));
    let mut all: Vec<Step> = check.into_iter().chain(heaviest_key(report)).collect();
    let rule = report.findings.list.first().and_then(|finding| quoted(&finding.rule));
    let rule = rule.map(|rule| vec![format!("rdblens rules {rule}")]);
    all.extend(rule.map(|rule| step(rule, "why, and how to fix it", "原因与修复方法")));
    all.push(step(analyses(report, "--full"), "everything", "全部内容"));
    all.into_iter().map(|step| Hint { brief: true, ..step.hint(lang) }).collect()
}

/// Returns commands with their answers, the most urgent first.
fn steps(report: &Report) -> Vec<Step> {
    let check = is_damaged(report).then(|| check(report));
    let mut steps: Vec<Step> = check.into_iter().chain(heaviest_key(report)).collect();
    // Other keys would have other patterns, and the rows of a list could not be told from the rest.
    let is_known = |memory: Bytes| memory > Bytes(0);
    let keys = |flags: &str, selected: String, en, zh| {
        let commands = inputs(report).into_iter().map(|files| format!("rdblens keys {files} {flags}{selected}"));
        Step { commands: commands.collect(), answer: Text { en, zh }, answer_if_cut: None }
    };
    let pattern = report.patterns.list.first().filter(|row| is_known(row.memory));
    let pattern = pattern.and_then(|row| quoted(&row.pattern));
    if let (Some(pattern), Some(selected)) = (pattern, settings(report, Command::Keys)) {
        let flags = format!("--pattern {pattern} --format csv");
        steps.push(keys(
            &flags,
            selected,
            "the keys of the heaviest pattern, one row per key",
            "最大的模式中的 key，每行一个",
        ));
    }
    if let (Some(heaviest), Some(selected)) = (types::heaviest(&report.types), settings_for_any_type(report)) {
        let flags = format!("--type {}", heaviest.kind);
        steps.push(keys(
            &flags,
            selected,
            "the keys of the heaviest type, one row per key",
            "最大的类型中的 key，每行一个",
        ));
    }
    let cut = Text { en: "all columns, as JSON", zh: "全部列（JSON）" };
    let answer = Text { en: "the whole report, as JSON", zh: "完整报告（JSON）" };
    let top = report.options.top;
    let form = if top > Options::USUAL_TOP { format!("--format json --top {top}") } else { "--format json".to_owned() };
    steps.push(Step { commands: analyses(report, &form), answer, answer_if_cut: Some(cut) });
    steps
}

fn check(report: &Report) -> Step {
    let commands = inputs(report).into_iter().map(|files| format!("rdblens check {files}")).collect();
    let answer = Text { en: "where and how the file is damaged", zh: "文件在何处、如何损坏" };
    Step { commands, answer, answer_if_cut: None }
}

/// Returns the commands that show the heaviest key; `None` if its name is masked, or there is none.
fn heaviest_key(report: &Report) -> Option<Step> {
    let row = report.top.by_memory.first().filter(|row| !is_masked(&row.key.0))?;
    let key = command::key(&row.key.0).unwrap_or_else(|| "KEY".to_owned());
    let db = if row.db == 0 { String::new() } else { format!(" --db {}", row.db) };
    let settings = settings(report, Command::Show)?;
    let show = |files: String| {
        let file = row.source.as_deref().map(|source| input(source).unwrap_or_else(|| "FILE".to_owned()));
        format!("rdblens show {} {key}{db}{}{settings}", file.unwrap_or(files), policy_if_known(report))
    };
    let answer = Text { en: "what is in the heaviest key", zh: "最大的 key 里有什么" };
    Some(Step { commands: inputs(report).into_iter().map(show).collect(), answer, answer_if_cut: None })
}

/// Returns the commands that make the report again, in another form.
fn analyses(report: &Report, form: &str) -> Vec<String> {
    let Some(settings) = settings(report, Command::Analyze) else { return Vec::new() };
    let policy = policy_if_known(report);
    inputs(report).into_iter().map(|files| format!("rdblens analyze {files}{policy}{settings} {form}")).collect()
}

/// Returns the flag that names the policy. Without it, all figures but the findings are the same.
fn policy_if_known(report: &Report) -> String {
    if report.options.policy.is_empty() { String::new() } else { policy(report) }
}

/// Returns the flags of the report for `keys`, without those for types: such flags add up.
fn settings_for_any_type(report: &Report) -> Option<String> {
    let mut report = Report { options: report.options.clone(), source: report.source.clone(), ..Report::default() };
    report.options.selection.retain(|flag| !flag.starts_with("--type "));
    settings(&report, Command::Keys)
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
