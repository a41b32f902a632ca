//! Inputs as users give them: folders with pipes in them, one snapshot under two names, several nights in one folder.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rdblens::{Plan, Progress, ReadPlan, analyze};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::program::{rdblens, run, run_with_input, run_within, testdata};

/// Returns the bytes read since it was called last; `None` once the input is closed.
type Watched = Box<dyn Fn() -> Option<u64> + Send>;

/// Progress that asks the watched inputs only when it is told to.
#[derive(Default)]
struct Asking {
    bytes: AtomicU64,
    watched: Mutex<Vec<Watched>>,
}

impl Asking {
    fn ask(&self) -> u64 {
        let mut watched = self.watched.lock().unwrap();
        watched.retain(|read| read().map(|more| self.bytes.fetch_add(more, Ordering::Relaxed)).is_some());
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Progress for Asking {
    fn bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn watch(&self, read: Watched) {
        self.watched.lock().unwrap().push(read);
    }
}

#[test]
fn bytes_of_a_slow_pipe_are_known_before_its_first_batch_is_whole() {
    let folder = Folder::new(&[]);
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe.rdb")).status().unwrap();
    assert!(made.success());
    let dump = fs::read(testdata().join("dumps/shop.rdb")).unwrap();
    let (begin, rest) = dump.split_at(200_000);
    let (progress, pipe) = (Asking::default(), folder.path("pipe.rdb"));
    let plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    std::thread::scope(|scope| {
        let report = scope.spawn(|| analyze(&[&pipe], &plan, &progress).map(|report| report.totals.keys));
        let mut writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        writer.write_all(begin).unwrap();
        let known = (0..300).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            progress.ask() > 100_000
        });
        assert!(known, "{} bytes", progress.ask());
        writer.write_all(rest).unwrap();
        drop(writer);
        assert_eq!(report.join().unwrap().unwrap(), 5257);
    });
    assert_eq!(progress.ask(), dump.len() as u64, "each byte once");
    assert!(progress.watched.lock().unwrap().is_empty(), "the input is closed");
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with dumps.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, Vec<u8>)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, bytes) in files {
            let path = folder.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, line: &str) -> Output {
        let mut command = rdblens();
        command.current_dir(self.0.path()).args(line.split(' '));
        run_within(&mut command, Duration::from_secs(60)).unwrap_or_else(|| panic!("{line}: hangs"))
    }

    /// Returns the number of keys in a report.
    fn keys(&self, line: &str) -> u64 {
        let output = self.run(&format!("analyze {line} --format json"));
        assert_eq!(status(&output), 0, "{line}: {}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["totals"]["keys"].as_u64().unwrap()
    }

    fn refuses(&self, line: &str, told: &[&str]) {
        let output = self.run(line);
        assert_eq!((status(&output), output.stdout.len()), (2, 0), "{line}: {}", stderr(&output));
        for told in told {
            assert!(stderr(&output).contains(told), "{line}: {}", stderr(&output));
        }
        let insists = self.run(&format!("{line} --allow-same"));
        assert_eq!(status(&insists), 0, "{line}: {}", stderr(&insists));
    }
}

fn shop() -> Vec<u8> {
    fs::read(testdata().join("dumps/shop.rdb")).unwrap()
}

/// A dump with these auxiliary fields and `keys` strings, without a checksum.
fn dump(fields: &[(&str, &str)], keys: &[&str]) -> Vec<u8> {
    let mut dump = b"REDIS0011".to_vec();
    let string = |dump: &mut Vec<u8>, text: &str| {
        dump.push(u8::try_from(text.len()).unwrap());
        dump.extend_from_slice(text.as_bytes());
    };
    for (name, value) in fields {
        dump.push(0xfa);
        string(&mut dump, name);
        string(&mut dump, value);
    }
    if !keys.is_empty() {
        dump.extend_from_slice(&[0xfe, 0]);
    }
    for key in keys {
        dump.push(0);
        string(&mut dump, key);
        string(&mut dump, "value");
    }
    dump.push(0xff);
    dump.extend_from_slice(&[0; 8]);
    dump
}

