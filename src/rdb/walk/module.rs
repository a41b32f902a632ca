//! What modules write: a flat stream of marked numbers and strings that ends with a zero, so that it can be passed over
//! without the module (`rdbLoadCheckModuleValue` in the servers' `rdb.c`).

use super::{ModuleItem, Visit};
use crate::error::{Error, Result, Within};
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::kind::ModuleName;

/// A module's value: its id and the stream.
pub fn walk_module<V: Visit>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    visit.module(input.number().within("module id")?);
    walk_items(input, |item| visit.module_item(item))
}

/// What a module keeps outside of keys: id, the moment (an integer item), the stream.
pub fn skip_aux(input: &mut Cursor<'_>) -> Result<ModuleName> {
    let name = ModuleName::from_id(input.number().within("module id")?);
    let offset = input.offset();
    match input.length().within("module data's moment")? {
        2 => input.number().within("module data's moment")?,
        other => return Err(Error::corrupt(offset, format!("module data's moment has mark {other} instead of 2"))),
    };
    walk_items(input, |_| ())?;
    Ok(name)
}

/// Metadata that modules attach to a key: `n, (u32 class, stream)[n]`.
pub fn skip_key_meta(input: &mut Cursor<'_>) -> Result<()> {
    let offset = input.offset();
    let classes = input.length().within("number of metadata classes")?;
    if classes > limits::MAX_KEY_META_CLASSES {
        return Err(Error::corrupt(offset, format!("{classes} metadata classes, 7 is the most")));
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
        see(match input.length().within("mark in module data")? {
            0 => return Ok(()),
            1 | 2 => ModuleItem::Integer(input.number().within("integer in module data")?),
            3 => ModuleItem::Float(*input.array().within("float in module data")?),
            4 => ModuleItem::Double(*input.array().within("double in module data")?),
            5 => ModuleItem::String(input.string().within("string in module data")?),
            other => return Err(Error::corrupt(offset, format!("mark {other} in module data is not known"))),
        });
    }
}
