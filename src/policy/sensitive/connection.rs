//! Detection of passwords in connection strings.
//!
//! These places count: the part of a URL before the host (`redis://user:password@host`), which drivers of Oracle and of Go write
//! without a URL (`jdbc:oracle:thin:user/password@host`, `user:password@tcp(host)`); parameters named `password`, `passwd`, `pwd` or as
//! Azure names its keys, of a URL that is not one of the web (`jdbc:mysql://host/db?user=root&password=…`), or of a list of settings that
//! names a server (`Server=db;Uid=sa;Pwd=…`, `host=db user=app password=…`); and lines of configuration files
//! (`spring.redis.password=…`, `password: …`, `jwt.secret=…`), if the value has letters and digits; that of a variable may be its default
//! (`password: ${REDIS_PASSWORD:…}`). Pages of the web have codes of shared files in such
//! parameters (`https://pan.example/s/1?pwd=x7k2`). Placeholders (`${DB_PASSWORD}`, `<password>`, `xxxx`) and masked and encrypted
//! passwords do not count.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{described, password};
use crate::policy::content::is_one_of;

static SCHEMES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"://"));
static DRIVERS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"jdbc:"));

/// Longest scheme, part before the host, and rest of a connection string, in bytes.
const MAX_SCHEME_LEN: usize = 32;
const MAX_AUTHORITY_LEN: usize = 512;
const MAX_REST_LEN: usize = 1024;

/// Names of parameters that hold a password.
const PARAMETERS: [&[u8]; 5] = [b"password", b"passwd", b"pwd", b"accountkey", b"sharedaccesskey"];

/// Last words of lines of configuration files that set a password, besides these.
const SHORT: [&[u8]; 2] = [b"psw", b"pswd"];

/// Endings of the names of other secrets in such lines, without the marks between words.
const SECRETS: [&[u8]; 3] = [b"secretkey", b"secretaccesskey", b"apikey"];

/// Addresses of hosts behind the password in a data source of Go.
const GO_HOSTS: [&[u8]; 2] = [b"@tcp(", b"@unix("];

/// Settings one of which says that a list of them is for a connection.
const SERVERS: [&[u8]; 9] =
    [b"server", b"host", b"hostname", b"data source", b"datasource", b"addr", b"address", b"endpoint", b"accountname"];

/// Class that stands before the settings of a login to Kafka.
const LOGIN_MODULE: &[u8] = b"LoginModule";

/// Reports the passwords of all connection strings in a text.
pub(super) fn scan(text: &[u8], mut see: impl FnMut(Range<usize>)) {
    let mut done = 0;
    for at in SCHEMES.find_iter(text) {
        if at < done {
            continue;
        }
        let scheme = scheme(text, at);
        if scheme.is_empty() {
            continue;
        }
        let start = at + 3;
        let authority = authority(text, start);
        if let Some(range) = user_password(text, &authority, is_web(scheme)) {
            see(range);
        }
        done = authority.end;
        if !is_web(scheme) {
            done = url_end(text, authority.end);
            parameters(text, start..done, is_url_mark, &mut see);
        }
    }
    for at in DRIVERS.find_iter(text) {
        driver(text, at, &mut see);
    }
    for host in GO_HOSTS {
        let found = memchr::memmem::find_iter(text, host).filter_map(|at| before_go_host(text, at));
        found.for_each(&mut see);
    }
    settings(text, &mut see);
}

/// Reports the passwords of a connection of Java that is no URL: `jdbc:oracle:thin:scott/tiger@host:1521:orcl`.
fn driver(text: &[u8], at: usize, see: &mut impl FnMut(Range<usize>)) {
    let end = url_end(text, at);
    let part = text.get(at..end).unwrap_or_default();
    if memchr::memmem::find(part, b":oracle:").is_some() {
        see_some(oracle_password(part).map(|range| at + range.start..at + range.end), see);
    }
    if SCHEMES.find(part).is_none() {
        parameters(text, at..end, is_url_mark, see);
    }
}

fn see_some(range: Option<Range<usize>>, see: &mut impl FnMut(Range<usize>)) {
    range.into_iter().for_each(see);
}

