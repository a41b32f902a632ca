//! Detection of passwords behind a label in running text, as in a message to a user or to a model: `您的初始密码是Abc@123456，请及时修改`,
//! `my password is Abc12345`.
//!
//! A mark or a verb has to stand between the label and the password, which has 6 characters or more, with letters and digits among
//! them; in English a verb, or a colon behind `new password`, the name of an account and the like, since a colon stands in other texts,
//! too. Codes by which anybody opens an archive or a shared file do not count, nor do names of algorithms.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::password;
use crate::policy::content::is_one_of;

static LABELS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["密", "口令"].map(Finder::new));
static ENGLISH: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("assword"));

/// Second characters of the first label.
const CODES: [&str; 2] = ["码", "碼"];

/// Signs between a label and a password, blanks aside. A verb may have a colon behind it.
const MARKS: [&str; 5] = ["：", ":", "=", "＝", "->"];
const VERBS: [&str; 3] = ["是", "为", "為"];
const COLONS: [&str; 2] = ["：", ":"];
/// What is done to a password, before a verb: `密码已重置为…`, `密码改成…`.
const CHANGES: [&str; 8] = ["重置", "重设", "修改", "更改", "设置", "初始化", "改", "设"];
const BEFORE_CHANGE: [&str; 3] = ["已经", "已", "被"];
const BECOMES: [&str; 3] = ["为", "為", "成"];

/// Opening marks of a quotation.
const QUOTES: [&str; 8] = ["「", "『", "“", "‘", "【", "\\\"", "\"", "'"];

/// Words before a label that make it a code which is given to everybody.
const SHARED: [&str; 11] = ["解压", "提取", "分享", "访问", "下载", "压缩包", "淘", "红包", "领取", "复制", "优惠"];

const ENGLISH_SHARED: [&[u8]; 10] =
    [b"zip", b"rar", b"archive", b"unzip", b"extract", b"extraction", b"share", b"sharing", b"download", b"meeting"];

/// Bytes before a label that are looked at: for a word, and for the name of an account.
const MAX_WORD_LEN: usize = 16;
const MAX_ACCOUNT_LEN: usize = 96;

/// Names of algorithms and codes, which stand where a password does: `密码是SHA256加密的`.
const ALGORITHMS: [&[u8]; 10] =
    [b"base64", b"base32", b"sha256", b"sha512", b"sha384", b"sha-256", b"sha-512", b"pbkdf2", b"argon2", b"argon2id"];

/// Reports the passwords in a text that has labels.
pub(super) fn scan(text: &[u8], mut see: impl FnMut(Range<usize>)) {
    for label in LABELS.iter() {
        for at in label.find_iter(text) {
            let before = text.get(..at).unwrap_or_default();
            let Some(end) = label_end(text, at, label.needle()) else { continue };
            if !SHARED.iter().any(|word| before.ends_with(word.as_bytes()))
                && let Some(range) = password_from(text, end)
            {
                see(range);
            }
        }
    }
    for at in ENGLISH.find_iter(text) {
        let end = at + ENGLISH.needle().len();
        if is_english_label(text.get(..at).unwrap_or_default())
            && let Some(range) = english_password(text, end)
        {
            see(range);
        }
    }
}

/// Returns whether a text ends with the beginning of the word `password`, without a word before it that makes it a shared code.
fn is_english_label(before: &[u8]) -> bool {
    let Some((b'p' | b'P', before)) = before.split_last() else { return false };
    let words = before.get(before.len().saturating_sub(MAX_WORD_LEN)..).unwrap_or(before);
    let is_shared = is_one_of(last_word(words), &ENGLISH_SHARED);
    !is_shared && before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"_-.".contains(byte))
}

/// Returns the English word that a text ends with, blanks aside.
fn last_word(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let start = text.iter().rposition(|byte| !byte.is_ascii_alphabetic()).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default()
}

/// Words before the English label behind which a colon is enough: a message tells somebody a password.
const TELLING: [&[u8]; 4] = [b"new", b"temporary", b"initial", b"default"];

/// Words of an account, whose name stands before the label: `Username: ann Password: …`.
const ACCOUNTS: [&[u8]; 5] = [b"username", b"user", b"login", b"account", b"email"];

/// Returns whether a text ends with the name of an account behind a word for it and a colon.
fn ends_with_account(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let text = text.strip_suffix(b",").or_else(|| text.strip_suffix(b";")).unwrap_or(text);
    let longest = text.get(text.len().saturating_sub(MAX_ACCOUNT_LEN)..).unwrap_or(text);
    let name = longest.iter().rev().take_while(|byte| byte.is_ascii_graphic()).count();
    let label = longest.get(..longest.len() - name).unwrap_or_default().trim_ascii_end().strip_suffix(b":");
    name > 0 && label.is_some_and(|label| is_one_of(last_word(label), &ACCOUNTS))
}

/// Returns the password that follows the English label which ends here, and a verb, or a colon in a message that tells it.
fn english_password(text: &[u8], end: usize) -> Option<Range<usize>> {
    let before = text.get(..end - "password".len())?;
    if (is_one_of(last_word(before), &TELLING) || ends_with_account(before))
        && let Some(value) = text.get(end..)?.trim_ascii_start().strip_prefix(b":")
        && value.starts_with(b" ")
    {
        return password_at(text, value.trim_ascii_start());
    }
    let rest = text.get(end..)?.strip_prefix(b" ")?.trim_ascii_start();
    let behind = rest.strip_prefix(b"is").or_else(|| rest.strip_prefix(b"IS"))?;
    let value = behind.trim_ascii_start();
    let value = without_mark(value, &COLONS).unwrap_or(value);
    (value.len() < behind.len()).then(|| password_at(text, value)).flatten()
}

