//! Names of the same shape agree in everything that depends on the name alone.

use proptest::prelude::*;

use super::*;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::slot;

fn separators(text: &str) -> Separators {
    Separators::new(&text.chars().map(String::from).collect::<Vec<_>>()).unwrap()
}

fn shape(separators: &Separators, name: &[u8]) -> Option<Shape> {
    let mut shape = Shape::default();
    Shaper::new(separators.clone(), &[IdByte::Free; 256]).shape(name, &mut shape).then_some(shape)
}

fn alike(one: &str, other: &str) -> bool {
    let shape = |name: &str| shape(&Separators::default(), name.as_bytes()).unwrap();
    let (one, other) = (shape(one), shape(other));
    assert!(!one.is(&other) || one.hash() == other.hash());
    one.is(&other)
}

#[test]
fn numbers_alone_make_no_difference() {
    for (one, other) in [
        ("user:1001:cart", "user:2002:cart"),
        ("", ""),
        ("7", "8"),
        ("order_123456x", "order_654321x"),
        ("{user:1}:a", "{user:7}:a"),
        ("log:20260101:5", "log:20251224:7"),
        ("rl:10.0.0.1", "rl:99.9.8.7"),
        ("12345678", "98765432"),
        ("log:2026-01-01:5", "log:2025-12-24:7"),
        (
            "a:1234567890123456789012345678901234567890123456789012345678901",
            "a:9999567890123456789012345678901234567890123456789012345678909",
        ),
    ] {
        assert!(alike(one, other), "{one} {other}");
    }
}

