//! What the fuzz targets check. `tests/it/fuzz.rs` calls the same functions on stored inputs and on mutants of them.
//!
//! A check takes any bytes and panics if a promise is broken. Some take a [`Sample`] besides: rendering takes ten times as long as
//! reading, so a fuzzer runs most inputs if each of them is rendered in one form.

pub mod containers;
pub mod partial;
pub mod policy;
pub mod price;
pub mod salvage;
pub mod sample;
pub mod seeds;
pub mod show;
pub mod stored;
pub mod value;
pub mod whole;

use std::io::Write;
use std::path::Path;

use rdblens::internals::render::formatted::{self, DocumentOptions, FormattedDocument, Labels};
use rdblens::internals::render::{Format, Lang, PageNames, TableOptions};
use rdblens::report::Report;
use tempfile::NamedTempFile;

pub use sample::Sample;

/// Name of a target, and its check of all that it can check.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 8] = [
    ("containers", containers::check),
    ("partial", |input| partial::check(input, Sample::All)),
    ("policy", |input| policy::check(input, Sample::All)),
    ("price", price::check),
    ("salvage", salvage::check),
    ("show", show::check),
    ("stored", |input| stored::check(input, Sample::All)),
    ("whole", |input| whole::check(input, Sample::All)),
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

/// Renders a report in the forms and languages of the sample, and checks that those for people hold nothing that acts on a terminal.
pub fn render(report: &Report, sample: &mut Sample) {
    let forms = Format::ALL.into_iter().flat_map(|format| Lang::ALL.map(|lang| (format, lang)));
    for (format, lang) in sample.of(forms.collect()) {
        let out = rendered(report, format, lang);
        match format {
            Format::Table | Format::Markdown | Format::Html => shows_all(&out),
            Format::Json => assert!(out == json(report), "JSON depends on the language"),
            Format::Csv(_) | Format::Prometheus => {
                std::str::from_utf8(&out).expect("text is UTF-8");
            }
        }
    }
}

/// Writes a document in several forms; those for people have no hidden characters.
pub fn render_document<D: FormattedDocument>(document: &D, list: D::List, sample: &mut Sample) {
    let forms = Format::ALL.into_iter().flat_map(|format| Lang::ALL.map(|lang| (format, lang)));
    for (format, lang) in sample.of(forms.collect()) {
        let (names, labels) = (PageNames::default(), Labels::new());
        let table = TableOptions { lang, ..TableOptions::default() };
        let options = DocumentOptions { table, list, names, labels };
        let mut out = Vec::new();
        formatted::write(document, format, &options, &mut out).expect("memory can be written");
        match format {
            Format::Table | Format::Markdown | Format::Html => shows_all(&out),
            Format::Json | Format::Csv(_) | Format::Prometheus => {
                std::str::from_utf8(&out).expect("text is UTF-8");
            }
        }
    }
}

/// Returns the JSON form of a report.
pub fn json(report: &Report) -> Vec<u8> {
    rendered(report, Format::Json, Lang::default())
}

fn rendered(report: &Report, format: Format, lang: Lang) -> Vec<u8> {
    let mut out = Vec::new();
    let table = TableOptions { lang, ..TableOptions::default() };
    format.renderer(table).render(report, &mut out).expect("memory can be written");
    out
}

/// Checks that a text has no escape sequences and no characters that turn the direction of a line.
pub fn shows_all(text: &[u8]) {
    let text = std::str::from_utf8(text).expect("text is UTF-8");
    // Without a branch for each byte, which instrumentation would count.
    let controls =
        text.bytes().fold(0, |found, byte| found | u8::from((byte < b' ') & (byte != b'\n') | (byte == 0x7f)));
    let longer_controls =
        text.as_bytes().windows(2).fold(0, |found, bytes| found | u8::from((bytes[0] == 0xc2) & (bytes[1] < 0xa0)));
    let turns = text.as_bytes().windows(3).fold(0, |found, bytes| {
        found | u8::from((bytes[0] == 0xe2) & (bytes[1] == 0x80) & (0xaa..=0xae).contains(&bytes[2]))
    });
    if controls | longer_controls | turns != 0 {
        panic!("hidden character in {text:?}");
    }
}
