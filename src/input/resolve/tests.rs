//! Tests with typical directories.

use super::*;
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

/// Resolves `arguments` below `dir` and returns the names of the inputs relative to it.
fn names(dir: &TempDir, arguments: &[&str]) -> Vec<String> {
    let arguments: Vec<_> = arguments.iter().map(|name| dir.path().join(name)).collect();
    let relative = |input: &Input| match &input.location {
        Location::Stdin => "-".to_owned(),
        Location::Object(object) => object.address().to_string(),
        Location::File(path) => path.strip_prefix(dir.path()).unwrap().display().to_string(),
    };
    resolve(&arguments).unwrap().iter().map(relative).collect()
}

fn fails(dir: &TempDir, argument: &str) -> Error {
    resolve(&[dir.path().join(argument)]).unwrap_err()
}

const MANIFEST: &str = "file a.aof.2.base.rdb seq 2 type b\nfile a.aof.2.incr.aof seq 2 type i\n\
                        file a.aof.3.incr.aof seq 3 type i\n";

fn parts(directory: &str) -> Vec<(String, &'static str)> {
    [
        ("a.aof.manifest", MANIFEST),
        ("a.aof.2.base.rdb", "REDIS0011"),
        ("a.aof.2.incr.aof", "12345"),
        ("a.aof.3.incr.aof", "678"),
    ]
    .map(|(name, content)| (format!("{directory}{name}"), content))
    .to_vec()
}

fn parts_tree(directory: &str) -> TempDir {
    let parts = parts(directory);
    tree(&parts.iter().map(|(name, content)| (name.as_str(), *content)).collect::<Vec<_>>())
}

#[test]
fn summary_of_dragonfly_stands_for_its_shards() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a-summary.dfs", "a-0001.dfs", "a-0000.dfs", "b-0000.dfs", "a-x.dfs", "a-0000.dfs.old"] {
        std::fs::write(dir.path().join(name), b"x").unwrap();
    }
    let names = |arguments: &[&str]| -> Vec<String> {
        let paths: Vec<_> = arguments.iter().map(|name| dir.path().join(name)).collect();
        let inputs = resolve(&paths).unwrap();
        inputs.iter().map(|input| input.name.rsplit('/').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["a-summary.dfs"]), ["a-summary.dfs", "a-0000.dfs", "a-0001.dfs"]);
    assert_eq!(names(&["a-0001.dfs", "a-summary.dfs"]), ["a-0001.dfs", "a-summary.dfs", "a-0000.dfs"]);
    assert_eq!(names(&["a-0001.dfs"]), ["a-0001.dfs"]);
    assert_eq!(names(&["."]).len(), 5);
}

#[test]
fn dash_is_the_standard_input_once() {
    assert_eq!(resolve(&["-", "-"]).unwrap(), [Input::stdin()]);
}

