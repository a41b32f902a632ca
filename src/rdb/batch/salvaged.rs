//! Batches of the sound ranges of a damaged file.

use std::sync::Arc;

use super::{Batch, ReadValue};
use crate::input::Mapped;
use crate::rdb::salvage::Survey;
use crate::rdb::scan::FileItem;

/// The sound ranges of a damaged file, of which some have been emitted.
#[derive(Debug, Clone)]
pub(super) struct SalvagedBatches {
    pub map: Mapped,
    pub survey: Arc<Survey>,
    pub next: usize,
}

impl SalvagedBatches {
    pub fn next_batch(&mut self) -> Option<Batch> {
        let stretch = self.survey.stretches.get(self.next)?;
        self.next += 1;
        Some(self.survey.batch(&self.map, stretch))
    }

    pub fn next_batch_with(&mut self, value: &mut impl ReadValue) -> Option<Batch> {
        let batch = self.next_batch()?;
        let mut scanner = batch.scanner();
        while scanner.cursor().left() > 0 {
            match scanner.next_item() {
                Ok(FileItem::Key(entry)) if value.read(&mut scanner, &entry).is_err() => break,
                Ok(_) => {}
                Err(_) => break, // sound records do not fail
            }
        }
        Some(batch)
    }
}
