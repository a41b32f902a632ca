//! One key with its value, for `rdblens show`: as text and as JSON.

mod broken;
mod document;
mod json;
mod text;

pub use json::write_json;
pub use text::write_text;

use crate::show::{Found, Value};

/// A key to show.
#[derive(Debug, Clone, Copy)]
pub struct ShownKey<'a> {
    /// The key.
    pub found: &'a Found,
    /// Its value.
    pub value: &'a Value,
    /// Elements at the end of the value that were left out.
    pub omitted: usize,
}

/// Formats the id of a stream entry.
fn id((ms, sequence): (u64, u64)) -> String {
    format!("{ms}-{sequence}")
}

#[cfg(test)]
mod samples {
    //! Keys of each type, with bytes that need escaping.

    use std::sync::Arc;

    use crate::policy::{BrokenRule, KeyJudgement};
    use crate::rdb::value_type::ValueType;
    use crate::record::{Encoding, ModuleName, Quantization};
    use crate::report::{Severity, Text, Unit};
    use crate::show::{
        Consumer, Entry, Found, Group, HashField, Item, KeyFacts, Pending, Producer, Stream, Value, VectorElement,
        VectorSet,
    };
    use crate::units::{Bytes, Millis};

    pub fn found(value_type: ValueType) -> Found {
        Found {
            file: "a.rdb".to_owned(),
            db: 2,
            key: b"k\xff".to_vec(),
            value_type,
            expires_at: Some(Millis(2_000_000_000_000)),
            idle: Some(7),
            freq: None,
            offset: 31,
            disk: Bytes(1234),
            value_offset: 40,
            value: Vec::new().into(),
            facts: None,
            templates: Arc::default(),
            as_opened: None,
        }
    }

    pub fn judged() -> Found {
        let broken = |rule, figures, exempted: Option<&str>| BrokenRule {
            rule,
            severity: Severity::Must,
            problem: Text { en: "too big", zh: "过大" }.into(),
            unit: Some(Unit::Bytes),
            figures,
            exempted: exempted.map(str::to_owned),
        };
        let judgement = KeyJudgement {
            policy: "team".to_owned(),
            owner: Some("shop".to_owned()),
            contact: Some("#shop".to_owned()),
            class: None,
            breaks: vec![
                broken("big.total", Some([20_480, 10_240]), None),
                broken("key.prefix", None, None),
                broken("key.length", None, Some("old")),
            ],
        };
        let facts = KeyFacts {
            model: "redis-7.2".to_owned(),
            memory: Some(Bytes(1_536)),
            module: None,
            encoding: Encoding::Listpack,
            elements: None,
            pattern: "k:{int}".to_owned(),
            judgement,
        };
        Found { facts: Some(facts), ..found(ValueType::Hash) }
    }

    pub fn zset() -> Value {
        Value::Zset(vec![(b"one".to_vec(), 1.0), (b"half".to_vec(), -10.5), (b"all".to_vec(), f64::INFINITY)])
    }

    pub fn hash() -> Value {
        let field = |field: &[u8], value: &[u8], expires_at| HashField {
            field: field.to_vec(),
            value: value.to_vec(),
            expires_at,
        };
        Value::Hash(vec![
            field(b"name", "Ann 你".as_bytes(), None),
            field(b"\x1b[2J", b"", Some(Millis(2_000_000_000_500))),
        ])
    }

    pub fn vectors() -> VectorSet {
        let element = |name: &[u8], attributes: Option<&[u8]>, links: &[u64]| VectorElement {
            name: name.to_vec(),
            attributes: attributes.map(<[u8]>::to_vec),
            links: links.to_vec(),
        };
        VectorSet {
            dimension: 3,
            input_dimension: Some(30),
            quantization: Quantization::Int8,
            most_links: 16,
            elements: vec![element(b"apple", Some(b"{\"red\":true}"), &[12, 3]), element(b"\xff", None, &[1])],
        }
    }

    pub fn module() -> Value {
        let items = vec![Item::Integer(-1), Item::Float(0.5), Item::Float(f64::NAN), Item::Text(b"x\0".to_vec())];
        Value::Module(Some(ModuleName::from_id(0xBDE7_2DA2_BB1E_B400)), items)
    }

    pub fn stream() -> Value {
        let group = Group {
            name: b"billing".to_vec(),
            last_id: (5, 0),
            entries_read: None,
            pending: vec![Pending { id: (5, 0), delivered_at: Millis(1_000), deliveries: 1 }],
            consumers: vec![Consumer {
                name: b"c1".to_vec(),
                seen_at: Millis(2_000),
                active_at: None,
                pending: vec![(5, 0)],
            }],
            returned: vec![(4, 1)],
        };
        Value::Stream(Stream {
            last_id: (5, 0),
            entries_added: Some(9),
            entries: vec![Entry { id: (5, 0), fields: vec![(Arc::from(&b"f"[..]), b"v".to_vec())] }],
            groups: vec![group],
            producers: vec![Producer { name: b"p".to_vec(), ids: vec![(b"own".to_vec(), (5, 0))] }],
        })
    }
}
