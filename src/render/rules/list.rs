//! Tables of rules: all with their severities by preset, and those in force with their parameters.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::{classes, severities};
use crate::policy::params::Params;
use crate::policy::registry::RULES;
use crate::policy::wording::{RuleWording, settings};
use crate::policy::{Policy, RuleMeta};
use crate::render::document::{Cell, Column, Table};
use crate::render::terminal::page::{Style, TextPage};
use crate::render::terminal::table;
use crate::render::words::{heads, known, nouns, say};
use crate::render::wrap::wrap;
use crate::render::{Lang, TableOptions, human, key_text};
use crate::report::{Severity, Wording};

/// Writes all rules, with their severities in each of the presets.
pub fn all(presets: &[Policy], options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let lang = options.lang;
    let mut page = TextPage::new(out, options.columns(), options);
    let known = ["default", "service", "hzero", "platform", "strict", "aliyun"];
    let severity = |name: &str, id: &str| {
        let preset = presets.iter().find(|preset| preset.name == name);
        preset.and_then(|preset| severities(preset, id)).unwrap_or_else(|| human::ABSENT.to_owned())
    };
    let rows: Vec<(&RuleMeta, [String; 6])> =
        RULES.iter().map(|rule| (rule.meta, known.map(|name| severity(name, rule.meta.id)))).collect();
    let used = rows.iter().map(|(meta, _)| meta.id.len()).max().unwrap_or(0)
        + known
            .iter()
            .enumerate()
            .map(|(at, name)| {
                rows.iter().map(|(_, severities)| key_text::width(&severities[at])).fold(name.len(), usize::max) + 2
            })
            .sum::<usize>()
        + 2;
    let room = page.width().saturating_sub(used);
    let lines: Vec<RuleLine<'_>> =
        rows.iter().flat_map(|(meta, severities)| lines(meta, severities, room, lang)).collect();
    let mut list = Table::of("", &lines, usize::MAX).column(Column::text(heads::RULE), |line| line.id);
    for (at, name) in known.into_iter().enumerate() {
        list = list.column(Column::text(heads::same(name)), |line| match line.severities {
            Some(severities) => severity_cell(&severities[at], lang),
            None => Cell::Blank,
        });
    }
    let list =
        list.column(Column::text(heads::DEMANDS).shrink(MIN_WIDTH).spare(1), |line| line.demand.as_str()).build();
    table::print(&list, &mut page)?;
    page.gap()?;
    if page.columns_left_out {
        page.text(lang.of(
            "The terminal is too narrow for all columns: `rdblens rules --wide` shows them.",
            "终端宽度不足，部分列未显示；`rdblens rules --wide` 显示全部列。",
        ))?;
    }
    if rows.iter().any(|(_, severities)| severities.iter().any(|cell| cell.contains(' '))) {
        page.text(lang.of(
            "Two severities in a cell: the preset sets the rule twice, with different limits.",
            "一格中有两个级别：该预设对这条规则设置了两次，限值不同。",
        ))?;
    }
    // The column of demands is the first to be left out.
    if !page.columns_left_out {
        page.text(lang.of("Limits in demands are the defaults of the rules.", "要求中的数字为规则自身的默认值。"))?;
    }
    page.text(lang.of(
        "`rdblens rules ID` explains a rule with its parameters in every preset; `rdblens rules --policy NAME` lists the rules \
         and limits of that policy.",
        "`rdblens rules ID` 说明一条规则及其在各预设中的参数；`rdblens rules --policy NAME` 列出该策略中生效的规则。",
    ))
}

/// Least width of the column of demands: a narrower one cannot be read.
const MIN_WIDTH: usize = 24;

/// Line of the table: a rule, or the continuation of its demand.
struct RuleLine<'r> {
    id: &'static str,
    severities: Option<&'r [String; 6]>,
    demand: String,
}

/// Returns the lines of a rule; its demand goes on in the lines below the first, if there is room for it at all.
fn lines<'r>(meta: &'static RuleMeta, severities: &'r [String; 6], room: usize, lang: Lang) -> Vec<RuleLine<'r>> {
    let demand = demand(meta, &Params::defaults(meta.params), lang);
    let demands = if room >= MIN_WIDTH { wrap(&demand, room) } else { vec![demand] };
    let mut first = Some((meta.id, Some(severities)));
    let line = |demand| {
        let (id, severities) = first.take().unwrap_or_default();
        RuleLine { id, severities, demand }
    };
    demands.into_iter().map(line).collect()
}

/// Returns the cell of one severity, or of several separated by blanks.
fn severity_cell(words: &str, lang: Lang) -> Cell {
    let word = |word| Severity::parse(word).map_or(word, |severity| known::severity(severity, lang));
    Severity::parse(words)
        .map_or_else(|| words.split(' ').map(word).collect::<Vec<_>>().join(" ").into(), Cell::Severity)
}

fn demand(meta: &RuleMeta, params: &Params, lang: Lang) -> String {
    let Wording { en, zh } = RuleWording::of(meta, params).demand;
    key_text::text(lang.of(&en, &zh)).into_owned()
}

/// Writes the rules that a policy puts in force, with their parameters.
pub fn in_force(policy: &Policy, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let lang = options.lang;
    let mut page = TextPage::new(out, options.columns(), options);
    let name = key_text::text(&policy.name).into_owned();
    let base = policy.extends.as_deref().map(key_text::text);
    let base = base.map_or_else(String::new, |base| say!(lang, ", which extends {base}", "（扩展自 {base}）"));
    let ids: BTreeSet<&str> = policy.settings.iter().map(|setting| setting.rule.meta.id).collect();
    let rules = human::counted(ids.len() as u64, nouns::RULE, lang);
    // A rule may be set with several limits.
    let several = (policy.settings.len() > ids.len()).then(|| {
        let settings = human::counted(policy.settings.len() as u64, nouns::SETTING, lang);
        say!(lang, ", {settings}", "，{settings}")
    });
    let several = several.unwrap_or_default();
    let head = say!(lang, "Policy {name}{base}: {rules}{several}", "策略 {name}{base}：{rules}{several}");
    page.line(Style::Bold, &head)?;
    page.gap()?;
    let list = Table::of("", &policy.settings, usize::MAX)
        .column(Column::text(heads::RULE), |setting| setting.rule.meta.id)
        .column(Column::text(heads::SEVERITY), |setting| Cell::Severity(setting.severity))
        .column(Column::text(heads::PARAMETERS).shrink(24), |setting| {
            let params = settings(setting.rule.meta.params, &setting.params);
            (!params.is_empty()).then(|| Cell::words(&params))
        })
        .column(Column::text(heads::DEMANDS).shrink(28).prose().spare(1), |setting| {
            demand(setting.rule.meta, &setting.params, lang)
        })
        .build();
    table::print(&list, &mut page)?;
    if !policy.classes.is_empty() {
        page.gap()?;
        table::print(&classes::table(policy, lang), &mut page)?;
    }
    let lists = [
        (policy.entries.len(), ["dictionary entry", "dictionary entries", "个数据字典条目"]),
        (policy.budgets.len(), ["budget", "budgets", "个内存预算"]),
        (policy.exemptions.len(), ["exemption", "exemptions", "条豁免"]),
    ];
    let words: Vec<String> = lists
        .into_iter()
        .filter(|(length, _)| *length > 0)
        .map(|(length, [one, many, zh])| format!("{length} {}", lang.of(if length == 1 { one } else { many }, zh)))
        .collect();
    if words.is_empty() {
        return Ok(());
    }
    page.gap()?;
    page.facts(Style::Plain, &words)
}
