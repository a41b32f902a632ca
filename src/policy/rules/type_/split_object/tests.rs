use super::*;
use crate::pattern::segment::Separators;
use crate::policy::evidence::IdSample;
use crate::policy::evidence::ids::{IdFinder, MAX_IDS};
use crate::policy::forest::PatternNode;
use crate::policy::testing::record;
use crate::record::Record;
use crate::report::Weight;
use crate::units::Millis;

fn sums(kind: Kind, keys: u64, name: u64, expires: bool) -> PatternSums {
    let mut kinds = [0; Kind::ALL.len()];
    kinds[kind as usize] = keys;
    let without_ttl = if expires { Weight::default() } else { Weight { keys, memory: Bytes(72 * keys) } };
    PatternSums {
        keys,
        memory: Bytes(72 * keys),
        name_bytes: Bytes(name * keys),
        content: Bytes(5 * keys),
        without_ttl,
        last_expiry: None,
        kinds,
        example: None,
    }
}

/// Pattern with `{int}` for the ids of a range.
#[derive(Clone)]
struct Strings {
    pattern: &'static str,
    kind: Kind,
    ids: std::ops::Range<u64>,
    expires: bool,
    /// Seconds that the key which lives longest has left.
    left: i64,
    /// Factor by which ids are scattered over the five minutes before that; 0 if all keys expire then.
    scatter: u64,
}

fn strings(pattern: &'static str, ids: std::ops::Range<u64>) -> Strings {
    Strings { pattern, kind: Kind::String, ids, expires: false, left: 3600, scatter: 0 }
}

impl Strings {
    fn sample(&self) -> Option<IdSample> {
        let mut sample = IdSample::new(MAX_IDS);
        let objects = ObjectRule::new(3, 20, &ATTRIBUTES.map(str::to_owned), &[]);
        let finder = IdFinder::new(&Separators::default(), objects.words_before_ids().clone());
        for id in self.ids.clone() {
            let name = self.pattern.replace("{int}", &id.to_string());
            let earlier = i64::try_from(id.wrapping_mul(self.scatter) % 997).unwrap() * 300 / 997;
            let expires_at = self.expires.then_some(Millis((self.left - earlier) * 1000));
            sample.add(finder.place(name.as_bytes())?, &Record { expires_at, ..record(name.as_bytes()) });
        }
        Some(sample)
    }
}

fn judge(patterns: &[Strings]) -> Vec<Breach> {
    judged(patterns).0
}

/// Returns the objects, and whether some may be missed.
fn judged(patterns: &[Strings]) -> (Vec<Breach>, bool) {
    let mut patterns = patterns.to_vec();
    patterns.sort_by_key(|strings| strings.pattern);
    let samples: Vec<_> = patterns.iter().map(Strings::sample).collect();
    let mut forest = Forest::default();
    for (strings, sample) in patterns.iter().zip(&samples) {
        let (mut parent, mut end) = (None, 0);
        let segments: Vec<&str> = strings.pattern.split(':').collect();
        for (at, &segment) in segments.iter().enumerate() {
            let is_leaf = at + 1 == segments.len();
            end += segment.len() + usize::from(!is_leaf);
            let text = &strings.pattern[..end];
            let known = forest.nodes.iter().position(|node| node.text == text);
            let node = known.unwrap_or_else(|| {
                forest.nodes.push(PatternNode {
                    text: text.into(),
                    segment,
                    varies: segment.starts_with('{'),
                    parent,
                    facts: None,
                    expiries: None,
                    ids: None,
                    secrets: None,
                    tokens: None,
                });
                forest.nodes.len() - 1
            });
            if is_leaf {
                let keys = strings.ids.end - strings.ids.start;
                let mut facts = sums(strings.kind, keys, strings.pattern.len() as u64, strings.expires);
                facts.last_expiry = strings.expires.then_some(Millis(strings.left * 1000));
                (forest.nodes[node].facts, forest.nodes[node].ids) = (Some(facts), sample.as_ref());
            }
            parent = Some(node);
        }
    }
    match build(&Params::defaults(META.params)).unwrap() {
        BuiltRule::Pattern(rule) => {
            let context = Context { reference: Some(Millis(0)).into(), ..Context::default() };
            (rule.judge(&forest, &context), rule.undecided(&forest, &context).is_some())
        }
        other => panic!("{other:?}"),
    }
}

