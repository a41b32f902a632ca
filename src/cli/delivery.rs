//! One report in one or more forms, each to its own place. Every place is opened before the work begins, and all forms are
//! written before the first file appears under its name: what fails leaves nothing half.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::args::{FormatArgs, OutputArgs, ReportFormat};
use super::output::{Output, table_options};
use crate::error::{Error, Result};
use crate::render::{Format, Lang};
use crate::report::Report;

/// The forms of a report and where they go.
#[derive(Debug)]
pub struct Delivery(Vec<(Format, Output)>);

impl Delivery {
    /// Opens the place of each form.
    pub fn open(args: &FormatArgs, output: &OutputArgs) -> Result<Delivery> {
        let path = output.output.as_deref().filter(|path| path.as_os_str() != "-");
        let formats = formats(args, path);
        let [format] = formats.as_slice() else {
            let path = path.ok_or_else(|| {
                Error::usage("several formats were asked for, and one place to write to")
                    .with_hint("-o report writes each to a file of its own: report.json, report.md")
            })?;
            let open = |format: &Format| Ok((*format, Output::open(Some(&place(path, *format)))?));
            return formats.iter().map(open).collect::<Result<_>>().map(Delivery);
        };
        Ok(Delivery(vec![(*format, Output::open(path)?)]))
    }

    /// Writes every form. `rows` and `lang` are for those that people read.
    pub fn write(mut self, report: &Report, rows: usize, lang: Lang) -> io::Result<()> {
        for (format, out) in &mut self.0 {
            let table = table_options(out, rows, lang);
            format.renderer(table).render(report, out)?;
        }
        self.0.into_iter().try_for_each(|(_, out)| out.finish())
    }
}

/// What was asked for, each once; else what the name of the output ends in; else a table.
fn formats(args: &FormatArgs, path: Option<&Path>) -> Vec<Format> {
    let mut formats: Vec<Format> = Vec::new();
    for format in args.formats.iter().map(|format| format_of(*format)) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    if formats.is_empty() {
        formats.push(path.and_then(of_name).unwrap_or_default());
    }
    formats
}

/// The format that a file of this name has.
fn of_name(path: &Path) -> Option<Format> {
    Format::from_extension(path.extension()?.to_str()?)
}

fn format_of(arg: ReportFormat) -> Format {
    match arg {
        ReportFormat::Table => Format::Table,
        ReportFormat::Json => Format::Json,
    }
}

/// The file of one of several forms: `report` and `report.html` are `report.json` for JSON, `2026.11` is `2026.11.json`.
fn place(path: &Path, format: Format) -> PathBuf {
    if of_name(path) == Some(format) {
        return path.to_owned();
    }
    let stem = if of_name(path).is_some() { path.with_extension("") } else { path.to_owned() };
    let mut name = OsString::from(stem);
    if let Some(extension) = format.extensions().first() {
        name.push(".");
        name.push(extension);
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_several_forms_has_its_own_name() {
        let name = |path: &str, format| place(Path::new(path), format).to_str().map(str::to_owned);
        assert_eq!(name("out/report", Format::Json).as_deref(), Some("out/report.json"));
        assert_eq!(name("out/report.txt", Format::Json).as_deref(), Some("out/report.json"));
        assert_eq!(name("out/report.JSON", Format::Json).as_deref(), Some("out/report.JSON"));
        assert_eq!(name("shop-2026.11", Format::Table).as_deref(), Some("shop-2026.11.txt"));
    }

    #[test]
    fn a_name_says_its_format_where_nothing_else_does() {
        let asked = |formats: &[ReportFormat], path: &str| formats_of(&FormatArgs { formats: formats.to_vec() }, path);
        fn formats_of(args: &FormatArgs, path: &str) -> Vec<Format> {
            formats(args, Some(Path::new(path)))
        }
        assert_eq!(asked(&[], "a.json"), [Format::Json]);
        assert_eq!(asked(&[], "a.log"), [Format::Table]);
        assert_eq!(asked(&[ReportFormat::Table], "a.json"), [Format::Table]);
        assert_eq!(asked(&[ReportFormat::Json, ReportFormat::Table, ReportFormat::Json], "a").len(), 2);
    }
}
