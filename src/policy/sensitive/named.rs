//! Values of keys whose name says that they hold a password: `user:1001:password`, `app:secret:7`, `login.pwd`.
//!
//! The last word of a segment counts, numbers behind it aside: not `password-reset-page`, nor `pwd_changed_at`. Where only
//! ids follow, the value is taken for the password unless it cannot be one: flags, times, markup, hashes. Where other words
//! follow (`password:user:ann`), it must also look like one: letters and digits mixed, without words. So must the members of
//! a set. Words such as `salt` and `reset` behind it say that the value is something else. Lists of forbidden passwords
//! (`weak:password`) do not count.

use super::{password, split_hump};
use crate::pattern::segment::Separators;
use crate::policy::content::serialized::unwrapped;
use crate::policy::content::{is_one_of, without_braces};

/// Default words. A bare `token` or `key` is none of them.
pub const NAMES: &[&str] =
    &["password", "passwd", "pwd", "psw", "pswd", "passphrase", "secret", "密码", "密碼", "口令", "mima", "kouling"];

/// Words for passwords that are also ones for codes which are given to everybody.
const CODES: [&str; 2] = ["口令", "kouling"];

/// Words that may be written in one with the word for a password: `loginpwd`, `zhifumima`. Others would make it the end of another word.
const FUSED: [&[u8]; 44] = [
    b"login",
    b"signin",
    b"user",
    b"usr",
    b"pay",
    b"init",
    b"initial",
    b"default",
    b"root",
    b"admin",
    b"db",
    b"app",
    b"client",
    b"sys",
    b"system",
    b"mysql",
    b"redis",
    b"mongo",
    b"oracle",
    b"ftp",
    b"smtp",
    b"mail",
    b"email",
    b"wifi",
    b"trade",
    b"withdraw",
    b"fund",
    b"account",
    b"acct",
    b"member",
    b"merchant",
    b"customer",
    b"card",
    b"bank",
    b"auth",
    b"old",
    b"new",
    b"denglu",
    b"yonghu",
    b"zhifu",
    b"jiaoyi",
    b"guanli",
    b"chushi",
    b"tixian",
];

/// Words right before that for a password which make digits a code for one login: `one_time_password`, `动态密码`.
const ONE_TIME: [&str; 10] = ["onetime", "otp", "totp", "hotp", "dynamic", "sms", "mfa", "2fa", "动态", "一次性"];
const CHINESE_SMS: &str = "短信";

/// Digits of such a code.
const CODE_DIGITS: std::ops::RangeInclusive<usize> = 4..=8;

/// Words right before `secret` that make a UUID the id of a task, as [CHANGES] and [PROCEDURES] do.
const TASKS: [&str; 8] = ["rotate", "rotation", "renew", "regenerate", "generate", "create", "sync", "revoke"];

/// Lengths of what is taken for a password, in bytes.
const MIN_LEN: usize = 4;
const MAX_LEN: usize = 256;
/// Lengths of what is taken for one where other words follow.
const MIN_NESTED_LEN: usize = 6;
const MAX_NESTED_LEN: usize = 64;

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

/// Words of what is given to everybody who knows a code: `redpacket:口令`, `淘口令`, `share:pwd`.
const GIVEN: [&str; 12] = [
    "redpacket",
    "red_packet",
    "redenvelope",
    "red_envelope",
    "hongbao",
    "share",
    "coupon",
    "红包",
    "分享",
    "优惠",
    "领取",
    "邀请",
];

/// Another word for what is opened by a code, looked for only in names that end with one of [CODES].
const GIVEN_TAOBAO: [&str; 2] = ["淘", "taokouling"];

/// Actions on a password: behind these words, the value is a code or a mark of the procedure rather than the password.
const CHANGES: [&str; 13] = [
    "reset", "forget", "forgot", "modify", "change", "recover", "recovery", "retrieve", "重置", "忘记", "修改", "更改",
    "找回",
];

