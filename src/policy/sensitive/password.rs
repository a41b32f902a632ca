//! Detection of password fields with a value, in hashes and in JSON objects within any text, also in objects that are encoded
//! as a string of JSON, once or twice, and in arrays and objects that PHP serialized.
//!
//! A field matches a word if its name, in lower case and without `_`, `-`, `.` and blanks, ends with it, also with `confirm` or one or two
//! digits behind it; [`login`] says when `pass` does. Empty and masked values (`null`, `-`, `****`), single characters, and what describes a field (`VARCHAR(64)`,
//! `required`, the working directory of a process) do not count, nor do
//! hashed and encrypted passwords, as the standards demand them: digests and ciphertexts in hexadecimal, base64 or raw bytes, and formats
//! such as `$2a$…`. A number in JSON counts if it is as long as a password: shorter ones are flags, counts and times, longer ones ids.

mod hashed;
pub(super) mod login;
mod pairs;
mod secret_name;

use std::ops::Range;

use super::{described, named};
use crate::policy::content::is_one_of;
use crate::policy::content::json_escapes::code_unit;
use crate::policy::content::random;
pub(super) use hashed::without_scheme;
use hashed::{is_digest, is_raw_digest, says_hashed};
use pairs::SettingPairs;
use secret_name::SECRET;
pub(super) use secret_name::names_secret;

/// Default endings of field names. A bare `token` is not among them, since sessions legitimately store one.
pub const FIELDS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "psw",
    "pswd",
    "passphrase",
    "secret",
    "secretkey",
    "apikey",
    "accesstoken",
    "refreshtoken",
    "secretaccesskey",
    "pass",
    "密码",
    "密碼",
    "口令",
    "mima",
    "kouling",
];

/// Words before `pass` that make it a password. Others make it an exam, a ticket or a flag: `isPass`, `boarding_pass`.
const BEFORE_PASS: [&str; 53] = [
    "user",
    "usr",
    "db",
    "database",
    "mysql",
    "oracle",
    "postgres",
    "pg",
    "mongo",
    "redis",
    "mq",
    "kafka",
    "smtp",
    "mail",
    "email",
    "imap",
    "ftp",
    "ssh",
    "ldap",
    "http",
    "proxy",
    "vpn",
    "wifi",
    "login",
    "auth",
    "root",
    "admin",
    "sudo",
    "account",
    "old",
    "new",
    "mqtt",
    "amqp",
    "rtsp",
    "onvif",
    "telnet",
    "snmp",
    "ipmi",
    "jdbc",
    "clickhouse",
    "nats",
    "nacos",
    "minio",
    "elastic",
    "rabbit",
    "rabbitmq",
    "zookeeper",
    "etcd",
    "consul",
    "device",
    "camera",
    "router",
    "nvr",
];

/// Words that may follow in the name of a field, besides digits: `passwordConfirm`, `密码明文`.
const SUFFIXES: [&str; 6] = ["confirm", "confirmation", "plain", "plaintext", "明文", "确认"];

/// Most digits behind the word in the name of a field: `password2`.
const MAX_DIGITS: usize = 2;

/// Characters of a UUID.
const UUID: usize = 36;
/// Longest field name that is considered.
const MAX_FIELD_LEN: usize = 64;
/// Lengths of a password in running text and in lines of configuration files.
pub(super) const MIXED: std::ops::RangeInclusive<usize> = 6..=64;
/// Most digits of a text that is a count rather than a password, and of one that is the lifetime of a token in seconds.
const MAX_COUNT_LEN: usize = 3;
const MAX_LIFETIME_LEN: usize = 8;
/// Digits of a number that is a password.
const NUMBER: std::ops::RangeInclusive<usize> = 6..=12;
/// Marks around the variables of a text.
pub(super) const VARIABLES: [(&str, &str); 3] = [("${", "}"), ("#{", "}"), ("{{", "}}")];
/// Most backslashes before a quote: two encodings.
const MAX_BACKSLASHES: usize = 3;

/// Returns the word that the name of a field matches.
fn named_word<'w>(field: &[u8], words: &'w [String]) -> Option<&'w str> {
    if field.is_empty() || field.len() > MAX_FIELD_LEN {
        return None;
    }
    let (mut name, mut len, mut rest) = ([0; MAX_FIELD_LEN], 0, field);
    while let Some((byte, behind)) = rest.split_first() {
        if let Some((letter, behind)) = escaped_letter(rest) {
            len += letter.encode_utf8(&mut name[len..]).len();
            rest = behind;
            continue;
        }
        if !matches!(byte, b'_' | b'-' | b'.' | b' ') {
            name[len] = byte.to_ascii_lowercase();
            len += 1;
        }
        rest = behind;
    }
    word_of(&name[..len], words)
}

