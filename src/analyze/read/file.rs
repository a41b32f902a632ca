//! Input files as the workers see them.

use std::sync::{Arc, OnceLock};

use super::raised_limits::RaisedLimits;
use crate::input::Mapped;
use crate::memory::Model;
use crate::rdb::header::RdbHeader;

/// An input file with its memory models.
#[derive(Debug)]
pub struct InputFile {
    /// Position among the inputs.
    pub index: usize,
    /// Name in reports.
    pub name: String,
    /// Memory model of its server.
    pub model: Arc<Model>,
    /// Models of the alternatives asked for, derived from the file's own.
    pub alternatives: Vec<Model>,
    /// Prices collections just above a compact-encoding limit as if they were below it, where a rule asks.
    pub raised: OnceLock<RaisedLimits>,
}

/// A mapped file whose header has been read.
#[derive(Debug, Clone)]
pub struct MappedFile {
    /// The file with its models.
    pub file: Arc<InputFile>,
    /// The bytes.
    pub map: Mapped,
    /// The header.
    pub header: RdbHeader,
}
