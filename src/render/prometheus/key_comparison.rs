//! Metrics of a comparison key by key: how many keys differ, and how.
//!
//! Their names are their own, so that they may stand in one directory with those of reports and of comparisons.

use std::io::{self, Write};

use super::exposition::{Exposition, SampleValue};
use crate::report::key_comparison::{KeyComparison, KeyDifference, KeySide};
use crate::report::known_memory;

/// Writes a comparison key by key, with series for at most `top` patterns.
pub fn write_key_comparison(
    comparison: &KeyComparison,
    top: usize,
    labels: Vec<(String, String)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut metrics = Exposition::new(labels);
    let to = &mut metrics;
    to.family("rdblens_key_diff_info", "Build that made the comparison; always 1.")
        .sample(&[("version", comparison.rdblens)], true);
    sides(comparison, to);
    let sums = &comparison.sums;
    to.one("rdblens_key_diff_equal_keys", "Keys that are equal on both sides.", Some(sums.equal));
    to.one("rdblens_key_diff_differing_keys", "Keys that differ in any way.", Some(sums.differing));
    let each = KeyDifference::ALL.map(|difference| (difference.name(), sums.of(difference)));
    let keys = each.map(|(name, (keys, _))| (name, keys.into()));
    to.each("rdblens_key_diff_keys", "Keys by kind of difference; a key may have several.", "change", keys);
    let bytes = each.into_iter().filter_map(|(name, (_, memory))| Some((name, memory?.into())));
    to.each("rdblens_key_diff_memory_bytes", "Memory of keys that exist on one side only.", "change", bytes);
    let growth = "Growth of the memory of keys that exist on both sides.";
    let is_known = |side: &KeySide| known_memory(side.keys, side.memory).is_some();
    let known = (is_known(&comparison.before) && is_known(&comparison.after)).then_some(sums.growth);
    to.one("rdblens_key_diff_growth_bytes", growth, known);
    let types = comparison.types.iter().map(|it| (it.kind.name(), it.counts.differing.into()));
    to.each("rdblens_key_diff_type_keys", "Differing keys by type.", "type", types);
    let patterns = comparison.patterns.iter().take(top).map(|it| (&it.pattern, it.counts.differing.into()));
    to.each("rdblens_key_diff_pattern_keys", "Differing keys of the patterns with the most.", "pattern", patterns);
    metrics.write(out)
}

fn sides(comparison: &KeyComparison, to: &mut Exposition) {
    let sides = [("before", &comparison.before), ("after", &comparison.after)];
    let mut each = |name, help, value: &dyn Fn(&KeySide) -> Option<SampleValue>| {
        let rows = sides.iter().filter_map(|(side, it)| Some((side, value(it)?)));
        to.each(name, help, "side", rows);
    };
    let taken = "When the snapshot of the side was taken.";
    each("rdblens_key_diff_side_timestamp_seconds", taken, &|it| it.taken.map(SampleValue::from));
    each("rdblens_key_diff_side_keys", "Distinct keys of the side.", &|it| Some(it.keys.into()));
    each("rdblens_key_diff_side_memory_bytes", "Memory of the keys of the side.", &|it| {
        known_memory(it.keys, it.memory).map(SampleValue::from)
    });
    let expired = "Keys of the side that had expired, which are not compared.";
    each("rdblens_key_diff_side_expired_keys", expired, &|it| Some(it.expired.into()));
    let unreadable = "Keys of the side whose value could not be read.";
    each("rdblens_key_diff_side_unreadable_keys", unreadable, &|it| Some(it.unreadable.into()));
    each("rdblens_key_diff_side_complete", "Whether the side was read completely.", &|it| Some(it.complete.into()));
}
