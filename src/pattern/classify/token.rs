//! Tokens: characters that look random, such as session ids, base64 and ULIDs.
//!
//! A run of letters and digits, with at most one `-`, `_`, `+` or `/` for every eight of them, is a token if it has a
//! digit, no piece that is a hash by itself, does not look like words, and either
//! - has at least [`MIXED_CASE`] letters and digits, with letters of both cases among them, or
//! - has at least [`ONE_CASE`] of them and changes between letters and digits at every seventh on average.
//!
//! It looks like words if at least half of it is in runs of four or more letters of one case (with the capital before a
//! lower-case run) and at least three letters in ten are vowels. Random strings have two in ten, so a few of them are
//! missed: of 22 characters from A-Z, a-z and 0-9 about 3 % (2 % because they happen to have no digit), of 32 below
//! 1 %, of 25 from a-z and 0-9 about 7 %. These stay names, and the tree collapses the level they are on.

use std::ops::Range;

use super::kind::{self, BETWEEN};

const MIXED_CASE: usize = 16;
const ONE_CASE: usize = 20;

/// Minimum length of a token.
pub const MIN_LEN: usize = MIXED_CASE;

/// Minimum length of a word or a number.
const MIN_NAME_LEN: usize = 3;

/// Minimum length of a hash that is one of several pieces: `pc_9e107d9d372bb682`.
const MIN_HASH_LEN: usize = 16;

/// Bytes of a run that are examined, however long it is.
const JUDGED: usize = 512;

/// Returns whether `run`, which consists of letters, digits and `-_+/`, is a token.
pub fn is_token(run: &[u8]) -> bool {
    let run = run.get(..JUDGED).unwrap_or(run);
    let mut all = CharCounts::default();
    let mut marks = 0;
    let mut named = 0;
    for (i, piece) in run.split(|&byte| kind::of(byte) & BETWEEN != 0).enumerate() {
        if piece.len() < run.len() && is_hash(piece) {
            return false;
        }
        let counted = CharCounts::of(piece);
        named += if counted.is_named() && piece.len() < run.len() { counted.length } else { 0 };
        all.length += counted.length;
        all.counts += counted.counts;
        marks = i;
    }
    all.make_token(marks, named)
}

/// Bitmaps of a run of at most 64 characters: bit `i` is that of byte `i`. Characters in neither are punctuation.
#[derive(Debug, Clone, Copy)]
pub struct RunBits {
    /// Decimal digits.
    pub digits: u64,
    /// Lower-case letters.
    pub lower: u64,
    /// Upper-case letters.
    pub upper: u64,
}

impl RunBits {
    /// Returns whether these bitmaps and the others have a character in common.
    #[inline]
    pub fn any_of(self, other: RunBits) -> bool {
        self.digits & other.digits | self.lower & other.lower | self.upper & other.upper != 0
    }

    /// Returns the part of a run in `range`, which is not empty.
    #[inline]
    pub fn part(self, range: &Range<usize>) -> RunBits {
        let of = |bits: u64| bits >> (range.start % 64) & u64::MAX >> ((64 - range.len()) % 64);
        RunBits { digits: of(self.digits), lower: of(self.lower), upper: of(self.upper) }
    }

    /// Like [`is_token`]; `run` are the bytes, with `marks` of punctuation among them.
    #[inline]
    pub fn is_token(self, run: &[u8], marks: u64) -> bool {
        let RunBits { digits, lower, upper } = self;
        let length = (digits | lower | upper).count_ones();
        let both_cases = lower != 0 && upper != 0 && length as usize >= MIXED_CASE;
        let is_changing = || length as usize >= ONE_CASE && self.changes() * 7 >= u64::from(length);
        digits != 0
            && marks.count_ones() * 8 <= length
            && (both_cases || is_changing())
            && (marks == 0 || self.named_length(run, marks).is_some_and(|named| named * 8 <= length as usize))
            && !self.looks_like_words(run)
    }

    /// Returns the number of characters in pieces that are words or numbers; `None` if a piece is a hash.
    fn named_length(self, run: &[u8], marks: u64) -> Option<usize> {
        let (mut named, mut left, mut start) = (0, marks, 0);
        loop {
            let piece = start..(left.trailing_zeros() as usize).min(run.len());
            start = piece.end + 1;
            if piece.len() >= MIN_HASH_LEN && run.get(piece.clone()).is_some_and(is_hash) {
                return None;
            }
            named += if self.is_named(run, &piece) { piece.len() } else { 0 };
            if left == 0 {
                return Some(named);
            }
            left &= left - 1;
        }
    }

