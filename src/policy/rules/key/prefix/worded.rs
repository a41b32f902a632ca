//! Names of words, abbreviations and numbers, which patterns may show as tokens: `Gb28181SipServer`, `mp4tom3u8transcode01`.
//!
//! To fold ids, a guess is good enough; to prove that a name has no business, it is not. Random characters are told from names
//! by three facts: one number of four digits, such as a year or a standard; words in which most letters are; and, with letters of both
//! cases, words and abbreviations alone. Of random strings of 21 characters from A-Z, a-z and 0-9, one in five has one of them by
//! chance and passes for a name, of those in lower case one in two: a pattern of session ids has many keys that have none.

/// Minimum length of a number that random characters rarely have.
const NUMBER: usize = 4;

/// Minimum length of a word, and of one that counts more.
const SHORT: usize = 3;
const LONG: usize = 4;

/// Most letters of a word without a vowel between them, and most vowels in a row.
const MAX_CONSONANTS: usize = 4;
const MAX_VOWELS: usize = 3;

/// Returns whether a segment of letters, digits and marks may be a name rather than random.
pub fn may_be_words(segment: &[u8]) -> bool {
    let has_number = runs(segment, u8::is_ascii_digit).any(|digits| digits.len() >= NUMBER);
    let length = segment.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let (mut short, mut long, mut single) = (0, 0, false);
    for word in runs(segment, u8::is_ascii_alphabetic).flat_map(words) {
        let reads = reads_as_word(word);
        short += if reads && word.len() >= SHORT { word.len() } else { 0 };
        long += if reads && word.len() >= LONG { word.len() } else { 0 };
        single |= word.len() == 1;
    }
    let has_both = segment.iter().any(u8::is_ascii_lowercase) && segment.iter().any(u8::is_ascii_uppercase);
    has_number || short * 5 >= length * 2 || long * 4 >= length || has_both && !single
}

/// Returns the runs of bytes of a kind.
fn runs(segment: &[u8], is: fn(&u8) -> bool) -> impl Iterator<Item = &[u8]> {
    segment.split(move |byte| !is(byte)).filter(|run| !run.is_empty())
}

/// Divides a run of letters at the capitals that begin a word: `DBServer` is `DB` and `Server`.
fn words(letters: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut left = letters;
    std::iter::from_fn(move || {
        let begins = |at: usize| {
            let is = |at: usize, case: fn(&u8) -> bool| left.get(at).is_some_and(case);
            is(at, u8::is_ascii_uppercase) && (is(at - 1, u8::is_ascii_lowercase) || is(at + 1, u8::is_ascii_lowercase))
        };
        let end = (1..left.len()).find(|&at| begins(at)).unwrap_or(left.len());
        let (word, rest) = left.split_at(end);
        left = rest;
        (!word.is_empty()).then_some(word)
    })
}

/// Returns whether letters can be pronounced as in English or pinyin.
fn reads_as_word(word: &[u8]) -> bool {
    let is_vowel = |letter: &u8| b"aeiouy".contains(&letter.to_ascii_lowercase());
    let vowels = word.iter().filter(|letter| is_vowel(letter)).count();
    let fits = |alike: &[u8]| {
        let most = if alike.first().is_some_and(is_vowel) { MAX_VOWELS } else { MAX_CONSONANTS };
        alike.len() <= most
    };
    vowels > 0 && vowels * 5 >= word.len() && word.chunk_by(|one, other| is_vowel(one) == is_vowel(other)).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_words_and_numbers_are_not_random() {
        for name in [
            "Gb28181SipServer",
            "Sha256Rsa2048Sign",
            "H264ToH265Transcode",
            "Usdt2TrC20Wallet",
            "h5Activity20241111",
            "s11worldcup2024guess",
            "mp4tom3u8transcode01",
            "Web3Erc721NftMint",
            "Sm2Sm3Sm4Crypto01",
            "Llama3Chat70BInstruct",
            "Zhifu2Dingdan3Kucun01",
            "iec61850mms2mqtt01gw",
            "Udp2Tcp3Tls4Ssl5Http6",
            "Cpu2Gpu4Node08Pool",
            "B2C2BMallOrderV3",
            "kafka2es7sync03job9x",
        ] {
            assert!(may_be_words(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn random_strings_are_no_words() {
        for id in [
            "V1StGXR8_Z5jdHi6B-myT",
            "kD83jd-92kdLKS_d03kdLa",
            "aB3dE5fG7hJ9kL1m",
            "7k3m9x2v8q4w6z1p5r0t",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
            "U29tZSByYW5kb20gYnl0ZXM5",
        ] {
            assert!(!may_be_words(id.as_bytes()), "{id}");
        }
    }

    #[test]
    fn capitals_divide_words() {
        let divided = |letters: &'static str| -> Vec<&[u8]> { words(letters.as_bytes()).collect() };
        assert_eq!(divided("DBServerAB"), [&b"DB"[..], b"Server", b"AB"]);
        assert_eq!((divided("userId"), divided("x")), (vec![&b"user"[..], b"Id"], vec![&b"x"[..]]));
        assert!(divided("").is_empty());
    }
}
