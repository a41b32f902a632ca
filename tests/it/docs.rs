//! Documents show what the program prints: every command in a `console` block is run and its output compared.
//! `UPDATE_GOLDEN=1 cargo test --test it docs::` renews them; read the diff before committing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_rdblens");
/// Prefix with which the README runs the program; tests use the binary already built.
const BUILD_AND_RUN: &str = "cargo run --release --quiet -- ";

#[test]
fn documents_show_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    let mut wrong = Vec::new();
    for path in documents(root) {
        let text = fs::read_to_string(&path).unwrap();
        let folder = folder_to_run_in(root);
        let (renewed, commands) = renew(&text, folder.path());
        checked += commands;
        if renewed == text {
            continue;
        }
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, renewed).unwrap();
        } else {
            let differing = renewed.lines().zip(text.lines()).find(|(new, old)| new != old);
            wrong.push(format!("{}: {differing:?}", path.display()));
        }
    }
    assert!(checked > 0, "no document shows a command");
    assert!(wrong.is_empty(), "renew with UPDATE_GOLDEN=1:\n{}", wrong.join("\n"));
}

#[test]
fn the_example_of_a_policy_is_the_file_that_is_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/policy.md")).unwrap();
    let file = fs::read_to_string(root.join("testdata/policy/shop.toml")).unwrap();
    let begin = "<!-- testdata/policy/shop.toml -->\n```toml\n";
    let (before, rest) = page.split_once(begin).unwrap();
    let (shown, after) = rest.split_once("```\n").unwrap();
    if shown != file && std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(root.join("docs/policy.md"), format!("{before}{begin}{file}```\n{after}")).unwrap();
        return;
    }
    assert_eq!(shown, file, "docs/policy.md shows another policy");
}

#[test]
fn the_readme_is_the_same_in_both_languages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [english, chinese] = ["README.md", "README.zh.md"].map(|name| fs::read_to_string(root.join(name)).unwrap());
    assert_eq!(outline(&english), outline(&chinese));
    assert!(english.contains("(README.zh.md)") && chinese.contains("(README.md)"));
    for anchor in chinese.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(chinese.contains(&format!("\n## {anchor}\n")), "there is no heading {anchor}");
    }
}

#[test]
fn the_page_on_fleets_is_the_same_in_both_languages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let [english, chinese] = ["fleet.md", "fleet.zh.md"].map(|name| fs::read_to_string(root.join(name)).unwrap());
    assert_eq!(outline(&english), outline(&chinese));
    assert!(english.contains("(fleet.zh.md)") && chinese.contains("(fleet.md)"));
}

#[test]
fn every_dependency_is_listed_with_its_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    let named = |section: &str| manifest[section].as_table().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let mut dependencies = &named("dependencies") | &named("dev-dependencies");
    // Tests depend on the library with its internals visible, which is not another crate.
    dependencies.remove(env!("CARGO_PKG_NAME"));
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let rows = page.split_once("\n## Dependencies\n").unwrap().1.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut listed = BTreeSet::new();
    for row in rows {
        // The names may be followed by a feature or a remark: "`flate2` with `zlib-rs`", "`lzf` (tests)".
        let names = row.split(" |").next().unwrap().split(" with ").next().unwrap().split(" (").next().unwrap();
        listed.extend(names.split(", ").map(|name| name.trim_matches('`').to_owned()));
    }
    assert_eq!(listed, dependencies, "docs/architecture.md: a row for each crate of Cargo.toml");
}

/// Returns the structure that translations of a page share: headings by level, commands without their language and
/// redirection, rows of tables, items of lists, links to other pages.
fn outline(page: &str) -> Vec<String> {
    let (mut outline, mut within) = (Vec::new(), None);
    for line in page.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            within = if within.is_some() { None } else { Some(fence) };
            continue;
        }
        let command = match within {
            Some("console") => line.strip_prefix("$ "),
            Some(_) => Some(line),
            None => None,
        };
        if let Some(command) = command {
            let own = command.split(" | ").find(|part| part.contains("analyze") || !part.starts_with("ssh "));
            let own = own.unwrap_or_default().split(" # ").next().unwrap_or_default();
            outline.push(own.replace(" --lang zh", "").replace(" --lang en", "").trim_end().to_owned());
        } else if within.is_none() {
            let mark = line.split(' ').next().unwrap_or_default();
            if mark.starts_with('#') || ["-", "|"].contains(&mark) {
                outline.push(mark.to_owned());
            }
            let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            outline.extend(
                links
                    .filter(|link| link.starts_with("docs/") || link.starts_with("testdata/"))
                    .map(|link| link.replace(".zh.md", ".md")),
            );
        }
    }
    outline
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    all.extend(["README.md", "README.zh.md"].map(|name| root.join(name)));
    all.sort();
    all
}

/// Creates a folder with what commands read, in which what they write does not stay.
fn folder_to_run_in(root: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for read in ["docs", "testdata"] {
        std::os::unix::fs::symlink(root.join(read), folder.path().join(read)).unwrap();
    }
    folder
}

/// Returns the text with the output of each command renewed, and the number of commands run.
fn renew(text: &str, folder: &Path) -> (String, usize) {
    let (mut renewed, mut commands) = (String::new(), 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        renewed += line;
        renewed += "\n";
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            renewed += line;
            renewed += "\n";
            match output(command, folder) {
                Some(output) => {
                    renewed += &output;
                    commands += 1;
                }
                // Not a command of this program: its output stays.
                None => {
                    while let Some(line) = lines.next_if(|line| *line != "```" && !line.starts_with("$ ")) {
                        renewed += line;
                        renewed += "\n";
                    }
                }
            }
        }
    }
    (renewed, commands)
}

/// Returns what the program prints on standard output, followed by standard error.
fn output(command: &str, folder: &Path) -> Option<String> {
    let command = command.strip_prefix(BUILD_AND_RUN).or_else(|| command.strip_prefix("rdblens "))?;
    let shell = Command::new("sh")
        .arg("-c")
        .arg(format!("\"{PROGRAM}\" {command}"))
        .current_dir(folder)
        .env_remove("RUST_BACKTRACE")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [shell.stdout, shell.stderr].concat();
    Some(String::from_utf8(text).unwrap().replace(PROGRAM, "rdblens"))
}
