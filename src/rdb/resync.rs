//! Search behind damage for a record boundary that is certain.
//!
//! [`boundary`](super::boundary) guesses, and its guesses are confirmed by parsing up to them. Behind damage nothing
//! confirms a boundary, and a false one invents keys. So a chain of records must follow whose values are intact in depth,
//! with types that a server of this version writes and keys that look like names. The chain must pass the place where
//! the parser failed, or end at the end of the file.
//!
//! Work is bounded by a budget per byte searched, so that a file full of plausible starts takes linear time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::boundary::{
    FileFormat, MAX_KEY_LEN, can_start_record, is_same_key, is_text, may_follow_prefix, may_start_record,
};
use super::cursor::Cursor;
use super::header::{Family, RdbHeader};
use super::opcode::byte;
use super::scan::{FileItem, KeyEntry, ScanState, Scanner};
use super::string::{RawString, StringForm};
use super::template::Templates;
use super::value_type::ValueType;
use super::verify::Verify;
use crate::error::Result;

/// Number of consecutive intact records that make a boundary certain.
const MIN_RECORDS: u32 = 12;
/// Intact bytes that make a boundary certain, with fewer records.
const MIN_BYTES: usize = 64 << 20;
/// Work granted per byte searched; a unit is about a byte verified.
const WORK_PER_BYTE: i64 = 16;
/// Work granted in advance.
const FIRST_WORK: i64 = 4 << 20;
/// Work of one record besides its bytes.
const WORK_PER_RECORD: i64 = 32;
/// Bytes of a key that make up its shape at most.
const SHAPE_BYTES: usize = 16;
/// Shape of all keys that are stored as integers.
const INTEGER_SHAPE: u64 = 1;
/// Shape of all keys that are stored compressed.
const COMPRESSED_SHAPE: u64 = 2;
/// Number of different shapes above which shapes tell nothing.
const MAX_SHAPES: usize = 4096;
/// Length above which a name that is no text needs one as long elsewhere in the file.
const LONG_BINARY: u64 = 64;
/// Length above which no server names an auxiliary field; the longest known is of 20 bytes.
const LONG_AUX_NAME: usize = 64;
/// Length above which the value of an auxiliary field is not binary.
const LONG_AUX_BINARY: usize = 32;
/// Number of keys from which shares of keys are meaningful.
const FEW_KEYS: u64 = 16;
/// Bytes of an expiry in milliseconds, with its opcode.
const EXPIRY_BYTES: usize = 9;
/// Expiries outside of these milliseconds, the years 2001 and 2286, are no evidence of a record.
const USUAL_EXPIRY: Range<i64> = 1_000_000_000_000..10_000_000_000_000;

/// Facts about the sound keys of a file, which tell other keys from invented ones.
#[derive(Debug, Default)]
pub struct Profile {
    keys: u64,
    /// String keys without any metadata.
    bare_strings: u64,
    /// Keys with an idle time or an access counter.
    with_access: u64,
    shapes: BTreeMap<u64, u64>,
    types: Vec<ValueType>,
    /// Length of the longest name that is no text.
    longest_binary: u64,
}

/// Facts about one key, for the [`Profile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyFacts {
    shape: u64,
    value_type: ValueType,
    has_access: bool,
    has_usual_expiry: bool,
    is_text: bool,
    is_empty: bool,
    /// Length of a name that is no text, otherwise 0.
    binary_len: u64,
}

impl KeyFacts {
    /// Returns the facts about a key.
    pub fn of(entry: &KeyEntry<'_>) -> KeyFacts {
        let is_text = is_text(&entry.key);
        let is_binary = !is_text && matches!(entry.key.form, StringForm::Plain(_));
        KeyFacts {
            shape: shape(&entry.key),
            value_type: entry.value_type,
            has_access: entry.idle.is_some() || entry.freq.is_some(),
            has_usual_expiry: entry.expires_at.is_some_and(|at| USUAL_EXPIRY.contains(&at.0)),
            is_text,
            is_empty: entry.key.is_empty(),
            binary_len: if is_binary { entry.key.len() } else { 0 },
        }
    }

    /// Returns whether the name is text, and not empty.
    pub fn has_text_name(&self) -> bool {
        self.is_text && !self.is_empty
    }

    fn is_bare_string(&self) -> bool {
        self.value_type == ValueType::String && !self.has_access && !self.has_usual_expiry
    }
}

impl Profile {
    /// Adds a sound key.
    pub fn learn(&mut self, key: &KeyFacts) {
        self.keys += 1;
        self.bare_strings += u64::from(key.is_bare_string());
        self.with_access += u64::from(key.has_access);
        self.longest_binary = self.longest_binary.max(key.binary_len);
        if !self.types.contains(&key.value_type) {
            self.types.push(key.value_type);
        }
        if self.shapes.len() < MAX_SHAPES || self.shapes.contains_key(&key.shape) {
            *self.shapes.entry(key.shape).or_default() += 1;
        }
    }

