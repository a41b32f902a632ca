//! Shards that a night lacks: a backup that failed must not look like a shrink.

use std::collections::BTreeSet;

use super::Night;
use super::group::{base_name, without_date};
use crate::report::{Warning, WarningKind};

/// Marks nights that lack a shard of an earlier night, and notes those that have one that no earlier night has.
pub(super) fn compare(nights: &mut [Night]) {
    let several = |night: &Night| night.files.len() > 1;
    if nights.iter().filter(|night| several(night)).count() == 0 || nights.len() < 2 {
        return;
    }
    // The shortest names that tell the shards of each night apart, since folders may have moved.
    let short = |night: &Night| night.files.iter().map(|file| base_name(file)).collect::<BTreeSet<_>>();
    let is_short = nights.iter().all(|night| short(night).len() == night.files.len());
    let names = |night: &Night| -> BTreeSet<String> {
        if is_short { short(night) } else { night.files.iter().map(|file| without_date(file)).collect() }
    };
    let mut known: BTreeSet<String> = BTreeSet::new();
    for night in nights.iter_mut().filter(|night| night.left_out.is_none()) {
        let own = names(night);
        // Names that have nothing in common are of different deployments, such as before and after a migration.
        let is_related = known.is_empty() || own.iter().any(|name| known.contains(name));
        if !is_related || (known.is_empty() && !several(night)) {
            continue;
        }
        let shards: Vec<String> = known.difference(&own).cloned().collect();
        if shards.is_empty() {
            let added: Vec<String> = own.difference(&known).cloned().collect();
            if !known.is_empty() && !added.is_empty() {
                night.note = Some(Warning::about(&night.name, WarningKind::ShardsAdded { shards: added }));
            }
            known.extend(own);
        } else {
            let of = known.len() as u64;
            night.left_out = Some(Warning::new(WarningKind::ShardsMissing { shards, of }));
        }
    }
}
