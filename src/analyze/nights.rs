//! Groups files into nights: what was saved of all shards of a deployment at one time.
//!
//! A shard is known by its name without dates. Files belong to one night if they are of different shards and were created
//! (`ctime`) within an hour, or within half a day with the same date in their names or in a folder of one night: an argument in which no
//! shard occurs twice, or a folder of files with different replication ids. Where no shard occurs twice, names say nothing, and each
//! argument is a snapshot of its own.

mod group;
mod shards;

pub use shards::{keep_whole, leave_out_present};

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::plan::{AtDamage, ReadPlan};
use super::read::feed::PreparedInput;
use super::read::progress::Unwatched;
use crate::error::{Error, Result};
use crate::input::limited::read_at_most;
use crate::input::nights::{self, NightFile};
use crate::input::{shown_path, undated};
use crate::limits::MAX_REPORT_BYTES;
use crate::report::{Warning, WarningKind};
use crate::units::Millis;

/// Snapshots to compare.
#[derive(Debug)]
pub struct Nights {
    /// The nights in the order of time, or the arguments in the order given.
    pub list: Vec<Night>,
    /// True if files were grouped, so that times decide on the order.
    pub grouped: bool,
}

/// Files of one time.
#[derive(Debug)]
pub struct Night {
    /// Name in reports.
    pub name: String,
    /// Latest creation time of its files, or the date in their names.
    pub taken: Option<Millis>,
    /// Files to read: dumps, or one stored report.
    pub inputs: Vec<PathBuf>,
    /// Names of the files.
    pub files: Vec<String>,
    /// True if its files were put together by shard and time.
    pub grouped: bool,
    /// True if it is a stored report.
    pub stored: bool,
    /// Why it is not compared, if it is not.
    pub left_out: Option<Warning>,
    /// Note for the reader.
    pub note: Option<Warning>,
}

/// A file with all that grouping needs to know.
#[derive(Debug)]
struct Candidate {
    file: NightFile,
    name: String,
    /// Its path, and that of its folder, as they are shown.
    path: String,
    folder: String,
    /// When it was created, in seconds, if it says so.
    created: Option<i64>,
    /// Last date in its path, as `20261117`.
    date: Option<String>,
    /// Replication id of its server, if it says so.
    id: Option<Vec<u8>>,
    /// Names of the files that a stored report was made from.
    of_report: Option<Vec<String>>,
    /// Why its start could not be read.
    error: Option<Error>,
}

/// Finds the nights that the arguments name. Fails if one of them names nothing.
pub fn nights<P: AsRef<Path>>(arguments: &[P], plan: &ReadPlan, may_lack_shards: bool) -> Result<Nights> {
    let candidates: Vec<Candidate> =
        nights::files(arguments)?.into_iter().map(|file| Candidate::new(file, plan)).collect();
    let mut nights = group::group(candidates);
    if !may_lack_shards {
        shards::compare(&mut nights.list);
    }
    Ok(nights)
}

impl Candidate {
    fn new(mut file: NightFile, plan: &ReadPlan) -> Candidate {
        let name = plan.shown(file.name());
        let path = plan.shown(shown_path(&file.path));
        let folder = file.path.parent().map(|folder| plan.shown(shown_path(folder))).unwrap_or_default();
        file.dump.iter_mut().for_each(|dump| dump.name.clone_from(&name));
        let date = undated(&name).1.pop();
        let error = file.error.take();
        let mut it = Candidate { file, name, path, folder, created: None, date, id: None, of_report: None, error };
        if it.error.is_some() {
            return it;
        }
        let Some(dump) = &it.file.dump else {
            it.read_report();
            return it;
        };
        if !dump.is_reopenable() {
            return it;
        }
        match PreparedInput::new(dump.clone(), &plan.open, AtDamage::Stop, &Unwatched) {
            // Servers rewrite append-only files when they like.
            Ok(prepared) if prepared.is_append_only() && it.date.is_some() => {}
            Ok(prepared) => {
                it.created = prepared.preamble.ctime();
                it.id = prepared.preamble.field("repl-id").map(<[u8]>::to_vec);
            }
            Err(error) => it.error = Some(error),
        }
        it
    }

    /// Reads the time and the files of a stored report. What is wrong with it is said when it is read whole.
    fn read_report(&mut self) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Facts {
            server: ServerFacts,
            source: SourceFacts,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct ServerFacts {
            ctime: Option<i64>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct SourceFacts {
            files: Vec<FileFacts>,
        }
        #[derive(Deserialize)]
        struct FileFacts {
            name: String,
        }
        let json = read_at_most(&self.file.path, MAX_REPORT_BYTES).ok();
        let facts = json.and_then(|json| serde_json::from_slice::<Facts>(&json).ok());
        let facts = facts.unwrap_or_default();
        self.created = facts.server.ctime;
        self.of_report = Some(facts.source.files.into_iter().map(|file| file.name).collect());
    }

    /// Returns a time to order by: when it was created, else the date in its name.
    fn time(&self) -> Option<i64> {
        self.created.or_else(|| start_of(self.date.as_deref()?))
    }

    fn is_dump(&self) -> bool {
        self.of_report.is_none()
    }
}

impl Night {
    /// Leaves it out as the snapshot of another night once more. It then stands for the last date in its names: a backup that is
    /// dated later copied what was there already.
    pub fn leave_out_as_copy(&mut self, of: String) {
        let dates = self.files.iter().chain([&self.name]).flat_map(|name| undated(name).1);
        self.taken = dates.filter_map(|date| midnight(&date)).max().max(self.taken);
        self.left_out = Some(Warning::new(WarningKind::SameSnapshot { of }));
    }
}

/// Returns the beginning of a date.
fn midnight(date: &str) -> Option<Millis> {
    start_of(date).map(|seconds| Millis(seconds.saturating_mul(1000)))
}

/// Returns the first second of a date such as `20261117`, in UTC.
fn start_of(date: &str) -> Option<i64> {
    let date = jiff::civil::Date::strptime("%Y%m%d", date).ok()?;
    Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
}

/// Returns a night of these files.
fn night(name: String, files: Vec<Candidate>, grouped: bool) -> Night {
    let stored = files.iter().any(|file| !file.is_dump());
    let names = files.iter().flat_map(|file| file.of_report.clone().unwrap_or_else(|| vec![file.name.clone()]));
    // As in a report on these files, which may be there, too.
    let created = files.iter().filter_map(|file| file.created).max();
    let time = created.or_else(|| files.iter().filter_map(Candidate::time).min());
    // A file that cannot be opened would make the whole night one without its keys.
    let error = files.iter().find_map(|file| file.error.as_ref()).filter(|_| grouped);
    let left_out = error.map(|error| Warning::new(WarningKind::night_unreadable(error)));
    Night {
        name,
        taken: time.map(|seconds| Millis(seconds.saturating_mul(1000))),
        files: names.collect(),
        inputs: files.into_iter().map(|file| file.file.path).collect(),
        grouped,
        stored,
        left_out,
        note: None,
    }
}
