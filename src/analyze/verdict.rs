//! Verdict on each file, once everything has been read.

use std::collections::BTreeMap;

use super::read::snapshot::{FileFacts, OpenedFacts};
use super::read::tally::{FileTally, Oddities};
use crate::error::{Error, ErrorKind, Reading, Result};
use crate::input;
use crate::memory::{LazyTemplates, Server};
use crate::rdb::batch::FileEnding;
use crate::report::{
    Checksum, Compression, Container, ContainerForm, FileError, FileServer, SourceFile, Unknown, Warning, WarningKind,
};
use crate::units::Bytes;
use crate::wording::wording;

/// Length of the end marker of a replication stream.
const MARK_BYTES: u64 = 40;

/// Last RDB version whose servers announce expired keys and do not write them (Redis 4.0).
const LAST_WITHOUT_EXPIRED_KEYS: u32 = 8;

/// Result of reading one file; one per input, in their order.
#[derive(Debug)]
pub struct FileVerdict {
    /// Row of the report.
    pub row: SourceFile,
    /// Reason why the file was not read to its end, or fails verification.
    pub fault: Option<Error>,
    /// First values damaged inside intact framing.
    pub damage: Vec<Error>,
    /// The first part that needs more memory or temporary space than allowed.
    pub over_budget: Option<Error>,
    /// Warnings about the file.
    pub warnings: Vec<Warning>,
    /// End of the snapshot, if it or damage before it was reached.
    pub ending: Option<FileEnding>,
}

impl FileVerdict {
    /// Returns true if everything was read and nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.fault.is_none() && self.row.damaged_keys == 0
    }

    /// Adds a warning if the file announces another number of keys than it holds; for runs that read all keys.
    #[must_use]
    pub fn with_keys_compared(mut self) -> FileVerdict {
        let is_whole = self.fault.is_none() && self.over_budget.is_none() && self.row.salvage.is_none();
        if let Some(FileEnding { about, .. }) = self.ending.as_ref().filter(|_| is_whole)
            // A fork-less save announces the keys of its beginning, and others are written meanwhile.
            && let Some(announced) = about.announced.filter(|_| about.updates == 0)
        {
            let empty = self.warnings.iter().find_map(|warning| match warning.kind {
                WarningKind::EmptyKeys { keys } => Some(keys),
                _ => None,
            });
            let keys = self.row.keys_read + empty.unwrap_or_default();
            let leaves_out_expired = about.header.version <= LAST_WITHOUT_EXPIRED_KEYS;
            if keys > announced || keys < announced && !leaves_out_expired {
                self.warnings.push(Warning::about(&self.row.name, WarningKind::OtherNumberOfKeys { announced, keys }));
            }
        }
        self
    }
}

/// Combines the facts known before reading with the results of scan and workers.
pub fn verdicts(
    facts: Vec<FileFacts>,
    endings: Vec<(usize, Result<FileEnding>)>,
    mut tallies: BTreeMap<usize, FileTally>,
    verify: bool,
) -> Vec<FileVerdict> {
    let mut endings: BTreeMap<usize, Result<FileEnding>> = endings.into_iter().collect();
    let one = |(number, facts): (usize, FileFacts)| {
        // The files of a part of a run have the positions that they have in the whole.
        let index = facts.opened.as_ref().map_or(number, |opened| opened.file.index);
        let tally = tallies.remove(&index).unwrap_or_default();
        match (facts.opened, endings.remove(&index)) {
            (Err(error), _) | (Ok(_), Some(Err(error))) => unreadable(facts.name, error),
            (Ok(_), Some(Ok(FileEnding { stopped: Some(error), .. }))) if error.is_of_store() => {
                unreadable(facts.name, error)
            }
            (Ok(opened), Some(Ok(ending))) => read(facts.name, &opened, Some(ending), tally, verify),
            (Ok(opened), None) => read(facts.name, &opened, None, tally, verify),
        }
    };
    facts.into_iter().enumerate().map(one).collect()
}

/// Returns the verdict on a file that cannot be read.
pub fn unreadable(name: String, error: Error) -> FileVerdict {
    let row = SourceFile {
        name,
        container: ContainerForm::Unreadable.into(),
        bytes: Bytes(0),
        trailing_bytes: None,
        rdb_version: 0,
        checksum: Checksum::NotReached,
        keys: 0,
        keys_read: 0,
        memory: Bytes(0),
        total: None,
        unknown: Unknown::default(),
        ctime: None,
        used_mem: None,
        server: None,
        errors: vec![FileError::from(&error)],
        damaged_keys: 0,
        salvage: None,
    };
    let (damage, warnings) = (Vec::new(), Vec::new());
    FileVerdict { row, fault: Some(error), damage, over_budget: None, warnings, ending: None }
}

