//! Graphs (FalkorDB), which report no memory: the server counts the key alone.

use super::{ModuleValue, ServerParts};
use crate::error::Result;
use crate::rdb::walk::ModuleItem;

/// Graph.
#[derive(Debug, Default)]
pub struct FalkorDb;

impl ModuleValue for FalkorDb {
    fn begin(&mut self) {}

    fn item(&mut self, _: &mut ServerParts<'_>, _: ModuleItem<'_>) -> Result<()> {
        Ok(())
    }

    fn memory(&mut self, _: &mut ServerParts<'_>) -> Option<u64> {
        Some(0)
    }
}
