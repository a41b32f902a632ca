//! Rows of `keys` for the keys that break a policy: their counts are those of the report on the same snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, run_args, run_with_input, stdout_of, testdata, text};

const PRESETS: [&str; 6] = ["default", "service", "hzero", "platform", "strict", "aliyun"];

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");

/// Time of the snapshot of [`crowded`], in seconds.
const NOW: i64 = 1_700_000_000;

/// Returns a dump with more names on a level than the tree of patterns keeps apart, a batch of keys that expire in one second
/// beside some that never expire, objects spread over strings, and names in hash tags.
fn crowded() -> Vec<u8> {
    let mut dump = b"REDIS0011\xfa\x05ctime\x0a1700000000\xfe\x00".to_vec();
    let mut add = |name: String, expires: Option<i64>| {
        dump.extend(
            expires.into_iter().flat_map(|left| [vec![0xFC], ((NOW + left) * 1000).to_le_bytes().to_vec()].concat()),
        );
        dump.extend([&[0, name.len() as u8], name.as_bytes(), b"\x02ab"].concat());
    };
    let letters = |n: usize| [n / 26, n % 26].map(|letter| char::from(b'a' + letter as u8)).iter().collect::<String>();
    for n in 0..600 {
        add(format!("cache:{}x:{}", letters(n), 1_000 + n), None);
        add(format!("cache:{}x:{}:html", letters(n), 1_000 + n), Some(3_600));
    }
    for n in 0..2_000 {
        add(format!("page:{}:html", 1_000 + n), (n % 4 != 0).then_some(21_600));
        add(format!("{{user:{}}}:cart", 1_000 + n), Some(60 + n));
    }
    for n in 0..200 {
        ["name", "age", "favor"].iter().for_each(|leaf| add(format!("member:{}:{leaf}", 1_000 + n), None));
    }
    [&dump[..], &[0xFF], &[0; 8]].concat()
}

fn dumps(folder: &Path) -> Vec<PathBuf> {
    let path = folder.join("crowded.rdb");
    std::fs::write(&path, crowded()).unwrap();
    let corpus = ["valkey-8.1.1-lfu"].map(|name| testdata().join("corpus").join(name).join("dump.rdb"));
    [PathBuf::from(SHOP), path].into_iter().chain(corpus).collect()
}

fn report(input: &Path, flags: &[&str]) -> Value {
    let output =
        run(rdblens().arg("analyze").arg(input).args(["--format", "json", "--quiet", "--top", "10000"]).args(flags));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
}

fn rows(input: &Path, flags: &[&str]) -> Vec<Value> {
    let output = run(rdblens().arg("keys").arg(input).arg("--quiet").args(flags));
    assert!(output.status.success(), "{flags:?}: {}", text(&output));
    let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn breaks(row: &Value) -> BTreeSet<&str> {
    row["breaks"].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()).collect()
}

/// Sums up the keys of the findings of each rule.
fn keys_by_rule(report: &Value) -> BTreeMap<String, u64> {
    let mut keys = BTreeMap::new();
    for finding in report["findings"]["list"].as_array().unwrap() {
        *keys.entry(finding["rule"].as_str().unwrap().to_owned()).or_default() += finding["keys"].as_u64().unwrap();
    }
    keys
}

/// Returns the rules whose keys can be listed: all but those about the snapshot.
fn listed(rule: &str) -> bool {
    !["db.", "slot.", "instance.", "backup.", "memory."].iter().any(|group| rule.starts_with(group))
}

