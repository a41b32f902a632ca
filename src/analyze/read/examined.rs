//! Files that are read past all damage: their sound and damaged ranges, and changed bytes that the checksum tells.

use std::ops::Range;
use std::sync::Arc;

use data_encoding::HEXLOWER;

use crate::error::{Error, ErrorKind, Reading, Result};
use crate::input::{Compression, Container, Input, Mapped, OpenOptions, OpenedFile};
use crate::rdb::crc64;
use crate::rdb::cursor::Cursor;
use crate::rdb::dragonfly::{UnfoldedWhole, unfold_whole};
use crate::rdb::header::{CHECKSUM_BYTES, Family};
use crate::rdb::salvage::{DatabaseSurvey, Gap, GapKind, Survey, survey, survey_unfolded};
use crate::rdb::writer::ChecksumForm;
use crate::report::{DamageExtent, DamagedRange, FileError, Key, RestoredBytes, Salvage, SalvagedDatabase, Unverified};
use crate::units::Bytes;
use crate::wording::wording;

/// Maximum number of damaged ranges in a report.
const LISTED: usize = 100;

/// A file that was read to its end, past all damage.
#[derive(Debug)]
pub struct ExaminedFile {
    /// Its bytes, with those restored that the checksum tells.
    pub map: Mapped,
    /// Sound and damaged ranges.
    pub survey: Arc<Survey>,
    /// Container of the snapshot.
    pub container: Container,
    /// Compression of the file.
    pub compression: Option<Compression>,
    /// Size of the file on disk.
    pub size: Option<u64>,
    /// The file as it was when it was opened; `None` for pipes.
    pub opened: Option<OpenedFile>,
    restored: Option<RestoredBytes>,
    checksum: ChecksumState,
    failure: Option<Error>,
}

/// Checksum of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChecksumState {
    /// The bytes are those that the server wrote.
    Right,
    /// The bytes differ.
    Wrong { stored: u64, computed: u64 },
    /// The server computed none.
    Zero,
    /// The format has none, or where it would be is unknown.
    Unknown,
    /// The file ends before it.
    CutOff,
}

impl ExaminedFile {
    /// Opens an input and surveys it.
    pub fn open(input: &Input, options: &OpenOptions) -> Result<ExaminedFile> {
        let mut whole = input.open_whole(options)?;
        let mut lost = Vec::new();
        let unfolded = unfold_whole(&whole.map, options).map_err(|error| error.in_file(&input.name))?;
        if let Some(unfolded) = unfolded {
            let UnfoldedWhole { map, lost: parts, failure } = unfolded;
            (whole.map, lost) = (map, parts);
            whole.failure = whole.failure.or(failure);
        }
        // Running out of room is no damage, nor is a store that fails.
        let is_damage = |failure: &Error| !matches!(failure.kind(), ErrorKind::OverBudget(_)) && !failure.is_of_store();
        if let Some(failure) = whole.failure.take_if(|failure| !is_damage(failure)) {
            return Err(failure.in_file(&input.name));
        }
        let found = survey_unfolded(&whole.map.bytes, whole.map.start(), lost);
        let found = found.map_err(|error| error.in_file(&input.name))?;
        let checksum = checksum(&found, &whole.map, whole.container);
        let mut file = ExaminedFile {
            map: whole.map,
            survey: Arc::new(found),
            container: whole.container,
            compression: whole.compression,
            size: whole.size,
            opened: whole.file,
            restored: None,
            checksum: checksum.1,
            failure: whole.failure.map(|error| error.in_file(&input.name)),
        };
        // Dragonfly computes no checksum.
        if let ChecksumState::Wrong { stored, computed } = checksum.1
            && file.survey.about.header.family != Family::Dragonfly
        {
            file.restore(stored, computed, checksum.0, options)?;
        }
        Ok(file)
    }

