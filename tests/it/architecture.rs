//! Checks that stages import earlier stages only, in the order that `src/lib.rs` documents.
//!
//! Every `crate::X` outside of tests is an import of the stage `X`, in `use` declarations and in paths alike, and so is a
//! chain of `super` that reaches the crate's root. A total order of the stages excludes cycles between them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fmt, fs};

use regex::{Captures, Regex};

/// Earlier stages that a stage must not import although the order allows it: renderers read reports and records, so
/// that no figure is computed for one format only.
const APART: [(&str, &[&str]); 1] = [("render", &["input", "aggregate", "analyze"])];

/// Returns the stages in order, as the diagram in `src/lib.rs` lists them: the first word of each line.
fn stages(lib: &str) -> Vec<&str> {
    let docs = lib.lines().filter_map(|line| line.strip_prefix("//!")).map(str::trim);
    let diagram = docs.skip_while(|line| *line != "# Stages").skip_while(|line| !line.starts_with("```")).skip(1);
    diagram.take_while(|line| *line != "```").filter_map(|line| line.split_whitespace().next()).collect()
}

/// Import that the order forbids.
#[derive(Debug, PartialEq, Eq)]
struct Offence {
    file: String,
    line: usize,
    stage: String,
    imported: String,
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Offence { file, line, stage, imported } = self;
        write!(f, "{file}:{line}: `{stage}` must not import `crate::{imported}`")
    }
}

/// Checks one source file, given by its path below `src` and its text.
fn offences(stages: &[&str], file: &str, text: &str) -> Vec<Offence> {
    let stage = file.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    let place = |stage: &str| stages.iter().position(|known| *known == stage);
    let apart = APART.iter().filter(|(from, _)| *from == stage).flat_map(|(_, apart)| *apart).collect::<Vec<_>>();
    let is_allowed = |imported: &str| match (place(stage), place(imported)) {
        (Some(from), Some(to)) => to <= from && !apart.contains(&&imported),
        (None, _) | (_, None) => false,
    };
    imports(file, &without_tests(&code(text)))
        .into_iter()
        .filter(|(_, imported)| !is_allowed(imported))
        .map(|(line, imported)| Offence { file: file.to_owned(), line, stage: stage.to_owned(), imported })
        .collect()
}

/// Blanks out comments, strings and character literals, keeping line numbers.
pub fn code(text: &str) -> String {
    static LITERALS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r###"(?s)//[^\n]*|/\*.*?\*/|b?r##".*?"##|b?r#".*?"#|b?r"[^"]*"|b?"(?:\\.|[^"\\])*""###,
            r"|b?'(?:\\(?:x..|u\{[^}]*\}|.)|[^'\\])'",
        ))
        .unwrap()
    });
    let blanks = |found: &Captures<'_>| found[0].replace(|c: char| c != '\n', " ");
    LITERALS.replace_all(text, blanks).into_owned()
}

/// Blanks out items that are compiled for tests only.
fn without_tests(code: &str) -> String {
    let mut left = code.to_owned();
    while let Some(start) = left.find("#[cfg(test)]") {
        let end = start + item_length(&left[start..]);
        let blank = left[start..end].replace(|c: char| c != '\n', " ");
        left.replace_range(start..end, &blank);
    }
    left
}

/// Returns the length of the item that `code` starts with: up to its semicolon, or to the end of its first block.
fn item_length(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b';' if depth == 0 => return at + 1,
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns the file modules that `code` declares for tests only.
fn test_modules(code: &str) -> Vec<String> {
    static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"#\[cfg\((?:test|all\(test,[^)]*\))\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;").unwrap()
    });
    DECLARED.captures_iter(code).map(|found| found[1].to_owned()).collect()
}

/// Returns the top-level names that a file imports, each with its line.
fn imports(file: &str, code: &str) -> Vec<(usize, String)> {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:crate|super(?:\s*::\s*super)*)\s*::\s*(\w+|\{)").unwrap());
    let mut found = Vec::new();
    for import in PATH.captures_iter(code) {
        let (whole, name) = (import.get(0).unwrap(), import.get(1).unwrap());
        let supers = whole.as_str().matches("super").count() - usize::from(name.as_str() == "super");
        // `super` in a stage's own file or `mod.rs` is the root of the crate.
        if supers > 0 && supers < depth(file) {
            continue;
        }
        let line = 1 + code[..whole.start()].matches('\n').count();
        let names = match name.as_str() {
            "{" => first_names(&code[name.end()..]),
            name => vec![name.to_owned()],
        };
        found.extend(names.into_iter().map(|name| (line, name)));
    }
    found
}

