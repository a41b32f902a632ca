#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rdblens_fuzz::partial::check(bytes));
