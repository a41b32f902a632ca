//! Tests that compare the window with a plain slice.

use super::*;
use crate::input::source::Plain;
use proptest::prelude::*;
use std::io::{self, Read};

/// Source that yields `data` in pieces of at most `step` bytes, then fails or ends.
struct Dripping {
    data: Vec<u8>,
    at: usize,
    step: usize,
    fails: bool,
}

impl Read for Dripping {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.step.min(into.len()).min(self.data.len() - self.at);
        if len == 0 && self.fails {
            return Err(io::Error::other("the disk is on fire"));
        }
        into[..len].copy_from_slice(&self.data[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

fn options(dir: &std::path::Path, window: usize) -> OpenOptions {
    OpenOptions { mmap: false, spool_dir: dir.to_owned(), window, budget: Default::default(), inflaters: 1 }
}

fn window(data: Vec<u8>, step: usize, fails: bool, limit: usize) -> (Window, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let source = Box::new(Plain(Dripping { data, at: 0, step, fails }));
    (Window::new(source, &options(dir.path(), limit)), dir)
}

#[test]
fn one_byte_at_a_time_equals_all_at_once() {
    for step in [1, 7, usize::MAX] {
        let (mut window, _dir) = window(pattern(1000), step, false, 64 << 10);
        assert!(window.fill(1000).unwrap());
        assert_eq!(window.bytes(), pattern(1000));
        assert!(!window.fill(1001).unwrap());
        assert!(window.ended());
        assert_eq!(&*window.take(400), &pattern(1000)[..400]);
        assert_eq!(window.offset(), 400);
        assert_eq!(window.bytes(), &pattern(1000)[400..]);
    }
}

#[test]
fn false_length_on_tiny_input_allocates_nothing() {
    let (mut window, _dir) = window(pattern(5), 1, false, Window::DEFAULT_LIMIT);
    assert!(!window.fill(u64::MAX).unwrap());
    assert_eq!(window.bytes(), pattern(5));
    assert!(window.buffer.len() <= Window::STEP);
    assert!(window.spill.is_none());
}

#[test]
fn record_above_limit_spills_and_window_returns_to_memory() {
    let data = pattern(3_000_000);
    let (mut window, _dir) = window(data.clone(), 10_000, false, 100_000);
    assert!(window.fill(2_500_000).unwrap());
    assert!(window.spill.is_some());
    assert!(window.buffer.len() <= 1 << 20, "the large buffer is gone");
    let block = window.take(2_500_000);
    assert!(block.is_mapped());
    assert!(window.fill(20_000).unwrap());
    assert!(window.spill.is_none());
    assert_eq!(window.bytes()[..20_000], data[2_500_000..2_520_000]);
    assert_eq!(*block, data[..2_500_000]);
    assert!(!window.fill(u64::MAX).unwrap());
    assert_eq!(*window.bytes(), data[2_500_000..]);
}

#[test]
fn spilled_window_grows_by_appending() {
    let data = pattern(400_000);
    let (mut window, _dir) = window(data.clone(), 1000, false, 1000);
    for needed in (1..=400_000u64).step_by(997) {
        assert!(window.fill(needed).unwrap());
    }
    assert!(window.fill(400_000).unwrap());
    assert_eq!(window.bytes(), data);
    window.skip(399_000);
    assert!(!window.fill(u64::MAX).unwrap());
    assert_eq!(*window.bytes(), data[399_000..]);
}

#[test]
fn spool_directory_that_is_missing_is_an_error_with_a_hint() {
    let source = Box::new(Plain(io::repeat(1)));
    let mut window = Window::new(source, &options("/nonexistent/spool".as_ref(), 1000));
    let error = window.fill(5000).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)));
    assert!(error.hint().unwrap().contains("/nonexistent/spool"));
    assert!(window.fill(5000).is_err(), "and stays one");
}

#[test]
fn failure_is_returned_after_the_preceding_bytes() {
    let (mut window, _dir) = window(pattern(1000), 100, true, 64 << 10);
    assert!(window.fill(1000).unwrap());
    let error = window.fill(1001).unwrap_err();
    assert_eq!(error.offset(), Some(1000));
    assert!(error.to_string().contains("on fire"));
    assert_eq!(window.bytes(), pattern(1000));
    assert!(!window.ended());
    assert!(window.fill(1001).is_err(), "a failed source never looks ended");
}

