//! Opens the inputs of a run and collects all facts needed before the first record is read.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use super::feed::{Feed, PreparedInput};
use super::file::InputFile;
use super::one_snapshot;
use super::progress::Progress;
use super::raised_limits::RaisedLimits;
use super::reader::ReadOptions;
use super::shards;
use super::template_users;
use crate::analyze::plan::{ReadPlan, cannot_read_twice};
use crate::error::{Error, Result};
use crate::input::{self, Compression, Container, Input, OpenOptions, OpenedFile};
use crate::memory::{Model, RdbLoad, Server, WriterTraces};
use crate::rdb::file_info::FileInfo;
use crate::report::{NoFile, Salvage, Warning, WarningKind};
use crate::units::{Millis, ReferenceTimes};

/// A snapshot in one file or many.
#[derive(Debug)]
pub struct Snapshot {
    /// The inputs that could be opened.
    files: Vec<(Arc<InputFile>, PreparedInput)>,
    /// Facts about every input before reading, by position.
    pub facts: Vec<FileFacts>,
    /// Time of the report: that given by the user, or the latest of all files.
    pub reference: Option<Millis>,
    /// Warnings about what is in a directory and is no file.
    pub passed_over: Vec<Warning>,
    /// Number of inputs, whether or not they could be opened.
    pub resolved: usize,
}

/// Returns warnings about special files that were skipped.
pub fn passed_over<P: AsRef<Path>>(arguments: &[P]) -> Vec<Warning> {
    let local: Vec<&Path> = input::resolve::local(arguments).collect();
    warnings(input::resolve_each(&local).passed_over)
}

fn warnings(passed_over: Vec<(String, input::SpecialFile)>) -> Vec<Warning> {
    let what = |what| match what {
        input::SpecialFile::NamedPipe => NoFile::NamedPipe,
        input::SpecialFile::Socket => NoFile::Socket,
        input::SpecialFile::Device => NoFile::Device,
    };
    let warning = |(name, found): (String, _)| Warning::about(&name, WarningKind::PassedOver { what: what(found) });
    passed_over.into_iter().map(warning).collect()
}

/// Facts about an input before its records are read.
#[derive(Debug)]
pub struct FileFacts {
    /// Name in reports.
    pub name: String,
    /// Details, or why the input could not be opened.
    pub opened: Result<OpenedFacts>,
}

/// Details of an opened input.
#[derive(Debug)]
pub struct OpenedFacts {
    /// Container around the snapshot.
    pub container: Container,
    /// Compression of the file.
    pub compression: Option<Compression>,
    /// Bytes of commands in other files that follow it.
    pub following_bytes: Option<u64>,
    /// True if it is the base of a multi-part append-only file.
    pub multi_part: bool,
    /// Header and metadata before the first key.
    pub preamble: FileInfo,
    /// The server that wrote it.
    pub writer: Server,
    /// Sound and damaged ranges, if the file is damaged and read past the damage.
    pub salvage: Option<Salvage>,
    /// The file as it was when it was opened; `None` for pipes.
    pub as_opened: Option<OpenedFile>,
    /// The file with its models, as the workers see it.
    pub file: Arc<InputFile>,
}

/// Returns whether settings make hash templates while the file is loaded.
fn converts(file: &InputFile, prepared: &PreparedInput) -> bool {
    prepared.preamble.templates.is_none() && file.models().any(|model| RdbLoad::of(model).is_some())
}

/// Prepares the hash templates of one of `files` inputs. Fails if settings convert hashes of an input that cannot be read
/// twice.
fn prepare_templates(
    file: &InputFile,
    prepared: &PreparedInput,
    reference: Option<Millis>,
    files: usize,
) -> Result<()> {
    if converts(file, prepared) && prepared.read_again().is_none() {
        return Err(cannot_read_twice(&file.name, "hash-rdb-load-min-template-entries"));
    }
    let reference = file.reference_in(reference);
    let lazy = || template_users::lazy(prepared, &file.model, &file.alternatives, reference, files);
    file.held_templates.get_or_init(lazy);
    Ok(())
}

impl FileFacts {
    /// Returns the position and the head of a file that could be opened.
    pub fn head(&self) -> Option<(usize, FileInfo)> {
        self.opened.as_ref().ok().map(|opened| (opened.file.index, opened.preamble.clone()))
    }
}

/// Facts about a run of which a snapshot is only a part.
#[derive(Debug, Clone, Copy)]
pub struct WholeRun {
    /// Number of inputs of the run.
    pub inputs: usize,
    /// Files that could be opened.
    pub opened: usize,
    /// Time of the report.
    pub reference: Option<Millis>,
}

