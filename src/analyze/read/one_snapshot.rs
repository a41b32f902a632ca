//! Refuses inputs that are not the shards of one deployment at one time: adding them up counts keys twice.
//!
//! | evidence | refused |
//! |---|---|
//! | the same header, auxiliary fields and content, compressed or not | as one snapshot given twice |
//! | created more than an hour apart (`ctime`) | as several snapshots of one deployment |
//! | names that differ in a date only: `cache-2026-11-20.rdb`, `cache-2026-11-21.rdb` | likewise |
//! | the same replication id (`repl-id`) and other fields that differ | as two snapshots of one server or its replica |
//! | `dump.rdb` beside `appendonlydir` | as two forms of one server's data |
//!
//! Left alone are shards without a key, which cannot count twice; base files of append-only files far apart in time, which each
//! server rewrites when it likes; and files whose replication ids and names all differ: shards that were saved one after the other.

#[cfg(feature = "cli")]
pub mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::feed::PreparedInput;
use super::progress::Unwatched;
use crate::analyze::plan::InputCheck;
#[cfg(feature = "cli")]
use crate::analyze::plan::{AtDamage, ReadPlan};
use crate::error::{Error, Result};
#[cfg(feature = "cli")]
use crate::input::Input;
use crate::input::undated;
use crate::rdb::cursor::Cursor;
use crate::rdb::header::RdbHeader;
use crate::rdb::scan::{FileItem, ScanState, Scanner};
use crate::report::diff::nights::NIGHT_SECONDS;

/// Bytes at the start of a file that tell most files apart.
const HEAD: usize = 64 << 10;

/// Bytes after which equal contents count as the same: dictionaries have random seeds, so two servers list no two keys alike.
const ENOUGH: u64 = 64 << 20;

const ONE_NAME: &str = "look like several snapshots of one server: their names differ in the date only";

/// Returns an error if the inputs are not shards of one snapshot, as far as `check` demands.
pub(super) fn check<'f>(inputs: impl Iterator<Item = &'f PreparedInput>, check: InputCheck) -> Result<()> {
    let inputs: Vec<&PreparedInput> = inputs.collect();
    if inputs.len() < 2 || check == InputCheck::None {
        return Ok(());
    }
    copies(&inputs)?;
    match check {
        InputCheck::Shards => other_times(&inputs),
        InputCheck::Night => one_form(&inputs),
        InputCheck::Copies | InputCheck::None => Ok(()),
    }
}

/// Returns an error if inputs that are read one by one are not shards of one snapshot. What cannot be opened, or only once, is passed
/// over.
#[cfg(feature = "cli")]
pub fn check_each(inputs: Vec<Input>, plan: &ReadPlan) -> Result<()> {
    if inputs.len() < 2 || plan.inputs == InputCheck::None {
        return Ok(());
    }
    let inputs = inputs.into_iter().filter(Input::is_reopenable);
    let opened = inputs.filter_map(|input| PreparedInput::new(input, &plan.open, AtDamage::Stop, &Unwatched).ok());
    let opened: Vec<PreparedInput> = opened.collect();
    check(opened.iter(), plan.inputs)
}

/// Refuses a snapshot that is given twice.
fn copies(inputs: &[&PreparedInput]) -> Result<()> {
    let mut alike: BTreeMap<_, Vec<&PreparedInput>> = BTreeMap::new();
    for input in inputs {
        let about = &input.preamble;
        alike.entry((about.header.magic(), about.header.version, &about.aux)).or_default().push(input);
    }
    for group in alike.into_values().filter(|group| group.len() > 1) {
        // Compared with the files of the same head only: there may be many files without auxiliary fields.
        let mut heads: BTreeMap<Vec<u8>, Vec<&PreparedInput>> = BTreeMap::new();
        for input in group {
            let Some(head) = head(input).filter(|head| holds_key(head, input.preamble.header)) else { continue };
            let known = heads.entry(head).or_default();
            if let Some(same) = known.iter().find(|other| same_content(other, input)) {
                return Err(given_twice(same.name(), input.name()));
            }
            known.push(input);
        }
    }
    Ok(())
}

fn given_twice(one: &str, other: &str) -> Error {
    Error::usage(format!("{one} and {other} are the same snapshot: its keys would count twice"))
        .with_hint("give it once, or add --allow-same")
}

/// Returns the first bytes of the snapshot, or `None` if they cannot be read.
fn head(input: &PreparedInput) -> Option<Vec<u8>> {
    if let Some(ahead) = input.bytes_ahead() {
        return Some(ahead[..ahead.len().min(HEAD)].to_vec());
    }
    let mut body = input.body_again()?;
    body.fill(HEAD as u64).ok()?;
    let bytes = body.bytes();
    Some(bytes[..bytes.len().min(HEAD)].to_vec())
}

/// Returns false if the snapshot ends before a key.
fn holds_key(head: &[u8], header: RdbHeader) -> bool {
    let items = head.get(RdbHeader::LEN..).unwrap_or_default();
    let state = ScanState { family: header.family, db: Some(0) };
    let mut scanner = Scanner::new(Cursor::new(items, RdbHeader::LEN as u64), state);
    loop {
        match scanner.next_item() {
            Ok(FileItem::End) => return false,
            Ok(FileItem::Key(_)) | Err(_) => return true,
            Ok(
                FileItem::Aux(..)
                | FileItem::Database(_)
                | FileItem::DatabaseSize(..)
                | FileItem::Slot(_)
                | FileItem::SlotNumber(_)
                | FileItem::Function(_)
                | FileItem::ModuleAux(_)
                | FileItem::SlotImport
                | FileItem::Update
                | FileItem::HashTemplate,
            ) => {}
        }
    }
}

