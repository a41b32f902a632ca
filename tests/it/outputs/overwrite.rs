//! Files that a command reads, and other snapshots, are not overwritten; replaced files keep their mode and link.

use std::fs;
use std::path::{Path, PathBuf};

use super::{TestFiles, status, stderr};
use crate::common::program::testdata;

#[test]
fn no_output_is_written_over_a_file_that_the_command_reads() {
    let files = TestFiles::new();
    let report = files.run(&["analyze", "a.rdb", "--format", "json"]).stdout;
    for (name, bytes) in
        [("report.json", report.as_slice()), ("policy.toml", b""), ("secret", b"01234567"), ("c.conf", b"")]
    {
        fs::write(files.path(name), bytes).unwrap();
    }
    fs::create_dir(files.path("dumps")).unwrap();
    fs::hard_link(files.path("a.rdb"), files.path("dumps/hard.rdb")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.rdb", files.path("link.rdb")).unwrap();
    for line in [
        "keys a.rdb -o a.rdb",
        "keys a.rdb -o a.rdb --force",
        "keys a.rdb -o ./dumps/../a.rdb --force",
        "keys a.rdb -o dumps/hard.rdb --force",
        "keys dumps -o a.rdb --force",
        "keys dum*/*.rdb -o a.rdb --force",
        #[cfg(unix)]
        "keys a.rdb -o link.rdb --force",
        #[cfg(unix)]
        "keys link.rdb -o a.rdb --force",
        "keys a.rdb --policy policy.toml -o policy.toml",
        "keys a.rdb --policy default --baseline report.json -o report.json",
        "keys a.rdb --mask --mask-key secret -o secret",
        "keys a.rdb --server-config c.conf -o c.conf",
        "analyze a.rdb -o a.rdb --force",
        "analyze a.rdb --format json --format csv --baseline report.json -o report",
        "analyze a.rdb --policy policy.toml -o policy.toml",
        "analyze a.rdb --baseline report.json -o report.json",
        "analyze a.rdb --mask --mask-key secret -o secret",
        "analyze a.rdb --server-config c.conf -o c.conf",
        "compare report.json a.rdb -o report.json",
        "compare a.rdb report.json -o a.rdb --force",
        "compare a.rdb report.json --policy policy.toml -o policy.toml",
        "dictionary a.rdb -o a.rdb --force",
        "dictionary a.rdb --policy policy.toml -o policy.toml",
        "render report.json -o report.json",
        "render report.json --format html --format json -o report",
    ] {
        let before = read_all(files.0.path());
        let output = files.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(status(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("read by this command"), "{line}: {}", stderr(&output));
        assert!(read_all(files.0.path()) == before, "{line}");
    }
}

#[test]
fn no_output_is_written_over_a_file_in_a_folder_that_the_command_reads() {
    let files = TestFiles::new();
    let report = files.run(&["analyze", "a.rdb", "--format", "json"]).stdout;
    for folder in ["dumps", "nights/17", "parts", "one"] {
        fs::create_dir_all(files.path(folder)).unwrap();
    }
    for copy in ["dumps/b.rdb", "nights/17/b.rdb", "one/c.rdb"] {
        fs::copy(files.path("a.rdb"), files.path(copy)).unwrap();
    }
    fs::write(files.path("nights/17/a.json"), &report).unwrap();
    fs::write(files.path("nights/17/base.1.rdb"), fs::read(files.path("a.rdb")).unwrap()).unwrap();
    // A multi-part append-only file of a night.
    fs::create_dir_all(files.path("nights/18")).unwrap();
    fs::copy(files.path("a.rdb"), files.path("nights/18/a.1.base.rdb")).unwrap();
    fs::write(files.path("nights/18/a.1.incr.aof"), "*1\r\n$4\r\nPING\r\n").unwrap();
    fs::write(files.path("nights/18/a.manifest"), "file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n")
        .unwrap();
    assert_eq!(status(&files.run(&["plan", "a.rdb", "-o", "plan.json"])), 0);
    let part = ["analyze", "--partial", "--plan", "plan.json", "--shard", "1/1", "-o", "parts/1.part"];
    assert_eq!(status(&files.run(&part)), 0);
    fs::hard_link(files.path("one/c.rdb"), files.path("rows.csv")).unwrap();
    assert_eq!(status(&files.shell("tar -cf packed.tar -C one c.rdb")), 0);
    for line in [
        "analyze dumps -o dumps/b.rdb --force",
        "plan dumps -o dumps/b.rdb --force",
        "keys dumps -o dumps/b.rdb --force",
        "dictionary dumps -o dumps/b.rdb --force",
        "compare nights -o nights/17/a.json",
        "compare nights -o nights/17/b.rdb --force",
        "compare nights -o nights/18/a.1.base.rdb --force",
        "compare nights -o nights/18/a.1.incr.aof --force",
        "compare nights -o nights/18/a.manifest",
        // What is unpacked names no night before.
        "compare packed.tar nights -o nights/17/a.json",
        "compare packed.tar nights -o packed.tar --force",
        "compare --keys dumps one -o one/c.rdb --force",
        "compare --keys dumps --with one -o one/c.rdb --force",
        "compare --keys dumps one --rows rows.csv --force",
        "capacity dumps --node-memory 1GB -o dumps/b.rdb --force",
        "capacity a.rdb --node-memory 1GB --earlier nights --format json -o nights/17/a.json",
        "capacity a.rdb --node-memory 1GB --earlier nights -o nights/17/b.rdb --force",
        "capacity a.rdb --node-memory 1GB --earlier nights -o nights/18/a.1.incr.aof --force",
        "merge --plan plan.json parts -o parts/1.part",
        "merge --plan plan.json parts --partial -o parts/1.part",
    ] {
        let before = read_all(files.0.path());
        let output = files.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(status(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("read by this command"), "{line}: {}", stderr(&output));
        assert!(read_all(files.0.path()) == before, "{line}");
    }
}

#[cfg(unix)]
#[test]
fn two_outputs_of_a_command_are_not_the_same_file() {
    use std::os::unix::fs::symlink;

    let files = TestFiles::new();
    fs::write(files.path("there.csv"), "as before").unwrap();
    fs::hard_link(files.path("there.csv"), files.path("hard.csv")).unwrap();
    symlink("there.csv", files.path("soft.csv")).unwrap();
    symlink("new.csv", files.path("dangling.csv")).unwrap();
    fs::create_dir(files.path("folder")).unwrap();
    symlink("two.md", files.path("two.json")).unwrap();
    fs::create_dir(files.path("man")).unwrap();
    symlink("rdblens.1", files.path("man/rdblens-keys.1")).unwrap();
    for line in [
        "compare --keys a.rdb a.rdb --rows new.csv -o new.csv",
        "compare --keys a.rdb a.rdb --rows new.csv -o ./folder/../new.csv",
        "compare --keys a.rdb a.rdb --rows new.csv -o dangling.csv",
        "compare --keys a.rdb a.rdb --rows dangling.csv -o new.csv",
        "compare --keys a.rdb a.rdb --rows there.csv -o there.csv",
        "compare --keys a.rdb a.rdb --rows there.csv -o soft.csv",
        "compare --keys a.rdb a.rdb --rows hard.csv -o there.csv",
        "compare --keys a.rdb a.rdb --rows there.csv >> there.csv",
        "compare --keys a.rdb a.rdb --rows new.csv > new.csv",
        "compare --keys a.rdb a.rdb --rows out.csv --format csv --format json -o out",
        "analyze a.rdb --format json --format markdown -o two",
        "salvage a.rdb -o new.csv > new.csv",
        "man man",
    ] {
        let output = files.shell(&format!("\"$RDBLENS\" {line}"));
        assert_eq!(status(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("two outputs of this command"), "{line}: {}", stderr(&output));
        assert_eq!(fs::read_to_string(files.path("there.csv")).unwrap(), "as before", "{line}");
        // The shell has created it for standard output.
        assert!(
            fs::read(files.path("new.csv")).is_ok_and(|bytes| bytes.is_empty()) == line.contains("> new"),
            "{line}"
        );
        let _ = fs::remove_file(files.path("new.csv"));
    }
    for line in ["--rows rows.csv -o sums.csv", "--rows rows.csv -o /dev/null", "--rows folder/a.csv -o a.csv"] {
        let output = files.shell(&format!("\"$RDBLENS\" compare --keys a.rdb a.rdb {line}"));
        assert_eq!(status(&output), 0, "{line}: {}", stderr(&output));
    }
}

/// Reads all files of a folder and of those in it.
fn read_all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { files.extend(read_all(&path)) } else { files.push((path.clone(), fs::read(&path).unwrap())) }
    }
    files.sort();
    files
}

#[test]
fn the_parts_of_an_append_only_file_are_inputs() {
    let files = TestFiles::new();
    fs::rename(files.path("a.rdb"), files.path("a.1.base.rdb")).unwrap();
    fs::write(files.path("a.1.incr.aof"), "*1\r\n$4\r\nPING\r\n").unwrap();
    fs::write(files.path("a.manifest"), "file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n").unwrap();
    for part in ["a.1.base.rdb", "a.1.incr.aof", "a.manifest"] {
        let before = fs::read(files.path(part)).unwrap();
        let output = files.run(&["keys", ".", "-o", part, "--force"]);
        assert_eq!(status(&output), 2, "{part}: {}", stderr(&output));
        assert_eq!(fs::read(files.path(part)).unwrap(), before, "{part}");
    }
}

#[test]
fn any_snapshot_is_written_over_by_force_only() {
    let files = TestFiles::new();
    let hostile = |name: &str| testdata().join("hostile").join(name);
    assert!(hostile("checksum-wrong.rdb").exists());
    fs::copy(hostile("checksum-wrong.rdb"), files.path("other.rdb")).unwrap();
    fs::write(files.path("commands.aof"), "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n").unwrap();
    for target in ["other.rdb", "commands.aof"] {
        let before = fs::read(files.path(target)).unwrap();
        for command in
            [&["keys", "a.rdb"][..], &["analyze", "a.rdb"], &["dictionary", "a.rdb"], &["compare", "a.rdb", "a.rdb"]]
        {
            let output = files.run(&[command, &["-o", target]].concat());
            assert_eq!(status(&output), 2, "{command:?}: {}", stderr(&output));
            assert!(stderr(&output).contains("--force"), "{}", stderr(&output));
            assert_eq!(fs::read(files.path(target)).unwrap(), before, "{command:?}");
        }
        let output = files.run(&["keys", "a.rdb", "-o", target, "--force"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert!(fs::read(files.path(target)).unwrap().starts_with(b"{"));
    }
    // What is no snapshot is replaced without a word.
    assert_eq!(status(&files.run(&["keys", "a.rdb", "-o", "other.rdb"])), 0);
}

#[cfg(unix)]
#[test]
fn standard_output_is_not_appended_to_an_input() {
    let files = TestFiles::new();
    let before = fs::read(files.path("a.rdb")).unwrap();
    for command in
        ["keys a.rdb", "analyze a.rdb", "check a.rdb", "show a.rdb leaderboard:spending:all-time", "keys - < a.rdb"]
    {
        let output = files.shell(&format!("\"$RDBLENS\" {command} >> a.rdb"));
        assert_eq!(status(&output), 2, "{command}: {}", stderr(&output));
        assert_eq!(fs::read(files.path("a.rdb")).unwrap(), before, "{command}");
    }
    let output = files.shell("\"$RDBLENS\" keys - -o a.rdb --force < a.rdb");
    assert_eq!((status(&output), fs::read(files.path("a.rdb")).unwrap() == before), (2, true), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_replaced_output_keeps_its_mode_and_its_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let files = TestFiles::new();
    let mode = |name: &str| fs::metadata(files.path(name)).unwrap().permissions().mode() & 0o777;
    fs::create_dir(files.path("shared")).unwrap();
    fs::write(files.path("shared/report.json"), "{}").unwrap();
    fs::set_permissions(files.path("shared/report.json"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("shared/report.json", files.path("report.json")).unwrap();
    symlink("shared/later.json", files.path("later.json")).unwrap();
    for name in ["report.json", "later.json"] {
        assert_eq!(status(&files.run(&["analyze", "a.rdb", "-o", name])), 0);
        assert!(files.path(name).is_symlink() && fs::read(files.path(name)).unwrap().len() > 1000, "{name}");
    }
    assert_eq!(mode("report.json"), 0o640);
    assert_eq!(status(&files.shell("umask 027; \"$RDBLENS\" analyze a.rdb -o new.json")), 0);
    assert_eq!(status(&files.shell("umask 000; \"$RDBLENS\" analyze a.rdb -o private.json --private")), 0);
    assert_eq!(status(&files.run(&["analyze", "a.rdb", "-o", "report.json", "--private"])), 0);
    assert_eq!((mode("new.json"), mode("private.json"), mode("report.json")), (0o640, 0o600, 0o600));
    let expected = ["a.rdb", "later.json", "new.json", "private.json", "report.json", "shared"];
    assert_eq!(files.names(), expected);
    assert_eq!(fs::read_dir(files.path("shared")).unwrap().count(), 2);
}
