//! Sizes of earlier snapshots, from which a report tells the trend of its memory.

use std::collections::BTreeSet;
use std::sync::Arc;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::copies::copies;
use super::nights::{NightPart, NightParts, ShardsOfNight, compare_shards, files_of};
use super::trend::{Trend, through};
use super::{NamedReport, Report};
use crate::report::{Unknown, Warning, WarningKind};
use crate::units::{Bytes, Millis};

/// Earlier snapshots that a report keeps, the latest: a year of nights.
pub(crate) const MAX_EARLIER: usize = 366;

/// Size of an earlier snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct EarlierSnapshot {
    /// When it was taken, in milliseconds.
    pub taken: Millis,
    /// Memory of its keys.
    pub memory: Bytes,
    /// Memory of keys and tables together, where the earlier report has it.
    pub total: Option<Bytes>,
    /// The earlier report's file, without its directory.
    pub report: String,
}

impl EarlierSnapshot {
    /// Returns the sizes of shards of one night added up; `None` without any.
    fn sum(shards: Vec<EarlierSnapshot>) -> Option<EarlierSnapshot> {
        shards.into_iter().reduce(|sum, shard| EarlierSnapshot {
            taken: sum.taken.max(shard.taken),
            memory: sum.memory + shard.memory,
            total: sum.total.zip(shard.total).map(|(sum, shard)| sum + shard),
            report: if sum.report == shard.report { sum.report } else { format!("{}, {}", sum.report, shard.report) },
        })
    }
}

impl NamedReport {
    /// Returns the report without its lists: enough of it for the history of another one.
    pub(crate) fn without_lists(&self) -> NamedReport {
        let NamedReport { name, report } = self;
        let report = Report {
            complete: report.complete,
            source: report.source.clone(),
            server: report.server.clone(),
            options: report.options.clone(),
            totals: report.totals.clone(),
            instance: report.instance.clone(),
            history: report.history.clone(),
            ..Report::default()
        };
        NamedReport { name: name.clone(), report }
    }

    /// Returns the sizes of its own snapshot.
    fn size(&self) -> Option<EarlierSnapshot> {
        let NamedReport { name, report } = self;
        let (memory, total) = (report.totals.memory, report.total());
        Some(EarlierSnapshot { taken: report.taken()?, memory, total, report: name.clone() })
    }
}

/// An earlier report that may count.
#[derive(Clone, Copy)]
struct Earlier<'a> {
    named: &'a NamedReport,
    /// False for the baseline, which has notes of its own.
    has_notes: bool,
}

impl Earlier<'_> {
    fn note(self, kind: WarningKind) -> Option<Warning> {
        self.has_notes.then(|| Warning::about(&self.named.name, kind))
    }
}

/// Returns the sizes of the snapshots before `now` that earlier reports tell of, oldest first, each once, and the latest of them if there
/// are very many. Shards of one night are added up.
///
/// Names the reports of `earlier` that do not count, and says why.
pub fn history(
    earlier: &[Arc<NamedReport>],
    baseline: Option<&NamedReport>,
    now: &Report,
) -> (Vec<EarlierSnapshot>, Vec<Warning>) {
    let mut notes = Vec::new();
    let given = earlier.iter().map(|named| Earlier { named, has_notes: true });
    let all = given.chain(baseline.map(|named| Earlier { named, has_notes: false }));
    let counted = counted(all, now, &mut notes);
    notes.extend(circumstances(&counted, now));
    let parts = NightParts::new(counted.iter().copied().filter_map(NightPart::of).collect());
    let reports = |night: Vec<usize>| night.into_iter().filter_map(|at| counted.get(at).copied()).collect();
    let nights = parts.nights().into_iter().map(reports).collect();
    let rows = sizes_of_nights(nights, now, &mut notes);
    if earlier.is_empty() {
        // The baseline alone has notes of its own.
        notes.clear();
    }
    (in_order(rows, now.taken()), notes)
}

/// Returns the reports that count for the history of `now`, each snapshot once. Notes why the others do not count.
fn counted<'a>(all: impl Iterator<Item = Earlier<'a>>, now: &Report, notes: &mut Vec<Warning>) -> Vec<&'a NamedReport> {
    let mut suitable = Vec::new();
    for one in all {
        match objection(one.named, now) {
            None => suitable.push(one),
            Some(kind) => notes.extend(one.note(kind)),
        }
    }
    let named: Vec<&NamedReport> = suitable.iter().map(|one| one.named).collect();
    let mut counted = Vec::new();
    for (one, copy) in suitable.into_iter().zip(copies(&[], &named)) {
        match copy {
            None => counted.push(one.named),
            Some(of) => notes.extend(one.note(WarningKind::SameSnapshot { of })),
        }
    }
    counted
}

