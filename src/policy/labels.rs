//! Verdict of the policy on a key as columns of its row.

use serde::Serialize;

/// Policy columns of the row of one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct KeyLabels<'a> {
    /// Ids of the rules that the key breaks, sorted.
    pub breaks: &'a [&'static str],
    /// Owner of its entry in the data dictionary.
    pub owner: Option<&'a str>,
    /// TTL class.
    pub class: Option<&'a str>,
}
