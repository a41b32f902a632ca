//! Layout of a server's database tables.

/// Layout of the database tables.
#[derive(Debug, Clone, Copy)]
pub struct InstanceLayout {
    /// Entry of a main table.
    pub main: DatabaseEntry,
    /// Entry of an expiry table.
    pub expires: DatabaseEntry,
    /// Overhead reported per entry of either table.
    pub counted_entry: u64,
    /// Overhead reported per key object.
    pub counted_object: u64,
    /// Structure that finds keys by cluster slot.
    pub slots: SlotForm,
    /// Index of the hashes with expiring fields.
    pub expiring_fields: FieldExpiryIndex,
}

/// Index of the hashes of a database with expiring fields, by the time that the first of the fields expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldExpiryIndex {
    /// None: fields do not expire.
    None,
    /// Radix tree of segments of up to 16 hashes (`ebuckets.c`).
    Buckets,
    /// A table of their keys, grown while loading, per cluster slot.
    Table,
}

/// Storage of an entry in a database table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseEntry {
    /// One allocation of this size per entry.
    Each(u64),
    /// One allocation of this size per entry that is not the first in its bucket.
    Chained(u64),
    /// None: the entry is counted with the key, or the bucket holds the pointer.
    None,
    /// None, and no table: keys hold their expiry.
    NoTable,
}

/// Structure that finds the keys of a cluster slot, which also determines the tables of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotForm {
    /// Radix tree of all keys prefixed by slot (up to 6.2). Tables are created with their final size.
    Tree,
    /// Links in the entries of the main table (7.0, 7.2). Tables are created with their final size.
    Links {
        /// Bytes added to an entry.
        entry: u64,
        /// Overhead reported once per database.
        database: u64,
    },
    /// One table per slot in use; a single table without cluster mode.
    Tables(StoreLayout),
}

/// Tables created for the number of keys that the dump declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presized {
    /// None: tables grow while loading.
    Never,
    /// Tables of cluster slots.
    InCluster,
    /// All, but full ones are doubled in idle time.
    AtLoad,
    /// All, and they keep that size.
    Always,
}

/// Sizes of the structures of a database that do not depend on its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseStructures {
    /// The database itself.
    pub database: u64,
    /// Number of dictionaries: keys that clients are blocked on or watch.
    pub dicts: u64,
    /// A dictionary without entries.
    pub dict: u64,
    /// Number of stores: keys, expiries, keys with expiring fields.
    pub stores: u64,
    /// Allocations of a store besides its pointers to tables and, in a cluster node, its index.
    pub store: [u64; 3],
    /// Index of a store in a cluster node.
    pub index: u64,
}

/// Layout of a set of tables, one per slot (`kvstore`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLayout {
    /// Reported size of the enclosing structure, allocated at startup.
    pub store: u64,
    /// Reported size of the slot index, also allocated at startup.
    pub index: u64,
    /// Per-slot memory of a cluster node that its startup memory leaves out.
    pub late: u64,
    /// Structures of each database but 0, if they are allocated when it is first used.
    pub on_demand: Option<DatabaseStructures>,
    /// Size of an expiry table's structure, with its metadata.
    pub table: u64,
    /// Size of a main table's structure, with its metadata.
    pub main_table: u64,
    /// Tables created for the number of keys that the dump declares.
    pub presized: Presized,
    /// True if the numbers that the dump declares create both tables, even if no key expires.
    pub paired: bool,
}
