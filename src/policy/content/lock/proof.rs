//! Values that nothing but the holder of a lock writes, whatever else the name of the key may mean.

use crate::policy::content::random::{has_uuid, is_bare_uuid, is_base64_of_16_bytes, is_uuid};

/// Characters of a UUID.
const UUID: usize = 36;

/// Returns whether a string is a token as clients of locks make them: a UUID, with or without its dashes, 16 random bytes in base64, or
/// the time and host of ShedLock. Hashes of 32 hexadecimal digits are none: they lack the version of a UUID.
pub fn is_proof(value: &[u8]) -> bool {
    let is_shed_lock = || value.starts_with(b"ADDED:2") && value.contains(&b'@');
    has_uuid(value) || is_bare_uuid(value) || is_base64_of_16_bytes(value) || is_shed_lock()
}

/// Returns whether a field names a holder as Redisson does: `uuid:thread`, perhaps with `:write` behind it.
pub fn is_redisson_holder(field: &[u8]) -> bool {
    let Some((client, rest)) = field.split_at_checked(UUID) else { return false };
    let thread = rest.strip_prefix(b":").unwrap_or_default();
    let thread = thread.strip_suffix(b":write").unwrap_or(thread);
    is_uuid(client) && !thread.is_empty() && thread.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_libraries_are_proof() {
        for value in [
            "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f",
            "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:42",
            "8d9f2c7151a34b0c9d3f6b7a1c2d3e4f",
            "8D9F2C7151A31B0CBD3F6B7A1C2D3E4F",
            "Zk3fJ2mQ9xL0aBcDeFgH1w==",
            "Zk3fJ2mQ9xL0aBcDeFgH1w",
            "kq3Zb9Qw-Lg_2vR8tLm2WA",
            "ADDED:2026-11-27T22:13:20.123Z@host-7",
        ] {
            assert!(is_proof(value.as_bytes()), "{value}");
        }
        for value in [
            "",
            "1",
            "order-service",
            "d41d8cd98f00b204e9800998ecf8427e",
            "8d9f2c7151a34b0c9d3f6b7a1c2d3e4f00",
            "00000000000040008000000000000000",
            "Zk3fJ2mQ9xL0aBcDeFgH1x==",
            "Zk3fJ2mQ9xL0aBcDeFgH1w=",
            "OrderServiceSchedulingg",
            "order-service-schedulew",
            "7261548390215467382",
            "ADDED: a comment",
        ] {
            assert!(!is_proof(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn redisson_names_client_and_thread() {
        let client = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
        let is_holder = |rest: &str| is_redisson_holder(format!("{client}{rest}").as_bytes());
        assert!(is_holder(":57") && is_holder(":57:write"));
        assert!(!is_holder("") && !is_holder(":") && !is_holder(":a") && !is_holder("57") && !is_holder(":write"));
        assert!(!is_redisson_holder(b"host-7:57"));
    }
}
