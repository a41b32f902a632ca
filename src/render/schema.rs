//! JSON Schemas of reports, comparisons and capacity plans: `docs/*.schema.json`, which the tests generate from their types.
//!
//! The program holds the files, compressed, and not the generator, which took half a megabyte.

#[cfg(feature = "internals")]
pub mod types;

use std::io::{self, Write};

/// A JSON form that has a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Described {
    /// `rdblens analyze --format json`.
    #[default]
    Report,
    /// `rdblens analyze --format json --section NAME`.
    Sections,
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
    pub const ALL: [Described; 6] = [
        Described::Report,
        Described::Sections,
        Described::Compare,
        Described::CompareKeys,
        Described::Capacity,
        Described::Plan,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Described::Report => "report",
            Described::Sections => "sections",
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

    /// Returns the schema as a Zstandard frame: a twelfth of its size. The tests keep these files equal to those in `docs`.
    const fn packed(self) -> &'static [u8] {
        match self {
            Described::Report => include_bytes!("schema/report.json.zst"),
            Described::Sections => include_bytes!("schema/sections.json.zst"),
            Described::Compare => include_bytes!("schema/compare.json.zst"),
            Described::CompareKeys => include_bytes!("schema/compare-keys.json.zst"),
            Described::Capacity => include_bytes!("schema/capacity.json.zst"),
            Described::Plan => include_bytes!("schema/plan.json.zst"),
        }
    }

    /// Writes the schema, in JSON Schema draft 2020-12, of the output of this version. Later versions may add fields, so
    /// unknown ones are not forbidden.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        zstd::stream::copy_decode(self.packed(), out)
    }
}
