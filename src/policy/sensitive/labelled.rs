//! Detection of passwords behind a Chinese label in running text, as in a message to a user: `您的初始密码是Abc@123456，请及时修改`.
//!
//! A mark or a verb has to stand between the label and the password, which has 6 characters or more, with letters and digits among
//! them. Codes by which anybody opens an archive or a shared file do not count.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::password;

static LABELS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["密", "口令"].map(Finder::new));

/// Second characters of the first label.
const CODES: [&str; 2] = ["码", "碼"];

/// Signs between a label and a password, blanks aside. A verb may have a colon behind it.
const MARKS: [&str; 5] = ["：", ":", "=", "＝", "->"];
const VERBS: [&str; 3] = ["是", "为", "為"];
const COLONS: [&str; 2] = ["：", ":"];

/// Opening marks of a quotation.
const QUOTES: [&str; 8] = ["「", "『", "“", "‘", "【", "\\\"", "\"", "'"];

/// Words before a label that make it a code which is given to everybody.
const SHARED: [&str; 11] = ["解压", "提取", "分享", "访问", "下载", "压缩包", "淘", "红包", "领取", "复制", "优惠"];

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
    let verb = || without_mark(rest, &VERBS).map(|behind| without_mark(behind, &COLONS).unwrap_or(behind));
    let behind = without_mark(rest, &MARKS).or_else(verb)?;
    let behind = without_mark(behind, &QUOTES).unwrap_or(behind);
    let is_end = |byte: &u8| !byte.is_ascii_graphic() || matches!(byte, b',' | b';' | b'"' | b'\'' | b'<' | b'&');
    let longest = behind.get(..=*password::MIXED.end()).unwrap_or(behind);
    let length = longest.iter().position(is_end).unwrap_or(longest.len());
    let value = behind.get(..length)?;
    let value = value.strip_suffix(b".").or_else(|| value.strip_suffix(b"\\")).unwrap_or(value);
    let is_password = memchr::memmem::find(value, b"://").is_none() && password::is_mixed(value);
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
            "修改密码 https://a.com/reset?x=12345",
            "密码是https://a.com/x1",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
