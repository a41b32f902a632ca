//! Shards that a night lacks: a backup that failed must not look like a shrink.

use std::collections::BTreeSet;

use super::Night;
use super::group::{base_name, without_date};
use crate::analyze::one_snapshot::MOST_APART;
use crate::error::{Error, ErrorKind, Result};
use crate::report::{NamedReport, Warning, WarningKind};
use crate::sorting::CompactSort;
use crate::wording::{Wording, wording};

/// Removes reports of nights that lack a shard from `earlier`, and says of which. Fails if the servers of today lack one.
///
/// Reports belong to one night if their snapshots were made within an hour; those without a time are kept.
pub fn keep_whole(servers: &[NamedReport], earlier: &mut Vec<NamedReport>) -> Result<Vec<Warning>> {
    let mut dated: Vec<(i64, usize)> = Vec::new();
    dated.extend((0..).zip(&*earlier).filter_map(|(at, named)| Some((named.report.taken()?.0 / 1000, at))));
    dated.compact_sort_by_key(|it| *it);
    let mut members: Vec<(i64, Vec<usize>)> = Vec::new();
    for (time, at) in dated {
        match members.last_mut().filter(|(begun, _)| time.saturating_sub(*begun) <= MOST_APART) {
            Some((_, night)) => night.push(at),
            None => members.push((time, vec![at])),
        }
    }
    let of_night = |(_, at): &(i64, Vec<usize>)| of_reports(at.iter().filter_map(|at| earlier.get(*at)));
    let mut nights: Vec<Night> = members.iter().map(of_night).collect();
    nights.push(of_reports(servers));
    compare(&mut nights);
    let today = nights.pop();
    if let Some(WarningKind::ShardsMissing { .. }) =
        today.as_ref().and_then(|night| Some(&night.left_out.as_ref()?.kind))
    {
        let Wording { en, zh } = today.and_then(|night| night.left_out).map(|it| it.wording).unwrap_or_default();
        return Err(Error::new(ErrorKind::Unreadable(Wording {
            en: format!("the input is incomplete: it {en}, which earlier nights have"),
            zh: format!("输入不完整：与此前的时间点相比，{zh}"),
        }))
        .with_remedy(wording!(
            "give a snapshot of each shard, or --allow-missing if the shards were removed on purpose",
            "请提供每个分片的快照；若分片是有意移除的，请加 --allow-missing"
        )));
    }
    let mut warnings: Vec<Warning> = today.into_iter().filter_map(|night| night.note).collect();
    let mut gone = BTreeSet::new();
    for (night, (_, members)) in nights.into_iter().zip(members) {
        if let Some(WarningKind::ShardsMissing { shards, of }) = night.left_out.map(|reason| reason.kind) {
            warnings.push(Warning::about(&night.name, WarningKind::NightNotWhole { shards, of }));
            gone.extend(members);
        }
    }
    let mut at = 0..;
    earlier.retain(|_| at.next().is_none_or(|at| !gone.contains(&at)));
    Ok(warnings)
}

/// Returns the night of these reports: enough of it to compare its shards.
fn of_reports<'r>(reports: impl IntoIterator<Item = &'r NamedReport>) -> Night {
    let (mut names, mut files) = (Vec::new(), Vec::new());
    for NamedReport { name, report } in reports {
        names.push(name.as_str());
        files.extend(report.source.files.iter().map(|file| file.name.clone()));
    }
    Night {
        name: names.join(", "),
        taken: None,
        inputs: Vec::new(),
        files,
        grouped: true,
        stored: false,
        left_out: None,
        note: None,
    }
}

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
