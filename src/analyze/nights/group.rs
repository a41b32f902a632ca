//! Files by shard and time.

use std::collections::{BTreeMap, BTreeSet};

use super::{Candidate, Night, Nights, midnight, night};
use crate::input::{shown_path, undated};
use crate::report::diff::nights::{LONG_NIGHT_SECONDS, NIGHT_SECONDS, base_name, without_date};
use crate::report::{Warning, WarningKind};
use crate::sorting::CompactSort;

/// Part of a path that names the shard.
#[derive(Debug, Clone, Copy)]
enum ShardName {
    Path,
    BelowArgument,
    File,
}

impl ShardName {
    fn of(self, candidate: &Candidate) -> String {
        match self {
            ShardName::Path => without_date(&candidate.name),
            ShardName::BelowArgument => without_date(&shown_path(&candidate.file.inside)),
            ShardName::File => base_name(&candidate.name),
        }
    }

    /// Returns the shortest part that tells which files are of one shard at different times, if any does.
    fn that_tells(candidates: &[Candidate]) -> Option<ShardName> {
        [ShardName::Path, ShardName::BelowArgument, ShardName::File].into_iter().find(|part| {
            let mut times: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            for candidate in candidates.iter().filter(|candidate| candidate.is_dump()) {
                times.entry(part.of(candidate)).or_default().extend(candidate.time());
            }
            times.values_mut().for_each(|times| times.sort_unstable());
            let repeats = times.values().any(|times| times.first() != times.last());
            // A short name may be that of several shards.
            let several = times.len() > 1 || candidates.iter().any(|candidate| candidate.file.in_folder);
            let is_sure = matches!(part, ShardName::Path)
                || several
                    && times
                        .values()
                        .all(|times| times.windows(2).all(|two| two[1].saturating_sub(two[0]) > NIGHT_SECONDS));
            repeats && is_sure
        })
    }
}

/// Groups the files.
pub(super) fn group(candidates: Vec<Candidate>) -> Nights {
    let dumps = candidates.iter().filter(|candidate| candidate.is_dump()).count();
    let in_folders = candidates.iter().any(|candidate| candidate.file.in_folder);
    let mut list = match ShardName::that_tells(&candidates) {
        Some(part) => by_shard(candidates, part),
        None if is_series_of_one(&candidates) => each_alone(candidates),
        None => by_argument(candidates),
    };
    let grouped = list.iter().any(|night| night.grouped) || (in_folders && dumps < list.len());
    if grouped {
        order(&mut list);
    }
    drop_repeated(&mut list);
    Nights { list, grouped }
}

/// Returns whether one argument names files that are all too far apart in time to be shards, or all of one server.
fn is_series_of_one(candidates: &[Candidate]) -> bool {
    let dumps = || candidates.iter().filter(|candidate| candidate.is_dump());
    let arguments: BTreeSet<usize> = dumps().map(|candidate| candidate.file.argument).collect();
    let times: Option<BTreeSet<i64>> = dumps().map(|candidate| candidate.created).collect();
    let apart = |times: BTreeSet<i64>| {
        let times: Vec<i64> = times.into_iter().collect();
        times.windows(2).all(|two| two[1].saturating_sub(two[0]) > NIGHT_SECONDS)
    };
    let ids: Option<BTreeSet<&[u8]>> = dumps().map(|candidate| candidate.id.as_deref()).collect();
    let is_one_server = ids.is_some_and(|ids| ids.len() == 1);
    arguments.len() == 1
        && dumps().count() > 1
        && times.is_some_and(|times| times.len() == dumps().count() && (is_one_server || apart(times)))
}

fn each_alone(candidates: Vec<Candidate>) -> Vec<Night> {
    let alone = |candidate: Candidate| night(candidate.name_of_night(), vec![candidate], true);
    candidates.into_iter().map(alone).collect()
}

/// Makes one snapshot of the dumps of each argument, and one of each report.
fn by_argument(candidates: Vec<Candidate>) -> Vec<Night> {
    let mut list: Vec<(Option<usize>, Vec<Candidate>)> = Vec::new();
    for candidate in candidates {
        let argument = (candidate.is_dump() && candidate.file.in_folder).then_some(candidate.file.argument);
        match list.last_mut().filter(|(last, _)| argument.is_some() && *last == argument) {
            Some((_, files)) => files.push(candidate),
            None => list.push((argument, vec![candidate])),
        }
    }
    list.into_iter().map(|(_, files)| night(name_of(&files), files, false)).collect()
}

/// Folder of one night.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum NightFolder {
    /// An argument, by its position.
    Argument(usize),
    /// A folder below it.
    Below(String),
}

