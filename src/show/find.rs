//! Looks for one key, file by file and record by record. Other keys are compared as they stand and nothing else of them
//! is read.

use crate::analyze::feed::Prepared;
use crate::error::{Error, Result, Within};
use crate::input::{self, OpenOptions};
use crate::rdb::header::Family;
use crate::rdb::scan::{Entry, Item};
use crate::rdb::string::{Form, RawString};
use crate::rdb::value_type::ValueType;
use crate::units::{Bytes, Millis};

/// A key that was found, with its value as it stands in the file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The file.
    pub file: String,
    /// The database.
    pub db: u64,
    /// The key.
    pub key: Vec<u8>,
    /// Which table its type byte is from.
    pub family: Family,
    /// The layout of its value.
    pub value_type: ValueType,
    /// The type byte.
    pub type_byte: u8,
    /// When it expires.
    pub expires_at: Option<Millis>,
    /// Seconds since the last access.
    pub idle: Option<u64>,
    /// The access counter.
    pub freq: Option<u8>,
    /// Absolute offset of the record.
    pub offset: u64,
    /// Bytes of the record.
    pub disk: Bytes,
    /// Absolute offset of the value.
    pub value_offset: u64,
    /// The value's bytes.
    pub value: Vec<u8>,
}

/// How a search ended.
#[derive(Debug)]
pub enum Looked {
    /// The key is here.
    Found(Box<Found>),
    /// It is not there, in so many keys.
    Missing {
        /// Keys that were compared.
        keys: u64,
    },
}

/// Looks for `key` in database `db`, or in the first database that has it. Damage in front of it is an error.
pub fn find(input: &str, key: &[u8], db: Option<u64>, options: &OpenOptions) -> Result<Looked> {
    let mut keys = 0;
    for input in input::resolve(&[input])? {
        let prepared = Prepared::new(input, options)?;
        let name = prepared.name().to_owned();
        let found = find_in(prepared, key, db, &mut keys).map_err(|error| {
            error.in_file(&name).with_hint(format!("the key was not among the {keys} keys before the damage"))
        })?;
        if let Some(found) = found {
            return Ok(Looked::Found(Box::new(found)));
        }
    }
    Ok(Looked::Missing { keys })
}

fn find_in(prepared: Prepared, key: &[u8], db: Option<u64>, keys: &mut u64) -> Result<Option<Found>> {
    let file = prepared.name().to_owned();
    let mut batches = prepared.into_batches()?;
    let mut scratch = Vec::new();
    while let Some(batch) = batches.next_batch() {
        let mut scanner = batch.scanner();
        while scanner.cursor().left() > 0 {
            let entry = match scanner.next_item()? {
                Item::Entry(entry) => entry,
                _ => continue,
            };
            *keys += 1;
            let start = scanner.cursor().consumed();
            let value_offset = scanner.cursor().offset();
            scanner.skip_value(&entry)?;
            let wanted = db.is_none_or(|db| entry.db == Some(db));
            if wanted && is_same(&entry.key, key, &mut scratch).within("key")? {
                let value = scanner.cursor().since(start).to_vec();
                let disk = Bytes((scanner.cursor().consumed() - entry.start) as u64);
                return Ok(Some(found(file, &entry, key, batch.state.family, value, value_offset, disk)));
            }
        }
    }
    batches.ending().stopped.map_or(Ok(None), Err)
}

/// Compares without decoding where that is possible.
fn is_same(stored: &RawString<'_>, key: &[u8], scratch: &mut Vec<u8>) -> Result<bool> {
    if stored.len() != key.len() as u64 {
        return Ok(false);
    }
    match stored.form {
        Form::Plain(bytes) => Ok(bytes == key),
        Form::Int(_) | Form::Lzf { .. } => stored.decode(scratch).map(|bytes| bytes == key),
    }
}

fn found(
    file: String,
    entry: &Entry<'_>,
    key: &[u8],
    family: Family,
    value: Vec<u8>,
    value_offset: u64,
    disk: Bytes,
) -> Found {
    Found {
        file,
        db: entry.db.unwrap_or_default(),
        key: key.to_vec(),
        family,
        value_type: entry.value_type,
        type_byte: entry.type_byte,
        expires_at: entry.expires_at,
        idle: entry.idle,
        freq: entry.freq,
        offset: entry.offset,
        disk,
        value_offset,
        value,
    }
}

impl Found {
    /// An error that says where the value stands.
    pub fn damaged(&self, error: Error) -> Error {
        error.or_at(self.value_offset).in_file(&self.file)
    }
}
