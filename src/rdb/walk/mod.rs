//! Walks values to find their end and report their parts, for skipping and measuring alike.
//!
//! A walk borrows everything and allocates nothing, so a false count costs nothing. It fails only if the framing is
//! broken, which also loses the start of the next record. Blobs are passed on undecoded: damage inside one is found by a
//! visitor that decodes it, and costs only that key. The layouts follow `rdbLoadObject` in `rdb.c`.

mod collections;
pub mod command;
mod dragonfly;
pub mod module;
mod plain;
mod stream;
mod template;

pub(crate) use plain::PlainValue;

use super::cursor::Cursor;
use super::string::RawString;
use super::template::{HashTemplate, TemplateNames, Templates};
use super::value_type::ValueType;
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::wording::wording;

/// Score of a sorted set member, as stored.
#[derive(Debug, Clone, Copy)]
pub enum ScoreValue<'a> {
    /// Binary double.
    Binary(f64),
    /// Decimal text, or `inf`, `-inf`, `nan`.
    Text(&'a [u8]),
}

/// Content type of a quicklist node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListNode {
    /// A ziplist of elements.
    Ziplist,
    /// A listpack of elements.
    Listpack,
    /// A single plain element.
    Plain,
}

/// Expiry of a hash field in milliseconds, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldExpiry(pub Option<i64>);

/// Counters and ids of a stream, stored after its entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamHead {
    /// Live entries.
    pub length: u64,
    /// Id of the first live entry, from layout 2 on.
    pub first_id: Option<(u64, u64)>,
    /// Id of the last entry ever added.
    pub last_id: (u64, u64),
    /// Number of entries ever added, from layout 2 on.
    pub entries_added: Option<u64>,
    /// Greatest deleted id, from layout 2 on.
    pub max_deleted_id: Option<(u64, u64)>,
}

/// Number or string in the value of a module or array.
#[derive(Debug, Clone, Copy)]
pub enum ModuleItem<'a> {
    /// Signed or unsigned integer, as its bit pattern.
    Integer(u64),
    /// Single-precision float, as its bytes.
    Float([u8; 4]),
    /// Double, as its bytes.
    Double([u8; 8]),
    /// A string.
    String(RawString<'a>),
}

