//! Chosen sections of a report as JSON: the top-level fields of the report that hold them, as they are in the whole report.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::write_pretty;
use crate::render::Renderer;
use crate::render::extent::SectionName;
use crate::report::{Report, SECTIONS_SCHEMA};

/// Ids of sections, and the field of a report that holds each. Commands to run next are not in a report.
const FIELDS: &[(&str, &str)] = &[
    ("totals", "totals"),
    ("findings", "findings"),
    ("not-evaluated", "findings"),
    ("baseline", "findings"),
    ("growth", "growth"),
    ("trend", "history"),
    ("owners", "findings"),
    ("breaking", "findings"),
    ("dictionary", "findings"),
    ("budgets", "findings"),
    ("exempted", "findings"),
    ("what-if", "what_if"),
    ("prefixes", "prefixes"),
    ("patterns", "patterns"),
    ("big-keys", "big_keys"),
    ("heaviest", "top"),
    ("longest", "top"),
    ("by-type", "top"),
    ("without-ttl", "no_ttl"),
    ("expiry", "expiry"),
    ("naming", "naming"),
    ("types", "types"),
    ("databases", "databases"),
    ("idle", "idle"),
    ("freq", "freq"),
    ("slots", "slots"),
    ("streams", "streams"),
    ("templates", "hash_templates"),
    ("instance", "instance"),
    ("files", "source"),
    ("server", "server"),
    ("notes", "warnings"),
];

/// Fields of every document.
pub(in crate::render) const FRAME: [&str; 2] = ["rdblens", "complete"];

/// Returns the field of a report that holds a section, if one does.
pub fn field_of(section: SectionName) -> Option<&'static str> {
    FIELDS.iter().find(|(id, _)| *id == section.id()).map(|(_, field)| *field)
}

/// Writes some sections of reports as JSON.
#[derive(Debug, Clone)]
pub struct JsonSectionsRenderer {
    fields: Vec<&'static str>,
}

impl JsonSectionsRenderer {
    /// Returns a renderer of these sections. Those without a [`field_of`] a report are left out.
    pub fn new(sections: &[SectionName]) -> Self {
        JsonSectionsRenderer { fields: sections.iter().filter_map(|section| field_of(*section)).collect() }
    }
}

impl Renderer for JsonSectionsRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        write_pretty(&ChosenFields { report, fields: &self.fields }, out)
    }
}

/// Some fields of a report, serialized in place.
struct ChosenFields<'r> {
    report: &'r Report,
    fields: &'r [&'static str],
}

impl Serialize for ChosenFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", SECTIONS_SCHEMA)?;
        // The pattern names every field of a report, so a new one has to be added here.
        macro_rules! entries {
            ($($field:ident)*) => {
                let Report { schema: _, $($field),* } = self.report;
                $(
                    let name = stringify!($field);
                    if FRAME.contains(&name) || self.fields.contains(&name) {
                        map.serialize_entry(name, $field)?;
                    }
                )*
            };
        }
        entries! {
            rdblens complete options source server instance totals databases types big_keys top no_ttl expiry naming
            findings growth history prefixes patterns idle freq slots streams hash_templates what_if warnings
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::render::JsonRenderer;

    fn text(renderer: &dyn Renderer) -> String {
        let mut out = Vec::new();
        renderer.render(&Report::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Returns the names of the top-level fields, in their order.
    fn names(text: &str) -> Vec<&str> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("  \""));
        lines.filter_map(|line| line.split('"').next()).collect()
    }

    #[test]
    fn every_section_has_a_field_but_what_to_run_next() {
        for section in SectionName::all() {
            assert_eq!(field_of(section).is_none(), section.name() == "next", "{}", section.name());
        }
        for (id, _) in FIELDS {
            assert!(SectionName::all().any(|section| section.id() == *id), "{id} is no section");
        }
    }

    #[test]
    fn fields_are_those_of_the_whole_report_in_its_order() {
        let all: Vec<SectionName> = SectionName::all().collect();
        let (whole, chosen) = (text(&JsonRenderer), text(&JsonSectionsRenderer::new(&all)));
        // An empty history is left out of a whole report, but not where it was chosen.
        let in_order: Vec<&str> = names(&chosen).into_iter().filter(|name| *name != "history").collect();
        assert_eq!(in_order, names(&whole).into_iter().filter(|name| *name != "options").collect::<Vec<_>>());
        let (whole, chosen): (Value, Value) =
            (serde_json::from_str(&whole).unwrap(), serde_json::from_str(&chosen).unwrap());
        assert_eq!((chosen["schema"].as_str(), &chosen["history"]), (Some(SECTIONS_SCHEMA), &Value::Array(vec![])));
        for name in in_order.iter().filter(|name| **name != "schema") {
            assert_eq!(chosen[*name], whole[*name], "{name}");
        }
        for (_, field) in FIELDS {
            assert!(chosen.get(field).is_some(), "{field} is no field");
        }
    }

    #[test]
    fn only_chosen_fields_are_written_each_once() {
        let sections = ["no-ttl", "longest", "heaviest"].map(|name| SectionName::from_name(name).unwrap());
        let chosen = text(&JsonSectionsRenderer::new(&sections));
        assert_eq!(names(&chosen), ["schema", "rdblens", "complete", "top", "no_ttl"]);
    }
}
