//! The program as scripts see it: exit status, streams, closed pipes.

use crate::common::program::run_args;
use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");

/// Runs the program in another locale.
fn rdblens_in(locale: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rdblens"));
    command.args(args).env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", locale);
    command.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn rules_are_listed_and_explained() {
    let all = stdout(&rdblens_in("C", &["rules"]));
    assert!(all.contains("key.prefix") && all.contains("aliyun"));
    let strict = stdout(&rdblens_in("C", &["rules", "--policy", "strict"]));
    assert!(strict.starts_with("Policy strict:") && strict.contains("max = 128"));
    let one = stdout(&rdblens_in("C", &["rules", "key.prefix"]));
    for part in [
        "Why",
        "Demanded by",
        "1. key名设计 / 可读性和可管理性",
        "以业务名(或数据库名)为前缀",
        "In force",
        "How to fix",
        "Passes",
        "Fails",
    ] {
        assert!(one.contains(part), "{part}");
    }
}

#[test]
fn examples_of_a_rule_are_left_out_where_the_policy_has_other_limits() {
    let folder = tempfile::tempdir().unwrap();
    let explained = |limit: &str| {
        let path = folder.path().join("team.toml");
        std::fs::write(&path, format!("[rules.\"big.elements\"]\nseverity = \"must\"\nmax = {limit}\n")).unwrap();
        stdout(&rdblens_in("C", &["rules", "big.elements", "--policy", path.to_str().unwrap()]))
    };
    assert!(explained("5000").contains("Passes"));
    let changed = explained("10");
    assert!(
        changed.contains("more than 10 elements") && !changed.contains("Passes") && !changed.contains("5,000"),
        "{changed}"
    );
}

#[test]
fn rules_speak_the_language_of_the_locale_or_the_one_asked_for() {
    assert!(stdout(&rdblens_in("zh_CN.UTF-8", &["rules", "key.prefix"])).contains("如何修复"));
    assert!(stdout(&rdblens_in("zh_CN.UTF-8", &["rules", "key.prefix", "--lang", "en"])).contains("How to fix"));
    assert!(stdout(&rdblens_in("C", &["rules", "key.prefix", "--lang", "zh"])).contains("如何修复"));
    let json = |locale| stdout(&rdblens_in(locale, &["rules", "--format", "json"]));
    assert_eq!(json("zh_CN.UTF-8"), json("C"));
}

#[test]
fn an_unknown_rule_is_wrong_usage_with_suggestions() {
    let output = run_args(&["rules", "key.perfix"]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("did you mean key.prefix?"), "{}", stderr(&output));
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Writes a modified copy of the shop's dump.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(SHOP).unwrap();
    change(&mut bytes);
    let path = folder.path().join("changed.rdb");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn status_0_means_done() {
    for args in [&["analyze", SHOP][..], &["keys", SHOP], &["check", SHOP], &["--version"], &["help"]] {
        let output = run_args(args);
        assert_eq!(status(&output), 0, "{args:?}: {}", stderr(&output));
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn status_1_means_findings() {
    assert_eq!(status(&run_args(&["analyze", SHOP, "--fail-on", "must"])), 1);
    let clean = ["analyze", SHOP, "--fail-on", "must", "--match", "session:*", "--big-string", "1GB"];
    assert_eq!(status(&run_args(&clean)), 0);
}

#[test]
fn status_2_means_wrong_usage() {
    for args in [
        &["analyze"][..],
        &["analyse", SHOP],
        &["keys", SHOP, "--regex", "("],
        &["keys", SHOP, "--server", "mongo-4"],
        &["keys", SHOP, "--server-config", "no-such-setting=1"],
        &["keys", SHOP, "--at", "yesterday"],
        &["analyze", SHOP, "--min-share", "7"],
        &["analyze", SHOP, "--separator", "::"],
        &["analyze", SHOP, "--what-if", "mongo-4"],
        &["analyze", SHOP, "--what-if", "hash-max-listpack-entries"],
        &["keys", SHOP, "--what-if", "redis-8.2"],
        &[&["analyze", SHOP][..], &["--what-if", "glibc"].repeat(9)].concat(),
    ] {
        let output = run_args(args);
        assert_eq!(status(&output), 2, "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn status_3_means_no_report() {
    let (_folder, path) = changed(|bytes| bytes[0] = b'X');
    for command in ["analyze", "keys", "check"] {
        for input in [path.as_str(), "no-such-file.rdb", env!("CARGO_MANIFEST_DIR")] {
            let output = run_args(&[command, input]);
            assert_eq!(status(&output), 3, "{command} {input}: {}", stderr(&output));
            let told = stdout(&output) + &stderr(&output);
            assert!(told.contains(input), "{command} {input}: {told}");
        }
    }
}

#[test]
fn status_4_means_incomplete_and_wins_over_findings() {
    let (_folder, path) = changed(|bytes| bytes.truncate(bytes.len() / 2));
    let output = run_args(&["analyze", &path, "--format", "json", "--fail-on", "hint"]);
    assert_eq!(status(&output), 4);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["complete"], false);
    assert!(report["totals"]["keys"].as_u64().unwrap() > 100, "what was read before is reported");
    assert!(stderr(&output).contains("changed.rdb: byte 0x"), "{}", stderr(&output));
    let output = run_args(&["check", &path]);
    assert_eq!(status(&output), 4);
    assert!(stdout(&output).contains("truncated"), "{}", stdout(&output));
}

#[test]
fn a_changed_byte_is_a_checksum_mismatch() {
    // The last byte of the last value: framing stays intact.
    let (_folder, path) = changed(|bytes| {
        let end = bytes.len();
        bytes[end - 1] ^= 0x55;
    });
    let output = run_args(&["check", &path]);
    assert_eq!((status(&output), stdout(&output).contains("checksum mismatch")), (4, true), "{}", stdout(&output));
    assert_eq!(status(&run_args(&["analyze", &path])), 4);
    let output = run_args(&["check", &path, "--no-checksum"]);
    assert_eq!((status(&output), stdout(&output).contains("checksum skipped")), (0, true), "{}", stdout(&output));
}

#[test]
fn a_closed_pipe_is_a_normal_end() {
    for args in [&["keys", SHOP][..], &["keys", SHOP, "--format", "csv"], &["analyze", SHOP, "--format", "json"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rdblens"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((status(&output), stderr(&output).as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn standard_input_gives_what_the_file_gives() {
    let from_file = run_args(&["keys", SHOP]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_rdblens"))
        .args(["keys", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&fs::read(SHOP).unwrap()));
    let from_pipe = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(from_file.stdout == from_pipe.stdout && !from_pipe.stdout.is_empty());
}

#[cfg(unix)]
#[test]
fn redirected_input_is_read_from_where_it_stands() {
    use std::io::{Seek, SeekFrom};
    let folder = tempfile::tempdir().unwrap();
    let (shifted, compressed) = (folder.path().join("shifted"), folder.path().join("dump.rdb.gz"));
    fs::write(&shifted, [b"0123456789", &*fs::read(SHOP).unwrap()].concat()).unwrap();
    let mut encoder =
        flate2::write::GzEncoder::new(fs::File::create(&compressed).unwrap(), flate2::Compression::fast());
    encoder.write_all(&fs::read(SHOP).unwrap()).unwrap();
    encoder.finish().unwrap();
    let report = |args: &[&str], path: &std::path::Path, start: u64| {
        let mut file = fs::File::open(path).unwrap();
        file.seek(SeekFrom::Start(start)).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_rdblens")).args(args).stdin(file).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap().replace("<stdin>", SHOP)
    };
    let shop = std::path::Path::new(SHOP);
    assert_eq!(report(&["check", "-"], shop, 0).as_bytes(), run_args(&["check", SHOP]).stdout);
    let rows = run_args(&["keys", SHOP]).stdout;
    for (path, start) in [(shop, 0), (&*shifted, 10), (&*compressed, 0)] {
        assert!(report(&["keys", "-"], path, start).as_bytes() == rows, "{}", path.display());
        assert!(report(&["keys", "--no-mmap", "-"], path, start).as_bytes() == rows, "{}", path.display());
    }
}

#[test]
fn an_output_file_is_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let path_text = path.to_str().unwrap();
    let output = run_args(&["analyze", SHOP, "--format", "json", "-o", path_text]);
    assert_eq!((status(&output), output.stdout.len()), (0, 0));
    assert_eq!(fs::read(&path).unwrap(), run_args(&["analyze", SHOP, "--format", "json"]).stdout);
    let missing = folder.path().join("no-such-folder/report.json");
    assert_eq!(status(&run_args(&["analyze", SHOP, "-o", missing.to_str().unwrap()])), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written is left behind");
}

#[test]
fn several_files_are_one_snapshot() {
    let output = run_args(&["analyze", SHOP, SHOP, "--format", "json"]);
    let one: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(one["source"]["files"].as_array().unwrap().len(), 1, "the same file twice is read once");
    let (_folder, copy) = changed(|_| ());
    let output = run_args(&["analyze", SHOP, &copy, "--allow-same", "--format", "json"]);
    let both: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys = |report: &serde_json::Value| report["totals"]["keys"].as_u64().unwrap();
    assert_eq!(keys(&both), 2 * keys(&one));
    for file in both["source"]["files"].as_array().unwrap() {
        assert_eq!(file["keys"].as_u64().unwrap(), keys(&one));
    }
    let rows = stdout(&run_args(&["keys", SHOP, &copy, "--allow-same"]));
    let row: serde_json::Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(row["source"], SHOP);
}

#[test]
fn a_missing_shard_leaves_a_report_of_the_others() {
    let output = run_args(&["analyze", SHOP, "no-such-shard.rdb", "--format", "json"]);
    assert_eq!(status(&output), 4);
    assert!(stderr(&output).contains("no-such-shard.rdb"), "{}", stderr(&output));
    let (_folder, broken) = changed(|bytes| bytes[0] = b'X');
    let output = run_args(&["analyze", SHOP, &broken, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((status(&output), &report["complete"]), (4, &serde_json::Value::Bool(false)));
    assert!(report["totals"]["keys"].as_u64().unwrap() > 1000);
}

#[test]
fn what_if_matches_a_separate_run() {
    let totals = |args: &[&str]| -> serde_json::Value {
        let output = run_args(&[&["analyze", SHOP, "--format", "json"], args].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let asked = totals(&["--what-if", "valkey-8.1", "--what-if", "redis-8.2,hash-max-listpack-entries=9"]);
    let valkey = totals(&["--server", "valkey-8.1"]);
    let redis = totals(&["--server", "redis-8.2", "--server-config", "hash-max-listpack-entries=9"]);
    let alternatives = &asked["what_if"]["alternatives"];
    assert_eq!(alternatives[0]["memory"], valkey["totals"]["memory"]);
    assert_eq!(alternatives[1]["memory"], redis["totals"]["memory"]);
    assert!(alternatives[1]["difference"].as_i64().unwrap() < 0, "{alternatives}");
    assert!(valkey["what_if"].is_null());
    let older = totals(&["--what-if", "redis-6.2"]);
    let caveat = &older["what_if"]["alternatives"][0]["caveats"][0];
    assert!(caveat["text"].as_str().unwrap().starts_with("redis 6.2 does not load RDB version 10"), "{caveat}");
}

#[test]
fn selections_agree_with_each_other() {
    let rows = |args: &[&str]| stdout(&run_args(&[&["keys", SHOP], args].concat())).lines().count() as u64;
    let totals = |args: &[&str]| {
        let output = run_args(&[&["analyze", SHOP, "--format", "json"], args].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["totals"]["keys"].as_u64().unwrap()
    };
    let all = rows(&[]);
    for args in [
        &["--db", "0"][..],
        &["--db", "1", "--db", "2"],
        &["--type", "hash"],
        &["--match", "user:*"],
        &["--regex", "^(cart|order):"],
        &["--no-expired"],
        &["--limit", "100"],
        &["--type", "string", "--match", "*1*", "--limit", "7"],
    ] {
        let count = rows(args);
        assert!(count > 0 && count < all, "{args:?}: {count} of {all}");
        assert_eq!(count, totals(args), "{args:?}");
    }
    assert_eq!(rows(&["--db", "0"]) + rows(&["--db", "1", "--db", "2"]), all);
}

#[test]
fn colour_is_used_on_terminals_or_on_request() {
    let coloured = |args: &[&str], set: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rdblens"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output = command.args(args).envs(set.iter().copied()).env("LC_ALL", "C").output().unwrap();
        stdout(&output).contains('\x1b')
    };
    for command in [&["analyze", SHOP][..], &["check", SHOP], &["compare", SHOP, SHOP], &["rules"]] {
        let with = |flags: &[&'static str]| [command, flags].concat();
        assert!(!coloured(command, &[]), "{command:?}: a pipe");
        assert!(coloured(command, &[("CLICOLOR_FORCE", "1")]), "{command:?}");
        assert!(!coloured(command, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{command:?}");
        assert!(coloured(&with(&["--color", "always"]), &[("NO_COLOR", "1")]), "{command:?}: what is asked for wins");
        assert!(!coloured(&with(&["--color=never"]), &[("CLICOLOR_FORCE", "1")]), "{command:?}");
        assert!(!coloured(command, &[("CLICOLOR_FORCE", "0")]), "{command:?}");
    }
    assert!(!coloured(&["analyze", SHOP, "--format", "json", "--color", "always"], &[]));
}

#[test]
fn a_wide_table_has_whole_names() {
    let (usual, wide) =
        (stdout(&run_args(&["analyze", SHOP, "--full"])), stdout(&run_args(&["analyze", SHOP, "--full", "--wide"])));
    let url = "url:https://shop.example/list?tag=sale";
    let row = |text: &str| text.lines().find(|line| line.contains(url)).map(|line| line.contains('…'));
    assert_eq!((row(&usual), row(&wide)), (Some(true), Some(false)));
    assert!(wide.lines().any(|line| line.chars().count() > 300));
}

#[test]
fn the_worst_of_a_finding_is_the_same_however_short_the_lists_are() {
    // Rule, measured and allowed value, from the table of all findings.
    let worst = |policy: &str, top: &str| -> Vec<[String; 3]> {
        let report =
            stdout(&run_args(&["analyze", SHOP, "--policy", policy, "--format", "markdown", "--full", "--top", top]));
        let rows = report.lines().skip_while(|line| !line.starts_with("| rule | severity |"));
        let rows = rows.take_while(|line| line.starts_with('|'));
        rows.map(|row| [1, 9, 10].map(|at| row.split('|').nth(at).unwrap_or_default().to_owned())).collect()
    };
    for policy in ["default", "strict"] {
        let all = worst(policy, "10000");
        assert!(all.len() > 8, "{all:?}");
        for top in ["1", "3", "10"] {
            assert_eq!(worst(policy, top), all, "--policy {policy} --top {top}");
        }
    }
}

#[test]
fn a_bad_time_is_reported_under_the_flag_that_it_was_given_to() {
    for flag in ["--at", "--now"] {
        let output = run_args(&["analyze", SHOP, flag, "yesterday"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(&format!("{flag} yesterday: ")), "{told}");
        assert_eq!(output.status.code(), Some(2), "{told}");
    }
}

#[test]
fn unknown_names_get_suggestions() {
    for (args, meant) in [
        (&["analyze", SHOP, "--policy", "strct"][..], "did you mean strict?"),
        (&["analyze", SHOP, "--server", "redsi7.2"], "did you mean redis-7.2?"),
        (&["analyze", SHOP, "--what-if", "valky-8.1"], "did you mean valkey-8.1?"),
        (&["analyze", SHOP, "--what-if", "jemaloc"], "did you mean jemalloc?"),
        (&["keys", SHOP, "--server-config", "hash-max-listpak-value=3"], "did you mean hash-max-listpack-value"),
        (&["rules", "key.prefx"], "did you mean key.prefix?"),
        (&["anlyze", SHOP], "'analyze'"),
        (&["keys", SHOP, "--formt", "csv"], "'--format'"),
        (&["analyze", SHOP, "--format", "markdwn"], "'markdown'"),
        (&["analyze", SHOP, "--format", "csv", "--section", "fndings"], "'findings'"),
        (&["schema", "reprot"], "'report'"),
    ] {
        let output = run_args(args);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(meant), "{told}");
        assert_eq!(output.status.code(), Some(2), "{told}");
    }
    let output = run_args(&["check", &SHOP.replace("shop", "shpo")]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("did you mean") && told.contains("/shop.rdb") && output.status.code() == Some(3), "{told}");
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/reports/frist.json");
    for args in [&["render", stored][..], &["analyze", SHOP, "--baseline", stored]] {
        let output = run_args(args);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("did you mean") && told.contains("/first.json?"), "{told}");
        assert_eq!(output.status.code(), Some(3), "{told}");
    }
    let far = run_args(&["analyze", SHOP, "--policy", "mine"]);
    assert!(!String::from_utf8_lossy(&far.stderr).contains("did you mean"));
}

#[test]
fn messages_say_what_is_expected_in_words() {
    let out = &["analyze", SHOP, "-o", "/no/folder/x"][..];
    for (args, told, not) in [
        (&["analyze", SHOP, "--top", "0"][..], "must be 1 to 10000", "1..="),
        (&["analyze", SHOP, "--threads", "x"], "must be 1 to 1024", "digit"),
        (&["keys", SHOP, "--db", "x"], "must be a whole number", "digit"),
        (&["show", SHOP, "a", "--limit", "-"], "must be a whole number", "digit"),
        (&["rules", "--policy", "nope.toml"], "\"nope.toml\": no such file or directory (", "os error"),
        (&["keys", SHOP, "--server-config", "nope.conf"], "nope.conf: no such file or directory (", "os error"),
        (out, "/no/folder/x: no such file or directory (", "os error"),
        (&["analyze", SHOP, "--policy", "nope"], "there is no policy \"nope\"", "did you mean"),
        (&["analyze", "--partial", "--shard", "1/2", "-o", "x"], "--plan <PLAN.json>", "  <INPUT>"),
        (&["keys", SHOP, "--breaking", "slot.skew"], "rules that can be listed under policy default: ", "lists the"),
    ] {
        let output = run_args(args);
        let said = stderr(&output);
        assert!(said.contains(told) && !said.contains(not), "{args:?}: {said}");
    }
}

#[test]
fn a_verdict_is_not_repeated() {
    let not_a_snapshot = stdout(&run_args(&["check", "README.md"]));
    assert!(not_a_snapshot.starts_with("README.md: not a snapshot: byte 0x0: magic: starts with "), "{not_a_snapshot}");
    let wrong = "testdata/hostile/checksum-wrong.rdb";
    for (lang, word) in [("en", "checksum mismatch"), ("zh", "校验和不符")] {
        let said = stdout(&run_args(&["check", wrong, "--lang", lang]));
        assert_eq!(said.matches(word).count(), 1, "{said}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let output = run_args(&["keys", SHOP, "--format", "parquet"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("built without") && told.contains("feature `parquet`"), "{told}");
}

#[test]
fn an_input_without_a_command_is_analysed() {
    let (short, long) = (run_args(&[SHOP, "--format", "json"]), run_args(&["analyze", SHOP, "--format", "json"]));
    assert!(status(&short) == 0 && short.stdout == long.stdout);
    assert!(stderr(&run_args(&["anlyze"])).contains("similar subcommand exists: 'analyze'"));
}

#[test]
fn files_that_are_no_snapshots_are_named_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(status(&run_args(&["analyze", SHOP, "-o", &path("report.json")])), 0);
    let mut tar = b"shop.rdb".to_vec();
    tar.resize(257, 0);
    tar.extend(b"ustar\0");
    tar.resize(2048, 0);
    fs::write(path("nights.tar"), tar).unwrap();
    let entry = |name: &str| [&b"PK\x03\x04"[..], &[0; 26], name.as_bytes(), &[0; 64]].concat();
    fs::write(path("shop.zip"), entry("shop.rdb")).unwrap();
    fs::write(path("keys.xlsx"), entry("[Content_Types].xml")).unwrap();
    for (input, said) in [
        ("report.json", "did you mean `rdblens render`?"),
        ("nights.tar", "a tar archive"),
        ("shop.zip", "unzip -p"),
        ("keys.xlsx", "an Office document"),
    ] {
        let output = run_args(&["analyze", &path(input)]);
        assert!(status(&output) != 0 && stderr(&output).contains(said), "{}", stderr(&output));
    }
    for server in [
        "redis://app:secret@cache:6379/0",
        "VALKEYS://cache",
        "redis+tls://cache",
        "redis-socket:///run/redis.sock",
        "unix:///run/redis.sock",
        "127.0.0.1:6379",
        "[::1]:6379",
        "localhost:6379",
    ] {
        for args in
            [&["analyze", server][..], &["keys", server], &["compare", server, server], &["show", server, "key"]]
        {
            let output = run_args(args);
            let said = stderr(&output);
            assert!(status(&output) >= 2 && said.contains("redis-cli -u URL --rdb dump.rdb"), "{args:?}: {said}");
            assert!(said.contains(": this is the address of a server") && !said.contains("secret"), "{args:?}: {said}");
            assert!(!said.contains("no such file"), "{args:?}: {said}");
        }
    }
    assert!(stderr(&run_args(&["analyze", "shop:6379"])).contains("no such file"));
}

#[test]
fn wrong_flags_are_told_in_our_words() {
    let said = |args: &[&str]| {
        let output = run_args(args);
        assert!(status(&output) >= 2, "{args:?}");
        stderr(&output)
    };
    let at = said(&["analyze", SHOP, "--at", "yesterday"]);
    assert!(at.contains("--at yesterday: not a time") && !at.contains("parse"), "{at}");
    assert!(said(&["analyze", SHOP, "--top", "0"]).contains("must be 1 to 10000"));
    let unwritable = said(&["analyze", SHOP, "-o", "/no-such-folder/report.json"]);
    assert!(unwritable.contains("/no-such-folder/report.json: no such file or directory"), "{unwritable}");
    assert!(unwritable.contains("there is no directory /no-such-folder") && !unwritable.contains(".rdblens-"));
}

#[test]
fn an_ending_that_promises_another_format_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let report = |name: &str, args: &[&str]| {
        let path = folder.path().join(name);
        let output = run_args(&[&["analyze", SHOP, "-o", path.to_str().unwrap()], args].concat());
        assert_eq!(status(&output), 0);
        stderr(&output)
    };
    assert!(report("a.pdf", &["--format", "html"]).contains("a.pdf will be html, not pdf; to get a PDF"));
    assert!(report("b.json", &["--format", "table"]).contains("b.json will be table, not json"));
    assert_eq!(report("a.pdf", &["--format", "html", "--quiet"]), "");
    assert_eq!(report("a.log", &[]) + &report("a.html", &[]) + &report("a.txt", &["--format", "table"]), "");
}

#[test]
fn a_backslash_looks_the_same_in_every_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.rdb");
    fs::write(&path, crate::common::dump::Dump::new().string(r"app:c\d", "x").bytes()).unwrap();
    let path = path.to_str().unwrap();
    let table = stdout(&run_args(&["analyze", path, "--lang", "en"]));
    assert!(table.contains(r"c\\d"), "{table}");
    assert!(!table.replace(r"c\\d", "").contains(r"c\d"), "{table}");
    let keys = |glob: &str| stdout(&run_args(&["keys", path, "--match", glob])).lines().count();
    assert_eq!((keys(r"app:c\x5cd"), keys(r"\x61pp:*"), keys(r"\x62pp:*")), (1, 1, 0));
}