#[test]
fn ids_alone_make_no_difference() {
    for (one, other) in [
        ("s:550e8400-e29b-41d4-a716-446655440000", "s:6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ("page:9e107d9d372bb6826bd81d3542a419d6:x", "page:d41d8cd98f00b204e9800998ecf8427e:x"),
        ("sess:aB3dE5fG7hJ9kL1m", "sess:Zk83jd92kdLKSd03"),
        ("sess:U29tZSByYW5+b20gYnl0ZXM5Aw==", "sess:/29tZSByYW5kb20gYnl0Z+M5Ax=="),
        ("sess:V1StGXR8_Z5jdHi6B-myT", "sess:kD83jd-92kdLKS_d03kda"),
        ("user:joe.doe@mail.example.com", "user:ann_b77@web.example.info"),
        ("rl:10.0.0.100:1", "rl:255.1.1.99:2"),
        ("10.0.0.100:a", "255.1.1.99:a"),
    ] {
        assert!(alike(one, other), "{one} {other}");
    }
    for (one, other) in [
        ("s:550e8400-e29b-41d4-a716-446655440000", "s:6ba7b810-9dad-11d1-80b4x00c04fd430c8"),
        ("page:9e107d9d372bb682", "page:9e107d9d372bg682"),
        ("page:0x9e107d9d", "page:9f9e107d9d"),
        ("sess:aB3dE5fG7hJ9kL1m", "sess:user1ProfileCach"),
        ("sess:aB3dE5fG7hJ9kL1m-x_yz", "sess:aB3dE5fG7hJ9kL1m-cart"),
        ("user:joe@example.com", "user:joe@example.c0m"),
        ("rl:10.0.0.100", "rl:10.0.0.256"),
        ("9e107d9d372bb682:a", "d41d8cd98f00b204:a"),
    ] {
        assert!(!alike(one, other), "{one} {other}");
    }
}

#[test]
fn digits_whose_values_matter_make_a_difference() {
    for (one, other) in [
        ("api:v1", "api:v2"),
        ("user:1", "user:12"),
        ("log:20260101:5", "log:20261301:5"),
        ("a:2026-01-01", "a:2026-13-01"),
        ("a:20260101T1230", "a:20260101T9930"),
        ("rl:10.0.0.1", "rl:999.0.0.1"),
        ("rl:10.0.0.10", "rl:10.0.0.01"),
        ("0x12345678", "1x12345678"),
        ("user:1", "user:a"),
    ] {
        assert!(!alike(one, other), "{one} {other}");
    }
}

#[test]
fn long_names_and_those_beyond_ascii_have_none() {
    let shape = |name: &[u8]| shape(&Separators::default(), name);
    assert!(shape(&[b'1'; MAX_LEN]).is_some() && shape(&[b'1'; MAX_LEN + 1]).is_none());
    assert!(shape("ä:1".as_bytes()).is_none() && shape(b"a\xff").is_none() && shape(b"a\x80:12345678").is_none());
}

#[test]
fn ordinary_names_are_known_by_their_outline() {
    let known = |known: &str, name: &str| {
        let (shape, mut outline) = (shape(&Separators::default(), known.as_bytes()).unwrap(), Outline::default());
        outline.draw(name.as_bytes()) && shape.fits(name.as_bytes(), &outline)
    };
    for (one, other) in [
        ("user:1001:cart", "user:2502:cart"),
        ("", ""),
        ("api:v2:12345678", "api:v2:87654321"),
        ("a:x-2026-01-01:5", "a:x-2026-01-01:7"),
        ("user:20260101", "user:12345678"),
    ] {
        assert!(known(one, other) != (one == "user:20260101"), "{one} {other}");
    }
    for (one, other) in [
        ("api:v1", "api:v2"),
        ("log:12345678", "log:20260101"),
        ("a:1234-01-01", "a:2026-01-01"),
        ("rl:10.0.0.1", "rl:20.0.0.2"),
        ("a:12340101T12", "a:20990101T12"),
        ("a:12349901T12", "a:20999901T12"),
        ("year:1234-x", "year:1985-x"),
        ("user:1", "user:a"),
        ("user:a", "user:1"),
    ] {
        assert!(!known(one, other), "{one} {other}");
    }
}

const PIECES: [&str; 46] = [
    ":",
    ":",
    ":",
    "-",
    ".",
    "_",
    "/",
    "@",
    " ",
    "{",
    "}",
    "{",
    "}",
    "T",
    "x",
    "a",
    "user",
    "sess",
    "0x",
    "v",
    "E",
    "\x01",
    "1",
    "0",
    "12",
    "255",
    "256",
    "2026",
    "1999",
    "01",
    "12",
    "31",
    "202601",
    "20260101",
    "20261301",
    "2026010112",
    "10.0.0.1",
    "10.01.0.1",
    "2026-01-01",
    "13812345678",
    "deadbeef",
    "550e8400-e29b-41d4-a716-446655440000",
    "qq.com",
    "T12:30:45.123+08:00",
    "aB3dE5fG7hJ9kL1m",
    "::1",
];

#[test]
fn ids_of_one_class_are_recognised_at_once() {
    let fits = |one: &str, other: &str| {
        let shaper = Shaper::new(Separators::default(), &[IdByte::Free; 256]);
        let mut outline = Outline::default();
        assert!(outline.draw(other.as_bytes()));
        shaper.fits(&shape(&Separators::default(), one.as_bytes()).unwrap(), other.as_bytes(), &outline)
    };
    let token = "sess:aB3dE5fG7hJ9kL1mN2pQ";
    assert!(fits(token, "sess:Zx81mQpL0vT-yWe7sK3_") && fits(token, "sess:kD83jd92kdLKSd03kdL="));
    assert!(fits("a:7:deadbeef01:x", "a:8:012345678a:x"));
    let uuid = "cache:550e8400-e29b-41d4-a716-446655440000:7";
    assert!(fits(uuid, "cache:00000000-e29b-41d4-a716-44665544ffff:8"));
    // Another prefix, another class, another length, a word beside the token, a character that is no part of an id.
    for other in [
        "sesh:Zx81mQpL0vT-yWe7sK3_",
        "sess:deadbeefdeadbeef0123",
        "sess:Zx81mQpL0vT-yWe7sK3",
        "sess:user_Zx81mQpL0vT7sK3",
        "sess:Zx81mQpL:vT-yWe7sK3_",
        "sess:zxmqplvtywesksomewor",
    ] {
        assert!(!fits(token, other), "{other}");
    }
    assert!(!fits(uuid, "cache:550e8400-e29b-41d4-a716_446655440000:7"));
    let address = "rl:10.0.0.100:1";
    assert!(fits(address, "rl:255.1.1.99:2") && fits(address, "rl:7.255.11.2:0"));
    for other in [
        "rl:10.0.0.256:1",
        "rl:10.0.00.10:1",
        "rl:10.0.0..100:1",
        "rl:10.0.0-100:1",
        "rl:10.0.01001:1",
        "rl:10.0.a.100:1",
    ] {
        assert!(!fits(address, other), "{other}");
    }
    let date = "log:2026-01-01:20260101:7";
    assert!(fits(date, "log:1999-12-31:20241231:8") && fits("a:20240229:deadbeef01", "a:20230102:012345678a"));
    for other in [
        "log:1899-12-31:20241231:8",
        "log:2026-02-29:20241231:8",
        "log:2026-01-01:20261301:8",
        "log:2026-01-01:12345678:8",
        "log:3026-01-01:20260101:8",
        "log:2026.01.01:20260101:8",
        "log:2026-01-0a:20260101:8",
        "log:2026-01-01:20260101:a",
        "log:2026-01-01:202601T1:8",
    ] {
        assert!(!fits(date, other), "{other}");
    }
    // A number that would be a date, beside one.
    assert!(!fits("log:2026-01-01:12345678:7", "log:2026-01-01:20260101:7"));
    let mail = "user:joe.doe@mail.example.com";
    assert!(fits(mail, "user:a-n_n+b7@a.b-1example.io") && fits(mail, "user:joe.doe@mail1example.COM"));
    for other in [
        "user:joe.doe@mail.example.c0m",
        "user:joe.doe@mail..xample.com",
        "user:joe.doe@.ail.example.com",
        "user:joe.doe@mail+example.com",
        "user:joe.doe@mail@example.com",
        "user:joe.doe.mail.example.com",
        "user:@oe.doe-mail.example.com",
        "user:joe.doe@mail.example.co.",
        "user:joe.doe@mail.example.o.m",
        "user:joe.doe@mail-exampl-ecom",
        "user:joe doe@mail.example.com",
    ] {
        assert!(!fits(mail, other), "{other}");
    }
}

/// Generates a name, and a copy with some digits changed.
pub fn twins() -> impl Strategy<Value = (String, String)> {
    let name = prop_oneof![
        4 => prop::collection::vec(prop::sample::select(&PIECES[..]), 0..10).prop_map(|pieces| pieces.concat()),
        1 => "[0-9a-fxT:._-]{0,24}",
        1 => "([0-9]{1,4}[.:-]){0,6}[0-9]{1,4}",
        1 => "[a-zA-Z0-9]{12,40}(:[0-9]{1,14}){0,2}",
    ];
    (name, prop_oneof![prop::collection::vec(0u8..100, 64), prop::collection::vec(0u8..250, 64)]).prop_map(
        |(name, changes)| {
            let change = |(byte, change): (char, u8)| match change {
                0..10 if byte.is_ascii_digit() => char::from(b'0' + change),
                10..13 if byte.is_ascii_digit() => '2',
                13..16 if byte.is_ascii_digit() => '0',
                16..22 if byte.is_ascii_digit() => '1',
                _ => byte,
            };
            let other = name.chars().zip(changes.into_iter().cycle()).map(change).collect();
            (name, other)
        },
    )
}

/// Generates text that is an id, or nearly one.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9a-fA-F]{7,10}",
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-?",
        "[A-Za-z0-9]{15,18}",
        "[A-Za-z0-9+/_-]{20,24}={0,3}",
        "[+/]{0,3}([A-Za-z0-9]{2,9}[-_+/]){1,3}[A-Za-z0-9]{2,9}={0,2}",
        "([a-z]{3,6}|[0-9]{1,5})_[A-Za-z0-9]{16,18}-?([A-Z]{3,6}|[0-9]{1,5})?",
        "[a-z0-9]{20,22}",
        "[a-z.]{1,3}@[a-z-]{1,2}\\.[a-z.1]{2,4}",
        "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,2}\\.[0-9]{1,2}",
        "20(24|26)[-/.](0[1-9]|1[0-3])[-/.][0-3][0-9](T12|x)?",
        "20(24|26)(0[1-9]|1[0-3])[0-3][0-9][T0][0-9]{4}[0-9a-f]{2,8}",
        "(19|20|30)(24|26)(0[1-9]|1[0-3])([0-3][0-9]){0,2}",
        "(19|20|30)2[46]-(0[1-9]|1[0-3])-[0-3][0-9](:20(24|26)1[0-3][0-3][0-9]){0,2}",
        "0[xb][0-9a-f]{8}",
        "[a-zA-Z0-9@._-]{3,24}",
    ]
}

