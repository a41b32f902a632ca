//! The short report: one screen or two on a terminal, a page in Markdown.

use std::collections::BTreeSet;

use super::keys::{LENGTH, table as keys_table};
use super::server::is_sized;
use super::{
    expiry, files, findings, growth, headline, next, not_evaluated, notes, patterns, types, what_if, without_ttl,
};
use crate::render::document::{Block, Cell, Column, Document, Form, Prose, Scope, Section, Table};
use crate::render::words::{heads, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::{KeyRow, PrefixNode, Report, WarningKind};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Reasons to doubt the figures that are named, with the verdict.
const PROBLEMS: usize = 2;

/// Builds the document for a terminal.
pub(super) fn screen(report: &Report, scope: &Scope) -> Document {
    let lang = scope.lang;
    let mut headline = headline::headline(report, scope);
    headline.more_problems += headline.problems.len().saturating_sub(PROBLEMS) as u64;
    headline.problems.truncate(PROBLEMS);
    headline.answers = None;
    headline.facts = facts(report, lang);
    // Lines about damage take the place of rows.
    let rows = scope.rows.saturating_sub(4 * headline.problems.len());
    // Second lines of findings take half their number of rows.
    let rows = rows.saturating_sub(findings::continued(report, scope).div_ceil(2)).max(scope.rows / 3);
    let sections = [
        findings::short(report, scope),
        prefixes(report, rows, lang),
        keys(report, rows, scope),
        Some(
            Section::new("next", "").with(Block::Heading(String::new())).with(Block::Hints(next::short(report, lang))),
        ),
    ];
    Document { lang, headline, sections: sections.into_iter().flatten().collect() }
}

/// Builds the document for a page, the least important section second to last.
pub(super) fn page(report: &Report, scope: &Scope) -> Document {
    let lang = scope.lang;
    let mut headline = headline::headline(report, scope);
    headline.facts.extend(fill(report, lang).map(Prose::from));
    let scope = Scope { many: scope.rows, ..*scope };
    let sections = [
        findings::short(report, &scope),
        not_evaluated::section(report, &scope),
        growth::section(report, &scope),
        prefixes(report, scope.rows, lang),
        keys(report, scope.rows, &scope),
        notes::section(report, &scope),
        what_if::section(report, &scope),
        patterns::section(report, &scope),
        without_ttl::section(report, &scope),
        expiry::section(report, &scope),
        types::section(report, &scope),
        Some(Section::new("next", lang.of("What next", "下一步")).with(Block::Hints(next::short(report, lang)))),
    ];
    let sections = sections.into_iter().flatten().filter(|section| section.is_shown(Form::Markdown)).collect();
    Document { lang, headline, sections }
}

/// Returns the facts beside keys and memory.
fn facts(report: &Report, lang: Lang) -> Vec<Prose> {
    let totals = &report.totals;
    let of_memory = |memory: Bytes| human::share_of(memory.0, totals.memory.0);
    let mut facts: Vec<String> = fill(report, lang).into_iter().collect();
    if report.no_ttl.keys > 0 && report.no_ttl.memory.known().is_some() {
        facts.push(say!(lang, "{} of memory never expires", "{} 的内存永不过期", of_memory(report.no_ttl.memory)));
    }
    if report.big_keys.keys > 0 {
        facts.push(match report.big_keys.keys {
            1 => lang.of("1 big key", "1 个大 key").to_owned(),
            n => say!(lang, "{} big keys", "{} 个大 key", human::count(n)),
        });
    }
    if totals.expired.keys > 0 {
        facts.push(say!(lang, "{} expired", "{} 已过期", human::counted(totals.expired.keys, nouns::KEY, lang)));
    }
    if report.databases.len() > 1 {
        facts.push(human::counted(report.databases.len() as u64, nouns::DATABASE, lang));
    }
    facts.push(say!(lang, "{} on disk", "磁盘 {}", human::bytes(totals.disk.0)));
    facts.extend(headline::checksum(&report.source.files, lang));
    if !totals.unknown.is_none() {
        let keys = human::counted(totals.unknown.keys, nouns::KEY, lang);
        facts.push(say!(lang, "{keys} of unknown memory", "{keys} 内存未知"));
    }
    if report.warnings.iter().any(|warning| warning.kind == WarningKind::CrowdedFirstLevel) {
        facts.push(lang.of("too many first segments to tell prefixes apart", "首段过多，无法区分前缀").to_owned());
    }
    let open = report.findings.not_evaluated.len() as u64;
    if open > 0 {
        let rules = human::counted(open, nouns::RULE, lang);
        facts.push(say!(lang, "{rules} not evaluated", "{rules}未评估"));
    }
    match report.warnings.len() {
        0 => {}
        1 => facts.push(lang.of("1 note: --section notes", "1 条说明：--section notes").to_owned()),
        n => facts.push(say!(lang, "{n} notes: --section notes", "{n} 条说明：--section notes")),
    }
    facts.into_iter().map(Prose::from).collect()
}

/// Returns the fill level and what is left of `maxmemory`, if it is known.
pub(super) fn fill(report: &Report, lang: Lang) -> Option<String> {
    let level = FillLevel::of(report)?;
    let FillLevel { used: Bytes(used), limit: Bytes(limit), .. } = level;
    let (share, limit_text) = (human::share_of(used, limit), human::bytes(limit));
    let left = human::bytes(limit.abs_diff(used));
    let what = match (level.is_reported, report.complete) {
        (true, true) => lang.of("used-mem", "used-mem "),
        (false, true) => lang.of("memory", "内存"),
        (true, false) => lang.of("used-mem of what was read", "已读部分的 used-mem "),
        (false, false) => lang.of("memory of what was read", "已读部分的内存"),
    };
    let state = if used <= limit { lang.of("free", "剩余") } else { lang.of("over", "超出") };
    let fullest = fullest(report, limit, lang).unwrap_or_default();
    Some(say!(
        lang,
        "{what} is {share} of maxmemory ({limit_text}): {left} {state}{fullest}",
        "{what}为 maxmemory（{limit_text}）的 {share}，{state} {left}{fullest}"
    ))
}

/// Returns the fullest of several servers, which share the sum of their limits: one may be full while there is room in all.
fn fullest(report: &Report, limits: u64, lang: Lang) -> Option<String> {
    let servers = report.servers();
    let limit = limits.checked_div(servers.len() as u64)?;
    let server = servers.iter().filter(|_| servers.len() > 1).max_by_key(|server| server.level())?;
    let name = key_text::text(files::own_part(&report.source.files, server.name()));
    let (name, share) = (key_text::fit(&name, 32), human::share_of(server.level().0, limit));
    Some(say!(lang, " (fullest: {name} at {share})", "（最满的 {name} 为 {share}）"))
}

/// Memory of the whole server and its limit. The memory is the figure that the rule `memory.headroom` judges.
#[derive(Clone, Copy)]
pub(super) struct FillLevel {
    pub used: Bytes,
    pub limit: Bytes,
    /// True if `used` is the `used-mem` of the dump, which is more than the estimate.
    is_reported: bool,
}

impl FillLevel {
    /// Returns the fill level, if memory and limit are known.
    pub fn of(report: &Report) -> Option<FillLevel> {
        let instance = report.instance.as_ref()?;
        let limit = instance.maxmemory.filter(|limit| limit.0 > 0)?;
        let reported = instance.used_mem.filter(|used| *used > instance.total);
        // The memory that the server reports includes keys of unknown memory.
        let used = reported.or_else(|| is_sized(report).then_some(instance.total))?;
        Some(FillLevel { used, limit, is_reported: reported.is_some() })
    }

    /// Names the figure, unless it is the estimate.
    pub fn by(self, lang: Lang) -> &'static str {
        if self.is_reported { lang.of(" (based on used-mem)", "（按 used-mem）") } else { "" }
    }
}

