//! Reports made by hand: every section in use, the edges, and what-if tables.

mod baseline;
mod findings;
pub mod odd;
pub mod sample;
pub mod what_if;
