//! Keys as the comparison stores them, in memory and on disk: only this process reads them.
//!
//! ```text
//! u32 length   hash  flags  db  facts  name
//! ```

use crate::record::{Kind, ModuleName};

/// Facts of a key on one side. The order makes the choice among several copies independent of the order of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SideFacts {
    /// File, by position among the inputs of the side.
    pub file: u64,
    /// Expiry in milliseconds.
    pub expires_at: Option<i64>,
    /// Type.
    pub kind: Kind,
    /// The module's name of the type.
    pub module: Option<ModuleName>,
    /// Bytes of a string, elements of a collection.
    pub length: Option<u64>,
    /// Memory; 0 if unknown.
    pub memory: u64,
    /// Hash of the content; `None` if the value could not be read.
    pub content: Option<u64>,
}

/// Side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The old one.
    Before,
    /// The new one.
    After,
}

/// A stored key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredKey<'a> {
    /// The side it is on.
    pub side: Side,
    /// Keyed hash of database and name.
    pub hash: u128,
    /// Database.
    pub db: u64,
    /// Name.
    pub name: &'a [u8],
    /// Everything else.
    pub facts: SideFacts,
}

const AFTER: u8 = 1;
const HAS_EXPIRY: u8 = 2;
const HAS_LENGTH: u8 = 4;
const HAS_CONTENT: u8 = 8;
const HAS_MODULE: u8 = 16;

/// Bytes of the length of a record.
pub const LENGTH: usize = size_of::<u32>();

impl StoredKey<'_> {
    /// Appends the key to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        framed(out, |out| {
            out.extend_from_slice(&self.hash.to_le_bytes());
            out.push(if self.side == Side::After { AFTER } else { 0 });
            write_number(self.db, out);
            self.facts.write(out);
            out.extend_from_slice(self.name);
        });
    }
}

/// Appends what `write` appends, after its length. Names have at most 512 MiB, so the length fits.
pub fn framed(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH]);
    write(out);
    let len = u32::try_from(out.len() - start - LENGTH).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(start..start + LENGTH) {
        place.copy_from_slice(&len.to_le_bytes());
    }
}

impl<'a> StoredKey<'a> {
    /// Reads the hash and the side of a key without its length.
    #[inline]
    pub fn head(record: &[u8]) -> Option<(u128, Side)> {
        let mut fields = Fields(record);
        let hash = u128::from_le_bytes(*fields.take()?);
        Some((hash, if fields.byte()? == AFTER { Side::After } else { Side::Before }))
    }

    /// Reads a key without its length.
    pub fn read(record: &'a [u8]) -> Option<StoredKey<'a>> {
        let mut fields = Fields(record);
        let hash = u128::from_le_bytes(*fields.take()?);
        let side = if fields.byte()? == AFTER { Side::After } else { Side::Before };
        let db = fields.number()?;
        let facts = SideFacts::read(&mut fields)?;
        Some(StoredKey { side, hash, db, name: fields.0, facts })
    }
}

/// Iterator over the records of a block, without their lengths.
#[derive(Debug, Clone)]
pub struct Frames<'a>(pub &'a [u8]);

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_first_chunk::<LENGTH>()?;
        let (record, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
        self.0 = rest;
        Some(record)
    }
}

impl SideFacts {
    /// Appends the facts.
    pub fn write(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        out.push(
            flag(self.expires_at.is_some(), HAS_EXPIRY)
                | flag(self.length.is_some(), HAS_LENGTH)
                | flag(self.content.is_some(), HAS_CONTENT)
                | flag(self.module.is_some(), HAS_MODULE),
        );
        let kind = Kind::ALL.iter().position(|kind| *kind == self.kind);
        write_number(kind.unwrap_or_default() as u64, out);
        write_number(self.file, out);
        write_number(self.memory, out);
        self.expires_at.iter().for_each(|at| out.extend_from_slice(&at.to_le_bytes()));
        self.length.iter().for_each(|length| write_number(*length, out));
        self.content.iter().for_each(|content| out.extend_from_slice(&content.to_le_bytes()));
        self.module.iter().for_each(|module| out.extend_from_slice(&module.bytes()));
    }

    /// Reads facts.
    pub fn read(fields: &mut Fields<'_>) -> Option<SideFacts> {
        let flags = fields.byte()?;
        let kind = *Kind::ALL.get(usize::try_from(fields.number()?).ok()?)?;
        let file = fields.number()?;
        let memory = fields.number()?;
        let expires_at = if flags & HAS_EXPIRY == 0 { None } else { Some(i64::from_le_bytes(*fields.take()?)) };
        let length = if flags & HAS_LENGTH == 0 { None } else { Some(fields.number()?) };
        let content = if flags & HAS_CONTENT == 0 { None } else { Some(u64::from_le_bytes(*fields.take()?)) };
        let module = if flags & HAS_MODULE == 0 { None } else { Some(ModuleName::from_bytes(*fields.take()?)) };
        Some(SideFacts { file, expires_at, kind, module, length, memory, content })
    }
}

/// Appends a number, seven bits a byte.
pub fn write_number(mut number: u64, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return out.push(low & 0x7F);
        }
        out.push(low | 0x80);
    }
}

/// Fields of a record that have not been read.
#[derive(Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// Takes the next `N` bytes.
    pub fn take<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(bytes)
    }

    /// Takes a byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| *byte)
    }

    /// Takes a number.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_read_back(
            (hash, db, after) in any::<(u128, u64, bool)>(),
            name in proptest::collection::vec(any::<u8>(), 0..300),
            (file, expires_at, length, memory) in any::<(u64, Option<i64>, Option<u64>, u64)>(),
            (content, module, kind) in (any::<Option<u64>>(), any::<Option<u64>>(), 0..Kind::ALL.len()),
        ) {
            let module = module.map(ModuleName::from_id);
            let facts = SideFacts { file, expires_at, kind: Kind::ALL[kind], module, length, memory, content };
            let side = if after { Side::After } else { Side::Before };
            let key = StoredKey { side, hash, db, name: &name, facts };
            let mut bytes = Vec::new();
            key.write(&mut bytes);
            key.write(&mut bytes);
            let read: Vec<_> = Frames(&bytes).map(StoredKey::read).collect();
            prop_assert_eq!(read, vec![Some(key), Some(key)]);
        }
    }
}
