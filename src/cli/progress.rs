//! Progress on standard error, only on a terminal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::analyze::Progress;

/// A bar with bytes, rate, time left and keys.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    keys: AtomicU64,
}

impl Bar {
    /// A bar, or nothing at all when `quiet` or when standard error is no terminal.
    pub fn new(quiet: bool) -> Bar {
        // The target hides itself where there is no terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if !bar.is_hidden() {
            bar.set_message("0");
            bar.enable_steady_tick(Duration::from_millis(200));
            bar.set_style(style("{spinner} {bytes} at {binary_bytes_per_sec}, {msg} keys"));
        }
        Bar { bar, keys: AtomicU64::new(0) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The bar takes what the figures leave of the line.
fn known_length() -> ProgressStyle {
    style("{percent:>3} % {wide_bar:.cyan/dim} {bytes} of {total_bytes} at {binary_bytes_per_sec}, {msg} keys, {eta} left")
        .progress_chars("█▉▊▋▌▍▎▏ ")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for Bar {
    fn expect(&self, bytes: u64) {
        if bytes > 0 && !self.bar.is_hidden() {
            let known = self.bar.length().unwrap_or_default();
            self.bar.set_length(known.saturating_add(bytes));
            self.bar.set_style(known_length());
        }
    }

    fn bytes(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn keys(&self, keys: u64) {
        let all = self.keys.fetch_add(keys, Ordering::Relaxed) + keys;
        if !self.bar.is_hidden() {
            self.bar.set_message(indicatif::HumanCount(all).to_string());
        }
    }
}
