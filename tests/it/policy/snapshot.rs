//! Rules about a whole snapshot on real dumps: what breaks each of them and what does not; exemptions; baselines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rdblens::internals::analyze::{InputCheck, Plan, PolicySource, ReadPlan, Unwatched, analyze};
use rdblens::internals::units::Millis;
use rdblens::report::{DetailValue, Finding, FindingPattern, NamedReport, Report};
use serde_json::Value as Json;

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, testdata, text};

fn shop() -> PathBuf {
    testdata().join("dumps/shop.rdb")
}

/// The English word of a detail.
fn word<'r>(row: &'r FindingPattern, name: &str) -> Option<&'r str> {
    match &row.details.get(name)?.value {
        DetailValue::Word(word) => Some(&word.en),
        _ => None,
    }
}

/// Returns a plan with a policy of this text, for inputs that may be copies of one dump.
fn plan(policy: &str) -> Plan {
    let mut plan = Plan::new(ReadPlan { inputs: InputCheck::None, ..ReadPlan::new(std::env::temp_dir()) });
    plan.policy = PolicySource::File { name: "test.toml".to_owned(), text: policy.to_owned() };
    plan
}

fn judged(plan: &Plan, inputs: &[PathBuf]) -> Report {
    analyze(inputs, plan, &Unwatched).unwrap()
}

fn shop_by(policy: &str) -> Report {
    judged(&plan(policy), &[shop()])
}

fn finding<'a>(report: &'a Report, rule: &str) -> Option<&'a Finding> {
    report.findings.list.iter().find(|finding| finding.rule == rule)
}

/// Returns severity and patterns of the findings of a rule.
fn found<'a>(report: &'a Report, rule: &str) -> Vec<(&'a str, Vec<Option<&'a str>>)> {
    let of_rule = report.findings.list.iter().filter(|finding| finding.rule == rule);
    of_rule
        .map(|finding| (finding.severity.name(), finding.patterns.iter().map(|row| row.pattern.as_deref()).collect()))
        .collect()
}

/// Writes a modified copy of the shop.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(shop()).unwrap();
    change(&mut bytes);
    let path = folder.path().join("changed.rdb");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn a_shop_in_three_databases_breaks_db_multiple_with_all_but_the_heaviest() {
    let report = shop_by("[rules]\n\"db.multiple\" = \"should\"\n");
    assert_eq!(found(&report, "db.multiple"), [("should", vec![Some("db 2"), Some("db 1")])]);
    let others: u64 = report.databases.iter().filter(|database| database.db > 0).map(|database| database.keys).sum();
    assert_eq!(finding(&report, "db.multiple").unwrap().keys, others);
    let mut one = plan("[rules]\n\"db.multiple\" = \"should\"\n");
    one.read.selection.databases = vec![0];
    assert!(finding(&judged(&one, &[shop()]), "db.multiple").is_none());
    assert!(finding(&shop_by("[rules.\"db.multiple\"]\nmax = 3\n"), "db.multiple").is_none());
}

#[test]
fn businesses_are_counted_by_first_segment_whatever_the_tree_shows() {
    let policy = "[rules.\"instance.mixed\"]\nsegments = 3\nshare = 0.02\n";
    let report = shop_by(policy);
    let mixed = finding(&report, "instance.mixed").unwrap();
    let row = &mixed.patterns[0];
    let DetailValue::Parts(parts) = &row.details["segments"].value else { panic!("{row:?}") };
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(Some(names.len() as u64), row.measured);
    let is_none = |name: &&str| name.contains('{') || ["cache", "lock", "queue", "session", "rate"].contains(name);
    assert!(!names.iter().any(is_none), "{names:?}");
    let by_prefix = shop_by(&format!("{policy}prefixes = []\n"));
    let row_of_prefixes = &finding(&by_prefix, "instance.mixed").unwrap().patterns[0];
    let DetailValue::Parts(parts) = &row_of_prefixes.details["segments"].value else { panic!("{row_of_prefixes:?}") };
    assert!(parts.iter().any(|part| part.name == "cache"), "{parts:?}");
    let mut cut = plan(policy);
    (cut.min_share, cut.depth, cut.top) = (1.0, 1, 1);
    assert_eq!(finding(&judged(&cut, &[shop()]), "instance.mixed").unwrap().patterns[0].details, row.details);
    assert!(
        finding(&shop_by("[rules.\"instance.mixed\"]\nsegments = 100\nshare = 0.02\n"), "instance.mixed").is_none()
    );
}

