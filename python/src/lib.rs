//! The native half of the Python package `rdblens`: see `docs/python.md`.
//!
//! Python's half, in `rdblens/`, documents and checks arguments; what it passes here are plain values. Work runs on threads of its own
//! while the caller waits without the interpreter's lock and looks for signals.

mod background;
mod columns;
mod errors;
mod fleet;
mod options;
mod report;
mod scan;

use pyo3::prelude::*;

/// Native functions and classes.
#[pymodule]
mod _native {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    use super::fleet::{merge, partial, plan, shard};
    #[pymodule_export]
    use super::report::{analyze, check, compare, comparison_html, report_html};
    #[pymodule_export]
    use super::scan::Scan;

    /// Version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Runs the command line, and returns its exit status. It maps no file: one that becomes shorter would end the interpreter.
    #[pyfunction]
    fn run(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| rdblens::cli::run_with(arguments)).code()
    }
}
