//! How the strings of each file are stored: compressed or not.

use std::collections::BTreeMap;
use std::mem;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How the strings of one file are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredStrings {
    /// True if a string is stored compressed.
    pub compressed: bool,
    /// True if a long text is not, so that its compressed size is unknown.
    pub plain_text: bool,
}

impl StoredStrings {
    fn merge(&mut self, other: StoredStrings) {
        self.compressed |= other.compressed;
        self.plain_text |= other.plain_text;
    }
}

/// How the strings of several files are stored.
#[derive(Debug, Clone, Default)]
pub struct StringsByFile {
    /// Position of the file of the last key among the inputs.
    file: usize,
    /// Strings of that file, as far as they are not in `others`.
    strings: StoredStrings,
    others: BTreeMap<usize, StoredStrings>,
}

impl StringsByFile {
    /// Returns the strings of a file.
    #[inline]
    pub fn of(&mut self, file: usize) -> &mut StoredStrings {
        if file != self.file {
            self.turn_to(file);
        }
        &mut self.strings
    }

    #[cold]
    fn turn_to(&mut self, file: usize) {
        let left = mem::replace(&mut self.file, file);
        let strings = mem::take(&mut self.strings);
        self.add(left, strings);
    }

    fn add(&mut self, file: usize, strings: StoredStrings) {
        if strings != StoredStrings::default() {
            self.others.entry(file).or_default().merge(strings);
        }
    }

    /// Adds the strings of other parts of these files.
    pub fn merge(&mut self, other: StringsByFile) {
        other.finish().into_iter().for_each(|(file, strings)| self.add(file, strings));
    }

    /// Returns whether a file has long texts but no compressed string, so that the compressed sizes of its texts are unknown.
    pub fn hide_sizes(&self) -> bool {
        self.clone().finish().values().any(|strings| strings.plain_text && !strings.compressed)
    }

    fn finish(mut self) -> BTreeMap<usize, StoredStrings> {
        self.add(self.file, self.strings);
        self.others
    }
}

/// By file: equal for equal keys, however they were read.
impl Serialize for StringsByFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.clone().finish().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StringsByFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let others = BTreeMap::deserialize(deserializer)?;
        Ok(StringsByFile { others, ..StringsByFile::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(keys: &[(usize, bool)]) -> StringsByFile {
        let mut all = StringsByFile::default();
        for &(file, compressed) in keys {
            all.of(file).merge(StoredStrings { compressed, plain_text: !compressed });
        }
        all
    }

    #[test]
    fn each_file_hides_its_own_sizes() {
        assert!(
            !strings(&[]).hide_sizes() && !strings(&[(0, true)]).hide_sizes() && strings(&[(0, false)]).hide_sizes()
        );
        assert!(strings(&[(0, true), (1, false)]).hide_sizes());
        assert!(strings(&[(1, false), (0, true), (0, false)]).hide_sizes());
        assert!(!strings(&[(0, false), (1, true), (0, true)]).hide_sizes());
    }

    #[test]
    fn parts_of_a_file_are_one() {
        let mut parts = strings(&[(0, false), (1, false)]);
        parts.merge(strings(&[(1, true), (0, true)]));
        assert!(!parts.hide_sizes());
        let stored = serde_json::to_string(&parts).unwrap();
        assert_eq!(stored, serde_json::to_string(&strings(&[(1, false), (1, true), (0, true), (0, false)])).unwrap());
        parts.merge(strings(&[(2, false)]));
        let stored: StringsByFile = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
        assert!(stored.hide_sizes());
    }
}
