//! Structure sizes, thresholds and variants that distinguish one server's memory layout from another's.
//!
//! Data only: the formulas are in [`super::price`], the versions in [`super::servers`].

mod instance;

pub use instance::*;

use crate::memory::Encoding;

/// Memory layout of one server.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Accounting of the key and of the object that precedes the value.
    pub frame: Frame,
    /// Size of an object (`robj`).
    pub object: u64,
    /// Header sizes of strings.
    pub sds: SdsHeaders,
    /// Accounting of a string.
    pub sds_count: SdsCount,
    /// Treatment of short strings.
    pub short: ShortStrings,
    /// Encoding of small collections.
    pub packed: PackedForm,
    /// Accounting of a packed blob.
    pub packed_count: Count,
    /// Lists.
    pub list: ListLayout,
    /// True if small sets of text are packed, too.
    pub packed_sets: bool,
    /// Formatting of scores in a packed sorted set.
    pub score: ScoreText,
    /// Hash tables of sets, hashes and sorted sets.
    pub table: TableLayout,
    /// Tables in which an element alone in its bucket has no entry, even if one is counted.
    pub bare: BareElements,
    /// Tables created with their final size.
    pub presize: Presize,
    /// Storage of the fields and values of a hash table.
    pub field: FieldForm,
    /// True if expiring fields have an index that is counted (Valkey from 9.0 on).
    pub indexed_expiries: bool,
    /// True if hashes can share their field names (Redis from 8.10 on).
    pub templates: bool,
    /// Size of the structure around a packed hash with field expiries.
    pub listpack_ex: u64,
    /// Sorted sets that are not packed.
    pub skiplist: SkiplistLayout,
    /// Streams.
    pub stream: StreamLayout,
    /// Arithmetic of the sum over elements.
    pub average: Average,
    /// True if integers below 10,000 are shared objects, unless eviction tracks their use.
    pub shared_numbers: bool,
    /// Modules that come with the server.
    pub modules: ModuleLine,
    /// Database tables.
    pub instance: InstanceLayout,
}

/// Generation of the modules that come with a server, in the order of their versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModuleLine {
    /// Modules of other projects, whose formulas are not known.
    Foreign,
    /// Redis Stack, up to 7.4.
    Stack,
    /// Redis 8.0: part of the server.
    Redis8_0,
    /// Redis 8.2.
    Redis8_2,
    /// Redis 8.4.
    Redis8_4,
    /// Redis 8.6 and later.
    Redis8_6,
}

/// Accounting of the key and of the object that precedes the value.
#[derive(Debug, Clone, Copy)]
pub enum Frame {
    /// The key as stored in the command's argument (Redis 4.0), and a table entry.
    Argument,
    /// The key as stored, and a table entry with its cluster slot links.
    Entry {
        /// Additional bytes in cluster mode.
        cluster: u64,
    },
    /// The key with a reference-counted header, and a table entry (KeyDB).
    SharedKey,
    /// The key inside its table entry (Valkey 8.0).
    KeyInEntry,
    /// Key, expiry and object in one allocation.
    Joint(Joint),
}

/// Accounting of an object that embeds its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    /// The allocated size.
    Usable,
    /// The requested size.
    Requested,
    /// The requested size, plus an expiry if it fits the allocation (Redis 8.4).
    RequestedWithSpareExpiry,
    /// Only the object without its key (Valkey 8.1.0 to 8.1.2).
    ObjectOnly,
}

/// Maximum string length for each header size.
#[derive(Debug, Clone, Copy)]
pub struct SdsHeaders {
    /// Longest string with a header of three bytes; up to 31 bytes the header takes one.
    pub byte: u64,
    /// Longest string with a header of five bytes.
    pub short: u64,
}

/// Accounting of a string outside an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SdsCount {
    /// The requested size.
    Requested,
    /// The allocated size.
    Usable,
    /// The allocated size, but the requested size for strings of 1 to 31 bytes.
    UsableUnlessTiny,
}

/// Requested or allocated size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// The requested size.
    Requested,
    /// The allocated size.
    Usable,
}

