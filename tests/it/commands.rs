//! Commands that the program prints: each is run as it is printed, and returns what it promises.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::program::{run, run_args, testdata};

/// Runs a printed command in a folder, with the program on the path.
fn run_printed(folder: &Path, command: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_rdblens"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    run(Command::new("sh").current_dir(folder).env("PATH", path).env("LC_ALL", "C").args(["-c", command]))
}

/// A folder with dumps: the shop, and one of names with hash tags and odd characters.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["shop.rdb", "shop-later.rdb"] {
        fs::copy(testdata().join("dumps").join(name), folder.path().join(name)).unwrap();
    }
    let cluster = testdata().join("corpus/redis-8.2.3-cluster/dump.rdb");
    fs::copy(cluster, folder.path().join("node 1.rdb")).unwrap();
    let mut tags = b"REDIS0011\xfe\x00".to_vec();
    let names = (0..20).flat_map(|id| {
        [
            format!("{{user:{id}}}:cart"),
            format!("{{user}}:{id}"),
            format!("{{{id}}}:profile:settings"),
            format!("a[b]?{id}"),
            format!("say \"{id}\""),
            format!("shop/item/{id}/price"),
        ]
    });
    for name in names {
        tags.push(0);
        tags.push(u8::try_from(name.len()).unwrap());
        tags.extend_from_slice(name.as_bytes());
        tags.extend_from_slice(&[20]);
        tags.extend_from_slice(b"xxxxxxxxxxxxxxxxxxxx");
    }
    tags.push(0xff);
    tags.extend_from_slice(&[0; 8]);
    fs::write(folder.path().join("tags.rdb"), tags).unwrap();
    fs::copy(testdata().join("policy/shop.toml"), folder.path().join("team.toml")).unwrap();
    folder
}

/// Returns the commands that a report prints: those at its end, and those behind lists that are cut.
fn printed(report: &str) -> Vec<String> {
    let at_the_end = |line: &str| line.starts_with("rdblens ").then(|| line.split("  # ").next().unwrap().to_owned());
    let behind_lists = |line: &str| {
        line.starts_with("… ")
            .then(|| line.split_once("more: rdblens "))
            .flatten()
            .map(|(_, it)| format!("rdblens {it}"))
    };
    report.lines().filter_map(|line| at_the_end(line).or_else(|| behind_lists(line))).collect()
}

