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
    }
}