    /// Like [`is_named`], for a piece of the run.
    #[inline]
    pub fn is_named(self, run: &[u8], piece: &Range<usize>) -> bool {
        if piece.len() < MIN_NAME_LEN {
            return false;
        }
        let part = self.part(piece);
        if part.digits != 0 {
            return part.lower | part.upper == 0;
        }
        let (runs, length) = (part.runs(), piece.len() as u64);
        let in_threes = runs.letters_in(runs.of_three);
        // Vowels are counted only if the decision depends on them.
        in_threes == length
            || in_threes * 2 > length && vowels(run.get(piece.clone()).unwrap_or_default()) * 10 >= length * 3
    }

    fn looks_like_words(self, run: &[u8]) -> bool {
        let RunBits { digits, lower, upper } = self;
        let runs = self.runs();
        runs.of_four != 0
            && runs.letters_in(runs.of_four) * 2 >= ones(digits | lower | upper)
            && vowels(run) * 10 >= ones(lower | upper) * 3
    }

    /// Finds the runs of letters of one case.
    #[inline]
    fn runs(self) -> LetterRuns {
        let RunBits { lower, upper, .. } = self;
        let letters = lower | upper;
        // A run begins behind another character, at a capital behind a lower-case letter, and at the capital before one.
        let starts = letters & (!(letters << 1) | upper & (lower << 1 | lower >> 1));
        let inner = letters & !starts;
        let of_three = starts & inner >> 1 & inner >> 2;
        LetterRuns { inner, of_three, of_four: of_three & inner >> 3 }
    }

    /// Returns the number of pairs of adjacent characters, one a digit and one a letter.
    #[inline]
    fn changes(self) -> u64 {
        let letters = self.lower | self.upper;
        ones(self.digits & letters << 1 | letters & self.digits << 1)
    }
}

/// Runs of letters of one case, with the capital before a lower-case one.
#[derive(Clone, Copy)]
struct LetterRuns {
    /// Letters that do not begin a run.
    inner: u64,
    /// Beginnings of runs of at least three letters.
    of_three: u64,
    of_four: u64,
}

impl LetterRuns {
    /// Returns the number of letters in some of the runs, given their beginnings.
    #[inline]
    fn letters_in(self, runs: u64) -> u64 {
        // The carry of the sum clears the inner letters of exactly these runs.
        ones(runs | self.inner & !self.inner.wrapping_add(runs << 1))
    }
}

#[inline]
fn ones(bits: u64) -> u64 {
    u64::from(bits.count_ones())
}

fn vowels(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(CODES[usize::from(byte)] & A_VOWEL)).sum()
}

/// Returns whether a piece beside others is a hash: hexadecimal digits, with letters of one case. A random token has such a piece once in
/// millions.
fn is_hash(piece: &[u8]) -> bool {
    let is_of = |letters: &std::ops::RangeInclusive<u8>| {
        piece.iter().all(|byte| byte.is_ascii_digit() || letters.contains(byte))
            && piece.iter().any(|byte| letters.contains(byte))
    };
    piece.len() >= MIN_HASH_LEN
        && piece.iter().any(u8::is_ascii_digit)
        && (is_of(&(b'a'..=b'f')) || is_of(&(b'A'..=b'F')))
}

/// Returns whether `piece`, beside a token, is a name or a number of its own.
///
/// A name is a word such as `sess` or `userId`: no digits, all in runs of three or more letters, or mostly so with three
/// tenths vowels. A number has three or more digits.
pub fn is_named(piece: &[u8]) -> bool {
    CharCounts::of(piece.get(..JUDGED).unwrap_or(piece)).is_named()
}

/// Counts over letters and digits. Computed by an automaton, since random characters would cause branch mispredictions.
#[derive(Default, PartialEq, Eq, Debug)]
struct CharCounts {
    length: usize,
    /// Packed counters. INVARIANT: the sum of the counts below, each times its unit, and none above [`JUDGED`].
    counts: u64,
}

/// Returns the unit of a counter: each has ten bits of [`CharCounts::counts`].
const fn unit(of: u32) -> u64 {
    const { assert!(JUDGED < 1 << 10) };
    1 << (10 * of)
}
const DIGITS: u64 = unit(0);
const LOWER: u64 = unit(1);
const VOWELS: u64 = unit(2);
/// Pairs of adjacent characters, one a digit and one a letter.
const CHANGES: u64 = unit(3);
/// Letters in runs of at least three.
const IN_THREES: u64 = unit(4);
/// Letters in runs of at least four.
const IN_FOURS: u64 = unit(5);

