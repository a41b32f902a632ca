//! Output of one report in one or more formats, each to its own destination. All destinations are opened before the analysis
//! starts, and all formats are written before the first file is renamed to its final name, so a failure leaves no partial file. A pipe
//! that fails keeps no file from its name.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::args::{FormatArgs, OutputArgs};
use super::message::notice;
use super::output::{Outlet, Output};
use super::screen::ScreenArgs;
use super::sources::names_stdout;
use crate::error::{Error, Result};
use crate::input::shown_path;
use crate::render::escape_filter::Escapes;
use crate::render::extent::{Extent, Parts, SectionName};
use crate::render::formatted::{self, DocumentOptions, FormattedDocument};
use crate::render::json::field_of;
use crate::render::prometheus::has_metrics;
use crate::render::{
    Format, HtmlRenderer, JsonSectionsRenderer, Lang, PageNames, PrometheusRenderer, Renderer, TableOptions,
};
use crate::report::Report;

/// Requested formats with their destinations.
#[derive(Debug)]
pub struct ReportDelivery {
    parts: Vec<(Format, Output)>,
    labels: Vec<(String, String)>,
    warning: Option<String>,
    extent: Extent,
    sections: Vec<SectionName>,
    names: PageNames,
    bom: bool,
}

impl ReportDelivery {
    /// Opens the destination of each format.
    pub fn open(args: &FormatArgs, output: &OutputArgs, outlet: &Outlet) -> Result<ReportDelivery> {
        let path = output.output.as_deref().filter(|path| !names_stdout(path));
        let formats = formats(args, path)?;
        let (labels, bom) = (args.labels.clone(), args.csv.bom);
        let names = PageNames { title: args.title.clone(), environment: args.environment.clone() };
        let sections = args.sections.clone();
        let extent = match (args.sections.as_slice(), args.full) {
            ([], true) => Extent::Full,
            ([], false) => Extent::Short,
            (names, _) => Extent::Chosen(Parts::of(names)),
        };
        if let [format] = formats.as_slice() {
            let path = path.map(|path| in_folder(path, *format, false));
            let path = path.as_deref();
            let warning = path.and_then(|path| wrong_ending(path, *format));
            let mut out = outlet.open(path)?;
            if *format == Format::Table && args.full && !args.no_pager {
                out.start_pager();
            }
            return Ok(ReportDelivery { parts: vec![(*format, out)], labels, warning, extent, sections, names, bom });
        }
        let path = path.ok_or_else(|| {
            if formats.iter().all(|format| matches!(format, Format::Csv(_))) {
                Error::usage("each section is a CSV file of its own, and several cannot share standard output")
                    .with_hint("give a file name: -o report.csv writes report.SECTION.csv for each of them")
            } else {
                Error::usage("several formats cannot share standard output")
                    .with_hint("give a file name: -o report writes report.json, report.md and so on")
            }
        })?;
        let lists = formats.iter().filter(|format| matches!(format, Format::Csv(_))).count();
        let open = |format: &Format| Ok((*format, outlet.open(Some(&place(path, *format, lists > 1)))?));
        Ok(ReportDelivery {
            parts: formats.iter().map(open).collect::<Result<_>>()?,
            labels,
            warning: None,
            extent,
            sections,
            names,
            bom,
        })
    }

    /// Returns whether CSV is among the formats.
    pub fn writes_lists(&self) -> bool {
        self.parts.iter().any(|(format, _)| matches!(format, Format::Csv(_)))
    }

    /// Returns whether standard output shows the findings of a report.
    pub fn shows_findings(&self) -> bool {
        let is_shown = |(format, out): &(Format, Output)| {
            out.is_stdout() && matches!(format, Format::Table | Format::Json | Format::Html | Format::Markdown)
        };
        self.sections.is_empty() && self.parts.iter().any(is_shown)
    }

    /// Warns of a file whose name promises another format than it will hold.
    pub fn warn(&self) {
        if let Some(warning) = &self.warning {
            notice!("{warning}");
        }
    }