/// Visitor of the parts of a value, called in file order. All methods default to doing nothing.
#[allow(unused_variables, reason = "default methods ignore their arguments")]
pub trait Visit {
    /// Called at the start of a value.
    #[inline]
    fn begin(&mut self, value_type: ValueType) {}
    /// Called for the value of a string key.
    #[inline]
    fn string(&mut self, value: RawString<'_>) {}
    /// Called with the number of elements, pairs or nodes that follow.
    #[inline]
    fn count(&mut self, count: u64) {}
    /// Returns whether the visitor needs only the lengths of the remaining elements.
    ///
    /// Once true it must stay true until the value ends. The walk then skips contents and calls [`Visit::element_len`],
    /// [`Visit::pair_len`] and [`Visit::scored_len`].
    #[inline]
    fn lengths_suffice(&self) -> bool {
        false
    }
    /// Called for a list element or set member if lengths suffice.
    #[inline]
    fn element_len(&mut self, len: u64) {}
    /// Called for a hash pair if lengths suffice.
    #[inline]
    fn pair_len(&mut self, field: u64, value: u64) {}
    /// Called for a sorted set member if lengths suffice.
    #[inline]
    fn scored_len(&mut self, member: u64) {}
    /// Called for a list element or set member.
    #[inline]
    fn element(&mut self, element: RawString<'_>) {}
    /// Called for a sorted set member.
    #[inline]
    fn scored(&mut self, member: RawString<'_>, score: ScoreValue<'_>) {}
    /// Called for a hash pair.
    #[inline]
    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {}
    /// Called for a hash pair in a layout with field expiries.
    #[inline]
    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, expiry: FieldExpiry) {}
    /// Called with the earliest field expiry of a hash whose others are relative to it, and its place.
    #[inline]
    fn earliest_expiry(&mut self, time: i64, offset: u64) {}
    /// Called for a value packed in one blob: ziplist, listpack, intset or zipmap, depending on the layout.
    #[inline]
    fn blob(&mut self, blob: RawString<'_>) {}
    /// Called for a compact hash that refers to a template of the file, before its pairs.
    #[inline]
    fn template(&mut self, template: &HashTemplate) {}
    /// Called for a compact hash packed in one listpack: a template id, then the values.
    #[inline]
    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {}
    /// Called for a quicklist node.
    #[inline]
    fn node(&mut self, node: ListNode, blob: RawString<'_>) {}
    /// Called for a listpack of stream entries.
    #[inline]
    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {}
    /// Called with the counters of a stream, after its entries.
    #[inline]
    fn stream_head(&mut self, head: StreamHead) {}
    /// Called with the number of consumer groups that follow.
    #[inline]
    fn groups(&mut self, count: u64) {}
    /// Called for a consumer group with the number of its pending entries, which follow.
    #[inline]
    fn group(&mut self, name: RawString<'_>, last_id: (u64, u64), entries_read: Option<u64>, pending: u64) {}
    /// Called for a pending entry of the group.
    #[inline]
    fn pending(&mut self, id: &[u8; 16], delivered_at: i64, deliveries: u64) {}
    /// Called for a consumer of the group with the number of its pending entries, whose ids follow.
    #[inline]
    fn consumer(&mut self, name: RawString<'_>, seen_at: i64, active_at: Option<i64>, pending: u64) {}
    /// Called for a pending entry of the consumer.
    #[inline]
    fn consumer_pending(&mut self, id: &[u8; 16]) {}
    /// Called for an entry returned to the group.
    #[inline]
    fn nacked(&mut self, id: &[u8; 16]) {}
    /// Called with how long, in seconds, and how many idempotency ids a producer keeps.
    #[inline]
    fn idempotency_limits(&mut self, duration: u64, ids: u64) {}
    /// Called for a producer with the number of its idempotency ids, which follow.
    #[inline]
    fn producer(&mut self, name: RawString<'_>, ids: u64) {}
    /// Called for an idempotency id and the entry it belongs to.
    #[inline]
    fn idempotency(&mut self, id: RawString<'_>, entry: (u64, u64)) {}
    /// Called at the start of a module's value.
    #[inline]
    fn module(&mut self, id: u64) {}
    /// Called with the tag of an item of a module's value and its place, before the item; 0 ends the value.
    #[inline]
    fn module_tag(&mut self, tag: u64, offset: u64) {}
    /// Called for a part of a module's value.
    #[inline]
    fn module_item(&mut self, item: ModuleItem<'_>) {}
    /// Called for the string in a slot of an array that is marked as small, before the slot.
    #[inline]
    fn small_text(&mut self, text: RawString<'_>) {}
    /// Called for an occupied slot of an array.
    #[inline]
    fn array_item(&mut self, index: u64, item: ModuleItem<'_>) {}
}

/// Visitor that ignores everything; walking with it skips a value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ignore;

impl Visit for Ignore {
    #[inline]
    fn lengths_suffice(&self) -> bool {
        true
    }
}

/// Walks a value of the given layout, leaving `input` at the byte after it. `templates` are those of the file.
#[inline(always)]
pub fn walk<V: Visit + ?Sized>(
    value_type: ValueType,
    templates: &Templates,
    input: &mut Cursor<'_>,
    visit: &mut V,
) -> Result<()> {
    if value_type == ValueType::String {
        visit.begin(value_type);
        visit.string(input.string().within(Reading::StringValue)?);
        return Ok(());
    }
    walk_other(value_type, templates, input, visit)
}

/// Walks a value like [`walk`], by the same code for all visitors: for those of few or single values. Code of its own takes 25 kB for
/// each visitor.
pub fn walk_seldom(
    value_type: ValueType,
    templates: &Templates,
    input: &mut Cursor<'_>,
    visit: &mut dyn Visit,
) -> Result<()> {
    walk(value_type, templates, input, visit)
}

/// Reports the start of a value and returns the visitor.
#[inline(always)]
fn begin<V: Visit + ?Sized>(value_type: ValueType, visit: &mut V) -> &mut V {
    visit.begin(value_type);
    visit
}

/// Walks a value that is a single blob.
#[inline(always)]
fn walk_blob<V: Visit + ?Sized>(
    value_type: ValueType,
    input: &mut Cursor<'_>,
    visit: &mut V,
    reading: Reading,
) -> Result<()> {
    begin(value_type, visit).blob(input.string().within(reading)?);
    Ok(())
}

/// Walks a value that is not a string.
///
/// The layout is dispatched once, and each arm inlines its visitor calls with a constant layout. Types come in random
/// order, so each further branch on the layout would mispredict.
#[inline(never)]
fn walk_other<V: Visit + ?Sized>(
    layout: ValueType,
    templates: &Templates,
    input: &mut Cursor<'_>,
    visit: &mut V,
) -> Result<()> {
    use collections as c;
    match layout {
        ValueType::String => begin(layout, visit).string(input.string().within(Reading::StringValue)?),
        ValueType::HashZipmap => walk_blob(ValueType::HashZipmap, input, visit, Reading::Zipmap)?,
        ValueType::ListZiplist => walk_blob(ValueType::ListZiplist, input, visit, Reading::Ziplist)?,
        ValueType::ZsetZiplist => walk_blob(ValueType::ZsetZiplist, input, visit, Reading::Ziplist)?,
        ValueType::HashZiplist => walk_blob(ValueType::HashZiplist, input, visit, Reading::Ziplist)?,
        ValueType::SetIntset => walk_blob(ValueType::SetIntset, input, visit, Reading::Intset)?,
        ValueType::HashListpack => walk_blob(ValueType::HashListpack, input, visit, Reading::Listpack)?,
        ValueType::ZsetListpack => walk_blob(ValueType::ZsetListpack, input, visit, Reading::Listpack)?,
        ValueType::SetListpack => walk_blob(ValueType::SetListpack, input, visit, Reading::Listpack)?,
        ValueType::HashListpackExPreGa => walk_blob(ValueType::HashListpackExPreGa, input, visit, Reading::Listpack)?,
        ValueType::HashListpackEx => {
            input.i64_le().within(Reading::EarliestFieldExpiry)?;
            walk_blob(ValueType::HashListpackEx, input, visit, Reading::Listpack)?;
        }
        ValueType::List => c::walk_elements(input, begin(layout, visit), Reading::ListElement)?,
        ValueType::Set => c::walk_elements(input, begin(layout, visit), Reading::SetMember)?,
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
        ValueType::HashTemplateListpackRef
        | ValueType::HashTemplateListpack
        | ValueType::HashTemplateArrayRef
        | ValueType::HashTemplateArray
            if templates.are_foreign() =>
        {
            return Err(template::foreign(layout, input.offset()));
        }
        ValueType::HashTemplateListpackRef => {
            let blob = input.string().within(Reading::Listpack)?;
            begin(layout, visit).template_blob(TemplateNames::Shared(templates), blob);
        }
        ValueType::HashTemplateListpack => template::walk_packed(input, begin(layout, visit))?,
        ValueType::HashTemplateArrayRef => template::walk_shared(templates, input, begin(layout, visit))?,
        ValueType::HashTemplateArray => template::walk_own(input, begin(layout, visit))?,
        ValueType::Array => c::walk_array(input, begin(layout, visit))?,
        ValueType::KeydbCron => c::walk_cron(input, begin(layout, visit))?,
        ValueType::DragonflyHash => dragonfly::walk_hash(input, begin(layout, visit))?,
        ValueType::DragonflySet => dragonfly::walk_set(input, begin(layout, visit))?,
        ValueType::DragonflyModule(module) => dragonfly::walk_module(module, input, begin(layout, visit))?,
        ValueType::Stream(version) => stream::walk_stream(input, begin(layout, visit), version)?,
        ValueType::Module2 => module::walk_module(input, begin(layout, visit))?,
        ValueType::ModulePreGa => {
            let kind = ErrorKind::Unsupported(wording!(
                "module value of a Redis 4.0 release candidate",
                "Redis 4.0 候选版本的模块类型 value"
            ));
            return Err(Error::at(input.offset(), kind)
                .with_remedy(wording!("its end cannot be found without the module", "没有该模块就无法确定其结尾")));
        }
    }
    Ok(())
}
