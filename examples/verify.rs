//! Verifies backups and exits with status 1 if one of them is not sound:
//!
//! ```text
//! cargo run --example verify -- testdata/dumps/*.rdb
//! ```

#![expect(clippy::print_stdout, reason = "programs print their results")]

use std::process::ExitCode;

use rdblens::report::CheckVerdict;
use rdblens::{ReadPlan, Result, Unwatched, check};

fn main() -> Result<ExitCode> {
    let inputs: Vec<String> = std::env::args().skip(1).collect();
    let plan = ReadPlan::new(std::env::temp_dir());
    let files = check(&inputs, &plan, &Unwatched)?;
    for file in &files {
        println!("{}: {} ({} keys)", file.name, file.verdict.text(), file.keys);
    }
    let sound = files.iter().all(|file| file.verdict == CheckVerdict::Ok);
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