#[test]
fn owners_of_the_dictionary_are_who_shares_an_instance() {
    let owned = |cache: &str| {
        shop_by(&format!(
            "[rules.\"instance.mixed\"]\nsegments = 1\nshare = 0.01\n\
             [[dictionary]]\npattern = \"cache:**\"\nowner = \"{cache}\"\n\
             [[dictionary]]\npattern = \"queue:**\"\nowner = \"mail\"\n"
        ))
    };
    let report = owned("web");
    let row = &finding(&report, "instance.mixed").unwrap().patterns[0];
    assert_eq!((row.measured, row.allowed), (Some(2), Some(1)));
    assert!(finding(&owned("mail"), "instance.mixed").is_none(), "one owner, whatever the prefixes");
}

#[test]
fn a_slot_is_too_heavy_only_where_slots_matter() {
    let policy = "[rules.\"slot.skew\"]\nslot_least = 1\nslot_ratio = 3\nslot_share = 0.05\n";
    let cluster = testdata().join("corpus/redis-8.2.3-cluster/dump.rdb");
    let report = judged(&plan(policy), std::slice::from_ref(&cluster));
    let skew = finding(&report, "slot.skew").unwrap();
    let slots = report.slots.as_ref().unwrap();
    let heavy = slots.list.iter().filter(|slot| Some(slot.memory.0) > skew.patterns[0].allowed).count();
    assert!(heavy > 0 && skew.patterns.len().min(slots.list.len()) >= heavy);
    assert_eq!(skew.patterns[0].pattern, Some(format!("slot {}", slots.list[0].slot)));
    assert_eq!(word(&skew.patterns[0], "cause"), Some("big key"));
    assert!(finding(&judged(&plan("[rules]\n\"slot.skew\" = \"must\"\n"), &[cluster]), "slot.skew").is_none());
    // Not a cluster, and the few hash tags gather nothing, so slots do not matter there.
    let of_shop = shop_by(policy);
    assert!(of_shop.slots.is_some());
    let gathered = |row: &FindingPattern| matches!(row.details["tagged_keys"].value, DetailValue::Count(tagged) if tagged * 2 > row.keys);
    assert!(finding(&of_shop, "slot.skew").is_none_or(|skew| skew.patterns.iter().all(gathered)));
}

#[test]
fn a_shard_with_much_more_than_the_others_is_named() {
    let light = testdata().join("corpus/valkey-7.2.7/dump.rdb");
    let inputs = [shop(), light.clone()];
    let skewed = judged(
        &plan("[rules.\"slot.skew\"]\nslot_least = \"1GB\"\nshard_least = \"1KB\"\nshard_over = 0.01\n"),
        &inputs,
    );
    let heavier = skewed.source.files.iter().max_by_key(|file| file.memory).unwrap().name.clone();
    assert_eq!(found(&skewed, "slot.skew"), [("must", vec![Some(heavier.as_str())])]);
    let (_folder, copy) = changed(|_| ());
    let even = judged(
        &plan("[rules.\"slot.skew\"]\nslot_least = \"1GB\"\nshard_least = \"1KB\"\nshard_over = 0.01\n"),
        &[shop(), copy],
    );
    assert!(finding(&even, "slot.skew").is_none());
}

