//! Memory, pattern and judgement of one key, found again in its batch.

use std::sync::Arc;

use super::plan::Plan;
use super::questions::{LoadedPolicy, questions_with};
use super::read::feed::PreparedInput;
use super::read::file::InputFile;
use super::read::raised_limits::RaisedLimits;
use super::read::reader::{Continue, ReadOptions, read_batch_shared};
use super::read::snapshot::{input_file, reference};
use super::read::tally::FileTally;
use super::read::template_users;
use super::select::Selection;
use crate::error::Result;
use crate::pattern::PatternBuf;
use crate::policy::KeyJudgement;
use crate::policy::rules::type_::near_compact_limit;
use crate::rdb::batch::Batch;
use crate::rdb::file_info::FileInfo;
use crate::record::{ElementLengths, Encoding, ModuleFacts, Record};
use crate::units::Bytes;

/// Facts about one key that its value alone does not tell.
#[derive(Debug, Clone)]
pub struct KeyFacts {
    /// Name of the memory model.
    pub model: String,
    /// Memory as `MEMORY USAGE key SAMPLES 0` would report it, if it is known.
    pub memory: Option<Bytes>,
    /// Facts about a module's value.
    pub module: Option<ModuleFacts>,
    /// Encoding on the server.
    pub encoding: Encoding,
    /// Lengths of its elements, if it is a collection.
    pub elements: Option<ElementLengths>,
    /// Pattern of the name.
    pub pattern: String,
    /// Verdict of the policy.
    pub judgement: KeyJudgement,
}

/// Fails if the policy of a plan cannot be read.
pub fn check_policy(plan: &Plan) -> Result<()> {
    LoadedPolicy::load(plan).map(drop)
}

/// Prepares a file for pricing one of its keys.
pub fn prepare(plan: &Plan, prepared: &PreparedInput) -> InputFile {
    let (_, file) = input_file(0, String::new(), &prepared.preamble, &plan.read);
    let reference = reference(&plan.read, prepared.preamble.ctime());
    file.held_templates.get_or_init(|| template_users::lazy(prepared, &file.model, &file.alternatives, reference, 1));
    file
}

/// Returns the facts about a key of a prepared file in database `db`, if the batch has it and its value is intact.
///
/// Expiries are compared with the time of the key's own file.
pub fn facts(
    plan: &Plan,
    preamble: &FileInfo,
    file: &InputFile,
    batch: &Batch,
    key: &[u8],
    db: u64,
) -> Result<Option<KeyFacts>> {
    let reference = reference(&plan.read, preamble.ctime());
    let mut questions = questions_with(plan, LoadedPolicy::load(plan)?, reference, &[])?;
    questions.checks.context.model = Some(Arc::clone(&file.model));
    if let Some(factor) = near_compact_limit::factor(&questions.checks.policy) {
        file.raised.get_or_init(|| RaisedLimits::new(&file.model, factor));
    }
    let everything = Selection::default();
    let reading = ReadOptions { selection: &everything, reference, checksum: false };
    let mut found = None;
    read_batch_shared(batch, file, reading, &mut FileTally::default(), &mut |record: &Record<'_>, _| {
        if record.key != key || record.db != db {
            return Continue::Yes;
        }
        let mut pattern = PatternBuf::default();
        questions.classifier.classify(key, &mut pattern);
        found = Some(KeyFacts {
            model: file.model.name(),
            memory: record.known_memory(),
            module: record.module_facts.copied(),
            encoding: record.encoding,
            elements: record.find_element_lengths(),
            judgement: questions.checks.explain(record, &pattern),
            pattern: pattern.text,
        });
        Continue::No
    });
    Ok(found)
}
