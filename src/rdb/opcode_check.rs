//! Check of what stands between keys: strings of opcodes, function libraries, templates, metadata. Servers load no file where one
//! of these is not as it should be, although all of it can be read.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::header::Family;
use super::library;
use super::scratch::Scratch;
use super::string::RawString;
use crate::error::{Error, Reading, Result, Within};
use crate::wording::wording;

/// Offsets of function libraries by the hash of their names.
pub type Libraries = HashMap<u64, u64>;

/// The first of the faults since the last question.
#[derive(Debug, Clone)]
pub struct OpcodeCheck<'a> {
    /// Whether anything is checked: only `check` and `salvage` need it.
    pub is_on: bool,
    family: Family,
    fault: Option<Fault<'a>>,
    /// Function libraries read so far.
    pub libraries: Libraries,
    /// True if metadata of a key was read last.
    behind_metadata: bool,
}

/// What servers refuse, and its offset.
#[derive(Debug, Clone, Copy)]
enum Fault<'a> {
    String(RawString<'a>, Reading),
    Library(RawString<'a>),
    RepeatedLibrary(u64),
    RepeatedTemplate(u64),
    PartedMetadata(u64),
}

impl<'a> OpcodeCheck<'a> {
    /// Starts a check of a file of this family, which is off.
    pub fn new(family: Family) -> Self {
        OpcodeCheck { is_on: false, family, fault: None, libraries: Libraries::new(), behind_metadata: false }
    }

    /// Checks a string.
    pub fn string(&mut self, string: RawString<'a>, reading: Reading) {
        if self.is_on && self.fault.is_none() && string.check().is_err() {
            self.fault = Some(Fault::String(string, reading));
        }
    }

    /// Checks a function library.
    pub fn library(&mut self, code: RawString<'a>) {
        if !self.is_on || self.fault.is_some() {
            return;
        }
        match self.library_name(code) {
            Err(_) => self.fault = Some(Fault::Library(code)),
            // A part of a file may be read twice.
            Ok(name) if *self.libraries.entry(name).or_insert(code.offset) != code.offset => {
                self.fault = Some(Fault::RepeatedLibrary(code.offset));
            }
            Ok(_) => {}
        }
    }

    /// Notes a hash template whose id another one has, with the same field names.
    pub fn repeated_template(&mut self, offset: u64) {
        self.refuse(Fault::RepeatedTemplate(offset));
    }

    /// Notes metadata of a key. The type of the key must follow.
    pub fn metadata(&mut self) {
        self.behind_metadata = true;
    }

    /// Checks what an opcode at this place follows.
    #[inline]
    pub fn opcode(&mut self, offset: u64) {
        if std::mem::take(&mut self.behind_metadata) {
            self.refuse(Fault::PartedMetadata(offset));
        }
    }

    /// Notes a key.
    #[inline]
    pub fn key(&mut self) {
        self.behind_metadata = false;
    }

    /// Fails with the first fault since the last call.
    pub fn take_fault(&mut self) -> Result<()> {
        self.fault.take().map_or(Ok(()), |fault| self.check(fault))
    }

    fn refuse(&mut self, fault: Fault<'a>) {
        if self.is_on {
            self.fault.get_or_insert(fault);
        }
    }

    /// Returns the hash of the name of a library.
    fn library_name(&self, code: RawString<'_>) -> Result<u64> {
        let mut scratch = Scratch::default();
        let name = library::name(code.decode(&mut scratch)?, self.family, code.offset)?;
        Ok(self.libraries.hasher().hash_one(name))
    }

    #[cold]
    fn check(&self, fault: Fault<'_>) -> Result<()> {
        let (offset, what, reading) = match fault {
            Fault::String(string, reading) => return string.check().within(reading),
            Fault::Library(code) => return self.library_name(code).map(drop).within(Reading::FunctionLibrary),
            Fault::RepeatedLibrary(offset) => (
                offset,
                wording!("another function library has the same name", "与另一函数库重名"),
                Reading::FunctionLibrary,
            ),
            Fault::RepeatedTemplate(offset) => {
                (offset, wording!("hash template is defined twice", "hash 模板重复定义"), Reading::TemplateId)
            }
            Fault::PartedMetadata(offset) => (
                offset,
                wording!("metadata of a key is not followed by the key", "key 的元数据之后不是 key"),
                Reading::Record,
            ),
        };
        Err(Error::corrupt(offset, what)).within(reading)
    }
}
