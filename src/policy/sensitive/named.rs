//! Values of keys whose name says that they hold a password: `user:1001:password`, `app:secret:7`, `login.pwd`.
//!
//! The last word of a segment counts, numbers behind it aside: not `password-reset-page`, nor `pwd_changed_at`. Where only
//! ids follow, the value is taken for the password unless it cannot be one: flags, times, markup, hashes. Where other words
//! follow (`password:user:ann`), it must also look like one: letters and digits mixed, without words. So must the members of
//! a set. Words such as `salt` and `reset` behind it say that the value is something else. Lists of forbidden passwords
//! (`weak:password`) do not count.

use super::{password, split_hump};
use crate::pattern::segment::Separators;
use crate::policy::content::is_one_of;
use crate::policy::content::serialized::unwrapped;

/// Default words. A bare `token` or `key` is none of them.
pub const NAMES: &[&str] = &["password", "passwd", "pwd", "passphrase", "secret", "密码", "密碼", CODE];

/// Word for passwords that is also one for codes which are given to everybody.
pub(super) const CODE: &str = "口令";

/// Lengths of what is taken for a password, in bytes.
const SHORTEST: usize = 4;
const LONGEST: usize = 256;
/// Lengths of what is taken for one where other words follow.
const SHORTEST_BELOW: usize = 6;
const LONGEST_BELOW: usize = 64;

/// Words of the names of lists of passwords that nobody may use.
const FORBIDDEN: [&[u8]; 13] = [
    b"weak",
    b"common",
    b"banned",
    b"forbidden",
    b"blacklist",
    b"denylist",
    b"leaked",
    b"breached",
    b"pwned",
    "弱".as_bytes(),
    "常见".as_bytes(),
    "禁用".as_bytes(),
    "黑名单".as_bytes(),
];

/// Words of what is given to everybody who knows a code: `redpacket:口令`, `淘口令`.
const GIVEN: [&[u8]; 12] = [
    b"redpacket",
    b"red_packet",
    b"redenvelope",
    b"hongbao",
    b"share",
    b"coupon",
    "红包".as_bytes(),
    "淘".as_bytes(),
    "分享".as_bytes(),
    "优惠".as_bytes(),
    "领取".as_bytes(),
    "邀请".as_bytes(),
];

/// Words behind that for a password that make the value something about it: `pwd:salt:7`, `password:reset:link`.
const ABOUT: [&[u8]; 67] = [
    b"salt",
    b"nonce",
    b"policy",
    b"rule",
    b"rules",
    b"version",
    b"ver",
    b"alg",
    b"algo",
    b"algorithm",
    b"encrypt",
    b"encryption",
    b"hash",
    b"digest",
    b"device",
    b"channel",
    b"reset",
    b"forget",
    b"forgot",
    b"recover",
    b"recovery",
    b"retrieve",
    b"ticket",
    b"token",
    b"link",
    b"url",
    b"page",
    b"code",
    b"captcha",
    b"otp",
    b"sms",
    b"error",
    b"errors",
    b"err",
    b"fail",
    b"failed",
    b"fails",
    b"failure",
    b"wrong",
    b"try",
    b"tries",
    b"retry",
    b"attempt",
    b"attempts",
    b"count",
    b"cnt",
    b"times",
    b"time",
    b"limit",
    b"lock",
    b"locked",
    b"expire",
    b"expires",
    b"expired",
    b"expiry",
    b"ttl",
    b"status",
    b"state",
    b"flag",
    b"level",
    b"strength",
    b"type",
    b"region",
    b"question",
    b"hint",
    b"template",
    b"session",
];
const CHINESE_ABOUT: [&str; 10] = ["盐", "版本", "策略", "重置", "错误", "次数", "过期", "找回", "设备", "状态"];

/// Names of fields that hold the value of a hash with one value.
const VALUE_FIELDS: [&[u8]; 12] = [
    b"value",
    b"val",
    b"v",
    b"data",
    b"text",
    b"plain",
    b"plaintext",
    b"raw",
    b"content",
    "值".as_bytes(),
    "内容".as_bytes(),
    "明文".as_bytes(),
];

/// Word of a name that says password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PasswordName<'w> {
    /// Word.
    pub word: &'w str,
    /// True if only ids follow it.
    pub is_last: bool,
}

