//! "Did you mean" suggestions by edit distance.

use strsim::osa_distance;

use crate::wording::Wording;

/// Longest text that gets suggestions; comparing takes time quadratic in the length.
const MAX_LEN: usize = 64;

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Returns the maximum edit distance at which `known` is suggested.
fn tolerated(known: &str) -> usize {
    1.max(known.chars().count() / 3)
}

/// Returns the `known` names within a small edit distance of `text`, nearest first.
pub fn names<'k>(text: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    nearest(text, known, osa_distance)
}

/// Like [`names`], with a custom distance.
pub fn nearest<'k>(
    text: &str,
    known: impl IntoIterator<Item = &'k str>,
    distance: impl Fn(&str, &str) -> usize,
) -> Vec<&'k str> {
    let text = &text.to_lowercase();
    if text.is_empty() || text.len() > MAX_LEN {
        return Vec::new();
    }
    let short = known.into_iter().filter(|known| known.len() <= 2 * MAX_LEN);
    closest(text, short.map(|known| (distance(text, &known.to_lowercase()), known)).collect())
}

/// Returns the names that are close enough to be meant, by their distances.
fn closest<'k>(text: &str, mut known: Vec<(usize, &'k str)>) -> Vec<&'k str> {
    known.sort_unstable();
    // A text that differs in every character is not a typo.
    known.retain(|(distance, known)| *distance <= tolerated(known) && *distance < text.chars().count());
    known.into_iter().map(|(_, known)| known).take(MAX_SUGGESTIONS).collect()
}

/// Formats suggestions as an English question followed by a space; empty without any.
pub fn did_you_mean(near: &[&str]) -> String {
    question(near).en
}

/// Formats suggestions as a question that other words can follow; empty without any.
pub fn question(near: &[&str]) -> Wording {
    if near.is_empty() {
        return Wording::default();
    }
    let (en, zh) = (near.join(" or "), near.join(" 或 "));
    Wording { en: format!("did you mean {en}? "), zh: format!("是否想找 {zh}？") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_recognised_in_either_case() {
        assert_eq!(names("strct", ["strict", "service", "none"]), ["strict"]);
        assert_eq!(names("STRICT", ["strict"]), ["strict"]);
        assert_eq!(names("dmup.rdb", ["dump.rdb", "readme.md"]), ["dump.rdb"]);
        assert_eq!(did_you_mean(&names("strct", ["strict"])), "did you mean strict? ");
        assert_eq!(question(&["a", "b"]).zh, "是否想找 a 或 b？");
    }

    #[test]
    fn unrelated_names_get_no_suggestions() {
        assert_eq!(names("mine", ["strict", "platform"]), [""; 0]);
        assert_eq!(names("", ["a"]), [""; 0]);
        assert_eq!(names("ab", ["cd"]), [""; 0]);
        assert_eq!(names(&"a".repeat(100_000), ["aaa"]), [""; 0]);
        assert_eq!(did_you_mean(&[]), "");
    }
}
