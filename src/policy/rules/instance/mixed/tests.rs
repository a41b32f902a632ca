use super::*;
use crate::analyze::examples::empty_report;

fn report(first: &[(&str, u64, u64)]) -> Report {
    let mut report = empty_report();
    (report.totals.keys, report.totals.memory) = (1000, Bytes(1000));
    let segment = |&(segment, keys, memory): &(&str, u64, u64)| FirstSegment {
        segment: segment.to_owned(),
        weight: Weight { keys, memory: Bytes(memory) },
        ..FirstSegment::default()
    };
    report.prefixes.first = first.iter().map(segment).collect();
    report
}

fn rule() -> MixedRule {
    MixedRule {
        segments: 1,
        owners: 1,
        prefixes: [&INFRASTRUCTURE[..], &ENVIRONMENTS].concat().into_iter().map(str::to_owned).collect(),
        level: 1,
        share: 100,
    }
}

/// Returns a segment of a hundred keys with those that follow it.
fn segment(segment: &str, next: Vec<FirstSegment>) -> FirstSegment {
    FirstSegment {
        segment: segment.to_owned(),
        weight: Weight { keys: 100, memory: Bytes(100) },
        next,
        ..FirstSegment::default()
    }
}

fn leaf(name: &str) -> FirstSegment {
    segment(name, Vec::new())
}

fn names(rule: &MixedRule, first: &[FirstSegment]) -> Vec<String> {
    rule.businesses(first).iter().map(|one| one.name.clone().into_owned()).collect()
}

#[test]
fn behind_a_prefix_the_next_segment_is_the_business() {
    let mut report = report(&[("Cache", 300, 300), ("lock", 300, 300), ("order", 300, 300)]);
    let next = |segment: &str, keys| FirstSegment {
        segment: segment.to_owned(),
        weight: Weight { keys, memory: Bytes(keys) },
        ..FirstSegment::default()
    };
    report.prefixes.first[0].next = vec![next("order", 200)];
    report.prefixes.first[1].next = vec![next("order", 300)];
    assert!(rule().judge(&report, &Context::default()).is_empty());
    report.prefixes.first[0].next.push(next("user", 100));
    let [breach] = &rule().judge(&report, &Context::default())[..] else { panic!() };
    let DetailValue::Parts(parts) = &breach.details["segments"].value else { panic!("{breach:?}") };
    let parts: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.keys)).collect();
    assert_eq!(parts, [("order", Some(800)), ("user", Some(100))]);
}

#[test]
fn environments_and_systems_are_no_businesses() {
    let cache = segment("cache", vec![leaf("order")]);
    let first = vec![segment("prod", vec![leaf("user"), cache]), segment("TEST", vec![leaf("user")])];
    assert_eq!(names(&rule(), &first), ["order", "user"]);
    let system = segment("acme", vec![leaf("pay"), segment("cache", vec![leaf("user")])]);
    let first = vec![segment("prod", vec![system])];
    assert_eq!(names(&rule(), &first), ["acme"]);
    assert_eq!(names(&MixedRule { level: 2, ..rule() }, &first), ["pay", "user"]);
}

#[test]
fn libraries_are_no_businesses() {
    let libraries = ["satoken", "SATOKEN", "bull", "rq", "celery", "jetcache", "shiro", "sidekiq", "asynq"];
    let mut first = libraries.map(leaf).to_vec();
    first.extend([segment("spring", vec![leaf("session")]), segment("prod", vec![leaf("bull"), leaf("user")])]);
    assert_eq!(names(&rule(), &first), ["user"]);
    let spring = segment("spring", vec![leaf("session"), leaf("sale")]);
    assert_eq!(names(&rule(), &[leaf("bulls"), leaf("order"), spring]), ["bulls", "order", "spring"]);
}

#[test]
fn purposes_are_no_businesses() {
    let first =
        ["login_tokens", "captcha_codes", "sys_config", "dict", "repeat_submit", "rate_limit", "user"].map(leaf);
    assert_eq!(names(&rule(), &first), ["user"]);
    // What follows them is part of the purpose.
    let first = [segment("config", vec![leaf("item")]), segment("cache", vec![leaf("token"), leaf("order")])];
    assert_eq!(names(&rule(), &first), ["order"]);
    let system = [segment("auth", vec![leaf("grant"), leaf("captcha")])];
    assert_eq!(names(&MixedRule { level: 2, ..rule() }, &system), ["grant"]);
}