    /// Writes the report in every format. `rows` and `lang` apply to the formats for people.
    pub fn write(self, report: &Report, rows: usize, lang: Lang, screen: &ScreenArgs) -> io::Result<()> {
        let ReportDelivery { parts, labels, extent, sections, names, bom, .. } = self;
        write_parts(parts, None, bom, |format, out| {
            let renderer: Box<dyn Renderer> = match format {
                Format::Json if !sections.is_empty() => Box::new(JsonSectionsRenderer::new(&sections)),
                Format::Prometheus => Box::new(PrometheusRenderer::new(rows, labels.clone()).of_sections(&sections)),
                Format::Html => Box::new(HtmlRenderer::new(lang).showing(extent).named(names.clone()).with_rows(rows)),
                format => format.renderer(TableOptions { extent, ..screen.table(out, Some(rows), lang) }),
            };
            renderer.render(report, out)
        })
    }

    /// Writes a document in every format; CSV consists of `list`. `rows` are complete, and get their name with the rest.
    pub fn write_document<D: FormattedDocument>(
        self,
        document: &D,
        list: D::List,
        rows: Option<Output>,
        table: impl Fn(&Output) -> TableOptions,
    ) -> io::Result<()> {
        let ReportDelivery { parts, labels, names, bom, .. } = self;
        write_parts(parts, rows, bom, |format, out| {
            let (names, labels) = (names.clone(), labels.clone());
            formatted::write(document, format, &DocumentOptions { table: table(out), list, names, labels }, out)
        })
    }
}

/// Writes every format, CSV behind a byte order mark if `bom` is set, then gives the files their names, that of `complete` first.
fn write_parts(
    parts: Vec<(Format, Output)>,
    complete: Option<Output>,
    bom: bool,
    write: impl Fn(Format, &mut Output) -> io::Result<()>,
) -> io::Result<()> {
    let write = |format: Format, out: &mut Output| {
        out.set_escapes(escapes(format));
        if bom && matches!(format, Format::Csv(_)) {
            out.write_bom()?;
        }
        write(format, out)
    };
    // What went to a pipe or standard output cannot be taken back: an error there does not keep the files from their names.
    let is_pipe = |out: &Output| out.is_stream() || out.is_stdout();
    let mut of_pipes = Ok(());
    let mut whole = Vec::with_capacity(parts.len() + 1);
    if let Some(mut out) = complete {
        if !is_pipe(&out) {
            out.flush()?;
        }
        whole.push(out);
    }
    for (format, mut out) in parts {
        // Flush all files before renaming the first: the disk may be full.
        let written = write(format, &mut out);
        let written = if is_pipe(&out) { written } else { written.and_then(|()| out.flush()) };
        match written {
            Err(error) if is_pipe(&out) => of_pipes = of_pipes.and(Err(error)),
            done => {
                done?;
                whole.push(out);
            }
        }
    }
    let (pipes, files): (Vec<_>, Vec<_>) = whole.into_iter().partition(is_pipe);
    let of_pipes = pipes.into_iter().map(Output::finish).fold(of_pipes, io::Result::and);
    files.into_iter().try_for_each(Output::finish)?;
    of_pipes
}

/// Returns how a terminal shows what does not show by itself in a format.
fn escapes(format: Format) -> Escapes {
    match format {
        Format::Table => Escapes::Styled,
        Format::Json => Escapes::Json,
        Format::Html | Format::Markdown | Format::Csv(_) | Format::Prometheus => Escapes::Text,
    }
}

/// Endings of documents that no format writes.
const FOREIGN: [&str; 9] = ["pdf", "xls", "xlsx", "ods", "doc", "docx", "png", "xml", "parquet"];

/// Says that a file will not hold what its ending promises, if so.
pub(super) fn wrong_ending(path: &Path, format: Format) -> Option<String> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let wrong = FOREIGN.contains(&ending.as_str()) || of_name(path).is_some_and(|own| own.name() != format.name());
    let hint = if ending == "pdf" { "; to get a PDF, write HTML and print the page" } else { "" };
    wrong.then(|| will_be(path, format.name(), &ending) + hint)
}

/// Says that a file will hold another format than its name promises.
pub(super) fn will_be(path: &Path, format: &str, promised: &str) -> String {
    format!("{} will be {format}, not {promised}", shown_path(path))
}

