//! What somebody may have meant who wrote the id of no rule.

use super::registry::RULES;

/// The most ids that are offered.
const MOST: usize = 3;

/// Longer texts are no slip of the pen, and comparing takes time with the square of the length.
const LONGEST: usize = 64;

/// Ids that `id` could stand for: those of the group that it names, or those that differ in a few letters, the nearest
/// first.
pub fn ids(id: &str) -> Vec<&'static str> {
    let id = &id.to_ascii_lowercase();
    let group = id.trim_end_matches('.');
    let known = || RULES.iter().map(|rule| rule.meta.id);
    let of_group: Vec<_> = known().filter(|known| known.split_once('.').is_some_and(|(own, _)| own == group)).collect();
    if !of_group.is_empty() {
        return of_group;
    }
    if id.len() > LONGEST {
        return Vec::new();
    }
    // A part of an id is near it, and so is what a few slips apart from it.
    let tail = |known: &'static str| known.split_once('.').map_or(known, |(_, tail)| tail);
    let apart = |known| distance(id, known).min(distance(id, tail(known)).saturating_add(1));
    let mut near: Vec<_> = known().map(|known| (apart(known), known)).collect();
    near.sort_unstable();
    near.retain(|(apart, known)| *apart <= 2.max(known.len() / 3));
    near.into_iter().map(|(_, known)| known).take(MOST).collect()
}

/// Letters that have to be added, dropped, changed, or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, &a) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, &b) in other.iter().enumerate() {
            let changed = last[column] + usize::from(a != b);
            let mut least = changed.min(last[column + 1] + 1).min(line[column] + 1);
            let swapped = row > 0 && column > 0 && a == other[column - 1] && one[row - 1] == b;
            if swapped {
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut last, line);
    }
    last.last().copied().unwrap_or_default()
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

    #[test]
    fn distances_count_single_slips() {
        assert_eq!((distance("storm", "storm"), distance("strom", "storm"), distance("", "abc")), (0, 1, 3));
        assert_eq!((distance("storms", "storm"), distance("stirm", "storm"), distance("trom", "storm")), (1, 1, 2));
    }
}
