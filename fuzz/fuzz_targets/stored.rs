#![no_main]

use rdblens_fuzz::{Sample, seeds, stored};

libfuzzer_sys::fuzz_target!(
    init: seeds::write("stored", std::env::var_os("FUZZ_SEEDS")),
    |bytes: &[u8]| stored::check(bytes, Sample::one(bytes))
);