impl CharCounts {
    fn of(piece: &[u8]) -> Self {
        let mut counts = 0u64;
        let mut state = START;
        for &byte in piece {
            let (next, add) = STEPS[state][usize::from(CODES[usize::from(byte)])];
            counts = counts.wrapping_add(add); // wrapping: only subtracts what an earlier step has added
            state = usize::from(next);
        }
        CharCounts { length: piece.len(), counts }
    }

    fn count(&self, unit: u64) -> usize {
        (self.counts / unit % 1024) as usize // below 1024: fits
    }

    fn digits(&self) -> usize {
        self.count(DIGITS)
    }

    fn lower(&self) -> usize {
        self.count(LOWER)
    }

    fn changes(&self) -> usize {
        self.count(CHANGES)
    }

    /// Returns whether a run is a token, given its counts.
    ///
    /// `marks` is the number of its marks, `named` that of its characters in pieces that are words or numbers.
    #[inline]
    fn make_token(&self, marks: usize, named: usize) -> bool {
        let both_cases = self.lower() > 0 && self.lower() + self.digits() < self.length;
        let changing = self.length >= ONE_CASE && self.changes() * 7 >= self.length;
        self.digits() > 0
            && marks * 8 <= self.length
            && named * 8 <= self.length
            && !self.looks_like_words()
            && (both_cases && self.length >= MIXED_CASE || changing)
    }

    fn is_named(&self) -> bool {
        let in_threes = self.count(IN_THREES);
        match self.digits() {
            0 if in_threes == self.length => in_threes > 0,
            0 => in_threes * 2 > self.length && self.count(VOWELS) * 10 >= self.length * 3,
            digits => digits == self.length && digits >= MIN_NAME_LEN,
        }
    }

    fn looks_like_words(&self) -> bool {
        let letters = self.length - self.digits();
        self.count(IN_FOURS) * 2 >= self.length && self.count(VOWELS) * 10 >= letters * 3
    }
}

// States: start, after a digit, in a run of n lower-case letters, in a run of n capitals. Longer runs share the last
// state.
const START: usize = 0;
const DIGIT: usize = 1;
const LOWER_RUN: usize = 1; // and one to four more
const MAX_LOWER_RUN: usize = 4;
const UPPER_RUN: usize = 5; // and one to five more: when the last of five becomes the next word's, four are left
const MAX_UPPER_RUN: usize = 5;
const STATES: usize = 16; // eleven, rounded up to a power of two that needs no bounds check

// Codes: a digit, or a letter by case and vowel. Bytes beyond ASCII count as lower-case consonants.
const A_DIGIT: u8 = 0;
const A_LOWER: u8 = 2;
const AN_UPPER: u8 = 4;
const A_VOWEL: u8 = 1;

static CODES: [u8; 256] = {
    let mut codes = [A_LOWER; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        let vowel = if matches!(byte | 0x20, b'a' | b'e' | b'i' | b'o' | b'u') { A_VOWEL } else { 0 };
        codes[byte as usize] = match byte {
            b'0'..=b'9' => A_DIGIT,
            b'A'..=b'Z' => AN_UPPER | vowel,
            _ => A_LOWER | vowel,
        };
        byte += 1;
    }
    codes
};

/// Transitions by state and code: the next state, and the addend for the counts (wrapping, since some steps subtract).
static STEPS: [[(u8, u64); 8]; STATES] = {
    let mut steps = [[(0, 0); 8]; STATES];
    let mut state = 0;
    while state <= UPPER_RUN + MAX_UPPER_RUN {
        let mut code = 0;
        while code < 8 {
            steps[state][code as usize] = step(state, code);
            code += 1;
        }
        state += 1;
    }
    steps
};

#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 256 states")]
const fn step(state: usize, code: u8) -> (u8, u64) {
    let vowel = if code & A_VOWEL != 0 { VOWELS } else { 0 };
    if code & (A_LOWER | AN_UPPER) == 0 {
        let change = if state > DIGIT { CHANGES } else { 0 };
        return (DIGIT as u8, DIGITS + change);
    }
    let change = if state == DIGIT { CHANGES } else { 0 };
    let uppers = state.saturating_sub(UPPER_RUN);
    let lowers = if uppers == 0 { state.saturating_sub(LOWER_RUN) } else { 0 };
    if code & A_LOWER == 0 {
        let run = if uppers < MAX_UPPER_RUN { uppers + 1 } else { MAX_UPPER_RUN };
        return ((UPPER_RUN + run) as u8, vowel + change + longer(uppers));
    }
    let (before, taken) = match uppers {
        0 => (lowers, 0),
        _ => (1, longer(uppers - 1)), // the capital belongs to this word, not to the run before
    };
    let run = if before < MAX_LOWER_RUN { before + 1 } else { MAX_LOWER_RUN };
    ((LOWER_RUN + run) as u8, (LOWER + vowel + change + longer(before)).wrapping_sub(taken))
}

