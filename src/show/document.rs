//! JSON documents of a module: their text, checked, and cut to the first members of the root.

use serde::de::IgnoredAny;

/// Text of a JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonDocument {
    text: String,
    members: usize,
}

impl JsonDocument {
    /// Returns the document, or the bytes if they are not one. Nesting costs no stack.
    pub fn new(text: Vec<u8>) -> Result<JsonDocument, Vec<u8>> {
        if serde_json::from_slice::<IgnoredAny>(&text).is_err() {
            return Err(text);
        }
        let text = String::from_utf8(text).map_err(std::string::FromUtf8Error::into_bytes)?;
        let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
        // Without a copy where there is nothing to trim: a document may be large.
        let text = if trimmed.len() == text.len() { text } else { trimmed.to_owned() };
        let members = members(&text);
        Ok(JsonDocument { text, members })
    }

    /// Returns the text, without white space around it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of members of the root; none if it is no object or array.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Drops all members of the root but the first `most`.
    pub fn truncate(&mut self, most: usize) {
        if most >= self.members {
            return;
        }
        let end = match most {
            0 => Some(1),
            _ => commas(&self.text).nth(most - 1),
        };
        let Some((end, close)) = end.zip(self.text.chars().next_back()) else { return };
        self.text.truncate(end);
        self.text.push(close);
        self.members = most;
    }
}

/// Counts the members of the root.
fn members(text: &str) -> usize {
    let is_empty = |inner: &str| inner.trim_matches([' ', '\t', '\n', '\r']).is_empty();
    match text.as_bytes() {
        [b'{', .., b'}'] | [b'[', .., b']'] if is_empty(&text[1..text.len() - 1]) => 0,
        [b'{' | b'[', ..] => commas(text).count() + 1,
        _ => 0,
    }
}

/// Returns the offsets of the commas between the members of the root.
fn commas(text: &str) -> impl Iterator<Item = usize> + '_ {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    text.bytes().enumerate().filter_map(move |(at, byte)| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => return Some(at),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, most: usize) -> (usize, String) {
        let mut document = JsonDocument::new(text.as_bytes().to_vec()).unwrap();
        let members = document.members();
        document.truncate(most);
        (members, document.text().to_owned())
    }

    #[test]
    fn documents_are_cut_between_members_of_the_root() {
        assert_eq!(cut(r#" {"a,\"": [1, 2], "b": "}", "c": {}} "#, 1), (3, r#"{"a,\"": [1, 2]}"#.to_owned()));
        assert_eq!(cut("[1,[2,3],4]", 2), (3, "[1,[2,3]]".to_owned()));
        assert_eq!(cut("[1,2]", 0), (2, "[]".to_owned()));
        assert_eq!(cut("[1,2]", 9), (2, "[1,2]".to_owned()));
        assert_eq!(cut("[ ]", 1), (0, "[ ]".to_owned()));
        assert_eq!(cut("\"a,b\"", 1), (0, "\"a,b\"".to_owned()));
    }

    #[test]
    fn other_bytes_are_no_document() {
        for bytes in [&b"{"[..], b"", b"\"\xff\"", b"1 2", b"{\"a\":}"] {
            assert_eq!(JsonDocument::new(bytes.to_vec()), Err(bytes.to_vec()));
        }
        assert!(JsonDocument::new(["[".repeat(1 << 20), "]".repeat(1 << 20)].concat().into_bytes()).is_ok());
    }
}
