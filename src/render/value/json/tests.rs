use super::super::samples;
use super::*;
use crate::rdb::value_type::ValueType;
use serde_json::{Value as Json, json};

fn document(value: &Value) -> Json {
    written(&ShownKey { found: &samples::found(ValueType::Hash), value, omitted: 0 })
}

fn written(key: &ShownKey<'_>) -> Json {
    let mut out = Vec::new();
    write_json(key, &mut out).unwrap();
    assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 1);
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn a_vector_set_has_its_elements() {
    assert_eq!(
        document(&Value::Vectors(samples::vectors()))["value"],
        json!({
            "module": "vectorset", "dimension": 3, "input_dimension": 30, "quantization": "int8", "most_links": 16,
            "elements": [
                {"name": "apple", "attributes": "{\"red\":true}", "links": [12, 3]},
                {"name": {"base64": "/w=="}, "attributes": null, "links": [1]},
            ],
        })
    );
}

#[test]
fn the_document_names_its_shape_and_tells_what_is_known_of_the_key() {
    assert_eq!(
        document(&Value::Set(vec![b"a".to_vec()])),
        json!({
            "schema": "rdblens.value/1", "file": "a.rdb", "db": 2, "key": {"base64": "a/8="}, "type": "hash",
            "encoding": null, "memory": null, "model": null, "expires_at": 2_000_000_000_000u64, "idle": 7, "freq": null,
            "offset": 31, "disk": 1234, "pattern": null, "omitted": 0, "value": ["a"],
        })
    );
}

#[test]
fn broken_rules_have_measured_and_allowed() {
    let document = written(&ShownKey { found: &samples::judged(), value: &Value::List(vec![]), omitted: 7 });
    assert_eq!((&document["encoding"], &document["memory"]), (&json!("listpack"), &json!(1_536)));
    assert_eq!(
        (&document["owner"], &document["class"], &document["omitted"]),
        (&json!("shop"), &json!(null), &json!(7))
    );
    assert_eq!(
        document["breaks"][0],
        json!({
            "rule": "big.total", "severity": "must", "problem": "too big", "problem_zh": "过大", "measured": 20_480,
            "allowed": 10_240, "unit": "bytes",
        })
    );
    assert_eq!(document["breaks"][2]["exempted"], "old");
}

#[test]
fn each_type_has_its_form() {
    let value = |value: &Value| document(value)["value"].clone();
    assert_eq!(value(&Value::Text(b"x".to_vec())), json!("x"));
    assert_eq!(value(&Value::List(vec![vec![0xFF]])), json!([{"base64": "/w=="}]));
    assert_eq!(
        value(&samples::zset()),
        json!([
            {"member": "one", "score": 1.0}, {"member": "half", "score": -10.5}, {"member": "all", "score": "inf"},
        ])
    );
    assert_eq!(
        value(&samples::hash()),
        json!([
            {"field": "name", "value": "Ann 你", "expires_at": null},
            {"field": "\u{1b}[2J", "value": "", "expires_at": 2_000_000_000_500u64},
        ])
    );
    assert_eq!(value(&samples::module()), json!({"module": "vectorset", "parts": [-1, 0.5, "NaN", "x\0"]}));
    assert_eq!(value(&Value::Array(vec![(7, Item::Integer(1))])), json!([{"index": 7, "item": 1}]));
}

#[test]
fn a_stream_is_whole() {
    assert_eq!(
        document(&samples::stream())["value"],
        json!({
            "last_id": "5-0",
            "entries_added": 9,
            "entries": [{"id": "5-0", "fields": [{"field": "f", "value": "v"}]}],
            "groups": [{
                "name": "billing",
                "last_id": "5-0",
                "entries_read": null,
                "pending": [{"id": "5-0", "delivered_at": 1000, "deliveries": 1}],
                "consumers": [{"name": "c1", "seen_at": 2000, "active_at": null, "pending": ["5-0"]}],
                "returned": ["4-1"],
            }],
            "producers": [{"name": "p", "ids": [{"id": "own", "entry": "5-0"}]}],
        })
    );
}
