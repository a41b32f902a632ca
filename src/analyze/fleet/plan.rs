//! Making and reading plans.

use std::path::Path;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::options::options_of;
use crate::analyze::plan::Plan;
use crate::analyze::questions::{LoadedPolicy, questions};
use crate::analyze::read::progress::Progress;
use crate::analyze::read::snapshot::{FileFacts, Snapshot};
use crate::analyze::run::given;
use crate::analyze::verdict::unreadable;
use crate::error::{Error, ErrorKind, Result};
use crate::input::{Input, Location, Object};
use crate::rdb::file_info::FileInfo;
use crate::rdb::header::{Family, RdbHeader};
use crate::report::fleet::{FirstHead, FleetPlan, PlannedFile, SCHEMA};
use crate::wording::wording;

/// Names of the format families.
const FORMATS: [(&str, Family); 3] =
    [("redis", Family::Redis), ("valkey", Family::Valkey), ("dragonfly", Family::Dragonfly)];

/// Plans a report over all inputs, to be computed in parts. Reads the heads of the files only, unless damaged ones are read past
/// the damage.
///
/// Fails if the inputs are not the shards of one snapshot, if one of them cannot be opened again, or if parts cannot know one of
/// the options.
///
/// ```
/// use rdblens::fleet::{MergeChoices, PartialMerger, partial, plan};
/// use rdblens::{Plan, ReadPlan, Unwatched, analyze};
///
/// let (inputs, how) = (["testdata/dumps/shop.rdb"], ReadPlan::new(std::env::temp_dir()));
/// let options = Plan::new(how.clone());
/// let fleet = plan(&inputs, &options, &Unwatched)?;
/// let part = partial(&fleet, &fleet.shard(1, 1), &how, &Unwatched)?;
/// let mut merger = PartialMerger::new(&fleet, MergeChoices::default())?;
/// merger.add(part, "shop.part")?;
/// let (merged, whole) = (merger.report()?, analyze(&inputs, &options, &Unwatched)?);
/// assert_eq!(format!("{merged:?}"), format!("{whole:?}"));
/// # Ok::<(), rdblens::Error>(())
/// ```
pub fn plan<P: AsRef<Path>>(arguments: &[P], options: &Plan, progress: &dyn Progress) -> Result<FleetPlan> {
    let planned = options_of(options)?;
    let standard = LoadedPolicy::load(options)?;
    let options = &standard.with_upgrade(options);
    let mut snapshot = Snapshot::open(arguments, &options.read, progress)?;
    let cluster = questions(options, standard, &snapshot)?.slotted;
    let mut opened = snapshot.inputs().map(|(file, input, size)| (file.index, input.clone(), size)).collect::<Vec<_>>();
    opened.reverse();
    let inputs = snapshot.resolved as u64;
    let first = snapshot.heads().next().map(|(about, _)| first_head(about));
    let (reference_time, warnings) = (snapshot.reference, std::mem::take(&mut snapshot.passed_over));
    let file = |(position, facts): (usize, FileFacts)| {
        let of_row = |row| PlannedFile {
            name: facts.name.clone(),
            path: None,
            size: None,
            etag: None,
            head: None,
            ctime: None,
            following_bytes: None,
            multi_part: false,
            unreadable: Some(row),
        };
        let preamble = match facts.opened {
            Err(error) => return Ok(of_row(unreadable(facts.name.clone(), error).row)),
            Ok(facts) => facts.preamble,
        };
        let Some((_, input, size)) = opened.pop_if(|(index, ..)| *index == position) else {
            return Err(Error::usage(format!("{}: not among the inputs", facts.name)));
        };
        Ok(PlannedFile {
            path: Some(path_of(&input)?),
            size,
            etag: input.object().and_then(Object::etag).map(str::to_owned),
            head: Some(fingerprint(&preamble)),
            ctime: preamble.ctime(),
            following_bytes: input.following_bytes,
            multi_part: input.multi_part,
            unreadable: None,
            name: input.name,
        })
    };
    let files = snapshot.facts.into_iter().enumerate().map(file).collect::<Result<Vec<_>>>()?;
    let mut plan = FleetPlan {
        schema: SCHEMA.into(),
        rdblens: env!("CARGO_PKG_VERSION").into(),
        digest: String::new(),
        reference_time,
        cluster,
        first,
        options: planned,
        arguments: given(arguments, files.iter().map(|file| file.name.as_str()), &options.read),
        inputs,
        files,
        warnings,
    };
    plan.digest = plan.digest_of_content();
    Ok(plan)
}

