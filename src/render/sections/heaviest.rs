//! The heaviest keys.

use super::keys::{self, LENGTH, big_are_heaviest};
use crate::render::document::{Scope, Section};
use crate::report::Report;

/// Builds the section; none if they are the big keys just shown.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let keys = &report.top.by_memory;
    if keys.is_empty() || big_are_heaviest(report, scope) {
        return None;
    }
    let title = scope.lang.of("Heaviest keys", "最大的 key");
    Some(
        Section::new("heaviest", title)
            .lead(scope.lang.pick(LENGTH))
            .with(keys::table(title, report, keys, scope.rows).out_of(report.totals.keys)),
    )
}
