//! From bytes to items: where each record begins, to which database it belongs, when it expires.
//!
//! ```text
//! [FC expiry] [F8 idle | F9 freq] [F3 metadata] type key value
//! ```
//!
//! The prefixes bind to the next key; auxiliary fields may stand in between (KeyDB writes them so). A scanner can start
//! at any record boundary, with a [`ScanState`] in which the database may be unknown. It follows `rdbLoadRioWithLoadingCtx`
//! in the servers' `rdb.c`.

use super::cursor::Cursor;
use super::header::Family;
use super::opcode::{Opcode, foreign_opcode};
use super::string::{RawString, StringForm};
use super::value_type::{ValueType, foreign_type};
use super::walk::{self, Ignore, Visit, module};
use crate::error::{Error, Result, Within};
use crate::limits;
use crate::rdb::kind::ModuleName;
use crate::units::Millis;

/// The opcode of an expiry in milliseconds, in every family: see [`Opcode::from_byte`].
const EXPIRE_TIME_MS: u8 = 252;

/// All that a scanner must know to start at a record boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanState {
    /// Which table of types and opcodes applies.
    pub family: Family,
    /// The database that keys belong to until the next switch; `None` when only the bytes before could tell.
    pub db: Option<u64>,
}

/// What was said in front of a key about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Prefix {
    /// Position of the first prefix opcode.
    start: Option<usize>,
    expires_at: Option<Millis>,
    idle: Option<u64>,
    freq: Option<u8>,
}

/// A key and what stands in front of its value. The scanner stands at the value.
#[derive(Debug, Clone, Copy)]
pub struct KeyEntry<'a> {
    /// Absolute offset of the record's first byte.
    pub offset: u64,
    /// Position in the scanned bytes of the record's first byte.
    pub start: usize,
    /// The database; `None` while unknown.
    pub db: Option<u64>,
    /// The layout of the value.
    pub value_type: ValueType,
    /// The key, undecoded.
    pub key: RawString<'a>,
    /// When the key expires.
    pub expires_at: Option<Millis>,
    /// Seconds since the last access.
    pub idle: Option<u64>,
    /// The access counter.
    pub freq: Option<u8>,
}

/// One item of a file.
#[derive(Debug, Clone, Copy)]
pub enum FileItem<'a> {
    /// A key; its value comes next.
    Key(KeyEntry<'a>),
    /// An auxiliary field.
    Aux(RawString<'a>, RawString<'a>),
    /// The keys that follow belong to this database.
    Database(u64),
    /// How many keys the writer believed to follow, and how many of them with an expiry.
    DatabaseSize(u64, u64),
    /// The keys that follow belong to this cluster slot.
    Slot(u64),
    /// A function library.
    Function(RawString<'a>),
    /// What a module keeps outside of keys.
    ModuleAux(ModuleName),
    /// A running slot migration of Valkey.
    SlotImport,
    /// A command inlined by Valkey's fork-less save.
    Update,
    /// The last opcode. A checksum may follow.
    End,
}

/// Goes over the items of a file, or of a part of it that begins at a record boundary.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    cursor: Cursor<'a>,
    state: ScanState,
    prefix: Prefix,
    /// Prefixes that were followed by something else than a key.
    strays: u64,
}

impl<'a> Scanner<'a> {
    /// A scanner that starts where `cursor` stands.
    pub fn new(cursor: Cursor<'a>, state: ScanState) -> Self {
        Scanner { cursor, state, prefix: Prefix::default(), strays: 0 }
    }

    /// The state for a scanner that is to go on from here. Only at a boundary: see [`Scanner::at_boundary`].
    pub fn state(&self) -> ScanState {
        self.state
    }

