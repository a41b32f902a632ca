//! Walk over a damaged file, which tells sound records from false ones.

mod access;
mod checksum;
mod database;
mod end;
mod foreign;
mod keys;
mod marks;
mod others;
mod search;
mod slots;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use checksum::FileChecksum;
use database::DatabaseState;
use marks::Mark;
use search::{Leading, Search};
use slots::check_slot_info;

use super::databases::{databases, databases_in_force, doubt_excess, infer_databases};
use super::duplicates::remove_duplicates;
use super::lost_templates::HeadSearch;
use super::modules::ModuleIds;
use super::parts::{Parts, count_keys, too_many};
use super::swallowed::FalseRecord;
use super::zeros::ZeroedBlocks;
use super::{Stretch, Survey};
use crate::error::{Error, ErrorKind};
use crate::rdb::cursor::Cursor;
use crate::rdb::dragonfly::LostPart;
use crate::rdb::file_info::FileInfo;
use crate::rdb::header::{Family, RdbHeader};
use crate::rdb::opcode_check::Libraries;
use crate::rdb::resync::{Profile, Resync, is_end_of_file};
use crate::rdb::scan::{FileItem, ScanState, Scanner};
use crate::rdb::string::RawString;
use crate::rdb::template::Templates;
use crate::rdb::verify::Verify;

/// Bytes near the end of a file in which a record that is cut off says nothing about its predecessor.
const CUT_OFF: usize = 64;

/// Reason why the walk stopped.
enum Stop {
    End,
    Failed {
        at: usize,
        error: Error,
        /// True if the key before the damage looks sound, so that its predecessors do, too.
        is_credible: bool,
    },
    /// An EOF opcode that is not at the end of the file: the records before it are part of a value.
    Embedded(usize),
    /// A record inside a false one.
    Inside(usize),
    /// A compact hash whose template is lost, with it the number of the values that begin at `values`.
    LostTemplate {
        at: usize,
        id: u64,
        values: usize,
        error: Error,
    },
    /// A false record, known to contain others.
    Swallowed {
        at: usize,
        record: FalseRecord,
    },
    /// A part that cannot be unfolded, behind sound records.
    Lost {
        at: usize,
        error: Error,
        search: Search,
    },
}

pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    start: usize,
    header: RdbHeader,
    about: FileInfo,
    resync: Resync<'a>,
    verify: Verify,
    profile: Profile,
    templates: Option<Arc<Templates>>,
    /// Function libraries before the next item, whether or not they lie in a gap.
    libraries: Libraries,
    marks: VecDeque<Mark>,
    parts: Parts,
    database: DatabaseState,
    leading: Option<Leading>,
    has_expiries: bool,
    checksum: FileChecksum,
    zeros: ZeroedBlocks,
    /// Bytes behind templates that were searched for a record, and will be once more if one of these is damaged. Not more than
    /// the file has, or time would grow with the square of its size.
    searched_again: usize,
    heads: HeadSearch,
    modules: ModuleIds,
    /// Ids of an earlier survey, by which damaged ones are told.
    known_modules: ModuleIds,
    /// Number of lost templates whose number of fields could not be found.
    unknown_templates: u32,
    /// Number of cluster slots with keys.
    slots: u32,
    ended: bool,
    end: usize,
    /// Where the last scanner stopped, perhaps inside an item.
    reached: usize,
    /// Farthest offset that a scanner has reached: what lies before is read again.
    read_to: usize,
    strays: u64,
    /// Parts of a file of Dragonfly that cannot be unfolded, in order.
    lost: Vec<LostPart>,
    /// Records known to be false, in order.
    false_records: Vec<FalseRecord>,
}

impl<'a> Walk<'a> {
    pub fn new(bytes: &'a [u8], start: usize, header: RdbHeader, lost: Vec<LostPart>) -> Walk<'a> {
        Walk {
            bytes,
            start,
            header,
            about: FileInfo::new(header),
            resync: Resync::new(bytes, 0, header),
            verify: Verify::new(header),
            profile: Profile::default(),
            templates: None,
            libraries: Libraries::new(),
            marks: VecDeque::new(),
            searched_again: 0,
            heads: HeadSearch::default(),
            modules: ModuleIds::default(),
            known_modules: ModuleIds::default(),
            parts: Parts::default(),
            database: DatabaseState::default(),
            leading: None,
            has_expiries: false,
            checksum: FileChecksum::of(bytes, start, header),
            zeros: ZeroedBlocks::default(),
            unknown_templates: 0,
            slots: 0,
            ended: false,
            end: bytes.len(),
            reached: start,
            read_to: start,
            strays: 0,
            lost,
            false_records: Vec::new(),
        }
    }

    /// Takes these records for damage; they are in order.
    pub fn without(mut self, false_records: Vec<FalseRecord>) -> Walk<'a> {
        self.false_records = false_records;
        self
    }

