//! Conversion of command-line flags into a plan.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{
    ANY_RULE, BigArgs, BudgetArgs, CapacityArgs, InputArgs, MaskArgs, NameArgs, PolicyArgs, ReadArgs, ReportArgs,
    RowArgs, ServerArgs, ShowArgs,
};
use super::system;
use crate::analyze::files::short_text;
use crate::analyze::row_filter::{PolicyConditions, RowConditions};
use crate::analyze::select::{Glob, Selection, parse_regex};
use crate::analyze::{AtDamage, BigLimits, InputCheck, MaskKey, Plan, PolicySource, ReadPlan, SlotCounts};
use crate::error::{Error, ErrorKind, Result, os_error};
use crate::input::limited::read_at_most;
use crate::input::shown_path;
use crate::limits;
use crate::mask::Secret;
use crate::memory::{Server, ServerConfig, WhatIf};
use crate::render::key_text;
use crate::report::NamedReport;
use crate::units::{Bytes, Millis};

/// Returns a read plan with the flags for opening files.
pub fn read_plan(no_mmap: bool, temp_dir: Option<&Path>, budget: BudgetArgs) -> ReadPlan {
    let mut plan = ReadPlan::new(temp_dir.map_or_else(std::env::temp_dir, Path::to_owned));
    plan.open.budget = system::budget(budget, &plan.open.spool_dir);
    plan.open.mmap = !no_mmap;
    plan
}

/// Returns a read plan with the input flags.
pub fn input(args: &InputArgs) -> ReadPlan {
    let mut plan = read_plan(args.no_mmap, args.temp_dir.as_deref(), args.budget);
    plan.checksum = !args.no_checksum;
    plan.threads = args.threads.map_or(0, usize::from);
    plan
}

/// Returns a read plan with the flags for input, selection, server model and names.
pub fn read(args: &ReadArgs) -> Result<ReadPlan> {
    let ReadArgs { selection, server, names: segments, .. } = args;
    let mut plan = input(&args.input);
    plan.selection = Selection {
        databases: selection.db.clone(),
        kinds: selection.kinds.clone(),
        match_globs: selection.globs.iter().map(|glob| Glob::new(glob)).collect::<Result<_>>()?,
        regexes: selection.regex.iter().map(|regex| parse_regex(regex)).collect::<Result<_>>()?,
        no_expired: selection.no_expired,
    };
    plan.limit = selection.limit;
    plan.inputs = if args.allow_same { InputCheck::None } else { InputCheck::Shards };
    if args.salvage {
        plan.damage = AtDamage::Salvage;
    }
    model(&mut plan, server, segments)?;
    Ok(plan)
}

/// Applies the flags for the server model and names.
fn model(plan: &mut ReadPlan, server: &ServerArgs, names: &NameArgs) -> Result<()> {
    plan.server = server.server.as_deref().map(Server::parse).transpose()?;
    plan.allocator = server.allocator;
    plan.config = server_config(&server.server_config)?;
    plan.at = server.at.as_deref().map(|text| time("--at", text)).transpose()?;
    plan.separators.clone_from(&names.separators);
    Ok(())
}

/// Returns the plan of `show`.
pub fn one_key(args: &ShowArgs) -> Result<Plan> {
    let mut plan = read_plan(args.no_mmap, args.temp_dir.as_deref(), args.budget);
    model(&mut plan, &args.server, &args.names)?;
    Ok(Plan { policy: policy_source(&args.policy)?, ..Plan::new(plan) })
}

/// Returns the plan of `capacity`: what its sections need of each server, and nothing else.
pub fn capacity(args: &CapacityArgs) -> Result<Plan> {
    /// Instances are divided by first segment.
    const DEPTH: usize = 1;
    let mut read = input(&args.input);
    read.inputs = if args.allow_same { InputCheck::None } else { InputCheck::Shards };
    model(&mut read, &args.server, &args.names)?;
    read.what_if = what_if(&args.what_if)?;
    Ok(Plan {
        policy: policy_source(&args.policy)?,
        depth: DEPTH,
        slots: SlotCounts::Always,
        top: rows(args.top),
        // Lists are added up over the inputs, and only the sums are cut.
        pattern_rows: Some(usize::MAX),
        min_share: 0.0,
        ..Plan::new(read)
    })
}

/// Adds the flags that control the contents of the report.
pub fn report(mut read: ReadPlan, args: &ReportArgs) -> Result<Plan> {
    read.what_if = what_if(&args.what_if)?;
    let usual = Plan::new(read);
    Ok(Plan {
        top: args.top.map_or(usual.top, rows),
        rows: args.top.map_or(usual.rows, rows),
        big: big(&args.big),
        depth: usize::from(args.depth),
        min_share: args.min_share,
        ..usual
    })
}

