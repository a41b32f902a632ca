//! Nights: the snapshots of all shards of a deployment that were saved at one time, found by what their reports tell.
//!
//! Snapshots are of one night if they are of different servers and were saved within an hour, or within half a day in one folder of
//! a night or with the same date in their names. A later snapshot of a server always begins another night.

use std::collections::{BTreeMap, BTreeSet};

use super::{NamedReport, Report};
use crate::input::undated;
use crate::sorting::CompactSort;
use crate::units::Millis;

/// Most seconds between snapshots of one night.
pub(crate) const NIGHT_SECONDS: i64 = 3600;

/// Most seconds between those that are in one folder or have one date.
pub(crate) const LONG_NIGHT_SECONDS: i64 = 12 * NIGHT_SECONDS;

/// [`NIGHT_SECONDS`] in milliseconds.
const NIGHT: u64 = NIGHT_SECONDS.unsigned_abs() * 1000;

/// [`LONG_NIGHT_SECONDS`] in milliseconds.
const LONG_NIGHT: u64 = LONG_NIGHT_SECONDS.unsigned_abs() * 1000;

/// Endings of dumps, which may differ from night to night.
const ENDINGS: [&str; 6] = [".gz", ".zst", ".lz4", ".rdb", ".aof", ".manifest"];

/// Returns the path without dates and endings: the name of a shard.
pub(crate) fn without_date(path: &str) -> String {
    let mut name = path;
    while let Some(short) = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)) {
        name = short;
    }
    undated(name).0
}

/// Returns the name of the file in a path, without dates and endings.
pub(crate) fn base_name(path: &str) -> String {
    without_date(path.rsplit(['/', '\\']).next().unwrap_or(path))
}

/// Facts that tell which night a snapshot, or a report of several, is of.
#[derive(Debug, Clone, Default)]
pub(crate) struct NightPart {
    /// Time of the latest of its files.
    pub taken: Millis,
    /// Replication id of its server, if it is one server that says so.
    id: Option<String>,
    /// Names of its shards.
    shards: BTreeSet<String>,
    /// Date in its names.
    date: Option<String>,
    /// Folder of its files.
    folder: Option<String>,
}

impl NightPart {
    /// Returns what a report tells; `None` without a time.
    pub fn of(named: &NamedReport) -> Option<NightPart> {
        let NamedReport { name, report } = named;
        let taken = report.taken()?;
        let files = &report.source.files;
        let shards = files.iter().map(|file| without_date(&file.name)).collect();
        let id = match files.as_slice() {
            [_] => report.server.aux.iter().find(|field| field.name == "repl-id").map(|field| field.value.clone()),
            _ => None,
        };
        let dates = files.iter().map(|file| file.name.as_str()).chain([name.as_str()]);
        let date = dates.filter_map(|name| undated(name).1.pop()).next();
        let mut folders = files.iter().map(|file| file.name.rsplit_once(['/', '\\']).map(|(folder, _)| folder));
        let folder = folders.next().flatten().filter(|folder| folders.all(|other| other == Some(*folder)));
        Some(NightPart { taken, id, shards, date, folder: folder.map(str::to_owned) })
    }

    /// Returns a snapshot of which only the time and its server, by any name, are known.
    pub fn at(taken: Millis, server: String) -> NightPart {
        NightPart { taken, shards: BTreeSet::from([server]), ..NightPart::default() }
    }

    /// Returns whether they may be of one server.
    fn shares_server(&self, other: &NightPart) -> bool {
        match (&self.id, &other.id) {
            (Some(one), Some(other)) => one == other,
            _ => !self.shards.is_disjoint(&other.shards),
        }
    }

    /// Returns whether they are known to be of different servers.
    fn is_of_another_server(&self, other: &NightPart) -> bool {
        self.id.is_some() && other.id.is_some() && self.id != other.id
    }
}

/// Parts that are put together by time.
pub(crate) struct NightParts {
    parts: Vec<NightPart>,
    /// Folders that several snapshots of one server are in, which are not of one night.
    of_several: BTreeSet<String>,
}

impl NightParts {
    /// Takes the parts, in any order.
    pub fn new(parts: Vec<NightPart>) -> NightParts {
        let mut folders: BTreeMap<&str, Vec<&NightPart>> = BTreeMap::new();
        for part in &parts {
            folders.entry(part.folder.as_deref().unwrap_or_default()).or_default().push(part);
        }
        let repeats = |parts: &Vec<&NightPart>| {
            let (mut ids, mut shards) = (BTreeSet::new(), BTreeSet::new());
            !parts.iter().all(|part| {
                let is_new = part.id.as_ref().is_none_or(|id| ids.insert(id));
                part.shards.iter().all(|shard| shards.insert(shard)) && is_new
            })
        };
        let of_several = folders.iter().filter(|(_, parts)| repeats(parts)).map(|(folder, _)| (*folder).to_owned());
        let of_several = of_several.collect();
        NightParts { parts, of_several }
    }

