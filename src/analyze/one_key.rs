//! Memory, pattern and judgement of one key, found again in its batch.

use std::sync::Arc;

use super::plan::Plan;
use super::questions::{LoadedPolicy, questions_with};
use super::read::feed::PreparedInput;
use super::read::raised_limits::RaisedLimits;
use super::read::reader::{Continue, ReadOptions, read_batch};
use super::read::snapshot::{input_file, reference};
use super::read::tally::FileTally;
use super::read::template_users;
use super::select::Selection;
use crate::error::Result;
use crate::memory::TemplateUsers;
use crate::pattern::PatternBuf;
use crate::policy::KeyJudgement;
use crate::policy::rules::type_::near_compact_limit;
use crate::rdb::batch::Batch;
use crate::rdb::file_info::FileInfo;
use crate::record::{Encoding, Record};
use crate::units::Bytes;

/// Facts about one key that its value alone does not tell.
#[derive(Debug, Clone)]
pub struct KeyFacts {
    /// Name of the memory model.
    pub model: String,
    /// Memory as `MEMORY USAGE key SAMPLES 0` would report it.
    pub memory: Bytes,
    /// Encoding on the server.
    pub encoding: Encoding,
    /// Pattern of the name.
    pub pattern: String,
    /// What the policy says.
    pub judgement: KeyJudgement,
}

/// Fails if the policy of a plan cannot be read.
pub fn check_policy(plan: &Plan) -> Result<()> {
    LoadedPolicy::load(plan).map(drop)
}

/// Counts the users of the hash templates of a file, if it has any.
pub fn template_users(plan: &Plan, prepared: &PreparedInput) -> Option<TemplateUsers> {
    prepared.preamble.templates.as_ref()?;
    template_users::count(prepared, reference(&plan.read, prepared.preamble.ctime()))
}

/// Returns the facts about a key in database `db`, if the batch has it and its value is intact.
///
/// Expiries are compared with the time of the key's own file.
pub fn facts(
    plan: &Plan,
    preamble: &FileInfo,
    users: Option<&TemplateUsers>,
    batch: &Batch,
    key: &[u8],
    db: u64,
) -> Result<Option<KeyFacts>> {
    let (_, file) = input_file(0, String::new(), preamble, &plan.read);
    if let (Some(templates), Some(users)) = (&preamble.templates, users) {
        file.share_templates(templates, users);
    }
    let reference = reference(&plan.read, preamble.ctime());
    let mut questions = questions_with(plan, LoadedPolicy::load(plan)?, reference)?;
    questions.checks.context.model = Some(Arc::clone(&file.model));
    if let Some(factor) = near_compact_limit::factor(&questions.checks.policy) {
        file.raised.get_or_init(|| RaisedLimits::new(&file.model, factor));
    }
    let everything = Selection::default();
    let reading = ReadOptions { selection: &everything, reference, checksum: false };
    let mut found = None;
    read_batch(batch, &file, reading, &mut FileTally::default(), |record: &Record<'_>, _| {
        if record.key != key || record.db != db {
            return Continue::Yes;
        }
        let mut pattern = PatternBuf::default();
        questions.classifier.classify(key, &mut pattern);
        found = Some(KeyFacts {
            model: file.model.name(),
            memory: record.memory,
            encoding: record.encoding,
            judgement: questions.checks.explain(record, &pattern),
            pattern: pattern.text,
        });
        Continue::No
    });
    Ok(found)
}
