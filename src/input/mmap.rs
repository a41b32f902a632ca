//! Files mapped into memory: the only unsafe code of the crate.
//!
//! A map promises that its bytes do not change, and the file system does not keep that promise for us. If another
//! process **writes** into the file while it is mapped, we read a mixture of old and new bytes; every reader treats
//! bytes as hostile anyway, so the outcome is an error or a wrong figure, as it would be with `read`. If another
//! process **shrinks** the file, touching a page behind its new end raises `SIGBUS` and the process dies. Servers never
//! do either to a finished snapshot: they write a new file and rename it over the old one. Who must read a file that
//! is truncated in place meanwhile uses `--no-mmap`, which reads it through the window of [`super::stream`].
#![expect(unsafe_code, reason = "mapping a file cannot be done without")]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};

/// The first `len` bytes of a file, read-only; cheap to clone, shared between threads.
#[derive(Debug, Clone)]
pub struct Map(Option<Arc<Mmap>>);

impl Map {
    /// A map of no bytes.
    pub fn new_empty() -> Map {
        Map(None)
    }

    /// Maps the first `len` bytes of a regular file. An empty map costs no system call and cannot fail.
    pub fn new(file: &File, len: usize) -> io::Result<Map> {
        if len == 0 {
            return Ok(Map::new_empty());
        }
        // SAFETY: the map is read-only and private to this type, which only hands out shared slices of it. That nobody
        // shrinks the file meanwhile is what the module's header asks of the user; the spill file of a window is
        // unlinked, ours alone, and only ever grows.
        let map = unsafe { MmapOptions::new().len(len).map(file)? };
        // Only a hint, for larger reads ahead from a cold disk: a kernel that refuses it reads as well. Populating the
        // map beforehand, whole or batch by batch, measured no faster than the faults it saves.
        let _ = map.advise(Advice::Sequential);
        Ok(Map(Some(Arc::new(map))))
    }

    /// Says that a part will hardly be read again. The kernel takes its pages out of the process at once, whichever thread says
    /// so; those that are left it takes out when the map goes, one thread alone.
    pub fn give_back(&self, part: Range<usize>) {
        let Some(map) = self.0.as_ref().filter(|map| part.start < part.end && part.end <= map.len()) else { return };
        // SAFETY: the map is a file's, and nothing can be written to it: what is read there later comes from the same file
        // again, as if it had never been read. A hint, too: nothing depends on it.
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
    fn what_was_given_back_can_be_read_again() {
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