impl NightFolder {
    /// Returns the folders that a file is in, the widest first.
    fn choices(candidate: &Candidate) -> Vec<NightFolder> {
        let file = &candidate.file;
        let folders = [NightFolder::Argument(file.argument), NightFolder::Below(candidate.folder.clone())];
        if file.in_folder { folders.into() } else { Vec::new() }
    }

    /// Returns the folders of one night: those in which no shard and no server occurs twice. Of several arguments each says so itself;
    /// the files of a folder below must be known to be of different servers.
    fn all_of(dumps: &[Candidate], part: ShardName) -> BTreeSet<NightFolder> {
        let arguments: BTreeSet<usize> = dumps.iter().map(|dump| dump.file.argument).collect();
        let mut folders: BTreeMap<NightFolder, Vec<&Candidate>> = BTreeMap::new();
        for dump in dumps {
            for folder in NightFolder::choices(dump) {
                folders.entry(folder).or_default().push(dump);
            }
        }
        let is_night = |folder: &NightFolder, files: &[&Candidate]| {
            let (mut shards, mut ids) = (BTreeSet::new(), BTreeSet::new());
            let are_known = match folder {
                NightFolder::Argument(_) => arguments.len() > 1,
                NightFolder::Below(_) => files.iter().all(|file| file.id.is_some()),
            };
            let mut files_once = files
                .iter()
                .map(|file| shards.insert(part.of(file)) && file.id.as_deref().is_none_or(|id| ids.insert(id)));
            are_known && files.len() > 1 && files_once.all(|is_new| is_new)
        };
        folders.into_iter().filter(|(folder, files)| is_night(folder, files)).map(|(folder, _)| folder).collect()
    }
}

/// A night to which files are added.
#[derive(Debug, Default)]
struct Open {
    start: i64,
    dates: BTreeSet<String>,
    folders: BTreeSet<NightFolder>,
    shards: BTreeMap<String, (Option<i64>, String)>,
    files: Vec<Candidate>,
}

impl Open {
    fn takes(&self, shard: &str, candidate: &Candidate, folder: Option<&NightFolder>) -> bool {
        let has_date = candidate.date.as_ref().is_some_and(|date| self.dates.contains(date));
        let is_in_folder = folder.is_some_and(|folder| self.folders.contains(folder));
        let apart = candidate.created.map(|created| created.saturating_sub(self.start).abs());
        let is_near = match apart {
            Some(apart) => apart <= NIGHT_SECONDS || ((has_date || is_in_folder) && apart <= LONG_NIGHT_SECONDS),
            None => has_date || is_in_folder,
        };
        is_near && !self.shards.contains_key(shard)
    }

    fn add(&mut self, shard: String, candidate: Candidate, folder: Option<NightFolder>) {
        if self.files.is_empty() {
            self.start = candidate.time().unwrap_or(i64::MIN);
        }
        self.dates.extend(candidate.date.clone());
        self.folders.extend(folder);
        self.shards.insert(shard, (candidate.created, candidate.name.clone()));
        self.files.push(candidate);
    }

    /// Exchanges the file of a shard for a copy of it that is longer: the other was cut off. Returns the name of the one that stays.
    fn keep_longer(&mut self, shard: &str, copy: &mut Candidate) -> String {
        let Some((_, name)) = self.shards.get_mut(shard) else { return String::new() };
        if let Some(known) = self.files.iter_mut().find(|file| file.name == *name)
            && copy.is_longer_than(known)
        {
            std::mem::swap(known, copy);
            name.clone_from(&known.name);
            // The later date stays without a snapshot of its own.
            copy.date = copy.date.take().max(known.date.clone());
        }
        name.clone()
    }
}

