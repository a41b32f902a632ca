//! First screen of the page: below the figures, the gravest findings and the map, as a review reads them.

use super::findings::FindingView;
use super::treemap::Treemap;
use super::view::{BlockView, OPEN, SectionView, rest};
use crate::render::Lang;

/// Parts of sections that the head of the page shows.
#[derive(Debug)]
pub struct FirstScreen<'p> {
    /// The gravest findings; empty if the page has no section of findings.
    pub findings: &'p [FindingView],
    /// Words that lead to the other findings.
    pub rest: Option<String>,
    /// The map of prefixes.
    pub map: Option<&'p Treemap>,
}

impl<'p> FirstScreen<'p> {
    /// Returns the first screen of a page with these sections.
    pub fn of(sections: &'p [SectionView], lang: Lang) -> FirstScreen<'p> {
        let blocks = || sections.iter().flat_map(|section| &section.blocks);
        let findings = blocks().find_map(|block| match block {
            BlockView::Findings(findings) => Some(findings.list.as_slice()),
            _ => None,
        });
        let all = findings.unwrap_or_default();
        FirstScreen {
            findings: all.get(..OPEN).unwrap_or(all),
            rest: rest(all.len(), OPEN, lang),
            map: blocks().find_map(|block| match block {
                BlockView::Treemap(map) => Some(map),
                _ => None,
            }),
        }
    }
}
