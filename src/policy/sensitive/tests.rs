use proptest::prelude::*;

use super::testing::{everything, found, verdict};
use super::*;
use crate::policy::testing::{hash_value, record, string_value};
use crate::rdb::peek::RawValue;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::units::Millis;

#[test]
fn ordinary_values_do_not_match() {
    for text in [
        "1",
        "1700000000",
        "1700000000123",
        "1789012345678901234",
        "20241104123045000123",
        "550e8400-e29b-41d4-a716-446655440000",
        "0123456789abcdef0123456789abcdef",
        "https://user@host/path?x=12345",
        "{\"id\":1001,\"token\":\"abc\",\"ok\":true}",
        "192.168.0.1:6379",
        "2026-11-21T03:00:00Z",
        "SF1234567890123",
        "3.14159265358979",
        "-13812345678.25",
    ] {
        assert_eq!(found(text), &[] as &[SensitiveKind], "{text}");
    }
}

#[test]
fn matches_in_a_name_are_masked() {
    let masked = |name: &str| everything().masked_name(name.as_bytes()).map(|name| String::from_utf8(name).unwrap());
    assert_eq!(masked("sms:13812345678:code").as_deref(), Some("sms:138****5678:code"));
    assert_eq!(masked("u:13812345678@qq.com:a@corp.cn").as_deref(), Some("u:1***@q***.com:***@c***.cn"));
    assert_eq!(masked("user:1001"), None);
}

#[test]
fn a_verdict_holds_kinds_and_masked_evidence_only() {
    let verdict = everything().inspect(&record(b"sms:13812345678"), SensitiveKinds::ALL, &mut PeekBuffers::default());
    let [evidence] = &*verdict.evidence else { panic!("{verdict:?}") };
    let words =
        Wording { en: "phone 138****5678 in the name".into(), zh: "手机号 138****5678（key 名中）".into() };
    assert_eq!((evidence.kind, evidence.wording()), (SensitiveKind::Phone, words));
    assert!(verdict.found.has(SensitiveKind::Phone) && verdict.near.is_empty());
}

#[test]
fn numbers_that_java_serialized_are_read() {
    let class = b"\xac\xed\0\x05sr\0\x0ejava.lang.Long;\x8b\xe4\x90\xcc\x8f#\xdf\x02\0\x01J\0\x05valuexr\0\x10\
        java.lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\x02\0\0xp";
    let long = |value: u64| verdict(&[&class[..], &value.to_be_bytes()].concat());
    assert!(long(13_812_345_678).found.has(SensitiveKind::Phone) && long(1_700_000_000_123).found.is_empty());
}

/// Returns what is found in parts of the value of a key.
fn found_in(key: &str, parts: &[ValuePart<'_>]) -> Vec<SensitiveKind> {
    let (inspection, mut tally) = (everything(), MatchTally::new(SensitiveKinds::ALL));
    let password = named::find(key.as_bytes(), &inspection.names, &inspection.separators);
    let separators = &Separators::default();
    let (of_amount, of_serial) = (amount::is_amount(key.as_bytes()), amount::is_serial(key.as_bytes()));
    let words = KeyWords { name: key.as_bytes(), password, of_amount, of_serial, separators };
    parts.iter().for_each(|part| inspection.part(*part, Kind::Hash, &words, &mut tally));
    let found = tally.finish().found;
    SensitiveKind::ALL.into_iter().filter(|kind| found.has(*kind)).collect()
}

fn string<'t>(text: &'t (impl AsRef<[u8]> + ?Sized)) -> ValuePart<'t> {
    ValuePart::String(text.as_ref())
}

fn pair<'t>(field: &'t str, value: &'t (impl AsRef<[u8]> + ?Sized)) -> ValuePart<'t> {
    ValuePart::Pair(field.as_bytes(), value.as_ref())
}

const NONE: [SensitiveKind; 0] = [];

