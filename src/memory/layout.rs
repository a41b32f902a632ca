//! The sizes and thresholds of one server, and which of the known forms its values take. No logic: the formulas are in
//! [`super::price`], the versions in [`super::servers`].

mod instance;

pub use instance::*;

use crate::memory::Encoding;

/// All that tells one server's memory from another's.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// How the key and the object in front of the value are counted.
    pub frame: Frame,
    /// Size of an object (`robj`).
    pub object: u64,
    /// Header sizes of strings.
    pub sds: SdsHeaders,
    /// How a string is counted.
    pub sds_count: SdsCount,
    /// What becomes of short strings.
    pub short: ShortStrings,
    /// Which form small collections are packed in.
    pub packed: PackedForm,
    /// How a packed blob is counted.
    pub packed_count: Count,
    /// Lists.
    pub list: ListLayout,
    /// Small sets of text are packed, too.
    pub packed_sets: bool,
    /// How a score is written into a packed sorted set.
    pub score: ScoreText,
    /// Tables of sets, hashes and sorted sets.
    pub table: TableLayout,
    /// Elements that are alone in their bucket have no entry, whatever is counted for them.
    pub bare: BareElements,
    /// Which tables are made in their final size.
    pub presize: Presize,
    /// Fields and values of a hash in a table.
    pub field: FieldForm,
    /// Fields of a hash that expire have an index that is counted (Valkey from 9.0 on).
    pub indexed_expiries: bool,
    /// Bytes of the structure around a packed hash with field expiries.
    pub listpack_ex: u64,
    /// Sorted sets that are not packed.
    pub skiplist: SkiplistLayout,
    /// Streams.
    pub stream: StreamLayout,
    /// How the sum over elements enters the figure.
    pub average: Average,
    /// Numbers below 10 000 are objects that all keys share, if nothing is to be evicted by their use.
    pub shared_numbers: bool,
    /// Tables of the databases.
    pub instance: InstanceLayout,
}

/// How the key and the object in front of the value are counted.
#[derive(Debug, Clone, Copy)]
pub enum Frame {
    /// The key as the command's argument was stored (Redis 4.0), and a table entry.
    Argument,
    /// The key as it is stored, and a table entry with its links of the cluster's slots.
    Entry {
        /// More bytes in cluster mode.
        cluster: u64,
    },
    /// The key with a counted header, and a table entry (KeyDB).
    SharedKey,
    /// The key inside its table entry (Valkey 8.0).
    KeyInEntry,
    /// Key, expiry and object in one allocation.
    Joint(Joint),
}

/// How an object that holds its key is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    /// As the allocator rounds it.
    Usable,
    /// As asked for.
    Requested,
    /// As asked for, and room for an expiry that the rounding left (Redis 8.4).
    RequestedWithSpareExpiry,
    /// The bare object only (Valkey 8.1.0 to 8.1.2).
    ObjectOnly,
}

/// The longest strings with each header.
#[derive(Debug, Clone, Copy)]
pub struct SdsHeaders {
    /// Longest string with a header of three bytes. (Up to 31 it takes one.)
    pub byte: u64,
    /// Longest string with a header of five bytes.
    pub short: u64,
}

/// How a string outside of an object is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SdsCount {
    /// As asked for.
    Requested,
    /// As the allocator rounds it.
    Usable,
    /// As the allocator rounds it, but strings of 1 to 31 bytes as asked for.
    UsableUnlessTiny,
}

/// As asked for, or as the allocator rounds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// As asked for.
    Requested,
    /// As the allocator rounds it.
    Usable,
}

/// What becomes of short strings.
#[derive(Debug, Clone, Copy)]
pub enum ShortStrings {
    /// Nothing special (Redis 2.8).
    Raw,
    /// Up to `longest` bytes they stand behind the object.
    Behind {
        /// The longest.
        longest: u64,
        /// As the allocation, or as two bytes and the text.
        count: Count,
    },
    /// They stand in the allocation of object and key if there is room.
    Joint(Embedding),
}

impl ShortStrings {
    /// Longer strings have an allocation of their own.
    pub fn longest(&self) -> u64 {
        match self {
            ShortStrings::Raw => 0,
            ShortStrings::Behind { longest, .. } | ShortStrings::Joint(Embedding { longest, .. }) => *longest,
        }
    }
}

/// When a value goes into the allocation of its key.
#[derive(Debug, Clone, Copy)]
pub struct Embedding {
    /// The longest value.
    pub longest: u64,
    /// The largest allocation.
    pub room: u64,
    /// Bytes of the object when it holds its value.
    pub object: u64,
    /// The test takes three bytes for the key's header and end, whatever they are.
    pub flat_key: bool,
    /// How an expiry enters the test.
    pub expiry: EmbeddedExpiry,
    /// The least room that a value takes.
    pub least: u64,
}

/// How an expiry enters the test whether a value goes into the allocation of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddedExpiry {
    /// It is counted.
    Counted,
    /// It is not, whatever the allocation becomes.
    Ignored,
    /// It comes later: if the rounding left room the value stays, else it is counted.
    Later,
}

/// Which form small collections are packed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedForm {
    /// Up to 6.2.
    Ziplist,
    /// From 7.0 on.
    Listpack,
}

impl PackedForm {
    /// As `OBJECT ENCODING` names it.
    pub const fn encoding(self) -> Encoding {
        match self {
            PackedForm::Ziplist => Encoding::Ziplist,
            PackedForm::Listpack => Encoding::Listpack,
        }
    }
}