    /// Restores one or two changed bytes, if the checksum tells them and nothing else is wrong then.
    fn restore(&mut self, stored: u64, computed: u64, covered: Range<usize>, options: &OpenOptions) -> Result<()> {
        let Some(changed) = crc64::locate(computed, stored, covered.len() as u64) else { return Ok(()) };
        let Ok(at) = usize::try_from(changed.at) else { return Ok(()) };
        let at = covered.start + at;
        let difference = changed.difference.to_le_bytes();
        let len = difference.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let Some(old) = self.map.bytes.get(at..at + len) else { return Ok(()) };
        let new: Vec<u8> = old.iter().zip(difference).map(|(old, change)| old ^ change).collect();
        let restored =
            RestoredBytes { offset: at as u64, found: HEXLOWER.encode(old), restored: HEXLOWER.encode(&new) };
        if at >= covered.end {
            if self.survey.is_sound() {
                (self.restored, self.checksum) = (Some(restored), ChecksumState::Right);
            }
            return Ok(());
        }
        let map = self.map.changed(at, &difference[..len], &options.spool_dir)?;
        if let Ok(found) = survey(&map.bytes, map.start())
            && found.is_sound()
        {
            (self.map, self.survey) = (map, Arc::new(found));
            (self.restored, self.checksum) = (Some(restored), ChecksumState::Right);
        }
        Ok(())
    }

    /// Returns true if nothing is wrong with the file.
    pub fn is_sound(&self) -> bool {
        self.survey.is_sound()
            && self.restored.is_none()
            && self.failure.is_none()
            && !matches!(self.checksum, ChecksumState::Wrong { .. } | ChecksumState::CutOff)
    }

    /// Returns what is wrong with the whole file, if anything.
    pub fn fault(&mut self) -> Option<Error> {
        let gaps = self.survey.gaps.len();
        let lost = self.survey.lost_bytes();
        if let Some(failure) = self.failure.take() {
            return Some(failure);
        }
        if let Some(gap) = self.survey.gaps.first() {
            let what = wording!(
                "damaged in {gaps} places, {lost} bytes lost; all other records are read",
                "共 {gaps} 处损坏，丢失 {lost} 字节；其余记录均已读取"
            );
            return Some(Error::corrupt(gap.range.start, what));
        }
        if let Some(restored) = &self.restored {
            let RestoredBytes { offset, found, restored } = restored;
            let what = wording!(
                "changed from {restored} to {found}, as the checksum proves; read as it was",
                "由 {restored} 变为 {found}（由校验和确定），已按原值读取"
            );
            return Some(Error::corrupt(*offset, what));
        }
        match self.checksum {
            ChecksumState::Wrong { stored, computed } => Some(Error::new(ErrorKind::Checksum { stored, computed })),
            ChecksumState::CutOff => {
                let end = self.map.start() as u64 + self.survey.bytes;
                let left = (self.map.bytes.len() as u64).saturating_sub(end);
                Some(Error::truncated(end, CHECKSUM_BYTES as u64, left).while_reading(Reading::Checksum))
            }
            ChecksumState::Right | ChecksumState::Zero | ChecksumState::Unknown => None,
        }
    }

    /// Returns the form of the checksum that a new snapshot of its records gets.
    pub fn checksum_form(&self) -> ChecksumForm {
        match self.checksum {
            ChecksumState::Zero => ChecksumForm::Zero,
            _ if self.survey.about.header.family == Family::Dragonfly => ChecksumForm::Zero,
            ChecksumState::Right | ChecksumState::Wrong { .. } | ChecksumState::CutOff | ChecksumState::Unknown => {
                ChecksumForm::Computed
            }
        }
    }

    /// Returns the number of bytes behind the snapshot.
    pub fn behind(&self) -> u64 {
        let sum = self.survey.about.header.checksum_len();
        let end = self.map.start() as u64 + self.survey.bytes + sum as u64;
        let end = if self.survey.ended { end } else { self.survey.limit as u64 };
        (self.map.bytes.len() as u64).saturating_sub(end)
    }

