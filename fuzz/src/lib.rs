//! What the fuzz targets check. `tests/it/fuzz.rs` calls the same functions on stored inputs and on mutants of them.
//!
//! A check takes any bytes and panics if a promise is broken.

pub mod containers;
pub mod partial;
pub mod policy;
pub mod price;
pub mod salvage;
pub mod seeds;
pub mod show;
pub mod stored;
pub mod value;
pub mod whole;

use std::io::Write;
use std::path::Path;

use rdblens::internals::render::{Format, Lang, TableOptions};
use rdblens::report::Report;
use tempfile::NamedTempFile;

/// Name of a target, and its check.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 8] = [
    ("containers", containers::check),
    ("partial", partial::check),
    ("policy", policy::check),
    ("price", price::check),
    ("salvage", salvage::check),
    ("show", show::check),
    ("stored", stored::check),
    ("whole", whole::check),
];

/// Input file that is removed at the end.
pub struct InputFile(NamedTempFile);

impl InputFile {
    /// Creates a file of these bytes.
    pub fn new(bytes: &[u8]) -> InputFile {
        let mut file = tempfile::Builder::new().suffix(".rdb").tempfile().expect("the temporary folder takes files");
        file.write_all(bytes).expect("the temporary folder has room");
        InputFile(file)
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Renders a report in every form and language, and checks that those for people hold nothing that acts on a terminal.
///
/// Returns the JSON form.
pub fn render(report: &Report) -> Vec<u8> {
    let mut json = Vec::new();
    for format in Format::ALL {
        for lang in Lang::ALL {
            let table = TableOptions { lang, ..TableOptions::default() };
            let mut out = Vec::new();
            format.renderer(table).render(report, &mut out).expect("memory can be written");
            match format {
                Format::Table | Format::Markdown | Format::Html => shows_all(&out),
                Format::Json => json = out,
                Format::Csv(_) | Format::Prometheus => {}
            }
        }
    }
    json
}

/// Checks that a text has no escape sequences and no characters that turn the direction of a line.
pub fn shows_all(text: &[u8]) {
    let text = std::str::from_utf8(text).expect("text is UTF-8");
    let is_hostile = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    if let Some(at) = text.find(is_hostile) {
        panic!("hidden character at byte {at} of {text:?}");
    }
}
