//! Every cap on what a file may ask of us, each with its reason.

/// No valid LZF block expands more: its longest copy makes 264 bytes of 3.
pub const LZF_MAX_RATIO: u64 = 88;

/// A key longer than this is refused: Redis takes at most 512 MiB, and a key has to be decoded whole.
pub const MAX_KEY_BYTES: u64 = 512 << 20;

/// Auxiliary fields are decoded for the report; longer values (scripts) are passed over.
pub const MAX_AUX_BYTES: u64 = 64 << 10;

/// Auxiliary fields that a report keeps.
pub const MAX_AUX_FIELDS: usize = 256;

/// Attached key-metadata classes, by the servers' own limit.
pub const MAX_KEY_META_CLASSES: u64 = 7;

/// Lists of the heaviest keys show names up to this length; Redis takes half a gigabyte.
pub const LONGEST_NAME: usize = 64 << 10;

/// Damaged values that are named one by one; the rest is counted.
pub const MAX_NAMED_ERRORS: usize = 10;

/// Work handed to one worker at a time: big enough that handing over costs nothing, small enough to keep all busy.
pub const BATCH_BYTES: usize = 4 << 20;

/// Keys in such a piece of work: what a worker makes of a batch (rows, patterns) grows with them, not with the bytes.
pub const BATCH_KEYS: usize = 16 << 10;

/// What the aggregates of all workers may grow to before one hands over what it has: aggregates of many threads over
/// names that hardly repeat would be as many trees of the same size.
pub const AGGREGATE_BYTES: usize = 128 << 20;

/// Alternatives that one run is priced for: each costs as much time as the first model.
pub const MAX_ALTERNATIVES: usize = 8;

/// A buffer for expanding is allocated at once up to this, and then grows with what is really made.
pub const EXPAND_AT_ONCE: usize = 1 << 20;

/// The distance between a claim and the bytes behind it: a blob is expanded whole only up to this size.
pub const MAX_BLOB_BYTES: u64 = 4 << 30;

/// Bytes of a mapped file that a reader goes on by: summed up first, they stay in the processor's second cache until they are read.
pub const QUANTUM_BYTES: usize = 256 << 10;

/// Bytes of a mapped file that are given back at a time once they were read. In smaller parts it takes longer, since every other
/// processor has to be told.
pub const GIVEN_BACK: usize = 8 << 20;

/// Length of the ranges of a mapped file that a second pass hands to a thread.
pub const DEFERRED_BYTES: u64 = 16 << 20;

/// Minimum size of both halves when a chunk of a mapped file is divided among two readers.
pub const LEAST_CHUNK: usize = 4 << 20;

/// Heap bytes of the aggregates of all unconfirmed chunks: beyond this, fewer threads read a file.
pub const CHUNKS_BYTES: usize = 192 << 20;

/// Window of a search for a boundary that divides a chunk; between windows the search may be cancelled.
pub const SEARCH_WINDOW: usize = 256 << 10;

/// Windows of one search: 64 MiB. Tables of millions of elements take as much.
pub const MOST_WINDOWS: usize = 256;