fn found(patterns: &[Strings]) -> Vec<(String, Vec<String>)> {
    let of = |breach: Breach| match breach.details["leaves"].value.clone() {
        DetailValue::Texts(names) => (breach.pattern.unwrap(), names),
        other => panic!("{other:?}"),
    };
    judge(patterns).into_iter().map(of).collect()
}

#[test]
fn three_names_of_strings_below_an_id_are_an_object() {
    let objects =
        [strings("user:{int}:age", 0..400), strings("user:{int}:favor", 0..420), strings("user:{int}:name", 0..420)];
    let found = judge(&objects);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].pattern.as_deref(), Some("user:{int}"));
    assert_eq!((found[0].keys, found[0].measured, found[0].allowed), (1_240, Some(3), Some(2)));
    assert_eq!(found[0].details["ids"].value, DetailValue::Count(420));
    assert_eq!(
        found[0].details["leaves"].value,
        DetailValue::Texts(["age", "favor", "name"].map(str::to_owned).into())
    );
    assert_eq!(found[0].details["sampled"].value, DetailValue::Count(256));
    let saves = found[0].saves.unwrap().0;
    assert!((1..1_240 * 72).contains(&saves), "{saves}");
}

#[test]
fn the_attribute_may_stand_before_the_id() {
    let of = |ids: u64| {
        ["age", "favor", "name"].map(|name| match name {
            "age" => strings("member:age:{int}", 0..ids),
            "favor" => strings("member:favor:{int}", 0..ids),
            _ => strings("member:name:{int}", 0..ids),
        })
    };
    let names = ["age", "favor", "name"].map(str::to_owned).to_vec();
    for ids in [20, 256, 257, 5_000] {
        assert_eq!(found(&of(ids)), [("member:{*}:{int}".to_owned(), names.clone())], "{ids}");
    }
    assert!(found(&of(19)).is_empty());
    let below = ["cache:member:age:{int}", "cache:member:name:{int}", "cache:member:city:{int}"];
    assert_eq!(found(&below.map(|pattern| strings(pattern, 0..50)))[0].0, "cache:member:{*}:{int}");
}

#[test]
fn a_part_of_the_object_may_stand_between_id_and_attribute() {
    let names = |names: [&str; 3]| names.map(str::to_owned).to_vec();
    let below = ["user:{int}:profile:age", "user:{int}:profile:email", "user:{int}:profile:name"];
    assert_eq!(
        found(&below.map(|pattern| strings(pattern, 0..50))),
        [("user:{int}:profile".to_owned(), names(["age", "email", "name"]))]
    );
    let caches = ["user:{int}:cache:cart", "user:{int}:cache:feed", "user:{int}:cache:orders"];
    assert!(found(&caches.map(|pattern| strings(pattern, 0..50))).is_empty());
    let chinese = ["用户:姓名:{int}", "用户:年龄:{int}", "用户:手机号:{int}"];
    let found = found(&chinese.map(|pattern| strings(pattern, 0..50)));
    assert_eq!(found, [("用户:{*}:{int}".to_owned(), names(["姓名", "年龄", "手机号"]))]);
}

