//! Reports that several processes compute: plan, partial reports, merging. Plans are JSON, partial reports bytes.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rdblens::fleet::{self, MergeChoices, PartialMerger, PartialReport};
use rdblens::{Error, Result};

use crate::background;
use crate::errors::raised;
use crate::options::Options;
use crate::report::json;

/// Returns the JSON of a plan for the inputs.
#[pyfunction]
pub fn plan(py: Python<'_>, paths: Vec<PathBuf>, options: Options) -> PyResult<Vec<u8>> {
    background::run(py, move |cancel| json(&fleet::plan(&paths, &options.report()?, cancel)?))
}

/// Returns the files of one of several parts of similar size, by position.
#[pyfunction]
pub fn shard(py: Python<'_>, plan: Vec<u8>, number: u64, count: u64) -> PyResult<Vec<usize>> {
    let plan = fleet::read_plan(&plan, "plan").map_err(|error| raised(py, &error))?;
    Ok(plan.shard(number, count))
}

/// Returns the partial report of the files at these positions of a plan.
#[pyfunction]
pub fn partial(py: Python<'_>, plan: Vec<u8>, files: Vec<usize>, options: Options) -> PyResult<Py<PyBytes>> {
    let bytes = background::run(py, move |cancel| {
        let plan = fleet::read_plan(&plan, "plan")?;
        fleet::partial(&plan, &files, &options.read()?, cancel)?.to_bytes()
    })?;
    Ok(PyBytes::new(py, &bytes).unbind())
}

/// Merges partial reports: to the JSON of a report, or to another partial report.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    plan: Vec<u8>,
    parts: Vec<(String, Vec<u8>)>,
    to_partial: bool,
    options: Options,
) -> PyResult<Py<PyBytes>> {
    let bytes = background::run(py, move |_| {
        let plan = fleet::read_plan(&plan, "plan")?;
        let mut merger = PartialMerger::new(&plan, choices(&options)?)?;
        for (name, bytes) in parts {
            let part = PartialReport::read(&*bytes).map_err(|error: Error| error.in_file(&name))?;
            merger.add(part, &name)?;
        }
        if to_partial { merger.into_partial()?.to_bytes() } else { json(&merger.report()?) }
    })?;
    Ok(PyBytes::new(py, &bytes).unbind())
}

fn choices(options: &Options) -> Result<MergeChoices> {
    let usual = MergeChoices::default();
    let (depth, min_share) = options.prefixes();
    Ok(MergeChoices {
        mask: options.mask_key(),
        baseline: options.baseline()?.map(Arc::new),
        now: options.now(),
        depth: depth.unwrap_or(usual.depth),
        min_share: min_share.unwrap_or(usual.min_share),
        ..usual
    })
}
