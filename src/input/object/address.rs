//! Addresses of objects: `s3://bucket/key`, `https://host/path`.

use std::fmt;
use std::path::Path;

use glob::{MatchOptions, Pattern};

use crate::error::{Error, ErrorKind, Result};
use crate::input::resolve::{ENDINGS, is_glob};
use crate::wording::{Wording, wording};

/// Longest key in a bucket, in bytes; stores take a quarter of it.
pub(super) const MAX_KEY_LEN: usize = 4096;
/// Longest address of a web server, in bytes.
const MAX_URL_LEN: usize = 16_000;

/// How patterns match keys: `*` stays within a folder.
pub(super) const PATTERNS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };

/// Kinds of stores, by the scheme of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Amazon S3, and whatever speaks its protocol at `AWS_ENDPOINT_URL`.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage.
    Az,
    /// Alibaba Cloud OSS.
    Oss,
    /// Tencent Cloud COS.
    Cos,
    /// A web server with TLS.
    Https,
    /// A web server without TLS.
    Http,
}

impl Scheme {
    const ALL: [Scheme; 7] =
        [Scheme::S3, Scheme::Gs, Scheme::Az, Scheme::Oss, Scheme::Cos, Scheme::Https, Scheme::Http];

    /// Returns the name before `://`.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::S3 => "s3",
            Scheme::Gs => "gs",
            Scheme::Az => "az",
            Scheme::Oss => "oss",
            Scheme::Cos => "cos",
            Scheme::Https => "https",
            Scheme::Http => "http",
        }
    }

    /// Returns whether it is a web server, which lists nothing and takes addresses with a query.
    pub fn is_web(self) -> bool {
        matches!(self, Scheme::Https | Scheme::Http)
    }

    /// Returns the scheme of an address and what follows `://`.
    pub fn of(text: &str) -> Option<(Scheme, &str)> {
        let (name, rest) = text.split_once("://")?;
        let scheme = Scheme::ALL.into_iter().find(|scheme| scheme.name().eq_ignore_ascii_case(name))?;
        Some((scheme, rest))
    }
}

/// Returns the error for an address or a setting that cannot be used.
pub(super) fn unusable(what: Wording, remedy: Wording) -> Error {
    Error::new(ErrorKind::Unreadable(what)).with_remedy(remedy)
}

/// Returns an argument as text if it is an address in an object store or on a web server.
pub fn as_address(argument: &Path) -> Option<&str> {
    argument.to_str().filter(|text| Scheme::of(text).is_some())
}

/// Returns an argument for messages and reports. Of an address, whatever its scheme and however it is mistyped, the query, which may be
/// a signature, and user and password are left out.
pub fn shown(text: &str) -> String {
    if let Some((scheme, rest)) = Scheme::of(text) {
        return format!("{}://{}", scheme.name(), shown_rest(rest, scheme.is_web()));
    }
    let is_scheme = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        name.len() > 1 && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain)
    };
    // One slash is a slip of the hand. A path with a colon, such as `host:/backup/a?.rdb`, keeps its pattern.
    let split = text.split_once(':').filter(|(name, rest)| is_scheme(name) && rest.starts_with('/'));
    let Some((name, rest)) = split else { return text.to_owned() };
    let is_web = ["http", "https"].iter().any(|web| web.eq_ignore_ascii_case(name));
    let plain = rest.trim_start_matches('/');
    let slashes = &rest[..rest.len() - plain.len()];
    format!("{name}:{slashes}{}", shown_rest(plain, is_web || slashes.len() > 1))
}

/// Returns what follows `://` without user and password, and without the query if there may be one.
fn shown_rest(rest: &str, has_query: bool) -> &str {
    let host = rest.split('/').next().unwrap_or_default();
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let after = |text: &str| text.rfind('@').map(|at| at + 1);
    let start = match after(host) {
        // A password may hold a slash.
        None if !host.starts_with('[') && host.split_once(':').is_some_and(|(_, port)| !is_port(port)) => after(rest),
        start => start,
    };
    let rest = &rest[start.unwrap_or_default()..];
    if has_query { rest.split(['?', '#']).next().unwrap_or_default() } else { rest }
}

