//! Pseudo-random function of a number.

use std::hash::{BuildHasher, RandomState};

/// SipHash-1-3 of eight bytes with a random key.
///
/// It is the function of the standard library's hasher, whose buffering for inputs of any length takes more instructions than
/// the function itself.
#[derive(Debug)]
pub struct Mixer {
    start: [u64; 4],
}

/// Length of the input in the last word.
const LENGTH: u64 = 8 << 56;

impl Mixer {
    /// Chooses a key.
    pub fn random() -> Mixer {
        let random = RandomState::new();
        Mixer::with_key([random.hash_one(0_u8), random.hash_one(1_u8)])
    }

    fn with_key([first, second]: [u64; 2]) -> Mixer {
        Mixer {
            start: [
                first ^ 0x736f_6d65_7073_6575,
                second ^ 0x646f_7261_6e64_6f6d,
                first ^ 0x6c79_6765_6e65_7261,
                second ^ 0x7465_6462_7974_6573,
            ],
        }
    }

    /// Returns the function's value.
    #[inline]
    pub fn mixed(&self, number: u64) -> u64 {
        let mut state = self.start;
        for word in [number, LENGTH] {
            state[3] ^= word;
            round(&mut state);
            state[0] ^= word;
        }
        state[2] ^= 0xff;
        (0..3).for_each(|_| round(&mut state));
        state[0] ^ state[1] ^ state[2] ^ state[3]
    }
}

#[inline(always)]
fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher};

    use super::*;

    #[test]
    fn it_is_the_function_of_the_standard_library() {
        let mixer = Mixer::with_key([0, 0]);
        for number in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
            let mut hasher = DefaultHasher::new();
            hasher.write_u64(number);
            assert_eq!(mixer.mixed(number), hasher.finish());
        }
        assert_ne!(Mixer::random().mixed(1), Mixer::random().mixed(1));
    }
}
