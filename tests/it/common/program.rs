//! Runs the binary under test.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Returns the folder of fixtures.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

/// Returns a command for the binary, with empty standard input.
pub fn rdblens() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rdblens"));
    // Independent of the locale of the environment.
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Runs to the end and returns status and output.
pub fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs the binary with these arguments.
pub fn run_args(args: &[&str]) -> Output {
    run(rdblens().args(args))
}

/// Runs the binary with these arguments, which must succeed, and returns its standard output.
pub fn stdout_of(args: &[&str]) -> String {
    let output = run_args(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// Runs with `input` on standard input.
pub fn run_with_input(command: &mut Command, input: Vec<u8>) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let mut stdin = child.stdin.take().expect("it was piped");
    // A program that stops reading early closes the pipe; its output is checked instead.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the child was not waited for yet");
    writer.join().expect("the writer does not panic");
    output
}

/// Returns status and output of a run, or `None` after killing it because it exceeded `limit`.
pub fn run_within(command: &mut Command, limit: Duration) -> Option<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
    let stdout = drain(child.stdout.take().expect("it was piped"));
    let stderr = drain(child.stderr.take().expect("it was piped"));
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the child is ours") {
            let read = |thread: std::thread::JoinHandle<Vec<u8>>| thread.join().expect("the reader does not panic");
            return Some(Output { status, stdout: read(stdout), stderr: read(stderr) });
        }
        if start.elapsed() > limit {
            child.kill().expect("the child is ours");
            child.wait().expect("the child is ours");
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn drain(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe reads to its end");
        bytes
    })
}

/// Returns both outputs as one text.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
