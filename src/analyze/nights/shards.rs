//! Shards that a night lacks: a backup that failed must not look like a shrink.

use std::collections::BTreeSet;

use super::Night;
use crate::error::{Error, ErrorKind, Result};
use crate::report::diff::nights::{NightPart, NightParts, ShardsOfNight, base_name, compare_shards, files_of};
use crate::report::{NamedReport, Warning, WarningKind};
use crate::wording::{Wording, wording};

/// Removes reports from `earlier` that are of shards of the present night, which `servers` lack, and says which these are.
pub fn leave_out_present(servers: &[NamedReport], earlier: &mut Vec<NamedReport>) -> Vec<Warning> {
    let mut parts: Vec<NightPart> = servers.iter().filter_map(NightPart::of).collect();
    let present: Vec<usize> = (0..parts.len()).collect();
    let places: Vec<Option<usize>> = earlier
        .iter()
        .map(|named| {
            let place = parts.len();
            NightPart::of(named).map(|part| parts.push(part)).map(|()| place)
        })
        .collect();
    let parts = NightParts::new(parts);
    let shards: BTreeSet<String> =
        files_of(servers.iter().map(|named| &named.report)).iter().map(|file| base_name(file)).collect();
    let mut left_out = Vec::new();
    let mut places = places.into_iter();
    earlier.retain(|named| {
        let is_present = places.next().flatten().is_some_and(|at| parts.is_beside(at, &present));
        if is_present {
            let of = (shards.len() + named.report.source.files.len()) as u64;
            let kind = WarningKind::NightNotWhole { shards: shards.iter().cloned().collect(), of };
            left_out.push(Warning::about(&named.name, kind));
        }
        !is_present
    });
    left_out
}

/// Removes reports of nights that lack a shard from `earlier`, and says of which. Fails if the servers of today lack one. Reports
/// without a time are kept.
pub fn keep_whole(servers: &[NamedReport], earlier: &mut Vec<NamedReport>) -> Result<Vec<Warning>> {
    let timed: Vec<(usize, NightPart)> =
        (0..).zip(&*earlier).filter_map(|(at, named)| Some((at, NightPart::of(named)?))).collect();
    let (places, parts): (Vec<usize>, Vec<NightPart>) = timed.into_iter().unzip();
    let place = |night: Vec<usize>| night.into_iter().filter_map(|at| places.get(at).copied()).collect::<Vec<usize>>();
    let members: Vec<Vec<usize>> = NightParts::new(parts).nights().into_iter().map(place).collect();
    let of_night = |night: &Vec<usize>| of_reports(night.iter().filter_map(|at| earlier.get(*at)));
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
    for (night, members) in nights.into_iter().zip(members) {
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

/// Marks nights that lack a shard of an earlier night, and notes those that have one that no earlier night has, or only such.
pub(super) fn compare(nights: &mut [Night]) {
    let files = |night: &Night| night.left_out.is_none().then(|| night.files.clone());
    let files: Vec<Option<Vec<String>>> = nights.iter().map(files).collect();
    let shards = compare_shards(&files.iter().map(Option::as_deref).collect::<Vec<_>>());
    for (night, shards) in nights.iter_mut().zip(shards) {
        match shards {
            ShardsOfNight::Whole => {}
            ShardsOfNight::Added(shards) => {
                night.note = Some(Warning::about(&night.name, WarningKind::ShardsAdded { shards }));
            }
            ShardsOfNight::Others(shards) => {
                night.note = Some(Warning::about(&night.name, WarningKind::OtherShards { shards }));
            }
            ShardsOfNight::Lacks(shards, of) => {
                night.left_out = Some(Warning::new(WarningKind::ShardsMissing { shards, of }));
            }
        }
    }
}
