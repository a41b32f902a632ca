//! Examples of patterns, and properties that hold for every key.

use proptest::prelude::*;

use super::*;
use crate::pattern::PartKind;

fn pattern(key: &str) -> String {
    Classifier::default().pattern_text(key.as_bytes())
}

fn with_separators(separators: &[&str]) -> Classifier {
    let separators: Vec<_> = separators.iter().map(|&s| s.to_owned()).collect();
    Classifier::new(Separators::new(&separators).unwrap())
}

fn holds(examples: &[(&str, &str)]) {
    for &(key, expected) in examples {
        assert_eq!(pattern(key), expected, "{key}");
    }
}

#[test]
fn names_stay() {
    for key in [
        "",
        "config",
        "user:profile",
        "a::b:",
        "v2:sha256:oauth2:md5:h264:utf8:top10:p99:ipv4:k8s:x86:3d",
        "cache:user_profile-old.bak",
        "deadbeef:cafebabe:facade",
        "用户:名称:v2",
        "user profile:#1st",
        "http404:s3:ec2:log4j:i18n:route53",
        "UserProfileV2Cache:getUserByIdV2Cache",
    ] {
        assert_eq!(pattern(key), key);
    }
}

#[test]
fn whole_segments_collapse() {
    holds(&[
        ("user:12345:name", "user:{int}:name"),
        ("user:-5:+5:007", "user:{int}:{int}:{int}"),
        ("s:550e8400-e29b-41d4-a716-446655440000", "s:{uuid}"),
        ("s:550E8400-E29B-41D4-A716-446655440000:x", "s:{uuid}:x"),
        ("md5:d41d8cd98f00b204e9800998ecf8427e", "md5:{hex}"),
        ("tx:0x12345678", "tx:{hex}"),
        ("short:1a2b3c4", "short:1a2b3c4"),
        ("rank:20260101:202601:2026-01-01:2026-01", "rank:{date}:{date}:{date}:{date}"),
        ("rank:20261301", "rank:{int}"),
        ("t:1700000000:1700000000123", "t:{int}:{int}"),
        ("mail:john.doe+x@example.com", "mail:{email}"),
        ("limit:10.0.0.1", "limit:{ip}"),
        ("sess:aB3dE5fG7hJ9kL1m", "sess:{token}"),
        ("sess:V1StGXR8_Z5jdHi6B-myT", "sess:{token}"),
        ("1:2", "{int}:{int}"),
    ]);
}

#[test]
fn mixed_segments_keep_their_names() {
    holds(&[
        ("user_12345", "user_{int}"),
        ("order-20260101-77", "order-{date}-{int}"),
        ("order-2026-01-01-77", "order-{date}-{int}"),
        ("profile_12345", "profile_{int}"),
        ("bigkey-07", "bigkey-{int}"),
        ("item12345", "item{int}"),
        ("item123", "item123"),
        ("12345item", "{int}item"),
        ("log20260101", "log{date}"),
        ("a1b2c3_42x", "a1b2c3_42x"),
        ("user_550e8400-e29b-41d4-a716-446655440000", "user_{uuid}"),
        ("user_550e8400-e29b-41d4-a716-446655440000x", "user_{hex}-{token}"),
        ("file_d41d8cd98f00b204_v2", "file_{hex}_v2"),
        ("sess_V1StGXR8_Z5jdHi6B-myT", "sess_{token}"),
        ("userToken_aB3dE5fG7hJ9kL1m_cart", "userToken_{token}_cart"),
        ("sess_V1StGXR8_Z5jdHi6B-myT_cart_items", "sess_{token}_cart_items"),
        ("12345_0ujtsYcgvSTl8PAuAdqWYSMnLOv_678", "{int}_{token}_{int}"),
        ("-3xs9P5Z_6kkxNJkkEfUpc7J_", "{token}"),
        ("t=U29tZSByYW5kb20gYnl0ZXM5/3+a0Q==", "t={token}"),
        ("page=2&size=50", "page={int}&size={int}"),
        ("1.2.3", "{int}.{int}.{int}"),
        ("-1.5", "-{int}.{int}"),
        ("用户12345:用户123", "用户{int}:用户123"),
        ("item_12345_v2_USA_2024x", "item_{int}_v2_USA_{int}x"),
    ]);
}

#[test]
fn a_jwt_is_three_tokens() {
    let jwt = "jwt:eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    assert_eq!(pattern(jwt), "jwt:{token}.{token}.{token}");
}