/// Returns the addend when a run of `length` letters grows by one.
const fn longer(length: usize) -> u64 {
    match length {
        0 | 1 => 0,
        2 => 3 * IN_THREES,
        3 => IN_THREES + 4 * IN_FOURS,
        _ => IN_THREES + IN_FOURS,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the lengths of the runs of letters in `piece`, found with a regex.
    fn runs(piece: &str) -> Vec<usize> {
        let words = regex::Regex::new("[A-Z]?[a-z]+|[A-Z]+").unwrap();
        let mut runs = Vec::new();
        let mut at = 0;
        while let Some(found) = words.find_at(piece, at) {
            let capitals = found.as_str().bytes().all(|byte| byte.is_ascii_uppercase());
            let word_follows = piece[found.end()..].starts_with(|next: char| next.is_ascii_lowercase());
            at = if capitals && word_follows { found.end() - 1 } else { found.end() };
            runs.push(at - found.start());
        }
        runs
    }

    proptest! {
        #[test]
        fn the_automaton_counts_like_a_regex(piece in "([A-Z]{0,7}|[a-z]{0,6}|[0-9]{0,3}){0,12}") {
            let counted = CharCounts::of(piece.as_bytes());
            let bytes = piece.as_bytes();
            let count = |of: fn(&u8) -> bool| bytes.iter().filter(|&byte| of(byte)).count();
            prop_assert_eq!(counted.length, bytes.len());
            prop_assert_eq!(counted.digits(), count(u8::is_ascii_digit));
            prop_assert_eq!(counted.lower(), count(u8::is_ascii_lowercase));
            prop_assert_eq!(counted.count(VOWELS), count(|byte| b"aeiouAEIOU".contains(byte)));
            let changes = bytes.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
            prop_assert_eq!(counted.changes(), changes);
            let in_runs = |least: usize| runs(&piece).into_iter().filter(|&run| run >= least).sum::<usize>();
            prop_assert_eq!(counted.count(IN_THREES), in_runs(3));
            prop_assert_eq!(counted.count(IN_FOURS), in_runs(4));
        }
    }

    proptest! {
        #[test]
        fn bitmaps_decide_like_the_automaton(
            run in prop_oneof!["([A-Z]{0,7}|[a-z]{0,6}|[0-9]{0,3}|[-_+/]?){0,12}", "[A-Za-z0-9+/]{16,40}", "[a-z0-9]{16,40}"],
        ) {
            let run = &run.as_bytes()[..run.len().min(64)];
            let of = |is: fn(&u8) -> bool| (0..run.len()).filter(|&at| is(&run[at])).fold(0, |bits, at| bits | 1 << at);
            let (digits, lower, upper) =
                (of(u8::is_ascii_digit), of(u8::is_ascii_lowercase), of(u8::is_ascii_uppercase));
            let bits = RunBits { digits, lower, upper };
            let marks = of(|byte| !byte.is_ascii_alphanumeric());
            prop_assert_eq!(bits.is_token(run, marks), is_token(run));
            if marks == 0 {
                prop_assert_eq!(bits.is_named(run, &(0..run.len())), is_named(run));
            }
        }
    }

    #[test]
    fn long_runs_are_judged_by_their_beginning() {
        assert!(is_token("aB3".repeat(100_000).as_bytes()));
        assert!(!is_token("x1".repeat(JUDGED).replace('1', "y").as_bytes()));
        assert!(is_named("x".repeat(100_000).as_bytes()) && is_named("X".repeat(100_000).as_bytes()));
    }

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
            "pc_9e107d9d372bb6826bd81d3542a419d6",
            "9e107d9d372bb682-6bd81d3542a419d6",
            "v2-9E107D9D372BB6826BD81D35",
        ] {
            assert!(!is_token(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn words_hang_together_and_numbers_have_three_digits() {
        assert!(["sess", "userId", "Token", "API", "jwt", "123"].iter().all(|piece| is_named(piece.as_bytes())));
        assert!(["", "u", "sk", "aXk", "v2", "abc1", "12"].iter().all(|piece| !is_named(piece.as_bytes())));
    }
}
