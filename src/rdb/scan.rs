//! Scanner that splits bytes into items and yields each key with its database, expiry and access metadata.
//!
//! ```text
//! [FC expiry] [F8 idle | F9 freq] [F3 metadata] type key value
//! ```
//!
//! Prefixes apply to the next key, even if auxiliary fields come between (KeyDB writes them there). A scanner can start
//! at any record boundary, given a [`ScanState`] whose database may be unknown. It follows `rdbLoadRioWithLoadingCtx`
//! in the servers' `rdb.c`.

mod plain;

use std::sync::Arc;

use super::cursor::Cursor;
use super::header::Family;
use super::opcode::{Opcode, byte, foreign_opcode};
use super::opcode_check::{Libraries, OpcodeCheck};
use super::string::RawString;
use super::template::{Defined, Templates};
use super::value_type::{ValueType, foreign_type};
use super::walk::{self, Ignore, Visit, module};
use crate::error::{Error, Reading, Result, Within};
use crate::limits;
use crate::rdb::kind::ModuleName;
use crate::units::Millis;
use crate::wording::{Text, Wording, wording};

pub(crate) use plain::TemplateUser;

/// `DF_MASK_FLAG_MC_FLAGS` of Dragonfly: flags of memcached follow.
const DRAGONFLY_MC_FLAGS: u32 = 2;

/// Context needed to start scanning at a record boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanState {
    /// Format family, which selects the tables of types and opcodes.
    pub family: Family,
    /// Current database; `None` if the scan started after the `SELECTDB` that set it.
    pub db: Option<u64>,
}

/// Metadata from the prefix opcodes of the next key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Prefix {
    /// Position of the first prefix opcode; `None` if there was none.
    start: Option<usize>,
    expires_at: Option<Millis>,
    idle: Option<u64>,
    freq: Option<u8>,
}

/// Key with its metadata; the scanner is positioned at its value.
#[derive(Debug, Clone, Copy)]
pub struct KeyEntry<'a> {
    /// Absolute offset of the record's first byte, prefixes included.
    pub offset: u64,
    /// Index of that byte in the scanned slice.
    pub start: usize,
    /// Database number; `None` if unknown.
    pub db: Option<u64>,
    /// On-disk layout of the value.
    pub value_type: ValueType,
    /// The key, undecoded.
    pub key: RawString<'a>,
    /// Expiry time.
    pub expires_at: Option<Millis>,
    /// Seconds since the last access.
    pub idle: Option<u64>,
    /// LFU access counter.
    pub freq: Option<u8>,
}

