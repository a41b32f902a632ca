#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rdblens_fuzz::show::check(bytes));
