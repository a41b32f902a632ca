//! Sections that show how keys spread: over time left, time unused, access counters, cluster slots.

use std::io;

use super::bar::bar;
use super::grid::{Cell, Column, Grid, Paint};
use super::page::{Page, Tone};
use crate::render::words::{heads, known, leads, say};
use crate::render::{human, key_text};
use crate::report::Report;
use crate::report::Text;
use crate::units::Bytes;

/// Columns of the longest bar.
const BAR: u8 = 24;

/// How long keys have left; nothing when none expires.
pub(super) fn expiry(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let expiry = &report.expiry;
    if expiry.next.is_none() && expiry.last.is_none() && report.totals.expired.keys == 0 {
        return Ok(());
    }
    let lang = page.lang();
    page.title(lang.of("Time left", "剩余时间"))?;
    if let Some(now) = expiry.reference_time {
        let mut text = say!(lang, "At {}:", "以 {} 为准：", human::time(now.0));
        if let Some(next) = expiry.next {
            let (distance, time) = (human::distance(next.0, now.0, lang), human::time(next.0));
            text.push_str(&say!(lang, " next expiry {distance} ({time}),", "最近一次过期在 {distance}（{time}），"));
        }
        if let Some(last) = expiry.last {
            let (distance, time) = (human::distance(last.0, now.0, lang), human::time(last.0));
            text.push_str(&say!(lang, " last {distance} ({time}).", "最后一次在 {distance}（{time}）。"));
        }
        page.text(text.trim_end_matches([',', ':', '，', '：']))?;
    }
    let classes =
        expiry.classes.iter().map(|class| (known::class(&class.left, lang).into_owned(), class.keys, class.memory));
    spread(report, page, heads::LEFT, classes.collect())
}

/// How long keys have been idle and how often they are used, where the dump tells.
pub(super) fn access(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let lang = page.lang();
    if let Some(idle) = report.idle.as_ref().filter(|idle| idle.keys > 0) {
        page.title(lang.of("Time since the last access", "距上次访问的时间"))?;
        let classes =
            idle.classes.iter().map(|class| (known::class(&class.idle, lang).into_owned(), class.keys, class.memory));
        spread(report, page, heads::IDLE, classes.collect())?;
    }
    if let Some(freq) = report.freq.as_ref().filter(|freq| freq.keys > 0) {
        let title = lang.of("Access counter (logarithmic, decays with time)", "访问计数器（对数增长，随时间衰减）");
        page.title(title)?;
        let name =
            |from, to| if from == to { format!("{from}") } else { say!(lang, "{from} to {to}", "{from} 至 {to}") };
        let classes = freq.classes.iter().map(|class| (name(class.from, class.to), class.keys, class.memory));
        spread(report, page, heads::COUNTER, classes.collect())?;
    }
    Ok(())
}

fn spread(report: &Report, page: &mut Page<'_>, heading: Text, classes: Vec<(String, u64, Bytes)>) -> io::Result<()> {
    let most = classes.iter().map(|(_, keys, _)| *keys).max().unwrap_or(0);
    let mut grid = Grid::new([
        Column::text(heading),
        Column::number(heads::MEMORY),
        Column::number(heads::OF_MEMORY),
        Column::number(heads::KEYS),
        Column::number(heads::OF_KEYS),
        Column::text(heads::NONE).spare(1).painted(Paint::Accent),
    ]);
    for (class, keys, memory) in classes {
        let tone = if keys == 0 { Tone::Faint } else { Tone::Plain };
        let of_memory = Cell::ShareOf(memory.0, report.totals.memory.0);
        let of_keys = Cell::ShareOf(keys, report.totals.keys);
        grid.toned(tone, [class.into(), memory.into(), of_memory, keys.into(), of_keys, bar(keys, most, BAR).into()]);
    }
    grid.print(page)
}

/// Memory over cluster slots.
pub(super) fn slots(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(slots) = report.slots.as_ref().filter(|slots| slots.used > 0) else {
        return Ok(());
    };
    let lang = page.lang();
    page.title(lang.of("Cluster slots", "集群槽位"))?;
    page.text(&leads::slots(slots, lang))?;
    let mut grid = Grid::new([
        Column::text(heads::SLOT),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::number(heads::SHARE).bars(),
        Column::text(heads::HEAVIEST_KEY).shrink(20),
    ]);
    let shown = page.first(&slots.list);
    for row in shown {
        let key = key_text::key(&row.example.key.0);
        grid.row([
            row.slot.to_string().into(),
            row.keys.into(),
            row.memory.into(),
            Cell::Share(row.share),
            Cell::Name(key),
        ]);
    }
    grid.print(page)?;
    page.more(shown.len(), slots.list.len())
}
