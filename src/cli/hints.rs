//! Hints on standard error when nothing was selected.

use std::collections::BTreeSet;

use super::args::ReadArgs;
use super::message::notice;
use crate::input::shown_path;
use crate::pattern::classify::SegmentClass;
use crate::render::{key_text, shell};

/// Says what to use instead if nothing was selected and a glob looks like a pattern of a report.
pub fn no_keys(args: &ReadArgs) {
    if args.input.quiet {
        return;
    }
    let separators = args.names.separators.concat();
    let inputs = args.input.inputs.iter().map(|input| shown_path(input));
    let inputs = shell::inputs(inputs).unwrap_or_else(|| "INPUT".to_owned());
    if let Some(hint) = args.selection.globs.iter().find_map(|glob| instead_of(glob, &inputs, &separators)) {
        notice!("{hint}");
    }
}

/// Returns what to use instead of a glob with placeholders; `None` if it has none, or a quote, which the commands would need escaped.
fn instead_of(glob: &str, inputs: &str, separators: &str) -> Option<String> {
    let pieces = pieces(glob);
    if glob.contains('\'') || !holds_placeholder(&pieces) {
        return None;
    }
    let as_pattern = as_pattern(&pieces)
        .map(|pattern| format!("`rdblens keys {inputs} --pattern '{pattern}'` lists the keys of a pattern, "));
    let (as_pattern, regex) = (as_pattern.unwrap_or_default(), as_regex(&pieces, separators));
    Some(format!(
        "no key matches --match '{glob}': placeholders of patterns are not globs; {as_pattern}--regex '{regex}' selects similar names"
    ))
}

/// Says that rules about patterns were left out because only rules about keys are listed, and how to name them.
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
    /// `*` of a glob: any text.
    Any,
    /// `?` of a glob, or a class such as `[ab]`: one character.
    One,
    Literal(char),
}

/// Splits a pattern or glob. Braces that are no placeholder's are left out, as patterns leave out those of hash tags.
fn pieces(pattern: &str) -> Vec<Piece> {
    let placeholders = || SegmentClass::ALL.map(SegmentClass::text).into_iter().chain(["{*}"]);
    let (mut pieces, mut rest) = (Vec::new(), pattern);
    while let Some(c) = rest.chars().next() {
        let placeholder = placeholders().find(|placeholder| rest.starts_with(placeholder));
        let (piece, length) = match (c, placeholder, class_length(rest)) {
            (_, Some(placeholder), _) => (Some(Piece::Placeholder(placeholder)), placeholder.len()),
            ('[', _, Some(length)) => (Some(Piece::One), length),
            ('*', ..) => (Some(Piece::Any), 1),
            ('?', ..) => (Some(Piece::One), 1),
            ('{' | '}', ..) => (None, 1),
            _ => (Some(Piece::Literal(c)), c.len_utf8()),
        };
        pieces.extend(piece);
        rest = &rest[length..];
    }
    pieces
}

/// Returns the length of the class of characters that a glob begins with. Brackets around braces are those of a pattern.
fn class_length(glob: &str) -> Option<usize> {
    let end = glob.strip_prefix('[')?.find([']', '{', '}'])? + 1;
    glob[end..].starts_with(']').then_some(end + 1)
}

fn holds_placeholder(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Placeholder(_)))
}

/// Returns the pattern as reports print it; `None` if it has wildcards, which no pattern has.
fn as_pattern(pieces: &[Piece]) -> Option<String> {
    let mut pattern = String::new();
    for piece in pieces {
        match piece {
            Piece::Placeholder(placeholder) => pattern.push_str(placeholder),
            Piece::Literal(c) => pattern.push(*c),
            Piece::Any | Piece::One => return None,
        }
    }
    Some(pattern)
}

/// Returns a regular expression for names of this form, with braces of hash tags around any of their segments.
fn as_regex(pieces: &[Piece], separators: &str) -> String {
    let is_separator = |piece: Option<&Piece>| matches!(piece, Some(Piece::Literal(c)) if separators.contains(*c));
    let mut regex = "^".to_owned();
    for (at, piece) in pieces.iter().enumerate() {
        let character = match piece {
            Piece::Placeholder(_) => {
                regex.push_str(".+");
                continue;
            }
            Piece::Any => {
                regex.push_str(".*");
                continue;
            }
            Piece::One => ".".to_owned(),
            Piece::Literal(c) => regex::escape(&c.to_string()),
        };
        let is_edge = |other: Option<&Piece>| !is_separator(Some(piece)) && (other.is_none() || is_separator(other));
        if is_edge(at.checked_sub(1).and_then(|at| pieces.get(at))) {
            regex.push_str("\\{?");
        }
        regex.push_str(&character);
        if is_edge(pieces.get(at + 1)) {
            regex.push_str("\\}?");
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
        (as_pattern(&pieces).expect("no wildcard"), as_regex(&pieces, ":"))
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

    #[test]
    fn wildcards_stay_wildcards_in_the_regex_and_give_no_pattern() {
        let regex = |glob: &str| as_regex(&pieces(glob), ":");
        assert_eq!(regex("user:{int}:*"), r"^\{?user\}?:.+:.*$");
        assert_eq!(regex("u?er:[a-c]:{int}"), r"^\{?u.er\}?:\{?.\}?:.+$");
        assert_eq!(both("list[{int}]").0, "list[{int}]");
        let hint = |glob: &str| instead_of(glob, "dump.rdb", ":");
        for glob in ["user:{int}:*", "u?er:{int}", "[ab]:{int}"] {
            let hint = hint(glob).expect(glob);
            assert!(hint.contains("; --regex '") && !hint.contains("--pattern"), "{hint}");
        }
        assert!(hint("user:{int}").is_some_and(|hint| hint.contains("`rdblens keys dump.rdb --pattern 'user:{int}'`")));
        assert_eq!((hint("user:*"), hint("it's:{int}")), (None, None));
    }
}