/// Returns the path under which another process can open an input.
fn path_of(input: &Input) -> Result<String> {
    let path = match &input.location {
        Location::Object(object) if object.address().query.is_some() => {
            return Err(Error::usage(format!("{}: its address has a query, which may be a signature", input.name))
                .with_hint("a plan must hold no secrets: name the object by s3://, gs:// or az://"));
        }
        Location::Object(object) => return Ok(object.address().to_string()),
        Location::File(path) if input.is_reopenable() => path.to_str(),
        Location::File(_) | Location::Stdin => {
            return Err(Error::usage(format!("{}: not a file that other processes can read", input.name))
                .with_hint("a plan names files; save the input to one"));
        }
    };
    path.map(str::to_owned).ok_or_else(|| {
        Error::usage(format!("{}: the path is not UTF-8, so a plan cannot name it", input.name))
            .with_hint("rename the file or link to it")
    })
}

/// Returns the digest of what precedes the first key of a file.
pub fn fingerprint(about: &FileInfo) -> String {
    let bytes = postcard::to_stdvec(about).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(bytes))
}

fn first_head(about: &FileInfo) -> FirstHead {
    let format = FORMATS.into_iter().find(|(_, family)| *family == about.header.family);
    let text = |(name, value): &(String, Vec<u8>)| (name.clone(), String::from_utf8_lossy(value).into_owned());
    FirstHead {
        format: format.map_or("", |(name, _)| name).to_owned(),
        rdb_version: about.header.version,
        aux: about.aux.iter().map(text).collect(),
        by_slot: about.by_slot,
        enterprise: about.enterprise,
    }
}

/// Returns the head of the first file as it was read.
pub fn first_info(head: &FirstHead) -> Result<FileInfo> {
    let format = FORMATS.into_iter().find(|(name, _)| *name == head.format);
    let (_, family) = format.ok_or_else(|| damaged("the format of the first file"))?;
    let aux = head.aux.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
    let header = RdbHeader { family, version: head.rdb_version };
    Ok(FileInfo { aux, by_slot: head.by_slot, enterprise: head.enterprise, ..FileInfo::new(header) })
}

fn damaged(what: &str) -> Error {
    let error = Error::new(ErrorKind::Unreadable(wording!(
        "the plan was changed after it was written: {what}",
        "计划文件在写出之后被改动：{what}"
    )));
    error.with_remedy(wording!("run rdblens plan again", "请重新运行 rdblens plan"))
}

/// Reads a plan that `rdblens plan` wrote; `name` is for messages. Fails if it was changed since, or is of another version.
pub fn read_plan(json: &[u8], name: &str) -> Result<FleetPlan> {
    let read = || {
        let plan: FleetPlan = serde_json::from_slice(json).map_err(|error| {
            Error::usage(format!("not a plan: {error}")).with_hint("give the file that rdblens plan has written")
        })?;
        if plan.rdblens != env!("CARGO_PKG_VERSION") {
            return Err(other_version("plan", &plan.rdblens));
        }
        if plan.schema != SCHEMA || plan.digest != plan.digest_of_content() {
            return Err(damaged("digest"));
        }
        Ok(plan)
    };
    read().map_err(|error| error.in_file(name))
}

/// Returns the error for a plan or partial report of another version of the program.
pub fn other_version(what: &str, version: &str) -> Error {
    let own = env!("CARGO_PKG_VERSION");
    let error = Error::new(ErrorKind::Unreadable(wording!(
        "{what} of rdblens {version}, this is {own}",
        "{what} 由 rdblens {version} 写出，当前版本为 {own}"
    )));
    error.with_remedy(wording!(
        "plan, read and merge with one version of the program",
        "请使用同一版本的程序制定计划、读取与合并"
    ))
}
