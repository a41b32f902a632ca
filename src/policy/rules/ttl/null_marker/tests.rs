use crate::policy::Context;
use crate::policy::checks::Checks;
use crate::policy::testing::{broken_by, checks_in};
use crate::rdb::peek::RawValue;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::record::Kind;
use crate::units::Millis;

const CLASSES: &str = "[[ttl_class]]\nname = \"cache\"\npatterns = [\"cache:**\"]\n\
     [[ttl_class]]\nname = \"lock\"\npatterns = [\"lock:**\"]\n\
     [[ttl_class]]\nname = \"settings\"\npatterns = [\"config:**\"]\nrequired = false\n";

fn rule(params: &str) -> Checks {
    let text = format!("[rules.\"ttl.null-marker\"]\nseverity = \"should\"\n{params}\n{CLASSES}");
    checks_in(&text, Context { reference: Some(Millis(0)).into(), ..Context::default() })
}

/// Checks a string stored as `bytes`, of this length, with these milliseconds left.
fn stored(checks: &Checks, name: &str, bytes: &[u8], length: u64, left: Option<i64>) -> Option<(u64, u64)> {
    let raw = RawValue { value_type: ValueType::String, bytes, templates: Templates::NONE };
    let violation = broken_by(checks, name, |record| {
        (record.raw, record.length, record.expires_at) = (Some(raw), Some(length), left.map(Millis));
    });
    violation.map(|violation| (violation.measured, violation.allowed))
}

#[test]
fn markers_that_java_serialized_count() {
    let checks = rule("max = \"60s\"");
    let java = |text: &str| [&b"\xac\xed\0\x05t\0"[..], &[text.len() as u8], text.as_bytes()].concat();
    let breaks = |text: &str| {
        let value = java(text);
        let bytes = [&[value.len() as u8][..], &value].concat();
        stored(&checks, "cache:user:1", &bytes, value.len() as u64, Some(60_001)).is_some()
    };
    assert!(["NULL", "null", "", "{}"].into_iter().all(breaks));
    assert!(!breaks("nothing") && !breaks("0"));
}

#[test]
fn empty_values_of_other_serializers_count() {
    let checks = rule("max = \"60s\"");
    let breaks = |value: &[u8]| {
        let bytes = [&[value.len() as u8][..], value].concat();
        stored(&checks, "cache:user:1", &bytes, value.len() as u64, Some(60_001)).is_some()
    };
    let values =
        [&b"\xc0"[..], b"\x90", b"\0\0\0\x02\0", b"\0\0\0\x02\x14\0", b"s:0:\"\";", b"[\"java.util.HashMap\",{}]"];
    for value in values {
        assert!(breaks(value), "{}", value.escape_ascii());
    }
    let values = [&b"\x04\x080"[..], b"<nil>", b"(null)", b"\"{}\"", b"\"[]\"", b"O:8:\"stdClass\":0:{}"];
    for value in values {
        assert!(breaks(value), "{}", value.escape_ascii());
    }
    assert!(!breaks(b"\x04\x08i\0") && !breaks(b"\"{}"));
    assert!(!breaks(b"\x91\x01") && !breaks(b"[\"java.util.HashMap\",{\"a\":1}]"));
}

fn plain(checks: &Checks, name: &str, value: &str, left: Option<i64>) -> Option<(u64, u64)> {
    let bytes = [&[value.len() as u8], value.as_bytes()].concat();
    stored(checks, name, &bytes, value.len() as u64, left)
}

#[test]
fn words_that_no_class_bears_except_keys_by_a_segment() {
    let checks = rule("max = \"60s\"");
    for name in [
        "session:car:1",
        "shop:queue:1",
        "{shop:tmp}:1",
        "shop:Counter:1",
        "auth:blacklist:1",
        "shop:黑名单:1",
        "order:expire:1",
        "nonce:api:1",
        "jwt:revoked:1",
    ] {
        assert_eq!(plain(&checks, name, "{}", Some(60_001)), None, "{name}");
    }
    for name in ["sessions:car:1", "shop:car:1", "cache:session:1", "cache:expire:1", "coupon:used:1", "user:read:1"] {
        assert_eq!(plain(&checks, name, "{}", Some(60_001)), Some((60_001, 60_000)), "{name}");
    }
}

