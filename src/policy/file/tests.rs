//! Tests: errors state their line and a remedy, and valid policies are parsed as intended.

use super::*;
use crate::policy::rule::Severity;
use crate::record::Kind;
use crate::report::Passage;
use crate::units::Bytes;

fn read_text(text: &str) -> Result<Policy> {
    let classifier = Classifier::default();
    parse(text, "team.toml", PatternSyntax { separators: b":", classifier: &classifier })
}

fn mistake(text: &str) -> String {
    read_text(text).unwrap_err().to_string()
}

#[test]
fn a_class_without_patterns_keeps_the_keys_of_the_one_it_replaces() {
    let classifier = Classifier::default();
    let preset = presets::load("service", PatternSyntax { separators: b":", classifier: &classifier }).unwrap();
    let of = |policy: &Policy, name: &str| policy.classes.iter().find(|class| class.name == name).unwrap().clone();
    let policy = read_text("extends = \"service\"\n[[ttl_class]]\nname = \"lock\"\nmax = \"30s\"\n").unwrap();
    let (changed, before) = (of(&policy, "lock"), of(&preset, "lock"));
    assert_eq!((changed.max, changed.locks, changed.kinds), (Some(30_000), true, before.kinds));
    assert_eq!((changed.patterns, changed.jitter), (before.patterns, Some(0)));
    let policy =
        read_text("extends = \"service\"\n[[ttl_class]]\nname = \"lock\"\npatterns = [\"mutex:**\"]\n").unwrap();
    let changed = of(&policy, "lock");
    assert_eq!((changed.patterns.len(), changed.locks, changed.kinds.len()), (1, false, 0));
}

#[test]
fn locks_have_no_random_offset_unless_their_class_sets_one() {
    let jitter = |class: &str| {
        let policy = read_text(&format!("[[ttl_class]]\nname = \"held\"\nmax = \"30s\"\n{class}\n")).unwrap();
        policy.classes[0].jitter
    };
    assert_eq!(jitter("locks = true"), Some(0));
    assert_eq!(jitter("locks = true\njitter = \"5s\""), Some(5_000));
    assert_eq!(jitter("patterns = [\"held:**\"]"), None);
}

#[test]
fn each_of_several_limits_has_a_severity() {
    let error = mistake("extends = \"hzero\"\n[[rules.\"key.levels\"]]\nmin = 4\n");
    assert!(error.contains("team.toml:2") && error.contains("\"severity\"") && error.contains("key.levels"), "{error}");
    let policy = read_text("extends = \"hzero\"\n[[rules.\"key.levels\"]]\nseverity = \"must\"\nmin = 4\n").unwrap();
    assert_eq!(policy.settings.iter().filter(|setting| setting.rule.meta.id == "key.levels").count(), 1);
}

#[test]
fn a_limit_that_another_hides_is_a_mistake() {
    let limits = |limits: &[(&str, &str)]| {
        let limit = |(severity, max): &(&str, &str)| {
            format!("[[rules.\"big.string\"]]\nseverity = \"{severity}\"\nmax = \"{max}\"\n")
        };
        limits.iter().map(limit).collect::<String>()
    };
    for (both, line, other) in [
        ([("must", "10KB"), ("should", "50KB")], 4, 1),
        ([("hint", "1MB"), ("must", "1MB")], 1, 4),
        ([("must", "1KB"), ("must", "1KB")], 4, 1),
    ] {
        let error = mistake(&limits(&both));
        let names_both = error.contains(&format!("team.toml:{line}")) && error.contains(&format!("line {other}"));
        assert!(names_both && error.contains("big.string"), "{error}");
    }
    assert!(read_text(&limits(&[("should", "10KB"), ("must", "50KB"), ("hint", "1KB")])).is_ok());
    let words = |word: &str| format!("[[rules.\"key.levels\"]]\nseverity = \"must\"\nmin = {word}\n");
    assert!(read_text(&[words("3"), words("4")].concat()).is_ok(), "only upper limits are compared");
}

#[test]
fn a_pattern_of_all_keys_beside_others_is_for_the_rest() {
    let class = |name: &str, pattern: &str| format!("[[ttl_class]]\nname = \"{name}\"\npatterns = [\"{pattern}\"]\n");
    assert!(read_text(&[class("rest", "**"), class("cache", "**:cache:**")].concat()).is_ok());
    let error = mistake(&[class("rest", "**"), class("cache", "cache:**")].concat());
    assert!(error.contains("overlap"), "{error}");
}

