//! Nodes needed now and later, and the growth behind that.

use super::slots::above_room;
use crate::render::document::{Block, Cell, Column, Section, Table, Tone, inline};
use crate::render::sections::what_if::asked;
use crate::render::words::{heads, nouns, say};
use crate::render::{Lang, human};
use crate::report::{Capacity, NodeNeed, Scenario};
use crate::units::Millis;

/// Builds the section of nodes: a row for each scenario and date. None if the memory is unknown.
pub(super) fn section(plan: &Capacity, lang: Lang) -> Option<Section> {
    if plan.demand.scenarios.is_empty() {
        return None;
    }
    let rows: Vec<Row> = plan.demand.scenarios.iter().flat_map(|scenario| rows(plan, scenario, lang)).collect();
    let several = plan.demand.scenarios.len() > 1;
    let mut table = Table::of(lang.of("Nodes", "节点"), &rows, usize::MAX)
        .tones(|row| if row.is_first && several { Tone::Strong } else { Tone::Plain })
        .column(Column::text(heads::WHEN), |row| Cell::from(row.when.as_str()));
    if several {
        table = table.column(Column::text(heads::WHAT_IF).shrink(16).prose(), |row| row.what_if.clone());
    }
    let table = table
        .column(Column::number(heads::MEMORY), |row| row.need.total)
        .column(Column::text(heads::BETWEEN).spare(3), |row| {
            let [least, most] = row.need.total_range?;
            Some(Cell::from(format!("{} – {}", human::bytes(least.0), human::bytes(most.0))))
        })
        .column(Column::number(heads::NODES), |row| row.need.nodes)
        .column(Column::text(heads::BETWEEN).spare(2), |row| {
            let [least, most] = row.need.nodes_range?;
            Some(Cell::from(format!("{least} – {most}")))
        })
        .column(Column::number(heads::FILL).bars().spare(1), |row| {
            Cell::ShareOf(row.need.total.0, plan.options.node_memory.0.saturating_mul(row.need.nodes))
        })
        .column(Column::number(heads::COST), |row| row.need.cost_per_month.map(|cost| Cell::from(format!("{cost:.2}"))))
        .build()
        .in_order();
    let usable = human::bytes(plan.usable.0);
    let node = human::bytes(plan.options.node_memory.0);
    let headroom = human::share_of(plan.options.headroom_permille, 1000);
    let lead = say!(
        lang,
        "A node of {node} holds {usable} of data; {headroom} stays free.",
        "每个 {node} 的节点可存放 {usable} 数据，预留 {headroom}。"
    );
    let mut section = Section::new("demand", lang.of("Nodes", "节点")).lead(lead);
    let too_heavy = above_room(plan).map(|slot| slot.slot);
    if let Some(slot) = too_heavy {
        section = section.lead(say!(
            lang,
            "The numbers of nodes follow from the memory alone: slot {slot} fits on no node.",
            "节点数按全部内存合计得出：槽 {slot} 放不进任何一个节点。"
        ));
    }
    let full = plan.demand.scenarios.iter().filter(|_| too_heavy.is_none());
    let full = full.filter_map(|scenario| full_at(plan, scenario, lang));
    let texts = full.chain(shrinks(plan, lang));
    Some(texts.fold(section.with(table), |section, text| section.with(Block::Paragraph(Tone::Warning, text.into()))))
}

/// Need of a scenario at one date.
struct Row<'p> {
    is_first: bool,
    when: String,
    what_if: Cell,
    need: &'p NodeNeed,
}

fn rows<'p>(plan: &'p Capacity, scenario: &'p Scenario, lang: Lang) -> Vec<Row<'p>> {
    let row = |(at, need): (usize, &'p NodeNeed)| Row {
        is_first: at == 0,
        when: match plan.demand.dates.get(at).copied().flatten() {
            Some(date) if at > 0 => day(date),
            Some(_) | None => lang.of("at snapshot time", "快照时").to_owned(),
        },
        what_if: match &scenario.what_if {
            Some(what_if) => Cell::words(&asked(what_if, &scenario.model)),
            None => lang.of("as it is", "维持现状").into(),
        },
        need,
    };
    scenario.needs.iter().enumerate().map(row).collect()
}

/// Says until when a falling line means something.
fn shrinks(plan: &Capacity, lang: Lang) -> Option<String> {
    let date = day(plan.demand.nothing_at?);
    Some(say!(
        lang,
        "Memory shrinks: at this rate it reaches zero on {date}, so there is no forecast from then on.",
        "内存在缩小：按此趋势将于 {date} 归零，因此不再预测该日及之后的情况。"
    ))
}

/// Says when the nodes are full.
fn full_at(plan: &Capacity, scenario: &Scenario, lang: Lang) -> Option<String> {
    let now = scenario.needs.first()?.nodes;
    let given = plan.options.nodes.unwrap_or(now);
    let nodes = human::counted(given, nouns::NODE, lang);
    let what_if = scenario.what_if.as_ref().map(|ask| inline(&asked(ask, &scenario.model)));
    if now > given {
        let do_not = if given == 1 { "does not" } else { "do not" };
        return Some(match what_if {
            None => say!(
                lang,
                "{nodes} {do_not} suffice: {now} are needed at snapshot time.",
                "{nodes}不够：快照时已需要 {now} 个。"
            ),
            Some(what_if) => say!(
                lang,
                "With {what_if}, {nodes} {do_not} suffice: {now} are needed at snapshot time.",
                "若改用 {what_if}，{nodes}不够：快照时已需要 {now} 个。"
            ),
        });
    }
    let date = day(scenario.full_at?);
    Some(match what_if {
        None => say!(lang, "{nodes} will be full on {date}.", "{nodes}将于 {date} 用满。"),
        Some(what_if) => {
            say!(lang, "With {what_if}, {nodes} will be full on {date}.", "若改用 {what_if}，{nodes}将于 {date} 用满。")
        }
    })
}

/// Returns the date without the time of day.
fn day(at: Millis) -> String {
    human::time(at.0).split(' ').next().unwrap_or_default().to_owned()
}

/// Builds the section of growth.
pub(super) fn growth(plan: &Capacity, lang: Lang) -> Option<Section> {
    let trend = plan.trend.as_ref()?;
    let table = Table::of(lang.of("Nights", "历史快照"), &plan.nights, usize::MAX)
        .column(Column::text(heads::TAKEN), |night| Cell::Time(night.taken))
        .column(Column::number(heads::SNAPSHOTS), |night| night.snapshots)
        .column(Column::number(heads::MEMORY), |night| night.total)
        .build()
        .in_order();
    let (grown, span) = (human::signed(trend.per_day), human::duration(trend.span, lang));
    let lead = match trend.per_day_range {
        Some([least, most]) => say!(
            lang,
            "{grown} a day over {span}, with 95 % between {} and {} if growth is steady.",
            "按 {span}内的变化，每天 {grown}；若增长平稳，95 % 置信区间为 {} 至 {}。",
            human::signed(least),
            human::signed(most)
        ),
        None => say!(
            lang,
            "{grown} a day over {span}. A confidence range needs at least three snapshots (--earlier).",
            "按 {span}内的变化，每天 {grown}。置信区间至少需要三个时间点的快照（--earlier）。"
        ),
    };
    Some(Section::new("growth", lang.of("Growth", "增长")).lead(lead).with(table))
}
