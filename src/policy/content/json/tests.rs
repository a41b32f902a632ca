use super::*;
use crate::policy::testing::record;
use crate::rdb::peek::RawValue;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;

/// Checks a string as a record would hold it.
fn holds(text: impl AsRef<[u8]>) -> bool {
    let text = text.as_ref();
    let bytes = [&[0x80], &(text.len() as u32).to_be_bytes()[..], text].concat();
    let raw = RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE };
    holds_objects(&crate::record::Record { raw: Some(raw), ..record(b"a:b") })
}

/// Checks a string as the server compresses it.
fn holds_compressed(text: &str) -> bool {
    holds_block(&lzf::compress(text.as_bytes()).unwrap(), text.len())
}

/// Checks a string that is stored as this block, and has `len` bytes.
fn holds_block(block: &[u8], len: usize) -> bool {
    let length = |len: usize| [&[0x80], &(len as u32).to_be_bytes()[..]].concat();
    let bytes = [&[0xC3][..], &length(block.len()), &length(len), block].concat();
    let raw = RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE };
    holds_objects(&crate::record::Record { raw: Some(raw), ..record(b"a:b") })
}

/// Returns an object of about `len` bytes.
fn long(len: usize) -> String {
    let members: Vec<String> = (0..len / 20).map(|i| format!("\"name {i:04}\": {i:05}")).collect();
    format!("{{{}}}", members.join(", "))
}

#[test]
fn objects_are_found_however_they_are_encoded() {
    for text in [
        r#"{"a":1}"#,
        "{\n  \"a\" : [1, -2.5e3, true, false, null, {}, []],\n\t\"b\": \"\\\"\\u4e2d\"\n}\n",
        r#"  {"a":{"b":{"c":[[{}]]}}}"#,
        r#"{"a":NaN,"b":Infinity,"c":[-Infinity,-1]}"#,
        r#"{"@type":"com.shop.user.entity.User","age":19,"id":1001L,"name":"tom"}"#,
        r#"{"@type":"com.shop.A","a":12.50B,"b":1S,"c":-3.0D,"d":2.5F,"e":1.0E10D,"f":[1L,2B]}"#,
        r#"{"@type":"com.shop.A","a":Set["a","b"],"b":TreeSet[1L],"c":Set[]}"#,
        r#"[{"@type":"com.shop.A","id":1L}]"#,
        r#""{\"@type\":\"com.shop.A\",\"id\":1L}""#,
        r#"[{"a":1}]"#,
        r#" [ {} , {"a":1} ]"#,
        r#"{"@class":"com.shop.User","id":1}"#,
        r#"["com.shop.User",{"id":1}]"#,
        r#"["java.util.HashMap",{"a":1}]"#,
        r#"["java.util.ArrayList",[{"@class":"com.shop.User"}]]"#,
        r#"["java.util.ArrayList",[ ["com.shop.Order$Line_1", {"id":1}] , ["com.shop.User",{"id":2}]]]"#,
        r#"[["com.shop.User",{"id":1}],{"id":2}]"#,
        r#"[[{"a":1}]]"#,
        r#"[[[{"a":1},{"b":2}]],[{"a":1}]]"#,
        r#""[\"com.shop.User\",{\"id\":1}]""#,
        r#""{\"a\":1}""#,
        r#""[{\"a\":\"b\\\\n\"}]""#,
        r#""{\u0022a\u0022:\u00221\u0022}""#,
        r#""\"{\\\"a\\\":1}\"""#,
        "\"{\\n  \\\"a\\\": 1}\" ",
    ] {
        assert!(holds(text), "{text}");
    }
}

#[test]
fn values_encoded_too_often_hold_none() {
    let mut text = r#"{"a":1}"#.to_owned();
    for encodings in 0..=ENCODINGS + 1 {
        assert!(text.len() <= EXAMINED);
        assert_eq!(holds(&text), encodings <= ENCODINGS, "{text}");
        text = serde_json::to_string(&text).unwrap();
    }
}

