//! Auxiliary fields that servers refuse or do not write, and what the slots of a cluster say about databases.

use super::Walk;
use crate::error::{Error, Result};
use crate::rdb::header::Family;
use crate::rdb::scan::FileItem;
use crate::rdb::slot_info;
use crate::rdb::string::{RawString, StringForm};
use crate::wording::wording;

/// Least number of slots that show a cluster. Damaged bytes may be taken for one or two.
const FEW_SLOTS: u32 = 4;

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
        let has_others = self.database.announced.keys().any(|db| *db > 0);
        self.slots >= FEW_SLOTS && self.header.family == Family::Redis && !has_others
    }
}

fn is_slot_info(name: &RawString<'_>) -> bool {
    matches!(name.form, StringForm::Plain(slot_info::NAME))
}

/// Fails for a `slot-info` without its numbers: Valkey loads no file with it.
pub(super) fn check_slot_info(item: &FileItem<'_>) -> Result<()> {
    let FileItem::Aux(name, value) = item else { return Ok(()) };
    let is_sound = match value.form {
        _ if !is_slot_info(name) => true,
        StringForm::Plain(text) => slot_info::is_written(text),
        StringForm::Int(_) | StringForm::Lzf { .. } => false,
    };
    if is_sound {
        Ok(())
    } else {
        Err(Error::corrupt(value.offset, wording!("slot sizes are no numbers", "槽的大小不是数字")))
    }
}

pub(super) fn false_aux(offset: u64) -> Error {
    Error::corrupt(offset, wording!("an auxiliary field that no server writes", "任何服务器都不会写入的辅助字段"))
}

pub(super) fn bare_database(offset: u64) -> Error {
    Error::corrupt(offset, wording!("a database without its number of keys", "数据库缺少 key 数"))
}

pub(super) fn foreign_database(offset: u64) -> Error {
    Error::corrupt(offset, wording!("a database that the cluster does not have", "集群中不存在的数据库"))
}