/// Returns the requested formats without repetition; by default the format of the output's extension, else the table.
fn formats(args: &FormatArgs, path: Option<&Path>) -> Result<Vec<Format>> {
    let mut asked: Vec<Format> = args.formats.iter().map(|format| format.form()).collect();
    if asked.is_empty() {
        asked.push(path.and_then(of_name).unwrap_or_default());
    }
    let is_list = |format: &Format| matches!(format, Format::Csv(_));
    asked.iter().try_for_each(|format| check_sections(*format, &args.sections))?;
    check_labels(&args.labels, asked.contains(&Format::Prometheus))?;
    if (args.title.is_some() || args.environment.is_some()) && !asked.contains(&Format::Html) {
        return Err(names_without_page());
    }
    if args.csv.bom && !asked.iter().any(is_list) {
        return Err(bom_without_csv());
    }
    let mut formats = Vec::new();
    for format in asked {
        let lists = args.sections.iter().filter_map(|section| section.list()).map(Format::Csv);
        let forms: Vec<Format> =
            if is_list(&format) && !args.sections.is_empty() { lists.collect() } else { vec![format] };
        for form in forms {
            if !formats.contains(&form) {
                formats.push(form);
            }
        }
    }
    Ok(formats)
}

/// Refuses sections that a format cannot have.
fn check_sections(format: Format, sections: &[SectionName]) -> Result<()> {
    let without = |has: &dyn Fn(SectionName) -> bool| sections.iter().find(|section| !has(**section));
    let refused = |what: &str| Error::usage(format!("--section {what} --format {}", format.name()));
    match format {
        Format::Table | Format::Html | Format::Markdown => {}
        Format::Csv(_) => {
            if let Some(section) = without(&|section| section.list().is_some()) {
                let lists: Vec<&str> =
                    SectionName::all().filter(|one| one.list().is_some()).map(SectionName::name).collect();
                return Err(Error::usage(format!("section {} is not available as CSV", section.name()))
                    .with_hint(format!("available: {}", lists.join(", "))));
            }
        }
        Format::Json => {
            if let Some(section) = without(&|section| field_of(section).is_some()) {
                return Err(refused(&format!("{} is for people and not in", section.name()))
                    .with_hint("leave it out, or choose --format table, html or markdown"));
            }
        }
        Format::Prometheus => {
            if let Some(section) = without(&has_metrics) {
                let with: Vec<&str> =
                    SectionName::all().filter(|one| has_metrics(*one)).map(SectionName::name).collect();
                return Err(refused(&format!("{} has no metrics for", section.name()))
                    .with_hint(format!("sections with metrics: {}", with.join(", "))));
            }
        }
    }
    Ok(())
}

/// Builds the error for `--section` without CSV.
pub fn section_without_csv() -> Error {
    Error::usage("--section chooses the list of --format csv").with_hint("add --format csv, or remove --section")
}

/// Builds the error for a flag that asks for Parquet where that is not compiled in.
pub(super) fn without_parquet(flag: &str) -> Error {
    Error::usage(format!("{flag}: rdblens was built without the feature `parquet`"))
        .with_hint("rebuild with the default features")
}

/// Builds the error for `--bom` without CSV.
pub(super) fn bom_without_csv() -> Error {
    Error::usage("--bom requires --format csv").with_hint("add --format csv, or remove --bom")
}

/// Refuses `--label` without metrics, and a name that is given twice: no reader of metrics accepts that.
pub(super) fn check_labels(labels: &[(String, String)], has_metrics: bool) -> Result<()> {
    if !labels.is_empty() && !has_metrics {
        return Err(Error::usage("--label requires --format prometheus")
            .with_hint("add --format prometheus, or remove --label"));
    }
    let mut names = BTreeSet::new();
    match labels.iter().find(|(name, _)| !names.insert(name)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Error::usage(format!("--label {name} is given more than once")).with_hint("give each label once"))
        }
    }
}

/// Builds the error for `--title` or `--environment` without a page.
pub(super) fn names_without_page() -> Error {
    Error::usage("--title and --environment require --format html").with_hint("add --format html, or remove them")
}

/// Returns the format that the extension of a file name stands for.
pub(super) fn of_name(path: &Path) -> Option<Format> {
    Format::from_extension(path.extension()?.to_str()?)
}

/// Name of files in a directory, without their extensions.
const STEM: &str = "report";

/// Returns the file name of one of several formats: for JSON, `report` and `report.html` become `report.json`, `2026.11`
/// becomes `2026.11.json`, and the directory `out/` becomes `out/report.json`. With several CSV lists, the name contains that of the
/// list: `report.patterns.csv`.
fn place(path: &Path, format: Format, several_lists: bool) -> PathBuf {
    if names_folder(path) {
        return in_folder(path, format, several_lists);
    }
    with_ending(if of_name(path).is_some() { path.with_extension("") } else { path.to_owned() }, format, several_lists)
}

