//! Selection of keys by database, type, name and expiry.
//!
//! Several values of one flag are alternatives; different flags must all hold.

mod glob;

pub use glob::Glob;

use regex::bytes::Regex;

use crate::error::{Error, Result};
use crate::record::{Kind, Record};
use crate::units::Millis;

/// Conditions that a key must meet to count. The default accepts every key.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Database is one of these (`--db`); any if empty.
    pub databases: Vec<u64>,
    /// Type is one of these (`--type`); any if empty.
    pub kinds: Vec<Kind>,
    /// Name matches one of these globs (`--match`); any if empty.
    pub match_globs: Vec<Glob>,
    /// Name contains a match of one of these expressions (`--regex`); any if empty.
    pub regexes: Vec<Regex>,
    /// Key is not expired at the reference time (`--no-expired`).
    pub no_expired: bool,
}

impl Selection {
    /// Returns whether every key counts.
    pub fn is_everything(&self) -> bool {
        !self.no_expired
            && self.databases.is_empty()
            && self.kinds.is_empty()
            && self.match_globs.is_empty()
            && self.regexes.is_empty()
    }

    /// Returns whether a record counts.
    pub fn matches(&self, record: &Record<'_>, reference: Option<Millis>) -> bool {
        self.wants(record.db, record.kind, record.key, record.expires_at, reference)
    }

    /// Returns whether a key with these facts counts. All conditions can be checked before the value is walked.
    ///
    /// Without a reference time no key counts as expired.
    pub fn wants(
        &self,
        db: u64,
        kind: Kind,
        key: &[u8],
        expires_at: Option<Millis>,
        reference: Option<Millis>,
    ) -> bool {
        self.wants_database(db) && self.wants_in_any_database(kind, key, expires_at, reference)
    }

    /// Like [`Selection::wants`], for a key whose database is not known yet.
    #[inline]
    pub fn wants_in_any_database(
        &self,
        kind: Kind,
        key: &[u8],
        expires_at: Option<Millis>,
        reference: Option<Millis>,
    ) -> bool {
        self.wants_kind(kind) && !(self.no_expired && is_expired(expires_at, reference)) && self.wants_name(key)
    }

    /// Returns whether keys of this database can count.
    #[inline]
    pub fn wants_database(&self, db: u64) -> bool {
        self.databases.is_empty() || self.databases.contains(&db)
    }