/// Returns the word that the field of a pair matches, if its value is a plain-text secret.
pub(super) fn word<'w>(field: &[u8], value: &[u8], words: &'w [String]) -> Option<&'w str> {
    let word = named_word(field, words)?;
    let value = default_of(value).unwrap_or(value);
    let trimmed = value.trim_ascii();
    let is_none = is_harmless(word, trimmed)
        || is_time(trimmed)
        || is_small_number(word, trimmed)
        || is_hashable(word) && is_raw_digest(value)
        || word == PASS && !(is_mixed(trimmed) && trimmed.iter().all(u8::is_ascii_graphic))
        || named::is_code_word(word) && named::gives_out(field)
        || is_hashable(word) && named::is_one_time(field, word, trimmed)
        || is_hashable(word) && named::is_shared(field, word) && !named::is_chosen(trimmed)
        || word == SECRET && names_secret(field, trimmed)
        || is_directory(field, trimmed);
    (!is_none).then_some(word)
}

/// Returns whether a variable of the environment and its value are a working directory: `PWD=/opt/app1`.
pub(super) fn is_directory(name: &[u8], value: &[u8]) -> bool {
    matches!(name, b"PWD" | b"OLDPWD") && value.starts_with(b"/")
}

/// Word that is a password only behind certain words, and if the value looks like one.
const PASS: &str = "pass";

/// Returns the word that a name ends with, digits and words such as `confirm` behind it aside.
fn word_of<'w>(name: &[u8], words: &'w [String]) -> Option<&'w str> {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let bare = if digits <= MAX_DIGITS { &name[..name.len() - digits] } else { name };
    let bare = SUFFIXES.iter().find_map(|suffix| bare.strip_suffix(suffix.as_bytes())).unwrap_or(bare);
    let ends = |name: &[u8], word: &str| {
        name.strip_suffix(word.as_bytes()).is_some_and(|before| word != PASS || is_before_pass(before))
    };
    let word = words.iter().find(|word| ends(name, word) || bare.len() < name.len() && ends(bare, word));
    word.map(String::as_str)
}

fn is_before_pass(name: &[u8]) -> bool {
    name.is_empty() || BEFORE_PASS.iter().any(|word| name.ends_with(word.as_bytes()))
}

/// Splits off the letter that a text begins with as `\uXXXX`, the form in which Python writes Chinese into JSON. Its UTF-8 is shorter.
fn escaped_letter(text: &[u8]) -> Option<(char, &[u8])> {
    let backslashes = text.iter().take_while(|byte| **byte == b'\\').count();
    let (code, behind) = code_unit(text.get(backslashes..)?.strip_prefix(b"u")?).filter(|_| backslashes > 0)?;
    Some((char::from_u32(code)?, behind))
}

/// Returns whether a value under this word is no plain-text secret: empty, a flag, masked, hashed or encrypted. Keys and tokens
/// are secrets even if they look like digests, unless the value says that it is one. Programs make UUIDs, so none is a password.
pub(super) fn is_harmless(word: &str, value: &[u8]) -> bool {
    let value = value.trim_ascii();
    is_nothing(value)
        || described::is_label(value)
        || described::describes(value)
        || !word.is_empty() && described::is_state(word, value)
        || is_placeholder(value)
        || says_hashed(value)
        || is_hashable(word) && (is_digest(value) || is_uuid(value))
}

/// Returns whether a value is a UUID in its usual form.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == UUID && random::is_uuid(value)
}

/// Returns whether what a word names is compared only, so that it should be stored as a digest.
pub(super) fn is_hashable(word: &str) -> bool {
    matches!(
        word,
        "password"
            | "passwd"
            | "pwd"
            | "psw"
            | "pswd"
            | "passphrase"
            | PASS
            | "密码"
            | "密碼"
            | "口令"
            | "mima"
            | "kouling"
    )
}

/// Returns whether a value counts something rather than being a password: how often one was wrong or a page was opened, how long a
/// token lives.
fn is_small_number(word: &str, value: &[u8]) -> bool {
    let most = if ["token", "key"].iter().any(|end| word.ends_with(end)) { MAX_LIFETIME_LEN } else { MAX_COUNT_LEN };
    value.len() <= most && value.iter().all(u8::is_ascii_digit)
}

/// Returns whether a text has the form of a password in running text or a configuration, with letters and digits, and is not
/// hashed.
pub(super) fn is_mixed(text: &[u8]) -> bool {
    is_mixed_under("password", text)
}

