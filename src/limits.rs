//! Limits on resources that a file can claim, each with its reason.

mod budget;

pub use budget::Budget;

/// Maximum expansion ratio of a valid LZF block: its longest copy turns 3 bytes into 264.
pub const LZF_MAX_RATIO: u64 = 88;

/// Maximum key length: Redis allows 512 MiB, and a key has to be decoded whole.
pub const MAX_KEY_BYTES: u64 = 512 << 20;

/// Maximum size of an auxiliary field that is decoded for the report; longer ones (scripts) are skipped.
pub const MAX_AUX_BYTES: u64 = 64 << 10;

/// Maximum number of auxiliary fields in a report.
pub const MAX_AUX_FIELDS: usize = 256;

/// Maximum memory of all hash templates of a file, which stay there while it is read.
pub const MAX_TEMPLATE_BYTES: usize = 64 << 20;

/// Maximum number of sets of field names that are told apart for compact hashes, over all files; hashes with others are priced
/// as if they shared nothing.
pub const MAX_FIELD_SETS: usize = 1 << 18;

/// Maximum number of field names that a report shows of a hash template.
pub const MAX_FIELD_NAMES: usize = 16;

/// Maximum length of a field name in a report.
pub const MAX_FIELD_NAME_LEN: usize = 256;

/// Number of templates used by too few keys above which servers stop making templates while they load a file, if these are
/// also more than half of all.
pub const MAX_RARE_TEMPLATES: u64 = 1000;

/// Maximum decompressed size of a block in a snapshot of Dragonfly, which compresses at most 1 MiB at a time.
pub const MAX_BLOCK_BYTES: usize = 64 << 20;

/// Maximum size of all values of a Dragonfly snapshot of which not all chunks have arrived: they are held in memory.
pub const MAX_CHUNKED_BYTES: usize = 1 << 30;

/// Maximum number of key metadata classes, as in the servers.
pub const MAX_KEY_META_CLASSES: u64 = 7;

/// Maximum key length shown in lists of the largest keys; Redis allows 512 MiB.
pub const MAX_NAME_LEN: usize = 64 << 10;

/// Maximum number of damaged values listed individually; the rest is counted.
pub const MAX_NAMED_ERRORS: usize = 10;

/// Size of a batch: large enough to make scheduling negligible, small enough to keep all workers busy.
pub const BATCH_BYTES: usize = 4 << 20;

/// Capacity asked for a pipe on standard input: what Linux allows every user.
#[cfg(target_os = "linux")]
pub const PIPE_BYTES: usize = 1 << 20;

/// Maximum number of keys in a batch: a worker's output (rows, patterns) grows with keys, not with bytes.
pub const BATCH_KEYS: usize = 16 << 10;

/// Total size of all workers' aggregates at which a worker hands over its own. Without it, keys that hardly repeat would
/// build one large tree per thread.
pub const AGGREGATE_BYTES: usize = 128 << 20;

/// Maximum number of what-if alternatives in one run; each takes as much time as the base model.
pub const MAX_ALTERNATIVES: usize = 8;

/// Initial capacity of a decompression buffer at most; beyond it the buffer grows with the bytes actually produced.
pub const EXPAND_AT_ONCE: usize = 1 << 20;

/// Maximum decompressed size of a blob, whatever size it declares.
pub const MAX_BLOB_BYTES: u64 = 4 << 30;

/// Maximum decompressed size of a part of a value that `salvage` verifies; larger parts are taken as they are.
pub const MAX_UNASKED_PART: u64 = 64 << 20;

/// Step of a reader through a mapped file: checksummed first, these bytes stay in the L2 cache until they are parsed.
pub const QUANTUM_BYTES: usize = 256 << 10;

/// Bytes of a mapped file released at a time after reading. Smaller steps cost more, because each release interrupts all
/// other processors (TLB shootdown).
pub const GIVEN_BACK: usize = 8 << 20;

/// Length of the ranges of a mapped file that a second pass hands to a thread.
pub const DEFERRED_BYTES: u64 = 16 << 20;

/// Minimum size of both halves when a chunk of a mapped file is divided among two readers.
pub const MIN_CHUNK: usize = 4 << 20;

/// Heap bytes of the aggregates of all unconfirmed chunks: beyond this, fewer threads read a file.
pub const CHUNKS_BYTES: usize = 192 << 20;

/// Window of a search for a boundary that divides a chunk; between windows the search may be cancelled.
pub const SEARCH_WINDOW: usize = 256 << 10;

/// Maximum number of windows per search, 64 MiB in all; a collection of millions of elements can take that much.
pub const MAX_WINDOWS: usize = 256;

/// Maximum number of keys whose hashes `check` keeps in memory, 256 MiB, to find those that occur twice; others are on disk.
pub const MAX_PLACED_KEYS: usize = 16 << 20;

/// Maximum number of damaged places after which salvage gives up on the rest of a file.
pub const MAX_GAPS: usize = 1 << 16;

/// Maximum number of sound ranges that salvage keeps: one per database switch, damaged place or batch.
pub const MAX_STRETCHES: usize = 1 << 20;

/// Number of keys whose hashes are in memory at a time when salvage looks for duplicates.
pub const HASHED_KEYS: u64 = 16 << 20;

/// Maximum size of the content of a partial report: a report of millions of patterns whose samples are all full stays below it.
pub const MAX_PARTIAL_BYTES: u64 = 1 << 30;

/// Maximum size of a stored report: one of which every list has ten thousand rows with long names stays below it.
pub const MAX_REPORT_BYTES: u64 = 1 << 30;

/// Maximum size of a policy, a key and other files written by hand.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Maximum number of objects in the list of a prefix in an object store.
#[cfg(feature = "remote")]
pub const MAX_LISTED: usize = 1_000_000;

/// Maximum number of pages of such a list, most of which have a thousand objects.
#[cfg(feature = "remote")]
pub const MAX_LIST_PAGES: usize = 100_000;

/// Maximum length of the name of a damaged key that salvage lists.
pub const MAX_GAP_NAME: u64 = 1 << 10;
