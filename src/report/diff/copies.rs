//! Reports of snapshots that another report has already: a copy, compressed or not, or a dump beside its own report. Added up, they
//! would double a night.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::report::{NamedReport, SourceFile};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Returns, for each report of `earlier`, the name of the report that has all of its snapshots, if there is one: a report of
/// `servers`, or another of `earlier`, those of several snapshots before others.
///
/// Snapshots without keys or a time are not told apart.
pub fn copies<E: Borrow<NamedReport>>(servers: &[NamedReport], earlier: &[E]) -> Vec<Option<String>> {
    let mut known = KnownSnapshots::default();
    servers.iter().for_each(|server| known.add(server));
    let mut order: Vec<(usize, &NamedReport)> = (0..).zip(earlier.iter().map(Borrow::borrow)).collect();
    order.compact_sort_by_key(|(_, named)| Reverse(named.report.source.files.len()));
    let mut copies = vec![None; earlier.len()];
    for (at, named) in order {
        match known.holder(named) {
            Some(of) => copies[at] = Some(of.to_owned()),
            None => known.add(named),
        }
    }
    copies
}

/// Snapshots by what tells them apart, with the names of their reports.
#[derive(Default)]
struct KnownSnapshots<'r>(BTreeMap<Identity<'r>, Vec<(Option<Bytes>, &'r str)>>);

/// Time, size, keys and version of a file, and the selection of its keys.
type Identity<'r> = ((i64, Bytes, u64, u32), &'r [String]);

impl<'r> KnownSnapshots<'r> {
    fn add(&mut self, named: &'r NamedReport) {
        for file in with_keys(named) {
            if let Some(identity) = identity(named, file) {
                self.0.entry(identity).or_default().push((file.used_mem, &named.name));
            }
        }
    }

    /// Returns the name of a report that has a snapshot of this one, if all of its snapshots are known.
    fn holder(&self, named: &'r NamedReport) -> Option<&'r str> {
        let mut holder = None;
        for file in with_keys(named) {
            let alike = self.0.get(&identity(named, file)?)?;
            // Shards of equal size may have been saved in the same second; reports of earlier versions lack what they used.
            let is_same = |used: Option<Bytes>| used.zip(file.used_mem).is_none_or(|(one, other)| one == other);
            let (_, name) = alike.iter().find(|(used, _)| is_same(*used))?;
            holder.get_or_insert(*name);
        }
        holder
    }
}

fn with_keys(named: &NamedReport) -> impl Iterator<Item = &SourceFile> {
    named.report.source.files.iter().filter(|file| file.keys_read.max(file.keys) > 0)
}

fn identity<'r>(named: &'r NamedReport, file: &SourceFile) -> Option<Identity<'r>> {
    Some((file.identity()?, named.report.options.selection.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Checksum, ContainerForm, Report, Unknown};

    /// A snapshot with its time and the memory that the server used, if it says so.
    fn snapshot(&(ctime, used): &(i64, Option<u64>)) -> SourceFile {
        SourceFile {
            name: String::new(),
            container: ContainerForm::Rdb.into(),
            bytes: Bytes(1000),
            trailing_bytes: None,
            rdb_version: 11,
            checksum: Checksum::Ok,
            keys: 10,
            keys_read: 10,
            memory: Bytes(0),
            total: None,
            unknown: Unknown::default(),
            ctime: Some(ctime),
            used_mem: used.map(Bytes),
            server: None,
            errors: Vec::new(),
            damaged_keys: 0,
            salvage: None,
        }
    }

    fn report(name: &str, snapshots: &[(i64, Option<u64>)]) -> NamedReport {
        let mut report = Report::default();
        report.source.files = snapshots.iter().map(snapshot).collect();
        NamedReport { name: name.to_owned(), report }
    }

    #[test]
    fn a_report_of_a_night_has_the_snapshots_of_its_shards() {
        let night = || report("night", &[(1, Some(7)), (2, Some(8))]);
        let shards = || [report("a", &[(1, Some(7))]), report("b", &[(2, Some(8))])];
        let [a, b] = shards();
        let night_of = Some("night".to_owned());
        assert_eq!(copies(&[], &[a, night(), b]), [night_of.clone(), None, night_of.clone()]);
        assert_eq!(copies(&[night()], &shards()), [night_of.clone(), night_of]);
        assert_eq!(copies(&shards(), &[night()]), [Some("a".to_owned())]);
        // A night of which only one shard is known is another one.
        assert_eq!(copies(&shards()[..1], &[night()]), [None]);
    }

    #[test]
    fn shards_of_one_second_are_told_apart_by_what_their_servers_used() {
        let earlier = [report("a", &[(1, Some(7))]), report("b", &[(1, Some(8))]), report("c", &[(1, None)])];
        assert_eq!(copies(&[], &earlier), [None, None, Some("a".to_owned())]);
        let mut selected = report("a", &[(1, Some(7))]);
        selected.report.options.selection = vec!["--db 0".to_owned()];
        assert_eq!(copies(&earlier[..1], &[selected]), [None], "other keys");
        let mut empty = report("d", &[(1, Some(7))]);
        let file = &mut empty.report.source.files[0];
        (file.keys, file.keys_read) = (0, 0);
        assert_eq!(copies(&earlier[..1], &[empty]), [None], "no keys");
    }
}
