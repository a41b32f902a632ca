//! Looks for one key, file by file and record by record. Other keys are compared as they stand and nothing else of them
//! is read.

use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use super::near::NearNames;
use crate::analyze::one_key::{self, KeyFacts};
use crate::analyze::read::feed::PreparedInput;
use crate::analyze::{Plan, Unwatched};
use crate::error::{Error, Reading, Result, Within};
use crate::input::{self, Block, Input, OpenedFile};
use crate::rdb::batch::Batch;
use crate::rdb::scan::{FileItem, KeyEntry};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::{RawString, StringForm};
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::units::{Bytes, Millis};

/// A key that was found, with its value as it stands in the file.
#[derive(Debug)]
pub struct Found {
    /// The file.
    pub file: String,
    /// The database.
    pub db: u64,
    /// The key.
    pub key: Vec<u8>,
    /// The layout of its value.
    pub value_type: ValueType,
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
    pub value: ValueBytes,
    /// Memory, pattern and judgement; `None` if the value is damaged.
    pub facts: Option<KeyFacts>,
    /// Hash templates of the file.
    pub templates: Arc<Templates>,
    /// The file as it was when it was opened; `None` for pipes.
    pub as_opened: Option<OpenedFile>,
}

/// Bytes of a value where they were read: a value of any size is not copied.
#[derive(Debug)]
pub struct ValueBytes {
    block: Block,
    /// INVARIANT: lies within `block`.
    range: Range<usize>,
}

impl From<Vec<u8>> for ValueBytes {
    fn from(bytes: Vec<u8>) -> ValueBytes {
        let range = 0..bytes.len();
        ValueBytes { block: Block::from(bytes), range }
    }
}

impl Deref for ValueBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.block[self.range.clone()]
    }
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
        /// Why it may be there all the same: the first thing that could not be read.
        damage: Option<Error>,
        /// Another database that has it.
        elsewhere: Option<u64>,
        /// Names that are near to it, the nearest first.
        near: Vec<String>,
    },
}

/// Looks for `key` in database `db`, or in the first database that has it. What stands behind it is not read; a file that
/// cannot be read to its end does not keep it from being found in a later one. Fails when there was nothing to look at.
pub fn find(input: impl AsRef<Path>, key: &[u8], db: Option<u64>, plan: &Plan) -> Result<Looked> {
    one_key::check_policy(plan)?;
    let mut search = Search { key, db, plan, keys: 0, elsewhere: None, near: NearNames::new(key), unreadable: None };
    let mut damage = None;
    for input in input::resolve_with(&[input], &plan.read.stores)? {
        let name = input.name.clone();
        match search.file(input) {
            Ok(Some(found)) => return Ok(Looked::Found(Box::new(found))),
            Ok(None) => {}
            Err(error) => {
                damage.get_or_insert(error.in_file(&name));
            }
        }
    }
    let Search { keys, elsewhere, near, .. } = search;
    match damage {
        Some(error) if keys == 0 => Err(error),
        damage => Ok(Looked::Missing { keys, damage, elsewhere, near: near.into_names() }),
    }
}

/// A search for one key.
struct Search<'a> {
    key: &'a [u8],
    db: Option<u64>,
    plan: &'a Plan,
    /// Keys that were compared.
    keys: u64,
    elsewhere: Option<u64>,
    near: NearNames,
    /// First name of the current file that cannot be decoded: another key may be the one.
    unreadable: Option<Error>,
}