#[test]
fn a_type_at_the_end_is_no_attribute() {
    let behind = ["user:{int}:age:string", "user:{int}:favor:string", "user:{int}:name:string"];
    let names = ["age", "favor", "name"].map(str::to_owned).to_vec();
    assert_eq!(found(&behind.map(|pattern| strings(pattern, 0..50))), [("user:{int}".to_owned(), names.clone())]);
    let before = ["user:age:{int}:string", "user:favor:{int}:string", "user:name:{int}:string"];
    assert_eq!(found(&before.map(|pattern| strings(pattern, 0..50))), [("user:{*}:{int}:string".to_owned(), names)]);
    let tables = ["shop:cart:{int}:string", "shop:goods:{int}:string", "shop:order:{int}:string"];
    assert!(found(&tables.map(|pattern| strings(pattern, 0..50))).is_empty());
}

#[test]
fn different_businesses_are_no_object() {
    for patterns in [
        ["cache:user:{int}", "cache:order:{int}", "cache:page:{int}"],
        ["lock:user:{int}", "lock:name:{int}", "lock:age:{int}"],
        ["session:name:{int}", "session:age:{int}", "session:email:{int}"],
        ["shop:user:{int}", "shop:order:{int}", "shop:goods:{int}"],
        ["geo:city:{int}", "geo:province:{int}", "geo:country:{int}"],
        ["lock:{int}:pay", "lock:{int}:ship", "lock:{int}:name"],
        ["user:{int}:lock", "user:{int}:session", "user:{int}:name"],
        ["name:{int}", "age:{int}", "email:{int}"],
        ["user:admin:name", "user:admin:age", "user:admin:email"],
    ] {
        assert!(found(&patterns.map(|pattern| strings(pattern, 0..500))).is_empty(), "{patterns:?}");
    }
}

#[test]
fn patterns_of_very_different_size_are_undecided() {
    let of = |most: u64| {
        judged(&[
            strings("user:{int}:age", 0..2_000),
            strings("user:{int}:mobile", 0..2_000),
            strings("user:{int}:name", 0..most),
        ])
    };
    let (found, undecided) = of(20_000);
    assert_eq!((found.len(), undecided), (1, false));
    let (found, undecided) = of(2_000_000);
    assert_eq!((found.len(), undecided), (0, true));
    let two = judged(&[strings("user:{int}:age", 0..2_000), strings("user:{int}:name", 0..2_000_000)]);
    assert_eq!((two.0.len(), two.1), (0, false), "no object in any case");
}

#[test]
fn attributes_have_the_same_ids() {
    let of = |from: [u64; 3]| {
        let patterns = ["member:age:{int}", "member:favor:{int}", "member:name:{int}"];
        found(&std::array::from_fn::<_, 3, _>(|at| strings(patterns[at], from[at]..from[at] + 1_000))).len()
    };
    assert_eq!([of([0, 0, 0]), of([0, 200, 100]), of([0, 1_000, 0]), of([0, 700, 1_400])], [1, 1, 0, 0]);
    let many = [
        strings("user:{int}:age", 0..300),
        strings("user:{int}:name", 0..300),
        strings("user:{int}:email", 0..300),
        strings("user:{int}:visits", 0..90_000),
    ];
    assert_eq!(found(&many), [("user:{int}".to_owned(), ["age", "email", "name"].map(str::to_owned).to_vec())]);
}

