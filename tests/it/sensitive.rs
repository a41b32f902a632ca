//! `--inspect-values` finds secrets and personal data in every encoding, and never shows them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, run_within, text};

const PHONE: &str = "13812345678";
const ID_CARD: &str = "11010519491231002X";
const EMAIL: &str = "alice.liddell@corp-mail.cn";
const CARD: &str = "6222020200112230";
const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAxyz\n-----END RSA PRIVATE KEY-----";
const PASSWORD: &str = "correct-horse-battery";

/// Returns the text report on a dump with these arguments.
fn report(dump: &Dump, args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    std::fs::write(&path, dump.bytes()).unwrap();
    let output =
        run(rdblens().arg("analyze").arg("dump.rdb").current_dir(&folder).args(["--format", "json"]).args(args));
    assert!(output.status.success(), "{}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(dump: &Dump, args: &[&str]) -> Value {
    serde_json::from_str(&report(dump, args)).unwrap()
}

/// Returns the finding of the rule, if there is one.
fn finding(report: &Value) -> Option<&Value> {
    report["findings"]["list"].as_array().unwrap().iter().find(|finding| finding["rule"] == "value.sensitive")
}

/// Returns the details of the finding on a pattern.
fn details<'r>(report: &'r Value, pattern: &str) -> Option<&'r Value> {
    let patterns = finding(report)?["patterns"].as_array()?;
    patterns.iter().find(|row| row["pattern"] == pattern).map(|row| &row["details"])
}

/// Kinds with the sampled keys that hold each.
fn kinds_of(details: &Value) -> Value {
    let parts = details["kinds"]["value"].as_array().unwrap().iter();
    parts.map(|part| (part["name"].as_str().unwrap().to_owned(), part["keys"].clone())).collect()
}

fn everything() -> Dump {
    let mut dump = Dump::new();
    let json =
        format!("{{\"id\":1,\"mobile\":\"{PHONE}\",\"password\":\"{PASSWORD}\",\"orderNo\":\"20241104123045000123\"}}");
    let page = format!("{}{EMAIL} {}", "<p>hello hello hello</p>".repeat(20), "bye ".repeat(2000));
    let pairs = [("name", "li"), ("user_password", PASSWORD), ("card", CARD), ("mobile", PHONE)];
    dump.string("user:json:1", json)
        .compressed("page:1", page)
        .hash("user:table:1", &pairs)
        .hash_listpack("user:packed:1", &pairs)
        .hash_compressed("user:pressed:1", &[("a", &"x".repeat(500)), ("id", ID_CARD), ("api_key", PASSWORD)])
        .string(format!("sms:code:{PHONE}"), "4711")
        .string("session:1", format!("Bearer {JWT}"))
        .string("conf:tls:1", PEM);
    dump
}

#[test]
fn every_encoding_is_inspected() {
    let report = json_of(&everything(), &["--policy", "service", "--inspect-values"]);
    let kinds = |pattern: &str| {
        let details = details(&report, pattern).unwrap_or_else(|| panic!("{pattern}: {:#}", finding(&report).unwrap()));
        assert_eq!(details["sampled"]["value"], 1, "{pattern}");
        kinds_of(details)
    };
    assert_eq!(kinds("user:json:{int}"), json!({ "phone": 1, "password": 1 }));
    assert_eq!(kinds("page:{int}"), json!({ "email": 1 }));
    assert_eq!(kinds("user:table:{int}"), json!({ "phone": 1, "bank-card": 1, "password": 1 }));
    assert_eq!(kinds("user:packed:{int}"), json!({ "phone": 1, "bank-card": 1, "password": 1 }));
    assert_eq!(kinds("user:pressed:{int}"), json!({ "id-card": 1, "password": 1 }));
    assert_eq!(kinds("sms:code:{int}"), json!({ "phone": 1 }));
    assert_eq!(kinds("session:{int}"), json!({ "jwt": 1 }));
    assert_eq!(kinds("conf:tls:{int}"), json!({ "private-key": 1 }));
    let finding = finding(&report).unwrap();
    assert_eq!(
        (&finding["severity"], &finding["keys"], &finding["unit"]),
        (&json!("must"), &json!(8), &json!("permille"))
    );
    let evidence = details(&report, "user:packed:{int}").unwrap()["evidence"]["value"].clone();
    assert_eq!(
        evidence,
        json!([
            { "name": "phone 138****5678 in a field", "name_zh": "手机号 138****5678（字段中）" },
            { "name": "bank-card 62****30 in a field", "name_zh": "银行卡号 62****30（字段中）" },
            { "name": "password password=**** in a field", "name_zh": "密码 password=****（字段中）" },
        ])
    );
}

