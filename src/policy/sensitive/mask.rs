//! Masking of secrets: shows enough to find the record for someone with access to the data, too little to use.

use super::SensitiveKind;

/// Returns the masked form of a secret. `word` is the matched word of a password field; empty if none was.
///
/// | kind | shown |
/// |---|---|
/// | mobile number | `138****5678` |
/// | identity card, bank card | two characters at each end |
/// | email | first character of name and domain, last label |
/// | token, password, private key | only that it is one |
pub(super) fn masked(kind: SensitiveKind, secret: &[u8], word: &str) -> String {
    match kind {
        SensitiveKind::Phone => ends(&digits(secret), 3, 4),
        SensitiveKind::IdCard | SensitiveKind::BankCard => ends(&digits(secret), 2, 2),
        SensitiveKind::Email => mail(&String::from_utf8_lossy(secret)),
        SensitiveKind::Jwt => "eyJ****".to_owned(),
        SensitiveKind::PrivateKey if word.is_empty() => "-----BEGIN **** PRIVATE KEY-----".to_owned(),
        SensitiveKind::Password if word.is_empty() => "****".to_owned(),
        SensitiveKind::Password | SensitiveKind::PrivateKey => format!("{word}=****"),
    }
}

/// Returns the digits, and the X at the end of an identity card number.
fn digits(secret: &[u8]) -> String {
    secret.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(|&byte| char::from(byte)).collect()
}

/// Returns the first and last characters of a text; nothing of a text that is hardly longer than both together.
fn ends(text: &str, first: usize, last: usize) -> String {
    match (text.get(..first), text.len().checked_sub(last).and_then(|at| text.get(at..))) {
        (Some(head), Some(tail)) if text.len() >= first + last + 4 => format!("{head}****{tail}"),
        _ => "****".to_owned(),
    }
}

fn mail(address: &str) -> String {
    let (name, domain) = address.split_once('@').unwrap_or((address, ""));
    let (host, top) = domain.rsplit_once('.').unwrap_or((domain, ""));
    // A name of one character would be shown completely.
    let head = |text: &str| {
        let mut characters = text.chars();
        let first = characters.next().filter(|_| characters.next().is_some());
        first.map_or_else(String::new, String::from) + "***"
    };
    format!("{}@{}.{top}", head(name), head(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_show_the_ends() {
        let shown = |kind, secret: &str| masked(kind, secret.as_bytes(), "password");
        assert_eq!(shown(SensitiveKind::Phone, "138-1234-5678"), "138****5678");
        assert_eq!(shown(SensitiveKind::IdCard, "11010519491231002X"), "11****2X");
        assert_eq!(shown(SensitiveKind::BankCard, "4111 1111 1111 1111"), "41****11");
        assert_eq!(shown(SensitiveKind::Email, "alice@mail.example.com"), "a***@m***.com");
        assert_eq!(shown(SensitiveKind::Email, "a@b.cn"), "***@***.cn");
        assert_eq!(shown(SensitiveKind::Password, "hunter2"), "password=****");
        assert_eq!(shown(SensitiveKind::Phone, "13"), "****");
    }
}