fn read(
    name: String,
    opened: &OpenedFacts,
    mut ending: Option<FileEnding>,
    mut tally: FileTally,
    verify: bool,
) -> FileVerdict {
    let (checksum, mismatch) = match &ending {
        Some(ending) => check_sum(ending, &mut tally, verify),
        None => (Checksum::Skipped, None),
    };
    let stopped = ending.as_mut().and_then(|ending| ending.stopped.take());
    // A file that was written to meanwhile explains whatever is wrong with it.
    let changed = opened.as_opened.as_ref().and_then(|file| file.check().err());
    let fault = changed.map(|error| error.in_file(&name)).or(stopped);
    let fault = fault.or(mismatch.map(|error| error.in_file(&name)));
    let stray = ending.as_mut().filter(|_| fault.is_none()).and_then(|ending| broken_commands(opened, ending));
    let fault = fault.or(stray.map(|error| error.in_file(&name)));
    let fault = if opened.salvage.is_some() { fault } else { fault.map(with_advice) };
    let trailing = ending.as_ref().map_or(0, |ending| ending.trailing);
    let mut warnings = ending.as_ref().map_or_else(Vec::new, |ending| warnings_of(opened, ending));
    warnings.extend(oddities(tally.oddities));
    if tally.over_budget > 0 {
        warnings.push(WarningKind::OverBudget { keys: tally.over_budget });
    }
    let warnings = warnings.into_iter().map(|kind| Warning::about(&name, kind)).collect();
    let errors = fault.iter().chain(&tally.errors).map(FileError::from).collect();
    let row = SourceFile {
        container: container(opened, trailing),
        bytes: Bytes(ending.as_ref().map_or(0, |ending| ending.bytes)),
        trailing_bytes: ending
            .as_ref()
            .map_or_else(|| opened.following_bytes.map(Bytes), |ending| trailing_commands(opened, ending)),
        rdb_version: opened.preamble.header.version,
        checksum,
        keys: tally.selected,
        keys_read: tally.keys,
        memory: tally.memory,
        total: None,
        unknown: tally.unknown,
        ctime: opened.preamble.ctime(),
        used_mem: opened.preamble.used_mem().map(Bytes),
        server: Some(file_server(opened.writer)),
        errors,
        damaged_keys: tally.damaged,
        salvage: opened.salvage.clone(),
        name,
    };
    let damage = tally.errors.into_iter().map(|error| error.in_file(&row.name)).collect();
    let over_budget = tally.first_over_budget.map(|error| error.in_file(&row.name));
    FileVerdict { warnings, row, fault, damage, over_budget, ending }
}

/// Adds what to do about a damaged file, unless the error says so.
fn with_advice(fault: Error) -> Error {
    match fault.kind() {
        ErrorKind::Corrupt(_) | ErrorKind::Truncated { .. } => fault.with_remedy(wording!(
            "copy the file again, or save its intact keys with rdblens salvage",
            "请重新拷贝文件，或用 rdblens salvage 保存完好的 key"
        )),
        _ => fault,
    }
}

fn check_sum(ending: &FileEnding, tally: &mut FileTally, verify: bool) -> (Checksum, Option<Error>) {
    match ending.stored_checksum {
        None if ending.stopped.is_some() => (Checksum::NotReached, None),
        None => (Checksum::Absent, None),
        Some(0) => (Checksum::NotComputed, None),
        Some(_) if !verify => (Checksum::Skipped, None),
        Some(stored) => match tally.checksum() {
            computed if computed == stored => (Checksum::Ok, None),
            computed => {
                let error = Error::new(ErrorKind::Checksum { stored, computed }).with_remedy(wording!(
                    "the file was damaged after it was written: take the backup again",
                    "文件在写入之后损坏：请重新备份"
                ));
                (Checksum::Mismatch, Some(error))
            }
        },
    }
}

fn container(opened: &OpenedFacts, trailing: u64) -> Container {
    let form = match opened.container {
        input::Container::Replication { .. } => ContainerForm::Replication,
        input::Container::Plain if opened.multi_part => ContainerForm::MultiPartAof,
        input::Container::Plain if trailing > 0 && is_aof_preamble(opened) => ContainerForm::AofPreamble,
        input::Container::Plain => ContainerForm::Rdb,
    };
    Container { form, compression: opened.compression.map(compression) }
}

/// Returns the container of a snapshot that was not read to find out what follows it.
pub fn container_of(container: input::Container, compressed: Option<input::Compression>) -> Container {
    let form = match container {
        input::Container::Replication { .. } => ContainerForm::Replication,
        input::Container::Plain => ContainerForm::Rdb,
    };
    Container { form, compression: compressed.map(compression) }
}

fn compression(compression: input::Compression) -> Compression {
    match compression {
        input::Compression::Gzip => Compression::Gzip,
        input::Compression::Zstd => Compression::Zstd,
        input::Compression::Lz4 => Compression::Lz4,
        input::Compression::Vcs => Compression::Vcs,
    }
}

