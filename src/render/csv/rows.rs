//! Rows of each section, in the order of its columns.

use super::sheet::CsvRow;
use crate::report::diff::baseline::BaselineChange;
use crate::report::*;

pub(super) fn row() -> CsvRow {
    CsvRow::default()
}

pub(super) fn pattern(it: &PatternRow) -> CsvRow {
    let types: Vec<String> = it.types.iter().map(|of_type| format!("{}={}", of_type.kind, of_type.keys)).collect();
    row()
        .text(&it.pattern)
        .weight(it.keys, it.memory)
        .number(it.share)
        .number(it.mean)
        .number(it.disk)
        .number(it.elements)
        .weight(it.without_ttl.keys, it.without_ttl.memory)
        .number(it.last_expiry)
        .text(&types.join(" "))
        .example(Some(&it.example))
        .unknown(it.unknown)
}

pub(super) fn totals(report: &Report) -> CsvRow {
    let it = &report.totals;
    row()
        .flag(report.complete)
        .weight(it.keys, it.memory)
        .number(it.disk)
        .number(it.name_bytes)
        .number(it.elements)
        .weight(it.without_ttl.keys, it.without_ttl.memory)
        .weight(it.expired.keys, it.expired.memory)
        .unknown(it.unknown)
}

pub(super) fn file(it: &SourceFile) -> CsvRow {
    row()
        .text(&it.name)
        .text(&it.container.to_string())
        .number(it.bytes)
        .number(it.trailing_bytes)
        .number(it.rdb_version)
        .text(it.checksum.name())
        .number(it.keys)
        .number(it.keys_read)
        .number(it.memory)
        .number(it.ctime)
        .maybe(it.server.as_ref().map(ToString::to_string).as_deref())
        .number(it.damaged_keys)
        .text(&it.errors.iter().map(|error| error.wording.en.as_str()).collect::<Vec<_>>().join("; "))
        .unknown(it.unknown)
}

pub(super) fn instance(it: &Instance) -> CsvRow {
    let Tables { main, expires, slots } = it.tables;
    let row = row().text(&it.model).number(it.keys).number(it.correction).number(main).number(expires).number(slots);
    let Overhead { main, expires, slots, templates } = it.overhead;
    row.number(it.total)
        .number(it.after_load)
        .number(main)
        .number(expires)
        .number(slots)
        .number(it.dataset)
        .number(it.used_mem)
        .number(it.difference)
        .number(templates)
}

pub(super) fn database(it: &Database) -> CsvRow {
    row()
        .number(it.db)
        .weight(it.keys, it.memory)
        .number(it.disk)
        .number(it.with_ttl)
        .number(it.expired)
        .unknown(it.unknown)
}

pub(super) fn type_row(it: &TypeRow) -> CsvRow {
    row()
        .text(it.kind.name())
        .text(&it.encoding)
        .number(it.keys)
        .number(it.elements)
        .number(it.string_bytes)
        .number(it.memory)
        .number(it.share)
        .number(it.mean)
        .number(it.p50)
        .number(it.p99)
        .number(it.max)
        .unknown(it.unknown)
}

/// Columns of [`key_row`].
pub(super) const KEY_COLUMNS: &str =
    "db key key_base64 type encoding length memory expires_at source longest_element mean_element";

pub(super) fn key_row(it: &KeyRow) -> CsvRow {
    row()
        .number(it.db)
        .key(&it.key)
        .text(it.kind.name())
        .text(it.encoding.name())
        .number(it.length)
        .number(it.memory)
        .number(it.expires_at)
        .maybe(it.source.as_deref())
        .number(it.longest_element)
        .number(it.mean_element)
}

pub(super) fn without_ttl(it: &PatternWeight) -> CsvRow {
    row().text(&it.pattern).weight(it.keys, it.memory).example(it.examples.first())
}

pub(super) fn expiry(it: &ExpiryClass) -> CsvRow {
    row().text(&it.left).number(it.below_ms).weight(it.keys, it.memory).unknown(it.unknown)
}

pub(super) fn naming(it: &NamingRule) -> CsvRow {
    row().text(&it.rule).text(it.severity.name()).weight(it.keys, it.memory).text(&it.demand.en)
}

