//! Conversion of ordinary hashes to compact ones while a file without templates is loaded (`hash-rdb-load-*`).

use crate::limits;
use crate::memory::Model;

/// Settings of the conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RdbLoad {
    /// Least number of fields.
    min: u64,
    /// Greatest number of fields; 0 for no limit.
    max: u64,
    /// Least number of keys that keep a template; 0 keeps all.
    threshold: u64,
}

impl RdbLoad {
    /// Returns the settings of a server that converts hashes.
    pub fn of(model: &Model) -> Option<RdbLoad> {
        let config = &model.config;
        let (min, max) = (config.hash_rdb_load_min, config.hash_rdb_load_max);
        (model.layout.templates && min > 0).then_some(RdbLoad { min, max, threshold: config.hash_rdb_load_threshold })
    }

    /// Returns whether a hash with this number of fields is converted.
    pub fn takes(self, fields: u64) -> bool {
        self.min <= fields && (self.max == 0 || fields <= self.max)
    }
}

/// Templates that a server makes while it loads a file, by set of field names.
#[derive(Debug)]
pub struct LoadedSets {
    settings: RdbLoad,
    sets: Vec<LoadedSet>,
    made: u64,
    /// Templates that fewer keys use than the threshold.
    rare: u64,
    /// True once no new templates are made.
    stopped: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct LoadedSet {
    id: u64,
    users: u64,
}

impl LoadedSets {
    /// Creates the templates of an empty server.
    pub fn new(settings: RdbLoad) -> Self {
        LoadedSets { settings, sets: Vec::new(), made: 0, rare: 0, stopped: false }
    }

    /// Returns whether a hash with this number of fields may be converted.
    pub fn takes(&self, fields: u64) -> bool {
        self.settings.takes(fields)
    }

    /// Returns whether no new templates are made.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Loads a hash with a set of field names.
    pub fn load(&mut self, set: usize) {
        if self.sets.len() <= set {
            self.sets.resize(set + 1, LoadedSet::default());
        }
        let is_new = self.sets[set].users == 0;
        if is_new && self.has_stopped() {
            return;
        }
        let loaded = &mut self.sets[set];
        loaded.users += 1;
        if is_new {
            loaded.id = self.made;
            self.made += 1;
            self.rare += u64::from(self.settings.threshold > 1);
            self.stopped = self.rare > limits::MAX_RARE_TEMPLATES && self.rare > self.made / 2;
        } else if loaded.users == self.settings.threshold {
            self.rare -= 1;
        }
    }

    /// Returns whether a template was made and has too few users to be kept.
    pub fn took_apart(&self, set: usize) -> bool {
        self.sets.get(set).is_some_and(|loaded| (1..self.settings.threshold).contains(&loaded.users))
    }

    /// Returns id and users of a template that is kept.
    pub fn kept(&self, set: usize) -> Option<(u64, u64)> {
        let loaded = self.sets.get(set)?;
        (loaded.users >= self.settings.threshold.max(1)).then_some((loaded.id, loaded.users))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(threshold: u64, sets: impl IntoIterator<Item = usize>) -> LoadedSets {
        let mut loaded = LoadedSets::new(RdbLoad { min: 1, max: 0, threshold });
        sets.into_iter().for_each(|set| loaded.load(set));
        loaded
    }

    #[test]
    fn rare_templates_are_taken_apart() {
        let sets = loaded(2, [5, 7, 5, 5, 8, 8]);
        assert_eq!([5, 7, 8, 0].map(|set| sets.kept(set)), [Some((0, 3)), None, Some((2, 2)), None]);
        assert_eq!([5, 7, 8, 0, 9].map(|set| sets.took_apart(set)), [false, true, false, false, false]);
        assert_eq!(loaded(0, [3]).kept(3), Some((0, 1)));
    }

    #[test]
    fn no_more_are_made_once_most_are_rare() {
        let sets = loaded(2, (0..2000).chain(0..2000));
        assert_eq!((sets.made, sets.rare), (1001, 0));
        assert!(sets.kept(1000).is_some() && sets.kept(1001).is_none());
        let often = (0..1000).chain(0..1000).chain(1000..2000).chain(1000..2000);
        assert_eq!(loaded(2, often.chain(2000..6000)).made, 4001);
        assert_eq!(loaded(0, 0..2000).made, 2000);
        assert_eq!(loaded(1, 0..2000).made, 2000);
    }

    #[test]
    fn bounds_are_inclusive_and_zero_is_no_maximum() {
        let takes = |min, max, fields| RdbLoad { min, max, threshold: 0 }.takes(fields);
        assert!(takes(2, 4, 2) && takes(2, 4, 4) && !takes(2, 4, 1) && !takes(2, 4, 5) && takes(2, 0, 1 << 40));
    }
}
