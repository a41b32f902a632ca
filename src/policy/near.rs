//! What somebody may have meant who wrote the id of no rule.

use strsim::osa_distance;

use super::registry::RULES;
use crate::near;

/// Ids that `id` could stand for: those of the group that it names, or those that differ in a few letters, the nearest
/// first.
pub fn ids(id: &str) -> Vec<&'static str> {
    let lower = id.to_ascii_lowercase();
    let group = lower.trim_end_matches('.');
    let known = || RULES.iter().map(|rule| rule.meta.id);
    let of_group: Vec<_> = known().filter(|known| known.split_once('.').is_some_and(|(own, _)| own == group)).collect();
    if !of_group.is_empty() {
        return of_group;
    }
    // A part of an id is near it, and so is what a few slips apart from it.
    let tail = |known: &str| known.split_once('.').map_or(0, |(group, _)| group.len() + 1);
    near::nearest(id, known(), |id, known| {
        osa_distance(id, known).min(osa_distance(id, &known[tail(known)..]).saturating_add(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        assert_eq!(ids("key.lenght").first(), Some(&"key.length"));
        assert_eq!(ids("key.perfix").first(), Some(&"key.prefix"));
        assert_eq!(ids("prefix").first(), Some(&"key.prefix"));
        assert_eq!(ids("key_special_chars").first(), Some(&"key.special-chars"));
    }

    #[test]
    fn a_group_stands_for_its_rules() {
        assert!(ids("big").contains(&"big.string") && ids("big.").iter().all(|id| id.starts_with("big.")));
    }

    #[test]
    fn what_is_like_nothing_has_no_neighbours() {
        assert_eq!(ids("completely different"), Vec::<&str>::new());
        assert_eq!(ids(&"key.prefix".repeat(1000)), Vec::<&str>::new());
    }
}
