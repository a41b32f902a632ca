//! Conditions of `--fail-on`, and whether they are kept.

use crate::render::Lang;
use crate::render::document::{Cell, Column, Section, Table, Tone};
use crate::render::words::heads;
use crate::report::{GateRow, GateVerdict};

/// Builds the section, if there are conditions.
pub(super) fn section(rows: &[GateRow], lang: Lang) -> Option<Section> {
    let tone = |row: &GateRow| match row.verdict {
        GateVerdict::Kept => Tone::Plain,
        GateVerdict::Failed => Tone::Alarm,
        GateVerdict::NotEvaluated => Tone::Warning,
    };
    let verdict = |row: &GateRow| match row.verdict {
        GateVerdict::Kept => lang.of("kept", "通过"),
        GateVerdict::Failed => lang.of("failed", "未通过"),
        GateVerdict::NotEvaluated => lang.of("not evaluated", "未评估"),
    };
    let figure = |row: &GateRow, number: f64| {
        let is_share = row.condition.contains('%');
        Cell::words(&if is_share { format!("{:+.1} %", number * 100.0) } else { number.to_string() })
    };
    let title = lang.of("Gate", "门禁");
    let table = Table::of(title, rows, usize::MAX)
        .tones(tone)
        .column(Column::text(heads::CONDITION), |row| Cell::words(&row.condition))
        .column(Column::text(heads::NONE), verdict)
        .column(Column::number(heads::MEASURED), |row| row.measured.map(|number| figure(row, number)))
        .column(Column::text(heads::REASON).shrink(24), |row| {
            let gap = row.reason.map(|gap| gap.wording());
            let gap = gap.map(|wording| lang.of(&wording.en, &wording.zh).to_owned());
            let words: Vec<String> = row.by.iter().cloned().chain(gap).collect();
            if words.is_empty() { Cell::Blank } else { Cell::words(&words.join(", ")) }
        })
        .build()
        .in_order();
    (!rows.is_empty()).then(|| Section::new("gate", title).with(table))
}
