use super::*;
use crate::report::Weight;

fn sums(kind: Kind, keys: u64, names: u64, content: u64) -> PatternSums {
    let mut kinds = [0; Kind::ALL.len()];
    kinds[kind as usize] = keys;
    PatternSums {
        keys,
        memory: Bytes(keys),
        name_bytes: Bytes(names),
        content: Bytes(content),
        without_ttl: Weight::default(),
        last_expiry: None,
        kinds,
        example: None,
    }
}

fn node<'a>(text: &str, segment: &'a str, parent: Option<usize>, facts: Option<PatternSums>) -> PatternNode<'a> {
    PatternNode {
        text: text.into(),
        segment,
        varies: segment.starts_with('{'),
        parent,
        facts,
        expiries: None,
        ids: None,
        secrets: None,
        tokens: None,
    }
}

fn judge(sums: PatternSums) -> Vec<Breach> {
    let nodes = vec![
        node("user:", "user", None, None),
        node("user:{int}:", "{int}", Some(0), None),
        node("user:{int}:ä_b{int}:", "ä_b{int}", Some(1), None),
        node("user:{int}:ä_b{int}:näme", "näme", Some(2), Some(sums)),
    ];
    NameCost { keys: 1000, share: 500 }.judge(&Forest { nodes, ..Forest::default() }, &Context::default())
}

/// Returns the suggested names of patterns, one line each, `-` for none. A name in brackets has a tag.
fn suggested(preset: &str, names: &[&str]) -> Vec<String> {
    suggested_by(&format!("extends = \"{preset}\"\n"), names)
}

fn suggested_by(policy: &str, names: &[&str]) -> Vec<String> {
    let mut nodes: Vec<PatternNode<'_>> = Vec::new();
    for name in names {
        let is_tagged = name.starts_with('[');
        let name = name.trim_matches(['[', ']']);
        let (mut parent, mut start) = (None, 0);
        for segment in name.split(':') {
            let end = (start + segment.len() + 1).min(name.len());
            let text = &name[..end];
            let known = nodes.iter().position(|node| node.text == text);
            if known.is_none() {
                nodes.push(node(text, segment, parent, None));
            }
            (parent, start) = (known.or(Some(nodes.len() - 1)), end);
        }
        let key = if is_tagged { format!("{{{name}}}") } else { name.replace("{int}", "7") };
        let key = crate::report::Key::from(key.as_bytes());
        let mut facts = sums(Kind::String, 1000, 20_000, 5_000);
        facts.example = Some(crate::report::Example { db: 0, key, memory: None });
        nodes[parent.unwrap()].facts = Some(facts);
    }
    let forest = Forest { nodes, ..Forest::default() };
    let classifier = Classifier::default();
    let checks = crate::policy::testing::checks(policy);
    let rule = NameCost { keys: 1000, share: 500 };
    let mut found = rule.judge(&forest, &checks.context);
    rule.complete(&mut found, &forest, &checks, &classifier);
    let of = |name: &&str| {
        let name = name.trim_matches(['[', ']']);
        let Some(breach) = found.iter().find(|breach| breach.pattern.as_deref() == Some(name)) else {
            assert!(name.split(':').all(|segment| segment.len() <= 3 || segment == "{int}"), "{name}");
            return "-".to_owned();
        };
        match breach.details.get("shortened").map(|detail| &detail.value) {
            Some(DetailValue::Pattern(short)) => {
                assert_eq!(breach.saves, Some(Bytes(1000 * (name.len() - short.len()) as u64)), "{name}");
                short.clone()
            }
            _ => {
                assert_eq!(breach.saves, None, "{name}");
                "-".to_owned()
            }
        }
    };
    names.iter().map(of).collect()
}

#[test]
fn suggestions_keep_what_each_segment_means() {
    for preset in ["default", "service", "hzero", "platform", "strict", "aliyun"] {
        for (name, short) in [
            ("user:basic.information:{int}:string", "user:basic.info:{int}:string"),
            ("user:{int}:friends:messages:{int}", "user:{int}:friends:msgs:{int}"),
            ("cache:user:information:{int}", "cache:user:info:{int}"),
            ("lock:task:processing:{int}", "lock:task:proc:{int}"),
            ("hpfm:lov:description:{int}", "hpfm:lov:desc:{int}"),
            ("session:token:{int}", "-"),
            ("message:information:messages:{int}", "message:information:msgs:{int}"),
            ("prod:cache:message:{int}", "-"),
            ("counter:api:rate:user:{int}", "-"),
            ("messages:{int}", "-"),
            ("u:{int}:f:m:x", "-"),
            ("用户:资料:昵称:{int}", "-"),
            ("[user:profile:{int}:message:count]", "-"),
        ] {
            assert_eq!(suggested(preset, &[name]), [short], "{preset}: {name}");
        }
    }
}

