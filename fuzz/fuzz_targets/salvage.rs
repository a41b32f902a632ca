#![no_main]

use rdblens_fuzz::{salvage, seeds};

libfuzzer_sys::fuzz_target!(
    init: seeds::write("salvage", std::env::var_os("FUZZ_SEEDS")),
    |bytes: &[u8]| salvage::check(bytes)
);
