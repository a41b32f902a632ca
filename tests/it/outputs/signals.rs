//! Signals and limits that end a run leave no temporary file.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::{TestFiles, status, stderr};
use crate::common::program::rdblens;

/// Starts a run that waits for its input, ends it with a signal, and returns the signal that it died of.
#[cfg(unix)]
fn end_with(files: &TestFiles, signal: &str) -> Option<i32> {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    let mut command = rdblens();
    command.current_dir(files.0.path()).args(["keys", "-", "-o", "rows"]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&fs::read(files.path("a.rdb")).unwrap()[..1000]).unwrap();
    let has_begun = || files.names().iter().any(|name| name.starts_with(".rdblens-"));
    let begun = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        has_begun()
    });
    assert!(begun, "no temporary file: {:?}", files.names());
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
    let files = TestFiles::new();
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        assert_eq!(end_with(&files, signal), Some(number), "{signal}");
        assert_eq!(files.names(), ["a.rdb"], "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_ignored_signal_stays_ignored() {
    let files = TestFiles::new();
    let script = "trap '' HUP; (cat a.rdb; sleep 1) | \"$RDBLENS\" keys - -o rows & sleep 0.3; \
                  kill -HUP $!; wait $!";
    let output = files.shell(script);
    assert_eq!((status(&output), files.names().len()), (0, 2), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_limit_on_file_sizes_is_an_error_and_leaves_nothing() {
    let files = TestFiles::new();
    for command in ["keys a.rdb -o rows", "analyze a.rdb --top 10000 --format html -o report.html"] {
        let output = files.shell(&format!("ulimit -f 16; exec \"$RDBLENS\" {command}"));
        assert_eq!(status(&output), 3, "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("too large"), "{}", stderr(&output));
        assert_eq!(files.names(), ["a.rdb"], "{command}");
    }
}
