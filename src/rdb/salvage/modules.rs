//! Ids of the modules whose values a file has. A server refuses the whole file if it has no module with one of them.

use std::collections::BTreeMap;

use crate::rdb::kind::ModuleName;

/// Maximum number of different ids that are counted.
const MAX_IDS: usize = 256;
/// Number of values from which an id is common, and of those for each value of a damaged id.
const MANY: u64 = 16;
/// Number of bits in which a damaged id differs from the right one at most; fewer if the names begin alike, as those of the types of one
/// module do.
const MAX_BITS: u32 = 8;
const MAX_BITS_OF_SIBLING: u32 = 2;
/// Bits of an id behind the first four characters of the name.
const BITS_BEHIND_START: u32 = 40;
/// Bits of an id behind the name, which are the version of the encoding.
const VERSION_BITS: u32 = 10;

/// Number of values of each module id.
#[derive(Debug, Clone, Default)]
pub struct ModuleIds {
    values: BTreeMap<u64, u64>,
}

impl ModuleIds {
    /// Counts a value.
    pub(super) fn count(&mut self, id: u64) {
        if self.values.len() < MAX_IDS || self.values.contains_key(&id) {
            *self.values.entry(id).or_default() += 1;
        }
    }

    /// Returns whether an id is likely a damaged copy of a common one: of the same name, or different in a few bits, and rare.
    pub(super) fn is_damaged(&self, id: u64) -> bool {
        let own = self.values.get(&id).copied().unwrap_or_default().max(1);
        let is_common = |&(&other, &values): &(&u64, &u64)| other != id && own <= values / MANY;
        let resembles = |(&other, _): (&u64, &u64)| {
            let changed = id ^ other;
            let most = if changed >> BITS_BEHIND_START == 0 { MAX_BITS_OF_SIBLING } else { MAX_BITS };
            changed.count_ones() <= most || changed >> VERSION_BITS == 0
        };
        self.values.iter().filter(is_common).any(resembles)
    }

    /// Returns whether one of the ids is damaged.
    pub(super) fn have_damaged(&self) -> bool {
        self.values.keys().any(|&id| self.is_damaged(id))
    }

    /// Returns the names of the modules.
    pub fn names(&self) -> impl Iterator<Item = ModuleName> {
        self.values.keys().map(|&id| ModuleName::from_id(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::kind::module_id;

    #[test]
    fn a_rare_id_like_a_common_one_is_damaged() {
        let [vectors, json] = [module_id(b"vectorset", 0), module_id(b"ReJSON-RL", 3)];
        let mut ids = ModuleIds::default();
        (0..16).for_each(|_| ids.count(vectors));
        ids.count(json);
        assert!(!ids.is_damaged(vectors) && !ids.is_damaged(json) && !ids.have_damaged());
        let wrong = [vectors ^ 1 << 20, module_id(b"veds47tft", 0), vectors | 0x3FF];
        assert!(wrong.iter().all(|&id| ids.is_damaged(id)));
        assert!(!ids.is_damaged(json ^ 1 << 20), "too few values have the other id");
        assert!(!ids.is_damaged(module_id(b"vectormap", 0)), "another type of the module");
        ids.count(wrong[0]);
        assert!(ids.have_damaged());
        ids.count(wrong[0]);
        assert!(!ids.is_damaged(wrong[0]), "not rare");
    }
}
