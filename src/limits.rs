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

/// Damaged values that are named one by one; the rest is counted.
pub const MAX_NAMED_ERRORS: usize = 10;

/// Work handed to one worker at a time: big enough that handing over costs nothing, small enough to keep all busy.
pub const BATCH_BYTES: usize = 4 << 20;

/// What the aggregates of all workers may grow to before one hands over what it has: aggregates of many threads over
/// names that hardly repeat would be as many trees of the same size.
pub const AGGREGATE_BYTES: usize = 64 << 20;

/// A window grows in memory up to this; a larger record overflows into a temporary file.
pub const WINDOW_BYTES: usize = 64 << 20;

/// The distance between a claim and the bytes behind it: a blob is expanded whole only up to this size.
pub const MAX_BLOB_BYTES: u64 = 4 << 30;
