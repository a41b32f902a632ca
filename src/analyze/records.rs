//! Iterator over the facts of each key, for programs that use the library.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use super::plan::ReadPlan;
use super::read::feed::Feed;
use super::read::parallel::read_in_order;
use super::read::progress::Unwatched;
use super::read::reader::{Continue, ReadOptions, read_batch_shared};
use super::read::snapshot::{FileFacts, Snapshot};
use super::read::tally::Tallies;
use super::verdict;
use crate::error::{Error, Result};
use crate::record::{Encoding, Kind, ModuleFacts, ModuleName, Record, StreamFacts, ValueFacts};
use crate::units::{Bytes, Millis};

/// A [`Record`] that owns its data.
///
/// It has every field except the raw bytes of the value, which may be gigabytes:
/// [`for_each_record`] lends them.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "documented in `Record`")]
pub struct OwnedRecord {
    /// Name of the file in reports.
    pub file: Arc<str>,
    pub db: u64,
    pub key: Vec<u8>,
    pub kind: Kind,
    pub module: Option<ModuleName>,
    pub encoding: Encoding,
    pub length: Option<u64>,
    pub memory: Bytes,
    pub alternatives: Vec<Bytes>,
    pub allocated: Bytes,
    pub allocated_elsewhere: Vec<Bytes>,
    pub disk: Bytes,
    pub content: Bytes,
    pub expires_at: Option<Millis>,
    pub idle: Option<u64>,
    pub freq: Option<u8>,
    pub fields_with_ttl: Option<u64>,
    pub stream: Option<StreamFacts>,
    pub module_facts: Option<ModuleFacts>,
    #[doc(hidden)]
    pub value: ValueFacts,
}

impl OwnedRecord {
    fn new(record: &Record<'_>, file: &Arc<str>) -> Self {
        // Names every field, so that a new one cannot be forgotten here.
        let &Record {
            file: _,
            db,
            key,
            kind,
            module,
            encoding,
            length,
            memory,
            alternatives,
            allocated_elsewhere,
            allocated,
            disk,
            content,
            expires_at,
            idle,
            freq,
            fields_with_ttl,
            stream,
            module_facts,
            value,
            compact: _,
            raw: _,
        } = record;
        OwnedRecord {
            file: Arc::clone(file),
            db,
            key: key.to_vec(),
            kind,
            module,
            encoding,
            length,
            memory,
            alternatives: alternatives.to_vec(),
            allocated,
            allocated_elsewhere: allocated_elsewhere.to_vec(),
            disk,
            content,
            expires_at,
            idle,
            freq,
            fields_with_ttl,
            stream: stream.copied(),
            module_facts: module_facts.copied(),
            value: *value,
        }
    }
}

/// Iterator over the selected records in file order; holds one batch in memory. Made by [`records`].
pub struct Records<'p> {
    plan: &'p ReadPlan,
    feed: Option<Feed<'static>>,
    facts: Vec<FileFacts>,
    names: Vec<Arc<str>>,
    reference: Option<Millis>,
    checksum: bool,
    tallies: Tallies,
    ready: VecDeque<OwnedRecord>,
    errors: VecDeque<Error>,
    /// Records still to be read under the plan's limit.
    left: u64,
}

/// Returns the selected records of all inputs, in file order.
///
/// ```
/// use rdblens::{Bytes, ReadPlan, records};
///
/// let plan = ReadPlan::new(std::env::temp_dir());
/// let mut heavy = Vec::new();
/// for record in records(&["testdata/dumps/shop.rdb"], &plan)? {
///     let record = record?;
///     if record.memory > Bytes(500_000) {
///         heavy.push(record.key);
///     }
/// }
/// assert_eq!(heavy, [b"leaderboard:spending:all-time"]);
/// # Ok::<(), rdblens::Error>(())
/// ```
///
/// Errors follow the last record: first what stopped a file, then the values that are damaged inside intact framing. With
/// `plan.limit` they cover the part of the files that was read.
pub fn records<'p, P: AsRef<Path>>(inputs: &[P], plan: &'p ReadPlan) -> Result<Records<'p>> {
    let mut snapshot = Snapshot::open(inputs, plan, &Unwatched)?;
    let checksum = snapshot.reading(plan).checksum;
    Ok(Records {
        plan,
        feed: Some(snapshot.feed(1, &Unwatched)),
        names: snapshot.facts.iter().map(|facts| facts.name.as_str().into()).collect(),
        reference: snapshot.reference,
        checksum,
        facts: snapshot.facts,
        tallies: Default::default(),
        ready: VecDeque::new(),
        errors: VecDeque::new(),
        left: plan.limit.unwrap_or(u64::MAX),
    })
}

impl Records<'_> {
    /// Reads the next batch; returns false if there is none.
    fn read(&mut self) -> bool {
        let Some(work) = self.feed.as_mut().and_then(Iterator::next) else { return false };
        let reading =
            ReadOptions { selection: &self.plan.selection, reference: self.reference, checksum: self.checksum };
        let tally = self.tallies.entry(work.file.index).or_default();
        let (ready, names, left) = (&mut self.ready, &self.names, &mut self.left);
        read_batch_shared(&work.batch, &work.file, reading, tally, &mut |record, _| {
            if let Some(name) = names.get(work.file.index) {
                ready.push_back(OwnedRecord::new(record, name));
            }
            *left -= 1;
            if *left > 0 { Continue::Yes } else { Continue::No }
        });
        true
    }

    /// Collects the errors of all files; does nothing the second time.
    fn end(&mut self) {
        let Some(feed) = self.feed.take() else { return };
        let (facts, tallies) = (std::mem::take(&mut self.facts), std::mem::take(&mut self.tallies));
        for verdict in verdict::verdicts(facts, feed.into_all_endings(), tallies, self.checksum) {
            self.errors.extend(verdict.fault);
            self.errors.extend(verdict.damage);
        }
    }
}

