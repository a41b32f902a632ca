//! A series of snapshots, read one after the other.
//!
//! A night that is not whole would look like a shrink, and the next one like growth. So nights that lack a shard, or that are
//! damaged while two others are whole, are left out and named.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{OF_SNAPSHOTS, PATTERNS};
use crate::analyze::nights::{Night, Nights, nights};
use crate::analyze::{self, InputCheck, Plan};
use crate::cli::analyze::print_damage;
use crate::cli::archives::unpacked;
use crate::cli::args::CompareArgs;
use crate::cli::given::{GivenFlags, READING};
use crate::cli::hints;
use crate::cli::message::notice;
use crate::cli::progress::ProgressLine;
use crate::error::{Error, ErrorKind, Result};
use crate::report::diff::nights::{NightPart, NightParts};
use crate::report::diff::{ComparePlan, Comparer, LeftOut};
use crate::report::{Comparison, Condition, ContainerForm, NamedReport, Report, Warning, WarningKind};
use crate::sorting::CompactSort;
use crate::units::{Bytes, Millis};
use crate::wording::{Wording, wording};

/// A comparison, and whether the newest night was read whole.
pub(super) struct Compared {
    pub comparison: Comparison,
    pub whole: bool,
}

/// Reads the nights and compares the first with the last.
pub(super) fn series(args: &CompareArgs, given: &GivenFlags, mut plan: Plan, rows: Option<usize>) -> Result<Compared> {
    debug_assert_eq!(plan.top, PATTERNS);
    let quiet = args.read.input.quiet;
    // The folders of archives last until all nights are read.
    let unpacked = unpacked(&args.read.input.inputs, &mut plan.read, quiet)?;
    let Nights { list, grouped } = nights(&unpacked.inputs, &plan.read, args.allow_missing)?;
    if list.iter().all(|night| night.stored) {
        let flags = OF_SNAPSHOTS.into_iter().chain(READING);
        given.refuse_for_reports(flags, "all inputs")?;
    }
    if let Some(limit) = args.maxmemory {
        // Rules about the limit are checked for dumps.
        plan.read.config.set("maxmemory", &limit.to_string())?;
    }
    let mut series = Series { grouped, ..Series::new(plan) };
    let found = list.len();
    for night in list {
        series.add(night, quiet)?;
    }
    if series.keys == 0 {
        hints::no_keys(&args.read);
    }
    let limits = ComparePlan { top: rows.unwrap_or(Plan::USUAL_TOP), maxmemory: args.maxmemory.map(Bytes) };
    series.finish(&limits, &args.fail_on, found, quiet)
}

struct Series {
    plan: Plan,
    grouped: bool,
    comparer: Comparer,
    /// Reports that wait until two whole ones are known.
    held: Vec<NamedReport>,
    whole: usize,
    /// Number of reports that were taken, whole or not.
    taken: usize,
    /// Names of whole snapshots.
    known: BTreeMap<Identity, String>,
    /// The first copy of another snapshot. It is compared only if there is no other second snapshot.
    copy: Option<KeptCopy>,
    /// True if nothing is known to be missing in the newest night so far.
    newest_is_whole: bool,
    /// Time of the newest night that is compared, in milliseconds.
    newest: Option<i64>,
    left_out: Vec<LeftOut>,
    keys: u64,
    /// Stored reports by name, with what tells their nights.
    stored: Vec<(String, NightPart)>,
}

/// Time, size and number of keys of a snapshot, and the selection of its keys.
type Identity = ((Millis, Bytes, u64), Vec<String>);

/// A night that is the snapshot of another one, under another name.
struct KeptCopy {
    night: Night,
    report: NamedReport,
    /// True if it is dated later than all nights so far.
    is_newest: bool,
}

impl Series {
    fn new(plan: Plan) -> Series {
        Series {
            plan,
            grouped: false,
            comparer: Comparer::default(),
            held: Vec::new(),
            whole: 0,
            taken: 0,
            known: BTreeMap::new(),
            copy: None,
            newest_is_whole: true,
            newest: None,
            left_out: Vec::new(),
            keys: 0,
            stored: Vec::new(),
        }
    }