/// Treatment of short strings.
#[derive(Debug, Clone, Copy)]
pub enum ShortStrings {
    /// No special treatment (Redis 2.8).
    Raw,
    /// Embedded after the object, up to `longest` bytes.
    Behind {
        /// Maximum length.
        longest: u64,
        /// Counted as the allocation, or as two bytes and the text.
        count: Count,
    },
    /// Embedded in the allocation of object and key, if it fits.
    Joint(Embedding),
}

impl ShortStrings {
    /// Returns the length above which strings have an allocation of their own.
    pub fn longest(&self) -> u64 {
        match self {
            ShortStrings::Raw => 0,
            ShortStrings::Behind { longest, .. } | ShortStrings::Joint(Embedding { longest, .. }) => *longest,
        }
    }
}

/// Conditions for embedding a value in the allocation of its key.
#[derive(Debug, Clone, Copy)]
pub struct Embedding {
    /// Maximum value length.
    pub longest: u64,
    /// Maximum size of the allocation.
    pub room: u64,
    /// Size of the object when it embeds its value.
    pub object: u64,
    /// True if the check assumes three bytes for the key's header and terminator.
    pub flat_key: bool,
    /// Treatment of an expiry in the check.
    pub expiry: EmbeddedExpiry,
    /// Minimum size of the embedded value.
    pub least: u64,
}

/// Treatment of an expiry when checking whether a value can be embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddedExpiry {
    /// Included in the check.
    Counted,
    /// Not included, whatever the size of the allocation becomes.
    Ignored,
    /// Added later: the value stays embedded if the allocation has room left, otherwise the expiry is included.
    Later,
}

/// Encoding of small collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedForm {
    /// Up to 6.2.
    Ziplist,
    /// From 7.0 on.
    Listpack,
}

impl PackedForm {
    /// Returns the name reported by `OBJECT ENCODING`.
    pub const fn encoding(self) -> Encoding {
        match self {
            PackedForm::Ziplist => Encoding::Ziplist,
            PackedForm::Listpack => Encoding::Listpack,
        }
    }
}

/// Layout of lists.
#[derive(Debug, Clone, Copy)]
pub struct ListLayout {
    /// Data structures used.
    pub form: ListForm,
    /// Size of the list's structure.
    pub list: u64,
    /// Size of a node's structure.
    pub node: u64,
    /// Accounting of these two structures.
    pub structs: Count,
    /// Accounting of a node's content.
    pub entry: Count,
    /// Counted size of the header of a compressed node.
    pub lzf_header: u64,
    /// Elements that get a node of their own.
    pub plain: PlainNodes,
    /// Count by which the sum over nodes is divided and multiplied again.
    pub average_over: AverageOver,
}

/// Data structures of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListForm {
    /// Ziplists, and linked lists beyond the limits (up to 3.0).
    Linked,
    /// Quicklists always.
    Quicklist,
    /// Quicklists, and listpacks where one node is enough (from 7.2 on).
    ListpackOrQuicklist,
}

/// Rule for elements that get a node of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainNodes {
    /// None.
    Never,
    /// Elements of at least this size.
    From(u64),
    /// Elements larger than the node limit.
    BeyondLimit,
}

/// Count over which the memory of a list's nodes is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AverageOver {
    /// Nodes.
    Nodes,
    /// Elements.
    Elements,
}

/// Formatting of scores as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreText {
    /// With 17 significant digits.
    SeventeenDigits,
    /// With 17 significant digits, but whole numbers as integers up to 2^62.
    SeventeenDigitsOrInteger,
    /// With the fewest digits that identify the value.
    Shortest,
}

/// Layout of hash tables.
#[derive(Debug, Clone, Copy)]
pub enum TableLayout {
    /// Array of pointers to chained entries.
    Dict {
        /// Size of the table's structure.
        table: u64,
        /// Counted size of an entry in hashes and sets.
        entry: u64,
        /// Counted size of an entry in sorted sets.
        zset_entry: u64,
        /// True if set members alone in their bucket have no entry (Valkey 8.0).
        lone_members: bool,
    },
    /// Buckets of seven (Valkey from 8.1 on).
    Buckets {
        /// Size of the table's structure.
        table: u64,
        /// Additional bytes of the structure in hashes.
        hash_metadata: u64,
    },
}