#[test]
fn values_of_amounts_are_no_phone_numbers() {
    let finds = |key: &str| {
        let bytes = [&[11][..], b"13812345678"].concat();
        let raw = RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE };
        let record = Record { raw: Some(raw), ..record(key.as_bytes()) };
        !everything().inspect(&record, SensitiveKinds::ALL, &mut PeekBuffers::default()).found.is_empty()
    };
    assert!(finds("user:contact:7") && !finds("file:size:7") && !finds("disk:usedBytes"));
    assert_eq!(
        found_in("bank:balance", &[pair("13812345678", "7")]),
        [SensitiveKind::Phone],
        "whose number is counted"
    );
    for key in ["bank:acct:balance:8812", "order:no:7", "账户:余额:7", "user:quota:1"] {
        let fields = [pair("name", "li"), pair("mobile", "13912345678"), pair("balance", "13812345678")];
        assert_eq!(found_in(key, &fields), [SensitiveKind::Phone], "{key}");
        let text = r#"{"name":"li","receiverPhone":"13912345678","balance":12.5}"#;
        assert_eq!(found_in(key, &[string(text)]), [SensitiveKind::Phone], "{key}");
        assert_eq!(found_in(key, &[pair("buyer", text)]), [SensitiveKind::Phone], "{key}");
    }
    for part in [
        pair("2024", "13812345678"),
        pair("logs", "13812345678"),
        string("[13812345678,13912345678]"),
        string(r#"{"logs":13812345678}"#),
    ] {
        assert_eq!(found_in("disk:storage:used", &[part]), NONE, "{part:?}");
    }
    assert_eq!(found_in("user:info:1", &[pair("contactTotal", "13812345678")]), NONE);
    for field in ["gold", "combatPower", "views", "gmv", "duration", "金币", "热度"] {
        assert_eq!(found_in("game:player:1", &[pair(field, "15812345678")]), NONE, "{field}");
    }
    for field in ["goldPhone", "sales", "contact_us", "qq"] {
        assert_eq!(found_in("game:player:1", &[pair(field, "15812345678")]), [SensitiveKind::Phone], "{field}");
    }
    assert_eq!(found_in("live:room:heat:1", &[string("15812345678")]), NONE);
}