/// Checks the shop against the platform standard, on a server that it fills to this permille.
fn filled(permille: u64) -> Report {
    let report = shop_by("");
    let used = report.source.files[0].used_mem.expect("the server says what it used");
    assert!(used > report.instance.expect("all keys are selected").total, "it includes more than keys");
    let mut plan = Plan::new(ReadPlan { inputs: InputCheck::None, ..ReadPlan::new(std::env::temp_dir()) });
    plan.policy = PolicySource::Preset("platform".to_owned());
    plan.read.config.set("maxmemory", &(used.0 * 1000 / permille).to_string()).unwrap();
    judged(&plan, &[shop()])
}

#[test]
fn a_fifth_of_maxmemory_must_stay_free_and_three_tenths_should() {
    assert_eq!(found(&filled(850), "memory.headroom"), [("must", vec![None])], "the graver limit only");
    assert_eq!(found(&filled(750), "memory.headroom"), [("should", vec![None])]);
    assert_eq!(found(&filled(650), "memory.headroom"), []);
    assert_eq!(
        found(&shop_by("[rules]\n\"memory.headroom\" = \"must\"\n"), "memory.headroom"),
        [],
        "no limit is known"
    );
}

#[test]
fn several_inputs_have_a_limit_each() {
    let (_folder, copy) = changed(|_| ());
    let memory = shop_by("").totals.memory.0;
    let mut plan = plan("[rules]\n\"memory.headroom\" = \"must\"\n");
    plan.read.config.set("maxmemory", &(memory * 2).to_string()).unwrap();
    assert_eq!(found(&judged(&plan, &[shop(), copy.clone()]), "memory.headroom"), []);
    plan.read.config.set("maxmemory", &memory.to_string()).unwrap();
    assert_eq!(finding(&judged(&plan, &[shop(), copy]), "memory.headroom").unwrap().patterns.len(), 2);
}

#[test]
fn keys_without_ttl_count_only_under_a_volatile_policy() {
    let under = |policy: &str| {
        let mut plan = plan("[rules]\n\"memory.volatile-policy\" = \"must\"\n");
        plan.read.config.set("maxmemory-policy", policy).unwrap();
        judged(&plan, &[shop()])
    };
    let report = under("volatile-ttl");
    let breach = finding(&report, "memory.volatile-policy").unwrap();
    assert_eq!((breach.keys, breach.memory), (report.no_ttl.keys, report.no_ttl.memory));
    let DetailValue::Parts(parts) = &breach.patterns[0].details["patterns"].value else { panic!("{breach:?}") };
    assert_eq!(parts[0].name, report.no_ttl.patterns[0].pattern);
    for other in ["allkeys-lru", "noeviction"] {
        assert_eq!(found(&under(other), "memory.volatile-policy"), [], "{other}");
    }
}

#[test]
fn each_file_is_measured_on_its_own_under_a_volatile_policy() {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, keys: u32, expire: bool| {
        let (path, mut dump) = (folder.path().join(name), Dump::new());
        for key in 0..keys {
            if expire {
                dump.expires_at(4_000_000_000_000);
            }
            dump.string(format!("court:case:{key}"), "open");
        }
        fs::write(&path, dump.bytes()).unwrap();
        path
    };
    let (full, expiring) = (written("full.rdb", 9, false), written("expiring.rdb", 900, true));
    for rules in ["[rules]\n\"memory.volatile-policy\" = \"must\"\n", "extends = \"platform\"\n"] {
        let under = |inputs: &[&PathBuf]| {
            let mut plan = plan(rules);
            plan.read.config.set("maxmemory-policy", "volatile-lru").unwrap();
            judged(&plan, &inputs.iter().copied().cloned().collect::<Vec<_>>())
        };
        assert_eq!(found(&under(&[&expiring]), "memory.volatile-policy"), [], "{rules}");
        let (alone, all) = (under(&[&full]), under(&[&expiring, &full, &expiring]));
        let row = |report: &Report| {
            let FindingPattern { pattern, keys, memory, measured, .. } =
                finding(report, "memory.volatile-policy").unwrap().patterns[0].clone();
            (pattern, keys, memory, measured)
        };
        let (_, keys, memory, measured) = row(&alone);
        assert_eq!((keys, measured), (9, Some(1000)), "{rules}");
        assert_eq!(row(&all), (full.to_str().map(str::to_owned), keys, memory, measured), "{rules}");
        assert_eq!(found(&all, "memory.volatile-policy")[0].1.len(), 1);
    }
}

