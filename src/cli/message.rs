//! Messages on standard error: errors, warnings and hints. Nothing else of the program writes there, but for the progress bar.
//!
//! Two things hold for every message. It never ends the program: standard error may be closed, full or a dead pipe, and the exit
//! status still has to say how the run ended. And it is one line of visible characters: names of files and keys in it cannot act
//! on a terminal or pose as another message.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};

use clap::Parser;

use super::args::Cli;
use crate::input::object;
use crate::render::key_text;

/// Prints a message, with arguments as of `format!`.
macro_rules! notice {
    ($($message:tt)*) => {
        $crate::cli::message::print(format_args!($($message)*))
    };
}

pub(super) use notice;

/// Prints `rdblens: ` and a message to standard error.
pub fn print(message: fmt::Arguments<'_>) {
    write_line(&format!("rdblens: {message}"));
}

/// Prints what is wrong with the arguments, or the help that was asked for.
///
/// The message quotes arguments as they are, and a glob of the shell may have found a file whose name holds hidden characters, or an
/// address holds a signature: then the message is made once more, from arguments as they are shown.
pub fn print_usage(error: &clap::Error, arguments: &[OsString]) -> io::Result<()> {
    let shown: Vec<String> = arguments.iter().map(|argument| shown(&argument.to_string_lossy())).collect();
    if arguments.iter().zip(&shown).all(|(argument, shown)| argument == shown.as_str()) {
        return error.print().and_then(|()| io::stdout().flush());
    }
    match Cli::try_parse_from(&shown) {
        Err(again) if again.use_stderr() == error.use_stderr() => again.print().and_then(|()| io::stdout().flush()),
        // Plain text has no sequences of characters that act on a terminal.
        Ok(_) | Err(_) => {
            error.render().to_string().lines().for_each(write_line);
            Ok(())
        }
    }
}

/// Returns an argument with hidden characters shown, and addresses without secrets.
fn shown(argument: &str) -> String {
    let (flag, value) = match argument.split_once('=') {
        Some((flag, value)) if flag.starts_with('-') => (Some(flag), value),
        Some(_) | None => (None, argument),
    };
    let value = object::shown(value);
    let argument = flag.map_or_else(|| value.clone(), |flag| format!("{flag}={value}"));
    key_text::text(&argument).into_owned()
}

fn write_line(line: &str) {
    let line = format!("{}\n", key_text::text(line));
    // A message that cannot be written is dropped: there is no other place to report that.
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
