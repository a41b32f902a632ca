//! Detection of password fields with a value, in hashes and in JSON objects within any text, also in objects that are encoded
//! as a string of JSON, once or twice, and in arrays and objects that PHP serialized.
//!
//! A field matches a word if its name, in lower case and without `_`, `-`, `.` and blanks, ends with it. Empty and masked
//! values (`null`, `****`) and what describes a field (`VARCHAR(64)`, `required`) do not count, nor do hashed and encrypted passwords, as the standards demand them: digests and
//! ciphertexts in hexadecimal or base64, and formats such as `$2a$…`. A number in JSON counts if it is as long as a password:
//! shorter ones are flags, counts and times, longer ones ids.

use std::ops::Range;

use crate::policy::content::is_one_of;

/// Default endings of field names. A bare `token` is not among them, since sessions legitimately store one.
pub const FIELDS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "secretkey",
    "apikey",
    "accesstoken",
    "refreshtoken",
    "密码",
    "口令",
];

/// Longest field name that is considered.
const LONGEST_FIELD: usize = 64;
/// Length of the shortest digest or block of ciphertext, in hexadecimal and in base64.
const SHORTEST_HEX: usize = 32;
const SHORTEST_BASE64: usize = 24;
/// Length of the longest text beside a field.
const LONGEST_LABEL: usize = 128;
/// Lengths of a password in running text and in lines of configuration files.
pub(super) const MIXED: std::ops::RangeInclusive<usize> = 6..=64;
/// Most digits of a text that is a count rather than a password, and of one that is the lifetime of a token in seconds.
const LONGEST_COUNT: usize = 3;
const LONGEST_LIFE: usize = 8;
/// Digits of a number that is a password.
const NUMBER: std::ops::RangeInclusive<usize> = 6..=12;
/// Marks around the variables of a text.
const VARIABLES: [(&str, &str); 3] = [("${", "}"), ("#{", "}"), ("{{", "}}")];
/// Most backslashes before a quote: two encodings.
const DEEPEST: usize = 3;

/// Returns the word that the field of a pair matches, if its value is a plain-text secret.
pub(super) fn word<'w>(field: &[u8], value: &[u8], words: &'w [String]) -> Option<&'w str> {
    if field.is_empty() || field.len() > LONGEST_FIELD {
        return None;
    }
    let (mut name, mut len, mut rest) = ([0; LONGEST_FIELD], 0, field);
    while let Some((byte, behind)) = rest.split_first() {
        if let Some((letter, behind)) = escaped_letter(rest) {
            len += letter.encode_utf8(&mut name[len..]).len();
            rest = behind;
            continue;
        }
        if !matches!(byte, b'_' | b'-' | b'.' | b' ') {
            name[len] = byte.to_ascii_lowercase();
            len += 1;
        }
        rest = behind;
    }
    let name = &name[..len];
    let word = words.iter().find(|word| name.ends_with(word.as_bytes()))?;
    let value = value.trim_ascii();
    (!is_harmless(word, value) && !is_time(value) && !is_small_number(word, value)).then_some(word)
}

/// Splits off the letter that a text begins with as `\uXXXX`, the form in which Python writes Chinese into JSON. Its UTF-8 is shorter.
fn escaped_letter(text: &[u8]) -> Option<(char, &[u8])> {
    let backslashes = text.iter().take_while(|byte| **byte == b'\\').count();
    let (digits, behind) = text.get(backslashes..)?.strip_prefix(b"u")?.split_at_checked(4)?;
    let is_escaped = backslashes > 0 && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_escaped)?;
    Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, behind))
}

/// Returns whether a value under this word is no plain-text secret: empty, a flag, masked, hashed or encrypted. Keys and tokens
/// are secrets even if they look like digests, unless the value says that it is one.
pub(super) fn is_harmless(word: &str, value: &[u8]) -> bool {
    let hashable = matches!(word, "password" | "passwd" | "pwd" | "passphrase" | "密码" | "口令");
    is_nothing(value)
        || is_label(value)
        || describes(value.trim_ascii())
        || is_placeholder(value.trim_ascii())
        || says_hashed(value)
        || hashable && is_digest(value)
}

/// Returns whether a value counts something rather than being a password: how often one was wrong or a page was opened, how long a
/// token lives.
fn is_small_number(word: &str, value: &[u8]) -> bool {
    let most = if ["token", "key"].iter().any(|end| word.ends_with(end)) { LONGEST_LIFE } else { LONGEST_COUNT };
    value.len() <= most && value.iter().all(u8::is_ascii_digit)
}