/// Words that make a value a code of a procedure only directly before the word for a password. Elsewhere they mean something else:
/// `code:repo:password`.
const PROCEDURES: [&str; 43] = [
    "lost",
    "renew",
    "rotate",
    "request",
    "resend",
    "changed",
    "modified",
    "update",
    "updated",
    "find",
    "set",
    "edit",
    "verify",
    "validate",
    "check",
    "captcha",
    "verifycode",
    "code",
    "otp",
    "error",
    "errors",
    "err",
    "wrong",
    "fail",
    "failed",
    "fails",
    "failure",
    "try",
    "retry",
    "attempt",
    "attempts",
    "count",
    "times",
    "limit",
    "expire",
    "expired",
    "更新",
    "设置",
    "验证",
    "校验",
    "验证码",
    "错误",
    "失败",
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
    /// True if the words before it make the value a code of a procedure (`reset_pwd`), or one that is given to everybody (`share:pwd`).
    pub is_of_code: bool,
    /// True if they make digits a code for one login (`sms_pwd`).
    is_one_time: bool,
    /// True if they make a UUID the id of a task (`rotate_secret`).
    is_of_task: bool,
}

/// Returns the last word of a name that says password.
pub(super) fn find<'w>(name: &[u8], words: &'w [String], separators: &Separators) -> Option<PasswordName<'w>> {
    let segments = || separators.split(name).map(bare);
    // The word, its place among the segments, and whether only ids follow it.
    let mut found: Option<(&'w str, usize, bool)> = None;
    for (at, segment) in segments().enumerate() {
        found = match (word_of(segment, words), found) {
            (Some(word), _) => Some((word, at, true)),
            (None, Some(_)) if is_about(segment) => None,
            (None, found) => found.map(|(word, at, is_last)| (word, at, is_last && is_id(segment))),
        };
    }
    let (word, at, is_last) = found?;
    let lower = name.to_ascii_lowercase();
    let is_forbidden = FORBIDDEN.iter().any(|word| memchr::memmem::find(&lower, word).is_some());
    if is_forbidden || is_code_word(word) && gives_out(name) {
        return None;
    }
    let before = at.checked_sub(1).and_then(|before| segments().nth(before)).unwrap_or_default();
    let two = words_before(before, segments().nth(at).unwrap_or_default(), word);
    let changes = || segments().take(at + 1).flat_map(words_of).any(|word| is_among(word, &CHANGES));
    let is_of_procedure = is_among(two[0], &PROCEDURES) || changes();
    let is_hashable = password::is_hashable(word);
    Some(PasswordName {
        word,
        is_last,
        is_of_code: is_hashable && (is_of_procedure || is_given(two)),
        is_one_time: is_hashable && is_of_one_login(two),
        is_of_task: !is_hashable && (is_of_procedure || is_among(two[0], &TASKS)),
    })
}

/// Returns whether a word for a password is also one for codes which are given to everybody.
pub(super) fn is_code_word(word: &str) -> bool {
    CODES.contains(&word)
}

/// Returns whether a field of this name holds a code for one login: `oneTimePassword` is 482913.
pub(super) fn is_one_time(field: &[u8], password: &str, value: &[u8]) -> bool {
    is_login_code(value) && is_of_one_login(words_before(b"", field, password))
}

/// Returns whether a word, perhaps with the one before it, makes digits behind it a code for one login.
fn is_of_one_login([word, before]: [&[u8]; 2]) -> bool {
    is_among(word, &ONE_TIME) || is_among(&[before, word].concat(), &ONE_TIME) || word.ends_with(CHINESE_SMS.as_bytes())
}

fn is_login_code(value: &[u8]) -> bool {
    CODE_DIGITS.contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

/// Returns a segment without blanks around it, and without the braces of a hash tag.
fn bare(segment: &[u8]) -> &[u8] {
    without_braces(segment.trim_ascii())
}

/// Returns whether a segment behind the word for a password says something about it.
fn is_about(segment: &[u8]) -> bool {
    words_of(segment).any(|word| is_one_of(word, &ABOUT) || is_among(word, &CHINESE_ABOUT))
}

/// Returns the words of a segment, the last one first; none of a very long segment.
fn words_of(segment: &[u8]) -> impl Iterator<Item = &[u8]> {
    let segment = if segment.len() > MAX_LEN { &[] } else { segment };
    let pieces = segment.rsplit(|byte| matches!(byte, b'.' | b'_' | b'-' | b' '));
    pieces.flat_map(|piece| {
        let mut rest = piece;
        std::iter::from_fn(move || {
            let (before, last) = split_hump(rest);
            rest = before;
            (!last.is_empty()).then_some(last)
        })
    })
}

/// Returns the two words right before that for a password, in its segment and at the end of the one before; the last one first.
fn words_before<'n>(before: &'n [u8], segment: &'n [u8], password: &str) -> [&'n [u8]; 2] {
    let mut words = words_of(segment).skip_while(|word| word.iter().all(u8::is_ascii_digit));
    let own = words.next().unwrap_or_default();
    // Chinese words are not divided.
    let joined = own.strip_suffix(password.as_bytes()).filter(|start| !password.is_ascii() && !start.is_empty());
    let mut words = joined.into_iter().chain(words).chain(words_of(before));
    [words.next().unwrap_or_default(), words.next().unwrap_or_default()]
}