/// Generates two names that differ in one id.
pub fn siblings() -> impl Strategy<Value = (String, String)> {
    let before =
        prop::sample::select(&["a:", "user:x_y:", "", "{a}:", "{", "a_", "a/", "a:1234:", "::", "10.0.0.1:"][..]);
    let after = prop::sample::select(&["", "", ":b", ":12", "}", "}:a", "-a"][..]);
    (before, after, id(), id()).prop_map(|(before, after, one, other)| {
        let with = |id: &str| format!("{before}{id}{after}");
        // Ids of one length have one shape more often.
        let cut = one.len().min(other.len());
        (with(&one[..cut]), with(&other[..cut]))
    })
}

#[test]
fn no_token_holds_a_separator() {
    let separators = separators(":/ ");
    let shaper = Shaper::new(separators.clone(), &[IdByte::Free; 256]);
    let mut first = Shape::default();
    assert!(shaper.shape(b"a/0_AA0000a00aA00aA0", &mut first));
    let other = b"a/0aa0/AAa0AaaA0_AA0";
    let mut outline = Outline::default();
    assert!(outline.draw(other) && !shaper.fits(&first, other, &outline));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    #[test]
    fn names_of_one_shape_have_one_pattern(
        (one, other) in prop_oneof![twins(), siblings()],
        separated in prop::sample::select(&[":", "/", "-", ".", "_", ":/ ", ":.-"][..]),
    ) {
        let separators = separators(separated);
        let (Some(first), Some(second)) = (shape(&separators, one.as_bytes()), shape(&separators, other.as_bytes())) else {
            return Ok(());
        };
        let mut outline = Outline::default();
        prop_assert!(outline.draw(other.as_bytes()));
        prop_assert!(!first.fits(other.as_bytes(), &outline) || first.is(&second), "{} {}", one, other);
        let shaper = Shaper::new(separators.clone(), &[IdByte::Free; 256]);
        if !first.is(&second) && !shaper.fits(&first, other.as_bytes(), &outline) {
            return Ok(());
        }
        prop_assert!(!first.is(&second) || first.hash() == second.hash());
        let classifier = Classifier::new(separators);
        let pattern = |name: &str| {
            let mut pattern = PatternBuf::default();
            classifier.classify(name.as_bytes(), &mut pattern);
            pattern
        };
        prop_assert_eq!(pattern(&one), pattern(&other), "{} {}", one, other);
        prop_assert_eq!(slot::tag(one.as_bytes()), slot::tag(other.as_bytes()));
    }

    #[test]
    fn a_shape_is_the_name_but_for_its_numbers(one in "[ -~]{0,66}", other in "[ -~]{0,66}") {
        let separators = Separators::default();
        if let (Some(first), Some(second)) = (shape(&separators, one.as_bytes()), shape(&separators, other.as_bytes())) {
            let bare = |name: &str| name.replace(|byte: char| byte.is_ascii_digit(), "0");
            prop_assert!(!first.is(&second) || bare(&one) == bare(&other));
            prop_assert!(first.is(&first));
            let mut outline = Outline::default();
            prop_assert!(outline.draw(other.as_bytes()));
            prop_assert!(!first.fits(other.as_bytes(), &outline) || first.is(&second), "{} {}", one, other);
        }
    }
}
