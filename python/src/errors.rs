//! Errors as exceptions of `rdblens._errors`.

use pyo3::prelude::*;
use rdblens::{Error, ErrorKind};

/// Returns the exception for an error, with its file, offset and hint.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Usage(_) => "UsageError",
        ErrorKind::Io(_) | ErrorKind::Cancelled => "ReadError",
        ErrorKind::OverBudget(_) | ErrorKind::Limit(_) => "LimitError",
        ErrorKind::Unsupported(_) | ErrorKind::NotASnapshot(_) | ErrorKind::Unreadable(_) => "UnreadableError",
        // Truncated, corrupt, a wrong checksum, and what later versions may add.
        _ => "DamagedError",
    };
    let new = || {
        let class = py.import("rdblens._errors")?.getattr(class)?;
        let errno = match error.kind() {
            ErrorKind::Io(error) => error.raw_os_error(),
            _ => None,
        };
        class.call1((error.to_string(), error.file(), error.offset(), error.hint(), errno))
    };
    new().map_or_else(|failed| failed, PyErr::from_value)
}
