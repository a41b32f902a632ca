//! E-mail and IP addresses.

use std::net::IpAddr;

/// Returns whether all of `bytes` is an e-mail address: a name, `@`, and a domain of at least two labels, the last of
/// letters.
pub fn is_email(bytes: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', bytes) else { return false };
    let (name, domain) = (&bytes[..at], &bytes[at + 1..]);
    let Some(dot) = memchr::memrchr(b'.', domain) else { return false };
    let (labels, top) = (&domain[..dot], &domain[dot + 1..]);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&name.len())
        && name.iter().all(|byte| plain(byte) || matches!(byte, b'.' | b'+' | b'%' | b'\''))
        && domain.len() <= 255
        && labels.split(|&byte| byte == b'.').all(|label| !label.is_empty() && label.iter().all(plain))
        && top.len() >= 2
        && top.iter().all(u8::is_ascii_alphabetic)
}

/// Returns whether all of `text` is an IPv4 address, or an IPv6 address with at least one digit.
pub fn is_ip(text: &str) -> bool {
    // The longest form: IPv6 with the last two groups written as IPv4.
    const MAX_LEN: usize = 45;
    text.len() <= MAX_LEN && text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emails_have_a_name_and_a_domain() {
        for yes in ["a@b.co", "john.doe+tag@mail.example.com", "o'neil_1%x@a-b.org"] {
            assert!(is_email(yes.as_bytes()), "{yes}");
        }
        for no in ["a@b", "@b.co", "a@.co", "a@b..co", "a@b.c", "a@b.c1", "a@b@c.de", "a b@c.de", "a@b.co/x", "a@"] {
            assert!(!is_email(no.as_bytes()), "{no}");
        }
        assert!(!is_email(format!("{}@b.co", "x".repeat(65)).as_bytes()));
    }

    #[test]
    fn ips_are_of_either_version() {
        for yes in ["10.0.0.1", "255.255.255.255", "::1", "2001:db8::ff00:42:8329", "::ffff:10.0.0.1"] {
            assert!(is_ip(yes), "{yes}");
        }
        for no in ["256.0.0.1", "1.2.3", "1.2.3.4.5", "a::b", "::", "", "1.2.3.4:80"] {
            assert!(!is_ip(no), "{no}");
        }
    }
}
