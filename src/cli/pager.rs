//! Pager for long output on a terminal: `$PAGER`, else `less -FRX`.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Pager that quits by itself if everything fits the screen, keeps colours and leaves the text on the screen.
const USUAL: &str = "less -FRX";

/// A running pager.
#[derive(Debug)]
pub struct Pager {
    child: Child,
    /// Taken when everything is written, so that the pager sees the end.
    input: Option<ChildStdin>,
}

impl Pager {
    /// Starts the pager of the user; `None` if there is none.
    pub fn start() -> Option<Pager> {
        let pager = std::env::var("PAGER").unwrap_or_else(|_| USUAL.to_owned());
        if pager.trim().is_empty() || pager == "cat" {
            return None;
        }
        let mut words = pager.split_whitespace();
        let mut command = Command::new(words.next()?);
        command.args(words).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            // Set the flags of `less`, so that colours work.
            command.env("LESS", "FRX");
        }
        let mut child = command.spawn().ok()?;
        let input = child.stdin.take();
        #[cfg(unix)]
        ignore_interrupts();
        Some(Pager { child, input })
    }

    /// Waits until the user leaves the pager.
    pub fn finish(mut self) -> io::Result<()> {
        self.wait()
    }

    fn wait(&mut self) -> io::Result<()> {
        drop(self.input.take());
        self.child.wait().map(|_| ())
    }
}

/// An interrupt is meant for the pager: ending before it would leave it without its terminal.
#[cfg(unix)]
fn ignore_interrupts() {
    let flag = std::sync::Arc::default();
    // Without the handler, an interrupt ends the program as before.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, flag);
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.input {
            Some(input) => input.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // A pager that was left early has closed its pipe; it is waited for all the same.
        let _ = self.wait();
    }
}
