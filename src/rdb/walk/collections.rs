//! Walks of values stored as a count followed by elements.
//!
//! Large collections often make up most of a file, and visitors soon need only the lengths of their elements, so each
//! walk has a second loop that skips contents.

use super::{FieldExpiry, ListNode, ModuleItem, ScoreValue, Visit};
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::wording::wording;

/// Walks `n, string[n]`: lists and sets.
pub fn walk_elements<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V, reading: Reading) -> Result<()> {
    let elements = input.count(1).within(Reading::NumberOfElements)?;
    visit.count(elements);
    let mut left = elements;
    while left > 0 && !visit.lengths_suffice() {
        visit.element(input.string().within(reading)?);
        left -= 1;
    }
    for _ in 0..left {
        visit.element_len(input.string_len().within(reading)?);
    }
    Ok(())
}

/// Walks a hash: `n, (field, value)[n]`.
pub fn walk_hash<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let pairs = input.count(2).within(Reading::HashSize)?;
    visit.count(pairs);
    let mut left = pairs;
    while left > 0 && !visit.lengths_suffice() {
        let field = input.string().within(Reading::HashField)?;
        visit.pair(field, input.string().within(Reading::HashValue)?);
        left -= 1;
    }
    for _ in 0..left {
        let field = input.string_len().within(Reading::HashField)?;
        visit.pair_len(field, input.string_len().within(Reading::HashValue)?);
    }
    Ok(())
}

/// Walks a sorted set with binary scores: `n, (member, double)[n]`.
pub fn walk_zset_binary<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let members = input.count(9).within(Reading::SortedSetSize)?;
    visit.count(members);
    let mut left = members;
    while left > 0 && !visit.lengths_suffice() {
        let member = input.string().within(Reading::SortedSetMember)?;
        visit.scored(member, ScoreValue::Binary(input.f64_le().within(Reading::Score)?));
        left -= 1;
    }
    for _ in 0..left {
        let member = input.string_len().within(Reading::SortedSetMember)?;
        input.f64_le().within(Reading::Score)?;
        visit.scored_len(member);
    }
    Ok(())
}

/// Walks a sorted set with text scores: `n, (member, u8 length, text)[n]`; lengths 253 to 255 mean NaN and infinities.
pub fn walk_zset_text<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let members = input.count(2).within(Reading::SortedSetSize)?;
    visit.count(members);
    let mut left = members;
    while left > 0 && !visit.lengths_suffice() {
        let member = input.string().within(Reading::SortedSetMember)?;
        visit.scored(member, ScoreValue::Text(score_text(input)?));
        left -= 1;
    }
    for _ in 0..left {
        let member = input.string_len().within(Reading::SortedSetMember)?;
        score_text(input)?;
        visit.scored_len(member);
    }
    Ok(())
}

#[inline]
fn score_text<'a>(input: &mut Cursor<'a>) -> Result<&'a [u8]> {
    Ok(match input.byte().within(Reading::Score)? {
        253 => &b"nan"[..],
        254 => b"inf",
        255 => b"-inf",
        len => input.take(u64::from(len)).within(Reading::Score)?,
    })
}

/// Walks a quicklist of ziplists: `n, ziplist[n]`.
pub fn walk_quicklist<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let nodes = input.count(1).within(Reading::NumberOfListNodes)?;
    visit.count(nodes);
    for _ in 0..nodes {
        visit.node(ListNode::Ziplist, input.string().within(Reading::ListNode)?);
    }
    Ok(())
}

/// Walks a quicklist of listpacks: `n, (container, blob)[n]`; container 1 is a plain element, 2 a listpack.
pub fn walk_quicklist_2<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let nodes = input.count(2).within(Reading::NumberOfListNodes)?;
    visit.count(nodes);
    for _ in 0..nodes {
        let offset = input.offset();
        let node = match input.length().within(Reading::ListNodeContainer)? {
            1 => ListNode::Plain,
            2 => ListNode::Listpack,
            other => {
                return Err(Error::corrupt(
                    offset,
                    wording!("unknown list node container {other}", "未知的 list 节点容器类型 {other}"),
                ));
            }
        };
        visit.node(node, input.string().within(Reading::ListNode)?);
    }
    Ok(())
}