/// Returns the password between user and host of `jdbc:oracle:thin:user/password@…`.
fn oracle_password(part: &[u8]) -> Option<Range<usize>> {
    let driver = memchr::memmem::find(part, b":oracle:")? + b":oracle:".len();
    let start = driver + memchr::memchr(b':', part.get(driver..)?)? + 1;
    let rest = part.get(start..)?;
    let rest = rest.get(..memchr::memchr(b'(', rest).unwrap_or(rest.len()))?;
    let at = memchr::memrchr(b'@', rest)?;
    let slash = memchr::memchr(b'/', rest.get(..at)?)?;
    let (user, password) = (rest.get(..slash)?, rest.get(slash + 1..at)?);
    // The host may have a path of its own, but what stands before it has no port.
    let is_login = !user.is_empty() && !user.contains(&b'@') && !user.contains(&b':');
    (is_login && !is_example(user, password) && is_secret(password)).then_some(start + slash + 1..start + at)
}

/// Returns the password before the host of a data source of Go: `user:password@tcp(host:3306)/db`.
fn before_go_host(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at.saturating_sub(MAX_AUTHORITY_LEN);
    let before = text.get(from..at)?;
    let ends = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b'|' | b'/');
    let start = before.iter().rposition(ends).map_or(0, |end| end + 1);
    // Behind a scheme, it is a URL.
    if before.get(..start).is_some_and(|before| before.ends_with(b"://")) {
        return None;
    }
    let login = before.get(start..)?;
    let colon = memchr::memchr(b':', login)?;
    let user = login.get(..colon)?.rsplit(|&byte| byte == b'=').next()?;
    let password = login.get(colon + 1..)?;
    (!user.is_empty() && !is_example(user, password) && is_secret(password)).then_some(from + start + colon + 1..at)
}

/// Returns whether user and password are the words themselves.
fn is_example(user: &[u8], password: &[u8]) -> bool {
    is_one_of(user, &[b"user", b"username", b""]) && is_one_of(password, &[b"password", b"passwd", b"pass", b"pwd"])
}

/// Returns whether an `@` at this place ends the user of a URL, so that it is no address of a person.
pub(super) fn ends_user(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(MAX_AUTHORITY_LEN)..at).unwrap_or_default();
    let start = before.iter().rposition(|&byte| ends_authority(byte));
    let of_url = start.is_some_and(|slash| before.get(..=slash).is_some_and(|before| before.ends_with(b"://")));
    let is_outside = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'');
    let word = before.iter().rposition(is_outside).map_or(before, |end| before.get(end + 1..).unwrap_or_default());
    of_url || memchr::memmem::find(word, b"jdbc:oracle:").is_some()
}

fn scheme(text: &[u8], end: usize) -> &[u8] {
    let before = text.get(end.saturating_sub(MAX_SCHEME_LEN)..end).unwrap_or_default();
    let in_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-');
    let length = before.iter().rev().take_while(in_scheme).count();
    let scheme = before.get(before.len() - length..).unwrap_or_default();
    if scheme.first().is_some_and(u8::is_ascii_alphabetic) { scheme } else { &[] }
}

fn is_web(scheme: &[u8]) -> bool {
    is_one_of(scheme, &[b"http", b"https", b"ws", b"wss"])
}

fn ends_authority(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'/' | b'?' | b'"' | b'\'' | b'\\' | b'`' | b'|')
}

/// Returns the part from a place to the end of the host. It may hold several hosts.
fn authority(text: &[u8], start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let rest = rest.get(..MAX_AUTHORITY_LEN).unwrap_or(rest);
    let end = rest.iter().position(|&byte| ends_authority(byte)).unwrap_or(rest.len());
    start..start + end
}

