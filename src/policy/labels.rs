//! Policy columns of a key's row.

use serde::Serialize;

/// What the policy says about one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct KeyLabels<'a> {
    /// Ids of the rules that the key breaks, sorted.
    pub breaks: &'a [&'static str],
    /// Owner of its entry in the data dictionary.
    pub owner: Option<&'a str>,
    /// TTL class.
    pub class: Option<&'a str>,
}
