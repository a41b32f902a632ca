//! Passages that policies cite for a rule, each once.

use super::settings_of;
use crate::policy::Policy;
use crate::render::{Lang, key_text};
use crate::report::Passage;

/// Preset that combines what the standards agree on. It cites no sentence that they do not, so it is not listed.
const COMBINED: &str = "default";

/// Passage with the policies that cite it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation<'p> {
    /// The passage.
    pub passage: &'p Passage,
    /// Names of the policies, in their order.
    pub policies: Vec<&'p str>,
}

/// Returns the passages that policies cite for a rule, in the order of the policies.
pub fn citations<'p>(policies: impl IntoIterator<Item = &'p Policy>, id: &str) -> Vec<Citation<'p>> {
    let mut found: Vec<Citation<'p>> = Vec::new();
    for policy in policies.into_iter().filter(|policy| policy.name != COMBINED) {
        for passage in settings_of(policy, id).filter_map(|setting| setting.source.as_ref()) {
            match found.iter_mut().find(|citation| citation.passage == passage) {
                Some(citation) if citation.policies.last() == Some(&policy.name.as_str()) => {}
                Some(citation) => citation.policies.push(&policy.name),
                None => found.push(Citation { passage, policies: vec![&policy.name] }),
            }
        }
    }
    found
}

/// Returns document and chapter in one line, escaped.
pub fn place(passage: &Passage) -> String {
    let parts = [&passage.document, &passage.chapter].into_iter().flatten();
    parts.map(|part| key_text::text(part).into_owned()).collect::<Vec<_>>().join(", ")
}

/// Returns the sentence in the quotation marks of a language, escaped.
pub fn quoted(passage: &Passage, lang: Lang) -> Option<String> {
    let quote = passage.quote.as_deref().map(key_text::text)?;
    Some(lang.of("“{}”", "「{}」").replacen("{}", &quote, 1))
}
