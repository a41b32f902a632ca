//! The `rdblens` program: see the library's [`rdblens::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    rdblens::cli::run().into()
}