#[test]
fn fewer_rows_shorten_the_patterns_without_ttl_and_do_not_change_them() {
    // Under platform, two findings of `ttl.missing` list these patterns.
    for rules in ["extends = \"platform\"\n", "[rules]\n\"memory.volatile-policy\" = \"must\"\n"] {
        let patterns = |top: usize| -> Vec<String> {
            let mut plan = Plan { top, ..plan(rules) };
            plan.read.config.set("maxmemory-policy", "volatile-lru").unwrap();
            let report = judged(&plan, &[shop()]);
            let breach = finding(&report, "memory.volatile-policy").unwrap();
            let DetailValue::Parts(parts) = &breach.patterns[0].details["patterns"].value else { panic!("{breach:?}") };
            parts.iter().map(|part| part.name.clone()).collect()
        };
        let all = patterns(1_000);
        assert_eq!(all.len(), 5, "{rules}");
        for top in 1..=5 {
            assert_eq!(patterns(top), all[..top], "{rules}: {top}");
        }
    }
}

#[test]
fn a_budget_is_exceeded_or_not_in_every_preset() {
    for preset in ["default", "service", "hzero", "platform", "strict", "aliyun"] {
        let budget = |memory: &str| {
            shop_by(&format!("extends = \"{preset}\"\n[[budget]]\npattern = \"cache:**\"\nmemory = \"{memory}\"\n"))
        };
        let report = budget("1KB");
        assert_eq!(found(&report, "memory.budget"), [("must", vec![Some("cache:**")])], "{preset}");
        let row = &finding(&report, "memory.budget").unwrap().patterns[0];
        assert_eq!((row.measured, row.allowed), (Some(row.memory.0), Some(1024)));
        assert_eq!(found(&budget("1GB"), "memory.budget"), [], "{preset}");
    }
}

#[test]
fn damaged_backups_are_named_each_with_its_fault() {
    let policy = "[rules]\n\"backup.integrity\" = \"must\"\n";
    assert_eq!(found(&shop_by(policy), "backup.integrity"), []);
    let (_one, cut) = changed(|bytes| bytes.truncate(bytes.len() / 2));
    let (_two, flipped) = changed(|bytes| *bytes.last_mut().unwrap() ^= 0x55);
    let (_three, magic) = changed(|bytes| bytes[0] = b'X');
    let report = judged(&plan(policy), &[shop(), cut.clone(), flipped.clone(), magic.clone()]);
    let broken = finding(&report, "backup.integrity").unwrap();
    let state = |path: &Path| {
        let row = broken.patterns.iter().find(|row| row.pattern.as_deref() == path.to_str());
        row.and_then(|row| word(row, "state"))
    };
    assert_eq!((state(&shop()), state(&cut)), (None, Some("not readable to the end")));
    assert_eq!((state(&flipped), state(&magic)), (Some("checksum mismatch"), Some("not readable to the end")));
    assert_eq!(broken.patterns.len(), 3);
}

#[test]
fn a_backup_without_checksum_is_sound_unless_one_is_demanded() {
    let unsummed = testdata().join("hostile/valid-checksum-zero.rdb");
    let by = |policy: &str| judged(&plan(policy), std::slice::from_ref(&unsummed));
    assert_eq!(found(&by("[rules]\n\"backup.integrity\" = \"must\"\n"), "backup.integrity"), []);
    let demanded = by("[rules.\"backup.integrity\"]\ndemand_checksum = true\n");
    assert_eq!(word(&finding(&demanded, "backup.integrity").unwrap().patterns[0], "state"), Some("no checksum"));
}

