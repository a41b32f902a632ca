//! What a file says about itself besides its keys: who wrote it, when, and what else is in it.

use super::header::RdbHeader;
use super::scan::FileItem;
use super::string::RawString;
use crate::limits;
use crate::rdb::kind::ModuleName;

/// Fields that are repeated once per slot, script or key: they are not listed one by one.
const REPEATED: [&str; 6] =
    ["lua", "slot-info", "mvcc-tstamp", "keydb-subexpire-key", "keydb-subexpire-when", "cluster-asm-task"];

/// Everything that the items between the keys tell.
#[derive(Debug, Clone)]
pub struct FileInfo {
    /// What the header says.
    pub header: RdbHeader,
    /// Auxiliary fields in file order, without the repeated ones; no more than [`limits::MAX_AUX_FIELDS`].
    pub aux: Vec<(String, Vec<u8>)>,
    /// Lua scripts of the script cache.
    pub scripts: u64,
    /// Function libraries.
    pub functions: u64,
    /// Modules that keep data outside of keys, in order of first appearance.
    pub modules: Vec<ModuleName>,
    /// Keys are grouped by cluster slot.
    pub by_slot: bool,
    /// Commands inlined by a fork-less save: the figures lack what they change.
    pub updates: u64,
}

impl FileInfo {
    /// Nothing but a header so far.
    pub fn new(header: RdbHeader) -> Self {
        FileInfo { header, aux: Vec::new(), scripts: 0, functions: 0, modules: Vec::new(), by_slot: false, updates: 0 }
    }

    /// Takes an item into account. Keys, databases and sizes tell nothing here.
    pub fn observe(&mut self, item: &FileItem<'_>) {
        match item {
            FileItem::Aux(name, value) => self.observe_aux(name, value),
            FileItem::Function(_) => self.functions += 1,
            FileItem::ModuleAux(name)
                if self.modules.len() < limits::MAX_AUX_FIELDS && !self.modules.contains(name) =>
            {
                self.modules.push(*name);
            }
            FileItem::Slot(_) | FileItem::SlotImport => self.by_slot = true,
            FileItem::Update => self.updates += 1,
            FileItem::ModuleAux(_)
            | FileItem::Key(_)
            | FileItem::Database(_)
            | FileItem::DatabaseSize(..)
            | FileItem::End => {}
        }
    }

    fn observe_aux(&mut self, name: &RawString<'_>, value: &RawString<'_>) {
        let longest = REPEATED.iter().map(|name| name.len() as u64).max().unwrap_or_default();
        let mut scratch = Vec::new();
        if name.len() <= longest
            && let Ok(name) = name.decode(&mut scratch)
            && let Some(&repeated) = REPEATED.iter().find(|known| known.as_bytes() == name)
        {
            self.scripts += u64::from(repeated == "lua");
            self.by_slot |= repeated == "slot-info";
            return;
        }
        if self.aux.len() >= limits::MAX_AUX_FIELDS || name.len() + value.len() > limits::MAX_AUX_BYTES {
            return;
        }
        if let (Ok(name), Ok(value)) = (name.to_bytes(), value.to_bytes()) {
            self.aux.push((String::from_utf8_lossy(&name).into_owned(), value.into_owned()));
        }
    }

    /// Takes into account what a part of the file tells that follows this one.
    pub fn merge(&mut self, next: FileInfo) {
        self.aux.extend(next.aux);
        self.aux.truncate(limits::MAX_AUX_FIELDS);
        self.scripts += next.scripts;
        self.functions += next.functions;
        for name in next.modules {
            if self.modules.len() < limits::MAX_AUX_FIELDS && !self.modules.contains(&name) {
                self.modules.push(name);
            }
        }
        self.by_slot |= next.by_slot;
        self.updates += next.updates;
    }

    /// The value of an auxiliary field.
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.aux.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    /// The value of an auxiliary field that is a number.
    pub fn number(&self, name: &str) -> Option<i64> {
        std::str::from_utf8(self.field(name)?).ok()?.parse().ok()
    }

    /// When the file was written, in seconds since the epoch.
    pub fn ctime(&self) -> Option<i64> {
        self.number("ctime")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::header::Family;

    #[test]
    fn repeated_fields_are_counted_instead_of_listed() {
        let mut about = FileInfo::new(RdbHeader { family: Family::Redis, version: 11 });
        for (name, value) in [("redis-ver", "7.2.6"), ("lua", "return 1"), ("ctime", "17"), ("slot-info", "1,2,3")] {
            about.observe(&FileItem::Aux(RawString::plain(name.as_bytes()), RawString::plain(value.as_bytes())));
        }
        assert_eq!((about.aux.len(), about.scripts, about.by_slot, about.ctime()), (2, 1, true, Some(17)));
    }
}
