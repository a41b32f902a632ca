//! All keys that a report names, wherever they stand.

use super::{Example, Key, Report};

impl Report {
    /// Shows every key to `see`, to be changed.
    pub fn for_each_key(&mut self, mut see: impl FnMut(&mut Key)) {
        let top = &mut self.top;
        let of_types = top.by_type.iter_mut().flat_map(|of_type| &mut of_type.list);
        let rows = self.big_keys.list.iter_mut().chain(&mut top.by_memory).chain(&mut top.by_length).chain(of_types);
        rows.for_each(|row| see(&mut row.key));
        let of_rules = self.naming.rules.iter_mut().flat_map(|rule| &mut rule.patterns);
        let weights = self.no_ttl.patterns.iter_mut().chain(of_rules).flat_map(|pattern| &mut pattern.examples);
        let found = self.findings.list.iter_mut().flat_map(|finding| &mut finding.patterns);
        let examples: &mut dyn Iterator<Item = &mut Example> = &mut weights
            .chain(found.flat_map(|pattern| &mut pattern.examples))
            .chain(self.patterns.list.iter_mut().map(|pattern| &mut pattern.example))
            .chain(self.slots.iter_mut().flat_map(|slots| &mut slots.list).map(|slot| &mut slot.example));
        examples.for_each(|example| see(&mut example.key));
        let templates = self.hash_templates.iter_mut().flat_map(|templates| &mut templates.list);
        templates.flat_map(|row| &mut row.names).for_each(&mut see);
        self.streams.iter_mut().flat_map(|streams| &mut streams.list).for_each(|row| see(&mut row.key));
        let salvages = self.source.files.iter_mut().filter_map(|file| file.salvage.as_mut());
        salvages.flat_map(|salvage| &mut salvage.damaged).filter_map(|range| range.key.as_mut()).for_each(see);
    }
}

#[cfg(test)]
mod tests {
    use crate::analyze::examples::{empty_report, source_file};
    use crate::report::{DamageExtent, DamagedRange, FileError, Salvage, SourceFile};

    #[test]
    fn keys_of_damaged_values_are_shown() {
        let range = DamagedRange {
            damage: DamageExtent::Value,
            start: 0,
            end: 9,
            db: 0,
            key: Some(b"user:1001".as_slice().into()),
            keys_before: 0,
            keys_behind: 0,
            error: FileError::from("damaged".to_owned()),
        };
        let salvage = Some(Salvage { damaged: vec![range], ..Salvage::default() });
        let mut report = empty_report();
        report.source.files.push(SourceFile { salvage, ..source_file(0) });
        let mut keys = Vec::new();
        report.for_each_key(|key| keys.push(key.0.to_vec()));
        assert_eq!(keys, [b"user:1001"]);
    }
}
