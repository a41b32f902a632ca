//! Outputs: none of them destroys a file that matters, none is left half-written, and none ends the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;

use crate::common::program::{rdblens, run, run_args, run_with_input, run_within, stdout_of, testdata};

fn status(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Files for one test: a dump, a stored report, a policy, and whatever a test adds.
struct Room(TempDir);

impl Room {
    fn new() -> Room {
        let room = Room(tempfile::tempdir().unwrap());
        fs::copy(testdata().join("dumps/shop.rdb"), room.path("a.rdb")).unwrap();
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the program in the room.
    fn run(&self, args: &[&str]) -> Output {
        run(rdblens().current_dir(self.0.path()).args(args))
    }

    /// Runs a script of the shell in the room; `$RDBLENS` is the program.
    fn shell(&self, script: &str) -> Output {
        let mut command = Command::new("sh");
        command.current_dir(self.0.path()).env("RDBLENS", env!("CARGO_BIN_EXE_rdblens")).env("LC_ALL", "C");
        run(command.args(["-c", script]))
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

#[test]
fn no_output_is_written_over_a_file_that_the_command_reads() {
    let room = Room::new();
    let report = room.run(&["analyze", "a.rdb", "--format", "json"]).stdout;
    for (name, bytes) in
        [("report.json", report.as_slice()), ("policy.toml", b""), ("secret", b"01234567"), ("c.conf", b"")]
    {
        fs::write(room.path(name), bytes).unwrap();
    }
    fs::create_dir(room.path("dumps")).unwrap();
    fs::hard_link(room.path("a.rdb"), room.path("dumps/hard.rdb")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.rdb", room.path("link.rdb")).unwrap();
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
        let before = read_all(room.0.path());
        let output = room.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(status(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("read by this command"), "{line}: {}", stderr(&output));
        assert!(read_all(room.0.path()) == before, "{line}");
    }
}

#[test]
fn no_output_is_written_over_a_file_in_a_folder_that_the_command_reads() {
    let room = Room::new();
    let report = room.run(&["analyze", "a.rdb", "--format", "json"]).stdout;
    for folder in ["dumps", "nights/17", "parts", "one"] {
        fs::create_dir_all(room.path(folder)).unwrap();
    }
    for copy in ["dumps/b.rdb", "nights/17/b.rdb", "one/c.rdb"] {
        fs::copy(room.path("a.rdb"), room.path(copy)).unwrap();
    }
    fs::write(room.path("nights/17/a.json"), &report).unwrap();
    fs::write(room.path("nights/17/base.1.rdb"), fs::read(room.path("a.rdb")).unwrap()).unwrap();
    // A multi-part append-only file of a night.
    fs::create_dir_all(room.path("nights/18")).unwrap();
    fs::copy(room.path("a.rdb"), room.path("nights/18/a.1.base.rdb")).unwrap();
    fs::write(room.path("nights/18/a.1.incr.aof"), "*1\r\n$4\r\nPING\r\n").unwrap();
    fs::write(room.path("nights/18/a.manifest"), "file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n")
        .unwrap();
    assert_eq!(status(&room.run(&["plan", "a.rdb", "-o", "plan.json"])), 0);
    let part = ["analyze", "--partial", "--plan", "plan.json", "--shard", "1/1", "-o", "parts/1.part"];
    assert_eq!(status(&room.run(&part)), 0);
    fs::hard_link(room.path("one/c.rdb"), room.path("rows.csv")).unwrap();
    assert_eq!(status(&room.shell("tar -cf packed.tar -C one c.rdb")), 0);
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
        let before = read_all(room.0.path());
        let output = room.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(status(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("read by this command"), "{line}: {}", stderr(&output));
        assert!(read_all(room.0.path()) == before, "{line}");
    }
}

#[cfg(unix)]
#[test]
fn two_outputs_of_a_command_are_not_the_same_file() {
    use std::os::unix::fs::symlink;

    let room = Room::new();
    fs::write(room.path("there.csv"), "as before").unwrap();
    fs::hard_link(room.path("there.csv"), room.path("hard.csv")).unwrap();
    symlink("there.csv", room.path("soft.csv")).unwrap();
    symlink("new.csv", room.path("dangling.csv")).unwrap();
    fs::create_dir(room.path("folder")).unwrap();
    symlink("two.md", room.path("two.json")).unwrap();
    fs::create_dir(room.path("man")).unwrap();
    symlink("rdblens.1", room.path("man/rdblens-keys.1")).unwrap();
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
        let output = room.shell(&format!("\"$RDBLENS\" {line}"));
        assert_eq!(status(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("two outputs of this command"), "{line}: {}", stderr(&output));
        assert_eq!(fs::read_to_string(room.path("there.csv")).unwrap(), "as before", "{line}");
        // The shell has created it for standard output.
        assert!(fs::read(room.path("new.csv")).is_ok_and(|bytes| bytes.is_empty()) == line.contains("> new"), "{line}");
        let _ = fs::remove_file(room.path("new.csv"));
    }
    for line in ["--rows rows.csv -o sums.csv", "--rows rows.csv -o /dev/null", "--rows folder/a.csv -o a.csv"] {
        let output = room.shell(&format!("\"$RDBLENS\" compare --keys a.rdb a.rdb {line}"));
        assert_eq!(status(&output), 0, "{line}: {}", stderr(&output));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_that_its_reader_closes_is_an_error_and_keeps_no_file_from_its_name() {
    let room = Room::new();
    let shell = |line: &str| {
        for name in ["r.json", "r.html", "r.csv", "sums.json"] {
            let _ = fs::remove_file(room.path(name));
        }
        // The reader leaves before anything is written.
        room.shell(&format!("mkfifo r.md rows.csv 2>/dev/null; (: < r.md) & (: < rows.csv) & \"$RDBLENS\" {line}"))
    };
    let closed = |output: &Output, name: &str| {
        let said = stderr(output);
        assert!(status(output) == 3 && said.contains(&format!("{name}: its reader has closed the pipe")), "{said}");
    };
    // The pipe is in the middle, so that one file is written before and one behind it.
    let output =
        shell("analyze a.rdb --full --format json --format markdown --format html -o r; e=$?; : > rows.csv; exit $e");
    closed(&output, "r.md");
    assert!(fs::read_to_string(room.path("r.json")).unwrap().ends_with("}\n"));
    assert!(fs::read_to_string(room.path("r.html")).unwrap().trim_end().ends_with("</html>"));
    closed(&shell("keys a.rdb --format csv -o rows.csv; e=$?; : > r.md; exit $e"), "rows.csv");
    fs::write(room.path("b.rdb"), b"REDIS0011\xff\0\0\0\0\0\0\0\0").unwrap();
    closed(&shell("compare --keys a.rdb b.rdb --rows rows.csv -o sums.json; e=$?; : > r.md; exit $e"), "rows.csv");
    assert!(fs::read_to_string(room.path("sums.json")).unwrap().ends_with("}\n"));
    // Standard output may be closed at any time.
    let output = room.shell("{ sleep 0.2; \"$RDBLENS\" keys a.rdb; echo $? > status; } | true; cat status");
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), stderr(&output).as_str()), ("0\n", ""));
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_an_end_are_not_read_whole() {
    let room = Room::new();
    let huge = fs::File::create(room.path("huge.json")).unwrap();
    huge.set_len((1 << 30) + 1).unwrap();
    for (line, expected, said) in [
        ("keys a.rdb --mask --mask-key /dev/zero", 2, "--mask-key /dev/zero: larger than 16 MiB"),
        ("analyze a.rdb --server-config /dev/zero", 2, "--server-config /dev/zero: larger than 16 MiB"),
        ("analyze a.rdb --policy huge.toml", 2, "larger than 16 MiB"),
        ("render huge.json", 3, "huge.json: larger than 1024 MiB"),
        ("analyze a.rdb --baseline huge.json", 3, "huge.json: larger than 1024 MiB"),
        ("analyze a.rdb --earlier huge.json", 3, "huge.json: larger than 1024 MiB"),
        ("compare huge.json a.rdb", 3, "huge.json: larger than 1024 MiB"),
        ("merge --plan huge.json a.rdb", 3, "huge.json: larger than 1024 MiB"),
        ("merge --plan plan.json huge.json", 3, "huge.json: larger than 1024 MiB"),
    ] {
        if line.contains("huge.toml") {
            fs::hard_link(room.path("huge.json"), room.path("huge.toml")).unwrap();
        }
        if line.contains("plan.json") {
            assert_eq!(status(&room.run(&["plan", "a.rdb", "-o", "plan.json"])), 0);
        }
        let output = room.run(&line.split(' ').collect::<Vec<_>>());
        assert!(status(&output) == expected && stderr(&output).contains(said), "{line}: {}", stderr(&output));
    }
}

/// Reads all files of a folder and of those in it.
fn read_all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => files.extend(read_all(&path)),
            false => files.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn the_parts_of_an_append_only_file_are_inputs() {
    let room = Room::new();
    fs::rename(room.path("a.rdb"), room.path("a.1.base.rdb")).unwrap();
    fs::write(room.path("a.1.incr.aof"), "*1\r\n$4\r\nPING\r\n").unwrap();
    fs::write(room.path("a.manifest"), "file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n").unwrap();
    for part in ["a.1.base.rdb", "a.1.incr.aof", "a.manifest"] {
        let before = fs::read(room.path(part)).unwrap();
        let output = room.run(&["keys", ".", "-o", part, "--force"]);
        assert_eq!(status(&output), 2, "{part}: {}", stderr(&output));
        assert_eq!(fs::read(room.path(part)).unwrap(), before, "{part}");
    }
}

#[test]
fn a_directory_gets_a_file_named_report() {
    let room = Room::new();
    fs::create_dir(room.path("out")).unwrap();
    for (line, name) in [
        ("analyze a.rdb --format html -o out/", "report.html"),
        ("analyze a.rdb --format json -o out", "report.json"),
        ("analyze a.rdb -o out", "report.txt"),
        ("compare a.rdb a.rdb --format markdown -o out/", "report.md"),
        ("capacity a.rdb --node-memory 1GB --format csv -o out", "report.csv"),
    ] {
        let output = room.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{line}");
        assert!(room.path("out").join(name).is_file(), "{line}");
    }
    for formats in [&["--format", "html"][..], &["--format", "html", "--format", "json"]] {
        let output = room.run(&[&["analyze", "a.rdb", "-o", "missing/"], formats].concat());
        assert_eq!(status(&output), 3);
        assert!(stderr(&output).contains("there is no directory missing"), "{}", stderr(&output));
    }
}

#[cfg(feature = "parquet")]
#[test]
fn rows_have_the_format_of_the_file_name() {
    let room = Room::new();
    let rows = |name: &str, more: &[&str]| {
        let output = room.run(&[&["keys", "a.rdb", "--limit", "2", "-o", name][..], more].concat());
        (fs::read(room.path(name)).unwrap(), stderr(&output))
    };
    for (name, begins) in [("a.parquet", "PAR1"), ("a.CSV", "db,key"), ("a.jsonl", "{\"db\""), ("a.txt", "{\"db\"")] {
        let (bytes, messages) = rows(name, &[]);
        assert!(bytes.starts_with(begins.as_bytes()), "{name}: {}", bytes.escape_ascii());
        assert_eq!(messages, "", "{name}");
    }
    let (bytes, messages) = rows("b.csv", &["--format", "ndjson"]);
    assert!(bytes.starts_with(b"{"));
    assert_eq!(messages, "rdblens: b.csv will be ndjson, not csv\n");
}

#[test]
fn a_label_is_given_once() {
    let room = Room::new();
    let metrics = ["analyze", "a.rdb", "--format", "prometheus", "--label", "a=1", "--label"];
    let output = room.run(&[&metrics[..], &["a=2"]].concat());
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("--label a is given more than once"), "{}", stderr(&output));
    assert_eq!(status(&room.run(&[&metrics[..], &["b=1"]].concat())), 0);
}

#[test]
fn any_snapshot_is_written_over_by_force_only() {
    let room = Room::new();
    let hostile = |name: &str| testdata().join("hostile").join(name);
    assert!(hostile("checksum-wrong.rdb").exists());
    fs::copy(hostile("checksum-wrong.rdb"), room.path("other.rdb")).unwrap();
    fs::write(room.path("commands.aof"), "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n").unwrap();
    for target in ["other.rdb", "commands.aof"] {
        let before = fs::read(room.path(target)).unwrap();
        for command in
            [&["keys", "a.rdb"][..], &["analyze", "a.rdb"], &["dictionary", "a.rdb"], &["compare", "a.rdb", "a.rdb"]]
        {
            let output = room.run(&[command, &["-o", target]].concat());
            assert_eq!(status(&output), 2, "{command:?}: {}", stderr(&output));
            assert!(stderr(&output).contains("--force"), "{}", stderr(&output));
            assert_eq!(fs::read(room.path(target)).unwrap(), before, "{command:?}");
        }
        let output = room.run(&["keys", "a.rdb", "-o", target, "--force"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert!(fs::read(room.path(target)).unwrap().starts_with(b"{"));
    }
    // What is no snapshot is replaced without a word.
    assert_eq!(status(&room.run(&["keys", "a.rdb", "-o", "other.rdb"])), 0);
}

#[test]
fn a_byte_order_mark_begins_csv_and_nothing_else() {
    let room = Room::new();
    room.run(&["analyze", "a.rdb", "--format", "json", "-o", "report.json"]);
    let commands = [&["analyze", "a.rdb"][..], &["render", "report.json"], &["keys", "a.rdb"]];
    for command in commands {
        let csv = [command, &["--format", "csv"]].concat();
        let plain = room.run(&csv).stdout;
        let marked = room.run(&[&csv[..], &["--bom"]].concat());
        assert_eq!(status(&marked), 0, "{}", stderr(&marked));
        assert_eq!(marked.stdout, [b"\xef\xbb\xbf", plain.as_slice()].concat(), "{command:?}");
        let other = room.run(&[command, &["--bom"]].concat());
        assert_eq!((status(&other), other.stdout.len()), (2, 0), "{command:?}");
        assert!(stderr(&other).contains("--bom requires --format csv"), "{}", stderr(&other));
    }
    // Each CSV of several files, and no other.
    let lists = ["--format", "csv", "--format", "json", "--section", "types,files", "--bom", "-o", "all"];
    assert_eq!(status(&room.run(&[commands[0], &lists].concat())), 0);
    let marks = ["all.types.csv", "all.files.csv", "all.json"]
        .map(|name| fs::read(room.path(name)).unwrap().starts_with("\u{feff}".as_bytes()));
    assert_eq!(marks, [true, true, false]);
    // The ending of the output is a format, too.
    assert_eq!(status(&room.run(&["analyze", "a.rdb", "--bom", "-o", "types.csv"])), 0);
}

#[cfg(unix)]
#[test]
fn standard_output_is_not_appended_to_an_input() {
    let room = Room::new();
    let before = fs::read(room.path("a.rdb")).unwrap();
    for command in
        ["keys a.rdb", "analyze a.rdb", "check a.rdb", "show a.rdb leaderboard:spending:all-time", "keys - < a.rdb"]
    {
        let output = room.shell(&format!("\"$RDBLENS\" {command} >> a.rdb"));
        assert_eq!(status(&output), 2, "{command}: {}", stderr(&output));
        assert_eq!(fs::read(room.path("a.rdb")).unwrap(), before, "{command}");
    }
    let output = room.shell("\"$RDBLENS\" keys - -o a.rdb --force < a.rdb");
    assert_eq!((status(&output), fs::read(room.path("a.rdb")).unwrap() == before), (2, true), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_replaced_output_keeps_its_mode_and_its_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let room = Room::new();
    let mode = |name: &str| fs::metadata(room.path(name)).unwrap().permissions().mode() & 0o777;
    fs::create_dir(room.path("shared")).unwrap();
    fs::write(room.path("shared/report.json"), "{}").unwrap();
    fs::set_permissions(room.path("shared/report.json"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("shared/report.json", room.path("report.json")).unwrap();
    symlink("shared/later.json", room.path("later.json")).unwrap();
    for name in ["report.json", "later.json"] {
        assert_eq!(status(&room.run(&["analyze", "a.rdb", "-o", name])), 0);
        assert!(room.path(name).is_symlink() && fs::read(room.path(name)).unwrap().len() > 1000, "{name}");
    }
    assert_eq!(mode("report.json"), 0o640);
    assert_eq!(status(&room.shell("umask 027; \"$RDBLENS\" analyze a.rdb -o new.json")), 0);
    assert_eq!(status(&room.shell("umask 000; \"$RDBLENS\" analyze a.rdb -o private.json --private")), 0);
    assert_eq!(status(&room.run(&["analyze", "a.rdb", "-o", "report.json", "--private"])), 0);
    assert_eq!((mode("new.json"), mode("private.json"), mode("report.json")), (0o640, 0o600, 0o600));
    let expected = ["a.rdb", "later.json", "new.json", "private.json", "report.json", "shared"];
    assert_eq!(room.names(), expected);
    assert_eq!(fs::read_dir(room.path("shared")).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn the_name_of_standard_output_is_not_replaced() {
    let room = Room::new();
    let output = room.shell(
        "\"$RDBLENS\" keys a.rdb --limit 1 -o /dev/stdout > rows; \"$RDBLENS\" keys a.rdb --limit 2 -o - >> rows",
    );
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    assert_eq!(fs::read_to_string(room.path("rows")).unwrap().lines().count(), 3);
}

/// Starts a run that waits for its input, ends it with a signal, and returns the signal that it died of.
#[cfg(unix)]
fn end_with(room: &Room, signal: &str) -> Option<i32> {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    let mut command = rdblens();
    command.current_dir(room.0.path()).args(["keys", "-", "-o", "rows"]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&fs::read(room.path("a.rdb")).unwrap()[..1000]).unwrap();
    let has_begun = || room.names().iter().any(|name| name.starts_with(".rdblens-"));
    let begun = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        has_begun()
    });
    assert!(begun, "no temporary file: {:?}", room.names());
    Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    let ended = (0..2000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        child.try_wait().unwrap()
    });
    let status = ended.unwrap_or_else(|| {
        child.kill().unwrap();
        panic!("SIG{signal} does not end the program: is it ignored where the tests run?")
    });
    status.signal()
}

#[cfg(unix)]
#[test]
fn signals_leave_no_temporary_file() {
    let room = Room::new();
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        assert_eq!(end_with(&room, signal), Some(number), "{signal}");
        assert_eq!(room.names(), ["a.rdb"], "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_ignored_signal_stays_ignored() {
    let room = Room::new();
    let script = "trap '' HUP; (cat a.rdb; sleep 1) | \"$RDBLENS\" keys - -o rows & sleep 0.3; \
                  kill -HUP $!; wait $!";
    let output = room.shell(script);
    assert_eq!((status(&output), room.names().len()), (0, 2), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_limit_on_file_sizes_is_an_error_and_leaves_nothing() {
    let room = Room::new();
    for command in ["keys a.rdb -o rows", "analyze a.rdb --top 10000 --format html -o report.html"] {
        let output = room.shell(&format!("ulimit -f 16; exec \"$RDBLENS\" {command}"));
        assert_eq!(status(&output), 3, "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("too large"), "{}", stderr(&output));
        assert_eq!(room.names(), ["a.rdb"], "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_reading_the_messages_does_not_change_the_status() {
    let room = Room::new();
    let mut cut = fs::read(room.path("a.rdb")).unwrap();
    cut.truncate(cut.len() / 2);
    fs::write(room.path("cut.rdb"), cut).unwrap();
    fs::write(room.path("none.rdb"), "nothing").unwrap();
    for (command, expected) in [
        ("analyze cut.rdb", 4),
        ("analyze cut.rdb --stats --fail-on hint", 4),
        ("keys cut.rdb", 4),
        ("check cut.rdb", 4),
        ("show cut.rdb nothing", 4),
        ("show a.rdb nothing", 3),
        ("analyze none.rdb", 3),
        ("keys missing.rdb", 3),
        ("keys a.rdb --match 'user:{int}'", 0),
        ("keys a.rdb --pattern 'nothing:{int}'", 0),
        ("analyze a.rdb --policy missing", 2),
        ("analyze a.rdb --no-such-flag", 2),
        ("analyze a.rdb --fail-on must", 1),
    ] {
        for redirection in ["2>/dev/full", "2>&-", "2>&1 >/dev/null | true; exit ${PIPESTATUS[0]}"] {
            let mut bash = Command::new("bash");
            bash.current_dir(room.0.path()).env("RDBLENS", env!("CARGO_BIN_EXE_rdblens"));
            // The pipe is dead before the first message.
            let wait = if redirection.contains('|') { "sleep 0.1; " } else { "" };
            let output = run(bash.args(["-c", &format!("{{ {wait}\"$RDBLENS\" {command}; }} {redirection}")]));
            assert_eq!(output.status.code(), Some(expected), "{command} {redirection}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_status_3() {
    let room = Room::new();
    for command in
        ["analyze a.rdb", "keys a.rdb", "check a.rdb", "rules", "schema", "--version", "--help", "completions bash"]
    {
        let output = room.shell(&format!("exec \"$RDBLENS\" {command} > /dev/full"));
        assert_eq!(status(&output), 3, "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("No space left"), "{command}: {}", stderr(&output));
        // As with /dev/null: whoever closes it does not want the result.
        let output = room.shell(&format!("exec \"$RDBLENS\" {command} >&-"));
        assert_eq!((status(&output), stderr(&output).as_str()), (0, ""), "{command}");
    }
    assert_eq!(status(&room.shell("exec \"$RDBLENS\" analyze a.rdb >&- 2>&- <&-")), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let room = Room::new();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    fs::copy(room.path("a.rdb"), room.0.path().join(name(b"\xd6l.rdb"))).unwrap();
    fs::create_dir(room.0.path().join(name(b"d\xff"))).unwrap();
    fs::copy(room.path("a.rdb"), room.0.path().join(name(b"d\xff/b.rdb"))).unwrap();
    fs::write(room.0.path().join(name(b"p\xe9.toml")), "name = \"team\"").unwrap();
    fs::write(room.0.path().join(name(b"c\xe9.conf")), "maxmemory 1gb\n").unwrap();
    let run = |args: &[&[u8]]| {
        let output = run(rdblens().current_dir(room.0.path()).args(args.iter().map(|arg| OsStr::from_bytes(arg))));
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&[b"check", b"\xd6l.rdb"]).starts_with("\\xd6l.rdb: ok"));
    assert!(run(&[b"check", b"d\xff"]).starts_with("d\\xff/b.rdb: ok"));
    assert!(run(&[b"analyze", b"\xd6l.rdb", b"--format", b"json"]).contains(r#""name": "\\xd6l.rdb""#));
    run(&[b"analyze", b"a.rdb", b"--policy", b"p\xe9.toml", b"--server-config", b"c\xe9.conf", b"-o", b"r\xe9.json"]);
    run(&[b"analyze", b"a.rdb", b"--baseline", b"r\xe9.json"]);
    assert!(run(&[b"compare", b"r\xe9.json", b"\xd6l.rdb"]).contains("r\\xe9.json"));
    assert!(run(&[b"render", b"r\xe9.json"]).contains("a.rdb"));
    assert!(run(&[b"keys", b"\xd6l.rdb", b"--limit", b"1"]).starts_with('{'));
    assert!(!run(&[b"show", b"\xd6l.rdb", b"leaderboard:spending:all-time"]).is_empty());
}

#[cfg(unix)]
#[test]
fn messages_are_lines_of_visible_characters() {
    let room = Room::new();
    let hostile = "\u{1b}]0;x\u{7}\nrdblens: a.rdb: ok\u{202e}\u{9b}2J.rdb";
    fs::write(room.path(hostile), "nothing").unwrap();
    for args in [
        &["analyze", hostile][..],
        &["keys", hostile],
        &["keys", "a.rdb", hostile],
        &["analyze", "a.rdb", "missing\u{1b}[31m.rdb"],
        &["analyze", "a.rdb", "--policy", hostile],
        &["analyze", "a.rdb", "--baseline", hostile],
        &["analyze", "a.rdb", hostile, hostile, "--section", hostile],
        &[hostile],
        &["show", hostile, "key"],
        &["show", "a.rdb", hostile],
        &["keys", "a.rdb", "--match", "{int}\u{1b}[31m"],
        &["keys", "a.rdb", "--pattern", hostile],
        &["render", hostile],
        &["keys", "a.rdb", "-o", "no-such-folder\u{1b}/x"],
    ] {
        let output = room.run(args);
        let told = stderr(&output);
        assert!(!told.is_empty(), "{args:?}");
        assert!(
            told.lines().all(|line| !line.contains(|c: char| c.is_control() || c == '\u{202e}')),
            "{args:?}: {told}"
        );
        assert!(!told.lines().any(|line| line == "rdblens: a.rdb: ok"), "{args:?}: {told}");
    }
}

/// On a terminal messages about usage have colours, and what they quote must not add any.
#[test]
fn usage_errors_show_hidden_characters_of_arguments() {
    for hostile in ["x\u{1b}cy", "x\u{1b}]0;t\u{7}y", "x\u{202e}y", "x\nrdblens: ok"] {
        let flag = format!("--{hostile}");
        for args in [
            &[hostile][..],
            &["help", hostile],
            &["schema", hostile],
            &["completions", hostile],
            &["schema", "report", hostile],
            &["analyze", &flag],
            &["analyze", "a.rdb", "--format", hostile],
            &["analyze", "a.rdb", "--top", hostile],
            &["analyze", "a.rdb", "--max-memory", hostile],
            &["keys", "a.rdb", "--allocator", hostile],
            &["capacity", "a.rdb", "--node-memory", "1GB", "--section", hostile],
            &["rules", "--format", hostile],
            &["salvage", "a.rdb", "--lang", hostile],
        ] {
            let output = run(rdblens().args(args).env("CLICOLOR_FORCE", "1"));
            let told = stderr(&output);
            assert!(status(&output) == 2 && !told.is_empty(), "{args:?}: {output:?}");
            assert!(!told.contains("x\u{1b}") && !told.contains(['\u{7}', '\u{202e}']), "{args:?}: {told:?}");
            assert!(!told.lines().any(|line| line == "rdblens: ok"), "{args:?}: {told}");
        }
    }
}

#[test]
fn a_pipe_is_replaced_by_nothing() {
    // `-o` on something that is neither file nor terminal is written directly.
    let output = run_with_input(
        rdblens().args(["keys", "-", "-o", "/dev/null"]),
        fs::read(testdata().join("dumps/shop.rdb")).unwrap(),
    );
    assert_eq!((status(&output), output.stdout.len()), (0, 0), "{}", stderr(&output));
    assert!(run_within(rdblens().args(["rules"]), Duration::from_secs(20)).is_some());
    assert_eq!(status(&run_args(&["keys", "missing.rdb", "-o", "/dev/null"])), 3);
}

/// Characters that act on a terminal, turn a line or stay out of sight.
const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{1b}[31m\u{9b}2J\u{202e}\u{200b}\u{2066}\u{202d}\r\u{feff}\u{e0041}\u{ad}b";

/// Replaces every text of a stored report by a hostile one, but for those of a closed set.
fn poison(value: &mut serde_json::Value, kept: &dyn Fn(&str) -> bool) {
    use serde_json::Value;
    match value {
        Value::String(text) if kept(text) => {}
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(list) => list.iter_mut().for_each(|value| poison(value, kept)),
        Value::Object(object) => {
            let closed = ["schema", "rdblens", "kind", "type", "severity", "checksum", "form", "compression", "unit"];
            for (name, value) in object.iter_mut().filter(|(name, _)| !closed.contains(&name.as_str())) {
                if name != "encoding" && name != "allocator" {
                    poison(value, kept);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_hostile(c: char) -> bool {
    // No-break spaces and isolates are those of the pages themselves.
    rdblens::internals::render::key_text::is_hidden(c) && !matches!(c, '\n' | '\t' | '\u{a0}' | '\u{2068}' | '\u{2069}')
}

#[test]
fn no_text_of_a_stored_report_comes_through() {
    let room = Room::new();
    let args =
        ["analyze", "a.rdb", "--format", "json", "--policy", "platform", "--what-if", "redis-8.2", "--inspect-values"];
    let stored: serde_json::Value = serde_json::from_slice(&room.run(&args).stdout).unwrap();
    let mut poisoned = 0;
    // Some texts are of closed sets, which a report cannot leave: one field after the other is poisoned, and what is refused is not
    // shown.
    for (name, _) in stored.as_object().unwrap() {
        let mut report = stored.clone();
        poison(report.get_mut(name).unwrap(), &|_| false);
        fs::write(room.path("r.json"), report.to_string()).unwrap();
        for format in ["table", "markdown", "html"] {
            for lang in ["en", "zh"] {
                let output =
                    room.run(&["render", "r.json", "--full", "--format", format, "--lang", lang, "--fail-on", "hint"]);
                let shown =
                    String::from_utf8(output.stdout).unwrap() + &stderr(&Output { stdout: Vec::new(), ..output });
                let hidden = shown.lines().find(|line| line.contains(is_hostile));
                assert!(hidden.is_none(), "{name} {format} {lang}: {hidden:?}");
                poisoned += usize::from(shown.contains("\\x1b]0;x"));
            }
        }
    }
    assert!(poisoned > 60, "{poisoned}");
}

/// A dump with hostile names wherever a dump has any.
fn hostile_dump() -> Vec<u8> {
    let mut dump = b"REDIS0011".to_vec();
    let string = |dump: &mut Vec<u8>, text: &[u8]| {
        dump.push(u8::try_from(text.len()).unwrap());
        dump.extend_from_slice(text);
    };
    for (name, value) in [("redis-ver", "7.2.6"), (HOSTILE, HOSTILE), ("ctime", "1790000000")] {
        dump.push(0xfa);
        string(&mut dump, name.as_bytes());
        string(&mut dump, value.as_bytes());
    }
    dump.extend_from_slice(&[0xfe, 0]);
    for key in
        [HOSTILE.to_owned(), format!("user:{HOSTILE}:profile"), format!("{HOSTILE}:1"), format!("{{{HOSTILE}}}:2")]
    {
        dump.push(0);
        string(&mut dump, key.as_bytes());
        string(&mut dump, HOSTILE.as_bytes());
    }
    dump.push(0);
    string(&mut dump, b"\xff\xfe\x1b[2J");
    string(&mut dump, b"\xff\x1b");
    // A hash: type 4.
    dump.push(4);
    string(&mut dump, b"hash");
    dump.push(1);
    string(&mut dump, HOSTILE.as_bytes());
    string(&mut dump, HOSTILE.as_bytes());
    dump.push(0xff);
    dump.extend_from_slice(&[0; 8]);
    dump
}

/// Commands over a hostile dump in every format; the output for people, with or without a terminal.
#[cfg(unix)]
const LINES: [(&str, bool); 22] = [
    ("analyze DUMP", true),
    ("analyze DUMP --policy strict --lang zh", true),
    ("analyze DUMP --policy POLICY --fail-on hint --inspect-values", true),
    ("analyze DUMP --format markdown --policy POLICY", true),
    ("analyze DUMP --format html --policy POLICY", true),
    ("analyze DUMP --wide --color always", true),
    ("analyze DUMP --format json", false),
    ("analyze DUMP --format prometheus", false),
    ("analyze DUMP --format csv --section files", false),
    ("analyze DUMP --format csv --section patterns", false),
    ("keys DUMP", false),
    ("keys DUMP --format csv", false),
    ("keys DUMP --policy POLICY", false),
    ("analyze DUMP --match nothing:{int}", true),
    ("check DUMP", true),
    ("check DUMP --second-reader", true),
    ("check DUMP --format json", false),
    ("compare DUMP DUMP", true),
    ("dictionary DUMP", true),
    ("dictionary DUMP --policy POLICY", true),
    ("show DUMP hash", true),
    ("rules --policy POLICY", true),
];

#[cfg(unix)]
#[test]
fn no_name_in_a_snapshot_or_a_policy_acts_on_a_terminal() {
    let room = Room::new();
    let dump = format!("d{HOSTILE}.rdb");
    fs::write(room.path(&dump), hostile_dump()).unwrap();
    let escaped: String = HOSTILE.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect();
    let policy = format!(
        "name = \"{escaped}\"\ndocument = \"{escaped}\"\nextends = \"platform\"\n\
         [[dictionary]]\npattern = \"user:{{bin}}:profile\"\nowner = \"{escaped}\"\nnote = \"{escaped}\"\n\
         [[exempt]]\npattern = \"hash\"\nrules = [\"key.prefix\"]\nreason = \"{escaped}\"\n"
    );
    let policy_name = format!("p{HOSTILE}.toml");
    fs::write(room.path(&policy_name), policy).unwrap();
    for (line, is_for_people) in LINES {
        let args: Vec<String> =
            line.split(' ').map(|word| word.replace("DUMP", &dump).replace("POLICY", &policy_name)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = room.run(&args);
        assert!(status(&output) != 2, "{line}: {}", stderr(&output));
        assert!(!stderr(&output).contains(is_hostile), "{line}: {}", stderr(&output));
        let shown = String::from_utf8(output.stdout).unwrap();
        // The escape character is that of the program's own colours, if it is asked for any.
        let hides = |c: char| is_hostile(c) && !(c == '\u{1b}' && line.contains("--color"));
        assert!(!is_for_people || !shown.contains(hides), "{line}: {shown:?}");
        let on_terminal = on_terminal(&room, &args);
        let hides = |c: char| is_hostile(c) && c != '\u{1b}' && c != '\r';
        assert!(on_terminal.contains('\n') && !on_terminal.contains(hides), "{line}: {on_terminal:?}");
        let begins_style = |rest: &str| rest.starts_with(|c: char| c == '[' || c == 'm' || c.is_ascii_digit());
        assert!(on_terminal.split('\u{1b}').skip(1).all(begins_style), "{line}: {on_terminal:?}");
        assert!(
            !on_terminal.contains("\u{1b}[31m\u{9b}") && !on_terminal.contains("\u{1b}]"),
            "{line}: {on_terminal:?}"
        );
    }
}

/// Runs the program on a terminal of its own, and returns what it wrote there.
#[cfg(unix)]
fn on_terminal(room: &Room, args: &[&str]) -> String {
    let words: Vec<String> = args.iter().map(|arg| format!("'{}'", arg.replace('\'', "'\\''"))).collect();
    let line = format!("'{}' {} 2>/dev/null", env!("CARGO_BIN_EXE_rdblens"), words.join(" "));
    let mut script = Command::new("script");
    script.current_dir(room.0.path()).env("LC_ALL", "C").env("TERM", "xterm").stdin(std::process::Stdio::null());
    let output = run(script.args(["-qec", &line, "/dev/null"]));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_chosen_trend_shows_two_snapshots_and_a_missing_section_goes_by_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join("shop.json").display().to_string();
    let dump = |name: &str| format!("{}/testdata/dumps/{name}.rdb", env!("CARGO_MANIFEST_DIR"));
    stdout_of(&["analyze", &dump("shop"), "--format", "json", "-o", &stored]);
    let of = |name: &str| stdout_of(&["analyze", &dump(name), "--section", "trend", "--earlier", &stored]);
    let later = of("shop-later");
    assert!(later.contains("2 snapshots over 3 hours") && later.contains("2026-11-21 04:31:55Z"), "{later}");
    let same = of("shop");
    assert!(
        same.contains("- trend: nothing to show; --earlier REPORT.json gives it, with a complete report"),
        "{same}"
    );
    let one = folder.path().join("one.rdb").display().to_string();
    fs::write(&one, b"REDIS0011\xfe\0\0\x01a\x01b\xff\0\0\0\0\0\0\0\0").unwrap();
    let none = stdout_of(&["analyze", &one, "--section", "slots,idle"]);
    assert!(none.contains("- slots: nothing to show") && none.contains("- idle: nothing to show"), "{none}");
}
