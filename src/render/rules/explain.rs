//! Explanation of one rule in full.

use std::io::{self, Write};

use super::citations::{citations, own_fixes};
use super::{sample, settings_of};
use crate::policy::Policy;
use crate::policy::params::{ParamSpec, Params};
use crate::policy::rule::{Rule, RuleMeta, Unit};
use crate::policy::sample::RuleSample;
use crate::policy::wording::{self, RuleWording};
use crate::render::terminal::page::{Style, TextPage};
use crate::render::words::{known, say};
use crate::render::{Lang, TableOptions, key_text, passage};
use crate::report::Wording;

/// Indentation of a paragraph.
const INDENT: &str = "  ";

/// Explains a rule. `presets` are listed with their parameters, and so is the `policy` that was asked for.
pub fn explain(
    rule: &Rule,
    presets: &[Policy],
    policy: Option<&Policy>,
    table: TableOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lang = table.lang;
    let mut page = TextPage::new(out, if table.wide { table.columns() } else { table.columns().min(READABLE) }, table);
    let meta = rule.meta;
    // Texts show the numbers of the policy, if it has the rule.
    let setting = policy.and_then(|policy| settings_of(policy, meta.id).next());
    let texts = setting.map_or_else(|| RuleWording::of(meta, &Params::defaults(meta.params)), RuleWording::in_force);
    let words = |text: &Wording| lang.of(&text.en, &text.zh).to_owned();
    page.hanging(Style::Bold, &say!(lang, "{}: ", "{}：", meta.id), &words(&texts.demand))?;
    paragraph(&mut page, lang.of("Why", "原因"), lang.pick(meta.why))?;
    let mut known: Vec<&Policy> = presets.iter().collect();
    known.extend(policy.filter(|policy| presets.iter().all(|preset| preset.name != policy.name)));
    demanded_by(meta, &known, lang, &mut page)?;
    parameters(meta, lang, &mut page)?;
    in_force(meta, &known, lang, &mut page)?;
    paragraph(&mut page, lang.of("How to fix", "如何修复"), &words(&texts.fix))?;
    for (names, fix) in own_fixes(known.iter().copied(), meta.id).into_iter().filter(|(_, fix)| *fix != texts.fix) {
        let names: Vec<_> = names.into_iter().map(key_text::text).collect();
        page.hanging(Style::Plain, INDENT, &key_text::text(&format!("{}{}", named(&names, lang), words(&fix))))?;
    }
    // The examples are about the defaults.
    if setting.is_some_and(|setting| setting.params != Params::defaults(meta.params)) {
        return Ok(());
    }
    example(&mut page, lang.of("Passes", "通过的例子"), &meta.passes, lang)?;
    example(&mut page, lang.of("Fails", "不通过的例子"), &meta.fails, lang)
}

/// Returns the names of policies as the beginning of a line about them.
fn named(names: &[impl AsRef<str>], lang: Lang) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    say!(lang, "{}: ", "{}：", names.join(lang.of(", ", "、")))
}

/// Width of the page; longer lines are hard to read.
const READABLE: u16 = 100;

fn title(page: &mut TextPage<'_>, title: &str) -> io::Result<()> {
    page.gap()?;
    page.line(Style::Bold, title)
}

fn paragraph(page: &mut TextPage<'_>, heading: &str, text: &str) -> io::Result<()> {
    title(page, heading)?;
    page.hanging(Style::Plain, INDENT, text)
}

fn demanded_by(meta: &RuleMeta, policies: &[&Policy], lang: Lang, page: &mut TextPage<'_>) -> io::Result<()> {
    let cited = citations(policies.iter().copied(), meta.id);
    if cited.is_empty() {
        return Ok(());
    }
    title(page, lang.of("Demanded by", "依据"))?;
    for citation in cited {
        let names: Vec<_> = citation.policies.iter().map(|name| key_text::text(name)).collect();
        let mark = format!("{INDENT}{}", named(&names, lang));
        page.hanging(Style::Plain, &mark, &passage::place(citation.passage, lang))?;
        if let Some(quote) = passage::quoted(citation.passage) {
            page.hanging(Style::Plain, &INDENT.repeat(2), &quote)?;
        }
    }
    Ok(())
}