/// Encoding of the field expiries of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldTimes {
    /// Absolute times: release candidates of Redis 7.4.
    Absolute,
    /// Distance from the earliest expiry, plus one.
    SinceEarliest,
}

/// Walks a hash with field expiries: `[earliest,] n, (time, field, value)[n]`; time 0 means none.
pub fn walk_hash_metadata<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V, times: FieldTimes) -> Result<()> {
    let earliest = match times {
        FieldTimes::Absolute => 0,
        FieldTimes::SinceEarliest => {
            let offset = input.offset();
            let earliest = input.i64_le().within(Reading::EarliestFieldExpiry)?;
            visit.earliest_expiry(earliest, offset);
            earliest
        }
    };
    let pairs = input.count(3).within(Reading::HashSize)?;
    visit.count(pairs);
    for _ in 0..pairs {
        let time = input.number().within(Reading::FieldExpiry)?;
        let field = input.string().within(Reading::HashField)?;
        let value = input.string().within(Reading::HashValue)?;
        let expires_at = match (time, times) {
            (0, _) => None,
            (time, FieldTimes::Absolute) => Some(i64::try_from(time).unwrap_or(i64::MAX)),
            // Servers let the sum wrap, and 0 means no expiry.
            (time, FieldTimes::SinceEarliest) => {
                Some(earliest.wrapping_add_unsigned(time - 1)).filter(|&time| time != 0)
            }
        };
        visit.expiring_pair(field, value, FieldExpiry(expires_at));
    }
    Ok(())
}

/// Walks Valkey's hash with field expiries: `n, (field, value, i64 time)[n]`; time -1 means none.
pub fn walk_hash_2<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let pairs = input.count(10).within(Reading::HashSize)?;
    visit.count(pairs);
    for _ in 0..pairs {
        let field = input.string().within(Reading::HashField)?;
        let value = input.string().within(Reading::HashValue)?;
        let time = input.i64_le().within(Reading::FieldExpiry)?;
        visit.expiring_pair(field, value, FieldExpiry((time != -1).then_some(time)));
    }
    Ok(())
}

/// Walks an array: `n, flag, [insert index], (index, tag, text or number)[n]`; servers write none without items.
pub fn walk_array<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    let offset = input.offset();
    let items = input.count(3).within(Reading::ArraySize)?;
    if items == 0 {
        return Err(Error::corrupt(offset, wording!("no items", "没有元素"))).within(Reading::ArraySize);
    }
    let offset = input.offset();
    match input.length().within(Reading::ArrayFlag)? {
        0 => {}
        1 => {
            input.length().within(Reading::ArrayInsertIndex)?;
        }
        other => {
            return Err(Error::corrupt(offset, wording!("{other} is neither 0 nor 1", "{other} 既不是 0 也不是 1")))
                .within(Reading::ArrayFlag);
        }
    }
    visit.count(items);
    for _ in 0..items {
        let index = input.length().within(Reading::ArrayIndex)?;
        let offset = input.offset();
        let item = match input.length().within(Reading::ArrayItemTag)? {
            0 => ModuleItem::String(input.string().within(Reading::ArrayItem)?),
            3 => {
                let text = input.string().within(Reading::ArrayItem)?;
                visit.small_text(text);
                ModuleItem::String(text)
            }
            1 => ModuleItem::Integer(input.u64_le().within(Reading::ArrayItem)?),
            2 => ModuleItem::Double(*input.array().within(Reading::ArrayItem)?),
            other => {
                return Err(Error::corrupt(
                    offset,
                    wording!("unknown array item tag {other}", "未知的 array 元素标记 {other}"),
                ));
            }
        };
        visit.array_item(index, item);
    }
    Ok(())
}

/// Walks KeyDB's cron job: script, start, interval, keys, arguments.
pub fn walk_cron<V: Visit + ?Sized>(input: &mut Cursor<'_>, visit: &mut V) -> Result<()> {
    visit.module_item(ModuleItem::String(input.string().within(Reading::CronScript)?));
    for reading in [Reading::CronStart, Reading::CronInterval] {
        visit.module_item(ModuleItem::Integer(input.u64_le().within(reading)?));
    }
    for reading in [Reading::CronKeys, Reading::CronArguments] {
        for _ in 0..input.count(1).within(reading)? {
            visit.module_item(ModuleItem::String(input.string().within(reading)?));
        }
    }
    Ok(())
}
