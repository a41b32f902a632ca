//! Conditions on the rows of `keys` besides the selection: pattern, owner, and the rules that a key breaks.
//!
//! Most conditions follow from the key alone. Some need a first pass over the snapshot: `{*}` in a pattern stands for a level
//! that the tree of patterns has collapsed, and rules about patterns are judged by all keys. Rows then equal the counts of a
//! report on the same selection, since both come from the same tree and the same checks.

mod breaking;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::aggregates;
use super::first_pass::FirstPass;
use super::plan::{MaskKey, Plan};
use super::questions::{LoadedPolicy, Questions, questions};
use super::read::progress::Progress;
use super::read::snapshot::Snapshot;
use crate::aggregate::patterns::PatternStats;
use crate::error::{Error, Result};
use crate::mask::Masker;
use crate::near;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::joined::COLLAPSED;
use crate::pattern::name::KeyName;
use crate::pattern::tree::PlaceId;
use crate::policy::KeyView;
use crate::policy::registry::{self, KeyListing};
use crate::policy::rules::type_::near_compact_limit;
use crate::policy::{Checks, Judged, KeyLabels, NameJudged, Severity};
use crate::rdb::peek::PeekBuffers;
use crate::record::Record;
use breaking::BreakingCondition;

/// Conditions that a key must meet to get a row.
#[derive(Debug, Clone, Default)]
pub struct RowConditions {
    /// Patterns as reports print them, one of which the key must be counted under; empty for any.
    pub patterns: Vec<String>,
    /// Conditions of the policy; `None` if rows do not depend on it.
    pub policy: Option<PolicyConditions>,
}

/// Conditions that depend on the policy.
#[derive(Debug, Clone, Default)]
pub struct PolicyConditions {
    /// Rules one of which the key must break, or any rule about keys if the list is empty; `None` for all keys.
    pub breaking: Option<Vec<String>>,
    /// Least severity of these rules.
    pub severity: Severity,
    /// Owners, one of which the key must have; an empty text stands for keys without one. Empty for any.
    pub owners: Vec<String>,
}

/// Everything that rows of a snapshot are made with.
#[derive(Debug)]
pub struct RowSetup {
    questions: Arc<Questions>,
    conditions: RowConditions,
    first: Option<FirstPass>,
    mask: Option<MaskKey>,
}

impl RowSetup {
    /// Checks the conditions, and reads the inputs once if a condition or masking needs that.
    ///
    /// Must be called before the snapshot is read. Without policy conditions, the plan's policy should be `none`.
    pub fn new<P: AsRef<Path>>(
        inputs: &[P],
        plan: &Plan,
        conditions: RowConditions,
        snapshot: &Snapshot,
        progress: &dyn Progress,
    ) -> Result<RowSetup> {
        let questions = Arc::new(questions(plan, LoadedPolicy::load(plan)?, snapshot)?);
        if let Some(factor) = near_compact_limit::factor(&questions.checks.policy) {
            snapshot.raise_limits(factor);
        }
        let mut about_patterns = None;
        if let Some(policy) = &conditions.policy {
            check_owners(&questions.checks, &policy.owners)?;
            for id in policy.breaking.iter().flatten() {
                check_rule(&questions, id)?;
                let is_one = questions.checks.patterns.iter().any(|check| check.meta.id == id);
                about_patterns = about_patterns.or(is_one.then(|| format!("--breaking {id}")));
            }
        }
        let collapsed = conditions.patterns.iter().find(|pattern| pattern.contains(COLLAPSED));
        let reason = plan.mask.as_ref().map(|_| "--mask".to_owned());
        let reason = reason.or(about_patterns).or(collapsed.map(|_| format!("--pattern with {COLLAPSED}")));
        let empty = || aggregates::patterns(&questions);
        let read = |flag: String| {
            FirstPass::read(inputs, &plan.read, &questions.classifier, &questions.checks, empty, progress, &flag)
        };
        let first = reason.map(read).transpose()?;
        Ok(RowSetup { questions, conditions, first, mask: plan.mask.clone() })
    }

