//! Records that the server of a file neither writes nor loads, or that no file has: a damaged value may read so.

use super::Walk;
use super::slots::{bare_database, false_aux, foreign_database};
use crate::error::{Error, Result};
use crate::rdb::boundary::is_same_key;
use crate::rdb::header::Family;
use crate::rdb::kind::ModuleName;
use crate::rdb::opcode::byte;
use crate::rdb::resync::is_false_aux;
use crate::rdb::scan::{FileItem, KeyEntry, Scanner};
use crate::rdb::string::RawString;
use crate::rdb::value_type::ValueType;
use crate::wording::wording;

impl Walk<'_> {
    /// Fails for an item at `at` that is likely part of a damaged value, given the key before it. None is where the checksum is right.
    pub(super) fn looks_real(
        &self,
        item: &FileItem<'_>,
        at: usize,
        last: Option<&(Option<u64>, RawString<'_>)>,
        scanner: &Scanner<'_>,
    ) -> Result<()> {
        match item {
            _ if self.is_proven() => Ok(()),
            FileItem::Key(entry) => is_new(entry, last)
                .and_then(|()| self.may_be_written(entry, scanner))
                .and_then(|()| self.is_before_end_mark(entry, at)),
            FileItem::SlotNumber(_) if self.has_no_enterprise() => Err(foreign_record(at as u64)),
            FileItem::Aux(name, value) if is_false_aux(name, value) => Err(false_aux(at as u64)),
            FileItem::Database(1..) if self.has_one_database() => Err(foreign_database(at as u64)),
            FileItem::Database(_) if self.is_stray_database(scanner) => Err(bare_database(at as u64)),
            _ => Ok(()),
        }
    }

    /// Returns whether a `SELECTDB` is part of a damaged value: no `RESIZEDB` follows, and its place is not behind all keys of a database.
    fn is_stray_database(&self, scanner: &Scanner<'_>) -> bool {
        let is_before_size = scanner.cursor().rest().first().is_none_or(|next| *next == byte::RESIZE_DB);
        self.database.has_sizes
            && self.header.family != Family::Dragonfly
            && self.database.left != Some(0)
            && !is_before_size
    }

    /// Fails for a record that the server of the file neither writes nor loads.
    fn may_be_written(&self, entry: &KeyEntry<'_>, scanner: &Scanner<'_>) -> Result<()> {
        let is_module = matches!(entry.value_type, ValueType::Module2 | ValueType::ModulePreGa);
        let module = is_module.then(|| scanner.cursor().clone().length().ok()).flatten();
        let is_foreign = scanner.met_enterprise_prefix() && self.has_no_enterprise()
            || module.is_some_and(|id| is_no_module(ModuleName::from_id(id)));
        if is_foreign { Err(foreign_record(entry.offset)) } else { Ok(()) }
    }

    /// Fails for an item between keys that no release of a server loads.
    pub(super) fn is_loaded(&self, item: &FileItem<'_>, at: usize) -> Result<()> {
        match item {
            // Release candidates of Redis 7.0 wrote it.
            FileItem::Function(_) if self.bytes.get(at) == Some(&byte::FUNCTION_PRE_GA) => {
                Err(foreign_record(at as u64))
            }
            FileItem::ModuleAux(name) if is_no_module(*name) => Err(foreign_record(at as u64)),
            _ => Ok(()),
        }
    }

    /// Returns whether keys were read, none of which is from Redis Enterprise.
    fn has_no_enterprise(&self) -> bool {
        !self.about.enterprise && !self.profile.is_empty()
    }
}

/// Returns whether no module has this name: it is that of a small number, which was taken for the id of a module.
fn is_no_module(name: ModuleName) -> bool {
    name.as_str().starts_with("AAAA")
}

fn foreign_record(offset: u64) -> Error {
    Error::corrupt(offset, wording!("a record of another version or server", "其他版本或其他服务器的记录"))
}

/// Fails if a key equals the one before it in its database: runs of zeros parse as empty keys with empty values.
fn is_new(entry: &KeyEntry<'_>, last: Option<&(Option<u64>, RawString<'_>)>) -> Result<()> {
    match last {
        Some((db, last)) if *db == entry.db && is_same_key(last, &entry.key) => {
            Err(Error::corrupt(entry.offset, wording!("the key occurs twice in a row", "同一个 key 连续出现两次")))
        }
        Some(_) | None => Ok(()),
    }
}
