//! Reading of snapshots: from opened inputs to the aggregates over all their records.
//!
//! Mapped files are divided into chunks, which threads read side by side; other inputs come as batches, one after the other.

pub mod chunk;
pub mod chunk_list;
pub mod division;
pub mod examined;
pub mod feed;
pub mod file;
pub mod found;
mod hand_over;
mod look_ahead;
pub mod one_snapshot;
pub mod parallel;
pub mod part;
pub mod progress;
pub mod raised_limits;
pub mod reader;
pub mod schedule;
pub mod second_pass;
mod shards;
pub mod snapshot;
pub mod tally;
mod template_pieces;
pub mod template_users;
mod workers;
