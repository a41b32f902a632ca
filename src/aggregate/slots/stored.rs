//! Stored form of the sums by slot: the slots in use, each in one row.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{NAME_KEPT, SLOTS, SlotDetails, SlotStats, of_slot};
use crate::pattern::kept_name;
use crate::report::Unknown;
use crate::units::Bytes;

#[derive(Serialize, Deserialize)]
struct StoredSlots {
    tagged_keys: u64,
    slots: Vec<StoredSlot>,
}

#[derive(Serialize, Deserialize)]
struct StoredSlot {
    slot: u16,
    keys: u64,
    tagged: u64,
    memory: Bytes,
    heaviest: Bytes,
    db: u64,
    name: Vec<u8>,
    unknown: Unknown,
}

impl Serialize for SlotStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |((slot, sums), details): ((u16, &super::SlotSums), &SlotDetails)| {
            Some(StoredSlot {
                slot,
                keys: details.keys.saturating_add(u64::from(sums.keys)),
                tagged: of_slot(&self.tagged, slot),
                memory: sums.memory,
                heaviest: details.heaviest,
                db: details.db,
                name: details.name.clone()?,
                unknown: of_slot(&self.unknown, slot),
            })
        };
        let slots = (0u16..).zip(&self.sums).zip(&self.slots).filter_map(row).collect();
        StoredSlots { tagged_keys: self.tagged_keys, slots }.serialize(serializer)
    }
}

/// Returns whether no slot keeps so much of a name.
fn is_too_long(name: &[u8]) -> bool {
    kept_name::read(name, NAME_KEPT).0.len() > NAME_KEPT
}

/// Reads sums that are to be merged into those with a number of rows.
impl<'de> Deserialize<'de> for SlotStats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredSlots { tagged_keys, slots } = StoredSlots::deserialize(deserializer)?;
        let mut stats = SlotStats { tagged_keys, ..SlotStats::new(0) };
        if !slots.is_sorted_by(|one, next| one.slot < next.slot) {
            return Err(D::Error::custom("the slots are not in ascending order"));
        }
        if let Some(first) = slots.first() {
            stats.allocate(&first.name);
        }
        for StoredSlot { slot, keys, tagged, memory, heaviest, db, name, unknown } in slots {
            let place = usize::from(slot);
            if place >= SLOTS || tagged > keys || heaviest > memory || unknown.keys > keys || is_too_long(&name) {
                return Err(D::Error::custom("the sums of a slot contradict each other"));
            }
            stats.truncate_common(&name);
            let details = SlotDetails { keys, heaviest, db, name: Some(name) };
            (stats.sums[place].memory, stats.sums[place].least) = (memory, details.weight());
            stats.slots[place] = details;
            if tagged > 0 {
                stats.count_tagged(place, tagged);
            }
            if !unknown.is_none() {
                stats.unknown.resize(SLOTS, Unknown::default());
                stats.unknown[place] = unknown;
            }
        }
        stats.find_places();
        Ok(stats)
    }
}
