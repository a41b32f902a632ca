//! Where a value ends, and what it is made of: one walk for skipping and for measuring.
//!
//! A walk borrows everything and allocates nothing, so a lying count costs nothing. It fails only when the framing is
//! broken, and then nobody can tell where the next record begins. Blobs are handed over undecoded: what is wrong inside
//! one is found by the visitor that looks, and costs that one key. The layouts follow `rdbLoadObject` in the servers'
//! `rdb.c`.

mod collections;
pub mod command;
pub mod module;
mod stream;

use super::cursor::Cursor;
use super::string::RawString;
use super::value_type::ValueType;
use crate::error::{Error, ErrorKind, Result, Within};

/// A score of a sorted set, as stored.
#[derive(Debug, Clone, Copy)]
pub enum ScoreValue<'a> {
    /// In binary.
    Binary(f64),
    /// As text; the infinities and NaN as `inf`, `-inf`, `nan`.
    Text(&'a [u8]),
}

/// What a node of a quicklist holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListNode {
    /// A ziplist of elements.
    Ziplist,
    /// A listpack of elements.
    Listpack,
    /// One element, as it is.
    Plain,
}

/// When a field of a hash expires, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldExpiry(pub Option<i64>);

/// The counters of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamHead {
    /// Live entries.
    pub length: u64,
    /// Id of the first live entry, from layout 2 on.
    pub first_id: Option<(u64, u64)>,
    /// Id of the last entry ever.
    pub last_id: (u64, u64),
    /// Entries ever added, from layout 2 on.
    pub entries_added: Option<u64>,
    /// Greatest id that was deleted, from layout 2 on.
    pub max_deleted_id: Option<(u64, u64)>,
}

/// One of the numbers and strings that a module's value is made of.
#[derive(Debug, Clone, Copy)]
pub enum ModuleItem<'a> {
    /// Signed or unsigned, as a bit pattern.
    Integer(u64),
    /// Single precision, as its bytes.
    Float([u8; 4]),
    /// Double precision, as its bytes.
    Double([u8; 8]),
    /// A string.
    String(RawString<'a>),
}