#[test]
fn expiring_keys_belong_together_if_their_times_left_are_of_one_magnitude() {
    let of = |left: [i64; 3]| {
        let names = ["user:{int}:age", "user:{int}:favor", "user:{int}:name"];
        let patterns = names.iter().zip(left);
        let strings = |(name, left): (&&'static str, i64)| Strings { expires: true, left, ..strings(name, 0..100) };
        found(&patterns.map(strings).collect::<Vec<_>>()).len()
    };
    assert_eq!([of([3600; 3]), of([3000, 3600, 1800]), of([900, 3600, 3600]), of([5, 1, 14])], [1; 4]);
    // A code of a minute, a session of a day, a profile of a month.
    assert_eq!([of([60, 86_400, 2_592_000]), of([600, 3600, 3600])], [0; 2]);
}

#[test]
fn other_types_other_lifetimes_and_few_keys_are_none() {
    let two = [strings("user:{int}:age", 0..500), strings("user:{int}:name", 0..500)];
    assert!(judge(&two).is_empty());
    let third = strings("user:{int}:favor", 0..500);
    for third in [
        Strings { ids: 0..19, ..third.clone() },
        Strings { kind: Kind::Hash, ..third.clone() },
        Strings { expires: true, ..third.clone() },
        Strings { pattern: "user:{int}:{int}", ..third.clone() },
    ] {
        assert!(judge(&[two[0].clone(), two[1].clone(), third.clone()]).is_empty(), "{}", third.pattern);
    }
    assert_eq!(judge(&[two[0].clone(), two[1].clone(), third]).len(), 1);
}

#[test]
fn fields_of_few_ids_save_nothing() {
    let common =
        [strings("user:{int}:age", 0..1000), strings("user:{int}:favor", 0..1000), strings("user:{int}:name", 0..1000)];
    let rare = strings("user:{int}:rare", 0..300);
    let with = judge(&[common[0].clone(), common[1].clone(), common[2].clone(), rare]);
    let without = judge(&common);
    assert_eq!((with[0].saves, with[0].keys), (without[0].saves, 3300));
}

#[test]
fn keys_that_expire_apart_from_those_of_the_same_id_are_no_object() {
    let of = |scatter: [u64; 3]| {
        let names = ["otp:{int}:bind", "otp:{int}:login", "otp:{int}:pay"];
        let strings = |(name, scatter): (&&'static str, u64)| Strings {
            expires: true,
            left: 300,
            scatter,
            ..strings(name, 0..60)
        };
        found(&names.iter().zip(scatter).map(strings).collect::<Vec<_>>()).len()
    };
    assert_eq!([of([0, 0, 0]), of([61, 61, 61]), of([61, 61, 509])], [1, 1, 0]);
    assert_eq!(of([61, 211, 509]), 0);
}

#[test]
fn the_keys_of_one_id_may_expire_a_little_apart() {
    let names = ["user:{int}:age", "user:{int}:favor", "user:{int}:name"];
    // Set together for half an hour, or for an hour: the times before the last of their pattern are the same.
    let patterns = [1800, 3600, 3600].iter().zip(names).map(|(&left, name)| Strings {
        expires: true,
        left,
        scatter: 7,
        ..strings(name, 0..100)
    });
    assert_eq!(found(&patterns.collect::<Vec<_>>()).len(), 1);
}

#[test]
fn languages_are_variants_of_one_value() {
    let three = |names: [&'static str; 3]| found(&names.map(|pattern| strings(pattern, 0..50))).len();
    assert_eq!(three(["lov:{int}:en_US", "lov:{int}:ja", "lov:{int}:zh_CN"]), 0);
    assert_eq!(three(["lov:{int}:en", "lov:{int}:id_ID", "lov:{int}:zh-Hans"]), 0);
    assert_eq!(three(["goods:{int}:en_name", "goods:{int}:id", "goods:{int}:zh_name"]), 1);
}

#[test]
fn words_with_numbers_and_measures_are_attributes_beside_others() {
    let three = |names: [&'static str; 3]| found(&names.map(|pattern| strings(pattern, 0..50))).len();
    assert_eq!(three(["file:{int}:md5", "file:{int}:name", "file:{int}:size"]), 1);
    assert_eq!(three(["doctor:{int}:birth.date", "doctor:{int}:first.name", "doctor:{int}:job.title"]), 1);
    assert_eq!(three(["machine:{int}:rpm", "machine:{int}:status", "machine:{int}:temp"]), 1);
    // Numbered things, and what a key is for.
    assert_eq!(three(["stat:{int}:node1", "stat:{int}:node2", "stat:{int}:node3"]), 0);
    assert_eq!(three(["machine:{int}:rate", "machine:{int}:status", "machine:{int}:temp"]), 0);
    assert_eq!(three(["machine:{int}:lock", "machine:{int}:status", "machine:{int}:temp"]), 0);
}