#[test]
fn the_sessions_of_spring_have_a_form_of_their_own_in_any_namespace() {
    let checks = rule("max = \"60s\"");
    let id = "0f4a3c9e-2b61-4d3f-9a57-c1d2e3f4a5b6";
    for namespace in ["shop", "shop:web", "spring:session", "{shop}", "cache:shop"] {
        let name = format!("{namespace}:sessions:expires:{id}");
        assert_eq!(plain(&checks, &name, "", Some(1_800_000)), None, "{name}");
    }
    for (name, value) in [
        (format!("shop:sessions:expires:{id}"), "null"),
        (format!("shop:sessions:{id}"), ""),
        (format!("shop:sessions:expiring:{id}"), ""),
        (format!("sessions:expires:{id}"), ""),
        (format!("shop:mysessions:expires:{id}"), ""),
        (format!("shop:sessions:expires:{id}:x"), ""),
        (format!("shop:sessions:expires:x{id}"), ""),
        (format!(":sessions:expires:{id}"), ""),
        ("shop:sessions:expires:1001".to_owned(), ""),
        (format!("shop:sessions:expires:{}", id.replace('-', "a")), ""),
    ] {
        assert!(plain(&checks, &name, value, Some(1_800_000)).is_some(), "{name}");
    }
}

#[test]
fn exactly_the_limit_is_allowed() {
    let checks = rule("max = \"60s\"");
    for value in super::MARKERS {
        assert_eq!(plain(&checks, "cache:user:1", value, Some(60_000)), None, "{value}");
        assert_eq!(plain(&checks, "cache:user:1", value, Some(60_001)), Some((60_001, 60_000)), "{value}");
        // Equal values: reports show neither.
        assert_eq!(plain(&checks, "cache:user:1", value, None), Some((60_000, 60_000)), "{value}");
        assert_eq!(plain(&checks, "cache:user:1", value, Some(-5)), None, "{value}");
    }
    assert_eq!(plain(&checks, "cache:user:1", "NULL", Some(i64::MAX)), Some((i64::MAX as u64, 60_000)));
}

#[test]
fn the_null_of_spring_is_a_marker_as_java_writes_it() {
    let checks = rule("markers = [\"-\"]");
    let with_length = |value: &[u8]| [&[0x40, 64][..], value].concat();
    assert!(stored(&checks, "cache:user:1", &with_length(super::SPRING), 64, Some(300_001)).is_some());
    assert!(stored(&checks, "cache:user:1", &with_length(super::SPRING), 64, Some(300_000)).is_none());
    assert!(stored(&checks, "cache:user:1", &with_length(&[b'a'; 64]), 64, None).is_none());
}

#[test]
fn empty_values_are_markers_as_java_and_python_write_them() {
    let checks = rule("markers = [\"-\"]");
    let breaks = |value: &[u8]| {
        let bytes = [&[value.len() as u8], value].concat();
        stored(&checks, "cache:user:1", &bytes, value.len() as u64, Some(300_001)).is_some()
    };
    for value in [
        &b"\x80\x04N."[..],
        b"(lp0\n.",
        b"(dp1\n.",
        b"]q\0.",
        b"\x80\x02}q\0.",
        b"\x80\x03]q\x01.",
        b"\x80\x05]\x94.",
        b"\x80\x04}.",
        super::JAVA_NULL,
        super::EMPTY_LIST,
        super::ARRAY_LIST,
    ] {
        assert!(breaks(value), "{}", value.escape_ascii());
    }
    for value in [&b"\x80\x04K."[..], b"\x80\x06N.", b"N.", b"].", b"\x80\x03]\x94.", b"(lp2\n.", b"\xac\xed\0\x05q"] {
        assert!(!breaks(value), "{}", value.escape_ascii());
    }
    assert!(!breaks(&[&super::ARRAY_LIST[..57], b"y"].concat()));
}