/// Returns the options for opening one of these inputs, which are all open at once and share what the run may take.
fn shared_options(plan: &ReadPlan, inputs: usize) -> OpenOptions {
    let threads = NonZeroUsize::new(plan.threads).or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    OpenOptions {
        budget: plan.open.budget.shared_by(inputs),
        // Inputs are read one after the other: the next one is inflated ahead.
        inflaters: (2 * threads / inputs.max(1)).clamp(1, threads + 1),
        ..plan.open.clone()
    }
}

impl Snapshot {
    /// Opens some inputs of a run, each with its position there. Fails if one of them cannot be opened.
    pub fn open_part(
        inputs: Vec<(usize, Input)>,
        plan: &ReadPlan,
        whole: WholeRun,
        progress: &dyn Progress,
    ) -> Result<Snapshot> {
        let (mut files, mut facts) = (Vec::new(), Vec::new());
        let options = shared_options(plan, whole.inputs);
        for (index, input) in inputs {
            let name = input.name.clone();
            let (opened, file, mut prepared) = open_input(index, input, &options, plan, progress)?;
            progress.expect(prepared.size.unwrap_or_default());
            prepared.keep_for_templates(converts(&file, &prepared))?;
            prepare_templates(&file, &prepared, whole.reference, whole.opened)?;
            facts.push(FileFacts { name, opened: Ok(opened) });
            files.push((file, prepared));
        }
        Ok(Snapshot { files, facts, reference: whole.reference, passed_over: Vec::new(), resolved: whole.inputs })
    }

    /// Opens the inputs: paths, globs, directories, `-`. Fails when none of them can be opened, or when they are not the shards
    /// of one snapshot.
    pub fn open<P: AsRef<Path>>(inputs: &[P], plan: &ReadPlan, progress: &dyn Progress) -> Result<Snapshot> {
        let mut snapshot = Snapshot::open_any(inputs, plan, progress)?;
        if snapshot.files.is_empty() {
            let first = snapshot.facts.drain(..).find_map(|facts| facts.opened.err());
            return Err(first.unwrap_or_else(|| Error::usage("no input given")));
        }
        one_snapshot::check(snapshot.files.iter().map(|(_, prepared)| prepared), plan.inputs)?;
        let files = snapshot.files.len();
        for (file, prepared) in &mut snapshot.files {
            prepared.keep_for_templates(converts(file, prepared))?;
            prepare_templates(file, prepared, snapshot.reference, files)?;
        }
        Ok(snapshot)
    }

    /// Like [`Snapshot::open`], but fails only when no input exists: a file that is no snapshot is recorded in the facts. Does not
    /// prepare the pricing of compact hashes.
    pub fn open_any<P: AsRef<Path>>(inputs: &[P], plan: &ReadPlan, progress: &dyn Progress) -> Result<Snapshot> {
        let input::Resolved { inputs, failed, passed_over } = input::resolve_each_with(inputs, &plan.stores);
        if inputs.is_empty() {
            let first = failed.into_iter().next().map(|(_, error)| error);
            return Err(first.unwrap_or_else(|| Error::usage("no input given")));
        }
        let (mut files, mut facts) = (Vec::new(), Vec::new());
        let resolved = inputs.len();
        let options = shared_options(plan, resolved);
        for (index, mut input) in inputs.into_iter().enumerate() {
            input.name = plan.shown(input.name);
            let name = input.name.clone();
            let opened = open_input(index, input, &options, plan, progress).map(|(facts, file, prepared)| {
                progress.expect(prepared.size.unwrap_or_default());
                files.push((file, prepared));
                facts
            });
            facts.push(FileFacts { name, opened });
        }
        facts.extend(shards::missing(&facts));
        facts.extend(failed.into_iter().map(|(name, error)| FileFacts { name, opened: Err(error) }));
        let ctime = facts.iter().filter_map(|facts| facts.opened.as_ref().ok()?.preamble.ctime()).max();
        let reference = reference(plan, ctime);
        let passed_over = warnings(passed_over);
        Ok(Snapshot { files, facts, reference, passed_over, resolved })
    }

    /// Also prices collections just above a compact-encoding limit as if the limits were `factor` times as high.
    ///
    /// Must be called before [`Snapshot::feed`].
    pub fn raise_limits(&self, factor: u64) {
        for (file, _) in &self.files {
            file.raised.get_or_init(|| RaisedLimits::new(&file.model, factor));
        }
    }

