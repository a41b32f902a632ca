//! Names of secrets, which configurations of Kubernetes hold where others hold the secret itself.

use super::MAX_FIELD_LEN;
use crate::policy::content::random::has_random;
use crate::policy::sensitive::named;

/// Word under which objects of Kubernetes name a secret that is kept elsewhere.
pub const SECRET: &str = "secret";

/// Returns whether the value of a field that ends with `secret` names a secret, by the value or by the field: `existingSecret`, `tlsSecret`,
/// `imagePullSecret`, and `secret` alone.
pub fn names_secret(field: &[u8], value: &[u8]) -> bool {
    const BEFORE: [&[u8]; 7] = [b"existing", b"tls", b"pull", b"password", b"ca", b"cert", b"ssl"];
    let letters = field.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase);
    let name: Vec<u8> = letters.take(MAX_FIELD_LEN).collect();
    let before = name.strip_suffix(SECRET.as_bytes()).unwrap_or_default();
    let is_of_object = BEFORE.iter().any(|word| before.ends_with(word));
    let may_name_one = is_of_object || before.is_empty() && value.iter().any(|byte| matches!(byte, b'-' | b'.'));
    let may_name_one = may_name_one && !value.iter().any(u8::is_ascii_uppercase);
    is_name_of_secret(value) || may_name_one && !(named::looks_like_password(value) || has_random(value))
}

/// Returns whether a value is the name of a secret, such as an object of Kubernetes has: lower-case words and short numbers with hyphens
/// between, one of which says what it is (`tls-cert-2024`, `db-credentials`).
fn is_name_of_secret(value: &[u8]) -> bool {
    const KINDS: [&[u8]; 18] = [
        b"cert",
        b"certs",
        b"certificate",
        b"cred",
        b"creds",
        b"credential",
        b"credentials",
        b"auth",
        b"tls",
        b"ssl",
        b"ca",
        b"secret",
        b"secrets",
        b"password",
        b"passwords",
        b"token",
        b"key",
        b"keys",
    ];
    const MAX_DIGITS: usize = 8;
    let parts = || value.split(|byte| *byte == b'-');
    let is_part = |part: &[u8]| {
        let is_word = part.first().is_some_and(u8::is_ascii_lowercase) && part.iter().all(u8::is_ascii_lowercase);
        is_word || !part.is_empty() && part.len() <= MAX_DIGITS && part.iter().all(u8::is_ascii_digit)
    };
    value.len() <= MAX_FIELD_LEN
        && parts().count() > 1
        && parts().all(is_part)
        && parts().any(|part| KINDS.contains(&part))
}
