//! Rules about expiries and streams on dumps of real servers: each is both violated and kept, and its counts equal
//! those computed from the rows of `keys`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::program::{rdblens, run, testdata};

/// Keys that break a rule, and their memory.
type Weight = (u64, u64);

fn shop() -> PathBuf {
    testdata().join("dumps/shop.rdb")
}

fn corpus(name: &str) -> PathBuf {
    testdata().join("corpus").join(name).join("dump.rdb")
}

fn report(input: &Path, policy: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, policy).unwrap();
    let mut command = rdblens();
    command.arg("analyze").arg(input).args(["--format", "json", "--quiet", "--policy"]).arg(&file);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn finding(report: &Value, rule: &str) -> Value {
    let list = report["findings"]["list"].as_array().unwrap();
    list.iter().find(|finding| finding["rule"] == rule).cloned().unwrap_or(Value::Null)
}

fn weight(report: &Value, rule: &str) -> Weight {
    let finding = finding(report, rule);
    (finding["keys"].as_u64().unwrap_or(0), finding["memory"].as_u64().unwrap_or(0))
}

/// Sums up the rows of `keys` for which `counts` returns true.
fn counted(input: &Path, counts: impl Fn(&Value) -> bool) -> Weight {
    let output = run(rdblens().arg("keys").arg(input).arg("--quiet"));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|row| counts(row));
    rows.fold((0, 0), |(keys, memory), row| (keys + 1, memory + row["memory"].as_u64().unwrap()))
}

fn now(report: &Value) -> i64 {
    report["options"]["reference_time"].as_i64().unwrap()
}

fn name(row: &Value) -> &str {
    row["key"].as_str().unwrap_or_default()
}

fn left(row: &Value, now: i64) -> Option<i64> {
    row["expires_at"].as_i64().map(|at| at - now)
}

#[test]
fn keys_without_expiry_are_counted_but_for_classes_that_may_live_forever() {
    let all = report(&shop(), "[rules]\n\"ttl.missing\" = \"must\"\n");
    let forever = |row: &Value| row["expires_at"].is_null();
    assert_eq!(weight(&all, "ttl.missing"), counted(&shop(), forever));
    assert_eq!(finding(&all, "ttl.missing")["unit"], Value::Null);

    let policy = "[rules]\n\"ttl.missing\" = \"must\"\n[[ttl_class]]\nname = \"kept\"\npatterns = [\"user:**\", \"tag:**\"]\n\
                  required = false\nbudget = \"1MB\"\n";
    let kept = |row: &Value| name(row).starts_with("user:") || name(row).starts_with("tag:");
    let some = report(&shop(), policy);
    assert_eq!(weight(&some, "ttl.missing"), counted(&shop(), |row| forever(row) && !kept(row)));
    let budget = &some["findings"]["budgets"][0];
    assert_eq!((budget["keys"].as_u64().unwrap(), budget["memory"].as_u64().unwrap()), counted(&shop(), kept));

    let none = report(&shop(), "[rules.\"ttl.missing\"]\nunclassified = false\n");
    assert_eq!(weight(&none, "ttl.missing"), (0, 0));
}

#[test]
fn the_services_classes_have_their_limits() {
    let report = report(&shop(), "extends = \"service\"\n");
    let now = now(&report);
    // With five minutes of jitter, but for locks.
    let limits = [("cache:", 86_700), ("session:", 605_100), ("lock:", 60), ("tmp:", 2_100), ("rate:", 86_700)];
    let too_long = |row: &Value| {
        let limit = limits.iter().find(|(prefix, _)| name(row).starts_with(prefix)).map(|(_, seconds)| seconds * 1000);
        left(row, now).zip(limit).is_some_and(|(left, limit)| left > limit)
    };
    assert_eq!(weight(&report, "ttl.too-long"), counted(&shop(), too_long));
    let locks = counted(&shop(), |row| row["expires_at"].is_null() && name(row).starts_with("lock:"));
    assert!(locks.0 > 0);
    assert_eq!(weight(&report, "ttl.lock-missing"), locks);

    let narrow = "[rules]\n\"ttl.too-long\" = \"should\"\n[[ttl_class]]\nname = \"s\"\npatterns = [\"session:*\"]\nmax = \"1d\"\n";
    let narrow = self::report(&shop(), narrow);
    let long = counted(&shop(), |row| {
        name(row).starts_with("session:") && left(row, now).is_some_and(|left| left > 86_700_000)
    });
    assert!(long.0 > 0);
    assert_eq!(weight(&narrow, "ttl.too-long"), long);
    let row = &finding(&narrow, "ttl.too-long")["patterns"][0];
    assert_eq!(row["allowed"], 86_700_000);
}

