//! The command `salvage`: what is sound in a damaged snapshot, and a new snapshot of it.

use std::io::Write;
use std::path::Path;

use super::plan::ReadPlan;
use super::read::examined::ExaminedFile;
use super::read::snapshot::writer;
use super::verdict::{container_of, file_server};
use crate::error::{Error, Result};
use crate::input::{self, Input, OpenedFile};
use crate::rdb::writer::write;
use crate::report::{FileError, Salvage, SalvagedFile};
use crate::units::Bytes;

/// Reads one input past all damage and, if `out` is given, writes a new snapshot of its sound records.
///
/// Records are copied byte for byte; `SELECTDB`, `RESIZEDB` and the checksum are written anew. Fails if the input cannot be
/// read as a snapshot at all, and writes nothing if no key can be saved.
///
/// ```
/// use rdblens::{ReadPlan, salvage};
///
/// let plan = ReadPlan::new(std::env::temp_dir());
/// let mut saved = Vec::new();
/// let file = salvage("testdata/hostile/checksum-wrong.rdb", &plan, Some(&mut saved))?;
/// assert!(!file.sound);
/// assert!(saved.starts_with(b"REDIS"));
/// # Ok::<(), rdblens::Error>(())
/// ```
pub fn salvage(input: impl AsRef<Path>, plan: &ReadPlan, out: Option<&mut dyn Write>) -> Result<SalvagedFile> {
    let input = one_input(input.as_ref(), plan)?;
    let mut file = ExaminedFile::open(&input, &plan.open)?;
    let sound = file.is_sound();
    let written = match out {
        Some(mut out) if file.survey.keys() > 0 || sound => {
            write(&file.survey, &file.map.bytes, file.map.start(), file.checksum_form(), &mut out)?
        }
        Some(_) | None => 0,
    };
    // Another process may have changed the file between the survey and the copy.
    file.opened.as_ref().map_or(Ok(()), OpenedFile::check).map_err(|error| error.in_file(&input.name))?;
    let header = file.survey.about.header;
    Ok(SalvagedFile {
        rdb_version: header.version,
        server: file_server(writer(&file.survey.about)),
        container: container_of(file.container, file.compression),
        bytes: Bytes(file.survey.bytes),
        written: Bytes(written),
        behind: Bytes(file.behind().saturating_add(input.following_bytes.unwrap_or_default())),
        sound,
        salvage: file.summary(usize::MAX),
        unverified: file.unverified(),
        errors: file.fault().iter().map(FileError::from).collect(),
        name: input.name,
    })
}

fn one_input(path: &Path, plan: &ReadPlan) -> Result<Input> {
    let mut inputs = input::resolve_with(&[path], &plan.stores)?;
    match inputs.len() {
        1 => Ok(inputs.remove(0)),
        found => {
            let path = input::shown_path(path);
            Err(Error::usage(format!("{path} stands for {found} files, salvage takes one"))
                .with_hint("name the damaged file; salvage several one after the other"))
        }
    }
}

/// Surveys the damaged files among inputs that were read, as far as they can be read again.
pub fn summaries<P: AsRef<Path>>(
    inputs: &[P],
    plan: &ReadPlan,
    wanted: impl Fn(usize) -> bool,
) -> Vec<Option<Salvage>> {
    let resolved = input::resolve_each_with(inputs, &plan.stores).inputs;
    let one = |(index, input): (usize, Input)| {
        let file = (wanted(index) && input.is_reopenable()).then(|| ExaminedFile::open(&input, &plan.open));
        file.and_then(Result::ok).filter(|file| !file.is_sound()).map(|file| file.report())
    };
    resolved.into_iter().enumerate().map(one).collect()
}