/// Returns the prefixes that tell most: one that holds half of the memory is replaced by those below it.
fn leading(tree: &[PrefixNode]) -> Vec<&PrefixNode> {
    let mut nodes: Vec<&PrefixNode> = tree.iter().collect();
    while let Some(at) = nodes.iter().position(|node| {
        let listed: u64 = node.children.iter().fold(0, |sum, child| sum.saturating_add(child.memory.0));
        node.share >= 0.5 && node.children.len() > 1 && listed.saturating_mul(2) > node.memory.0
    }) {
        let dominant = nodes.remove(at);
        nodes.extend(&dominant.children);
    }
    // Stable: of equals the first of the tree stays first.
    nodes.compact_sort_by_key(|node| std::cmp::Reverse(node.memory));
    nodes
}

fn prefixes(report: &Report, rows: usize, lang: Lang) -> Option<Section> {
    let nodes = leading(&report.prefixes.tree);
    let shown = nodes.len().min(rows);
    let known = |node: &PrefixNode| node.unknown.known(node.keys, node.memory);
    let mut table = Table::of(lang.of("Heaviest prefixes", "最大的前缀"), &nodes, rows)
        .column(Column::text(heads::PREFIX).shrink(24), |node| Cell::pattern(&node.prefix))
        .column(Column::number(heads::KEYS), |node| node.keys)
        .column(Column::number(heads::MEMORY), |node| known(node))
        .column(Column::number(heads::SHARE).bars(), |node| known(node).map(|_| Cell::Share(node.share)))
        .column(Column::number(heads::WITHOUT_TTL).spare(1), |node| Cell::ShareOf(node.without_ttl.keys, node.keys))
        .column(Column::number(heads::DISK).spare(3), |node| node.disk)
        .column(Column::number(heads::ELEMENTS).spare(2), |node| node.elements)
        .build();
    (table.hidden, table.dense) = (0, true);
    let covered: f64 = nodes.iter().take(shown).map(|node| node.share).sum();
    let title = if is_sized(report) {
        say!(
            lang,
            "Heaviest prefixes: {shown}, with {} of the memory",
            "最大的前缀：{shown} 个，占内存 {}",
            human::share(covered.min(1.0))
        )
    } else {
        say!(lang, "Prefixes: {shown}, memory unknown", "前缀：{shown} 个，内存未知")
    };
    (shown > 0).then(|| Section::new("prefixes", title).with(table))
}

