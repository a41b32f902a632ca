//! Files that are read whole, up to a limit: a name may lead to a device or a pipe without an end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file. Fails if it has more than `limit` bytes.
pub fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_to_end_at_most(open_at_most(path, limit)?, limit)
}

/// Opens a file. Fails if its size says that it has more than `limit` bytes; devices and pipes have none.
pub fn open_at_most(path: &Path, limit: u64) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.len() > limit { Err(too_large(limit)) } else { Ok(file) }
}

/// Reads to the end. Fails if there are more than `limit` bytes.
pub fn read_to_end_at_most(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if read as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

fn too_large(limit: u64) -> io::Error {
    const MIB: u64 = 1 << 20;
    let what = match limit % MIB {
        0 => format!("larger than {} MiB", limit / MIB),
        _ => format!("larger than {limit} bytes"),
    };
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_is_read() {
        assert_eq!(read_to_end_at_most(io::repeat(b'x').take(5), 5).unwrap(), b"xxxxx");
        let error = read_to_end_at_most(io::repeat(b'x'), 5).unwrap_err();
        assert_eq!(error.to_string(), "larger than 5 bytes");
        assert_eq!(read_to_end_at_most(io::empty(), 0).unwrap(), b"");
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // Reading it would fill the memory.
        file.as_file().set_len(1 << 40).unwrap();
        let error = read_at_most(file.path(), 1 << 30).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::FileTooLarge, "larger than 1024 MiB"));
        assert_eq!(read_at_most(file.path(), 0).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