    /// Returns whether a key is hardly a part of another value that looks like a record.
    ///
    /// The fields of a hash with field expiries follow each other exactly as string keys without metadata do, so such keys
    /// must have a name like those of other keys.
    pub fn trusts(&self, key: &KeyFacts) -> bool {
        if key.is_empty || self.lacks_access(key) {
            return false;
        }
        let is_known = self.knows_shape(key);
        match key.is_bare_string() {
            true => is_known,
            false => is_known || key.is_text,
        }
    }

    /// Returns whether a name is long and no text, unlike any other of the file.
    ///
    /// The head of one record may be followed by the end of another, or by garbage: then its name takes in whole records, and may
    /// end in the middle of one.
    pub fn is_overlong(&self, key: &KeyFacts) -> bool {
        let usual = if self.is_informed() { LONG_BINARY } else { MAX_KEY_LEN };
        key.binary_len > usual.max(self.longest_binary)
    }

    /// Returns whether a key has no access metadata although nearly all others have.
    pub fn lacks_access(&self, key: &KeyFacts) -> bool {
        !key.has_access && self.keys >= FEW_KEYS && self.with_access > self.keys / 10 * 9
    }

    /// Returns whether no key is known.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// Returns whether enough keys are known to judge others.
    pub fn is_informed(&self) -> bool {
        self.keys >= FEW_KEYS
    }

    /// Returns whether names tell nothing because hardly two begin alike, and almost all keys are strings without metadata.
    pub fn is_shapeless(&self) -> bool {
        let shapes = self.shapes.len() as u64;
        self.keys >= FEW_KEYS && self.bare_strings > self.keys / 20 * 19 && shapes > self.keys / 2
    }

    fn knows_shape(&self, key: &KeyFacts) -> bool {
        let seen = self.shapes.get(&key.shape).copied().unwrap_or_default();
        match key.shape {
            // Elements of collections look like them, too: they must be common.
            INTEGER_SHAPE | COMPRESSED_SHAPE => seen > self.keys / 8,
            _ => seen > 0 || self.shapes.len() >= MAX_SHAPES,
        }
    }
}

/// Returns a hash of the start of a name, up to its first digit or separator; of integers one shape for all.
fn shape(key: &RawString<'_>) -> u64 {
    let bytes = match key.form {
        StringForm::Plain(bytes) => bytes,
        StringForm::Int(_) => return INTEGER_SHAPE,
        StringForm::Lzf { .. } => return COMPRESSED_SHAPE,
    };
    let is_end = |byte: &u8| byte.is_ascii_digit() || b":./-_|{}#@ ".contains(byte);
    let head = &bytes[..bytes.len().min(SHAPE_BYTES)];
    let end = head.iter().position(is_end).unwrap_or(head.len());
    let class = match head.get(end) {
        Some(byte) if byte.is_ascii_digit() => b'0',
        Some(&byte) => byte,
        None => 0,
    };
    // FNV-1a.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    head[..end].iter().fold(step(0xcbf2_9ce4_8422_2325, class), |hash, &byte| step(hash, byte))
}

/// Returns whether the bytes at `at` read as an expiry that keys hardly have.
///
/// The end of a damaged value may read so. Taken for the expiry of the sound key behind it, it would be invented; that key is found
/// at its own start.
fn begins_with_unusual_expiry(bytes: &[u8], at: usize) -> bool {
    let time = bytes.get(at..).and_then(expiry_ms);
    time.is_some_and(|time| !USUAL_EXPIRY.contains(&time))
}

/// Returns the milliseconds of the expiry that these bytes begin with, if they do.
pub(super) fn expiry_ms(bytes: &[u8]) -> Option<i64> {
    let time = bytes.strip_prefix(&[byte::EXPIRE_TIME_MS])?.first_chunk()?;
    Some(i64::from_le_bytes(*time))
}

