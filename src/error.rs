//! Error type with file, byte offset, context and hint.
//!
//! The failing primitive creates the error with its absolute offset, the walker adds what was being read ([`Within`]), and
//! the command adds the file.
//!
//! Reports quote the errors of the files that they are about, so these errors are worded in both languages: all that is
//! made while a file is read takes a [`Wording`]. Wrong requests ([`Error::usage`], [`Error::with_hint`]) are answered on
//! standard error, in English. `tests/it/architecture.rs` checks that the stages that read files make none of these.

mod reading;

use std::fmt;
use std::io;

pub use reading::Reading;

use crate::wording::{Wording, wording};

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
    within: Option<Reading>,
    file: Option<String>,
    hint: Option<Wording>,
    /// True if a store failed, which says nothing about the bytes.
    of_store: bool,
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
    Corrupt(Wording),
    /// A format, version or type that this program does not support; the input may be valid.
    Unsupported(Wording),
    /// The file is not a snapshot.
    NotASnapshot(Wording),
    /// The file exceeds one of the limits in `src/limits.rs`.
    Limit(Wording),
    /// The file needs more memory or temporary space than the run may take; it may be valid.
    OverBudget(Wording),
    /// The checksum over the file differs from the one stored at its end.
    Checksum {
        /// Checksum stored in the file.
        stored: u64,
        /// Checksum computed from its bytes.
        computed: u64,
    },
    /// Error from the operating system.
    Io(io::Error),
    /// The run was cancelled, as [`Progress::is_cancelled`](crate::Progress::is_cancelled) asked.
    Cancelled,
    /// The input cannot be read, for a reason other than its bytes and the operating system.
    Unreadable(Wording),
    /// Invalid request by the caller, in English.
    Usage(String),
}

impl Error {
    /// Creates an error of `kind` at the absolute byte `offset`.
    #[cold]
    pub fn at(offset: u64, kind: ErrorKind) -> Self {
        Error(Box::new(Inner { kind, offset: Some(offset), within: None, file: None, hint: None, of_store: false }))
    }

    /// Returns the same error once more, for a reader that asks again.
    pub(crate) fn again(&self) -> Error {
        let Inner { kind, offset, within, file, hint, of_store } = &*self.0;
        let (offset, within, of_store) = (*offset, *within, *of_store);
        let (kind, file, hint) = (kind.again(), file.clone(), hint.clone());
        Error(Box::new(Inner { kind, offset, within, file, hint, of_store }))
    }

    /// Creates an error without an offset.
    #[cold]
    pub fn new(kind: ErrorKind) -> Self {
        Error(Box::new(Inner { kind, offset: None, within: None, file: None, hint: None, of_store: false }))
    }

    /// Creates an [`ErrorKind::Corrupt`] error at `offset`.
    #[cold]
    pub fn corrupt(offset: u64, what: Wording) -> Self {
        Error::at(offset, ErrorKind::Corrupt(what))
    }

    /// Creates an [`ErrorKind::Unsupported`] error at `offset`.
    #[cold]
    pub fn unsupported(offset: u64, what: Wording) -> Self {
        Error::at(offset, ErrorKind::Unsupported(what))
    }

    /// Creates an [`ErrorKind::Truncated`] error at `offset`.
    #[cold]
    pub fn truncated(offset: u64, needed: u64, left: u64) -> Self {
        Error::at(offset, ErrorKind::Truncated { needed, left })
    }

    /// Creates an [`ErrorKind::OverBudget`] error at `offset`, for something that needs more memory.
    #[cold]
    pub fn needs_memory(offset: u64, what: Wording) -> Self {
        Error::at(offset, ErrorKind::OverBudget(what))
            .with_remedy(wording!("give a larger --max-memory", "请调大 --max-memory"))
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

    /// Replaces the offset.
    #[must_use]
    pub fn moved_to(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Adds the offset, unless already set.
    #[must_use]
    pub fn or_at(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Adds a hint for the user of a command, in English, unless already set.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| {
            let en = hint.into();
            Wording { zh: en.clone(), en }
        });
        self
    }

    /// Adds what to do about the file, unless already set.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Wording) -> Self {
        self.0.hint.get_or_insert(remedy);
        self
    }

    /// Marks the failure of an object store or a web server: it is no damage, and ends the run.
    #[cfg(feature = "remote")]
    #[must_use]
    pub(crate) fn of_store(mut self) -> Self {
        self.0.of_store = true;
        self
    }

    /// Returns whether a store failed, instead of the bytes being wrong.
    pub(crate) fn is_of_store(&self) -> bool {
        self.0.of_store
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
        self.0.within.map(|part| part.text().en)
    }

    /// Names what was being read, unless an inner call has already named it.
    pub(crate) fn while_reading(mut self, part: Reading) -> Self {
        self.0.within.get_or_insert(part);
        self
    }

    /// Returns the file name, once added.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// Returns the hint.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_ref().map(|hint| hint.en.as_str())
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
        self.wording().en
    }

    /// Returns the message with the file name, if there is one, in both languages.
    pub(crate) fn wording_with_file(&self) -> Wording {
        let Wording { en, zh } = self.wording();
        match self.file() {
            Some(file) => Wording { en: format!("{file}: {en}"), zh: format!("{file}：{zh}") },
            None => Wording { en, zh },
        }
    }

    /// Returns the message without the file name in both languages.
    pub fn wording(&self) -> Wording {
        let Inner { kind, offset, within, hint, .. } = &*self.0;
        let mut words = Wording::default();
        let mut add = |more: Wording| {
            words.en += &more.en;
            words.zh += &more.zh;
        };
        if let Some(offset) = offset {
            add(wording!("byte {offset:#x}: ", "字节 {offset:#x}："));
        }
        if let Some(part) = within {
            let part = part.text();
            add(Wording { en: format!("{}: ", part.en), zh: format!("{}：", part.zh) });
        }
        add(kind.wording());
        if let Some(hint) = hint {
            add(Wording { en: format!(" ({})", hint.en), zh: format!("（{}）", hint.zh) });
        }
        words
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.0.file {
            write!(f, "{file}: ")?;
        }
        f.write_str(&self.message())
    }
}

