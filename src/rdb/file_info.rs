//! File-level information found outside the keys: writer, creation time, scripts, functions, module data.

use crate::rdb::scratch::Scratch;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::header::RdbHeader;
use super::scan::FileItem;
use super::string::RawString;
use super::template::Templates;
use crate::limits;
use crate::rdb::kind::ModuleName;

/// Auxiliary fields that occur once per slot, script or key; they are counted, not listed.
const REPEATED: [&str; 6] =
    ["lua", "slot-info", "mvcc-tstamp", "keydb-subexpire-key", "keydb-subexpire-when", "cluster-asm-task"];

/// Starts of the names of auxiliary fields that only Redis Enterprise writes.
const ENTERPRISE: [&str; 3] = ["big-used-", "big-ram-", "bigdb-"];

/// Information gathered from the header and from the items between keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileInfo {
    /// The parsed header.
    pub header: RdbHeader,
    /// Auxiliary fields in file order, at most [`limits::MAX_AUX_FIELDS`], without the ones that repeat per key or slot.
    pub aux: Vec<(String, Vec<u8>)>,
    /// Number of Lua scripts in the script cache.
    pub scripts: u64,
    /// Number of function libraries.
    pub functions: u64,
    /// Modules that store data outside keys, in order of first appearance.
    pub modules: Vec<ModuleName>,
    /// True if keys are grouped by cluster slot, as in dumps of cluster nodes.
    pub by_slot: bool,
    /// True if opcodes or auxiliary fields are those of Redis Enterprise.
    pub enterprise: bool,
    /// Number of commands inlined by a fork-less save; the report does not include their effects.
    pub updates: u64,
    /// Number of hash templates.
    pub hash_templates: u64,
    /// Number of keys that the databases announce in all; `None` if none does.
    pub announced: Option<u64>,
    /// Hash templates before the first key.
    #[serde(skip)]
    pub templates: Option<Arc<Templates>>,
}

impl FileInfo {
    /// Creates an instance with a header and nothing else.
    pub fn new(header: RdbHeader) -> Self {
        FileInfo {
            header,
            aux: Vec::new(),
            scripts: 0,
            functions: 0,
            modules: Vec::new(),
            by_slot: false,
            enterprise: false,
            updates: 0,
            hash_templates: 0,
            announced: None,
            templates: None,
        }
    }

    /// Adds the information in `item`; keys and database switches are ignored.
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
            FileItem::SlotNumber(_) => self.enterprise = true,
            FileItem::Update => self.updates += 1,
            FileItem::HashTemplate => self.hash_templates += 1,
            FileItem::DatabaseSize(keys, _) => self.announce(*keys),
            FileItem::ModuleAux(_) | FileItem::Key(_) | FileItem::Database(_) | FileItem::End => {}
        }
    }

    fn announce(&mut self, keys: u64) {
        self.announced = Some(self.announced.unwrap_or_default().saturating_add(keys));
    }

    fn observe_aux(&mut self, name: &RawString<'_>, value: &RawString<'_>) {
        let longest = REPEATED.iter().map(|name| name.len() as u64).max().unwrap_or_default();
        let mut scratch = Scratch::default();
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
            self.enterprise |= ENTERPRISE.iter().any(|start| name.starts_with(start.as_bytes()));
            self.aux.push((String::from_utf8_lossy(&name).into_owned(), value.into_owned()));
        }
    }

    /// Merges information from the part of the file that follows this one.
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
        self.enterprise |= next.enterprise;
        self.updates += next.updates;
        self.hash_templates += next.hash_templates;
        next.announced.into_iter().for_each(|keys| self.announce(keys));
    }

    /// Returns the value of an auxiliary field.
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.aux.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    /// Returns the value of an auxiliary field as a number, if it is one.
    pub fn number(&self, name: &str) -> Option<i64> {
        std::str::from_utf8(self.field(name)?).ok()?.parse().ok()
    }

    /// Returns the creation time in seconds since the Unix epoch (`ctime`).
    pub fn ctime(&self) -> Option<i64> {
        self.number("ctime")
    }

    /// Returns the memory that the server used when it saved, in bytes (`used-mem`).
    pub fn used_mem(&self) -> Option<u64> {
        self.number("used-mem").and_then(|bytes| u64::try_from(bytes).ok())
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