/// Returns whether a word, perhaps with the one before it, names what is given to everybody who knows a code.
fn is_given([word, before]: [&[u8]; 2]) -> bool {
    is_among(word, &GIVEN) || is_among(&[before, word].concat(), &GIVEN)
}

/// Returns whether a word is one of a list, or if it is Chinese, whether it has one of them in it.
fn is_among(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|known| match known.is_ascii() {
        true => word.eq_ignore_ascii_case(known.as_bytes()),
        false => memchr::memmem::find(word, known.as_bytes()).is_some(),
    })
}

/// Returns whether a name says that its codes are given to everybody.
pub(super) fn gives_out(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    GIVEN.iter().chain(&GIVEN_TAOBAO).any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// Returns whether the name of a field is that of a code which is given to everybody: `sharePwd`, `红包密码`.
pub(super) fn is_shared(field: &[u8], password: &str) -> bool {
    is_given(words_before(b"", field, password))
}

/// Returns whether a key is of something that is opened by such a code: `live:redpacket:7`.
pub(super) fn is_of_share(name: &[u8], separators: &Separators) -> bool {
    let last = separators.split(name).filter(|segment| !is_id(segment)).fold(&b""[..], |_, segment| segment);
    let mut words = words_of(last);
    is_given([words.next().unwrap_or_default(), words.next().unwrap_or_default()])
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
        true => last.eq_ignore_ascii_case(word.as_bytes()) || is_fused(last, word.as_bytes()),
        false => last.ends_with(word.as_bytes()),
    };
    words.iter().find(is).map(String::as_str)
}

/// Returns whether a text is a word for a password with another one before it, both in small or both in capital letters.
fn is_fused(text: &[u8], word: &[u8]) -> bool {
    let (before, end) = text.split_at(text.len().saturating_sub(word.len()));
    !before.is_empty() && end.eq_ignore_ascii_case(word) && is_one_of(before, &FUSED)
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
        let is_code = self.is_one_time && is_login_code(bare) || self.is_of_task && password::is_uuid(bare);
        sure && !is_code && if self.is_of_code { is_chosen(bare) } else { self.is_last || looks_like_password(bare) }
    }
}

/// Returns whether a text can be a password at all.
fn can_be_password(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let is_markup = text.starts_with(['{', '[', '<']);
    (MIN_LEN..=MAX_LEN).contains(&text.len())
        && !text.chars().any(char::is_control)
        && !(is_markup || password::is_time(text.as_bytes()) || text.contains("://"))
}

/// Returns whether a text looks like a password even where the name says little: letters and digits, perhaps other marks, but no
/// blanks and none of the marks that join words.
pub(super) fn looks_like_password(text: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    (MIN_NESTED_LEN..=MAX_NESTED_LEN).contains(&text.len())
        && has(u8::is_ascii_alphabetic)
        && has(u8::is_ascii_digit)
        && text.iter().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'-' | b'_' | b':' | b'/' | b'.' | b','))
        && (!text.iter().all(u8::is_ascii_hexdigit) || counts_up(text))
}

/// Returns whether a text is letters before digits from 1 on, as the commonest passwords are: `abc123`, `Aa123456`. No id is.
fn counts_up(text: &[u8]) -> bool {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    text.get(letters..).is_some_and(|digits| digits.len() >= 3 && b"1234567890".starts_with(digits))
}

/// Returns whether a text has a mark that people put into passwords, and codes and tokens do not have.
pub(super) fn is_chosen(text: &[u8]) -> bool {
    looks_like_password(text) && text.iter().any(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'='))
}

#[cfg(test)]
mod tests;