const NOW: i64 = 1_790_000_000;

/// A shard saved some minutes after the others, with one key.
fn shard(minutes: i64, key: &str) -> Vec<u8> {
    dump(&[("redis-ver", "7.2.6"), ("ctime", &(NOW + minutes * 60).to_string()), ("used-mem", "1000000")], &[key])
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn a_snapshot_given_twice_is_refused() {
    let zipped = gzip(&shop());
    let folder = Folder::new(&[("a/dump.rdb", shop()), ("a/dump.rdb.gz", zipped), ("copy.rdb", shop())]);
    let told = ["are the same snapshot", "--allow-same"];
    for inputs in
        ["a", "a/dump.rdb copy.rdb", "a/dump.rdb.gz copy.rdb", "a/*.rdb* --threads 1", "a/dump.rdb copy.rdb --no-mmap"]
    {
        folder.refuses(&format!("analyze {inputs}"), &told);
        folder.refuses(&format!("keys {inputs}"), &told);
        folder.refuses(&format!("dictionary {inputs}"), &told);
    }
    assert_eq!(folder.keys("a copy.rdb --allow-same"), 3 * folder.keys("copy.rdb"));
    // Each file has its own verdict, and comparing a snapshot with itself adds nothing up.
    assert_eq!(status(&folder.run("check a copy.rdb")), 0);
    assert_eq!(status(&folder.run("compare copy.rdb a/dump.rdb")), 0);
    let piped = run_with_input(rdblens().current_dir(folder.0.path()).args(["analyze", "copy.rdb", "-"]), shop());
    assert_eq!(status(&piped), 2, "{}", stderr(&piped));
}

#[test]
fn links_to_a_file_are_that_file() {
    let folder = Folder::new(&[("dump.rdb", shop())]);
    fs::hard_link(folder.path("dump.rdb"), folder.path("hard.rdb")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("dump.rdb", folder.path("latest.rdb")).unwrap();
    assert_eq!(folder.keys("."), folder.keys("dump.rdb"));
    assert_eq!(folder.keys("dump.rdb hard.rdb"), folder.keys("dump.rdb"));
}

#[test]
fn a_copy_with_later_commands_is_the_same_snapshot() {
    let mut fields = vec![("ctime", "1790000000"), ("aof-base", "1")];
    let base = dump(&fields, &["a", "b"]);
    let longer = [base.clone(), b"*1\r\n$4\r\nPING\r\n".repeat(10_000)].concat();
    let long = [base.clone(), b"*1\r\n$4\r\nPING\r\n".repeat(5_000)].concat();
    let folder = Folder::new(&[("a.aof", long), ("b.aof", longer)]);
    folder.refuses("analyze a.aof b.aof", &["same snapshot"]);
    // Different contents under the same fields are two shards.
    fields.pop();
    let folder = Folder::new(&[("a.rdb", dump(&fields, &["a", "b"])), ("b.rdb", dump(&fields, &["a", "c"]))]);
    assert_eq!(folder.keys("."), 4);
    let folder =
        Folder::new(&[("a.rdb", dump(&[], &["a"])), ("b.rdb", dump(&[], &["b"])), ("c.rdb", dump(&[], &["b"]))]);
    assert_eq!(folder.keys("a.rdb b.rdb"), 2);
    folder.refuses("analyze .", &["b.rdb and ./c.rdb are the same snapshot"]);
}

#[test]
fn shards_without_keys_may_be_equal() {
    let empty = dump(&[("redis-ver", "7.2.6"), ("ctime", "1790000000")], &[]);
    let late = dump(&[("redis-ver", "7.2.6"), ("ctime", "1791000000")], &[]);
    let folder = Folder::new(&[("1.rdb", empty.clone()), ("2.rdb", empty), ("3.rdb", shard(0, "a")), ("4.rdb", late)]);
    assert_eq!(folder.keys("."), 1);
}

#[test]
fn several_nights_are_refused() {
    let night = |day: i64| shard(day * 24 * 60, &format!("key:{day}"));
    let named = |name: fn(i64) -> String| (0..5).map(|day| (name(day), night(day))).collect::<Vec<_>>();
    for names in [|day| format!("dump-2026-11-2{day}.rdb"), |day| format!("night{day}.rdb")] {
        let files = named(names);
        let folder = Folder::new(&files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect::<Vec<_>>());
        folder.refuses("analyze .", &["did you mean `rdblens compare`?", "--allow-same"]);
        folder.refuses("dictionary .", &["did you mean `rdblens compare`?"]);
        // Rows name their file.
        assert_eq!(String::from_utf8_lossy(&folder.run("keys .").stdout).lines().count(), 5);
        assert_eq!(folder.keys(". --allow-same"), 5);
        let each: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(status(&folder.run(&format!("compare {}", each.join(" ")))), 0);
    }
    let folder = Folder::new(&[("a.rdb", shard(0, "a")), ("b.rdb", shard(61, "b")), ("c.rdb", shard(-30, "c"))]);
    folder.refuses("analyze .", &["./c.rdb and ./b.rdb", "1 h 31 min apart"]);
    assert_eq!(folder.keys("a.rdb c.rdb"), 2);
}

#[test]
fn names_that_differ_in_the_date_are_one_shard() {
    let undated = |key| dump(&[], &[key]);
    let folder = Folder::new(&[
        ("shard-1-20261120.rdb", undated("a")),
        ("shard-1-20261121.rdb", undated("b")),
        ("2026-11-20/shard-2.rdb", undated("c")),
        ("2026-11-21/shard-2.rdb", undated("d")),
        ("2026-11-21/shard-3.rdb", undated("e")),
    ]);
    folder.refuses("analyze .", &["differ in the date only", "did you mean `rdblens compare`?"]);
    folder.refuses("analyze 2026-11-20 2026-11-21", &["differ in the date only"]);
    assert_eq!(folder.keys("2026-11-21"), 2);
    assert_eq!(folder.keys("shard-1-20261121.rdb 2026-11-20 2026-11-21/shard-3.rdb"), 3);
}

#[test]
fn replication_ids_tell_servers_apart() {
    let of = |id: &str, hours: i64, key: &str| {
        let ctime = (NOW + hours * 3600).to_string();
        dump(&[("ctime", &ctime), ("repl-id", id), ("repl-offset", "1")], &[key])
    };
    let folder = Folder::new(&[
        ("one.rdb", of("1111", 0, "a")),
        ("two.rdb", of("2222", 3, "b")),
        ("three.rdb", of("3333", 6, "c")),
        ("replica.rdb", dump(&[("ctime", &(NOW + 5).to_string()), ("repl-id", "1111")], &["a", "d"])),
        ("split.rdb", of("1111", 0, "e")),
        ("same-second.rdb", dump(&[("ctime", &NOW.to_string()), ("repl-id", "1111"), ("used-mem", "7")], &["f"])),
    ]);
    assert_eq!(folder.keys("one.rdb two.rdb three.rdb"), 3, "saved one after the other");
    assert_eq!(folder.keys("one.rdb split.rdb"), 2, "parts of one dump");
    folder.refuses("analyze one.rdb replica.rdb", &["same replication id"]);
    folder.refuses("analyze one.rdb same-second.rdb", &["same replication id"]);
}

#[test]
fn keys_cannot_leave_out_expired_ones_without_a_time() {
    let folder =
        Folder::new(&[("dated.rdb", dump(&[("ctime", &NOW.to_string())], &["a"])), ("undated.rdb", dump(&[], &["a"]))]);
    let told = |line: &str| stderr(&folder.run(line)).contains("--no-expired leaves out nothing");
    assert!(told("keys undated.rdb --no-expired") && !told("keys undated.rdb --no-expired --at 1700000000"));
    assert!(!told("keys dated.rdb --no-expired") && !told("keys undated.rdb"));
}

#[test]
fn length_of_a_replication_stream_is_compared() {
    let announced = |more: usize| [format!("${}\r\n", shop().len() + more).into_bytes(), shop()].concat();
    let folder = Folder::new(&[("whole.rdb", announced(0)), ("cut.rdb", announced(5000))]);
    let told = |name: &str| {
        let output = folder.run(&format!("check {name}"));
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap().contains("the replication stream announced")
    };
    assert!(!told("whole.rdb") && told("cut.rdb"));
}

#[test]
fn append_only_files_are_of_different_times() {
    let base = |days: i64, key: &str| dump(&[("ctime", &(NOW + days * 86400).to_string()), ("aof-base", "1")], &[key]);
    let manifest = b"file a.1.base.rdb seq 1 type b\n".to_vec();
    let folder = Folder::new(&[
        ("n/1/a.manifest", manifest.clone()),
        ("n/1/a.1.base.rdb", base(0, "a")),
        ("n/2/a.manifest", manifest.clone()),
        ("n/2/a.1.base.rdb", base(30, "b")),
        ("data/dump.rdb", shard(0, "c")),
        ("data/appendonlydir/a.manifest", manifest),
        ("data/appendonlydir/a.1.base.rdb", base(0, "c")),
    ]);
    assert_eq!(folder.keys("n"), 2);
    folder.refuses("analyze data", &["one server in two forms", "give one of them"]);
}

#[test]
fn only_commands_may_follow_the_snapshot_of_an_append_only_file() {
    let base = dump(&[("aof-preamble", "1")], &["a"]);
    let with = |behind: &[u8]| [&base, behind].concat();
    let folder = Folder::new(&[
        ("commands.aof", with(b"*1\r\n$4\r\nPING\r\n")),
        ("annotated.aof", with(b"#TS:1700000000\r\n*1\r\n$4\r\nPING\r\n")),
        ("zeros.aof", with(&[0; 4096])),
        ("twice.aof", with(&base)),
        ("dump.rdb", [shard(0, "c"), vec![0; 4096]].concat()),
    ]);
    for sound in ["commands.aof", "annotated.aof", "dump.rdb"] {
        let output = folder.run(&format!("check {sound}"));
        assert_eq!(status(&output), 0, "{}", stderr(&output));
    }
    for damaged in ["zeros.aof", "twice.aof"] {
        for command in ["check", "analyze", "analyze --threads 1 --no-mmap", "keys"] {
            let output = folder.run(&format!("{command} {damaged}"));
            let said = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
            assert_eq!(status(&output), 4, "{said}");
            assert!(said.contains("commands: a command begins with byte 0x"), "{said}");
            assert!(said.contains("redis-check-aof --fix"), "{said}");
        }
    }
}

#[test]
fn check_follows_commands_from_one_to_the_next() {
    let [ping, set] = ["*1\r\n$4\r\nPING\r\n", "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$9\r\n*1\r\n\0\0\0\0\0\r\n"];
    let [whole, cut, zeros] = [format!("{ping}{set}"), format!("{set}{}", &ping[..9]), format!("{ping}\0\0\0{set}")];
    let base = dump(&[("aof-preamble", "1")], &["a"]);
    let with = |behind: &str| [&base, behind.as_bytes()].concat();
    let manifest = b"file a.base.rdb seq 1 type b\nfile a.1.aof seq 1 type i\nfile a.2.aof seq 2 type i\n".to_vec();
    let parts = |folder: &str, first: &str, second: &str| {
        [
            (format!("{folder}/a.manifest"), manifest.clone()),
            (format!("{folder}/a.base.rdb"), dump(&[("aof-base", "1")], &["a"])),
            (format!("{folder}/a.1.aof"), first.into()),
            (format!("{folder}/a.2.aof"), second.into()),
        ]
    };
    let mut files = vec![
        ("whole.aof".to_owned(), with(&whole)),
        ("cut.aof".to_owned(), with(&cut)),
        ("zeros.aof".to_owned(), with(&zeros)),
    ];
    files.extend(parts("whole", &whole, ""));
    files.extend(parts("last-cut", &whole, &cut));
    files.extend(parts("first-cut", &cut, &whole));
    files.extend(parts("zeros", &whole, &zeros));
    let files: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let folder = Folder::new(&files);
    let check = |input: &str| {
        let output = folder.run(&format!("check {input}"));
        (status(&output), String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output))
    };
    for (input, expected, said) in [
        ("whole.aof", 0, "verifies only how they are framed"),
        ("cut.aof", 0, "the last command, at byte 0x"),
        ("zeros.aof", 4, "commands: a command begins with byte 0x00, not with `*`"),
        ("whole", 0, "verifies only how they are framed"),
        ("last-cut", 0, "a.2.aof: the last command, at byte 0x23, is cut off"),
        ("first-cut", 4, "a.1.aof: byte 0x23: commands: the last command is cut off, and another file follows"),
        ("zeros", 4, "a.2.aof: byte 0xe: commands: a command begins with byte 0x00"),
    ] {
        let (status, told) = check(input);
        assert_eq!(status, expected, "{input}: {told}");
        assert!(told.contains(said), "{input}: {told}");
    }
    // A report is about the snapshot alone.
    assert_eq!(status(&folder.run("analyze zeros.aof")), 0);
}

/// Makes a named pipe, a socket and a link to a device with names of dumps.
#[cfg(unix)]
fn add_special_files(folder: &Folder) -> std::os::unix::net::UnixListener {
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe.rdb")).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero.rdb")).unwrap();
    std::os::unix::net::UnixListener::bind(folder.path("socket.rdb")).unwrap()
}