/// Returns whether a text has the form of a password in running text or a configuration, with letters and digits, and is not
/// hashed.
pub(super) fn is_mixed(text: &[u8]) -> bool {
    MIXED.contains(&text.len())
        && text.iter().any(u8::is_ascii_alphabetic)
        && text.iter().any(u8::is_ascii_digit)
        && !is_harmless("password", text)
}

/// Returns whether a value is a time or begins with a date.
pub(super) fn is_time(value: &[u8]) -> bool {
    let are_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let is_number = matches!(value.len(), 10 | 13) && value.starts_with(b"1") && are_digits(value);
    let is_date = value.get(..10).is_some_and(|date| {
        let mut parts = date.split(|byte| matches!(byte, b'-' | b'/'));
        let begins = parts.next().is_some_and(|year| year.len() == 4 && are_digits(year));
        begins && parts.clone().count() == 2 && parts.all(are_digits)
    });
    is_number || is_date
}

/// Returns whether a value describes the field: its type or a condition as in schemas and forms, a regular expression, a path of files.
fn describes(value: &[u8]) -> bool {
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
    let open = memchr::memchr(b'(', value).unwrap_or(value.len());
    let (name, size) = value.split_at(open);
    let is_size = size.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'(' | b')' | b','));
    let is_expression = value.starts_with(b"^") && value.ends_with(b"$") && value.len() > 2;
    let names = value.strip_prefix(b"/").map(|rest| rest.split(|byte| *byte == b'/'));
    let is_path = names.is_some_and(|mut names| {
        names.clone().count() > 1
            && names.all(|name| !name.is_empty() && name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-'))
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
fn is_label(value: &[u8]) -> bool {
    const NOUNS: [&str; 4] = ["密码", "口令", "密碼", "パスワード"];
    const ADVICE: [&str; 7] = ["请", "不能", "忘记", "错误", "重置", "修改", "不少于"];
    let text = std::str::from_utf8(value.trim_ascii()).unwrap_or_default();
    // In lower case the same words are passwords.
    if ["Password", "PASSWORD", "Secret"].contains(&text) {
        return true;
    }
    if text.len() > LONGEST_LABEL {
        return false;
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

/// Returns whether a value stands for one that is filled in later: `${DB_PASSWORD}`, `{{ password }}`, `<password>`, `$PASSWORD`.
///
/// Where the marks may as well be those of a password, only words may stand between them.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const TEMPLATES: [(&str, &str); 3] = [("%{", "}"), ("$(", ")"), ("<%", "%>")];
    const MARKS: [(&[u8], &[u8]); 5] = [(b"<", b">"), (b"%", b"%"), (b"@", b"@"), (b"__", b"__"), (b"[", b"]")];
    let within = |(start, end): &(&[u8], &[u8])| value.strip_prefix(*start)?.strip_suffix(*end);
    let is_word =
        |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii() || matches!(byte, b'_' | b'-' | b'.' | b' ');
    let are_words = |text: &[u8]| !text.is_empty() && text.iter().all(is_word);
    let is_variable = |name: &[u8]| {
        name.first().is_some_and(u8::is_ascii_alphabetic)
            && (name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                || name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_'))
    };
    let as_bytes = |(start, end): &(&'static str, &'static str)| (start.as_bytes(), end.as_bytes());
    VARIABLES.iter().chain(&TEMPLATES).map(as_bytes).any(|marks| within(&marks).is_some())
        || MARKS.iter().filter_map(within).any(are_words)
        || value.strip_prefix(b"$").is_some_and(is_variable)
}

/// Reports all members of JSON objects in a text that hold a plain-text password, with the range of the value.
pub(super) fn scan<'w>(text: &[u8], words: &'w [String], mut see: impl FnMut(&'w str, Range<usize>)) {
    let mut from = 0;
    while let Some(open) = quote_from(text, from) {
        let Some(close) = quote_from(text, open + 1) else { return };
        from = close;
        let escape = backslashes(text, open + 1, close);
        let Some(start) = value_start(text, close + 1) else { continue };
        let range = match value_quote(text, start, escape) {
            Some(quote) => quote + 1..string_end(text, quote + 1, escape),
            None => start..number_end(text, start),
        };
        let field = text.get(open + 1..close - escape).unwrap_or_default();
        let value = text.get(range.clone()).unwrap_or_default();
        let is_number = range.start == start;
        if let Some(word) = word(field, value, words)
            && (!is_number || is_numeric_password(word, value))
        {
            from = if is_number { range.end } else { range.end + escape + 1 };
            see(word, range);
        }
        // The string of another field may hold an encoded object: it is searched, too.
    }
}

/// Returns whether a number in JSON that is no time is a password: neither a flag nor how long a token lives.
fn is_numeric_password(word: &str, digits: &[u8]) -> bool {
    let is_of_program = ["token", "key", "secret"].iter().any(|end| word.ends_with(end));
    !is_of_program && NUMBER.contains(&digits.len())
}

/// Returns the number of backslashes between `start` and `end` that stand right before `end`.
fn backslashes(text: &[u8], start: usize, end: usize) -> usize {
    let before = text.get(start..end).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count()
}

fn quote_from(text: &[u8], at: usize) -> Option<usize> {
    memchr::memchr(b'"', text.get(at..)?).map(|found| at + found)
}

/// Returns where the value begins, if the string that ends here is the name of a member. PHP serializes a member as
/// `s:8:"password";s:6:"abc123";`.
fn value_start(text: &[u8], behind: usize) -> Option<usize> {
    if let Some(length) = text.get(behind..)?.strip_prefix(b";s:") {
        let digits = length.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        return length.get(digits..)?.starts_with(b":\"").then_some(behind + 3 + digits + 1);
    }
    let colon = behind + text.get(behind..)?.iter().take(4).position(|byte| !byte.is_ascii_whitespace())?;
    if text.get(colon) != Some(&b':') {
        return None;
    }
    Some(colon + 1 + text.get(colon + 1..)?.iter().take(4).position(|byte| !byte.is_ascii_whitespace())?)
}

/// Returns the opening quote of a value that begins here. It has as many backslashes before it as the name has: of one encoding
/// one, of two three.
fn value_quote(text: &[u8], start: usize, escape: usize) -> Option<usize> {
    let is_escape = escape <= DEEPEST && (escape + 1).is_power_of_two();
    let quote = start + text.get(start..)?.iter().take(DEEPEST + 1).position(|byte| *byte != b'\\')?;
    (is_escape && quote - start == escape && text.get(quote) == Some(&b'"')).then_some(quote)
}

/// Returns the end of a JSON string whose quotes have this many backslashes before them: at its closing quote without these, at a
/// quote of the string around it, or at the end of the text.
///
/// The strings of one encoding do not overlap, so all of a text take linear time.
fn string_end(text: &[u8], start: usize, escape: usize) -> usize {
    let mut at = start;
    while let Some(quote) = quote_from(text, at) {
        let found = backslashes(text, at, quote);
        // Each encoding doubles the backslashes of the characters `"` and `\`.
        if found < escape || found % (2 * (escape + 1)) == escape {
            return quote - found.min(escape);
        }
        at = quote + 1;
    }
    text.len()
}

/// Returns the end of a whole number that is the value of a member: behind it, only the end of the value follows.
fn number_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    // Fastjson marks a long.
    let behind = rest.get(length..).unwrap_or_default();
    let behind = behind.strip_prefix(b"L").unwrap_or(behind);
    let ends = behind.first().is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}'));
    if ends { start + length } else { start }
}

fn is_nothing(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 39] = [
        b"null",
        b"nil",
        b"none",
        b"undefined",
        b"true",
        b"false",
        b"yes",
        b"no",
        b"on",
        b"off",
        b"ok",
        b"set",
        b"unset",
        b"empty",
        b"0",
        b"1",
        b"-1",
        b"n/a",
        b"hidden",
        b"masked",
        b"redacted",
        b"filtered",
        b"removed",
        b"enabled",
        b"disabled",
        "未设置".as_bytes(),
        "已设置".as_bytes(),
        "启用".as_bytes(),
        "已启用".as_bytes(),
        "禁用".as_bytes(),
        "停用".as_bytes(),
        "开启".as_bytes(),
        "关闭".as_bytes(),
        "保密".as_bytes(),
        "无".as_bytes(),
        "空".as_bytes(),
        "有".as_bytes(),
        "是".as_bytes(),
        "否".as_bytes(),
    ];
    let value = value.trim_ascii();
    let bare = without_brackets(value);
    let masked = MASKS.iter().any(|mask| memchr::memmem::find_iter(value, mask).count() >= 3);
    value.is_empty() || masked || is_one_of(bare, &WORDS)
}

/// Marks that stand for characters left out: asterisk, full-width asterisk, bullet, black circle.
const MASKS: [&[u8]; 4] = [b"*", "＊".as_bytes(), "•".as_bytes(), "●".as_bytes()];

/// Returns whether a value is a digest or ciphertext by its form: a number of hexadecimal or base64 digits.
fn is_digest(value: &[u8]) -> bool {
    // With its salt in front or behind, or alone; other signs than these stand beside whole digests only.
    let hex = value.split(|byte| matches!(byte, b':' | b'$')).any(is_hex_digest)
        || value
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|part| part.len() >= SHORTEST_HEX && is_hex_digest(part));
    hex || is_base64(value)
}

/// Returns whether a value says that it is hashed or encrypted: `$2a$10$…`, `{bcrypt}…`, `ENC(…)`.
fn says_hashed(value: &[u8]) -> bool {
    let tagged = scheme(value).is_some_and(|(scheme, _)| (3..=15).contains(&scheme.len()) && !is_no_hash(scheme));
    let sealed = value.starts_with(b"ENC(") && value.ends_with(b")") || value.starts_with(b"vault:v");
    let named =
        [&b"pbkdf2"[..], b"argon2", b"scrypt", b"bcrypt", b"sha1$", b"sha256", b"sha512", b"md5$", b"SCRAM-SHA-"];
    tagged || sealed || is_crypt(value) || is_unusable(value) || named.iter().any(|name| value.starts_with(name))
}

/// Returns whether a value has the form of `crypt`: `$2a$10$…`, or that of phpass (`$P$…`), which has no third `$`.
fn is_crypt(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"$") else { return false };
    let mut parts = rest.split(|byte| *byte == b'$');
    let is_of_hash = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
    match (parts.next(), parts.next(), parts.next()) {
        (_, _, Some(_)) => true,
        (Some([_]), Some(hash), None) => hash.len() >= SHORTEST_HEX - 1 && hash.iter().all(is_of_hash),
        _ => false,
    }
}

