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

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::batch::{Batch, FIRST_DATABASE};
use super::boundary::is_same_key;
use super::cursor::Cursor;
use super::file_info::FileInfo;
use super::header::RdbHeader;
use super::resync::{KeyFacts, Profile, Resync, fields_look_like_keys, is_end_of_file, is_too_new, verify_value};
use super::scan::{FileItem, KeyEntry, ScanState, Scanner};
use super::string::{RawString, StringForm};
use super::template::Templates;
use super::value_type::ValueType;
use super::verify::Verify;
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::input::{Block, Mapped};
use crate::limits;
use crate::wording::wording;

/// Number of records before a failure that may be retracted if they look false.
const SUSPICIOUS: usize = 6;
/// Number of false records to accept behind a gap if fields of hashes cannot look like keys.
const FALSE_STARTS: u32 = 3;
/// Number of keys behind a gap after which they are accepted in files of strings whose names have nothing in common.
const MANY_STRINGS: u32 = 64;
/// Minimum size of a record in bytes.
const LEAST_RECORD: u64 = 4;
/// Bytes near the end of a file in which a record that is cut off says nothing about its predecessor.
const CUT_OFF: usize = 64;

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
    /// Number of key prefixes without a key.
    pub strays: u64,
}

/// Contiguous sound records of one database.
#[derive(Debug, Clone)]
pub struct Stretch {
    /// Position in the bytes of the file.
    pub range: Range<usize>,
    /// Database of its keys.
    pub db: u64,
    /// False if the database was inferred because its `SELECTDB` may be lost.
    pub is_certain: bool,
    /// Number of keys.
    pub keys: u64,
    /// Number of keys with an expiry.
    pub expires: u64,
    /// Hash templates of the file. A sound record has none of those behind it.
    templates: Option<Arc<Templates>>,
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
    /// The value of this key is damaged inside intact framing.
    Value(Vec<u8>),
    /// This key occurs more than once in its database; servers refuse to load duplicates.
    Duplicate(Vec<u8>),
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
            templates: stretch.templates.clone(),
            no_templates: Templates::before(header),
        }
    }
}

/// Surveys a snapshot from its magic, at position `start` of `bytes`, to its end.
pub fn survey(bytes: &[u8], start: usize) -> Result<Survey> {
    let mut cursor = Cursor::new(bytes.get(start..).unwrap_or_default(), start as u64);
    let header = RdbHeader::read(&mut cursor).within(Reading::Header)?;
    let mut walk = Walk::new(bytes, start, header);
    walk.run(start + RdbHeader::LEN);
    Ok(walk.finish())
}

/// Item that has been read, but may be retracted.
#[derive(Debug)]
struct Mark {
    range: Range<usize>,
    /// Database in force behind it.
    db: Option<u64>,
    kind: MarkKind,
}

#[derive(Debug)]
enum MarkKind {
    Key {
        facts: KeyFacts,
        expires: bool,
    },
    /// A key whose value is damaged.
    Damaged {
        key: Vec<u8>,
        error: Error,
    },
    /// An item that is copied: auxiliary field, function, slot, template.
    Other,
    /// An item that is written anew: `SELECTDB`, `RESIZEDB`.
    Database(Option<u64>),
}

/// Stretch whose database may be unknown as yet.
#[derive(Debug)]
struct Piece {
    stretch: Stretch,
    db: Option<u64>,
    /// Index of the framing gap right before it.
    behind: Option<usize>,
}

/// State behind a gap, before the first key that looks like the others.
#[derive(Debug)]
struct Leading {
    gap_start: usize,
    error: Error,
    /// Where parsing resumed.
    resumed: usize,
    rejected: u32,
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
}

/// Evidence for an item before a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strength {
    Sound,
    /// A real record, but the damage may lie in it.
    Suspicious,
    False,
}