#[cfg(unix)]
#[test]
fn what_is_no_file_in_a_folder_is_passed_over() {
    let folder = Folder::new(&[("dump.rdb", shop())]);
    let _socket = add_special_files(&folder);
    let found =
        ["./pipe.rdb: skipped: a named pipe", "./socket.rdb: skipped: a socket", "./zero.rdb: skipped: a device"];
    for command in ["check", "keys", "dictionary", "analyze", "plan"] {
        let output = folder.run(&format!("{command} ."));
        assert_eq!(status(&output), 0, "{command}: {}", stderr(&output));
        assert!(found.iter().all(|found| stderr(&output).contains(found)), "{command}: {}", stderr(&output));
    }
    assert!(folder.run("keys ./*.rdb --limit 1").status.success(), "a glob finds names, too");
    assert_eq!(stderr(&folder.run("check . --quiet")), "");
    let report: Value = serde_json::from_slice(&folder.run("analyze . --format json").stdout).unwrap();
    let kinds: Vec<_> =
        report["warnings"].as_array().unwrap().iter().filter(|it| it["kind"] == "passed-over").collect();
    assert_eq!(
        kinds.iter().map(|it| it["what"].as_str().unwrap()).collect::<Vec<_>>(),
        ["named-pipe", "socket", "device"]
    );
    let zh = String::from_utf8(folder.run("analyze . --full --lang zh").stdout).unwrap();
    assert!(zh.contains("已跳过"), "{zh}");
    assert_eq!(status(&folder.run("show . leaderboard:spending:all-time")), 0);
    fs::remove_file(folder.path("dump.rdb")).unwrap();
    assert_eq!(status(&folder.run("check .")), 3);
}

