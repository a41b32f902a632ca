//! Work on a thread of its own, which Ctrl-C ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rdblens::Progress;

use crate::errors::raised;

/// Time between two looks for signals. Results do not wait for it.
pub const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Tells a run that its result is no longer wanted.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels the run.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Progress for Cancel {
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` without the interpreter's lock. A signal whose handler raises cancels it and is raised; the thread then ends by itself.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Cancel) -> rdblens::Result<T> + Send + 'static,
) -> PyResult<T> {
    let cancel = Cancel::default();
    let (sender, receiver) = channel();
    let cancelled = cancel.clone();
    thread::Builder::new().name("rdblens".to_owned()).spawn(move || sender.send(work(&cancelled)))?;
    let result = wait(py, receiver).inspect_err(|_| cancel.cancel())?;
    result.map_err(|error| raised(py, &error))
}

/// Waits for a message without the interpreter's lock, and looks for signals. Raises what a handler of a signal raises, and an exception
/// if the thread that was to send ended.
pub fn wait<T: Send>(py: Python<'_>, mut receiver: Receiver<T>) -> PyResult<T> {
    loop {
        let (back, received) = py.detach(move || {
            let received = receiver.recv_timeout(SIGNALS_EVERY);
            (receiver, received)
        });
        receiver = back;
        match received {
            Ok(message) => return Ok(message),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
        }
    }
}

/// Returns the exception for a thread that ended without a result.
fn panicked() -> PyErr {
    PyRuntimeError::new_err("rdblens has a bug: a thread panicked; its message is on standard error")
}
