#![no_main]

use rdblens_fuzz::{Sample, seeds, whole};

libfuzzer_sys::fuzz_target!(
    init: seeds::write("whole", std::env::var_os("FUZZ_SEEDS")),
    |bytes: &[u8]| whole::check(bytes, Sample::one(bytes))
);