#[test]
fn every_command_of_a_report_returns_what_it_promises() {
    let folder = folder();
    let mut kinds = [0; 5];
    for line in [
        "shop.rdb",
        "shop.rdb --policy strict",
        "shop.rdb --policy team.toml --top 3",
        "shop.rdb --db 0 --no-expired",
        "shop.rdb --type string --type hash",
        "shop.rdb --match user:*",
        "shop.rdb --regex ^(cart|order):",
        "shop.rdb --separator / --separator :",
        "shop.rdb --limit 300",
        "shop.rdb shop-later.rdb --allow-same",
        "tags.rdb --policy strict",
        "tags.rdb --match {user*",
        "tags.rdb --separator / --match shop*",
        "tags.rdb --match a*",
        "tags.rdb --match say*",
        "node 1.rdb",
        "node 1.rdb --at 2030-01-01T00:00:00Z --policy platform",
    ] {
        let words: Vec<&str> = line
            .split(' ')
            .filter(|word| *word != "node")
            .map(|word| if word == "1.rdb" { "node 1.rdb" } else { word })
            .collect();
        let analyze = |more: &[&str]| {
            let output = run(Command::new(env!("CARGO_BIN_EXE_rdblens"))
                .current_dir(folder.path())
                .env("LC_ALL", "C")
                .arg("analyze")
                .args(&words)
                .args(more));
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let report: Value = serde_json::from_str(&analyze(&["--format", "json"])).unwrap();
        let commands = printed(&analyze(&["--wide", "--full"]));
        assert!(commands.len() > 1, "{line}");
        for command in commands {
            let output = run_printed(folder.path(), &command);
            assert!(output.status.success(), "{line}: {command}: {}", String::from_utf8_lossy(&output.stderr));
            let rows = String::from_utf8(output.stdout).unwrap();
            let count = |rows: usize| u64::try_from(rows).unwrap();
            let kind = if command.contains(" --pattern ") {
                assert_eq!(
                    Some(count(rows.lines().count() - 1)),
                    report["patterns"]["list"][0]["keys"].as_u64(),
                    "{line}: {command}"
                );
                0
            } else if command.contains(" --breaking ") {
                assert!(rows.lines().count() > 0, "{line}: {command}");
                1
            } else if command.starts_with("rdblens keys ") {
                // A type has a row for each of its encodings.
                let types = report["types"].as_array().unwrap();
                let of_type = types.iter().filter(|row| row["type"] == types[0]["type"]);
                let keys: u64 = of_type.map(|row| row["keys"].as_u64().unwrap()).sum();
                assert_eq!(count(rows.lines().count()), keys, "{line}: {command}");
                2
            } else if command.starts_with("rdblens show ") {
                assert!(rows.contains("memory"), "{line}: {command}: {rows}");
                3
            } else {
                let all: Value =
                    serde_json::from_str(&rows).unwrap_or_else(|error| panic!("{line}: {command}: {error}"));
                if report["options"]["selection"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|flag| !flag.as_str().unwrap().starts_with("--limit"))
                {
                    assert_eq!(all["totals"]["keys"], report["totals"]["keys"], "{line}: {command}");
                    assert_eq!(all["findings"]["policy"], report["findings"]["policy"], "{line}: {command}");
                }
                4
            };
            kinds[kind] += 1;
        }
    }
    assert!(kinds.iter().all(|count| *count >= 5), "{kinds:?}");
}

#[test]
fn a_damaged_file_gets_a_check() {
    let folder = folder();
    let mut cut = fs::read(folder.path().join("shop.rdb")).unwrap();
    cut.truncate(cut.len() / 2);
    fs::write(folder.path().join("cut.rdb"), cut).unwrap();
    let report = run_printed(folder.path(), "rdblens analyze cut.rdb --quiet");
    let commands = printed(&String::from_utf8(report.stdout).unwrap());
    let check = commands.iter().find(|command| command.starts_with("rdblens check")).unwrap();
    let output = run_printed(folder.path(), check);
    assert_eq!(output.status.code(), Some(4), "{check}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("byte 0x"));
}

#[test]
fn hints_about_globs_and_patterns_return_keys() {
    let folder = folder();
    let rows = |command: &str| {
        let output = run_printed(folder.path(), command);
        output.stdout.iter().filter(|byte| **byte == b'\n').count()
    };
    let told = |command: &str| String::from_utf8(run_printed(folder.path(), command).stderr).unwrap();
    // Between a text and the quotation mark behind it.
    let quoted = |told: &str, before: &str| {
        let rest = told.split_once(before).unwrap_or_else(|| panic!("{told}")).1;
        rest.split('\'').next().unwrap().to_owned()
    };
    for (file, glob, keys) in [
        ("tags.rdb", "{user:{int}}:cart", 20),
        ("tags.rdb", "user:{int}:cart", 20),
        ("tags.rdb", "{user}:{int}", 20),
        ("tags.rdb", "{int}:profile:settings", 20),
        ("shop.rdb", "user:{int}:profile", 620),
    ] {
        let hint = told(&format!("rdblens keys {file} --match '{glob}'"));
        let command = hint.split('`').nth(1).unwrap_or_else(|| panic!("{hint}")).replace("INPUT", file);
        assert_eq!(rows(&command), keys, "{hint}");
        let regex = quoted(&hint, "--regex '");
        assert!(rows(&format!("rdblens keys {file} --regex '{regex}'")) >= keys, "{hint}");
        assert_eq!(told(&format!("rdblens analyze {file} --quiet --match '{glob}'")), "");
    }
    // A hash tag, not a placeholder: there is nothing to say.
    assert_eq!(told("rdblens keys tags.rdb --match '{order}:*'"), "");
    let hint = told("rdblens keys tags.rdb --pattern 'user:{it}:cart'");
    let near = quoted(&hint, "did you mean '");
    assert_eq!(rows(&format!("rdblens keys tags.rdb --pattern '{near}'")), 20, "{hint}");
}

#[test]
fn texts_of_rules_name_commands_that_exist() {
    let rules = String::from_utf8(run_args(&["rules", "--format", "json"]).stdout).unwrap();
    let help = String::from_utf8(run_args(&["--help"]).stdout).unwrap();
    let named: Vec<&str> =
        rules.split("`rdblens ").skip(1).map(|rest| rest.split(['`', ' ']).next().unwrap()).collect();
    assert!(named.len() > 2, "{named:?}");
    for command in named {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
}
