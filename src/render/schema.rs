//! JSON Schemas of what is written as JSON, from the types that are written: what `docs/*.schema.json` hold.

use std::io::{self, Write};

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::json::write_pretty;
use crate::report::diff::compare;
use crate::report::{self, Comparison, Report};

/// A JSON form that has a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Described {
    /// `rdblens analyze --format json`.
    #[default]
    Report,
    /// `rdblens compare --format json`.
    Compare,
}

impl Described {
    /// All of them.
    pub const ALL: [Described; 2] = [Described::Report, Described::Compare];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Described::Report => "report",
            Described::Compare => "compare",
        }
    }

    /// The form of that name.
    pub fn from_name(name: &str) -> Option<Described> {
        Described::ALL.into_iter().find(|described| described.name() == name)
    }

    /// Its schema, of JSON Schema draft 2020-12: what this version of the program writes. Fields may be added later, so that
    /// none is forbidden.
    pub fn schema(self) -> Schema {
        match self {
            Described::Report => schema_of::<Report>(report::SCHEMA),
            Described::Compare => schema_of::<Comparison>(compare::SCHEMA),
        }
    }

    /// Writes it.
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

/// Documentation of the code links to other items of it; a schema has their names alone.
#[derive(Debug, Clone)]
struct PlainText;

impl Transform for PlainText {
    fn transform(&mut self, schema: &mut Schema) {
        // What a reader of older reports may assume is no part of what is written.
        schema.remove("default");
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.replace("[`", "`").replace("`]", "`").replace('\n', " ");
        }
        transform_subschemas(self, schema);
    }
}
