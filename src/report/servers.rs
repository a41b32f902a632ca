//! Servers of a report: each file is one, but for the files of a Dragonfly snapshot, which are one together.

use std::collections::BTreeMap;

use super::{Report, SourceFile, Weight};
use crate::input::dragonfly_snapshot;
use crate::units::Bytes;

/// Returns for each file, given by name, the position of the first file of its server.
pub(crate) fn first_files<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<usize> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let of = |(at, name)| dragonfly_snapshot(name).map_or(at, |snapshot| *first.entry(snapshot).or_insert(at));
    names.into_iter().enumerate().map(of).collect()
}

/// Files of one server.
#[derive(Debug, Default)]
pub(crate) struct ServerFiles<'r>(Vec<&'r SourceFile>);

impl<'r> ServerFiles<'r> {
    /// Returns the name of the first file, which stands for the server.
    pub fn name(&self) -> &'r str {
        self.0.first().map(|file| file.name.as_str()).unwrap_or_default()
    }

    /// Returns the files.
    pub fn files(&self) -> impl Iterator<Item = &'r SourceFile> {
        self.0.iter().copied()
    }

    /// Returns the memory that a limit is compared with: that of keys and tables, or the `used-mem` of the dump if that is more.
    pub fn level(&self) -> Bytes {
        self.used_mem().map_or(self.estimated(), |used| used.max(self.estimated()))
    }

    /// Returns the memory of keys and tables, or of the keys alone if that of the tables is unknown.
    pub fn estimated(&self) -> Bytes {
        self.files().find_map(|file| file.total).unwrap_or(self.weight().memory)
    }

    /// Returns the `used-mem` of the dump.
    pub fn used_mem(&self) -> Option<Bytes> {
        self.files().filter_map(|file| file.used_mem).max()
    }

    /// Returns whether the memory of some keys is unknown.
    pub fn has_unknown(&self) -> bool {
        self.files().any(|file| !file.unknown.is_none())
    }

    /// Returns the number and memory of the keys.
    pub fn weight(&self) -> Weight {
        self.files().map(|file| Weight { keys: file.keys, memory: file.memory }).sum()
    }
}

impl Report {
    /// Returns the servers whose snapshots were read, even if only in part, in the order of their first files.
    pub(crate) fn servers(&self) -> Vec<ServerFiles<'_>> {
        let mut servers: BTreeMap<usize, ServerFiles<'_>> = BTreeMap::new();
        for (_, first, file) in self.read_files() {
            servers.entry(first).or_default().0.push(file);
        }
        servers.into_values().collect()
    }

    /// Adds up keys, given by the position of their file, by server.
    pub(crate) fn by_server(&self, of_files: &BTreeMap<usize, Weight>) -> Vec<Weight> {
        let mut servers: BTreeMap<usize, Weight> = BTreeMap::new();
        for (at, first, _) in self.read_files() {
            servers.entry(first).or_default().merge(of_files.get(&at).copied().unwrap_or_default());
        }
        servers.into_values().collect()
    }

    /// Returns the files that are snapshots, each with its position and that of the first file of its server.
    fn read_files(&self) -> impl Iterator<Item = (usize, usize, &SourceFile)> {
        let files = &self.source.files;
        let firsts = first_files(files.iter().map(|file| file.name.as_str()));
        let files = firsts.into_iter().zip(files).enumerate().map(|(at, (first, file))| (at, first, file));
        files.filter(|(.., file)| file.is_snapshot())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_dragonfly_snapshot_are_one_server() {
        let names = ["a/dump-summary.dfs", "b.rdb", "a/dump-0000.dfs", "a/dump-0001.dfs", "b/dump-0000.dfs", "b.rdb"];
        assert_eq!(first_files(names), [0, 1, 0, 0, 4, 5]);
        assert_eq!(first_files(["dump-+5.dfs", "dump-summary.dfs", "-.dfs", "dump.dfs"]), [0, 1, 2, 3]);
    }
}
