//! The batches of all input files as one sequence.
//!
//! A few files are open at a time, so that files that are decompressed on threads of their own keep several workers busy.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::examined::ExaminedFile;
use super::file::{InputFile, MappedFile};
use super::progress::{Progress, Unwatched};
use super::second_pass::DeferredStart;
use crate::analyze::plan::AtDamage;
use crate::error::{Error, Result};
use crate::input::{Body, Compression, Container, Input, Mapped, OpenOptions, Opened, OpenedFile};
use crate::rdb::batch::{Batch, Batches, FileEnding};
use crate::rdb::dragonfly::{self, Unwrapped};
use crate::rdb::file_info::FileInfo;
use crate::rdb::header::Family;
use crate::rdb::salvage::Survey;
use crate::report::Salvage;
use crate::sorting::CompactSort;

/// Input whose preamble was read, with all facts needed before the first record.
#[derive(Debug)]
pub struct PreparedInput {
    input: Input,
    options: OpenOptions,
    /// Kept open where reopening is impossible (pipes) or keeping costs nothing (maps).
    open: Option<OpenFile>,
    /// Header and metadata before the first key.
    pub preamble: FileInfo,
    /// The container around the snapshot.
    pub container: Container,
    /// Size of the file, for progress.
    pub size: Option<u64>,
    /// Compression of the file.
    pub compression: Option<Compression>,
    /// Sound and damaged ranges, if the file is damaged and read past the damage.
    pub salvage: Option<Salvage>,
    /// The file as it was when it was opened first; `None` for pipes.
    file: Option<OpenedFile>,
}

/// Way to read an input once more.
#[derive(Debug, Clone)]
pub enum ReadAgain {
    /// The mapped file.
    Mapped(Mapped),
    /// The input, opened again.
    Open(Input, OpenOptions),
    /// The sound ranges of a damaged file.
    Salvaged(Mapped, Arc<Survey>),
}

impl ReadAgain {
    /// Returns the input's batches from the start, unless it can no longer be opened.
    pub fn batches(&self) -> Option<Batches> {
        match self {
            ReadAgain::Mapped(mapped) => Batches::open(Body::Mapped(mapped.clone())).ok(),
            ReadAgain::Salvaged(map, survey) => Some(Batches::salvaged(map.clone(), Arc::clone(survey), None)),
            ReadAgain::Open(input, options) => {
                let opened = input.clone().open(options).ok()?;
                OpenFile::new(opened, options).ok().map(|open| open.batches)
            }
        }
    }
}

/// A file from which batches are being cut.
#[derive(Debug)]
struct OpenFile {
    batches: Batches,
    /// Bytes read from the file, if they differ from those of the snapshot.
    read: Option<Arc<ReadBytes>>,
    reported: u64,
}

/// Bytes read from a file, and how many of them were announced.
#[derive(Debug)]
struct ReadBytes {
    read: Arc<AtomicU64>,
    announced: AtomicU64,
}

impl ReadBytes {
    /// Returns the bytes that were not announced, as they are now.
    fn take(&self) -> u64 {
        let now = self.read.load(Ordering::Relaxed);
        now.saturating_sub(self.announced.fetch_max(now, Ordering::Relaxed))
    }
}

impl OpenFile {
    fn new(opened: Opened, options: &OpenOptions) -> Result<OpenFile> {
        let is_mapped = matches!(opened.body, Body::Mapped(_));
        let Unwrapped { body, consumed } = dragonfly::unfold(opened.body, options)?;
        let dragonfly = consumed.is_some();
        let read = if is_mapped { consumed } else { Some(opened.consumed) };
        let batches = Batches::open(body)?;
        let read = read.map(|read| Arc::new(ReadBytes { read, announced: AtomicU64::new(0) }));
        Ok(OpenFile { batches: if dragonfly { batches.of_dragonfly() } else { batches }, read, reported: 0 })
    }

    /// Lets `progress` see the bytes read: those of a slow pipe arrive long before a batch is whole.
    fn watch(&self, progress: &dyn Progress) {
        if let Some(read) = self.read.as_ref().map(Arc::downgrade) {
            progress.watch(Box::new(move || Some(read.upgrade()?.take())));
        }
    }

