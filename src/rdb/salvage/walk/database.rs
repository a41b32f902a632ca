//! Databases of a walk: the one that the next key belongs to, and the numbers of keys that the file announces.

use std::collections::BTreeMap;

use crate::rdb::batch::FIRST_DATABASE;

/// State of a walk that concerns databases.
#[derive(Debug)]
pub(super) struct DatabaseState {
    /// Database in force at the next item; `None` behind a gap.
    pub current: Option<u64>,
    /// Database of the last `SELECTDB`.
    pub last: u64,
    /// Database in force behind the last settled item.
    pub settled: u64,
    /// Database of a `SELECTDB` that the damage directly follows, and that is certainly sound.
    pub head: Option<u64>,
    /// True if a `RESIZEDB` was read: servers that write it write one behind each `SELECTDB`.
    pub has_sizes: bool,
    /// Keys that the current database still lacks; `None` behind damage and if none were announced.
    pub left: Option<u64>,
    /// Keys behind the last `RESIZEDB`.
    pub keys_of_size: usize,
    /// Where the last key ends that a database announces.
    pub complete: Option<usize>,
    /// Announced numbers of keys, by database.
    pub announced: BTreeMap<u64, u64>,
}

impl Default for DatabaseState {
    fn default() -> Self {
        DatabaseState {
            current: Some(FIRST_DATABASE),
            last: FIRST_DATABASE,
            settled: FIRST_DATABASE,
            head: None,
            has_sizes: false,
            left: Some(0),
            keys_of_size: 0,
            complete: None,
            announced: BTreeMap::new(),
        }
    }
}

impl DatabaseState {
    /// Enters the database of a `SELECTDB`.
    pub fn select(&mut self, db: u64) {
        (self.current, self.last, self.left) = (Some(db), db, None);
    }

    /// Takes in a `RESIZEDB`, which is trusted only right behind a `SELECTDB`.
    pub fn resize(&mut self, keys: u64, is_behind_select: bool) {
        self.left = is_behind_select.then_some(keys);
        self.has_sizes |= is_behind_select;
        self.keys_of_size = 0;
    }

    /// Counts a key that ends here.
    pub fn count_key(&mut self, end: usize) {
        self.left = self.left.and_then(|left| left.checked_sub(1));
        self.keys_of_size = self.keys_of_size.saturating_add(1);
        if self.left == Some(0) {
            self.complete = Some(end);
        }
    }
}
