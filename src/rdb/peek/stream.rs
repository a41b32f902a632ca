//! Fields and values of stream entries. Deleted entries are not shown, as no command reads them.

use super::shown::{Shown, text};
use super::{MAX_PARTS, PeekBuffers, few};
use crate::error::Result;
use crate::rdb::cursor::Cursor;
use crate::rdb::packed::stream_node::StreamNode;

/// Shows the fields of the first entries.
pub(super) fn show(input: &mut Cursor<'_>, buffers: &mut PeekBuffers, shown: &mut Shown<'_>) -> Result<()> {
    for _ in 0..few(input.count(2)?) {
        input.string()?; // id of the node
        let blob = shown.expanded(input.string()?, &mut buffers.blob)?;
        show_node(blob, shown)?;
    }
    Ok(())
}

/// Shows the entries of a node. Fails at what is not laid out like one, after the entries before.
fn show_node(bytes: &[u8], shown: &mut Shown<'_>) -> Result<()> {
    let (mut node, all) = StreamNode::new(bytes, 0)?;
    let mut fields = Vec::new();
    for _ in 0..all {
        let field = node.element()?;
        if fields.len() < MAX_PARTS {
            fields.push(field);
        }
    }
    node.end_fields()?;
    while !shown.is_full() {
        let Some(entry) = node.entry()? else { return Ok(()) };
        let count = if entry.has_same_fields() { all } else { node.number()? };
        for place in 0..count {
            let (mut one, mut other) = (itoa::Buffer::new(), itoa::Buffer::new());
            let field = if entry.has_same_fields() {
                fields.get(usize::try_from(place).unwrap_or(usize::MAX)).copied()
            } else {
                Some(node.element()?)
            };
            let value = node.element()?;
            if shown.is_full() {
                return Ok(());
            }
            if !entry.is_deleted() {
                let field = field.as_ref().map_or(&b""[..], |field| text(field, &mut one));
                shown.pair(field, text(&value, &mut other));
            }
        }
        node.end_fields()?;
    }
    Ok(())
}