#[test]
fn a_class_of_locks_is_of_all_that_are_named_like_one() {
    let policy = read_text("[[ttl_class]]\nname = \"held\"\nlocks = true\n").unwrap();
    let texts: Vec<_> = policy.classes[0].patterns.iter().map(|pattern| pattern.text.as_str()).collect();
    for text in
        ["**:lock:**", "**:lock", "**:RedisLock:**", "**:REDIS_LOCK", "**:RLock:**", "**:RedLock:**", "**:分布式锁:**"]
    {
        assert_eq!(texts.iter().filter(|known| **known == text).count(), 1, "{text}");
    }
}

#[test]
fn a_policy_extends_a_preset() {
    let text = r#"
name = "shop"
extends = "default"

[rules]
"key.prefix" = "off"

[rules."key.length"]
severity = "must"
max = 64

[[ttl_class]]
name = "cart"
patterns = ["cart:**"]
max = "7d"
budget = "64MB"

[[dictionary]]
pattern = "user:{int}:name"
type = "string"
ttl = "cart"
owner = "accounts"

[[exempt]]
pattern = "legacy:**"
rules = ["key.length"]
reason = "until the migration is over"
"#;
    let policy = read_text(text).unwrap();
    assert_eq!((policy.name.as_str(), policy.extends.as_deref()), ("shop", Some("default")));
    let setting = |id: &str| policy.settings.iter().find(|setting| setting.rule.meta.id == id);
    assert!(setting("key.prefix").is_none());
    let length = setting("key.length").unwrap();
    assert_eq!((length.severity, length.params.number("max")), (Severity::Must, 64));
    assert_eq!(policy.classes.iter().find(|class| class.name == "cart").unwrap().budget, Some(Bytes(64 << 20)));
    let entry = &policy.entries[0];
    assert_eq!((entry.kind, entry.owner.as_deref(), entry.line), (Some(Kind::String), Some("accounts"), 18));
    assert_eq!(policy.exemptions[0].rules, ["key.length"]);
}

#[test]
fn a_policy_without_a_name_is_not_the_preset_that_it_extends() {
    let policy = read_text("extends = \"default\"\n").unwrap();
    assert_eq!((policy.name.as_str(), policy.extends.as_deref()), ("policy", Some("default")));
}

#[test]
fn overlapping_entries_are_found_whatever_their_first_segment() {
    let overlap = |patterns: &[&str]| {
        let entry = |pattern: &&str| format!("[[dictionary]]\npattern = \"{pattern}\"\n");
        read_text(&patterns.iter().map(entry).collect::<String>()).err().map(|error| error.to_string())
    };
    assert_eq!(overlap(&["a:b", "b:*", "a:c", "{int}:b", "a:d:**"]), None);
    for (patterns, named) in [
        (&["x:y", "a:b", "a:*"][..], "\"a:*\" and \"a:b\" of line 3"),
        (&["x:y", "a:b", "*:b"], "\"*:b\" and \"a:b\" of line 3"),
        (&["*:b", "a:c", "a:b"], "\"a:b\" and \"*:b\" of line 1"),
        (&["{*}:b", "a:*"], "\"a:*\" and \"{*}:b\" of line 1"),
    ] {
        let message = overlap(patterns).unwrap();
        assert!(message.contains(named), "{message}");
    }
}

#[test]
fn too_many_limits_are_rejected_with_their_line() {
    let limit = |least: usize| format!("[[rules.\"big.expiring\"]]\nseverity = \"must\"\nelements = {least}\n");
    let message = mistake(&(1..=65).map(limit).collect::<String>());
    assert!(message.contains("team.toml:1: a policy has at most 64 limits about keys"), "{message}");
}

