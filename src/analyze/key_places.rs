//! Search for keys that occur twice in a file, in memory that does not grow with the number of keys.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{self, Budget};
use crate::rdb::verify::unique::{PlacedHash, repeated};
use crate::wording::wording;

/// Parts into which hashes are divided: each is then compared alone.
const PARTS: usize = 64;
/// Size of a hash on disk.
const BYTES: u64 = size_of::<u128>() as u64;

/// Hashes of the keys of one file. Those beyond a limit are in a temporary file, in runs.
#[derive(Debug)]
pub struct KeyPlaces {
    dir: PathBuf,
    most: usize,
    /// Maximum size of the file.
    largest: u64,
    /// Hashes in memory, by part.
    hashes: [Vec<PlacedHash>; PARTS],
    held: usize,
    /// Repetitions that were counted and dropped.
    dropped: u64,
    file: Option<File>,
    /// For each run, where each part of its hashes begins in the file and how many it has.
    runs: Vec<Vec<(u64, u64)>>,
    written: u64,
}

impl KeyPlaces {
    /// Creates an empty set that keeps as many hashes in memory as `budget` allows, others in an unnamed file in `dir`.
    pub fn new(dir: &Path, budget: Budget) -> KeyPlaces {
        KeyPlaces::keeping(budget.placed_keys(), dir, budget)
    }

    /// Creates an empty set that keeps `most` hashes in memory.
    fn keeping(most: usize, dir: &Path, budget: Budget) -> KeyPlaces {
        KeyPlaces {
            dir: dir.to_owned(),
            most,
            largest: budget.temporary_file(),
            hashes: [const { Vec::new() }; PARTS],
            held: 0,
            dropped: 0,
            file: None,
            runs: Vec::new(),
            written: 0,
        }
    }

    /// Adds keys.
    pub fn add(&mut self, hashes: &[PlacedHash]) -> Result<()> {
        for some in hashes.chunks(self.most) {
            if self.held + some.len() > self.most {
                self.drop_repeated();
                if self.held + some.len() > self.most / 2 {
                    self.spill()?;
                }
            }
            self.held += some.len();
            for hash in some {
                self.hashes[part_of(*hash)].push(*hash);
            }
        }
        Ok(())
    }

    /// Counts and drops hashes of names that occur again and again: a file may hold nothing else.
    fn drop_repeated(&mut self) {
        let mut table = Vec::new();
        for part in &mut self.hashes {
            let dropped = drop_repeated(part, &mut table);
            self.dropped += dropped as u64;
            self.held -= dropped;
        }
    }

