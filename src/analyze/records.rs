//! The facts of each key as an iterator, for programs that use the library.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use super::plan::ReadPlan;
use super::read::feed::Feed;
use super::read::parallel::read_in_order;
use super::read::progress::Unwatched;
use super::read::reader::{Continue, Reading, read_batch};
use super::read::snapshot::{FileFacts, Snapshot};
use super::read::tally::Tallies;
use super::verdict;
use crate::error::{Error, Result};
use crate::record::{Encoding, Kind, ModuleName, Record, StreamFacts};
use crate::units::{Bytes, Millis};

/// A [`Record`] that owns its key, and the file that it is from.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // as in `Record`
pub struct OwnedRecord {
    /// The file, as reports name it.
    pub file: Arc<str>,
    pub db: u64,
    pub key: Vec<u8>,
    pub kind: Kind,
    pub module: Option<ModuleName>,
    pub encoding: Encoding,
    pub length: Option<u64>,
    pub memory: Bytes,
    pub alternatives: Vec<Bytes>,
    pub disk: Bytes,
    pub expires_at: Option<Millis>,
    pub idle: Option<u64>,
    pub freq: Option<u8>,
    pub fields_with_ttl: Option<u64>,
    pub stream: Option<StreamFacts>,
}

impl OwnedRecord {
    fn new(record: &Record<'_>, file: &Arc<str>) -> Self {
        OwnedRecord {
            file: Arc::clone(file),
            db: record.db,
            key: record.key.to_vec(),
            kind: record.kind,
            module: record.module,
            encoding: record.encoding,
            length: record.length,
            memory: record.memory,
            alternatives: record.alternatives.to_vec(),
            disk: record.disk,
            expires_at: record.expires_at,
            idle: record.idle,
            freq: record.freq,
            fields_with_ttl: record.fields_with_ttl,
            stream: record.stream.copied(),
        }
    }
}

/// Goes over the selected records in file order, a batch in memory at a time. See [`records`].
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
    left: u64,
}

/// The selected records of all inputs, one after the other in file order.
///
/// ```no_run
/// use rdblens::{ReadPlan, records};
///
/// let plan = ReadPlan::new(std::env::temp_dir());
/// for record in records(&["dump.rdb"], &plan)? {
///     let record = record?;
///     println!("{} {} bytes", record.key.escape_ascii(), record.memory.0);
/// }
/// # Ok::<(), rdblens::error::Error>(())
/// ```
///
/// What is damaged comes as errors behind the last record.
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
    /// Reads the next batch; false when there is none.
    fn read(&mut self) -> bool {
        let Some(work) = self.feed.as_mut().and_then(Iterator::next) else {
            self.end();
            return false;
        };
        let reading = Reading { selection: &self.plan.selection, reference: self.reference, checksum: self.checksum };
        let tally = self.tallies.entry(work.file.index).or_default();
        let (ready, names) = (&mut self.ready, &self.names);
        read_batch(&work.batch, &work.file, reading, tally, |record, _| {
            if let Some(name) = names.get(work.file.index) {
                ready.push_back(OwnedRecord::new(record, name));
            }
            Continue::Yes
        });
        true
    }

    /// Learns what was wrong with the files, once.
    fn end(&mut self) {
        let Some(feed) = self.feed.take() else { return };
        let (facts, tallies) = (std::mem::take(&mut self.facts), std::mem::take(&mut self.tallies));
        for verdict in verdict::verdicts(facts, feed.into_endings(), tallies, self.checksum) {
            self.errors.extend(verdict.fault);
            self.errors.extend(verdict.damage);
        }
    }
}

impl Iterator for Records<'_> {
    type Item = Result<OwnedRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            if let Some(record) = self.ready.pop_front() {
                self.left -= 1;
                return Some(Ok(record));
            }
            if !self.read() {
                return self.errors.pop_front().map(Err);
            }
        }
        None
    }
}

/// Shows every selected record to `see`, one after the other in file order, with the name of its file.
///
/// ```no_run
/// use rdblens::analyze::{ReadPlan, for_each_record};
///
/// let plan = ReadPlan::new(std::env::temp_dir());
/// let mut lists = 0;
/// for_each_record(&["dump.rdb"], &plan, |record, _file| {
///     lists += u64::from(record.kind == rdblens::record::Kind::List);
/// })?;
/// # Ok::<(), rdblens::error::Error>(())
/// ```
///
/// Fails when a file cannot be read to its end, after the records before have been shown. A value that is damaged inside
/// intact framing is passed over: [`records()`](records) tells of those, too.
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
    let endings = feed.into_endings();
    verdict::verdicts(snapshot.facts, endings, tallies, reading.checksum)
        .into_iter()
        .find_map(|verdict| verdict.fault)
        .map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_records_and_then_what_was_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.rdb");
        std::fs::write(&path, b"REDIS0011\xfe\x00\x00\x01a\x01b\x00\x03key\x05val").unwrap();
        let plan = ReadPlan::new(folder.path().to_owned());
        let all: Vec<_> = records(&[&path], &plan).unwrap().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].as_ref().unwrap().key, b"a");
        assert!(
            all[1]
                .as_ref()
                .unwrap_err()
                .to_string()
                .contains("cut.rdb: byte 0x15: string value: needs 6 bytes, 4 left")
        );
    }
}