    /// Returns the memory model of the first file.
    pub fn model(&self) -> Option<Arc<Model>> {
        self.files.first().map(|(file, _)| Arc::clone(&file.model))
    }

    /// Returns true when the snapshot is in several files.
    pub fn is_sharded(&self) -> bool {
        self.facts.len() > 1
    }

    /// Returns the inputs that could be opened with their sizes, until they are fed.
    pub fn inputs(&self) -> impl Iterator<Item = (&InputFile, &Input, Option<u64>)> {
        self.files.iter().map(|(file, prepared)| (&**file, prepared.input(), prepared.size))
    }

    /// Returns the head of each input that could be opened, with its models.
    pub fn heads(&self) -> impl Iterator<Item = (&FileInfo, &Arc<InputFile>)> {
        let opened = self.facts.iter().filter_map(|facts| facts.opened.as_ref().ok());
        opened.map(|opened| (&opened.preamble, &opened.file))
    }

    /// Returns the times that expiries are compared with.
    pub fn references(&self) -> ReferenceTimes {
        let own = self.facts.iter().map(|facts| facts.opened.as_ref().ok().and_then(|opened| opened.file.reference));
        ReferenceTimes::new(self.reference, own)
    }

    /// Returns the inputs that could be opened, until they are fed.
    pub fn files(&self) -> Vec<Arc<InputFile>> {
        self.files.iter().map(|(file, _)| Arc::clone(file)).collect()
    }

    /// Returns the files' batches as one sequence, with `at_once` files open at a time. May be called once.
    pub fn feed<'p>(&mut self, at_once: usize, progress: &'p dyn Progress) -> Feed<'p> {
        Feed::new(std::mem::take(&mut self.files), at_once, progress)
    }

    /// Returns the options for reading its records.
    pub fn reading<'p>(&self, plan: &'p ReadPlan) -> ReadOptions<'p> {
        ReadOptions {
            selection: &plan.selection,
            reference: self.reference,
            // The checksum covers the whole file.
            checksum: plan.checksum && plan.limit.is_none(),
        }
    }
}

/// Opens one input and reads what precedes its first key.
fn open_input(
    index: usize,
    input: Input,
    options: &OpenOptions,
    plan: &ReadPlan,
    progress: &dyn Progress,
) -> Result<(OpenedFacts, Arc<InputFile>, PreparedInput)> {
    let (name, multi_part) = (input.name.clone(), input.multi_part);
    let prepared = PreparedInput::new(input, options, plan.damage, progress)?;
    let (writer, file) = input_file(index, name, &prepared.preamble, plan);
    let file = Arc::new(file);
    let facts = OpenedFacts {
        container: prepared.container,
        compression: prepared.compression,
        following_bytes: prepared.following_bytes(),
        multi_part,
        preamble: prepared.preamble.clone(),
        writer,
        salvage: prepared.salvage.clone(),
        as_opened: prepared.as_opened(),
        file: Arc::clone(&file),
    };
    Ok((facts, file, prepared))
}

/// Returns the server that wrote a file, and the file with its memory models.
pub fn input_file(index: usize, name: String, preamble: &FileInfo, plan: &ReadPlan) -> (Server, InputFile) {
    let writer = writer(preamble);
    // Keys are grouped by slot in dumps of cluster nodes.
    let config = if preamble.by_slot { plan.config.of_cluster_node() } else { plan.config.clone() };
    let model = Arc::new(Model::for_server(plan.server.unwrap_or(writer), plan.allocator, &config));
    let alternatives = plan.what_if.iter().map(|what_if| what_if.apply(&model)).collect();
    let (raised, held_templates, budget) = (OnceLock::new(), OnceLock::new(), plan.open.budget);
    let reference = reference(plan, preamble.ctime());
    (writer, InputFile { index, name, reference, model, alternatives, raised, budget, held_templates })
}

/// Returns the time that expiries are compared with, for a file of this `ctime` in seconds.
pub fn reference(plan: &ReadPlan, ctime: Option<i64>) -> Option<Millis> {
    plan.at.or(ctime.map(Millis::end_of_second))
}

/// Detects the server that wrote a file.
pub fn writer(about: &FileInfo) -> Server {
    let traces = WriterTraces {
        redis_ver: about.field("redis-ver"),
        valkey_ver: about.field("valkey-ver"),
        dragonfly_ver: about.field("df-ver"),
        enterprise: about.enterprise,
    };
    Server::detect(&about.header, traces)
}