/// Returns the sizes of nights that have all shards of `now`, and the earlier ones that their reports contain; none if `now` itself lacks
/// shards. Notes which nights differ in their shards.
fn sizes_of_nights(nights: Vec<Vec<&NamedReport>>, now: &Report, notes: &mut Vec<Warning>) -> Vec<EarlierSnapshot> {
    let mut files: Vec<Vec<String>> =
        nights.iter().map(|night| files_of(night.iter().map(|named| &named.report))).collect();
    files.push(files_of([now]));
    let mut shards = compare_shards(&files.iter().map(|files| Some(files.as_slice())).collect::<Vec<_>>());
    let name_now = now.source.files.first().map(|file| file.name.as_str()).unwrap_or_default();
    match shards.pop() {
        Some(ShardsOfNight::Lacks(shards, of)) => {
            // Its sizes would look like a shrink.
            notes.push(Warning::about(name_now, WarningKind::ShardsMissing { shards, of }));
            return Vec::new();
        }
        Some(ShardsOfNight::Added(shards)) => {
            notes.push(Warning::about(name_now, WarningKind::ShardsAdded { shards }));
        }
        Some(ShardsOfNight::Others(shards)) => {
            notes.push(Warning::about(name_now, WarningKind::OtherShards { shards }));
        }
        Some(ShardsOfNight::Whole) | None => {}
    }
    let mut rows = Vec::new();
    for (night, shards) in nights.into_iter().zip(shards) {
        if let ShardsOfNight::Lacks(shards, of) = shards {
            let names: Vec<&str> = night.iter().map(|named| named.name.as_str()).collect();
            notes.push(Warning::about(&names.join(", "), WarningKind::NightNotWhole { shards, of }));
            continue;
        }
        rows.extend(earlier_sizes_in_all(&night));
        rows.extend(EarlierSnapshot::sum(night.into_iter().filter_map(NamedReport::size).collect()));
    }
    rows
}

/// Returns why an earlier report does not count for the history of `now`, if it does not.
fn objection(NamedReport { report, .. }: &NamedReport, now: &Report) -> Option<WarningKind> {
    let Unknown { keys, stored_bytes } = report.totals.unknown;
    let (then, taken) = (report.taken(), now.taken());
    if !report.complete {
        Some(WarningKind::NightDamaged)
    } else if report.options.selection != now.options.selection {
        Some(WarningKind::NightOfOtherKeys)
    } else if report.totals.unknown.known(report.totals.keys, ()).is_none() {
        Some(WarningKind::UnknownMemory { keys, stored_bytes, modules: Vec::new() })
    } else if then.is_none() || taken.is_none() {
        Some(WarningKind::TimesMissing)
    } else if report.is_of_snapshot_of(now) {
        let of = now.source.files.first().map(|file| file.name.clone()).unwrap_or_default();
        Some(WarningKind::SameSnapshot { of })
    } else {
        (then >= taken).then_some(WarningKind::NotInOrder)
    }
}

/// Notes what makes the figures of counted reports differ by itself.
fn circumstances(counted: &[&NamedReport], now: &Report) -> Vec<Warning> {
    let mut notes = Vec::new();
    for NamedReport { name, report } in counted.iter().filter(|named| !named.report.totals.unknown.is_none()) {
        let Unknown { keys, stored_bytes } = report.totals.unknown;
        notes.push(Warning::about(name, WarningKind::UnknownMemory { keys, stored_bytes, modules: Vec::new() }));
    }
    let models = counted.iter().map(|named| &named.report).chain([now]).map(|report| report.server.model.clone());
    let models: BTreeSet<String> = models.filter(|model| !model.is_empty()).collect();
    if models.len() > 1 {
        notes.push(Warning::new(WarningKind::ModelsDiffer { models: models.into_iter().collect() }));
    }
    notes
}

/// Returns the earlier sizes that the reports of all shards of one night contain.
fn earlier_sizes_in_all(night: &[&NamedReport]) -> Vec<EarlierSnapshot> {
    if let [alone] = night {
        return alone.report.history.clone();
    }
    let mut known: Vec<(NightPart, &EarlierSnapshot)> = Vec::new();
    for (shard, named) in night.iter().enumerate() {
        known.extend(
            named
                .report
                .history
                .iter()
                .rev()
                .take(MAX_EARLIER)
                .map(|row| (NightPart::at(row.taken, shard.to_string()), row)),
        );
    }
    let (parts, rows): (Vec<NightPart>, Vec<&EarlierSnapshot>) = known.into_iter().unzip();
    let nights = NightParts::new(parts).nights();
    let whole = nights.into_iter().filter(|members| members.len() == night.len());
    let sum = |members: Vec<usize>| members.iter().filter_map(|at| rows.get(*at)).map(|row| (*row).clone()).collect();
    whole.map(sum).filter_map(EarlierSnapshot::sum).collect()
}

