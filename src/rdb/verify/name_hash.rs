//! Keyed hash of names, by which names that occur twice are found.

use std::hash::{BuildHasher, RandomState};

/// Bytes of a name that are multiplied at a time.
const WORD: usize = 6;
/// Number of words of the longest name that is hashed by its words.
const WORDS: usize = 64;

/// Hash function with a random key. Without the key, no file can be made whose names collide.
///
/// It is the multilinear one of [Lemire and Kaser](https://arxiv.org/abs/1202.4961): each word is multiplied by a random number of
/// its own. Of sums of 128 bits over words of 48, the upper 81 bits are those of independent random numbers for any two names. Short
/// names take half the instructions of SipHash, which hashes the longer ones.
pub struct NameHasher {
    space: [u128; 2],
    len: u128,
    words: [u128; WORDS],
    long: RandomState,
}

impl std::fmt::Debug for NameHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NameHasher")
    }
}

impl NameHasher {
    /// Chooses a function.
    pub fn random() -> NameHasher {
        let random = RandomState::new();
        let mut number = 0_u64;
        let mut next = || {
            number += 1;
            u128::from(random.hash_one((number, 0_u8))) << 64 | u128::from(random.hash_one((number, 1_u8)))
        };
        NameHasher {
            space: [next(), next()],
            len: next(),
            words: std::array::from_fn(|_| next()),
            long: RandomState::new(),
        }
    }

    /// Hashes `name` in the namespace `space`, such as a database number. The lowest 47 bits are not random.
    #[inline]
    pub fn hash(&self, space: u64, name: &[u8]) -> u128 {
        let (low, high) = (space & (u64::MAX >> 16), space >> 48);
        let mut sum = product(self.space[0], low)
            .wrapping_add(product(self.space[1], high))
            .wrapping_add(product(self.len, name.len() as u64));
        if name.len() > WORD * WORDS {
            return sum.wrapping_add(self.hash_long(name));
        }
        let (mut rest, mut keys) = (name, self.words.iter());
        while let Some(bytes) = rest.first_chunk::<8>()
            && let Some(key) = keys.next()
        {
            sum = sum.wrapping_add(product(*key, u64::from_le_bytes(*bytes) & (u64::MAX >> 16)));
            rest = &rest[WORD..];
        }
        // Up to seven bytes are left, which are two words.
        let last = last_bytes(rest);
        for (key, word) in keys.zip([last & (u64::MAX >> 16), last >> 48]) {
            sum = sum.wrapping_add(product(*key, word));
        }
        sum
    }

    #[cold]
    fn hash_long(&self, name: &[u8]) -> u128 {
        u128::from(self.long.hash_one((0_u8, name))) << 64 | u128::from(self.long.hash_one((1_u8, name)))
    }
}

#[inline]
fn product(key: u128, word: u64) -> u128 {
    key.wrapping_mul(u128::from(word))
}

/// Returns up to seven bytes as a number. Which of them overlap depends on their number only.
#[inline]
fn last_bytes(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4))
        }
        _ => match bytes {
            [] => 0,
            [first, ..] => {
                let at = |at: usize| u64::from(bytes[at]) << (8 * at);
                u64::from(*first) | at(len / 2) | at(len - 1)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_that_differ_anywhere_have_different_hashes() {
        let hasher = NameHasher::random();
        let mut seen = HashSet::new();
        let mut count = 0;
        for len in (0..=40).chain([WORD * WORDS - 1, WORD * WORDS, WORD * WORDS + 1, 1000]) {
            let zeros = vec![0; len];
            let changed = (0..len).map(|at| {
                let mut name = zeros.clone();
                name[at] = 1;
                name
            });
            for name in changed.chain([zeros.clone()]) {
                seen.insert(hasher.hash(0, &name) >> 48);
                count += 1;
            }
        }
        for space in [1, 1 << 47, 1 << 48, u64::MAX] {
            seen.insert(hasher.hash(space, b"") >> 48);
            count += 1;
        }
        assert_eq!(seen.len(), count);
    }

    #[test]
    fn every_byte_of_the_last_ones_counts_once() {
        for len in 0..8_usize {
            let bytes: Vec<u8> = (1..=7).take(len).collect();
            let expected = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            assert_eq!(last_bytes(&bytes), expected, "{len}");
        }
    }

    #[test]
    fn functions_differ() {
        assert_ne!(NameHasher::random().hash(0, b"name"), NameHasher::random().hash(0, b"name"));
    }
}
