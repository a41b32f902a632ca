//! Input files as the workers see them.

use std::sync::{Arc, OnceLock};

use super::raised_limits::RaisedLimits;
use crate::input::Mapped;
use crate::memory::{Model, TemplateShares, TemplateUsers};
use crate::rdb::boundary::FileFormat;
use crate::rdb::header::RdbHeader;
use crate::rdb::template::Templates;

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
    /// Shares of compact hashes in their templates, once the users have been counted.
    pub template_shares: OnceLock<TemplateShares>,
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
    /// Hash templates before the first key.
    pub templates: Option<Arc<Templates>>,
    /// True if Redis Enterprise wrote it.
    pub enterprise: bool,
}

impl InputFile {
    /// Computes the shares of compact hashes in `templates`, given their users, so that keys can be priced with them.
    pub fn share_templates(&self, templates: &Templates, users: &TemplateUsers) {
        let models = std::iter::once(&*self.model).chain(&self.alternatives);
        self.template_shares.get_or_init(|| users.shares(templates, models));
    }
}

impl MappedFile {
    /// Returns what a search for record boundaries has to know.
    pub fn format(&self) -> FileFormat<'_> {
        FileFormat { family: self.header.family, templates: self.templates.as_ref(), enterprise: self.enterprise }
    }
}
