//! Section on hash templates: the field names that compact hashes share, and what that saves.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::what_if::difference;
use crate::aggregate::templates::{TemplateStats, TemplateWeight};
use crate::analyze::outcome::FileOutcome;
use crate::analyze::read::file::InputFile;
use crate::limits;
use crate::memory::{HeldTemplates, TemplateTotals};
use crate::report::{HashTemplateRow, HashTemplates, Key, TemplateCount, Weight};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Templates of one file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FileTemplates {
    /// Templates that have keys.
    used: Vec<UsedTemplate>,
    /// Sums over the templates under each alternative.
    totals: Vec<TemplateTotals>,
    /// Bytes beyond the shares of the keys: under the model of the file, then under each alternative.
    beyond_shares: Vec<Bytes>,
    /// Bytes that the server reports as overhead.
    reported: Bytes,
    /// True if there are more sets of field names than are told apart.
    overflowed: bool,
}

impl FileTemplates {
    /// Returns the bytes of the templates beyond the shares of their keys, under the model at this position.
    pub(super) fn beyond_shares(&self, at: usize) -> Bytes {
        self.beyond_shares.get(at).copied().unwrap_or_default()
    }

    /// Returns the bytes that the server reports as overhead.
    pub(super) fn reported(&self) -> Bytes {
        self.reported
    }
}

/// Template with its keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct UsedTemplate {
    names: Vec<Vec<u8>>,
    bytes: Bytes,
    weight: TemplateWeight,
}

/// Keys of one set of field names on all servers.
#[derive(Debug, Default)]
struct SetWeight {
    weight: TemplateWeight,
    bytes: Bytes,
}

/// Returns the templates of each of the files that have any.
pub fn of_files(files: &[Arc<InputFile>], stats: TemplateStats) -> BTreeMap<usize, FileTemplates> {
    let mut all: BTreeMap<usize, FileTemplates> = BTreeMap::new();
    for file in files {
        if let Some(held) = file.counted_templates() {
            let totals =
                (0..file.alternatives.len()).map(|at| held.of(at + 1).map(|of| of.totals()).unwrap_or_default());
            let models = iter::once(&*file.model).chain(file.alternatives.iter()).enumerate();
            let beyond = models.map(|(at, model)| Bytes(held.of(at).map_or(0, |of| of.beyond_shares(model))));
            let (totals, beyond_shares) = (totals.collect(), beyond.collect());
            let reported = held.of(0).map_or(Bytes(0), |of| of.reported());
            let overflowed = HeldTemplates::overflowed(held);
            all.insert(file.index, FileTemplates { used: Vec::new(), totals, beyond_shares, reported, overflowed });
        }
    }
    for (file, set, weight) in stats.finish() {
        let held = files.iter().find(|input| input.index == file).and_then(|file| file.counted_templates()?.of(0));
        let Some((held, names)) = held.and_then(|held| Some((held.held(set)?, held.names(set)?))) else { continue };
        let names = names.fields().map(<[u8]>::to_vec).collect();
        all.entry(file).or_default().used.push(UsedTemplate { names, bytes: held.bytes, weight });
    }
    all
}

/// Returns the section, or `None` without compact hashes. Lists `top` templates.
pub(super) fn section(files: &[FileOutcome], top: usize) -> Option<HashTemplates> {
    let mut section = HashTemplates::default();
    let mut sets: BTreeMap<&[Vec<u8>], SetWeight> = BTreeMap::new();
    let mut ordinary = Bytes(0);
    for UsedTemplate { names, bytes, weight } in files.iter().flat_map(|file| &file.templates.used) {
        section.templates += 1;
        section.keys = section.keys.saturating_add(weight.keys.keys);
        section.memory += weight.keys.memory;
        section.bytes += *bytes;
        ordinary += weight.ordinary;
        let row = sets.entry(names).or_default();
        row.weight.merge(*weight);
        row.bytes += *bytes;
    }
    section.saved = difference(ordinary, section.memory);
    let mut rows: Vec<_> = sets.into_iter().collect();
    // The sort is stable: equal ones stay in the order of their names.
    rows.compact_sort_by_key(|(_, row)| Reverse(saved(&row.weight).unsigned_abs()));
    section.list = rows.into_iter().take(top).map(|(names, row)| listed(names, &row)).collect();
    (section.templates > 0).then_some(section)
}

fn saved(weight: &TemplateWeight) -> i64 {
    difference(weight.ordinary, weight.keys.memory)
}

fn listed(names: &[Vec<u8>], row: &SetWeight) -> HashTemplateRow {
    let short = names.iter().filter(|name| name.len() <= limits::MAX_FIELD_NAME_LEN);
    let Weight { keys, memory } = row.weight.keys;
    HashTemplateRow {
        names: short.take(limits::MAX_FIELD_NAMES).map(|name| Key::from(name.as_slice())).collect(),
        fields: names.len() as u64,
        keys,
        memory,
        bytes: row.bytes,
        saved: saved(&row.weight),
    }
}

/// Returns the number of templates, their users and their size under each alternative; `None` where none has any.
pub(super) fn alternatives(files: &[FileOutcome], alternatives: usize) -> Vec<Option<TemplateCount>> {
    let sum = |at: usize| {
        let all = files.iter().filter_map(|file| file.templates.totals.get(at).copied());
        let TemplateTotals { templates, keys, bytes } = all.fold(TemplateTotals::default(), TemplateTotals::plus);
        (templates > 0).then_some(TemplateCount { templates, keys, bytes })
    };
    (0..alternatives).map(sum).collect()
}

/// Returns whether there are more sets of field names than are told apart.
pub(super) fn overflowed(files: &[FileOutcome]) -> bool {
    files.iter().any(|file| file.templates.overflowed)
}
