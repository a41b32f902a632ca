//! The longest collections.

use super::keys;
use crate::render::document::{Scope, Section};
use crate::report::Report;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let keys = &report.top.by_length;
    let title = scope.lang.of("Longest collections", "元素最多的集合");
    (!keys.is_empty())
        .then(|| Section::new("longest", title).with(keys::table(title, report, keys, scope.few).folded(title)))
}
