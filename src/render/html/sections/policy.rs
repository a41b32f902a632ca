//! What the policy says besides rules: what changed since an earlier report, owners, the dictionary, budgets, exemptions.

use super::section;
use crate::render::html::names::Name;
use crate::render::html::view::{Block, Caps, Cell, Column, Prose, Section, Table};
use crate::render::table::policy::rules;
use crate::render::words::{heads, leads, say};
use crate::render::{Lang, human};
use crate::report::{BaselineRow, Findings, Report};

/// What is new, worse and fixed since an earlier report.
pub fn baseline(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let baseline = report.findings.baseline.as_ref()?;
    let count = |list: &[BaselineRow]| human::count(list.len() as u64);
    let lead = say!(
        lang,
        "Against {name}: {new} new, {worse} worse, {fixed} fixed.",
        "与 {name} 相比：新增 {new} 项，加重 {worse} 项，已修复 {fixed} 项。",
        name = Name::text(&baseline.report).inline(),
        new = count(&baseline.new),
        worse = count(&baseline.worse),
        fixed = count(&baseline.fixed),
    );
    let section = section("baseline", lang.of("Since the earlier report", "与此前报告相比")).lead(lead);
    let lists = [
        (lang.of("new", "新增"), &baseline.new),
        (lang.of("worse", "加重"), &baseline.worse),
        (lang.of("fixed", "已修复"), &baseline.fixed),
    ];
    let rows: Vec<(&str, &BaselineRow)> =
        lists.into_iter().flat_map(|(what, list)| list.iter().map(move |row| (what, row))).collect();
    if rows.is_empty() {
        return Some(section);
    }
    let columns = [
        Column::text(heads::WHAT, lang),
        Column::text(heads::SEVERITY, lang),
        Column::text(heads::RULE, lang),
        Column::text(heads::PATTERN, lang),
        Column::number(heads::KEYS_BEFORE, lang).spare(),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY_BEFORE, lang).spare(),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::CHANGE, lang).spare(),
    ];
    let label = lang.of("Findings that changed", "有变化的违规");
    let table = Table::new(label, columns).fill(&rows, 2 * caps.rows, 0, lang, |(what, row)| {
        let before = row.before.as_ref();
        vec![
            Cell::Text((*what).to_owned()),
            Cell::Severity(row.severity.to_string()),
            Cell::Text(row.rule.to_string()),
            row.pattern
                .as_deref()
                .map_or_else(|| Cell::Text(lang.of("all", "全部").to_owned()), |name| Cell::name(Name::text(name))),
            before.map_or(Cell::Absent, |before| Cell::count(before.keys)),
            Cell::count(row.keys),
            before.map_or(Cell::Absent, |before| Cell::bytes(before.memory)),
            Cell::bytes(row.memory),
            before.map_or(Cell::Absent, |before| Cell::change(before.memory.0, row.memory.0)),
        ]
    });
    Some(section.with(Block::Table(table.compact())))
}

/// Who answers for what, and what was agreed: as far as the policy has them.
pub fn owners(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let findings = &report.findings;
    let dictionary = if findings.dictionary.is_some() {
        [by_owner(report, lang, caps), by_pattern(report, lang, caps)]
    } else {
        [None, None]
    };
    let blocks = dictionary.into_iter().chain([
        entries(findings, lang, caps),
        budgets(findings, lang, caps),
        exempted(findings, lang, caps),
    ]);
    let mut section = section("owners", lang.of("Owners and agreements", "负责人与约定"));
    section.lead.extend(fit(report, lang));
    for (title, table) in blocks.flatten() {
        section = section.with(Block::Title(title)).with(Block::Table(table));
    }
    (!section.blocks.is_empty()).then_some(section)
}