pub(super) fn prefixes(tree: &[PrefixNode]) -> Vec<CsvRow> {
    let mut rows = Vec::new();
    // A stack: children are pushed in reverse, so that the first comes off next.
    let mut waiting: Vec<(usize, &PrefixNode)> = tree.iter().rev().map(|node| (1, node)).collect();
    while let Some((depth, node)) = waiting.pop() {
        waiting.extend(node.children.iter().rev().map(|child| (depth + 1, child)));
        rows.push(
            row()
                .number(depth)
                .text(&node.prefix)
                .text(&node.segment)
                .weight(node.keys, node.memory)
                .number(node.share)
                .number(node.disk)
                .number(node.elements)
                .weight(node.without_ttl.keys, node.without_ttl.memory)
                .unknown(node.unknown),
        );
    }
    rows
}

pub(super) fn finding(it: &Finding) -> CsvRow {
    row()
        .text(&it.rule)
        .text(it.severity.name())
        .weight(it.keys, it.memory)
        .number(it.saves)
        .number(it.distinct_patterns)
        .maybe(it.unit.map(Unit::name))
        .text(&it.demand.en)
        .text(&it.fix.en)
        .maybe(it.source.as_ref().and_then(|source| source.document.as_deref()))
        .maybe(it.source.as_ref().and_then(|source| source.chapter.as_deref()))
        .maybe(it.source.as_ref().and_then(|source| source.quote.as_deref()))
}

pub(super) fn finding_patterns(report: &Report) -> impl Iterator<Item = CsvRow> {
    let of = |finding: &'_ Finding, it: &FindingPattern| {
        row()
            .text(&finding.rule)
            .text(finding.severity.name())
            .maybe(it.pattern.as_deref())
            .maybe(it.owner.as_deref())
            .weight(it.keys, it.memory)
            .number(it.measured)
            .number(it.allowed)
            .maybe(finding.unit.map(Unit::name))
            .number(it.saves)
            .example(it.examples.first())
    };
    report.findings.list.iter().flat_map(move |finding| finding.patterns.iter().map(move |row| of(finding, row)))
}

/// Columns of [`baseline`].
pub(super) const BASELINE_COLUMNS: &str = "change rule severity pattern keys memory measured allowed before_keys before_memory \
     before_measured before_allowed";

pub(super) fn baseline(baseline: &Baseline) -> Vec<CsvRow> {
    let undecided = baseline.undecided.iter().map(|it| {
        let cells = row().text("undecided").text(&it.rule).text(it.severity.name()).maybe(None);
        // No figures.
        [None::<u64>; 8].into_iter().fold(cells, |cells, nothing| cells.number(nothing))
    });
    let rows = baseline.lists().into_iter().flat_map(|(change, list)| list.iter().map(move |it| (change, it)));
    rows.map(|(change, it)| {
        let own = BeforeRow { keys: it.keys, memory: it.memory, measured: it.measured, allowed: it.allowed };
        // A row of a finding that is fixed has the earlier figures.
        let is_fixed = change == BaselineChange::Fixed;
        let (now, before) = if is_fixed { (BeforeRow::default(), Some(own)) } else { (own, it.before) };
        row()
            .text(change.name())
            .text(&it.rule)
            .text(it.severity.name())
            .maybe(it.pattern.as_deref())
            .weight(now.keys, now.memory)
            .number(now.measured)
            .number(now.allowed)
            .number(before.map(|before| before.keys))
            .number(before.map(|before| before.memory))
            .number(before.and_then(|before| before.measured))
            .number(before.and_then(|before| before.allowed))
    })
    .chain(undecided)
    .collect()
}

/// Columns of [`growth`].
pub(super) const GROWTH_COLUMNS: &str = "part name change before_keys before_memory keys memory";

pub(super) fn growth(whole: [Weight; 2], types: &[TypeChange], patterns: &PatternChanges) -> Vec<CsvRow> {
    let part = |part: &str, name: Option<&str>, change: Option<&str>, before: Option<Weight>, after: Option<Weight>| {
        row().text(part).maybe(name).maybe(change).maybe_known_weight(before).maybe_known_weight(after)
    };
    let whole = part("all", None, None, Some(whole[0]), Some(whole[1]));
    let types = types.iter().map(|it| part("type", Some(&it.kind), None, Some(it.before), Some(it.after)));
    let lists = patterns.lists().into_iter().flat_map(|(fate, list)| list.iter().map(move |it| (fate, it)));
    let patterns = lists.map(|(fate, it)| part("pattern", Some(&it.pattern), Some(fate.name()), it.before, it.after));
    std::iter::once(whole).chain(types).chain(patterns).collect()
}

