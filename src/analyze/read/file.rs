//! Input files as the workers see them.

use std::sync::{Arc, OnceLock};

use super::raised_limits::RaisedLimits;
use crate::input::Mapped;
use crate::memory::Model;
use crate::rdb::header::RdbHeader;

/// What every worker needs to know of the file that its batch is from.
#[derive(Debug)]
pub struct InputFile {
    /// Position among the inputs.
    pub index: usize,
    /// As reports name it.
    pub name: String,
    /// Prices its values.
    pub model: Arc<Model>,
    /// Price them as well: what was asked about, made of the file's own model.
    pub alternatives: Vec<Model>,
    /// Prices collections just above a limit as if they were below it, where somebody asks.
    pub raised: OnceLock<RaisedLimits>,
}

/// A mapped file whose header has been read.
#[derive(Debug, Clone)]
pub struct MappedFile {
    /// Its models.
    pub file: Arc<InputFile>,
    /// Its bytes.
    pub mapped: Mapped,
    /// What its header says.
    pub header: RdbHeader,
}