#[test]
fn other_texts_hold_none() {
    for text in [
        "",
        "{",
        "{}",
        "[]",
        "[{}]",
        "{ }",
        "{\"",
        "{\"a",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "[1,2,3]",
        r#"["a","b"]"#,
        r#"[[{"a":1}]"#,
        r#"[[{"a":1}],2]"#,
        r#"[[1]]"#,
        r#"[{"a":1},2]"#,
        r#"["java.util.ArrayList",[]]"#,
        r#"["java.lang.Long",12]"#,
        r#"["java.util.ArrayList",["java.lang.Long",12]]"#,
        r#"["com.shop.User",{}]"#,
        r#"["com.shop.User",{"id":1},2]"#,
        r#"["user",{"id":1}]"#,
        r#"["com.shop.user",{"id":1}]"#,
        r#"["Mr. Smith",{"id":1}]"#,
        r#"[".User",{"id":1}]"#,
        r#"["a","b",{"id":1}]"#,
        r#"[{"a":1}"#,
        r#"{"a":1}]"#,
        r#"{"a":1LL}"#,
        r#"{"a":1X}"#,
        r#"{"a":-L}"#,
        r#"{"a":1 L}"#,
        r#"{"a":1.L}"#,
        r#"{"a":Set}"#,
        r#"{"a":Set "b"}"#,
        r#"{"a":Settings["b"]}"#,
        r#"{"a":TreeMap["b"]}"#,
        r#"{"a":Inf}"#,
        r#"{"a":-Infinite}"#,
        r#"{"a":1} trailing"#,
        r#"{"a":1}{"b":2}"#,
        "{\"a\":1}\n{\"b\":2}\n",
        r#"{"level":"info"} GET /{id}"#,
        "{{name}}",
        "{{ \"name\" | upper }}",
        r#"{"greeting": {{name}}}"#,
        r#"{% if "a" %}"#,
        r#"{"a", "b"}"#,
        r#"{ "a" = 1 }"#,
        "{'a': 1}",
        "{a: 1}",
        "{user:1}:cart",
        "[INFO] started {\"a\":1}",
        "[section]\nkey={\"a\":1}",
        "[2024-01-01] \"}",
        r#""plain text""#,
        r#""{name} has logged in""#,
        r#""{\"a\":1} and more""#,
        r#""{\"a\":1""#,
        r#""{\"a\":1}" and more"#,
        "\"quoted\" words }",
        "{\"a\":\"line\nbreak\"}",
        "\u{feff}{\"a\":1}",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn of_long_texts_beginning_and_end_count() {
    for len in [200, 256, 300, 5_000, 100_000] {
        let object = long(len);
        assert!(holds(&object), "{len}");
        assert!(holds(format!("[{object},{object}]\n")), "{len}");
        assert!(holds(serde_json::to_string(&object).unwrap()), "{len}");
        assert!(!holds(format!("{object} is what I said")), "{len}");
        assert!(!holds(object.trim_end_matches('}')), "{len}");
    }
    assert!(!holds(format!("{{\"{}\":1}}", "x".repeat(300))), "no name within the examined bytes");
    assert!(!holds(format!("{{\"a\":1}}\n{}", long(1_000))), "several objects");
    assert!(!holds("[".repeat(100_000)) && !holds(format!("{{\"a\":{}", "[".repeat(100_000))));
}

#[test]
fn compressed_texts_are_examined_alike() {
    for len in [200, 400, 5_000] {
        let object = long(len);
        assert!(holds_compressed(&object) && holds_compressed(&format!("[{object}, {object}]")), "{len}");
        assert!(holds_compressed(&serde_json::to_string(&object).unwrap()), "{len}");
        assert!(holds_compressed(&format!("{object}\n")), "{len}");
        assert!(!holds_compressed(&format!("{object} is what I said")), "{len}");
        assert!(!holds_compressed(&format!("{{{object}")), "{len}");
    }
}

/// Compressors may end a block with a copy of three bytes.
#[test]
fn compressed_texts_may_end_with_a_copy() {
    let holds = |text: &str, from: usize| {
        // Literals, at most 32 at a time, and a copy of the three bytes at `from`.
        let (literals, last) = text.as_bytes().split_at(text.len() - 3);
        assert_eq!(&literals[from..from + 3], last);
        let distance = literals.len() - from - 1;
        let mut block: Vec<u8> =
            literals.chunks(32).flat_map(|run| [&[run.len() as u8 - 1][..], run].concat()).collect();
        block.extend([1 << 5 | (distance >> 8) as u8, distance as u8]);
        holds_block(&block, text.len())
    };
    for city in ["Wuhan", "Chengdu", "Beijing"] {
        let pad = "x".repeat(200);
        let text = format!("[{{\"to\":[{{\"city\":\"{city}\"}}],\"no\":\"{pad}\"}},{{\"status\":\"TRANSIT\"}}]");
        let first = text.find("\"}]").unwrap();
        assert!(holds(&text, first), "{text}");
        assert!(!holds(&format!("{text} to {}", &text[2..5]), 2), "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn documents_with_members_are_recognised(
        members in proptest::collection::btree_map("[a-z\"\\\\\u{4e2d} ]{0,9}", "[ -~]{0,30}", 1..30),
        times in 0..3,
    ) {
        let mut text = serde_json::to_string(&members).unwrap();
        for _ in 0..times {
            text = serde_json::to_string(&text).unwrap();
        }
        proptest::prop_assert!(holds(&text), "{}", text);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(text in proptest::collection::vec(proptest::num::u8::ANY, 0..300), start in 0usize..4) {
        holds([&b"{\"["[..start.min(3)], &text].concat());
        holds([&b"{\"a\":"[..], &text].concat());
        holds([&b"\"{\\\"a\\\":"[..], &text].concat());
    }

    #[test]
    fn whole_json_agrees_with_a_parser(text in "[{}\\[\\]\",:a1 \\\\]{0,12}") {
        let parsed = serde_json::from_str::<serde_json::Value>(&text).ok();
        let has_members = |value: &serde_json::Value| value.as_object().is_some_and(|object| !object.is_empty());
        if let Some(serde_json::Value::Object(object)) = &parsed {
            proptest::prop_assert_eq!(holds(&text), !object.is_empty());
        }
        if let Some(serde_json::Value::Array(array)) = &parsed {
            let objects = array.iter().all(serde_json::Value::is_object) && array.iter().any(has_members);
            proptest::prop_assert!(!objects || holds(&text));
        }
        if parsed.is_none() {
            proptest::prop_assert!(!holds(&text), "{}", text);
        }
    }
}