/// Returns the end of the label that begins with these characters.
fn label_end(text: &[u8], at: usize, begins: &[u8]) -> Option<usize> {
    let end = at + begins.len();
    if begins != "密".as_bytes() {
        return Some(end);
    }
    let rest = text.get(end..)?;
    CODES.iter().find(|code| rest.starts_with(code.as_bytes())).map(|code| end + code.len())
}

/// Removes one of these marks from the beginning of a text, and the blanks behind it.
fn without_mark<'t>(text: &'t [u8], marks: &[&str]) -> Option<&'t [u8]> {
    marks.iter().find_map(|mark| text.strip_prefix(mark.as_bytes())).map(<[u8]>::trim_ascii_start)
}

/// Returns the password that follows a label which ends here.
fn password_from(text: &[u8], end: usize) -> Option<Range<usize>> {
    let rest = text.get(end..)?.trim_ascii_start();
    let change = || {
        let done = without_mark(rest, &BEFORE_CHANGE).unwrap_or(rest);
        without_mark(without_mark(done, &CHANGES)?, &BECOMES)
    };
    let verb = || without_mark(rest, &VERBS).or_else(change);
    let verb = || verb().map(|behind| without_mark(behind, &COLONS).unwrap_or(behind));
    password_at(text, without_mark(rest, &MARKS).or_else(verb)?)
}

/// Returns the password that a text ends with from here on, perhaps in quotes, and with other words behind it.
fn password_at(text: &[u8], behind: &[u8]) -> Option<Range<usize>> {
    let behind = without_mark(behind, &QUOTES).unwrap_or(behind);
    let is_end = |byte: &u8| !byte.is_ascii_graphic() || matches!(byte, b',' | b';' | b'"' | b'\'' | b'<' | b'&');
    let longest = behind.get(..=*password::MIXED.end()).unwrap_or(behind);
    let length = longest.iter().position(is_end).unwrap_or(longest.len());
    let value = behind.get(..length)?;
    let value = value.strip_suffix(b".").or_else(|| value.strip_suffix(b"\\")).unwrap_or(value);
    let is_template = value.starts_with(b"{") && value.ends_with(b"}");
    let is_password = memchr::memmem::find(value, b"://").is_none()
        && !is_template
        && !is_one_of(value, &ALGORITHMS)
        && password::is_mixed(value);
    let start = text.len() - behind.len();
    is_password.then_some(start..start + value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        scan(text.as_bytes(), |range| found.push(&text[range]));
        found
    }

    #[test]
    fn passwords_behind_a_label_are_found() {
        for text in [
            "密码：Abc@123456",
            "密码: Abc@123456",
            "账号：admin 密码：Abc@123456",
            "您的初始密码是Abc@123456，请及时修改",
            "您的登录密码为 Abc@123456。",
            "{\"remark\":\"口令=Abc@123456\"}",
            "【政务服务】您的登录密码为：Abc@123456，请勿泄露",
            "密码是：Abc@123456",
            "密码为「Abc@123456」",
            "密码为“Abc@123456”",
            "密码为: \"Abc@123456\"",
            "{\"remark\":\"密码为\\\"Abc@123456\\\"\"}",
            "您的密碼為：Abc@123456",
            "您的密码已重置为Abc@123456",
            "您的密码已经被管理员修改，登录密码重置为：Abc@123456。",
            "密码改成「Abc@123456」",
            "my password is Abc@123456",
            "Your new password: Abc@123456",
            "Temporary password: Abc@123456. Change it soon.",
            "{\"content\":\"my password is Abc@123456, log me in\"}",
            "Password is: 'Abc@123456'.",
            "Your new password is \\\"Abc@123456\\\"",
            "Username: ann Password: Abc@123456",
            "Login: ann@corp.cn, password: Abc@123456",
        ] {
            assert_eq!(found(text), ["Abc@123456"], "{text}");
        }
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "密码",
            "密码：",
            "密码：******",
            "密码：请输入6到16位",
            "密码错误次数：12345678",
            "密码：123456",
            "密码：${DB_PASSWORD1}",
            "密码：e10adc3949ba59abbe56e057f20f883e",
            "解压密码：abc123456",
            "提取密码：x7k2p9",
            "复制口令：￥Xy12abCd￥打开",
            "红包口令：Abc123456",
            "保密：Abc123456",
            "密码：：Abc@123456",
            "密码为空：Abc123456",
            "密码已修改，单号 Abc123456",
            "密码重置链接：Abc123456",
            "修改密码 https://a.com/reset?x=12345",
            "密码是https://a.com/x1",
            "密码是SHA256加密的",
            "密码是{password1}",
            "the password is base64 encoded",
            "password is required",
            "password is at least 8 characters",
            "password is 8-20 characters long",
            "your password is ${PASSWORD1}",
            "your password is {password1}",
            "the zip password is abc12345",
            "mypassword is abc12345",
            "the passwords is abc12345",
            "password isabc12345",
            "password_hint is abc12345",
            "Your password: x7k2p9",
            "Form: ann Password: x7k2p9",
            "Username: Password: x7k2p9",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
