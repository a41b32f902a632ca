//! Detection of credentials with a distinctive format: JSON web tokens and private key blocks.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::called;

/// Start of both JSON objects of a token: `{"` in base64.
const OBJECT: &[u8] = b"eyJ";
/// Minimum lengths of objects and signatures, in characters.
const MIN_OBJECT_LEN: usize = 10;
const MIN_SIGNATURE_LEN: usize = 16;
const BEGIN: &[u8] = b"-----BEGIN ";
const DASHES: &[u8] = b"-----";
/// Longest label of a block, in characters.
const MAX_LABEL_LEN: usize = 48;

static OBJECTS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OBJECT));
static RAW_KEYS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(RAW_KEY));
static BEGINS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(BEGIN));

/// Reports all signed tokens: two objects and a signature in base64 without padding, separated by dots.
pub(super) fn scan_jwt(text: &[u8], mut see: impl FnMut(Range<usize>)) {
    for start in OBJECTS.find_iter(text) {
        let before = text.get(..start).unwrap_or_default();
        if before.last().is_some_and(|byte| in_base64(*byte)) {
            continue;
        }
        if let Some(end) = jwt_end(text, start) {
            see(start..end);
        }
    }
}

fn jwt_end(text: &[u8], start: usize) -> Option<usize> {
    let header = base64_end(text, start);
    let payload_start = after_dot(text, header)?;
    let payload = base64_end(text, payload_start);
    let signature_start = after_dot(text, payload)?;
    let end = base64_end(text, signature_start);
    let is_object = text.get(payload_start..payload)?.starts_with(OBJECT);
    let long_enough = header - start >= MIN_OBJECT_LEN
        && payload - payload_start >= MIN_OBJECT_LEN
        && end - signature_start >= MIN_SIGNATURE_LEN;
    (is_object && long_enough).then_some(end)
}

fn base64_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    rest.iter().position(|byte| !in_base64(*byte)).map_or(text.len(), |len| start + len)
}

fn after_dot(text: &[u8], at: usize) -> Option<usize> {
    (text.get(at) == Some(&b'.')).then_some(at + 1)
}

fn in_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// First characters of a key in base64, without the block around it: a sequence in DER with a length of two bytes.
const RAW_KEY: &[u8] = b"MII";
/// Minimum length of one, in characters.
const MIN_RAW_KEY_LEN: usize = 300;

/// Reports all private keys of RSA (PKCS#8 and PKCS#1) in base64 whose name says so; that of the whole text is `name`.
pub(super) fn scan_raw_key(text: &[u8], name: &[u8], mut see: impl FnMut(Range<usize>)) {
    if text.len() < MIN_RAW_KEY_LEN {
        return; // the common case
    }
    let mut done = 0;
    for start in RAW_KEYS.find_iter(text) {
        let (before, key) = text.split_at(start);
        if start < done {
            continue;
        }
        // Behind the length, the version is 0: certificates and public keys have another sequence there.
        let is_version = matches!(key.get(5..10), Some([b'A' | b'Q' | b'g' | b'w', b'I', b'B', b'A', _]));
        let is_named = || match before {
            [] | [b'"'] => called::is_private_key(name),
            _ => called::name_before(before).is_some_and(|before| called::is_private_key(before.name)),
        };
        if !is_version || !is_named() {
            continue;
        }
        // Lines may be folded, and JSON escapes their ends and slashes.
        let in_key = |byte: &u8| in_base64(*byte) || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b'\r' | b'\n');
        let length = key.iter().position(|byte| !in_key(byte)).unwrap_or(key.len());
        done = start + length;
        if length >= MIN_RAW_KEY_LEN {
            see(start..done);
        }
    }
}

/// Reports all lines that open a private key block: PKCS, OpenSSH, PGP.
pub(super) fn scan_private_key(text: &[u8], mut see: impl FnMut(Range<usize>)) {
    for start in BEGINS.find_iter(text) {
        let label_start = start + BEGIN.len();
        let rest = text.get(label_start..).unwrap_or_default();
        let near = rest.get(..MAX_LABEL_LEN).unwrap_or(rest);
        let Some(len) = memmem::find(near, DASHES) else { continue };
        let label = near.get(..len).unwrap_or_default();
        if label.ends_with(b"PRIVATE KEY") || label == b"PGP PRIVATE KEY BLOCK" {
            see(start..label_start + len + DASHES.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SensitiveKind;
    use super::super::testing::found;

    const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";

    #[test]
    fn tokens_and_keys() {
        assert_eq!(found(JWT), [SensitiveKind::Jwt]);
        assert_eq!(found(&format!("Bearer {JWT}\"")), [SensitiveKind::Jwt]);
        for label in
            ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
        {
            assert_eq!(found(&format!("-----BEGIN {label}-----\nMIIE")), [SensitiveKind::PrivateKey], "{label}");
        }
    }

    #[test]
    fn no_tokens_and_no_keys() {
        for text in [
            &JWT[1..],
            &format!("x{JWT}"),
            "eyJhbGciOiJIUzI1NiJ9",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.",
            "eyJ.eyJ.abc",
            "eyJhbGciOiJIUzI1NiJ9.abcdefghijklm.abcdefghijklmnopqrs",
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
            "-----BEGIN RSA PRIVATE KEY",
            "BEGIN PRIVATE KEY",
        ] {
            assert_eq!(found(text), &[] as &[SensitiveKind], "{text}");
        }
    }
}
