//! Module data: a flat, zero-terminated sequence of tagged numbers and strings, which can be skipped without the module
//! (`rdbLoadCheckModuleValue` in `rdb.c`).

use super::{ModuleItem, Visit};
use crate::error::{Error, Reading, Result, Within};
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::kind::ModuleName;
use crate::rdb::string::RawString;
use crate::wording::wording;

/// Walks a module's value: the module id, then the items.
pub fn walk_module<V: Visit>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    visit.module(input.number().within(Reading::ModuleId)?);
    walk_items(input, |item| visit.module_item(item))
}

/// Skips data that a module stores outside keys: module id, `when` (an integer item), items. Passes strings to `see`.
pub fn skip_aux<'a>(input: &mut Cursor<'a>, see: impl FnMut(RawString<'a>)) -> Result<ModuleName> {
    let name = ModuleName::from_id(input.number().within(Reading::ModuleId)?);
    let offset = input.offset();
    match input.length().within(Reading::ModuleDataWhenField)? {
        2 => input.number().within(Reading::ModuleDataWhenField)?,
        other => {
            return Err(Error::corrupt(
                offset,
                wording!(
                    "module data's \"when\" field has tag {other} instead of 2",
                    "模块数据的 when 字段标记为 {other}，应为 2"
                ),
            ));
        }
    };
    walk_strings(input, see)?;
    Ok(name)
}

/// Skips metadata that modules attach to a key: `n, (u32 class, items)[n]`. Passes strings to `see`.
pub fn skip_key_meta<'a>(input: &mut Cursor<'a>, mut see: impl FnMut(RawString<'a>)) -> Result<()> {
    let offset = input.offset();
    let classes = input.length().within(Reading::NumberOfMetadataClasses)?;
    if classes > limits::MAX_KEY_META_CLASSES {
        return Err(Error::corrupt(
            offset,
            wording!(
                "{classes} metadata classes, at most 7 are possible",
                "有 {classes} 个元数据类别，最多只能有 7 个"
            ),
        ));
    }
    for _ in 0..classes {
        input.u32_le().within(Reading::MetadataClass)?;
        walk_strings(input, &mut see)?;
    }
    Ok(())
}

fn walk_strings<'a>(input: &mut Cursor<'a>, mut see: impl FnMut(RawString<'a>)) -> Result<()> {
    walk_items(input, |item| {
        if let ModuleItem::String(string) = item {
            see(string);
        }
    })
}

fn walk_items<'a>(input: &mut Cursor<'a>, mut see: impl FnMut(ModuleItem<'a>)) -> Result<()> {
    loop {
        let offset = input.offset();
        see(match input.length().within(Reading::TagInModuleData)? {
            0 => return Ok(()),
            1 | 2 => ModuleItem::Integer(input.number().within(Reading::IntegerInModuleData)?),
            3 => ModuleItem::Float(*input.array().within(Reading::FloatInModuleData)?),
            4 => ModuleItem::Double(*input.array().within(Reading::DoubleInModuleData)?),
            5 => ModuleItem::String(input.string().within(Reading::StringInModuleData)?),
            other => {
                return Err(Error::corrupt(
                    offset,
                    wording!("unknown tag {other} in module data", "模块数据中有未知标记 {other}"),
                ));
            }
        });
    }
}
