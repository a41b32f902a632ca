//! What a run asks of its snapshot, made of the plan and the policy.

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
use crate::policy::earlier::Earlier;
use crate::policy::file::Names;
use crate::policy::rules::memory::upgrade;
use crate::policy::sensitive::Inspection;
use crate::policy::{self, Checks, Context, Policy};
use crate::report::BigRules;
use crate::units::Millis;

/// What all aggregates of a run are made from.
#[derive(Debug)]
pub struct Questions {
    /// What divides names.
    pub separators: Separators,
    /// Names to patterns.
    pub classifier: Classifier,
    /// What the snapshot is held against.
    pub checks: Checks,
    /// What counts as big.
    pub big: BigRules,
    /// What expiries are held against.
    pub reference: Option<Millis>,
    /// Rows in each list.
    pub top: usize,
    /// Whether a server that is computed for is a cluster's node: keys are counted by slot, then.
    pub slotted: bool,
    /// A key with a hash tag was seen: the report will tell of slots.
    pub tagged: AtomicBool,
    /// What trees of patterns tell each other: see [`Patterns::share`].
    pub varied: Arc<AtomicBool>,
    /// How the tree of names is cut.
    pub patterns: PatternsPlan,
    /// What is looked for in values; `None` looks into none.
    pub inspection: Option<Arc<Inspection>>,
    /// A rule of the policy that was not checked, because it looks into values.
    pub unread: Option<&'static str>,
    /// How many alternatives every record is priced for.
    pub alternatives: usize,
}

pub(super) fn questions(plan: &Plan, standard: Standard, snapshot: &Snapshot) -> Result<Questions> {
    let mut questions = questions_with(plan, standard, snapshot.reference)?;
    questions.checks.context.model = snapshot.model();
    let models = |file: &Arc<InputFile>| {
        file.model.in_cluster() || file.alternatives.iter().any(crate::memory::Model::in_cluster)
    };
    questions.slotted = snapshot.files().iter().any(models);
    Ok(questions)
}

/// All questions of a plan, without a snapshot: what benchmarks and tests of single stages start from. Expiries are held
/// against `reference`.
pub fn questions_of(plan: &Plan, reference: Option<Millis>) -> Result<Questions> {
    questions_with(plan, Standard::load(plan)?, reference)
}

/// The policy of a plan, and what divides the names that it speaks of.
pub(super) struct Standard {
    policy: Policy,
    separators: Separators,
    classifier: Classifier,
}

impl Standard {
    /// Reads the policy, with the limits that go before its own.
    pub fn load(plan: &Plan) -> Result<Standard> {
        let separators = Separators::new(&plan.read.separators)?;
        let classifier = Classifier::new(separators.clone());
        let mut policy = plan.policy.load(Names { separators: separators.as_bytes(), classifier: &classifier })?;
        plan.big.lay_over(&mut policy);
        Ok(Standard { policy, separators, classifier })
    }

    /// The plan, and where the policy wants to know what a newer server would take and nobody asks about any other, that
    /// too.
    pub fn with_upgrade<'p>(&self, plan: &'p Plan) -> Cow<'p, Plan> {
        if !plan.read.what_if.is_empty() || !upgrade::is_in_force(&self.policy) {
            return Cow::Borrowed(plan);
        }
        let mut plan = plan.clone();
        plan.read.what_if.push(WhatIf::newest());
        Cow::Owned(plan)
    }
}

/// All questions of a plan; expiries are held against `reference`.
pub(super) fn questions_with(plan: &Plan, standard: Standard, reference: Option<Millis>) -> Result<Questions> {
    let Standard { mut policy, separators, classifier } = standard;
    let unread = policy.look_into_values(plan.inspect_values);
    let big = plan.big.over(&policy);
    let config = plan.read.config.clone();
    let context = Context {
        separators: separators.clone(),
        reference,
        now: plan.now,
        maxmemory: plan.read.config.maxmemory(),
        maxmemory_policy: plan.read.config.maxmemory_policy(),
        config,
        earlier: plan.baseline.as_deref().and_then(Earlier::of),
        ..Context::default()
    };
    let checks = Checks::new(policy, context).map_err(Error::usage)?;
    let rule = |check: &policy::checks::Check<dyn policy::KeyRule>| RuleBit {
        id: check.meta.id,
        severity: check.severity,
        measures: check.meta.unit.is_some(),
        saves: check.rule.tells_saving(),
    };
    let rules = checks.keys.iter().map(rule).collect();
    let patterns = PatternsPlan { top: plan.top, depth: plan.depth, min_share: plan.min_share, rules };
    Ok(Questions {
        inspection: checks.inspection().map(Arc::new),
        separators,
        classifier,
        checks,
        big,
        reference,
        slotted: false,
        tagged: AtomicBool::new(false),
        varied: Arc::default(),
        top: plan.top,
        patterns,
        unread,
        alternatives: plan.read.what_if.len(),
    })
}
