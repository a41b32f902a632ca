//! Payload of packed values and of nodes of streams.

use super::{ENTRY_ID_BYTES, Payload, SCORE_BYTES};
use crate::error::{Error, Result};
use crate::rdb::packed::{Layout, PackedElement, Packing, intset, listpack, ziplist, zipmap};
use crate::wording::wording;

/// The entry is deleted and only its place is left.
const DELETED: i64 = 1;
/// The entry has the fields of the master entry.
const SAME_FIELDS: i64 = 2;

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

/// Listpack of stream entries (`t_stream.c`).
///
/// ```text
/// live, deleted, n, field[n], 0
/// { flags, ms, seq, [n, (field, value)[n] | value[n] if the fields are the master's], elements of this entry }*
/// ```
pub(super) struct StreamNode<'a>(pub listpack::Elements<'a>);

impl StreamNode<'_> {
    pub(super) fn payload(mut self) -> Result<Payload> {
        self.numbers(2)?;
        let shared = self.number()?;
        let names = self.texts(shared)?;
        self.numbers(1)?;
        let mut sum = Payload::default();
        while let Some(flags) = self.0.next().transpose()? {
            let flags = flags.number().ok_or_else(Self::malformed)?;
            self.numbers(2)?;
            let fields = if flags & SAME_FIELDS != 0 {
                names.saturating_add(self.texts(shared)?)
            } else {
                let pairs = self.number()?;
                self.texts(pairs.saturating_mul(2))?
            };
            self.numbers(1)?;
            if flags & DELETED == 0 {
                sum.add(fields, ENTRY_ID_BYTES);
            }
        }
        Ok(sum)
    }

    /// Adds up the lengths of the next elements.
    fn texts(&mut self, count: i64) -> Result<u64> {
        (0..count).map(|_| self.0.next_len()?.ok_or_else(Self::malformed)).sum()
    }

    fn numbers(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.number().map(|_| ()))
    }

    fn number(&mut self) -> Result<i64> {
        self.0.next().transpose()?.and_then(|element| element.number()).ok_or_else(Self::malformed)
    }

    fn malformed() -> Error {
        Error::corrupt(0, wording!("malformed stream entry", "stream 消息格式错误"))
    }
}