    /// Returns the classifier of the run.
    pub fn classifier(&self) -> &Classifier {
        &self.questions.classifier
    }

    /// Returns the masker of names, if names are to be masked.
    pub fn masker(&self) -> Option<Masker<'_>> {
        let (first, key) = (self.first.as_ref()?, self.mask.as_ref()?);
        let Questions { classifier, separators, .. } = &*self.questions;
        Some(Masker::new(first.secret(key), classifier, separators, &first.patterns))
    }

    /// Returns the rules about patterns that a condition on any rule passes over, since it takes rules about keys only.
    pub fn passed_over(&self) -> BTreeSet<&'static str> {
        let policy = self.conditions.policy.as_ref();
        let least = policy.filter(|policy| policy.breaking.as_ref().is_some_and(Vec::is_empty));
        let least = least.map(|policy| policy.severity);
        let passed_over = |severity: Severity| least.is_some_and(|least| severity >= least);
        let checks = self.questions.checks.patterns.iter().filter(|check| passed_over(check.severity));
        checks.map(|check| check.meta.id).collect()
    }

    /// Returns the filter of rows, or `None` if every selected key gets a row without labels.
    pub fn filter(&self) -> Result<Option<RowFilter<'_>>> {
        if self.conditions.patterns.is_empty() && self.conditions.policy.is_none() {
            return Ok(None);
        }
        let questions = &*self.questions;
        let tree = self.first.as_ref().map(|first| &first.patterns);
        let mut filter = RowFilter {
            questions,
            tree,
            patterns: PatternCondition::new(&self.conditions.patterns, tree),
            labels: self.conditions.policy.is_some(),
            breaking: None,
            owners: None,
        };
        if let Some(policy) = &self.conditions.policy {
            filter.owners = OwnerCondition::new(&questions.checks, &policy.owners);
            let named = policy.breaking.as_deref();
            let breaking = named.map(|rules| BreakingCondition::new(questions, tree, policy, rules));
            filter.breaking = breaking.transpose()?;
        }
        Ok(Some(filter))
    }

    /// Looks for the patterns asked for after no row was written.
    ///
    /// Reads the snapshot again unless its patterns are known; knows none if it cannot be read twice.
    pub fn near_patterns<P: AsRef<Path>>(&self, inputs: &[P], plan: &Plan, progress: &dyn Progress) -> NearPatterns {
        let Questions { classifier, checks, .. } = &*self.questions;
        let empty = || aggregates::patterns(&self.questions);
        let read = || FirstPass::read(inputs, &plan.read, classifier, checks, empty, progress, "--pattern").ok();
        let again = if self.first.is_none() { read() } else { None };
        let Some(first) = self.first.as_ref().or(again.as_ref()) else { return NearPatterns::default() };
        let forest = first.patterns.forest();
        let texts: Vec<&str> = forest.patterns().map(|(node, _)| node.text.as_str()).collect();
        let asked = &self.conditions.patterns;
        let known = texts.iter().any(|text| asked.iter().any(|asked| asked == text));
        let near = asked.iter().flat_map(|asked| near_pattern(asked, &texts)).map(str::to_owned);
        NearPatterns { known, near: near.collect::<BTreeSet<_>>().into_iter().collect() }
    }
}

/// Patterns of the snapshot that resemble those asked for.
#[derive(Debug, Default)]
pub struct NearPatterns {
    /// True if it has one of them.
    pub known: bool,
    /// Patterns that resemble them.
    pub near: Vec<String>,
}

