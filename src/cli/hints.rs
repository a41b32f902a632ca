//! Hints on standard error when nothing was selected.

use std::collections::BTreeSet;

use super::args::ReadArgs;
use super::message::notice;
use crate::input::resolve::shown_argument;
use crate::pattern::classify::SegmentClass;
use crate::render::{key_text, shell};

/// Says what to use instead if nothing was selected and a glob looks like a pattern of a report.
pub fn no_keys(args: &ReadArgs) {
    if args.input.quiet {
        return;
    }
    let separators = args.names.separators.concat();
    let asked = args.selection.globs.iter().filter(|glob| !glob.contains('\''));
    if let Some((glob, pieces)) = asked.map(|glob| (glob, pieces(glob))).find(|(_, pieces)| holds_placeholder(pieces)) {
        let (pattern, regex) = (as_pattern(&pieces), as_regex(&pieces, &separators));
        let inputs = args.input.inputs.iter().map(|input| shown_argument(input));
        let inputs = shell::inputs(inputs).unwrap_or_else(|| "INPUT".to_owned());
        notice!(
            "no key matches --match '{glob}': placeholders of patterns are not globs; `rdblens keys {inputs} --pattern '{pattern}'` \
             lists the keys of a pattern, --regex '{regex}' selects similar names"
        );
    }
}

/// Says which rules about patterns are not among any rules that keys break, and how to list their keys.
pub fn passed_over(rules: &BTreeSet<&'static str>) {
    if !rules.is_empty() {
        let rules = rules.iter().copied().collect::<Vec<_>>().join(",");
        notice!(
            "only rules about single keys are listed; to list keys that break a rule about patterns, name it: --breaking {rules}"
        );
    }
}

/// Says that no key has these patterns, and names similar ones.
pub fn no_pattern(asked: &[String], near: &[String]) {
    let near: Vec<String> = near.iter().map(|pattern| format!("'{}'", key_text::text(pattern))).collect();
    let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
    for pattern in asked {
        notice!("no key has the pattern '{}'{hint}", key_text::text(pattern));
    }
}

/// Piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A class of ids, such as `{int}`, or `{*}`.
    Placeholder(&'static str),
    Literal(char),
}

/// Splits a pattern. Braces that are no placeholder's are left out, as patterns leave out those of hash tags.
fn pieces(pattern: &str) -> Vec<Piece> {
    let placeholders = || SegmentClass::ALL.map(SegmentClass::text).into_iter().chain(["{*}"]);
    let (mut pieces, mut rest) = (Vec::new(), pattern);
    while let Some(c) = rest.chars().next() {
        if let Some(placeholder) = placeholders().find(|placeholder| rest.starts_with(placeholder)) {
            pieces.push(Piece::Placeholder(placeholder));
            rest = &rest[placeholder.len()..];
        } else {
            pieces.extend((c != '{' && c != '}').then_some(Piece::Literal(c)));
            rest = &rest[c.len_utf8()..];
        }
    }
    pieces
}

fn holds_placeholder(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Placeholder(_)))
}

/// Returns the pattern as reports print it.
fn as_pattern(pieces: &[Piece]) -> String {
    let mut pattern = String::new();
    for piece in pieces {
        match piece {
            Piece::Placeholder(placeholder) => pattern.push_str(placeholder),
            Piece::Literal(c) => pattern.push(*c),
        }
    }
    pattern
}

/// Returns a regular expression for names of this form, with braces of hash tags around any of their segments.
fn as_regex(pieces: &[Piece], separators: &str) -> String {
    let is_separator = |piece: Option<&Piece>| matches!(piece, Some(Piece::Literal(c)) if separators.contains(*c));
    let mut regex = "^".to_owned();
    for (at, piece) in pieces.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| pieces.get(at));
        match piece {
            Piece::Placeholder(_) => regex.push_str(".+"),
            Piece::Literal(c) if is_separator(Some(piece)) => regex.push_str(&regex::escape(&c.to_string())),
            Piece::Literal(c) => {
                if before.is_none() || is_separator(before) {
                    regex.push_str("\\{?");
                }
                regex.push_str(&regex::escape(&c.to_string()));
                let behind = pieces.get(at + 1);
                if behind.is_none() || is_separator(behind) {
                    regex.push_str("\\}?");
                }
            }
        }
    }
    regex + "$"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(glob: &str) -> (String, String) {
        let pieces = pieces(glob);
        assert!(holds_placeholder(&pieces), "{glob}");
        (as_pattern(&pieces), as_regex(&pieces, ":"))
    }

    #[test]
    fn placeholders_are_told_from_hash_tags() {
        let expected = |pattern: &str, regex: &str| (pattern.to_owned(), regex.to_owned());
        assert_eq!(both("user:{int}:cart"), expected("user:{int}:cart", r"^\{?user\}?:.+:\{?cart\}?$"));
        assert_eq!(both("{user:{int}}:cart"), both("user:{int}:cart"));
        assert_eq!(both("a.b:{*}"), expected("a.b:{*}", r"^\{?a\.b\}?:.+$"));
        assert_eq!(both("order-{int}"), expected("order-{int}", r"^\{?order\-.+$"));
        for glob in ["user:*", "{user:1}:cart", "{user}:cart", "a{", "{}", "user:{id}"] {
            assert!(!holds_placeholder(&pieces(glob)), "{glob}");
        }
    }

    #[test]
    fn the_regex_selects_names_with_and_without_hash_tags() {
        let regex = regex::Regex::new(&both("user:{int}:cart").1).unwrap();
        for name in ["user:1:cart", "{user:1}:cart", "{user}:1:cart", "user:{1}:cart", "user:1:{cart}", "{user:1:cart}"]
        {
            assert!(regex.is_match(name), "{name}");
        }
        assert!(!regex.is_match("users:1:cart") && !regex.is_match("user:1:carts"));
    }
}
