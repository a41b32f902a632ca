//! Writes the large dumps that benchmarks read:
//!
//! ```text
//! cargo bench --bench dumps -- small --out small.rdb
//! cargo bench --bench dumps -- packed --bytes 4294967296 --out packed.rdb
//! ```
//!
//! Output is reproducible: the same profile, scale, seed, version and time give the same file on every machine.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests and benches use small numbers and panic on purpose"
)]

mod dump;

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use dump::{Options, Profile, Scale};

/// Writes a large dump that resembles that of a real server.
#[derive(Debug, Parser)]
struct Args {
    /// Kind of load.
    profile: Profile,
    /// Path of the dump.
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Number of keys.
    #[arg(long, value_name = "N", conflicts_with = "bytes")]
    keys: Option<u64>,
    /// Minimum number of bytes.
    #[arg(long, value_name = "N")]
    bytes: Option<u64>,
    /// Seed of the names and values.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Version of the format: 15 is that of Redis 8.10, 11 of Redis 7.2, 10 of Redis 7.0, 9 of Redis 6.2, which has no listpacks.
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u8).range(9..=15))]
    rdb_version: u8,
    /// Creation time of the dump, in seconds since 1970; keys expire in the thirty days after it.
    #[arg(long, value_name = "SECONDS", default_value_t = 1_767_225_600)]
    made_at: u64,
    /// Passed by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let scale = match (args.keys, args.bytes) {
        (Some(keys), _) => Scale::Keys(keys),
        (None, Some(bytes)) => Scale::Bytes(bytes),
        (None, None) => args.profile.default_scale(),
    };
    if args.rdb_version < args.profile.first_version() {
        eprintln!("version {} of the format lacks the values of this profile", args.rdb_version);
        return ExitCode::from(2);
    }
    let options = Options { scale, seed: args.seed, version: args.rdb_version, made_at: args.made_at };
    let start = Instant::now();
    match File::create(&args.out).and_then(|file| dump::write(args.profile, &options, file)) {
        Ok(tally) => {
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{} keys, {} with an expiry, {} bytes, in {seconds:.1} s",
                tally.keys,
                tally.expiring,
                tally.bytes + 9
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", args.out.display());
            ExitCode::FAILURE
        }
    }
}
