//! Values that say something about a password instead of being one: labels and messages of forms, types of schemas, paths, references to
//! where a secret is kept, and states.

use super::password::VARIABLES;
use crate::policy::content::is_one_of;

/// Length of the longest text beside a field.
const MAX_LABEL_LEN: usize = 128;

/// Words for a password in other languages, written so that they are labels: in lower case some are passwords.
const LABELS: [&str; 18] = [
    "Password",
    "PASSWORD",
    "Secret",
    "Passwort",
    "PASSWORT",
    "Kennwort",
    "Contraseña",
    "Senha",
    "Mot de passe",
    "Wachtwoord",
    "Hasło",
    "Şifre",
    "비밀번호",
    "пароль",
    "Пароль",
    "Mật khẩu",
    "mật khẩu",
    "Parola d'ordine",
];

/// States of a password.
const STATES: [&[u8]; 36] = [
    b"expired",
    b"valid",
    b"invalid",
    b"changed",
    b"unchanged",
    b"weak",
    b"medium",
    b"normal",
    b"strong",
    b"missing",
    b"locked",
    b"unlocked",
    b"active",
    b"inactive",
    b"rotated",
    b"revoked",
    b"verified",
    b"unverified",
    b"pending",
    b"header",
    b"query",
    b"formdata",
    "弱".as_bytes(),
    "中".as_bytes(),
    "强".as_bytes(),
    "正常".as_bytes(),
    "已过期".as_bytes(),
    "过期".as_bytes(),
    "有效".as_bytes(),
    "无效".as_bytes(),
    "已失效".as_bytes(),
    "已锁定".as_bytes(),
    "锁定".as_bytes(),
    "冻结".as_bytes(),
    "未修改".as_bytes(),
    "已修改".as_bytes(),
];

/// Degrees of secrecy, which `secret` may name.
const DEGREES: [&[u8]; 12] = [
    b"confidential",
    b"internal",
    b"public",
    b"private",
    b"restricted",
    b"classified",
    "绝密".as_bytes(),
    "机密".as_bytes(),
    "秘密".as_bytes(),
    "内部".as_bytes(),
    "公开".as_bytes(),
    "非密".as_bytes(),
];

/// Parts of messages about passwords.
const MESSAGES: [&str; 14] = [
    "too short",
    "too long",
    "too weak",
    "must be",
    "must contain",
    "must have",
    "at least",
    "at most",
    "is required",
    "not match",
    "incorrect",
    "expired",
    "invalid",
    "cannot be",
];

/// Returns whether a value is the state of a password, or under `secret` a degree of secrecy.
pub(super) fn is_state(word: &str, value: &[u8]) -> bool {
    is_one_of(value, &STATES) || word.ends_with("secret") && is_one_of(value, &DEGREES) || is_reference(value)
}

/// Returns whether a value says where a secret is kept, or is the key of a text or the name of a column: `arn:aws:…`, `op://…`, a path of
/// Windows, `login.form.password`, `user_pwd`, `DB_PASSWORD`.
pub(super) fn is_reference(value: &[u8]) -> bool {
    // Kong writes `{vault://…}`, APISIX `$secret://…`.
    let inner = value.strip_prefix(b"{").and_then(|value| value.strip_suffix(b"}"));
    let value = inner.or_else(|| value.strip_prefix(b"$")).unwrap_or(value);
    let has = |part: &[u8]| memchr::memmem::find(value, part).is_some();
    let is_of_windows = match value {
        [drive, b':', b'\\' | b'/', _, ..] => drive.is_ascii_alphabetic(),
        // JSON doubles the backslashes.
        [b'\\', b'\\', rest @ ..] => {
            let rest = rest.strip_prefix(b"\\\\").unwrap_or(rest);
            rest.first().is_some_and(u8::is_ascii_alphanumeric) && rest.contains(&b'\\')
        }
        _ => false,
    };
    let is_of_store = value.starts_with(b"arn:aws")
        || value.starts_with(b"vault:") && value.contains(&b'/')
        || value.starts_with(b"projects/") && has(b"/secrets/");
    let scheme = memchr::memmem::find(value, b"://").and_then(|end| value.get(..end));
    let is_url = scheme.is_some_and(|scheme| {
        let in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        scheme.len() >= 2 && scheme[0].is_ascii_alphabetic() && scheme.iter().all(in_scheme)
    });
    is_of_windows || is_of_store || is_url && !value.contains(&b'@') || is_lookup(value) || is_name_of_one(value)
}