struct Walk<'a> {
    bytes: &'a [u8],
    start: usize,
    header: RdbHeader,
    about: FileInfo,
    resync: Resync<'a>,
    verify: Verify,
    profile: Profile,
    templates: Option<Arc<Templates>>,
    marks: VecDeque<Mark>,
    pieces: Vec<Piece>,
    gaps: Vec<Gap>,
    announced: BTreeMap<u64, u64>,
    /// Database in force at the next item; `None` behind a gap.
    db: Option<u64>,
    last_db: u64,
    /// Database in force behind the last settled item.
    settled_db: u64,
    leading: Option<Leading>,
    /// Index of the last framing gap, if no piece follows it yet.
    fresh_gap: Option<usize>,
    /// Number of pieces before the last framing gap.
    pieces_before_gap: usize,
    has_framing_gap: bool,
    has_expiries: bool,
    zeros: ZeroedBlocks,
    ended: bool,
    end: usize,
    /// Where the last scanner stopped, perhaps inside an item.
    reached: usize,
    strays: u64,
}

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8], start: usize, header: RdbHeader) -> Walk<'a> {
        Walk {
            bytes,
            start,
            header,
            about: FileInfo::new(header),
            resync: Resync::new(bytes, 0, header),
            verify: Verify::new(header.family),
            profile: Profile::default(),
            templates: None,
            marks: VecDeque::new(),
            pieces: Vec::new(),
            gaps: Vec::new(),
            announced: BTreeMap::new(),
            db: Some(FIRST_DATABASE),
            last_db: FIRST_DATABASE,
            settled_db: FIRST_DATABASE,
            leading: None,
            fresh_gap: None,
            pieces_before_gap: 0,
            has_framing_gap: false,
            has_expiries: false,
            zeros: ZeroedBlocks::default(),
            ended: false,
            end: bytes.len(),
            reached: start,
            strays: 0,
        }
    }

    fn run(&mut self, mut at: usize) {
        loop {
            let resumed = at;
            let (cut, failed, error) = match self.walk_from(at) {
                Stop::End => {
                    self.end_leading(self.end);
                    return self.settle_all();
                }
                Stop::Failed { at, error, is_credible } => (self.retract(resumed, at, is_credible), at, error),
                Stop::Embedded(at) => {
                    self.drop_pieces();
                    (at, at, Error::corrupt(at as u64, wording!("end mark inside the file", "文件中间出现结束标记")))
                }
            };
            self.settle_all();
            // A gap that no accepted key has ended goes on.
            let (gap_start, error, search_from) = match self.leading.take() {
                Some(leading) => (leading.gap_start, leading.error, leading.resumed.max(cut)),
                None => (cut, error, cut),
            };
            self.resync.charge(self.reached.max(failed).saturating_sub(cut));
            let found = match self.gaps.len() < limits::MAX_GAPS && self.pieces.len() < limits::MAX_STRETCHES {
                true => self.resync.find(search_from + 1, failed, self.templates.as_ref(), &self.profile),
                false => None,
            };
            let Some(found) = found else {
                return self.push_gap(gap_start..self.bytes.len(), error);
            };
            self.db = None;
            self.leading = Some(Leading { gap_start, error, resumed: found, rejected: 0 });
            at = found;
        }
    }

    /// Reads items from `at` until the file ends or an item cannot be read.
    fn walk_from(&mut self, at: usize) -> Stop {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let state = ScanState { family: self.header.family, db: self.db };
        // The table is handed over, not shared: adding a template to a shared table copies it.
        let mut scanner = Scanner::new(Cursor::new(bytes, at as u64), state)
            .with_templates(Templates::before(self.header), self.templates.take());
        let mut last: Option<RawString<'a>> = None;
        let mut boundary = at;
        let stop = loop {
            let failed = |error, is_credible| Stop::Failed { at: boundary, error, is_credible };
            if self.gaps.len() >= limits::MAX_GAPS || self.pieces.len() >= limits::MAX_STRETCHES {
                let error = ErrorKind::Limit(wording!("too many damaged places or databases", "损坏之处或数据库过多"));
                break failed(Error::at(boundary as u64, error), true);
            }
            let item = match scanner.next_item() {
                Ok(item) => item,
                Err(error) => {
                    // A file that is cut off says nothing about the records before.
                    let is_cut = error.needed().is_some() && self.bytes.len() - boundary < CUT_OFF;
                    break failed(error, is_cut);
                }
            };
            match item {
                FileItem::Key(entry) => {
                    if let Err(error) = is_new(&entry, last.as_ref()) {
                        break failed(error, false);
                    }
                    if let Err(error) = self.may_be_written(&entry, scanner.met_enterprise_prefix()) {
                        break failed(error, false);
                    }
                    let facts = KeyFacts::of(&entry);
                    if let Err(error) = verify_value(&mut scanner, &entry, &mut self.verify) {
                        let _ = self.verify.finish();
                        break failed(error, self.profile.trusts(&facts));
                    }
                    last = Some(entry.key);
                    let end = at + scanner.cursor().consumed();
                    self.key(boundary..end, &entry, facts);
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
                FileItem::SlotNumber(_) if !self.about.enterprise && self.profile.is_informed() => {
                    let what = wording!("a record of another version or server", "其他版本或其他服务器的记录");
                    break failed(Error::corrupt(boundary as u64, what), false);
                }
                other => {
                    self.about.observe(&other);
                    if scanner.at_boundary() {
                        let end = at + scanner.cursor().consumed();
                        self.other(boundary..end, &other);
                        boundary = end;
                    }
                }
            }
        };
        self.templates = scanner.shared_templates();
        self.reached = at + scanner.cursor().consumed();
        self.strays += scanner.strays();
        self.about.enterprise |= scanner.met_enterprise_prefix() && !self.profile.is_informed();
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
            Ok(stored) => stored == 0 || stored == super::crc64::checksum(covered),
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
        let what = wording!("end mark inside the file", "文件中间出现结束标记");
        Stop::Failed { at, error: Error::corrupt(at as u64, what), is_credible: false }
    }

    fn is_behind_gap(&self) -> bool {
        self.leading.is_some() || self.has_framing_gap
    }

    /// Fails for a record that servers of the file's version neither write nor load.
    fn may_be_written(&self, entry: &KeyEntry<'_>, has_enterprise_prefix: bool) -> Result<()> {
        let is_foreign = has_enterprise_prefix && !self.about.enterprise && self.profile.is_informed();
        if is_foreign || is_too_new(self.header, entry.value_type) {
            let what = wording!("a record of another version or server", "其他版本或其他服务器的记录");
            return Err(Error::corrupt(entry.offset, what));
        }
        Ok(())
    }

    /// Adds a key whose framing is intact.
    fn key(&mut self, range: Range<usize>, entry: &KeyEntry<'_>, facts: KeyFacts) {
        let fault = self.verify.finish().and_then(|_| match entry.key.form {
            StringForm::Lzf { .. } => entry.key.to_bytes().map(|_| ()).within(Reading::Key),
            StringForm::Plain(_) | StringForm::Int(_) => Ok(()),
        });
        let fault = fault.and_then(|()| self.zeros.check(entry, self.bytes.get(range.clone()).unwrap_or_default()));
        self.has_expiries |= entry.expires_at.is_some();
        if self.is_rejected(&range, entry, &facts) {
            return;
        }
        self.end_leading(range.start);
        let kind = match fault {
            Ok(()) => MarkKind::Key { facts, expires: entry.expires_at.is_some() },
            Err(error) => MarkKind::Damaged { key: name(&entry.key), error: error.or_at(entry.offset) },
        };
        self.mark(Mark { range, db: self.db, kind });
    }

    /// Returns whether a key right behind a gap does not look like the keys elsewhere, and stays in the gap.
    fn is_rejected(&mut self, range: &Range<usize>, entry: &KeyEntry<'_>, facts: &KeyFacts) -> bool {
        let Some(leading) = &mut self.leading else { return false };
        // An expiry in front of the first key may have lost its opcode; its highest byte is zero.
        let may_lack_expiry = range.start == leading.resumed
            && entry.expires_at.is_none()
            && self.has_expiries
            && self.bytes.get(range.start.wrapping_sub(1)) == Some(&0);
        if !may_lack_expiry && self.profile.trusts(facts) {
            return false;
        }
        leading.rejected += 1;
        let is_accepted = match fields_look_like_keys(self.header) {
            true => leading.rejected > MANY_STRINGS && self.profile.is_shapeless(),
            false => leading.rejected > FALSE_STARTS,
        };
        !is_accepted
    }

    /// Adds an item other than a key.
    fn other(&mut self, range: Range<usize>, item: &FileItem<'_>) {
        let kind = match item {
            FileItem::Database(db) => {
                if self.leading.is_some() && *db <= self.last_db && self.last_db > 0 {
                    return;
                }
                self.end_leading(range.start);
                self.db = Some(*db);
                self.last_db = *db;
                MarkKind::Database(None)
            }
            FileItem::DatabaseSize(keys, _) => MarkKind::Database(Some(*keys)),
            FileItem::Aux(..)
            | FileItem::Slot(_)
            | FileItem::SlotNumber(_)
            | FileItem::Function(_)
            | FileItem::ModuleAux(_)
            | FileItem::SlotImport
            | FileItem::Update
            | FileItem::HashTemplate
            | FileItem::Key(_)
            | FileItem::End => MarkKind::Other,
        };
        if self.leading.is_none() {
            self.mark(Mark { range, db: self.db, kind });
        }
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push_back(mark);
        if self.marks.len() > SUSPICIOUS
            && let Some(mark) = self.marks.pop_front()
        {
            self.settle(mark);
        }
    }

    /// Returns where the sound part before a failure ends, and drops the suspicious records behind that place.
    fn retract(&mut self, resumed: usize, failed: usize, is_credible: bool) -> usize {
        if is_credible {
            return failed;
        }
        let mut cut = failed;
        // Records that look false, and the one before, whose changed length led to them.
        while let Some(mark) = self.marks.back() {
            let strength = match &mark.kind {
                MarkKind::Key { facts, .. } if self.profile.trusts(facts) => Strength::Suspicious,
                MarkKind::Key { .. } | MarkKind::Damaged { .. } => Strength::False,
                MarkKind::Other => Strength::Sound,
                MarkKind::Database(Some(_)) if self.is_database_head() => Strength::Sound,
                MarkKind::Database(_) => Strength::False,
            };
            if strength == Strength::Sound {
                break;
            }
            cut = mark.range.start;
            self.marks.pop_back();
            if strength == Strength::Suspicious {
                break;
            }
        }
        self.last_db = self.marks.back().map_or(self.settled_db, |mark| mark.db.unwrap_or(self.settled_db));
        cut.max(resumed)
    }

    /// Returns whether the last two items are `SELECTDB` and `RESIZEDB`, which hardly come by chance.
    fn is_database_head(&self) -> bool {
        let before = self.marks.len().checked_sub(2).and_then(|index| self.marks.get(index));
        before.is_some_and(|mark| matches!(mark.kind, MarkKind::Database(None)))
    }

    fn settle_all(&mut self) {
        while let Some(mark) = self.marks.pop_front() {
            self.settle(mark);
        }
    }

    /// Makes an item part of a stretch, or of a gap if its value is damaged.
    fn settle(&mut self, mark: Mark) {
        self.settled_db = mark.db.unwrap_or(self.settled_db);
        match mark.kind {
            MarkKind::Key { facts, expires } => {
                self.profile.learn(&facts);
                let stretch = self.stretch(mark.range, mark.db);
                stretch.keys += 1;
                stretch.expires += u64::from(expires);
            }
            MarkKind::Other => {
                self.stretch(mark.range, mark.db);
            }
            MarkKind::Database(announced) => {
                if let (Some(keys), Some(db)) = (announced, mark.db)
                    && self.announced.len() < limits::MAX_GAPS
                {
                    self.announced.insert(db, keys);
                }
            }
            MarkKind::Damaged { key, error } => self.push_value_gap(&mark.range, GapKind::Value(key), error),
        }
    }

    /// Returns the stretch that ends with `range`: the last one if it is adjacent.
    fn stretch(&mut self, range: Range<usize>, db: Option<u64>) -> &mut Stretch {
        let is_adjacent = self.fresh_gap.is_none()
            && self.pieces.last().is_some_and(|piece| {
                let last = &piece.stretch.range;
                piece.db == db && last.end == range.start && range.end - last.start <= limits::BATCH_BYTES
            });
        if !is_adjacent {
            let stretch = Stretch {
                range: range.start..range.start,
                db: db.unwrap_or_default(),
                is_certain: db.is_some(),
                keys: 0,
                expires: 0,
                templates: None,
            };
            self.pieces.push(Piece { stretch, db, behind: self.fresh_gap.take() });
        }
        let last = self.pieces.len() - 1;
        let stretch = &mut self.pieces[last].stretch;
        stretch.range.end = range.end;
        stretch
    }

    fn push_value_gap(&mut self, range: &Range<usize>, kind: GapKind, error: Error) {
        self.gaps.push(Gap {
            range: range.start as u64..range.end as u64,
            kind,
            db: self.settled_db,
            error,
            keys_before: 0,
            keys_behind: 0,
        });
    }

    fn push_gap(&mut self, range: Range<usize>, error: Error) {
        self.has_framing_gap = true;
        self.pieces_before_gap = self.pieces.len();
        self.push_value_gap(&range, GapKind::Framing, error);
        self.fresh_gap = Some(self.gaps.len() - 1);
    }

    /// Ends the gap before the first accepted item behind it.
    fn end_leading(&mut self, at: usize) {
        if let Some(leading) = self.leading.take() {
            self.push_gap(leading.gap_start..at.max(leading.gap_start), leading.error);
        }
    }

    /// Drops everything behind the last framing gap, which then goes on.
    fn drop_pieces(&mut self) {
        self.marks.clear();
        if self.leading.is_some() {
            return; // none of them has been accepted
        }
        self.pieces.truncate(self.pieces_before_gap);
        while let Some(gap) = self.gaps.pop() {
            if gap.kind == GapKind::Framing {
                let gap_start = usize::try_from(gap.range.start).unwrap_or(self.start);
                self.leading = Some(Leading { gap_start, error: gap.error, resumed: gap_start, rejected: 0 });
                break;
            }
        }
        self.fresh_gap = None;
    }

    fn finish(mut self) -> Survey {
        self.infer_databases();
        let templates = self.templates.as_ref();
        let with_templates = |piece: Piece| Stretch { templates: templates.cloned(), ..piece.stretch };
        let mut stretches: Vec<Stretch> = self.pieces.into_iter().map(with_templates).collect();
        if self.has_framing_gap {
            let found = duplicates(self.bytes, self.header, &stretches);
            stretches = without(self.bytes, self.header, stretches, &found, &mut self.gaps);
        }
        self.gaps.sort_by_key(|gap| gap.range.start);
        count_keys(&stretches, &mut self.gaps);
        self.about.templates = self.templates;
        Survey {
            about: self.about,
            databases: databases(&stretches, &self.announced),
            stretches,
            gaps: self.gaps,
            ended: self.ended,
            bytes: (self.end - self.start) as u64,
            strays: self.strays,
        }
    }

    /// Returns whether the keys behind the gap before piece `index` end at another gap.
    fn is_enclosed(&self, index: usize) -> bool {
        let end = self.pieces[index + 1..].iter().find(|piece| piece.db.is_some() || piece.behind.is_some());
        end.is_some_and(|piece| piece.db.is_none())
    }

    /// Infers the database of keys behind gaps, in which `SELECTDB` may be lost.
    fn infer_databases(&mut self) {
        let mut keys: BTreeMap<u64, u64> = BTreeMap::new();
        let mut current = (FIRST_DATABASE, true);
        let sizes: (u64, u64) = self
            .pieces
            .iter()
            .fold((0, 0), |(keys, bytes), piece| (keys + piece.stretch.keys, bytes + piece.stretch.range.len() as u64));
        let usual = (sizes.1 / sizes.0.max(1)).max(LEAST_RECORD);
        let mut selected: Vec<Option<u64>> = Vec::with_capacity(self.pieces.len());
        for piece in self.pieces.iter().rev() {
            selected.push(piece.db.or(selected.last().copied().flatten()));
        }
        selected.reverse();
        for (index, &next) in selected.iter().enumerate() {
            let piece = &self.pieces[index];
            if let Some(db) = piece.db {
                if db < current.0 {
                    // Out of order: a block from elsewhere. What follows it does not belong to its database.
                    let stretch = &mut self.pieces[index].stretch;
                    (stretch.db, stretch.is_certain) = (db, false);
                    *keys.entry(db).or_default() += stretch.keys;
                    continue;
                }
                current = (db, true);
            } else if let Some(gap) = piece.behind {
                let is_run = |piece: &&Piece| piece.db.is_none() && piece.behind.is_none();
                let more: u64 = self.pieces[index + 1..].iter().take_while(is_run).map(|next| next.stretch.keys).sum();
                let lost = self.gaps.get(gap).map_or(0, |gap| gap.range.end - gap.range.start);
                let db = current.0;
                let left = self
                    .announced
                    .get(&db)
                    .map(|announced| announced.saturating_sub(keys.get(&db).copied().unwrap_or_default()));
                let run = piece.stretch.keys + more;
                let next = next.filter(|next| *next > db);
                let (mut found, is_certain) = database_behind(db, left, run, lost, usual, next);
                if found > db
                    && let Some((&announced, _)) = self.announced.range(db + 1..next.unwrap_or(u64::MAX)).next()
                {
                    found = announced;
                }
                // A block of another database may have taken the place of lost records.
                let is_enclosed = self.announced.len() > 1 && self.is_enclosed(index);
                current = (found, is_certain && current.1 && !is_enclosed);
            }
            let stretch = &mut self.pieces[index].stretch;
            (stretch.db, stretch.is_certain) = current;
            *keys.entry(current.0).or_default() += stretch.keys;
        }
    }
}

