//! Module data: a flat, zero-terminated sequence of tagged numbers and strings, which can be skipped without the module
//! (`rdbLoadCheckModuleValue` in `rdb.c`).

use super::{ModuleItem, Visit};
use crate::error::{Error, Result, Within};
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::kind::ModuleName;

/// Walks a module's value: the module id, then the items.
pub fn walk_module<V: Visit>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    visit.module(input.number().within("module id")?);
    walk_items(input, |item| visit.module_item(item))
}

/// Skips data that a module stores outside keys: module id, `when` (an integer item), items.
pub fn skip_aux(input: &mut Cursor<'_>) -> Result<ModuleName> {
    let name = ModuleName::from_id(input.number().within("module id")?);
    let offset = input.offset();
    match input.length().within("module data's \"when\" field")? {
        2 => input.number().within("module data's \"when\" field")?,
        other => {
            return Err(Error::corrupt(offset, format!("module data's \"when\" field has tag {other} instead of 2")));
        }
    };
    walk_items(input, |_| ())?;
    Ok(name)
}

/// Skips metadata that modules attach to a key: `n, (u32 class, items)[n]`.
pub fn skip_key_meta(input: &mut Cursor<'_>) -> Result<()> {
    let offset = input.offset();
    let classes = input.length().within("number of metadata classes")?;
    if classes > limits::MAX_KEY_META_CLASSES {
        return Err(Error::corrupt(offset, format!("{classes} metadata classes, at most 7 are possible")));
    }
    for _ in 0..classes {
        input.u32_le().within("metadata class")?;
        walk_items(input, |_| ())?;
    }
    Ok(())
}

fn walk_items(input: &mut Cursor<'_>, mut see: impl FnMut(ModuleItem<'_>)) -> Result<()> {
    loop {
        let offset = input.offset();
        see(match input.length().within("tag in module data")? {
            0 => return Ok(()),
            1 | 2 => ModuleItem::Integer(input.number().within("integer in module data")?),
            3 => ModuleItem::Float(*input.array().within("float in module data")?),
            4 => ModuleItem::Double(*input.array().within("double in module data")?),
            5 => ModuleItem::String(input.string().within("string in module data")?),
            other => return Err(Error::corrupt(offset, format!("unknown tag {other} in module data"))),
        });
    }
}
