//! Rules that keys must break to get a row, with the keys that violations of rules about patterns count.

use std::collections::HashMap;
use std::ops::Range;

use super::{PolicyConditions, RowScratch};
use crate::aggregate::patterns::PatternStats;
use crate::analyze::findings::pattern_breaches;
use crate::analyze::questions::Questions;
use crate::error::{Error, Result};
use crate::pattern::tree::PlaceId;
use crate::policy::Severity;
use crate::policy::content::lock::LockName;
use crate::policy::evidence::{KnownToken, LockValue};
use crate::policy::forest::{Forest, PatternNode};
use crate::policy::rule::{BadTokens, Breach, ConcernedKeys};
use crate::policy::sensitive::{Inspection, SensitiveKinds};
use crate::rdb::peek::PeekBuffers;
use crate::record::Record;
use crate::sorting::CompactSort;
use crate::units::Millis;

/// Rules that keys must break.
#[derive(Debug, Default)]
pub(super) struct BreakingCondition {
    /// Bits of rules about keys.
    pub keys: u64,
    /// Violations of rules about patterns, by the place of the pattern.
    places: HashMap<PlaceId, Vec<BrokenPattern>>,
}

/// Violation of a rule about patterns, for the keys of one pattern.
#[derive(Debug, Clone)]
struct BrokenPattern {
    rule: &'static str,
    counted: CountedKeys,
}

/// Keys of a pattern that a violation counts.
#[derive(Debug, Clone)]
enum CountedKeys {
    All,
    /// Keys with an expiry, not before this.
    ExpiringFrom(Millis),
    Locks(BadTokens),
    Holding(SensitiveKinds),
}

impl CountedKeys {
    /// Returns whether the violation counts a key of its pattern; `lock` is the form of a name of locks.
    fn count(
        &self,
        record: &Record<'_>,
        lock: Option<LockName>,
        inspection: Option<&Inspection>,
        scratch: &mut PeekBuffers,
    ) -> bool {
        match self {
            CountedKeys::All => true,
            CountedKeys::ExpiringFrom(from) => record.expires_at.is_some_and(|at| at >= *from),
            CountedKeys::Locks(_) if !lock.is_some_and(|name| name.may_be_lock(record)) => false,
            CountedKeys::Locks(bad) => match LockValue::of(record, bad.min, scratch) {
                LockValue::NoToken => true,
                LockValue::Token { id, .. } => bad.shared.binary_search(&id).is_ok(),
                LockValue::NotCompared => false,
            },
            CountedKeys::Holding(kinds) => inspection.is_some_and(|inspection| {
                !inspection.inspect(record, SensitiveKinds::default(), scratch).found.both(*kinds).is_empty()
            }),
        }
    }
}

impl BreakingCondition {
    pub fn new(
        questions: &Questions,
        tree: Option<&PatternStats>,
        policy: &PolicyConditions,
        rules: &[String],
    ) -> Result<Self> {
        let Questions { checks, classifier, references, .. } = questions;
        let is_named = |id: &str| rules.iter().any(|rule| rule == id);
        let counts = |severity: Severity, id: &str| severity >= policy.severity && is_named(id);
        let mut condition = BreakingCondition::default();
        for (bit, check) in checks.keys.iter().enumerate() {
            let wanted = counts(check.severity, check.meta.id) || rules.is_empty() && check.severity >= policy.severity;
            condition.keys |= u64::from(wanted) << bit;
        }
        if let Some(tree) = tree.filter(|_| checks.patterns.iter().any(|check| is_named(check.meta.id))) {
            let (forest, places) = tree.forest_with_places();
            let nodes = ForestIndex::new(&forest, &places);
            for (check, breaches) in pattern_breaches(checks, classifier, &forest) {
                let counted = breaches.iter().filter(|_| counts(check.severity, check.meta.id));
                counted
                    .into_iter()
                    .try_for_each(|breach| condition.add(check.meta.id, breach, &nodes, references.report))?;
            }
        }
        Ok(condition)
    }

    /// Returns whether keys are selected by the place of their pattern.
    pub fn wants_place(&self) -> bool {
        !self.places.is_empty()
    }

