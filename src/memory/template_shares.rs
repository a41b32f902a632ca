//! Shares of compact hashes in the memory of their templates.
//!
//! `MEMORY USAGE` counts the bytes of a template divided by the number of live keys that use it, in all databases. So the
//! users must be counted before the first key is priced.

use super::Model;
use crate::rdb::string::RawString;
use crate::rdb::template::{HashTemplate, TemplateNames, Templates};
use crate::rdb::walk::Visit;

/// Structures of a template besides its names.
const TEMPLATE: u64 = 80;
/// Pointer to a name.
const POINTER: u64 = 8;

impl Model {
    /// Returns the bytes that a template takes.
    pub fn template_bytes(&self, template: &HashTemplate) -> u64 {
        let names = template.fields().map(|name| POINTER + self.usable(self.sds_size(name.len() as u64)));
        names.fold(TEMPLATE, u64::saturating_add)
    }
}

/// Number of live keys by template.
#[derive(Debug, Clone, Default)]
pub struct TemplateUsers {
    users: Vec<u64>,
    /// Template of the value walked last.
    last: Option<usize>,
    scratch: Vec<u8>,
}

impl TemplateUsers {
    /// Counts a user of the template of the value walked last, if it was a compact hash that is alive.
    pub fn count(&mut self, alive: bool) {
        let Some(place) = self.last.take().filter(|_| alive) else { return };
        if self.users.len() <= place {
            self.users.resize(place + 1, 0);
        }
        self.users[place] += 1;
    }

    /// Returns the share of each template under each model: that of the file's server, then the alternatives.
    pub fn shares<'m>(&self, templates: &Templates, models: impl Iterator<Item = &'m Model>) -> TemplateShares {
        let share = |model: &Model, (place, template): (usize, &HashTemplate)| {
            model.template_bytes(template) / self.users.get(place).copied().unwrap_or(0).max(1)
        };
        TemplateShares(models.map(|model| templates.iter().enumerate().map(|it| share(model, it)).collect()).collect())
    }
}

/// Only the template of a value matters.
impl Visit for TemplateUsers {
    fn lengths_suffice(&self) -> bool {
        true
    }

    fn template(&mut self, template: &HashTemplate) {
        self.last = Some(template.place());
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        self.last = names.place(blob, &mut self.scratch);
    }
}

/// Share of a key in the memory of its template, by model and template.
#[derive(Debug, Clone, Default)]
pub struct TemplateShares(Vec<Vec<u64>>);

impl TemplateShares {
    /// Returns the shares under the model at this position.
    pub fn of(&self, model: usize) -> &[u64] {
        self.0.get(model).map_or(&[], Vec::as_slice)
    }
}
