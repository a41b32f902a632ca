//! Survey of a damaged snapshot: ranges of sound records, and the gaps between them.
//!
//! ```text
//! header  aux  SELECTDB  key key key   key ▒▒▒▒▒▒▒▒ key key key key   EOF  checksum
//!         └─stretch─┘    └─stretch──┘  ·      gap   · └─stretch──┘
//!                             suspicious: retracted   leading: kept from the first that looks like the others
//! ```
//!
//! Records are verified in depth. Where the framing breaks, the damage may lie before: a changed length makes the parser
//! run through false records until one fails. So the last records before the failure are suspicious, and the search for
//! the [next boundary](Resync::find) starts inside them. What follows it must look like the other keys of the file.

mod commands;
mod databases;
mod duplicates;
mod lost_templates;
mod modules;
mod parts;
mod prefix;
mod swallowed;
mod walk;
mod zeros;

use std::collections::BTreeSet;
use std::ops::Range;

use super::batch::Batch;
use super::cursor::Cursor;
use super::dragonfly::{self, LostPart};
use super::file_info::FileInfo;
use super::header::{Family, RdbHeader};
use super::kind::ModuleName;
use super::resync::Profile;
use super::scan::ScanState;
use super::string::RawString;
use crate::error::{Error, Reading, Result, Within};
use crate::input::{Block, Mapped};
use crate::limits;
use commands::start_of_commands;
use modules::ModuleIds;
use swallowed::{FalseRecord, disagreement, false_records};
use walk::Walk;

/// Most times that a file is surveyed again without false records.
const MAX_SURVEYS: u32 = 4;

/// Ranges of a damaged file, and what is known about its databases.
#[derive(Debug)]
pub struct Survey {
    /// Information found outside the keys.
    pub about: FileInfo,
    /// Sound ranges in file order, without `SELECTDB` and `RESIZEDB`.
    pub stretches: Vec<Stretch>,
    /// Damaged ranges in file order.
    pub gaps: Vec<Gap>,
    /// Databases with sound or announced keys, in ascending order.
    pub databases: Vec<DatabaseSurvey>,
    /// True if the EOF opcode was reached.
    pub ended: bool,
    /// Bytes of the snapshot up to where reading stopped, counted from its magic.
    pub bytes: u64,
    /// Where the snapshot ends at the latest: at the end of the file, or at the commands of an append-only file.
    pub limit: usize,
    /// Number of key prefixes without a key.
    pub strays: u64,
    modules: ModuleIds,
}

/// Contiguous sound records of one database.
#[derive(Debug, Clone, Default)]
pub struct Stretch {
    /// Position in the bytes of the file.
    pub range: Range<usize>,
    /// Database of its keys.
    pub db: u64,
    /// False if the database was inferred because its `SELECTDB` may be lost.
    pub is_certain: bool,
    /// Number of records of keys, those without elements included, which servers skip.
    pub records: u64,
    /// Number of keys.
    pub keys: u64,
    /// Number of keys with an expiry.
    pub expires: u64,
}

impl Stretch {
    /// Counts the record of a key. Servers skip those without elements, which are no keys then.
    fn count(&mut self, is_empty: bool, expires: bool) {
        self.records += 1;
        if !is_empty {
            self.keys += 1;
            self.expires += u64::from(expires);
        }
    }
}

/// Damaged range.
#[derive(Debug)]
pub struct Gap {
    /// Absolute offsets.
    pub range: Range<u64>,
    /// Extent of the damage.
    pub kind: GapKind,
    /// Database of the keys before it.
    pub db: u64,
    /// The first thing wrong.
    pub error: Error,
    /// Sound keys before it in the file.
    pub keys_before: u64,
    /// Sound keys behind it in the file.
    pub keys_behind: u64,
}

/// Extent of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GapKind {
    /// Records cannot be told apart.
    Framing,
    /// The value of this key is damaged inside intact framing. `None` if its name is damaged or too long to be kept, and for
    /// items without a name, such as functions.
    Value(Option<Vec<u8>>),
    /// This key occurs more than once in its database; servers refuse to load duplicates. `None` if its name is too long.
    Duplicate(Option<Vec<u8>>),
}

