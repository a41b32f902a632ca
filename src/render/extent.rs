//! How much of a report the forms for people show, and the names of its sections.

use super::csv::CsvSection;
use super::sections;

/// How much of a report a form for people shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// A screen or two: totals, findings, prefixes and keys at the top.
    Short,
    /// Every section.
    #[default]
    Full,
    /// Some sections, in the order of the report.
    Chosen(Parts),
}

/// A set of sections of a document, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts(u64);

impl Parts {
    /// Returns the set of the sections with these names.
    pub fn of(names: &[SectionName]) -> Parts {
        let chosen = |id: &str| names.iter().any(|name| name.part() == Some(id));
        let bits = sections::ids().enumerate().filter(|(_, id)| chosen(id));
        Parts(bits.fold(0, |bits, (at, _)| bits | 1 << at))
    }

    /// Returns whether the section at this place is in the set.
    pub(super) fn has(self, at: usize) -> bool {
        at < 64 && self.0 >> at & 1 == 1
    }
}

/// Name of a section on the command line: of a list, of a part of a document, or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionName(&'static str);

/// Lists and the parts of a document that show them, where their names differ.
const PARTS_OF_LISTS: [(&str, &str); 6] = [
    ("no-ttl", "without-ttl"),
    ("finding-patterns", "findings"),
    ("cold", "idle"),
    ("slot-ranges", "slots"),
    ("what-if-parts", "what-if"),
    ("warnings", "notes"),
];

/// Parts of a document that are no list, and what they show.
const NO_LISTS: [(&str, &str); 5] = [
    ("breaking", "The patterns that violate most rules."),
    ("next", "Suggested next commands."),
    ("notes", "Warnings about the figures."),
    ("server", "The server, as the file describes it."),
    ("trend", "Memory over earlier snapshots, and its forecast."),
];

impl SectionName {
    /// Returns all names, those of lists first.
    pub fn all() -> impl Iterator<Item = SectionName> {
        let lists = CsvSection::ALL.iter().map(|list| list.name());
        lists.chain(NO_LISTS.iter().map(|(name, _)| *name)).map(SectionName)
    }

    /// Returns the section of that name.
    pub fn from_name(name: &str) -> Option<SectionName> {
        SectionName::all().find(|section| section.0 == name)
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Returns the description.
    pub fn what(self) -> &'static str {
        let other = || NO_LISTS.iter().find(|(name, _)| *name == self.0).map_or("", |(_, what)| what);
        self.list().map_or_else(other, CsvSection::what)
    }

    /// Returns the list of that name.
    pub fn list(self) -> Option<CsvSection> {
        CsvSection::from_name(self.0)
    }

    /// Returns the id of the section, which names of lists share with the part of a document that shows them.
    pub(super) fn id(self) -> &'static str {
        self.part().unwrap_or(self.0)
    }

    /// Returns the name that chooses a part of a document.
    pub(super) fn of_part(id: &'static str) -> &'static str {
        if SectionName::from_name(id).is_some() {
            return id;
        }
        PARTS_OF_LISTS
            .iter()
            .find(|(list, part)| *part == id && !SectionName::is_part(list))
            .map_or(id, |(list, _)| list)
    }

    /// Returns whether a part of a document has this id.
    fn is_part(id: &str) -> bool {
        sections::ids().any(|part| part == id)
    }

    /// Returns the id of the part of a document; `None` for the totals, which are at its head.
    pub(super) fn part(self) -> Option<&'static str> {
        let renamed = PARTS_OF_LISTS.iter().find(|(list, _)| *list == self.0).map(|(_, part)| *part);
        renamed.or((self.0 != "totals").then_some(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_goes_by_its_own_name_if_that_chooses_it() {
        for (part, name) in [("slots", "slots"), ("findings", "findings"), ("idle", "idle"), ("without-ttl", "no-ttl")]
        {
            assert_eq!(SectionName::of_part(part), name);
        }
    }

    #[test]
    fn every_section_has_a_name_and_every_name_a_section() {
        let parts: Vec<&str> = SectionName::all().filter_map(SectionName::part).collect();
        for id in sections::ids() {
            assert!(parts.contains(&id), "{id}");
        }
        for part in parts {
            assert!(sections::ids().any(|id| id == part), "{part}");
        }
        for name in SectionName::all() {
            assert!(SectionName::from_name(name.name()) == Some(name) && name.what().ends_with('.'), "{name:?}");
        }
        assert!(sections::ids().count() <= 64);
    }

    #[test]
    fn sets_hold_what_was_chosen() {
        let names = ["types", "no-ttl"].map(|name| SectionName::from_name(name).unwrap());
        let parts = Parts::of(&names);
        let chosen: Vec<&str> =
            sections::ids().enumerate().filter(|(at, _)| parts.has(*at)).map(|(_, id)| id).collect();
        assert_eq!(chosen, ["without-ttl", "types"]);
    }
}