    fn add(&mut self, mut night: Night, quiet: bool) -> Result<()> {
        if let Some(reason) = night.left_out.take() {
            // A copy given twice says nothing of the newest night; one that is dated later stands for a night without a backup.
            let is_copy = matches!(reason.kind, WarningKind::SameSnapshot { .. });
            self.newest_is_whole &= is_copy && !self.is_later(&night);
            self.leave_out(night, reason);
            return Ok(());
        }
        let report = match self.read(&night, quiet) {
            Ok(report) => report,
            Err(error) if self.grouped && !matches!(error.kind(), ErrorKind::Usage(_)) => {
                let reason = Warning::new(WarningKind::night_unreadable(&error));
                self.newest_is_whole = false;
                self.leave_out(night, reason);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.keys = self.keys.saturating_add(report.report.totals.keys);
        if night.stored {
            self.stored.extend(NightPart::of(&report).map(|part| (report.name.clone(), part)));
        }
        if let Some(key) = identity(&report.report) {
            if let Some(of) = self.known.get(&key) {
                night.leave_out_as_copy(of.clone());
                self.add_copy(night, report);
                return Ok(());
            }
            self.known.insert(key, report.name.clone());
        }
        self.newest_is_whole = report.report.complete;
        self.newest = night.taken.map(|taken| taken.0).max(self.newest);
        self.copy.iter_mut().for_each(|copy| copy.is_newest = false);
        self.comparer_note(night.note.take());
        self.take(report);
        Ok(())
    }

    /// Leaves out a copy, or keeps it as long as there is nothing else to compare with.
    fn add_copy(&mut self, mut night: Night, report: NamedReport) {
        let is_newest = self.is_later(&night);
        if self.copy.is_none() && !self.has_two() {
            self.copy = Some(KeptCopy { night, report, is_newest });
        } else if let Some(reason) = night.left_out.take() {
            self.newest_is_whole &= !is_newest;
            self.leave_out(night, reason);
        }
    }

    /// Compares the copy that was kept, or leaves it out.
    fn finish_copy(&mut self) {
        let Some(KeptCopy { mut night, report, is_newest }) = self.copy.take() else { return };
        if !self.has_two() {
            self.comparer_note(night.note.take());
            self.take(report);
        } else if let Some(reason) = night.left_out.take() {
            self.newest_is_whole &= !is_newest;
            self.leave_out(night, reason);
        }
    }

    /// Returns whether there are two nights to compare.
    fn has_two(&self) -> bool {
        let count = if self.grouped { self.whole } else { self.taken };
        count >= 2
    }

    /// Returns whether a night is later than all that are compared.
    fn is_later(&self, night: &Night) -> bool {
        night.taken.is_some_and(|taken| Some(taken.0) > self.newest)
    }

    fn comparer_note(&mut self, note: Option<Warning>) {
        if let Some(note) = note {
            self.comparer.note(note);
        }
    }

    /// Loads the report of a night, or makes it.
    fn read(&self, night: &Night, quiet: bool) -> Result<NamedReport> {
        if let ([report], true) = (night.inputs.as_slice(), night.stored) {
            return NamedReport::open_as(report, &night.name);
        }
        let mut plan = self.plan.clone();
        if night.grouped && plan.read.inputs == InputCheck::Shards {
            plan.read.inputs = InputCheck::Night;
        }
        let report = analyze::analyze(&night.inputs, &plan, &ProgressLine::new(quiet))?;
        // Damaged nights of several are left out with a word of their own.
        if !self.grouped {
            print_damage(&report);
        }
        Ok(NamedReport { name: night.name.clone(), report })
    }

    fn take(&mut self, report: NamedReport) {
        let is_whole = report.report.complete;
        self.taken += 1;
        self.whole += usize::from(is_whole);
        // Changes are told since the first snapshot, so rules about growth compare with that, too.
        if self.plan.baseline.is_none() || (self.grouped && is_whole && self.whole == 1) {
            self.plan.baseline = Some(Arc::new(report.clone()));
        }
        if self.grouped && (self.whole < 2 || !self.held.is_empty()) {
            self.held.push(report);
            if self.whole == 2 {
                for held in std::mem::take(&mut self.held) {
                    self.compare_whole(held);
                }
            }
        } else if self.grouped {
            self.compare_whole(report);
        } else {
            self.comparer.add(report);
        }
    }

    /// Adds a report of a series that has two whole ones.
    fn compare_whole(&mut self, named: NamedReport) {
        if named.report.complete {
            return self.comparer.add(named);
        }
        let files = named.report.source.files.iter().map(|file| file.name.clone()).collect();
        let reason = Warning::new(WarningKind::SnapshotIncomplete);
        self.left_out.push(LeftOut { taken: named.report.taken(), name: named.name, files, reason });
    }

    fn leave_out(&mut self, night: Night, reason: Warning) {
        let Night { name, taken, files, .. } = night;
        self.left_out.push(LeftOut { name, taken, files, reason });
    }

    fn finish(mut self, limits: &ComparePlan, gate: &[Condition], found: usize, quiet: bool) -> Result<Compared> {
        self.finish_copy();
        refuse_shards(self.stored)?;
        let enough = !self.grouped || self.whole >= 2;
        std::mem::take(&mut self.held).into_iter().for_each(|held| self.comparer.add(held));
        self.left_out.compact_sort_by_key(|night| night.taken);
        if !quiet {
            for LeftOut { name, reason, .. } in &self.left_out {
                notice!("left out: {name}: {}", reason.wording.en);
            }
        }
        let few = too_few(&self.left_out, found);
        self.left_out.into_iter().for_each(|night| self.comparer.leave_out(night));
        let comparison = self.comparer.finish_with(limits, gate).ok_or(few)?;
        let complete = self.grouped || comparison.snapshots.iter().all(|row| row.complete);
        Ok(Compared { comparison, whole: complete && enough && self.newest_is_whole })
    }
}

/// Fails if stored reports are of several nights with a report on each shard: they would be compared one by one, as if each were a
/// snapshot of the whole deployment.
fn refuse_shards(stored: Vec<(String, NightPart)>) -> Result<()> {
    let (names, parts): (Vec<String>, Vec<NightPart>) = stored.into_iter().unzip();
    let parts = NightParts::new(parts);
    let nights = parts.nights();
    if nights.len() < 2 {
        return Ok(());
    }
    let shards = nights.iter().find_map(|night| match night.as_slice() {
        [first, .., last] if parts.is_beside(*last, &[*first]) => Some((names.get(*first)?, names.get(*last)?)),
        _ => None,
    });
    let Some((one, other)) = shards else { return Ok(()) };
    Err(Error::usage(format!("{one} and {other} are reports on two servers of one night, and there are other nights"))
        .with_hint(
            "give one report on all servers of each night, or the reports on one server; dumps are grouped into nights",
        ))
}

/// Returns what tells a whole snapshot from others. Append-only files have nothing: nights may have their base in common.
fn identity(report: &Report) -> Option<Identity> {
    let mut files = report.source.files.iter();
    let is_dump = files.all(|file| matches!(file.container.form, ContainerForm::Rdb | ContainerForm::Replication));
    report.snapshot_key().filter(|_| is_dump && report.complete).map(|key| (key, report.options.selection.clone()))
}

/// Builds the error for fewer than two nights that can be compared.
fn too_few(left_out: &[LeftOut], found: usize) -> Error {
    let Some(first) = left_out.first() else {
        return Error::usage(format!("compare needs at least two snapshots; found {found}"))
            .with_hint("give two or more reports or dumps, oldest first, or a directory of nights");
    };
    let (count, name, wording) = (left_out.len(), &first.name, &first.reason.wording);
    let (en, zh) = (&wording.en, &wording.zh);
    let are = if count == 1 { "is" } else { "are" };
    Error::new(ErrorKind::Unreadable(Wording {
        en: format!("fewer than two complete nights to compare: {count} of {found} {are} left out; {name}: {en}"),
        zh: format!("可比较的完整时间点不足两个：{found} 个中有 {count} 个未计入；{name}：{zh}"),
    }))
    .with_remedy(wording!(
        "give more nights; --allow-missing compares nights that lack shards",
        "请提供更多时间点；--allow-missing 会比较缺少分片的时间点"
    ))
}
