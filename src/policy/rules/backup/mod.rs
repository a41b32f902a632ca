//! Rules about snapshots as backups.

pub mod age;
pub mod integrity;
