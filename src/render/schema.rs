//! JSON Schemas of reports, comparisons and capacity plans, generated from their types; `docs/*.schema.json` hold them.

use std::io::{self, Write};

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::json::write_pretty;
use crate::report::diff::compare;
use crate::report::fleet::{self, FleetPlan};
use crate::report::key_comparison::{self, KeyComparison};
use crate::report::{self, Capacity, Comparison, Report, capacity};

/// A JSON form that has a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Described {
    /// `rdblens analyze --format json`.
    #[default]
    Report,
    /// `rdblens compare --format json`.
    Compare,
    /// `rdblens compare --keys --format json`.
    CompareKeys,
    /// `rdblens capacity --format json`.
    Capacity,
    /// `rdblens plan`.
    Plan,
}

impl Described {
    /// All forms with a schema.
    pub const ALL: [Described; 5] =
        [Described::Report, Described::Compare, Described::CompareKeys, Described::Capacity, Described::Plan];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Described::Report => "report",
            Described::Compare => "compare",
            Described::CompareKeys => "compare-keys",
            Described::Capacity => "capacity",
            Described::Plan => "plan",
        }
    }

    /// Returns the form with this name.
    pub fn from_name(name: &str) -> Option<Described> {
        Described::ALL.into_iter().find(|described| described.name() == name)
    }

    /// Returns the schema, in JSON Schema draft 2020-12, of the output of this version. Later versions may add fields, so
    /// unknown ones are not forbidden.
    pub fn schema(self) -> Schema {
        match self {
            Described::Report => schema_of::<Report>(report::SCHEMA),
            Described::Compare => schema_of::<Comparison>(compare::SCHEMA),
            Described::CompareKeys => schema_of::<KeyComparison>(key_comparison::SCHEMA),
            Described::Capacity => schema_of::<Capacity>(capacity::SCHEMA),
            Described::Plan => schema_of::<FleetPlan>(fleet::SCHEMA),
        }
    }

    /// Writes the schema.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        write_pretty(&self.schema(), out)
    }
}

fn schema_of<T: JsonSchema>(name: &str) -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(PlainText);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), name.into());
    schema
}

/// Transform that turns links in doc comments into plain names: a schema has nothing to link to.
#[derive(Debug, Clone)]
struct PlainText;

impl Transform for PlainText {
    fn transform(&mut self, schema: &mut Schema) {
        // Defaults are for readers of older reports; this version writes every field.
        schema.remove("default");
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.replace("[`", "`").replace("`]", "`").replace('\n', " ");
        }
        transform_subschemas(self, schema);
    }
}