/// The same for another word: a key of an interface may look like a digest.
pub(super) fn is_mixed_under(word: &str, text: &[u8]) -> bool {
    MIXED.contains(&text.len())
        && text.iter().any(u8::is_ascii_alphabetic)
        && text.iter().any(u8::is_ascii_digit)
        && !is_harmless(word, text)
}

/// Returns whether a value is a time or begins with a date.
pub(super) fn is_time(value: &[u8]) -> bool {
    let are_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let is_number = matches!(value.len(), 10 | 13) && value.starts_with(b"1") && are_digits(value);
    let is_date = value.get(..10).is_some_and(|date| {
        let mut parts = date.split(|byte| matches!(byte, b'-' | b'/'));
        let begins = parts.next().is_some_and(|year| year.len() == 4 && are_digits(year));
        begins && parts.clone().count() == 2 && parts.all(are_digits)
    });
    is_number || is_date
}

/// Returns the default of a variable, if it looks like a password: `Abc@12345` of `${REDIS_PASSWORD:Abc@12345}`, as Spring reads it, or of
/// `${REDIS_PASSWORD:-Abc@12345}`, as shells do.
pub(super) fn default_of(value: &[u8]) -> Option<&[u8]> {
    let inner = value.trim_ascii().strip_prefix(b"${")?.strip_suffix(b"}")?;
    let colon = memchr::memchr(b':', inner)?;
    let (name, default) = (inner.get(..colon)?, inner.get(colon + 1..)?);
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let default = default.strip_prefix(b"-").unwrap_or(default);
    let is_nested = default.iter().any(|byte| matches!(byte, b'{' | b'}'));
    (!name.is_empty() && name.iter().all(in_name) && !is_nested && is_mixed(default)).then_some(default)
}

/// Returns whether a value stands for one that is filled in later: `${DB_PASSWORD}`, `{{ password }}`, `<password>`, `$PASSWORD`.
///
/// Where the marks may as well be those of a password, only words may stand between them.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const TEMPLATES: [(&str, &str); 8] = [
        ("%{", "}"),
        ("$(", ")"),
        ("<%", "%>"),
        ("%env(", ")%"),
        ("((", "))"),
        ("$__file{", "}"),
        ("$__env{", "}"),
        ("$__vault{", "}"),
    ];
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
    let as_bytes = |(start, end): &(&'static str, &'static str)| (start.as_bytes(), end.as_bytes());
    VARIABLES.iter().chain(&TEMPLATES).map(as_bytes).any(|marks| within(&marks).is_some())
        || MARKS.iter().filter_map(within).any(are_words)
        || value.strip_prefix(b"$").is_some_and(is_variable)
}

/// Reports all members of JSON objects in a text that hold a plain-text password, with the range of the value.
pub(super) fn scan<'w>(text: &[u8], words: &'w [String], mut see: impl FnMut(&'w str, Range<usize>)) {
    let (mut from, mut pairs) = (0, SettingPairs::default());
    while let Some(open) = quote_from(text, from) {
        let Some(close) = quote_from(text, open + 1) else { return };
        from = close;
        let escape = backslashes(text, open + 1, close);
        let Some(start) = value_start(text, close + 1) else { continue };
        let range = match value_quote(text, start, escape) {
            Some(quote) => quote + 1..string_end(text, quote + 1, escape),
            None => start..number_end(text, start),
        };
        let field = text.get(open + 1..close - escape).unwrap_or_default();
        let value = text.get(range.clone()).unwrap_or_default();
        let is_number = range.start == start;
        if let Some(word) = word(field, value, words)
            && (!is_number || is_numeric_password(word, value))
        {
            from = if is_number { range.end } else { range.end + escape + 1 };
            see(word, range);
        } else if !is_number
            && let Some(word) = pairs
                .take(text, field, &range, escape, words)
                .or_else(|| login::beside_login(text, field, open, &range, words))
        {
            see(word, range);
        }
        // The string of another field may hold an encoded object: it is searched, too.
    }
}

/// Returns whether a number in JSON that is no time is a password: neither a flag nor how long a token lives.
fn is_numeric_password(word: &str, digits: &[u8]) -> bool {
    let is_of_program = ["token", "key", "secret"].iter().any(|end| word.ends_with(end));
    !is_of_program && NUMBER.contains(&digits.len())
}

/// Returns the number of backslashes between `start` and `end` that stand right before `end`.
fn backslashes(text: &[u8], start: usize, end: usize) -> usize {
    let before = text.get(start..end).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count()
}

fn quote_from(text: &[u8], at: usize) -> Option<usize> {
    memchr::memchr(b'"', text.get(at..)?).map(|found| at + found)
}

