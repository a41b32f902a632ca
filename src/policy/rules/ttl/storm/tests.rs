use super::*;
use crate::policy::evidence::MAX_EXPIRIES;
use crate::policy::params::ParamValue;
use crate::units::Bytes;

const NOW: u64 = 1_700_000_000;

fn storm() -> StormRule {
    StormRule { keys: 1_000, windows: windows(50, 100, 400), spread: 300, factor: 2 }
}

fn expiries(name: &str, left: impl Iterator<Item = u64>) -> Expiries {
    let mut expiries = Expiries::new(MAX_EXPIRIES);
    for (number, left) in left.enumerate() {
        let at = i64::try_from((NOW + left) * 1000).unwrap();
        expiries.add(format!("{name}:{number}").as_bytes(), Bytes(10), Millis(at));
    }
    expiries
}

/// Returns length of the window, keys in it, measured and allowed share.
fn judge(left: impl Iterator<Item = u64>) -> Option<(u64, u64, u64, u64)> {
    let breach = storm().of_pattern("page:{int}", &expiries("page", left), None, NOW)?;
    let value = |name: &str| breach.details[name].value.clone();
    let (DetailValue::Duration(window), DetailValue::Count(keys)) = (value("window"), value("in_window")) else {
        panic!("{breach:?}")
    };
    Some((window / 1000, keys, breach.measured?, breach.allowed?))
}

/// Pseudo-random numbers below `most`, the same in every run.
fn random(seed: u64, most: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % most
    })
}

const BASES: [u64; 9] = [60, 90, 120, 300, 600, 1_800, 3_600, 86_400, 7 * 86_400];

#[test]
fn batches_with_a_random_offset_of_five_minutes_pass() {
    for base in BASES {
        for keys in [1_000, 1_500, 5_000, 40_000] {
            for written_over in [1, 60, 300, 3_600] {
                let times = random(base + keys, 301).zip(random(7 + keys, written_over));
                let left = times.map(|(offset, later)| base + offset + later).take(usize::try_from(keys).unwrap());
                assert_eq!(judge(left), None, "{base} s, {keys} keys within {written_over} s");
            }
        }
    }
}

#[test]
fn several_batches_with_a_random_offset_pass_wherever_they_lie() {
    for seed in 1..60 {
        let starts: Vec<u64> = random(seed, 2_000).take(1 + usize::try_from(seed % 7).unwrap()).collect();
        let batch = |&start: &u64| random(seed + start, 301).map(move |offset| start + offset).take(1_000);
        let left: Vec<u64> = starts.iter().flat_map(batch).collect();
        assert_eq!(judge(left.into_iter()), None, "{starts:?}");
    }
}

#[test]
fn a_batch_that_is_half_over_passes() {
    for gone in [60, 150, 240, 290, 299] {
        let left = random(gone, 301).filter_map(|offset| offset.checked_sub(gone)).take(4_000);
        assert_eq!(judge(left), None, "{gone} s ago");
    }
}

#[test]
fn batches_without_an_offset_or_with_a_short_one_are_storms() {
    for base in BASES {
        for offset in [1, 2, 5, 10, 20, 30] {
            for keys in [1_000, 20_000] {
                let left = random(base + offset, offset).map(|offset| base + offset).take(keys);
                assert!(judge(left).is_some(), "{base} s + 0 to {offset} s, {keys} keys");
            }
        }
    }
    assert_eq!(judge((0..2_000).map(|_| 3_600)), Some((1, 2_000, 1_000, 50)));
    let (window, ..) = judge((0..20_000).map(|n| 3_600 + n % 60)).unwrap();
    assert!(window >= 30);
}

#[test]
fn a_storm_in_a_spread_out_pattern_is_found() {
    let (window, keys, ..) = judge((0..10_000).map(|n| if n % 3 == 0 { 7_200 } else { n * 8 })).unwrap();
    assert_eq!(window, 1);
    assert!((2_800..3_900).contains(&keys), "{keys}");
    let (window, ..) = judge((0..10_000).map(|n| if n % 2 == 0 { 7_200 + n % 60 } else { n * 8 })).unwrap();
    assert!(window >= 30);
    let (window, ..) = judge((0..40_000).map(|n| if n % 16 == 0 { 7_200 } else { n * 8 })).unwrap();
    assert_eq!(window, 1);
}

/// 5,000 keys expire on each whole minute of an hour.
#[test]
fn batches_on_whole_minutes_are_found() {
    for seed in 1..7 {
        let left = random(seed, 60).map(|minute| 3_600 + minute * 60).take(300_000);
        let (window, keys, ..) = judge(left).expect("a storm");
        assert_eq!(window, 1);
        assert!((4_000..7_500).contains(&keys), "{keys}");
    }
}