/// Fails unless the keys of this rule can be listed.
fn check_rule(questions: &Questions, id: &str) -> Result<()> {
    let checks = &questions.checks;
    let about_keys = || checks.keys.iter().map(|check| check.meta.id);
    let about_patterns = || checks.patterns.iter().map(|check| check.meta.id);
    if about_keys().chain(about_patterns()).any(|known| known == id) {
        return Ok(());
    }
    let listed: BTreeSet<&str> = about_keys().chain(about_patterns()).collect();
    let listed = listed.into_iter().collect::<Vec<_>>().join(", ");
    let all = format!("rules that can be listed under policy {}: {listed}", checks.policy.name);
    let lacking = checks.disabled.iter().find(|lacking| lacking.rule == id);
    let is_checked = lacking.is_some() || checks.snapshots.iter().any(|check| check.meta.id == id);
    let fault = if is_checked && registry::key_listing(id) == KeyListing::Impossible {
        format!("--breaking {id}: the rule is about the snapshot as a whole, not about single keys")
    } else if let Some(lacking) = lacking {
        let (reason, remedy) = (&lacking.reason.en, lacking.remedy.en.as_str());
        return Err(Error::usage(format!("--breaking {id}: {reason}")).with_hint(remedy));
    } else if registry::find(id).is_some() {
        format!("--breaking {id}: policy {} does not check this rule", checks.policy.name)
    } else {
        let near = near::did_you_mean(&registry::suggestions(id));
        return Err(Error::usage(format!("--breaking {id}: unknown rule")).with_hint(format!("{near}{all}")));
    };
    Err(Error::usage(fault).with_hint(all))
}

/// Fails for an owner that the data dictionary does not name.
fn check_owners(checks: &Checks, owners: &[String]) -> Result<()> {
    let known: BTreeSet<&str> = checks.policy.entries.iter().filter_map(|entry| entry.owner.as_deref()).collect();
    match owners.iter().find(|owner| !owner.is_empty() && !known.contains(owner.as_str())) {
        None => Ok(()),
        Some(owner) if known.is_empty() => {
            Err(Error::usage(format!("--owner {owner}: policy {} has no data dictionary", checks.policy.name))
                .with_hint("give a policy file with [[dictionary]] entries; `rdblens dictionary` drafts one"))
        }
        Some(owner) => {
            let near = near::did_you_mean(&near::names(owner, known.iter().copied()));
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            Err(Error::usage(format!("--owner {owner}: no such owner in the data dictionary"))
                .with_hint(format!("{near}the owners are {known}")))
        }
    }
}

/// Returns the patterns that resemble this one, nearest first.
fn near_pattern<'t>(asked: &str, texts: &[&'t str]) -> Vec<&'t str> {
    const MAX_SUGGESTIONS: usize = 3;
    // Reports shorten long names in the middle.
    if let Some((start, end)) = asked.split_once('…') {
        let fits = |text: &&&str| text.starts_with(start) && text.ends_with(end);
        return texts.iter().filter(fits).take(MAX_SUGGESTIONS).copied().collect();
    }
    near::names(asked, texts.iter().copied())
}

/// Filter of rows; shared by all workers.
#[derive(Debug)]
pub struct RowFilter<'s> {
    questions: &'s Questions,
    tree: Option<&'s PatternStats>,
    patterns: PatternCondition,
    /// True if rows have labels.
    labels: bool,
    breaking: Option<BreakingCondition>,
    owners: Option<OwnerCondition>,
}

/// Buffers of a worker, reused from key to key.
#[derive(Debug, Default)]
pub struct RowScratch {
    /// Pattern of the last key.
    pub pattern: PatternBuf,
    named: NameJudged,
    judged: Judged,
    /// TTL class of the last key, if it takes keys of this type and content.
    class: Option<u16>,
    breaks: Vec<&'static str>,
    values: PeekBuffers,
}

