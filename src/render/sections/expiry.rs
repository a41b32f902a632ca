//! When keys expire.

use super::spread::{Class, Spread, spread};
use crate::render::document::{Block, Cell, Column, Forms, Scope, Section, Table};
use crate::render::words::{heads, known, nouns, say};
use crate::render::{Lang, human};
use crate::report::Text;
use crate::report::{DetailValue, FindingPattern, Report};
use crate::units::{HOUR, Millis};

/// Rule whose findings are storms: many keys of a pattern that expire within a short time.
pub(super) const STORM: &str = "ttl.storm";

/// Builds the section; none if no key expires.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let (lang, expiry) = (scope.lang, &report.expiry);
    if expiry.next.is_none() && expiry.last.is_none() && report.totals.expired.keys == 0 {
        return None;
    }
    let storms = storms(report);
    let marks: Vec<usize> = storms.iter().filter_map(|storm| class_of(report, start(storm)?)).collect();
    let classes: Vec<Class> = expiry
        .classes
        .iter()
        .enumerate()
        .map(|(at, class)| Class {
            drawn: match &*class.left {
                "none" => false,
                "unknown" => class.keys > 0,
                _ => true,
            },
            marked: marks.contains(&at),
            ..Class::new(known::class(&class.left, lang).to_owned(), class.keys, class.memory, class.unknown)
        })
        .collect();
    let note = (!marks.is_empty()).then(|| {
        lang.of(
            "Marked: many keys of one pattern expire within a short time there.",
            "带标记处：同一模式的大量 key 在短时间内集中过期。",
        )
    });
    let mut section = Section::new("expiry", lang.of("Time left", "剩余时间"));
    section.lead.extend(when(report, lang).map(Into::into));
    let label = lang.of("Keys by the time that they have left", "按剩余时间统计的 key");
    let section = spread(section, report, &Spread { heading: heads::LEFT, label, classes: &classes, note }, scope);
    if storms.is_empty() {
        return Some(section);
    }
    let title = lang.of("Storms", "集中过期");
    Some(
        section
            .with_in(Forms::HTML, Block::Heading(title.to_owned()))
            .with_in(Forms::HTML, storm_table(title, &storms, scope)),
    )
}

/// Says when the next and the last key expire.
fn when(report: &Report, lang: Lang) -> Option<String> {
    let expiry = &report.expiry;
    let now = expiry.reference_time?;
    let mut text = say!(lang, "At {}:", "以 {} 为准：", human::time(now.0));
    if let Some(next) = expiry.next {
        let (distance, time) = (human::distance(next.0, now.0, lang), human::time(next.0));
        text.push_str(&say!(lang, " next expiry {distance} ({time}),", "下一次过期在 {distance}（{time}），"));
    }
    if let Some(last) = expiry.last {
        let (distance, time) = (human::distance(last.0, now.0, lang), human::time(last.0));
        text.push_str(&say!(lang, " last {distance} ({time}).", "最后一次在 {distance}（{time}）。"));
    }
    Some(text.trim_end_matches([',', ':', '，', '：']).to_owned())
}

fn storms(report: &Report) -> Vec<&FindingPattern> {
    let findings = report.findings.list.iter().filter(|finding| &*finding.rule == STORM);
    findings.flat_map(|finding| &finding.patterns).collect()
}

/// Returns the beginning of a storm in milliseconds.
fn start(storm: &FindingPattern) -> Option<i64> {
    match value(storm, "start")? {
        DetailValue::Time(start) => Some(start.0),
        _ => None,
    }
}

fn value<'r>(storm: &'r FindingPattern, name: &str) -> Option<&'r DetailValue> {
    storm.details.get(name).map(|detail| &detail.value)
}

/// Returns the class that a point in time falls into.
fn class_of(report: &Report, time: i64) -> Option<usize> {
    let left = time.saturating_sub(report.expiry.reference_time?.0);
    report.expiry.classes.iter().position(|class| match class.below_ms {
        Some(below) => left < below,
        None => &*class.left == "> 1 year",
    })
}

fn storm_table(title: &str, storms: &[&FindingPattern], scope: &Scope) -> Table {
    const BEGINS: Text = Text { en: "begins", zh: "开始时间" };
    const WITHIN: Text = Text { en: "within", zh: "时间窗口" };
    const EXPIRING: Text = Text { en: "expiring", zh: "过期 key 数" };
    Table::of(title, storms, scope.rows)
        .column(Column::text(heads::PATTERN), |storm| match storm.pattern.as_deref() {
            Some(pattern) => Cell::pattern(pattern),
            None => Cell::words(scope.lang.of("the whole instance", "整个实例")),
        })
        .column(Column::text(BEGINS), |storm| start(storm).map(|start| Cell::Time(Millis(start))))
        .column(Column::text(WITHIN), |storm| match value(storm, "window") {
            Some(DetailValue::Duration(window)) => Cell::words(&human::duration(*window, scope.lang)),
            _ => Cell::Absent,
        })
        .column(Column::number(EXPIRING), |storm| match value(storm, "in_window") {
            Some(DetailValue::Count(keys)) => Some(*keys),
            _ => None,
        })
        .column(Column::number(heads::KEYS), |storm| storm.keys)
        .build()
}

/// Says how many keys expire soon, for the head of the document.
pub(super) fn soon(report: &Report, lang: Lang) -> Option<String> {
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