#[test]
fn a_uniform_distribution_is_no_storm_however_short() {
    for span in [2, 10, 60, 300, 1_800, 3_600, 86_400, 7 * 86_400] {
        assert_eq!(judge((0..20_000).map(|n| n * 7_919 % span)), None, "{span} s");
    }
    // Sliding expiries: most keys were used a moment ago.
    assert_eq!(judge((1..20_000u64).map(|n| 604_800 - (n * 7_919 % 20_000).pow(2) / 700)), None);
    // Heartbeats: refreshed every 10 s, 30 s to live.
    assert_eq!(judge((0..20_000).map(|n| 20 + n % 10)), None);
}

#[test]
fn few_keys_are_no_storm() {
    assert_eq!(judge((0..999).map(|_| 3_600)), None);
    assert!(judge((0..1_000).map(|_| 3_600)).is_some());
}

#[test]
fn keys_of_the_far_future_share_no_second() {
    assert_eq!(judge((0..2_000).map(|n| u64::from(u32::MAX) * (n + 1))), None);
    assert_eq!(judge((0..2_000).map(|_| u64::from(u32::MAX) - NOW - 1)).map(|found| found.0), Some(1));
}

#[test]
fn counts_beyond_the_sample_are_marked_as_estimates() {
    let mut rule = storm();
    rule.keys = 10;
    let judge = |rule: &StormRule, left: &mut dyn Iterator<Item = u64>| {
        rule.of_pattern("a", &expiries("a", left), None, NOW).unwrap()
    };
    let breach = judge(&rule, &mut (0..500).map(|n| if n < 100 { 900 } else { 1_000 * n }));
    assert_eq!((breach.measured, breach.keys), (Some(1_000), 500));
    assert_eq!(breach.details["expiring"].value, DetailValue::Count(500));
    assert_eq!(breach.details.get("sampled"), None);
    assert_eq!(
        (&breach.details["in_window"].value, &breach.details["start"].value),
        (&DetailValue::Count(100), &DetailValue::Time(Millis(1_700_000_900_000)))
    );
    let breach = judge(&rule, &mut (0..5_000).map(|_| 900));
    assert_eq!(breach.details["sampled"].value, DetailValue::Count(MAX_EXPIRIES as u64));
}

fn instance(patterns: &[(&str, Vec<u64>)]) -> Vec<Breach> {
    let samples: Vec<_> = patterns.iter().map(|(name, left)| expiries(name, left.iter().copied())).collect();
    let names: Vec<_> = patterns.iter().map(|(name, _)| *name).collect();
    judge_samples(&names, &samples, None).0
}

/// Judges these patterns with samples of at most `most` keys each. Returns whether storms may be missed, too.
fn sampled(patterns: &[(&str, Vec<u64>)], most: usize) -> (Vec<Breach>, bool) {
    let mut seconds = SecondCounts::new(Millis(i64::try_from(NOW * 1000).unwrap()));
    let all = patterns.iter().flat_map(|(_, left)| left);
    all.for_each(|left| seconds.add(Millis(i64::try_from((NOW + left) * 1000).unwrap())));
    seconds.settle();
    let sample = |(name, left): &(&str, Vec<u64>)| {
        let mut sample = expiries(name, left.iter().copied());
        sample.keep(most);
        sample
    };
    let samples: Vec<_> = patterns.iter().map(sample).collect();
    let names: Vec<_> = patterns.iter().map(|(name, _)| *name).collect();
    judge_samples(&names, &samples, Some(&seconds))
}

fn judge_samples(names: &[&str], samples: &[Expiries], seconds: Option<&SecondCounts>) -> (Vec<Breach>, bool) {
    let node = |(name, expiries): (&&str, _)| PatternNode {
        text: format!("{name}:{{int}}"),
        segment: "{int}",
        varies: true,
        parent: None,
        facts: None,
        expiries: Some(expiries),
        ids: None,
        secrets: None,
        tokens: None,
    };
    let nodes = names.iter().zip(samples).map(node).collect();
    let context = Context { reference: Some(Millis(i64::try_from(NOW * 1000).unwrap())).into(), ..Context::default() };
    let forest = Forest { nodes, seconds: seconds.map(std::borrow::Cow::Borrowed), ..Forest::default() };
    (storm().judge(&forest, &context), storm().undecided(&forest, &context).is_some())
}

const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

#[test]
fn many_small_patterns_make_a_storm_of_the_instance() {
    let mut patterns: Vec<_> = NAMES.iter().map(|&name| (name, vec![3_600; 500])).collect();
    patterns.push(("other", (0..50_000).map(|n| n * 7 % 86_400).collect()));
    let found = instance(&patterns);
    let [breach] = &found[..] else { panic!("{found:?}") };
    assert_eq!((breach.pattern.clone(), breach.keys), (None, 5_000));
    let DetailValue::Parts(parts) = &breach.details["patterns"].value else { panic!("{breach:?}") };
    assert_eq!((parts.len(), parts[0].name.as_str(), parts[0].keys), (10, "a:{int}", Some(500)));
}

