use proptest::prelude::*;

use super::*;
use crate::pattern::plain::PlainReader;
use crate::policy::testing::record;

fn id(name: &str) -> Option<String> {
    let finder = IdFinder::new(&Separators::default(), WordSet::new(["name", "age"]));
    let pieces = finder.place(name.as_bytes())?.pieces(name.as_bytes());
    Some(String::from_utf8(pieces.join(&b"|"[..])).unwrap())
}

fn sample(most: usize, ids: impl IntoIterator<Item = u32>) -> IdSample {
    let mut sample = IdSample::new(most);
    ids.into_iter().for_each(|id| {
        let name = format!("user:{id}");
        _ = sample.add(IdPlace::new(name.len(), (0, 0)).unwrap(), &record(name.as_bytes()));
    });
    sample
}

fn entries(sample: &IdSample) -> Vec<SampledId> {
    let mut entries: Vec<SampledId> = sample.lowest.entries().collect();
    entries.sort_unstable();
    entries
}

#[test]
fn the_id_is_the_name_without_the_word_at_or_before_its_end() {
    let of = |name| id(name).unwrap();
    assert_eq!((of("user:1:name"), of("user:1:last_login")), ("user:1|".into(), "user:1|".into()));
    assert_eq!((of("member:name:1"), of("a:b:age:{7}")), ("member|:1".into(), "a:b|:{7}".into()));
    assert_eq!(of("user:1:\u{59d3}\u{540d}"), "user:1|");
    assert_eq!((of("user:1:name:string"), of("member:name:1:Str")), ("user:1|".into(), "member|:1".into()));
    for compound in ["md5", "sha1", "addr12", "first.name", "job.title:string", "a_b2", "line2.name"] {
        assert_eq!(id(&format!("file:1:{compound}")).as_deref(), Some("file:1|"), "{compound}");
    }
    assert_eq!((of("member:name:abc1"), of("member:age:a.bc")), ("member|:abc1".into(), "member|:a.bc".into()));
    for name in [
        "",
        "a",
        "12",
        "a:1",
        "1:2:3",
        "user:1:",
        "user::1",
        "name:1",
        "shop:goods:1",
        "a:1:string",
        "string",
        "a:1:x1",
        "a:1:a1b2",
        "a:1:ab12",
        "a:1:abc123",
        "a:1:abcdef12",
        "a:1:sessionbyname12",
        "a:1:ab-1",
        "a:1:1.5",
        "a:1:v1.2",
        "a:1:www.shop.com",
        "a:1:main.js",
        "a:1:.name",
        "a:1:name.",
        &format!("a:1:{}", "x".repeat(33)),
    ] {
        assert_eq!(id(name), None, "{name}");
    }
}

#[test]
fn shared_ids_are_counted_where_both_samples_are_complete() {
    let shared = |one: &IdSample, other| {
        let SharedIds { compared, shared, together } = one.shared_with(&other, &Lifetimes::default());
        assert_eq!(shared, together);
        (compared, shared)
    };
    let few = sample(MAX_IDS, 0..50);
    assert_eq!(shared(&few, sample(MAX_IDS, 25..60)), (50, 25));
    assert_eq!(shared(&few, sample(MAX_IDS, 100..150)).1, 0);
    assert_eq!(shared(&sample(MAX_IDS, 0..10_000), sample(MAX_IDS, 0..10_000)), (MAX_IDS, MAX_IDS));
    let (compared, half) = shared(&sample(MAX_IDS, 0..10_000), sample(MAX_IDS, 5_000..15_000));
    assert!(compared >= 48 && (compared / 4..compared * 3 / 4).contains(&half), "{half} of {compared}");
}

#[test]
fn keys_expire_together_if_their_times_left_are_about_the_same() {
    let id = |left: Option<i64>| SampledId {
        fate: fate(&Record { expires_at: left.map(|left| Millis((1_000 + left) * 1000)), ..record(b"a:b") }),
        ..SampledId::default()
    };
    let together = |own: Option<i64>, others: Option<i64>, between: i64| {
        let latest = [Some(Millis(between * 1000)), Some(Millis(0))];
        id(own).expires_with(id(others), &Lifetimes { reference: Some(Millis(1_000_000)), latest })
    };
    assert!(together(Some(300), Some(300), 0) && together(None, None, 0) && together(Some(2), Some(12), 0));
    assert!(together(Some(300), Some(460), 0) && !together(Some(300), Some(464), 0));
    // Set together, for times that differ by an hour.
    assert!(together(Some(4_000), Some(400), 3_600) && !together(Some(4_000), Some(400), 0));
    assert!(!together(Some(300), None, 0) && !together(None, Some(300), 0));
    assert!(together(Some(-500), Some(4), 0));
    assert!(id(Some(1)).expires_with(id(Some(9_999)), &Lifetimes::default()));
}

#[test]
fn ids_with_equal_ends_stay_apart() {
    let ending = |tenant: u32| format!("tenant{tenant}:account1");
    let mut one = IdSample::new(8);
    (0..100).for_each(|tenant| {
        let name = ending(tenant);
        _ = one.add(IdPlace::new(name.len(), (0, 0)).unwrap(), &record(name.as_bytes()));
    });
    assert_eq!(one.sorted().len(), 8);
}

proptest! {
    #[test]
    fn plain_names_are_found_from_their_bitmaps(name in "[a-zA-Z:_ -]{0,9}(:(name|str|String|[a-z]{30,35}|[a-z]{0,6}))?") {
        let separators = Separators::default();
        let finder = IdFinder::new(&separators, WordSet::new(["name", "a", "b"]));
        if let Some(plain) = PlainReader::new(&separators).read(name.as_bytes(), 99, |_| false) {
            prop_assert_eq!(finder.look_plain(&plain), finder.look(name.as_bytes()));
        }
    }

    #[test]
    fn splitting_and_order_do_not_matter(ids in prop::collection::vec(0u32..60, 0..100), cut in 0usize..100, most in 1usize..40) {
        let whole = sample(most, ids.iter().copied());
        let (left, right) = ids.split_at(cut.min(ids.len()));
        for (one, other) in [(left, right), (right, left)] {
            let mut merged = sample(most, one.iter().copied());
            merged.merge(sample(MAX_IDS, other.iter().copied()));
            prop_assert_eq!(entries(&merged), entries(&whole));
            let mut later = sample(MAX_IDS, one.iter().chain(other).copied());
            later.keep(most);
            prop_assert_eq!(entries(&later), entries(&whole));
        }
    }
}
