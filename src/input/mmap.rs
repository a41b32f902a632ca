//! Memory-mapped files.
//!
//! A map requires that its bytes do not change, which the file system does not guarantee. If another process **writes**
//! to the file while it is mapped, a mixture of old and new bytes is read; since parsers treat all bytes as hostile, the
//! outcome is an error or a wrong figure, as with `read`. If another process **truncates** the file, touching a page
//! beyond the new end raises `SIGBUS`, which ends the process; the command line names the file before. Servers never do
//! either to a finished snapshot: they write a new file and rename it. Files on network file systems, and with `--no-mmap`
//! all, are read through the window of [`super::stream`] instead.
#![expect(unsafe_code, reason = "mapping a file cannot be done without")]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

#[cfg(unix)]
use memmap2::{Advice, UncheckedAdvice};
use memmap2::{Mmap, MmapOptions};

/// Read-only map of the start of a file; cheap to clone and shared between threads.
#[derive(Debug, Clone)]
pub struct Map(Option<Arc<Mmap>>);

impl Map {
    /// Creates an empty map.
    pub fn new_empty() -> Map {
        Map(None)
    }

    /// Maps the first `len` bytes of a regular file. An empty map needs no system call and cannot fail.
    pub fn new(file: &File, len: usize) -> io::Result<Map> {
        if len == 0 {
            return Ok(Map::new_empty());
        }
        // SAFETY: the map is read-only and private to this type, which only hands out shared slices of it. The module
        // documentation requires of the user that no process truncates the file meanwhile; the spill file of a window is
        // unlinked, private to this process, and only ever grows.
        let map = unsafe { MmapOptions::new().len(len).map(file)? };
        // A hint that enlarges read-ahead on a cold disk; errors are harmless. Populating the map beforehand, whole or
        // batch by batch, was measured to be no faster than the page faults it saves.
        #[cfg(unix)]
        let _ = map.advise(Advice::Sequential);
        Ok(Map(Some(Arc::new(map))))
    }

    /// Releases the pages of a range that is unlikely to be read again (`MADV_DONTNEED`).
    ///
    /// Threads release their ranges in parallel; remaining pages are unmapped by a single thread when the map is dropped.
    /// Systems other than Unix have no such call.
    pub fn give_back(&self, part: Range<usize>) {
        let Some(map) = self.0.as_ref().filter(|map| part.start < part.end && part.end <= map.len()) else { return };
        #[cfg(not(unix))]
        let _ = map;
        // SAFETY: the map is a read-only file map, so pages read again later come from the same file with the same content.
        // Also just a hint: errors are harmless.
        #[cfg(unix)]
        let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, part.start, part.len()) };
    }
}

impl Deref for Map {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |map| map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn map_holds_the_bytes_of_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"REDIS0011").unwrap();
        assert_eq!(&*Map::new(&file, 9).unwrap(), b"REDIS0011");
        assert_eq!(&*Map::new(&file, 5).unwrap(), b"REDIS");
    }

    #[test]
    fn released_pages_can_be_read_again() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
        file.write_all(&bytes).unwrap();
        let map = Map::new(&file, bytes.len()).unwrap();
        for part in [0..100_000, 0..0, 5000..70_000, 99_999..100_001] {
            map.give_back(part);
            assert!(*map == *bytes);
        }
        Map::new_empty().give_back(0..1);
    }

    #[test]
    fn empty_file_maps_to_no_bytes() {
        let file = tempfile::tempfile().unwrap();
        assert!(Map::new(&file, 0).unwrap().is_empty());
    }
}