impl Search<'_> {
    fn file(&mut self, input: Input) -> Result<Option<Found>> {
        let file = input.name.clone();
        let mut prepared = PreparedInput::new(input, &self.plan.read.open, self.plan.read.damage, &Unwatched)?;
        prepared.keep_for_templates(false)?;
        let preamble = prepared.preamble.clone();
        let as_opened = prepared.as_opened();
        let priced = one_key::prepare(self.plan, &prepared);
        let mut batches = prepared.into_batches()?;
        let mut scratch = Scratch::new(self.plan.read.open.budget.key());
        while let Some(batch) = batches.next_batch() {
            if let Some((found, range)) = self.batch(&batch, file.as_str(), &mut scratch)? {
                let facts = one_key::facts(self.plan, &preamble, &priced, &batch, self.key, found.db)?;
                return Ok(Some(Found { facts, as_opened, value: ValueBytes { block: batch.bytes, range }, ..found }));
            }
        }
        batches.ending().stopped.or(self.unreadable.take()).map_or(Ok(None), Err)
    }

    /// Looks for the key in a batch; returns it without its value, of which it returns the place in the batch.
    fn batch(&mut self, batch: &Batch, file: &str, scratch: &mut Scratch) -> Result<Option<(Found, Range<usize>)>> {
        let mut scanner = batch.scanner();
        while scanner.cursor().left() > 0 {
            let FileItem::Key(entry) = scanner.next_item()? else { continue };
            self.keys += 1;
            let start = batch.skip + scanner.cursor().consumed();
            let value_offset = scanner.cursor().offset();
            scanner.skip_value(&entry)?;
            match self.is_it(&entry, scratch).within(Reading::Key) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    self.unreadable.get_or_insert(error);
                    continue;
                }
            }
            let range = start..batch.skip + scanner.cursor().consumed();
            let disk = Bytes((scanner.cursor().consumed() - entry.start) as u64);
            let templates = scanner.shared_templates().unwrap_or_default();
            let found = found(file.to_owned(), &entry, self.key, value_offset, disk);
            return Ok(Some((Found { templates, ..found }, range)));
        }
        Ok(None)
    }

    /// Returns whether this is the key, and notes it if it is a near one.
    fn is_it(&mut self, entry: &KeyEntry<'_>, scratch: &mut Scratch) -> Result<bool> {
        if is_same(&entry.key, self.key, scratch)? {
            if self.db.is_none_or(|db| entry.db == Some(db)) {
                return Ok(true);
            }
            self.elsewhere = self.elsewhere.or(entry.db);
        } else if self.near.wants(entry.key.len()) {
            // A name that cannot be decoded is no suggestion.
            if let Ok(name) = entry.key.decode(scratch) {
                self.near.offer(name);
            }
        }
        Ok(false)
    }
}

/// Compares without decoding where that is possible.
fn is_same(stored: &RawString<'_>, key: &[u8], scratch: &mut Scratch) -> Result<bool> {
    if stored.len() != key.len() as u64 {
        return Ok(false);
    }
    match stored.form {
        StringForm::Plain(bytes) => Ok(bytes == key),
        StringForm::Int(_) | StringForm::Lzf { .. } => stored.decode(scratch).map(|bytes| bytes == key),
    }
}

fn found(file: String, entry: &KeyEntry<'_>, key: &[u8], value_offset: u64, disk: Bytes) -> Found {
    Found {
        file,
        db: entry.db.unwrap_or_default(),
        key: key.to_vec(),
        value_type: entry.value_type,
        expires_at: entry.expires_at,
        idle: entry.idle,
        freq: entry.freq,
        offset: entry.offset,
        disk,
        value_offset,
        value: ValueBytes::from(Vec::new()),
        facts: None,
        templates: Arc::default(),
        as_opened: None,
    }
}

impl Found {
    /// Fails if the file was written to since it was opened.
    pub fn check_unchanged(&self) -> Result<()> {
        self.as_opened.as_ref().map_or(Ok(()), OpenedFile::check).map_err(|error| error.in_file(&self.file))
    }