    /// Where the scanner stands.
    pub fn cursor(&self) -> &Cursor<'a> {
        &self.cursor
    }

    /// Consumes bytes behind the last opcode.
    pub fn cursor_mut(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    /// True when no prefix waits for its key: the file may be cut here.
    pub fn at_boundary(&self) -> bool {
        self.prefix.start.is_none()
    }

    /// Prefixes so far that were followed by something else than a key.
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// The next item. After an [`FileItem::Key`] its value has to be consumed by [`Scanner::value`] or
    /// [`Scanner::skip_value`].
    #[inline]
    pub fn next_item(&mut self) -> Result<FileItem<'a>> {
        match self.plain_entry() {
            Some(entry) => Ok(FileItem::Key(entry)),
            None => self.other_item(),
        }
    }

    /// What most items are: a key whose name is a text below 64 bytes, with an expiry in front of it or nothing. None for all else, and
    /// when the bytes do not suffice: then [`Scanner::other_item`] reads it. Both are [`Scanner::next_item`]; who asks for them one
    /// after the other does not have an entry moved about in memory.
    #[inline(always)]
    pub fn plain_entry(&mut self) -> Option<KeyEntry<'a>> {
        let start = self.cursor.consumed();
        let rest = self.cursor.rest();
        let (expires_at, record) = match rest.split_first()? {
            (&EXPIRE_TIME_MS, behind) => {
                let (time, record) = behind.split_first_chunk()?;
                (expiry(i64::from_le_bytes(*time)), record)
            }
            _ => (None, rest),
        };
        let [value_type, len, behind @ ..] = record else { return None };
        let value_type = ValueType::from_byte(self.state.family, *value_type)?;
        let name = if *len < 64 { behind.get(..usize::from(*len))? } else { return None };
        if self.prefix.start.is_some() {
            return None;
        }
        let offset = self.cursor.offset();
        self.cursor.advance(rest.len() - behind.len() + name.len());
        let key = RawString { offset: offset + (rest.len() - behind.len()) as u64, form: StringForm::Plain(name) };
        Some(KeyEntry { offset, start, db: self.state.db, value_type, key, expires_at, idle: None, freq: None })
    }

    /// Any item.
    #[inline(never)]
    pub fn other_item(&mut self) -> Result<FileItem<'a>> {
        loop {
            let start = self.cursor.consumed();
            let offset = self.cursor.offset();
            let byte = self.cursor.byte().within("opcode")?;
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
        let key = self.cursor.string().within("key")?;
        if key.len() > limits::MAX_KEY_BYTES {
            return Err(Error::corrupt(key.offset, format!("a key of {} bytes", key.len()))
                .with_hint("Redis takes 512 MiB at most"));
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

    /// Consumes what follows an opcode. `None` for prefixes, which tell nothing alone.
    fn opcode(&mut self, start: usize, opcode: Opcode) -> Result<Option<FileItem<'a>>> {
        let cursor = &mut self.cursor;
        let item = match opcode {
            Opcode::ExpireTimeMs => {
                let time = cursor.i64_le().within("expiry")?;
                self.prefix.expires_at = expiry(time);
                self.prefix.start.get_or_insert(start);
                return Ok(None);
            }
            Opcode::ExpireTime => {
                let seconds = cursor.i32_le().within("expiry in seconds")?;
                self.prefix.expires_at = Some(Millis(i64::from(seconds) * 1000));
                self.prefix.start.get_or_insert(start);
                return Ok(None);
            }
            Opcode::Idle => {
                self.prefix.idle = Some(cursor.number().within("idle time")?);
                self.prefix.start.get_or_insert(start);
                return Ok(None);
            }
            Opcode::Freq => {
                self.prefix.freq = Some(cursor.byte().within("access counter")?);
                self.prefix.start.get_or_insert(start);
                return Ok(None);
            }
            Opcode::KeyMeta => {
                module::skip_key_meta(cursor)?;
                self.prefix.start.get_or_insert(start);
                return Ok(None);
            }
            Opcode::Aux => {
                let name = cursor.string().within("auxiliary field's name")?;
                return Ok(Some(FileItem::Aux(name, cursor.string().within("auxiliary field's value")?)));
            }
            Opcode::SelectDb => {
                let db = cursor.length().within("database number")?;
                self.state.db = Some(db);
                FileItem::Database(db)
            }
            Opcode::ResizeDb => {
                let keys = cursor.length().within("database size")?;
                FileItem::DatabaseSize(keys, cursor.length().within("number of expiries")?)
            }
            Opcode::SlotInfo => {
                let slot = cursor.length().within("slot number")?;
                cursor.length().within("slot size")?;
                cursor.length().within("slot's number of expiries")?;
                FileItem::Slot(slot)
            }
            Opcode::Function2 => FileItem::Function(cursor.string().within("function library")?),
            Opcode::FunctionPreGa => {
                let name = cursor.string().within("function name")?;
                cursor.string().within("function engine")?;
                if cursor.length().within("function description")? != 0 {
                    cursor.string().within("function description")?;
                }
                cursor.string().within("function code")?;
                FileItem::Function(name)
            }
            Opcode::ModuleAux => FileItem::ModuleAux(module::skip_aux(cursor)?),
            Opcode::SlotImport => {
                cursor.string().within("slot import's job")?;
                for _ in 0..cursor.count(2).within("slot import's ranges")? {
                    cursor.length().within("first slot")?;
                    cursor.length().within("last slot")?;
                }
                FileItem::SlotImport
            }
            Opcode::Update => {
                walk::command::skip(cursor)?;
                FileItem::Update
            }
            Opcode::Eof => FileItem::End,
        };
        if self.prefix.start.is_some() {
            self.prefix = Prefix::default();
            self.strays += 1;
        }
        Ok(Some(item))
    }

    /// Walks the value of `entry`, which the last [`Scanner::next_item`] returned, and tells `visit` what it meets.
    #[inline(always)]
    pub fn value<V: Visit>(&mut self, entry: &KeyEntry<'a>, visit: &mut V) -> Result<()> {
        walk::walk(entry.value_type, &mut self.cursor, visit)
    }

    /// Passes over the value of `entry`.
    #[inline]
    pub fn skip_value(&mut self, entry: &KeyEntry<'a>) -> Result<()> {
        self.value(entry, &mut Ignore)
    }

    #[cold]
    fn unknown(&self, offset: u64, byte: u8) -> Error {
        let foreign = foreign_type(self.state.family, byte).or_else(|| foreign_opcode(byte));
        let what = match foreign {
            Some(name) => format!("value type or opcode {byte} is {name}, whose layout is not known"),
            None => format!("value type or opcode {byte} is not known"),
        };
        if byte == 8 {
            return Error::corrupt(offset, "value type 8 was never in use");
        }
        let error = Error::unsupported(offset, what)
            .with_hint("a later server or a module wrote it, or bytes before it are damaged: look for a newer rdblens");
        Err::<(), _>(error).within("record").unwrap_err()
    }
}

