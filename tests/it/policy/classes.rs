//! Lifetimes by class, through the whole pipeline: a key, its time to live in seconds, and the rules that it breaks under a
//! preset. `!` stands for must, `+` for should, `-` for hint.

use serde_json::Value;

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run};

const DAY: i64 = 86_400;
/// Seconds at which the dump was written.
const NOW: i64 = 1_700_000_000;

/// Checks a snapshot of one key; returns the rules about lifetimes that it breaks, sorted by id.
fn broken(preset: &str, key: &str, left: Option<i64>) -> String {
    let mut dump = Dump::new();
    if let Some(left) = left {
        dump.expires_at((NOW + left) * 1000);
    }
    broken_by(preset, dump.string(key, "42"))
}

fn broken_by(preset: &str, dump: &Dump) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.rdb");
    std::fs::write(&file, dump.bytes()).unwrap();
    let output = run(rdblens().args(["analyze", "--format", "json", "--quiet", "--policy", preset]).arg(&file));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found: Vec<_> = report["findings"]["list"].as_array().unwrap().iter().filter_map(finding).collect();
    found.sort();
    found.join(" ")
}

fn finding(finding: &Value) -> Option<String> {
    let rule = finding["rule"].as_str()?.strip_prefix("ttl.")?;
    let sign = match finding["severity"].as_str()? {
        "must" => '!',
        "should" => '+',
        _ => '-',
    };
    Some(format!("{rule}{sign}"))
}

fn check(preset: &str, lines: &[(&str, Option<i64>, &str)]) {
    for &(key, left, expected) in lines {
        assert_eq!(broken(preset, key, left), expected, "{preset}: {key} with {left:?}");
    }
}

#[test]
fn service_lifetimes() {
    check(
        "service",
        &[
            ("cache:user:123", Some(3_600), ""),
            ("cache:user:123", None, "missing!"),
            ("cache:user:123", Some(DAY + 300), ""),
            ("cache:user:123", Some(DAY + 301), "too-long+"),
            ("shop:cache:user:123", Some(DAY + 300), ""),
            ("shop:cache:user:123", Some(DAY + 301), "too-long+"),
            ("session:token:xxx", Some(7 * DAY + 300), ""),
            ("session:token:xxx", Some(7 * DAY + 301), "too-long+"),
            ("user:token:550e8400-e29b-41d4-a716-446655440000", Some(30 * DAY), "too-long+"),
            ("user:token:0f8fad5bd9cb469fa16570867728950e", Some(30 * DAY), "too-long+"),
            ("user:token:usage", Some(30 * DAY), ""),
            ("shop:jwt:token:x", Some(30 * DAY), "too-long+"),
            ("oauth2:token:x", Some(30 * DAY), "too-long+"),
            ("app:user_session:7", Some(30 * DAY), "too-long+"),
            ("php:sess:x", Some(30 * DAY), "too-long+"),
            ("PHPREDIS_SESSION:x", Some(30 * DAY), "too-long+"),
            ("sess:x", Some(30 * DAY), "too-long+"),
            ("edu:sess:7", Some(30 * DAY), ""),
            ("user:refresh_token:x", Some(30 * DAY), ""),
            ("api:token:550e8400-e29b-41d4-a716-446655440000", Some(30 * DAY), ""),
            ("lock:task:123", Some(60), ""),
            ("lock:task:123", Some(61), "too-long+"),
            ("shop:lock:order:7", Some(60), ""),
            ("shop:lock:order:7", Some(61), "too-long+"),
            ("{tag}:lock:x", Some(61), "too-long+"),
            ("cache:lock:course:1", Some(60), ""),
            ("cache:lock:course:1", Some(61), "too-long+"),
            ("lock:task:123", None, "lock-missing! missing!"),
            ("shop:lock:order:7", None, "lock-missing! missing!"),
            ("{tag}:lock:x", None, "lock-missing! missing!"),
            ("order:7:lock", None, "missing!"),
            ("distlock:order:7", None, "lock-missing! missing!"),
            ("stock:7:count", Some(DAY * 30), ""),
            ("tmp:import:batch:xxx", Some(2_100), ""),
            ("tmp:import:batch:xxx", Some(2_101), "too-long+"),
            ("temp:import:1", Some(2_101), "too-long+"),
            ("iot:temp:sensor:1", Some(30 * DAY), ""),
            ("shop:temporary:1", Some(2_101), "too-long+"),
            ("临时:导入:1", Some(2_101), "too-long+"),
            ("rate:api:user:789", Some(DAY + 301), "too-long+"),
            ("限流:api:789", Some(DAY + 301), "too-long+"),
            ("shop:rate:usd", Some(30 * DAY), ""),
            ("counter:api:rate:user:789", Some(30 * DAY), ""),
            ("queue:task:pending", Some(30 * DAY), ""),
            ("queue:task:pending", None, "missing!"),
        ],
    );
}

