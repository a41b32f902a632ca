//! Stored form of the facts of all patterns.

use serde::{Deserialize, Serialize};

use super::PatternStats;
use super::facts::PatternFacts;
use crate::pattern::tree::StoredTree;

/// Facts of all patterns: equal for equal keys, however they were read.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredPatterns(StoredTree<PatternFacts>);

impl PatternStats {
    /// Converts the facts to their stored form.
    pub fn into_stored(mut self) -> StoredPatterns {
        self.trim_samples();
        StoredPatterns(self.tree.into_stored())
    }

    /// Adds facts in their stored form, which need not be trusted, of a run with this number of rules and alternatives. Fails if
    /// they contradict themselves.
    pub fn add_stored(
        &mut self,
        stored: StoredPatterns,
        rules: usize,
        alternatives: usize,
    ) -> Result<(), &'static str> {
        let StoredPatterns(stored) = stored;
        if !stored.payloads().all(|facts| facts.fit(rules, alternatives)) {
            return Err("the facts of a pattern contradict the plan");
        }
        self.tree.add_stored(stored)?;
        self.trim_samples();
        Ok(())
    }
}
