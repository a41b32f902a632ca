//! Handmade reports: every section in use, the extremes, and what-if tables.

mod baseline;
mod findings;
pub mod odd;
pub mod sample;
pub mod what_if;
