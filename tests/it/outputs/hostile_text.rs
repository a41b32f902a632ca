//! Names and texts from files, paths and arguments do not act on a terminal.

use std::fs;
use std::process::{Command, Output};

use super::{TestFiles, status, stderr};
use crate::common::program::{rdblens, run};

#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let files = TestFiles::new();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    fs::copy(files.path("a.rdb"), files.0.path().join(name(b"\xd6l.rdb"))).unwrap();
    fs::create_dir(files.0.path().join(name(b"d\xff"))).unwrap();
    fs::copy(files.path("a.rdb"), files.0.path().join(name(b"d\xff/b.rdb"))).unwrap();
    fs::write(files.0.path().join(name(b"p\xe9.toml")), "name = \"team\"").unwrap();
    fs::write(files.0.path().join(name(b"c\xe9.conf")), "maxmemory 1gb\n").unwrap();
    let run = |args: &[&[u8]]| {
        let output = run(rdblens().current_dir(files.0.path()).args(args.iter().map(|arg| OsStr::from_bytes(arg))));
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
    let files = TestFiles::new();
    let hostile = "\u{1b}]0;x\u{7}\nrdblens: a.rdb: ok\u{202e}\u{9b}2J.rdb";
    fs::write(files.path(hostile), "nothing").unwrap();
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
        let output = files.run(args);
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
    let files = TestFiles::new();
    let args =
        ["analyze", "a.rdb", "--format", "json", "--policy", "platform", "--what-if", "redis-8.2", "--inspect-values"];
    let stored: serde_json::Value = serde_json::from_slice(&files.run(&args).stdout).unwrap();
    let mut poisoned = 0;
    // Some texts are of closed sets, which a report cannot leave: one field after the other is poisoned, and what is refused is not
    // shown.
    for (name, _) in stored.as_object().unwrap() {
        let mut report = stored.clone();
        poison(report.get_mut(name).unwrap(), &|_| false);
        fs::write(files.path("r.json"), report.to_string()).unwrap();
        for format in ["table", "markdown", "html"] {
            for lang in ["en", "zh"] {
                let output =
                    files.run(&["render", "r.json", "--full", "--format", format, "--lang", lang, "--fail-on", "hint"]);
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
    let files = TestFiles::new();
    let dump = format!("d{HOSTILE}.rdb");
    fs::write(files.path(&dump), hostile_dump()).unwrap();
    let escaped: String = HOSTILE.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect();
    let policy = format!(
        "name = \"{escaped}\"\ndocument = \"{escaped}\"\nextends = \"platform\"\n\
         [[dictionary]]\npattern = \"user:{{bin}}:profile\"\nowner = \"{escaped}\"\nnote = \"{escaped}\"\n\
         [[exempt]]\npattern = \"hash\"\nrules = [\"key.prefix\"]\nreason = \"{escaped}\"\n"
    );
    let policy_name = format!("p{HOSTILE}.toml");
    fs::write(files.path(&policy_name), policy).unwrap();
    for (line, is_for_people) in LINES {
        let args: Vec<String> =
            line.split(' ').map(|word| word.replace("DUMP", &dump).replace("POLICY", &policy_name)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = files.run(&args);
        assert!(status(&output) != 2, "{line}: {}", stderr(&output));
        assert!(!stderr(&output).contains(is_hostile), "{line}: {}", stderr(&output));
        let shown = String::from_utf8(output.stdout).unwrap();
        // The escape character is that of the program's own colours, if it is asked for any.
        let hides = |c: char| is_hostile(c) && !(c == '\u{1b}' && line.contains("--color"));
        assert!(!is_for_people || !shown.contains(hides), "{line}: {shown:?}");
        let on_terminal = on_terminal(&files, &args);
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
fn on_terminal(files: &TestFiles, args: &[&str]) -> String {
    let words: Vec<String> = args.iter().map(|arg| format!("'{}'", arg.replace('\'', "'\\''"))).collect();
    let line = format!("'{}' {} 2>/dev/null", env!("CARGO_BIN_EXE_rdblens"), words.join(" "));
    let mut script = Command::new("script");
    script.current_dir(files.0.path()).env("LC_ALL", "C").env("TERM", "xterm").stdin(std::process::Stdio::null());
    let output = run(script.args(["-qec", &line, "/dev/null"]));
    String::from_utf8(output.stdout).unwrap()
}
