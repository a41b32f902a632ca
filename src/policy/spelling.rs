//! Spellings of a word in names of keys, and the patterns of keys that have it as a segment.

use super::content::lock::{NAMES, is_lock_name};
use super::matcher::PolicyPattern;
use crate::pattern::classify::Classifier;

/// Returns a word as written, in lower case, in capitals and with a capital first.
pub(super) fn spellings(word: &str) -> impl Iterator<Item = String> {
    let upper = word.to_uppercase();
    let first = word.chars().next().map_or(0, char::len_utf8);
    let capital = format!("{}{}", word[..first].to_uppercase(), &word[first..]);
    let mut all = vec![word.to_owned(), word.to_lowercase(), upper, capital];
    all.sort_unstable();
    all.dedup();
    all.into_iter()
}

/// Returns the patterns of keys with a word as a segment that another follows. Names of locks count as the last one, too, where
/// [what they hold](super::content::lock) decides.
pub(super) fn word_patterns(word: &str) -> impl Iterator<Item = PolicyPattern> {
    let may_be_last = is_lock_name(word.as_bytes());
    spellings(word).flat_map(move |word| segment_patterns(&word, may_be_last))
}

/// Returns the patterns of keys with one of the usual [names](NAMES) of locks.
pub fn lock_patterns() -> Vec<PolicyPattern> {
    let mut words: Vec<String> = NAMES.iter().flat_map(|name| spellings(name)).collect();
    words.sort_unstable();
    words.dedup();
    words.iter().flat_map(|word| segment_patterns(word, true)).collect()
}

fn segment_patterns(word: &str, may_be_last: bool) -> impl Iterator<Item = PolicyPattern> + use<> {
    let classifier = Classifier::default();
    let last = may_be_last.then(|| PolicyPattern::last_word(word, &classifier));
    std::iter::once(PolicyPattern::word(word, &classifier)).chain(last)
}
