//! Instances by business, cold data, and memory that expires.

use crate::render::document::{Block, Cell, Column, Section, Table, Tone};
use crate::render::sections::idle::cold_tables;
use crate::render::words::{self, heads, nouns, say};
use crate::render::{Lang, human};
use crate::report::{BusinessPart, Capacity, ColdStep, Division, FreedStep};
use crate::units::Bytes;

/// Builds the section of instances by first segment and by owner.
pub(super) fn business(plan: &Capacity, lang: Lang) -> Option<Section> {
    let lead = lang.of(
        "What each business would need as an instance of its own; memory includes a share of the tables.",
        "按业务拆分实例后各自所需的资源；内存含按比例分摊的哈希表。",
    );
    let section = Section::new("business", lang.of("Instances by business", "按业务拆分实例")).lead(lead);
    let tables = [Division::Prefix, Division::Owner].into_iter().filter_map(|by| division(plan, by, lang));
    let note = lang.of(
        "At least: a stored report hides small prefixes, or has no owners. Give the dump, or a report made with --min-share 0 \
         or with --policy.",
        "“至少”：有报告省略了较小的前缀，或没有负责人信息。请改用快照文件，或用 --min-share 0 或 --policy 重新生成报告。",
    );
    let is_bounded = plan.business.iter().any(|part| part.bound.is_some());
    let note = is_bounded.then(|| Block::Paragraph(Tone::Plain, note.into()));
    let section = tables.fold(section, Section::with).with_some(note);
    (!plan.business.is_empty()).then_some(section)
}

fn division(plan: &Capacity, by: Division, lang: Lang) -> Option<Table> {
    let rows: Vec<&BusinessPart> = plan.business.iter().filter(|part| part.by == by).collect();
    let (head, title) = match by {
        Division::Prefix => (heads::PREFIX, lang.of("By first segment", "按首段前缀")),
        Division::Owner => (heads::OWNER, lang.of("By owner", "按负责人")),
    };
    let is_exact = rows.iter().all(|part| part.bound.is_none());
    let whole = rows.iter().fold(Bytes(0), |sum, part| sum + part.memory);
    let table = Table::of(title, &rows, usize::MAX)
        .tones(|part| if part.name.is_some() { Tone::Plain } else { Tone::Faint })
        .column(Column::text(head).shrink(16), |part| match (&part.name, by) {
            (Some(name), Division::Prefix) => Cell::plain(name),
            (Some(name), Division::Owner) => Cell::words(name),
            (None, _) => lang.of("all others", "其余").into(),
        })
        .column(Column::number(heads::KEYS), |part| part.keys)
        .column(Column::number(heads::MEMORY), |part| part.total)
        .column(Column::number(heads::SHARE).bars(), |part| Cell::ShareOf(part.memory.0, whole.0))
        .column(Column::number(heads::NODES), |part| part.nodes)
        .column(Column::text(heads::NONE), |part| match part.bound {
            Some(bound) => words::bound(bound, lang).into(),
            None if is_exact => Cell::Absent,
            None => Cell::Blank,
        })
        .build();
    (!rows.is_empty()).then_some(table)
}

/// Builds the section of cold data.
pub(super) fn cold(plan: &Capacity, lang: Lang) -> Option<Section> {
    let whole = memory(plan);
    let table = Table::of(lang.of("Cold data", "冷数据"), &plan.cold, usize::MAX)
        .column(Column::text(heads::NOT_USED_FOR), |step: &ColdStep| human::counted(step.days, nouns::DAY, lang))
        .column(Column::number(heads::KEYS), |step| step.keys)
        .column(Column::number(heads::MEMORY), |step| step.memory)
        .column(Column::number(heads::OF_MEMORY).bars(), |step| Cell::ShareOf(step.memory.0, whole.0))
        .build()
        .in_order();
    let lead = lang.of("Memory that expiring or moving cold keys would free.", "让冷 key 过期或迁出后可释放的内存。");
    let section = || Section::new("cold", lang.of("Cold data", "冷数据")).lead(lead).with(table);
    let parts: Vec<_> = plan.cold_parts.iter().map(|sum| (&sum.part, sum.bound)).collect();
    let tables = cold_tables(&parts, 0, usize::MAX, lang);
    let is_bounded = plan.cold_parts.iter().any(|sum| sum.bound.is_some());
    let note = lang.of(
        "At least: a stored report lists only its first patterns, or has no owners. Give the dump, or a report made with \
         a larger --top or with --policy.",
        "“至少”：有报告只列出前若干个模式，或没有负责人信息。请改用快照文件，或用更大的 --top 或 --policy 重新生成报告。",
    );
    let note = is_bounded.then(|| Block::Paragraph(Tone::Plain, note.into()));
    (!plan.cold.is_empty()).then(|| tables.into_iter().fold(section(), Section::with).with_some(note))
}

/// Builds the section of memory that is freed by expiry.
pub(super) fn freed(plan: &Capacity, lang: Lang) -> Option<Section> {
    let whole = memory(plan);
    let when = |step: &FreedStep| match u64::try_from(step.within_ms) {
        Ok(0) | Err(_) => lang.of("already expired", "已过期").to_owned(),
        Ok(within) => {
            let within = human::duration(within, lang);
            say!(lang, "within {within}", "{within}内")
        }
    };
    let table = Table::of(lang.of("Memory freed by expiry", "随过期释放的内存"), &plan.freed, usize::MAX)
        .column(Column::text(heads::WHEN), when)
        .column(Column::number(heads::KEYS), |step| step.keys)
        .column(Column::number(heads::MEMORY), |step| step.memory)
        .column(Column::number(heads::OF_MEMORY).bars(), |step| Cell::ShareOf(step.memory.0, whole.0))
        .column(Column::number(heads::LEFT_OVER), |step| Bytes(whole.0.saturating_sub(step.memory.0)))
        .build()
        .in_order();
    let lead = lang.of(
        "Memory freed as the current keys expire, and what remains, assuming no writes.",
        "假设不再写入，现有 key 随过期逐步释放的内存和剩余的内存。",
    );
    let section =
        || Section::new("freed", lang.of("Memory freed by expiry", "随过期释放的内存")).lead(lead).with(table);
    (!plan.freed.is_empty()).then(section)
}

/// Returns the memory of all keys.
fn memory(plan: &Capacity) -> Bytes {
    plan.servers.iter().map(|server| server.memory).sum()
}