    /// Returns the bytes of the file read since the last call.
    fn advance(&mut self, batch: Option<&Batch>) -> u64 {
        let now = match (&self.read, batch) {
            (Some(read), _) => return read.take(),
            (None, Some(batch)) => batch.end(),
            (None, None) => self.reported,
        };
        let more = now.saturating_sub(self.reported);
        self.reported = self.reported.max(now);
        more
    }
}

impl PreparedInput {
    /// Opens the input and reads what precedes its first key.
    pub fn new(
        input: Input,
        options: &OpenOptions,
        damage: AtDamage,
        progress: &dyn Progress,
    ) -> Result<PreparedInput> {
        let name = input.name.clone();
        let opened = match damage {
            AtDamage::Stop => PreparedInput::open(input, options, progress),
            AtDamage::Salvage => PreparedInput::open_damaged(input, options),
        };
        opened.map_err(|error| error.in_file(&name))
    }

    fn open(input: Input, options: &OpenOptions, progress: &dyn Progress) -> Result<PreparedInput> {
        let opened = input.open(options)?;
        let (container, size) = (opened.container, opened.size);
        let compression = opened.compression;
        let file = opened.file.clone();
        // A waiting decompressor costs a thread and its buffers, an open object the memory of its first range: with many
        // shards reopening is cheaper.
        let keep = (compression.is_none() && input.object().is_none()) || !input.is_reopenable();
        let mut open = OpenFile::new(opened, options)?;
        if keep {
            open.watch(progress);
        }
        let preamble = open.batches.preamble();
        let open = keep.then_some(open);
        let options = options.clone();
        Ok(PreparedInput { input, options, open, preamble, container, size, compression, salvage: None, file })
    }

    /// Opens an input that may be damaged: it is read to its end for all sound records.
    fn open_damaged(input: Input, options: &OpenOptions) -> Result<PreparedInput> {
        let mut file = ExaminedFile::open(&input, options)?;
        let (container, compression, size) = (file.container, file.compression, file.size);
        let opened = file.opened.take();
        let (batches, salvage) = if file.is_sound() {
            let batches = Batches::open(Body::Mapped(file.map))?;
            let is_dragonfly = file.survey.about.header.family == Family::Dragonfly;
            (if is_dragonfly { batches.of_dragonfly() } else { batches }, None)
        } else {
            let salvage = file.report();
            let fault = file.fault();
            (Batches::salvaged(file.map, file.survey, fault), Some(salvage))
        };
        let mut open = OpenFile { batches, read: None, reported: 0 };
        let preamble = open.batches.preamble();
        let (open, options) = (Some(open), options.clone());
        Ok(PreparedInput { input, options, open, preamble, container, size, compression, salvage, file: opened })
    }

    /// Returns the bytes of commands in other files that follow the snapshot (multi-part append-only files).
    pub fn following_bytes(&self) -> Option<u64> {
        self.input.following_bytes
    }

    /// Returns the file as it was when it was opened; `None` for pipes.
    pub fn as_opened(&self) -> Option<OpenedFile> {
        let grows = self.is_append_only();
        self.file.clone().map(|file| file.that_grows(grows))
    }