#[test]
fn platform_lifetimes() {
    check(
        "platform",
        &[
            ("shop:cache:user:1001", None, "missing!"),
            ("shop:cache:user:1001", Some(365 * DAY), ""),
            ("live:room:1001:info", None, "missing+"),
            ("live:room:1001:info", Some(60), ""),
            ("shop:counter:visit:1", None, ""),
            ("shop:order:daily:counter", None, ""),
            ("shop:config:theme:1", None, ""),
            ("counter:page:visit:1", None, ""),
            ("sys:parameters:site:1", None, ""),
            ("sys:properties:site:1", None, ""),
            ("shop:goods:properties:1", None, "missing+"),
            ("sys:options:site", None, ""),
            ("vote:options:1", None, "missing+"),
            ("feature:flags:user:1", None, ""),
            ("sys:feature:flag:1", None, ""),
            ("sys:toggle:site:1", None, ""),
            ("sys:enum:sex", None, ""),
            ("sys:sequence:order:1", None, ""),
            ("iot:serial:sn1", None, "missing+"),
            ("gov:系统参数:首页:1", None, ""),
            ("gov:parameters:cache:1", None, "missing!"),
            ("cache:config:theme:1", None, "missing!"),
            ("edu:course:cache:ttl", None, ""),
            ("sys:cache:switch:course", None, ""),
            ("cache:lock:course:1", Some(3_601), "too-long+"),
            ("cache:lock:course:1", None, "lock-missing!"),
            ("seq:lock:refresh:1", Some(3_601), "too-long+"),
            ("cache:lock:course:1", Some(3_600), ""),
            ("shop:lock:order:7", None, "lock-missing!"),
            ("shop:lock:order:7", Some(3_600), ""),
            ("shop:lock:order:7", Some(3_601), "too-long+"),
            ("shop:lock:order:7", Some(30 * DAY), "too-long+"),
        ],
    );
}

#[test]
fn strict_lifetimes() {
    check(
        "strict",
        &[
            ("user:basic.info:1:string", None, "missing!"),
            ("user:basic.info:1:string", Some(90 * DAY + 300), ""),
            ("user:basic.info:1:string", Some(90 * DAY + 301), "too-long+"),
            ("user:basic.info:1:string", Some(3_650 * DAY), "too-long+"),
        ],
    );
}

#[test]
fn hzero_and_aliyun_lifetimes() {
    for preset in ["hzero", "aliyun", "default"] {
        let lines = [("hpfm:fnd:profile", None, "missing+"), ("hpfm:lock:profile", Some(3_650 * DAY), "")];
        check(preset, &lines);
    }
}

#[test]
fn only_strings_and_hashes_are_locks() {
    let mut dump = Dump::new();
    assert_eq!(broken_by("platform", dump.hash("shop:lock:order:7", &[("owner", "1")])), "lock-missing!");
    let mut dump = Dump::new();
    assert_eq!(broken_by("platform", dump.list("shop:lock:order:7", &["a"])), "missing+");
}

#[test]
fn cold_keys_are_hints_if_they_expire() {
    for (idle, left, preset, expected) in [
        (31 * DAY, None, "strict", "idle-forever+ missing!"),
        (31 * DAY, Some(DAY), "strict", "idle-"),
        (30 * DAY, Some(DAY), "strict", ""),
        (31 * DAY, Some(DAY), "hzero", ""),
        (31 * DAY, None, "hzero", "idle-forever+ missing+"),
        (31 * DAY, None, "aliyun", "idle-forever+ missing+"),
        (31 * DAY, None, "service", "missing!"),
    ] {
        let mut dump = Dump::new();
        if let Some(left) = left {
            dump.expires_at((NOW + left) * 1000);
        }
        dump.idle(idle);
        assert_eq!(broken_by(preset, dump.string("user:info:1:string", "42")), expected, "{preset} {left:?}");
    }
}

#[test]
fn rows_name_the_class_of_locks_only_beside_locks() {
    let mut dump = Dump::new();
    dump.string("shop:lock:order:7", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f")
        .hash("iot:device:lock:7", &[("name", "door"), ("battery", "88")])
        .string("shop:cache:lock:7", "x")
        .string("shop:cache:lock:8", "{\"name\":\"door lock\"}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.rdb");
    std::fs::write(&file, dump.bytes()).unwrap();
    let output = run(rdblens().args(["keys", "--policy", "platform"]).arg(&file));
    let rows = String::from_utf8(output.stdout).unwrap();
    let of = |row: &str| {
        let row: Value = serde_json::from_str(row).unwrap();
        (row["key"].as_str().unwrap().to_owned(), row["class"].as_str().map(str::to_owned))
    };
    let mut classes: Vec<_> = rows.lines().map(of).collect();
    classes.sort();
    let class = |key: &str, class: Option<&str>| (key.to_owned(), class.map(str::to_owned));
    let expected = [
        class("iot:device:lock:7", None),
        class("shop:cache:lock:7", Some("lock")),
        class("shop:cache:lock:8", Some("cache")),
        class("shop:lock:order:7", Some("lock")),
    ];
    assert_eq!(classes, expected);
}