/// Lists.
#[derive(Debug, Clone, Copy)]
pub struct ListLayout {
    /// What they are.
    pub form: ListForm,
    /// Size of the list's structure.
    pub list: u64,
    /// Size of a node's structure.
    pub node: u64,
    /// Whether those two are rounded.
    pub structs: Count,
    /// How a node's content is counted.
    pub entry: Count,
    /// What is in front of a compressed node's bytes, as far as it is counted.
    pub lzf_header: u64,
    /// Elements this long get a node of their own.
    pub plain: PlainNodes,
    /// What the sum over nodes is divided by before it is multiplied again.
    pub average_over: AverageOver,
}

/// What lists are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListForm {
    /// Ziplists, and linked lists beyond the limits (up to 3.0).
    Linked,
    /// Quicklists always.
    Quicklist,
    /// Quicklists, and listpacks where one node is enough (from 7.2 on).
    ListpackOrQuicklist,
}

/// Which elements get a node of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainNodes {
    /// None.
    Never,
    /// From this size on.
    From(u64),
    /// What exceeds the limit of a node.
    BeyondLimit,
}

/// What the sum over a list's nodes is averaged over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AverageOver {
    /// Nodes.
    Nodes,
    /// Elements.
    Elements,
}

/// How a score is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreText {
    /// With 17 significant digits.
    SeventeenDigits,
    /// With as few digits as tell it.
    Shortest,
}

/// Tables.
#[derive(Debug, Clone, Copy)]
pub enum TableLayout {
    /// Chained entries behind an array of pointers.
    Dict {
        /// Size of the table's structure.
        table: u64,
        /// Size of an entry as it is counted for hashes and sets.
        entry: u64,
        /// Size of an entry as it is counted for sorted sets.
        zset_entry: u64,
        /// Members of a set that are alone in their bucket have no entry (Valkey 8.0).
        lone_members: bool,
    },
    /// Buckets of seven (Valkey from 8.1 on).
    Buckets {
        /// Size of the table's structure.
        table: u64,
        /// More bytes of it in hashes.
        hash_metadata: u64,
    },
}

/// In which tables an element that is alone in its bucket has no entry: where it is all one allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BareElements {
    /// In none.
    Never,
    /// In sets (from 7.2 on).
    Sets,
    /// In sets, hashes and sorted sets (Redis from 8.6 on).
    All,
}

/// Which tables are made in their final size while loading.
#[derive(Debug, Clone, Copy)]
pub struct Presize {
    /// Hashes and sorted sets of single elements.
    pub elements: bool,
    /// Hashes that were packed.
    pub packed_hash: bool,
    /// Sorted sets that were packed.
    pub packed_zset: bool,
    /// A hash that leaves the packed form while being loaded asks for all its pairs, not for those still to come.
    pub converted_hash_whole: bool,
}

/// Fields and values of a hash in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldForm {
    /// Two strings.
    Strings,
    /// A field with a header of its own (`mstr`), and a string.
    Mstr,
    /// One entry, counted as asked for; up to 128 bytes with the value inside.
    Entry {
        /// What a field's expiry takes.
        expiry: u64,
    },
    /// One entry, counted as the allocator rounds it; up to 128 bytes with the value inside.
    RoundedEntry {
        /// What a field's expiry takes.
        expiry: u64,
    },
}

/// Sorted sets that are not packed.
#[derive(Debug, Clone, Copy)]
pub struct SkiplistLayout {
    /// Size of the structure that holds both table and skiplist.
    pub zset: u64,
    /// Size of the skiplist's structure.
    pub list: u64,
    /// Whether the skiplist's structure is rounded.
    pub list_count: Count,
    /// Size of the header node.
    pub header: u64,
    /// What a node is.
    pub node: NodeForm,
    /// Only table slots, entries and nodes are counted (Redis 4.0).
    pub only_nodes: bool,
}

/// What a node of a skiplist is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeForm {
    /// `24 + 16 * level`, the member elsewhere.
    Pointer,
    /// `16 + 16 * level`, so many bytes more, and the member.
    Inline(u64),
}

/// Streams.
#[derive(Debug, Clone, Copy)]
pub struct StreamLayout {
    /// As `OBJECT ENCODING` names it.
    pub encoding: Encoding,
    /// Size of the stream's structure, as far as it is counted.
    pub stream: u64,
    /// Size of the stream's structure.
    pub real_stream: u64,
    /// Each pending id has a list of the groups in which it is pending (Redis 8.2 and 8.4).
    pub pending_lists: bool,
    /// How a listpack of entries is counted.
    pub listpack: Count,
    /// Size of a group.
    pub group: u64,
    /// Size of a consumer.
    pub consumer: u64,
    /// Size of a pending entry.
    pub pending: u64,
    /// How radix trees are counted.
    pub tree: TreeCount,
    /// Which trees are counted beyond entries and pending entries.
    pub names: NamesCount,
}

/// How a radix tree is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeCount {
    /// By a formula far above the truth: 16 a key, 244 a node.
    Estimated,
    /// The structure (of this size) and each node as the allocator rounds them.
    Measured(u64),
}

/// Which trees of a stream are counted beyond entries and pending entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamesCount {
    /// None; a consumer's name with its length.
    Length,
    /// Names of groups and of consumers, and all pending ids.
    Trees {
        /// Also a tree of pending entries by time in each group (Redis 8.4).
        by_time: bool,
    },
}

/// How the sum over elements enters the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// As a double: divided by the number of elements, multiplied again, and cut off.
    Double,
    /// As it is.
    Exact,
}

/// Bytes of an entry of the main table, which count towards each key.
pub const MAIN_ENTRY: u64 = 24;

/// Use of a table inside a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableUse {
    /// Members of a set.
    Set,
    /// Fields of a hash.
    Hash,
    /// Members of a sorted set.
    Zset,
}
