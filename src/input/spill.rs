//! Spill file of a window: an unnamed, memory-mapped temporary file for records too large for memory.
//!
//! Its pages belong to the page cache, so the kernel may evict them at any time, and anonymous memory stays bounded even
//! for a value of many GB (unless the spool directory is on tmpfs). The file is unlinked from the start, so nothing is
//! left behind on a crash.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::block::Block;
use super::mmap::Map;
use super::whole::temporary_file;

/// Bytes of a window that has outgrown memory.
pub(super) struct Spill {
    file: File,
    written: usize,
    map: Map,
    /// Start of the unconsumed bytes. INVARIANT: at most `map.len()`.
    start: usize,
}

impl Spill {
    /// Creates a spill file in `dir` that starts with `bytes`.
    pub fn new(dir: &Path, bytes: &[u8]) -> io::Result<Spill> {
        let mut spill = Spill { file: temporary_file(dir)?, written: 0, map: Map::new_empty(), start: 0 };
        spill.append(bytes)?;
        spill.show()?;
        Ok(spill)
    }

    /// Returns the unconsumed bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map[self.start..]
    }

    /// Returns whether more than half of the file is consumed, so that copying the rest to a new file is cheaper.
    pub fn is_mostly_consumed(&self) -> bool {
        self.start > self.bytes().len()
    }

    /// Appends `bytes`; [`Spill::show`] makes them visible.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written = self.written.checked_add(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(())
    }

    /// Maps all written bytes. Blocks taken earlier keep their own map.
    pub fn show(&mut self) -> io::Result<()> {
        self.map = Map::new(&self.file, self.written)?;
        Ok(())
    }

    /// Consumes the first `len` bytes, which the caller has checked to be available.
    pub fn take(&mut self, len: usize) -> Block {
        let range = self.start..self.start + len;
        self.start = range.end;
        Block::mapped(self.map.clone(), range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_outlive_the_growth_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(dir.path(), b"abc").unwrap();
        let block = spill.take(2);
        spill.append(b"defg").unwrap();
        assert_eq!(spill.bytes(), b"c");
        spill.show().unwrap();
        assert_eq!(spill.bytes(), b"cdefg");
        assert!(!spill.is_mostly_consumed());
        drop(spill);
        assert_eq!(&*block, b"ab");
        assert!(block.is_mapped());
    }

    #[test]
    fn spill_file_has_no_name() {
        let dir = tempfile::tempdir().unwrap();
        let _spill = Spill::new(dir.path(), b"abc").unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