#[test]
fn damaged_values_in_intact_framing_break_integrity() {
    let damaged = testdata().join("hostile/intset-count-lying.rdb");
    let report = judged(&plan("[rules]\n\"backup.integrity\" = \"must\"\n"), &[damaged]);
    let row = &finding(&report, "backup.integrity").unwrap().patterns[0];
    assert_eq!((word(row, "state"), &row.details["damaged_keys"].value), (Some("damaged"), &DetailValue::Count(1)));
}

#[test]
fn a_snapshot_is_too_old_after_a_day_if_the_current_time_is_given() {
    let ctime = shop_by("").server.ctime.unwrap();
    let aged = |hours: i64| {
        let mut plan = plan("[rules]\n\"backup.age\" = \"should\"\n");
        plan.now = Some(Millis((ctime + hours * 3600) * 1000));
        judged(&plan, &[shop()])
    };
    assert_eq!(found(&aged(24), "backup.age"), []);
    assert_eq!(found(&aged(25), "backup.age"), [("should", vec![shop().to_str()])]);
    assert_eq!(found(&aged(-5), "backup.age"), [], "a clock that is behind");
    assert_eq!(found(&shop_by("[rules]\n\"backup.age\" = \"should\"\n"), "backup.age"), []);
}

/// Returns the report on a part of the shop, as the report of an earlier night when there was no more.
fn earlier(policy: &str, limit: Option<u64>, top: usize) -> NamedReport {
    let mut before = plan(policy);
    (before.read.limit, before.top) = (limit, top);
    let mut report = judged(&before, &[shop()]);
    report.options.selection.clear();
    report.server.ctime = report.server.ctime.map(|taken| taken - 86_400);
    NamedReport::read(&serde_json::to_vec(&report).unwrap(), "earlier.json").unwrap()
}

#[test]
fn a_pattern_that_grew_or_appeared_is_named_and_a_cut_list_is_no_reason_to_call_it_new() {
    let policy = "[rules.\"memory.growth\"]\nleast = \"100KB\"\n";
    let against = |earlier: NamedReport| {
        let mut plan = plan(policy);
        plan.baseline = Some(Arc::new(earlier));
        judged(&plan, &[shop()])
    };
    assert_eq!(found(&against(earlier(policy, None, 10_000)), "memory.growth"), []);
    let grown = against(earlier(policy, Some(500), 10_000));
    let rows = &finding(&grown, "memory.growth").unwrap().patterns;
    for row in rows {
        assert!(row.measured > row.allowed && row.memory.0 > 100 << 10, "{row:?}");
    }
    assert!(rows.iter().any(|row| row.details["new"].value == DetailValue::Flag(true)), "{rows:?}");
    assert_eq!(found(&against(earlier(policy, None, 3)), "memory.growth"), [], "not listed is lighter, not new");
    assert_eq!(found(&shop_by(policy), "memory.growth"), []);
    let mut of_some = earlier(policy, Some(500), 10_000);
    of_some.report.options.selection.push("--limit 500".to_owned());
    assert_eq!(found(&against(of_some), "memory.growth"), [], "the others are not new, they were not counted");
}