/// Returns whether a value looks a secret up, as configurations write it: `env:DB_PASSWORD`, `process.env.DB_PASSWORD`,
/// `@Microsoft.KeyVault(…)`, `ssm:/prod/db`.
fn is_lookup(value: &[u8]) -> bool {
    const OF_PATHS: [&[u8]; 2] = [b"file:/", b"ssm:/"];
    const OF_VARIABLES: [&[u8]; 7] =
        [b"env:", b"env.", b"ENV.", b"process.env.", b"secrets.", b"os.environ.", b"System.getenv."];
    let is_variable = |name: &[u8]| {
        let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(in_name)
    };
    let behind = |starts: &[&[u8]]| starts.iter().find_map(|start| value.strip_prefix(*start));
    let is_indexed = behind(&[b"ENV[", b"env[", b"os.environ["]).is_some_and(|rest| rest.ends_with(b"]"));
    let is_of_azure = value.starts_with(b"@Microsoft.KeyVault(") && value.ends_with(b")");
    behind(&OF_PATHS).is_some_and(|path| !path.is_empty())
        || behind(&OF_VARIABLES).is_some_and(is_variable)
        || value.starts_with(b"aws:secretsmanager:")
        || is_indexed
        || is_of_azure
}

/// Returns whether a value is words joined by dots or underscores, the last of which says password: `login.password`, `DB_PASSWORD`.
fn is_name_of_one(value: &[u8]) -> bool {
    const LAST: [&[u8]; 5] = [b"password", b"passwd", b"pwd", b"passphrase", b"secret"];
    if value.len() <= MAX_LABEL_LEN && value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_') {
        let variable = value.to_ascii_lowercase();
        let mut words = variable.split(|byte| *byte == b'_').filter(|word| !word.is_empty());
        let last = words.next_back().unwrap_or_default();
        return words.next().is_some() && LAST.iter().chain([&b"key"[..], b"token"].iter()).any(|word| *word == last);
    }
    if value.len() > MAX_LABEL_LEN || !value.first().is_some_and(u8::is_ascii_lowercase) {
        return false;
    }
    let separator = if value.contains(&b'.') { b'.' } else { b'_' };
    let mut words = value.rsplit(|byte| *byte == separator);
    let last = words.next().unwrap_or_default();
    let is_word = |word: &[u8]| {
        let all = |of: fn(&u8) -> bool| word.iter().all(of);
        !word.is_empty()
            && if separator == b'_' {
                all(u8::is_ascii_lowercase)
            } else {
                word[0].is_ascii_lowercase() && all(u8::is_ascii_alphabetic)
            }
    };
    let says_one = LAST.iter().any(|word| {
        let start = last.len().checked_sub(word.len());
        start.and_then(|start| last.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
    });
    last.len() < value.len() && says_one && is_word(last) && words.all(is_word)
}

/// Returns whether a text is an English message about a password. One with longer words that have digits may hold a password.
fn is_message(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let has_digits = |word: &str| word.len() > 2 && word.bytes().any(|byte| byte.is_ascii_digit());
    text.contains(' ')
        && MESSAGES.iter().any(|part| lower.contains(part))
        && !lower.split(|c: char| !c.is_ascii_alphanumeric()).any(has_digits)
}

/// Returns whether a value describes the field: its type or a condition as in schemas and forms, a regular expression, a path of files.
pub(super) fn describes(value: &[u8]) -> bool {
    const TYPES: [&[u8]; 14] = [
        b"varchar",
        b"varchar2",
        b"nvarchar",
        b"char",
        b"text",
        b"string",
        b"str",
        b"required",
        b"optional",
        b"nullable",
        b"readonly",
        b"writeonly",
        b"y",
        b"n",
    ];
    // GraphQL marks what is required; Java names the package.
    let of_type = value.strip_suffix(b"!").unwrap_or(value);
    let of_type = of_type.strip_prefix(b"java.lang.").unwrap_or(of_type);
    let open = memchr::memchr(b'(', of_type).unwrap_or(of_type.len());
    let (name, size) = of_type.split_at(open);
    let is_size = size.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'(' | b')' | b','));
    let is_expression = value.starts_with(b"^") && value.ends_with(b"$") && value.len() > 2;
    // Directories that paths begin with; behind them, names may have digits.
    const ROOTS: [&[u8]; 14] = [
        b"opt",
        b"usr",
        b"home",
        b"var",
        b"root",
        b"data",
        b"app",
        b"tmp",
        b"mnt",
        b"srv",
        b"etc",
        b"builds",
        b"workspace",
        b"www",
    ];
    let names = value.strip_prefix(b"/").map(|rest| rest.split(|byte| *byte == b'/'));
    let is_path = names.is_some_and(|mut names| {
        let is_rooted = names.clone().next().is_some_and(|first| ROOTS.contains(&first));
        let in_name = |byte: &u8| {
            byte.is_ascii_alphabetic()
                || matches!(byte, b'-' | b'_')
                || is_rooted && (byte.is_ascii_digit() || *byte == b'.')
        };
        names.clone().count() > 1
            && names.all(|name| name.first().is_some_and(u8::is_ascii_lowercase) && name.iter().all(in_name))
    });
    // Rules of a validator: `required|min:6`.
    let are_rules = memchr::memchr(b'|', value).is_some_and(|end| is_one_of(&value[..end], &TYPES));
    is_one_of(name, &TYPES) && is_size || is_expression || is_path || are_rules || refers(value)
}