/// Returns the last word of a name that says password.
pub(super) fn find<'w>(name: &[u8], words: &'w [String], separators: &Separators) -> Option<PasswordName<'w>> {
    let mut found: Option<PasswordName<'w>> = None;
    for segment in separators.split(name) {
        let segment = segment.trim_ascii();
        let segment = segment.strip_prefix(b"{").unwrap_or(segment);
        let segment = segment.strip_suffix(b"}").unwrap_or(segment);
        match word_of(segment, words) {
            Some(word) => found = Some(PasswordName { word, is_last: true }),
            None if found.is_some() && is_about(segment) => found = None,
            None => found = found.map(|found| PasswordName { is_last: found.is_last && is_id(segment), ..found }),
        }
    }
    let (found, lower) = (found?, name.to_ascii_lowercase());
    let is_forbidden = FORBIDDEN.iter().any(|word| memchr::memmem::find(&lower, word).is_some());
    (!is_forbidden && (found.word != CODE || !gives_out(name))).then_some(found)
}

/// Returns whether a segment behind the word for a password says something about it.
fn is_about(segment: &[u8]) -> bool {
    if segment.len() > LONGEST {
        return false;
    }
    let mut pieces = segment.split(|byte| matches!(byte, b'.' | b'_' | b'-' | b' '));
    pieces.any(|piece| {
        let mut rest = piece;
        while !rest.is_empty() {
            let (before, last) = split_hump(rest);
            if is_one_of(last, &ABOUT) {
                return true;
            }
            rest = before;
        }
        !piece.is_ascii() && CHINESE_ABOUT.iter().any(|word| memchr::memmem::find(piece, word.as_bytes()).is_some())
    })
}

/// Returns whether a name says that its codes are given to everybody.
pub(super) fn gives_out(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    GIVEN.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

/// Returns whether a field of this name holds what the name of its hash says.
pub(super) fn is_value(field: &[u8]) -> bool {
    VALUE_FIELDS.iter().any(|name| field.eq_ignore_ascii_case(name))
}

/// Returns whether a segment or field is an id rather than a word.
pub(super) fn is_id(segment: &[u8]) -> bool {
    segment.first().is_some_and(u8::is_ascii_digit)
        || segment.contains(&b'@')
        || segment.len() > 20 && segment.iter().any(u8::is_ascii_digit)
}

/// Returns the word that a segment ends with.
fn word_of<'w>(segment: &[u8], words: &'w [String]) -> Option<&'w str> {
    let pieces = segment.rsplit(|byte| matches!(byte, b'.' | b'_' | b'-' | b' '));
    let last = pieces.into_iter().find(|piece| !piece.iter().all(u8::is_ascii_digit))?;
    let (_, last) = split_hump(last);
    let is = |word: &&String| match word.is_ascii() {
        true => last.eq_ignore_ascii_case(word.as_bytes()),
        false => last.ends_with(word.as_bytes()),
    };
    words.iter().find(is).map(String::as_str)
}

impl PasswordName<'_> {
    /// Returns the name for values that `doubt` asks to look like passwords.
    pub fn doubted(self, doubt: bool) -> Self {
        PasswordName { is_last: self.is_last && !doubt, ..self }
    }

    /// Returns whether a value under this name is a password in plain text.
    pub fn is_told_by(&self, value: &[u8]) -> bool {
        let value = value.trim_ascii();
        let scalar = unwrapped(value);
        let bare = password::without_scheme(&scalar);
        let sure = can_be_password(bare) && !password::is_harmless(self.word, bare);
        sure && (self.is_last || looks_like_password(bare))
    }
}

/// Returns whether a text can be a password at all.
fn can_be_password(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let is_markup = text.starts_with(['{', '[', '<']);
    (SHORTEST..=LONGEST).contains(&text.len())
        && !text.chars().any(char::is_control)
        && !(is_markup || password::is_time(text.as_bytes()) || text.contains("://"))
}

