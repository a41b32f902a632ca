//! Hints on standard error when nothing was selected.

use super::args::ReadArgs;
use super::message::notice;
use crate::render::key_text;

/// Says what to use instead if nothing was selected and a glob looks like a pattern of a report.
pub fn no_keys(args: &ReadArgs) {
    if args.input.quiet {
        return;
    }
    if let Some(glob) = args.selection.globs.iter().find(|glob| is_pattern(glob)) {
        let star = as_glob(glob);
        notice!(
            "no key matches --match '{glob}': placeholders of patterns are not globs; `rdblens keys INPUT --pattern \
             '{glob}'` lists the keys of a pattern, --match '{star}' selects similar names"
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

/// Returns whether a glob has a placeholder, such as `{int}` or `{*}`. Hash tags look alike, but are rarely letters only.
fn is_pattern(glob: &str) -> bool {
    let inner = glob.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    inner
        .map(|(inner, _)| inner)
        .any(|inner| inner == "*" || !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_lowercase()))
}

/// Replaces placeholders by stars.
fn as_glob(pattern: &str) -> String {
    let mut glob = String::new();
    let mut rest = pattern;
    while let Some((before, (_, behind))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        glob.push_str(before);
        glob.push('*');
        rest = behind;
    }
    glob + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_stars() {
        assert!(is_pattern("user:{int}:profile") && is_pattern("cache:{*}") && is_pattern("user:{id}"));
        assert!(!is_pattern("user:*") && !is_pattern("{user:1}:cart") && !is_pattern("a{") && !is_pattern("{}"));
        assert_eq!(as_glob("user:{int}:{*}:x{"), "user:*:*:x{");
    }
}
