use super::*;
use crate::pattern::PatternBuf;

fn pattern(text: &str) -> Result<PolicyPattern, String> {
    PolicyPattern::parse(text, b":", &Classifier::default())
}

fn matches(patterns: &[&'static str], key: &str) -> Vec<&'static str> {
    let mut matcher = Matcher::default();
    patterns.iter().for_each(|text| matcher.add(&pattern(text).unwrap(), *text));
    let (classifier, mut buf) = (Classifier::default(), PatternBuf::default());
    let (mut found, mut found_by_pattern) = (Vec::new(), Vec::new());
    matcher.find(&classifier.read(key.as_bytes(), &mut buf), &mut found);
    classifier.classify(key.as_bytes(), &mut buf);
    matcher.find(&KeyName::from(&buf), &mut found_by_pattern);
    assert_eq!(found, found_by_pattern, "{key}");
    found
}

#[test]
fn keys_match_by_their_own_pattern() {
    let patterns = ["user:{int}:name", "user:*:name", "user:{*}:name", "user:**", "user:{uuid}:name", "job_{int}:x"];
    assert_eq!(matches(&patterns, "user:1001:name"), ["user:**", "user:{int}:name", "user:*:name"]);
    assert_eq!(matches(&patterns, "{user:1001}:name"), ["user:**", "user:{int}:name", "user:*:name"]);
    assert_eq!(matches(&patterns, "user:ann:name"), ["user:**", "user:{*}:name", "user:*:name"]);
    assert_eq!(matches(&patterns, "job_12345:x"), ["job_{int}:x"]);
    assert_eq!(matches(&patterns, "user"), [""; 0]);
    assert_eq!(matches(&["**"], "anything:1"), ["**"]);
    assert_eq!(matches(&["**"], "anything"), ["**"]);
    assert_eq!(matches(&["**", "**:cache:**"], "shop:cache:1"), ["**:cache:**", "**"]);
    assert_eq!(matches(&["**", "**:cache:**"], "shop:cart"), ["**"]);
    assert_eq!(matches(&["user:{userid}"], "user:ab"), ["user:{userid}"]);
}

#[test]
fn ids_that_look_like_those_of_a_narrower_class_match_the_wider_one() {
    let patterns = ["user:{int}:name", "sess:{hex}", "job_{int}"];
    for (key, pattern) in [
        ("user:200101:name", "user:{int}:name"),
        ("user:20991231:name", "user:{int}:name"),
        ("sess:01234567", "sess:{hex}"),
        ("sess:20240131", "sess:{hex}"),
        ("sess:0123abcd", "sess:{hex}"),
        ("job_200101", "job_{int}"),
    ] {
        assert_eq!(matches(&patterns, key), [pattern], "{key}");
    }
    for key in ["user:0123abcd:name", "job_0123abcd", "sess:alice", "jobs_200101"] {
        assert_eq!(matches(&patterns, key), [""; 0], "{key}");
    }
    let within = ["order-{int}-{date}", "token_{hex}", "**:job_{hex}:**"];
    for (key, pattern) in [
        ("order-200007-20260101", "order-{int}-{date}"),
        ("order-17-20260101", "order-{int}-{date}"),
        ("token_01234567", "token_{hex}"),
        ("token_20240131", "token_{hex}"),
        ("token_0123abcd", "token_{hex}"),
        ("a:job_01234567:x", "**:job_{hex}:**"),
    ] {
        assert_eq!(matches(&within, key), [pattern], "{key}");
    }
    assert_eq!(matches(&within, "order-20260101-17"), [""; 0], "an integer is no date");
    let both = ["rank:{int}", "rank:{date}", "rank:{hex}", "top_{int}", "top_{date}"];
    assert_eq!(matches(&both, "rank:20240131")[0], "rank:{date}");
    assert_eq!(matches(&both, "rank:77")[0], "rank:{int}");
    assert_eq!(matches(&both, "top_20240131")[0], "top_{date}");
}

#[test]
fn a_number_in_a_name_may_be_short() {
    let patterns = ["usr:u{int}", "api:v{int}:*", "api:v2:*", "day-{int}-of-{int}"];
    for (key, expected) in [
        ("usr:u7", &["usr:u{int}"][..]),
        ("usr:u1001", &["usr:u{int}"]),
        ("api:v3:x", &["api:v{int}:*"]),
        ("api:v2:x", &["api:v2:*", "api:v{int}:*"]),
        ("day-7-of-31", &["day-{int}-of-{int}"]),
        ("usr:u", &[]),
        ("usr:7u", &[]),
        ("usr:u7a", &[]),
    ] {
        assert_eq!(matches(&patterns, key), expected, "{key}");
    }
}

#[test]
fn braces_of_a_name_are_written_as_reports_print_them() {
    for (key, text) in [("x{a:b}:c}", "xa:b:c}}"), ("user:{}:7", "user:{{}}:{int}"), ("a{b:20", "a{{b:{int}")] {
        assert_eq!(Classifier::default().pattern_text(key.as_bytes()), text);
        assert_eq!(matches(&[text], key), [text], "{key}");
    }
    for wrong in ["c}", "a{b", "{x}y", "{a}{b}"] {
        assert!(pattern(wrong).unwrap_err().contains("{{"), "{wrong}");
    }
}

#[test]
fn a_leading_double_star_matches_any_number_of_segments() {
    let patterns = ["**:lock:**", "**:config", "lock:**", "**:{int}:job", "**:*:x:y"];
    assert_eq!(matches(&patterns, "lock:a"), ["lock:**", "**:lock:**"]);
    assert_eq!(matches(&patterns, "shop:lock:order:7"), ["**:lock:**"]);
    assert_eq!(matches(&patterns, "{shop:1}:lock:7"), ["**:lock:**"]);
    assert_eq!(matches(&patterns, "shop:config"), ["**:config"]);
    assert_eq!(matches(&patterns, "config"), ["**:config"]);
    assert_eq!(matches(&patterns, "a:b:7:job"), ["**:{int}:job"]);
    assert_eq!(matches(&patterns, "a:b:x:y"), ["**:*:x:y"]);
    for none in ["shop:lock", "shop:config:a", "blocks:a", "7:job:a", "shop:lock:", "x:y", "", "a::b"] {
        let found = matches(&patterns, none);
        assert_eq!(found.is_empty(), none != "shop:lock:", "{none}: {found:?}");
    }
}

#[test]
fn the_leftmost_match_comes_first() {
    let patterns = ["**:lock:**", "**:cache:**", "shop:*:lock:*"];
    assert_eq!(matches(&patterns, "shop:cache:lock:1"), ["shop:*:lock:*", "**:cache:**", "**:lock:**"]);
    assert_eq!(matches(&patterns, "lock:cache:a"), ["**:lock:**", "**:cache:**"]);
    assert_eq!(matches(&patterns, "lock:lock:a"), ["**:lock:**", "**:lock:**"]);
}

proptest::proptest! {
    /// Twin of the tree: all ways to align a pattern with the segments of a name.
    #[test]
    fn the_tree_finds_what_trying_all_alignments_finds(
        patterns in proptest::collection::vec(r"(\*\*:)?(a|b|\*)(:(a|b|\*|\{int\})){0,2}(:\*\*)?", 1..6),
        key in "(a|b|7|c)(:(a|b|7|c)){0,5}",
    ) {
        let parsed: Vec<_> = patterns.iter().map(|text| pattern(text).unwrap()).collect();
        let mut matcher = Matcher::default();
        parsed.iter().enumerate().for_each(|(place, pattern)| matcher.add(pattern, place));
        let (classifier, mut buf, mut found) = (Classifier::default(), PatternBuf::default(), Vec::new());
        matcher.find(&classifier.read(key.as_bytes(), &mut buf), &mut found);
        found.sort_unstable();
        found.dedup();
        let is = |pattern: &str, segment: &str| {
            pattern == "*" || pattern == segment || pattern == "{int}" && segment == "7"
        };
        let segments: Vec<_> = key.split(':').collect();
        let fits = |text: &str| {
            let (inner, floating) = text.strip_prefix("**:").map_or((text, false), |inner| (inner, true));
            let (inner, open) = inner.strip_suffix(":**").map_or((inner, false), |inner| (inner, true));
            let inner: Vec<_> = inner.split(':').collect();
            let starts = if floating { segments.len() } else { 1 };
            (0..starts).any(|start| {
                let rest = &segments[start..];
                let length = if open { rest.len() > inner.len() } else { rest.len() == inner.len() };
                length && inner.iter().zip(rest).all(|(pattern, segment)| is(pattern, segment))
            })
        };
        let expected: Vec<_> = (0..patterns.len()).filter(|&place| fits(&patterns[place])).collect();
        proptest::prop_assert_eq!(found, expected);
    }
}

#[test]
fn patterns_that_cannot_match_are_rejected_with_a_remedy() {
    assert!(pattern("user:12345").unwrap_err().ends_with("write `{int}`"));
    assert!(pattern("a:**:b").unwrap_err().contains("only at the beginning and at the end"));
    assert!(pattern("**:**").unwrap_err().contains("twice") && pattern("**:**:a").unwrap_err().contains("twice"));
    assert!(pattern("user*:b").is_err() && pattern("").is_err() && pattern("user_{x}y").is_err());
}

#[test]
fn two_patterns_overlap_when_one_key_could_match_both() {
    let overlap = |one: &str, other: &str| {
        let (one, other) = (pattern(one).unwrap(), pattern(other).unwrap());
        assert_eq!(one.overlaps(&other), other.overlaps(&one));
        one.overlaps(&other)
    };
    assert!(overlap("user:{int}", "user:*") && overlap("user:**", "user:a:b") && overlap("a:{*}", "a:b"));
    assert!(overlap("**", "a") && overlap("a:{x}:c", "a:b:*"));
    assert!(!overlap("user:{int}", "user:{uuid}") && !overlap("user:{int}", "user:{*}"));
    assert!(overlap("**:a:**", "**:a:b") && overlap("**:*:b", "**:a:**"));
    assert!(!overlap("**:a:**", "a:**") && !overlap("**:a:**", "**:b:**") && !overlap("**:a:**", "**:a"));
    let share = |one: &str, other: &str| pattern(one).unwrap().may_share(&pattern(other).unwrap());
    assert!(share("**:lock:**", "shop:lock:{int}") && share("shop:lock:{int}", "**:lock:**") && share("a:*", "a:b"));
    assert!(!share("**:lock:**", "shop:lock") && !share("**:lock", "lock:a") && !share("a:b", "a:c"));
    assert!(!overlap("user:**", "user") && !overlap("a:b", "a:b:c") && !overlap("a:b", "a:c"));
}

#[test]
fn overlaps_are_those_of_each_pair() {
    let segments = ["a", "b", "{int}", "{*}", "*", "x_{int}"];
    let mut texts = Vec::new();
    for one in segments {
        texts.extend([one.to_owned(), format!("{one}:**"), format!("**:{one}")]);
        for other in segments {
            texts.extend([format!("{one}:{other}"), format!("**:{one}:{other}:**"), format!("{one}:{other}:**")]);
        }
    }
    let patterns: Vec<_> = texts.iter().map(|text| pattern(text).unwrap()).collect();
    // In several orders, since what was added before decides.
    for step in [1, 5, 7, 11] {
        let order: Vec<_> = (0..patterns.len()).map(|n| &patterns[n * step % patterns.len()]).collect();
        let mut apart = Apart::default();
        for (place, pattern) in order.iter().enumerate() {
            let expected = (0..place).find(|&other| order[other].overlaps(pattern));
            assert_eq!(apart.add(pattern, place), expected, "{}", pattern.text);
        }
    }
}
