//! A capacity plan as a document.

mod demand;
mod parts;
mod slots;

use crate::render::document::{Block, Cell, Column, Document, Headline, Name, Prose, Section, Table, Tile, Tone};
use crate::render::sections::trend;
use crate::render::words::{heads, nouns, say};
use crate::render::{Lang, human};
use crate::report::{Capacity, Warning, WarningKind};
use crate::units::Bytes;

/// Builds the document.
pub(in crate::render) fn document(plan: &Capacity, lang: Lang) -> Document {
    let sections = [
        demand::section(plan, lang),
        demand::growth(plan, lang),
        slots::section(plan, lang),
        slots::moves(plan, lang),
        parts::business(plan, lang),
        parts::cold(plan, lang),
        parts::freed(plan, lang),
        Some(servers(plan, lang)),
        notes(&plan.warnings, lang),
    ];
    Document { lang, headline: headline(plan, lang), sections: sections.into_iter().flatten().collect() }
}

fn headline(plan: &Capacity, lang: Lang) -> Headline {
    let keys = plan.servers.iter().fold(0_u64, |sum, server| sum.saturating_add(server.keys));
    let incomplete = plan.servers.iter().filter(|server| !server.complete).count();
    let inputs = if incomplete == 1 { "input is" } else { "inputs are" };
    let problem =
        || say!(lang, "{incomplete} {inputs} incomplete: more is needed", "{incomplete} 个输入不完整：实际需要更多");
    let is_part = |warning: &&Warning| matches!(warning.kind, WarningKind::KeysSelected { .. });
    let parts = plan.warnings.iter().filter(is_part).count();
    let selected = || {
        let inputs = human::counted(parts as u64, nouns::INPUT, lang);
        say!(lang, "selected keys only in {inputs}: more is needed", "{inputs}只含筛选出的 key：实际需要更多")
    };
    let unknown = plan.unknown();
    let partly_unknown = || {
        let keys = human::counted(unknown.keys, nouns::KEY, lang);
        say!(lang, "the memory of {keys} is unknown: more is needed", "{keys} 内存未知：实际需要更多")
    };
    let is_partly_unknown = !unknown.is_none() && plan.knows_memory();
    let problems = [(incomplete > 0).then(problem), (parts > 0).then(selected), is_partly_unknown.then(partly_unknown)];
    let taken = plan.servers.iter().filter_map(|server| server.taken).max();
    let keys = human::counted(keys, nouns::KEY, lang);
    let head = Headline {
        problems: problems
            .into_iter()
            .flatten()
            .map(Prose::from)
            .chain(slots::too_heavy(plan, lang))
            .chain(slots::out_of_order(plan, lang))
            .collect(),
        more_problems: 0,
        name: match plan.servers.as_slice() {
            [server] => Ok(Name::Plain(server.name.clone())),
            servers => Err(human::counted(servers.len() as u64, nouns::INPUT, lang)),
        },
        identity: taken
            .map(|taken| say!(lang, "snapshot of {}", "快照时间 {}", human::time(taken.0)).into())
            .into_iter()
            .collect(),
        size: [keys.clone().into(), lang.of("memory unknown", "内存未知").into()],
        facts: Vec::new(),
        selection: None,
        answers: None,
        sentence: say!(
            lang,
            "The memory of {keys} is unknown, so the plan has no number of nodes.",
            "{keys} 内存未知，无法计算所需节点数。"
        )
        .into(),
        tiles: Vec::new(),
        trend: None,
        points: Vec::new(),
    };
    let Some((total, nodes)) = today(plan) else { return head };
    let asked = human::counted(nodes, nouns::NODE, lang);
    let node = human::bytes(plan.options.node_memory.0);
    let headroom = human::share_of(plan.options.headroom_permille, 1000);
    let used = human::bytes(total.0);
    let too_heavy = slots::above_room(plan).map(|slot| slot.slot);
    let needs = match too_heavy {
        None => say!(
            lang,
            "{used} in use need {asked} of {node} with {headroom} of headroom.",
            "已用 {used}，按预留 {headroom} 计，需要 {asked}（每个 {node}）。"
        ),
        Some(slot) => say!(
            lang,
            "{used} in use would fill {asked} of {node} with {headroom} of headroom, but slot {slot} fits on none of them.",
            "已用 {used}，按预留 {headroom} 计相当于 {asked}（每个 {node}），但槽 {slot} 放不进任何一个节点。"
        ),
    };
    let fact = match too_heavy {
        None => say!(lang, "{asked} of {node} needed", "需要 {asked}（每个 {node}）"),
        Some(slot) => say!(lang, "slot {slot} fits on no node of {node}", "槽 {slot} 放不进 {node} 的节点"),
    };
    Headline {
        size: [keys.into(), say!(lang, "{} in use", "已用 {}", human::bytes(total.0)).into()],
        facts: vec![fact.into()],
        sentence: needs.into(),
        tiles: tiles(plan, total, nodes, lang),
        trend: plan.trend.as_ref().map(|trend| {
            let points = plan.nights.iter().map(|night| (night.taken, night.total)).collect();
            let usable = Bytes(plan.usable.0.saturating_mul(plan.options.nodes.unwrap_or(nodes)));
            let name = lang.of("room for data", "可用容量");
            trend::chart_of(trend, points, Some((usable, name)), lang)
        }),
        ..head
    }
}

