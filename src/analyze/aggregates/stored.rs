//! Stored form of all aggregates: what a partial report holds of the keys.

use serde::{Deserialize, Serialize};

use super::list::{EveryKey, UnusualKeys};
use super::{Aggregates, UsualBuffer};
use crate::aggregate::Aggregate;
use crate::aggregate::breakdown::TypeStats;
use crate::aggregate::patterns::StoredPatterns;
use crate::aggregate::runs::Runs;
use crate::aggregate::slots::SlotStats;
use crate::aggregate::strings::StringsByFile;
use crate::aggregate::sums::RunStats;
use crate::aggregate::violations::Violations;
use crate::aggregate::what_if::WhatIfStats;

/// State of all aggregates without their settings, which come from the plan. Equal for equal keys, however they were read.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredAggregates {
    sums: Runs<RunStats>,
    breakdown: TypeStats,
    every_key: EveryKey,
    unusual_keys: UnusualKeys,
    slots: SlotStats,
    violations: Violations,
    patterns: StoredPatterns,
    what_if: WhatIfStats,
    strings: StringsByFile,
}

impl Aggregates {
    /// Converts the aggregates to their stored form, after the templates have been [taken](Aggregates::take_templates).
    pub fn into_stored(mut self) -> StoredAggregates {
        self.hand_over_usual();
        // Names every field, so that a new aggregate cannot be left out.
        let Aggregates {
            questions: _,
            names: _,
            judged: _,
            sums,
            breakdown,
            every_key,
            unusual_keys,
            slots,
            defers_slots: _,
            violations,
            patterns,
            what_if,
            templates: _,
            usual: UsualBuffer { .. },
            strings,
            text_size: _,
            takes_usual: _,
        } = self;
        let patterns = patterns.into_stored();
        StoredAggregates { sums, breakdown, every_key, unusual_keys, slots, violations, patterns, what_if, strings }
    }

    /// Adds aggregates in their stored form, which need not be trusted. Fails if they contradict themselves or the plan.
    pub fn add_stored(&mut self, stored: StoredAggregates) -> Result<(), &'static str> {
        let StoredAggregates {
            sums,
            breakdown,
            every_key,
            unusual_keys,
            slots,
            violations,
            patterns,
            what_if,
            strings,
        } = stored;
        if !violations.fit(&self.questions.checks) {
            return Err("the violations contradict the policy");
        }
        self.patterns.add_stored(patterns, self.questions.checks.keys.len(), self.questions.alternatives)?;
        self.sums.merge(sums);
        self.breakdown.merge(breakdown);
        self.every_key.merge(every_key);
        self.unusual_keys.merge(unusual_keys);
        self.slots.merge(slots);
        self.violations.merge(violations);
        self.what_if.merge(what_if);
        self.strings.merge(strings);
        Ok(())
    }
}
