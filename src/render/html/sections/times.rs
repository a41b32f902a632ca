//! How keys spread over time: when they expire, how long nobody used them, how often they are used.

use super::section;
use crate::render::html::charts::{Class, Columns};
use crate::render::html::names::Name;
use crate::render::html::view::{Block, Caps, Cell, Column, Prose, Section, Table, tenths};
use crate::render::words::{heads, known, nouns, say};
use crate::render::{Lang, human};
use crate::report::Text;
use crate::report::{FindingPattern, Report};
use crate::units::Bytes;

/// The rule whose findings are storms: many keys of a pattern that expire within a short time.
const STORM: &str = "ttl.storm";

/// One class of a spread.
struct Spread {
    name: String,
    keys: u64,
    memory: Bytes,
    /// Whether it is in the picture: what has no place on the axis is in the table alone.
    drawn: bool,
    marked: bool,
}

/// When keys expire.
pub fn expiry(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let expiry = &report.expiry;
    if expiry.next.is_none() && expiry.last.is_none() && report.totals.expired.keys == 0 {
        return None;
    }
    let title = lang.of("When keys expire", "过期时间分布");
    let storms = storms(report);
    let marks: Vec<usize> = storms.iter().filter_map(|storm| class_of(report, start(storm)?)).collect();
    let classes: Vec<Spread> = expiry
        .classes
        .iter()
        .enumerate()
        .map(|(at, class)| Spread {
            name: known::class(&class.left, lang).into_owned(),
            keys: class.keys,
            memory: class.memory,
            drawn: match &*class.left {
                "none" => false,
                "unknown" => class.keys > 0,
                _ => true,
            },
            marked: marks.contains(&at),
        })
        .collect();
    let note = (!marks.is_empty()).then(|| {
        lang.of(
            "Marked: many keys of one pattern expire within a short time there.",
            "带标记处：同一模式的大量 key 在短时间内集中过期。",
        )
    });
    let mut section = section("expiry", title);
    section.lead.extend(when(report, lang).map(Prose));
    let label = lang.of("Keys by the time that they have left", "按剩余时间统计的 key");
    section = spread(report, section, heads::LEFT, label, classes, note, lang);
    if !storms.is_empty() {
        section = section
            .with(Block::Title(lang.of("Storms", "集中过期")))
            .with(Block::Table(storm_table(&storms, lang, caps)));
    }
    Some(section)
}

/// The next and the last expiry in words.
fn when(report: &Report, lang: Lang) -> Option<String> {
    let now = report.expiry.reference_time?;
    let point = |time: i64| (human::distance(time, now.0, lang), human::time(time));
    let next = report.expiry.next.map(|next| {
        let (distance, time) = point(next.0);
        say!(lang, "the next key expires {distance} ({time})", "最近一次过期在 {distance}（{time}）")
    });
    let last = report.expiry.last.map(|last| {
        let (distance, time) = point(last.0);
        say!(lang, "the last {distance} ({time})", "最后一次在 {distance}（{time}）")
    });
    let parts: Vec<String> = next.into_iter().chain(last).collect();
    let (now, parts) = (human::time(now.0), parts.join(lang.of(", ", "，")));
    (!parts.is_empty()).then(|| say!(lang, "Held against {now}: {parts}.", "以 {now} 为准：{parts}。"))
}

fn storms(report: &Report) -> Vec<&FindingPattern> {
    report
        .findings
        .list
        .iter()
        .filter(|finding| &*finding.rule == STORM)
        .flat_map(|finding| &finding.patterns)
        .collect()
}

/// When a storm begins, in milliseconds.
fn start(storm: &FindingPattern) -> Option<i64> {
    storm.details.get("start")?.as_i64()
}

/// The class that a point in time falls into.
fn class_of(report: &Report, time: i64) -> Option<usize> {
    let left = time.saturating_sub(report.expiry.reference_time?.0);
    report.expiry.classes.iter().position(|class| match class.below_ms {
        Some(below) => left < below,
        None => &*class.left == "> 1 year",
    })
}

