//! Reports, their comparison, and verification of files. Results are JSON, which Python's half reads.

use std::path::PathBuf;

use pyo3::prelude::*;
use rdblens::forms::{HtmlRenderer, Lang, PageNames, Renderer, write_line, write_pretty};
use rdblens::{Error, NamedReport, Report, Result};

use crate::background;
use crate::options::Options;

/// Returns the JSON of a report on the inputs.
#[pyfunction]
pub fn analyze(py: Python<'_>, paths: Vec<PathBuf>, options: Options) -> PyResult<Vec<u8>> {
    background::run(py, move |cancel| json(&rdblens::analyze(&paths, &options.report()?, cancel)?))
}

/// Returns the JSON of the verdict on a file.
#[pyfunction]
pub fn check(py: Python<'_>, path: PathBuf, options: Options) -> PyResult<Vec<u8>> {
    background::run(py, move |cancel| {
        let verdicts = rdblens::check(&[&path], &options.read()?, cancel)?;
        match verdicts.as_slice() {
            [verdict] => {
                let mut line = Vec::new();
                write_line(verdict, &mut line)?;
                line.push(b'\n');
                Ok(line)
            }
            all => Err(Error::usage(format!("{}: {} files; check one at a time", path.display(), all.len()))),
        }
    })
}

/// Returns the JSON of a comparison of reports, each with its name, oldest first.
#[pyfunction]
pub fn compare(py: Python<'_>, reports: Vec<(String, Vec<u8>)>, options: Options) -> PyResult<Vec<u8>> {
    background::run(py, move |_| json(&comparison(reports, &options)?))
}

/// Returns a comparison as a page.
#[pyfunction]
pub fn comparison_html(
    py: Python<'_>,
    reports: Vec<(String, Vec<u8>)>,
    options: Options,
    lang: String,
) -> PyResult<String> {
    background::run(py, move |_| {
        let (comparison, mut page) = (comparison(reports, &options)?, Vec::new());
        HtmlRenderer::new(language(&lang)?).render_comparison(&comparison, &mut page)?;
        text(page)
    })
}

/// Returns a report as a page.
#[pyfunction]
pub fn report_html(
    py: Python<'_>,
    report: Vec<u8>,
    lang: String,
    title: Option<String>,
    environment: Option<String>,
) -> PyResult<String> {
    background::run(py, move |_| {
        let report = Report::read(&report, "report")?;
        let page = HtmlRenderer::new(language(&lang)?).with_rows(report.options.rows);
        let mut html = Vec::new();
        page.named(PageNames { title, environment }).render(&report, &mut html)?;
        text(html)
    })
}

fn comparison(reports: Vec<(String, Vec<u8>)>, options: &Options) -> Result<rdblens::Comparison> {
    let read = |(name, json): &(String, Vec<u8>)| NamedReport::read(json, name);
    let reports: Vec<NamedReport> = reports.iter().map(read).collect::<Result<_>>()?;
    rdblens::compare(reports, &options.comparison()).ok_or_else(|| Error::usage("at least two reports are compared"))
}

/// Returns the JSON of a value, in the layout of the command line.
pub fn json<T: serde::Serialize>(value: &T) -> Result<Vec<u8>> {
    let mut json = Vec::new();
    write_pretty(value, &mut json)?;
    Ok(json)
}

fn language(name: &str) -> Result<Lang> {
    let known = Lang::ALL.into_iter().find(|lang| lang.name() == name);
    known.ok_or_else(|| Error::usage(format!("no language \"{name}\"")).with_hint("the languages are en and zh"))
}

fn text(page: Vec<u8>) -> Result<String> {
    String::from_utf8(page).map_err(|error| std::io::Error::other(error).into())
}