#[test]
fn the_nights_warm_up_is_a_storm_and_sessions_are_none() {
    let report = report(&shop(), "[rules.\"ttl.storm\"]\nkeys = 120\n");
    let found = finding(&report, "ttl.storm");
    let rows = found["patterns"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    let (row, now) = (&rows[0], now(&report));
    assert_eq!(row["pattern"], "cache:product:{int}");
    let start = row["details"]["start"]["value"].as_i64().unwrap();
    let of_pattern =
        |row: &Value| row["pattern"] == "cache:product:{int}" && left(row, now).is_some_and(|left| left >= 0);
    let all = counted(&shop(), of_pattern);
    let within =
        counted(&shop(), |row| of_pattern(row) && (start..start + 1000).contains(&row["expires_at"].as_i64().unwrap()));
    assert_eq!((row["keys"].as_u64().unwrap(), row["memory"].as_u64().unwrap()), all);
    assert_eq!(row["details"]["in_window"]["value"].as_u64(), Some(within.0));
    assert_eq!((row["details"]["window"]["value"].as_u64(), &row["details"]["sampled"]), (Some(1000), &Value::Null));
    let around = counted(&shop(), |row| {
        of_pattern(row) && (start - 300_000..start + 301_000).contains(&row["expires_at"].as_i64().unwrap())
    });
    assert_eq!(row["measured"].as_u64(), Some((within.0 * 1000 + around.0 / 2) / around.0));

    let usual = self::report(&shop(), "[rules]\n\"ttl.storm\" = \"should\"\n");
    assert_eq!(weight(&usual, "ttl.storm"), (0, 0));
}

#[test]
fn unused_keys_are_known_by_idle_time_or_counter() {
    let idle = report(&shop(), "[rules.\"ttl.idle-forever\"]\nmax = \"30d\"\n");
    let unused = counted(&shop(), |row| {
        row["expires_at"].is_null() && row["idle"].as_u64().is_some_and(|idle| idle > 30 * 86_400)
    });
    assert!(unused.0 > 0);
    assert_eq!(weight(&idle, "ttl.idle-forever"), unused);
    assert!(finding(&idle, "ttl.idle-forever")["patterns"][0]["measured"].as_u64().unwrap() > 30 * 86_400_000);

    let lfu = corpus("redis-8.0.6-lfu");
    // A hash whose fields all expire goes with the last of them.
    let stays = |row: &Value| row["expires_at"].is_null() && row["fields_with_ttl"] != row["length"];
    let rarely = counted(&lfu, |row| stays(row) && row["freq"].as_u64().is_some_and(|freq| freq <= 5));
    assert!(rarely.0 > 0);
    let found = report(&lfu, "[rules.\"ttl.idle-forever\"]\nfreq = 5\n");
    assert_eq!(weight(&found, "ttl.idle-forever"), rarely);
    assert_eq!(finding(&found, "ttl.idle-forever")["patterns"][0]["measured"], Value::Null);

    let silent = report(&corpus("redis-2.8.24"), "[rules]\n\"ttl.idle-forever\" = \"should\"\n");
    assert_eq!(weight(&silent, "ttl.idle-forever"), (0, 0));
}

#[test]
fn expired_keys_that_are_still_there_are_counted() {
    let policy = "[rules]\n\"ttl.expired-present\" = \"hint\"\n";
    let report = report(&shop(), policy);
    let now = now(&report);
    let expired = counted(&shop(), |row| left(row, now).is_some_and(|left| left < 0));
    assert!(expired.0 > 0);
    assert_eq!(weight(&report, "ttl.expired-present"), expired);
}

#[test]
fn streams_are_checked_for_length_age_and_pending_entries() {
    let streams = |least: u64| {
        counted(&shop(), |row| row["type"] == "stream" && row["length"].as_u64().is_some_and(|length| length > least))
    };
    let over = |max: u64, age: &str, least: u64| {
        let policy = format!("[rules.\"stream.unbounded\"]\nmax = {max}\nmax_age = \"{age}\"\nleast = {least}\n");
        weight(&report(&shop(), &policy), "stream.unbounded")
    };
    let unbounded = |max: u64, age: &str| over(max, age, 1_000);
    assert!(streams(1_000).0 > 0);
    assert_eq!(unbounded(1_000, "9999d"), streams(1_000));
    assert_eq!(unbounded(10_000, "30d"), (0, 0));
    // All streams of the shop begin three days before the snapshot.
    assert_eq!(unbounded(10_000, "2d"), streams(1_000));
    assert_eq!(over(10_000, "2d", 0), streams(0));
    assert_eq!(unbounded(10_000, "4d"), (0, 0));

    let pending = |max: u64| {
        let policy = format!("[rules.\"stream.pending\"]\nmax = {max}\nmax_age = \"9999d\"\nidle = \"9999d\"\n");
        let report = report(&shop(), &policy);
        (weight(&report, "stream.pending"), finding(&report, "stream.pending")["patterns"][0]["measured"].as_u64())
    };
    // 400 entries were read by one group, 130 of them acknowledged; the other group has 40 left.
    assert_eq!(pending(100).0.0, 1);
    assert_eq!(pending(100).1, Some(270));
    assert_eq!(pending(270).0, (0, 0));
    let waiting = "[rules.\"stream.pending\"]\n";
    assert_eq!(weight(&report(&shop(), waiting), "stream.pending"), (0, 0));
    let later = run(rdblens()
        .args(["analyze", "--format", "json", "--quiet", "--policy", "platform"])
        .arg(shop())
        .args(["--at", "2099-01-01T00:00:00Z"]));
    let later: Value = serde_json::from_slice(&later.stdout).unwrap();
    assert_eq!(weight(&later, "stream.pending").0, 1);
}

#[test]
fn every_preset_demands_what_its_standard_does() {
    let demanded = |preset: &str| {
        let report = report(&shop(), &format!("extends = \"{preset}\"\n"));
        let ids = report["findings"]["checked"].as_array().unwrap().clone();
        let own = |id: &String| id.starts_with("ttl.") || id.starts_with("stream.");
        let ids: Vec<_> = ids.iter().map(|id| id.as_str().unwrap().to_owned()).filter(own).collect();
        (finding(&report, "ttl.missing")["severity"].as_str().unwrap().to_owned(), ids)
    };
    let of =
        |severity: &str, ids: &[&str]| (severity.to_owned(), ids.iter().map(|id| id.to_string()).collect::<Vec<_>>());
    assert_eq!(demanded("default"), of("should", &["ttl.missing"]));
    assert_eq!(demanded("strict"), of("must", &["ttl.idle", "ttl.idle-forever", "ttl.missing", "ttl.too-long"]));
    let service = ["ttl.lock-missing", "ttl.missing", "ttl.null-marker", "ttl.storm", "ttl.too-long"];
    assert_eq!(demanded("service"), of("must", &service));
    let idle = ["ttl.idle-forever", "ttl.missing", "ttl.storm"];
    assert_eq!(demanded("hzero"), of("should", &idle));
    assert_eq!(demanded("aliyun"), of("should", &idle));
    let platform = [
        "stream.pending",
        "stream.unbounded",
        "ttl.expired-present",
        "ttl.lock-missing",
        "ttl.missing",
        "ttl.null-marker",
        "ttl.storm",
        "ttl.too-long",
    ];
    assert_eq!(demanded("platform"), of("must", &platform));
}

/// `ttl.idle` judges idle times alone, `ttl.idle-forever` access counters, too.
#[test]
fn access_counters_are_no_idle_times() {
    let report = report(&corpus("valkey-8.1.1-lfu"), "extends = \"strict\"");
    let missing = report["findings"]["not_evaluated"].as_array().unwrap();
    let reason = |rule: &str| missing.iter().find(|row| row["rule"] == rule).map(|row| row["reason"].as_str().unwrap());
    assert_eq!(reason("ttl.idle"), Some("the dump has no idle times"));
    assert_eq!(reason("ttl.idle-forever"), None);
}