fn big(args: &BigArgs) -> BigLimits {
    BigLimits { string_bytes: args.big_string, elements: args.big_elements, memory: args.big_memory.map(Bytes) }
}

/// Returns the plan and the conditions of rows.
pub fn rows_of(read: ReadPlan, args: &RowArgs, mask: Option<MaskKey>) -> Result<(Plan, RowConditions)> {
    let mut usual = Plan::new(read);
    if usual.read.inputs == InputCheck::Shards {
        // Each row names its file, so rows of several nights are told apart.
        usual.read.inputs = InputCheck::Copies;
    }
    let asks = !args.breaking.is_empty() || args.severity.is_some() || !args.owners.is_empty();
    let policy = args.policy.as_deref().or(asks.then_some(OsStr::new("default")));
    if policy.is_none() {
        refuse_without_policy(args)?;
    }
    let any = args.breaking.iter().any(|rule| rule == ANY_RULE) || args.breaking.is_empty() && args.severity.is_some();
    let named = Some(&args.breaking).filter(|rules| !rules.is_empty()).cloned();
    let conditions = RowConditions {
        patterns: args.patterns.iter().flat_map(|pattern| pattern_texts(pattern)).collect(),
        policy: policy.map(|_| PolicyConditions {
            breaking: if any { Some(Vec::new()) } else { named },
            severity: args.severity.unwrap_or_default(),
            owners: args.owners.clone(),
        }),
    };
    let plan = Plan {
        policy: policy_source(policy.unwrap_or(OsStr::new("none")))?,
        big: big(&args.big),
        mask,
        inspect_values: args.inspect_values,
        baseline: baseline(args.baseline.as_deref())?,
        ..usual
    };
    Ok((plan, conditions))
}

/// Refuses flags that change what rules find, where no rule is asked for.
fn refuse_without_policy(args: &RowArgs) -> Result<()> {
    let flags = [
        ("--big-string", args.big.big_string.is_some()),
        ("--big-elements", args.big.big_elements.is_some()),
        ("--big-memory", args.big.big_memory.is_some()),
        ("--baseline", args.baseline.is_some()),
        ("--inspect-values", args.inspect_values),
    ];
    let given: Vec<&str> = flags.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect();
    if given.is_empty() {
        return Ok(());
    }
    let have = if given.len() == 1 { "has" } else { "have" };
    Err(Error::usage(format!("{} {have} no effect on rows without rules", given.join(", ")))
        .with_hint("add --policy, --breaking, --severity or --owner, which ask for them"))
}

/// Returns the pattern as given, and as it is if it was copied from a report that escapes hidden characters.
fn pattern_texts(pattern: &str) -> impl Iterator<Item = String> {
    let unescaped = key_text::unescape(pattern).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    std::iter::once(pattern.to_owned()).chain(unescaped.filter(|text| text != pattern))
}

/// Converts the value of `--top`.
pub(super) fn rows(top: u32) -> usize {
    usize::try_from(top).unwrap_or(usize::MAX)
}

fn what_if(asked: &[String]) -> Result<Vec<WhatIf>> {
    if asked.len() > limits::MAX_ALTERNATIVES {
        return Err(Error::usage(format!("too many alternatives: --what-if is given {} times", asked.len()))
            .with_hint(format!("at most {} are allowed per run", limits::MAX_ALTERNATIVES)));
    }
    asked.iter().map(|text| WhatIf::parse(text)).collect()
}

/// Adds the flags that control the policy check.
pub fn policy(plan: Plan, args: &PolicyArgs) -> Result<Plan> {
    let mut plan = Plan { policy: policy_source(&args.policy)?, ..plan };
    plan.inspect_values = args.inspect_values;
    plan.now = args.now.as_deref().map(|text| time("--now", text)).transpose()?;
    plan.baseline = baseline(args.baseline.as_deref())?;
    for path in &args.earlier {
        plan.earlier.push(Arc::new(NamedReport::open(path)?.without_lists()));
    }
    plan.files = files(args.baseline.as_deref(), &args.earlier);
    if let Some(limit) = args.maxmemory {
        plan.read.config.set("maxmemory", &limit.to_string())?;
    }
    if let Some(policy) = &args.maxmemory_policy {
        plan.read.config.set("maxmemory-policy", policy)?;
    }
    Ok(plan)
}

/// Returns the flags that name earlier reports, in words.
pub(super) fn files(baseline: Option<&Path>, earlier: &[PathBuf]) -> Vec<String> {
    let flag = |name: &str, path: &Path| format!("--{name} {}", shown_path(path));
    let baseline = baseline.map(|path| flag("baseline", path));
    baseline.into_iter().chain(earlier.iter().map(|path| flag("earlier", path))).collect()
}

