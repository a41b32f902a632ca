//! Walks of Dragonfly's own types (`rdb_save.cc` of Dragonfly): members and fields with expiries, JSON, sketches.

use super::{FieldExpiry, ModuleItem, Visit};
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::rdb::string::{RawString, StringForm};
use crate::rdb::value_type::DragonflyModule;
use crate::wording::wording;

/// Unix time in seconds from which expiries of fields and members count (`kMemberExpiryBase`).
const EXPIRY_BASE: i64 = 1_675_209_600;

/// Converts the stored expiry of a field or member, the text of a number of seconds; -1 means none.
fn expiry(seconds: RawString<'_>) -> Option<i64> {
    let seconds = match seconds.form {
        StringForm::Int(seconds) => i64::from(seconds),
        StringForm::Plain(text) => std::str::from_utf8(text).ok()?.parse().ok()?,
        StringForm::Lzf { .. } => return None,
    };
    (seconds >= 0).then(|| seconds.saturating_add(EXPIRY_BASE).saturating_mul(1000))
}

/// Walks a hash: `n, (field, value, expiry)[n]`.
pub fn walk_hash<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let pairs = input.count(3).within(Reading::HashSize)?;
    visit.count(pairs);
    for _ in 0..pairs {
        let field = input.string().within(Reading::HashField)?;
        let value = input.string().within(Reading::HashValue)?;
        let expires_at = expiry(input.string().within(Reading::FieldExpiry)?);
        visit.expiring_pair(field, value, FieldExpiry(expires_at));
    }
    Ok(())
}

/// Walks a set: `n, (member, expiry)[n]`.
pub fn walk_set<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let members = input.count(2).within(Reading::NumberOfElements)?;
    visit.count(members);
    for _ in 0..members {
        let member = input.string().within(Reading::SetMember)?;
        input.string().within(Reading::FieldExpiry)?;
        if visit.lengths_suffice() { visit.element_len(member.len()) } else { visit.element(member) }
    }
    Ok(())
}

/// Walks a value of a type that is a module's elsewhere, as items of such a module.
pub fn walk_module<V: Visit + ?Sized>(module: DragonflyModule, input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    visit.module(module.id());
    match module {
        DragonflyModule::Json => string(input, visit),
        DragonflyModule::Bloom | DragonflyModule::ChunkedBloom => walk_bloom(module, input, visit),
        DragonflyModule::CountMin => {
            let (width, depth) = (number(input, visit)?, number(input, visit)?);
            number(input, visit)?;
            let bytes = width.checked_mul(depth).and_then(|counters| counters.checked_mul(8));
            raw(input, visit, bytes.unwrap_or(u64::MAX))
        }
        DragonflyModule::TopK => {
            numbers(4, input, visit)?;
            double(input, visit)?;
            for _ in 0..input.count(2).within(Reading::Sketch)? {
                string(input, visit)?;
                number(input, visit)?;
            }
            string(input, visit)
        }
        DragonflyModule::Cuckoo => {
            numbers(6, input, visit)?;
            for _ in 0..input.count(1).within(Reading::Sketch)? {
                walk_chunks(input, visit)?;
            }
            Ok(())
        }
    }
}

fn walk_bloom<V: Visit + ?Sized>(module: DragonflyModule, input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    number(input, visit)?;
    double(input, visit)?;
    double(input, visit)?;
    numbers(3, input, visit)?;
    for _ in 0..input.count(2).within(Reading::Sketch)? {
        number(input, visit)?;
        match module {
            DragonflyModule::ChunkedBloom => walk_chunks(input, visit)?,
            _ => string(input, visit)?,
        }
    }
    Ok(())
}

/// Walks one filter: `total, (n, bytes[n])` until the chunks add up to the total.
fn walk_chunks<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let mut left = input.length().within(Reading::Sketch)?;
    while left > 0 {
        let offset = input.offset();
        let chunk = input.length().within(Reading::Sketch)?;
        left = match left.checked_sub(chunk).filter(|_| chunk > 0) {
            Some(left) => left,
            None => return Err(wrong_chunk(offset, chunk, left)),
        };
        raw(input, visit, chunk)?;
    }
    Ok(())
}

/// Returns the error for a chunk that is empty or longer than what is left of its filter.
#[cold]
pub fn wrong_chunk(offset: u64, chunk: u64, left: u64) -> Error {
    Error::corrupt(
        offset,
        wording!(
            "chunk of {chunk} bytes in a filter with {left} left",
            "过滤器剩余 {left} 字节，分块却为 {chunk} 字节"
        ),
    )
}

fn numbers<V: Visit + ?Sized>(count: u32, input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    for _ in 0..count {
        number(input, visit)?;
    }
    Ok(())
}

fn number<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<u64> {
    let number = input.number().within(Reading::Sketch)?;
    visit.module_item(ModuleItem::Integer(number));
    Ok(number)
}

fn double<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    visit.module_item(ModuleItem::Double(*input.array().within(Reading::Sketch)?));
    Ok(())
}

fn string<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    visit.module_item(ModuleItem::String(input.string().within(Reading::Sketch)?));
    Ok(())
}

fn raw<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V, bytes: u64) -> Result<()> {
    let offset = input.offset();
    let bytes = input.take(bytes).within(Reading::Sketch)?;
    visit.module_item(ModuleItem::String(RawString { offset, form: StringForm::Plain(bytes) }));
    Ok(())
}