/// Address of an object, a prefix or a pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Kind of the store.
    pub scheme: Scheme,
    /// Bucket or container; host and port of a web server.
    pub bucket: String,
    /// Key; the path of a web server, as it is written.
    pub key: String,
    /// Query of the address of a web server. May be a signature: never shown.
    pub query: Option<String>,
}

impl Address {
    /// Parses an address.
    pub fn parse(text: &str) -> Result<Address> {
        let Some((scheme, rest)) = Scheme::of(text) else {
            return Err(unusable(
                wording!("not an address of an object", "不是对象的地址"),
                wording!("write SCHEME://BUCKET/KEY", "请写成 SCHEME://BUCKET/KEY"),
            ));
        };
        let longest = if scheme.is_web() { MAX_URL_LEN } else { MAX_KEY_LEN };
        if rest.len() > longest {
            return Err(too_long(longest));
        }
        // Keys in buckets may have both characters.
        let rest = if scheme.is_web() { rest.split('#').next().unwrap_or_default() } else { rest };
        let (rest, query) = match rest.split_once('?') {
            Some((path, query)) if scheme.is_web() => (path, Some(query.to_owned())),
            Some(_) | None => (rest, None),
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains('@') {
            return Err(unusable(
                wording!("an address must not hold a user or a password", "地址中不能包含用户名或密码"),
                wording!("docs/remote.md lists where credentials are looked for", "凭证的查找位置见 docs/remote.md"),
            ));
        }
        if scheme.is_web() && !has_port(bucket) {
            return Err(unusable(
                wording!("the port in this address is not a number up to 65535", "地址中的端口不是 65535 以内的数字"),
                wording!("write {}://HOST:PORT/path", "请写成 {}://HOST:PORT/path", scheme.name()),
            ));
        }
        let is_plain =
            |c: char| c.is_ascii_alphanumeric() || "-._".contains(c) || (scheme.is_web() && ":[]".contains(c));
        if bucket.is_empty() || !bucket.chars().all(is_plain) {
            let name = scheme.name();
            return Err(unusable(
                wording!("no bucket or host in this address", "地址中没有存储桶或主机名"),
                wording!("write {name}://NAME/path/dump.rdb", "请写成 {name}://NAME/path/dump.rdb"),
            ));
        }
        Ok(Address { scheme, bucket: bucket.to_owned(), key: key.to_owned(), query })
    }

    /// Returns the address of another key in the same bucket.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn with_key(&self, key: String) -> Address {
        Address { key, ..self.clone() }
    }

    /// Returns whether an argument names this object: by itself, or by a prefix or pattern that may hold it.
    pub fn is_among(&self, argument: &str) -> bool {
        let Ok(given) = Address::parse(argument) else { return false };
        if (given.scheme, &given.bucket) != (self.scheme, &self.bucket) {
            return false;
        }
        // An object may have the pattern as its name.
        if is_glob(&given.key) && given.key != self.key {
            return Pattern::new(&given.key).is_ok_and(|pattern| pattern.matches_with(&self.key, PATTERNS));
        }
        let below = self.key.strip_prefix(given.key.trim_end_matches('/'));
        let is_below = below.is_some_and(|rest| given.key.is_empty() || rest.starts_with('/'));
        self.key == given.key || (is_below && ENDINGS.iter().any(|ending| self.key.ends_with(ending)))
    }

    /// Returns the address with its query, under which the object can be opened again.
    pub fn whole(&self) -> String {
        match &self.query {
            Some(query) => format!("{self}?{query}"),
            None => self.to_string(),
        }
    }
}

/// Returns the error for an address or a key that no store takes; clients panic on much longer ones.
pub(super) fn too_long(longest: usize) -> Error {
    unusable(
        wording!("the address has more than {longest} bytes", "地址超过 {longest} 字节"),
        wording!("stores take keys of at most 1024 bytes", "存储服务接受的对象键最长为 1024 字节"),
    )
}

