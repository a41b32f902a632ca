//! Keys of both sides, divided into parts by the hash of their names, in memory and beyond a limit on disk.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::stored::{LENGTH, StoredKey};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Budget;
use crate::rdb::verify::unique::part_of;
use crate::wording::wording;

/// Parts into which keys are divided: each is then compared alone, in tables that fit the cache.
pub const PARTS: usize = 256;

/// Keys of a batch, in the order of reading.
#[derive(Debug, Default)]
pub struct Gathered {
    bytes: Vec<u8>,
    /// Part of each key, and the end of its record.
    keys: Vec<(usize, usize)>,
}

impl Gathered {
    /// Adds a key.
    pub fn push(&mut self, key: &StoredKey<'_>) {
        key.write(&mut self.bytes);
        let part = usize::try_from(part_of(key.hash, PARTS as u64)).unwrap_or_default();
        self.keys.push((part % PARTS, self.bytes.len()));
    }

    /// Takes the keys out, ordered by part, and leaves the buffers for the next batch.
    pub fn take_block(&mut self) -> KeyBlock {
        let block = self.by_part();
        self.bytes.clear();
        self.keys.clear();
        KeyBlock(block)
    }

    fn by_part(&self) -> Block {
        let ranges = || {
            let mut start = 0;
            self.keys.iter().map(move |&(part, end)| (part, std::mem::replace(&mut start, end)..end))
        };
        let mut ends = vec![0; PARTS];
        ranges().for_each(|(part, range)| ends[part] += range.len());
        let mut end = 0;
        let mut places = vec![0; PARTS];
        for (place, size) in places.iter_mut().zip(&mut ends) {
            *place = end;
            end += *size;
            *size = end;
        }
        let mut bytes = vec![0; self.bytes.len()];
        for (part, range) in ranges() {
            let place = places[part];
            places[part] += range.len();
            bytes[place..place + range.len()].copy_from_slice(&self.bytes[range]);
        }
        Block { bytes, ends }
    }
}

/// Keys by part.
#[derive(Debug)]
struct Block {
    bytes: Vec<u8>,
    /// End of each part.
    ends: Vec<usize>,
}

impl Block {
    fn part(&self, part: usize) -> &[u8] {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.bytes.get(start..self.ends[part]).unwrap_or_default()
    }
}

/// Keys of both sides.
#[derive(Debug)]
pub struct KeyStore {
    dir: PathBuf,
    /// Bytes kept in memory.
    most: usize,
    /// Maximum size of the file.
    largest: u64,
    blocks: Vec<Block>,
    held: usize,
    /// Read by several threads.
    file: Option<Mutex<File>>,
    /// For each run, the range of each part in the file.
    runs: Vec<Vec<Range<u64>>>,
    written: u64,
}

impl KeyStore {
    /// Creates a store that keeps in memory what `budget` allows, the rest in an unnamed file in `dir`.
    pub fn new(dir: &Path, budget: Budget) -> KeyStore {
        KeyStore {
            dir: dir.to_owned(),
            most: budget.compared_keys(),
            largest: budget.compared_keys_on_disk(),
            blocks: Vec::new(),
            held: 0,
            file: None,
            runs: Vec::new(),
            written: 0,
        }
    }

    /// Adds the keys of a batch.
    pub fn add(&mut self, keys: KeyBlock) -> Result<()> {
        if self.held > 0 && self.held + keys.0.bytes.len() > self.most {
            self.spill()?;
        }
        self.held += keys.0.bytes.len();
        self.blocks.push(keys.0);
        Ok(())
    }

    /// Moves all keys to disk, as a run.
    fn spill(&mut self) -> Result<()> {
        let most = self.largest;
        if self.written + self.held as u64 > most {
            return Err(needs_more_space(most));
        }
        if self.file.is_none() {
            self.file = Some(Mutex::new(crate::input::whole::temporary_file(&self.dir)?));
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        let mut run = Vec::with_capacity(PARTS);
        for part in 0..PARTS {
            let start = self.written;
            for block in &self.blocks {
                writer.write_all(block.part(part))?;
                self.written += block.part(part).len() as u64;
            }
            run.push(start..self.written);
        }
        writer.flush()?;
        self.runs.push(run);
        self.blocks.clear();
        self.held = 0;
        Ok(())
    }

    /// Ends the adding of keys. Returns whether all are in memory; if some are not, none is.
    pub fn settle(&mut self) -> Result<bool> {
        if self.runs.is_empty() {
            return Ok(true);
        }
        self.spill()?;
        self.blocks = Vec::new();
        Ok(false)
    }

    /// Returns the keys of a part that are in memory.
    pub fn in_memory(&self, part: usize) -> impl Iterator<Item = &[u8]> {
        self.blocks.iter().map(move |block| block.part(part))
    }

    /// Returns the number of passes in which a part on disk has to be compared: each pass takes a range of the hashes.
    pub fn passes(&self, part: usize) -> u64 {
        let bytes: u64 = self.ranges(part).map(|range| range.end - range.start).sum();
        bytes.div_ceil(self.most as u64).max(1)
    }

    fn ranges(&self, part: usize) -> impl Iterator<Item = Range<u64>> + '_ {
        self.runs.iter().filter_map(move |run| run.get(part)).cloned()
    }

    /// Returns the end of the parts on disk from `first` on that fit the memory together: at least one, at most `most`.
    pub fn end_of_fitting(&self, first: usize, most: usize) -> usize {
        let size = |part| self.ranges(part).map(|range| range.end - range.start).sum::<u64>();
        let mut room = self.most as u64;
        let fits = |part: &usize| match room.checked_sub(size(*part)) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        let fitting = (first..PARTS.min(first + most)).take_while(fits).count();
        first + fitting.max(1)
    }

    /// Passes the records of a part on disk to `see`.
    pub fn on_disk(&self, part: usize, mut see: impl FnMut(&[u8])) -> Result<()> {
        let Some(file) = self.file.as_ref() else { return Ok(()) };
        let mut record = Vec::new();
        for Range { start, end } in self.ranges(part) {
            let mut reader = BufReader::with_capacity(1 << 18, SharedFile { file, at: start, end });
            let mut left = end - start;
            while left > 0 {
                let mut len = [0; LENGTH];
                reader.read_exact(&mut len)?;
                record.resize(usize::try_from(u32::from_le_bytes(len)).unwrap_or_default(), 0);
                reader.read_exact(&mut record)?;
                left = left.saturating_sub((LENGTH + record.len()) as u64);
                see(&record);
            }
        }
        Ok(())
    }
}

/// A range of a file that several threads read.
struct SharedFile<'f> {
    file: &'f Mutex<File>,
    at: u64,
    end: u64,
}

impl Read for SharedFile<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(into.len());
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(&mut into[..most])?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Keys of a batch, ready to be added.
#[derive(Debug)]
pub struct KeyBlock(Block);

/// Returns the error for a comparison that needs a larger temporary file.
pub fn needs_more_space(most: u64) -> Error {
    let what = wording!(
        "the keys cannot be compared: they need a temporary file of more than {most} bytes",
        "无法比较 key：需要超过 {most} 字节的临时文件"
    );
    Error::new(ErrorKind::OverBudget(what))
        .with_remedy(wording!("give a larger --max-temp or --max-memory", "请调大 --max-temp 或 --max-memory"))
}
