//! Characters that look random: session ids, base64, ULIDs.
//!
//! A run of letters and digits, with at most one `-`, `_`, `+` or `/` for every eight of them, is a token when it has a digit, does not look like words, and either
//! - has at least [`MIXED_CASE`] letters and digits, with letters of both cases among them, or
//! - has at least [`ONE_CASE`] of them and changes between letters and digits at every seventh on average.
//!
//! It looks like words when at least half of it stands in runs of four or more letters of one case (with the capital
//! before a lower-case run) and at least three letters in ten are vowels. Of random strings, which have two in ten,
//! some are lost: of 22 characters from A-Z, a-z and 0-9 about 3 % (2 % because they happen to have no digit), of 32
//! below 1 %, of 25 from a-z and 0-9 about 6 %. They stay names, and the tree collapses the level they are in.

use super::kind::{self, DIGIT, LOWER, UPPER};

const MIXED_CASE: usize = 16;
const ONE_CASE: usize = 20;

/// The least bytes of any token.
pub const SHORTEST: usize = MIXED_CASE;

/// Whether all of `run` is a token; it consists of letters, digits and `-_+/`.
pub fn is_token(run: &[u8]) -> bool {
    let mut all = Shape::default();
    let mut marks = 0;
    for (i, piece) in run.split(|&byte| kind::of(byte) & kind::BETWEEN != 0).enumerate() {
        let shape = Shape::of(piece);
        all.add(&shape);
        marks = i;
        // A number or a word between marks was put there by somebody.
        let whole = piece.len() == run.len();
        if !whole && (shape.is_word() || (shape.digits == shape.length && shape.length >= 3)) {
            return false;
        }
    }
    let both_cases = all.lower > 0 && all.upper > 0;
    all.digits > 0
        && marks * 8 <= all.length
        && !all.looks_like_words()
        && (both_cases && all.length >= MIXED_CASE || all.length >= ONE_CASE && all.changes * 7 >= all.length)
}

/// Whether `piece`, of letters and digits, is a word such as `sess` or `userToken`: without digits, and most of it in
/// runs of three or more letters.
pub fn is_word(piece: &[u8]) -> bool {
    Shape::of(piece).is_word()
}

/// Counts over letters and digits.
#[derive(Default)]
struct Shape {
    length: usize,
    digits: usize,
    lower: usize,
    upper: usize,
    vowels: usize,
    /// Neighbours of which one is a digit and one a letter.
    changes: usize,
    /// Letters in runs of at least three.
    in_threes: usize,
    /// Letters in runs of at least four.
    in_fours: usize,
}

impl Shape {
    fn of(piece: &[u8]) -> Self {
        let mut shape = Shape { length: piece.len(), ..Shape::default() };
        let mut before = 0;
        let mut run = 0;
        for &byte in piece {
            let kind = kind::of(byte);
            shape.digits += usize::from(kind == DIGIT);
            shape.lower += usize::from(kind == LOWER);
            shape.upper += usize::from(kind == UPPER);
            shape.vowels += usize::from(matches!(byte | 0x20, b'a' | b'e' | b'i' | b'o' | b'u'));
            shape.changes += usize::from(before != 0 && (kind == DIGIT) != (before == DIGIT));
            run = match (before, kind) {
                (_, DIGIT) => shape.end_run(run, 0),
                (UPPER, LOWER) => shape.end_run(run - 1, 2), // the capital is the word's
                _ if kind == before => run + 1,
                _ => shape.end_run(run, 1),
            };
            before = kind;
        }
        shape.end_run(run, 0);
        shape
    }

    /// Counts a run of letters that ended, and returns the length of the next one.
    fn end_run(&mut self, run: usize, next: usize) -> usize {
        self.in_threes += if run >= 3 { run } else { 0 };
        self.in_fours += if run >= 4 { run } else { 0 };
        next
    }

    fn add(&mut self, other: &Shape) {
        self.length += other.length;
        self.digits += other.digits;
        self.lower += other.lower;
        self.upper += other.upper;
        self.vowels += other.vowels;
        self.changes += other.changes;
        self.in_threes += other.in_threes;
        self.in_fours += other.in_fours;
    }

    fn is_word(&self) -> bool {
        self.digits == 0 && self.in_threes * 2 > self.length
    }

    fn looks_like_words(&self) -> bool {
        self.in_fours * 2 >= self.length && self.vowels * 10 >= (self.lower + self.upper) * 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_strings_are_tokens() {
        for yes in [
            "aB3dE5fG7hJ9kL1m",
            "V1StGXR8_Z5jdHi6B-myT",
            "kD83jd-92kdLKS_d03kdLa",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
            "7k3m9x2v8q4w6z1p5r0t",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
            "U29tZSByYW5kb20gYnl0ZXM5/3+a0Q",
        ] {
            assert!(is_token(yes.as_bytes()), "{yes}");
        }
    }

    #[test]
    fn names_and_numbers_are_not() {
        for no in [
            "",
            "UserProfileV2Cache",
            "getUserByIdV2Cache",
            "iOSAppVersion12Config",
            "ABTestGroup12Exp3",
            "h5ActivityLottery2024Rank",
            "product2detail3page4",
            "week52report2025final3x",
            "aBcDeFgHiJkLmNoPqRsT",
            "12345678901234567890",
            "item_12345_v2_USA_2024x",
            "12345_AbCdEfGh1234567",
            "AbCdEfGh1234567_profile",
            "aB3dE5fG7hJ9kL1",
        ] {
            assert!(!is_token(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn words_have_no_digits_and_hang_together() {
        assert!(["sess", "userId", "Token", "API", "jwt"].iter().all(|word| is_word(word.as_bytes())));
        assert!(["", "u", "sk", "aXk", "v2", "abc1"].iter().all(|word| !is_word(word.as_bytes())));
    }
}
