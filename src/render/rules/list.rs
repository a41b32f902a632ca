//! Tables of rules: all with their severities by preset, and those in force with their parameters.

use std::io::{self, Write};

use super::severities;
use crate::policy::params::Params;
use crate::policy::registry::RULES;
use crate::policy::wording::{self, settings};
use crate::policy::{Meta, Policy};
use crate::render::table::grid::{Cell, Column, Grid, Paint};
use crate::render::table::page::{Page, Tone};
use crate::render::words::{heads, say};
use crate::render::wrap::wrap;
use crate::render::{Lang, TableOptions, human, key_text};
use crate::report::Wording;

/// All rules, with their severities in each of the presets.
pub fn all(presets: &[Policy], table: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let lang = table.lang;
    let mut page = Page::new(out, table.columns(), TableOptions { rows: usize::MAX, ..table });
    let known = ["default", "service", "hzero", "platform", "strict", "aliyun"];
    let severity = |name: &str, id: &str| {
        let preset = presets.iter().find(|preset| preset.name == name);
        preset.and_then(|preset| severities(preset, id)).unwrap_or_else(|| human::ABSENT.to_owned())
    };
    let rows: Vec<(&Meta, [String; 6])> =
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
    // What a rule demands goes on in the rows below, if there is room for it at all.
    let room = page.width().saturating_sub(used);
    let mut columns = vec![Column::text(heads::RULE)];
    columns.extend(known.map(|name| Column::text(heads::same(name)).painted(Paint::Severity)));
    columns.push(Column::text(heads::DEMANDS).shrink(LEAST).spare(1));
    let mut grid = Grid::new(columns);
    for (meta, severities) in &rows {
        let demand = demand(meta, &Params::defaults(meta.params), lang);
        let mut lines = if room >= LEAST { wrap(&demand, room) } else { vec![demand] }.into_iter();
        let first = [meta.id.to_owned()].into_iter().chain(severities.iter().cloned()).chain(lines.next());
        grid.row(first.map(Cell::from).collect::<Vec<_>>());
        for line in lines {
            let blank = std::iter::repeat_n(String::new(), 1 + known.len());
            grid.row(blank.chain([line]).map(Cell::from).collect::<Vec<_>>());
        }
    }
    grid.print(&mut page)?;
    page.gap()?;
    page.text(lang.of(
        "The numbers are those of the rules themselves. `rdblens rules ID` explains a rule with its parameters in every \
         preset; `rdblens rules --policy NAME` lists what is in force there.",
        "表中数字为规则自身的默认值。`rdblens rules ID` 说明一条规则及其在各预设中的参数；`rdblens rules --policy NAME` 列出该策略中生效的规则。",
    ))
}

/// Narrower columns for what a rule demands cannot be read.
const LEAST: usize = 24;

fn demand(meta: &Meta, params: &Params, lang: Lang) -> String {
    let Wording { en, zh } = wording::filled(meta.what, meta.params, params);
    key_text::text(lang.of(&en, &zh)).into_owned()
}

/// The rules that a policy puts in force, with their parameters.
pub fn in_force(policy: &Policy, table: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let lang = table.lang;
    let mut page = Page::new(out, table.columns(), TableOptions { rows: usize::MAX, ..table });
    let name = key_text::text(&policy.name).into_owned();
    let base = policy.extends.as_deref().map(key_text::text);
    let base = base.map_or_else(String::new, |base| say!(lang, ", which extends {base}", "（扩展自 {base}）"));
    let limits = human::count(policy.settings.len() as u64);
    let head = say!(lang, "Policy {name}{base}: {limits} limits", "策略 {name}{base}：{limits} 项限制");
    page.line(Tone::Bold, &head)?;
    page.gap()?;
    let mut grid = Grid::new([
        Column::text(heads::RULE),
        Column::text(heads::SEVERITY).painted(Paint::Severity),
        Column::text(heads::PARAMETERS).shrink(24),
        Column::text(heads::DEMANDS).shrink(28).spare(1),
    ]);
    for setting in &policy.settings {
        let meta = setting.rule.meta;
        let params = settings(meta.params, &setting.params);
        grid.row([
            meta.id.into(),
            setting.severity.name().into(),
            if params.is_empty() { Cell::Absent } else { key_text::text(&params).into_owned().into() },
            demand(meta, &setting.params, lang).into(),
        ]);
    }
    grid.print(&mut page)?;
    let lists = [
        (policy.classes.len(), ["ttl class", "ttl classes", "个 ttl 类别"]),
        (policy.entries.len(), ["dictionary entry", "dictionary entries", "个数据字典条目"]),
        (policy.budgets.len(), ["budget", "budgets", "个内存预算"]),
        (policy.exemptions.len(), ["exemption", "exemptions", "个豁免"]),
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
    page.facts(Tone::Plain, &words)
}