/// Keys of a database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatabaseSurvey {
    /// Number of the database.
    pub db: u64,
    /// Sound keys.
    pub keys: u64,
    /// Sound keys with an expiry.
    pub expires: u64,
    /// Number of keys that the file announces, if it does.
    pub announced: Option<u64>,
    /// True if all its sound keys certainly belong to it.
    pub is_certain: bool,
}

impl Survey {
    /// Returns true if all records were read.
    pub fn is_sound(&self) -> bool {
        self.gaps.is_empty() && self.ended
    }

    /// Returns the number of sound keys.
    pub fn keys(&self) -> u64 {
        self.stretches.iter().map(|stretch| stretch.keys).sum()
    }

    /// Returns the names of the modules of its values, and of data outside keys.
    pub fn modules(&self) -> BTreeSet<ModuleName> {
        self.modules.names().chain(self.about.modules.iter().copied()).collect()
    }

    /// Returns the number of bytes in gaps.
    pub fn lost_bytes(&self) -> u64 {
        self.gaps.iter().map(|gap| gap.range.end - gap.range.start).sum()
    }

    /// Returns the batch of a stretch, for the readers of sound files.
    pub fn batch(&self, map: &Mapped, stretch: &Stretch) -> Batch {
        let header = self.about.header;
        Batch {
            bytes: Block::mapped(map.bytes.clone(), stretch.range.clone()),
            skip: 0,
            base: stretch.range.start as u64,
            state: ScanState { family: header.family, db: Some(stretch.db) },
            // A sound record has no template of those behind it.
            templates: self.about.templates.clone(),
            header,
        }
    }
}

/// Surveys a snapshot from its magic, at position `start` of `bytes`, to its end.
pub fn survey(bytes: &[u8], start: usize) -> Result<Survey> {
    survey_unfolded(bytes, start, Vec::new())
}

/// Surveys the records of a snapshot of Dragonfly, of which the parts `lost` cannot be unfolded.
pub fn survey_unfolded(bytes: &[u8], start: usize, lost: Vec<LostPart>) -> Result<Survey> {
    let snapshot = bytes.get(start..).unwrap_or_default();
    let mut cursor = Cursor::new(snapshot, start as u64);
    let mut header = RdbHeader::read(&mut cursor).within(Reading::Header)?;
    if dragonfly::is_dragonfly(snapshot) {
        header.family = Family::Dragonfly;
    }
    let commands = match header.family {
        Family::Dragonfly => None,
        Family::Redis | Family::Valkey => start_of_commands(bytes, start + RdbHeader::LEN, header.checksum_len()),
    };
    let bytes = bytes.get(..commands.unwrap_or(bytes.len())).unwrap_or_default();
    let mut walk = Walk::new(bytes, start, header, lost);
    walk.run(start + RdbHeader::LEN);
    let may_be_false = !walk.is_proven() && header.family != Family::Dragonfly;
    if may_be_false && walk.modules().have_damaged() {
        let modules = walk.modules().clone();
        walk = Walk::new(bytes, start, header, Vec::new()).with_modules(modules);
        walk.run(start + RdbHeader::LEN);
    }
    let (found, profile) = walk.finish();
    Ok(if may_be_false { without_false_records(bytes, start, found, profile) } else { found })
}

/// Surveys a file again without records that contain others, as long as its keys then agree better with the announced numbers.
fn without_false_records(bytes: &[u8], start: usize, mut found: Survey, mut profile: Profile) -> Survey {
    let mut known: Vec<FalseRecord> = Vec::new();
    for _ in 0..MAX_SURVEYS {
        let more = false_records(bytes, &found, &profile);
        let listed = known.len();
        known.extend(more);
        known.sort_unstable_by_key(|record| record.start);
        known.dedup_by_key(|record| record.start);
        if known.len() == listed {
            break;
        }
        let mut walk = Walk::new(bytes, start, found.about.header, Vec::new())
            .without(known.clone())
            .with_modules(found.modules.clone());
        walk.run(start + RdbHeader::LEN);
        let (survey, learned) = walk.finish();
        if disagreement(&survey) >= disagreement(&found) {
            break;
        }
        (found, profile) = (survey, learned);
    }
    found
}

/// Returns the name of a key for the list of gaps; `None` if it is long or damaged.
fn name(key: &RawString<'_>) -> Option<Vec<u8>> {
    if key.len() > limits::MAX_GAP_NAME {
        return None;
    }
    key.to_bytes().ok().map(|name| name.into_owned())
}

#[cfg(test)]
mod tests;
