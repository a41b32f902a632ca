//! Walks of compact hashes, whose field names are stored apart from their values: see [`template`].

use super::Visit;
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::rdb::string::RawString;
use crate::rdb::template::{self, HashTemplate, TemplateNames, Templates};
use crate::rdb::value_type::ValueType;
use crate::wording::wording;

/// Field names stored with a hash: one string each.
const PLAIN_NAMES: u64 = 1;
/// Field names stored with a hash: all in one listpack.
const PACKED_NAMES: u64 = 0;

/// Walks `id, value[n]`, where `n` is the number of fields of the template.
pub fn walk_shared<V: Visit + ?Sized>(templates: &Templates, input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let offset = input.offset();
    let id = input.length().within(Reading::TemplateId)?;
    let template = templates.get(id, offset).within(Reading::TemplateId)?;
    visit.template(template);
    visit.count(template.len() as u64);
    let mut fields = template.fields();
    while !visit.lengths_suffice() {
        let Some(field) = fields.next() else { return Ok(()) };
        visit.pair(RawString::plain(field), input.string().within(Reading::HashValue)?);
    }
    for field in fields {
        visit.pair_len(field.len() as u64, input.string_len().within(Reading::HashValue)?);
    }
    Ok(())
}

/// Walks `names, listpack`.
pub fn walk_packed<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let names = match names_form(input)? {
        PACKED_NAMES => HashTemplate::of_listpack(input.string().within(Reading::TemplateFields)?)
            .within(Reading::TemplateFields)?,
        _ => HashTemplate::read_names(input)?,
    };
    visit.template_blob(TemplateNames::Own(&names), input.string().within(Reading::Listpack)?);
    Ok(())
}

/// Walks `names, value[n]`.
pub fn walk_own<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    if names_form(input)? == PACKED_NAMES {
        let blob = input.string().within(Reading::TemplateFields)?;
        let names = HashTemplate::of_listpack(blob).within(Reading::TemplateFields)?;
        visit.count(names.len() as u64);
        for field in names.fields() {
            // A name is reported where the listpack is.
            visit.pair(RawString::unpacked(field, blob.offset), input.string().within(Reading::HashValue)?);
        }
        return Ok(());
    }
    let count = template::count(input)?;
    visit.count(count);
    let mut names = input.clone();
    for _ in 0..count {
        input.string_len().within(Reading::HashField)?;
    }
    for _ in 0..count {
        let field = names.string().within(Reading::HashField)?;
        visit.pair(field, input.string().within(Reading::HashValue)?);
    }
    Ok(())
}

/// Returns the error for a compact hash in a file of a version that has none, at `offset`, where the value begins.
#[cold]
pub fn foreign(layout: ValueType, offset: u64) -> Error {
    let byte = match layout {
        ValueType::HashTemplateListpack => 29,
        ValueType::HashTemplateListpackRef => 30,
        ValueType::HashTemplateArray => 31,
        _ => 32,
    };
    Error::unsupported(
        offset,
        wording!(
            "value type {byte} in a file of this version is not one of Redis, and is not supported",
            "此版本的文件中类型 {byte} 不属于 Redis，不支持"
        ),
    )
    .with_remedy(wording!(
        "Dragonfly wrote it, or the bytes before it are damaged: let a Redis server write the dump",
        "由 Dragonfly 写入，或前面的字节已损坏：请用 Redis 服务器生成快照"
    ))
}

fn names_form(input: &mut Cursor<'_>) -> Result<u64> {
    let offset = input.offset();
    match input.length().within(Reading::TemplateForm)? {
        form @ (PACKED_NAMES | PLAIN_NAMES) => Ok(form),
        other => {
            Err(Error::corrupt(offset, wording!("unknown form {other} of field names", "未知的字段名形式 {other}")))
        }
    }
}
