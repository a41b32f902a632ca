//! Fields and values of stream entries (`t_stream.c`).
//!
//! ```text
//! node     count, deleted, n, field[n], 0, entry[count + deleted]
//! entry    flags, ms, seq, value[n], items                       with the fields of the node (flag 2)
//!          flags, ms, seq, m, (field, value)[m], items           with its own
//! ```
//!
//! Deleted entries (flag 1) stay in a node until it is rewritten; no command reads them, so they are not shown.

use super::shown::{Shown, text};
use super::{MAX_PARTS, PeekBuffers, few};
use crate::error::Result;
use crate::rdb::cursor::Cursor;
use crate::rdb::packed::listpack;

const DELETED: i64 = 1;
const SAME_FIELDS: i64 = 2;

/// Shows the fields of the first entries.
pub(super) fn show(input: &mut Cursor<'_>, room: &mut PeekBuffers, shown: &mut Shown<'_>) -> Result<()> {
    for _ in 0..few(input.count(2)?) {
        input.string()?; // id of the node
        let blob = shown.expanded(input.string()?, &mut room.blob)?;
        show_node(&mut listpack::Elements::uncounted(blob, 0)?, shown)?;
    }
    Ok(())
}

/// Shows the entries of a node. Stops at what is not laid out like one.
fn show_node<'b>(elements: &mut listpack::Elements<'b>, shown: &mut Shown<'_>) -> Result<()> {
    let (_count, _deleted) = (elements.next().transpose()?, elements.next().transpose()?);
    let Some(all) = count(elements)? else { return Ok(()) };
    let mut fields = Vec::new();
    for _ in 0..all {
        let Some(field) = elements.next().transpose()? else { return Ok(()) };
        if fields.len() < MAX_PARTS {
            fields.push(field);
        }
    }
    elements.next().transpose()?; // the 0 behind the fields
    while !shown.is_full() {
        let Some(flags) = elements.next().transpose()?.and_then(|flags| flags.number()) else { return Ok(()) };
        let (_ms, _seq) = (elements.next().transpose()?, elements.next().transpose()?);
        let own = match flags & SAME_FIELDS {
            0 => Some(count(elements)?).filter(Option::is_some),
            _ => Some(None),
        };
        let Some(own) = own else { return Ok(()) };
        for place in 0..own.unwrap_or(all) {
            let (mut one, mut other) = (itoa::Buffer::new(), itoa::Buffer::new());
            let field = match own {
                Some(_) => elements.next().transpose()?,
                None => fields.get(usize::try_from(place).unwrap_or(usize::MAX)).copied(),
            };
            let Some(value) = elements.next().transpose()?.filter(|_| !shown.is_full()) else { return Ok(()) };
            if flags & DELETED == 0 {
                let field = field.as_ref().map_or(&b""[..], |field| text(field, &mut one));
                shown.pair(field, text(&value, &mut other));
            }
        }
        elements.next().transpose()?; // number of items of the entry
    }
    Ok(())
}

/// Reads a number of fields.
fn count(elements: &mut listpack::Elements<'_>) -> Result<Option<u64>> {
    Ok(elements.next().transpose()?.and_then(|count| count.number()).and_then(|count| u64::try_from(count).ok()))
}
