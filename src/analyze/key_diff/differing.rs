//! Keys that differ, sorted by database and name: in memory, and beyond a limit on disk.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::store::needs_more_space;
use super::stored::{Fields, LENGTH, SideFacts, framed, write_number};
use crate::error::Result;
use crate::limits::Budget;
use crate::report::key_comparison::KeyDifference;

/// Ways in which a key differs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes(u8);

impl Changes {
    /// Sets whether a key differs in this way.
    pub fn set(&mut self, difference: KeyDifference, set: bool) {
        let bit = 1 << (difference as u8);
        if set { self.0 |= bit } else { self.0 &= !bit }
    }

    /// Returns whether the key differs in this way.
    pub fn has(self, difference: KeyDifference) -> bool {
        self.0 & 1 << (difference as u8) != 0
    }

    /// Returns whether the key is the same on both sides.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns all of them.
    pub fn list(self) -> Vec<KeyDifference> {
        KeyDifference::ALL.into_iter().filter(|difference| self.has(*difference)).collect()
    }
}

/// All copies of a key on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    /// One of them: that of the first file.
    pub facts: SideFacts,
    /// Their number.
    pub count: u64,
    /// True if they have several types.
    pub varied_type: bool,
    /// True if they have several values.
    pub varied_content: bool,
    /// True if they have several expiries.
    pub varied_expiry: bool,
}

impl Copies {
    /// Returns the only copy so far.
    pub fn new(facts: SideFacts) -> Copies {
        Copies { facts, count: 1, varied_type: false, varied_content: false, varied_expiry: false }
    }

    /// Adds a copy.
    pub fn add(&mut self, other: SideFacts) {
        let mine = self.facts;
        self.count += 1;
        self.varied_type |= (mine.kind, mine.module) != (other.kind, other.module);
        self.varied_content |= mine.content != other.content;
        self.varied_expiry |= mine.expires_at != other.expires_at;
        self.facts = mine.min(other);
    }
}

/// A key that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differing {
    /// Database.
    pub db: u64,
    /// Name, or what stands for it if names are masked.
    pub name: Box<[u8]>,
    /// Its pattern if names are masked; otherwise it follows from the name.
    pub pattern: Option<Box<str>>,
    /// How it differs.
    pub changes: Changes,
    /// The key on the old side.
    pub before: Option<Copies>,
    /// The key on the new side.
    pub after: Option<Copies>,
}

impl Differing {
    fn order(&self, other: &Differing) -> Ordering {
        (self.db, &self.name).cmp(&(other.db, &other.name))
    }

    fn bytes(&self) -> usize {
        size_of::<Differing>() + self.name.len() + self.pattern.as_deref().map_or(0, str::len)
    }

    fn write(&self, out: &mut Vec<u8>) {
        framed(out, |out| {
            write_number(self.db, out);
            out.push(self.changes.0);
            for copies in [&self.before, &self.after] {
                write_number(copies.map_or(0, |copies| copies.count), out);
                // Only the facts are needed from here on.
                copies.iter().for_each(|copies| copies.facts.write(out));
            }
            // Zero stands for none: a pattern of no bytes is that of an empty name, which is no secret.
            let pattern = self.pattern.as_deref().unwrap_or_default();
            write_number(pattern.len() as u64, out);
            out.extend_from_slice(pattern.as_bytes());
            out.extend_from_slice(&self.name);
        });
    }

    fn read(record: &[u8]) -> Option<Differing> {
        let mut fields = Fields(record);
        let (db, changes) = (fields.number()?, Changes(fields.byte()?));
        let mut sides = [None; 2];
        for side in &mut sides {
            let count = fields.number()?;
            if count > 0 {
                *side = Some(Copies { count, ..Copies::new(SideFacts::read(&mut fields)?) });
            }
        }
        let [before, after] = sides;
        let pattern = usize::try_from(fields.number()?).ok()?;
        let (pattern, name) = fields.0.split_at_checked(pattern)?;
        let pattern = std::str::from_utf8(pattern).ok().filter(|pattern| !pattern.is_empty()).map(Box::from);
        Some(Differing { db, name: name.into(), pattern, changes, before, after })
    }
}

/// Sorter of keys that differ.
#[derive(Debug)]
pub struct Sorter {
    dir: PathBuf,
    most: usize,
    largest: u64,
    held: Vec<Differing>,
    bytes: usize,
    file: Option<File>,
    /// Start and end of each sorted run in the file.
    runs: Vec<(u64, u64)>,
    written: u64,
}