/// Returns whether a value says where or by what something is done: an address, a permission such as `sys:user:edit`, the type of an
/// input, the template of a message.
fn refers(value: &[u8]) -> bool {
    const INPUTS: [&[u8]; 3] = [b"input-password", b"current-password", b"new-password"];
    let is_address = [&b"http://"[..], b"https://"].iter().any(|scheme| value.starts_with(scheme));
    let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'*');
    let words = || value.split(|byte| *byte == b':');
    let is_permission = words().count() > 2 && words().all(is_word);
    let template = value.strip_prefix(b"SMS_").is_some_and(|id| id.iter().all(u8::is_ascii_digit));
    is_address || is_permission || template || is_one_of(value, &INPUTS)
}

/// Returns whether a value is the text beside a field or of a message: `登录密码`, `密码不能少于6位`, `Please enter your password`.
pub(super) fn is_label(value: &[u8]) -> bool {
    const NOUNS: [&str; 4] = ["密码", "口令", "密碼", "パスワード"];
    const ADVICE: [&str; 7] = ["请", "不能", "忘记", "错误", "重置", "修改", "不少于"];
    let text = std::str::from_utf8(value.trim_ascii()).unwrap_or_default();
    if text.len() > MAX_LABEL_LEN {
        return false;
    }
    if LABELS.contains(&text) || is_message(text) {
        return true;
    }
    let names_one = NOUNS.iter().any(|word| text.contains(word));
    let advises = names_one && ADVICE.iter().any(|word| text.contains(word));
    // A message may hold a password; lengths and variables are none.
    let (text, has_variables) = without_variables(text);
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        return advises && text.split(|c: char| !c.is_ascii_alphanumeric()).all(|word| word.len() <= 2);
    }
    let is_noun = NOUNS.iter().any(|word| text.ends_with(word));
    is_noun
        || advises
        || names_one && has_variables
        || text.contains(' ') && text.to_ascii_lowercase().contains("password")
}

/// Returns a text without its variables, such as `${code}` and `{{code}}`, and whether it has any.
fn without_variables(text: &str) -> (String, bool) {
    let (mut rest, mut kept) = (text, String::new());
    let variable = |text: &str| {
        let place = |(open, close): &(&str, &str)| {
            let at = text.find(open)?;
            Some((at, at + text[at..].find(close)? + close.len()))
        };
        VARIABLES.iter().filter_map(place).min()
    };
    while let Some((at, end)) = variable(rest) {
        kept.push_str(&rest[..at]);
        rest = &rest[end..];
    }
    let has_variables = rest.len() < text.len();
    (kept + rest, has_variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_described(word: &str, value: &str) -> bool {
        let bytes = value.as_bytes();
        is_label(bytes) || describes(bytes) || is_state(word, bytes)
    }

    #[test]
    fn what_is_said_about_a_password_is_none() {
        for value in [
            "/pages/resetPwd/index",
            "/user/changePassword",
            "/home/app",
            "/opt/app1",
            "/data/app1/logs-2024",
            "login.form.password",
            "login.pwd",
            "app.resetPassword",
            "user_pwd",
            "String!",
            "java.lang.String",
            "header",
            "C:\\secrets\\db.txt",
            "D:/app/pw",
            "\\\\nas\\share\\pw",
            "arn:aws:secretsmanager:cn-north-1:1:secret:db",
            "vault:secret/data/db#key",
            "op://ops/db/password",
            "projects/7/secrets/db/versions/1",
            "awssm://db",
            "{vault://env/redis-password}",
            "$secret://vault/1/jack/password",
            "$ENV://JACK_PW",
            "$env://JACK_PW1",
            "@Microsoft.KeyVault(SecretUri=https://kv1.vault.azure.net/secrets/db1)",
            "env:DB_PASSWORD",
            "file:/run/secrets/db",
            "ssm:/prod/db/password",
            "aws:secretsmanager:prod/db",
            "process.env.DB_PASSWORD",
            "secrets.DB_PASSWORD",
            "ENV[DB_PASSWORD]",
            "DB_PASSWORD",
            "REDIS_ACCESS_KEY",
            "expired",
            "Strong",
            "已过期",
            "强",
            "Password is too short",
            "Password must be at least 8 characters",
            "This field is required",
            "Passwords do not match",
            "Passwort",
            "Contraseña",
            "Mot de passe",
            "비밀번호",
            "пароль",
            "Mật khẩu",
        ] {
            assert!(is_described("password", value), "{value}");
        }
        for value in ["绝密", "internal", "Confidential"] {
            assert!(is_described("clientsecret", value) && !is_described("password", value), "{value}");
        }
    }

    #[test]
    fn passwords_are_not_described() {
        for value in [
            "hunter2",
            "passwort",
            "senha",
            "correct horse battery",
            "my secret",
            "/Ab/c9",
            "/a1/b2",
            "user_pwd1",
            "a.b",
            "Login.pwd1",
            "_pwd",
            ".password",
            "pwd",
            "strong1",
            "C:x",
            "a:b",
            "redis://u:pw@h",
            "{abc123}",
            "$hunter2",
            "MY_PASSWORD1",
            "env:a/b1",
            "secrets.",
            "Your password is Hunter2x, it must be changed",
        ] {
            assert!(!is_described("password", value), "{value}");
        }
    }
}
