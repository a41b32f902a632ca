//! How a server keeps the tables of its databases.

/// Tables of the databases.
#[derive(Debug, Clone, Copy)]
pub struct InstanceLayout {
    /// What an entry of a main table takes.
    pub main: DatabaseEntry,
    /// What an entry of an expires table takes.
    pub expires: DatabaseEntry,
    /// What the server counts for an entry of either as overhead.
    pub counted_entry: u64,
    /// What it counts as overhead for each key's object.
    pub counted_object: u64,
    /// How keys are found by cluster slot.
    pub slots: SlotForm,
}

/// What an entry of a database's table takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseEntry {
    /// An allocation of this size each.
    Each(u64),
    /// One of this size for each that is not the first in its bucket.
    Chained(u64),
    /// None: it is counted with the key, or the bucket has the pointer.
    None,
}

/// How a server finds the keys of a cluster slot, and with it how a database's tables are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotForm {
    /// A radix tree of all names behind their slot (up to 6.2). Tables have their final size from the start.
    Tree,
    /// Links in the entries of the main table (7.0, 7.2). Tables have their final size from the start.
    Links {
        /// What they add to an entry.
        entry: u64,
        /// What is counted once for each database.
        database: u64,
    },
    /// A table for each slot in use; without a cluster there is one.
    Tables(StoreLayout),
}

/// Which of a server's tables are made for as many keys as the dump announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presized {
    /// None: they grow while they are loaded.
    Never,
    /// Those of a cluster's slots.
    InCluster,
    /// All.
    Always,
}

/// A set of tables, one for each slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLayout {
    /// Size of the structure around them, as it is counted as overhead; it is made when the server starts.
    pub store: u64,
    /// Size of the index of slots, as it is counted as overhead; made when the server starts, too.
    pub index: u64,
    /// Bytes that a cluster's node takes for its slots after it noted what it took when it started.
    pub late: u64,
    /// Size of one table's structure with what the server keeps beside it, for a table of expiries.
    pub table: u64,
    /// The same for a main table.
    pub main_table: u64,
    /// Tables are made for as many keys as the dump announces.
    pub presized: Presized,
    /// A slot with keys has a table of expiries, too, even if none of them expires.
    pub paired: bool,
}
