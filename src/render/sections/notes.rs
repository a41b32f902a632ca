//! Notes on the figures.

use crate::render::document::{Block, Prose, Scope, Section};
use crate::report::Report;

/// Builds the section: the warnings of the report.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let warnings = &report.warnings;
    if warnings.is_empty() {
        return None;
    }
    let shown: Vec<Prose> = scope.first(warnings).iter().map(|it| Prose::wording(&it.wording, scope.lang)).collect();
    let hidden = (warnings.len() - shown.len()) as u64;
    Some(Section::new("notes", scope.lang.of("Notes", "说明")).with(Block::Notes(shown, hidden)))
}
