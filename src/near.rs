//! What somebody may have meant who wrote a name that there is not.

use strsim::osa_distance;

/// Longer texts are no slip of the pen, and comparing takes time with the square of the length.
const LONGEST: usize = 64;

/// The most names that are offered.
const MOST: usize = 3;

/// How many slips may lie between what was written and `known`.
fn tolerated(known: &str) -> usize {
    1.max(known.chars().count() / 3)
}

/// Those of the `known` names that differ from `text` in a few slips, the nearest first.
pub fn names<'k>(text: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    nearest(text, known, osa_distance)
}

/// The same, where `apart` tells how many slips lie between the text and a known name.
pub fn nearest<'k>(
    text: &str,
    known: impl IntoIterator<Item = &'k str>,
    apart: impl Fn(&str, &str) -> usize,
) -> Vec<&'k str> {
    let text = &text.to_lowercase();
    if text.is_empty() || text.len() > LONGEST {
        return Vec::new();
    }
    let short = known.into_iter().filter(|known| known.len() <= 2 * LONGEST);
    let mut near: Vec<_> = short.map(|known| (apart(text, &known.to_lowercase()), known)).collect();
    near.sort_unstable();
    near.retain(|(apart, known)| *apart <= tolerated(known) && *apart < text.chars().count());
    near.into_iter().map(|(_, known)| known).take(MOST).collect()
}

/// A question for a hint, with a blank behind it; nothing where nothing is near.
pub fn did_you_mean(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_whatever_the_case() {
        assert_eq!(names("strct", ["strict", "service", "none"]), ["strict"]);
        assert_eq!(names("STRICT", ["strict"]), ["strict"]);
        assert_eq!(names("dmup.rdb", ["dump.rdb", "readme.md"]), ["dump.rdb"]);
        assert_eq!(did_you_mean(&names("strct", ["strict"])), "did you mean strict? ");
    }

    #[test]
    fn what_is_like_nothing_has_no_neighbours() {
        assert_eq!(names("mine", ["strict", "platform"]), [""; 0]);
        assert_eq!(names("", ["a"]), [""; 0]);
        assert_eq!(names("ab", ["cd"]), [""; 0]);
        assert_eq!(names(&"a".repeat(100_000), ["aaa"]), [""; 0]);
        assert_eq!(did_you_mean(&[]), "");
    }
}
