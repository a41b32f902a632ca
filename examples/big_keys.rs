//! Lists the ten heaviest keys of a snapshot:
//!
//! ```text
//! cargo run --example big_keys -- testdata/dumps/shop.rdb
//! ```

#![expect(clippy::print_stdout, reason = "programs print their results")]

use rdblens::{Plan, ReadPlan, Result, Unwatched, analyze};

fn main() -> Result<()> {
    let inputs: Vec<String> = std::env::args().skip(1).collect();
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    plan.top = 10;
    let report = analyze(&inputs, &plan, &Unwatched)?;
    for row in &report.top.by_memory {
        let name = row.key.0.escape_ascii();
        println!("{:>12} bytes  {:<8} {name}", row.memory.unwrap_or_default().0, row.kind);
    }
    Ok(())
}