/// Returns the database of `run` keys behind a gap of `lost` bytes, and whether that is certain.
///
/// `left` is the number of keys that database `db`, in force before the gap, announced and that were not found before it;
/// `next` is the next database selected. Databases are stored in ascending order.
fn database_behind(db: u64, left: Option<u64>, run: u64, lost: u64, usual: u64, next: Option<u64>) -> (u64, bool) {
    let has_room = next.is_none_or(|next| next > db + 1);
    if !has_room {
        return (db, true);
    }
    let Some(left) = left else { return (db, false) };
    if left > lost / LEAST_RECORD {
        return (db, run <= left); // too many keys to be lost in the gap
    }
    if run > left {
        return (db + 1, next == Some(db + 2));
    }
    // The number of keys that the gap probably held: all that were left, or all but those behind it.
    let expected = lost / usual;
    match expected.abs_diff(left - run) <= expected.abs_diff(left) {
        true => (db, false),
        false => (db + 1, false),
    }
}

/// Fails if a key equals the one before it: runs of zeros parse as empty keys with empty values.
fn is_new(entry: &KeyEntry<'_>, last: Option<&RawString<'_>>) -> Result<()> {
    match last {
        Some(last) if is_same_key(last, &entry.key) => {
            Err(Error::corrupt(entry.offset, wording!("the key occurs twice in a row", "同一个 key 连续出现两次")))
        }
        Some(_) | None => Ok(()),
    }
}

