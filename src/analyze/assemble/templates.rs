//! Section on hash templates: the field names that compact hashes share, and what that saves.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::what_if::difference;
use crate::aggregate::templates::{TemplateStats, TemplateWeight};
use crate::analyze::read::file::InputFile;
use crate::limits;
use crate::memory::{HeldTemplates, TemplateTotals};
use crate::report::{HashTemplateRow, HashTemplates, Key, TemplateCount, Weight};
use crate::units::Bytes;

/// Keys of one set of field names on all servers.
#[derive(Debug, Default)]
struct SetWeight {
    weight: TemplateWeight,
    bytes: Bytes,
}

/// Returns the section, or `None` without compact hashes. Lists `top` templates.
pub(super) fn section(files: &[Arc<InputFile>], stats: TemplateStats, top: usize) -> Option<HashTemplates> {
    let mut section = HashTemplates::default();
    let mut sets: BTreeMap<Vec<&[u8]>, SetWeight> = BTreeMap::new();
    let mut ordinary = Bytes(0);
    for (file, set, weight) in stats.finish() {
        let file = files.iter().find(|input| input.index == file);
        let held = file.and_then(|file| file.counted_templates()?.of(0));
        let Some((held, names)) = held.and_then(|held| Some((held.held(set)?, held.names(set)?))) else { continue };
        section.templates += 1;
        section.keys += weight.keys.keys;
        section.memory += weight.keys.memory;
        section.bytes += held.bytes;
        ordinary += weight.ordinary;
        let row = sets.entry(names.fields().collect()).or_default();
        row.weight.merge(weight);
        row.bytes += held.bytes;
    }
    section.saved = difference(ordinary, section.memory);
    let mut rows: Vec<_> = sets.into_iter().collect();
    // The sort is stable: equal ones stay in the order of their names.
    rows.sort_by_key(|(_, row)| Reverse(saved(&row.weight).unsigned_abs()));
    section.list = rows.into_iter().take(top).map(|(names, row)| listed(&names, &row)).collect();
    (section.templates > 0).then_some(section)
}

fn saved(weight: &TemplateWeight) -> i64 {
    difference(weight.ordinary, weight.keys.memory)
}

fn listed(names: &[&[u8]], row: &SetWeight) -> HashTemplateRow {
    let short = names.iter().filter(|name| name.len() <= limits::LONGEST_FIELD_NAME);
    let Weight { keys, memory } = row.weight.keys;
    HashTemplateRow {
        names: short.take(limits::MAX_FIELD_NAMES).map(|&name| Key::from(name)).collect(),
        fields: names.len() as u64,
        keys,
        memory,
        bytes: row.bytes,
        saved: saved(&row.weight),
    }
}

/// Returns the number of templates, their users and their size under each alternative; `None` where none has any.
pub(in crate::analyze) fn alternatives(files: &[Arc<InputFile>], alternatives: usize) -> Vec<Option<TemplateCount>> {
    let of_file = |file: &Arc<InputFile>, at: usize| Some(file.counted_templates()?.of(at + 1)?.totals());
    let sum = |at| {
        let all = files.iter().filter_map(|file| of_file(file, at));
        let TemplateTotals { templates, keys, bytes } = all.fold(TemplateTotals::default(), TemplateTotals::plus);
        (templates > 0).then_some(TemplateCount { templates, keys, bytes })
    };
    (0..alternatives).map(sum).collect()
}

/// Returns whether there are more sets of field names than are told apart.
pub(super) fn overflowed(files: &[Arc<InputFile>]) -> bool {
    files.iter().filter_map(|file| file.counted_templates()).any(HeldTemplates::overflowed)
}
