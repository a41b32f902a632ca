//! Mergeable building blocks of aggregates.

pub mod cells;
mod cold;
pub mod histogram;
mod share;
pub mod top;

pub use cells::{CELLS, cell_of};
pub use cold::ColdKeys;
pub use histogram::Histogram;
pub use share::share;
pub use top::{RankedKey, TopList};