/// Returns whether a server writes this type in files of this version.
///
/// Servers keep reading the layouts of their predecessors but no longer write them.
fn is_written(header: RdbHeader, value_type: ValueType) -> bool {
    let version = header.version;
    match value_type {
        // Its files are of version 9, whatever types are in them.
        _ if header.family == Family::Dragonfly => {
            !matches!(value_type, ValueType::ModulePreGa | ValueType::Module2 | ValueType::HashZipmap)
        }
        ValueType::String | ValueType::Set | ValueType::Hash | ValueType::SetIntset => true,
        ValueType::HashZipmap => version <= 3,
        ValueType::List | ValueType::ListZiplist => version <= 6,
        ValueType::Zset => version <= 7,
        ValueType::ZsetZiplist | ValueType::HashZiplist => version <= 9,
        ValueType::ListQuicklist => (7..=9).contains(&version),
        ValueType::Zset2 | ValueType::Module2 => version >= 8,
        ValueType::Stream(1) => version == 9,
        ValueType::Stream(2) => version == 10,
        ValueType::Stream(_) | ValueType::SetListpack => version >= 11,
        ValueType::HashListpack | ValueType::ZsetListpack | ValueType::ListQuicklist2 => version >= 10,
        ValueType::HashMetadataPreGa
        | ValueType::HashListpackExPreGa
        | ValueType::KeydbCron
        | ValueType::ModulePreGa => false,
        ValueType::HashMetadata | ValueType::HashListpackEx => version >= 12,
        ValueType::Array => version >= 13,
        ValueType::HashTemplateListpack
        | ValueType::HashTemplateListpackRef
        | ValueType::HashTemplateArray
        | ValueType::HashTemplateArrayRef => version >= 15,
        ValueType::Hash2 => header.family == Family::Valkey,
        ValueType::DragonflyHash | ValueType::DragonflySet | ValueType::DragonflyModule(_) => false,
    }
}

/// Returns whether fields of a hash may parse as string keys in files of this version: see [`Profile::trusts`].
pub fn fields_look_like_keys(header: RdbHeader) -> bool {
    header.family == Family::Redis && header.version >= 12
}

/// Search of one file for boundaries behind damage.
pub struct Resync<'a> {
    bytes: &'a [u8],
    base: u64,
    header: RdbHeader,
    work: i64,
    verify: Verify,
    /// True if the file has opcodes of Redis Enterprise.
    pub enterprise: bool,
}