/// Returns the first name of each path in a list that ends with a brace: `a::{b, c}, d}` has `a` and `d`.
fn first_names(list: &str) -> Vec<String> {
    let (mut depth, mut names, mut name) = (0, Vec::new(), String::new());
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => names.push(std::mem::take(&mut name)),
            _ if depth == 0 => name.push(c),
            _ => {}
        }
        if c == '}' && depth == 0 && !names.is_empty() && name.is_empty() {
            break;
        }
    }
    let first = |path: String| path.split("::").next().unwrap_or_default().trim().to_owned();
    names.into_iter().map(first).filter(|name| !name.is_empty()).collect()
}

/// Returns the module depth of a file below the root of the crate.
fn depth(file: &str) -> usize {
    file.split('/').filter(|part| *part != "mod.rs").count()
}

/// Collects all source files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the folder of a file's submodules: `a/b.rs` and `a/b/mod.rs` have theirs in `a/b`.
fn submodules(file: &Path) -> PathBuf {
    if file.ends_with("mod.rs") { file.with_file_name("") } else { file.with_extension("") }
}

#[test]
fn stages_import_earlier_stages_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(root.join("lib.rs")).unwrap();
    let stages = stages(&lib);
    let mut files = Vec::new();
    sources(&root, &mut files);
    let texts: Vec<_> = files.iter().map(|file| (file, fs::read_to_string(file).unwrap())).collect();
    let tests: BTreeSet<PathBuf> = texts
        .iter()
        .flat_map(|(file, text)| test_modules(&code(text)).into_iter().map(|name| submodules(file).join(name)))
        .collect();
    let is_test = |file: &Path| file.ancestors().any(|above| tests.contains(&above.with_extension("")));
    let is_root = |file: &Path| file == root.join("lib.rs") || file == root.join("main.rs");
    let found: Vec<_> = texts
        .iter()
        .filter(|(file, _)| !is_test(file) && !is_root(file))
        .flat_map(|(file, text)| offences(&stages, file.strip_prefix(&root).unwrap().to_str().unwrap(), text))
        .map(|offence| offence.to_string())
        .collect();
    assert!(found.is_empty(), "the order of stages is in src/lib.rs:\n{}", found.join("\n"));
}

#[test]
fn reading_knows_of_an_analysis_only_its_plan_and_selection() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/analyze/read");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    assert!(files.len() > 20, "{files:?}");
    let import = Regex::new(r"\bcrate::analyze::(\w+)").unwrap();
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let code = without_tests(&code(&fs::read_to_string(file).unwrap()));
        for found in import.captures_iter(&code) {
            assert!(["plan", "select"].contains(&&found[1]), "{}: {}", file.display(), &found[0]);
        }
    }
}

/// Returns whether a file of `src` reads input files, so that its errors end up in reports.
fn reads_files(file: &str) -> bool {
    const READERS: [&str; 6] =
        ["input/", "rdb/", "memory/meter", "analyze/read/", "analyze/check.rs", "analyze/verdict.rs"];
    // Refuses arguments before they are read.
    READERS.iter().any(|reader| file.starts_with(reader)) && !file.starts_with("analyze/read/one_snapshot")
}

/// Returns the lines of code that make an error in English only.
fn english_errors(code: &str) -> Vec<usize> {
    let english = |line: &str| {
        (line.contains("Error::usage(") && !line.contains("Error::usage(\"no input given\")"))
            || line.contains("ErrorKind::Usage(") && !line.contains("ErrorKind::Usage(_)")
            || line.contains(".with_hint(")
    };
    code.lines().zip(1..).filter(|(line, _)| english(line)).map(|(_, number)| number).collect()
}

#[test]
fn errors_of_files_are_in_both_languages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut read = 0;
    for path in files {
        let file = path.strip_prefix(&root).unwrap().to_str().unwrap();
        if !reads_files(file) || file.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let tests = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
        let lines = english_errors(&text[..tests]);
        assert!(lines.is_empty(), "{file}: {lines:?}: quoted by reports, so use wording! and with_remedy");
        read += 1;
    }
    assert!(read > 40, "{read}");
    let english =
        "a\nErr(Error::usage(x))\nerror.with_hint(y)\nErrorKind::Usage(z)\nError::usage(\"no input given\")\n";
    assert_eq!(english_errors(english), [2, 3, 4]);
}