/// Sorts the sizes of snapshots before `taken` by time, keeping each once, and the latest if there are very many.
fn in_order(mut earlier: Vec<EarlierSnapshot>, taken: Option<Millis>) -> Vec<EarlierSnapshot> {
    earlier.retain(|row| taken.is_some_and(|taken| row.taken < taken));
    earlier.sort_unstable();
    earlier.dedup_by(|one, other| (one.taken, one.memory, one.total) == (other.taken, other.memory, other.total));
    let surplus = earlier.len().saturating_sub(MAX_EARLIER);
    earlier.split_off(surplus)
}

impl Report {
    /// Returns the sizes of this and earlier snapshots, oldest first, and the line through them; `None` without an earlier one.
    pub(crate) fn trend(&self) -> Option<(Vec<(Millis, Bytes)>, Trend)> {
        let own = (self.taken()?, self.totals.memory, self.total());
        let mut rows: Vec<(Millis, Bytes, Option<Bytes>)> =
            self.history.iter().map(|row| (row.taken, row.memory, row.total)).collect();
        if rows.is_empty() {
            // A report of an earlier version knows its baseline only.
            let since = self.growth.as_ref().filter(|since| since.complete)?;
            rows.push((since.taken?, since.before.memory, since.total_before));
        }
        // What it lacks, or what is not known of its memory, would look like a shrink.
        if self.complete && self.totals.unknown.known(self.totals.keys, ()).is_some() {
            rows.push(own);
        }
        let has_totals = rows.iter().all(|(.., total)| total.is_some());
        let of = if has_totals { "total" } else { "memory" };
        let size = |(taken, memory, total): (Millis, Bytes, Option<Bytes>)| {
            (taken, total.filter(|_| has_totals).unwrap_or(memory))
        };
        let points: Vec<(Millis, Bytes)> = rows.into_iter().map(size).collect();
        let limit = self.instance.as_ref().and_then(|instance| instance.maxmemory).filter(|limit| limit.0 > 0);
        let mut trend = through(points.clone(), of, limit.filter(|_| has_totals))?;
        trend.note_used(self.instance.as_ref().and_then(|instance| instance.used_mem));
        Some((points, trend))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(day: i64, mib: u64) -> EarlierSnapshot {
        EarlierSnapshot {
            taken: Millis(day * 86_400_000),
            memory: Bytes(mib << 20),
            total: Some(Bytes(mib << 20)),
            report: format!("{day}.json"),
        }
    }

    fn report(day: i64, mib: u64, history: Vec<EarlierSnapshot>) -> Report {
        let mut report = Report { history, complete: true, ..Report::default() };
        report.server.ctime = Some(day * 86_400);
        report.totals.memory = Bytes(mib << 20);
        report
    }

    fn named(name: &str, report: Report) -> Arc<NamedReport> {
        Arc::new(NamedReport { name: name.to_owned(), report })
    }

    /// A report of some shards.
    fn shards(day: i64, mib: u64, files: &[&str]) -> Report {
        let mut report = report(day, mib, Vec::new());
        let file = |name: &&str| crate::report::SourceFile {
            name: (*name).to_owned(),
            bytes: Bytes(mib),
            ctime: Some(day * 86_400),
            keys: 1,
            memory: Bytes(mib << 20),
            ..crate::analyze::examples::source_file(0)
        };
        report.source.files = files.iter().map(file).collect();
        report.totals.keys = files.len() as u64;
        report
    }

    fn sizes(rows: &[EarlierSnapshot]) -> Vec<(i64, u64)> {
        rows.iter().map(|row| (row.taken.0 / 86_400_000, row.memory.0 >> 20)).collect()
    }

    #[test]
    fn a_report_passes_on_what_it_knew() {
        let monday = named("mon.json", report(1, 10, Vec::new()));
        let (rows, _) = history(&[monday], None, &report(2, 11, Vec::new()));
        let tuesday = named("tue.json", report(2, 11, rows));
        let now = report(3, 12, Vec::new());
        let known = history(&[], Some(&tuesday), &now).0;
        let names: Vec<&str> = known.iter().map(|row| row.report.as_str()).collect();
        assert_eq!(names, ["mon.json", "tue.json"]);
    }

    #[test]
    fn earlier_reports_that_do_not_count_are_named() {
        let kinds = |earlier: Report, now: &Report| {
            let (rows, notes) = history(&[named("old.json", earlier.clone())], None, now);
            assert!(rows.is_empty(), "{rows:?}");
            let baseline = NamedReport { name: "old.json".to_owned(), report: earlier };
            let (rows, silent) = history(&[], Some(&baseline), now);
            assert!(rows.is_empty() && silent.is_empty(), "{silent:?}");
            notes.into_iter().map(|note| note.kind).collect::<Vec<_>>()
        };
        let now = report(3, 12, Vec::new());
        let old = || report(2, 10, Vec::new());
        assert_eq!(kinds(Report { complete: false, ..old() }, &now), [WarningKind::NightDamaged]);
        let mut selected = old();
        selected.options.selection = vec!["--db 1".to_owned()];
        assert_eq!(kinds(selected, &now), [WarningKind::NightOfOtherKeys]);
        assert_eq!(kinds(report(4, 10, Vec::new()), &now), [WarningKind::NotInOrder]);
        let mut timeless = old();
        timeless.server.ctime = None;
        assert_eq!(kinds(timeless, &now), [WarningKind::TimesMissing]);
    }

    #[test]
    fn shards_of_a_night_are_added_up_and_nights_that_lack_one_left_out() {
        let now = shards(9, 20, &["n/a.rdb", "n/b.rdb"]);
        let night = |day: i64, shard: &str, mib: u64| named(&format!("{shard}{day}.json"), shards(day, mib, &[shard]));
        let [a, b] = ["n/a.rdb", "n/b.rdb"];
        let (rows, notes) =
            history(&[night(1, a, 5), night(1, b, 6), night(2, a, 7), night(3, b, 9), night(3, a, 8)], None, &now);
        assert_eq!(sizes(&rows), [(1, 11), (3, 17)]);
        let [note] = &notes[..] else { panic!("{notes:?}") };
        assert_eq!(note.kind, WarningKind::NightNotWhole { shards: vec!["b".to_owned()], of: 2 });
        // A report of the whole night has its shards already.
        let whole = named("3.json", shards(3, 9, &[a, b]));
        let (rows, _) = history(&[night(3, a, 9), whole], None, &now);
        assert_eq!(sizes(&rows), [(3, 9)]);
        // The present one lacks a shard.
        let (rows, notes) = history(&[night(1, a, 5), night(1, b, 6)], None, &shards(9, 20, &[a]));
        assert_eq!((rows, notes.len()), (Vec::new(), 1));
        // Shards know the nights before, too.
        let with = |mut named: NamedReport, rows: &[EarlierSnapshot]| {
            named.report.history = rows.to_vec();
            Arc::new(named)
        };
        let earlier = [
            with(night(3, a, 8).as_ref().clone(), &[row(1, 5), row(2, 6)]),
            with(night(3, b, 9).as_ref().clone(), &[row(1, 5)]),
        ];
        assert_eq!(sizes(&history(&earlier, None, &now).0), [(1, 10), (3, 17)]);
    }

    #[test]
    fn a_trend_does_not_include_a_damaged_snapshot() {
        let mut damaged = report(9, 2, vec![row(1, 5), row(2, 6)]);
        damaged.complete = false;
        let (points, trend) = damaged.trend().unwrap();
        assert_eq!((points.len(), trend.per_day), (2, 1 << 20));
        damaged.history.pop();
        assert!(damaged.trend().is_none());
    }

    #[test]
    fn snapshots_count_once_and_before_the_present_one_only() {
        let rows = vec![row(3, 5), row(1, 5), row(2, 5), row(1, 5), row(9, 5)];
        let days = |rows: Vec<EarlierSnapshot>| rows.iter().map(|row| row.taken.0 / 86_400_000).collect::<Vec<_>>();
        assert_eq!(days(in_order(rows.clone(), Some(Millis(3 * 86_400_000)))), [1, 2]);
        assert_eq!(in_order(rows, None), []);
        let many: Vec<EarlierSnapshot> = (0..1_000).map(|day| row(day, 5)).collect();
        let kept = days(in_order(many, Some(Millis(i64::MAX))));
        assert_eq!((kept.len(), kept.first(), kept.last()), (366, Some(&634), Some(&999)));
    }

    #[test]
    fn the_trend_is_of_keys_where_a_total_is_missing() {
        let (points, trend) = report(3, 14, vec![row(1, 10), row(2, 12)]).trend().unwrap();
        assert_eq!((trend.of, trend.per_day, trend.snapshots), ("memory", 2 << 20, 3));
        assert_eq!(points.last(), Some(&(Millis(3 * 86_400_000), Bytes(14 << 20))));
        assert!(report(3, 14, Vec::new()).trend().is_none());
    }
}