/// Returns where the value begins, if the string that ends here is the name of a member. PHP serializes a member as
/// `s:8:"password";s:6:"abc123";`.
fn value_start(text: &[u8], behind: usize) -> Option<usize> {
    if let Some(length) = text.get(behind..)?.strip_prefix(b";s:") {
        let digits = length.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        return length.get(digits..)?.starts_with(b":\"").then_some(behind + 3 + digits + 1);
    }
    let colon = behind + text.get(behind..)?.iter().take(4).position(|byte| !byte.is_ascii_whitespace())?;
    if text.get(colon) != Some(&b':') {
        return None;
    }
    Some(colon + 1 + text.get(colon + 1..)?.iter().take(4).position(|byte| !byte.is_ascii_whitespace())?)
}

/// Returns the opening quote of a value that begins here. It has as many backslashes before it as the name has: of one encoding
/// one, of two three.
fn value_quote(text: &[u8], start: usize, escape: usize) -> Option<usize> {
    let is_escape = escape <= MAX_BACKSLASHES && (escape + 1).is_power_of_two();
    let quote = start + text.get(start..)?.iter().take(MAX_BACKSLASHES + 1).position(|byte| *byte != b'\\')?;
    (is_escape && quote - start == escape && text.get(quote) == Some(&b'"')).then_some(quote)
}

/// Returns the end of a JSON string whose quotes have this many backslashes before them: at its closing quote without these, at a
/// quote of the string around it, or at the end of the text.
///
/// The strings of one encoding do not overlap, so all of a text take linear time.
fn string_end(text: &[u8], start: usize, escape: usize) -> usize {
    let mut at = start;
    while let Some(quote) = quote_from(text, at) {
        let found = backslashes(text, at, quote);
        // Each encoding doubles the backslashes of the characters `"` and `\`.
        if found < escape || found % (2 * (escape + 1)) == escape {
            return quote - found.min(escape);
        }
        at = quote + 1;
    }
    text.len()
}

/// Returns the end of a whole number that is the value of a member: behind it, only the end of the value follows.
fn number_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    // Fastjson marks a long.
    let behind = rest.get(length..).unwrap_or_default();
    let behind = behind.strip_prefix(b"L").unwrap_or(behind);
    let ends = behind.first().is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}'));
    if ends { start + length } else { start }
}

fn is_nothing(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 51] = [
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
        b"enabled",
        b"disabled",
        b"protected",
        b"encrypted",
        "已加密".as_bytes(),
        "加密存储".as_bytes(),
        "脱敏".as_bytes(),
        "已脱敏".as_bytes(),
        "未设置".as_bytes(),
        "已设置".as_bytes(),
        "启用".as_bytes(),
        "已启用".as_bytes(),
        "禁用".as_bytes(),
        "停用".as_bytes(),
        "开启".as_bytes(),
        "关闭".as_bytes(),
        "保密".as_bytes(),
        "无".as_bytes(),
        "空".as_bytes(),
        "有".as_bytes(),
        "是".as_bytes(),
        "否".as_bytes(),
        b"not set",
        b"no password",
        "暂无".as_bytes(),
        "没有".as_bytes(),
        "未填写".as_bytes(),
        "无密码".as_bytes(),
    ];
    let value = value.trim_ascii();
    let bare = without_brackets(value);
    let masked = MASKS.iter().any(|mask| memchr::memmem::find_iter(value, mask).count() >= 3);
    masked || is_short(value) || is_filler(value) || is_one_of(bare, &WORDS)
}

/// Returns whether a value is what forms show where there is no password: one character (`x`), or up to three marks (`--`, `——`).
fn is_short(value: &[u8]) -> bool {
    const MAX_MARKS: usize = 3;
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let characters = text.chars().take(MAX_MARKS + 1).count();
    characters <= 1 || characters <= MAX_MARKS && !text.chars().any(char::is_alphanumeric)
}

/// Returns whether a value is one mark repeated, as masks and forms have it: `######`, `------`, `xxxxxx`.
fn is_filler(value: &[u8]) -> bool {
    let [first, rest @ ..] = value else { return false };
    let least = match first {
        b'#' | b'-' | b'.' | b'_' | b'?' => 3,
        b'x' | b'X' => 4,
        _ => return false,
    };
    value.len() >= least && rest.iter().all(|byte| byte == first)
}

/// Marks that stand for characters left out: asterisk, full-width asterisk, bullet, black circle.
const MASKS: [&[u8]; 4] = [b"*", "＊".as_bytes(), "•".as_bytes(), "●".as_bytes()];

/// Removes one pair of brackets.
fn without_brackets(value: &[u8]) -> &[u8] {
    match value {
        [b'[', inner @ .., b']'] | [b'<', inner @ .., b'>'] | [b'(', inner @ .., b')'] => inner,
        other => other,
    }
}

#[cfg(test)]
mod tests;
