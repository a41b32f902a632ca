//! Memory of module values, as the module's own callback reports it, computed from the items it stores.
//!
//! A module is known by its name and encoding version, its formula also by the server that it comes with.

mod bloom;
mod count_min;
mod cuckoo;
mod falkordb;
mod json;
mod json_array;
mod json_cbor;
mod names;
mod t_digest;
mod time_series;
mod top_k;
mod vector_set;

use super::layout::ModuleLine;
use super::rax::{RaxTree, TreeShape};
use super::{Model, ModuleFacts};
use crate::error::Result;
use crate::rdb::kind::{KnownModule, ModuleName};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::walk::ModuleItem;

/// Longest string stored in the same allocation as its object.
const EMBEDDED: u64 = 44;
/// Size of a dictionary without its tree.
const DICTIONARY: u64 = 8;

/// Value of a known module, fed item by item.
trait ModuleValue {
    /// Prepares for a new value.
    fn begin(&mut self);

    /// Takes the next item.
    fn item(&mut self, server: &mut ServerParts<'_>, item: ModuleItem<'_>) -> Result<()>;

    /// Returns the memory that the module reports, or `None` if the items do not form such a value.
    fn memory(&mut self, server: &mut ServerParts<'_>) -> Option<u64>;

    /// Returns the bytes that the allocator provides for the value, or `None` if they are not known better than
    /// [`ModuleValue::memory`], which has accepted the items.
    fn allocated(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        None
    }

    /// Returns the number of elements, if the module has a notion of them.
    fn length(&self) -> Option<u64> {
        None
    }

    /// Returns what else is known of the value. Called after [`ModuleValue::memory`] has accepted the items.
    fn facts(&self) -> ModuleFacts {
        ModuleFacts::default()
    }
}

/// Parts of the server's model that a module needs, and buffers shared among modules.
struct ServerParts<'a> {
    model: &'a Model,
    scratch: &'a mut Scratch,
    tree: &'a mut RaxTree,
}

impl ServerParts<'_> {
    /// Returns the allocated size of a `RedisModuleString` that was loaded from this string.
    ///
    /// Compressed strings are expanded into a string of their own, never into their object.
    fn string(&self, text: &RawString<'_>) -> u64 {
        let len = text.len();
        if len <= EMBEDDED && !text.is_compressed() {
            return self.model.usable(16 + 3 + len + 1);
        }
        self.model.usable(16).saturating_add(self.model.usable(self.model.sds_size(len)))
    }

    fn usable(&self, size: u64) -> u64 {
        self.model.usable(size)
    }

    /// Returns the allocated size of a `RedisModuleDict`; unlike those of streams, its tree always has leaves.
    fn dictionary(&self, shape: TreeShape) -> u64 {
        let tree = self.model.layout.stream.tree.structure();
        self.usable(DICTIONARY).saturating_add(self.usable(tree)).saturating_add(shape.bytes)
    }

    fn line(&self) -> ModuleLine {
        self.model.layout.modules
    }
}

/// Returns whether the formula is known for servers of a line.
fn is_priced(module: KnownModule, line: ModuleLine) -> bool {
    match module {
        _ if line == ModuleLine::Foreign => false,
        // From 8.4 on the server measures the tree of a series' chunks in another way.
        KnownModule::TimeSeries => line < ModuleLine::Redis8_4,
        KnownModule::JsonCbor => false,
        KnownModule::Bloom
        | KnownModule::CountMin
        | KnownModule::Cuckoo
        | KnownModule::FalkorDb
        | KnownModule::Json
        | KnownModule::TDigest
        | KnownModule::TopK
        | KnownModule::VectorSet => true,
    }
}

/// Memory of a module value without its key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModuleSize {
    /// Memory that the module reports; `None` if its formula is not known.
    pub memory: Option<u64>,
    /// Bytes that the allocator provides for the value; `None` if not known better than `memory`.
    pub allocated: Option<u64>,
    /// Number of elements, if known.
    pub length: Option<u64>,
}