#[test]
fn pairs_of_braces_are_left_out_and_others_doubled() {
    holds(&[
        ("{user:1001}:cart", "user:{int}:cart"),
        ("{user1001}.following", "user{int}.following"),
        ("cart{42}:items", "cart{int}:items"),
        ("{550e8400-e29b-41d4-a716-446655440000}:x", "{uuid}:x"),
        ("{-5}:{6}:{-7}", "{int}:{int}:{int}"),
        ("u:{123}:fr:m:{456}", "u:{int}:fr:m:{int}"),
        ("{a}:{{7}}:{8:}", "a:{{{int}}}:{{{int}:}}"),
        ("{a}b{12}c{}{d", "ab{int}c{{}}{{d"),
        ("{int}:x", "int:x"),
        ("{}:x", "{{}}:x"),
        ("{}{int}", "{{}}int"),
        ("{}{{int}}", "{{}}{{int}}"),
        ("{a", "{{a"),
        ("a}b{c}d", "a}}bcd"),
        ("foo{{bar}}zap", "foo{{bar}}zap"),
        ("{:}", ":"),
        ("{用户}:12", "用户:{int}"),
        ("{a:1:b}", "a:{int}:b"),
    ]);
}

#[test]
fn segments_that_are_not_text_are_bin() {
    let classifier = Classifier::default();
    for (key, expected) in [
        (&b"user:\xff\xfe:name"[..], "user:{bin}:name"),
        (b"user:\x00\x01", "user:{bin}"),
        (b"a\nb:\xc3\xa9:12", "{bin}:é:{int}"),
        (b"\xc2\x85", "{bin}"),
        (b"\x7f:\xff{1}", "{bin}:{bin}"),
        (b"\xff:\xe7\x94:\xa8", "{bin}:{bin}:{bin}"),
    ] {
        assert_eq!(classifier.pattern_text(key), expected, "{key:?}");
    }
}

#[test]
fn long_names_and_deep_keys_are_cut() {
    assert_eq!(pattern(&"x".repeat(64)), "x".repeat(64));
    assert_eq!(pattern(&format!("a:{}:b", "x".repeat(65))), "a:{long}:b");
    assert_eq!(pattern(&format!("a{}", "-1".repeat(1000))), "{long}");
    assert_eq!(pattern(&"1".repeat(1000)), "{int}");
    let letters = "a:b:c:d:e:f:g:h:i:j:k:l:m:n:o:p";
    assert_eq!(pattern(letters), letters);
    assert_eq!(pattern(&format!("{letters}:q")), "a:b:c:d:e:f:g:h:i:j:k:l:m:n:o:{deeper}");
    assert_eq!(pattern(&":".repeat(100)), format!("{}{{deeper}}", ":".repeat(15)));
}

#[test]
fn separators_decide_what_a_segment_is() {
    let slash = with_separators(&["/"]);
    assert_eq!(slash.pattern_text(b"a/2001:db8::1/2026-01-01T12:30:00Z/b:c"), "a/{ip}/{date}/b:c");
    let several = with_separators(&[":", "-", "."]);
    assert_eq!(
        several.pattern_text(b"a-2026-01-01:10.0.0.1:x@y.com"),
        "a-{int}-{int}-{int}:{int}.{int}.{int}.{int}:x@y.com"
    );
}

#[test]
fn parts_have_the_kind_of_their_segment() {
    let mut out = PatternBuf::default();
    Classifier::default().classify(b"a:12:b_12:{\xff}", &mut out);
    assert_eq!(out.text, "a:{int}:b_{int}:{bin}");
    let parts: Vec<_> = out.parts.iter().map(|&part| (out.name(part), part.kind)).collect();
    let (class, literal) = (PartKind::Class, PartKind::Literal);
    assert_eq!(parts, [("a", literal), ("{int}", class), ("b_{int}", literal), ("{bin}", class)]);
    Classifier::default().classify(b"", &mut out);
    assert_eq!((out.text.as_str(), out.parts.len()), ("", 1));
}

#[test]
fn hostile_keys_take_linear_time() {
    for piece in [
        "abc-",
        "1-",
        "aB1-",
        "2026-01-01T12-",
        "2026-01-01 12:30:45.1+",
        "a}",
        "{1",
        "用1",
        "550e8400-e29b-",
        "0x",
        "==",
    ] {
        let key = format!("{}1", piece.repeat(1 << 17)); // quadratic would take minutes
        let expected = if piece == "0x" { "{token}" } else { "{long}" };
        assert_eq!(with_separators(&["|"]).pattern_text(key.as_bytes()), expected, "{piece}");
        Classifier::default().pattern_text(&key.as_bytes()[1..]);
    }
}

#[test]
fn every_example_of_the_documentation_holds() {
    let page = include_str!("../../../docs/patterns.md");
    let mut examples = 0;
    for line in page.lines() {
        let class = SegmentClass::ALL.iter().find(|class| line.starts_with(&format!("| `{}`", class.text())));
        let mut shown = class.is_none();
        let between: Vec<_> = line.split('`').collect();
        for window in between.windows(3).skip(1).step_by(2) {
            if let [key, " → ", expected] = window {
                assert_eq!(&Classifier::default().pattern_text(&unescaped(key)), expected, "{key}");
                shown |= class.is_some_and(|class| expected.contains(class.text()));
                examples += 1;
            }
        }
        assert!(shown, "{line}");
    }
    assert!(SegmentClass::ALL.iter().all(|class| page.contains(&format!("\n| `{}`", class.text()))));
    assert_eq!(examples, page.matches('→').count());
}