/// Returns the lines of code that write to standard output or standard error by themselves.
fn prints(code: &str) -> Vec<usize> {
    static PRINTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:e?print(?:ln)?|dbg)!|\b(?:stderr|stdout)\(\)").unwrap());
    code.lines().zip(1..).filter(|(line, _)| PRINTS.is_match(line)).map(|(_, number)| number).collect()
}

#[test]
fn messages_and_results_go_through_one_place_each() {
    // A macro that prints ends the program when standard error is closed or full, and prints names as they are.
    const PLACES: [&str; 5] = [
        "cli/message.rs",
        "cli/output.rs",
        "cli/sources.rs",
        "cli/progress.rs",
        // It asks whether standard output is a terminal.
        "cli/keys.rs",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for path in files {
        let file = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let code = without_tests(&code(&fs::read_to_string(&path).unwrap()));
        let lines = prints(&code);
        assert!(PLACES.contains(&file) || lines.is_empty(), "{file}: {lines:?}: use notice! or Output");
    }
    assert_eq!(prints("eprintln!(x)\nnotice!(x)\nio::stderr().write()\nprint!(y)"), [1, 3, 4]);
}

#[test]
fn every_stage_has_a_place_in_the_order() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let stages = stages(&lib);
    let modules = Regex::new(r"(?m)^(?:pub(?:\([^)]*\))? )?mod (\w+);").unwrap();
    let modules: BTreeSet<_> = modules.captures_iter(&lib).map(|found| found[1].to_owned()).collect();
    assert_eq!(stages.len(), stages.iter().collect::<BTreeSet<_>>().len(), "a stage is listed twice");
    assert_eq!(stages.iter().map(|&stage| stage.to_owned()).collect::<BTreeSet<_>>(), modules);
}

#[test]
fn an_import_of_a_later_stage_is_found_with_its_line() {
    let check = |file: &str, text: &str| offences(&["rdb", "record", "analyze", "render"], file, text);
    let offence = |file: &str, line, stage: &str, imported: &str| Offence {
        file: file.to_owned(),
        line,
        stage: stage.to_owned(),
        imported: imported.to_owned(),
    };
    let later = "//! Walks.\n\nuse std::fmt;\nuse crate::record::{Kind, Record};\n";
    assert_eq!(check("rdb/walk/mod.rs", later), [offence("rdb/walk/mod.rs", 4, "rdb", "record")]);
    assert_eq!(check("render/rows.rs", later), []);
    let inline = "fn f() -> crate::rdb::Kind {\n    crate :: render::show()\n}\n";
    assert_eq!(check("record.rs", inline), [offence("record.rs", 2, "record", "render")]);
    let listed = "use crate::{rdb::{a, b}, analyze, record::c};\n";
    assert_eq!(check("record.rs", listed), [offence("record.rs", 1, "record", "analyze")]);
    assert_eq!(check("render/a.rs", listed), [offence("render/a.rs", 1, "render", "analyze")]);
    let by_super = "use super::analyze::x;\nuse super::super::render::y;\n";
    assert_eq!(check("record.rs", by_super)[0], offence("record.rs", 1, "record", "analyze"));
    assert_eq!(check("rdb/scan.rs", by_super), [offence("rdb/scan.rs", 2, "rdb", "render")]);
    assert_eq!(check("unlisted.rs", "use crate::rdb;\n"), [offence("unlisted.rs", 1, "unlisted", "rdb")]);
    assert_eq!(
        offence("rdb/scan.rs", 2, "rdb", "render").to_string(),
        "rdb/scan.rs:2: `rdb` must not import `crate::render`"
    );
}

#[test]
fn comments_texts_and_tests_import_nothing() {
    let text = r##"
/// See [`crate::render`]. /* crate::render */
const TEXT: &str = "crate::render \" crate::render";
const RAW: &str = r#"crate::render"#;
const QUOTE: char = '"'; // crate::render
fn lifetime<'a>(text: &'a str) -> &'a str { text }
#[cfg(test)]
use crate::render::a;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests {
    use crate::render::b;
    fn c() { crate::render::d() }
}
fn after() { crate::render::found() }
"##;
    let found: Vec<_> = offences(&["rdb", "render"], "rdb/scan.rs", text).iter().map(|offence| offence.line).collect();
    assert_eq!(found, [16]);
    assert_eq!(test_modules(&code(text)), ["samples"]);
}

#[test]
fn the_order_is_read_from_the_documentation() {
    let lib = "//! Text.\n//!\n//! # Stages\n//!\n//! ```text\n//! units   bytes\n//! rdb     the format\n//! ```\n//! more\n";
    assert_eq!(stages(lib), ["units", "rdb"]);
}
