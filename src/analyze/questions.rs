//! Settings shared by the aggregates of a run, derived from the plan and the policy.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::plan::Plan;
use super::read::file::InputFile;
use super::read::snapshot::Snapshot;
use crate::aggregate::patterns::{PatternsPlan, RuleBit};
use crate::error::{Error, Result};
use crate::memory::WhatIf;
use crate::pattern::classify::Classifier;
use crate::pattern::segment::Separators;
use crate::policy::digest::digest;
use crate::policy::earlier::EarlierPatterns;
use crate::policy::evidence::ids::IdFinder;
use crate::policy::file::PatternSyntax;
use crate::policy::need::Need;
use crate::policy::rules::memory::upgrade;
use crate::policy::rules::value::sensitive;
use crate::policy::sensitive::Inspection;
use crate::policy::{self, Checks, Context, Policy};
use crate::report::diff::nights::{files_of, other_shards};
use crate::report::{BigRules, Options};
use crate::units::ReferenceTimes;

/// Settings that all aggregates of a run are made from.
#[derive(Debug)]
pub struct Questions {
    /// Separators of name segments.
    pub separators: Separators,
    /// Turns names into patterns.
    pub classifier: Classifier,
    /// The rules in force.
    pub checks: Checks,
    /// Limits above which a key is big.
    pub big: BigRules,
    /// Times that expiries are compared with.
    pub references: ReferenceTimes,
    /// Rows in each list.
    pub top: usize,
    /// True if a modelled server is a cluster node, for which keys are counted by slot.
    pub slotted: bool,
    /// Set once a key with a hash tag was seen, which gives the report a section on slots.
    pub tagged: AtomicBool,
    /// Flag shared by the trees of patterns: see
    /// [`PatternStats::share`](crate::aggregate::patterns::PatternStats::share).
    pub varied: Arc<AtomicBool>,
    /// Settings of the sections on patterns.
    pub patterns: PatternsPlan,
    /// Inspection of values; `None` if no rule reads them.
    pub inspection: Option<Arc<Inspection>>,
    /// Number of alternatives that every record is priced for.
    pub alternatives: usize,
}

impl Questions {
    /// Returns the finder of the ids of names, if a rule needs ids.
    pub(super) fn id_finder(&self) -> Option<IdFinder> {
        self.checks.words_before_ids().map(|words| IdFinder::new(&self.separators, words))
    }
}

pub(super) fn questions(plan: &Plan, standard: LoadedPolicy, snapshot: &Snapshot) -> Result<Questions> {
    let files: Vec<String> = snapshot.files().iter().map(|file| file.name.clone()).collect();
    let mut questions = questions_with(plan, standard, snapshot.references(), &files)?;
    questions.checks.context.model = snapshot.model();
    let models = |file: &Arc<InputFile>| {
        file.model.in_cluster() || file.alternatives.iter().any(crate::memory::Model::in_cluster)
    };
    questions.slotted = snapshot.files().iter().any(models);
    Ok(questions)
}

/// Derives the settings of a plan without a snapshot, for benchmarks and tests of single stages. Expiries are compared
/// with `reference`.
#[cfg(feature = "internals")]
pub fn questions_of(plan: &Plan, reference: Option<crate::units::Millis>) -> Result<Questions> {
    questions_with(plan, LoadedPolicy::load(plan)?, reference, &[])
}

/// Policy of a plan, with its separators.
pub(super) struct LoadedPolicy {
    policy: Policy,
    separators: Separators,
    classifier: Classifier,
}

impl LoadedPolicy {
    /// Reads the policy, and overrides its limits with those of the plan.
    pub fn load(plan: &Plan) -> Result<LoadedPolicy> {
        let separators = Separators::new(&plan.read.separators)?;
        let classifier = Classifier::new(separators.clone());
        let mut policy =
            plan.policy.load(PatternSyntax { separators: separators.as_bytes(), classifier: &classifier })?;
        plan.big.lay_over(&mut policy);
        Ok(LoadedPolicy { policy, separators, classifier })
    }

    /// Adds the newest server as an alternative to the plan if a rule needs it and no alternative was requested.
    pub fn with_upgrade<'p>(&self, plan: &'p Plan) -> Cow<'p, Plan> {
        if !plan.read.what_if.is_empty() || !upgrade::is_in_force(&self.policy) {
            return Cow::Borrowed(plan);
        }
        let mut plan = plan.clone();
        plan.read.what_if.push(WhatIf::newest());
        Cow::Owned(plan)
    }
}

/// Derives the settings of a plan for these files; expiries are compared with `references`.
pub(super) fn questions_with(
    plan: &Plan,
    standard: LoadedPolicy,
    references: impl Into<ReferenceTimes>,
    files: &[String],
) -> Result<Questions> {
    let references = references.into();
    let LoadedPolicy { mut policy, separators, classifier } = standard;
    // The policy forgets the rule if values are not looked into.
    let of_values = digest(&policy, sensitive::RULE.meta.id);
    let unread = policy.look_into_values(plan.inspect_values);
    let big = plan.big.over(&policy);
    let config = plan.read.config.clone();
    let earlier = plan.baseline.as_deref();
    let comparable = earlier.map(|earlier| {
        let has_other_shards = !other_shards(&files_of([&earlier.report]), files).is_empty();
        let is_later = earlier.report.taken().zip(references.report).is_some_and(|(then, now)| then > now);
        let patterns = EarlierPatterns::of(earlier, &plan.read.selected(), &plan.read.separators);
        match patterns {
            _ if has_other_shards => Err(Need::BaselineOfShards),
            _ if is_later => Err(Need::EarlierBaseline),
            patterns => patterns.ok_or(Need::ComparableBaseline),
        }
    });
    let (earlier_patterns, earlier_need) = match comparable {
        None => (None, None),
        Some(Ok(patterns)) => (Some(patterns), None),
        Some(Err(need)) => (None, Some(need)),
    };
    let context = Context {
        separators: separators.clone(),
        reference: references.clone(),
        now: plan.now,
        maxmemory: plan.read.config.given_maxmemory(),
        maxmemory_policy: plan.read.config.maxmemory_policy(),
        config,
        earlier: earlier_patterns,
        earlier_snapshot: earlier.and_then(|earlier| earlier.report.snapshot_key()),
        earlier_need,
        ..Context::default()
    };
    let mut checks = Checks::new(policy, context).map_err(Error::usage)?;
    if let Some((rule, severity)) = unread {
        checks.disable(rule, severity, Need::Values);
        checks.digests.extend(of_values.map(|digest| (rule, digest)));
    }
    let rule = |check: &policy::checks::RuleCheck<dyn policy::KeyRule>| RuleBit {
        id: check.meta.id,
        severity: check.severity,
        measures: check.meta.unit.is_some(),
        saves: check.rule.estimates_saving(),
    };
    let rules = checks.keys.iter().map(rule).collect();
    let patterns = PatternsPlan {
        top: plan.top,
        listed: plan.listed_patterns(),
        compared: plan.baseline.as_ref().map_or(0, |_| Options::MAX_TOP as usize),
        depth: plan.depth,
        min_share: plan.min_share,
        rules,
    };
    Ok(Questions {
        inspection: checks.inspection().map(Arc::new),
        separators,
        classifier,
        checks,
        big,
        references,
        slotted: false,
        tagged: AtomicBool::new(false),
        varied: Arc::default(),
        top: plan.top,
        patterns,
        alternatives: plan.read.what_if.len(),
    })
}