#[test]
fn errors_state_their_line_and_a_remedy() {
    let unknown = mistake("extends = \"default\"\n[rules]\n\"key.lenght\" = \"must\"\n");
    assert!(unknown.contains("team.toml:3") && unknown.contains("did you mean \"key.length\""), "{unknown}");
    let bad = mistake("[[dictionary]]\npattern = \"user:12345\"\n");
    assert!(bad.contains("team.toml:2") && bad.contains("write `{int}`"), "{bad}");
    let twice = mistake("[[dictionary]]\npattern = \"user:*\"\n[[dictionary]]\npattern = \"user:{int}\"\n");
    assert!(twice.contains("team.toml:3") && twice.contains("overlap"), "{twice}");
    let expected = "[[expected]]\npattern = \"user:*\"\ntypes = [\"hash\"]\n";
    let twice = mistake(&expected.repeat(2));
    assert!(twice.contains("team.toml:4") && twice.contains("overlap"), "{twice}");
    for (text, word) in [
        ("x = 1", "is not a known key here"),
        ("extends = \"nobody\"", "there is no preset"),
        ("extends = 5", "a string in quotes"),
        ("[rules.\"key.length\"]\nmax = \"long\"", "whole number"),
        ("[rules.\"key.length\"]\nseverity = \"grave\"", "is not a severity"),
        ("[[exempt]]\npattern = \"a:**\"", "\"reason\" is missing"),
        ("[[exempt]]\npattern = \"a:**\"\nreason = \" \"", "state why"),
        ("[rules.key.length]\nmax = 9", "in quotes, as in [rules.\"key."),
        ("[[dictionary]]\npattern = \"a:b\"\nttl = \"x\"", "there is no TTL class"),
        ("[rules.\"ttl.missing\"]\nexcept = [\"chache\"]", "there is no TTL class"),
        ("[[rules.\"ttl.missing\"]]\nseverity = \"must\"\nexcept = [\"chache\"]", "there is no TTL class"),
        ("[[dictionary]]\npattern = \"a:b\"\ntype = \"text\"", "is not a type"),
        ("[[ttl_class]]\nname = \"a\"\ntypes = [\"text\"]", "is not a type"),
        ("[[ttl_class]]\nname = \"a\"\ntypes = [\"hash\"]\nbudget = \"1MB\"", "cannot have a budget"),
        ("[[ttl_class]]\nname = \"a\"\nlocks = true\nbudget = \"1MB\"", "cannot have a budget"),
        ("[[budget]]\npattern = \"a:b\"", "\"memory\" is missing"),
        ("[[expected]]\npattern = \"a:b\"", "\"types\" is missing"),
        ("[[expected]]\npattern = \"a:b\"\ntypes = []", "\"types\" is missing or empty"),
        ("[[expected]]\npattern = \"a:b\"\ntypes = [\"list\", \"any\"]", "is not a type"),
        ("[[expected]]\npattern = \"a:b\"\ntype = \"list\"", "\"type\" is not a known key"),
        ("[[expected]]\ntypes = \"list\"", "\"pattern\" is missing"),
        ("a = [", "TOML"),
    ] {
        let message = mistake(text);
        assert!(message.contains(word) && message.contains("team.toml"), "{message}");
    }
}

#[test]
fn names_that_are_nearly_right_get_a_suggestion() {
    for (text, line, word) in [
        ("nmae = \"a\"", 1, "did you mean \"name\"?"),
        (
            "[[exempt]]\npattern = \"a:**\"\nreason = \"x\"\nrules = [\"key.prefix\", \"big.strng\"]",
            4,
            "did you mean \"big.string\"?",
        ),
        ("[[exempt]]\npatern = \"a:**\"\nreason = \"x\"", 2, "did you mean \"pattern\"?"),
        ("[[budget]]\npattern = \"a:**\"\nmemroy = \"1MB\"", 3, "did you mean \"memory\"?"),
        ("[[dictionary]]\npattern = \"a:b\"\ntype = \"hsah\"", 3, "did you mean \"hash\"?"),
        (
            "[[ttl_class]]\nname = \"cache\"\n[[dictionary]]\npattern = \"a:b\"\nttl = \"cahce\"",
            5,
            "did you mean \"cache\"?",
        ),
        ("[[expected]]\npattern = \"a:b\"\ntypes = [\"lst\"]", 3, "did you mean \"list\"?"),
        ("[rules]\n\"key.length\" = \"musst\"", 2, "did you mean \"must\"?"),
        ("[rules.\"key.length\"]\nmaxx = 5", 2, "did you mean \"max\"?"),
        ("[rules.\"key.length\"]\nfix = \"at most {maxx}\"", 2, "did you mean \"max\"?"),
        ("[rules.\"value.sensitive\"]\nkinds = [\"emial\"]", 1, "did you mean email?"),
    ] {
        let message = mistake(text);
        assert!(message.contains(word) && message.contains(&format!("team.toml:{line}:")), "{message}");
    }
}