    /// Adds the keys of a violation. Fails if they are not known exactly.
    fn add(
        &mut self,
        rule: &'static str,
        breach: &Breach,
        nodes: &ForestIndex<'_>,
        reference: Option<Millis>,
    ) -> Result<()> {
        let counted = match (&breach.concerned, reference) {
            (ConcernedKeys::Expiring | ConcernedKeys::ExpiringOf(_), Some(from)) => CountedKeys::ExpiringFrom(from),
            (ConcernedKeys::Locks(bad), _) => CountedKeys::Locks(bad.clone()),
            (ConcernedKeys::Holding { kinds, .. }, _) => CountedKeys::Holding(*kinds),
            _ => CountedKeys::All,
        };
        let keys = |node: &PatternNode<'_>| match &counted {
            CountedKeys::All => all_keys(node),
            CountedKeys::ExpiringFrom(_) => node.expiries.map_or(0, |expiries| expiries.all().keys),
            CountedKeys::Locks(bad) => bad_locks(node, bad),
            // If the keys are a sample, the count is of the whole pattern; rows are the keys that hold the data.
            CountedKeys::Holding(kinds) => {
                let holding = node.secrets.and_then(|secrets| secrets.holding(*kinds));
                holding.map_or_else(|| all_keys(node), |holding| holding.keys)
            }
        };
        let mut found = 0_u64;
        for &(node, place) in nodes.concerned(breach) {
            found = found.saturating_add(keys(node));
            self.places.entry(place).or_default().push(BrokenPattern { rule, counted: counted.clone() });
        }
        if found == breach.keys {
            return Ok(());
        }
        Err(Error::usage(format!("--breaking {rule}: the keys of this finding cannot be listed one by one"))
            .with_hint("list the keys of its patterns with --pattern"))
    }

    /// Adds the rules about patterns that count this key to those that it breaks.
    pub fn add_of_patterns(
        &self,
        record: &Record<'_>,
        place: Option<PlaceId>,
        inspection: Option<&Inspection>,
        scratch: &mut RowScratch,
    ) {
        let RowScratch { judged, breaks, values, .. } = scratch;
        let broken = place.and_then(|place| self.places.get(&place)).into_iter().flatten();
        let lock = judged.matched.lock.then_some(judged.matched.lock_name);
        let counts = |broken: &&BrokenPattern| broken.counted.count(record, lock, inspection, values);
        breaks.extend(broken.filter(counts).map(|broken| broken.rule));
    }
}

fn all_keys(node: &PatternNode<'_>) -> u64 {
    node.facts.as_ref().map_or(0, |facts| facts.keys)
}

/// Returns the number of locks of a pattern without a token or with one of these.
fn bad_locks(node: &PatternNode<'_>, bad: &BadTokens) -> u64 {
    let Some(tokens) = node.tokens else { return 0 };
    let is_shared = |token: &KnownToken| bad.shared.binary_search(&token.value).is_ok();
    let shared = tokens.known().into_iter().filter(is_shared).map(|token| token.uses.locks.keys);
    tokens.missing().keys.saturating_add(shared.sum())
}

/// Patterns of a forest by their text.
struct ForestIndex<'f> {
    all: Vec<(&'f PatternNode<'f>, PlaceId)>,
    /// Ranges of `all`, which is sorted by text.
    by_text: HashMap<&'f str, Range<usize>>,
}

impl<'f> ForestIndex<'f> {
    fn new(forest: &'f Forest<'f>, places: &[PlaceId]) -> Self {
        let nodes = forest.nodes.iter().zip(places.iter().copied());
        let mut all: Vec<_> = nodes.filter(|(node, _)| node.facts.is_some()).collect();
        all.compact_sort_by_key(|(node, _)| node.text.as_str());
        let mut by_text: HashMap<&str, Range<usize>> = HashMap::new();
        for (at, (node, _)) in all.iter().enumerate() {
            by_text.entry(&node.text).or_insert(at..at).end = at + 1;
        }
        ForestIndex { all, by_text }
    }

    /// Returns the patterns whose keys a violation counts.
    fn concerned<'s>(&'s self, breach: &'s Breach) -> Vec<&'s (&'f PatternNode<'f>, PlaceId)> {
        let of = |text: &str| self.by_text.get(text).and_then(|range| self.all.get(range.clone())).unwrap_or_default();
        match (&breach.concerned, breach.pattern.as_deref()) {
            (ConcernedKeys::Patterns(texts) | ConcernedKeys::ExpiringOf(texts), _) => {
                texts.iter().flat_map(|text| of(text)).collect()
            }
            (ConcernedKeys::Holding { pattern, .. }, _) => of(pattern).iter().collect(),
            (ConcernedKeys::Pattern | ConcernedKeys::Expiring | ConcernedKeys::Locks(_), pattern) => {
                pattern.map(of).unwrap_or_default().iter().collect()
            }
        }
    }
}
