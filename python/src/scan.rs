//! Rows of keys as a stream of Arrow batches.
//!
//! A thread reads ahead a few batches and ends when the stream is released, so files are closed then.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle, ThreadId};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rdblens::Error;
use rdblens::rows::{ColumnChoice, RowColumns, RowReader};

use crate::background::{Cancel, SIGNALS_EVERY, wait};
use crate::columns;
use crate::errors::raised;
use crate::options::Options;

/// Batches that wait for the reader of the stream.
const AHEAD: usize = 4;

/// Rows of keys that are yet to be read: each stream starts anew.
#[pyclass(frozen, module = "rdblens._native")]
pub struct Scan {
    paths: Vec<PathBuf>,
    options: Options,
    choice: ColumnChoice,
    schema: SchemaRef,
}

#[pymethods]
impl Scan {
    #[new]
    fn new(py: Python<'_>, paths: Vec<PathBuf>, columns: Option<Vec<String>>, options: Options) -> PyResult<Scan> {
        let describe = || {
            let (_, conditions) = options.rows()?;
            let with = if conditions.policy.is_some() { RowColumns::Labeled } else { RowColumns::Facts };
            columns.as_deref().map_or_else(|| Ok(ColumnChoice::all(with)), |names| ColumnChoice::of(names, with))
        };
        let choice = describe().map_err(|error| raised(py, &error))?;
        Ok(Scan { paths, options, schema: columns::schema(&choice), choice })
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.choice.columns().map(|column| column.name).collect()
    }

    /// Opens the inputs and returns a stream of record batches (Arrow PyCapsule interface).
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A request that need not be met: readers cast.
        drop(requested_schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(self.batches(py)?));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the schema of the rows (Arrow PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema)
            .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

impl Scan {
    /// Opens the inputs, and begins to read them.
    fn batches(&self, py: Python<'_>) -> PyResult<Batches> {
        let cancel = Cancel::default();
        let (opened, waits) = sync_channel(1);
        let (sender, receiver) = sync_channel(AHEAD);
        let job = Job {
            paths: self.paths.clone(),
            options: self.options.clone(),
            choice: self.choice.clone(),
            schema: SchemaRef::clone(&self.schema),
            cancel: cancel.clone(),
            sender,
        };
        let thread = thread::Builder::new().name("rdblens scan".to_owned()).spawn(move || job.run(&opened))?;
        let main = is_main_thread(py)?.then(|| thread::current().id());
        let schema = SchemaRef::clone(&self.schema);
        let batches = Batches { receiver: Some(receiver), thread: Some(thread), cancel, schema, main };
        match wait(py, waits)? {
            None => Ok(batches),
            Some(error) => Err(raised(py, &error)),
        }
    }
}

/// Signals are handled by the main thread alone.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main: u64 = threading.call_method0("main_thread")?.getattr("ident")?.extract()?;
    Ok(threading.call_method0("get_ident")?.extract::<u64>()? == main)
}

type Sent = Result<RecordBatch, ArrowError>;

/// Input of the thread of a stream.
struct Job {
    paths: Vec<PathBuf>,
    options: Options,
    choice: ColumnChoice,
    schema: SchemaRef,
    cancel: Cancel,
    sender: SyncSender<Sent>,
}

impl Job {
    /// Reads all rows. Tells `opened` once whether the inputs could be opened.
    fn run(self, opened: &SyncSender<Option<Error>>) {
        let Job { paths, options, choice, schema, cancel, sender } = self;
        let read = || {
            let (plan, conditions) = options.rows()?;
            let reader = RowReader::open(&paths, &plan, conditions, &cancel)?;
            // Nobody waits any longer after a signal.
            let _ = opened.send(None);
            let read = reader.columns(&choice, |columns| {
                let batch = columns::batch(columns, &choice, &schema);
                sender.send(batch).map_err(|_| io::ErrorKind::BrokenPipe.into())
            })?;
            read.into_fault().map_or(Ok(()), Err)
        };
        if let Err(error) = read() {
            // The first that is still awaited gets it: the opening, or the stream.
            let text = error.to_string();
            let _ = opened.try_send(Some(error));
            let _ = sender.send(Err(ArrowError::from_external_error(text.into())));
        }
    }
}

/// Stream of record batches.
struct Batches {
    /// `None` once it is released.
    receiver: Option<Receiver<Sent>>,
    thread: Option<JoinHandle<()>>,
    cancel: Cancel,
    schema: SchemaRef,
    /// The main thread of Python, if that opened the stream.
    main: Option<ThreadId>,
}

impl Batches {
    /// Looks for signals. If one interrupts, the stream ends with an error, and the interruption is raised once Python runs again.
    fn check_signals(&self) -> Result<(), ArrowError> {
        if self.main != Some(thread::current().id()) {
            return Ok(());
        }
        let checked = Python::attach(|py| {
            py.check_signals().inspect_err(|_| {
                let _ = py.import("_thread").and_then(|module| module.call_method0("interrupt_main"));
            })
        });
        checked.map_err(|_| ArrowError::ExternalError("interrupted".into()))
    }
}

impl Iterator for Batches {
    type Item = Sent;

    fn next(&mut self) -> Option<Sent> {
        loop {
            if let Err(error) = self.check_signals() {
                self.cancel.cancel();
                self.receiver = None;
                return Some(Err(error));
            }
            match self.receiver.as_ref()?.recv_timeout(SIGNALS_EVERY) {
                Ok(sent) => return Some(sent),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.receiver = None;
                    let panicked = self.thread.take().is_some_and(|thread| thread.join().is_err());
                    return panicked
                        .then(|| Err(ArrowError::ExternalError("rdblens has a bug: a thread panicked".into())));
                }
            }
        }
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.cancel.cancel();
        // The thread may wait for room.
        self.receiver = None;
        if let Some(thread) = self.thread.take() {
            // Its files are closed when it has ended; it never takes the interpreter's lock.
            let _ = thread.join();
        }
    }
}