#[test]
fn every_preset_counts_as_many_rows_as_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let mut named = BTreeSet::new();
    for (input, policy) in dumps(folder.path()).iter().flat_map(|input| PRESETS.map(|policy| (input, policy))) {
        let report = report(input, &["--policy", policy]);
        let all = rows(input, &["--policy", policy]);
        assert_eq!(report["totals"]["keys"], all.len());
        let mut own: BTreeMap<&str, u64> = BTreeMap::new();
        all.iter().flat_map(breaks).for_each(|rule| *own.entry(rule).or_default() += 1);
        for (rule, keys) in keys_by_rule(&report).iter().filter(|(rule, _)| listed(rule)) {
            // Rules about patterns are in no key's column until they are asked for.
            let counted = own.get(rule.as_str()).copied().unwrap_or_else(|| {
                named.insert(rule.clone());
                let rows = rows(input, &["--policy", policy, "--breaking", rule]);
                assert!(rows.iter().all(|row| breaks(row).contains(rule.as_str())));
                rows.len() as u64
            });
            assert_eq!(counted, *keys, "{rule} of {policy} in {}", input.display());
        }
        let severities = &report["findings"]["severities"];
        let broken: u64 = severities.as_array().unwrap().iter().map(|row| row["keys"].as_u64().unwrap()).sum();
        assert_eq!(all.iter().filter(|row| !breaks(row).is_empty()).count() as u64, broken);
    }
    for rule in ["ttl.storm", "type.split-object"] {
        assert!(named.contains(rule), "no dump breaks {rule}: {named:?}");
    }
}