#[test]
fn serial_numbers_are_no_phone_numbers() {
    for field in
        ["studentNo", "学号", "empNo", "sn", "受理号", "traceNo", "imei", "inviteCode", "barcode", "条形码", "xuehao"]
    {
        assert_eq!(found_in("edu:info:1", &[pair(field, "18912345678")]), NONE, "{field}");
        let text = format!(r#"{{"{field}":"18912345678"}}"#);
        assert_eq!(found_in("edu:info:1", &[string(&text)]), NONE, "{field}");
    }
    for field in ["phoneNo", "联系电话", "账号", "callerNo", "memberNo", "remark", "number"] {
        assert_eq!(found_in("edu:info:1", &[pair(field, "18912345678")]), [SensitiveKind::Phone], "{field}");
    }
    // The value of the key is the number, but what else stands under it may be a phone's.
    assert_eq!(found_in("gov:acceptance:no:1", &[string("18912345678")]), NONE);
    assert_eq!(found_in("gov:acceptance:no:1", &[string("\"18912345678\"")]), NONE);
    assert_eq!(found_in("gov:acceptance:no:1", &[pair("linkman", "18912345678")]), [SensitiveKind::Phone]);
    assert_eq!(found_in("gov:acceptance:no:1", &[string(r#"{"by":"18912345678"}"#)]), [SensitiveKind::Phone]);
    assert_eq!(found_in("gov:accepted:by:1", &[string("18912345678")]), [SensitiveKind::Phone]);
}

#[test]
fn named_numbers_stand_beside_others() {
    let (card, other) = ("11010519491231002X", "713829384756102938");
    let records = |number: &str| format!(r#"{{"idNo":"{number}","cases":[{}1]}}"#, format!("{other},").repeat(5));
    assert_eq!(found_in("case:party:1", &[string(&records(card))]), [SensitiveKind::IdCard]);
    assert_eq!(found_in("case:party:1", &[string(&records(card).replace("idNo", "caseNo"))]), NONE);
    // Another number under the name is no near miss, unless it might be one by its date.
    let verdict = |number: &str| {
        let mut tally = MatchTally::new(SensitiveKinds::ALL);
        let separators = &Separators::default();
        let key = KeyWords { name: b"user:idno:7", password: None, of_amount: false, of_serial: false, separators };
        everything().part(string(number), Kind::String, &key, &mut tally);
        tally.finish()
    };
    assert!(verdict(card).found.has(SensitiveKind::IdCard) && verdict(other).near.is_empty());
    assert!(verdict("110105194912310021").near.has(SensitiveKind::IdCard));
    let mobile = |name: &str| format!(r#"{{"{name}":"13912345678","waybills":[{}1]}}"#, "20231127001,".repeat(6));
    assert_eq!(found_in("express:1", &[string(&mobile("mobile"))]), [SensitiveKind::Phone]);
    assert_eq!(found_in("express:1", &[string(&mobile("next"))]), NONE);
    let elements = ["13912345678", "02165123456"].map(|text| ValuePart::Element(text.as_bytes()));
    assert_eq!(found_in("agent:phones:1", &elements), [SensitiveKind::Phone], "a fixed line beside it");
}

#[test]
fn escapes_of_json_are_decoded() {
    for (text, kind) in [
        (r#"{"dsn":"redis:\/\/app:Hunter2x@10.0.0.1:6379\/0"}"#, SensitiveKind::Password),
        (r#"{"dsn":"jdbc:mysql:\/\/10.0.0.1:3306\/shop?user=root\u0026password=Hunter2x"}"#, SensitiveKind::Password),
        (r#"{"msg":"\u60a8\u7684\u521d\u59cb\u5bc6\u7801\u662fAbc12345"}"#, SensitiveKind::Password),
        (r#"{"remark":"\u8054\u7cfb\u7535\u8bdd13912345678"}"#, SensitiveKind::Phone),
        (r#"{"remark":"x\n13912345678"}"#, SensitiveKind::Phone),
        (r#"{"remark":"\u8eab\u4efd\u8bc111010519491231002X\u3002"}"#, SensitiveKind::IdCard),
        (r#"{"mail":"ann\u0040corp.cn"}"#, SensitiveKind::Email),
    ] {
        assert_eq!(found_in("user:info:1", &[string(text)]), [kind], "{text}");
        assert_eq!(found_in("user:info:1", &[pair("data", text)]), [kind], "{text}");
    }
    for text in [r#"{"\u5b66\u53f7":"18307130123"}"#, r#"{"\u5e94\u7a0e\u91d1\u989d":13912345678}"#] {
        assert_eq!(found_in("user:info:1", &[string(text)]), NONE, "{text}");
    }
}

#[test]
fn texts_of_binary_formats_are_read() {
    let java = |text: &str| {
        let text = text.as_bytes();
        [b"\xac\xed\0\x05t", &u16::try_from(text.len()).unwrap().to_be_bytes()[..], text].concat()
    };
    let field = |text: &str| [b"\x08\x07\x42", &[text.len() as u8][..], text.as_bytes(), b"\x32\x03abc"].concat();
    let pickle = |text: &str| [b"\x80\x02X", &[text.len() as u8][..], b"\0\0\0", text.as_bytes(), b"q\0."].concat();
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    for (text, kind) in [
        ("13912345678", SensitiveKind::Phone),
        ("+8613912345678", SensitiveKind::Phone),
        ("139 1234 5678", SensitiveKind::Phone),
        ("手机13912345678", SensitiveKind::Phone),
        ("13912345678,li,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", SensitiveKind::Phone),
        ("11010519491231002X", SensitiveKind::IdCard),
        ("ann@corp.cn", SensitiveKind::Email),
        ("redis://app:Hunter2x@10.0.0.1:6379/0?x=xxxxxxxxxxx", SensitiveKind::Password),
        (token, SensitiveKind::Jwt),
    ] {
        for value in [java(text), field(text), pickle(text)] {
            assert_eq!(found_in("user:info:1", &[string(&value)]), [kind], "{}", value.escape_ascii());
            assert_eq!(found_in("user:info:1", &[pair("data", &value)]), [kind], "{}", value.escape_ascii());
        }
    }
    let array = b"\x93\x07\xab13912345678\x31";
    assert_eq!(found_in("user:info:1", &[string(array)]), [SensitiveKind::Phone]);
}

#[test]
fn raw_private_keys_are_found_by_their_name() {
    let key = format!("MIIEvQIBADANBg{}", "kqhkiG9w0BAQ".repeat(30));
    let public = format!("MIIBIjANBgkqhk{}", "kqhkiG9w0BAQ".repeat(30));
    let member = |key: &str| format!("{{\"appId\":\"1\",\"merchantPrivateKey\":\"{key}\"}}");
    for part in [pair("private_key", &key), string(&member(&key)), pair("data", &member(&key))] {
        assert_eq!(found_in("pay:channel:1", &[part]), [SensitiveKind::PrivateKey]);
    }
    for part in [pair("private_key", &public), pair("public_key", &key), string(&member(&public)), string(&key)] {
        assert_eq!(found_in("pay:channel:1", &[part]), NONE);
    }
    assert_eq!(found_in("pay:channel:1", &[pair("privateKey", "MIIEvQIBADANBg")]), NONE, "too short");
}

#[test]
fn codes_that_are_given_out_are_no_passwords() {
    let code = || [pair("口令", "Abc12345")];
    assert_eq!(found_in("app:door:1", &code()), [SensitiveKind::Password]);
    assert_eq!(found_in("live:redpacket:1", &code()), NONE);
    assert_eq!(found_in("live:redpacket:1", &[string(r#"{"口令":"恭喜发财"}"#)]), NONE);
    assert_eq!(found_in("live:redpacket:1", &[pair("password", "恭喜发财")]), NONE);
    assert_eq!(found_in("pan:share:1", &[string(r#"{"pwd":"x7k2"}"#)]), NONE);
    assert_ne!(found_in("pan:share:1", &[pair("password", "Abc@123456")]), NONE);
    assert_ne!(found_in("share:user:1", &[pair("password", "x7k2p9")]), NONE);
    assert_eq!(found_in("ad:item:1", &[pair("淘口令", "￥Xy12abCd￥")]), NONE);
}

#[test]
fn hostile_texts_take_linear_time() {
    let start = std::time::Instant::now();
    for piece in [
        "1",
        "1 ",
        "1111-",
        "a@",
        "@",
        "eyJ.",
        "eyJ",
        "-----BEGIN ",
        "\"",
        "\"a\":\"",
        "\\\"",
        "1.",
        "138 1234 ",
        "\\",
        "\"a\":1",
        "\\\"a\\\":\\\"",
        "\\\\\"",
        "\\\\\\\"a\\\\\\\":\\\\\\\"",
        "+86 138 ",
        "13812345678:",
        "13812345678\\\":",
    ] {
        found(&piece.repeat((1 << 20) / piece.len()));
    }
    // Quadratic time would take hours.
    assert!(start.elapsed().as_secs() < 60);
}

fn secrets() -> impl Strategy<Value = String> {
    prop_oneof![
        "1[38][0-9]{9}",
        "[a-z]{1,8}@[a-z]{1,8}\\.(com|cn)",
        "4[0-9]{15}",
        "62[0-9]{14,17}",
        "[1-6][0-9]{5}19[0-9]{2}0[1-9]1[0-9][0-9]{3}[0-9X]",
        "eyJ[a-zA-Z0-9]{10,20}\\.eyJ[a-zA-Z0-9]{10,20}\\.[a-zA-Z0-9_-]{16,40}",
        "\"password\":\"[b-z]{6,12}9\"",
    ]
}

proptest! {
    #[test]
    fn evidence_never_holds_the_secret(before in "[ :,]{0,3}", secret in secrets(), behind in "[ :,]{0,3}") {
        let text = format!("{before}{secret}{behind}");
        let verdict = verdict(text.as_bytes());
        let bare = secret.trim_start_matches("\"password\":").trim_matches('"');
        for evidence in verdict.evidence.iter().map(|evidence| &evidence.text) {
            prop_assert!(!evidence.contains(bare), "{evidence}");
            // At most the ends of the secret are shown.
            prop_assert!(!bare.as_bytes().windows(6).any(|part| {
                memchr::memmem::find(evidence.as_bytes(), part).is_some()
            }), "{evidence}");
        }
        if let Some(name) = everything().masked_name(text.as_bytes()) {
            prop_assert!(memchr::memmem::find(&name, bare.as_bytes()).is_none());
        }
    }

    #[test]
    fn any_bytes_can_be_inspected(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        verdict(&text);
        everything().masked_name(&text);
    }

    #[test]
    fn texts_of_marks_can_be_inspected(text in "[0-9@.:\"\\\\xX -]{0,120}") {
        verdict(text.as_bytes());
        everything().masked_name(text.as_bytes());
    }
}

#[test]
fn a_hash_with_a_user_or_server_makes_pass_a_password() {
    let finds = |pairs: &[(&[u8], &[u8])]| {
        let record = Record { kind: Kind::Hash, raw: Some(hash_value(pairs)), ..record(b"app:smtp:1") };
        !everything().inspect(&record, SensitiveKinds::ALL, &mut PeekBuffers::default()).found.is_empty()
    };
    assert!(finds(&[(b"pass", b"abcdefghijklmnop"), (b"user", b"shop")]));
    assert!(finds(&[(b"smtp_host", b"smtp.example"), (b"smtp_pass", b"12345678")]));
    assert!(!finds(&[(b"pass", b"abcdefghijklmnop"), (b"name", b"shop")]));
    assert!(
        !finds(&[(b"pass", b"failed"), (b"user", b"ann")]) && !finds(&[(b"exam_pass", b"abcdefgh"), (b"user", b"ann")])
    );
}

#[test]
fn tokens_of_locks_are_no_passwords() {
    let finds = |name: &str, value: &str| {
        let record = Record {
            raw: Some(string_value(value.as_bytes())),
            expires_at: Some(Millis(1)),
            ..record(name.as_bytes())
        };
        !everything().inspect(&record, SensitiveKinds::ALL, &mut PeekBuffers::default()).found.is_empty()
    };
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    assert!(!finds("lock:account-change-secret:7", uuid) && !finds("lock:app-secret:7", uuid));
    assert!(
        finds("app:client-secret:7", uuid) && finds("iot:lock:pwd:7", "482913") && finds("lock:password:7", "Abc12345")
    );
}