#[test]
fn markers_in_other_forms_count() {
    let checks = rule("max = \"60s\"");
    let in_key = |name: &str, value: &[u8]| {
        let bytes = [&[0x40, value.len() as u8][..], value].concat();
        let short = [&[value.len() as u8][..], value].concat();
        let bytes = if value.len() < 64 { &short } else { &bytes };
        stored(&checks, name, bytes, value.len() as u64, Some(60_001)).is_some()
    };
    let map = |class: &[u8], rest: &[u8]| [&b"\xac\xed\0\x05sr\0"[..], class, rest].concat();
    let hash_map = map(
        b"\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16\x60\xd1",
        b"\x03\0\x02F\0\x0aloadFactorI\0\x09thresholdxp?@\0\0\0\0\0\0w\x08\0\0\0\x10\0\0\0\0x",
    );
    let linked = map(
        b"\x17java.util.LinkedHashMap4\xc0N\\\x10l\xc0\xfb",
        b"\x02\0\x01Z\0\x0baccessOrderxr\0\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16\x60\xd1\x03\0\x02F\0\x0aloadFactorI\0\x09threshold\
          xp?@\0\0\0\0\0\0w\x08\0\0\0\x10\0\0\0\0x\0",
    );
    assert_eq!((hash_map.len(), linked.len()), (82, 135));
    let list = b"\xac\xed\0\x05sr\0\x11java.util.CollSer\x57\x8e\xab\xb6:\x1b\xa8\x11\x03\0\x01I\0\x03tagxp\0\0\0\x01w\x04\0\0\0\0x";
    let values = [
        &hash_map[..],
        &linked,
        list,
        b"\xac\xed\0\x05sr\0\x1ejava.util.Collections$EmptyMapY6\x14\x85Z\xdc\xe7\xd0\x02\0\0xp",
        b"\xac\xed\0\x05sr\0\x1ejava.util.Collections$EmptySet\x15\xf5r\x1d\xb4\x03\xcb(\x02\0\0xp",
        b"\xac\xed\0\x05sr\0\x11java.util.HashSet\xbaD\x85\x95\x96\xb8\xb74\x03\0\0xpw\x0c\0\0\0\x10?@\0\0\0\0\0\0x",
        b"s:4:\"NULL\";",
        b"\x80\x04\x95\x08\0\0\0\0\0\0\0\x8c\x04NULL\x94.",
        b"\x80\x03X\x04\0\0\0NULLq\0.",
        b"\xa4NULL",
        b"\xa0",
        b"\x80",
        b"\0\0\0\x02\x11\x04null",
        b"null\n",
        b"{}\n",
        b"[]\n",
        b"{ }",
        b"<NULL>",
        b"\"None\"",
    ];
    for value in values {
        assert!(in_key("shop:user:1", value) && in_key("cache:user:1", value), "{}", value.escape_ascii());
    }
    for value in ["EMPTY", "NOT_FOUND", "空", "不存在"] {
        assert!(in_key("cache:user:1", value.as_bytes()) && !in_key("locker:cell:1", value.as_bytes()), "{value}");
    }
    let others =
        [&b"\x80\x04\x95\x08\0\0\0\0\0\0\0\x8c\x04FULL\x94."[..], b"\xa4FULL", b"s:4:\"FULL\";", b"\x81\xa1a\x01"];
    assert!(others.into_iter().all(|value| !in_key("cache:user:1", value)));
    assert!(!in_key("cache:user:1", &[&hash_map[..], b"x"].concat()));
}

#[test]
fn flags_and_what_users_fill_are_no_results() {
    let checks = rule("max = \"60s\"");
    let breaks = |name: &str, value: &str| plain(&checks, name, value, Some(60_001)).is_some();
    for name in ["express:waybill:signed:1", "live:gift:claimed:u1", "user:READ:1", "coupon:used:1"] {
        assert!(!breaks(name, "") && breaks(name, "[]") && breaks(name, "NULL"), "{name}");
    }
    for name in ["food:cart:items:u1", "edu:user:prefs:u1", "{shop}:购物车:1"] {
        assert!(!breaks(name, "[]") && !breaks(name, "{}") && !breaks(name, "") && breaks(name, "null"), "{name}");
    }
    for name in ["cache:user:read:1", "cache:cart:1", "shop:user:1"] {
        assert!(breaks(name, "") && breaks(name, "[]"), "{name}");
    }
}

#[test]
fn other_values_are_no_markers() {
    let checks = rule("");
    for value in
        ["none", "NULL ", " null", "null\n\n", "nul", "0", "1", "false", "none", "{  }", "[1]", "\n", "{\"a\":1}", "\0"]
    {
        assert_eq!(plain(&checks, "cache:user:1", value, None), None, "{value:?}");
    }
}