    /// Moves all hashes to disk, as a run.
    fn spill(&mut self) -> Result<()> {
        let (written, most) = (self.written + self.held as u64 * BYTES, self.largest);
        if written > most {
            let what = wording!(
                "keys were not searched for repetitions: their hashes need a temporary file of more than {most} bytes",
                "未检查 key 是否重复：其哈希值需要超过 {most} 字节的临时文件"
            );
            return Err(Error::new(ErrorKind::OverBudget(what))
                .with_remedy(wording!("give a larger --max-temp", "请调大 --max-temp")));
        }
        if self.file.is_none() {
            self.file = Some(crate::input::whole::temporary_file(&self.dir)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut run = Vec::new();
        let mut writer = BufWriter::new(file);
        for part in &mut self.hashes {
            part.iter().try_for_each(|hash| writer.write_all(&hash.0.to_le_bytes()))?;
            run.push((self.written, part.len() as u64));
            self.written += part.len() as u64 * BYTES;
            part.clear();
        }
        writer.flush()?;
        self.runs.push(run);
        self.held = 0;
        Ok(())
    }

    /// Returns the number of keys that occur before in the file, and the first of them: the places of both.
    ///
    /// Places in memory are compared on all threads of the current pool.
    pub fn finish(mut self) -> Result<(u64, Vec<(u64, u64)>)> {
        if self.runs.is_empty() {
            let found = self.hashes.par_iter_mut().map(|part| {
                let mut found = Found::default();
                found.search(part);
                found
            });
            let found = found.reduce(Found::default, Found::join);
            return Ok((found.count + self.dropped, found.first));
        }
        self.spill()?;
        let Some(file) = &self.file else { return Ok((0, Vec::new())) };
        // The buffers of the parts would be as much again.
        self.hashes.iter_mut().for_each(|part| *part = Vec::new());
        let (mut found, mut hashes) = (Found { count: self.dropped, ..Found::default() }, Vec::new());
        for (number, part) in (0..).zip(0..PARTS) {
            let ranges = || self.runs.iter().filter_map(|run| run.get(part)).copied();
            // A part may still be too large; it is then read several times, for a range of its hashes each.
            let passes = ranges().map(|(_, hashes)| hashes).sum::<u64>().div_ceil(self.most as u64).max(1);
            for pass in 0..passes {
                hashes.clear();
                let of_pass = |hash: &PlacedHash| hash.part(PARTS as u64 * passes) == number * passes + pass;
                for range in ranges() {
                    read(file, range, |hash| hashes.extend(Some(hash).filter(of_pass)))?;
                }
                found.search(&mut hashes);
            }
        }
        Ok((found.count, found.first))
    }
}

/// Returns the index of the part that a hash belongs to.
fn part_of(hash: PlacedHash) -> usize {
    usize::try_from(hash.part(PARTS as u64)).unwrap_or_default() % PARTS
}

/// Drops all but the first hashes of each name. Returns the number of those dropped.
fn drop_repeated(hashes: &mut Vec<PlacedHash>, table: &mut Vec<u32>) -> usize {
    let all = hashes.len();
    // The hashes are sorted if any name occurs twice.
    if repeated(hashes, table).next().is_none() {
        return 0;
    }
    let (mut before, mut places) = (None, 0);
    hashes.retain(|hash| {
        places = if before.is_some_and(|before| hash.is_same_name(before)) { places + 1 } else { 0 };
        before = Some(*hash);
        // The first places of each name are enough to show the first repetitions of all.
        places <= limits::MAX_NAMED_ERRORS
    });
    all - hashes.len()
}

/// Reads a range of hashes.
fn read(mut file: &File, (start, hashes): (u64, u64), mut see: impl FnMut(PlacedHash)) -> Result<()> {
    file.seek(SeekFrom::Start(start))?;
    let mut reader = BufReader::new(file.take(hashes * BYTES));
    for _ in 0..hashes {
        let mut bytes = [0; size_of::<u128>()];
        reader.read_exact(&mut bytes)?;
        see(PlacedHash(u128::from_le_bytes(bytes)));
    }
    Ok(())
}

/// Keys that occur before.
#[derive(Debug, Default)]
struct Found {
    count: u64,
    /// The first of them in the file.
    first: Vec<(u64, u64)>,
    /// Buffer of the search.
    table: Vec<u32>,
}

impl Found {
    fn search(&mut self, hashes: &mut [PlacedHash]) {
        for two in repeated(hashes, &mut self.table) {
            self.count += 1;
            self.first.push(two);
            if self.first.len() > 2 * limits::MAX_NAMED_ERRORS {
                self.trim();
            }
        }
        self.trim();
    }

    fn join(mut self, other: Found) -> Found {
        self.count += other.count;
        self.first.extend(other.first);
        self.trim();
        self
    }

    fn trim(&mut self) {
        self.first.sort_unstable_by_key(|&(_, again)| again);
        self.first.truncate(limits::MAX_NAMED_ERRORS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::verify::name_hash::NameHasher;

    fn found(names: &[u32], most: usize) -> (u64, Vec<(u64, u64)>) {
        let mut places = KeyPlaces::keeping(most, &std::env::temp_dir(), Budget::default());
        let hasher = NameHasher::random();
        let hashes: Vec<_> = names
            .iter()
            .zip(0..)
            .map(|(name, offset)| PlacedHash::new(&hasher, 1, &name.to_le_bytes(), offset))
            .collect();
        hashes.chunks(7).for_each(|some| places.add(some).unwrap());
        places.finish().unwrap()
    }

    #[test]
    fn repeated_keys_are_found_in_memory_and_on_disk() {
        let mut names: Vec<u32> = (0..5000).collect();
        names[4000] = 17;
        names[4100] = 17;
        names[300] = 299;
        let expected = (3, vec![(299, 300), (17, 4000), (4000, 4100)]);
        for most in [1, 3, 20, 1000, 1 << 20] {
            assert_eq!(found(&names, most), expected, "{most}");
        }
        assert_eq!(found(&[1; 40], 1000).0, 39);
        assert_eq!(found(&[1; 40], 4), found(&[1; 40], 1000));
        assert_eq!(found(&[1; 5000], 30), found(&[1; 5000], 10_000));
    }

    #[test]
    fn a_name_that_occurs_again_and_again_takes_no_room() {
        let mut places = KeyPlaces::keeping(1000, &std::env::temp_dir(), Budget::default());
        let hasher = NameHasher::random();
        // Parts of a file may be read in any order.
        for offset in (0..100_000_u64).map(|number| number * 7919 % 100_000) {
            let name = if offset % 1000 == 0 { offset } else { 1 };
            places.add(&[PlacedHash::new(&hasher, 0, &name.to_le_bytes(), offset)]).unwrap();
        }
        assert!(places.written < 2000 * BYTES, "{}", places.written);
        let first: Vec<(u64, u64)> = (1..=10).map(|place| (place, place + 1)).collect();
        assert_eq!(places.finish().unwrap(), (99_899, first));
    }

    #[test]
    fn databases_have_names_of_their_own() {
        let hasher = NameHasher::random();
        let mut hashes = [PlacedHash::new(&hasher, 0, b"a", 1), PlacedHash::new(&hasher, 1, b"a", 2)];
        assert_eq!(repeated(&mut hashes, &mut Vec::new()).count(), 0);
    }
}