/// Tables in which an element that is a single allocation has no entry if alone in its bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BareElements {
    /// None.
    Never,
    /// In sets (from 7.2 on).
    Sets,
    /// In sets, hashes and sorted sets (Redis from 8.6 on).
    All,
}

/// Tables created with their final size while loading.
#[derive(Debug, Clone, Copy)]
pub struct Presize {
    /// Hashes and sorted sets stored element by element.
    pub elements: bool,
    /// Hashes stored packed.
    pub packed_hash: bool,
    /// Sorted sets stored packed.
    pub packed_zset: bool,
    /// A hash converted from the packed form while loading reserves room for all its pairs, not only for the remaining ones.
    pub converted_hash_whole: bool,
}

/// Storage of the fields and values of a hash table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldForm {
    /// Two strings.
    Strings,
    /// A field with a header of its own (`mstr`), and a string.
    Mstr,
    /// One entry, counted by requested size; embeds the value up to 128 bytes.
    Entry {
        /// Size of a field expiry.
        expiry: u64,
    },
    /// One entry, counted by allocated size; embeds the value up to 128 bytes.
    RoundedEntry {
        /// Size of a field expiry.
        expiry: u64,
    },
}

/// Layout of sorted sets that are not packed.
#[derive(Debug, Clone, Copy)]
pub struct SkiplistLayout {
    /// Size of the structure that holds both table and skiplist.
    pub zset: u64,
    /// Size of the skiplist's structure.
    pub list: u64,
    /// Accounting of the skiplist's structure.
    pub list_count: Count,
    /// Size of the header node.
    pub header: u64,
    /// Layout of a node.
    pub node: NodeForm,
    /// True if only table slots, entries and nodes are counted (Redis 4.0).
    pub only_nodes: bool,
}

/// Layout of a skiplist node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeForm {
    /// `24 + 16 * level` bytes; the member is a separate allocation.
    Pointer,
    /// `16 + 16 * level` plus this many bytes, followed by the member.
    Inline(u64),
}

/// Layout of streams.
#[derive(Debug, Clone, Copy)]
pub struct StreamLayout {
    /// Name reported by `OBJECT ENCODING`.
    pub encoding: Encoding,
    /// Counted size of the stream's structure.
    pub stream: u64,
    /// Real size of the stream's structure.
    pub real_stream: u64,
    /// True if each pending id has a list of the groups in which it is pending (Redis 8.2 and 8.4).
    pub pending_lists: bool,
    /// Accounting of a listpack of entries.
    pub listpack: Count,
    /// Size of a group.
    pub group: u64,
    /// Size of a consumer.
    pub consumer: u64,
    /// Size of a pending entry.
    pub pending: u64,
    /// Accounting of radix trees.
    pub tree: TreeCount,
    /// Trees counted besides those of entries and pending entries.
    pub names: NamesCount,
}

/// Accounting of a radix tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeCount {
    /// By a formula that far overestimates: 16 bytes per key, 244 per node.
    Estimated,
    /// Allocated size of the structure, which has this size, and of each node.
    Measured(u64),
    /// Like `Measured`, less a leaf for each key (Redis 8.10): also for keys that are a prefix of others, which have a node but no
    /// leaf.
    Leafless(u64),
}

impl TreeCount {
    /// Returns the size of the structure of a tree.
    pub fn structure(self) -> u64 {
        match self {
            TreeCount::Estimated => 24,
            TreeCount::Measured(structure) | TreeCount::Leafless(structure) => structure,
        }
    }

    /// Returns whether each key has a leaf.
    pub fn has_leaves(self) -> bool {
        !matches!(self, TreeCount::Leafless(_))
    }
}

/// Trees of a stream counted besides those of entries and pending entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamesCount {
    /// None; consumer names count by length.
    Length,
    /// Group names, consumer names and all pending ids.
    Trees {
        /// True if each group also has a tree of pending entries by time (Redis 8.4).
        by_time: bool,
    },
}

/// Arithmetic of the sum over elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// In doubles: divided by the number of elements, multiplied again and truncated.
    Double,
    /// Exact integer sum.
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
