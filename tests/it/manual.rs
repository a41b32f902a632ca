//! `man` and `completions` are generated from the definitions of commands and flags, so nothing is missing from them.

use crate::common::program::run_args;
use std::fs;
use std::process::Command;

use clap::CommandFactory;
use rdblens::internals::cli::Cli;

fn program() -> clap::Command {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    program
}

#[test]
fn every_command_has_a_page_with_all_its_flags() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("share/man1");
    let output = run_args(&["man", inside.to_str().unwrap()]);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let program = program();
    for command in program.get_subcommands() {
        let page = fs::read_to_string(inside.join(format!("rdblens-{}.1", command.get_name()))).unwrap();
        assert!(page.starts_with(".TH RDBLENS-") && page.is_ascii());
        for part in [".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH EXAMPLES\n.nf\n"] {
            assert!(page.contains(part), "{command}: {part}");
        }
        assert!(!page.contains('\x1b') && !page.contains(".SH EXTRA"));
        for flag in command.get_arguments().filter_map(|flag| flag.get_long()) {
            let flag = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(page.contains(&flag), "{command}: {flag}");
        }
    }
    let first = fs::read_to_string(inside.join("rdblens.1")).unwrap();
    assert!(first.contains(".SH \"EXIT STATUS\"") && first.contains("analyze"));
    assert_eq!(fs::read_dir(&inside).unwrap().count(), program.get_subcommands().count() + 1);
}

#[test]
fn pages_are_reproducible_and_an_unwritable_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let page = |name: &str| {
        let at = folder.path().join(name);
        assert!(run_args(&["man", at.to_str().unwrap()]).status.success());
        fs::read(at.join("rdblens-keys.1")).unwrap()
    };
    assert_eq!(page("one"), page("two"));
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let output = run_args(&["man", file.join("below").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot create the directory"));
}

#[test]
fn completions_know_every_command_and_flag() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run_args(&["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        for command in program().get_subcommands() {
            assert!(script.contains(command.get_name()), "{shell}: {command}");
            for flag in command.get_arguments().filter_map(|flag| flag.get_long()) {
                assert!(script.contains(flag), "{shell}: {command} --{flag}");
            }
        }
    }
    assert_eq!(run_args(&["completions", "tcsh"]).status.code(), Some(2));
}

/// Returns what bash offers for the last of these words; `None` without bash.
fn offered(words: &[&str]) -> Option<Vec<String>> {
    let script = String::from_utf8(run_args(&["completions", "bash"]).stdout).unwrap();
    // A list is completed after its comma; any other word is whole, and what follows it is asked for.
    let (current, before) = match words {
        [before @ .., list] if list.contains(',') => (*list, before),
        _ => ("''", words),
    };
    let (at, last) = (before.len() + 1, before.last().unwrap());
    let before = before.join(" ");
    let ask = format!(
        "COMP_WORDS=(rdblens {before} {current}); COMP_CWORD={at}; _rdblens rdblens {current} {last}; \
         echo \"${{COMPREPLY[@]}}\""
    );
    let output =
        Command::new("bash").current_dir("testdata").arg("-c").arg(format!("{script}\n{ask}")).output().ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect())
}

#[test]
fn completions_work_in_bash() {
    for (words, expected) in [
        (&["keys", "--format"][..], &["ndjson", "csv", "parquet"][..]),
        // Presets, and files beside them.
        (&["analyze", "--policy"], &["default", "strict", "README.md"]),
        (&["analyze", "--server"], &["redis-7.2", "valkey-8.1", "keydb-6.3"]),
        (&["keys", "--breaking"], &["key.prefix", "ttl.missing"]),
        (&["rules", "--policy"], &["aliyun"]),
        (&["rules"], &["key.prefix"]),
        (&["capacity", "--what-if"], &["valkey-8.1", "newest", "glibc"]),
        (&["render", "--section"], &["patterns", "findings", "prefixes"]),
        (&["render", "--section", "patterns,fin"], &["patterns,findings"]),
        (&["keys", "--breaking", "big.string,ttl.miss"], &["big.string,ttl.missing"]),
    ] {
        let Some(offered) = offered(words) else { return };
        for value in expected {
            assert!(offered.iter().any(|offer| offer == value), "{words:?}: {offered:?}");
        }
    }
}

#[test]
fn completions_work_in_fish() {
    let script = String::from_utf8(run_args(&["completions", "fish"]).stdout).unwrap();
    for (line, expected) in [
        ("rdblens rules key.pre", "key.prefix"),
        ("rdblens schema cap", "capacity"),
        ("rdblens analyze --policy str", "strict"),
        ("rdblens analyze --server valkey-8", "valkey-8.1"),
        ("rdblens analyze --what-if glib", "glibc"),
        ("rdblens render --section pref", "prefixes"),
        ("rdblens render --section patterns,pref", "patterns,prefixes"),
    ] {
        let ask = format!("{script}\ncomplete -C '{line}'");
        // Where there is no fish, bash tells of the values.
        let Ok(output) = Command::new("fish").args(["--no-config", "-c", &ask]).output() else { return };
        let offered = String::from_utf8(output.stdout).unwrap();
        let first = |line: &str| line.split('\t').next() == Some(expected);
        assert!(offered.lines().any(first), "{line}: {offered} {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(script.contains("-n \"__fish_rdblens_using_subcommand rules\" -f -a \"backup.age "));
}
