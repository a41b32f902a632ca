//! The parts of the page, each from one part of the report. A part without an answer does not appear.

pub mod findings;
pub mod growth;
mod keys;
mod method;
mod patterns;
mod policy;
mod slots;
pub mod times;
mod types;
pub mod what_if;

use std::borrow::Cow;

use super::view::{Block, Caps, Section};
use crate::render::Lang;
use crate::report::Report;

/// What makes one section, or none.
type Maker = fn(&Report, Lang, Caps) -> Option<Section>;

/// The sections from top to bottom.
const MAKERS: [Maker; 19] = [
    patterns::prefixes,
    findings::findings,
    policy::baseline,
    growth::growth,
    policy::owners,
    types::types,
    keys::big,
    keys::heaviest,
    patterns::without_ttl,
    times::expiry,
    patterns::patterns,
    times::access,
    what_if::what_if,
    slots::slots,
    keys::streams,
    types::databases,
    method::instance,
    method::notes,
    method::source,
];

/// All sections that the report has something for.
pub fn all(report: &Report, lang: Lang, caps: Caps) -> Vec<Section> {
    MAKERS.iter().filter_map(|maker| maker(report, lang, caps)).collect()
}

/// A section with a heading and nothing below it yet.
fn section(id: &'static str, title: impl Into<Cow<'static, str>>) -> Section {
    Section { id, title: title.into(), lead: Vec::new(), blocks: Vec::new() }
}

impl Section {
    /// With words below the heading.
    fn lead(mut self, text: impl Into<String>) -> Section {
        self.lead.push(text.into().into());
        self
    }

    /// With one more block.
    fn with(mut self, block: Block) -> Section {
        self.blocks.push(block);
        self
    }
}
