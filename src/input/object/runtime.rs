//! The only place where asynchronous code runs: a runtime of two threads for all stores of a run.

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime as Threads};
use tokio::task::JoinHandle;

use crate::error::Result;

/// Number of threads that wait for stores; reading from sockets and TLS is all they do.
const THREADS: usize = 2;

/// Handle of the runtime; the last one that is dropped ends it.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

struct Inner(Option<Threads>);

impl Runtime {
    /// Starts the threads.
    pub fn start() -> Result<Runtime> {
        let threads = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(THREADS)
            .thread_name("object store")
            .enable_all()
            .build()?;
        Ok(Runtime(Arc::new(Inner(Some(threads)))))
    }

    /// Waits for a future on the calling thread, which must not be one of the runtime's.
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        match &self.0.0 {
            Some(threads) => threads.block_on(future),
            // INVARIANT: taken in `drop` only, when nobody holds a handle.
            None => unreachable!("the runtime has ended"),
        }
    }

    /// Starts a future on the threads of the runtime.
    pub fn start_task<F>(&self, future: F) -> Option<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.0.as_ref().map(|threads| threads.spawn(future))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Requests that nobody waits for any more are not waited for; the handle may be dropped on a thread of the runtime.
        if let Some(threads) = self.0.take() {
            threads.shutdown_background();
        }
    }
}
