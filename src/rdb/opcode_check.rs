//! Check of what stands between keys: strings of opcodes, function libraries, templates, metadata. Servers load no file where one
//! of these is not as it should be, although all of it can be read.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::header::Family;
use super::library;
use super::scratch::Scratch;
use super::slot_info::{self, SLOTS};
use super::string::{RawString, StringForm};
use crate::error::{Error, Reading, Result, Within};
use crate::wording::wording;

/// Longest value of `slot-info` that can be one.
const MAX_SLOT_INFO_LEN: u64 = 128;
/// Length of the name of a job that imports slots.
const JOB_NAME: u64 = 40;

/// Offsets of function libraries by the hash of their names.
pub type Libraries = HashMap<u64, u64>;

/// The first of the faults since the last question.
#[derive(Debug, Clone)]
pub struct OpcodeCheck<'a> {
    /// True if opcodes are checked: only `check` and `salvage` need it.
    pub is_on: bool,
    family: Family,
    /// True if Valkey wrote the file. Its releases before 9.0 have the magic of Redis.
    is_valkey: bool,
    fault: Option<Fault<'a>>,
    /// Function libraries read so far.
    pub libraries: Libraries,
    /// True if metadata of a key was read last.
    behind_metadata: bool,
}

/// Opcode or field that servers refuse, and its offset.
#[derive(Debug, Clone, Copy)]
enum Fault<'a> {
    String(RawString<'a>, Reading),
    Library(RawString<'a>),
    RepeatedLibrary(u64),
    RepeatedTemplate(u64),
    PartedMetadata(u64),
    SlotInfo(u64),
    Slot(u64, u64),
    SlotRange(u64, u64, u64),
    SlotImportJob(u64, u64),
}

impl<'a> OpcodeCheck<'a> {
    /// Starts a check of a file of this family, which is off.
    pub fn new(family: Family) -> Self {
        OpcodeCheck {
            is_on: false,
            family,
            is_valkey: family == Family::Valkey,
            fault: None,
            libraries: Libraries::new(),
            behind_metadata: false,
        }
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

    /// Checks an auxiliary field. Valkey reads `slot-info` even outside of a cluster: slot, keys, keys with an expiry.
    pub fn aux(&mut self, name: RawString<'a>, value: RawString<'a>) {
        self.string(name, Reading::AuxiliaryFieldName);
        self.string(value, Reading::AuxiliaryFieldValue);
        self.is_valkey |= matches!(name.form, StringForm::Plain(b"valkey-ver"));
        if !self.is_on || !self.is_valkey || name.len() != slot_info::NAME.len() as u64 {
            return;
        }
        let (mut of_name, mut of_value) = (Scratch::default(), Scratch::default());
        if name.decode(&mut of_name).is_ok_and(|name| name == slot_info::NAME)
            && (value.len() > MAX_SLOT_INFO_LEN || !value.decode(&mut of_value).is_ok_and(slot_info::is_loaded))
        {
            self.refuse(Fault::SlotInfo(value.offset));
        }
    }

    /// Checks the number of a slot that is read at this place.
    pub fn slot(&mut self, slot: u64, offset: u64) {
        if slot >= u64::from(SLOTS) {
            self.refuse(Fault::Slot(slot, offset));
        }
    }

    /// Checks the slots of an import, from one to another, that are read at this place.
    pub fn slot_range(&mut self, first: u64, last: u64, offset: u64) {
        if first > last || last >= u64::from(SLOTS) {
            self.refuse(Fault::SlotRange(first, last, offset));
        }
    }

    /// Checks the name of the job that imports slots.
    pub fn slot_import(&mut self, job: RawString<'a>) {
        self.string(job, Reading::SlotImportJob);
        if job.len() != JOB_NAME {
            self.refuse(Fault::SlotImportJob(job.len(), job.offset));
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
            Fault::SlotInfo(offset) => (
                offset,
                wording!("slot-info is not three numbers with commas between them", "slot-info 不是以逗号分隔的三个数"),
                Reading::AuxiliaryFieldValue,
            ),
            Fault::Slot(slot, offset) => (
                offset,
                wording!("there is no slot {slot}: the last is {}", "不存在槽 {slot}：最大为 {}", SLOTS - 1),
                Reading::SlotNumber,
            ),
            Fault::SlotRange(first, last, offset) => (
                offset,
                wording!("{first} to {last} is no range of slots", "{first} 到 {last} 不是有效的槽区间"),
                Reading::SlotImportRanges,
            ),
            Fault::SlotImportJob(len, offset) => (
                offset,
                wording!("the name of a job has 40 bytes, not {len}", "任务名应为 40 字节，而不是 {len} 字节"),
                Reading::SlotImportJob,
            ),
        };
        Err(Error::corrupt(offset, what)).within(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(family: Family, see: impl FnOnce(&mut OpcodeCheck<'static>)) -> String {
        let mut check = OpcodeCheck { is_on: true, ..OpcodeCheck::new(family) };
        see(&mut check);
        check.take_fault().err().map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn slot_info_of_valkey_is_three_numbers() {
        let aux = |family, name: &'static [u8], value: &'static [u8]| {
            fault(family, |check| check.aux(RawString::plain(name), RawString::plain(value)))
        };
        for sound in [&b"1,2,3"[..], b" 5, 0,-1", b"16383,7,0 "] {
            assert_eq!(aux(Family::Valkey, b"slot-info", sound), "");
        }
        for wrong in [&b""[..], b"1,2", b"x,1,1", b"1 ,2,3", b"1,,3"] {
            assert!(aux(Family::Valkey, b"slot-info", wrong).contains("three numbers"), "{wrong:?}");
            assert_eq!(aux(Family::Valkey, b"slot-infos", wrong), "");
            assert_eq!(aux(Family::Valkey, b"slot_info", wrong), "");
            assert_eq!(aux(Family::Redis, b"slot-info", wrong), "");
        }
    }

    #[test]
    fn slots_are_those_of_a_cluster() {
        let slot = |slot| fault(Family::Redis, |check| check.slot(slot, 7));
        assert_eq!(slot(16_383), "");
        assert!(slot(16_384).contains("no slot 16384"));
        let range = |first, last| fault(Family::Valkey, |check| check.slot_range(first, last, 7));
        assert_eq!((range(0, 16_383), range(5, 5)), (String::new(), String::new()));
        assert!(range(9, 5).contains("no range") && range(5, 20_000).contains("no range"));
        let job = |name: &'static [u8]| fault(Family::Valkey, |check| check.slot_import(RawString::plain(name)));
        assert_eq!(job(&[b'a'; 40]), "");
        assert!(job(b"a").contains("40 bytes"));
    }
}
