//! Integration tests, all in one binary so that the library is linked once.
//!
//! One module per subject: `cargo test --test it rules::` runs the tests of rules. Helpers are in `common`.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests and benches use small numbers and panic on purpose"
)]

mod common;

mod agreement;
mod architecture;
mod baseline;
mod bench_dumps;
mod breaking;
mod cancel;
mod capacity;
mod changed;
mod cli;
mod commands;
mod compare;
mod compare_keys;
mod content;
mod corpus;
mod dashboards;
mod dictionary;
mod division;
mod docs;
mod element_lengths;
mod file_times;
mod fleet;
mod formats;
mod fuzz;
mod gate;
mod hostile;
mod html;
mod inputs;
mod instance;
mod lang;
mod limits;
mod manual;
mod mask;
mod memory;
mod nights;
mod other_options;
mod outputs;
mod parallel;
#[cfg(feature = "parquet")]
mod parquet;
mod picture;
mod policy;
mod reliability;
mod render;
mod rules;
mod salvage;
mod schema;
mod sensitive;
mod servers;
mod short;
mod show;
mod shrunk;
mod standards;
mod stored;
mod supported;
mod templates;
mod unknown;
mod warnings;
mod what_if;
mod witness;