/// Least size of the buffer of a run.
const MIN_BUFFER: usize = 4 << 10;

impl Sorter {
    /// Creates a sorter that keeps in memory what `budget` allows, the rest in an unnamed file in `dir`.
    pub fn new(dir: &Path, budget: Budget) -> Sorter {
        Sorter {
            dir: dir.to_owned(),
            most: budget.compared_keys(),
            largest: budget.compared_keys_on_disk(),
            held: Vec::new(),
            bytes: 0,
            file: None,
            runs: Vec::new(),
            written: 0,
        }
    }

    /// Adds keys.
    pub fn add(&mut self, keys: Vec<Differing>) -> Result<()> {
        for key in keys {
            if !self.held.is_empty() && self.bytes + key.bytes() > self.most {
                self.spill()?;
            }
            self.bytes += key.bytes();
            self.held.push(key);
        }
        Ok(())
    }

    fn sort(&mut self) {
        self.held.par_sort_unstable_by(Differing::order);
    }

    /// Moves all keys to disk, as a sorted run.
    fn spill(&mut self) -> Result<()> {
        self.sort();
        if self.file.is_none() {
            self.file = Some(crate::input::whole::temporary_file(&self.dir)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let (start, mut record) = (self.written, Vec::new());
        let mut writer = BufWriter::with_capacity(1 << 18, file);
        for key in self.held.drain(..) {
            record.clear();
            key.write(&mut record);
            self.written += record.len() as u64;
            if self.written > self.largest {
                return Err(needs_more_space(self.largest));
            }
            writer.write_all(&record)?;
        }
        writer.flush()?;
        self.runs.push((start, self.written));
        self.bytes = 0;
        Ok(())
    }

    /// Passes all keys to `see`, by database and name.
    pub fn finish(mut self, mut see: impl FnMut(&Differing) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            self.sort();
            return self.held.iter().try_for_each(see);
        }
        self.spill()?;
        self.held = Vec::new();
        let Some(file) = &self.file else { return Ok(()) };
        let buffer = (self.most / self.runs.len()).max(MIN_BUFFER);
        let mut runs: Vec<Run<'_>> =
            self.runs.iter().map(|&(at, end)| Run { file, at, end, buffer, bytes: Vec::new(), start: 0 }).collect();
        let mut next = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            next.extend(run.next()?.map(|key| Reverse(Next(key, number))));
        }
        while let Some(Reverse(Next(key, number))) = next.pop() {
            see(&key)?;
            if let Some(run) = runs.get_mut(number) {
                next.extend(run.next()?.map(|key| Reverse(Next(key, number))));
            }
        }
        Ok(())
    }
}

/// First key of a run that has not been seen, and the number of the run.
struct Next(Differing, usize);

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order(&other.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

/// A sorted run in the file.
struct Run<'f> {
    file: &'f File,
    at: u64,
    end: u64,
    /// Bytes read at a time.
    buffer: usize,
    bytes: Vec<u8>,
    /// Start of what has not been seen in `bytes`.
    start: usize,
}

impl Run<'_> {
    fn next(&mut self) -> Result<Option<Differing>> {
        if !self.has(LENGTH)? {
            return Ok(None);
        }
        let len = self.bytes.get(self.start..).and_then(|bytes| bytes.first_chunk::<LENGTH>()).copied();
        let len = usize::try_from(u32::from_le_bytes(len.unwrap_or_default())).unwrap_or_default();
        self.start += LENGTH;
        if !self.has(len)? {
            return Ok(None);
        }
        let record = self.bytes.get(self.start..self.start + len).unwrap_or_default();
        self.start += len;
        Ok(Differing::read(record))
    }

    /// Reads until `len` bytes are at hand; returns false at the end of the run.
    fn has(&mut self, len: usize) -> Result<bool> {
        if self.bytes.len() - self.start >= len {
            return Ok(true);
        }
        self.bytes.drain(..self.start);
        self.start = 0;
        let more = len.saturating_sub(self.bytes.len()).max(self.buffer) as u64;
        let more = more.min(self.end - self.at);
        let mut file = self.file;
        file.seek(SeekFrom::Start(self.at))?;
        self.at += file.take(more).read_to_end(&mut self.bytes)? as u64;
        Ok(self.bytes.len() >= len && len > 0)
    }
}