/// Returns keys of every collection type with one secret each among ordinary elements.
fn collections() -> Dump {
    let mut dump = Dump::new();
    let json = format!("{{\"orderNo\":\"10000000001\",\"mobile\":\"{PHONE}\"}}");
    let long = "x".repeat(300);
    dump.list("queue:sms:1", &["hello", PHONE, "bye"])
        .list_compressed("queue:mail:1", &[&long, EMAIL, &long])
        .list("queue:event:1", &[&json, &json, &json])
        .set("black:phone:1", &[PHONE, "13912345678", "15912345678"])
        .intset("white:phone:1", &[13_812_345_678, 13_912_345_678])
        .set("black:card:1", &[CARD])
        .zset("rank:user:1", &[EMAIL, "bob@corp-mail.cn"])
        .stream_of(
            "stream:login:1",
            &[&[("user", "ann"), ("password", PASSWORD)], &[("user", "bob"), ("password", "")]],
        )
        .stream_of("stream:kyc:1", &[&[("no", "1"), ("card", ID_CARD)]])
        .hash("contact:1", &[(PHONE, "ann"), ("13912345678", "bob")]);
    dump
}

#[test]
fn every_element_is_inspected() {
    let report = json_of(&collections(), &["--policy", "service", "--inspect-values"]);
    let kinds = |pattern: &str| kinds_of(details(&report, pattern).unwrap_or_else(|| panic!("{pattern}")));
    for pattern in ["queue:sms", "queue:event", "black:phone", "white:phone"] {
        assert_eq!(kinds(&format!("{pattern}:{{int}}")), json!({ "phone": 1 }), "{pattern}");
    }
    assert_eq!(kinds("queue:mail:{int}"), json!({ "email": 1 }));
    assert_eq!(kinds("black:card:{int}"), json!({ "bank-card": 1 }));
    assert_eq!(kinds("rank:user:{int}"), json!({ "email": 1 }));
    assert_eq!(kinds("stream:login:{int}"), json!({ "password": 1 }));
    assert_eq!(kinds("stream:kyc:{int}"), json!({ "id-card": 1 }));
    assert_eq!(kinds("contact:{int}"), json!({ "phone": 1 }));
    let evidence = &details(&report, "white:phone:{int}").unwrap()["evidence"]["value"][0];
    assert_eq!(
        *evidence,
        json!({ "name": "phone 138****5678 in an element", "name_zh": "手机号 138****5678（元素中）" })
    );
    let shown = finding(&report).unwrap().to_string();
    for secret in [PHONE, EMAIL, CARD, ID_CARD, PASSWORD, "13912345678"] {
        assert!(!shown.contains(secret), "{secret}");
    }
}