/// Sees what a value is made of, in file order. Every method does nothing unless a visitor says otherwise.
#[allow(unused_variables)]
pub trait Visit {
    /// A value of this layout begins.
    #[inline]
    fn begin(&mut self, value_type: ValueType) {}
    /// The whole value is this string.
    #[inline]
    fn string(&mut self, value: RawString<'_>) {}
    /// So many elements (pairs, nodes) follow.
    #[inline]
    fn count(&mut self, count: u64) {}
    /// Whether lengths are all that is wanted of the elements that follow. Once it says so it stays so until the value ends,
    /// and elements, pairs and members come by [`Visit::element_len`], [`Visit::pair_len`] and [`Visit::scored_len`].
    #[inline]
    fn lengths_suffice(&self) -> bool {
        false
    }
    /// A member of a set of which the length suffices.
    #[inline]
    fn element_len(&mut self, len: u64) {}
    /// A pair of a hash of which the lengths suffice.
    #[inline]
    fn pair_len(&mut self, field: u64, value: u64) {}
    /// A member of a sorted set of which the length suffices.
    #[inline]
    fn scored_len(&mut self, member: u64) {}
    /// An element of a list or a member of a set.
    #[inline]
    fn element(&mut self, element: RawString<'_>) {}
    /// A member of a sorted set.
    #[inline]
    fn scored(&mut self, member: RawString<'_>, score: ScoreValue<'_>) {}
    /// A pair of a hash.
    #[inline]
    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {}
    /// A pair of a hash in a layout that carries expiries.
    #[inline]
    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, expiry: FieldExpiry) {}
    /// The whole value is packed in this blob (ziplist, listpack, intset, zipmap: the layout says which).
    #[inline]
    fn blob(&mut self, blob: RawString<'_>) {}
    /// A node of a list.
    #[inline]
    fn node(&mut self, node: ListNode, blob: RawString<'_>) {}
    /// A listpack of stream entries.
    #[inline]
    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {}
    /// The counters of a stream.
    #[inline]
    fn stream_head(&mut self, head: StreamHead) {}
    /// So many consumer groups follow.
    #[inline]
    fn groups(&mut self, count: u64) {}
    /// A consumer group with so many pending entries, which follow.
    #[inline]
    fn group(&mut self, name: RawString<'_>, last_id: (u64, u64), entries_read: Option<u64>, pending: u64) {}
    /// A pending entry of the group.
    #[inline]
    fn pending(&mut self, id: &[u8; 16], delivered_at: i64, deliveries: u64) {}
    /// A consumer of the group with so many pending entries, whose ids follow.
    #[inline]
    fn consumer(&mut self, name: RawString<'_>, seen_at: i64, active_at: Option<i64>, pending: u64) {}
    /// A pending entry of the consumer.
    #[inline]
    fn consumer_pending(&mut self, id: &[u8; 16]) {}
    /// An entry of the group that was given back.
    #[inline]
    fn nacked(&mut self, id: &[u8; 16]) {}
    /// A producer that gave so many idempotency ids, which follow.
    #[inline]
    fn producer(&mut self, name: RawString<'_>, ids: u64) {}
    /// An idempotency id and the entry that it stands for.
    #[inline]
    fn idempotency(&mut self, id: RawString<'_>, entry: (u64, u64)) {}
    /// A module's value begins.
    #[inline]
    fn module(&mut self, id: u64) {}
    /// A part of a module's value.
    #[inline]
    fn module_item(&mut self, item: ModuleItem<'_>) {}
    /// A slot of an array that is in use: its index and the text or number in it.
    #[inline]
    fn array_item(&mut self, index: u64, item: ModuleItem<'_>) {}
}

/// Looks at nothing: walking with it is skipping.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ignore;

impl Visit for Ignore {
    #[inline]
    fn lengths_suffice(&self) -> bool {
        true
    }
}

/// Walks a value of the given layout, leaving `input` at the byte after it.
#[inline(always)]
pub fn walk<V: Visit>(value_type: ValueType, input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    if value_type == ValueType::String {
        visit.begin(value_type);
        visit.string(input.string().within("string value")?);
        return Ok(());
    }
    walk_other(value_type, input, visit)
}

/// The value of a layout begins.
#[inline(always)]
fn begin<V: Visit>(value_type: ValueType, visit: &mut V) -> &mut V {
    visit.begin(value_type);
    visit
}

/// Walks a value that is a single blob.
#[inline(always)]
fn walk_blob<V: Visit>(value_type: ValueType, input: &mut Cursor<'_>, visit: &mut V, noun: &'static str) -> Result<()> {
    begin(value_type, visit).blob(input.string().within(noun)?);
    Ok(())
}

/// One branch by layout and no other: each has all of its own code, where the layout is known. Keys of all types come mixed,
/// so every further branch would be one that the processor cannot foresee.
#[inline(never)]
fn walk_other<V: Visit>(layout: ValueType, input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    use collections as c;
    match layout {
        ValueType::String => begin(layout, visit).string(input.string().within("string value")?),
        ValueType::HashZipmap => walk_blob(ValueType::HashZipmap, input, visit, "zipmap")?,
        ValueType::ListZiplist => walk_blob(ValueType::ListZiplist, input, visit, "ziplist")?,
        ValueType::ZsetZiplist => walk_blob(ValueType::ZsetZiplist, input, visit, "ziplist")?,
        ValueType::HashZiplist => walk_blob(ValueType::HashZiplist, input, visit, "ziplist")?,
        ValueType::SetIntset => walk_blob(ValueType::SetIntset, input, visit, "intset")?,
        ValueType::HashListpack => walk_blob(ValueType::HashListpack, input, visit, "listpack")?,
        ValueType::ZsetListpack => walk_blob(ValueType::ZsetListpack, input, visit, "listpack")?,
        ValueType::SetListpack => walk_blob(ValueType::SetListpack, input, visit, "listpack")?,
        ValueType::HashListpackExPreGa => walk_blob(ValueType::HashListpackExPreGa, input, visit, "listpack")?,
        ValueType::HashListpackEx => {
            input.i64_le().within("earliest field expiry")?;
            walk_blob(ValueType::HashListpackEx, input, visit, "listpack")?;
        }
        ValueType::List => c::walk_elements(input, begin(layout, visit), "list element")?,
        ValueType::Set => c::walk_elements(input, begin(layout, visit), "set member")?,
        ValueType::Zset => c::walk_zset_text(input, begin(layout, visit))?,
        ValueType::Zset2 => c::walk_zset_binary(input, begin(layout, visit))?,
        ValueType::Hash => c::walk_hash(input, begin(layout, visit))?,
        ValueType::ListQuicklist => c::walk_quicklist(input, begin(layout, visit))?,
        ValueType::ListQuicklist2 => c::walk_quicklist_2(input, begin(layout, visit))?,
        ValueType::HashMetadataPreGa => {
            c::walk_hash_metadata(input, begin(layout, visit), c::FieldTimes::Absolute)?;
        }
        ValueType::HashMetadata => {
            c::walk_hash_metadata(input, begin(layout, visit), c::FieldTimes::SinceEarliest)?;
        }
        ValueType::Hash2 => c::walk_hash_2(input, begin(layout, visit))?,
        ValueType::Array => c::walk_array(input, begin(layout, visit))?,
        ValueType::KeydbCron => c::walk_cron(input, begin(layout, visit))?,
        ValueType::Stream(version) => stream::walk_stream(input, begin(layout, visit), version)?,
        ValueType::Module2 => module::walk_module(input, begin(layout, visit))?,
        ValueType::ModulePreGa => {
            let kind = ErrorKind::Unsupported("a module value of a Redis 4.0 release candidate".to_owned());
            return Err(Error::at(input.offset(), kind).with_hint("its end cannot be found without the module"));
        }
    }
    Ok(())
}
