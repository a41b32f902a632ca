//! Writes the seeds of every target to the folders that cargo-fuzz starts from: `corpus/TARGET`.

use std::path::Path;

use rdblens_fuzz::{TARGETS, seeds};

fn main() -> std::io::Result<()> {
    for (target, _) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        for (at, seed) in seeds::of_target(target).into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{at:04}")), seed)?;
        }
    }
    Ok(())
}
