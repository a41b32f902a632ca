//! Templates of compact hashes that lie in a gap.
//!
//! Hashes of a lost template cannot be saved, since their field names are lost with it. What stands around them can: the templates
//! behind the gap, and the records behind such a hash, once the number of its values is known.

use std::ops::Range;
use std::sync::Arc;

use crate::rdb::cursor::Cursor;
use crate::rdb::opcode::byte;
use crate::rdb::resync::{Profile, Resync};
use crate::rdb::template::{Defined, Templates};

/// Largest number of fields of a lost template that is tried.
const MAX_FIELDS: usize = 256;
/// Bytes read for each byte searched, and in advance.
const WORK_PER_BYTE: usize = 16;
const FIRST_WORK: usize = 1 << 20;

/// Returns where the head of the file goes on within a range behind damage: at a template that the next one follows, or at the
/// `SELECTDB` and `RESIZEDB` of the first keys.
pub(super) fn resume_head(bytes: &[u8], range: Range<usize>) -> Option<usize> {
    let mut work = FIRST_WORK.saturating_add(range.len().saturating_mul(WORK_PER_BYTE));
    for at in range {
        let mut cursor = Cursor::new(bytes.get(at..).unwrap_or_default(), 0);
        let is_found = match cursor.byte() {
            Ok(byte::HASH_TEMPLATE) => read_template(&mut cursor).is_some_and(|id| is_followed(&mut cursor, id)),
            Ok(byte::SELECT_DB) => is_database(&mut cursor),
            Ok(_) | Err(_) => false,
        };
        if is_found {
            return Some(at);
        }
        work = work.checked_sub(cursor.consumed())?;
    }
    None
}

/// Returns the id of a template whose names are in order.
fn read_template(cursor: &mut Cursor<'_>) -> Option<u64> {
    match Templates::NONE.read(cursor) {
        Ok(Defined::New(template)) => Some(template.id()),
        _ => None,
    }
}

fn is_followed(cursor: &mut Cursor<'_>, id: u64) -> bool {
    match cursor.byte() {
        Ok(byte::HASH_TEMPLATE) => read_template(cursor) == id.checked_add(1),
        Ok(byte::SELECT_DB) => is_database(cursor),
        Ok(_) | Err(_) => false,
    }
}

/// Returns whether the number of a database and its size follow, with at least one key.
fn is_database(cursor: &mut Cursor<'_>) -> bool {
    cursor.length().is_ok_and(|db| db <= u64::from(u16::MAX))
        && cursor.byte().is_ok_and(|opcode| opcode == byte::RESIZE_DB)
        && cursor.length().is_ok_and(|keys| keys > 0 && cursor.length().is_ok_and(|expires| expires <= keys))
}

/// Adds a stand-in for a lost template to the table, with as many fields as there are values from `values` on before a sound row of
/// records. Returns false if no number of them leads to one.
pub(super) fn stand_in(
    bytes: &[u8],
    values: usize,
    id: u64,
    templates: &mut Arc<Templates>,
    resync: &mut Resync<'_>,
    profile: &Profile,
) -> bool {
    let mut cursor = Cursor::new(bytes.get(values..).unwrap_or_default(), values as u64);
    let mut table = Arc::clone(templates);
    // Copies the table once, and only for an id that is new.
    resync.charge(table.bytes());
    for _ in 0..MAX_FIELDS {
        if cursor.string_len().is_err() {
            return false;
        }
        Arc::make_mut(&mut table).add_lost_field(id);
        if resync.is_boundary(values + cursor.consumed(), Some(&table), profile) {
            *templates = table;
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_go_on_where_the_next_one_or_a_database_follows() {
        let [one, two] = [3, 4].map(|id| [&[0xF2, id, 2][..], b"\x02id\x04name"].concat());
        let select = [0xFE, 0, 0xFB, 1, 0];
        let find = |parts: &[&[u8]]| {
            let bytes = parts.concat();
            resume_head(&bytes, 0..bytes.len())
        };
        assert_eq!(find(&[b"xyz", &one, &two]), Some(3));
        assert_eq!(find(&[b"xyz\xf2\x07", &two, &select]), Some(5));
        assert_eq!(find(&[b"xyz", &two, &one]), None, "the numbers do not ascend");
        assert_eq!(find(&[b"xyz", &one, b"\xfe\x00\x00"]), None, "neither a template nor a database");
        assert_eq!(find(&[b"xyz\xf2\x03\x02\x04name\x02id\x01", &two]), None, "names out of order");
        assert_eq!(find(&[b"xyz\xf2", &select]), Some(4), "the last template is lost");
        assert_eq!(find(&[b"xyz\xfe\x00\xfb\x01\x02"]), None, "more keys with an expiry than keys");
    }
}