/// Returns false if what follows the host is no port.
fn has_port(host: &str) -> bool {
    let host = host.rsplit(']').next().unwrap_or(host);
    host.split_once(':').is_none_or(|(_, port)| port.is_empty() || port.parse::<u16>().is_ok())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}/{}", self.scheme.name(), self.bucket, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        for address in ["s3://b/k", "S3://b/k", "gs://b", "az://c/k", "oss://b/k", "cos://b-1/k", "https://h/p"] {
            assert!(as_address(Path::new(address)).is_some(), "{address}");
        }
        for path in ["s3:/b", "dump.rdb", "redis://host", "file:///a", "-", "a/s3://b"] {
            assert!(as_address(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn address_is_split_at_bucket_and_key() {
        let of = |text: &str| Address::parse(text).map(|it| (it.bucket.clone(), it.key.clone(), it.query));
        let plain = |bucket: &str, key: &str| (bucket.to_owned(), key.to_owned(), None);
        assert_eq!(of("s3://b/a/k?*#.rdb").unwrap(), plain("b", "a/k?*#.rdb"));
        assert_eq!(of("s3://b").unwrap(), plain("b", ""));
        assert_eq!(of("https://h:80/a#x").unwrap(), plain("h:80", "a"));
        let signed = of("https://h/a/k?X-Sig=1&b=/2#x").unwrap();
        assert_eq!(signed, ("h".to_owned(), "a/k".to_owned(), Some("X-Sig=1&b=/2".to_owned())));
        let long = "k".repeat(70_000);
        assert!(
            Address::parse(&format!("s3://b/{long}")).is_err()
                && Address::parse(&format!("https://h/?{long}")).is_err()
        );
        for port in ["99999", "x", "-1"] {
            let said = Address::parse(&format!("http://h:{port}/k")).unwrap_err().to_string();
            assert!(said.contains("port"), "{said}");
        }
        assert!(Address::parse("http://[::1]:80/k").is_ok() && Address::parse("http://[::1]/k").is_ok());
        for wrong in ["s3://", "s3:///k", "https:///k", "s3://a b/k", "https://u:p@h/k", "s3://id:secret@b/k"] {
            let error = Address::parse(wrong).unwrap_err().to_string();
            assert!(!error.contains("secret") && !error.contains(":p@"), "{error}");
        }
    }

    #[test]
    fn an_output_is_among_the_inputs_that_may_name_it() {
        let output = Address::parse("s3://b/n/a.rdb").unwrap();
        for input in ["s3://b/n/a.rdb", "s3://b/n/", "s3://b/n", "s3://b/n/*", "s3://b", "S3://b/*/a.rdb"] {
            assert!(output.is_among(input), "{input}");
        }
        for input in ["s3://b/n/a.rd", "s3://b/m/", "s3://c/n/", "gs://b/n/a.rdb", "n/a.rdb", "s3://b/n/b*"] {
            assert!(!output.is_among(input), "{input}");
        }
        assert!(Address::parse("s3://b/n/a[1].rdb").unwrap().is_among("s3://b/n/a[1].rdb"));
        // A report beside the dumps is no dump.
        assert!(!Address::parse("s3://b/n/report.json").unwrap().is_among("s3://b/n/"));
    }

    #[test]
    fn signatures_and_passwords_are_not_shown() {
        assert_eq!(shown("https://h/a.rdb?X-Amz-Signature=abc"), "https://h/a.rdb");
        assert_eq!(shown("https://u:p@h/a.rdb"), "https://h/a.rdb");
        assert_eq!(shown("s3://id:p@b/a?b@c"), "s3://b/a?b@c");
        assert_eq!(shown("s3://b"), "s3://b");
        for (given, safe) in [
            ("s3a://KEY:SECRET@b/x", "s3a://b/x"),
            ("s3://KEY:SEC/RET@b/x", "s3://b/x"),
            ("ftp://u:pw@h/x?sig=S", "ftp://h/x"),
            ("http:/u:pw@h/x?sig=S", "http:/h/x"),
            ("https://u:p?w@h/x", "https://h/x"),
            ("https://h:80/a@b?sig=S", "https://h:80/a@b"),
            ("https://[::1]:80/a@b", "https://[::1]:80/a@b"),
            ("redis://:pw@h:6379/0?password=pw", "redis://h:6379/0"),
            ("host:/backup/a?.rdb", "host:/backup/a?.rdb"),
            ("C:/a@b?.rdb", "C:/a@b?.rdb"),
            ("dump:2026@11?.rdb", "dump:2026@11?.rdb"),
        ] {
            assert_eq!(shown(given), safe);
        }
        assert_eq!(Address::parse("https://h/a?s=1").unwrap().to_string(), "https://h/a");
    }
}