#[test]
fn what_says_nothing_is_refused_with_a_remedy() {
    for (text, line, word) in [
        ("name = \" \"", 1, "leave it out"),
        ("document = 5", 1, "a string in quotes"),
        ("[[ttl_class]]\nname = \"\"", 2, "give the class a name"),
        ("[[ttl_class]]\nname = \"a\"\ntypes = []", 3, "leave it out for all"),
        ("[[ttl_class]]\nname = \"a\"\nmax = \"0s\"", 3, "for no limit"),
        ("[[ttl_class]]\nname = \"a\"\nbudget = \"0\"", 3, "\"budget\" is 0"),
        ("[[dictionary]]\npattern = \"a:b\"\nbudget = \"0KB\"", 3, "\"budget\" is 0"),
        ("[[budget]]\npattern = \"a:b\"\nmemory = 0", 3, "\"memory\" is 0"),
        ("[[exempt]]\npattern = \"a:b\"\nreason = \"x\"\nrules = []", 4, "exempt the keys from all"),
        ("[rules.\"value.sensitive\"]\nkinds = []", 1, "for all kinds"),
        ("[rules.\"key.charset\"]\nchars = [\"[a-z\"]", 1, "no brackets around it"),
    ] {
        let message = mistake(text);
        assert!(message.contains(word) && message.contains(&format!("team.toml:{line}:")), "{message}");
    }
}

#[test]
fn braces_in_a_remedy_are_parameters_or_parts_of_a_key() {
    let fix = |text: &str| read_text(&format!("[rules.\"key.length\"]\nfix = {text:?}\n")).map(|_| ());
    for text in [
        "at most {max}",
        "name it `user:{userid}`, `{tag}` too",
        "user:{int}:x or {user}:x",
        "{}",
        "{Max} {1}",
        "a ` {max}",
    ] {
        assert!(fix(text).is_ok(), "{text}");
    }
    for text in ["at most {limit}", "{length}, say", "`{int}` is {maximum}", "a ` {limit}"] {
        assert!(fix(text).unwrap_err().to_string().contains("is no parameter of key.length"), "{text}");
    }
    let none = mistake("[rules.\"key.prefix\"]\nfix = \"{max}\"\n");
    assert!(none.contains("the rule has no parameters"), "{none}");
}

/// Returns the passage of each limit of a rule.
fn cited(text: &str, rule: &str) -> Vec<Option<Passage>> {
    let policy = read_text(text).unwrap();
    policy.settings.into_iter().filter(|setting| setting.rule.meta.id == rule).map(|setting| setting.source).collect()
}

#[test]
fn the_passage_of_the_preset_stays_until_the_file_cites_its_own() {
    let preset = cited("extends = \"service\"\n", "key.length");
    assert!(preset[0].as_ref().is_some_and(|passage| passage.document.is_some() && passage.chapter.is_some()));
    let changed = |table: &str| cited(&format!("extends = \"service\"\n[rules]\n{table}\n"), "key.length");
    assert_eq!(changed("\"key.length\" = \"hint\""), preset);
    assert_eq!(changed("[rules.\"key.length\"]\nmax = 64"), preset);
    assert_eq!(
        changed(
            "[[rules.\"key.length\"]]\nseverity = \"hint\"\nmax = 64\n[[rules.\"key.length\"]]\nseverity = \"must\""
        ),
        [preset[0].clone(), preset[0].clone(),]
    );
    assert_eq!(changed("[rules.\"key.length\"]\nquote = \"\""), [None]);
}

#[test]
fn a_file_cites_its_own_document() {
    let own = |document: &str, table: &str| {
        cited(&format!("{document}extends = \"service\"\n[rules.\"key.length\"]\n{table}\n"), "key.length").remove(0)
    };
    let passage = |document: Option<&str>, chapter: Option<&str>, quote: Option<&str>| {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Some(Passage { document: owned(document), chapter: owned(chapter), quote: owned(quote) })
    };
    assert_eq!(own("", "source = \"§ 3\""), passage(None, Some("§ 3"), None));
    assert_eq!(own("document = \"wiki\"\n", "quote = \"short\""), passage(Some("wiki"), None, Some("short")));
    let other = "document = \"RFC 7\"\nsource = \"1\"\nquote = \"x\"";
    assert_eq!(own("document = \"wiki\"\n", other), passage(Some("RFC 7"), Some("1"), Some("x")));
}

#[test]
fn no_parameter_of_a_rule_is_named_like_a_common_key() {
    let params = crate::policy::registry::RULES.iter().flat_map(|rule| rule.meta.params);
    assert!(params.into_iter().all(|param| !rules::COMMON.contains(&param.name)));
}

