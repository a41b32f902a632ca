//! Detection of password fields with a value, in hashes and in JSON objects within any text.
//!
//! A field matches a word if its name, in lower case and without `_`, `-`, `.` and blanks, ends with it. Empty and masked
//! values (`null`, `****`) do not count, nor do hashed and encrypted passwords, as the standards demand them: digests and
//! ciphertexts in hexadecimal or base64, and formats such as `$2a$…`.

use std::ops::Range;

/// Default endings of field names. A bare `token` is not among them, since sessions legitimately store one.
pub const FIELDS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "secretkey",
    "apikey",
    "accesstoken",
    "refreshtoken",
    "密码",
    "口令",
];

/// Longest field name that is considered.
const LONGEST_FIELD: usize = 64;
/// Length of the shortest digest or block of ciphertext, in hexadecimal and in base64.
const SHORTEST_HEX: usize = 32;
const SHORTEST_BASE64: usize = 24;

/// Returns the word that the field of a pair matches, if its value is a plain-text secret.
pub(super) fn word<'w>(field: &[u8], value: &[u8], words: &'w [String]) -> Option<&'w str> {
    if field.is_empty() || field.len() > LONGEST_FIELD {
        return None;
    }
    let mut name = [0; LONGEST_FIELD];
    let mut len = 0;
    for byte in field.iter().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b' ')) {
        name[len] = byte.to_ascii_lowercase();
        len += 1;
    }
    let name = &name[..len];
    let word = words.iter().find(|word| name.ends_with(word.as_bytes()))?;
    (!is_harmless(word, value)).then_some(word)
}

/// Returns whether a value under this word is no plain-text secret: empty, a flag, masked, hashed or encrypted. Keys and tokens
/// are secrets in any form.
pub(super) fn is_harmless(word: &str, value: &[u8]) -> bool {
    let hashable = matches!(word, "password" | "passwd" | "pwd" | "passphrase" | "密码" | "口令");
    is_nothing(value) || is_placeholder(value.trim_ascii()) || hashable && is_hashed(value)
}

/// Returns whether a value stands for one that is filled in later: `${DB_PASSWORD}`, `{{ password }}`, `<password>`, `$PASSWORD`.
///
/// Where the marks may as well be those of a password, only words may stand between them.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const TEMPLATES: [(&[u8], &[u8]); 6] =
        [(b"${", b"}"), (b"#{", b"}"), (b"{{", b"}}"), (b"%{", b"}"), (b"$(", b")"), (b"<%", b"%>")];
    const MARKS: [(&[u8], &[u8]); 5] = [(b"<", b">"), (b"%", b"%"), (b"@", b"@"), (b"__", b"__"), (b"[", b"]")];
    let within = |(start, end): &(&[u8], &[u8])| value.strip_prefix(*start)?.strip_suffix(*end);
    let is_word =
        |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii() || matches!(byte, b'_' | b'-' | b'.' | b' ');
    let are_words = |text: &[u8]| !text.is_empty() && text.iter().all(is_word);
    let is_variable = |name: &[u8]| {
        name.first().is_some_and(u8::is_ascii_alphabetic)
            && (name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                || name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_'))
    };
    TEMPLATES.iter().any(|marks| within(marks).is_some())
        || MARKS.iter().filter_map(within).any(are_words)
        || value.strip_prefix(b"$").is_some_and(is_variable)
}

/// Reports all members of JSON objects in a text that hold a plain-text password, with the range of the value.
pub(super) fn scan<'w>(text: &[u8], words: &'w [String], mut see: impl FnMut(&'w str, Range<usize>)) {
    let mut from = 0;
    while let Some(open) = quote_from(text, from) {
        let Some(close) = quote_from(text, open + 1) else { return };
        from = close;
        let Some(value_open) = value_quote(text, close + 1) else { continue };
        let field = text.get(open + 1..close).unwrap_or_default();
        let value_end = string_end(text, value_open + 1);
        let range = value_open + 1..value_end;
        if let Some(word) = word(field, text.get(range.clone()).unwrap_or_default(), words) {
            see(word, range);
        }
        from = value_end + 1;
    }
}

fn quote_from(text: &[u8], at: usize) -> Option<usize> {
    memchr::memchr(b'"', text.get(at..)?).map(|found| at + found)
}

/// Returns the opening quote of the value, if the string that ends here is the name of a member.
fn value_quote(text: &[u8], behind: usize) -> Option<usize> {
    let colon = behind + text.get(behind..)?.iter().take(4).position(|byte| !byte.is_ascii_whitespace())?;
    if text.get(colon) != Some(&b':') {
        return None;
    }
    let quote = colon + 1 + text.get(colon + 1..)?.iter().take(4).position(|byte| !byte.is_ascii_whitespace())?;
    (text.get(quote) == Some(&b'"')).then_some(quote)
}

/// Returns the end of a JSON string: its closing quote, or the end of the text.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        if text.get(at + found) == Some(&b'"') {
            return at + found;
        }
        at += found + 2;
    }
    text.len()
}

fn is_nothing(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 23] = [
        b"null",
        b"nil",
        b"none",
        b"undefined",
        b"true",
        b"false",
        b"yes",
        b"no",
        b"on",
        b"off",
        b"ok",
        b"set",
        b"unset",
        b"empty",
        b"0",
        b"1",
        b"-1",
        b"n/a",
        b"hidden",
        b"masked",
        b"redacted",
        b"filtered",
        b"removed",
    ];
    let value = value.trim_ascii();
    let bare = without_brackets(value);
    let masked = MASKS.iter().any(|mask| memchr::memmem::find_iter(value, mask).count() >= 3);
    value.is_empty() || masked || WORDS.iter().any(|word| word.eq_ignore_ascii_case(bare))
}

