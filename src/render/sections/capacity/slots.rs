//! Slots by node, and the moves that even them out.

use crate::render::Lang;
use crate::render::document::{Block, Cell, Column, Prose, Section, Table, Tone, inline_key};
use crate::render::human;
use crate::render::words::{heads, nouns, others, say};
use crate::report::{
    Capacity, HeavySlot, NodeLoad, SlotCommand, SlotEffect, SlotLayout, SlotMove, SlotPlan, SlotSpan, Warning,
    WarningKind,
};

/// Ranges that are listed of a node or a move.
const RANGES: usize = 4;

/// Builds the section of nodes with their slots.
pub(super) fn section(plan: &Capacity, lang: Lang) -> Option<Section> {
    let slots = plan.slots.as_ref()?;
    let is_cluster = slots.layout == SlotLayout::Cluster;
    let numbered: Vec<(u64, &NodeLoad)> = (1..).zip(&slots.nodes).collect();
    let now = |figure: Cell| if is_cluster { figure } else { Cell::Absent };
    let all_fit = slots.nodes.iter().all(|node| node.fits);
    let nodes = Table::of(lang.of("Slots by node", "各节点的槽"), &numbered, usize::MAX)
        .tones(|(_, node)| if node.fits { Tone::Plain } else { Tone::Alarm })
        .column(Column::number(heads::NODE), |(number, _)| Cell::Id(*number))
        .column(Column::text(heads::NAME).shrink(12), |(_, node)| match &node.name {
            Some(name) => Cell::plain(name),
            None => lang.of("new", "新增").into(),
        })
        .column(Column::number(heads::SLOTS_NOW), |(_, node)| now(node.slots_now.into()))
        .column(Column::number(heads::NOW), |(_, node)| now(node.memory_now.into()))
        .column(Column::number(heads::SLOTS), |(_, node)| node.slots)
        .column(Column::number(heads::PLANNED), |(_, node)| node.memory)
        // What is compared with the room of a node.
        .column(Column::number(heads::IN_TOTAL), |(_, node)| (!all_fit).then_some(node.total))
        .column(Column::text(heads::RANGES).spare(1), |(_, node)| Cell::from(ranges(&node.ranges, lang)))
        .build()
        .in_order();
    let heavy = Table::of(lang.of("Heavy slots", "内存偏多的槽"), &slots.heavy_slots, usize::MAX)
        .column(Column::number(heads::SLOT), |row| Cell::Id(row.slot.into()))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| row.memory)
        .column(Column::number(heads::OF_NODE), |row| Cell::Share(row.of_share))
        .column(Column::text(heads::HEAVIEST_KEY).shrink(20), |row| row.example.as_ref())
        .tones(|row| if row.fits { Tone::Plain } else { Tone::Alarm })
        .build();
    let title = lang.of("Slots by bytes", "按字节分配槽");
    let mut section = Section::new("slot-plan", title).lead(evenness(slots, lang));
    if slots.owners_guessed {
        section = section.lead(lang.of(
            "The owners of slots without keys are guessed; --cluster-nodes gives the actual ones.",
            "没有 key 的槽归属为推测值，可用 --cluster-nodes 指定。",
        ));
    }
    section = section.with(nodes);
    let over: Vec<String> =
        numbered.iter().filter(|(_, node)| !node.fits).map(|(number, _)| number.to_string()).collect();
    if !over.is_empty() {
        let room = human::bytes(plan.usable.0);
        let numbers = listed(&over, lang);
        let text = match over.len() {
            1 => say!(lang, "Node {numbers} gets more than its {room}.", "节点 {numbers} 的数据超过可存放的 {room}。"),
            _ => say!(
                lang,
                "Nodes {numbers} get more than their {room} each.",
                "节点 {numbers} 的数据超过每个节点可存放的 {room}。"
            ),
        };
        let text = format!("{text}{}", remedy(plan, slots, lang));
        section = section.with(Block::Paragraph(Tone::Alarm, text.into()));
    }
    if !slots.heavy_slots.is_empty() {
        let text = lang.of(
            "A slot cannot be divided. These take more than 2 % of a node's share:",
            "槽不可拆分。以下槽超过单节点份额的 2 %：",
        );
        section = section.with(Block::Paragraph(Tone::Plain, text.into())).with(heavy);
    }
    Some(section)
}

