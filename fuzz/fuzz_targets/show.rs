#![no_main]

use rdblens_fuzz::{seeds, show};

libfuzzer_sys::fuzz_target!(
    init: seeds::write("show", std::env::var_os("FUZZ_SEEDS")),
    |bytes: &[u8]| show::check(bytes)
);