/// Returns the heaviest keys and the longest collection, each once.
fn top_keys(report: &Report, rows: usize) -> Vec<&KeyRow> {
    let lists = [&report.top.by_memory, &report.big_keys.list];
    let mut seen = BTreeSet::new();
    let mut keys: Vec<&KeyRow> = lists.into_iter().flatten().filter(|row| seen.insert(id(row))).collect();
    keys.compact_sort_by_key(|row| std::cmp::Reverse(row.memory));
    keys.truncate(rows);
    if let Some(longest) = report.top.by_length.first()
        && !keys.iter().any(|row| id(row) == id(longest))
    {
        keys.truncate(rows.saturating_sub(1));
        keys.push(longest);
    }
    keys
}

/// Returns what tells a key from all others.
fn id(row: &KeyRow) -> (Option<&str>, u64, &[u8]) {
    (row.source.as_deref(), row.db, &row.key.0)
}

fn keys(report: &Report, rows: usize, scope: &Scope) -> Option<Section> {
    let lang = scope.lang;
    let keys = top_keys(report, rows);
    let big: BTreeSet<_> = report.big_keys.list.iter().map(id).collect();
    let long: BTreeSet<_> = report.top.by_length.iter().take(scope.rows).map(id).collect();
    let flags = |row: &KeyRow| {
        // Whether a key expires is in a column of its own.
        let flags = [
            (big.contains(&id(row)), lang.of("big", "大")),
            (long.contains(&id(row)), lang.of("many elements", "元素多")),
        ];
        let set: Vec<&str> = flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag).collect();
        if set.is_empty() { Cell::Blank } else { set.join(lang.of(", ", "、")).into() }
    };
    let mut table = keys_table(lang.of("Heaviest keys", "最大的 key"), report, &keys, rows);
    let flags: Vec<Cell> = keys.iter().map(|row| flags(row)).collect();
    table.push_column(Column::text(heads::FLAGS).spare(1), flags);
    table.explain(heads::LENGTH, LENGTH);
    table.dense = true;
    let memory = keys.iter().filter_map(|row| row.memory).fold(0, |sum: u64, of| sum.saturating_add(of.0));
    let title = if is_sized(report) {
        say!(
            lang,
            "Heaviest keys: {}, with {} of the memory",
            "最大的 key：{} 个，占内存 {}",
            keys.len(),
            human::share_of(memory, report.totals.memory.0)
        )
    } else {
        say!(lang, "Keys: {}, memory unknown", "key：{} 个，内存未知", keys.len())
    };
    (!keys.is_empty()).then(|| Section::new("keys", title).with(table))
}