pub(super) fn baseline(path: Option<&Path>) -> Result<Option<Arc<NamedReport>>> {
    Ok(path.map(NamedReport::open).transpose()?.map(Arc::new))
}

/// Returns the key for masking names, or `None` without `--mask`.
pub fn mask(args: &MaskArgs) -> Result<Option<MaskKey>> {
    if !args.mask {
        return Ok(None);
    }
    let Some(path) = &args.mask_key else { return Ok(Some(MaskKey::OfSnapshot)) };
    let bytes = read_at_most(path, limits::MAX_TEXT_BYTES).map_err(|error| {
        Error::usage(format!("--mask-key {}: {}", shown_path(path), os_error(error)))
            .with_hint("give a file with secret bytes")
    })?;
    if bytes.is_empty() {
        return Err(Error::usage(format!("--mask-key {}: the file is empty", shown_path(path)))
            .with_hint("write secret bytes to it, such as 32 bytes from /dev/urandom"));
    }
    Ok(Some(MaskKey::Own(Secret::from_bytes(&bytes))))
}

/// Returns the policy that a flag names.
pub(super) fn policy_source(policy: &OsStr) -> Result<PolicySource> {
    PolicySource::open(policy).map_err(|error| match error.kind() {
        kind @ ErrorKind::Io(_) => {
            let (name, reason) = (error.file().unwrap_or_default(), kind.wording().en);
            Error::usage(format!("cannot read policy file \"{name}\": {reason}"))
                .with_hint("give a TOML file in UTF-8, or a preset such as default")
        }
        _ => error,
    })
}

/// Applies server settings in the order given; each is `KEY=VALUE` or the path of a configuration file.
fn server_config(settings: &[OsString]) -> Result<ServerConfig> {
    let mut config = ServerConfig::default();
    for setting in settings {
        let path = Path::new(setting);
        match setting.to_str().and_then(|setting| setting.split_once('=')) {
            Some((name, value)) if !path.is_file() => config.set(name.trim(), value.trim())?,
            _ => {
                let name = shown_path(path);
                let text = short_text(path).map_err(|error| {
                    Error::usage(format!("--server-config {name}: {}", os_error(error)))
                        .with_hint("expected KEY=VALUE or a file")
                })?;
                config.read_conf(&text).map_err(|error| error.in_file(&name))?;
            }
        }
    }
    Ok(config)
}

/// Parses the value of `flag`, given as a date, whose beginning in UTC counts, or as a time.
pub(super) fn date(flag: &str, text: &str) -> Result<Millis> {
    match text.parse::<jiff::civil::Date>().map(|date| date.to_zoned(jiff::tz::TimeZone::UTC)) {
        Ok(Ok(begin)) if text.len() <= "2027-06-30".len() => Ok(Millis(begin.timestamp().as_millisecond())),
        _ => moment(text).ok_or_else(|| {
            let hint =
                "expected a date such as 2027-06-30, a time such as 2027-06-30T03:00:00Z, or seconds since the epoch";
            Error::usage(format!("{flag} {text}: not a date")).with_hint(hint)
        }),
    }
}

/// Parses the value of `flag`, given as seconds since the epoch or as a date.
pub(super) fn time(flag: &str, text: &str) -> Result<Millis> {
    moment(text).ok_or_else(|| {
        Error::usage(format!("{flag} {text}: not a time"))
            .with_hint("expected seconds since the epoch, or date, time and zone such as 2026-11-21T03:00:00Z")
    })
}

/// Parses seconds since the epoch, or date, time and zone. Errors of the parser speak of its grammar ("failed to parse four digit
/// integer as year").
fn moment(text: &str) -> Option<Millis> {
    match text.parse::<i64>() {
        Ok(seconds) => jiff::Timestamp::from_second(seconds).ok().map(|time| Millis(time.as_millisecond())),
        Err(_) => text.parse::<jiff::Timestamp>().ok().map(|time| Millis(time.as_millisecond())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_dates() {
        assert_eq!(time("--at", "1700000000").unwrap(), Millis(1_700_000_000_000));
        assert_eq!(time("--at", "2023-11-14T22:13:20Z").unwrap(), Millis(1_700_000_000_000));
        assert!(time("--at", "yesterday").is_err() && time("--at", "99999999999999999").is_err());
        assert_eq!(date("--until", "2023-11-14").unwrap(), Millis(1_699_920_000_000));
        assert_eq!(date("--until", "2023-11-14T22:13:20Z").unwrap(), Millis(1_700_000_000_000));
        assert!(date("--until", "2023-02-30").is_err() && date("--until", "summer").is_err());
    }
}
