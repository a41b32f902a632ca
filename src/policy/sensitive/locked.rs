//! Locks whose name says password: `lock:password:7` guards a password, and holds the token of whoever changes it.
//!
//! Locks of doors have passwords, too (`iot:lock:pwd:7` is 482913), so the value must show that it is a token: something random, or what
//! any client would write. A random value without an expiry may be the secret of such a device, unless `lock` is the first segment.

use crate::pattern::segment::Separators;
use crate::policy::content::lock::{is_constant, is_lock_name, is_predictable};
use crate::policy::content::random::has_random;
use crate::policy::content::serialized::unwrapped;
use crate::policy::content::{is_one_of, without_braces, words_of};
use crate::record::{Kind, Record};

/// Longest token, in bytes.
const MAX_TOKEN_LEN: usize = 256;

/// Returns whether a string is that of a lock by its name, and its value what a lock holds.
pub(super) fn is_lock(record: &Record<'_>, separators: &Separators) -> bool {
    let names_lock = |(_, segment): &(usize, &[u8])| is_lock_name(segment) || ends_with_lock(segment);
    let Some((place, lock)) = separators.split(record.key).map(without_braces).enumerate().find(names_lock) else {
        return false;
    };
    let is_prefix = place == 0 && is_lock_name(lock);
    let value = record.raw.filter(|_| record.kind == Kind::String).and_then(|raw| raw.short_string(MAX_TOKEN_LEN));
    value.is_some_and(|value| {
        let scalar = unwrapped(&value);
        let value = scalar.trim_ascii();
        let is_token = || has_random(value) && (is_prefix || record.expires_at.is_some());
        is_token() || is_constant(value, record.key) || is_predictable(value, record)
    })
}

fn ends_with_lock(segment: &[u8]) -> bool {
    words_of(segment)
        .next_back()
        .is_some_and(|word| is_one_of(word, &[b"lock", b"locks"]) || word.ends_with("锁".as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{record, string_value};
    use crate::units::Millis;

    fn is_lock_of(name: &str, value: &str, expires: bool) -> bool {
        let mut record = record(name.as_bytes());
        (record.raw, record.expires_at) = (Some(string_value(value.as_bytes())), expires.then_some(Millis(1)));
        is_lock(&record, &Separators::default())
    }

    const UUID: &str = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";

    #[test]
    fn tokens_of_locks_are_no_passwords() {
        for name in [
            "lock:password:7",
            "lock:rotate-secret:7",
            "shop:lock:pay_pwd:7",
            "{lock}:secret:7",
            "job-lock:secret:7",
            "支付锁:secret:7",
        ] {
            for value in [UUID, "3f9ac1d27be045681122334455667788", "processing", "pool-1-thread-7"] {
                assert!(is_lock_of(name, value, true), "{name}: {value}");
            }
        }
        assert!(is_lock_of("lock:rotate-secret:7", UUID, false) && !is_lock_of("iot:lock:secret:7", UUID, false));
        for (name, value) in [
            ("iot:lock:pwd:7", "482913"),
            ("lock:password:7", "Abc12345"),
            ("hotel:lock:password:7", "hunter2x"),
            ("block:secret:7", UUID),
            ("clock:secret:7", UUID),
            ("user:secret:7", UUID),
        ] {
            assert!(!is_lock_of(name, value, true), "{name}: {value}");
        }
    }
}