/// Returns the server that wrote a file as reports name it.
pub fn file_server(writer: Server) -> FileServer {
    FileServer { family: writer.family.name().to_owned(), version: writer.written_by(), guessed_from: writer.guessed }
}

fn is_aof_preamble(opened: &OpenedFacts) -> bool {
    let is_set = |name| opened.preamble.number(name) == Some(1);
    is_set("aof-preamble") || is_set("aof-base")
}

/// Returns whether the snapshot is part of an append-only file, and nothing but commands follows it as far as its next byte tells.
fn has_commands(opened: &OpenedFacts, ending: &FileEnding) -> bool {
    // Annotations, such as times, begin with `#`.
    is_aof_preamble(opened) && ending.follows.is_none_or(|first| matches!(first, b'*' | b'#'))
}

/// Returns what is wrong with the commands behind the snapshot of an append-only file, as far as they were verified: at least that
/// the first begins like one.
fn broken_commands(opened: &OpenedFacts, ending: &mut FileEnding) -> Option<Error> {
    if !is_aof_preamble(opened) {
        return None;
    }
    if let Some(error) = ending.commands.take_if(|commands| commands.is_err()).and_then(Result::err) {
        return Some(error);
    }
    let first = ending.follows.filter(|_| !has_commands(opened, ending))?;
    let error = Error::corrupt(
        ending.bytes,
        wording!("a command begins with byte {first:#04x}, not with `*`", "命令以字节 {first:#04x} 开头，而不是 `*`"),
    );
    let remedy = wording!(
        "servers do not load the file; redis-check-aof --fix cuts it off there",
        "服务器无法加载该文件；redis-check-aof --fix 可在此处截断"
    );
    Some(error.with_remedy(remedy).while_reading(Reading::Commands))
}

/// Returns the bytes of commands after the snapshot, in the same file or the following ones.
fn trailing_commands(opened: &OpenedFacts, ending: &FileEnding) -> Option<Bytes> {
    let own = if has_commands(opened, ending) { ending.trailing } else { 0 };
    match own.saturating_add(opened.following_bytes.unwrap_or_default()) {
        0 if opened.following_bytes.is_none() => None,
        bytes => Some(Bytes(bytes)),
    }
}

fn oddities(found: Oddities) -> impl Iterator<Item = WarningKind> {
    let empty = (found.empty > 0).then_some(WarningKind::EmptyKeys { keys: found.empty });
    let streams = (found.streams > 0).then_some(WarningKind::OddStreams { keys: found.streams });
    let scores = (found.scores > 0).then_some(WarningKind::OddScores { keys: found.scores });
    let vector_sets = (found.vector_sets > 0).then_some(WarningKind::OddVectorSets { keys: found.vector_sets });
    let edges = (found.edge_elements > 0).then_some(WarningKind::EdgeElements { keys: found.edge_elements });
    [empty, streams, scores, vector_sets, edges].into_iter().flatten()
}

fn warnings_of(opened: &OpenedFacts, ending: &FileEnding) -> Vec<WarningKind> {
    let mut warnings = Vec::new();
    let header = opened.preamble.header;
    if header.is_from_the_future() {
        warnings.push(WarningKind::NewerFormat { magic: header.magic().to_owned(), version: header.version });
    }
    if let Some(bytes) = trailing_commands(opened, ending).filter(|bytes| bytes.0 > 0) {
        warnings.push(WarningKind::CommandsFollow { bytes });
    }
    if let Some(Ok(Some(offset))) = ending.commands.as_ref().filter(|_| is_aof_preamble(opened)) {
        warnings.push(WarningKind::LastCommandCut { offset: *offset });
    }
    match opened.container {
        input::Container::Replication { mark: Some(_), .. }
            if ending.stopped.is_none() && ending.trailing != MARK_BYTES =>
        {
            warnings.push(WarningKind::NoEndMark);
        }
        input::Container::Replication { length: Some(announced), .. }
            if ending.stopped.is_none() && announced != ending.bytes =>
        {
            warnings.push(WarningKind::OtherLength { announced: Bytes(announced), bytes: Bytes(ending.bytes) });
        }
        input::Container::Plain if ending.trailing > 0 && !has_commands(opened, ending) => {
            warnings.push(WarningKind::BytesFollow { bytes: Bytes(ending.trailing) });
        }
        input::Container::Replication { .. } | input::Container::Plain => {}
    }
    if ending.strays > 0 {
        warnings.push(WarningKind::StrayMetadata { places: ending.strays });
    }
    if opened.file.held_templates.get().is_some_and(LazyTemplates::are_missing) {
        warnings.push(WarningKind::TemplatesNotShared { templates: ending.about.hash_templates });
    }
    if ending.about.updates > 0 {
        warnings.push(WarningKind::UpdatesNotApplied { commands: ending.about.updates });
    }
    warnings
}
