//! Auxiliary fields that servers refuse or do not write, and what the slots of a cluster say about databases.

use super::Walk;
use crate::error::{Error, Result};
use crate::rdb::header::Family;
use crate::rdb::scan::FileItem;
use crate::rdb::string::{RawString, StringForm};
use crate::wording::wording;

/// Slots of a cluster.
const SLOTS: u64 = 1 << 14;
/// Number of slots in database 0 that show a cluster: bytes of a damaged value hardly read as so many.
const FEW_SLOTS: u32 = 4;
/// Numbers in a `slot-info`: slot, keys, and keys with an expiry. Newer servers add more.
const NUMBERS: usize = 3;
/// Digits of the longest number of 64 bits.
const MOST_DIGITS: usize = 20;

impl Walk<'_> {
    /// Notes an item that was accepted.
    pub(super) fn count_slots(&mut self, item: &FileItem<'_>) {
        let is_slot = match item {
            FileItem::Slot(_) => true,
            FileItem::Aux(name, _) => is_slot_info(name),
            _ => return,
        };
        self.slots = self.slots.saturating_add(u32::from(is_slot));
    }

    /// Returns whether the file is from a cluster that has only database 0. Clusters of Valkey 9 may have several.
    pub(super) fn has_one_database(&self) -> bool {
        let has_others = self.announced.keys().any(|db| *db > 0);
        self.slots >= FEW_SLOTS && self.header.family == Family::Redis && !has_others
    }
}

fn is_slot_info(name: &RawString<'_>) -> bool {
    matches!(name.form, StringForm::Plain(b"slot-info"))
}

/// Fails for a `slot-info` without its numbers: Valkey loads no file with it.
pub(super) fn check_slot_info(item: &FileItem<'_>) -> Result<()> {
    let FileItem::Aux(name, value) = item else { return Ok(()) };
    let is_sound = match value.form {
        _ if !is_slot_info(name) => true,
        StringForm::Plain(text) => is_list_of_numbers(text),
        StringForm::Int(_) | StringForm::Lzf { .. } => false,
    };
    match is_sound {
        true => Ok(()),
        false => Err(Error::corrupt(value.offset, wording!("slot sizes are no numbers", "槽的大小不是数字"))),
    }
}

fn is_list_of_numbers(text: &[u8]) -> bool {
    let is_number = |part: &[u8]| (1..=MOST_DIGITS).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let mut parts = text.split(|byte| *byte == b',');
    let slot = parts.next().and_then(|part| std::str::from_utf8(part).ok()?.parse::<u64>().ok());
    slot.is_some_and(|slot| slot < SLOTS) && parts.clone().count() + 1 >= NUMBERS && parts.all(is_number)
}

pub(super) fn false_aux(offset: u64) -> Error {
    Error::corrupt(offset, wording!("an auxiliary field that no server writes", "没有服务器会写入的辅助字段"))
}

pub(super) fn foreign_database(offset: u64) -> Error {
    Error::corrupt(offset, wording!("a database that the cluster does not have", "集群中不存在的数据库"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_sizes_are_at_least_three_numbers() {
        for text in ["0,1,0", "16383,1,0", "7326,1,0,0"] {
            assert!(is_list_of_numbers(text.as_bytes()), "{text}");
        }
        for text in ["", "1", "1,2", "x,1,1", "1;2;3", "1,2,", "1,,3", "16384,1,0", "1,2,x", "-1,1,1"] {
            assert!(!is_list_of_numbers(text.as_bytes()), "{text}");
        }
    }
}
