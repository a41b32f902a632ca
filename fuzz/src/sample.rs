//! Choice of what is checked of an input.

use std::hash::{DefaultHasher, Hash, Hasher};

/// What is checked of an input, where there is much to choose from.
#[derive(Debug, Clone, Copy)]
pub enum Sample {
    /// Everything: for tests.
    All,
    /// One of each choice, which depends on the input alone, so that a finding can be repeated: for fuzzing.
    One(u64),
}

impl Sample {
    /// Returns the sample of an input.
    pub fn one(input: &[u8]) -> Sample {
        let mut hash = DefaultHasher::new();
        input.hash(&mut hash);
        Sample::One(hash.finish())
    }

    /// Returns all of these, or one of them. What is chosen next does not depend on it.
    pub fn of<T>(&mut self, mut all: Vec<T>) -> Vec<T> {
        if let (Sample::One(rest), count @ 1..) = (self, all.len() as u64) {
            let at = usize::try_from(*rest % count).expect("it is a position");
            *rest /= count;
            return vec![all.swap_remove(at)];
        }
        all
    }
}