    /// Returns the positions of the parts of each night, in the order of time.
    pub fn nights(&self) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.compact_sort_by_key(|at| (self.parts.get(*at).map(|part| part.taken), *at));
        let mut nights: Vec<Vec<usize>> = Vec::new();
        for at in order {
            let recent = |night: &&mut Vec<usize>| {
                night.first().is_some_and(|first| self.apart(*first, at).is_some_and(|apart| apart <= LONG_NIGHT))
            };
            let mut recent = nights.iter_mut().rev().take_while(recent);
            match recent.find(|night| self.is_of_night(at, night)) {
                Some(night) => night.push(at),
                None => nights.push(vec![at]),
            }
        }
        nights
    }

    /// Returns whether a part is of the night of others, the first of which begins it.
    pub fn is_of_night(&self, at: usize, night: &[usize]) -> bool {
        let (Some(part), Some(first)) = (self.parts.get(at), night.first()) else { return false };
        let others = || night.iter().filter_map(|at| self.parts.get(*at));
        let is_near = self.apart(*first, at).is_some_and(|apart| {
            apart <= NIGHT || apart <= LONG_NIGHT && others().any(|other| self.share_a_night(part, other))
        });
        is_near && !others().any(|other| part.shares_server(other))
    }

    /// Returns whether a part is of a night, and known to be of another server than the others.
    #[cfg(feature = "cli")]
    pub fn is_beside(&self, at: usize, night: &[usize]) -> bool {
        let others = || night.iter().filter_map(|at| self.parts.get(*at));
        let is_another = |part: &NightPart, other: &NightPart| {
            part.is_of_another_server(other)
                || part.date.is_some() && part.folder.is_some() && part.folder == other.folder
        };
        self.is_of_night(at, night) && self.parts.get(at).is_some_and(|part| others().all(|it| is_another(part, it)))
    }

    /// Returns whether their names say that they are of one night.
    fn share_a_night(&self, one: &NightPart, other: &NightPart) -> bool {
        let is_one_date = one.date.is_some() && one.date == other.date;
        let is_one_folder = one.folder.is_some()
            && one.folder == other.folder
            && one.folder.as_ref().is_some_and(|folder| !self.of_several.contains(folder))
            && one.is_of_another_server(other);
        is_one_date || is_one_folder
    }

    fn apart(&self, one: usize, other: usize) -> Option<u64> {
        Some(self.parts.get(one)?.taken.0.abs_diff(self.parts.get(other)?.taken.0))
    }
}

/// Part of the shards of earlier nights that a night has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShardsOfNight {
    /// All of them.
    Whole,
    /// All of them and these, which no earlier night has.
    Added(Vec<String>),
    /// Not these.
    Lacks(Vec<String>, u64),
    /// None of those of the night before, but these.
    Others(Vec<String>),
}

/// Compares nights, in the order of time and given by the names of their files, with those before them. Those that lack a shard do not
/// count for later ones.
pub(crate) fn compare_shards(nights: &[Option<&[String]>]) -> Vec<ShardsOfNight> {
    let mut found = vec![ShardsOfNight::Whole; nights.len()];
    let all = || nights.iter().filter_map(|files| *files);
    if all().all(|files| files.len() < 2) || nights.len() < 2 {
        return found;
    }
    // The shortest names that tell the shards of each night apart, since folders may have moved.
    let short = |files: &[String]| files.iter().map(|file| base_name(file)).collect::<BTreeSet<_>>();
    let is_short = all().all(|files| short(files).len() == files.len());
    let names = |files: &[String]| -> BTreeSet<String> {
        if is_short { short(files) } else { files.iter().map(|file| without_date(file)).collect() }
    };
    // The name of a file that is alone may say nothing of its shard.
    let (mut known, mut alone): (BTreeSet<String>, BTreeSet<String>) = Default::default();
    for (night, files) in found.iter_mut().zip(nights) {
        let Some(files) = files else { continue };
        let own = names(files);
        // Names that have nothing in common are of different deployments, such as before and after a migration.
        let is_related = known.is_empty() || own.iter().any(|name| known.contains(name));
        if !is_related {
            *night = ShardsOfNight::Others(own.iter().cloned().collect());
            known = own;
            continue;
        }
        if known.is_empty() && files.len() < 2 {
            alone.extend(own);
            continue;
        }
        if known.is_empty() && !alone.is_disjoint(&own) {
            known.extend(own.intersection(&alone).cloned());
        }
        let lacks: Vec<String> = known.difference(&own).cloned().collect();
        if lacks.is_empty() {
            let added: Vec<String> = own.difference(&known).cloned().collect();
            if !known.is_empty() && !added.is_empty() {
                *night = ShardsOfNight::Added(added);
            }
            known.extend(own);
        } else {
            *night = ShardsOfNight::Lacks(lacks, known.len() as u64);
        }
    }
    found
}