    /// Returns what a report says of the file, with at most `most` damaged ranges.
    pub fn summary(&self, most: usize) -> Salvage {
        let survey = &self.survey;
        let databases = survey.databases.iter().map(|database| SalvagedDatabase {
            db: database.db,
            keys: database.keys,
            announced: database.announced,
            certain: database.is_certain,
        });
        Salvage {
            keys: survey.keys(),
            announced: announced(&survey.databases),
            bytes_lost: Bytes(survey.lost_bytes()),
            damaged: survey.gaps.iter().take(most).map(damaged_range).collect(),
            unlisted: survey.gaps.len().saturating_sub(most) as u64,
            databases: databases.collect(),
            restored: self.restored.clone(),
            proven: self.checksum == ChecksumState::Right,
        }
    }

    /// Returns what a server checks and the checksum does not prove.
    pub fn unverified(&self) -> Unverified {
        if self.is_sound() || self.checksum == ChecksumState::Right {
            return Unverified::default();
        }
        let modules = self.survey.modules().into_iter().map(|name| name.to_string()).collect();
        Unverified { functions: self.survey.about.functions, modules }
    }

    /// Returns what the report of an analysis says of the file.
    pub fn report(&self) -> Salvage {
        self.summary(LISTED)
    }
}

/// Returns the number of keys that the file announces, if it does for all databases. Each number may be any of 64 bits.
fn announced(databases: &[DatabaseSurvey]) -> Option<u64> {
    databases.iter().try_fold(0_u64, |sum, database| Some(sum.saturating_add(database.announced?)))
}

fn damaged_range(gap: &Gap) -> DamagedRange {
    let (damage, key) = match &gap.kind {
        GapKind::Framing => (DamageExtent::Framing, None),
        GapKind::Value(key) => (DamageExtent::Value, key.as_deref()),
        GapKind::Duplicate(key) => (DamageExtent::Duplicate, key.as_deref()),
    };
    DamagedRange {
        damage,
        start: gap.range.start,
        end: gap.range.end,
        db: gap.db,
        key: key.map(Key::from),
        keys_before: gap.keys_before,
        keys_behind: gap.keys_behind,
        error: FileError::from(&gap.error),
    }
}

/// Returns the range that the checksum of a file covers, and whether it is right.
///
/// If the EOF opcode was not reached, the checksum should be at the end of the file.
fn checksum(found: &Survey, map: &Mapped, container: Container) -> (Range<usize>, ChecksumState) {
    let start = map.start();
    let end = if found.ended {
        usize::try_from(start as u64 + found.bytes).unwrap_or(start)
    } else {
        found.limit.saturating_sub(CHECKSUM_BYTES)
    };
    let range = start..end.max(start);
    let is_dragonfly = found.about.header.family == Family::Dragonfly;
    // The unfolded records of Dragonfly do not end with the bytes of the file.
    let is_likely = found.ended || container == Container::Plain && !is_dragonfly;
    if !found.about.header.has_checksum() || !is_likely {
        return (range, ChecksumState::Unknown);
    }
    let stored = Cursor::new(map.bytes.get(range.end..).unwrap_or_default(), 0).u64_le();
    let state = match stored {
        Ok(0) => ChecksumState::Zero,
        Ok(stored) => match crc64::checksum(map.bytes.get(range.clone()).unwrap_or_default()) {
            computed if computed == stored => ChecksumState::Right,
            computed => ChecksumState::Wrong { stored, computed },
        },
        Err(_) if found.ended => ChecksumState::CutOff,
        Err(_) => ChecksumState::Unknown,
    };
    (range, state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_of_announced_keys_may_be_any() {
        let of = |numbers: &[Option<u64>]| {
            let databases = numbers.iter().map(|&announced| DatabaseSurvey { announced, ..DatabaseSurvey::default() });
            announced(&databases.collect::<Vec<_>>())
        };
        assert_eq!(of(&[Some(3), Some(4)]), Some(7));
        assert_eq!(of(&[Some(u64::MAX), Some(1)]), Some(u64::MAX));
        assert_eq!(of(&[Some(3), None]), None);
    }
}
