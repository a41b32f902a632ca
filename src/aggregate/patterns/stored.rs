//! Stored form of the facts of all patterns.

use serde::{Deserialize, Serialize};

use super::PatternStats;
use super::facts::PatternFacts;
use crate::pattern::tree::StoredTree;
use crate::policy::evidence::SecondCounts;

/// Facts of all patterns: equal for equal keys, however they were read.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredPatterns {
    tree: StoredTree<PatternFacts>,
    seconds: Option<SecondCounts>,
}

impl PatternStats {
    /// Converts the facts to their stored form.
    pub fn into_stored(mut self) -> StoredPatterns {
        self.trim_samples();
        StoredPatterns { tree: self.tree.into_stored(), seconds: self.seconds }
    }

    /// Adds facts in their stored form, which need not be trusted, of a run with this number of rules and alternatives. Fails if
    /// they contradict themselves.
    pub fn add_stored(
        &mut self,
        stored: StoredPatterns,
        rules: usize,
        alternatives: usize,
    ) -> Result<(), &'static str> {
        let StoredPatterns { tree: stored, seconds } = stored;
        if !stored.payloads().all(|facts| facts.fit(rules, alternatives)) {
            return Err("the facts of a pattern contradict the plan");
        }
        self.tree.add_stored(stored)?;
        if let (Some(own), Some(others)) = (&mut self.seconds, &seconds) {
            own.merge(others);
        }
        self.trim_samples();
        Ok(())
    }
}
