//! Progress bar on standard error, shown only on a terminal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::analyze::Progress;
use crate::analyze::read::chunk_list::DivisionCounts;

/// Function that returns the bytes read from an input since its last call, until the input is closed.
type Watched = Box<dyn Fn() -> Option<u64> + Send>;

/// Time between two looks at slow inputs.
const LOOK: Duration = Duration::from_millis(100);

/// Progress bar with bytes, rate, remaining time and keys.
pub struct ProgressLine {
    bar: ProgressBar,
    keys: AtomicU64,
    bytes: Arc<AtomicU64>,
    /// Inputs that are asked how far they are.
    watched: Arc<Mutex<Vec<Watched>>>,
    watcher: Once,
    /// Bytes read in a second pass for cluster slots.
    again: AtomicU64,
    began: Instant,
    divided: Mutex<DivisionCounts>,
}

impl ProgressLine {
    /// Creates a bar; it stays hidden if `quiet` or if standard error is not a terminal.
    pub fn new(quiet: bool) -> ProgressLine {
        // `stderr` hides itself if standard error is not a terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if !bar.is_hidden() {
            // Each of these draws: in the usual style, it would be a line of another look for a moment.
            bar.set_style(style("{spinner} {bytes} at {binary_bytes_per_sec}, {msg} keys"));
            bar.set_message("0");
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        let [keys, again] = [const { AtomicU64::new(0) }; 2];
        let (bytes, watched, watcher) = (Arc::default(), Arc::default(), Once::new());
        ProgressLine { bar, keys, bytes, watched, watcher, again, began: Instant::now(), divided: Mutex::default() }
    }

    /// Starts a thread that asks the watched inputs how far they are, until this is dropped.
    fn start_watcher(&self) {
        let (bar, bytes, watched) = (self.bar.clone(), Arc::clone(&self.bytes), Arc::downgrade(&self.watched));
        let look = move || {
            while let Some(watched) = watched.upgrade() {
                watched.lock().unwrap_or_else(PoisonError::into_inner).retain(|read| {
                    let more = read();
                    bytes.fetch_add(more.unwrap_or_default(), Ordering::Relaxed);
                    bar.inc(more.unwrap_or_default());
                    more.is_some()
                });
                drop(watched);
                thread::sleep(LOOK);
            }
        };
        // Without the thread, the bar moves by batches.
        let _ = thread::Builder::new().name("progress".to_owned()).spawn(look);
    }

    /// Formats the read statistics. They differ from run to run, so no report contains them.
    pub fn stats(&self) -> String {
        let seconds = self.began.elapsed().as_secs_f64();
        let counts = *self.divided.lock().unwrap_or_else(PoisonError::into_inner);
        let read = self.bytes.load(Ordering::Relaxed).saturating_sub(counts.wasted);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a figure for people; the cast saturates"
        )]
        let rate = |count: u64| HumanCount((count as f64 / seconds.max(1e-9)) as u64);
        let share = counts.wasted as f64 * 100.0 / (read as f64).max(1.0);
        format!(
            "{} bytes and {} keys in {seconds:.3} s ({} bytes/s, {} keys/s); large files split at {} guessed boundaries \
             ({} searches failed); {} bytes read twice after wrong guesses ({share:.2} %), {} bytes in a second pass for slots",
            HumanCount(read),
            HumanCount(self.keys.load(Ordering::Relaxed)),
            rate(read),
            rate(self.keys.load(Ordering::Relaxed)),
            counts.guesses,
            counts.failures,
            HumanCount(counts.wasted),
            HumanCount(self.again.load(Ordering::Relaxed)),
        )
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Terminals narrower than this have no room for a bar beside the figures.
const WIDE: u16 = 90;

/// Returns the style for inputs of known size; the bar fills the rest of the line.
fn known_length() -> ProgressStyle {
    let (_, columns) = console::Term::stderr().size();
    if columns < WIDE {
        return style("{percent:>3} % at {binary_bytes_per_sec}, {msg} keys, {eta} left");
    }
    style("{percent:>3} % {wide_bar:.cyan/dim} {bytes} of {total_bytes} at {binary_bytes_per_sec}, {msg} keys, {eta} left")
        .progress_chars("█▉▊▋▌▍▎▏ ")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for ProgressLine {
    fn expect(&self, bytes: u64) {
        if bytes > 0 && !self.bar.is_hidden() {
            let known = self.bar.length().unwrap_or_default();
            self.bar.set_length(known.saturating_add(bytes));
            self.bar.set_style(known_length());
        }
    }

    fn bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.bar.inc(bytes);
    }

    fn watch(&self, read: Watched) {
        if !self.bar.is_hidden() {
            self.watched.lock().unwrap_or_else(PoisonError::into_inner).push(read);
            self.watcher.call_once(|| self.start_watcher());
        }
    }

    fn read_again(&self, bytes: u64) {
        self.again.fetch_add(bytes, Ordering::Relaxed);
    }

    fn divided(&self, counts: DivisionCounts) {
        let mut all = self.divided.lock().unwrap_or_else(PoisonError::into_inner);
        all.guesses += counts.guesses;
        all.failures += counts.failures;
        all.wasted += counts.wasted;
    }

    fn keys(&self, keys: u64) {
        let all = self.keys.fetch_add(keys, Ordering::Relaxed) + keys;
        if !self.bar.is_hidden() {
            self.bar.set_message(HumanCount(all).to_string());
        }
    }
}

/// Inputs are functions, of which there is nothing to show.
impl std::fmt::Debug for ProgressLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgressLine").field("keys", &self.keys).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