/// Item of a file: a key or the content of an opcode.
#[derive(Debug, Clone, Copy)]
pub enum FileItem<'a> {
    /// A key; its value follows.
    Key(KeyEntry<'a>),
    /// Name and value of an auxiliary field.
    Aux(RawString<'a>, RawString<'a>),
    /// Switch to this database.
    Database(u64),
    /// Size hints of the database: keys, and keys with an expiry.
    DatabaseSize(u64, u64),
    /// Start of the keys of this cluster slot.
    Slot(u64),
    /// Cluster slot of the keys that follow, as Redis Enterprise writes it.
    SlotNumber(u64),
    /// A function library.
    Function(RawString<'a>),
    /// Data that a module stores outside keys.
    ModuleAux(ModuleName),
    /// A slot import in progress (Valkey).
    SlotImport,
    /// A command inlined by Valkey's fork-less save.
    Update,
    /// Field names that compact hashes share.
    HashTemplate,
    /// The EOF opcode. A checksum may follow.
    End,
}

/// Scanner over the items of a file, or of a segment that begins at a record boundary.
///
/// ```
/// use rdblens::rdb::{Cursor, FileItem, RdbHeader, ScanState, Scanner};
///
/// let bytes = std::fs::read("testdata/dumps/shop.rdb").unwrap();
/// let mut cursor = Cursor::new(&bytes, 0);
/// let header = RdbHeader::read(&mut cursor)?;
/// let mut scanner = Scanner::new(cursor, ScanState { family: header.family, db: Some(0) });
/// let mut keys = 0;
/// loop {
///     match scanner.next_item()? {
///         FileItem::Key(entry) => {
///             keys += 1;
///             scanner.skip_value(&entry)?;
///         }
///         FileItem::End => break,
///         _ => {}
///     }
/// }
/// assert_eq!((header.version, keys), (10, 5257));
/// # Ok::<(), rdblens::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    cursor: Cursor<'a>,
    state: ScanState,
    prefix: Prefix,
    /// Hash templates known so far; `None` in files without any.
    templates: Option<Arc<Templates>>,
    /// Table to use without templates.
    no_templates: &'static Templates,
    /// True if the operands of the opcode of templates are left unread.
    skips_templates: bool,
    /// True if a key had a prefix of Redis Enterprise.
    enterprise: bool,
    /// First RDB version that has all opcodes since it was last asked for.
    version: u32,
    /// Number of prefixes discarded because another item than a key followed.
    strays: u64,
    check: OpcodeCheck<'a>,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner that starts at the position of `cursor`.
    pub fn new(cursor: Cursor<'a>, state: ScanState) -> Self {
        Scanner {
            cursor,
            state,
            prefix: Prefix::default(),
            templates: None,
            no_templates: Templates::NONE,
            skips_templates: false,
            enterprise: false,
            version: 0,
            strays: 0,
            check: OpcodeCheck::new(state.family),
        }
    }

    /// Checks what stands between keys as servers do: see [`Scanner::take_fault`].
    #[must_use]
    pub(crate) fn with_checked_opcodes(mut self) -> Self {
        self.check.is_on = true;
        self
    }

    /// Returns the function libraries read so far, to be handed over to the next scanner of the file.
    pub(crate) fn libraries(&mut self) -> &mut Libraries {
        &mut self.check.libraries
    }

    /// Adds the hash templates that precede the first scanned item; `none` is the table [to start with](Templates::before).
    #[must_use]
    pub(crate) fn with_templates(mut self, none: &'static Templates, templates: Option<Arc<Templates>>) -> Self {
        self.templates = templates;
        self.no_templates = none;
        self
    }

    /// Stops at the opcode of templates without reading its operands, for searches that end there.
    ///
    /// A search shares the table of the file, so that adding to it would copy it.
    #[must_use]
    pub(crate) fn without_more_templates(mut self) -> Self {
        self.skips_templates = true;
        self
    }

    /// Returns the hash templates read so far, to be shared with other scanners of the file.
    pub(crate) fn shared_templates(&self) -> Option<Arc<Templates>> {
        self.templates.clone()
    }

    /// Returns the hash templates read so far.
    pub(crate) fn templates(&self) -> &Templates {
        self.templates.as_deref().unwrap_or(self.no_templates)
    }

    /// Returns the state for a scanner that continues from here; valid only where [`Scanner::at_boundary`] holds.
    pub fn state(&self) -> ScanState {
        self.state
    }

    /// Returns the cursor.
    pub fn cursor(&self) -> &Cursor<'a> {
        &self.cursor
    }

    /// Returns the cursor mutably, to consume values or the bytes after the EOF opcode.
    pub fn cursor_mut(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    /// Returns whether the scanner is at a record boundary, that is, no prefix is waiting for its key.
    pub fn at_boundary(&self) -> bool {
        self.prefix.start.is_none()
    }

    /// Returns whether a key had a prefix that only Redis Enterprise writes.
    pub(crate) fn met_enterprise_prefix(&self) -> bool {
        self.enterprise
    }

    /// Returns the first RDB version that has all that was read since the last call: opcodes, and the type of `item`.
    pub(crate) fn take_first_version(&mut self, item: &FileItem<'_>) -> u32 {
        let of_type = match item {
            FileItem::Key(entry) => entry.value_type.first_version(),
            _ => 0,
        };
        std::mem::take(&mut self.version).max(of_type)
    }

    /// Fails if servers refuse what was read since the last call, other than a value.
    pub(crate) fn take_fault(&mut self) -> Result<()> {
        self.check.take_fault()
    }

    /// Returns the number of key prefixes without a key so far.
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// Reads the next item. After a [`FileItem::Key`], consume its value with [`Scanner::value`] or
    /// [`Scanner::skip_value`] first.
    #[inline]
    pub fn next_item(&mut self) -> Result<FileItem<'a>> {
        match self.plain_entry() {
            Some(entry) => Ok(FileItem::Key(entry)),
            None => self.other_item(),
        }
    }

    /// Reads any item: the slow path of [`Scanner::next_item`].
    #[inline(never)]
    pub fn other_item(&mut self) -> Result<FileItem<'a>> {
        loop {
            let start = self.cursor.consumed();
            let offset = self.cursor.offset();
            let byte = self.cursor.byte().within(Reading::Opcode)?;
            if let Some(value_type) = ValueType::from_byte(self.state.family, byte) {
                return self.entry(start, offset, value_type).map(FileItem::Key);
            }
            let Some(opcode) = Opcode::from_byte(self.state.family, byte) else {
                return Err(self.unknown(offset, byte));
            };
            if let Some(item) = self.opcode(start, opcode)? {
                return Ok(item);
            }
        }
    }

    #[inline]
    fn entry(&mut self, start: usize, offset: u64, value_type: ValueType) -> Result<KeyEntry<'a>> {
        let key = self.cursor.string().within(Reading::Key)?;
        self.check.key();
        if key.len() > limits::MAX_KEY_BYTES {
            return Err(Error::corrupt(key.offset, wording!("a key of {} bytes", "key 长 {} 字节", key.len()))
                .with_remedy(wording!("Redis allows at most 512 MiB", "Redis 最多允许 512 MiB")));
        }
        let prefix = std::mem::take(&mut self.prefix);
        let first = prefix.start.unwrap_or(start);
        Ok(KeyEntry {
            offset: offset - (start - first) as u64,
            start: first,
            db: self.state.db,
            value_type,
            key,
            expires_at: prefix.expires_at,
            idle: prefix.idle,
            freq: prefix.freq,
        })
    }

    /// Consumes the operands of an opcode. Returns `None` for prefixes, which are kept for the next key.
    fn opcode(&mut self, start: usize, opcode: Opcode) -> Result<Option<FileItem<'a>>> {
        let (cursor, check) = (&mut self.cursor, &mut self.check);
        check.opcode(cursor.offset() - 1);
        self.version = self.version.max(opcode.first_version());
        let item = match opcode {
            Opcode::ExpireTimeMs => {
                let time = cursor.i64_le().within(Reading::Expiry)?;
                self.prefix.expires_at = expiry(time);
                None
            }
            Opcode::ExpireTime => {
                let seconds = cursor.i32_le().within(Reading::ExpiryInSeconds)?;
                self.prefix.expires_at = Some(Millis(i64::from(seconds) * 1000));
                None
            }
            Opcode::Idle => {
                self.prefix.idle = Some(cursor.length().within(Reading::IdleTime)?);
                None
            }
            Opcode::Freq => {
                self.prefix.freq = Some(cursor.byte().within(Reading::AccessCounter)?);
                None
            }
            Opcode::RamLru => {
                cursor.number().within(Reading::RamLru)?;
                self.enterprise = true;
                None
            }
            Opcode::DfMask => {
                // Sticky keys, and the flags of memcached if there are any.
                if cursor.u32_le().within(Reading::KeyFlags)? & DRAGONFLY_MC_FLAGS != 0 {
                    cursor.u32_le().within(Reading::KeyFlags)?;
                }
                None
            }
            Opcode::KeyMeta => {
                module::skip_key_meta(cursor, |string| check.string(string, Reading::StringInModuleData))?;
                check.metadata();
                None
            }
            // These two may stand between a prefix and its key.
            Opcode::SlotNum => return Ok(Some(FileItem::SlotNumber(cursor.length().within(Reading::SlotNumber)?))),
            Opcode::Aux => {
                let name = cursor.string().within(Reading::AuxiliaryFieldName)?;
                let value = cursor.string().within(Reading::AuxiliaryFieldValue)?;
                check.aux(name, value);
                return Ok(Some(FileItem::Aux(name, value)));
            }
            Opcode::SelectDb => {
                let db = cursor.length().within(Reading::DatabaseNumber)?;
                self.state.db = Some(db);
                Some(FileItem::Database(db))
            }
            Opcode::ResizeDb => {
                let keys = cursor.length().within(Reading::DatabaseSize)?;
                Some(FileItem::DatabaseSize(keys, cursor.length().within(Reading::NumberOfExpiries)?))
            }
            Opcode::SlotInfo => {
                let offset = cursor.offset();
                let slot = cursor.length().within(Reading::SlotNumber)?;
                check.slot(slot, offset);
                cursor.length().within(Reading::SlotSize)?;
                cursor.length().within(Reading::SlotNumberOfExpiries)?;
                Some(FileItem::Slot(slot))
            }
            Opcode::Function2 => {
                let library = cursor.string().within(Reading::FunctionLibrary)?;
                check.library(library);
                Some(FileItem::Function(library))
            }
            Opcode::FunctionPreGa => Some(FileItem::Function(function_pre_ga(cursor, check)?)),
            Opcode::ModuleAux => {
                let see = |string| check.string(string, Reading::StringInModuleData);
                Some(FileItem::ModuleAux(module::skip_aux(cursor, see)?))
            }
            Opcode::SlotImport => {
                slot_import(cursor, check)?;
                Some(FileItem::SlotImport)
            }
            Opcode::Update => {
                walk::command::skip(cursor)?;
                Some(FileItem::Update)
            }
            Opcode::HashTemplate if self.no_templates.are_foreign() => {
                return Err(self.unknown(self.cursor.offset() - 1, byte::HASH_TEMPLATE));
            }
            Opcode::HashTemplate if self.skips_templates => Some(FileItem::HashTemplate),
            Opcode::HashTemplate => {
                self.hash_template()?;
                Some(FileItem::HashTemplate)
            }
            Opcode::Eof => Some(FileItem::End),
        };
        if item.is_none() {
            self.prefix.start.get_or_insert(start);
        } else if self.prefix.start.is_some() {
            self.prefix = Prefix::default();
            self.strays += 1;
        }
        Ok(item)
    }

    /// Reads a hash template into the table of the file.
    fn hash_template(&mut self) -> Result<()> {
        let known = self.templates.as_deref().unwrap_or(self.no_templates);
        match known.read(&mut self.cursor)? {
            // Copies the table only if a batch or another reader holds it, which takes a template after the first key.
            Defined::New(template) => Arc::make_mut(self.templates.get_or_insert_default()).add(template),
            Defined::Before => {}
            Defined::Twice(offset) => self.check.repeated_template(offset),
        }
        Ok(())
    }

    /// Walks the value of `entry`, the key returned last, and reports its parts to `visit`.
    #[inline(always)]
    pub fn value<V: Visit + ?Sized>(&mut self, entry: &KeyEntry<'a>, visit: &mut V) -> Result<()> {
        let templates = self.templates.as_deref().unwrap_or(self.no_templates);
        walk::walk(entry.value_type, templates, &mut self.cursor, visit)
    }

    /// Skips the value of `entry`, the key returned last.
    #[inline]
    pub fn skip_value(&mut self, entry: &KeyEntry<'a>) -> Result<()> {
        self.value(entry, &mut Ignore)
    }

    #[cold]
    fn unknown(&self, offset: u64, byte: u8) -> Error {
        let foreign = foreign_type(self.state.family, byte).or_else(|| foreign_opcode(byte));
        let what = match foreign {
            Some(Text { en, zh }) => Wording {
                en: format!("value type or opcode {byte} is {en}, which is not supported"),
                zh: format!("类型或操作码 {byte} 是{zh}，不支持"),
            },
            None => wording!("unknown value type or opcode {byte}", "未知的类型或操作码 {byte}"),
        };
        if byte == 8 {
            return Error::corrupt(offset, wording!("value type 8 has never been used", "类型 8 从未使用过"));
        }
        let error = Error::unsupported(offset, what).with_remedy(wording!(
            "a newer server or a module wrote it, or the bytes before it are damaged: try a newer rdblens",
            "由更高版本的服务器或模块写入，或前面的字节已损坏：请尝试更新 rdblens"
        ));
        error.while_reading(Reading::Record)
    }
}

