//! Masking of key names, for reports that leave the machine: ids are replaced by tokens, names that form the pattern
//! stay.
//!
//! `user:1001:name` becomes `user:{int}~k3j5h2g7q9ab:name`: the class of the id, and a token that is equal wherever the
//! same id occurs, so that rows can still be joined. Tokens are a keyed hash (HMAC-SHA-256, 60 bits): without the key,
//! an id cannot be recovered by trying all numbers. The key comes from a file or from the snapshot itself (see
//! [`Secret::of_snapshot`]).

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::pattern::classify::{Classifier, MAX_SEGMENTS};
use crate::pattern::kept_name::{self, MAX_EXAMPLE_LEN, WholeName};
use crate::pattern::segment::Separators;
use crate::pattern::{PartKind, PatternBuf};

/// Separator between a class and its token.
const MARK: u8 = b'~';
/// Number of characters of a token, five bits each.
const TOKEN: usize = 12;
/// Block size of SHA-256.
const BLOCK: usize = 64;

/// Key of the hash.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl std::fmt::Debug for Secret {
    /// Hides the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Derives a key from the user's key file of any length, so that reports of several snapshots use the same tokens.
    pub fn from_bytes(bytes: &[u8]) -> Secret {
        Secret::derive("rdblens 2026 key file for masking names", bytes)
    }

    /// Derives a key from checksums over the snapshot's bytes, which no report shows, so only holders of the snapshot
    /// know it. The same snapshot gives the same tokens.
    pub fn of_snapshot(checksums: impl IntoIterator<Item = u64>) -> Secret {
        let bytes: Vec<u8> = checksums.into_iter().flat_map(u64::to_le_bytes).collect();
        Secret::derive("rdblens 2026 snapshot checksums for masking names", &bytes)
    }

    /// Derives a key from bytes of any length; different contexts give independent keys.
    fn derive(context: &str, bytes: &[u8]) -> Secret {
        Secret(Secret(Sha256::digest(context).into()).hash(bytes))
    }

    fn hash(&self, message: &[u8]) -> [u8; 32] {
        // HMAC pads a short key with zeros to the block size. Doing so here avoids an error that cannot occur.
        let mut block = [0; BLOCK];
        block[..self.0.len()].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(message);
        mac.finalize().into_bytes().into()
    }
}

/// Set of names that reports show.
pub trait ShownNames: std::fmt::Debug + Sync {
    /// Appends for each part of a pattern whether reports show its name; missing parts are not shown.
    fn shown(&self, pattern: &PatternBuf, shown: &mut Vec<bool>);
}

/// Masks key names.
#[derive(Debug)]
pub struct Masker<'a> {
    secret: Secret,
    classifier: &'a Classifier,
    separators: &'a Separators,
    names: &'a dyn ShownNames,
}

/// Buffers reused from name to name.
#[derive(Debug, Default)]
pub struct Scratch {
    pattern: PatternBuf,
    shown: Vec<bool>,
}

/// A masked name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedName {
    /// Name with tokens.
    pub key: Vec<u8>,
    /// Pattern as reports show it.
    pub pattern: String,
}

impl<'a> Masker<'a> {
    /// Creates a masker that replaces all segments except those that `names` shows.
    pub fn new(
        secret: Secret,
        classifier: &'a Classifier,
        separators: &'a Separators,
        names: &'a dyn ShownNames,
    ) -> Self {
        Masker { secret, classifier, separators, names }
    }

    /// Masks a key name.
    pub fn mask(&self, key: &[u8], scratch: &mut Scratch) -> MaskedName {
        let masked = self.mask_segments(key, scratch);
        if key.len() <= MAX_EXAMPLE_LEN {
            return masked;
        }
        MaskedName { key: self.mask_long(key, WholeName::of(key), scratch), ..masked }
    }

    /// Masks a name of more than [`MAX_EXAMPLE_LEN`] bytes, of which at least as many are there. What follows the last segment
    /// that ends within them is one token, so that lists that keep more or less of the name show the same.
    pub fn mask_long(&self, key: &[u8], whole: WholeName, scratch: &mut Scratch) -> Vec<u8> {
        let key = kept_name::beginning(key, MAX_EXAMPLE_LEN);
        let mut masked = match key.iter().rposition(|&byte| self.separators.contains(byte)) {
            None => Vec::new(),
            Some(end) => [&self.mask_segments(&key[..end], scratch).key, &key[end..=end]].concat(),
        };
        masked.extend_from_slice(b"{*}");
        masked.push(MARK);
        let id = [&[0xff; 8][..], &whole.bytes.to_be_bytes(), &whole.checksum.to_be_bytes()].concat();
        masked.extend_from_slice(self.token(&id).as_bytes());
        masked
    }