    /// Returns the input.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &str {
        &self.input.name
    }

    /// Returns whether it is the base of a multi-part append-only file.
    pub fn is_multi_part(&self) -> bool {
        self.input.multi_part
    }

    /// Returns whether commands follow the snapshot, or may follow it.
    pub fn is_append_only(&self) -> bool {
        let is_set = |name| self.preamble.number(name) == Some(1);
        self.is_multi_part() || is_set("aof-preamble") || is_set("aof-base")
    }

    /// Returns the size of the snapshot, if nothing but the snapshot is in the file.
    pub fn plain_size(&self) -> Option<u64> {
        self.size.filter(|_| self.compression.is_none() && self.container == Container::Plain && !self.is_append_only())
    }

    /// Returns the first bytes of the snapshot if the file is still open.
    pub fn bytes_ahead(&self) -> Option<&[u8]> {
        self.open.as_ref().and_then(|open| open.batches.bytes_ahead())
    }

    /// Returns the bytes of the snapshot from the start, without consuming the input; `None` if it can be read only once.
    pub fn body_again(&self) -> Option<Body> {
        if !self.input.is_reopenable() {
            return None;
        }
        let body = self.input.open(&self.options).ok()?.body;
        dragonfly::unfold(body, &self.options).ok().map(|unfolded| unfolded.body)
    }

    /// Returns a way to read the input apart from its batches; `None` if it can be read only once.
    pub fn read_again(&self) -> Option<ReadAgain> {
        let batches = self.open.as_ref().map(|open| &open.batches);
        if let Some((map, survey)) = batches.and_then(Batches::salvaged_parts) {
            return Some(ReadAgain::Salvaged(map, survey));
        }
        // The header of a map does not tell Dragonfly.
        let batches = batches.filter(|batches| batches.header().family != Family::Dragonfly);
        match batches.and_then(Batches::mapped) {
            Some(mapped) => Some(ReadAgain::Mapped(mapped)),
            None if self.input.is_reopenable() => Some(ReadAgain::Open(self.input.clone(), self.options.clone())),
            None => None,
        }
    }

    /// Returns a way to read the input once more if that is quick: for local files whose compression is quick to undo.
    fn quickly_read_again(&self) -> Option<ReadAgain> {
        let is_quick = match self.compression? {
            Compression::Zstd | Compression::Lz4 | Compression::Vcs => true,
            Compression::Gzip => false,
        };
        if is_quick && self.input.object().is_none() { self.read_again() } else { None }
    }

    /// Copies input that can be read only once to a temporary file if its keys share hash templates, or if settings make some
    /// (`converts`): users of templates are counted before the first key is priced.
    pub fn keep_for_templates(&mut self, converts: bool) -> Result<()> {
        match &mut self.open {
            Some(open) if (self.preamble.templates.is_some() || converts) && !self.input.is_reopenable() => {
                let spooled = open.batches.spool(&self.options);
                spooled.map_err(|error| error.in_file(&self.input.name))
            }
            _ => Ok(()),
        }
    }

    /// Returns the file's batches.
    pub fn into_batches(self) -> Result<Batches> {
        self.into_open(&Unwatched).map(|open| open.batches)
    }

    fn into_open(mut self, progress: &dyn Progress) -> Result<OpenFile> {
        match self.open.take() {
            Some(open) => Ok(open),
            None => {
                let opened = self.input.open(&self.options)?;
                let same = self.file.as_ref().map_or(Ok(()), |file| file.same_as(opened.file.as_ref()));
                same.map_err(|error| error.in_file(&self.input.name))?;
                let open = OpenFile::new(opened, &self.options)?;
                open.watch(progress);
                Ok(open)
            }
        }
    }
}

/// A batch and its file.
#[derive(Debug)]
pub struct FileBatch {
    /// The records.
    pub batch: Batch,
    /// The file they are from.
    pub file: Arc<InputFile>,
    /// True if their slots are deferred to a second pass.
    pub defers: bool,
}

/// The batches of all files, round-robin over those open at a time.
pub struct Feed<'p> {
    waiting: VecDeque<(Arc<InputFile>, PreparedInput)>,
    active: VecDeque<ActiveFile>,
    at_once: usize,
    /// True if the framing of the commands behind the snapshots is verified.
    verifies_commands: bool,
    progress: &'p dyn Progress,
    /// By position among the inputs, once a file is exhausted.
    endings: Vec<(usize, Result<FileEnding>)>,
    /// Beginnings of exhausted files whose slots are deferred.
    deferred: Vec<DeferredStart>,
}

/// File from which batches are being cut.
struct ActiveFile {
    file: Arc<InputFile>,
    open: OpenFile,
    /// Its beginning whose slots are deferred, if reading it again takes little time.
    start: Option<DeferredStart>,
}

impl<'p> Feed<'p> {
    /// Creates a feed over `files` with `at_once` of them open; 1 keeps the order of files.
    pub fn new(files: Vec<(Arc<InputFile>, PreparedInput)>, at_once: usize, progress: &'p dyn Progress) -> Self {
        let (waiting, active, at_once) = (files.into(), VecDeque::new(), at_once.max(1));
        let (endings, deferred) = (Vec::new(), Vec::new());
        Feed { waiting, active, at_once, verifies_commands: false, progress, endings, deferred }
    }