#[test]
fn every_encoding_of_a_string_is_read_and_damage_is_no_marker() {
    let checks = rule("markers = [\"-1\", \"NULL\"]");
    assert!(stored(&checks, "cache:a", b"\xc0\xff", 2, None).is_some(), "an integer");
    assert!(stored(&checks, "cache:a", b"\xc0\xfe", 2, None).is_none());
    // A compressed marker, as only a hostile writer stores it.
    assert!(stored(&checks, "cache:a", b"\xc3\x05\x04\x03NULL", 4, None).is_some());
    for bytes in [&b""[..], b"\x04NU", b"\xc3\x05\x04\x1fNULL", b"\xc3\x05\x80\xff\xff\xff\xff\x03NULL", b"\x05NULLs"] {
        assert!(stored(&checks, "cache:a", bytes, 4, None).is_none(), "{}", bytes.escape_ascii());
    }
}

#[test]
fn keys_that_are_no_cached_results_do_not_count() {
    let checks = rule("");
    for name in ["cache:user:1", "user:1", "user", "other:a:b"] {
        assert!(plain(&checks, name, "{}", None).is_some(), "{name}");
    }
    for name in ["lock:task:1", "config:features"] {
        assert!(plain(&checks, name, "{}", None).is_none(), "{name}");
    }
    let checks = rule("except = [\"cache\"]");
    assert!(plain(&checks, "cache:user:1", "{}", None).is_none() && plain(&checks, "lock:a", "{}", None).is_some());
}

#[test]
fn markers_are_checked_when_the_policy_is_read() {
    use crate::policy::params::{ParamValue, Params};
    let built = |words: &[&str]| {
        let mut params = Params::defaults(super::META.params);
        params.set("markers", ParamValue::Words(words.iter().map(|&word| word.to_owned()).collect()));
        (super::RULE.build)(&params)
    };
    assert!(built(&[""]).is_ok() && built(&[&"x".repeat(63)]).is_ok());
    assert!(built(&[]).is_err() && built(&["a", &"x".repeat(64)]).is_err());
}

/// Checks a collection with one element, or a pair of this field and `1`.
fn single(checks: &Checks, name: &str, kind: Kind, element: &str, left: Option<i64>) -> bool {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let (value_type, rest) = match kind {
        Kind::Hash => (ValueType::Hash, text("1")),
        Kind::Zset => (ValueType::Zset2, vec![0; 8]),
        Kind::List => (ValueType::List, Vec::new()),
        _ => (ValueType::Set, Vec::new()),
    };
    let bytes = [&[1], &text(element)[..], &rest].concat();
    let raw = RawValue { value_type, bytes: &bytes, templates: Templates::NONE };
    let violation = broken_by(checks, name, |record| {
        (record.kind, record.raw, record.length, record.expires_at) = (kind, Some(raw), Some(1), left.map(Millis));
    });
    violation.is_some()
}

#[test]
fn a_cached_collection_of_a_placeholder_is_a_marker() {
    let checks = rule("max = \"60s\"");
    for kind in [Kind::Hash, Kind::List, Kind::Set, Kind::Zset] {
        for element in ["NULL", "null", "nil", "", "None", "EMPTY", "__empty__", "Placeholder", "空", "\"null\""] {
            assert!(single(&checks, "cache:tags:1", kind, element, Some(60_001)), "{kind:?} {element}");
            assert!(single(&checks, "cache:tags:1", kind, element, None), "{kind:?} {element}");
            assert!(!single(&checks, "cache:tags:1", kind, element, Some(60_000)), "{kind:?} {element}");
        }
        for element in ["red", "0", "-1", "{}", "[]", "nullable", "_", "none"] {
            assert!(!single(&checks, "cache:tags:1", kind, element, None), "{kind:?} {element}");
        }
        // Elsewhere it may be data; a lock, and a class that may live forever, are no results.
        for name in ["shop:tags:1", "lock:tags:1", "config:tags"] {
            assert!(!single(&checks, name, kind, "NULL", None), "{name}");
        }
    }
    // A policy's own marker, two elements, all fields with an expiry, and damage.
    assert!(single(&rule("markers = [\"-1\"]"), "cache:tags:1", Kind::Set, "-1", None));
    let breaks = |kind, length, fields_with_ttl, bytes| {
        let value_type = if kind == Kind::Hash { ValueType::Hash } else { ValueType::Set };
        let raw = RawValue { value_type, bytes, templates: Templates::NONE };
        let violation = broken_by(&checks, "cache:tags:1", |record| {
            (record.kind, record.raw, record.length) = (kind, Some(raw), Some(length));
            record.fields_with_ttl = fields_with_ttl;
        });
        violation.is_some()
    };
    assert!(breaks(Kind::Set, 1, None, &b"\x01\x04NULL"[..]) && !breaks(Kind::Set, 2, None, b"\x02\x04NULL\x01a"));
    assert!(breaks(Kind::Hash, 1, None, b"\x01\x04NULL\x011") && !breaks(Kind::Hash, 1, Some(1), b"\x01\x04NULL\x011"));
    assert!(!breaks(Kind::Set, 1, None, b"\x01\x05NULL") && !breaks(Kind::Set, 1, None, b""));
}