/// Returns the shards that only one of two nights has, given the names of their files; none if they have nothing in common.
pub(crate) fn other_shards(before: &[String], now: &[String]) -> Vec<String> {
    match compare_shards(&[Some(before), Some(now)]).pop() {
        Some(ShardsOfNight::Added(shards) | ShardsOfNight::Lacks(shards, _)) => shards,
        Some(ShardsOfNight::Whole | ShardsOfNight::Others(_)) | None => Vec::new(),
    }
}

/// Returns the names of the files of several reports.
pub(crate) fn files_of<'r>(reports: impl IntoIterator<Item = &'r Report>) -> Vec<String> {
    reports.into_iter().flat_map(|report| &report.source.files).map(|file| file.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot at this minute, with its file and, if it is not empty, its replication id.
    fn part(&(minute, file, id): &(i64, &str, &str)) -> NightPart {
        let (folder, _) = file.rsplit_once('/').unwrap_or_default();
        NightPart {
            taken: Millis(minute * 60_000),
            id: (!id.is_empty()).then(|| id.to_owned()),
            shards: BTreeSet::from([without_date(file)]),
            date: undated(file).1.pop(),
            folder: (!folder.is_empty()).then(|| folder.to_owned()),
        }
    }

    fn nights(parts: &[(i64, &str, &str)]) -> Vec<Vec<usize>> {
        NightParts::new(parts.iter().map(part).collect()).nights()
    }

    #[test]
    fn shards_within_an_hour_are_one_night_and_two_snapshots_of_a_server_never_are() {
        assert_eq!(nights(&[(70, "b.rdb", ""), (0, "a.rdb", ""), (60, "c.rdb", "")]), [vec![1, 2], vec![0]]);
        assert_eq!(nights(&[(0, "a-0.rdb", "x"), (30, "a-1.rdb", "x"), (40, "b.rdb", "y")]), [vec![0], vec![1, 2]]);
        assert_eq!(nights(&[(0, "n/2026-11-01/a.rdb", ""), (30, "n/2026-11-02/a.rdb", "")]), [vec![0], vec![1]]);
        // Replication ids tell more than names, which may be alike on all servers.
        assert_eq!(nights(&[(0, "dump.rdb", "x"), (30, "dump.rdb", "y")]), [vec![0, 1]]);
    }

    #[test]
    fn shards_that_no_night_had_before_are_told_whole_or_in_part() {
        let nights = |nights: &[&[&str]]| {
            let files: Vec<Vec<String>> =
                nights.iter().map(|files| files.iter().map(|file| (*file).into()).collect()).collect();
            compare_shards(&files.iter().map(|files| Some(files.as_slice())).collect::<Vec<_>>())
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let both = ["a.rdb", "b.rdb"];
        let found = nights(&[&both, &both[..1], &["c.rdb"], &["c.rdb", "d.rdb"]]);
        let (lacks, others) = (ShardsOfNight::Lacks(names(&["b"]), 2), ShardsOfNight::Others(names(&["c"])));
        assert_eq!(found, [ShardsOfNight::Whole, lacks, others, ShardsOfNight::Added(names(&["d"]))]);
        assert_eq!(other_shards(&names(&both), &names(&["c.rdb"])), names(&[]), "of another deployment");
    }

    #[test]
    fn a_night_of_one_date_or_folder_may_take_longer() {
        let dated = [(0, "2026-11-01/a.rdb", ""), (50, "2026-11-01/b.rdb", ""), (100, "2026-11-01/c.rdb", "")];
        assert_eq!(nights(&dated), [vec![0, 1, 2]]);
        let folder = [(0, "mon/a.rdb", "x"), (50, "mon/b.rdb", "y"), (100, "mon/c.rdb", "z"), (1500, "tue/a.rdb", "x")];
        assert_eq!(nights(&folder), [vec![0, 1, 2], vec![3]]);
        // Nothing tells that they are of different servers.
        assert_eq!(nights(&[(0, "mon/a.rdb", ""), (100, "mon/b.rdb", "")]), [vec![0], vec![1]]);
        // A folder of several nights.
        let several = [(0, "all/a-1.rdb", "x"), (100, "all/b-2.rdb", "y"), (101, "all/a-2.rdb", "x")];
        assert_eq!(nights(&several), [vec![0], vec![1, 2]]);
        assert_eq!(nights(&[(0, "2026-11-01/a.rdb", ""), (721, "2026-11-01/b.rdb", "")]), [vec![0], vec![1]]);
    }
}