/// Returns whether two files of the same head have the same content, or one is the start of the other: a copy without the
/// commands that were appended later.
fn same_content(one: &PreparedInput, other: &PreparedInput) -> bool {
    // Inputs that can be read only once are compared by their heads.
    let (Some(mut left), Some(mut right)) = (one.body_again(), other.body_again()) else { return true };
    let start = left.offset();
    loop {
        let wanted = HEAD as u64;
        // A read error counts as the end.
        let more = [left.fill(wanted).unwrap_or(false), right.fill(wanted).unwrap_or(false)];
        let both = left.bytes().len().min(right.bytes().len()).min(HEAD);
        if left.bytes()[..both] != right.bytes()[..both] {
            return false;
        }
        left.skip(both);
        right.skip(both);
        if both == 0 || more != [true, true] {
            return true;
        }
        if left.offset() - start >= ENOUGH {
            return one.plain_size().zip(other.plain_size()).is_none_or(|(one, other)| one == other);
        }
    }
}

/// Refuses snapshots of different times.
fn other_times(inputs: &[&PreparedInput]) -> Result<()> {
    let evidence = |inputs: &[&PreparedInput]| {
        beside_append_only(inputs)
            .or_else(|| by_name(inputs))
            .or_else(|| by_replication(inputs))
            .or_else(|| by_time(inputs))
    };
    if evidence(inputs).is_none() {
        return Ok(());
    }
    // Looked up only now, since it takes time.
    let mut with_keys = inputs.to_vec();
    with_keys.retain(|input| head(input).is_none_or(|head| holds_key(&head, input.preamble.header)));
    evidence(&with_keys).map_or(Ok(()), Err)
}

/// Refuses a server and its replica, and a dump beside append-only files, among files that are known to be of one night.
fn one_form(inputs: &[&PreparedInput]) -> Result<()> {
    beside_append_only(inputs).or_else(|| by_replication(inputs)).map_or(Ok(()), Err)
}

/// Returns an error for two inputs; `what` says what they look like.
fn not_shards(one: &str, other: &str, what: &str) -> Error {
    Error::usage(format!("{one} and {other} {what}"))
        .with_hint("did you mean `rdblens compare`? --allow-same adds them up as shards")
}

/// Looks for the dump of a server beside its append-only files.
fn beside_append_only(inputs: &[&PreparedInput]) -> Option<Error> {
    let place = |input: &PreparedInput| Some(Path::new(input.name()).parent()?.to_owned());
    let append_only = inputs.iter().filter_map(|input| Some((input, place(input)?)));
    let mut append_only =
        append_only.filter(|(input, place)| input.is_multi_part() && place.ends_with("appendonlydir"));
    append_only.find_map(|(base, folder)| {
        let dump = folder.with_file_name("dump.rdb");
        let dump = inputs.iter().find(|input| Path::new(input.name()) == dump)?;
        let what = "are the data of one server in two forms: its keys would count twice";
        let error = Error::usage(format!("{} and {} {what}", dump.name(), base.name()));
        Some(error.with_hint("give one of them, or add --allow-same"))
    })
}

/// Looks for names that differ in their dates only.
fn by_name(inputs: &[&PreparedInput]) -> Option<Error> {
    let mut known = BTreeMap::new();
    inputs.iter().find_map(|input| {
        let (name, dates) = undated(input.name());
        if dates.is_empty() {
            return None;
        }
        let (earlier, of) = known.entry(name).or_insert_with(|| (dates.clone(), input));
        (*earlier != dates).then(|| not_shards(of.name(), input.name(), ONE_NAME))
    })
}

/// Looks for one server at different times, or a server and its replica. Parts of one dump have all fields in common.
fn by_replication(inputs: &[&PreparedInput]) -> Option<Error> {
    let mut known = BTreeMap::new();
    inputs.iter().find_map(|input| {
        let about = &input.preamble;
        let (earlier, of) = known.entry(about.field("repl-id")?).or_insert((&about.aux, input));
        let what = "are two snapshots of one server, or of a server and its replica: they have the same replication id";
        (*earlier != &about.aux).then(|| not_shards(of.name(), input.name(), what))
    })
}

/// Looks for snapshots that were created far apart in time.
fn by_time(inputs: &[&PreparedInput]) -> Option<Error> {
    let timed = inputs.iter().filter(|input| !input.is_append_only());
    let timed: Vec<(i64, &PreparedInput)> = timed.filter_map(|input| Some((input.preamble.ctime()?, *input))).collect();
    let (first, one) = timed.iter().min_by_key(|(ctime, _)| *ctime)?;
    let (last, other) = timed.iter().max_by_key(|(ctime, _)| *ctime)?;
    let apart = last.saturating_sub(*first);
    let servers = timed.iter().map(|(_, input)| (input.preamble.field("repl-id"), input.name()));
    if apart <= NIGHT_SECONDS || are_servers(servers) {
        return None;
    }
    Some(saved_apart(one.name(), other.name(), apart))
}

/// Returns the error for two inputs that were saved this many seconds apart.
fn saved_apart(one: &str, other: &str, seconds: i64) -> Error {
    let apart = match seconds / 3600 {
        hours @ ..48 => format!("{} h {} min", hours, seconds / 60 % 60),
        hours => format!("{} days", hours / 24),
    };
    not_shards(one, other, &format!("look like several snapshots of one deployment: they were saved {apart} apart"))
}

/// Returns whether all files, given by replication id and name, are known to be of different servers: no two have the same id, nor
/// the same name without dates.
fn are_servers<'f, I: Ord>(mut files: impl Iterator<Item = (Option<I>, &'f str)>) -> bool {
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    files.all(|(id, name)| id.is_some_and(|id| ids.insert(id)) && names.insert(undated(name).0))
}