/// Returns whether a value is what Django stores for an unusable password: `!` and forty random letters and digits.
fn is_unusable(value: &[u8]) -> bool {
    value.strip_prefix(b"!").is_some_and(|rest| rest.len() == 40 && rest.iter().all(u8::is_ascii_alphanumeric))
}

/// Schemes that say that a password is stored as it is.
const NO_HASH: [&[u8]; 5] = [b"noop", b"plain", b"plaintext", b"clear", b"cleartext"];

fn is_no_hash(scheme: &[u8]) -> bool {
    NO_HASH.iter().any(|none| scheme.eq_ignore_ascii_case(none))
}

/// Splits off the scheme in braces that a value begins with.
fn scheme(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = value.strip_prefix(b"{")?;
    let end = memchr::memchr(b'}', rest)?;
    Some((rest.get(..end)?, rest.get(end + 1..)?))
}

/// Returns a value without a scheme that says that it is stored as it is.
pub(super) fn without_scheme(value: &[u8]) -> &[u8] {
    scheme(value).filter(|(scheme, _)| is_no_hash(scheme)).map_or(value, |(_, password)| password)
}

/// Returns whether a text is a digest or ciphertext in hexadecimal. Half an MD5, as some databases store it, has letters and
/// digits mixed: a password of this form would be random, too.
fn is_hex_digest(text: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    let is_half = text.len() == SHORTEST_HEX / 2 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_whole = text.len() >= SHORTEST_HEX && text.len().is_multiple_of(2);
    (is_half || is_whole) && text.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a text is a digest or ciphertext in base64: whole groups of four, and small letters, capitals and digits
/// mixed, as in all that is random and this long.
fn is_base64(text: &[u8]) -> bool {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let body = text.get(..text.len() - padding).unwrap_or_default();
    let has = |is: fn(&u8) -> bool| body.iter().any(is);
    text.len() >= SHORTEST_BASE64
        && text.len().is_multiple_of(4)
        && padding <= 2
        && body.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_'))
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
}

/// Removes one pair of brackets.
fn without_brackets(value: &[u8]) -> &[u8] {
    match value {
        [b'[', inner @ .., b']'] | [b'<', inner @ .., b'>'] | [b'(', inner @ .., b')'] => inner,
        other => other,
    }
}

#[cfg(test)]
mod tests;
