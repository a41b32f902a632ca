//! The exit status: a promise to scripts.

use std::process::ExitCode;

/// What the program's exit status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: done.
    Done = 0,
    /// 1: done, and there are findings at or above `--fail-on`.
    Findings = 1,
    /// 2: the command line is wrong.
    Usage = 2,
    /// 3: no report is possible: no input could be read as a snapshot.
    NoReport = 3,
    /// 4: the report is of an incomplete or corrupt snapshot. Wins over 1: such a snapshot has not passed.
    Incomplete = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
