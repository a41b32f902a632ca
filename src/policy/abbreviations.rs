//! Usual abbreviations of words in key names.
//!
//! Only abbreviations that engineers read without a glossary: cutting any word to its first letters would save more, but
//! names must stay readable.

use std::borrow::Cow;

use crate::policy::content::is_hump;

/// Words and their abbreviations, sorted by word.
const WORDS: [(&str, &str); 58] = [
    ("addresses", "addrs"),
    ("administrator", "admin"),
    ("application", "app"),
    ("applications", "apps"),
    ("attribute", "attr"),
    ("attributes", "attrs"),
    ("authentication", "auth"),
    ("authorization", "authz"),
    ("average", "avg"),
    ("certificate", "cert"),
    ("certificates", "certs"),
    ("condition", "cond"),
    ("conditions", "conds"),
    ("configuration", "conf"),
    ("connection", "conn"),
    ("connections", "conns"),
    ("coordinate", "coord"),
    ("coordinates", "coords"),
    ("database", "db"),
    ("department", "dept"),
    ("departments", "depts"),
    ("description", "desc"),
    ("descriptions", "descs"),
    ("destination", "dest"),
    ("directory", "dir"),
    ("document", "doc"),
    ("documents", "docs"),
    ("frequency", "freq"),
    ("identifier", "id"),
    ("information", "info"),
    ("language", "lang"),
    ("languages", "langs"),
    ("location", "loc"),
    ("locations", "locs"),
    ("management", "mgmt"),
    ("maximum", "max"),
    ("message", "msg"),
    ("messages", "msgs"),
    ("minimum", "min"),
    ("notification", "notif"),
    ("notifications", "notifs"),
    ("organization", "org"),
    ("organizations", "orgs"),
    ("parameter", "param"),
    ("parameters", "params"),
    ("permission", "perm"),
    ("permissions", "perms"),
    ("picture", "pic"),
    ("pictures", "pics"),
    ("processing", "proc"),
    ("quantity", "qty"),
    ("reference", "ref"),
    ("repository", "repo"),
    ("request", "req"),
    ("requests", "reqs"),
    ("response", "resp"),
    ("statistics", "stats"),
    ("transaction", "txn"),
];

/// Abbreviates the words of a segment, which begin behind anything but an ASCII letter and at a capital behind a small
/// letter: `basicInformation` becomes `basicInfo`.
///
/// Returns `None` if there is nothing to abbreviate, or if parts of it stand for something else: braces of classes, backslashes.
pub fn abbreviated(segment: &str) -> Option<String> {
    if !segment.is_ascii() || segment.contains(['{', '}', '\\']) {
        return None;
    }
    let mut short = String::new();
    let mut rest = segment;
    while !rest.is_empty() {
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let hump = rest.as_bytes().windows(2).position(|pair| is_hump(pair[0], pair[1]));
        let end = hump.map_or(letters, |hump| letters.min(hump + 1)).max(1);
        let (word, behind) = rest.split_at(end);
        short.push_str(&of_word(word));
        rest = behind;
    }
    (short.len() < segment.len()).then_some(short)
}

/// Returns the abbreviation of a word in its case, otherwise the word.
fn of_word(word: &str) -> Cow<'_, str> {
    let lower = word.to_ascii_lowercase();
    let Ok(at) = WORDS.binary_search_by(|(known, _)| (*known).cmp(&lower)) else { return Cow::Borrowed(word) };
    let (_, short) = WORDS[at];
    let (first, others) = word.split_at(1);
    let small = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase());
    match (small(first), small(others)) {
        (true, true) => Cow::Borrowed(short),
        (false, true) => Cow::Owned(format!("{}{}", short[..1].to_ascii_uppercase(), &short[1..])),
        (false, false) if word.bytes().all(|byte| byte.is_ascii_uppercase()) => Cow::Owned(short.to_ascii_uppercase()),
        _ => Cow::Borrowed(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_abbreviations_distinct() {
        assert!(WORDS.is_sorted_by(|one, other| one.0 < other.0));
        let mut short: Vec<_> = WORDS.iter().map(|(_, short)| short).collect();
        short.sort_unstable();
        short.dedup();
        assert_eq!(short.len(), WORDS.len());
        assert!(WORDS.iter().all(|(word, short)| short.len() + 2 < word.len()));
    }

    #[test]
    fn words_of_a_segment_are_abbreviated_in_their_case() {
        for (segment, short) in [
            ("messages", Some("msgs")),
            ("basic.information", Some("basic.info")),
            ("user_messages-7", Some("user_msgs-7")),
            ("basicInformation", Some("basicInfo")),
            ("MessageCount", Some("MsgCount")),
            ("MESSAGES", Some("MSGS")),
            ("friends", None),
            ("mEssages", None),
            ("messagesé", None),
            ("messages_{int}", None),
            ("", None),
            ("::", None),
        ] {
            assert_eq!(abbreviated(segment).as_deref(), short, "{segment}");
        }
    }
}