#[test]
fn elements_that_are_ids_times_and_numbers_are_not_reported() {
    let mut dump = Dump::new();
    let texts = |of: &dyn Fn(u64) -> u64, key: u64| (0..30).map(|n| of(key * 30 + n).to_string()).collect::<Vec<_>>();
    let series: [(&str, &dyn Fn(u64) -> u64); 4] = [
        ("order", &|n| 10_000_000_000 + n * 397_007),
        ("card-like", &|n| 6_212_345_678_900_000 + n),
        ("snowflake", &|n| 1_789_012_345_678_901_234 + n * 4_194_304),
        ("time", &|n| 1_700_000_000_123 + n),
    ];
    for (name, of) in series {
        for key in 0..100 {
            let texts = texts(of, key);
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let numbers: Vec<i64> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let scored: Vec<(&str, &str)> = texts.iter().map(|text| (*text, "1")).collect();
            let rows: Vec<[(&str, &str); 2]> = texts.iter().map(|text| [("name", "ann"), ("no", *text)]).collect();
            let rows: Vec<&[(&str, &str)]> = rows.iter().map(|row| &row[..]).collect();
            let json = format!("[{}]", texts.join(","));
            dump.list(format!("{name}:list:{key}"), &texts)
                .set(format!("{name}:set:{key}"), &texts)
                .intset(format!("{name}:intset:{key}"), &numbers)
                .zset(format!("{name}:zset:{key}"), &texts)
                .hash(format!("{name}:hash:{key}"), &scored)
                .stream_of(format!("{name}:stream:{key}"), &rows)
                .string(format!("{name}:json:{key}"), json);
        }
    }
    let report = json_of(&dump, &["--policy", "service", "--inspect-values"]);
    assert!(finding(&report).is_none(), "{:#}", finding(&report).unwrap());
}

#[test]
fn values_under_names_that_say_password_are_found() {
    let mut dump = Dump::new();
    dump.string("user:1:password", PASSWORD)
        .string("user:password:2", "\"hunter2\"")
        .string("login.pwd", "123456")
        .string("password:user:ann", "hunter2")
        .hash("app:pwd", &[("1001", "hunter2"), ("1002", "swordfish")])
        .hash("app:secret", &[("value", "hunter2x"), ("rotated", "2024-11-04")])
        .set("vault:pwd", &["hunter2"])
        .list("user:3:password", &["hunter2", "hunter3"])
        .string("用户:1:密码", "hunter2");
    let report = json_of(&dump, &["--policy", "service", "--inspect-values"]);
    let patterns = [
        "user:{int}:password",
        "user:password:{int}",
        "login.pwd",
        "password:user:ann",
        "app:pwd",
        "app:secret",
        "vault:pwd",
        "用户:{int}:密码",
    ];
    for pattern in patterns {
        let details = details(&report, pattern).unwrap_or_else(|| panic!("{pattern}"));
        assert!(kinds_of(details)["password"].as_u64() >= Some(1), "{pattern}");
        assert!(details["evidence"]["value"][0]["name"].as_str().unwrap().contains("=****"), "{pattern}");
    }
    assert_eq!(finding(&report).unwrap()["distinct_patterns"], patterns.len());
    let shown = finding(&report).unwrap().to_string();
    for secret in [PASSWORD, "hunter", "123456", "swordfish"] {
        assert!(!shown.contains(secret), "{secret}");
    }

    let mut harmless = Dump::new();
    let bcrypt = "$2b$12$abcdefghijklmnopqrstuuMG5kIhQzS1kZ2eYbQzqzqzqzqzqzqzq";
    harmless
        .string("user:1:password", bcrypt)
        .string("user:2:password", "138****5678")
        .string("user:3:password", "1")
        .string("user:4:password", "")
        .string("user:5:pwd", "0123456789abcdef0123456789abcdef")
        .string("cache:password-reset-page", "<html>".repeat(50))
        .string("password:reset:alice", "1700000000")
        .string("password:attempts:1001", "12")
        .hash("user:6:password", &[("hash", bcrypt), ("algo", "bcrypt"), ("salt", "c29tZXNhbHQ")])
        .hash(
            "user:7:password",
            &[("algo", "aes256"), ("salt", "x8f9a7qz"), ("value", "x7Q$5f4dcc3b5aa765d61d8327deb882cf99")],
        )
        .set("user:8:password", &["reset", "expired"])
        .set("weak:password", &["hunter2", "123456", "iloveyou"]);
    let report = json_of(&harmless, &["--policy", "service", "--inspect-values"]);
    assert!(finding(&report).is_none(), "{:#}", finding(&report).unwrap());
}

