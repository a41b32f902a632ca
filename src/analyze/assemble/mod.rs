//! Assembles the report from the aggregates and from the facts about the files.

#[cfg(test)]
pub(crate) mod examples;
mod flags;
mod instance;
pub(super) mod templates;
pub(super) mod what_if;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::aggregates::Aggregates;
use super::findings::{self, FileFacts};
use super::outcome::FileOutcome;
use super::plan::{InputCheck, Plan, PolicySource, SlotCounts};
use super::questions::Questions;
use super::read::file::InputFile;
use super::read::snapshot::writer;
use crate::limits;
use crate::mask::{Masker, Scratch};
use crate::memory::{Caveat, Model, Server};
use crate::rdb::file_info::FileInfo;
use crate::rdb::header::RdbHeader;
use crate::record::{Kind, ModuleName};
use crate::report::diff::{baseline, growth, history};
use crate::report::servers::first_files;
use crate::report::{self, AuxField, FileServer, Options, Report, SCHEMA, TypeRow, Unknown, Warning, WarningKind};
use crate::units::{Bytes, Millis};

/// Facts reported once for the whole snapshot, from the first readable file.
pub(super) struct FirstFile {
    pub about: FileInfo,
    pub writer: Server,
    pub model: String,
    pub caveats: Vec<Caveat>,
    /// Alternatives of all files, without figures.
    pub what_if: Vec<report::Alternative>,
}

impl FirstFile {
    /// Returns the facts of a file with this head and memory model; `files` are those of the snapshot, for the alternatives.
    pub fn new(about: FileInfo, model: &Model, plan: &Plan, files: &[(RdbHeader, Arc<InputFile>)]) -> FirstFile {
        FirstFile {
            writer: writer(&about),
            about,
            model: model.name(),
            caveats: model.caveats(),
            what_if: what_if::alternatives(&plan.read, files),
        }
    }
}

/// Assembles the report of a run.
pub(super) fn report(
    plan: &Plan,
    mut whole: Option<FirstFile>,
    aggregates: Aggregates,
    files: &[Arc<InputFile>],
    mut outcomes: Vec<FileOutcome>,
    questions: &Questions,
) -> Report {
    let reference = questions.references.report;
    let mask = plan.mask.as_ref().map(|key| key.secret(outcomes.iter().filter_map(|file| file.checksum)));
    let cluster = outcomes.iter().filter_map(|file| file.about.as_ref()).any(|about| about.by_slot);
    let mut report = Report {
        schema: SCHEMA.into(),
        rdblens: env!("CARGO_PKG_VERSION").into(),
        complete: outcomes.iter().all(|file| file.sound),
        options: options(plan, reference),
        ..Report::default()
    };
    let first_files = first_files(outcomes.iter().map(|file| file.row.name.as_str()));
    let rest = aggregates.finish(cluster || plan.slots == SlotCounts::Always, &first_files, &mut report);
    name_sources(&mut report, &outcomes);
    let used_mem = used_mem(&outcomes, &first_files);
    report.instance = instance::section(plan, files, &outcomes, &rest.instances, used_mem, report.totals.unknown);
    if let Some(instance) = &mut report.instance {
        let read = outcomes.iter().zip(&first_files).filter(|(file, _)| file.row.is_snapshot());
        let servers = read.map(|(_, first)| first).collect::<BTreeSet<_>>().len() as u64;
        instance.maxmemory = plan.read.config.maxmemory().map(|limit| Bytes(limit.0.saturating_mul(servers)));
        for (place, total) in instance::totals(files, &outcomes, &rest.instances) {
            outcomes.get_mut(place).iter_mut().for_each(|file| file.row.total = Some(total));
        }
    }
    let without_ttl = instance::without_ttl(&questions.checks, &rest.instances, &rest.without_ttl);
    report.warnings = warnings(&report, whole.as_ref(), &outcomes, rest.patterns_strict);
    report.hash_templates = templates::section(&outcomes, plan.top);
    if templates::overflowed(&outcomes) {
        report.warnings.push(Warning::new(WarningKind::TooManyFieldSets { limit: limits::MAX_FIELD_SETS as u64 }));
    }
    let (base, alternatives) = asked(whole.as_mut(), &outcomes);
    let beside = report.instance.as_ref().map(|instance| what_if::WholeServer {
        instance,
        templates: instance::all_templates(&outcomes, &rest.instances),
        elsewhere: instance::elsewhere(files, &outcomes, &rest.instances),
    });
    report.what_if = what_if::section(base, alternatives, rest.what_if, rest.what_if_patterns, beside);
    if let Some(keys) = report.what_if.as_ref().and_then(|it| it.unknown.keys.checked_sub(report.totals.unknown.keys))
        && keys > 0
    {
        report.warnings.push(Warning::new(WarningKind::UnknownElsewhere { keys }));
    }
    report.server = whole.map_or_else(report::Server::default, |whole| server(whole, &outcomes, used_mem, cluster));
    report.source.bytes = outcomes.iter().map(|file| file.row.bytes).sum();
    report.source.files = outcomes.into_iter().map(|file| file.row).collect();
    let facts = FileFacts { sizes_hidden: rest.sizes_hidden, without_ttl };
    let rows = questions.patterns.breaking();
    findings::judge_report(&questions.checks, &questions.classifier, &mut report, facts, rows);
    compare_with_earlier(plan, &mut report);
    if let Some(secret) = mask {
        mask_names(&mut report, &Masker::new(secret, &questions.classifier, &questions.separators, &rest.patterns));
    }
    report
}