/// The expiry that is stored as `time`. Minus one is the servers' own mark for a key that does not expire.
#[inline]
fn expiry(time: i64) -> Option<Millis> {
    (time != -1).then_some(Millis(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: ScanState = ScanState { family: Family::Redis, db: None };

    /// The entries of some items, and how many prefixes no key followed.
    fn entries(items: &[u8]) -> (Vec<KeyEntry<'_>>, u64) {
        let mut scanner = Scanner::new(Cursor::new(items, 100), STATE);
        let mut entries = Vec::new();
        while scanner.cursor().left() > 0 {
            if let FileItem::Key(entry) = scanner.next_item().unwrap() {
                scanner.skip_value(&entry).unwrap();
                entries.push(entry);
            }
        }
        (entries, scanner.strays())
    }

    #[test]
    fn prefixes_bind_to_the_next_key_only() {
        let items = b"\xfc\x10\0\0\0\0\0\0\0\xf8\x05\0\x01a\x01v\0\x01b\x01v\xfd\x02\0\0\0\xf9\x07\0\x01c\x01v";
        let (entries, strays) = entries(items);
        let told: Vec<_> = entries.iter().map(|entry| (entry.expires_at, entry.idle, entry.freq)).collect();
        assert_eq!(told[0], (Some(Millis(16)), Some(5), None));
        assert_eq!(told[1], (None, None, None));
        assert_eq!(told[2], (Some(Millis(2000)), None, Some(7)));
        assert_eq!((entries[0].offset, entries[1].offset, strays), (100, 116, 0));
    }

    #[test]
    fn a_field_in_between_does_not_take_the_prefix_away() {
        let (entries, strays) = entries(b"\xf8\x05\xfa\x0bmvcc-tstamp\x011\0\x01a\x01v");
        assert_eq!((entries[0].idle, strays), (Some(5), 0));
    }

    #[test]
    fn an_expiry_of_minus_one_is_none() {
        let (entries, _) = entries(b"\xfc\xff\xff\xff\xff\xff\xff\xff\xff\0\x01a\x01v");
        assert_eq!(entries[0].expires_at, None);
    }

    #[test]
    fn keys_belong_to_the_last_database_named() {
        let (entries, strays) = entries(b"\0\x01a\x01v\xfe\x03\0\x01b\x01v\xfc\x10\0\0\0\0\0\0\0\xfe\x04\0\x01c\x01v");
        let databases: Vec<_> = entries.iter().map(|entry| entry.db).collect();
        assert_eq!((databases, strays), (vec![None, Some(3), Some(4)], 1));
        assert_eq!(entries[2].expires_at, None);
    }
}
