//! Search for keys that occur twice in a file, in memory that does not grow with the number of keys.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::limits;
use crate::rdb::verify::unique::{PlacedHash, repeated};

/// Parts into which hashes are divided on disk: each is then compared alone.
const PARTS: u64 = 64;
/// Size of a hash on disk.
const BYTES: u64 = size_of::<u128>() as u64;

/// Hashes of the keys of one file. Those beyond a limit are in a temporary file, in sorted runs.
#[derive(Debug)]
pub struct KeyPlaces {
    dir: PathBuf,
    most: usize,
    hashes: Vec<PlacedHash>,
    file: Option<File>,
    /// For each run, where each part of its hashes begins in the file and how many it has.
    runs: Vec<Vec<(u64, u64)>>,
    written: u64,
}

impl KeyPlaces {
    /// Creates an empty set that keeps at most `most` hashes in memory, others in an unnamed file in `dir`.
    pub fn new(dir: &Path, most: usize) -> KeyPlaces {
        KeyPlaces {
            dir: dir.to_owned(),
            most: most.max(1),
            hashes: Vec::new(),
            file: None,
            runs: Vec::new(),
            written: 0,
        }
    }

    /// Adds keys.
    pub fn add(&mut self, hashes: &[PlacedHash]) -> Result<()> {
        for some in hashes.chunks(self.most) {
            if self.hashes.len() + some.len() > self.most {
                self.spill()?;
            }
            self.hashes.extend_from_slice(some);
        }
        Ok(())
    }

    /// Moves all hashes to disk, as a run.
    fn spill(&mut self) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile_in(&self.dir)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        self.hashes.sort_unstable();
        let mut run = Vec::new();
        let mut writer = BufWriter::new(file);
        let mut rest = &self.hashes[..];
        // Sorted hashes are in the order of the parts.
        for part in 0..PARTS {
            let (own, others) = rest.split_at(rest.partition_point(|hash| hash.part(PARTS) <= part));
            own.iter().try_for_each(|hash| writer.write_all(&hash.0.to_le_bytes()))?;
            run.push((self.written, own.len() as u64));
            self.written += own.len() as u64 * BYTES;
            rest = others;
        }
        writer.flush()?;
        self.runs.push(run);
        self.hashes.clear();
        Ok(())
    }

    /// Returns the number of keys that occur before in the file, and the first of them: the places of both.
    pub fn finish(mut self) -> Result<(u64, Vec<(u64, u64)>)> {
        let mut found = Found::default();
        if self.runs.is_empty() {
            found.search(&mut self.hashes);
            return Ok((found.count, found.first));
        }
        self.spill()?;
        let Some(file) = &self.file else { return Ok((0, Vec::new())) };
        for (number, at) in (0..PARTS).zip(0..) {
            let ranges = || self.runs.iter().filter_map(|run| run.get::<usize>(at)).copied();
            // A part may still be too large; it is then read several times, for a range of its hashes each.
            let passes = ranges().map(|(_, hashes)| hashes).sum::<u64>().div_ceil(self.most as u64).max(1);
            for pass in 0..passes {
                self.hashes.clear();
                let of_pass = |hash: &PlacedHash| hash.part(PARTS * passes) == number * passes + pass;
                for range in ranges() {
                    read(file, range, |hash| self.hashes.extend(Some(hash).filter(of_pass)))?;
                }
                found.search(&mut self.hashes);
            }
        }
        Ok((found.count, found.first))
    }
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
}

impl Found {
    fn search(&mut self, hashes: &mut [PlacedHash]) {
        for two in repeated(hashes) {
            self.count += 1;
            self.first.push(two);
            if self.first.len() > 2 * limits::MAX_NAMED_ERRORS {
                self.trim();
            }
        }
        self.trim();
    }

    fn trim(&mut self) {
        self.first.sort_unstable_by_key(|&(_, again)| again);
        self.first.truncate(limits::MAX_NAMED_ERRORS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[u32], most: usize) -> (u64, Vec<(u64, u64)>) {
        let mut places = KeyPlaces::new(&std::env::temp_dir(), most);
        let hashes: Vec<_> =
            names.iter().zip(0..).map(|(name, offset)| PlacedHash::new(1, &name.to_le_bytes(), offset)).collect();
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
    }

    #[test]
    fn databases_have_names_of_their_own() {
        let mut hashes = [PlacedHash::new(0, b"a", 1), PlacedHash::new(1, b"a", 2)];
        assert_eq!(repeated(&mut hashes).count(), 0);
    }
}
