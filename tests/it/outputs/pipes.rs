//! Pipes and devices as inputs and outputs: closed, endless, full, or not to be replaced.

use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

use super::{TestFiles, status, stderr};
use crate::common::program::{rdblens, run, run_args, run_with_input, run_within, testdata};

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_that_its_reader_closes_is_an_error_and_keeps_no_file_from_its_name() {
    let files = TestFiles::new();
    let shell = |line: &str| {
        for name in ["r.json", "r.html", "r.csv", "sums.json"] {
            let _ = fs::remove_file(files.path(name));
        }
        // The reader leaves before anything is written.
        files.shell(&format!("mkfifo r.md rows.csv 2>/dev/null; (: < r.md) & (: < rows.csv) & \"$RDBLENS\" {line}"))
    };
    let closed = |output: &Output, name: &str| {
        let said = stderr(output);
        assert!(status(output) == 3 && said.contains(&format!("{name}: its reader has closed the pipe")), "{said}");
    };
    // The pipe is in the middle, so that one file is written before and one behind it.
    let output =
        shell("analyze a.rdb --full --format json --format markdown --format html -o r; e=$?; : > rows.csv; exit $e");
    closed(&output, "r.md");
    assert!(fs::read_to_string(files.path("r.json")).unwrap().ends_with("}\n"));
    assert!(fs::read_to_string(files.path("r.html")).unwrap().trim_end().ends_with("</html>"));
    closed(&shell("keys a.rdb --format csv -o rows.csv; e=$?; : > r.md; exit $e"), "rows.csv");
    fs::write(files.path("b.rdb"), b"REDIS0011\xff\0\0\0\0\0\0\0\0").unwrap();
    closed(&shell("compare --keys a.rdb b.rdb --rows rows.csv -o sums.json; e=$?; : > r.md; exit $e"), "rows.csv");
    assert!(fs::read_to_string(files.path("sums.json")).unwrap().ends_with("}\n"));
    // Standard output may be closed at any time.
    let output = files.shell("{ sleep 0.2; \"$RDBLENS\" keys a.rdb; echo $? > status; } | true; cat status");
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), stderr(&output).as_str()), ("0\n", ""));
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_an_end_are_not_read_whole() {
    let files = TestFiles::new();
    let huge = fs::File::create(files.path("huge.json")).unwrap();
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
            fs::hard_link(files.path("huge.json"), files.path("huge.toml")).unwrap();
        }
        if line.contains("plan.json") {
            assert_eq!(status(&files.run(&["plan", "a.rdb", "-o", "plan.json"])), 0);
        }
        let output = files.run(&line.split(' ').collect::<Vec<_>>());
        assert!(status(&output) == expected && stderr(&output).contains(said), "{line}: {}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn the_name_of_standard_output_is_not_replaced() {
    let files = TestFiles::new();
    let output = files.shell(
        "\"$RDBLENS\" keys a.rdb --limit 1 -o /dev/stdout > rows; \"$RDBLENS\" keys a.rdb --limit 2 -o - >> rows",
    );
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    assert_eq!(fs::read_to_string(files.path("rows")).unwrap().lines().count(), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_reading_the_messages_does_not_change_the_status() {
    let files = TestFiles::new();
    let mut cut = fs::read(files.path("a.rdb")).unwrap();
    cut.truncate(cut.len() / 2);
    fs::write(files.path("cut.rdb"), cut).unwrap();
    fs::write(files.path("none.rdb"), "nothing").unwrap();
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
            bash.current_dir(files.0.path()).env("RDBLENS", env!("CARGO_BIN_EXE_rdblens"));
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
    let files = TestFiles::new();
    for command in
        ["analyze a.rdb", "keys a.rdb", "check a.rdb", "rules", "schema", "--version", "--help", "completions bash"]
    {
        let output = files.shell(&format!("exec \"$RDBLENS\" {command} > /dev/full"));
        assert_eq!(status(&output), 3, "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("No space left"), "{command}: {}", stderr(&output));
        // As with /dev/null: whoever closes it does not want the result.
        let output = files.shell(&format!("exec \"$RDBLENS\" {command} >&-"));
        assert_eq!((status(&output), stderr(&output).as_str()), (0, ""), "{command}");
    }
    assert_eq!(status(&files.shell("exec \"$RDBLENS\" analyze a.rdb >&- 2>&- <&-")), 0);
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
