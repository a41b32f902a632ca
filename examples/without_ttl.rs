//! Adds up, per database, the keys that never expire:
//!
//! ```text
//! cargo run --example without_ttl -- testdata/dumps/shop.rdb
//! ```

#![expect(clippy::print_stdout, reason = "programs print their results")]

use std::collections::BTreeMap;

use rdblens::{ReadPlan, Result, records};

fn main() -> Result<()> {
    let inputs: Vec<String> = std::env::args().skip(1).collect();
    let plan = ReadPlan::new(std::env::temp_dir());
    let mut databases: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for record in records(&inputs, &plan)? {
        let record = record?;
        if record.expires_at.is_none() {
            let (keys, bytes) = databases.entry(record.db).or_default();
            *keys += 1;
            *bytes += record.memory.0;
        }
    }
    for (db, (keys, bytes)) in databases {
        println!("db {db}: {keys} keys without TTL, {bytes} bytes");
    }
    Ok(())
}
