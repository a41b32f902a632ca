//! Work on a thread of its own, which Ctrl-C ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
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
    let (sender, mut receiver) = channel();
    let cancelled = cancel.clone();
    thread::Builder::new().name("rdblens".to_owned()).spawn(move || sender.send(work(&cancelled)))?;
    loop {
        let (back, received) = py.detach(move || {
            let received = receiver.recv_timeout(SIGNALS_EVERY);
            (receiver, received)
        });
        receiver = back;
        match received {
            Ok(result) => return result.map_err(|error| raised(py, &error)),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| cancel.cancel())?,
            Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
        }
    }
}

/// Returns the exception for a thread that ended without a result.
pub fn panicked() -> PyErr {
    PyRuntimeError::new_err("rdblens has a bug: a thread panicked; its message is on standard error")
}
