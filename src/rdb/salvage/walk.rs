//! Walk over a damaged file, which tells sound records from false ones.

mod access;
mod foreign;
mod marks;
mod others;
mod slots;

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use marks::{Mark, MarkKind};
use slots::check_slot_info;

use super::databases::{databases, databases_in_force, infer_databases};
use super::duplicates::remove_duplicates;
use super::lost_templates::{resume_head, stand_in};
use super::parts::{Parts, count_keys, too_many};
use super::zeros::ZeroedBlocks;
use super::{Stretch, Survey, name, prefix};
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::rdb::batch::FIRST_DATABASE;
use crate::rdb::cursor::Cursor;
use crate::rdb::dragonfly::LostPart;
use crate::rdb::file_info::FileInfo;
use crate::rdb::header::{Family, RdbHeader};
use crate::rdb::opcode_check::Libraries;
use crate::rdb::resync::{KeyFacts, Profile, Resync, fields_look_like_keys, is_end_of_file, verify_value};
use crate::rdb::scan::{FileItem, KeyEntry, ScanState, Scanner};
use crate::rdb::string::{RawString, StringForm};
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::rdb::verify::Verify;
use crate::wording::wording;

/// Number of false records to accept behind a gap if fields of hashes cannot look like keys.
const FALSE_STARTS: u32 = 3;
/// Number of lost templates whose number of fields cannot be found after which no other is looked for.
const MOST_UNKNOWN_TEMPLATES: u32 = 64;
/// Number of keys behind a gap after which they are accepted in files of strings whose names have nothing in common.
const MANY_STRINGS: u32 = 64;
/// Bytes near the end of a file in which a record that is cut off says nothing about its predecessor.
const CUT_OFF: usize = 64;

/// State behind a gap, before the first key that looks like the others.
#[derive(Debug)]
struct Leading {
    gap_start: usize,
    error: Error,
    /// Where parsing resumed.
    resumed: usize,
    rejected: u32,
}

/// Where a record is looked for behind a failure.
struct Search {
    end: usize,
    /// True if no record begins before the end.
    is_one_item: bool,
}

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
    /// A compact hash whose template is lost, with it the number of the values that begin at `values`.
    LostTemplate {
        at: usize,
        id: u64,
        values: usize,
        error: Error,
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
    announced: BTreeMap<u64, u64>,
    /// Database in force at the next item; `None` behind a gap.
    db: Option<u64>,
    last_db: u64,
    /// Database in force behind the last settled item.
    settled_db: u64,
    leading: Option<Leading>,
    has_expiries: bool,
    /// True if the checksum at the end of the file is right: then no record is false, however odd it is.
    is_proven: bool,
    /// True if it is wrong.
    is_changed: bool,
    zeros: ZeroedBlocks,
    /// Bytes behind templates that were searched for a record, and will be once more if one of these is damaged. Not more than
    /// the file has, or time would grow with the square of its size.
    searched_again: usize,
    /// Number of lost templates whose number of fields could not be found.
    unknown_templates: u32,
    /// Number of cluster slots with keys.
    slots: u32,
    /// Keys that the current database still lacks; `None` behind damage and if none were announced.
    left: Option<u64>,
    /// Database of a `SELECTDB` that the damage directly follows, and that is certainly sound.
    head: Option<u64>,
    ended: bool,
    end: usize,
    /// Where the last scanner stopped, perhaps inside an item.
    reached: usize,
    strays: u64,
    /// Parts of a file of Dragonfly that cannot be unfolded, in order.
    lost: Vec<LostPart>,
}

impl<'a> Walk<'a> {
    pub fn new(bytes: &'a [u8], start: usize, header: RdbHeader, lost: Vec<LostPart>) -> Walk<'a> {
        let is_right = access::checksum_is_right(bytes, start);
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
            parts: Parts::default(),
            announced: BTreeMap::new(),
            db: Some(FIRST_DATABASE),
            last_db: FIRST_DATABASE,
            settled_db: FIRST_DATABASE,
            leading: None,
            has_expiries: false,
            is_proven: header.has_checksum() && is_right == Some(true),
            is_changed: is_right == Some(false),
            zeros: ZeroedBlocks::default(),
            unknown_templates: 0,
            slots: 0,
            left: Some(0),
            head: None,
            ended: false,
            end: bytes.len(),
            reached: start,
            strays: 0,
            lost,
        }
    }