fn by_shard(candidates: Vec<Candidate>, part: ShardName) -> Vec<Night> {
    let (reports, dumps): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| !candidate.is_dump());
    let folders = NightFolder::all_of(&dumps, part);
    // Files without a time come last: the nights that they may belong to are known by then.
    let (mut timed, untimed): (Vec<_>, Vec<_>) = dumps.into_iter().partition(|candidate| candidate.created.is_some());
    timed.compact_sort_by_key(|candidate| candidate.created);
    let (mut nights, mut repeated): (Vec<Open>, Vec<Night>) = (Vec::new(), Vec::new());
    for mut candidate in timed.into_iter().chain(untimed) {
        let shard = part.of(&candidate);
        let folder = NightFolder::choices(&candidate).into_iter().find(|folder| folders.contains(folder));
        let is_same = |open: &&mut Open| {
            open.shards.get(&shard).is_some_and(|(created, _)| created.is_some() && *created == candidate.created)
        };
        if let Some(open) = nights.iter_mut().find(is_same) {
            repeated.push(copy_of(open.keep_longer(&shard, &mut candidate), candidate));
        } else if let Some(open) = nights.iter_mut().rev().find(|open| open.takes(&shard, &candidate, folder.as_ref()))
        {
            open.add(shard, candidate, folder);
        } else {
            let mut open = Open::default();
            open.add(shard, candidate, folder);
            nights.push(open);
        }
    }
    let several = nights.iter().any(|open| open.files.len() > 1);
    let named = |open: Open| {
        let name = match open.files.as_slice() {
            [alone] if !several => alone.name.clone(),
            files => name_of(files),
        };
        night(name, open.files, true)
    };
    let mut list: Vec<Night> = nights.into_iter().map(named).collect();
    // Nights of one folder or date would have the same name.
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    list.iter().for_each(|night| *names.entry(night.name.clone()).or_default() += 1);
    for night in list.iter_mut().filter(|night| names.get(&night.name).is_some_and(|count| *count > 1)) {
        if let Some(time) = night.taken.and_then(|taken| jiff::Timestamp::from_millisecond(taken.0).ok()) {
            night.name = time.strftime("%Y-%m-%d %H:%M").to_string();
        }
    }
    list.extend(repeated);
    list.extend(each_alone(reports));
    list
}

/// Returns the night of a file that is a snapshot of another night: a backup that copied what was there already. It is of the
/// date in its name.
fn copy_of(of: String, candidate: Candidate) -> Night {
    let date = candidate.date.as_deref().and_then(midnight);
    let mut copy = night(candidate.name_of_night(), vec![candidate], true);
    copy.taken = date.or(copy.taken);
    copy.left_out = Some(Warning::new(WarningKind::SameSnapshot { of }));
    copy
}

/// Puts nights in the order of time; those of no known time stay behind the one that they follow.
fn order(list: &mut Vec<Night>) {
    let mut last = i64::MIN;
    let mut timed: Vec<(i64, Night)> = Vec::new();
    for night in list.drain(..) {
        last = night.taken.map_or(last, |taken| taken.0);
        timed.push((last, night));
    }
    timed.compact_sort_by_key(|(time, _)| *time);
    list.extend(timed.into_iter().map(|(_, night)| night));
}

/// Leaves out a night that is there as a dump and as a report, if two others remain.
fn drop_repeated(list: &mut [Night]) {
    let key =
        |night: &Night| Some((night.taken?, night.files.iter().map(|file| base_name(file)).collect::<BTreeSet<_>>()));
    let mut known: BTreeMap<_, String> = BTreeMap::new();
    let mut repeated = Vec::new();
    for (place, night) in list.iter().enumerate().filter(|(_, night)| night.left_out.is_none()) {
        let Some(key) = key(night) else { continue };
        match known.get(&key) {
            Some(of) => repeated.push((place, of.clone())),
            None => _ = known.insert(key, night.name.clone()),
        }
    }
    let left = list.iter().filter(|night| night.left_out.is_none()).count().saturating_sub(repeated.len());
    for (place, of) in repeated.into_iter().filter(|_| left > 1) {
        if let Some(night) = list.get_mut(place) {
            night.leave_out_as_copy(of);
        }
    }
}

impl Candidate {
    /// Returns whether it is longer than another file of the same form.
    fn is_longer_than(&self, other: &Candidate) -> bool {
        let length = |one: &Candidate| std::fs::metadata(&one.file.path).map_or(0, |about| about.len());
        self.file.path.extension() == other.file.path.extension() && length(self) > length(other)
    }

    fn name_of_night(&self) -> String {
        self.path.clone()
    }
}

/// Returns the name of a night: its file, else the folder of its files, or their date.
fn name_of(files: &[Candidate]) -> String {
    match files {
        [] => String::new(),
        [alone] => alone.name_of_night(),
        [first, rest @ ..] => {
            let place = first.folder.clone();
            let is_one = !place.is_empty() && rest.iter().all(|other| other.folder == place);
            let dates: BTreeSet<&String> = files.iter().filter_map(|file| file.date.as_ref()).collect();
            let in_place = undated(&place).1;
            match dates.first() {
                _ if is_one && (dates.is_empty() || !in_place.is_empty()) => place,
                Some(date) => [date.get(..4), date.get(4..6), date.get(6..)].map(Option::unwrap_or_default).join("-"),
                None => place,
            }
        }
    }
}