    /// Returns whether keys of this type can count.
    #[inline]
    pub fn wants_kind(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Returns whether keys of this name can count.
    #[inline]
    pub fn wants_name(&self, key: &[u8]) -> bool {
        (self.match_globs.is_empty() || self.match_globs.iter().any(|glob| glob.matches(key)))
            && (self.regexes.is_empty() || self.regexes.iter().any(|regex| regex.is_match(key)))
    }

    /// Returns the selection as flags, one per line; empty if every key counts.
    pub fn describe(&self) -> Vec<String> {
        let databases = self.databases.iter().map(|db| format!("--db {db}"));
        let kinds = self.kinds.iter().map(|kind| format!("--type {kind}"));
        let globs = self.match_globs.iter().map(|glob| format!("--match {}", glob.source()));
        let regexes = self.regexes.iter().map(|regex| format!("--regex {regex}"));
        let expired = self.no_expired.then(|| "--no-expired".to_owned());
        databases.chain(kinds).chain(globs).chain(regexes).chain(expired).collect()
    }
}

/// Compiles a regular expression for [`Selection::regexes`], which is searched anywhere in a name.
///
/// Names are bytes: `.` and classes match whole UTF-8 characters, or single bytes after `(?-u)`.
pub fn parse_regex(pattern: &str) -> Result<Regex> {
    Regex::new(pattern).map_err(|error| {
        let fault = match &error {
            regex::Error::Syntax(explanation) => explain(pattern, explanation),
            regex::Error::CompiledTooBig(limit) => format!("takes more than {limit} bytes when compiled"),
            other => other.to_string(),
        };
        Error::usage(format!("--regex {pattern:?}: {fault}"))
    })
}

/// Extracts position and reason from the parser's message: the indented pattern, a caret below it, then `error:
/// reason`.
fn explain(pattern: &str, drawing: &str) -> String {
    const INDENT: usize = 4;
    let reason = drawing.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or("is not valid");
    // The pattern itself may consist of carets and blanks, so the caret's line is found as the one below it.
    let mut below = drawing.lines().skip_while(|line| line.get(INDENT..) != Some(pattern)).skip(1);
    let caret = below.next().and_then(|line| line.find('^')).and_then(|column| column.checked_sub(INDENT));
    match caret {
        Some(place) => format!("character {}: {reason}", place + 1),
        None => reason.to_owned(), // a multi-line pattern
    }
}

/// Returns true if a key has expired at the reference time; without a reference time, no key counts as expired.
#[inline]
fn is_expired(expires_at: Option<Millis>, reference: Option<Millis>) -> bool {
    matches!((expires_at, reference), (Some(at), Some(reference)) if at < reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Option<Millis> = Some(Millis(1_000));

    fn wants(selection: &Selection, db: u64, kind: Kind, key: &str) -> bool {
        selection.wants(db, kind, key.as_bytes(), None, NOW)
    }

    fn globs(patterns: &[&str]) -> Vec<Glob> {
        patterns.iter().map(|pattern| Glob::new(pattern).unwrap()).collect()
    }

    #[test]
    fn nothing_asked_selects_everything() {
        let selection = Selection::default();
        assert!(selection.is_everything() && wants(&selection, 9, Kind::Module, ""));
        assert!(selection.describe().is_empty());
    }

    #[test]
    fn values_of_one_flag_are_alternatives() {
        let selection =
            Selection { databases: vec![0, 3], match_globs: globs(&["user:*", "*:1"]), ..Default::default() };
        let found = [(0, "user:2"), (3, "a:1"), (1, "user:1"), (0, "a:2")]
            .map(|(db, key)| wants(&selection, db, Kind::Set, key));
        assert_eq!(found, [true, true, false, false]);
    }

    #[test]
    fn different_flags_must_all_hold() {
        let selection = Selection {
            kinds: vec![Kind::Hash],
            match_globs: globs(&["user:*"]),
            regexes: vec![parse_regex(r"\d$").unwrap()],
            ..Default::default()
        };
        let found = [(Kind::Hash, "user:1"), (Kind::Set, "user:1"), (Kind::Hash, "user:x"), (Kind::Hash, "u:1")];
        assert_eq!(found.map(|(kind, key)| wants(&selection, 0, kind, key)), [true, false, false, false]);
    }

    #[test]
    fn expired_keys_go_only_when_asked_and_when_the_time_is_known() {
        let selection = Selection { no_expired: true, ..Default::default() };
        let wants = |at, reference| selection.wants(0, Kind::Set, b"a", at, reference);
        assert!(wants(None, NOW) && wants(Some(Millis(1_000)), NOW) && wants(Some(Millis(1)), None));
        assert!(!wants(Some(Millis(999)), NOW));
        assert!(Selection::default().wants(0, Kind::Set, b"a", Some(Millis(1)), NOW));
    }

    #[test]
    fn a_selection_is_described_by_its_flags() {
        let selection = Selection {
            databases: vec![0],
            kinds: vec![Kind::Zset],
            match_globs: globs(&["user:*"]),
            regexes: vec![parse_regex("^a").unwrap()],
            no_expired: true,
        };
        assert_eq!(selection.describe(), ["--db 0", "--type zset", "--match user:*", "--regex ^a", "--no-expired"]);
    }

    #[test]
    fn a_regex_is_searched_in_bytes() {
        assert!(parse_regex("b").unwrap().is_match(b"\xffb"));
        assert!(parse_regex(r"(?-u)^\xff").unwrap().is_match(b"\xffb"));
    }

    #[test]
    fn a_wrong_regex_is_a_usage_error_that_names_the_position() {
        let message = |pattern: &str| parse_regex(pattern).unwrap_err().to_string();
        assert_eq!(message("user:(a"), r#"--regex "user:(a": character 6: unclosed group"#);
        assert!(message("a**[").starts_with(r#"--regex "a**[": character 4: "#), "{}", message("a**["));
        assert!(message("^ ^(").starts_with(r#"--regex "^ ^(": character 4: "#), "{}", message("^ ^("));
        assert!(message("\u{4e2d}(").contains("character 2"), "{}", message("\u{4e2d}("));
        assert!(message("a{100000}{1000}").contains("when compiled"), "{}", message("a{100000}{1000}"));
        assert!(!message("(\na").is_empty());
    }
}