#[test]
fn keys_of_a_pattern_with_a_finding_count_once() {
    let alone = instance(&[("a", vec![3_600; 5_000]), ("b", vec![3_600; 900])]);
    assert_eq!(alone.iter().map(|breach| breach.pattern.as_deref()).collect::<Vec<_>>(), [Some("a:{int}")]);
    let both = instance(&[("a", vec![3_600; 5_000]), ("b", vec![3_600; 900]), ("c", vec![3_600; 900])]);
    let keys: Vec<_> = both.iter().map(|breach| (breach.pattern.is_some(), breach.keys)).collect();
    assert_eq!(keys, [(true, 5_000), (false, 1_800)]);
}

#[test]
fn small_patterns_with_a_random_offset_pass() {
    let batch = |&name: &&'static str| {
        (name, random(u64::from(name.as_bytes()[0]), 301).map(|offset| 3_600 + offset).take(500).collect())
    };
    assert!(instance(&NAMES.iter().map(batch).collect::<Vec<_>>()).is_empty());
}

/// Returns keys that expire evenly over some hours, and `at_once` of them in one second.
fn with_peak(keys: u64, hours: u64, at_once: u64) -> Vec<u64> {
    let spread = random(keys + hours, hours * 3_600).map(|left| 600 + left).take(usize::try_from(keys).unwrap());
    spread.chain(std::iter::repeat_n(7_200, usize::try_from(at_once).unwrap())).collect()
}

#[test]
fn what_others_leave_of_all_keys_shows_the_storm_of_the_only_sampled_pattern() {
    let others: Vec<_> = NAMES.iter().map(|&name| (name, with_peak(30, 22, 0))).collect();
    for (keys, hours, at_once) in [(50_000, 22, 5_000), (200_000, 168, 1_000), (100_000, 24, 1_500)] {
        let patterns: Vec<_> = others.iter().cloned().chain([("page", with_peak(keys, hours, at_once))]).collect();
        let (found, _) = sampled(&patterns, 32);
        let [breach] = &found[..] else { panic!("{keys} {found:?}") };
        assert_eq!((breach.pattern.as_deref(), breach.keys), (Some("page:{int}"), keys + at_once));
        let DetailValue::Count(inside) = breach.details["in_window"].value else { panic!("{breach:?}") };
        assert!((at_once..at_once + 20).contains(&inside) && !breach.details.contains_key("sampled"), "{breach:?}");
    }
    let quiet: Vec<_> = others.into_iter().chain([("page", with_peak(100_000, 22, 0))]).collect();
    assert_eq!(sampled(&quiet, 32), (Vec::new(), false));
}

#[test]
fn the_instance_is_judged_by_all_keys_however_small_the_samples() {
    let patterns = [("page", with_peak(50_000, 168, 2_000)), ("user", with_peak(80_000, 168, 2_000))];
    let (found, _) = sampled(&patterns, 32);
    let [breach] = &found[..] else { panic!("{found:?}") };
    // Those of the patterns whose sample shows a key of the storm.
    assert!(breach.pattern.is_none() && [52_000, 82_000, 134_000].contains(&breach.keys), "{breach:?}");
    let DetailValue::Count(inside) = breach.details["in_window"].value else { panic!("{breach:?}") };
    assert!((4_000..4_020).contains(&inside), "{breach:?}");
}

#[test]
fn a_storm_that_samples_may_hide_is_undecided() {
    // 1,200 keys of one pattern are most of its keys around them, but not 5 % of those of the instance.
    let busy = with_peak(2_000_000, 11, 0);
    let (found, undecided) = sampled(&[("page", with_peak(50_000, 168, 1_200)), ("user", busy.clone())], 64);
    assert!(found.is_empty() && undecided, "{found:?}");
    let (found, undecided) = sampled(&[("page", with_peak(50_000, 168, 0)), ("user", busy)], 64);
    assert!(found.is_empty() && !undecided, "nothing stands out: {found:?}");
}

#[test]
fn a_spread_that_allows_everything_is_refused() {
    let built = |spread: u64, factor: u64| {
        let mut params = Params::defaults(META.params);
        params.set("spread", ParamValue::Number(spread));
        params.set("factor", ParamValue::Number(factor));
        build(&params)
    };
    for (spread, factor) in [(0, 2), (999, 1), (1_999, 1), (2_999, 2)] {
        assert!(built(spread, factor).is_err_and(|error| error.contains("spread")), "{spread} ms, {factor}");
    }
    // The least spread finds keys that all expire within a second.
    let expiring = expiries("page", (0..2_000).map(|_| 3_600));
    for factor in [1, 2, 10] {
        assert!(built((factor + 1) * 1_000, factor).is_ok());
        let least = StormRule { spread: u32::try_from(factor + 1).unwrap(), factor, ..storm() };
        assert!(least.of_pattern("page:{int}", &expiring, None, NOW).is_some(), "{factor}");
    }
}