impl Iterator for Records<'_> {
    type Item = Result<OwnedRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && self.left > 0 && self.read() {}
        match self.ready.pop_front() {
            Some(record) => Some(Ok(record)),
            None => {
                self.end();
                self.errors.pop_front().map(Err)
            }
        }
    }
}

/// Calls `see` with every selected record, in file order, and the name of its file.
///
/// ```
/// use rdblens::{Kind, ReadPlan, for_each_record};
///
/// let plan = ReadPlan::new(std::env::temp_dir());
/// let mut lists = 0;
/// for_each_record(&["testdata/dumps/shop.rdb"], &plan, |record, _file| {
///     lists += u64::from(record.kind == Kind::List);
/// })?;
/// assert!(lists > 0);
/// # Ok::<(), rdblens::Error>(())
/// ```
///
/// Fails if a file cannot be read to its end, after the records before that point. Values that are damaged inside
/// intact framing are skipped silently; [`records()`](records) reports them.
/// [`records()`](records) can also be stopped at any record, by dropping the iterator.
pub fn for_each_record<P: AsRef<Path>>(
    inputs: &[P],
    plan: &ReadPlan,
    mut see: impl FnMut(&Record<'_>, &str),
) -> Result<()> {
    let mut snapshot = Snapshot::open(inputs, plan, &Unwatched)?;
    let reading = snapshot.reading(plan);
    let names: Vec<String> = snapshot.facts.iter().map(|facts| facts.name.clone()).collect();
    let mut feed = snapshot.feed(1, &Unwatched);
    let tallies = read_in_order(&mut feed, reading, plan.limit, &Unwatched, |record, file| {
        see(record, names.get(file).map_or("", String::as_str));
    });
    let endings = feed.into_all_endings();
    verdict::verdicts(snapshot.facts, endings, tallies, reading.checksum)
        .into_iter()
        .find_map(|verdict| verdict.fault)
        .map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::WhatIf;

    fn file(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump.rdb");
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn key(record: &Result<OwnedRecord>) -> &[u8] {
        &record.as_ref().unwrap().key
    }

    #[test]
    fn truncation_is_reported_after_the_records_before_it() {
        let (folder, path) = file(b"REDIS0011\xfe\x00\x00\x01a\x01b\x00\x03key\x05val");
        let plan = ReadPlan::new(folder.path().to_owned());
        let all: Vec<_> = records(&[&path], &plan).unwrap().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(key(&all[0]), b"a");
        let error = all[1].as_ref().unwrap_err().to_string();
        assert!(error.contains("dump.rdb: byte 0x15: string value: needs 6 bytes, 4 left"), "{error}");
    }

    #[test]
    fn limit_keeps_errors_of_the_damaged_values_before_it() {
        let damaged = |name: u8| [b"\x10\x01", &[name][..], b"\x03abc"].concat();
        let bytes = [&b"REDIS0011\xfe\x00"[..], &damaged(b'x'), b"\x00\x01a\x01b", &damaged(b'y'), b"\x00\x01c\x01d"];
        let (folder, path) = file(&[&bytes.concat()[..], b"\xff\0\0\0\0\0\0\0\0"].concat());
        let all = |limit| {
            let plan = ReadPlan { limit, ..ReadPlan::new(folder.path().to_owned()) };
            let all: Vec<_> = records(&[&path], &plan).unwrap().collect();
            let (good, bad): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
            (good.iter().map(|record| key(record).to_owned()).collect::<Vec<_>>(), bad.len())
        };
        assert_eq!(all(None), (vec![b"a".to_vec(), b"c".to_vec()], 2));
        assert_eq!(all(Some(1)), (vec![b"a".to_vec()], 1));
        assert_eq!(all(Some(0)), (vec![], 0));
    }

    #[test]
    fn owned_records_equal_borrowed_ones() {
        let dump = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");
        let mut plan = ReadPlan::new(std::env::temp_dir());
        plan.what_if = vec![WhatIf::parse("glibc").unwrap()];
        let mut borrowed = Vec::new();
        let fields = |record: &Record<'_>| {
            (record.allocated, record.allocated_elsewhere.to_vec(), record.alternatives.to_vec(), *record.value)
        };
        for_each_record(&[dump], &plan, |record, _| borrowed.push((record.key.to_vec(), fields(record)))).unwrap();
        let owned: Vec<_> = records(&[dump], &plan)
            .unwrap()
            .map(Result::unwrap)
            .map(|record| {
                (record.key, (record.allocated, record.allocated_elsewhere, record.alternatives, record.value))
            })
            .collect();
        assert_eq!(owned, borrowed);
        assert!(owned.iter().any(|(_, (allocated, elsewhere, ..))| elsewhere[0] != *allocated));
        assert!(owned.iter().any(|(_, (.., value))| value.compressed.is_some()));
    }
}