#[test]
fn collections_are_asked_about_only_if_they_match_a_pattern() {
    let checks = rule("");
    let rule = &checks.keys[0].rule;
    assert_eq!(rule.kinds(), [Kind::String, Kind::Hash, Kind::List, Kind::Set, Kind::Zset]);
    let harmless = |kind| rule.harmless(kind, &checks.context).unwrap().unless_all();
    assert!(harmless(Kind::String).is_some() && harmless(Kind::Hash).is_none());
}

#[test]
fn what_may_have_no_members_is_no_missing_result() {
    let checks = rule("max = \"60s\"");
    let breaks = |name: &str, value: &str| plain(&checks, name, value, Some(60_001)).is_some();
    for name in [
        "game:bag:items:1",
        "game:quest:progress:1",
        "llm:chat:history:1",
        "hr:leave:balance:1",
        "sentinel:flow:rules:app",
        "user:menu_list:1",
        "user:chatHistory:1",
        "游戏:背包:1",
    ] {
        for value in ["{}", "[]", "[\"java.util.HashMap\",{}]", "a:0:{}"] {
            assert!(!breaks(name, value), "{name} {value}");
        }
        assert!(breaks(name, "NULL") && breaks(name, ""), "{name}");
    }
    // A list is that of several things; an object may be the row of a table in the plural.
    for name in ["user:coupons:1", "user:favoriteShops:1", "shop:user:orders:1"] {
        assert!(
            !breaks(name, "[]") && !breaks(name, "[\"java.util.ArrayList\",[]]") && !breaks(name, "\"[]\""),
            "{name}"
        );
        assert!(breaks(name, "{}") && breaks(name, "null") && breaks(name, ""), "{name}");
    }
    for name in
        ["orders:1", "shop:user:1", "shop:address:1", "shop:goods:1", "shop:status:1", "tms:car:1", "live:room:1:info"]
    {
        assert!(breaks(name, "[]") && breaks(name, "{}") && breaks(name, ""), "{name}");
    }
    for name in ["cache:user:tags:1", "cache:bag:items:1", "cache:rules"] {
        assert!(breaks(name, "[]") && breaks(name, "{}"), "{name}");
    }
    for name in ["user:typing:room:1", "ride:surge:active:1"] {
        assert!(!breaks(name, "") && breaks(name, "{}"), "{name}");
    }
}

#[test]
fn words_of_a_segment_except_keys_as_the_whole_one_does() {
    let checks = rule("max = \"60s\"");
    for name in ["edu:shopping_cart:1", "edu:cartItems:1", "edu:courseCart:1", "shop:cart:1"] {
        for value in ["[]", "{}", ""] {
            assert_eq!(plain(&checks, name, value, Some(60_001)), None, "{name} {value}");
        }
        assert!(plain(&checks, name, "null", Some(60_001)).is_some(), "{name}");
    }
    for name in
        ["edu:repeat_submit:1", "edu:repeatSubmit:1", "edu:sms:cooldown:1", "live:gift:msgid:1", "edu:wasRead:1"]
    {
        assert_eq!(plain(&checks, name, "", Some(60_001)), None, "{name}");
        assert!(plain(&checks, name, "[]", Some(60_001)).is_some(), "{name}");
    }
    for name in ["edu:cartoon:1", "edu:read_list:1", "edu:submitForm:1", "edu:course_cart_price:1"] {
        assert!(plain(&checks, name, "", Some(60_001)).is_some(), "{name}");
    }
}
