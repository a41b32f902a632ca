//! Where a window puts a record that is too large for memory: a temporary file without a name, mapped.
//!
//! Its pages belong to the page cache, so the kernel may write them out and take them back at any time: anonymous
//! memory stays bounded even for a value of many GB. (On a spool directory that is itself kept in memory, tmpfs, they
//! are memory after all.) The file has no name from the start, so that nothing is left behind whatever happens.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::block::Block;
use super::mmap::Map;

/// The bytes of a window that has outgrown memory.
pub(super) struct Spill {
    file: File,
    written: usize,
    map: Map,
    /// Where the bytes not yet consumed begin. INVARIANT: at most `map.len()`.
    start: usize,
}

impl Spill {
    /// A spill file in `dir` that begins with `bytes`.
    pub fn new(dir: &Path, bytes: &[u8]) -> io::Result<Spill> {
        let mut spill = Spill { file: tempfile::tempfile_in(dir)?, written: 0, map: Map::new_empty(), start: 0 };
        spill.append(bytes)?;
        spill.show()?;
        Ok(spill)
    }

    /// The bytes not yet consumed.
    pub fn bytes(&self) -> &[u8] {
        &self.map[self.start..]
    }

    /// Whether more bytes before the window than in it would make a fresh file the cheaper one to go on with.
    pub fn is_mostly_consumed(&self) -> bool {
        self.start > self.bytes().len()
    }

    /// Writes `bytes` behind the others; [`Spill::show`] makes them visible.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written = self.written.checked_add(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(())
    }

    /// Maps what has been written. Blocks taken before keep the map that they have.
    pub fn show(&mut self) -> io::Result<()> {
        self.map = Map::new(&self.file, self.written)?;
        Ok(())
    }

    /// Consumes the first `len` bytes. The caller has seen that they are there.
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