/// Returns whether a text looks like a password even where the name says little: letters and digits, perhaps other marks, but no
/// blanks and none of the marks that join words.
fn looks_like_password(text: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    (SHORTEST_BELOW..=LONGEST_BELOW).contains(&text.len())
        && has(u8::is_ascii_alphabetic)
        && has(u8::is_ascii_digit)
        && text.iter().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'-' | b'_' | b':' | b'/' | b'.' | b','))
        && !text.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Option<(String, bool)> {
        let words: Vec<String> = NAMES.iter().map(|word| (*word).to_owned()).collect();
        let found = find(name.as_bytes(), &words, &Separators::default())?;
        Some((found.word.to_owned(), found.is_last))
    }

    fn is_secret(name: &str, value: &str) -> bool {
        let words: Vec<String> = NAMES.iter().map(|word| (*word).to_owned()).collect();
        find(name.as_bytes(), &words, &Separators::default()).is_some_and(|named| named.is_told_by(value.as_bytes()))
    }

    #[test]
    fn whole_words_of_segments_count() {
        for name in [
            "user:1:password",
            "user:password:1001",
            "user.pwd",
            "password",
            "{user:1}:Passwd",
            "user:1:loginPassword",
            "user:1:user_pwd",
            "pwd_17",
            "用户:1:登录密码",
            "口令:a@b.cn",
            "app:7:client-secret",
        ] {
            assert!(found(name).is_some_and(|(_, is_last)| is_last), "{name}");
        }
        for name in ["password:user:1", "user:password:alice", "secret:santa"] {
            assert!(found(name).is_some_and(|(_, is_last)| !is_last), "{name}");
        }
        for name in ["weak:password", "security:Common-Passwd", "弱密码"] {
            assert_eq!(found(name), None, "{name}");
        }
        for name in [
            "password:reset:1",
            "pwd:try:count:5",
            "pwd:salt:1001",
            "pwd:policy:version",
            "pwd:encryptAlg:1",
            "password:reset_link:7",
            "bank:secret:version:1",
            "用户:密码:错误次数:1",
            "live:redpacket:口令:1001",
            "ad:淘口令:7",
            "share:口令",
        ] {
            assert_eq!(found(name), None, "{name}");
        }
        assert!(found("pwd:salt:password:1").is_some_and(|(_, is_last)| is_last));
        for name in ["", "user:1", "password-reset-page", "pwd_changed_at", "passwordless:1", "secretary:1", "密码学:1"]
        {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn plain_values_are_secrets() {
        for value in
            ["hunter2", "123456", "correct horse battery", "\"P@ssw0rd\"", "密码很长", "changeme", "{noop}hunter2"]
        {
            assert!(is_secret("user:1:password", value), "{value}");
        }
        assert!(is_secret("app:1:secret", "0123456789abcdef0123456789abcdef"));
        assert!(is_secret("user:password:alice", "hunter2") && is_secret("password:admin:root", "P@ssw0rd!"));
    }

    #[test]
    fn flags_times_markup_hashes_and_ciphertexts_are_none() {
        for value in [
            "",
            "1",
            "true",
            "false",
            "null",
            "unset",
            "****",
            "h****2",
            "＊＊＊＊",
            "[REDACTED]",
            "1700000000",
            "1700000000123",
            "2024-11-04T12:00:00Z",
            "<html><body>Reset your password</body></html>",
            "{\"min\":8,\"symbols\":true}",
            "https://example.com/reset",
            "$2b$12$abcdefghijklmnopqrstuuMG5kIhQzS1kZ2eYbQzqzqzqzqzqzqzq",
            "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$hash",
            "0123456789abcdef0123456789abcdef",
            "5E884898DA28047151D0E56F8DC6292773603D0D6AABBDD62A11EF721D1542D8",
            "XohImNooBHFR0OVvjcYpJ3NgPQ1qq73WKhHvch0VQtg=",
            "U2FsdGVkX1+vupppZksvRf5pq5g5XjFRlipRkwB0K1Y=",
            "{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
            "ENC(7oFh0zyhDgx2bRQmqLZB0A==)",
            "bad\u{0}text",
            "line\nline",
        ] {
            assert!(!is_secret("user:1:password", value), "{value:?}");
        }
        assert!(!is_secret("user:1:password", &"x9".repeat(200)));
        for value in ["482913", "alice", "in-progress", "step_2", "sms", "1001", "a8f5f167", "user:1001", "weak v2"] {
            assert!(!is_secret("password:user:ann", value), "{value:?}");
        }
    }
}
