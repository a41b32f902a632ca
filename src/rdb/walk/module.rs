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
pub fn walk_module<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    visit.module(input.number().within(Reading::ModuleId)?);
    walk_items(input, |tag, offset, item| {
        visit.module_tag(tag, offset);
        if let Some(item) = item {
            visit.module_item(item);
        }
    })
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
    walk_items(input, |_, _, item| {
        if let Some(ModuleItem::String(string)) = item {
            see(string);
        }
    })
}

/// Passes the tag of each item, its place and the item to `see`, at last the tag 0 without one.
fn walk_items<'a>(input: &mut Cursor<'a>, mut see: impl FnMut(u64, u64, Option<ModuleItem<'a>>)) -> Result<()> {
    loop {
        let offset = input.offset();
        let tag = input.length().within(Reading::TagInModuleData)?;
        let item = match tag {
            0 => {
                see(tag, offset, None);
                return Ok(());
            }
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
        };
        see(tag, offset, Some(item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_metadata_of_at_most_seven_classes() {
        let skip = |classes: u8| {
            let bytes = [&[classes][..], &[1, 0, 0, 0, 0].repeat(usize::from(classes))].concat();
            skip_key_meta(&mut Cursor::new(&bytes, 0), |_| {})
        };
        for classes in [0, 1, 7] {
            assert!(skip(classes).is_ok(), "{classes}");
        }
        assert_eq!(skip(8).unwrap_err().offset(), Some(0));
    }
}
