//! Commands to paste into a shell, with the inputs and flags of a report.

use crate::policy::registry::{self, KeyListing};
pub(super) use crate::render::shell::{self, input, key, quoted};
use crate::report::{Options, Report};
use crate::units::Millis;

/// Returns the inputs of the report as words of a command line, the best variant first: names, if they are safe to paste, then a
/// placeholder.
pub(super) fn inputs(report: &Report) -> Vec<String> {
    let placeholder = if report.source.files.len() > 1 { "FILES" } else { "FILE" };
    files(report).into_iter().chain([placeholder.to_owned()]).collect()
}

/// A command that takes flags of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Analyze,
    Keys,
    Show,
}

impl Command {
    /// Returns whether the command has a flag.
    fn has(self, flag: &str) -> bool {
        match flag {
            "--server" | "--allocator" | "--server-config" | "--separator" | "--at" => true,
            // `show` searches all keys of one file, whatever they are.
            _ if self == Command::Show => false,
            // In `analyze`, it limits the keys that are read; in `keys`, the rows.
            "--limit" | "--what-if" | "--depth" | "--min-share" | "--now" | "--earlier" => self == Command::Analyze,
            // `keys` needs them for some rules only.
            "--maxmemory" | "--maxmemory-policy" | "--baseline" | "--inspect-values" => self == Command::Analyze,
            _ => true,
        }
    }
}

/// Returns commands that list all keys that break these rules, with the policy, the selection and the settings of the report.
/// Empty if the keys of a rule cannot be listed. The last variant, for narrow screens, names the flag alone.
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
        flags.push_str(&settings(report, Command::Keys)?);
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

/// Returns the flags of the report that a command has: those that select keys, and those that figures depend on. `None` if rows
/// cannot have the same selection, or a value cannot be pasted.
pub(super) fn settings(report: &Report, command: Command) -> Option<String> {
    let Options { selection, separators, reference_time, server_config, allow_same, flags: others, .. } =
        &report.options;
    if command == Command::Keys && selection.iter().any(|flag| flag.starts_with("--limit ")) {
        return None;
    }
    let mut flags = Vec::new();
    if *allow_same {
        flags.push(("--allow-same", String::new()));
    }
    flags.extend(selection.iter().map(|flag| words(flag)).map(|(name, value)| (name, value.to_owned())));
    if separators.iter().ne([":"]) {
        flags.extend(separators.iter().map(|separator| ("--separator", separator.clone())));
    }
    let of_files = report.source.files.iter().filter_map(|file| file.ctime).max();
    if let Some(Millis(at)) = reference_time.filter(|at| Some(at.0.div_euclid(1000)) != of_files) {
        flags.push(("--at", jiff::Timestamp::from_millisecond(at).ok()?.to_string()));
    }
    flags.extend(server_config.iter().map(|setting| match words(setting) {
        ("maxmemory", value) => ("--maxmemory", value.to_owned()),
        ("maxmemory-policy", value) => ("--maxmemory-policy", value.to_owned()),
        (name, value) => ("--server-config", format!("{name}={value}")),
    }));
    flags.extend(others.iter().map(|flag| words(flag)).map(|(name, value)| (name, value.to_owned())));
    let mut line = String::new();
    for (name, value) in flags.into_iter().filter(|(name, _)| command.has(name)) {
        line.push_str(&format!(" {name}"));
        if !value.is_empty() {
            line.push_str(&format!(" {}", quoted(&value)?));
        }
    }
    Some(line)
}

/// Returns the flag and its value, which is empty if it takes none.
fn words(flag: &str) -> (&str, &str) {
    flag.split_once(' ').unwrap_or((flag, ""))
}

/// Returns the files' names, if they are few enough to paste; of many, the arguments that name them.
fn files(report: &Report) -> Option<String> {
    const FEW: usize = 4;
    let (files, given) = (&report.source.files, &report.options.inputs);
    if files.len() > FEW && !given.is_empty() {
        shell::inputs(given)
    } else {
        shell::inputs(files.iter().map(|file| &file.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_the_files_or_what_names_them() {
        let file = |name: String| -> crate::report::SourceFile {
            let file = serde_json::json!({
                "name": name, "container": "rdb", "bytes": 1, "rdb_version": 9, "checksum": "ok", "keys": 1, "memory": 1,
                "errors": [], "complete": true, "damaged_keys": 0,
            });
            serde_json::from_value(file).unwrap()
        };
        let mut report = Report::default();
        let first = |report: &Report| inputs(report).remove(0);
        report.source.files = (0..3).map(|n| file(format!("nights/{n}.rdb"))).collect();
        report.options.inputs = vec!["my nights".to_owned()];
        assert_eq!(first(&report), "nights/0.rdb nights/1.rdb nights/2.rdb");
        report.source.files = (0..40).map(|n| file(format!("nights/{n}.rdb"))).collect();
        assert_eq!(first(&report), "'my nights'");
        report.options.inputs = vec!["a/*.rdb".to_owned(), "it's/".to_owned()];
        assert_eq!(first(&report), r"'a/*.rdb' 'it'\''s/'");
        report.options.inputs.clear();
        assert_eq!(inputs(&report), ["FILES"]);
        report.source.files.truncate(6);
        assert!(first(&report).starts_with("nights/0.rdb ") && first(&report).ends_with(" nights/5.rdb"));
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
        let options = Options {
            selection: vec!["--limit 5".to_owned()],
            server_config: vec!["hash-max-listpack-value 8".to_owned(), "maxmemory 100".to_owned()],
            flags: vec!["--server redis-7.2".to_owned(), "--what-if valkey-9.0".to_owned(), "--salvage".to_owned()],
            ..Options::default()
        };
        let report = Report { options, ..Report::default() };
        assert_eq!(
            settings(&report, Command::Analyze).unwrap(),
            " --limit 5 --server-config hash-max-listpack-value=8 --maxmemory 100 --server redis-7.2 \
             --what-if valkey-9.0 --salvage"
        );
        assert_eq!(
            settings(&report, Command::Show).unwrap(),
            " --server-config hash-max-listpack-value=8 --server redis-7.2"
        );
    }
}
