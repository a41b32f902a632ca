//! Refuses stored reports of a snapshot that is there already, as far as reports tell.

use std::collections::BTreeMap;

use super::{ONE_NAME, are_servers, given_twice, not_shards, saved_apart};
use crate::error::{Error, Result};
use crate::input::undated;
use crate::report::diff::nights::NIGHT_SECONDS;
use crate::report::{ContainerForm, NamedReport};

/// Returns an error if a stored report is of the same snapshot as another one of `reports`, of the same shard at another date, or of
/// another time.
///
/// `is_stored` tells stored reports from those of files that were read, which have been compared already.
pub fn check_stored(reports: &[NamedReport], is_stored: impl Fn(usize) -> bool) -> Result<()> {
    let (mut snapshots, mut shards) = (BTreeMap::new(), BTreeMap::new());
    for (index, report) in reports.iter().enumerate() {
        let counts = |other: usize| other != index && (is_stored(index) || is_stored(other));
        for file in report.report.source.files.iter().filter(|file| file.keys_read.max(file.keys) > 0) {
            if let Some(identity) = file.identity() {
                let first = *snapshots.entry(identity).or_insert(index);
                if counts(first) {
                    return Err(same_snapshot(&reports[first], report));
                }
            }
            let (name, dates) = undated(&file.name);
            if !dates.is_empty() {
                let (earlier, first) = shards.entry(name).or_insert_with(|| (dates.clone(), index));
                if *earlier != dates && counts(*first) {
                    return Err(not_shards(&reports[*first].name, &report.name, ONE_NAME));
                }
            }
        }
    }
    check_times(reports, is_stored)
}

/// Returns the error for two reports of one snapshot. Parts of it may have keys in common, which no report tells.
fn same_snapshot(one: &NamedReport, other: &NamedReport) -> Error {
    let [selected, other_selected] = [one, other].map(|it| it.report.options.selection.join(" "));
    if selected == other_selected || selected.is_empty() || other_selected.is_empty() {
        return given_twice(&one.name, &other.name);
    }
    let (one, other) = (&one.name, &other.name);
    Error::usage(format!(
        "{one} and {other} are parts of one snapshot, not shards ({selected}; {other_selected}): keys that are in both would count \
         twice"
    ))
    .with_hint("give one report of all these keys, or add --allow-same if no key is in both")
}

/// Returns an error if files with keys were saved far apart in time and may be of one server; one of them is of a stored report.
fn check_times(reports: &[NamedReport], is_stored: impl Fn(usize) -> bool) -> Result<()> {
    let mut times = Vec::new();
    for (index, report) in reports.iter().enumerate() {
        let files = report.report.source.files.iter();
        // Each server rewrites the base of its append-only files when it likes.
        let dumps = files.filter(|file| !matches!(file.container.form, ContainerForm::MultiPartAof));
        let with_keys = dumps.filter(|file| file.keys_read.max(file.keys) > 0);
        times.extend(with_keys.filter_map(|file| Some((file.ctime?, index))));
    }
    let (Some(&(first, one)), Some(&(last, other))) = (times.iter().min(), times.iter().max()) else { return Ok(()) };
    let apart = last.saturating_sub(first);
    let any_is_stored = times.iter().any(|&(_, index)| is_stored(index));
    if apart <= NIGHT_SECONDS || one == other || !any_is_stored || are_servers(reports.iter().map(server)) {
        return Ok(());
    }
    Err(saved_apart(&reports[one].name, &reports[other].name, apart))
}

/// Returns replication id and name of the only file of a report; several files have no id.
fn server(named: &NamedReport) -> (Option<&str>, &str) {
    let report = &named.report;
    let [file] = &report.source.files[..] else { return (None, &named.name) };
    let id = report.server.aux.iter().find(|field| field.name == "repl-id");
    (id.map(|id| id.value.as_str()), &file.name)
}