    /// Judges ids of modules by those of an earlier survey.
    pub fn with_modules(mut self, known: ModuleIds) -> Walk<'a> {
        self.known_modules = known;
        self
    }

    /// Returns the ids of the modules of all values so far.
    pub fn modules(&self) -> &ModuleIds {
        &self.modules
    }

    /// Returns whether the checksum proves that no record is false.
    pub fn is_proven(&self) -> bool {
        self.checksum == FileChecksum::Right
    }

    /// Returns the false record that a boundary is in.
    fn false_record_at(&self, boundary: usize) -> Option<FalseRecord> {
        let before = self.false_records.partition_point(|record| record.start <= boundary);
        let record = self.false_records.get(before.checked_sub(1)?)?;
        (boundary < record.inside).then_some(*record)
    }

    /// Reads items from `at` until the file ends or an item cannot be read.
    fn walk_from(&mut self, at: usize) -> Stop {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let state = ScanState { family: self.header.family, db: self.database.current };
        // The table is handed over, not shared: adding a template to a shared table copies it.
        let mut scanner = Scanner::new(Cursor::new(bytes, at as u64), state)
            .with_templates(Templates::before(self.header), self.templates.take())
            .with_checked_opcodes();
        mem::swap(scanner.libraries(), &mut self.libraries);
        let mut last: Option<(Option<u64>, RawString<'a>)> = None;
        let mut boundary = at;
        let stop = loop {
            let failed = |error, is_credible| Stop::Failed { at: boundary, error, is_credible };
            if self.parts.are_full() {
                break failed(too_many(boundary), true);
            }
            if scanner.at_boundary()
                && let Some(lost) = self.take_lost(boundary)
            {
                break lost;
            }
            if scanner.at_boundary()
                && let Some(record) = self.false_record_at(boundary)
            {
                break Stop::Swallowed { at: boundary, record };
            }
            if scanner.at_boundary()
                && let Some(error) = self.false_template(boundary, scanner.templates())
            {
                break failed(error, true);
            }
            let item = match scanner.next_item() {
                Ok(item) => item,
                Err(error) => {
                    let is_credible = self.says_nothing_of_others(&error, boundary);
                    break failed(error, is_credible);
                }
            };
            if let Err(error) = self.header.check_knows(scanner.take_first_version(&item), boundary as u64) {
                break failed(error, self.is_proven());
            }
            if let Err(error) = self.looks_real(&item, boundary, last.as_ref(), &scanner) {
                break failed(error, self.is_at_end_mark(boundary));
            }
            match item {
                FileItem::Key(entry) => match self.read_key(&mut scanner, &entry, at, boundary) {
                    Ok(end) => {
                        last = Some((entry.db, entry.key));
                        boundary = end;
                    }
                    Err(stop) => break stop,
                },
                FileItem::End => {
                    let rest = scanner.cursor().rest();
                    if !is_end_of_file(self.header, rest) && !self.is_end_by_checksum(boundary + 1) {
                        self.templates = scanner.shared_templates();
                        break self.false_end(boundary);
                    }
                    self.ended = true;
                    self.end = at + scanner.cursor().consumed();
                    break Stop::End;
                }
                other => {
                    self.about.observe(&other);
                    if scanner.at_boundary() {
                        let end = at + scanner.cursor().consumed();
                        let sound = scanner.take_fault().and_then(|()| self.is_loaded(&other, boundary));
                        let sound = sound.and_then(|()| check_slot_info(&other));
                        self.other(boundary..end, &other, sound);
                        boundary = end;
                    }
                }
            }
        };
        self.templates = scanner.shared_templates();
        mem::swap(scanner.libraries(), &mut self.libraries);
        self.reached = at + scanner.cursor().consumed();
        self.strays += scanner.strays();
        self.about.enterprise |= scanner.met_enterprise_prefix() && self.profile.is_empty();
        self.resync.enterprise = self.about.enterprise;
        stop
    }

    /// Returns whether an item that cannot be read is no evidence against the records before it.
    fn says_nothing_of_others(&self, error: &Error, boundary: usize) -> bool {
        let is_cut = error.needed().is_some() && self.bytes.len() - boundary < CUT_OFF;
        // An opcode of a newer Dragonfly.
        let is_newer = self.header.family == Family::Dragonfly
            && !self.is_behind_gap()
            && matches!(error.kind(), ErrorKind::Unsupported(_));
        is_cut || is_newer || self.is_proven() || self.is_at_end_mark(boundary) || self.may_be_cut_off(error)
    }

    fn is_behind_gap(&self) -> bool {
        self.leading.is_some() || self.parts.has_framing_gap
    }

    /// Returns the survey, and what its keys have in common.
    pub fn finish(mut self) -> (Survey, Profile) {
        let has_one_database = self.has_one_database();
        let Parts { mut pieces, mut gaps, .. } = self.parts;
        if has_one_database {
            pieces.iter_mut().for_each(|piece| piece.stretch.is_certain = true);
        } else if self.header.family == Family::Dragonfly {
            // Its shards and chunks come in any order.
            databases_in_force(&mut pieces);
        } else {
            infer_databases(&mut pieces, &gaps, &self.database.announced);
        }
        self.about.templates = self.templates.map(|templates| {
            if templates.are_incomplete() { Arc::new(templates.without_stand_ins()) } else { templates }
        });
        let stretches = pieces.into_iter().map(|piece| piece.stretch).filter(|stretch| !stretch.range.is_empty());
        let mut stretches = stretches.collect::<Vec<Stretch>>();
        if !remove_duplicates(self.bytes, &self.about, &mut stretches, &mut gaps) {
            (self.ended, self.end) = (false, self.bytes.len());
        }
        count_keys(&stretches, &mut gaps);
        let mut databases = databases(&stretches, &self.database.announced);
        let is_sound = gaps.is_empty() && self.ended;
        if !is_sound && !has_one_database && self.about.header.family != Family::Dragonfly {
            doubt_excess(&mut databases);
        }
        let survey = Survey {
            about: self.about,
            databases,
            stretches,
            gaps,
            ended: self.ended,
            bytes: (self.end - self.start) as u64,
            limit: self.bytes.len(),
            strays: self.strays,
            modules: self.modules,
        };
        (survey, self.profile)
    }
}