/// Returns the password between user and host.
fn user_password(text: &[u8], authority: &Range<usize>, is_web: bool) -> Option<Range<usize>> {
    let part = text.get(authority.clone())?;
    let at = part.iter().rposition(|&byte| byte == b'@')?;
    let colon = part.get(..at)?.iter().position(|&byte| byte == b':')?;
    let (user, password) = (part.get(..colon)?, part.get(colon + 1..at)?);
    // A host with its port, and an `@` that belongs to what follows.
    let digits = password.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ends_port = password.get(digits).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let is_port = user.contains(&b'.') && (2..=5).contains(&digits) && ends_port;
    // Without a host, a path has to follow: a socket.
    let host = part.get(at + 1);
    if host.is_none() && (is_web || text.get(authority.end) != Some(&b'/')) {
        return None;
    }
    let range = authority.start + colon + 1..authority.start + at;
    let is_host = host.is_none_or(|host| {
        host.is_ascii_alphanumeric() || matches!(host, b'[' | b'$' | b'{' | b'_' | b'<') || !host.is_ascii()
    });
    (is_host && !is_example(user, password) && !is_port && is_secret(password)).then_some(range)
}

fn is_url_mark(byte: u8) -> bool {
    matches!(byte, b'?' | b'&' | b';')
}

fn url_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let rest = rest.get(..MAX_REST_LEN).unwrap_or(rest);
    let ends = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b'|');
    start + rest.iter().position(ends).unwrap_or(rest.len())
}

/// Reports the passwords among parameters that stand behind one of these marks.
fn parameters(text: &[u8], place: Range<usize>, divides: fn(u8) -> bool, see: &mut impl FnMut(Range<usize>)) {
    let part = text.get(place.clone()).unwrap_or_default();
    let mut at = place.start;
    for piece in part.split(|&byte| divides(byte)) {
        if let Some((name, value)) = setting(piece)
            && is_one_of(name, &PARAMETERS)
        {
            let range = unquoted(piece, value.start);
            if piece.get(range.clone()).is_some_and(is_secret) {
                see(at + range.start..at + range.end);
            }
        }
        at += piece.len() + 1;
    }
}

/// Splits a piece into its name and the place of its value. The first setting of a list may stand in a string or behind a name.
fn setting(piece: &[u8]) -> Option<(&[u8], Range<usize>)> {
    let equals = memchr::memchr(b'=', piece)?;
    let name = piece.get(..equals)?.trim_ascii();
    let quote = name.iter().rposition(|byte| matches!(byte, b'"' | b'\'' | b'`')).map_or(0, |quote| quote + 1);
    let colon = memchr::memmem::rfind(name, b": ").map_or(0, |colon| colon + 2);
    Some((name.get(quote.max(colon)..)?, equals + 1..piece.len()))
}

/// Returns the place of a value without its quotes and what stands behind them; without quotes, up to one that ends a string.
fn unquoted(piece: &[u8], start: usize) -> Range<usize> {
    let value = piece.get(start..).unwrap_or_default();
    let blanks = value.len() - value.trim_ascii_start().len();
    let value = value.get(blanks..).unwrap_or_default();
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
    let opened = value.first().filter(|byte| is_quote(byte)).copied();
    let start = start + blanks + usize::from(opened.is_some());
    let inner = piece.get(start..).unwrap_or_default();
    let ends = |byte: &u8| *byte == opened.unwrap_or(b'"');
    let length = inner.iter().position(ends).unwrap_or(inner.trim_ascii_end().len());
    // A string in a string ends with a backslash before its quote.
    let length = length - usize::from(length > 0 && length < inner.len() && inner.get(length - 1) == Some(&b'\\'));
    start..start + length
}

/// Reports the password of a list of settings, if one of them names a server.
fn settings(text: &[u8], see: &mut impl FnMut(Range<usize>)) {
    let names_server = |piece: &[u8]| {
        setting(piece).is_some_and(|(name, value)| {
            let value = piece.get(value).unwrap_or_default();
            !value.trim_ascii().is_empty() && is_one_of(name, &SERVERS)
        })
    };
    let names_password = |piece: &[u8]| setting(piece).is_some_and(|(name, _)| is_one_of(name, &PARAMETERS));
    // StackExchange.Redis: the first piece is a host with a port.
    let is_endpoint = |piece: &[u8]| {
        let port = piece.rsplit(|&byte| byte == b':').next().unwrap_or_default();
        port.len() < piece.len() && (2..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit)
    };
    let mut start = 0;
    'lines: for line in text.split(|&byte| byte == b'\n') {
        let place = start..start + line.len();
        start += line.len() + 1;
        let is_login = memchr::memmem::find(line, LOGIN_MODULE).is_some();
        let divides: [fn(u8) -> bool; 3] =
            [|byte| byte == b';', |byte| byte == b',', |byte| byte.is_ascii_whitespace()];
        for divides in divides {
            let pieces = || line.split(|&byte| divides(byte));
            let of_endpoint = divides(b',') && pieces().next().is_some_and(is_endpoint);
            if pieces().any(names_password) && (of_endpoint || is_login || pieces().any(names_server)) {
                parameters(text, place, divides, see);
                continue 'lines;
            }
        }
        if let Some(value) = configured(line) {
            see(place.start + value.start..place.start + value.end);
        }
    }
}