#[test]
fn a_file_gives_a_remedy_of_its_own() {
    let fix = |table: &str| {
        let text =
            format!("extends = \"service\"\n[[rules.\"big.string\"]]\nseverity = \"should\"\nmax = \"2KB\"\n{table}\n");
        let setting =
            read_text(&text).unwrap().settings.into_iter().find(|it| it.rule.meta.id == "big.string").unwrap();
        let texts = crate::policy::wording::RuleWording::in_force(&setting);
        (texts.fix.en, texts.fix.zh)
    };
    let usual = fix("");
    assert!(!usual.0.is_empty() && usual.0 != usual.1);
    assert_eq!(fix("fix = \"keep it below {max}\""), ("keep it below 2 KiB".into(), "keep it below 2 KiB".into()));
    assert_eq!(fix("fix_zh = \"不超过 {max}\""), ("不超过 2 KiB".into(), "不超过 2 KiB".into()));
    assert_eq!(fix("fix = \"a max\"\nfix_zh = \"max\""), ("a max".into(), "max".into()));
    assert_eq!(fix("fix = \" \""), usual);
}

#[test]
fn declared_limits_enable_their_rules() {
    let enabled = |text: &str| {
        let policy = read_text(text).unwrap();
        policy.settings.iter().map(|setting| (setting.rule.meta.id, setting.severity)).collect::<Vec<_>>()
    };
    let class = "[[ttl_class]]\nname = \"s\"\npatterns = [\"s:*\"]\n";
    let budget = "[[budget]]\npattern = \"a:*\"\nmemory = \"1MB\"\n";
    let expected = "[[expected]]\npattern = \"a:*\"\ntypes = \"hash\"\n";
    let entry = "[[dictionary]]\npattern = \"a:*\"\nowner = \"team\"\n";
    assert_eq!(enabled(&[class, entry].concat()), []);
    assert_eq!(enabled(&format!("{class}max = \"1d\"\n")), [("ttl.too-long", Severity::Should)]);
    for budget in [budget, &format!("{class}budget = \"1MB\"\n"), &format!("{entry}budget = \"1MB\"\n")] {
        assert_eq!(enabled(budget), [("memory.budget", Severity::Must)]);
    }
    assert_eq!(enabled(expected), [("type.expected", Severity::Should)]);
    // What the file says itself goes before.
    assert_eq!(enabled(&format!("rules = {{ \"memory.budget\" = \"off\" }}\n{budget}")), []);
    let hint = format!("rules = {{ \"memory.budget\" = \"hint\" }}\n{budget}");
    assert_eq!(enabled(&hint), [("memory.budget", Severity::Hint)]);
    // Declarations of a preset enable no rule that the preset leaves out.
    let service = enabled("extends = \"service\"\n[rules]\n\"type.expected\" = \"off\"\n");
    assert!(service.iter().all(|(id, _)| *id != "type.expected"));
}

#[test]
fn words_that_no_segment_can_be_are_refused() {
    for (rule, param, word) in [
        ("ttl.lock-missing", "prefixes", "lock:"),
        ("ttl.lock-missing", "prefixes", "lock:*"),
        ("value.lock-token", "prefixes", " lock"),
        ("ttl.null-marker", "except", "null:"),
        ("instance.mixed", "prefixes", "cache:"),
        ("type.set-as-counter", "words", "day_uv"),
        ("value.sensitive", "names", "db_pass"),
    ] {
        let text = format!("[rules.{rule:?}]\n{param} = [{word:?}]\n");
        let error = mistake(&text);
        assert!(error.contains("cannot be a") && error.contains(word), "{rule}: {error}");
    }
}

#[test]
fn a_long_policy_is_read_in_linear_time() {
    // Letters only: digits would be ids.
    let name =
        |number: usize| (0..4).map(|at| char::from(b"abcdefghijklmnop"[number >> (4 * at) & 15])).collect::<String>();
    let class = |name: &str| format!("[[ttl_class]]\nname = \"{name}\"\npatterns = [\"shop:{name}:**\"]\n");
    let entry = |name: &str| format!("[[dictionary]]\npattern = \"shop:{name}:*\"\nttl = \"{name}\"\n");
    let text: String = (0..20_000).map(name).flat_map(|name| [class(&name), entry(&name)]).collect();
    let began = std::time::Instant::now();
    assert_eq!(read_text(&text).unwrap().entries.len(), 20_000);
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}
