//! Exit status of the program, a stable interface for scripts.

use std::process::ExitCode;

/// Exit status of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// 0: success.
    Done = 0,
    /// 1: success, with findings at or above `--fail-on`.
    Findings = 1,
    /// 2: usage error.
    Usage = 2,
    /// 3: no report is possible, because no input could be read.
    NoReport = 3,
    /// 4: the snapshot is incomplete or corrupt. Takes precedence over 1.
    Incomplete = 4,
}

impl ExitStatus {
    /// Returns the number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