fn storm_table(storms: &[&FindingPattern], lang: Lang, caps: Caps) -> Table {
    const BEGINS: Text = Text { en: "begins", zh: "开始时间" };
    const WITHIN: Text = Text { en: "within", zh: "时间窗口" };
    const EXPIRING: Text = Text { en: "expiring", zh: "过期 key 数" };
    let columns = [
        Column::text(heads::PATTERN, lang),
        Column::text(BEGINS, lang),
        Column::text(WITHIN, lang),
        Column::number(EXPIRING, lang),
        Column::number(heads::KEYS, lang),
    ];
    Table::new(lang.of("Storms", "集中过期"), columns).fill(storms, caps.rows / 2, 0, lang, |storm| {
        let detail = |name: &str| storm.details.get(name);
        let window = detail("window").and_then(|window| window.as_str());
        vec![
            Cell::opt(storm.pattern.as_deref()),
            start(storm).map_or(Cell::Absent, |start| Cell::Text(human::time(start))),
            window.map_or(Cell::Absent, |window| Cell::name(Name::text(window))),
            detail("in_window").and_then(|n| n.as_u64()).map_or(Cell::Absent, Cell::count),
            Cell::count(storm.keys),
        ]
    })
}

/// How long keys have been idle and how often they are used, where the dump tells.
pub fn access(report: &Report, lang: Lang, _: Caps) -> Option<Section> {
    let mut section = section("access", lang.of("How keys are used", "key 的使用情况"));
    if let Some(idle) = report.idle.as_ref().filter(|idle| idle.keys > 0) {
        let label = lang.of("Time since the last access", "距上次访问的时间");
        let classes =
            idle.classes.iter().map(|class| (known::class(&class.idle, lang).into_owned(), class.keys, class.memory));
        section = section.with(Block::Title(label));
        section = spread(report, section, heads::IDLE, label, plain(classes), None, lang);
    }
    if let Some(freq) = report.freq.as_ref().filter(|freq| freq.keys > 0) {
        let label = lang.of("Access counter (logarithmic, decays with time)", "访问计数器（对数增长，随时间衰减）");
        let name = |from, to| if from == to { format!("{from}") } else { format!("{from}–{to}") };
        let classes = freq.classes.iter().map(|class| (name(class.from, class.to), class.keys, class.memory));
        section = section.with(Block::Title(label));
        section = spread(report, section, heads::COUNTER, label, plain(classes), None, lang);
    }
    (!section.blocks.is_empty()).then_some(section)
}

fn plain(classes: impl Iterator<Item = (String, u64, Bytes)>) -> Vec<Spread> {
    classes.map(|(name, keys, memory)| Spread { name, keys, memory, drawn: true, marked: false }).collect()
}

/// The picture of a spread and its table.
fn spread(
    report: &Report,
    section: Section,
    head: Text,
    label: &'static str,
    classes: Vec<Spread>,
    note: Option<&str>,
    lang: Lang,
) -> Section {
    let drawn = || classes.iter().filter(|class| class.drawn);
    let most_keys = drawn().map(|class| class.keys).max().unwrap_or(0);
    let most_memory = drawn().map(|class| class.memory.0).max().unwrap_or(0);
    let picture = Columns {
        label: label.to_owned(),
        legend: [lang.pick(heads::KEYS), lang.pick(heads::MEMORY)],
        classes: drawn()
            .map(|class| Class {
                name: class.name.clone(),
                figure: human::count(class.keys),
                first: tenths(class.keys, most_keys),
                second: tenths(class.memory.0, most_memory),
                marked: class.marked,
            })
            .collect(),
        note: note.map(|note| Prose(note.to_owned())),
    };
    let columns = [
        Column::text(head, lang),
        Column::number(heads::KEYS, lang),
        Column::number(heads::OF_KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::OF_MEMORY, lang).spare(),
    ];
    let table = Table::new(label, columns).in_order().fill(&classes, usize::MAX, 0, lang, |class| {
        vec![
            if class.keys == 0 { Cell::Faint(class.name.clone(), 0) } else { Cell::Text(class.name.clone()) },
            Cell::count(class.keys),
            Cell::share(class.keys, report.totals.keys),
            Cell::bytes(class.memory),
            Cell::share(class.memory.0, report.totals.memory.0),
        ]
    });
    let table = table.folded(lang.of("The same as a table", "以表格查看"));
    section.with(Block::Columns(picture)).with(Block::Table(table))
}

/// What the reader is told first: how many keys expire soon.
pub fn soon(report: &Report, lang: Lang) -> Option<String> {
    const HOUR: i64 = 3_600_000;
    let classes = &report.expiry.classes;
    let soon = classes.iter().filter(|class| class.below_ms.is_some_and(|below| 0 < below && below <= HOUR));
    let keys = soon.fold(0u64, |sum, class| sum.saturating_add(class.keys));
    let share = human::share_of(keys, report.totals.keys);
    let counted = human::counted(keys, nouns::KEY, lang);
    (keys > 0).then(|| {
        say!(
            lang,
            "{counted} ({share}) expire within an hour of the snapshot.",
            "{counted}（{share}）将在快照后一小时内过期。"
        )
    })
}
