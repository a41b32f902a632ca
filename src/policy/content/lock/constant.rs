//! Recognition of values that are the same for all who want a lock, whoever they are.

use super::words::{BUSY, HELD, NO, SHUT, YES};
use crate::policy::content::is_one_of;

/// Longest value, and longest beginning of a name, in bytes, that are compared word by word.
const MAX_LEN: usize = 128;
const MAX_NAME_LEN: usize = 1024;

/// Digits and letters of an id that no value has by chance.
const SURE_ID: usize = 5;

/// Words that say of a value that it is that of a lock.
const FILLERS: [&[u8]; 6] = [b"lock", b"locks", b"locked", b"key", b"value", b"token"];

/// Returns whether a value says nothing about who holds the lock of a name: a part of the name, a word such as `processing` or `已锁定`, one
/// character over and over, or words and the id of the name (`order-lock-1001` in `lock:order:1001`).
pub fn is_constant(value: &[u8], name: &[u8]) -> bool {
    let is_one_character = value.first().is_some_and(|first| value.iter().all(|byte| byte == first));
    let lists: [&[&[u8]]; 5] = [&YES, &NO, &SHUT, &BUSY, &HELD];
    is_one_character
        || lists.into_iter().any(|words| is_one_of(value, words))
        || memchr::memmem::find(name, value).is_some()
        || is_made_of_name(value, name)
}

/// Returns whether all words of a value are words of the name, or say only that it is a lock. Beside an id that is long enough, other words
/// without digits do not matter either.
fn is_made_of_name(value: &[u8], name: &[u8]) -> bool {
    if value.len() > MAX_LEN {
        return false;
    }
    let name = name.get(..MAX_NAME_LEN).unwrap_or(name);
    let (mut has_id, mut is_of_name, mut has_others) = (false, false, false);
    for word in words(value) {
        let has_digit = word.iter().any(u8::is_ascii_digit);
        if words(name).any(|known| known.eq_ignore_ascii_case(word)) {
            is_of_name = true;
            has_id |= has_digit && word.len() >= SURE_ID;
        } else if has_digit {
            return false;
        } else {
            has_others |= !is_one_of(word, &FILLERS);
        }
    }
    has_id || is_of_name && !has_others
}

/// Returns the words of a text, divided by marks.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_any_client_would_write_is_a_constant() {
        for (value, name) in [
            ("processing", "lock:a"),
            ("PROCESSING", "lock:a"),
            ("正在处理", "lock:a"),
            ("已锁定", "lock:a"),
            ("00000000", "lock:a"),
            ("order-lock-1", "shop:lock:order:1"),
            ("Order_Lock_1", "shop:lock:order:1"),
            ("lock_value", "lock:order:1"),
            ("job-10000001", "lock:order:10000001"),
            ("锁-10000001", "lock:order:10000001"),
            ("order:1", "lock:order:1"),
        ] {
            assert!(is_constant(value.as_bytes(), name.as_bytes()), "{value} in {name}");
        }
        // Who holds it, or perhaps only that.
        for (value, name) in [
            ("owner_id", "lock:task:123"),
            ("order-service", "shop:lock:order:1"),
            ("worker-1", "lock:order:1"),
            ("thread-17", "lock:order:17"),
            ("web-8080", "lock:port:8080"),
            ("host-7:20261127", "job:lock:20261127"),
            ("10.0.0.1:8080", "lock:ip:10.0.0.1"),
            ("00000001", "lock:a"),
            ("value-of-17", "lock:a"),
        ] {
            assert!(!is_constant(value.as_bytes(), name.as_bytes()), "{value} in {name}");
        }
        let long = "a-1".repeat(50);
        assert!(!is_made_of_name(long.as_bytes(), b"a:1"));
    }
}