impl<'a> Resync<'a> {
    /// Creates a search over the bytes of a file, which lie at absolute offset `base`.
    pub fn new(bytes: &'a [u8], base: u64, header: RdbHeader) -> Resync<'a> {
        Resync { bytes, base, header, work: FIRST_WORK, verify: Verify::new(header), enterprise: false }
    }

    /// Returns the first certain boundary in `range` whose chain of records passes `failed`.
    pub fn find(
        &mut self,
        range: Range<usize>,
        failed: usize,
        templates: Option<&Arc<Templates>>,
        profile: &Profile,
    ) -> Option<usize> {
        let enterprise = self.enterprise;
        let format = FileFormat { family: self.header.family, templates, enterprise };
        let last_type = format.last_type();
        let (mut next, end) = (range.start, range.end);
        while let Some(passed) =
            self.bytes.get(next..end)?.iter().position(|&byte| can_start_record(byte, last_type, enterprise))
        {
            let at = next + passed;
            let granted = i64::try_from(passed + 1).unwrap_or(i64::MAX).saturating_mul(WORK_PER_BYTE);
            self.work = self.work.saturating_add(granted).min(1 << 40);
            next = at + 1;
            if self.work > 0
                && may_start_record(self.bytes, format, at)
                && !self.follows_prefix(at)
                && !begins_with_unusual_expiry(self.bytes, at)
                && self.is_certain(at, failed, templates, profile)
            {
                return Some(at);
            }
        }
        None
    }

    /// Returns whether the bytes before `at` may be a prefix of the same record; expiries that keys hardly have are none.
    fn follows_prefix(&self, at: usize) -> bool {
        let is_no_expiry =
            at.checked_sub(EXPIRY_BYTES).is_some_and(|before| begins_with_unusual_expiry(self.bytes, before));
        !is_no_expiry && may_follow_prefix(self.bytes, at, self.enterprise)
    }

    /// Returns whether a certain boundary is at `at`.
    pub fn is_boundary(&mut self, at: usize, templates: Option<&Arc<Templates>>, profile: &Profile) -> bool {
        at < self.bytes.len() && self.work > 0 && self.is_certain(at, at, templates, profile)
    }

    /// Returns whether a chain of intact records starts at `at`.
    fn is_certain(&mut self, at: usize, failed: usize, templates: Option<&Arc<Templates>>, profile: &Profile) -> bool {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let state = ScanState { family: self.header.family, db: None };
        let mut scanner = Scanner::new(Cursor::new(bytes, self.base + at as u64), state)
            .with_templates(Templates::before(self.header), templates.cloned())
            .without_more_templates();
        let is_certain = self.is_chain(&mut scanner, failed.saturating_sub(at), profile);
        // Charge all bytes read, whatever items they were.
        self.charge(scanner.cursor().consumed());
        is_certain
    }

    /// Returns whether a chain of intact records starts here and passes the byte at distance `failed`.
    fn is_chain(&mut self, scanner: &mut Scanner<'a>, failed: usize, profile: &Profile) -> bool {
        let (mut records, mut telling) = (0, 0);
        let mut last: Option<RawString<'a>> = None;
        loop {
            let start = scanner.cursor().consumed();
            let is_long = records >= MIN_RECORDS || (records > 0 && start >= MIN_BYTES);
            if is_long && start > failed {
                return telling * 2 > records;
            }
            self.work -= WORK_PER_RECORD;
            match scanner.next_item() {
                Ok(FileItem::Key(entry)) => {
                    let key = KeyFacts::of(&entry);
                    if scanner.met_enterprise_prefix() && !self.enterprise
                        || !self.may_be_key(&entry, last.as_ref(), profile)
                        || profile.is_overlong(&key)
                        || verify_value(scanner, &entry, &mut self.verify).is_err()
                        || self.verify.finish().is_err()
                    {
                        // Forget the fault of a value that was not walked to its end.
                        let _ = self.verify.finish();
                        return false;
                    }
                    last = Some(entry.key);
                    records += 1;
                    telling += u32::from(key.is_text || profile.knows_shape(&key));
                }
                Ok(FileItem::End) => return records > 0 && is_end_of_file(self.header, scanner.cursor().rest()),
                Ok(FileItem::Database(db)) if db > u64::from(u16::MAX) => return false,
                Ok(FileItem::SlotNumber(_)) if self.enterprise => {}
                Ok(FileItem::Aux(name, value)) if is_false_aux(&name, &value) => return false,
                Ok(
                    FileItem::Database(_)
                    | FileItem::DatabaseSize(..)
                    | FileItem::Slot(_)
                    | FileItem::Aux(..)
                    | FileItem::ModuleAux(_),
                ) => {}
                Ok(
                    FileItem::SlotNumber(_)
                    | FileItem::Function(_)
                    | FileItem::SlotImport
                    | FileItem::Update
                    | FileItem::HashTemplate,
                )
                | Err(_) => return false,
            }
        }
    }

    /// Subtracts the work of verifying bytes that are read again.
    pub fn charge(&mut self, bytes: usize) {
        self.work = self.work.saturating_sub(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    fn may_be_key(&self, entry: &KeyEntry<'_>, last: Option<&RawString<'_>>, profile: &Profile) -> bool {
        let is_usual = is_written(self.header, entry.value_type) || profile.types.contains(&entry.value_type);
        let is_new = last.is_none_or(|last| !is_same_key(last, &entry.key));
        is_usual && is_new && (last.is_some() || entry.key.len() <= MAX_KEY_LEN) && !expands(&entry.key)
    }
}

/// Returns whether no server writes an auxiliary field with this name and value: a damaged length makes whole records look like one.
///
/// Servers write short names, and text. Only KeyDB stores members of sets and hashes, which may be binary.
pub fn is_false_aux(name: &RawString<'_>, value: &RawString<'_>) -> bool {
    let is_printable = |bytes: &[u8]| bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    if let StringForm::Plain(bytes) = name.form
        && (bytes.len() > LONG_AUX_NAME || !is_printable(bytes))
    {
        return true;
    }
    match (name.form, value.form) {
        (StringForm::Plain(b"keydb-subexpire-key"), _) => false,
        (_, StringForm::Plain(bytes)) => {
            let is_binary = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
            bytes.len() > LONG_AUX_BINARY && bytes.iter().any(is_binary)
        }
        (_, StringForm::Int(_) | StringForm::Lzf { .. }) => false,
    }
}

/// Returns whether a compressed key expands so far that verifying it is not worth the work.
fn expands(key: &RawString<'_>) -> bool {
    key.is_compressed() && key.len() > u64::from(u16::MAX)
}

/// Walks a value as often as it takes to compare all its elements. The visitor keeps its faults.
pub fn verify_value<'a>(scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>, verify: &mut Verify) -> Result<()> {
    let value = scanner.cursor().clone();
    scanner.value(entry, verify)?;
    while verify.needs_another_walk() {
        *scanner.cursor_mut() = value.clone();
        scanner.value(entry, verify)?;
    }
    Ok(())
}

/// Returns whether a snapshot may end here: `rest` follows the EOF opcode.
pub fn is_end_of_file(header: RdbHeader, rest: &[u8]) -> bool {
    /// Blocks allocated in advance.
    const PADDING: usize = 64 << 10;
    const REPLICATION_MARK: usize = 40;
    // Cut off within the checksum.
    let Some(rest) = rest.get(header.checksum_len()..) else { return true };
    let is_padding = rest.len() <= PADDING && rest.iter().all(|&byte| byte == 0);
    rest.is_empty() || rest.len() == REPLICATION_MARK || is_padding || starts_commands(rest)
}

/// Returns whether commands of an append-only file, or its annotations, start here.
fn starts_commands(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"*") else { return bytes.starts_with(b"#TS:") };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..8).contains(&digits) && rest.get(digits..).is_some_and(|rest| rest.starts_with(b"\r\n$"))
}
