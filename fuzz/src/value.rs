//! Input of the targets that take one value: how to read it, then its bytes.

use std::sync::LazyLock;

use rdblens::internals::rdb::cursor::Cursor;
use rdblens::internals::rdb::header::Family;
use rdblens::internals::rdb::template::{Defined, Templates};
use rdblens::internals::rdb::value_type::ValueType;

/// Bytes before the value.
pub const HEAD: usize = 3;

/// One value of a snapshot.
pub struct ValueInput<'a> {
    /// Layout.
    pub value_type: ValueType,
    /// Any number, for what else a target may choose.
    pub choice: u8,
    /// Hash templates of the file.
    pub templates: &'static Templates,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Hash templates 0 and 1.
static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| {
    let mut templates = Templates::default();
    for operands in [&b"\x00\x02\x01a\x04name"[..], b"\x01\x03\x01a\x01b\x05price"] {
        match templates.read(&mut Cursor::new(operands, 0)).expect("its names are in order") {
            Defined::New(template) => templates.add(template),
            defined => panic!("its number is new: {defined:?}"),
        }
    }
    templates
});

impl<'a> ValueInput<'a> {
    /// Splits an input into family, type byte, choice and value; `None` if there is no such type.
    pub fn new(input: &'a [u8]) -> Option<ValueInput<'a>> {
        let (&[family, byte, choice], bytes) = input.split_first_chunk::<HEAD>()?;
        let family = match family % 3 {
            0 => Family::Redis,
            1 => Family::Valkey,
            _ => Family::Dragonfly,
        };
        let templates = if family == Family::Redis { &*TEMPLATES } else { Templates::FOREIGN };
        Some(ValueInput { value_type: ValueType::from_byte(family, byte)?, choice, templates, bytes })
    }
}