/// Says what the total of a node is, and how each node fits; nothing if a slot fits on none.
fn remedy(plan: &Capacity, slots: &SlotPlan, lang: Lang) -> String {
    let total = lang.of(" The total includes a share of the tables.", "总计含按比例分摊的哈希表。");
    let remedy = match slots.fewest_nodes {
        Some(nodes) => say!(
            lang,
            " Slot ranges cannot be balanced further: with --nodes {nodes} every node has room.",
            "槽区间无法更均匀：使用 --nodes {nodes} 时每个节点都放得下。"
        ),
        None if above_room(plan).is_some() => String::new(),
        None => lang
            .of(" With more nodes (--nodes) each gets less.", "可用 --nodes 增加节点数，减少每个节点的数据。")
            .to_owned(),
    };
    format!("{total}{remedy}")
}

/// Says how even the nodes are before and after.
fn evenness(slots: &SlotPlan, lang: Lang) -> String {
    let nodes = human::counted(slots.target_nodes, nouns::NODE, lang);
    let planned = slots.max_to_mean;
    match slots.max_to_mean_now {
        Some(now) if slots.moves.is_empty() => say!(
            lang,
            "The fullest of {nodes} holds {now:.2} times the mean; no move balances them further.",
            "{nodes}中内存最多的为平均值的 {now:.2} 倍；迁移槽不会更均衡。"
        ),
        Some(now) => say!(
            lang,
            "At snapshot time, the fullest node holds {now:.2} times the mean; with {nodes}, {planned:.2} times after {} ({}).",
            "快照时，内存最多的节点为平均值的 {now:.2} 倍；调整为 {nodes}后为 {planned:.2} 倍，需{}，共 {}。",
            moved(slots.moved_slots, lang),
            human::bytes(slots.moved_memory.0)
        ),
        None => say!(
            lang,
            "A new cluster of {nodes}: the fullest node holds {planned:.2} times the mean.",
            "新建 {nodes}的集群：内存最多的节点为平均值的 {planned:.2} 倍。"
        ),
    }
}

fn moved(slots: u64, lang: Lang) -> String {
    let slots = human::counted(slots, nouns::SLOT, lang);
    say!(lang, "moving {slots}", "迁移 {slots}")
}

/// Builds the section of moves, with the commands that make them.
pub(super) fn moves(plan: &Capacity, lang: Lang) -> Option<Section> {
    let slots = plan.slots.as_ref().filter(|slots| !slots.commands.is_empty())?;
    let table = Table::of(lang.of("Moves", "迁移步骤"), &slots.moves, usize::MAX)
        .column(Column::number(heads::FROM_NODE), |step| node(step.from))
        .column(Column::number(heads::TO_NODE), |step| node(step.to))
        .column(Column::number(heads::SLOTS), |step: &SlotMove| step.slots)
        .column(Column::number(heads::MEMORY), |step| step.memory)
        .column(Column::text(heads::RANGES).spare(1), |step| Cell::from(ranges(&step.ranges, lang)))
        .build()
        .in_order();
    let order = match slots.layout {
        SlotLayout::Cluster => lang.of(
            "Run the commands in this order: each takes the lowest slots that its node still has.",
            "请按顺序执行：每条命令迁出该节点当前编号最小的槽。",
        ),
        SlotLayout::New => lang.of("Give each node of the new cluster its slots:", "为新集群的各节点分配槽："),
    };
    let mut section = Section::new("moves", lang.of("Moves", "迁移步骤")).lead(order);
    if !out_of_order(plan, lang).is_empty() {
        section = section.with(Block::Paragraph(
            Tone::Alarm,
            lang.of(
                "The commands fail until the cluster is in order: see the notes.",
                "集群恢复正常之前，这些命令会失败：见说明。",
            )
            .into(),
        ));
    }
    let section = if slots.moves.is_empty() { section } else { section.with(table) };
    Some(section.with(Block::Script(slots.commands.iter().map(|it| (it.command.clone(), effect(it, lang))).collect())))
}