/// Reads a function as release candidates of Redis 7.0 wrote it, and returns its name.
fn function_pre_ga<'a>(cursor: &mut Cursor<'a>, check: &mut OpcodeCheck<'a>) -> Result<RawString<'a>> {
    let mut read = |cursor: &mut Cursor<'a>, reading| -> Result<RawString<'a>> {
        let string = cursor.string().within(reading)?;
        check.string(string, reading);
        Ok(string)
    };
    let name = read(cursor, Reading::FunctionName)?;
    read(cursor, Reading::FunctionEngine)?;
    if cursor.length().within(Reading::FunctionDescription)? != 0 {
        read(cursor, Reading::FunctionDescription)?;
    }
    read(cursor, Reading::FunctionCode)?;
    Ok(name)
}

/// Reads the job of a slot import and its ranges of slots.
fn slot_import<'a>(cursor: &mut Cursor<'a>, check: &mut OpcodeCheck<'a>) -> Result<()> {
    check.slot_import(cursor.string().within(Reading::SlotImportJob)?);
    for _ in 0..cursor.count(2).within(Reading::SlotImportRanges)? {
        let offset = cursor.offset();
        let first = cursor.length().within(Reading::FirstSlot)?;
        check.slot_range(first, cursor.length().within(Reading::LastSlot)?, offset);
    }
    Ok(())
}

/// Converts a stored expiry; servers use -1 for a key that does not expire.
#[inline]
fn expiry(time: i64) -> Option<Millis> {
    (time != -1).then_some(Millis(time))
}

#[cfg(test)]
mod tests;