/// Returns the server that figures are computed for, and the alternatives to it that were asked about.
fn asked(whole: Option<&mut FirstFile>, outcomes: &[FileOutcome]) -> (String, Vec<report::Alternative>) {
    let asked = whole.map(|whole| (whole.model.clone(), std::mem::take(&mut whole.what_if)));
    let (base, alternatives) = asked.unwrap_or_default();
    let compact = templates::alternatives(outcomes, alternatives.len());
    let with_templates = |(alternative, compact_hashes)| report::Alternative { compact_hashes, ..alternative };
    (base, alternatives.into_iter().zip(compact).map(with_templates).collect())
}

/// Compares the report with the baseline and the earlier reports of the plan. The lists that a baseline is compared with are longer
/// than those of the report, and are cut afterwards.
fn compare_with_earlier(plan: &Plan, report: &mut Report) {
    if let Some(earlier) = &plan.baseline {
        report.warnings.extend(baseline::warnings(earlier, report));
        report.growth = Some(growth::since(earlier, report, plan.top));
        let changes = baseline::against(earlier, report);
        report.warnings.extend(changes.undecided_warning().map(|kind| Warning::about(&earlier.name, kind)));
        report.findings.baseline = Some(changes);
        report.cut_lists(plan.top, plan.listed_patterns());
    }
    let (history, notes) = history::history(&plan.earlier, plan.baseline.as_deref(), report);
    report.history = history;
    report.warnings.extend(notes);
}

/// Masks the names of all keys in the report.
fn mask_names(report: &mut Report, masker: &Masker<'_>) {
    let mut scratch = Scratch::default();
    report.for_each_key(|key| {
        let masked = match key.whole() {
            Some(whole) => masker.mask_long(&key.0, whole, &mut scratch),
            None => masker.mask(&key.0, &mut scratch).key,
        };
        *key = masked.as_slice().into();
    });
}

fn options(plan: &Plan, reference: Option<Millis>) -> Options {
    let policy = match &plan.policy {
        PolicySource::Preset(name) | PolicySource::File { name, .. } => name.clone(),
    };
    Options {
        policy,
        // Known where the arguments are.
        inputs: Vec::new(),
        selection: plan.read.selected(),
        reference_time: reference,
        server_config: plan.read.config.changed(),
        separators: plan.read.separators.clone(),
        allow_same: plan.read.inputs == InputCheck::None,
        flags: flags::flags(plan),
        top: plan.top,
        rows: plan.rows,
    }
}

fn server(whole: FirstFile, outcomes: &[FileOutcome], used_mem: Option<Bytes>, cluster: bool) -> report::Server {
    let about = whole.about;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let infos = || outcomes.iter().filter_map(|file| file.about.as_ref());
    let mut module_aux: Vec<String> = infos().flat_map(|about| about.modules.iter().map(ToString::to_string)).collect();
    module_aux.sort();
    module_aux.dedup();
    report::Server {
        family: whole.writer.family.name().to_owned(),
        version: whole.writer.written_by(),
        guessed_from: whole.writer.guessed,
        model: whole.model,
        ctime: outcomes.iter().filter_map(|file| file.row.ctime).max().or(about.ctime()),
        used_mem,
        cluster,
        aux: about.aux.iter().map(|(name, value)| AuxField { name: name.clone(), value: text(value) }).collect(),
        functions: infos().map(|about| about.functions).fold(0, u64::saturating_add),
        module_aux,
    }
}