#[cfg(unix)]
#[test]
fn a_manifest_cannot_make_a_run_wait_for_a_pipe() {
    let folder = Folder::new(&[("d/a.manifest", b"file pipe.rdb seq 1 type b\n".to_vec())]);
    let made = std::process::Command::new("mkfifo").arg(folder.path("d/pipe.rdb")).status().unwrap();
    assert!(made.success());
    assert_eq!(status(&folder.run("check d")), 3);
}

#[cfg(unix)]
#[test]
fn a_pipe_that_is_named_is_read() {
    let folder = Folder::new(&[("dump.rdb", shop())]);
    let _socket = add_special_files(&folder);
    let pipe = folder.path("pipe.rdb");
    let writer = std::thread::spawn(move || fs::write(pipe, shop()));
    let output = folder.run("check pipe.rdb");
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    writer.join().unwrap().unwrap();
    assert_eq!(status(&run(rdblens().arg("check").arg(folder.path("socket.rdb")))), 3);
}

#[cfg(not(feature = "remote"))]
#[test]
fn address_in_a_build_without_stores_says_how_to_get_them() {
    let folder = Folder::new(&[]);
    for address in
        ["s3://bucket/dump.rdb", "gs://b/", "az://c/*.rdb", "oss://b/k", "cos://b/k", "https://h/dump.rdb?sig=hunter2"]
    {
        for command in ["analyze", "check", "keys", "plan"] {
            let output = folder.run(&format!("{command} {address}"));
            let said = stderr(&output);
            assert_eq!((status(&output), output.stdout.len()), (3, 0), "{command} {address}: {said}");
            assert!(said.contains("does not read object stores") && said.contains("--features remote"), "{said}");
            assert!(said.contains(address.split('?').next().unwrap()) && !said.contains("hunter2"), "{said}");
        }
    }
}