/// Finds blocks of zeros in strings that the server would have compressed.
///
/// A lost disk block reads as zeros, and inside a long string nothing else tells. But servers compress strings unless told
/// not to, and a compressed string has no long runs of zeros.
#[derive(Debug, Default)]
struct ZeroedBlocks {
    compresses: bool,
}

impl ZeroedBlocks {
    /// Length of a run of zeros that is noticed: a disk block.
    const LEAST_RUN: usize = 512;

    /// Fails if a string in `record`, the bytes of `entry`, holds a block of zeros.
    fn check(&mut self, entry: &KeyEntry<'_>, record: &[u8]) -> Result<()> {
        if entry.value_type != ValueType::String {
            return Ok(());
        }
        let key = match entry.key.form {
            StringForm::Plain(key) => key.len(),
            StringForm::Int(_) | StringForm::Lzf { .. } => return Ok(()),
        };
        // The key ends at the same distance from the record's start as in the file.
        let value = usize::try_from(entry.key.offset - entry.offset).unwrap_or(usize::MAX).saturating_add(key);
        let value = Cursor::new(record.get(value..).unwrap_or_default(), 0).string()?;
        match value.form {
            StringForm::Lzf { .. } => self.compresses = true,
            StringForm::Plain(bytes) if self.compresses && would_shrink(bytes) => {
                let what = wording!("a block of zeros in a string", "字符串中有整块的零字节");
                return Err(Error::corrupt(entry.offset, what));
            }
            StringForm::Plain(_) | StringForm::Int(_) => {}
        }
        Ok(())
    }
}