/// Locks without a token, with a shared one, with one of their own, and keys beside them that are none.
#[test]
fn locks_with_bad_tokens_are_listed_and_no_others() {
    let mut dump = Dump::new();
    for n in 0..40 {
        dump.string(format!("店铺:lock:库存:{n}"), if n % 2 == 0 { "1" } else { "实例-甲的值" });
        dump.string(format!("lock:order:{n}"), format!("8d9f2c71-51a3-4b0c-9d3f-{n:012}"));
        dump.string(format!("lock:pay:{n}"), if n < 4 { "order-service" } else { "2718281828" });
    }
    dump.string("lock:pay:99", "a-token-of-its-own");
    dump.string("cache:order:1", "1").list("lock:pay:98", &["1"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locks.rdb");
    std::fs::write(&path, dump.bytes()).unwrap();
    for preset in ["service", "platform"] {
        let by_rule = keys_by_rule(&report(&path, &["--policy", preset]));
        let rows = rows(&path, &["--policy", preset, "--breaking", "value.lock-token"]);
        assert_eq!((by_rule["value.lock-token"], rows.len()), (80, 80), "{preset}");
        let names: BTreeSet<_> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
        assert!(rows.iter().all(|row| breaks(row).contains("value.lock-token")));
        assert!(names.contains("店铺:lock:库存:39") && names.contains("lock:pay:3"));
        assert!(!names.iter().any(|name| name.starts_with("lock:order:")));
    }
}

#[test]
fn rows_are_those_of_the_rule_and_the_severity() {
    let input = Path::new(SHOP);
    let report = report(input, &["--policy", "service"]);
    let severity = |name: &str| {
        let rows = report["findings"]["severities"].as_array().unwrap();
        rows.iter().find(|row| row["severity"] == name).unwrap()["keys"].as_u64().unwrap() as usize
    };
    let must = rows(input, &["--policy", "service", "--severity", "must"]);
    assert_eq!(must.len(), severity("must"));
    let should = rows(input, &["--policy", "service", "--breaking", "--severity", "should"]);
    assert_eq!(should.len(), severity("must") + severity("should"));
    assert_eq!(
        rows(input, &["--policy", "service", "--breaking"]).len(),
        severity("must") + severity("should") + severity("hint")
    );
    // One rule with two limits: a key counts under the most severe one that it breaks.
    let big =
        |flags: &[&str]| rows(input, &[&["--policy", "service", "--breaking", "big.string"], flags].concat()).len();
    let of = |name: &str| {
        let list = report["findings"]["list"].as_array().unwrap();
        let found = list.iter().find(|row| row["rule"] == "big.string" && row["severity"] == name);
        found.map_or(0, |row| row["keys"].as_u64().unwrap() as usize)
    };
    assert_eq!((big(&[]), big(&["--severity", "must"])), (of("must") + of("should"), of("must")));
    let two = rows(input, &["--breaking", "key.prefix,big.string"]);
    assert_eq!(two, rows(input, &["--breaking", "key.prefix", "--breaking", "big.string"]));
    assert!(two.iter().all(|row| breaks(row).contains("key.prefix") || breaks(row).contains("big.string")));
    assert_eq!(two[..3], rows(input, &["--breaking", "key.prefix,big.string", "--limit", "3"]));
    assert_eq!(two, rows(input, &["--breaking", "key.prefix,big.string", "--threads", "1"]));
}

#[test]
fn a_pattern_of_a_report_selects_the_keys_counted_under_it() {
    let folder = tempfile::tempdir().unwrap();
    for input in dumps(folder.path()) {
        let list = report(&input, &[])["patterns"]["list"].as_array().unwrap().clone();
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for row in &list {
            *counted.entry(row["pattern"].as_str().unwrap().to_owned()).or_default() += row["keys"].as_u64().unwrap();
        }
        let collapsed = counted.keys().filter(|pattern| pattern.contains("{*}"));
        let some = counted.keys().step_by(counted.len() / 12 + 1).chain(collapsed);
        for pattern in some {
            assert_eq!(rows(&input, &["--pattern", pattern]).len() as u64, counted[pattern], "{pattern}");
        }
    }
}

#[test]
fn rows_of_a_finding_are_those_of_its_patterns() {
    let folder = tempfile::tempdir().unwrap();
    let input = &dumps(folder.path())[1];
    let report = report(input, &["--policy", "platform"]);
    let mut checked = BTreeSet::new();
    for finding in report["findings"]["list"].as_array().unwrap() {
        let rule = finding["rule"].as_str().unwrap();
        for row in
            finding["patterns"].as_array().unwrap().iter().filter(|_| ["ttl.missing", "ttl.storm"].contains(&rule))
        {
            let pattern = row["pattern"].as_str().unwrap();
            let found = rows(input, &["--policy", "platform", "--breaking", rule, "--pattern", pattern]);
            assert_eq!(row["keys"], found.len(), "{rule} {pattern}");
            checked.insert(pattern.to_owned());
        }
    }
    assert!(
        checked.contains("page:{int}:html") && checked.iter().any(|pattern| pattern.contains("{*}")),
        "{checked:?}"
    );
}

#[test]
fn owners_classes_and_exemptions_are_those_of_the_policy_file() {
    let policy = testdata().join("policy/shop.toml");
    let policy = policy.to_str().unwrap();
    let report = report(Path::new(SHOP), &["--policy", policy]);
    let owners = report["findings"]["by_owner"].as_array().unwrap();
    assert!(owners.len() > 2);
    for owner in owners {
        let name = owner["owner"].as_str().unwrap_or_default();
        let all = rows(Path::new(SHOP), &["--policy", policy, "--owner", name]);
        assert_eq!(owner["keys"], all.len(), "{name}");
        assert!(all.iter().all(|row| row["owner"].as_str().unwrap_or_default() == name));
        let broken = rows(Path::new(SHOP), &["--policy", policy, "--owner", name, "--breaking"]);
        assert_eq!(owner["broken"]["keys"], broken.len(), "{name}");
    }
    let exempted = report["findings"]["exempted"].as_array().unwrap();
    assert!(!exempted.is_empty());
    for (rule, keys) in keys_by_rule(&report).iter().filter(|(rule, _)| listed(rule)) {
        assert_eq!(rows(Path::new(SHOP), &["--policy", policy, "--breaking", rule]).len() as u64, *keys, "{rule}");
    }
    let sessions = rows(Path::new(SHOP), &["--policy", policy, "--pattern", "session:{hex}"]);
    assert!(!sessions.is_empty() && sessions.iter().all(|row| row["class"] == "session" && row["owner"] == "accounts"));
}

#[test]
fn masked_rows_keep_their_labels() {
    let flags = ["--breaking", "key.prefix"];
    let (plain, masked) = (rows(Path::new(SHOP), &flags), rows(Path::new(SHOP), &[&flags[..], &["--mask"]].concat()));
    assert_eq!(plain.len(), masked.len());
    for (plain, masked) in plain.iter().zip(&masked) {
        assert_eq!((&plain["breaks"], &plain["memory"]), (&masked["breaks"], &masked["memory"]));
    }
    assert!(masked.iter().any(|row| row["key"].as_str().is_some_and(|key| key.contains('~'))));
}

#[test]
fn rows_without_a_policy_have_no_labels() {
    let row = &rows(Path::new(SHOP), &["--limit", "1"])[0];
    assert!(row.get("breaks").is_none() && row.get("owner").is_none() && row.get("class").is_none());
    let head = stdout_of(&["keys", SHOP, "--format", "csv", "--limit", "0"]);
    assert!(head.ends_with(",mean_element\n"), "{head}");
    let head = stdout_of(&["keys", SHOP, "--format", "csv", "--limit", "0", "--policy", "strict"]);
    assert!(head.ends_with(",mean_element,breaks,owner,class\n"), "{head}");
}

#[test]
fn what_cannot_be_listed_is_refused_with_a_remedy() {
    for (flags, expected) in [
        (&["--breaking", "ttl.mising"][..], "did you mean ttl.missing"),
        (&["--breaking", "key.type-suffix"], "policy default does not check this rule"),
        (&["--policy", "platform", "--breaking", "slot.skew"], "about the snapshot as a whole"),
        (&["--policy", "platform", "--breaking", "backup.age"], "about the snapshot as a whole"),
        (&["--policy", "platform", "--breaking", "value.sensitive"], "--inspect-values"),
        (&["--policy", "platform", "--breaking", "memory.growth"], "--baseline"),
        (&["--owner", "accounts"], "has no data dictionary"),
        (&["--policy", "nosuch"], "there is no policy"),
    ] {
        let output = run_args(&[&["keys", SHOP], flags].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{flags:?}");
        assert!(text(&output).contains(expected), "{flags:?}: {}", text(&output));
    }
}

#[test]
fn standard_input_is_read_once() {
    let read = |flags: &[&str]| run_with_input(rdblens().args(["keys", "-"]).args(flags), std::fs::read(SHOP).unwrap());
    let piped = read(&["--breaking", "key.prefix", "--pattern", "task-meta-{uuid}"]);
    assert_eq!(String::from_utf8_lossy(&piped.stdout).lines().count(), 260);
    for flags in [&["--pattern", "a:{*}"][..], &["--breaking", "type.split-object"], &["--mask"]] {
        let output = read(flags);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains("reads the snapshot twice"), "{}", text(&output));
    }
}

#[test]
fn a_pattern_given_as_a_glob_or_mistyped_gets_a_hint() {
    let glob = "no key matches --match 'user:{int}:profile'";
    for command in ["analyze", "keys", "dictionary"] {
        let output = run_args(&[command, SHOP, "--match", "user:{int}:profile"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(glob) && told.contains("--pattern 'user:{int}:profile'"), "{command}: {told}");
        assert!(told.contains(r"--regex '^\{?user\}?:.+:\{?profile\}?$'"), "{told}");
        assert_eq!(output.status.code(), Some(0));
    }
    let hint = |flags: &[&str]| String::from_utf8(run_args(&[&["keys", SHOP], flags].concat()).stderr).unwrap();
    assert!(hint(&["--pattern", "user:{int}:profle"]).contains("did you mean 'user:{int}:profile'?"));
    assert!(hint(&["--pattern", "user:{int}:prof…file"]).contains("no key has the pattern"));
    assert_eq!(hint(&["--pattern", "user:{int}:profile", "--breaking", "big.string"]), "");
    assert_eq!(hint(&["--pattern", "user:{int}:profle", "--quiet"]), "");
    assert_eq!(hint(&["--match", "user:*", "--limit", "1"]), "");
}

#[test]
fn rules_about_patterns_that_any_rule_passes_over_are_named() {
    let told = |flags: &[&str]| {
        let output = run_args(&[&["keys", SHOP, "--policy", "platform"], flags].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    for flags in [&["--breaking"][..], &["--severity", "must"]] {
        let told = told(flags);
        assert!(told.contains("value.lock-token"), "{told}");
        assert_eq!(told.contains("type.split-object"), flags == ["--breaking"], "{told}");
    }
    for flags in [&["--breaking", "--quiet"][..], &["--breaking", "big.string"], &[]] {
        assert_eq!(told(flags), "", "{flags:?}");
    }
}

#[test]
fn locks_without_a_token_are_listed_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("locks.rdb");
    let client = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    let mut dump = Dump::new();
    dump.string("lock:order:1", "order-service")
        .string("lock:order:2", "c2a9d7e4-1b58-4c07-8f3e-6a5d4b3c2e19")
        .string("lock:order:3", "order-service")
        .string("lock:order:4", "1")
        .string("lock:order:5", client)
        .string("shop:lock:order:5", client)
        .string("shop:lock:order:6", "order-service")
        .string("shop:lock:order:7", "payment-service")
        .hash_listpack("lock:order:8", &[("owner", "1")])
        .hash_listpack("lock:order:9", &[("8d9f2c71-51a3:1", "1")])
        .string("shop:lock", "1");
    std::fs::write(&input, dump.bytes()).unwrap();
    for (policy, expected) in [
        ("platform", &["lock:order:1", "lock:order:3", "lock:order:4", "shop:lock:order:6", "lock:order:8"][..]),
        (
            "service",
            &[
                "lock:order:1",
                "lock:order:3",
                "lock:order:4",
                "lock:order:5",
                "shop:lock:order:5",
                "shop:lock:order:6",
                "lock:order:8",
            ],
        ),
    ] {
        let rows = rows(&input, &["--policy", policy, "--breaking", "value.lock-token"]);
        let listed: Vec<_> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
        assert_eq!(listed, expected, "{policy}");
        assert!(rows.iter().all(|row| breaks(row).contains("value.lock-token")));
        let counted = keys_by_rule(&report(&input, &["--policy", policy]))["value.lock-token"];
        assert_eq!(counted, expected.len() as u64, "{policy}");
    }
}

/// Sums up the keys of the finding on sensitive values, and returns whether its first pattern was only sampled.
fn sensitive(report: &Value) -> (u64, bool) {
    let list = report["findings"]["list"].as_array().unwrap();
    let finding = list.iter().find(|finding| finding["rule"] == "value.sensitive").unwrap();
    (finding["keys"].as_u64().unwrap(), finding["patterns"][0]["details"]["sample"]["value"] == true)
}

#[test]
fn sensitive_values_are_listed_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("values.rdb");
    let flags = ["--policy", "service", "--inspect-values"];
    let listed = |input: &Path| {
        let rows = rows(input, &[&flags[..], &["--breaking", "value.sensitive"]].concat());
        let keys = rows.iter().map(|row| row["key"].as_str().unwrap().to_owned());
        keys.collect::<Vec<_>>()
    };
    let write = |keys: u32| {
        let mut dump = Dump::new();
        for n in 0..keys {
            dump.string(format!("note:{n}"), if n % 10 == 0 { "call 13812345678" } else { "nothing of note" });
        }
        // A pattern that is shown masked.
        dump.string("login:ann.liddell@corp-mail.cn", "1").string("cache:1", "1");
        std::fs::write(&input, dump.bytes()).unwrap();
    };
    // All keys were inspected: those with a match count.
    write(60);
    assert_eq!(sensitive(&report(&input, &flags)), (7, false));
    let keys = listed(&input);
    assert_eq!(keys.len(), 7);
    assert!(keys.contains(&"note:50".to_owned()) && !keys.contains(&"note:51".to_owned()), "{keys:?}");
    // A sample was inspected, which the finding says: it counts the pattern, and rows are the keys with a match.
    write(600);
    assert_eq!(sensitive(&report(&input, &flags)), (601, true));
    let keys = listed(&input);
    assert_eq!(keys.len(), 61);
    assert!(keys.iter().all(|key| key.ends_with('0') || key.starts_with("login:")), "{keys:?}");
    let text = stdout_of(&["analyze", input.to_str().unwrap(), "--full", "--inspect-values"]);
    assert!(text.replace('\n', " ").contains("only a sample was inspected"), "{text}");
}
