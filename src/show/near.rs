//! Names near to one that is missing, collected while all names pass by.
//!
//! A name is compared in full only if its length and its letters, in any order, differ from the wanted one by few edits, and
//! if it would be among the nearest: of ten million names very few are. Case does not count.

use strsim::osa_distance;

/// Longest wanted name, in bytes, that gets suggestions.
const MAX_LEN: usize = 128;

/// Largest edit distance of a suggestion.
const MAX_EDITS: usize = 3;

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// The nearest names so far.
#[derive(Debug)]
pub struct NearNames {
    wanted: String,
    /// Number of each byte in the wanted name.
    bytes: [u8; 256],
    /// Distance with name; the nearest first, of equals the first in the file.
    best: Vec<(usize, String)>,
    /// Largest distance at which a name is still of interest; `None` if no name is.
    limit: Option<usize>,
}

impl NearNames {
    /// Starts without suggestions for this name.
    pub fn new(wanted: &[u8]) -> NearNames {
        let text = std::str::from_utf8(wanted).ok().filter(|text| !text.is_empty() && text.len() <= MAX_LEN);
        let wanted = text.unwrap_or_default().to_lowercase();
        let mut bytes = [0_u8; 256];
        // A lower-case letter may be longer than its capital: the count saturates, which only weakens the filter.
        wanted.bytes().for_each(|byte| bytes[usize::from(byte)] = bytes[usize::from(byte)].saturating_add(1));
        let tolerated = (wanted.len() / 4).clamp(1, MAX_EDITS);
        NearNames { limit: text.map(|_| tolerated), wanted, bytes, best: Vec::new() }
    }

    /// Returns whether a name of this length, in bytes, can be near enough.
    #[inline]
    pub fn wants(&self, length: u64) -> bool {
        self.limit.is_some_and(|limit| length.abs_diff(self.wanted.len() as u64) <= limit as u64)
    }

    /// Keeps a name if it is among the nearest.
    pub fn offer(&mut self, name: &[u8]) {
        let Some(limit) = self.limit.filter(|limit| !self.differs_by_more(name, *limit)) else { return };
        let Ok(text) = std::str::from_utf8(name) else { return };
        let distance = distance(&self.wanted, &text.to_lowercase());
        if distance > limit || self.best.iter().any(|(_, known)| known == text) {
            return;
        }
        let place = self.best.partition_point(|(known, _)| *known <= distance);
        self.best.insert(place, (distance, text.to_owned()));
        self.best.truncate(MAX_SUGGESTIONS);
        if self.best.len() == MAX_SUGGESTIONS {
            self.limit = self.best.last().and_then(|(worst, _)| worst.checked_sub(1));
        }
    }

    /// Returns whether more than `limit` edits are needed to get from the letters of one name to those of the other.
    fn differs_by_more(&self, name: &[u8], limit: usize) -> bool {
        let (mut left, mut more) = (self.bytes, 0);
        for byte in name {
            let count = &mut left[usize::from(byte.to_ascii_lowercase())];
            match count.checked_sub(1) {
                Some(fewer) => *count = fewer,
                // Each edit of one character changes up to four bytes outside of ASCII.
                None => more += 1,
            }
        }
        let common = name.len() - more;
        let edits = if name.is_ascii() && self.wanted.is_ascii() { limit } else { limit * 4 };
        more > edits || self.wanted.len().saturating_sub(common) > edits
    }

    /// Returns the nearest names.
    pub fn into_names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }
}

/// Edit distance, of the parts in which the texts differ.
fn distance(one: &str, other: &str) -> usize {
    let before = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    let before: usize = before.map(|(a, _)| a.len_utf8()).sum();
    let (one, other) = (&one[before..], &other[before..]);
    let behind = one.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b);
    let behind: usize = behind.map(|(a, _)| a.len_utf8()).sum();
    osa_distance(&one[..one.len() - behind], &other[..other.len() - behind])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(wanted: &str, names: &[&str]) -> Vec<String> {
        let mut near = NearNames::new(wanted.as_bytes());
        names.iter().filter(|name| near.wants(name.len() as u64)).copied().collect::<Vec<_>>().iter().for_each(
            |name| {
                near.offer(name.as_bytes());
            },
        );
        near.into_names()
    }

    #[test]
    fn the_nearest_come_first_and_few_are_kept() {
        assert_eq!(
            near("user:17:profle", &["user:18:profile", "user:17:profile", "order:17"]),
            ["user:17:profile", "user:18:profile"]
        );
        assert_eq!(near("user:1", &["user:2", "user:3", "user:4", "user:5"]), ["user:2", "user:3", "user:4"]);
        assert_eq!(near("USER:17:Profile", &["user:17:profile"]), ["user:17:profile"]);
        assert_eq!(near("购物车:1", &["购物車:1", "cart:1"]), ["购物車:1"]);
    }

    #[test]
    fn unrelated_names_are_no_suggestions() {
        assert_eq!(near("user:17", &["job:17:x", "cart", ""]), [""; 0]);
        assert_eq!(near("", &["a"]), [""; 0]);
        assert_eq!(near(&"a".repeat(MAX_LEN + 1), &[&"a".repeat(MAX_LEN)]), [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn filters_lose_no_near_name(wanted in "[abA:é键]{1,12}", names in proptest::collection::vec("[abA:é键]{0,12}", 1..8)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let tolerated = (wanted.to_lowercase().len() / 4).clamp(1, MAX_EDITS);
            let all = names.iter().map(|name| osa_distance(&wanted.to_lowercase(), &name.to_lowercase()));
            let nearest = all.filter(|distance| *distance <= tolerated).min();
            let mut near = NearNames::new(wanted.as_bytes());
            names.iter().for_each(|name| near.offer(name.as_bytes()));
            proptest::prop_assert_eq!(near.best.first().map(|(distance, _)| *distance), nearest);
        }
    }
}