    /// An error that says where the value stands.
    pub fn damaged(&self, error: Error) -> Error {
        error.or_at(self.value_offset).in_file(&self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::ReadPlan;
    use crate::show::{Extent, Value, decode};
    use std::fs;
    use std::path::Path;

    /// Keys `a` in databases 0 and 2, there with an expiry, and `7` in integer form.
    const TWO_DATABASES: &[u8] = b"\x00\x01a\x01x\xfe\x02\xfc\x01\0\0\0\0\0\0\0\x00\x01a\x01y\x00\xc0\x07\x01z\xff";

    /// A file of a version without a checksum.
    fn file(folder: &Path, name: &str, items: &[u8]) -> String {
        let path = folder.join(name);
        fs::write(&path, [b"REDIS0003", items].concat()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn look(argument: &str, key: &[u8], db: Option<u64>) -> Result<Looked> {
        find(argument, key, db, &Plan::new(ReadPlan::new(std::env::temp_dir())))
    }

    fn found(looked: Result<Looked>) -> Found {
        match looked.unwrap() {
            Looked::Found(found) => *found,
            Looked::Missing { keys, damage, .. } => panic!("not among {keys} keys; {damage:?}"),
        }
    }

    fn missing(looked: Result<Looked>) -> (u64, Option<Error>) {
        match looked.unwrap() {
            Looked::Found(found) => panic!("found in {}", found.file),
            Looked::Missing { keys, damage, .. } => (keys, damage),
        }
    }

    #[test]
    fn a_name_that_cannot_be_read_does_not_end_the_search() {
        let folder = tempfile::tempdir().unwrap();
        // Three bytes that refer to text before them, of which there is none; then `abc`.
        let path = file(folder.path(), "a.rdb", b"\x00\xc3\x03\x03\xe0\x40\x00\x01x\x00\x03abc\x01y\xff");
        assert_eq!(&found(look(&path, b"abc", None)).value[..], b"\x01y");
        // It may be the key.
        let (keys, damage) = missing(look(&path, b"abd", None));
        assert_eq!((keys, damage.unwrap().offset()), (2, Some(13)));
        let (keys, damage) = missing(look(&path, b"ab", None));
        assert!(keys == 2 && damage.is_none());
    }

    #[test]
    fn the_first_database_that_has_it_unless_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "a.rdb", TWO_DATABASES);
        let first = found(look(&path, b"a", None));
        assert_eq!((first.db, &first.value[..], first.offset, first.disk), (0, &b"\x01x"[..], 9, Bytes(5)));
        let second = found(look(&path, b"a", Some(2)));
        assert_eq!((second.db, second.expires_at, second.disk), (2, Some(Millis(1)), Bytes(14)));
        assert_eq!(decode(&second, Extent::default()).unwrap().value, Value::Text(b"y".to_vec()));
        assert_eq!(found(look(&path, b"7", None)).value[..], *b"\x01z");
    }

    #[test]
    fn a_key_that_is_not_there_is_missed_after_all_were_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "a.rdb", TWO_DATABASES);
        for (key, db) in [(&b"b"[..], None), (b"aa", None), (b"a", Some(1))] {
            assert!(matches!(look(&path, key, db), Ok(Looked::Missing { keys: 3, damage: None, .. })));
        }
    }

    #[test]
    fn damage_in_front_of_the_key_is_told_and_behind_it_is_not_met() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "a.rdb", b"\x00\x01a\x01x\x00\x01b\x09x");
        let (keys, damage) = missing(look(&path, b"b", None));
        assert_eq!(keys, 1);
        assert!(damage.unwrap().file().unwrap().ends_with("a.rdb"));
        assert_eq!(found(look(&path, b"a", None)).value[..], *b"\x01x");
    }

    #[test]
    fn shards_are_looked_through_in_order_past_one_that_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "a.rdb", b"\x00\x01a\x01x\xff");
        fs::write(folder.path().join("b.rdb"), b"no dump").unwrap();
        file(folder.path(), "c.rdb", b"\x00\x01c\x01z\xff");
        let all = folder.path().to_str().unwrap();
        assert!(found(look(all, b"c", None)).file.ends_with("c.rdb"));
        let (keys, damage) = missing(look(all, b"d", None));
        assert_eq!(keys, 2);
        assert!(damage.unwrap().file().unwrap().ends_with("b.rdb"));
    }

    #[test]
    fn what_cannot_be_read_at_all_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rdb");
        fs::write(&path, b"no dump").unwrap();
        assert!(look(path.to_str().unwrap(), b"a", None).is_err());
        assert!(look("no/such/file", b"a", None).is_err());
    }
}