#[test]
fn businesses_among_names_that_are_not_told_apart_are_not_denied() {
    let lacks = |rule: &MixedRule, report: &Report| {
        rule.needs(&Known { report: Some(report), ..Known::before(&Context::default()) })
    };
    let crowded = |keys| Weight { keys, memory: Bytes(keys) };
    let mut of_all = report(&[]);
    of_all.prefixes.crowded = crowded(100);
    assert_eq!(lacks(&rule(), &of_all), Some(Need::DistinctNames));
    of_all.prefixes.crowded = crowded(99);
    assert_eq!(lacks(&rule(), &of_all), None);
    let mut behind = report(&[("cache", 500, 500), ("acme", 500, 500)]);
    behind.prefixes.first[1].crowded = crowded(400);
    assert_eq!(lacks(&rule(), &behind), None);
    assert_eq!(lacks(&MixedRule { level: 2, ..rule() }, &behind), Some(Need::DistinctNames));
    behind.prefixes.first[0].crowded = crowded(100);
    assert_eq!(lacks(&rule(), &behind), Some(Need::DistinctNames));
}

#[test]
fn a_mix_of_many_is_found() {
    let mixed = MixedRule { segments: 5, share: 50, ..rule() };
    let names: Vec<String> = (0..100).map(|n| format!("b{}x", char::from_u32(0x4e00 + n).unwrap())).collect();
    let found = |sizes: &[u64]| {
        let first: Vec<_> = names.iter().zip(sizes).map(|(name, size)| (name.as_str(), *size, *size)).collect();
        mixed.judge(&report(&first), &Context::default()).first().and_then(|breach| breach.measured)
    };
    assert_eq!([found(&[50; 20]), found(&[47; 21]), found(&[10; 100])], [Some(20), Some(21), Some(100)]);
    assert_eq!(found(&[&[100; 4][..], &[20; 30]].concat()), Some(34));
    // One business with less besides, and stray keys.
    assert_eq!(found(&[&[600; 1][..], &[20; 20]].concat()), None);
    assert_eq!(found(&[&[100; 5][..], &[4; 95]].concat()), None);
}

#[test]
fn numbered_parts_are_one_business_if_the_same_follows() {
    let segment = |name: &str, next: &[&str]| {
        let next = next.iter().map(|next| FirstSegment { segment: (*next).to_owned(), ..FirstSegment::default() });
        segment(name, next.collect())
    };
    let names = |first: Vec<FirstSegment>| -> Vec<String> {
        rule().businesses(&first).into_iter().map(|one| format!("{} {}", one.name, one.weight.keys)).collect()
    };
    let zones = ["s0", "s1", "s10", "s7"].map(|name| segment(name, &["guild", "role"]));
    assert_eq!(names(zones.to_vec()), ["s* 400"]);
    assert_eq!(names(vec![segment("v1", &[]), segment("v2", &[])]), ["v* 200"]);
    assert_eq!(names(vec![segment("shard_1", &["a", "b"]), segment("shard_2", &["a", "c"])]), ["shard* 200"]);
    assert_eq!(names(vec![segment("app1", &["cart"]), segment("app2", &["film"])]), ["app1 100", "app2 100"]);
    assert_eq!(names(vec![segment("s", &["a"]), segment("s1", &["a"])]), ["s 100", "s1 100"]);
    let environments = vec![segment("prod1", &["order"]), segment("prod2", &["order"])];
    assert_eq!(names(environments), ["order 0"]);
}

#[test]
fn the_level_has_bounds() {
    let built = |level| {
        let mut params = Params::defaults(META.params);
        params.set("level", crate::policy::params::ParamValue::Number(level));
        build(&params)
    };
    assert!(built(1).is_ok() && built(3).is_ok() && built(0).is_err() && built(4).is_err());
}

#[test]
fn a_business_counts_by_memory_or_by_keys() {
    let mixed = rule();
    let judge = |first: &[(&str, u64, u64)]| mixed.judge(&report(first), &Context::default());
    let [breach] = &judge(&[("a", 1, 800), ("b", 900, 10), ("c", 99, 99)])[..] else { panic!() };
    assert_eq!((breach.measured, breach.keys, breach.memory), (Some(2), 901, Bytes(810)));
    let DetailValue::Parts(parts) = &breach.details["segments"].value else { panic!("{breach:?}") };
    assert_eq!(parts[0].name, "a");
    assert!(judge(&[("a", 1, 800), ("c", 99, 99)]).is_empty() && judge(&[]).is_empty());
}
