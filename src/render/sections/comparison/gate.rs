//! Conditions of `--fail-on`, and whether they passed.

use crate::render::Lang;
use crate::render::document::{Block, Cell, Column, Prose, Section, Table, Tone};
use crate::render::words::{heads, say};
use crate::report::{GateRow, GateVerdict, Wording};

/// Builds the section, if there are conditions.
pub(super) fn section(rows: &[GateRow], lang: Lang) -> Option<Section> {
    let tone = |row: &GateRow| match row.verdict {
        GateVerdict::Kept => Tone::Plain,
        GateVerdict::Failed => Tone::Alarm,
        GateVerdict::NotEvaluated => Tone::Warning,
    };
    let verdict = |row: &GateRow| match row.verdict {
        GateVerdict::Kept => lang.of("passed", "通过"),
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
        .column(Column::text(heads::REASON).shrink(24).prose(), |row| {
            let gap = row.reason.map(|gap| in_words(gap.wording(), lang));
            let by = (!row.by.is_empty()).then(|| row.by.join(lang.of(", ", "、")));
            let words: Vec<String> = by.into_iter().chain(gap).collect();
            if words.is_empty() { Cell::Blank } else { Cell::words(&words.join(lang.of("; ", "；"))) }
        })
        .build()
        .in_order();
    let section = Section::new("gate", title).with(table);
    let notes: Vec<Prose> = rows.iter().filter_map(|row| in_full(row, lang)).map(Prose::from).collect();
    let notes = (!notes.is_empty()).then_some(Block::Notes(notes, 0));
    (!rows.is_empty()).then(|| section.with_some(notes))
}

fn in_words(Wording { en, zh }: Wording, lang: Lang) -> String {
    lang.of(&en, &zh).to_owned()
}

/// Names all that breaks a condition, and the rules that its reason is about, for which a cell of the table may be too narrow.
fn in_full(row: &GateRow, lang: Lang) -> Option<String> {
    let by = (row.by.len() > 1).then(|| row.by.join(lang.of(", ", "、")));
    let reason = row.reason_in_words().filter(|_| !row.rules.is_empty()).map(|reason| in_words(reason, lang));
    let said: Vec<String> = by.into_iter().chain(reason).collect();
    let (condition, said) = (&row.condition, (!said.is_empty()).then(|| said.join(lang.of("; ", "；")))?);
    Some(say!(lang, "{condition}: {said}", "{condition}：{said}"))
}