/// Returns whether LZF would shrink a string thanks to its runs of zeros alone.
fn would_shrink(bytes: &[u8]) -> bool {
    let zeros: usize = bytes
        .chunk_by(|one, other| (*one == 0) == (*other == 0))
        .filter(|run| run[0] == 0 && run.len() >= ZeroedBlocks::LEAST_RUN)
        .map(<[u8]>::len)
        .sum();
    // LZF adds one byte in 32 to what it cannot compress, and turns 264 zeros into three bytes.
    zeros > 0 && zeros - zeros / 64 > (bytes.len() - zeros) / 31 + 64
}

/// Returns the name of a key for the list of gaps; empty if it is long or damaged.
fn name(key: &RawString<'_>) -> Vec<u8> {
    match key.len() <= limits::MAX_GAP_NAME {
        true => key.to_bytes().map(|name| name.into_owned()).unwrap_or_default(),
        false => Vec::new(),
    }
}

/// Passes the keys of a stretch to `see`, with their positions.
fn for_each_key(bytes: &[u8], header: RdbHeader, stretch: &Stretch, mut see: impl FnMut(Range<usize>, &KeyEntry<'_>)) {
    let part = bytes.get(stretch.range.clone()).unwrap_or_default();
    let start = stretch.range.start;
    let state = ScanState { family: header.family, db: Some(stretch.db) };
    let mut scanner = Scanner::new(Cursor::new(part, start as u64), state)
        .with_templates(Templates::before(header), stretch.templates.clone());
    while scanner.cursor().left() > 0 {
        match scanner.next_item() {
            Ok(FileItem::Key(entry)) if scanner.skip_value(&entry).is_ok() => {
                see(start + entry.start..start + scanner.cursor().consumed(), &entry);
            }
            Ok(FileItem::Key(_)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Returns the positions of keys that occur more than once in a database, but for the first of equal records.
///
/// Of records that differ one is false, and nothing tells which.
/// Memory is bounded: hashes are collected in as many passes as needed.
fn duplicates(bytes: &[u8], header: RdbHeader, stretches: &[Stretch]) -> Vec<usize> {
    let keys: u64 = stretches.iter().map(|stretch| stretch.keys).sum();
    let passes = keys / limits::HASHED_KEYS + 1;
    let mut found = Vec::new();
    let mut scratch = Vec::new();
    for pass in 0..passes {
        let mut hashes: Vec<(u64, usize, usize)> = Vec::new();
        for stretch in stretches {
            for_each_key(bytes, header, stretch, |range, entry| {
                if let Ok(key) = entry.key.decode(&mut scratch) {
                    let mut hasher = DefaultHasher::new();
                    (stretch.db, key).hash(&mut hasher);
                    let hash = hasher.finish();
                    if hash % passes == pass {
                        hashes.push((hash, range.start, range.end));
                    }
                }
            });
        }
        hashes.sort_unstable();
        for group in hashes.chunk_by(|one, other| one.0 == other.0).filter(|group| group.len() > 1) {
            let record = |place: &(u64, usize, usize)| bytes.get(place.1..place.2);
            let are_equal = group.iter().all(|place| record(place) == record(&group[0]));
            found.extend(group.iter().skip(usize::from(are_equal)).map(|place| place.1));
        }
    }
    found.sort_unstable();
    found
}

/// Cuts the keys at these positions out of the stretches and records them as gaps.
fn without(
    bytes: &[u8],
    header: RdbHeader,
    stretches: Vec<Stretch>,
    starts: &[usize],
    gaps: &mut Vec<Gap>,
) -> Vec<Stretch> {
    let mut kept = Vec::new();
    for mut stretch in stretches {
        let first = starts.partition_point(|start| *start < stretch.range.start);
        let own = starts.get(first..).unwrap_or_default();
        if own.first().is_none_or(|start| *start >= stretch.range.end) {
            kept.push(stretch);
            continue;
        }
        let original = stretch.clone();
        for_each_key(bytes, header, &original, |range, entry| {
            if own.binary_search(&range.start).is_err() {
                return;
            }
            let error = Error::corrupt(entry.offset, wording!("the key occurs more than once", "该 key 多次出现"));
            gaps.push(Gap {
                range: range.start as u64..range.end as u64,
                kind: GapKind::Duplicate(name(&entry.key)),
                db: original.db,
                error,
                keys_before: 0,
                keys_behind: 0,
            });
            let behind = Stretch { range: range.end..stretch.range.end, ..stretch.clone() };
            stretch.range.end = range.start;
            kept.push(std::mem::replace(&mut stretch, behind));
        });
        kept.push(stretch);
    }
    for stretch in &mut kept {
        recount(bytes, header, stretch);
    }
    kept.retain(|stretch| !stretch.range.is_empty());
    kept
}

fn recount(bytes: &[u8], header: RdbHeader, stretch: &mut Stretch) {
    let (mut keys, mut expires) = (0, 0);
    for_each_key(bytes, header, stretch, |_, entry| {
        keys += 1;
        expires += u64::from(entry.expires_at.is_some());
    });
    (stretch.keys, stretch.expires) = (keys, expires);
}

/// Fills in the number of keys before and behind each gap. Both lists are in file order.
fn count_keys(stretches: &[Stretch], gaps: &mut [Gap]) {
    let all: u64 = stretches.iter().map(|stretch| stretch.keys).sum();
    let (mut passed, mut next) = (0, stretches.iter().peekable());
    for gap in gaps {
        while let Some(stretch) = next.next_if(|stretch| stretch.range.end as u64 <= gap.range.start) {
            passed += stretch.keys;
        }
        (gap.keys_before, gap.keys_behind) = (passed, all - passed);
    }
}

fn databases(stretches: &[Stretch], announced: &BTreeMap<u64, u64>) -> Vec<DatabaseSurvey> {
    let mut all: BTreeMap<u64, DatabaseSurvey> = BTreeMap::new();
    for (&db, &keys) in announced {
        all.insert(db, DatabaseSurvey { db, announced: Some(keys), is_certain: true, ..DatabaseSurvey::default() });
    }
    for stretch in stretches.iter().filter(|stretch| stretch.keys > 0) {
        let entry = all.entry(stretch.db).or_insert(DatabaseSurvey {
            db: stretch.db,
            is_certain: true,
            ..DatabaseSurvey::default()
        });
        entry.keys += stretch.keys;
        entry.expires += stretch.expires;
        entry.is_certain &= stretch.is_certain;
    }
    all.into_values().collect()
}

#[cfg(test)]
#[path = "salvage_tests.rs"]
mod tests;
