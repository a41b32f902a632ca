//! Recognition of text: valid UTF-8 without control characters, except tabs and line ends.
//!
//! Formats for machines (gzip, images, protobuf, MessagePack, serialised Java objects), bitmaps and HyperLogLogs have other
//! control characters or invalid UTF-8 in their first bytes.

use super::beginning;
use crate::record::Record;

/// Maximum number of bytes examined.
const EXAMINED: usize = 1 << 10;

/// Returns whether a string begins like text.
pub fn is_text(record: &Record<'_>) -> bool {
    beginning(record, EXAMINED, |bytes, whole| {
        let examined = bytes.get(..EXAMINED).unwrap_or(bytes);
        begins_like_text(examined, whole && examined.len() == bytes.len())
    })
    .unwrap_or(false)
}

/// Checks the beginning of a string. A character that the end cuts is valid unless this is the `whole` string.
pub(super) fn begins_like_text(bytes: &[u8], whole: bool) -> bool {
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => !whole && error.error_len().is_none(),
    };
    is_utf8 && !bytes.iter().any(|&byte| is_control(byte))
}

fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r') || byte == 0x7F
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::record;
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;

    #[test]
    fn a_long_text_may_have_a_character_across_the_limit() {
        let long = "张".repeat(400);
        assert!(!long.is_char_boundary(EXAMINED));
        let bytes = [&[0x40 | (long.len() >> 8) as u8, long.len() as u8], long.as_bytes()].concat();
        let raw = RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE };
        assert!(is_text(&Record { raw: Some(raw), ..record(b"a:b") }));
    }

    #[test]
    fn text_of_any_language_is_text() {
        for text in ["", "<html>\r\n\t<body>", "{\"name\":\"张三\"}", "naïve 🎉"] {
            assert!(begins_like_text(text.as_bytes(), true), "{text}");
        }
    }

    #[test]
    fn a_character_may_be_cut_only_by_the_limit() {
        let cut = &"张三".as_bytes()[..5];
        assert!(begins_like_text(cut, false) && !begins_like_text(cut, true));
        assert!(!begins_like_text(b"a\xffbcdef", false));
    }

    #[test]
    fn binary_formats_are_no_text() {
        for bytes in [
            &b"\x1f\x8b\x08\0\0\0\0\0"[..],         // gzip
            b"\x89PNG\r\n\x1a\n",                   // image
            b"\x08\x96\x01\x12\x05alice",           // protobuf
            b"\x82\xa2id\x01\xa4name\xa5alice",     // MessagePack
            b"\xac\xed\0\x05sr\0\x11java.util.Map", // Java
            b"HYLL\x01\0\0\0",                      // HyperLogLog
            b"\0\0\0\0\x80\0\0",                    // bitmap
            b"aaaa\x7f",
        ] {
            assert!(!begins_like_text(bytes, false), "{}", bytes.escape_ascii());
        }
    }
}