#[test]
fn no_arguments_are_a_usage_error() {
    assert!(matches!(resolve::<&str>(&[]).unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
fn glob_is_sorted_and_repeats_are_read_once() {
    let dir = tree(&[("b.rdb", ""), ("a.rdb", ""), ("c.txt", "")]);
    assert_eq!(names(&dir, &["*.rdb", "./a.rdb", "c.txt", "[a]*"]), ["a.rdb", "b.rdb", "c.txt"]);
    assert_eq!(names(&dir, &["b.rdb", "*.rdb"]), ["b.rdb", "a.rdb"]);
}

#[test]
fn existing_path_takes_precedence_over_glob() {
    let dir = tree(&[("[a].rdb", ""), ("a.rdb", "")]);
    assert_eq!(names(&dir, &["[a].rdb"]), ["[a].rdb"]);
}

#[test]
fn only_an_empty_glob_has_a_hint_about_globs() {
    let dir = tree(&[]);
    for (argument, has_hint) in [("missing.rdb", false), ("*.rdb", true)] {
        let error = fails(&dir, argument);
        assert!(matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::Unreadable(_)), "{error}");
        assert!(error.file().unwrap().ends_with(argument) && error.hint().is_some() == has_hint, "{error}");
    }
    assert!(matches!(fails(&dir, "a[.rdb").kind(), ErrorKind::Unreadable(_)));
}

#[test]
fn folder_of_dumps_gives_its_dumps_by_name() {
    let dir = tree(&[
        ("d/shard-2.rdb.zst", ""),
        ("d/shard-1.rdb", ""),
        ("d/shard-3.rdb.gz", ""),
        ("d/shard-4.rdb.lz4", ""),
        ("d/appendonly.aof", ""),
        ("d/temp-77.rdb", ""),
        ("d/notes.txt", ""),
        ("d/.rdb", ""),
        ("d/sub/other.rdb", ""),
    ]);
    let expected = ["d/appendonly.aof", "d/shard-1.rdb", "d/shard-2.rdb.zst", "d/shard-3.rdb.gz", "d/shard-4.rdb.lz4"];
    assert_eq!(names(&dir, &["d"]), expected);
}

#[test]
fn folder_without_dumps_is_an_error_with_a_hint() {
    let dir = tree(&[("d/notes.txt", ""), ("d/sub/other.rdb", "")]);
    let error = fails(&dir, "d");
    assert!(matches!(error.kind(), ErrorKind::NotASnapshot(_)));
    assert!(error.file().unwrap().ends_with('d') && error.hint().unwrap().contains("*.rdb"));
}

#[test]
fn multi_part_directory_gives_base_and_size_of_commands() {
    let dir = parts_tree("data/appendonlydir/");
    for argument in ["data/appendonlydir", "data", "data/appendonlydir/a.aof.manifest"] {
        let inputs = resolve(&[dir.path().join(argument)]).unwrap();
        let file = |name: &str| dir.path().join("data/appendonlydir").join(name);
        let beside = ["a.aof.manifest", "a.aof.2.incr.aof", "a.aof.3.incr.aof"].map(file).to_vec();
        let base = Input::file(file("a.aof.2.base.rdb"));
        assert_eq!(inputs, [Input { following_bytes: Some(8), multi_part: true, beside, ..base }], "{argument}");
    }
}

#[test]
fn nested_multi_part_directories_stand_among_the_dumps() {
    let mut files = parts("d/node-1/");
    files.extend(parts("d/node-2/"));
    files.push(("d/z.rdb".to_owned(), ""));
    files.push(("d/a.rdb".to_owned(), ""));
    let dir = tree(&files.iter().map(|(name, content)| (name.as_str(), *content)).collect::<Vec<_>>());
    assert_eq!(names(&dir, &["d"]), ["d/a.rdb", "d/node-1/a.aof.2.base.rdb", "d/node-2/a.aof.2.base.rdb", "d/z.rdb"]);
}

#[test]
fn base_of_commands_is_unsupported_with_a_hint() {
    for manifest in ["file a.1.base.aof seq 1 type b\n", "file a.1.incr.aof seq 1 type i\n", ""] {
        let dir = tree(&[("a.manifest", manifest), ("a.1.base.aof", ""), ("a.1.incr.aof", "")]);
        let error = fails(&dir, "");
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
        assert!(error.hint().unwrap().contains("BGREWRITEAOF"));
    }
}

#[test]
fn files_that_a_manifest_names_must_exist() {
    let dir = parts_tree("");
    fs::remove_file(dir.path().join("a.aof.3.incr.aof")).unwrap();
    let error = fails(&dir, "");
    assert!(error.file().unwrap().ends_with("a.aof.3.incr.aof"), "{error}");
    fs::remove_file(dir.path().join("a.aof.2.base.rdb")).unwrap();
    assert!(fails(&dir, "").file().unwrap().ends_with("a.aof.2.base.rdb"));
}

#[test]
fn error_in_hostile_manifest_names_the_manifest() {
    let escaping = tree(&[("d/a.manifest", "file ../x.rdb seq 1 type b\n"), ("x.rdb", "")]);
    let error = fails(&escaping, "d");
    assert!(matches!(error.kind(), ErrorKind::Corrupt(_)), "{error}");
    assert!(error.file().unwrap().ends_with("a.manifest"));
    let large = tree(&[("a.manifest", &"#\n".repeat(600_000))]);
    assert!(matches!(fails(&large, "").kind(), ErrorKind::Limit(_)));
}

#[test]
fn temporary_manifest_is_skipped() {
    let dir = parts_tree("");
    fs::write(dir.path().join("temp-a.aof.manifest"), "nonsense").unwrap();
    assert_eq!(names(&dir, &[""]), ["a.aof.2.base.rdb"]);
}

#[cfg(unix)]
#[test]
fn two_names_of_one_file_are_one_input() {
    let dir = tree(&[("a.rdb", "")]);
    std::os::unix::fs::symlink(dir.path().join("a.rdb"), dir.path().join("latest.rdb")).unwrap();
    assert_eq!(names(&dir, &["*.rdb"]), ["a.rdb"]);
}

#[test]
fn arguments_are_resolved_one_by_one_and_files_once() {
    let mut files = parts("d/e/");
    files.retain(|(name, _)| !name.ends_with("base.rdb"));
    files.push(("d/a.rdb".to_owned(), ""));
    let dir = tree(&files.iter().map(|(name, content)| (name.as_str(), *content)).collect::<Vec<_>>());
    let arguments = ["d/a.rdb", "missing.rdb", "d", "d/*.rdb"].map(|name| dir.path().join(name));
    let Resolved { inputs, failed, .. } = resolve_each(&arguments);
    assert_eq!(inputs, [Input::file(arguments[0].clone())]);
    // The directory holds a manifest whose base is missing: it fails as a whole.
    let names: Vec<_> = failed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [&arguments[1], &arguments[2]].map(|path| path.to_str().unwrap()));
    assert!(resolve(&arguments).unwrap_err().file().unwrap().ends_with("missing.rdb"));
}

#[test]
fn the_folder_of_a_bare_name_is_the_current_one() {
    let folders = ["a.rdb", "./a.rdb", "b/a.rdb", "/a.rdb"].map(|path| folder_of(Path::new(path)));
    assert_eq!(folders, [".", ".", "b", "/"].map(Path::new));
}
