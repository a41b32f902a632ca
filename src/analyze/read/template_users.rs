//! Counts the users of hash templates before the first compact hash is priced.
//!
//! Only files with compact hashes take this pass, or such whose hashes the settings make compact. It ends once more users would
//! change no price. It walks each value once, and decompresses at most a few bytes of those that refer to the table of the file.

use std::sync::Arc;

use super::feed::{PreparedInput, ReadAgain};
use super::template_pieces::CountedFile;
use crate::error::Result;
use crate::memory::{CensusExtent, HeldTemplates, LazyTemplates, Model, TemplateCensus};
use crate::rdb::batch::ReadValue;
use crate::rdb::file_info::FileInfo;
use crate::rdb::scan::{KeyEntry, Scanner, TemplateUser};
use crate::units::Millis;

/// Batches read before the count is found to suffice, or is divided among threads.
const BATCHES_AT_FIRST: usize = 4;

/// Input whose templates can be counted, for these models.
#[derive(Debug)]
struct CountedInput {
    again: Option<ReadAgain>,
    /// Header and metadata before the first key.
    preamble: FileInfo,
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
    let (again, preamble) = (prepared.read_again(), prepared.preamble.clone());
    let (base, alternatives) = (Arc::clone(base), Arc::clone(alternatives));
    let input = CountedInput { again, preamble, base, alternatives, reference, files };
    LazyTemplates::new(move |extent| input.count(extent))
}

impl CountedInput {
    fn models(&self) -> impl Iterator<Item = &Model> {
        std::iter::once(&*self.base).chain(self.alternatives.iter())
    }

    fn empty(&self) -> Counting {
        Counting { census: TemplateCensus::new(self.models(), self.files), reference: self.reference }
    }

    /// Counts users. Damage ends the count, as it ends the pass that prices keys.
    fn count(&self, extent: CensusExtent) -> Option<HeldTemplates> {
        let mut batches = self.again.as_ref()?.batches()?;
        let mut counting = self.empty();
        for read in 1.. {
            if batches.next_batch_with(&mut counting).is_none() {
                break;
            }
            if read == BATCHES_AT_FIRST {
                if extent == CensusExtent::Enough && counting.census.suffices(self.models(), batches.templates()) {
                    return Some(counting.census.finish(self.models(), batches.templates()).ended_early());
                }
                if let Some(census) = self.count_pieces() {
                    return Some(census.finish(self.models(), self.preamble.templates.as_deref()));
                }
            }
        }
        Some(counting.census.finish(self.models(), batches.templates()))
    }

    /// Counts users on as many threads as read keys, if the input is a mapped file whose templates precede its first key.
    fn count_pieces(&self) -> Option<TemplateCensus> {
        let (ReadAgain::Mapped(map), Some(templates)) = (self.again.as_ref()?, &self.preamble.templates) else {
            return None;
        };
        let FileInfo { header, enterprise, .. } = self.preamble;
        // The threads of the pool wait for this count meanwhile.
        let threads = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads());
        CountedFile { map, header, templates, enterprise }.count(threads, || self.empty())
    }
}

/// A census over the keys alive at a time.
pub(super) struct Counting {
    pub(super) census: TemplateCensus,
    reference: Option<Millis>,
}

impl Counting {
    /// Counts a key with a template of the table of the file.
    #[inline(always)]
    pub(super) fn count(&mut self, user: TemplateUser) {
        if self.is_alive(user.expires_at) {
            self.census.count_user(user.place);
        }
    }

    #[inline(always)]
    fn is_alive(&self, expires_at: Option<Millis>) -> bool {
        self.reference.is_none_or(|now| expires_at.is_none_or(|at| at > now))
    }
}

impl ReadValue for Counting {
    #[inline]
    fn read<'a>(&mut self, scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>) -> Result<()> {
        match scanner.cursor().packed_value(entry.value_type) {
            Some(value) if self.census.read_plain(entry.value_type, value, scanner.templates()) => {
                scanner.cursor_mut().pass_value(value);
            }
            _ => scanner.value(entry, &mut self.census)?,
        }
        self.census.count(self.is_alive(entry.expires_at));
        Ok(())
    }
}
