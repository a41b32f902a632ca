//! The server that wrote the snapshot, and how the figures were made.

use crate::render::document::{Block, Cell, Column, Fields, Forms, Prose, Scope, Section, Table};
use crate::render::words::{heads, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::Report;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let lang = scope.lang;
    let server = &report.server;
    let mut section = Section::new("server", lang.of("Server", "服务器"));
    section.lead.extend(about(report, lang));
    section = section.with_in(Forms::HTML, facts(report, lang));
    if server.aux.is_empty() || server.family.is_empty() {
        return Some(section);
    }
    let title = lang.of("Server information in the dump", "快照中记录的服务器信息").to_owned();
    let list = server.aux.iter().take(scope.many).map(|field| (field.name.clone(), field.value.clone())).collect();
    Some(section.with(Block::Fields(Fields { label: lang.of("auxiliary fields: ", "辅助字段："), title, list })))
}

/// Says which server it was and what is special about it.
fn about(report: &Report, lang: Lang) -> Option<Prose> {
    let server = &report.server;
    let (name, model) = (server.wording(), &server.model);
    let name = lang.say(&name);
    let mut facts = vec![if is_sized(report) {
        say!(lang, "{name}; memory model: {model}", "{name}；内存模型：{model}")
    } else {
        say!(lang, "{name}, memory unknown", "{name}，内存未知")
    }];
    if server.cluster {
        facts.push(lang.of("a cluster node", "集群节点").to_owned());
    }
    if server.functions > 0 {
        facts.push(human::counted(server.functions, nouns::FUNCTION_LIBRARY, lang));
    }
    if !server.module_aux.is_empty() {
        let modules = server.module_aux.join(lang.of(", ", "、"));
        facts.push(say!(lang, "module data outside keys: {modules}", "key 之外的模块数据：{modules}"));
    }
    if !report.options.server_config.is_empty() {
        facts.push(say!(lang, "with {}", "设置 {}", report.options.server_config.join(lang.of(", ", "、"))));
    }
    let facts = facts.join(lang.of("; ", "；"));
    (!server.family.is_empty()).then(|| say!(lang, "{}.", "{}。", key_text::text(&facts)).into())
}

/// Returns whether the memory of any key is known.
pub(super) fn is_sized(report: &Report) -> bool {
    report.totals.unknown.known(report.totals.keys, report.totals.memory).is_some()
}

/// Lists everything that the figures depend on.
fn facts(report: &Report, lang: Lang) -> Table {
    let (server, options) = (&report.server, &report.options);
    let mut facts: Vec<(&str, String)> = Vec::new();
    let mut fact = |what, value: String| {
        if !value.is_empty() {
            facts.push((what, value));
        }
    };
    fact(lang.of("server", "服务器"), lang.say(&server.wording()).to_owned());
    if server.cluster {
        fact(lang.of("deployment", "部署方式"), lang.of("a cluster node", "集群节点").to_owned());
    }
    let model = if is_sized(report) { server.model.clone() } else { lang.of("unknown", "未知").to_owned() };
    fact(lang.of("memory model", "内存模型"), model);
    fact(lang.of("snapshot taken", "快照时间"), server.ctime.map(human::time_of_seconds).unwrap_or_default());
    let reference = options.reference_time.map(|at| human::time(at.0));
    fact(lang.of("reference time of expiries", "判断过期的基准时间"), reference.unwrap_or_default());
    fact(lang.of("settings of the server", "服务器设置"), options.server_config.join(lang.of(", ", "、")));
    fact(lang.of("keys selected by", "筛选条件"), options.selection.join(lang.of(", ", "、")));
    fact(lang.of("separators in names", "key 名分隔符"), options.separators.join(" "));
    let findings = &report.findings;
    let extends = findings.extends.as_deref().map(|base| say!(lang, " (extends {base})", "（扩展自 {base}）"));
    let rules = human::counted(findings.checked.len() as u64, nouns::RULE, lang);
    if !findings.checked.is_empty() {
        let extends = extends.unwrap_or_default();
        fact(lang.of("policy", "策略"), say!(lang, "{}{extends}, {rules}", "{}{extends}，{rules}", findings.policy));
    }
    if server.functions > 0 {
        fact(lang.of("functions", "函数"), human::counted(server.functions, nouns::FUNCTION_LIBRARY, lang));
    }
    fact(lang.of("module data outside keys", "key 之外的模块数据"), server.module_aux.join(lang.of(", ", "、")));
    fact(lang.of("rows of each list in the report", "报告中每个列表的行数"), human::count(options.top as u64));
    fact(lang.of("made by", "生成程序"), format!("rdblens {}", report.rdblens));
    let mut table = Table::of(lang.of("How the figures were computed", "数字的来源"), &facts, usize::MAX)
        .column(Column::text(heads::WHAT), |(what, _)| *what)
        .column(Column::text(heads::WHICH), |(_, value)| Cell::words(value))
        .build()
        .in_order();
    table.pairs = true;
    table
}