    pub fn run(&mut self, mut at: usize) {
        loop {
            let resumed = at;
            let mut search = None;
            let (cut, failed, error) = match self.walk_from(at) {
                Stop::End => {
                    self.end_leading(self.end);
                    return self.settle_all();
                }
                Stop::Failed { at, error, is_credible } => (self.retract(resumed, at, is_credible), at, error),
                Stop::Embedded(at) => {
                    self.drop_pieces();
                    (at, at, end_inside(at))
                }
                Stop::LostTemplate { at: hash, id, values, .. } if self.has_stand_in(id, values) => {
                    at = hash;
                    continue;
                }
                Stop::LostTemplate { at, error, .. } => (self.retract(resumed, at, true), at, error),
                Stop::Lost { at, error, search: found } => {
                    search = Some(found);
                    (self.retract(resumed, at, true), at, error)
                }
            };
            self.settle_all();
            self.left = None;
            if let Some(db) = self.head.take() {
                // Without records as yet: the damage lies between them and the database they belong to.
                self.parts.stretch(cut..cut, Some(db));
            }
            // A gap that no accepted key has ended goes on.
            let (gap_start, error, search_from) = match self.leading.take() {
                Some(leading) => (leading.gap_start, leading.error, leading.resumed.max(cut)),
                None => (cut, error, cut),
            };
            self.resync.charge(self.reached.max(failed).saturating_sub(cut));
            let search = search.unwrap_or_else(|| self.search_behind(failed));
            let found = match self.parts.are_full() || search.is_one_item {
                true => None,
                false => {
                    let range = search_from + 1..search.end.max(search_from + 1);
                    self.resync.find(range, failed, self.templates.as_ref(), &self.profile)
                }
            };
            if found.is_none() && search.end < self.bytes.len() && !self.parts.are_full() {
                self.parts.push_framing_gap(gap_start..search.end, self.settled_db, error);
                self.db = None;
                at = search.end;
                continue;
            }
            if self.may_be_among_templates() {
                Arc::make_mut(self.templates.get_or_insert_default()).set_incomplete();
                let searched_to = found.unwrap_or(self.bytes.len());
                if self.searched_again <= self.bytes.len()
                    && let Some(resumed) = resume_head(self.bytes, search_from + 1..searched_to)
                {
                    self.searched_again = self.searched_again.saturating_add(searched_to.saturating_sub(resumed));
                    self.parts.push_framing_gap(gap_start..resumed, self.settled_db, error);
                    at = resumed;
                    continue;
                }
            }
            let Some(found) = found else {
                return self.parts.push_framing_gap(gap_start..self.bytes.len(), self.settled_db, error);
            };
            self.db = None;
            self.leading = Some(Leading { gap_start, error, resumed: found, rejected: 0 });
            at = found;
        }
    }

    /// Returns where the search for a record behind a failure ends: where one certainly begins, or at the end of the file.
    fn search_behind(&self, failed: usize) -> Search {
        match self.lost.get(self.lost.partition_point(|part| part.range.end <= failed)) {
            Some(part) if part.range.start > failed => Search { end: part.range.start, is_one_item: false },
            Some(part) => Search { end: part.range.end, is_one_item: part.is_one_item },
            None => Search { end: self.bytes.len(), is_one_item: false },
        }
    }

    /// Returns the lost part that begins at a boundary, once.
    fn take_lost(&mut self, boundary: usize) -> Option<Stop> {
        if self.lost.is_empty() {
            return None;
        }
        let next = self.lost.partition_point(|part| part.range.start < boundary);
        let here = self.lost.iter_mut().skip(next).take_while(|part| part.range.start == boundary);
        let (error, part) = here.filter_map(|part| Some((part.error.take()?, part))).next()?;
        let search = Search { end: part.range.end, is_one_item: part.is_one_item };
        Some(Stop::Lost { at: boundary, error, search })
    }