/// Marks that stand for characters left out: asterisk, full-width asterisk, bullet, black circle.
const MASKS: [&[u8]; 4] = [b"*", "＊".as_bytes(), "•".as_bytes(), "●".as_bytes()];

fn is_hashed(value: &[u8]) -> bool {
    // With its salt in front or behind, or alone.
    let hex = value.split(|byte| matches!(byte, b':' | b'$')).any(is_hex_digest);
    let crypt = value.first() == Some(&b'$') && value.iter().filter(|byte| **byte == b'$').count() >= 3;
    let tagged = scheme(value).is_some_and(|(scheme, _)| (3..=15).contains(&scheme.len()) && !is_no_hash(scheme));
    let sealed = value.starts_with(b"ENC(") && value.ends_with(b")") || value.starts_with(b"vault:v");
    let named =
        [&b"pbkdf2"[..], b"argon2", b"scrypt", b"bcrypt", b"sha1$", b"sha256", b"sha512", b"md5$", b"SCRAM-SHA-"];
    hex || crypt || tagged || sealed || is_base64(value) || named.iter().any(|name| value.starts_with(name))
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
pub(super) fn without_scheme(value: &[u8]) -> &[u8] {
    scheme(value).filter(|(scheme, _)| is_no_hash(scheme)).map_or(value, |(_, password)| password)
}

/// Returns whether a text is a digest or ciphertext in hexadecimal. Half an MD5, as some databases store it, has letters and
/// digits mixed: a password of this form would be random, too.
fn is_hex_digest(text: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    let is_half = text.len() == SHORTEST_HEX / 2 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_whole = text.len() >= SHORTEST_HEX && text.len().is_multiple_of(2);
    (is_half || is_whole) && text.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a text is a digest or ciphertext in base64: whole groups of four, and small letters, capitals and digits
/// mixed, as in all that is random and this long.
fn is_base64(text: &[u8]) -> bool {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let body = text.get(..text.len() - padding).unwrap_or_default();
    let has = |is: fn(&u8) -> bool| body.iter().any(is);
    text.len() >= SHORTEST_BASE64
        && text.len().is_multiple_of(4)
        && padding <= 2
        && body.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_'))
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
}

/// Removes one pair of brackets.
fn without_brackets(value: &[u8]) -> &[u8] {
    match value {
        [b'[', inner @ .., b']'] | [b'<', inner @ .., b'>'] | [b'(', inner @ .., b')'] => inner,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(field: &str, value: &str) -> Option<String> {
        let words: Vec<String> = FIELDS.iter().map(|word| (*word).to_owned()).collect();
        word(field.as_bytes(), value.as_bytes(), &words).map(str::to_owned)
    }

    #[test]
    fn plain_text_passwords_are_found() {
        for field in
            ["password", "Password", "user_password", "PWD", "client-secret", "api_key", "apiKey", "access.token"]
        {
            assert!(given(field, "hunter2").is_some(), "{field}");
        }
        assert_eq!(given("old_Passwd", "x").as_deref(), Some("passwd"));
        assert!(given("api_key", "0123456789abcdef0123456789abcdef").is_some());
    }

    #[test]
    fn other_fields_and_hashed_passwords_are_not() {
        for field in ["", "token", "password_set", "pwd_changed_at", "secretary", "name", &"x".repeat(100)] {
            assert_eq!(given(field, "hunter2"), None, "{field}");
        }
        for value in [
            "",
            " ",
            "null",
            "NULL",
            "******",
            "true",
            "0",
            "0123456789abcdef0123456789abcdef",
            "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
            "{SSHA}abcd",
            "pbkdf2_sha256$1000$x$y",
            "49ba59abbe56e057",
            "5f4dcc3b5aa765d61d8327deb882cf99:x7Q",
            "x7Q$5f4dcc3b5aa765d61d8327deb882cf99",
        ] {
            assert_eq!(given("password", value), None, "{value}");
        }
        for value in ["{noop}hunter2", "{PLAIN}hunter2", "1234567890123456", "abcdefabcdefabcd", "a:b$c"] {
            assert_eq!(given("password", value).as_deref(), Some("password"), "{value}");
        }
    }

    #[test]
    fn members_of_json_objects_are_found_by_their_quotes() {
        let words: Vec<String> = FIELDS.iter().map(|word| (*word).to_owned()).collect();
        let ranges = |text: &str| {
            let mut found = Vec::new();
            scan(text.as_bytes(), &words, |_, range| found.push(text[range].to_owned()));
            found
        };
        assert_eq!(ranges(r#"{"id":1,"password":"a\"b","pwd" : "c"}"#), [r#"a\"b"#, "c"]);
        assert_eq!(ranges(r#"{"name":"password","x":"y"}"#), [""; 0]);
        assert_eq!(ranges(r#"{"password":null,"pwd":"","secret":7}"#), [""; 0]);
        assert_eq!(ranges(r#"{"password":"cut of"#), ["cut of"]);
        assert_eq!(ranges(r#""""""""""password":""#), [""; 0]);
    }
}
