//! Commands to paste into a shell. Whatever could be dangerous there leaves a placeholder in its place.

use crate::policy::registry::{self, KeyListing};
use crate::policy::rules::key::special_chars;
use crate::report::{Options, Report};
use crate::units::Millis;

/// Returns the inputs of the report as words of a command line, the best variant first: names, if they are safe to paste, then a
/// placeholder.
pub(super) fn inputs(report: &Report) -> Vec<String> {
    let placeholder = if report.source.files.len() > 1 { "FILES" } else { "FILE" };
    files(report).into_iter().chain([placeholder.to_owned()]).collect()
}

/// Returns commands that list all keys that break these rules, under the policy and the selection of the report. Empty if the
/// keys of a rule cannot be listed. The last variant, for narrow screens, names the flag alone.
pub(super) fn keys_breaking(report: &Report, rules: &[&str]) -> Vec<String> {
    let flags = || {
        let mut flags = policy(report);
        flags.push_str(&format!(" --breaking {}", rules.join(",")));
        for rule in rules {
            match registry::key_listing(rule) {
                KeyListing::Keys => {}
                KeyListing::WithValues => flags.push_str(" --inspect-values"),
                KeyListing::WithBaseline | KeyListing::Impossible => return None,
            }
        }
        flags.push_str(&selection(report)?);
        Some(flags)
    };
    match flags() {
        Some(flags) => {
            let whole = inputs(report).into_iter().map(|inputs| format!("rdblens keys {inputs}{flags}"));
            whole.chain([format!("rdblens keys … --breaking {}", rules.join(","))]).collect()
        }
        None => Vec::new(),
    }
}

/// Returns the flag that names the policy of the report, unless it is the default.
pub(super) fn policy(report: &Report) -> String {
    match report.options.policy.as_str() {
        "default" => String::new(),
        // Reports of earlier versions do not have it.
        "" => " --policy POLICY".to_owned(),
        policy => format!(" --policy {}", quoted(policy).unwrap_or_else(|| "FILE.toml".to_owned())),
    }
}

/// Returns the flags that select the keys of the report and the time they are judged at; `None` if rows cannot have the same.
pub(super) fn selection(report: &Report) -> Option<String> {
    let Options { selection, separators, reference_time, allow_same, .. } = &report.options;
    let mut flags = String::new();
    if *allow_same {
        flags.push_str(" --allow-same");
    }
    for flag in selection {
        let (name, value) = flag.split_once(' ').unwrap_or((flag, ""));
        // In `analyze`, it limits the keys that are read; here, it would limit the rows.
        if name == "--limit" {
            return None;
        }
        flags.push_str(&format!(" {name}"));
        if !value.is_empty() {
            flags.push_str(&format!(" {}", quoted(value)?));
        }
    }
    if separators.iter().ne([":"]) {
        for separator in separators {
            flags.push_str(&format!(" --separator {}", quoted(separator)?));
        }
    }
    let of_files = report.source.files.iter().filter_map(|file| file.ctime).max();
    if let Some(Millis(at)) = reference_time.filter(|at| Some(at.0.div_euclid(1000)) != of_files) {
        flags.push_str(&format!(" --at {}", jiff::Timestamp::from_millisecond(at).ok()?));
    }
    Some(flags)
}

/// Returns the files' names, if they are safe to paste.
fn files(report: &Report) -> Option<String> {
    const MOST: usize = 4;
    let files = &report.source.files;
    if files.is_empty() || files.len() > MOST {
        return None;
    }
    let names: Option<Vec<String>> = files.iter().map(|file| input(&file.name)).collect();
    names.map(|names| names.join(" "))
}

/// Returns an input as a word of a command line; a report calls standard input `<stdin>`.
fn input(name: &str) -> Option<String> {
    if name == "<stdin>" { Some("-".to_owned()) } else { quoted(name) }
}

/// Returns the text as one word of a shell's command line, if it is plain enough to be pasted without risk.
pub(super) fn quoted(text: &str) -> Option<String> {
    const LONGEST: usize = 100;
    let ascii = |c: char| c == ' ' || c.is_ascii_graphic() && !matches!(c, '\'' | '\\' | '!');
    // Letters of other scripts, but for those that fonts may leave out.
    let printable = |c: char| ascii(c) || !c.is_ascii() && c.is_alphanumeric() && !special_chars::is_special(c);
    let safe = !text.is_empty() && text.len() <= LONGEST && !text.starts_with('-') && text.chars().all(printable);
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '_' | '-' | '/' | '@' | ',' | '+');
    match safe {
        false => None,
        true if text.chars().all(bare) => Some(text.to_owned()),
        true => Some(format!("'{text}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        assert_eq!(quoted("dumps/a-1.rdb").as_deref(), Some("dumps/a-1.rdb"));
        assert_eq!(quoted("user:{1}:$(x)").as_deref(), Some("'user:{1}:$(x)'"));
        for hostile in ["", "-rf", "it's", "a\nb", "a\\b", "!!", "\u{202e}", "a\u{3164}b", "“a”", "a\u{a0}b"] {
            assert_eq!(quoted(hostile), None);
        }
        assert_eq!(quoted(&"a".repeat(101)), None);
        assert_eq!(quoted("快照/门诊.rdb").as_deref(), Some("'快照/门诊.rdb'"));
        assert_eq!(input("<stdin>").as_deref(), Some("-"));
    }

    #[test]
    fn keys_are_listed_under_the_policy_and_selection_of_the_report() {
        let options = Options { policy: "default".to_owned(), ..Options::default() };
        let mut report = Report { options, ..Report::default() };
        let commands = |report: &Report, rule: &str| keys_breaking(report, &[rule]);
        assert_eq!(
            commands(&report, "big.string"),
            ["rdblens keys FILE --breaking big.string", "rdblens keys … --breaking big.string"]
        );
        report.options.policy = "teams/a b.toml".to_owned();
        report.options.selection = vec!["--match user:*".to_owned(), "--no-expired".to_owned()];
        report.options.separators = vec!["/".to_owned()];
        report.options.reference_time = Some(Millis(0));
        assert_eq!(
            commands(&report, "value.sensitive"),
            [
                "rdblens keys FILE --policy 'teams/a b.toml' --breaking value.sensitive --inspect-values --match 'user:*' \
              --no-expired --separator / --at 1970-01-01T00:00:00Z",
                "rdblens keys … --breaking value.sensitive"
            ]
        );
        assert_eq!(commands(&report, "slot.skew"), [""; 0]);
        assert_eq!(commands(&report, "memory.growth"), [""; 0]);
        report.options.selection.push("--limit 5".to_owned());
        assert_eq!(commands(&report, "big.string"), [""; 0]);
    }
}
