//! Error type with file, byte offset, context and hint.
//!
//! The failing primitive creates the error with its absolute offset, the walker adds what was being read ([`Within`]), and
//! the command adds the file. The message is formatted only when it is shown.

use std::fmt;
use std::io;

/// Alias of [`std::result::Result`] with [`Error`] as error type.
pub type Result<T> = std::result::Result<T, Error>;

/// Error with the byte offset, what was being read, and the file.
///
/// Boxed to one pointer, so that the `Result` of a hot read stays in registers.
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

/// Category of an error, with its data.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends early: `needed` bytes were requested, `left` remain.
    Truncated {
        /// Bytes needed from the offset on.
        needed: u64,
        /// Bytes left.
        left: u64,
    },
    /// The bytes contradict the format.
    Corrupt(String),
    /// A format, version or type that this program does not support; the input may be valid.
    Unsupported(String),
    /// The file is not a snapshot.
    NotASnapshot(String),
    /// The file exceeds one of the limits in `src/limits.rs`.
    Limit(String),
    /// The checksum over the file differs from the one stored at its end.
    Checksum {
        /// Checksum stored in the file.
        stored: u64,
        /// Checksum computed from its bytes.
        computed: u64,
    },
    /// Error from the operating system.
    Io(io::Error),
    /// Invalid request by the caller.
    Usage(String),
}

impl Error {
    /// Creates an error of `kind` at the absolute byte `offset`.
    #[cold]
    pub fn at(offset: u64, kind: ErrorKind) -> Self {
        Error(Box::new(Inner { kind, offset: Some(offset), within: None, file: None, hint: None }))
    }

    /// Creates an error without an offset.
    #[cold]
    pub fn new(kind: ErrorKind) -> Self {
        Error(Box::new(Inner { kind, offset: None, within: None, file: None, hint: None }))
    }

    /// Creates an [`ErrorKind::Corrupt`] error at `offset`.
    #[cold]
    pub fn corrupt(offset: u64, what: impl Into<String>) -> Self {
        Error::at(offset, ErrorKind::Corrupt(what.into()))
    }

    /// Creates an [`ErrorKind::Unsupported`] error at `offset`.
    #[cold]
    pub fn unsupported(offset: u64, what: impl Into<String>) -> Self {
        Error::at(offset, ErrorKind::Unsupported(what.into()))
    }

    /// Creates an [`ErrorKind::Truncated`] error at `offset`.
    #[cold]
    pub fn truncated(offset: u64, needed: u64, left: u64) -> Self {
        Error::at(offset, ErrorKind::Truncated { needed, left })
    }

    /// Creates an [`ErrorKind::Usage`] error, found before any byte was read.
    #[cold]
    pub fn usage(what: impl Into<String>) -> Self {
        Error::new(ErrorKind::Usage(what.into()))
    }

    /// Adds the file name, unless already set.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.0.file.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Adds the offset, unless already set.
    #[must_use]
    pub fn or_at(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Adds a hint for the user, unless already set.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Returns the category.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the absolute offset in the (decompressed) file.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Returns what was being read.
    pub fn within(&self) -> Option<&'static str> {
        self.0.within
    }

    /// Returns the file name, once added.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// Returns the hint.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns the number of bytes needed from the error's offset on, for a truncated read.
    pub fn needed(&self) -> Option<u64> {
        match self.0.kind {
            ErrorKind::Truncated { needed, .. } => Some(needed),
            _ => None,
        }
    }

    /// Returns the message without the file name: `byte 0x1f3a: hash field: needs 512 bytes, 37 left`.
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
                write!(f, "checksum mismatch: stored {stored:016x}, computed {computed:016x}")
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

/// Adds what was being read to an error: `input.length().within("hash size")?`.
pub trait Within {
    /// Names what was being read, unless an inner call has already named it.
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
    fn message_names_file_offset_noun_and_fault() {
        let error = Err::<(), _>(Error::truncated(0x1f3a, 512, 37)).within("hash field").unwrap_err();
        assert_eq!(
            error.in_file("dump.rdb").to_string(),
            "dump.rdb: byte 0x1f3a: hash field: needs 512 bytes, 37 left"
        );
    }

    #[test]
    fn innermost_noun_and_first_file_are_kept() {
        let error = Err::<(), _>(Error::corrupt(1, "x")).within("inner").within("outer").unwrap_err();
        assert_eq!(error.in_file("a").in_file("b").to_string(), "a: byte 0x1: inner: x");
    }
}
