//! Payload of packed values and of nodes of streams.

use super::{ENTRY_ID_BYTES, Payload, SCORE_BYTES};
use crate::error::Result;
use crate::rdb::packed::stream_node::StreamNode;
use crate::rdb::packed::{Layout, PackedElement, Packing, intset, listpack, ziplist, zipmap};

/// Adds up the elements of a packed value.
pub(super) fn packed(bytes: &[u8], packing: Packing, layout: Layout) -> Result<Payload> {
    match packing {
        Packing::Listpack => match layout {
            // Their entries are skipped without being read.
            Layout::List | Layout::Set => listpack_elements(bytes, 1),
            Layout::Hash => listpack_elements(bytes, 2),
            Layout::Zset | Layout::ExpiringHash => grouped(listpack::Elements::new(bytes, 0)?, layout),
        },
        Packing::Ziplist => grouped(ziplist::Entries::new(bytes, 0)?, layout),
        Packing::Intset => elements(intset::numbers(bytes, 0)?.map(|number| Ok(PackedElement::Int(number).len()))),
        Packing::Zipmap => {
            let pairs = zipmap::Pairs::new(bytes, 0)?;
            elements(pairs.map(|pair| pair.map(|(field, value)| (field.len() + value.len()) as u64)))
        }
    }
}

/// Adds up the elements of a listpack, each of which takes `parts` of its entries.
#[inline]
fn listpack_elements(bytes: &[u8], parts: u64) -> Result<Payload> {
    let mut entries = listpack::Elements::new(bytes, 0)?;
    let mut sum = Payload::default();
    while let Some(mut element) = entries.next_len()? {
        for _ in 1..parts {
            element += entries.next_len()?.unwrap_or(0);
        }
        sum.add(element, 0);
    }
    Ok(sum)
}

/// Adds up elements of these lengths.
fn elements(lengths: impl Iterator<Item = Result<u64>>) -> Result<Payload> {
    let mut sum = Payload::default();
    for len in lengths {
        sum.add(len?, 0);
    }
    Ok(sum)
}

/// Adds up the elements that the entries of a value form. Scores count [`SCORE_BYTES`], expiries none.
fn grouped<'a>(mut entries: impl Iterator<Item = Result<PackedElement<'a>>>, layout: Layout) -> Result<Payload> {
    let (parts, skipped, beside) = match layout {
        Layout::List | Layout::Set => (1, 0, 0),
        Layout::Hash => (2, 0, 0),
        Layout::Zset => (1, 1, SCORE_BYTES),
        Layout::ExpiringHash => (2, 1, 0),
    };
    let mut sum = Payload::default();
    while let Some(first) = entries.next() {
        let mut element = first?.len();
        for _ in 1..parts {
            element += entries.next().transpose()?.map_or(0, |part| part.len());
        }
        for _ in 0..skipped {
            entries.next().transpose()?;
        }
        sum.add(element, beside);
    }
    Ok(sum)
}

/// Adds up the fields and values of the live entries in a node of a stream. Names that an entry shares with its node count for it, too.
pub(super) fn stream_node(bytes: &[u8]) -> Result<Payload> {
    let (mut node, shared) = StreamNode::new(bytes, 0)?;
    let texts = |node: &mut StreamNode<'_>, count: i64| (0..count).map(|_| node.element_len()).sum::<Result<u64>>();
    let names = texts(&mut node, shared)?;
    node.end_fields()?;
    let mut sum = Payload::default();
    while let Some(entry) = node.entry()? {
        let fields = if entry.has_same_fields() {
            names.saturating_add(texts(&mut node, shared)?)
        } else {
            let pairs = node.number()?;
            texts(&mut node, pairs.saturating_mul(2))?
        };
        node.end_fields()?;
        if !entry.is_deleted() {
            sum.add(fields, ENTRY_ID_BYTES);
        }
    }
    Ok(sum)
}
