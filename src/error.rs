//! What can go wrong, where, and what to do about it.
//!
//! An error is made by the primitive that failed, which knows the absolute offset; the walker adds the noun
//! ([`Within`]), the driver adds the file. Nobody formats before the end.

use std::fmt;
use std::io;

/// Short for a result that fails with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A failure, with the byte it happened at, what was being read, and in which file.
///
/// One pointer wide, so that the `Result` of a hot read stays in registers.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    offset: Option<u64>,
    within: Option<&'static str>,
    file: Option<String>,
    hint: Option<String>,
}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end before what was announced: `needed` bytes were asked for, `left` are there.
    Truncated {
        /// Bytes that the read needs from the offset on.
        needed: u64,
        /// Bytes that are there.
        left: u64,
    },
    /// The bytes contradict the format.
    Corrupt(String),
    /// The bytes are of a format, version or type that this program does not know. They may be fine.
    Unsupported(String),
    /// The file is not a snapshot at all.
    NotASnapshot(String),
    /// The file asks for more than [`crate::limits`] allows.
    Limit(String),
    /// The checksum over the file differs from the one stored at its end.
    Checksum {
        /// As stored.
        stored: u64,
        /// As computed.
        computed: u64,
    },
    /// The operating system refused.
    Io(io::Error),
    /// The caller asked for something impossible.
    Usage(String),
}

impl Error {
    /// An error of `kind` at the absolute byte `offset`.
    #[cold]
    pub fn at(offset: u64, kind: ErrorKind) -> Self {
        Error(Box::new(Inner { kind, offset: Some(offset), within: None, file: None, hint: None }))
    }

    /// An error that has no place in the bytes of a file.
    #[cold]
    pub fn new(kind: ErrorKind) -> Self {
        Error(Box::new(Inner { kind, offset: None, within: None, file: None, hint: None }))
    }

    /// The bytes at `offset` contradict the format.
    #[cold]
    pub fn corrupt(offset: u64, what: impl Into<String>) -> Self {
        Error::at(offset, ErrorKind::Corrupt(what.into()))
    }

    /// The bytes at `offset` are of a kind this program does not know.
    #[cold]
    pub fn unsupported(offset: u64, what: impl Into<String>) -> Self {
        Error::at(offset, ErrorKind::Unsupported(what.into()))
    }

    /// `needed` bytes were asked for at `offset`, `left` are there.
    #[cold]
    pub fn truncated(offset: u64, needed: u64, left: u64) -> Self {
        Error::at(offset, ErrorKind::Truncated { needed, left })
    }

    /// Wrong usage, found before any byte was read.
    #[cold]
    pub fn usage(what: impl Into<String>) -> Self {
        Error::new(ErrorKind::Usage(what.into()))
    }

    /// Names the file, unless one is named already.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.0.file.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Says where, unless that is known already.
    #[must_use]
    pub fn or_at(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Tells the user what to do, unless told already.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The absolute byte in the (decompressed) file.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// What was being read.
    pub fn within(&self) -> Option<&'static str> {
        self.0.within
    }

    /// The file, once the driver has added it.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// For a read that ran out of bytes: how many it needs from the error's offset on.
    pub fn needed(&self) -> Option<u64> {
        match self.0.kind {
            ErrorKind::Truncated { needed, .. } => Some(needed),
            _ => None,
        }
    }

    /// The message without the file's name: `byte 0x1f3a: hash field: needs 512 bytes, 37 left`.
    pub fn message(&self) -> String {
        struct Bare<'a>(&'a Error);
        impl fmt::Display for Bare<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write_message(f)
            }
        }
        Bare(self).to_string()
    }

    fn write_message(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(offset) = inner.offset {
            write!(f, "byte {offset:#x}: ")?;
        }
        if let Some(within) = inner.within {
            write!(f, "{within}: ")?;
        }
        write!(f, "{}", inner.kind)?;
        match &inner.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.0.file {
            write!(f, "{file}: ")?;
        }
        self.write_message(f)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Truncated { needed, left } => {
                write!(f, "needs {needed} {}, {left} left", if *needed == 1 { "byte" } else { "bytes" })
            }
            ErrorKind::Corrupt(what)
            | ErrorKind::Unsupported(what)
            | ErrorKind::NotASnapshot(what)
            | ErrorKind::Limit(what)
            | ErrorKind::Usage(what) => f.write_str(what),
            ErrorKind::Checksum { stored, computed } => {
                write!(f, "checksum mismatch: the file says {stored:016x}, its bytes give {computed:016x}")
            }
            ErrorKind::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::new(ErrorKind::Io(error))
    }
}

/// Adds the noun to an error that has none yet: `input.length().within("hash size")?`.
pub trait Within {
    /// Names what was being read; the innermost name stays.
    #[must_use]
    fn within(self, noun: &'static str) -> Self;
}

impl<T> Within for Result<T> {
    #[inline]
    fn within(self, noun: &'static str) -> Self {
        self.map_err(|mut error| {
            error.0.within.get_or_insert(noun);
            error
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_file_place_noun_and_fault() {
        let error = Err::<(), _>(Error::truncated(0x1f3a, 512, 37)).within("hash field").unwrap_err();
        assert_eq!(
            error.in_file("dump.rdb").to_string(),
            "dump.rdb: byte 0x1f3a: hash field: needs 512 bytes, 37 left"
        );
    }

    #[test]
    fn keeps_the_innermost_noun_and_the_first_file() {
        let error = Err::<(), _>(Error::corrupt(1, "x")).within("inner").within("outer").unwrap_err();
        assert_eq!(error.in_file("a").in_file("b").to_string(), "a: byte 0x1: inner: x");
    }
}