    /// Masks each segment by itself.
    fn mask_segments(&self, key: &[u8], scratch: &mut Scratch) -> MaskedName {
        let Scratch { pattern, shown } = scratch;
        self.classifier.classify(key, pattern);
        shown.clear();
        self.names.shown(pattern, shown);
        let mut masked = MaskedName { key: Vec::with_capacity(key.len() + TOKEN), pattern: String::new() };
        let segments = key.splitn(MAX_SEGMENTS, |&byte| self.separators.contains(byte));
        let mut at = 0usize;
        for (place, segment) in segments.enumerate() {
            if let Some(&separator) = at.checked_sub(1).and_then(|before| key.get(before)) {
                masked.key.push(separator);
                masked.pattern.push(char::from(separator));
            }
            at += segment.len() + 1;
            let part = pattern.parts.get(place).copied();
            let name = part.map_or("{*}", |part| pattern.name(part));
            let is_shown = shown.get(place).copied().unwrap_or_default();
            let is_plain = part.is_some_and(|part| part.kind == PartKind::Literal) && !has_holes(name);
            let name = if is_shown || part.is_some_and(|part| part.kind == PartKind::Class) { name } else { "{*}" };
            masked.pattern.push_str(name);
            if is_shown && is_plain {
                masked.key.extend_from_slice(segment);
            } else {
                masked.key.extend_from_slice(name.as_bytes());
                masked.key.push(MARK);
                masked.key.extend_from_slice(self.token(segment).as_bytes());
            }
        }
        masked
    }

    /// Returns the token of an id, without the braces of a hash tag.
    fn token(&self, segment: &[u8]) -> String {
        let id = segment.strip_prefix(b"{").unwrap_or(segment);
        let id = id.strip_suffix(b"}").unwrap_or(id);
        let hash = self.secret.hash(id);
        // 12 characters of 5 bits need 60 bits of the hash.
        let mut token = data_encoding::BASE32_NOPAD.encode(&hash[..8]);
        token.truncate(TOKEN);
        token.make_ascii_lowercase();
        token
    }
}

/// Returns whether a name contains a class, as in `user_{int}`. A brace of the key itself is doubled in patterns.
fn has_holes(name: &str) -> bool {
    name.replace("{{", "").contains('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the listed names.
    #[derive(Debug)]
    struct Listed(&'static [&'static str]);

    impl ShownNames for Listed {
        fn shown(&self, pattern: &PatternBuf, shown: &mut Vec<bool>) {
            let known = |part| self.0.contains(&pattern.name(part));
            shown.extend(pattern.parts.iter().map(|part| part.kind == PartKind::Literal && known(*part)));
        }
    }

    fn mask(key: &[u8], secret: &[u8]) -> MaskedName {
        let (classifier, separators) = (Classifier::default(), Separators::default());
        let listed = Listed(&["user", "name", "cart", "job_{int}", ""]);
        Masker::new(Secret::from_bytes(secret), &classifier, &separators, &listed).mask(key, &mut Scratch::default())
    }

    fn text(key: &str) -> String {
        String::from_utf8(mask(key.as_bytes(), b"secret").key).unwrap()
    }

    #[test]
    fn ids_become_tokens_and_names_stay() {
        let masked = text("user:1001:name");
        assert!(masked.starts_with("user:{int}~") && masked.ends_with(":name") && masked.len() == 28, "{masked}");
        assert!(!text("user:ann:name").contains("ann"));
        assert!(text("user:ann:name").starts_with("user:{*}~"));
        assert!(text("job_12345:cart").starts_with("job_{int}~"));
        assert_eq!(text("user:"), "user:");
        assert_eq!(mask(b"user:ann:name", b"x").pattern, "user:{*}:name");
        assert!(mask(b"user:\xff\xfe", b"x").key.starts_with(b"user:{bin}~"));
    }

    #[test]
    fn a_long_name_is_masked_as_a_whole_however_much_of_it_is_kept() {
        let (classifier, separators) = (Classifier::default(), Separators::default());
        let listed = Listed(&["user"]);
        let masker = Masker::new(Secret::from_bytes(b"secret"), &classifier, &separators, &listed);
        let name = |end: &str| format!("user:7:{}{end}", "x".repeat(2_000)).into_bytes();
        let kept =
            |name: &[u8], bytes: usize| masker.mask_long(&name[..bytes], WholeName::of(name), &mut Scratch::default());
        let (one, other) = (name(":1"), name(":2"));
        let masked = masker.mask(&one, &mut Scratch::default()).key;
        let text = String::from_utf8(masked.clone()).unwrap();
        assert!(text.starts_with("user:{int}~") && text.contains(":{*}~") && text.len() < 50, "{text}");
        assert_eq!((kept(&one, 1_024), kept(&one, 1_500)), (masked.clone(), masked.clone()));
        assert_ne!(masked, masker.mask(&other, &mut Scratch::default()).key);
    }

    #[test]
    fn the_same_id_has_the_same_token_everywhere_and_another_under_another_secret() {
        let token = |key: &[u8], secret: &[u8]| {
            let masked = String::from_utf8(mask(key, secret).key).unwrap();
            masked.split('~').nth(1).unwrap()[..TOKEN].to_owned()
        };
        assert_eq!(token(b"user:1001:name", b"a"), token(b"{1001}:cart", b"a"));
        assert_ne!(token(b"user:1001:name", b"a"), token(b"user:1001:name", b"b"));
        assert_ne!(token(b"user:1001:name", b"a"), token(b"user:1002:name", b"a"));
    }

    #[test]
    fn everything_after_the_deepest_segment_is_one_token() {
        let deep: String = (0..40).map(|_| "user:").collect();
        let masked = text(&(deep + "4711"));
        assert!(masked.contains("{deeper}~") && !masked.contains("4711"), "{masked}");
    }

    proptest::proptest! {
        #[test]
        fn any_name_can_be_masked(key in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            let masked = mask(&key, b"x");
            proptest::prop_assert_eq!(&masked, &mask(&key, b"x"));
        }
    }
}
