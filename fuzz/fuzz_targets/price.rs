#![no_main]

use rdblens_fuzz::{price, seeds};

libfuzzer_sys::fuzz_target!(
    init: seeds::write("price", std::env::var_os("FUZZ_SEEDS")),
    |bytes: &[u8]| price::check(bytes)
);