/// Returns the file of a format in a directory, or the path itself if it is that of a file: `out/` becomes `out/report.json`.
pub(super) fn in_folder(path: &Path, format: Format, several_lists: bool) -> PathBuf {
    if names_folder(path) { with_ending(path.join(STEM), format, several_lists) } else { path.to_owned() }
}

fn names_folder(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(std::path::is_separator) || path.is_dir()
}

/// Adds the name of the list, if there are several, and the extension of the format.
fn with_ending(stem: PathBuf, format: Format, several_lists: bool) -> PathBuf {
    let mut name = OsString::from(stem);
    if let Format::Csv(section) = format
        && several_lists
    {
        name.push(".");
        name.push(section.name());
    }
    if let Some(extension) = format.extensions().first() {
        name.push(".");
        name.push(extension);
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::ReportFormat;
    use crate::render::csv::CsvSection;
    use crate::render::extent::SectionName;

    #[test]
    fn each_of_several_forms_has_its_own_name() {
        let name = |path: &str, format| place(Path::new(path), format, false).to_str().map(str::to_owned);
        assert_eq!(name("out/report", Format::Json).as_deref(), Some("out/report.json"));
        assert_eq!(name("out/report.md", Format::Json).as_deref(), Some("out/report.json"));
        assert_eq!(name("shop-2026.11", Format::Table).as_deref(), Some("shop-2026.11.txt"));
        assert_eq!(name("out/", Format::Html).as_deref(), Some("out/report.html"));
        assert_eq!(name("src", Format::Json).as_deref(), Some("src/report.json"), "a directory that is there");
        let list = place(Path::new("a.csv"), Format::Csv(CsvSection::Types), true);
        assert_eq!(list.to_str(), Some("a.types.csv"));
    }

    #[test]
    fn a_name_says_its_format_where_nothing_else_does() {
        let asked = |asked: &[ReportFormat], path: &str| {
            formats(&FormatArgs { formats: asked.to_vec(), ..FormatArgs::default() }, Some(Path::new(path))).unwrap()
        };
        assert_eq!(asked(&[], "a.json"), [Format::Json]);
        assert_eq!(asked(&[], "a.PROM"), [Format::Prometheus]);
        assert_eq!(asked(&[], "a.log"), [Format::Table]);
        assert_eq!(asked(&[ReportFormat::Table], "a.json"), [Format::Table]);
        assert_eq!(asked(&[ReportFormat::Json, ReportFormat::Table, ReportFormat::Json], "a").len(), 2);
    }

    #[test]
    fn what_only_one_form_heeds_is_wrong_usage_without_it() {
        let sections = ["types", "files", "types"].map(|name| SectionName::from_name(name).unwrap());
        let args = |formats| FormatArgs { formats, sections: sections.to_vec(), ..FormatArgs::default() };
        assert_eq!(formats(&args(vec![ReportFormat::Json]), None).unwrap(), [Format::Json]);
        assert_eq!(formats(&args(vec![]), None).unwrap(), [Format::Table]);
        let lists = formats(&args(vec![ReportFormat::Json, ReportFormat::Csv]), None).unwrap();
        assert_eq!(lists, [Format::Json, Format::Csv(CsvSection::Types), Format::Csv(CsvSection::Files)]);
    }

    #[test]
    fn sections_that_a_format_cannot_have_are_refused_with_those_that_it_has() {
        let check = |format, name| check_sections(format, &[SectionName::from_name(name).unwrap()]);
        assert!(check(Format::Table, "next").is_ok() && check(Format::Json, "server").is_ok());
        assert!(check(Format::Prometheus, "cold").is_ok() && check(Format::Csv(CsvSection::Types), "notes").is_err());
        let error = check(Format::Json, "next").unwrap_err().to_string();
        assert!(error.starts_with("--section next is for people and not in --format json ("), "{error}");
        let error = check(Format::Prometheus, "heaviest").unwrap_err();
        let hint = error.hint().unwrap();
        assert!(
            error.to_string().starts_with("--section heaviest has no metrics for --format prometheus ("),
            "{error}"
        );
        assert!(hint.contains("totals, files, ") && !hint.contains("heaviest"), "{hint}");
    }
}
