//! Counts the users of hash templates before the first key is priced.
//!
//! Only files with templates take this pass. It skips all values, and decompresses at most a few bytes of each.

use super::feed::PreparedInput;
use crate::error::Result;
use crate::memory::TemplateUsers;
use crate::rdb::scan::{FileItem, Scanner};
use crate::units::Millis;

/// Counts the users of each template that are alive at `reference`. Returns `None` for input that can be read only once.
pub fn count(prepared: &PreparedInput, reference: Option<Millis>) -> Option<TemplateUsers> {
    let mut users = TemplateUsers::default();
    let mut batches = prepared.read_again()?;
    while let Some(batch) = batches.next_batch() {
        // Damage is reported by the pass that follows.
        let _ = count_in(batch.scanner(), reference, &mut users);
    }
    Some(users)
}

fn count_in(mut scanner: Scanner<'_>, reference: Option<Millis>, users: &mut TemplateUsers) -> Result<()> {
    while scanner.cursor().left() > 0 {
        if let FileItem::Key(entry) = scanner.next_item()? {
            scanner.value(&entry, users)?;
            let expired = reference.is_some_and(|now| entry.expires_at.is_some_and(|at| at <= now));
            users.count(!expired);
        }
    }
    Ok(())
}