#[test]
fn exemptions_excuse_breaches_and_count_them() {
    let budget = "[[budget]]\npattern = \"cache:**\"\nmemory = \"1KB\"\n[rules]\n\"memory.budget\" = \"must\"\n\"db.multiple\" = \"should\"\n";
    let plain = shop_by(budget);
    let exempt = |pattern: &str, rules: &str| {
        shop_by(&format!("{budget}[[exempt]]\npattern = \"{pattern}\"\n{rules}\nreason = \"known\"\n"))
    };
    let report = exempt("cache:**", "rules = [\"memory.budget\"]");
    assert_eq!(found(&report, "memory.budget"), []);
    let [exempted] = &report.findings.exempted[..] else { panic!("{:?}", report.findings.exempted) };
    assert_eq!((&*exempted.rule, exempted.pattern.as_str()), ("memory.budget", "cache:**"));
    assert_eq!(exempted.keys, finding(&plain, "memory.budget").unwrap().keys);
    assert_eq!(found(&report, "db.multiple"), found(&plain, "db.multiple"), "of that rule only");
    assert_eq!(found(&exempt("cart:**", ""), "memory.budget"), found(&plain, "memory.budget"));
    let whole = |exempt: &str| {
        let policy = format!("[rules.\"instance.mixed\"]\nsegments = 3\nshare = 0.02\n{exempt}");
        finding(&shop_by(&policy), "instance.mixed").is_some()
    };
    assert!(whole("") && whole("[[exempt]]\npattern = \"cache:**\"\nreason = \"x\"\n"));
    assert!(!whole("[[exempt]]\npattern = \"**\"\nreason = \"x\"\n"), "`**` is for what has no pattern, too");
}

/// Runs `analyze` on the shop and returns exit status and output.
fn run_analyze(args: &[&str]) -> (i32, String) {
    let mut command: Command = rdblens();
    let output = run(command.arg("analyze").arg(shop()).args(args));
    // Standard error names the rules that were not evaluated.
    let told = if output.stdout.is_empty() { text(&output) } else { String::from_utf8(output.stdout).unwrap() };
    (output.status.code().unwrap(), told)
}

#[test]
fn with_a_baseline_only_what_is_new_or_worse_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (all, part) = (path("all.json"), path("part.json"));
    assert_eq!(run_analyze(&["--format", "json", "--top", "10000", "-o", &all]).0, 0);
    assert_eq!(run_analyze(&["--format", "json", "-o", &part, "--limit", "800"]).0, 0);
    assert_eq!(run_analyze(&["--fail-on", "must"]).0, 1);
    let (status, json) = run_analyze(&["--fail-on", "hint", "--baseline", &all, "--format", "json"]);
    assert_eq!(status, 0, "nothing has changed");
    let report: Json = serde_json::from_str(&json).unwrap();
    let none = serde_json::json!({ "report": "all.json", "new": [], "first_evaluated": [], "worse": [], "fixed": [] });
    assert_eq!(report["findings"]["baseline"], none);
    let (status, json) = run_analyze(&["--fail-on", "must", "--baseline", &part, "--format", "json"]);
    assert_eq!(status, 1, "there is more than there was");
    let report: Json = serde_json::from_str(&json).unwrap();
    assert!(!report["findings"]["baseline"]["new"].as_array().unwrap().is_empty());
    let warned = report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .any(|warning| warning["about"].as_str().is_some_and(|name| name.contains("part.json")));
    assert!(warned, "another selection");
    let less = ["--fail-on", "must", "--baseline", &all, "--format", "json", "--match", "session:*"];
    let (status, json) = run_analyze(&less);
    assert_eq!(status, 0, "less is better");
    let report: Json = serde_json::from_str(&json).unwrap();
    assert!(!report["findings"]["baseline"]["fixed"].as_array().unwrap().is_empty());
}

#[test]
fn a_wrong_baseline_is_wrong_usage_with_a_remedy() {
    let shop = shop();
    for baseline in [shop.to_str().unwrap(), concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")] {
        let (status, told) = run_analyze(&["--baseline", baseline]);
        assert_eq!(status, 2, "{told}");
        assert!(told.contains("analyze --format json"), "{told}");
    }
}

#[test]
fn an_incomplete_snapshot_wins_over_findings_of_the_gate() {
    let (_folder, cut) = changed(|bytes| bytes.truncate(bytes.len() / 2));
    let output = run(rdblens().arg("analyze").arg(cut).args(["--policy", "platform", "--fail-on", "must"]));
    assert_eq!(output.status.code(), Some(4));
}
