#![no_main]

use rdblens_fuzz::{Sample, policy, seeds};

libfuzzer_sys::fuzz_target!(
    init: seeds::write("policy", std::env::var_os("FUZZ_SEEDS")),
    |bytes: &[u8]| policy::check(bytes, Sample::one(bytes))
);
