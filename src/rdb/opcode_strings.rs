//! Check of the strings of opcodes: servers load no file where one does not expand, or a function library does not begin as it should.

use super::header::Family;
use super::library;
use super::scratch::Scratch;
use super::string::RawString;
use crate::error::{Reading, Result, Within};

/// The first of the strings since the last question that servers refuse.
#[derive(Debug, Clone, Copy)]
pub struct OpcodeStrings<'a> {
    /// False where nobody asks.
    pub is_checked: bool,
    family: Family,
    broken: Option<(RawString<'a>, Reading)>,
}

impl<'a> OpcodeStrings<'a> {
    /// Starts a check of a file of this family, which is off.
    pub fn new(family: Family) -> Self {
        OpcodeStrings { is_checked: false, family, broken: None }
    }

    /// Checks a string.
    pub fn see(&mut self, string: RawString<'a>, reading: Reading) {
        if self.is_checked && self.broken.is_none() && self.check(string, reading).is_err() {
            self.broken = Some((string, reading));
        }
    }

    /// Fails if one of the strings since the last call is refused.
    pub fn take_broken(&mut self) -> Result<()> {
        self.broken.take().map_or(Ok(()), |(string, reading)| self.check(string, reading))
    }

    fn check(&self, string: RawString<'_>, reading: Reading) -> Result<()> {
        let checked = match reading {
            Reading::FunctionLibrary => {
                string.decode(&mut Scratch::default()).and_then(|code| library::check(code, self.family, string.offset))
            }
            _ => string.check(),
        };
        checked.within(reading)
    }
}
