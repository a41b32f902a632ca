//! Keys and memory over classes, as a picture and as a table.

use crate::render::document::{Block, Cell, ClassBar, Classes, Column, Forms, Scope, Section, Table, Tone};
use crate::render::words::heads;
use crate::report::{Report, Text, Unknown};
use crate::units::Bytes;

/// One class.
pub(super) struct Class {
    pub name: String,
    pub keys: u64,
    pub memory: Bytes,
    /// Keys of unknown memory.
    pub unknown: Unknown,
    /// Set if it has a place on the axis of the picture.
    pub drawn: bool,
    /// Set if the picture marks it.
    pub marked: bool,
}

impl Class {
    /// Returns an ordinary class.
    pub fn new(name: String, keys: u64, memory: Bytes, unknown: Unknown) -> Class {
        Class { name, keys, memory, unknown, drawn: true, marked: false }
    }
}

/// Classes in order, as a picture and a table show them.
pub(super) struct Spread<'a> {
    /// Heading of the classes in the table.
    pub heading: Text,
    /// Name of picture and table.
    pub label: &'a str,
    pub classes: &'a [Class],
    /// Meaning of marked classes.
    pub note: Option<&'static str>,
}

/// Adds the picture and the table of classes to a section.
pub(super) fn spread(section: Section, report: &Report, spread: &Spread<'_>, scope: &Scope) -> Section {
    let Spread { heading, label, classes, note } = *spread;
    let bar = |class: &Class| ClassBar {
        name: class.name.clone(),
        keys: class.keys,
        memory: class.memory,
        marked: class.marked,
    };
    let list = classes.iter().filter(|class| class.drawn).map(bar).collect();
    let most = classes.iter().map(|class| class.keys).max().unwrap_or(0);
    let totals = &report.totals;
    let table = Table::of(label, classes, usize::MAX)
        .tones(|class| if class.keys == 0 { Tone::Faint } else { Tone::Plain })
        .column(Column::text(heading), |class| class.name.as_str())
        .column(Column::number(heads::MEMORY), |class| class.unknown.known(class.keys, class.memory))
        .column(Column::number(heads::OF_MEMORY).bars_in(Forms::HTML), |class| {
            class.unknown.known(class.keys, Cell::ShareOf(class.memory.0, totals.memory.0))
        })
        .column(Column::number(heads::KEYS), |class| class.keys)
        .column(Column::number(heads::OF_KEYS).bars_in(Forms::HTML), |class| Cell::ShareOf(class.keys, totals.keys))
        .column(Column::text(heads::KEY_DISTRIBUTION).spare(1).only(Forms::TEXT), |class| Cell::Bar(class.keys, most))
        .column(Column::number(heads::UNKNOWN_KEYS), |class| class.unknown.keys_if_any())
        .build()
        .in_order()
        .folded(scope.lang.of("As a table", "以表格查看"));
    section.with(Block::Classes(Classes { label: label.to_owned(), list, note })).with(table)
}