type Titled = (&'static str, Table);

fn by_owner(report: &Report, lang: Lang, caps: Caps) -> Option<Titled> {
    let owners = &report.findings.by_owner;
    let title = lang.of("Owners", "负责人");
    let columns = [
        Column::text(heads::OWNER, lang),
        Column::text(heads::CONTACT, lang).spare(),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::OF_MEMORY, lang),
        Column::number(heads::WITHOUT_TTL, lang).spare(),
        Column::number(heads::BREAKING, lang),
        Column::text(heads::BREAK, lang).spare(),
    ];
    let table = Table::new(title, columns).fill(owners, caps.rows, 0, lang, |row| {
        let nobody = || Cell::Faint(lang.of("nobody", "无人负责").to_owned(), 0);
        vec![
            row.owner.as_deref().map_or_else(nobody, |owner| Cell::name(Name::text(owner))),
            Cell::opt(row.contact.as_deref()),
            Cell::count(row.keys),
            Cell::bytes(row.memory),
            Cell::share(row.memory.0, report.totals.memory.0),
            row.without_ttl.map_or(Cell::Absent, |without| Cell::portion(without.keys, row.keys)),
            Cell::count(row.broken.keys),
            rules(&row.rules, lang).map_or(Cell::Absent, Cell::Text),
        ]
    });
    (!owners.is_empty()).then(|| (title, table.compact()))
}

fn by_pattern(report: &Report, lang: Lang, caps: Caps) -> Option<Titled> {
    let patterns = &report.findings.by_pattern;
    let title = lang.of("Patterns that break most", "违规最多的模式");
    let columns = [
        Column::text(heads::PATTERN, lang),
        Column::text(heads::OWNER, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::text(heads::BREAK, lang).spare(),
    ];
    let table = Table::new(title, columns).fill(patterns, caps.rows, 0, lang, |row| {
        let name = Cell::name(Name::text(&row.pattern));
        vec![
            name,
            Cell::opt(row.owner.as_deref()),
            Cell::count(row.keys),
            Cell::bytes(row.memory),
            rules(&row.rules, lang).map_or(Cell::Absent, Cell::Text),
        ]
    });
    (!patterns.is_empty()).then(|| (title, table.compact()))
}

/// How the dictionary fits, in words.
fn fit(report: &Report, lang: Lang) -> Option<Prose> {
    let fit = report.findings.dictionary.as_ref()?;
    let fit = leads::dictionary(report, fit, lang);
    Some(Prose(say!(lang, "Data dictionary: {fit}", "数据字典：{fit}")))
}

fn entries(findings: &Findings, lang: Lang, caps: Caps) -> Option<Titled> {
    let fit = findings.dictionary.as_ref()?;
    let title = lang.of("Data dictionary", "数据字典");
    let columns = [
        Column::text(heads::ENTRY, lang),
        Column::text(heads::OWNER, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::WITHOUT_TTL, lang).spare(),
        Column::text(heads::NOTE, lang).spare(),
    ];
    let table = Table::new(title, columns).fill(&fit.entries, caps.rows, 0, lang, |row| {
        vec![
            Cell::name(Name::text(&row.pattern)),
            Cell::opt(row.owner.as_deref()),
            Cell::count(row.keys),
            Cell::bytes(row.memory),
            Cell::portion(row.without_ttl.keys, row.keys),
            Cell::opt(row.note.as_deref()),
        ]
    });
    (!fit.entries.is_empty()).then(|| (title, table.compact()))
}

fn budgets(findings: &Findings, lang: Lang, caps: Caps) -> Option<Titled> {
    let title = lang.of("Memory budgets", "内存预算");
    let columns = [
        Column::text(heads::BUDGET_OF, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::ALLOWED, lang),
        Column::number(heads::USED, lang),
    ];
    let table = Table::new(title, columns).fill(&findings.budgets, caps.rows, 0, lang, |row| {
        let used = Cell::share(row.memory.0, row.allowed.0);
        let name = Cell::name(Name::text(&row.pattern));
        vec![name, Cell::count(row.keys), Cell::bytes(row.memory), Cell::bytes(row.allowed), used]
    });
    (!findings.budgets.is_empty()).then_some((title, table))
}

fn exempted(findings: &Findings, lang: Lang, caps: Caps) -> Option<Titled> {
    let title = lang.of("Exempted", "豁免");
    let columns = [
        Column::text(heads::PATTERN, lang),
        Column::text(heads::RULE, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::text(heads::REASON, lang),
    ];
    let table = Table::new(title, columns).fill(&findings.exempted, caps.rows, 0, lang, |row| {
        vec![
            Cell::name(Name::text(&row.pattern)),
            Cell::Text(row.rule.to_string()),
            Cell::count(row.keys),
            Cell::bytes(row.memory),
            Cell::name(Name::text(&row.reason)),
        ]
    });
    (!findings.exempted.is_empty()).then_some((title, table))
}
