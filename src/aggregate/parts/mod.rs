//! The small mergeable pieces that aggregates are made of.

pub mod top;

pub use top::{Ranked, Top};
