//! `man` and `completions` are generated from the definitions of commands and flags, so nothing is missing from them.

use std::fs;
use std::io::Write;
use std::process::Command;
use std::time::Duration;

use clap::CommandFactory;
use rdblens::internals::cli::Cli;

use crate::common::program::{run_args, run_within};

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
        let shown = command.get_arguments().filter(|flag| !flag.is_hide_set());
        for flag in shown.filter_map(|flag| flag.get_long()) {
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
            let shown = command.get_arguments().filter(|flag| !flag.is_hide_set());
            for flag in shown.filter_map(|flag| flag.get_long()) {
                assert!(script.contains(flag), "{shell}: {command} --{flag}");
            }
        }
    }
    assert_eq!(run_args(&["completions", "tcsh"]).status.code(), Some(2));
}

/// Returns whether a shell is installed. Where `RDBLENS_SHELLS` is set, as in the gate, a missing one is an error.
fn is_installed(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        assert!(std::env::var_os("RDBLENS_SHELLS").is_none(), "{shell} is not installed");
        let skipped = format!("skipped: {shell} is not installed, so its completions are not tried\n");
        // Of a test that passes, what macros print is not shown.
        std::io::stderr().write_all(skipped.as_bytes()).unwrap();
    }
    found
}

/// Returns what bash offers for the last of these words.
fn offered(words: &[&str]) -> Vec<String> {
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
        Command::new("bash").current_dir("testdata").arg("-c").arg(format!("{script}\n{ask}")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

#[test]
fn completions_work_in_bash() {
    if !is_installed("bash") {
        return;
    }
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
        let offered = offered(words);
        for value in expected {
            assert!(offered.iter().any(|offer| offer == value), "{words:?}: {offered:?}");
        }
    }
}

#[test]
fn completions_work_in_fish() {
    let script = String::from_utf8(run_args(&["completions", "fish"]).stdout).unwrap();
    assert!(script.contains("-n \"__fish_rdblens_using_subcommand rules\" -f -a \"backup.age "));
    if !is_installed("fish") {
        return;
    }
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
        let output = Command::new("fish").args(["--no-config", "-c", &ask]).output().unwrap();
        let offered = String::from_utf8(output.stdout).unwrap();
        let first = |line: &str| line.split('\t').next() == Some(expected);
        assert!(offered.lines().any(first), "{line}: {offered} {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Types each argument and a tab into a zsh with the completions of `_rdblens`, and prints what it offers, each name in `<>`.
const ASK_ZSH: &str = r#"
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
zpty -w shell 'LISTMAX=100000; autoload -Uz compinit && compinit -u -D && source ./_rdblens'
zpty -w shell 'compadd() { local -a found; [[ ${@[1,(i)(-|--)]} == *-[OAD]* ]] || { builtin compadd -A found "$@"; print -rl -- \<$^found\>; }; builtin compadd "$@"; }'
# Keys that arrive before the editor reads them would be lost.
zpty -w shell 'zle-line-init() { print re""ady }; zle -N zle-line-init'
zpty -r shell answer '*ready*'
for line; do
    zpty -w shell "$line"$'\t\C-u'
    zpty -r shell answer '*ready*'
    print -r -- "$answer"
    print -r -- '=='
done
zpty -d shell
"#;

#[test]
fn completions_work_in_zsh() {
    if !is_installed("zsh") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("_rdblens"), run_args(&["completions", "zsh"]).stdout).unwrap();
    fs::write(folder.path().join("team.toml"), "").unwrap();
    let sound = Command::new("zsh").current_dir(folder.path()).args(["-f", "-n", "_rdblens"]).output().unwrap();
    assert!(sound.status.success() && sound.stderr.is_empty(), "{sound:?}");
    let cases: [(&str, &[&str], bool); 11] = [
        ("rdblens analyze --lang ", &["en", "zh"], true),
        ("rdblens analyze --color ", &["always", "auto", "never"], true),
        ("rdblens merge --lang ", &["en", "zh"], true),
        ("rdblens render --lang ", &["en", "zh"], true),
        ("rdblens render --section pref", &["prefixes"], true),
        ("rdblens render --section patterns,pref", &["prefixes"], true),
        ("rdblens keys --breaking big.string,ttl.miss", &["ttl.missing"], true),
        ("rdblens rules key.pre", &["key.prefix"], true),
        ("rdblens analyze --server valkey-8", &["valkey-8.0", "valkey-8.1"], true),
        // Presets, and files beside them.
        ("rdblens analyze --policy str", &["strict"], true),
        ("rdblens analyze --policy te", &["team.toml"], false),
    ];
    let mut zsh = Command::new("zsh");
    zsh.current_dir(folder.path()).args(["-f", "-c", ASK_ZSH, "zsh"]).args(cases.map(|(line, ..)| line));
    let output = run_within(&mut zsh, Duration::from_secs(60)).expect("zsh answers");
    let said = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<&str> = said.split("\n==\n").collect();
    assert_eq!(answers.len(), cases.len() + 1, "{said}");
    for ((line, expected, only), answer) in cases.into_iter().zip(answers) {
        let mut offered: Vec<&str> =
            answer.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0)).collect();
        offered.retain(|name| !name.is_empty());
        offered.sort_unstable();
        offered.dedup();
        let is_offered = if only { offered == expected } else { expected.iter().all(|name| offered.contains(name)) };
        assert!(is_offered, "{line}: {offered:?}: {answer}");
    }
}