#[test]
fn secrets_in_addresses_are_never_shown() {
    let folder = Folder::new(&[("dump.rdb", shop())]);
    for (command, words) in [
        (
            "render https://h/r.json?sig=hunter2",
            "https://h/r.json: stored reports are read from files, not from stores",
        ),
        ("render https://u:hunter2@h/r.json", "https://h/r.json: stored reports"),
        ("analyze dump.rdb --baseline https://h/r.json?sig=hunter2", "https://h/r.json: stored reports"),
        ("analyze dump.rdb --earlier https://h/r.json?sig=hunter2", "https://h/r.json: stored reports"),
        ("analyze dump.rdb --policy https://h/p.toml?sig=hunter2", "https://h/p.toml: policies are read from files"),
        ("analyze dump.rdb --server-config https://u:hunter2@h/c.conf", "https://h/c.conf"),
        ("analyze s3a://KEY:hunter2@b/x", "s3a://b/x: no such file"),
        ("analyze ftp://u:hunter2@h/x", "ftp://h/x: no such file"),
        ("analyze http:/u:hunter2@h/x", "http:/h/x: no such file"),
        ("salvage s3a://KEY:hunter2@b/x", "s3a://b/x: no such file"),
        ("render dump.rdb https://h/x?sig=hunter2", "https://h/x"),
        ("render dump.rdb --top=https://h/x?sig=hunter2", "https://h/x"),
        ("man s3://out/man", "s3://out/man: manual pages are written to a directory"),
    ] {
        let output = folder.run(command);
        let said = stderr(&output);
        assert!([2, 3].contains(&status(&output)), "{command}: {said}");
        assert!(said.contains(words) && !said.contains("hunter2"), "{command}: {said}");
    }
    assert!(!folder.path("s3:").exists());
}

