//! Items other than keys: which of them begin a database, are copied, or are damage.

use std::ops::Range;

use super::Walk;
use super::marks::{Mark, MarkKind};
use crate::error::Result;
use crate::rdb::header::Family;
use crate::rdb::scan::FileItem;

impl Walk<'_> {
    /// Adds an item other than a key; `sound` is what servers refuse about it.
    pub(super) fn other(&mut self, range: Range<usize>, item: &FileItem<'_>, sound: Result<()>) {
        let kind = match item {
            FileItem::Database(db) => {
                let is_ascending = self.header.family != Family::Dragonfly;
                if is_ascending && self.leading.is_some() && *db <= self.database.last && self.database.last > 0 {
                    return;
                }
                self.end_leading(range.start);
                let is_due = self.database.left == Some(0) && (*db > self.database.last || self.is_first_database());
                self.database.select(*db);
                MarkKind::Database { is_due }
            }
            FileItem::DatabaseSize(keys, _) => {
                let is_first = matches!(self.marks.back(), Some(Mark { kind: MarkKind::Database { .. }, .. }));
                self.database.resize(*keys, is_first);
                MarkKind::DatabaseSize(*keys)
            }
            FileItem::Aux(..)
            | FileItem::Slot(_)
            | FileItem::SlotNumber(_)
            | FileItem::Function(_)
            | FileItem::ModuleAux(_)
            | FileItem::SlotImport
            | FileItem::Update
            | FileItem::HashTemplate
            | FileItem::Key(_)
            | FileItem::End => match sound {
                Ok(()) => MarkKind::Other,
                // Servers do not load a file with it. It is no key.
                Err(error) => {
                    MarkKind::Damaged { key: None, error: error.or_at(range.start as u64), is_trusted: false }
                }
            },
        };
        if self.leading.is_none() {
            self.count_slots(item);
            self.mark(Mark { range, db: self.database.current, kind });
        }
    }

    /// Returns whether no key and no database was read.
    fn is_first_database(&self) -> bool {
        self.parts.gaps.is_empty()
            && self.profile.is_empty()
            && self.database.announced.is_empty()
            && self.marks.iter().all(|mark| matches!(mark.kind, MarkKind::Other))
    }
}
