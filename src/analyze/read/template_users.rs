//! Counts the users of hash templates before the first compact hash is priced.
//!
//! Only files with compact hashes take this pass, or such whose hashes the settings make compact. It walks each value once, and
//! decompresses at most a few bytes of those that refer to the table of the file.

use std::sync::Arc;

use super::feed::{PreparedInput, ReadAgain};
use crate::error::Result;
use crate::memory::{HeldTemplates, LazyTemplates, Model, TemplateCensus};
use crate::rdb::batch::ReadValue;
use crate::rdb::scan::{KeyEntry, Scanner};
use crate::units::Millis;

/// Input whose templates can be counted, for these models.
#[derive(Debug)]
struct CountedInput {
    again: Option<ReadAgain>,
    base: Arc<Model>,
    alternatives: Arc<[Model]>,
    reference: Option<Millis>,
    /// Number of files of the snapshot.
    files: usize,
}

/// Returns the templates of one of `files` inputs, to be counted on demand: a user is a key alive at `reference`.
pub fn lazy(
    prepared: &PreparedInput,
    base: &Arc<Model>,
    alternatives: &Arc<[Model]>,
    reference: Option<Millis>,
    files: usize,
) -> LazyTemplates {
    let again = prepared.read_again();
    let input =
        CountedInput { again, base: Arc::clone(base), alternatives: Arc::clone(alternatives), reference, files };
    LazyTemplates::new(move || input.count())
}

impl CountedInput {
    fn models(&self) -> impl Iterator<Item = &Model> {
        std::iter::once(&*self.base).chain(self.alternatives.iter())
    }

    /// Counts users. Damage ends the count, as it ends the pass that prices keys.
    fn count(&self) -> Option<HeldTemplates> {
        let mut batches = self.again.as_ref()?.batches()?;
        let census = TemplateCensus::new(self.models(), self.files);
        let mut counting = Counting { census, reference: self.reference };
        while batches.next_batch_with(&mut counting).is_some() {}
        Some(counting.census.finish(self.models(), batches.templates()))
    }
}

/// A census over the keys alive at a time.
struct Counting {
    census: TemplateCensus,
    reference: Option<Millis>,
}

impl ReadValue for Counting {
    #[inline]
    fn read<'a>(&mut self, scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>) -> Result<()> {
        scanner.value(entry, &mut self.census)?;
        let expired = self.reference.is_some_and(|now| entry.expires_at.is_some_and(|at| at <= now));
        self.census.count(!expired);
        Ok(())
    }
}