/// Meter of module values; reused for all keys.
#[derive(Debug, Default)]
pub struct ModuleMeter {
    name: Option<ModuleName>,
    known: Option<KnownModule>,
    is_priced: bool,
    facts: ModuleFacts,
    bloom: bloom::Bloom,
    count_min: count_min::CountMin,
    cuckoo: cuckoo::Cuckoo,
    falkordb: falkordb::FalkorDb,
    json: json::Json,
    json_cbor: json_cbor::JsonCbor,
    t_digest: t_digest::TDigest,
    time_series: time_series::TimeSeries,
    top_k: top_k::TopK,
    vector_set: vector_set::VectorSet,
}

impl ModuleMeter {
    /// Prepares for a value whose module is not known yet; `name` is that of a type without a module id.
    pub fn begin(&mut self, name: Option<ModuleName>) {
        self.name = name;
        self.known = None;
        self.facts = ModuleFacts::default();
    }

    /// Sets the module by its id.
    pub fn module(&mut self, model: &Model, id: u64) {
        self.name = Some(ModuleName::from_id(id));
        self.known = KnownModule::find(id);
        self.is_priced = self.known.is_some_and(|known| is_priced(known, model.layout.modules));
        self.facts = ModuleFacts::default();
        if let Some(value) = self.value() {
            value.begin();
        }
    }

    /// Takes the next item.
    pub fn item(
        &mut self,
        model: &Model,
        item: ModuleItem<'_>,
        scratch: &mut Scratch,
        tree: &mut RaxTree,
    ) -> Result<()> {
        match self.value() {
            Some(value) => value.item(&mut ServerParts { model, scratch, tree }, item),
            None => Ok(()),
        }
    }

    /// Returns the memory and length of the value, as far as they are known.
    pub fn finish(&mut self, model: &Model, scratch: &mut Scratch, tree: &mut RaxTree) -> ModuleSize {
        let Some(value) = self.value() else { return ModuleSize::default() };
        let mut server = ServerParts { model, scratch, tree };
        let Some(memory) = value.memory(&mut server) else { return ModuleSize::default() };
        let allocated = value.allocated(&mut server);
        let (length, facts) = (value.length(), value.facts());
        self.facts = facts;
        ModuleSize { memory: Some(memory).filter(|_| self.is_priced), allocated, length }
    }

    /// Returns what else is known of the last value.
    pub fn facts(&self) -> &ModuleFacts {
        &self.facts
    }

    /// Returns the name of the module.
    pub fn name(&self) -> Option<ModuleName> {
        self.name
    }

    fn value(&mut self) -> Option<&mut dyn ModuleValue> {
        Some(match self.known? {
            KnownModule::Bloom => &mut self.bloom,
            KnownModule::CountMin => &mut self.count_min,
            KnownModule::Cuckoo => &mut self.cuckoo,
            KnownModule::FalkorDb => &mut self.falkordb,
            KnownModule::Json => &mut self.json,
            KnownModule::JsonCbor => &mut self.json_cbor,
            KnownModule::TDigest => &mut self.t_digest,
            KnownModule::TimeSeries => &mut self.time_series,
            KnownModule::TopK => &mut self.top_k,
            KnownModule::VectorSet => &mut self.vector_set,
        })
    }
}

/// First integers of a value, which hold its dimensions.
#[derive(Debug, Clone, Copy)]
struct Head<const N: usize> {
    numbers: [u64; N],
    seen: usize,
}

impl<const N: usize> Default for Head<N> {
    fn default() -> Self {
        Head { numbers: [0; N], seen: 0 }
    }
}

impl<const N: usize> Head<N> {
    /// Takes an item; integers after the first `N` are ignored.
    fn take(&mut self, item: ModuleItem<'_>) {
        if let ModuleItem::Integer(number) = item
            && let Some(slot) = self.numbers.get_mut(self.seen)
        {
            *slot = number;
            self.seen += 1;
        }
    }

    /// Returns the integers, or `None` if there were fewer.
    fn get(&self) -> Option<[u64; N]> {
        (self.seen == N).then_some(self.numbers)
    }
}