pub(super) fn owner(it: &OwnerFindings) -> CsvRow {
    let rules: Vec<&str> = it.rules.iter().map(|rule| &*rule.rule).collect();
    row()
        .maybe(it.owner.as_deref())
        .maybe(it.contact.as_deref())
        .weight(it.keys, it.memory)
        .maybe_weight(it.without_ttl)
        .weight(it.broken.keys, it.broken.memory)
        .text(&rules.join(" "))
}

pub(super) fn entry(it: &EntryRow) -> CsvRow {
    row()
        .text(&it.pattern)
        .maybe(it.owner.as_deref())
        .maybe(it.contact.as_deref())
        .maybe(it.note.as_deref())
        .weight(it.keys, it.memory)
        .weight(it.without_ttl.keys, it.without_ttl.memory)
}

pub(super) fn budget(it: &BudgetRow) -> CsvRow {
    row().text(&it.pattern).number(it.allowed).weight(it.keys, it.memory).unknown(it.unknown)
}

pub(super) fn exempted(it: &Exempted) -> CsvRow {
    row().text(&it.rule).text(&it.pattern).text(&it.reason).weight(it.keys, it.memory)
}

pub(super) fn not_evaluated(it: &NotEvaluated) -> CsvRow {
    row().text(&it.rule).text(it.severity.name()).text(&it.reason.en).text(&it.remedy.en).maybe(it.flag.as_deref())
}

pub(super) fn idle(it: &IdleClass) -> CsvRow {
    row().text(&it.idle).number(it.below_s).weight(it.keys, it.memory).unknown(it.unknown)
}

pub(super) fn cold_part(it: &ColdPart) -> CsvRow {
    let by = match it.by {
        ColdDivision::Pattern => "pattern",
        ColdDivision::Owner => "owner",
    };
    let row = row().text(by).maybe(it.name.as_deref()).weight(it.keys, it.memory);
    it.steps.iter().fold(row, |row, step| row.weight(step.keys, step.memory))
}

pub(super) fn freq(it: &FreqClass) -> CsvRow {
    row().number(it.from).number(it.to).weight(it.keys, it.memory).unknown(it.unknown)
}

pub(super) fn slot(it: &SlotRow) -> CsvRow {
    row()
        .number(it.slot)
        .number(it.keys)
        .number(it.tagged_keys)
        .number(it.memory)
        .number(it.share)
        .example(Some(&it.example))
        .unknown(it.unknown)
}

pub(super) fn slot_range(it: &SlotRange) -> CsvRow {
    row().number(it.first).number(it.last).weight(it.keys, it.memory).unknown(it.unknown)
}

pub(super) fn stream(it: &StreamRow) -> CsvRow {
    row().number(it.db).key(&it.key).number(it.entries).number(it.groups).number(it.pending).number(it.memory)
}

pub(super) fn template(it: &HashTemplateRow) -> CsvRow {
    let names: Vec<_> = it.names.iter().map(|name| String::from_utf8_lossy(&name.0)).collect();
    row().text(&names.join(" ")).number(it.fields).number(it.keys).number(it.memory).number(it.bytes).number(it.saved)
}

pub(super) fn what_if(it: &WhatIf) -> Vec<CsvRow> {
    let none = None::<i64>;
    // Keys of unknown memory are in no figure: without others there is none.
    let base = it.known(it.base.memory);
    let is_known = base.is_some();
    let now = row().text("").text(&it.base.model).number(base).number(none).number(none);
    let then = |it: &Alternative| {
        row()
            .text(&it.ask)
            .text(&it.model)
            .number(is_known.then_some(it.memory))
            .number(is_known.then_some(it.difference))
            .number(is_known.then_some(it.share))
            .number(it.correction)
            .number(it.tables)
            .number(it.total)
            .number(it.total_difference)
    };
    let now = now.number(it.base.correction).number(it.base.tables).number(it.base.total).number(none);
    std::iter::once(now).chain(it.alternatives.iter().map(then)).collect()
}

pub(super) fn what_if_parts(it: &WhatIf) -> Vec<CsvRow> {
    let types = it.types.iter().map(|row| ("type", row.kind.name(), row.keys, row.memory, &row.alternatives));
    let patterns = it.patterns.iter().map(|row| ("pattern", &*row.pattern, row.keys, row.memory, &row.alternatives));
    types
        .chain(patterns)
        .flat_map(|(part, name, keys, now, then)| {
            let asked = it.alternatives.iter().zip(then);
            asked.map(move |(asked, then)| row().text(part).text(name).weight(keys, now).text(&asked.ask).number(*then))
        })
        .collect()
}
