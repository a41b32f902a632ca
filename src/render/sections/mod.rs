//! The sections of a document, one file each, built from the report alone.
//!
//! To add a section, write its file and add a line to [`SECTIONS`]: every form shows it then.

mod baseline;
mod big_keys;
mod breaking;
mod budgets;
mod by_type;
pub(super) mod capacity;
mod command;
pub(super) mod comparison;
mod databases;
mod dictionary;
mod exempted;
mod expiry;
mod files;
mod findings;
mod freq;
mod growth;
mod headline;
mod heaviest;
mod idle;
mod instance;
mod keys;
mod longest;
mod naming;
mod next;
mod not_evaluated;
mod notes;
mod owners;
mod patterns;
mod prefixes;
mod problems;
mod server;
mod slots;
mod spread;
mod streams;
mod templates;
mod types;
mod what_if;
mod without_ttl;

use super::document::{Document, Scope, Section};
use super::words::{nouns, say};
use super::{Lang, human};
use crate::report::{Report, Unknown};
use crate::units::Bytes;

/// Builds one section, or none if the report has nothing to say in it.
type Builder = fn(&Report, &Scope) -> Option<Section>;

/// Sections from top to bottom, in every form, ordered for a capacity review: violations of the policy, where memory is, which keys take
/// it, how long they stay, of which kinds they are, and at the end facts about the instance, the files and the server.
const SECTIONS: &[Builder] = &[
    findings::section,
    not_evaluated::section,
    baseline::section,
    growth::section,
    owners::section,
    breaking::section,
    dictionary::section,
    budgets::section,
    exempted::section,
    what_if::section,
    prefixes::section,
    patterns::section,
    big_keys::section,
    heaviest::section,
    longest::section,
    by_type::section,
    without_ttl::section,
    expiry::section,
    naming::section,
    types::section,
    databases::section,
    idle::section,
    freq::section,
    slots::section,
    streams::section,
    templates::section,
    instance::section,
    files::section,
    server::section,
    notes::section,
    next::section,
];

/// Returns the memory of some keys; `None` if it is unknown for all of them.
fn known_memory(keys: u64, memory: Bytes) -> Option<Bytes> {
    if keys == 0 { Some(memory) } else { memory.known() }
}

/// Says how many keys no sum of memory has, under tables whose rows do not tell; nothing if there are none.
fn without_unknown(report: &Report, lang: Lang) -> Option<String> {
    let Unknown { keys, .. } = report.totals.unknown;
    (keys > 0 && server::is_sized(report)).then(|| {
        let keys = human::counted(keys, nouns::KEY, lang);
        say!(
            lang,
            "The memory of {keys} is unknown and in no figure here.",
            "另有 {keys} 内存未知，未计入此处的任何数字。"
        )
    })
}

/// Builds the document of a report.
pub(super) fn document(report: &Report, scope: Scope) -> Document {
    Document {
        lang: scope.lang,
        headline: headline::headline(report, &scope),
        sections: SECTIONS.iter().filter_map(|build| build(report, &scope)).collect(),
    }
}