#[test]
fn full_width_digits_count_and_are_masked_in_names() {
    let mut dump = Dump::new();
    dump.string("note:1", "电话：１３８１２３４５６７８，谢谢").string("sms:１３９１２３４５６７８:code", "4711");
    let report = json_of(&dump, &["--policy", "service", "--inspect-values"]);
    assert_eq!(kinds_of(details(&report, "note:{int}").unwrap()), json!({ "phone": 1 }));
    let shown = finding(&report).unwrap().to_string();
    assert!(shown.contains("sms:139****5678:code") && !shown.contains("１３９１２"), "{shown}");
}

#[test]
fn the_finding_shows_no_secret() {
    for policy in ["service", "default"] {
        let report = json_of(&everything(), &["--policy", policy, "--inspect-values"]);
        let shown = finding(&report).unwrap().to_string();
        for secret in [PHONE, ID_CARD, EMAIL, CARD, JWT, PASSWORD, "MIIEowIBAAKCAQEAxyz"] {
            let parts = secret.as_bytes().windows(6).map(|part| std::str::from_utf8(part).unwrap());
            let shown = |part: &&str| shown.contains(*part) && !"PRIVATE KEY-----".contains(*part);
            assert_eq!(parts.clone().find(shown), None, "{secret}");
        }
        assert!(shown.contains("sms:code:138****5678"), "{shown}");
    }
}