/// Returns the place of the password that a line of a configuration file sets: the whole rest of the line, perhaps in quotes.
fn configured(line: &[u8]) -> Option<Range<usize>> {
    let mark = line.iter().position(|&byte| matches!(byte, b'=' | b':'))?;
    let name = line.get(..mark)?.trim_ascii();
    let name = [&b"export "[..], b"ENV ", b"set "].iter().find_map(|word| name.strip_prefix(*word)).unwrap_or(name);
    let rest = line.get(mark + 1..)?;
    // Without a blank, a colon divides the name of a key.
    let divides = line.get(mark) == Some(&b'=') || rest.starts_with(b" ");
    let (range, whole) = (unquoted(line, mark + 1), rest.trim_ascii());
    let set = line.get(range.clone())?;
    let is_whole =
        set == whole || matches!(whole, [first @ (b'"' | b'\''), inner @ .., last] if first == last && inner == set);
    let value = password::default_of(set).unwrap_or(set);
    let word = name.rsplit(|byte| matches!(byte, b'.' | b'_' | b'-')).next()?;
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    // Unlike a connection, a record of a user may have a hash.
    let looks_so = is_whole
        && value.iter().all(u8::is_ascii_graphic)
        && !password::is_directory(name, value)
        && !described::is_reference(value);
    let is_named = || {
        let is_password = is_one_of(word, &PARAMETERS) || is_one_of(word, &SHORT);
        is_password && password::is_mixed(value)
            || is_named_secret(name, value) && password::is_mixed_under("secretkey", value)
    };
    let is_found = divides && name.iter().all(in_name) && looks_so && is_named() && is_secret(value);
    let end = range.end - usize::from(value.len() < set.len());
    is_found.then_some(end - value.len()..end)
}

/// Returns whether a setting is a secret by its name: `accessKeySecret`, `client-secret`, `api_key`.
fn is_named_secret(name: &[u8], value: &[u8]) -> bool {
    let letters = || name.iter().rev().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase);
    let ends = |word: &[u8]| letters().take(word.len()).eq(word.iter().rev().copied());
    SECRETS.iter().any(|word| ends(word)) || ends(b"secret") && !password::names_secret(name, value)
}

/// Returns whether a password is one: no placeholder, not masked, not encrypted.
fn is_secret(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let is_template = matches!(value.first(), Some(b'{' | b'<' | b'['))
        || [&b"${"[..], b"#{", b"{{"].iter().any(|mark| memchr::memmem::find(value, mark).is_some())
        || value.first() == Some(&b'%') && value.last() == Some(&b'%')
        || value.starts_with(b"%s")
        || value.starts_with(b"%(")
        || value.starts_with(b"%7B")
        || value.starts_with(b"%24%7B")
        || password::is_placeholder(value);
    let is_sealed = value.starts_with(b"ENC(") || value.starts_with(b"vault:");
    let all = |of: fn(u8) -> bool| value.iter().all(|&byte| of(byte));
    let is_filler =
        all(|byte| matches!(byte, b'x' | b'X')) || all(|byte| matches!(byte, b'.' | b'-' | b'_' | b'*' | b'?'));
    let is_word = is_one_of(value, &[b"your_password", b"your-password", b"yourpassword", b"yourpass", b"your_pass"]);
    !(value.is_empty() || is_template || is_sealed || is_filler || is_word || password::is_harmless("", value))
}

#[cfg(test)]
mod tests;
