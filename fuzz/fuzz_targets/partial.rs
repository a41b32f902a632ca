#![no_main]

use rdblens_fuzz::{Sample, partial, seeds};

libfuzzer_sys::fuzz_target!(
    init: seeds::write("partial", std::env::var_os("FUZZ_SEEDS")),
    |bytes: &[u8]| partial::check(bytes, Sample::one(bytes))
);