/// Decodes `\x00` as the documentation writes it.
fn unescaped(key: &str) -> Vec<u8> {
    let mut parts = key.split("\\x");
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(part[2..].bytes());
    }
    bytes
}

/// Generates keys of the kinds of pieces that the rules know, and of arbitrary bytes.
fn keys() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[a-z]{1,9}".prop_map(String::into_bytes),
        2 => "[0-9]{1,14}".prop_map(String::into_bytes),
        2 => "[0-9a-f]{6,12}".prop_map(String::into_bytes),
        1 => "20[0-9]{2}-[01][0-9](-[0-3][0-9](T[0-9]{2})?)?".prop_map(String::into_bytes),
        1 => "[A-Za-z0-9_-]{16,40}={0,2}".prop_map(String::into_bytes),
        1 => "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}".prop_map(String::into_bytes),
        1 => "[用户é]{1,3}".prop_map(String::into_bytes),
        2 => "[{}]".prop_map(String::into_bytes),
        3 => "[-_.:/@= +:]".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn one_separator_stands_between_parts(key in keys(), several in any::<bool>()) {
        let separators: &[&str] = if several { &[":", "/", "."] } else { &[":"] };
        let mut out = PatternBuf::default();
        with_separators(separators).classify(&key, &mut out);
        prop_assert!(!out.parts.is_empty() && out.parts.len() <= MAX_SEGMENTS);
        prop_assert_eq!(out.parts[0].start, 0);
        prop_assert_eq!(out.parts.last().unwrap().end as usize, out.text.len());
        for pair in out.parts.windows(2) {
            let between = &out.text[pair[0].end as usize..pair[1].start as usize];
            prop_assert!(separators.contains(&between), "{:?}", between);
        }
        for &part in &out.parts {
            prop_assert!(out.text.is_char_boundary(part.start as usize) && out.text.is_char_boundary(part.end as usize));
            prop_assert!(part.start <= part.end && out.name(part).len() <= MAX_NAME_LEN);
            let is_class = SegmentClass::ALL.iter().any(|class| class.text() == out.name(part));
            prop_assert_eq!(is_class, part.kind == PartKind::Class, "{:?}", out.name(part));
        }
    }

    #[test]
    fn a_plain_name_is_its_own_pattern(key in prop_oneof!["[a-zA-Z:._-]{0,70}", "([a-z]{0,3}[:/]){10,20}[a-z1@{]?"]) {
        let classifier = with_separators(&[":", "/"]);
        if let Some(plain) = classifier.plain(key.as_bytes()) {
            let mut out = PatternBuf::default();
            classifier.classify(key.as_bytes(), &mut out);
            prop_assert_eq!(&out.text, &key);
            prop_assert!(out.parts.iter().all(|part| part.kind == PartKind::Literal));
            prop_assert_eq!(out.parts.len(), plain.segment_count() as usize);
        }
    }

    #[test]
    fn braces_in_a_pattern_are_doubled_or_a_class(key in keys()) {
        let text = Classifier::default().pattern_text(&key);
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            rest = &rest[at..];
            let known = SegmentClass::ALL.iter().map(|class| class.text()).chain(["{{", "}}"]);
            // A class never begins with two braces, so doubled ones are read first.
            let read = known.filter(|known| rest.starts_with(known)).max_by_key(|known| known.starts_with("{{"));
            prop_assert!(read.is_some(), "{:?}", text);
            rest = &rest[read.unwrap().len()..];
        }
        prop_assert!(!text.chars().any(char::is_control));
    }

    #[test]
    fn a_segment_is_classified_by_itself(key in keys()) {
        let classifier = Classifier::default();
        let key: Vec<u8> = key.into_iter().filter(|byte| !b"{}".contains(byte)).collect();
        let mut whole = PatternBuf::default();
        classifier.classify(&key, &mut whole);
        let names = Separators::default();
        let alone: Vec<_> = names.split(&key).map(|segment| classifier.pattern_text(segment)).collect();
        let segments = alone.len();
        prop_assert_eq!(whole.parts.len(), segments.min(MAX_SEGMENTS));
        for (i, (&part, alone)) in whole.parts.iter().zip(&alone).enumerate() {
            let cut = segments > MAX_SEGMENTS && i + 1 == MAX_SEGMENTS;
            prop_assert_eq!(whole.name(part), if cut { SegmentClass::Deeper.text() } else { alone });
            // Classifying a literal segment again does not change it.
            let name = whole.name(part);
            if part.kind == PartKind::Literal && !name.contains('{') {
                prop_assert_eq!(&classifier.pattern_text(name.as_bytes()), name);
            }
        }
    }

    #[test]
    fn a_buffer_used_before_makes_no_difference(one in keys(), two in keys()) {
        let classifier = Classifier::default();
        let (mut used, mut fresh) = (PatternBuf::default(), PatternBuf::default());
        classifier.classify(&one, &mut used);
        classifier.classify(&two, &mut used);
        classifier.classify(&two, &mut fresh);
        prop_assert_eq!(used, fresh);
    }
}
