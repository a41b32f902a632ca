//! Generates the schemas from the types, for the tests that hold the published ones to them.

use std::io::{self, Write};

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::Described;
use crate::render::json::{sections, write_pretty};
use crate::report::diff::compare;
use crate::report::fleet::{self, FleetPlan};
use crate::report::key_comparison::{self, KeyComparison};
use crate::report::{self, Capacity, Comparison, Report, capacity};

impl Described {
    /// Generates the schema.
    pub fn schema(self) -> Schema {
        match self {
            Described::Report => schema_of::<Report>(report::SCHEMA),
            Described::Sections => sections(),
            Described::Compare => schema_of::<Comparison>(compare::SCHEMA),
            Described::CompareKeys => schema_of::<KeyComparison>(key_comparison::SCHEMA),
            Described::Capacity => schema_of::<Capacity>(capacity::SCHEMA),
            Described::Plan => schema_of::<FleetPlan>(fleet::SCHEMA),
        }
    }

    /// Generates the schema and writes it as it is published.
    pub fn write_generated(self, out: &mut dyn Write) -> io::Result<()> {
        write_pretty(&self.schema(), out)
    }
}

fn schema_of<T: JsonSchema>(name: &str) -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(PlainText);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), name.into());
    schema
}

/// Returns the schema of chosen sections: that of a report, of which only the frame is required.
fn sections() -> Schema {
    let mut schema = schema_of::<Report>(report::SECTIONS_SCHEMA);
    let text = "Some sections of a report: the fields that hold them, as `rdblens analyze --section` chooses them.";
    schema.insert("description".to_owned(), text.into());
    if let Some(Value::Object(name)) = schema.pointer_mut("/properties/schema") {
        name.insert("const".to_owned(), report::SECTIONS_SCHEMA.into());
        name.insert("description".to_owned(), format!("Always `{}`.", report::SECTIONS_SCHEMA).into());
    }
    let frame = std::iter::once("schema").chain(sections::FRAME);
    schema.insert("required".to_owned(), frame.collect::<Vec<_>>().into());
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
