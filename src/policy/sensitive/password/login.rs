//! `pass` beside the name of a user or a server: a password even of letters only, as mail servers give them out.

use std::ops::Range;

use super::{PASS, is_harmless, is_time, named_word};
use crate::policy::content::is_one_of;

/// Lengths of such a password.
const LENGTH: std::ops::RangeInclusive<usize> = 6..=64;
/// Most bytes of an object before the field and behind its value that are searched for other members.
const MAX_DISTANCE: usize = 512;
/// Longest name of a member that is considered.
const MAX_NAME_LEN: usize = 48;

/// Ends of the names of users and of servers.
const USERS: [&[u8]; 5] = [b"user", b"username", b"usr", b"login", b"account"];
const SERVERS: [&[u8]; 6] = [b"host", b"hostname", b"server", b"port", b"smtp", b"database"];

/// Values of `pass` beside a user that say how an examination ended, or name a ticket.
const OUTCOMES: [&[u8]; 36] = [
    b"passed",
    b"failed",
    b"failure",
    b"success",
    b"succeeded",
    b"successful",
    b"accepted",
    b"approved",
    b"rejected",
    b"refused",
    b"granted",
    b"denied",
    b"waiting",
    b"unknown",
    b"skipped",
    b"missed",
    b"allowed",
    b"blocked",
    b"cleared",
    b"finished",
    b"completed",
    b"daypass",
    b"weekly",
    b"monthly",
    b"quarterly",
    b"yearly",
    b"annual",
    b"season",
    b"weekend",
    b"single",
    b"student",
    b"premium",
    b"standard",
    b"silver",
    b"platinum",
    b"unlimited",
];

/// Names beside which `pass` is a password.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::policy::sensitive) struct LoginNames {
    user: bool,
    server: bool,
}

impl LoginNames {
    /// Adds the name of a member or field.
    pub fn add(&mut self, name: &[u8]) {
        if name.len() > MAX_NAME_LEN {
            return;
        }
        let last = name.rsplit(|byte| matches!(byte, b'_' | b'-' | b'.')).next().unwrap_or_default();
        let ends = |words: &[&[u8]]| is_one_of(last, words) || is_one_of(super::super::split_hump(last).1, words);
        self.user |= ends(&USERS) || name.to_ascii_lowercase().ends_with(b"user_name");
        self.server |= ends(&SERVERS);
    }

    /// Returns whether a value of `pass` beside these names is a password.
    pub fn make_password(self, value: &[u8]) -> bool {
        let has_letters = value.iter().any(u8::is_ascii_alphabetic);
        self.server || self.user && has_letters && !is_one_of(value, &OUTCOMES)
    }
}

/// Returns the word of a field that is `pass`, perhaps behind what logs in, if its value can be a password.
pub(in crate::policy::sensitive) fn pass<'w>(field: &[u8], value: &[u8], words: &'w [String]) -> Option<&'w str> {
    let can_be = LENGTH.contains(&value.len())
        && value.iter().all(u8::is_ascii_graphic)
        && !is_harmless(PASS, value)
        && !is_time(value);
    named_word(field, words).filter(|word| *word == PASS && can_be)
}

/// Returns the word of a member `pass` whose value is a password by the other members of its object. `open` is where its name begins.
pub(super) fn beside_login<'w>(
    text: &[u8],
    field: &[u8],
    open: usize,
    value: &Range<usize>,
    words: &'w [String],
) -> Option<&'w str> {
    let secret = text.get(value.clone())?;
    let word = pass(field, secret, words)?;
    let is_brace = |byte: &u8| matches!(byte, b'{' | b'}');
    let before = text.get(open.saturating_sub(MAX_DISTANCE)..open)?;
    let before = before.iter().rposition(is_brace).map_or(before, |brace| &before[brace + 1..]);
    let behind = text.get(value.end..text.len().min(value.end + MAX_DISTANCE))?;
    let behind = behind.iter().position(is_brace).map_or(behind, |brace| &behind[..brace]);
    let mut names = LoginNames::default();
    [before, behind].into_iter().for_each(|part| add_members(part, &mut names));
    names.make_password(secret).then_some(word)
}

/// Adds the names of the members in a part of an object.
fn add_members(part: &[u8], names: &mut LoginNames) {
    for end in memchr::memchr_iter(b':', part) {
        let name = part.get(..end).unwrap_or_default().trim_ascii_end();
        let Some(name) = name.strip_suffix(b"\"") else { continue };
        let name = name.strip_suffix(b"\\").unwrap_or(name);
        let start = name.iter().rposition(|byte| *byte == b'"').map_or(0, |quote| quote + 1);
        names.add(name.get(start..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FIELDS, scan};

    fn finds(text: &str) -> bool {
        let words: Vec<String> = FIELDS.iter().map(|word| (*word).to_owned()).collect();
        let mut found = false;
        scan(text.as_bytes(), &words, |_, _| found = true);
        found
    }

    #[test]
    fn pass_beside_a_user_or_a_server_is_a_password() {
        for text in [
            r#"{"host":"smtp.qq.example","port":465,"auth":{"user":"shop","pass":"abcdefghijklmnop"}}"#,
            r#"{"pass":"letmein","username":"root"}"#,
            r#"{"smtpHost":"mail.example","smtpPass":"ABCDEFGHIJKLMNOP"}"#,
            r#"{"db_host":"db1","db_pass":"12345678"}"#,
            r#"{"userName":"root", "pass" : "correcthorse"}"#,
            r#"{"config":"{\"user\":\"shop\",\"pass\":\"abcdefghijklmnop\"}"}"#,
        ] {
            assert!(finds(text), "{text}");
        }
        for text in [
            r#"{"pass":"abcdefghijklmnop"}"#,
            r#"{"exam":{"pass":"abcdefgh"},"user":"ann"}"#,
            r#"{"user":"ann","pass":"failed"}"#,
            r#"{"user":"ann","pass":"monthly"}"#,
            r#"{"user":"ann","pass":"20261101"}"#,
            r#"{"user":"ann","pass":"true"}"#,
            r#"{"user":"ann","pass":"2026-11-27"}"#,
            r#"{"user":"ann","boardingPass":"abcdefgh"}"#,
            r#"{"userCount":"7","pass":"abcdefgh"}"#,
            r#"{"host":"db1","pass":"******"}"#,
            r#"{"host":"db1","pass":"5f4dcc3b5aa765d61d8327deb882cf99"}"#,
        ] {
            assert!(!finds(text), "{text}");
        }
    }
}