/// Names the file of each listed key, if there are several files.
fn name_sources(report: &mut Report, outcomes: &[FileOutcome]) {
    if outcomes.len() < 2 {
        return;
    }
    let top = &mut report.top;
    let by_type = top.by_type.iter_mut().flat_map(|of_type| &mut of_type.list);
    let rows = report.big_keys.list.iter_mut().chain(&mut top.by_memory).chain(&mut top.by_length).chain(by_type);
    for row in rows {
        row.source = outcomes.get(row.file).map(|file| file.row.name.clone());
    }
}

/// Returns the memory that the servers used together whose snapshots were read; `None` unless all of them recorded it. The files of one
/// server record the same.
fn used_mem(outcomes: &[FileOutcome], first_files: &[usize]) -> Option<Bytes> {
    let mut servers: BTreeMap<usize, Option<Bytes>> = BTreeMap::new();
    for (file, first) in outcomes.iter().zip(first_files).filter(|(file, _)| file.row.is_snapshot()) {
        let used = servers.entry(*first).or_default();
        *used = file.row.used_mem.max(*used);
    }
    servers.into_values().sum()
}

/// Returns a warning if the memory of some keys is unknown.
fn unknown_memory(report: &Report) -> Option<Warning> {
    let Unknown { keys, stored_bytes } = report.totals.unknown;
    let name = |row: &TypeRow| if row.kind == Kind::Module { row.encoding.clone() } else { row.kind.name().to_owned() };
    let names: BTreeSet<String> = report.types.iter().filter(|row| !row.unknown.is_none()).map(name).collect();
    let modules = names.into_iter().collect();
    (keys > 0).then(|| Warning::new(WarningKind::UnknownMemory { keys, stored_bytes, modules }))
}

/// Module types whose allocated bytes are not known.
const AS_REPORTED: [&str; 4] = ["ReJSON-RL", "TSDB-TYPE", "TDIS-TYPE", "graphdata"];

/// Returns a warning if module values whose allocated bytes are not known have more than a hundredth of the total.
fn modules_as_reported(report: &Report) -> Option<Warning> {
    let total = report.instance.as_ref()?.total;
    let rows = report.types.iter().filter(|row| {
        row.kind == Kind::Module && row.memory > Bytes(0) && AS_REPORTED.contains(&row.encoding.as_str())
    });
    let (names, memory): (BTreeSet<&str>, Vec<Bytes>) = rows.map(|row| (row.encoding.as_str(), row.memory)).unzip();
    let bytes: Bytes = memory.into_iter().sum();
    let modules = names.into_iter().map(str::to_owned).collect();
    (bytes.0.saturating_mul(100) > total.0).then(|| Warning::new(WarningKind::ModulesAsReported { bytes, modules }))
}

/// Modules that build indexes on loading, by the names of their data outside keys: RediSearch and valkey-search.
const SEARCH_MODULES: [&str; 2] = ["ft_index0", "Vk-Search"];

/// Returns a warning if search modules left data outside keys.
fn search_indexes(outcomes: &[FileOutcome]) -> Option<Warning> {
    let modules = outcomes.iter().filter_map(|file| file.about.as_ref()).flat_map(|about| &about.modules);
    let names: BTreeSet<&str> = modules.map(ModuleName::as_str).filter(|name| SEARCH_MODULES.contains(name)).collect();
    let modules: Vec<String> = names.into_iter().map(str::to_owned).collect();
    (!modules.is_empty()).then(|| Warning::new(WarningKind::SearchIndexes { modules }))
}

fn warnings(
    report: &Report,
    whole: Option<&FirstFile>,
    outcomes: &[FileOutcome],
    patterns_strict: bool,
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = outcomes.iter().flat_map(|file| file.warnings.clone()).collect();
    warnings.extend(unknown_memory(report));
    warnings.extend(modules_as_reported(report));
    warnings.extend(search_indexes(outcomes));
    if report.options.reference_time.is_none() && report.totals.without_ttl.keys < report.totals.keys {
        warnings.push(Warning::new(WarningKind::NoReferenceTime));
    }
    if patterns_strict {
        warnings.push(Warning::new(WarningKind::CrowdedLevels));
    }
    if report.prefixes.crowded.keys > 0 {
        warnings.push(Warning::new(WarningKind::CrowdedFirstLevel));
    }
    if let Some(whole) = whole {
        warnings.extend(whole.caveats.iter().copied().map(Warning::from));
    }
    let writers: BTreeSet<&FileServer> = outcomes.iter().filter_map(|file| file.row.server.as_ref()).collect();
    if writers.len() > 1 {
        let servers = writers.into_iter().cloned().collect();
        warnings.push(Warning::new(WarningKind::DifferentServers { servers }));
    }
    warnings
}