fn parameters(meta: &RuleMeta, lang: Lang, page: &mut TextPage<'_>) -> io::Result<()> {
    if let Some(unit) = meta.unit {
        paragraph(page, lang.of("Measured in", "度量单位"), unit_name(unit, lang))?;
    }
    if meta.params.is_empty() {
        return Ok(());
    }
    title(page, lang.of("Parameters", "参数"))?;
    let widest = meta.params.iter().map(|spec| spec.name.len()).max().unwrap_or(0);
    for spec in meta.params {
        let mark = format!("{INDENT}{:widest$}  ", spec.name);
        page.hanging(Style::Plain, &mark, &parameter(spec, lang))?;
    }
    Ok(())
}

fn parameter(spec: &ParamSpec, lang: Lang) -> String {
    let default = wording::toml(spec.default, &spec.default.value());
    lang.of("{what}: {expects} [default: {default}]", "{what}（默认 {default}）")
        .replace("{what}", lang.pick(spec.what))
        .replace("{expects}", &spec.default.expects())
        .replace("{default}", &default)
}

/// Width of the longest severity, `should`.
const SEVERITY_COLUMNS: usize = 6;

fn in_force(meta: &RuleMeta, policies: &[&Policy], lang: Lang, page: &mut TextPage<'_>) -> io::Result<()> {
    title(page, lang.of("In force", "各预设中的级别"))?;
    let names: Vec<String> = policies.iter().map(|policy| key_text::text(&policy.name).into_owned()).collect();
    let widest = names.iter().map(|name| key_text::width(name)).max().unwrap_or(0);
    for (policy, name) in policies.iter().zip(&names) {
        let pad = " ".repeat(widest.saturating_sub(key_text::width(name)));
        let mut settings = settings_of(policy, meta.id).peekable();
        if settings.peek().is_none() {
            page.line(Style::Faint, &format!("{INDENT}{name}{pad}  {}", lang.of("off", "未启用")))?;
        }
        for setting in settings {
            let params = wording::settings(meta.params, &setting.params);
            let severity = known::severity(setting.severity, lang);
            let fill = " ".repeat(SEVERITY_COLUMNS.saturating_sub(key_text::width(severity)));
            let mark = format!("{INDENT}{name}{pad}  {severity}{fill}  ");
            page.hanging(Style::Plain, &mark, &key_text::text(&params))?;
        }
    }
    Ok(())
}

fn example(page: &mut TextPage<'_>, heading: &str, sample: &RuleSample, lang: Lang) -> io::Result<()> {
    title(page, heading)?;
    for line in sample::lines(sample, lang) {
        let whole = format!("{INDENT}{line}");
        match line.split_once("   ") {
            // Too wide: the name gets lines of its own, so that nothing of it is cut.
            Some((name, facts)) if key_text::width(&whole) > page.width() => {
                for piece in pieces(name, page.width() - INDENT.len()) {
                    page.line(Style::Plain, &format!("{INDENT}{piece}"))?;
                }
                page.hanging(Style::Plain, &INDENT.repeat(2), facts.trim_start())?;
            }
            _ => page.line(Style::Plain, &whole)?,
        }
    }
    Ok(())
}

/// Breaks a name that is longer than a line.
fn pieces(name: &str, room: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while key_text::width(rest) > room {
        let end = rest.char_indices().map(|(at, _)| at).take_while(|&at| key_text::width(&rest[..at]) <= room).last();
        let (piece, behind) = rest.split_at(end.filter(|end| *end > 0).unwrap_or(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    pieces
}

/// Returns the name of a unit.
fn unit_name(unit: Unit, lang: Lang) -> &'static str {
    match unit {
        Unit::Bytes => lang.of("bytes", "字节"),
        Unit::Elements => lang.of("elements, fields, members, entries", "元素、字段、成员、消息的个数"),
        Unit::Segments => lang.of("segments of the name", "key 名的段数"),
        Unit::Millis => lang.of("milliseconds", "毫秒"),
        Unit::Permille => lang.of("thousandths", "千分比"),
        Unit::Count => lang.of("a count", "个数"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shown_whole() {
        assert_eq!(pieces("abc", 5), ["abc"]);
        assert_eq!(pieces("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(pieces("用户资料", 5), ["用户", "资料"]);
    }
}