#[test]
fn failure_while_spilling_keeps_the_bytes_before_it() {
    let (mut window, _dir) = window(pattern(5000), 100, true, 1000);
    assert!(window.fill(u64::MAX).is_err());
    assert_eq!(window.bytes(), pattern(5000));
}

#[test]
fn batches_over_a_long_stream_use_the_same_few_buffers() {
    const BATCH: usize = 1 << 20;
    let source = Box::new(Plain(io::repeat(7).take(200 << 20)));
    let mut window = Window::new(source, &options("/nonexistent".as_ref(), Window::DEFAULT_LIMIT));
    let mut places = std::collections::BTreeSet::new();
    let mut total = 0;
    while window.fill(BATCH as u64).unwrap() {
        // The last record of the batch is incomplete, so some bytes remain.
        let block = window.take(window.bytes().len().min(BATCH) - 100);
        places.insert(block.as_ptr() as usize >> 20);
        total += block.len();
        assert!(window.buffer.len() <= 4 * BATCH);
    }
    assert_eq!(total + window.bytes().len(), 200 << 20);
    assert!(places.len() <= 8, "{} places", places.len());
}

#[test]
fn small_block_of_a_large_window_does_not_hold_the_large_buffer() {
    let (mut window, _dir) = window(pattern(20 << 20), usize::MAX, false, Window::DEFAULT_LIMIT);
    assert!(window.fill(20 << 20).unwrap());
    drop(window.take((20 << 20) - 1000));
    assert!(window.buffer.len() <= Pool::USUAL);
}

#[test]
fn taking_more_than_available_takes_all() {
    let (mut window, _dir) = window(pattern(10), 3, false, 1000);
    assert!(window.fill(10).unwrap());
    assert_eq!(&*window.take(99), pattern(10));
    assert!(window.take(1).is_empty());
    window.skip(99);
    assert_eq!(window.offset(), 10);
}

proptest! {
    #[test]
    fn any_calls_give_the_bytes_in_order(
        calls in prop::collection::vec((0u8..3, 0usize..6000), 1..60),
        len in 0usize..60_000, step in 1usize..5000, limit in 1usize..3000,
    ) {
        let data = pattern(len);
        let (mut window, _dir) = window(data.clone(), step, false, limit);
        let mut at = 0;
        for (call, size) in calls {
            match call {
                0 => {
                    let enough = window.fill(size as u64).unwrap();
                    prop_assert_eq!(enough, data.len() - at >= size);
                    prop_assert_eq!(enough, window.bytes().len() >= size);
                }
                1 => {
                    let block = window.take(size);
                    prop_assert_eq!(&*block, &data[at..at + block.len()]);
                    at += block.len();
                }
                _ => {
                    let there = window.bytes().len().min(size);
                    window.skip(size);
                    at += there;
                }
            }
            prop_assert_eq!(window.offset(), at as u64);
            prop_assert_eq!(window.bytes(), &data[at..at + window.bytes().len()]);
        }
    }
}

#[test]
fn record_beyond_the_temporary_space_is_refused_and_what_fits_is_not() {
    for (needed, fits) in [(5000, true), (5001, false)] {
        let dir = tempfile::tempdir().unwrap();
        let source = Box::new(Plain(Dripping { data: pattern(20_000), at: 0, step: 777, fails: false }));
        let mut options = options(dir.path(), 1000);
        options.budget.temp = 5000;
        let mut window = Window::new(source, &options);
        match window.fill(needed) {
            Ok(more) => assert!(fits && more && window.bytes()[..5000] == pattern(5000)),
            Err(error) => {
                assert!(!fits && matches!(error.kind(), ErrorKind::OverBudget(_)), "{error}");
                assert!(error.hint().unwrap().contains("--max-temp"));
                assert_eq!(window.bytes().len(), 5000);
                assert!(window.fill(needed).is_err());
            }
        }
    }
}

#[test]
fn claim_beyond_the_temporary_space_of_a_short_file_is_truncation() {
    let dir = tempfile::tempdir().unwrap();
    let source = Box::new(Plain(Dripping { data: pattern(3000), at: 0, step: 777, fails: false }));
    let mut options = options(dir.path(), 1000);
    options.budget.temp = 5000;
    assert!(!Window::new(source, &options).fill(1 << 40).unwrap());
}
