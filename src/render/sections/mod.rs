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
pub(super) mod key_comparison;
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
mod short;
mod slots;
mod spread;
mod streams;
mod templates;
mod trend;
mod types;
mod what_if;
mod without_ttl;

use super::document::{Block, Document, Form, Prose, Scope, Section};
use super::extent::{Extent, SectionName};
use super::lang::Lang;
use super::words::say;
use crate::report::Report;

/// Builds one section, or none if the report has nothing to say in it.
type Builder = fn(&Report, &Scope) -> Option<Section>;

/// Sections from top to bottom, in every form, ordered for a capacity review: violations of the policy, where memory is, which keys take
/// it, how long they stay, of which kinds they are, and at the end facts about the instance, the files and the server.
const SECTIONS: &[(&str, Builder)] = &[
    ("findings", findings::section),
    ("not-evaluated", not_evaluated::section),
    ("baseline", baseline::section),
    ("growth", growth::section),
    ("trend", trend::section),
    ("owners", owners::section),
    ("breaking", breaking::section),
    ("dictionary", dictionary::section),
    ("budgets", budgets::section),
    ("exempted", exempted::section),
    ("what-if", what_if::section),
    ("prefixes", prefixes::section),
    ("patterns", patterns::section),
    ("big-keys", big_keys::section),
    ("heaviest", heaviest::section),
    ("longest", longest::section),
    ("by-type", by_type::section),
    ("without-ttl", without_ttl::section),
    ("expiry", expiry::section),
    ("naming", naming::section),
    ("types", types::section),
    ("databases", databases::section),
    ("idle", idle::section),
    ("freq", freq::section),
    ("slots", slots::section),
    ("streams", streams::section),
    ("templates", templates::section),
    ("instance", instance::section),
    ("files", files::section),
    ("server", server::section),
    ("notes", notes::section),
    ("next", next::section),
];

/// Returns the ids of all sections, in their order.
pub(super) fn ids() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|(id, _)| *id)
}

/// Returns a section that names the chosen ones that a report does not have, and what gives them.
fn absent(ids: &[&'static str], lang: Lang) -> Option<Section> {
    let note = |id: &&'static str| {
        let name = SectionName::of_part(id);
        Prose::from(match needs(id) {
            _ if *id == "trend" => say!(
                lang,
                "{name}: nothing to show; --earlier REPORT.json gives it, with a complete report of an earlier snapshot and the \
                 same selection of keys",
                "{name}：没有内容；可用 --earlier REPORT.json 生成，报告须完整、快照时间更早，且 key 筛选条件相同"
            ),
            Some(flag) => say!(lang, "{name}: nothing to show; {flag} gives it", "{name}：没有内容；可用 {flag} 生成"),
            None => say!(lang, "{name}: nothing to show", "{name}：没有内容"),
        })
    };
    let section = || Section::new("absent", lang.of("Not in this report", "报告中没有的部分"));
    (!ids.is_empty()).then(|| section().with(Block::Notes(ids.iter().map(note).collect(), 0)))
}

/// Returns the flag that a section needs.
fn needs(id: &str) -> Option<&'static str> {
    match id {
        "baseline" | "growth" => Some("--baseline REPORT.json"),
        "what-if" => Some("--what-if SERVER"),
        "owners" | "dictionary" | "budgets" | "exempted" => Some("--policy FILE.toml"),
        _ => None,
    }
}

/// Builds the document of a report. What is short on a terminal is not on a page, hence the form.
pub(super) fn document(report: &Report, scope: Scope, extent: Extent, form: Form) -> Document {
    let of =
        |scope: &Scope, sections| Document { lang: scope.lang, headline: headline::headline(report, scope), sections };
    match (extent, form) {
        (Extent::Short, Form::Terminal) => short::screen(report, &scope),
        (Extent::Short, Form::Markdown) => short::page(report, &scope),
        (Extent::Short, Form::Html) | (Extent::Full, _) => {
            let mut document = of(&scope, SECTIONS.iter().filter_map(|(_, build)| build(report, &scope)).collect());
            // On a page it is the first of the large figures.
            let fill = short::fill(report, scope.lang).filter(|_| form != Form::Html);
            document.headline.facts.extend(fill.map(Prose::from));
            document
        }
        (Extent::Chosen(parts), _) => {
            let scope = Scope { apart: true, ..scope };
            let (mut sections, mut lacking) = (Vec::new(), Vec::new());
            for (_, (id, build)) in SECTIONS.iter().enumerate().filter(|(at, _)| parts.has(*at)) {
                match build(report, &scope) {
                    Some(section) => sections.push(section),
                    None => lacking.push(*id),
                }
            }
            sections.extend(absent(&lacking, scope.lang));
            let mut document = of(&scope, sections);
            // The answers sum up what was not asked for.
            document.headline.answers = document.headline.answers.filter(|_| document.sections.is_empty());
            document
        }
    }
}