impl RowFilter<'_> {
    /// Returns whether a key gets a row; its pattern is then in `room`.
    pub fn takes(&self, record: &Record<'_>, scratch: &mut RowScratch) -> bool {
        let Questions { classifier, checks, .. } = self.questions;
        classifier.classify(record.key, &mut scratch.pattern);
        let name = KeyName::Classified(record.key, &scratch.pattern);
        let place = if self.wants_place() { self.tree.and_then(|tree| tree.place_of(name)) } else { None };
        if !self.patterns.holds(&scratch.pattern.text, place) {
            return false;
        }
        if !self.labels {
            return true;
        }
        checks.judge_name(&name, &mut scratch.named);
        checks.judge_named(record, &scratch.named, &mut scratch.judged);
        if self.owners.as_ref().is_some_and(|owners| !owners.hold(scratch.judged.matched.entry)) {
            return false;
        }
        let matched = scratch.judged.matched;
        let view = KeyView { record, context: &checks.context, matched };
        scratch.class = view.class_index();
        scratch.breaks.clear();
        if let Some(breaking) = &self.breaking {
            breaking.add_of_patterns(record, place, self.questions.inspection.as_deref(), scratch);
        }
        let holds = match &self.breaking {
            None => true,
            Some(breaking) => breaking.keys & scratch.judged.broken != 0 || !scratch.breaks.is_empty(),
        };
        if holds {
            let broken = scratch.judged.broken;
            let own = checks.keys.iter().enumerate().filter(|(bit, _)| broken >> bit & 1 == 1);
            scratch.breaks.extend(own.map(|(_, check)| check.meta.id));
            scratch.breaks.sort_unstable();
            scratch.breaks.dedup();
        }
        holds
    }

    /// Returns the labels of the key that was taken last; `None` if rows have none.
    pub fn labels<'r>(&'r self, scratch: &'r RowScratch) -> Option<KeyLabels<'r>> {
        let policy = &self.questions.checks.policy;
        let matched = scratch.judged.matched;
        let entry = matched.entry.and_then(|entry| policy.entries.get(usize::from(entry)));
        let class = scratch.class.and_then(|class| policy.classes.get(usize::from(class)));
        self.labels.then(|| KeyLabels {
            breaks: &scratch.breaks,
            owner: entry.and_then(|entry| entry.owner.as_deref()),
            class: class.map(|class| class.name.as_str()),
        })
    }

    /// Returns whether a condition depends on the place of a key's pattern in the tree.
    fn wants_place(&self) -> bool {
        let by_pattern = self.breaking.as_ref().is_some_and(BreakingCondition::wants_place);
        !self.patterns.places.is_empty() || by_pattern
    }
}

/// Patterns that keys must have.
#[derive(Debug, Default)]
struct PatternCondition {
    any: bool,
    /// Patterns of keys by themselves.
    texts: HashSet<String>,
    /// Places of patterns in the tree, for those with collapsed levels.
    places: HashSet<PlaceId>,
}

impl PatternCondition {
    fn new(asked: &[String], tree: Option<&PatternStats>) -> Self {
        let mut condition = PatternCondition { any: asked.is_empty(), ..PatternCondition::default() };
        for text in asked.iter().filter(|text| !text.contains(COLLAPSED)) {
            condition.texts.insert(text.clone());
        }
        let collapsed: HashSet<&str> =
            asked.iter().map(String::as_str).filter(|text| text.contains(COLLAPSED)).collect();
        if let Some(tree) = tree.filter(|_| !collapsed.is_empty()) {
            let (forest, places) = tree.forest_with_places();
            let nodes = forest.nodes.into_iter().zip(places);
            let found = nodes.filter(|(node, _)| node.facts.is_some() && collapsed.contains(node.text.as_str()));
            condition.places.extend(found.map(|(_, place)| place));
        }
        condition
    }

    /// A pattern without `{*}` is that of all its keys, whatever levels of the tree have collapsed.
    fn holds(&self, text: &str, place: Option<PlaceId>) -> bool {
        self.any || self.texts.contains(text) || place.is_some_and(|place| self.places.contains(&place))
    }
}

/// Owners that keys must have.
#[derive(Debug)]
struct OwnerCondition {
    /// By dictionary entry.
    entries: Vec<bool>,
    /// True for keys without an entry.
    none: bool,
}

impl OwnerCondition {
    fn new(checks: &Checks, owners: &[String]) -> Option<Self> {
        let wanted = |owner: Option<&str>| owners.iter().any(|wanted| wanted == owner.unwrap_or_default());
        let entries = checks.policy.entries.iter().map(|entry| wanted(entry.owner.as_deref())).collect();
        (!owners.is_empty()).then(|| OwnerCondition { entries, none: wanted(None) })
    }

    fn hold(&self, entry: Option<u16>) -> bool {
        entry.map_or(self.none, |entry| self.entries.get(usize::from(entry)).copied().unwrap_or_default())
    }
}