impl ErrorKind {
    fn again(&self) -> ErrorKind {
        match self {
            &ErrorKind::Truncated { needed, left } => ErrorKind::Truncated { needed, left },
            ErrorKind::Corrupt(what) => ErrorKind::Corrupt(what.clone()),
            ErrorKind::Unsupported(what) => ErrorKind::Unsupported(what.clone()),
            ErrorKind::NotASnapshot(what) => ErrorKind::NotASnapshot(what.clone()),
            ErrorKind::Limit(what) => ErrorKind::Limit(what.clone()),
            ErrorKind::OverBudget(what) => ErrorKind::OverBudget(what.clone()),
            &ErrorKind::Checksum { stored, computed } => ErrorKind::Checksum { stored, computed },
            ErrorKind::Io(error) => ErrorKind::Io(match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            }),
            ErrorKind::Cancelled => ErrorKind::Cancelled,
            ErrorKind::Unreadable(what) => ErrorKind::Unreadable(what.clone()),
            ErrorKind::Usage(what) => ErrorKind::Usage(what.clone()),
        }
    }

    /// Words the error in both languages.
    pub(crate) fn wording(&self) -> Wording {
        match self {
            ErrorKind::Truncated { needed, left } => {
                wording!("needs {needed} bytes, {left} left", "需要 {needed} 字节，只剩 {left} 字节")
            }
            ErrorKind::Corrupt(what)
            | ErrorKind::Unsupported(what)
            | ErrorKind::NotASnapshot(what)
            | ErrorKind::Limit(what)
            | ErrorKind::OverBudget(what)
            | ErrorKind::Unreadable(what) => what.clone(),
            ErrorKind::Checksum { stored, computed } => wording!(
                "checksum mismatch: stored {stored:016x}, computed {computed:016x}",
                "校验和不符：文件中为 {stored:016x}，计算得到 {computed:016x}"
            ),
            ErrorKind::Io(error) if error.kind() == io::ErrorKind::NotFound && error.raw_os_error().is_some() => {
                wording!("no such file or directory", "文件或目录不存在")
            }
            ErrorKind::Io(error) => {
                let known = refusal(error.kind());
                wording!("{error}", "{known}（{error}）")
            }
            ErrorKind::Cancelled => wording!("cancelled", "已取消"),
            ErrorKind::Usage(what) => wording!("{what}", "参数有误：{what}"),
        }
    }
}

/// Words an error of the operating system in English, as [`Error`] does. For messages about something else than an input.
pub(crate) fn os_error(error: io::Error) -> String {
    ErrorKind::Io(error).wording().en
}

/// Words a refusal of the operating system in Chinese.
fn refusal(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "文件或目录不存在",
        io::ErrorKind::PermissionDenied => "没有权限",
        io::ErrorKind::IsADirectory => "是目录，不是文件",
        io::ErrorKind::NotADirectory => "路径中有一段不是目录",
        io::ErrorKind::StorageFull => "磁盘空间不足",
        io::ErrorKind::QuotaExceeded => "超出磁盘配额",
        io::ErrorKind::ReadOnlyFilesystem => "文件系统只读",
        io::ErrorKind::OutOfMemory => "内存不足",
        io::ErrorKind::UnexpectedEof => "数据提前结束",
        io::ErrorKind::TimedOut => "超时",
        io::ErrorKind::StaleNetworkFileHandle => "网络文件句柄已失效",
        _ => "读写失败",
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.wording().en)
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

/// Adds what was being read to an error: `input.length().within(Reading::HashSize)?`.
pub trait Within {
    /// Names what was being read, unless an inner call has already named it.
    #[must_use]
    fn within(self, part: Reading) -> Self;
}

impl<T> Within for Result<T> {
    #[inline]
    fn within(self, part: Reading) -> Self {
        self.map_err(|error| error.while_reading(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_names_file_offset_part_and_fault() {
        let error = Err::<(), _>(Error::truncated(0x1f3a, 512, 37)).within(Reading::HashField).unwrap_err();
        assert_eq!(error.wording().zh, "字节 0x1f3a：hash 字段：需要 512 字节，只剩 37 字节");
        assert_eq!(
            error.in_file("dump.rdb").to_string(),
            "dump.rdb: byte 0x1f3a: hash field: needs 512 bytes, 37 left"
        );
    }

    #[test]
    fn innermost_part_and_first_file_are_kept() {
        let error = Error::corrupt(1, wording!("x", "误")).with_remedy(wording!("y", "改"));
        let error = Err::<(), _>(error).within(Reading::Score).within(Reading::Key).unwrap_err();
        assert_eq!(error.wording().zh, "字节 0x1：score：误（改）");
        assert_eq!(error.in_file("a").in_file("b").to_string(), "a: byte 0x1: score: x (y)");
    }

    #[test]
    fn the_operating_system_is_quoted_in_chinese_too() {
        let denied = Error::from(io::Error::from_raw_os_error(13)).wording();
        assert_eq!(denied.zh, format!("没有权限（{}）", denied.en));
        let Wording { en, zh } = Error::from(io::Error::from_raw_os_error(2)).wording();
        assert_eq!((&*en, &*zh), ("no such file or directory", "文件或目录不存在"));
    }
}
