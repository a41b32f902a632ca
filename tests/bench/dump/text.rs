//! Material for names and values.

use super::random::Random;

/// Length of the incompressible text; values begin anywhere in it.
const NOISE: usize = 4 << 20;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const WORDS: [&str; 24] = [
    "order",
    "customer",
    "status",
    "pending",
    "invoice",
    "address",
    "shipping",
    "created",
    "updated",
    "price",
    "amount",
    "currency",
    "product",
    "category",
    "quantity",
    "discount",
    "warehouse",
    "payment",
    "session",
    "language",
    "country",
    "device",
    "browser",
    "referrer",
];
const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
const VOWELS: &[u8; 4] = b"aeio";

/// Incompressible text, like tokens and images.
#[derive(Debug)]
pub struct Noise(Vec<u8>);

impl Noise {
    /// Creates at least `largest` bytes of text.
    pub fn new(random: &mut Random, largest: usize) -> Noise {
        let mut text = Vec::with_capacity(NOISE + largest);
        while text.len() < NOISE.min(largest * 64) + largest {
            let mut bits = random.next();
            for _ in 0..10 {
                text.push(ALPHABET[(bits & 63) as usize]);
                bits >>= 6;
            }
        }
        Noise(text)
    }

    /// Returns `len` bytes of it from a random offset.
    #[inline]
    pub fn piece(&self, random: &mut Random, len: usize) -> &[u8] {
        let start = random.below((self.0.len() - len) as u64) as usize;
        &self.0[start..start + len]
    }
}

/// Returns a random business term.
pub fn word(random: &mut Random) -> &'static str {
    WORDS[random.below(WORDS.len() as u64) as usize]
}

/// Creates a JSON document of about `len` bytes, which compresses well.
pub fn document(random: &mut Random, len: usize) -> String {
    let mut text = String::from("{");
    while text.len() < len {
        let (name, id, value) = (word(random), random.below(100_000), word(random));
        text += &match random.below(3) {
            0 => format!("\"{name}\":{id},"),
            1 => format!("\"{name}\":\"{value}\","),
            _ => format!("\"{name}_{value}\":{{\"id\":\"{name}-{id}\",\"value\":\"{value}\"}},"),
        };
    }
    text.pop();
    text.push('}');
    text
}

/// Appends a number spelled as a word of four letters per 4096, such as `kaze` or `kazemolo`. Numbers below 4096, and
/// those below 4096², have distinct words.
pub fn spell(out: &mut Vec<u8>, mut number: u64) {
    loop {
        for _ in 0..2 {
            out.push(CONSONANTS[(number & 15) as usize]);
            out.push(VOWELS[(number >> 4 & 3) as usize]);
            number >>= 6;
        }
        if number == 0 {
            return;
        }
    }
}

/// Appends decimal digits.
pub fn digits(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Replaces a name by `prefix`, a number and `suffix`.
#[inline]
pub fn name(out: &mut Vec<u8>, prefix: &str, number: u64, suffix: &str) {
    out.clear();
    out.extend_from_slice(prefix.as_bytes());
    digits(out, number);
    out.extend_from_slice(suffix.as_bytes());
}
