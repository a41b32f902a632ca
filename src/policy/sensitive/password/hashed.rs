//! Values that are hashed or encrypted, by their form or by what they say of themselves.

/// Length of the shortest digest or block of ciphertext, in hexadecimal and in base64.
const MIN_HEX_LEN: usize = 32;
const MIN_BASE64_LEN: usize = 24;

/// Returns whether a value is a digest or ciphertext by its form: a number of hexadecimal or base64 digits.
pub(super) fn is_digest(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"0x").unwrap_or(value);
    // With its salt in front or behind, or alone; other signs than these stand beside whole digests only.
    let hex = value.split(|byte| matches!(byte, b':' | b'$')).any(is_hex_digest)
        || value
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|part| part.len() >= MIN_HEX_LEN && is_hex_digest(part));
    hex || is_base64(value)
}

/// Returns whether a value is a digest or ciphertext as raw bytes: no text, and of a length that these have.
pub(super) fn is_raw_digest(value: &[u8]) -> bool {
    let is_length = value.len() >= 16 && value.len().is_multiple_of(16) || matches!(value.len(), 20 | 24 | 28);
    is_length && std::str::from_utf8(value).is_err()
}

/// Returns whether a value begins with the name of a cipher or digest: `SM4:…`, `RSA|…`, `hmac-sha256:…`.
fn is_tagged(value: &[u8]) -> bool {
    const CIPHERS: [&[u8]; 14] = [
        b"sm2",
        b"sm3",
        b"sm4",
        b"rsa",
        b"aes",
        b"des",
        b"3des",
        b"hmac",
        b"sha",
        b"md5",
        b"kms",
        b"cipher",
        b"enc",
        b"encrypted",
    ];
    let Some(end) = value.iter().take(24).position(|byte| matches!(byte, b':' | b'|')) else { return false };
    let (tag, body) = (value[..end].to_ascii_lowercase(), &value[end + 1..]);
    let names = |cipher: &&[u8]| {
        tag.strip_prefix(*cipher).is_some_and(|rest| match rest {
            [] => true,
            [first, ..] => first.is_ascii_digit() || matches!(first, b'-' | b'_'),
        })
    };
    let in_body =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b':' | b'.');
    body.len() >= 8 && CIPHERS.iter().any(names) && body.iter().all(in_body)
}

/// Returns whether a value says that it is hashed or encrypted: `$2a$10$…`, `{bcrypt}…`, `ENC(…)`.
pub(super) fn says_hashed(value: &[u8]) -> bool {
    let tagged = scheme(value).is_some_and(|(scheme, _)| (3..=15).contains(&scheme.len()) && !is_no_hash(scheme));
    let sealed = value.starts_with(b"ENC(") && value.ends_with(b")")
        || value.starts_with(b"ENC[") && value.ends_with(b"]")
        || value.starts_with(b"vault:v")
        // Salted by OpenSSL, in base64.
        || value.starts_with(b"U2FsdGVkX1")
        || is_fernet(value)
        || has_iv(value);
    let named =
        [&b"pbkdf2"[..], b"argon2", b"scrypt", b"bcrypt", b"sha1$", b"sha256", b"sha512", b"md5$", b"SCRAM-SHA-"];
    tagged
        || sealed
        || is_tagged(value)
        || is_crypt(value)
        || is_unusable(value)
        || named.iter().any(|name| value.starts_with(name))
}

/// Returns whether a value is a token of Fernet, whose first byte is its version, before a time.
fn is_fernet(value: &[u8]) -> bool {
    let in_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=');
    value.starts_with(b"gAAAAA") && value.len() >= 100 && value.len().is_multiple_of(4) && value.iter().all(in_base64)
}

/// Returns whether a value is a ciphertext of AES behind its initialization vector, with colons between: `iv:text` of whole blocks in
/// hexadecimal, or `iv:tag:text` and `iv:text:tag` in hexadecimal or base64. No issuer writes tokens so.
fn has_iv(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b':');
    let (Some(iv), Some(second), third, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let Some(third) = third else {
        return hex_bytes(iv) == Some(16)
            && hex_bytes(second).is_some_and(|bytes| bytes > 0 && bytes.is_multiple_of(16));
    };
    let authenticates = |bytes: fn(&[u8]) -> Option<usize>| {
        let (second, third) = (bytes(second).unwrap_or(0), bytes(third).unwrap_or(0));
        matches!(bytes(iv), Some(12 | 16)) && second > 0 && third > 0 && (second == 16 || third == 16)
    };
    authenticates(hex_bytes) || authenticates(base64_bytes)
}

/// Returns the number of bytes that a text is in hexadecimal.
fn hex_bytes(text: &[u8]) -> Option<usize> {
    let is_hex = text.len().is_multiple_of(2) && text.iter().all(u8::is_ascii_hexdigit);
    is_hex.then_some(text.len() / 2)
}

/// Returns the number of bytes that a text is in base64 with its padding.
fn base64_bytes(text: &[u8]) -> Option<usize> {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let (digits, _) = text.split_at(text.len() - padding);
    let in_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let is_base64 = padding <= 2 && text.len().is_multiple_of(4) && digits.iter().all(in_base64);
    is_base64.then(|| digits.len() * 3 / 4)
}

/// Returns whether a value has the form of `crypt`: `$2a$10$…`, or that of phpass (`$P$…`), which has no third `$`.
fn is_crypt(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"$") else { return false };
    let mut parts = rest.split(|byte| *byte == b'$');
    let is_of_hash = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
    match (parts.next(), parts.next(), parts.next()) {
        (_, _, Some(_)) => true,
        (Some([_]), Some(hash), None) => hash.len() >= MIN_HEX_LEN - 1 && hash.iter().all(is_of_hash),
        _ => false,
    }
}

/// Returns whether a value is what Django stores for an unusable password: `!` and forty random letters and digits.
fn is_unusable(value: &[u8]) -> bool {
    value.strip_prefix(b"!").is_some_and(|rest| rest.len() == 40 && rest.iter().all(u8::is_ascii_alphanumeric))
}

/// Schemes that say that a password is stored as it is.
const NO_HASH: [&[u8]; 5] = [b"noop", b"plain", b"plaintext", b"clear", b"cleartext"];

fn is_no_hash(scheme: &[u8]) -> bool {
    NO_HASH.iter().any(|none| scheme.eq_ignore_ascii_case(none))
}

/// Splits off the scheme in braces that a value begins with.
fn scheme(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = value.strip_prefix(b"{")?;
    let end = memchr::memchr(b'}', rest)?;
    Some((rest.get(..end)?, rest.get(end + 1..)?))
}

/// Returns a value without a scheme that says that it is stored as it is.
pub(in crate::policy::sensitive) fn without_scheme(value: &[u8]) -> &[u8] {
    scheme(value).filter(|(scheme, _)| is_no_hash(scheme)).map_or(value, |(_, password)| password)
}

/// Returns whether a text is a digest or ciphertext in hexadecimal. Half an MD5, as some databases store it, has letters and
/// digits mixed: a password of this form would be random, too.
fn is_hex_digest(text: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    let is_half = text.len() == MIN_HEX_LEN / 2 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_whole = text.len() >= MIN_HEX_LEN && text.len().is_multiple_of(2);
    (is_half || is_whole) && text.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a text is a digest or ciphertext in base64: whole groups of four, and small letters, capitals and digits
/// mixed, as in all that is random and this long.
fn is_base64(text: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    text.len() >= MIN_BASE64_LEN
        && base64_bytes(text).is_some()
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
}
