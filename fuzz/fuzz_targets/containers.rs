#![no_main]

use rdblens_fuzz::{containers, seeds};

libfuzzer_sys::fuzz_target!(
    init: seeds::write("containers", std::env::var_os("FUZZ_SEEDS")),
    |bytes: &[u8]| containers::check(bytes)
);