    /// Reads items from `at` until the file ends or an item cannot be read.
    fn walk_from(&mut self, at: usize) -> Stop {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let state = ScanState { family: self.header.family, db: self.db };
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
            let item = match scanner.next_item() {
                Ok(item) => item,
                Err(error) => {
                    // A file that is cut off says nothing about the records before.
                    let is_cut = error.needed().is_some() && self.bytes.len() - boundary < CUT_OFF;
                    // Nor does what a newer Dragonfly may have written.
                    let is_newer = self.header.family == Family::Dragonfly
                        && !self.is_behind_gap()
                        && matches!(error.kind(), ErrorKind::Unsupported(_));
                    break failed(error, is_cut || is_newer || self.is_proven);
                }
            };
            if let Err(error) = self.header.check_knows(scanner.take_first_version(&item), boundary as u64) {
                break failed(error, self.is_proven);
            }
            if let Err(error) = self.looks_real(&item, boundary, last.as_ref(), &scanner) {
                break failed(error, false);
            }
            match item {
                FileItem::Key(entry) => {
                    let facts = KeyFacts::of(&entry);
                    if self.is_behind_gap()
                        && self.profile.is_overlong(&facts)
                        && !self.is_one_of_many(&scanner, &entry)
                    {
                        break failed(overlong_key(&entry), false);
                    }
                    if let Err(error) = self.has_access_as_others(boundary, &facts) {
                        break failed(error, false);
                    }
                    let mut value = scanner.cursor().clone();
                    if let Err(error) = verify_value(&mut scanner, &entry, &mut self.verify) {
                        let _ = self.verify.finish();
                        if let Some(id) = lost_template(&entry, &mut value, scanner.templates()) {
                            break Stop::LostTemplate { at: boundary, id, values: at + value.consumed(), error };
                        }
                        break failed(error, self.is_proven || self.profile.trusts(&facts));
                    }
                    last = Some((entry.db, entry.key));
                    let end = at + scanner.cursor().consumed();
                    self.key(boundary..end, &entry, facts, scanner.take_fault());
                    boundary = end;
                }
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

    /// Returns whether the snapshot ends before `end` according to the checksum there; other bytes may follow.
    fn is_end_by_checksum(&self, end: usize) -> bool {
        // Behind a gap the checksum is wrong; so this is computed once.
        if self.is_behind_gap() {
            return false;
        }
        let stored = Cursor::new(self.bytes.get(end..).unwrap_or_default(), 0).u64_le();
        let covered = self.bytes.get(self.start..end).unwrap_or_default();
        match stored {
            Ok(stored) => stored == 0 || stored == crate::rdb::crc64::checksum(covered),
            Err(_) => !self.header.has_checksum(),
        }
    }

    /// Returns what an EOF opcode in the middle of the file means.
    ///
    /// Behind a gap it may be the end of a snapshot that is the value of a key: then a record follows its checksum.
    fn false_end(&mut self, at: usize) -> Stop {
        let behind = at + 1 + if self.header.has_checksum() { 8 } else { 0 };
        let is_value = self.is_behind_gap() && self.resync.is_boundary(behind, self.templates.as_ref(), &self.profile);
        if is_value {
            return Stop::Embedded(at);
        }
        Stop::Failed { at, error: end_inside(at), is_credible: false }
    }

    fn is_behind_gap(&self) -> bool {
        self.leading.is_some() || self.parts.has_framing_gap
    }

    /// Returns whether the name of the key behind an overlong one is overlong, too, as with many keys that were named alike.
    fn is_one_of_many(&self, scanner: &Scanner<'a>, entry: &KeyEntry<'a>) -> bool {
        let mut ahead = scanner.clone();
        let next = ahead.skip_value(entry).and_then(|()| ahead.next_item());
        matches!(next, Ok(FileItem::Key(next)) if self.profile.is_overlong(&KeyFacts::of(&next)))
    }

    /// Returns whether templates may be damaged: those of a file stand before its first key.
    fn may_be_among_templates(&self) -> bool {
        let has_templates = !Templates::before(self.header).are_foreign();
        has_templates && self.profile.is_empty() && self.announced.is_empty() && !self.parts.are_full()
    }

    /// Returns whether a lost template could be given the number of values that such a hash has.
    fn has_stand_in(&mut self, id: u64, values: usize) -> bool {
        let Some(templates) = &mut self.templates else { return false };
        let found = self.unknown_templates < MOST_UNKNOWN_TEMPLATES
            && stand_in(self.bytes, values, id, templates, &mut self.resync, &self.profile);
        self.unknown_templates += u32::from(!found);
        found
    }

    /// Adds a key whose framing is intact; `metadata` is what is wrong with the strings before it.
    fn key(&mut self, range: Range<usize>, entry: &KeyEntry<'_>, facts: KeyFacts, metadata: Result<()>) {
        let parsed_start = range.start;
        let notes = self.verify.finish();
        let is_empty = matches!(&notes, Ok(notes) if notes.empty);
        let fault = metadata.and(notes).and_then(|notes| match entry.key.form {
            _ if notes.lost_template => Err(Error::corrupt(
                entry.offset,
                wording!("its field names lie in a damaged part of the file", "其字段名位于文件的损坏部分"),
            )),
            StringForm::Lzf { .. } => entry.key.check().within(Reading::Key),
            StringForm::Plain(_) | StringForm::Int(_) => Ok(()),
        });
        let fault = fault.and_then(|()| match self.is_proven {
            true => Ok(()),
            false => self.zeros.check(entry, self.bytes.get(range.clone()).unwrap_or_default()),
        });
        self.has_expiries |= entry.expires_at.is_some();
        // The last bytes of an expiry read as an empty list without a name, and the pairs of a hash as keys without an idle time or
        // access counter.
        if !self.is_proven
            && (is_empty && entry.key.is_empty() || self.has_no_access(range.start, &facts))
            && let Some(Mark { range: damaged, kind: MarkKind::Damaged { .. }, .. }) = self.marks.back_mut()
            && damaged.end == range.start
        {
            damaged.end = range.end;
            return;
        }
        let damage = self.damage_before(range.start);
        let lost_start = damage.and_then(|gap| {
            prefix::start(self.bytes, gap, entry).or_else(|| prefix::without_false_counter(self.bytes, range.start))
        });
        let range = lost_start.unwrap_or(range.start)..range.end;
        if self.is_rejected(&range, entry, &facts) {
            return;
        }
        self.end_leading(range.start);
        if let (Some(start), Some(before)) = (lost_start, self.marks.back_mut()) {
            // A false counter belongs to the damage, an expiry in it does not.
            before.range.end = if start > parsed_start { start } else { before.range.end.min(start) };
        }
        self.left = self.left.and_then(|left| left.checked_sub(1));
        let kind = match fault {
            Ok(()) => {
                let expires = entry.expires_at.is_some() || lost_start.is_some_and(|start| start < parsed_start);
                MarkKind::Key { facts, expires, is_empty }
            }
            Err(error) => MarkKind::Damaged {
                key: name(&entry.key),
                error: error.or_at(entry.offset),
                is_trusted: self.profile.trusts(&facts),
            },
        };
        self.mark(Mark { range, db: self.db, kind });
    }

    /// Returns whether a key right behind a gap does not look like the keys elsewhere, and stays in the gap.
    fn is_rejected(&mut self, range: &Range<usize>, entry: &KeyEntry<'_>, facts: &KeyFacts) -> bool {
        let has_no_access = self.has_no_access(range.start, facts);
        let Some(leading) = &mut self.leading else { return false };
        // An expiry before the first key may have lost its opcode; its highest byte is zero.
        let may_lack_expiry = range.start == leading.resumed
            && entry.expires_at.is_none()
            && self.has_expiries
            && self.bytes.get(range.start.wrapping_sub(1)) == Some(&0);
        if !may_lack_expiry && self.profile.trusts(facts) {
            return false;
        }
        // Servers write access metadata for all keys or for none.
        if !may_lack_expiry && has_no_access {
            return true;
        }
        leading.rejected += 1;
        let is_accepted = match fields_look_like_keys(self.header) {
            true => leading.rejected > MANY_STRINGS && self.profile.is_shapeless(),
            false => leading.rejected > FALSE_STARTS,
        };
        !is_accepted
    }

    pub fn finish(mut self) -> Survey {
        let has_one_database = self.has_one_database();
        let Parts { mut pieces, mut gaps, .. } = self.parts;
        match has_one_database {
            true => pieces.iter_mut().for_each(|piece| piece.stretch.is_certain = true),
            // Its shards and chunks come in any order.
            false if self.header.family == Family::Dragonfly => databases_in_force(&mut pieces),
            false => infer_databases(&mut pieces, &gaps, &self.announced),
        }
        self.about.templates = self.templates.map(|templates| match templates.are_incomplete() {
            true => Arc::new(templates.without_stand_ins()),
            false => templates,
        });
        let stretches = pieces.into_iter().map(|piece| piece.stretch).filter(|stretch| !stretch.range.is_empty());
        let mut stretches = stretches.collect::<Vec<Stretch>>();
        if !remove_duplicates(self.bytes, &self.about, &mut stretches, &mut gaps) {
            (self.ended, self.end) = (false, self.bytes.len());
        }
        count_keys(&stretches, &mut gaps);
        Survey {
            about: self.about,
            databases: databases(&stretches, &self.announced),
            stretches,
            gaps,
            ended: self.ended,
            bytes: (self.end - self.start) as u64,
            strays: self.strays,
        }
    }
}

fn end_inside(at: usize) -> Error {
    Error::corrupt(at as u64, wording!("end mark inside the file", "文件中间出现结束标记"))
}

/// Returns the id of the lost template of a compact hash, whose value `input` is at, leaving it at the first value.
fn lost_template(entry: &KeyEntry<'_>, input: &mut Cursor<'_>, templates: &Templates) -> Option<u64> {
    let is_reference = entry.value_type == ValueType::HashTemplateArrayRef && templates.are_incomplete();
    let id = is_reference.then(|| input.length().ok()).flatten()?;
    templates.get(id, entry.offset).is_err().then_some(id)
}

fn overlong_key(entry: &KeyEntry<'_>) -> Error {
    let len = entry.key.len();
    Error::corrupt(
        entry.offset,
        wording!(
            "a key of {len} bytes that is no text, unlike all others",
            "key 长 {len} 字节且不是文本，与其他 key 都不同"
        ),
    )
}
