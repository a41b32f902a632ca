//! The longest collections.

use super::keys;
use crate::rdb::kind::Kind;
use crate::render::document::{Scope, Section};
use crate::report::Report;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let keys = &report.top.by_length;
    let title = scope.lang.of("Longest collections", "元素最多的集合类型 key");
    let lead = scope.lang.of(
        "Longest and mean: bytes of an element. An element of a hash is a field and its value.",
        "最长、平均为单个元素的字节数；hash 的元素为字段及其值。",
    );
    let collections = report.types.iter().filter(|row| !matches!(row.kind, Kind::String | Kind::Module));
    let all = collections.fold(0, |sum: u64, row| sum.saturating_add(row.keys));
    let table = || keys::collections(title, report, keys, scope.rows).folded(title).out_of(all);
    (!keys.is_empty()).then(|| Section::new("longest", title).lead(lead).with(table()))
}
