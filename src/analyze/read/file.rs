//! Input files as the workers see them.

use std::sync::{Arc, OnceLock};

use super::raised_limits::RaisedLimits;
use crate::input::Mapped;
use crate::limits::Budget;
use crate::memory::{HeldTemplates, LazyTemplates, Model};
use crate::rdb::boundary::FileFormat;
use crate::rdb::header::RdbHeader;
use crate::rdb::template::Templates;
use crate::units::Millis;

/// An input file with its memory models.
#[derive(Debug)]
pub struct InputFile {
    /// Position among the inputs.
    pub index: usize,
    /// Name in reports.
    pub name: String,
    /// Time that expiries of its keys are compared with: that given by the user, or its own; `None` if unknown.
    pub reference: Option<Millis>,
    /// Memory model of its server.
    pub model: Arc<Model>,
    /// Models of the alternatives asked for, derived from the file's own.
    pub alternatives: Arc<[Model]>,
    /// Prices collections just above a compact-encoding limit as if they were below it, where a rule asks.
    pub raised: OnceLock<RaisedLimits>,
    /// Memory that its values may take.
    pub budget: Budget,
    /// Hash templates as the servers hold them; set before the first record is read.
    pub held_templates: OnceLock<LazyTemplates>,
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
    /// Returns the models: the file's own, then the alternatives.
    pub fn models(&self) -> impl Iterator<Item = &Model> {
        std::iter::once(&*self.model).chain(self.alternatives.iter())
    }

    /// Returns the time that expiries of its keys are compared with, in a snapshot whose latest file is of the time `whole`.
    /// Files of unknown time have the latest; without any, no expiry is compared.
    pub fn reference_in(&self, whole: Option<Millis>) -> Option<Millis> {
        whole.map(|whole| self.reference.unwrap_or(whole))
    }

    /// Returns the hash templates if a key needed them and they could be counted.
    pub fn counted_templates(&self) -> Option<&HeldTemplates> {
        self.held_templates.get()?.needed()
    }
}

impl MappedFile {
    /// Returns what a search for record boundaries has to know.
    pub fn format(&self) -> FileFormat<'_> {
        FileFormat { family: self.header.family, templates: self.templates.as_ref(), enterprise: self.enterprise }
    }
}