#[test]
fn suggestions_stay_distinct() {
    let collide = ["user:follow:list:{int}", "user:folder:limit:{int}", "usage:follow:list:{int}"];
    assert_eq!(suggested("hzero", &collide), ["-", "-", "-"]);
    // Another segment has the abbreviation; it stands for two segments; unknown names may have it.
    for other in ["user:{int}:msgs:x", "user:msgs:{int}", "user:{int}:{*}", "user:{*}:messages"] {
        let expected = if other == "user:{*}:messages" { "user:{int}:msgs" } else { "-" };
        assert_eq!(suggested("hzero", &["user:{int}:messages", other])[0], expected, "{other}");
    }
    let plain = suggested("hzero", &["user:{int}:messages", "shop:{int}:msgs", "user:{int}:a:messages:x"]);
    assert_eq!(plain, ["user:{int}:msgs", "-", "user:{int}:a:msgs:x"]);
}

#[test]
fn suggestions_match_the_same_patterns_of_the_policy() {
    let name = "user:{int}:friends:messages";
    for (list, short) in [
        ("[[dictionary]]\npattern = \"user:{int}:friends:messages\"\n", "-"),
        ("[[dictionary]]\npattern = \"user:{int}:friends:msgs\"\n", "-"),
        ("[[dictionary]]\npattern = \"user:{int}:friends:*\"\n", "user:{int}:friends:msgs"),
        ("[[ttl_class]]\nname = \"long\"\npatterns = [\"**:messages\"]\n", "-"),
        ("[[expected]]\npattern = \"**:msgs\"\ntypes = [\"list\"]\n", "-"),
        ("[[budget]]\npattern = \"user:**\"\nmemory = \"1GB\"\n", "user:{int}:friends:msgs"),
        ("[[exempt]]\npattern = \"user:{int}:friends:messages\"\nrules = [\"ttl.missing\"]\nreason = \"-\"\n", "-"),
    ] {
        assert_eq!(suggested_by(&format!("extends = \"hzero\"\n{list}"), &[name]), [short], "{list}");
    }
}

#[test]
fn strings_count_by_length_and_collections_by_their_bytes_in_the_dump() {
    assert!(judge(sums(Kind::String, 1000, 20_000, 20_000)).is_empty());
    assert_eq!(judge(sums(Kind::String, 1000, 20_001, 20_000)).len(), 1);
    assert!(judge(sums(Kind::Hash, 1000, 20_000, 20_000)).is_empty());
    assert_eq!(judge(sums(Kind::Hash, 1000, 20_000, 19_999)).len(), 1);
    assert_eq!(judge(sums(Kind::String, 1000, 30_000, 10_000))[0].measured, Some(750));
}

#[test]
fn patterns_behind_a_crowded_first_level_are_left_out_and_others_say_that_they_are_several() {
    let costly = || Some(sums(Kind::String, 1000, 20_000, 5_000));
    let merged = |nodes| {
        let found =
            NameCost { keys: 1000, share: 500 }.judge(&Forest { nodes, ..Forest::default() }, &Context::default());
        found.iter().map(|breach| breach.details.contains_key("merged")).collect::<Vec<bool>>()
    };
    let behind = vec![node("{*}:", "{*}", None, None), node("{*}:clicks", "clicks", Some(0), costly())];
    assert!(merged(behind).is_empty());
    assert_eq!(merged(vec![node("{*}", "{*}", None, costly())]), [true]);
    assert_eq!(merged(vec![node("a:", "a", None, None), node("a:{*}", "{*}", Some(0), costly())]), [true]);
    let plain = |name: &'static str, pattern: &'static str| {
        merged(vec![
            node(pattern.split_inclusive(':').next().unwrap(), name, None, None),
            node(pattern, "{int}", Some(0), costly()),
        ])
    };
    assert_eq!(plain("news", "news:{int}"), [false]);
    assert!(plain("h", "h:{int}").is_empty(), "nothing can be abbreviated");

    let mut report = crate::analyze::examples::empty_report();
    report.prefixes.crowded.keys = 1000;
    let context = Context::default();
    let known = Known { report: Some(&report), ..Known::before(&context) };
    assert_eq!(NameCost { keys: 1000, share: 500 }.needs(&known), Some(Need::DistinctNames));
}

#[test]
fn few_keys_may_have_long_names() {
    assert!(judge(sums(Kind::String, 999, 20_000, 0)).is_empty());
}

#[test]
fn saturated_sums_do_not_overflow() {
    assert_eq!(judge(sums(Kind::String, u64::MAX, u64::MAX, u64::MAX - 1)).len(), 1);
}