/// Returns a dump of this version with one key, whose database announces `keys`.
fn announcing(version: &str, keys: u8) -> Vec<u8> {
    let head = [b"REDIS", version.as_bytes(), &[0xFE, 0, 0xFB, keys, 0]].concat();
    [&head[..], b"\0\x01a\x01b\xFF", &[0; 8]].concat()
}

#[test]
fn other_numbers_of_keys_than_announced_are_noted() {
    let odd = "the file announces 3 keys, but holds 1";
    for (version, keys, note) in [
        ("0011", 1, None),
        ("0011", 3, Some(odd)),
        ("0011", 0, Some("the file announces 0 keys, but holds 1")),
        // These servers announce expired keys, too, and leave them out.
        ("0008", 3, None),
        ("0008", 0, Some("the file announces 0 keys, but holds 1")),
    ] {
        let folder = Folder::new(&[("dump.rdb", announcing(version, keys))]);
        for command in ["check dump.rdb", "analyze dump.rdb --full"] {
            let output = folder.run(command);
            let said = String::from_utf8([output.stdout.clone(), output.stderr.clone()].concat()).unwrap();
            assert_eq!(status(&output), 0, "{command}: {said}");
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            match note {
                Some(note) => assert!(said.contains(note), "{command} of {version}: {said}"),
                None => assert!(!said.contains("announces"), "{command} of {version}: {said}"),
            }
        }
        // Not all keys may have been read.
        assert!(!stderr(&folder.run("keys dump.rdb --limit 0")).contains("announces"));
    }
}
