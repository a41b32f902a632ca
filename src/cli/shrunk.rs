//! Mapped inputs that become shorter while they are read: the file is named, and the program ends with status 4.
//!
//! Reading a lost page raises `SIGBUS`. The handler of `signal-hook` returns, so the reading thread raises it again and again
//! until the thread started here has removed the temporary files and ends the program.
#![expect(unsafe_code, reason = "signals cannot be set back to their default without")]

use std::path::{Path, PathBuf};
use std::{fs, process, thread};

use signal_hook::consts::SIGBUS;
use signal_hook::iterator::Signals;

use super::ExitStatus;
use crate::error::{Error, ErrorKind};
use crate::input::resolve::local;
use crate::input::{Location, resolve_each};
use crate::wording::wording;

/// Input that may be mapped.
#[derive(Debug)]
struct Mappable {
    name: String,
    path: PathBuf,
    /// Size before it is opened.
    len: u64,
}

/// Starts the thread that ends the program when an input cannot be read any more where it is mapped.
pub fn watch<P: AsRef<Path>>(arguments: &[P]) {
    let local: Vec<&Path> = local(arguments).collect();
    let inputs: Vec<_> = resolve_each(&local).inputs.into_iter().map(|input| (input.name, input.location)).collect();
    let inputs: Vec<Mappable> = inputs.into_iter().filter_map(|(name, location)| mappable(name, location)).collect();
    if inputs.is_empty() {
        return;
    }
    forget_handler();
    // Without handler and thread, the signal ends the program as before.
    let Ok(mut signals) = Signals::new([SIGBUS]) else { return };
    let wait = move || {
        if signals.forever().next().is_some() {
            end(&inputs);
        }
    };
    let _ = thread::Builder::new().name("shrunk".to_owned()).spawn(wait);
}

/// Sets `SIGBUS` back to its default. The runtime of Rust looks with it for stack overflows, finds none, and has the signal
/// end the program; `signal-hook` would call that handler first.
fn forget_handler() {
    // SAFETY: no function is installed. Overflows of the stack are found by `SIGSEGV` on Linux; elsewhere they end the program
    // without a word.
    unsafe { libc::signal(SIGBUS, libc::SIG_DFL) };
}

fn mappable(name: String, location: Location) -> Option<Mappable> {
    let path = match location {
        Location::Stdin => PathBuf::from("/dev/stdin"),
        Location::File(path) => path,
        Location::Object(_) => return None,
    };
    let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    Some(Mappable { name, path, len: metadata.len() })
}

/// Removes the temporary files, names the inputs that are shorter than before, and ends the program.
fn end(inputs: &[Mappable]) -> ! {
    // Held to the end, so that no file is created in between.
    let _none = super::temporary::remove_all();
    let errors: Vec<Error> = inputs.iter().filter_map(shorter).collect();
    errors.iter().for_each(super::print_error);
    if errors.is_empty() {
        super::print_error(&unreadable());
    }
    process::exit(ExitStatus::Incomplete as i32);
}

/// Returns the error for an input that is shorter than before.
fn shorter(input: &Mappable) -> Option<Error> {
    let Mappable { name, path, len } = input;
    let now = fs::metadata(path).ok()?.len();
    (now < *len).then(|| {
        let what = wording!(
            "became shorter while it was read: {len} bytes before, {now} now",
            "读取期间变短：之前 {len} 字节，现在 {now} 字节"
        );
        let remedy = wording!(
            "read it when nothing writes to it; --no-mmap reports what is there",
            "请在没有程序写入时读取；--no-mmap 可报告现有内容"
        );
        Error::new(ErrorKind::Unreadable(what)).with_remedy(remedy).in_file(name)
    })
}

/// Error if no input is shorter: its name leads to another file by now, or a disk cannot be read.
fn unreadable() -> Error {
    let what = wording!(
        "an input cannot be read any more: it was removed and truncated, or the disk has an error",
        "某个输入无法继续读取：文件被删除并截断，或磁盘出错"
    );
    Error::new(ErrorKind::Unreadable(what))
        .with_remedy(wording!("--no-mmap reports the file and the offset", "用 --no-mmap 可得知文件与位置"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handler_that_was_there_is_not_called() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};
        forget_handler();
        let raised = Arc::new(AtomicBool::new(false));
        let id = signal_hook::flag::register(SIGBUS, Arc::clone(&raised)).unwrap();
        // The handler of the runtime would set the default, which ends the program the second time.
        for _ in 0..2 {
            signal_hook::low_level::raise(SIGBUS).unwrap();
            assert!(raised.swap(false, Ordering::SeqCst));
        }
        signal_hook::low_level::unregister(id);
    }

    #[test]
    fn input_is_named_if_it_is_shorter_than_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rdb");
        fs::write(&path, [0; 100]).unwrap();
        let input = mappable("a.rdb".to_owned(), Location::File(path.clone())).unwrap();
        assert!(shorter(&input).is_none());
        fs::write(&path, [0; 101]).unwrap();
        assert!(shorter(&input).is_none());
        fs::write(&path, [0; 99]).unwrap();
        let said = shorter(&input).unwrap().to_string();
        assert!(said.starts_with("a.rdb: became shorter while it was read: 100 bytes before, 99 now"), "{said}");
        assert!(mappable("folder".to_owned(), Location::File(folder.path().to_owned())).is_none());
    }
}