fn tiles(plan: &Capacity, total: Bytes, nodes: u64, lang: Lang) -> Vec<Tile> {
    let whole = Bytes(plan.options.node_memory.0.saturating_mul(nodes));
    let tile =
        |section, label, figure, note: String, memory| Tile { label, figure, note: note.into(), memory, section };
    let node = human::bytes(plan.options.node_memory.0);
    let too_heavy = slots::above_room(plan);
    let mut tiles = vec![
        tile(
            "demand",
            match too_heavy {
                None => lang.of("Nodes at snapshot time", "快照时所需节点"),
                Some(_) => lang.of("Nodes by memory alone", "仅按内存计的节点"),
            },
            nodes.into(),
            say!(lang, "of {node}", "每个 {node}"),
            (Bytes(0), whole),
        ),
        tile(
            "demand",
            lang.of("Fill level", "内存使用率"),
            Cell::ShareOf(total.0, whole.0),
            say!(lang, "{} free to use", "剩余可用 {}", human::bytes(free(plan, total, nodes).0)),
            (total, whole),
        ),
    ];
    if let Some(trend) = &plan.trend {
        let label = lang.of("Growth a day", "日增长");
        let grown = Cell::Difference { bytes: trend.per_day, of: None };
        let nights = human::counted(trend.snapshots as u64, nouns::NIGHT, lang);
        let note = say!(lang, "over {nights}", "基于 {nights}");
        tiles.push(tile("growth", label, grown, note, (Bytes(trend.per_day.unsigned_abs()), total)));
    }
    if let Some(slots) = plan.slots.as_ref().filter(|slots| slots.moved_slots > 0) {
        let label = lang.of("Slots to move", "待迁移的槽");
        let note = human::bytes(slots.moved_memory.0);
        tiles.push(tile("slot-plan", label, slots.moved_slots.into(), note, (slots.moved_memory, total)));
    }
    tiles
}

/// Returns the memory in use and the nodes that it needs; `None` if the memory is unknown.
fn today(plan: &Capacity) -> Option<(Bytes, u64)> {
    let need = plan.demand.scenarios.first()?.needs.first()?;
    Some((need.total, need.nodes))
}

/// Returns the memory that may still be taken on that many nodes.
fn free(plan: &Capacity, total: Bytes, nodes: u64) -> Bytes {
    Bytes(plan.usable.0.saturating_mul(nodes).saturating_sub(total.0))
}

fn servers(plan: &Capacity, lang: Lang) -> Section {
    let table = Table::of(lang.of("Inputs", "输入"), &plan.servers, usize::MAX)
        .tones(|row| if row.complete { Tone::Plain } else { Tone::Alarm })
        .column(Column::text(heads::SNAPSHOT).shrink(16), |row| Cell::plain(&row.name))
        .column(Column::text(heads::TAKEN).spare(1), |row| row.taken.map(Cell::Time))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::KEYS_MEMORY), |row| row.unknown.known(row.keys, row.memory))
        .column(Column::number(heads::IN_TOTAL), |row| row.unknown.known(row.keys, row.total))
        .column(Column::text(heads::NONE), |row| {
            if row.complete { Cell::Blank } else { lang.of("incomplete", "不完整").into() }
        })
        .build();
    Section::new("inputs", lang.of("Inputs", "输入")).with(table)
}

fn notes(warnings: &[Warning], lang: Lang) -> Option<Section> {
    let notes: Vec<Prose> = warnings.iter().map(|it| Prose::wording(&it.wording, lang)).collect();
    let section = || Section::new("notes", lang.of("Notes", "说明"));
    (!notes.is_empty()).then(|| section().with(Block::Notes(notes, 0)))
}