    /// Also verifies the framing of the commands behind the snapshots.
    #[must_use]
    pub fn with_commands(self) -> Self {
        Feed { verifies_commands: true, ..self }
    }

    /// Returns how each file ended, by position among the inputs. Files that were not read to their end are missing.
    ///
    /// Fails if a store failed in the middle of an object: what was read before says nothing about the rest.
    pub fn into_endings(self) -> Result<Vec<(usize, Result<FileEnding>)>> {
        let mut endings = self.into_all_endings();
        let failed = endings.iter_mut().find_map(|(_, ending)| match ending {
            Ok(ending) => ending.stopped.take_if(|error| error.is_of_store()),
            Err(error) => Some(error.again()).filter(Error::is_of_store),
        });
        failed.map_or(Ok(endings), Err)
    }

    /// Like [`Feed::into_endings`], but leaves failures of stores to the verdict on each file.
    pub fn into_all_endings(mut self) -> Vec<(usize, Result<FileEnding>)> {
        self.endings.compact_sort_by_key(|(index, _)| *index);
        self.endings
    }

    /// Removes the mapped files that have not been begun: any thread can read them from any place.
    pub fn take_mapped(&mut self) -> Vec<MappedFile> {
        let (mut files, mut others) = (Vec::new(), VecDeque::new());
        for (file, prepared) in mem::take(&mut self.waiting) {
            let batches = prepared.open.as_ref().map(|open| &open.batches);
            match batches.and_then(|batches| Some((batches.mapped_whole()?, batches.header()))) {
                Some((map, header)) => {
                    let templates = prepared.preamble.templates.clone();
                    let enterprise = prepared.preamble.enterprise;
                    files.push(MappedFile { file, map, header, templates, enterprise });
                }
                None => others.push_back((file, prepared)),
            }
        }
        self.waiting = others;
        files
    }

    /// Records how files ended that were removed.
    pub fn ended(&mut self, endings: Vec<(usize, FileEnding)>) {
        self.endings.extend(endings.into_iter().map(|(index, ending)| (index, Ok(ending))));
    }

    fn top_up(&mut self) {
        while self.active.len() < self.at_once {
            let Some((file, prepared)) = self.waiting.pop_front() else { return };
            let start = prepared.quickly_read_again().map(|again| DeferredStart::new(&file, again));
            match prepared.into_open(self.progress) {
                Ok(mut open) => {
                    if self.verifies_commands {
                        open.batches.verify_commands();
                    }
                    self.active.push_back(ActiveFile { file, open, start });
                }
                Err(error) => self.endings.push((file.index, Err(named(error, &file)))),
            }
        }
    }

    /// Returns the next batch. If slots can be deferred now, those of a batch are if its file allows it and all before it are.
    pub fn next_batch(&mut self, can_defer: bool) -> Option<FileBatch> {
        loop {
            if self.progress.is_cancelled() {
                return None;
            }
            self.top_up();
            let mut active = self.active.pop_front()?;
            let batch = active.open.batches.next_batch();
            self.progress.bytes(active.open.advance(batch.as_ref()));
            match batch {
                Some(batch) => {
                    let defers = active.start.as_mut().is_some_and(|start| start.extend(&batch, can_defer));
                    let work = FileBatch { batch, file: Arc::clone(&active.file), defers };
                    // Round-robin: the others decompress meanwhile.
                    self.active.push_back(active);
                    return Some(work);
                }
                None => {
                    let ActiveFile { file, open, start } = active;
                    let mut ending = open.batches.ending();
                    ending.stopped = ending.stopped.map(|error| named(error, &file));
                    self.endings.push((file.index, Ok(ending)));
                    self.deferred.extend(start.filter(|start| start.bytes() > 0));
                }
            }
        }
    }

    /// Removes the beginnings of files whose slots were deferred.
    pub fn take_deferred(&mut self) -> Vec<DeferredStart> {
        mem::take(&mut self.deferred)
    }
}

fn named(error: Error, file: &InputFile) -> Error {
    error.in_file(&file.name)
}

impl Iterator for Feed<'_> {
    type Item = FileBatch;

    fn next(&mut self) -> Option<FileBatch> {
        self.next_batch(false)
    }
}
