//! The heaviest keys of each type.

use super::keys;
use crate::render::document::{Scope, Section};
use crate::report::{KeyRow, Report, TopOfType};

/// Rows of each type.
const ROWS_OF_A_TYPE: usize = 3;

/// Builds the section; with a single type they are the heaviest of all.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let types = &report.top.by_type;
    if types.len() < if scope.apart { 1 } else { 2 } {
        return None;
    }
    let title = scope.lang.of("Heaviest keys of each type", "各类型中最大的 key");
    let shown: Vec<&KeyRow> =
        types.iter().flat_map(|of_type| of_type.list.iter().take(ROWS_OF_A_TYPE.min(scope.rows))).collect();
    let mut table = keys::table(title, report, &shown, usize::MAX).folded(title);
    // More than these are only in JSON.
    // A report with fewer rows than these says by its counts how many there are.
    let is_cut = report.options.top < ROWS_OF_A_TYPE;
    let keys_of = |kind| report.types.iter().find(|row| row.kind == kind).map_or(0, |row| row.keys);
    let most = |of_type: &TopOfType| {
        let listed = of_type.list.len() as u64;
        let all = if is_cut { keys_of(of_type.kind).max(listed) } else { listed };
        all.min(ROWS_OF_A_TYPE as u64)
    };
    table.hidden = types.iter().map(most).sum::<u64>().saturating_sub(shown.len() as u64);
    Some(Section::new("by-type", title).with(table))
}
