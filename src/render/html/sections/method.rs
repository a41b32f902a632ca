//! The end of the page: the instance, what to know about the figures, where they come from and how they were made.

use super::section;
use crate::render::html::names::{Name, sentence};
use crate::render::html::view::{Block, Caps, Cell, Column, Prose, Section, Table, more};
use crate::render::table::instance::sentences;
use crate::render::table::source::common_folder;
use crate::render::words::{heads, known, nouns, say};
use crate::render::{Lang, human};
use crate::report::Text;
use crate::report::{Report, SourceFile};

/// What the whole server takes.
pub fn instance(report: &Report, lang: Lang, _: Caps) -> Option<Section> {
    let instance = report.instance.as_ref()?;
    let mut section = section("instance", lang.of("The whole instance", "整个实例"));
    section.lead = sentences(report, instance, lang).into_iter().map(Prose::from).collect();
    Some(section)
}

/// What to know about the figures.
pub fn notes(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let warnings = &report.warnings;
    if warnings.is_empty() {
        return None;
    }
    let mut notes: Vec<Prose> =
        warnings.iter().take(caps.rows).map(|it| sentence(lang.of(&it.wording.en, &it.wording.zh)).into()).collect();
    notes.extend(more(notes.len(), warnings.len() as u64, lang).map(Prose));
    Some(section("notes", lang.of("What to know about the figures", "关于这些数字")).with(Block::Notes(notes)))
}

/// Where the figures come from and how they were made.
pub fn source(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let section = section("source", lang.of("Source and method", "来源与方法"));
    let section = section.with(Block::Table(facts(report, lang))).with(Block::Title(lang.of("Files", "文件")));
    let files = files(report, lang, caps);
    let section = if files.rows.is_empty() { section } else { section.with(Block::Table(files)) };
    let aux = &report.server.aux;
    if aux.is_empty() {
        return Some(section);
    }
    const FIELD: Text = Text { en: "field", zh: "字段" };
    const VALUE: Text = Text { en: "value", zh: "值" };
    let label = lang.of("What the dump says of its server", "快照中记录的服务器信息");
    let table = Table::new(label, [Column::text(FIELD, lang), Column::text(VALUE, lang)]);
    let table = table.in_order().fill(aux, caps.rows, 0, lang, |field| {
        vec![Cell::name(Name::text(&field.name)), Cell::name(Name::text(&field.value))]
    });
    Some(section.with(Block::Table(table.folded(label))))
}

/// Everything that the figures depend on.
fn facts(report: &Report, lang: Lang) -> Table {
    let (server, options) = (&report.server, &report.options);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut fact = |what: &str, value: String| {
        if !value.is_empty() {
            rows.push(vec![Cell::Text(what.to_owned()), Cell::name(Name::text(&value))]);
        }
    };
    fact(lang.of("server", "服务器"), format!("{} {}", server.family, server.version).trim().to_owned());
    if server.cluster {
        fact(lang.of("deployment", "部署方式"), lang.of("a cluster node", "集群节点").to_owned());
    }
    fact(lang.of("memory model", "内存模型"), server.model.clone());
    fact(lang.of("snapshot taken", "快照时间"), server.ctime.map(human::time_of_seconds).unwrap_or_default());
    let reference = options.reference_time.map(|at| human::time(at.0));
    fact(lang.of("reference time of expiries", "判断过期的基准时间"), reference.unwrap_or_default());
    fact(lang.of("settings of the server", "服务器设置"), options.server_config.join(", "));
    fact(lang.of("keys selected by", "筛选条件"), options.selection.join(", "));
    fact(lang.of("separators in names", "键名分隔符"), options.separators.join(" "));
    let findings = &report.findings;
    let extends = findings.extends.as_deref().map(|base| say!(lang, " (extends {base})", "（扩展自 {base}）"));
    let rules = human::counted(findings.checked.len() as u64, nouns::RULE, lang);
    if !findings.checked.is_empty() {
        let extends = extends.unwrap_or_default();
        fact(lang.of("policy", "策略"), say!(lang, "{}{extends}, {rules}", "{}{extends}，{rules}", findings.policy));
    }
    if server.functions > 0 {
        fact(lang.of("functions", "函数"), human::counted(server.functions, nouns::LIBRARY, lang));
    }
    fact(lang.of("module data outside keys", "key 之外的模块数据"), server.module_aux.join(", "));
    fact(lang.of("rows of each list in the report", "报告中每个列表的行数"), human::count(options.top as u64));
    fact(lang.of("made by", "生成程序"), format!("rdblens {}", report.rdblens));
    let label = lang.of("How the figures were made", "数字的来源");
    let columns = [Column::text(heads::WHAT, lang), Column::text(heads::WHICH, lang)];
    Table { rows, pairs: true, ..Table::new(label, columns).in_order() }
}

fn files(report: &Report, lang: Lang, caps: Caps) -> Table {
    let files = &report.source.files;
    let columns = [
        Column::text(heads::FILE, lang),
        Column::text(heads::FORM, lang).spare(),
        Column::number(heads::RDB, lang).spare(),
        Column::number(heads::SIZE, lang),
        Column::number(heads::COMMANDS_BEHIND, lang).spare(),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::text(heads::CHECKSUM, lang),
        Column::text(heads::SERVER, lang).spare(),
        Column::text(heads::WRITTEN, lang).spare(),
    ];
    let common = common_folder(files);
    let table = Table::new(lang.of("Files", "文件"), columns);
    table.fill(files, 2 * caps.rows, 0, lang, |file| file_row(file, common, lang)).compact()
}

fn file_row(file: &SourceFile, common: usize, lang: Lang) -> Vec<Cell> {
    vec![
        Cell::name(Name::text(file.name.get(common..).unwrap_or(&file.name))),
        Cell::name(Name::text(&known::form(&file.container, lang))),
        Cell::count(u64::from(file.rdb_version)),
        Cell::bytes(file.bytes),
        file.trailing_bytes.map_or(Cell::Absent, Cell::bytes),
        Cell::count(file.keys),
        Cell::bytes(file.memory),
        Cell::Text(known::checksum(file.checksum, lang).to_owned()),
        Cell::name(Name::text(&known::server(&file.server, lang))),
        file.ctime.map_or(Cell::Absent, |ctime| Cell::Text(human::time_of_seconds(ctime))),
    ]
}