fn effect(command: &SlotCommand, lang: Lang) -> String {
    let number = |node: usize| node + 1;
    match command.effect {
        SlotEffect::AddNode { node } => say!(lang, "add node {}", "加入节点 {}", number(node)),
        SlotEffect::MoveSlots { from, to, slots } => {
            let slots = human::counted(slots, nouns::SLOT, lang);
            say!(lang, "{slots} of node {} to node {}", "{slots}：节点 {} 到节点 {}", number(from), number(to))
        }
        SlotEffect::AssignSlots { node } => say!(lang, "slots of node {}", "节点 {} 的槽", number(node)),
        SlotEffect::RemoveNode { node } => say!(lang, "remove node {}", "移除节点 {}", number(node)),
    }
}

/// Returns the number of a node, as the table of nodes has it.
fn node(at: usize) -> Cell {
    Cell::Id(at as u64 + 1)
}

/// Returns the slot that takes more than a node has room for, if one does: then no number of nodes suffices.
pub(super) fn above_room(plan: &Capacity) -> Option<&HeavySlot> {
    plan.slots.as_ref()?.heavy_slots.first().filter(|slot| !slot.fits)
}

/// Says which slot takes more than a node has room for.
pub(super) fn too_heavy(plan: &Capacity, lang: Lang) -> Option<Prose> {
    let slot = above_room(plan)?;
    let (number, memory, room) = (slot.slot, human::bytes(slot.total.0), human::bytes(plan.usable.0));
    let key = slot.example.as_ref().map(|example| inline_key(&example.key));
    let key =
        key.map_or_else(String::new, |key| say!(lang, " (its heaviest key is {key})", "（其中最大的 key 为 {key}）"));
    Some(
        say!(
            lang,
            "no number of nodes suffices: slot {number} takes {memory}{key}, a node has room for {room}",
            "增加节点无济于事：槽 {number} 占用 {memory}{key}，而单个节点只能存放 {room}"
        )
        .into(),
    )
}

/// Says what keeps slots from being moved, in short.
pub(super) fn out_of_order(plan: &Capacity, lang: Lang) -> Vec<Prose> {
    let said = |warning: &Warning| match &warning.kind {
        WarningKind::ClusterNodesFailed { nodes } => {
            let nodes = human::counted(nodes.len() as u64, nouns::NODE, lang);
            Some(say!(lang, "slots on {nodes} that the cluster does not reach", "{nodes}持有槽但无法连通"))
        }
        WarningKind::ClusterSlotsUnassigned { slots, .. } => {
            let slots = human::counted(*slots, nouns::SLOT, lang);
            Some(say!(lang, "{slots} without an owner", "{slots}没有归属"))
        }
        WarningKind::ClusterSlotsOpen { slots } => {
            let slots = human::counted(slots.len() as u64, nouns::SLOT, lang);
            Some(say!(lang, "{slots} being migrated", "{slots}正在迁移"))
        }
        _ => None,
    };
    plan.warnings.iter().filter_map(said).map(Prose::from).collect()
}

/// Lists node numbers, at most as many as ranges.
fn listed(numbers: &[String], lang: Lang) -> String {
    let mut shown = numbers.iter().take(RANGES).cloned().collect::<Vec<_>>();
    if numbers.len() > RANGES {
        shown.push(others(numbers.len() - RANGES, lang));
    }
    shown.join(lang.of(", ", "、"))
}

fn ranges(spans: &[SlotSpan], lang: Lang) -> String {
    let mut shown: Vec<String> = spans.iter().take(RANGES).map(SlotSpan::to_string).collect();
    if spans.len() > RANGES {
        shown.push(others(spans.len() - RANGES, lang));
    }
    shown.join(lang.of(", ", "、"))
}