#[test]
fn a_pattern_that_is_a_name_as_it_is_shows_no_secret_either() {
    for secret in [ID_CARD, "138-1234-5678", "6222-0202-0011-2230", EMAIL, JWT] {
        let mut dump = Dump::new();
        dump.string(format!("login:{secret}"), "1");
        let report = json_of(&dump, &["--inspect-values"]);
        let shown = finding(&report).unwrap_or_else(|| panic!("{secret}")).to_string();
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn values_are_inspected_only_on_request() {
    for policy in ["service", "platform"] {
        let report = json_of(&everything(), &["--policy", policy]);
        assert!(finding(&report).is_none());
        let open = report["findings"]["not_evaluated"].as_array().unwrap();
        let unread = open.iter().find(|it| it["rule"] == "value.sensitive").unwrap_or_else(|| panic!("{policy}"));
        assert_eq!((unread["severity"].as_str(), unread["flag"].as_str()), (Some("must"), Some("--inspect-values")));
        assert!(!report["findings"]["checked"].as_array().unwrap().contains(&json!("value.sensitive")));
    }
    for policy in ["default", "strict", "none"] {
        let report = report(&everything(), &["--policy", policy]);
        assert!(!report.contains("value.sensitive"), "{policy}");
    }
    // The flag enables the rule whatever the policy.
    let report = json_of(&everything(), &["--policy", "none", "--inspect-values"]);
    assert_eq!(finding(&report).unwrap()["severity"], "must");
    assert_eq!(report["findings"]["not_evaluated"], json!([]));
}

#[test]
fn ids_times_and_hashes_are_not_reported() {
    let mut dump = Dump::new();
    for i in 0..300u64 {
        let snowflake = 1_789_012_345_678_901_234 + i * 4_194_304;
        let hash = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
        dump.string(format!("order:{snowflake}"), format!("2024110412304500{i:04}"))
            .string(format!("seq:{i}"), (10_000_000_000 + i * 397_000_007).to_string())
            .string(format!("at:{i}"), (1_700_000_000_123 + i).to_string())
            .string(format!("card_like:{i}"), (6_212_345_678_900_000 + i).to_string())
            .string(format!("img:{i}"), "https://cdn/logo@2x.png")
            .hash(format!("user:{i}"), &[("password", hash), ("mobile", "138****5678"), ("pwd", "")]);
    }
    let report = json_of(&dump, &["--policy", "service", "--inspect-values"]);
    assert!(finding(&report).is_none(), "{:#}", finding(&report).unwrap());
}

#[test]
fn the_report_is_the_same_on_any_number_of_threads() {
    let mut dump = Dump::new();
    for i in 0..120_000u64 {
        match i % 4 {
            0 => dump.string(format!("sms:1381{i:07}"), "1"),
            1 => dump.string(format!("user:{i}"), format!("u{i}@corp{}.cn", i % 7)),
            2 => dump.hash_listpack(format!("cart:{i}"), &[("n", "1"), ("tel", if i % 8 == 2 { PHONE } else { "" })]),
            _ => dump.string(format!("job:{}:{i}", i % 500), "x"),
        };
    }
    let args = ["--policy", "service", "--inspect-values", "--threads"];
    let alone = report(&dump, &[&args[..], &["1"]].concat());
    let parsed: Value = serde_json::from_str(&alone).unwrap();
    let cart = details(&parsed, "cart:{int}").unwrap();
    let hits = kinds_of(cart)["phone"].as_u64().unwrap();
    assert!(cart["sampled"]["value"] == 64 && (16..=48).contains(&hits), "{cart}");
    for threads in ["2", "5"] {
        assert!(report(&dump, &[&args[..], &[threads]].concat()) == alone, "{threads} threads");
    }
    assert!(report(&dump, &[&args[..], &["2", "--no-mmap"]].concat()) == alone);
}

#[test]
fn hostile_values_cost_no_more_than_their_beginning() {
    let mut dump = Dump::new();
    let pieces =
        ["1", "1 ", "1111-", "a@", "@", "eyJ.", "eyJ", "-----BEGIN ", "\"", "\"a\":\"", "\\\"", "1.", "138 1234 "];
    for (i, piece) in pieces.iter().enumerate() {
        let value = piece.repeat((64 << 10) / piece.len());
        (0..20).for_each(|n| {
            dump.string(format!("plain{i}:{n}"), &value);
            dump.compressed(format!("pressed{i}:{n}"), &value);
            dump.hash(format!("hash{i}:{n}"), &[(&value, &value), ("password", &value)]);
            dump.list(format!("list{i}:{n}:password"), &[value.as_str(); 4]);
            dump.string(format!("name{i}:{n}:{value}"), "");
        });
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    std::fs::write(&path, dump.bytes()).unwrap();
    let mut command = rdblens();
    command.arg("analyze").arg(&path).args(["--inspect-values", "--format", "json", "--output"]);
    command.arg(folder.path().join("report.json"));
    let output = run_within(&mut command, Duration::from_secs(60)).expect("it ends in time");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn masked_names_and_evidence_go_together() {
    let report = report(&everything(), &["--policy", "service", "--inspect-values", "--mask"]);
    for secret in [PHONE, ID_CARD, EMAIL, CARD, JWT, PASSWORD] {
        assert!(!report.contains(secret), "{secret}");
    }
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(kinds_of(details(&report, "sms:code:{int}").unwrap()), json!({ "phone": 1 }));
}

#[test]
fn a_policy_selects_the_kinds_of_data() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("team.toml");
    let write = |rule: &str| {
        std::fs::write(&policy, format!("[rules.\"value.sensitive\"]\nseverity = \"hint\"\n{rule}\n")).unwrap();
    };
    write("kinds = [\"password\"]\nfields = [\"api_key\"]");
    let args = ["--policy", policy.to_str().unwrap(), "--inspect-values"];
    let report = json_of(&everything(), &args);
    assert_eq!(finding(&report).unwrap()["severity"], "hint");
    assert_eq!(finding(&report).unwrap()["distinct_patterns"], 1);
    assert_eq!(kinds_of(details(&report, "user:pressed:{int}").unwrap()), json!({ "password": 1 }));
    write("kinds = [\"fax\"]");
    let path = folder.path().join("dump.rdb");
    std::fs::write(&path, everything().bytes()).unwrap();
    let output = run(rdblens().arg("analyze").arg(&path).args(args));
    assert!(!output.status.success() && text(&output).contains("there is no kind \"fax\""), "{}", text(&output));
}
