//! Checks of settings before a client takes them: clients panic on values that fit into no header and no URL.

use reqwest::Url;

use super::address::unusable;
use crate::error::{Error, Result};
use crate::wording::{Wording, wording};

/// Kind of a setting, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Base of all requests.
    Url,
    /// Part of a host name.
    HostPart,
    /// Path of a file, content of a file, or a name that is only looked up.
    Any,
    /// Credentials, tokens and switches, of which most go into headers.
    Line,
}

impl Kind {
    fn of(name: &str) -> Kind {
        let upper = name.to_ascii_uppercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| upper.ends_with(ending));
        if upper.contains("_USE_") || upper.contains("_SKIP_") {
            Kind::Line
        } else if ends(&["ENDPOINT", "ENDPOINT_URL", "ENDPOINT_URL_S3", "BASE_URL", "FULL_URI"]) {
            Kind::Url
        } else if ends(&["REGION", "REGION_ID", "ACCOUNT_NAME"]) {
            Kind::HostPart
        } else if ends(&["_FILE", "_PATH", "_BUNDLE", "PROFILE", "SERVICE_ACCOUNT", "ACCOUNT_KEY", "CREDENTIALS"]) {
            // The key of a service account is a file in JSON; that of an Azure account is decoded, not sent.
            Kind::Any
        } else {
            Kind::Line
        }
    }
}

/// Fails if a setting cannot have this value. The value may be a secret, so it is not repeated.
pub fn check(name: &str, value: &str) -> Result<()> {
    match Kind::of(name) {
        Kind::Url => check_url(name, value),
        Kind::HostPart if !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) => {
            Err(wrong(
                wording!("{name} may hold letters, digits, - and _ only", "{name} 只能包含字母、数字、- 与 _"),
                wording!("set it to a name such as eu-west-1", "请设为类似 eu-west-1 的名称"),
            ))
        }
        Kind::Line if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) => Err(wrong(
            wording!(
                "{name} holds a line break or another character that no request can carry",
                "{name} 含换行符或其他不能用于请求的字符"
            ),
            wording!("set it to one line of ASCII characters", "请设为单行 ASCII 字符"),
        )),
        Kind::HostPart | Kind::Line | Kind::Any => Ok(()),
    }
}

/// Fails if a setting is not the URL of an endpoint.
pub fn check_url(name: &str, value: &str) -> Result<()> {
    let is_url = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none();
    match Url::parse(value) {
        Ok(url) if is_url(&url) => Ok(()),
        Ok(_) | Err(_) => Err(wrong(
            wording!("{name} is not the URL of an endpoint", "{name} 不是端点的 URL"),
            wording!("write it as https://HOST or http://HOST:PORT", "请写成 https://HOST 或 http://HOST:PORT"),
        )),
    }
}

fn wrong(what: Wording, remedy: Wording) -> Error {
    unusable(what, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_no_client_takes_are_refused_by_name() {
        for (name, value) in [
            ("AWS_ENDPOINT_URL", "127.0.0.1:5577"),
            ("AWS_ENDPOINT_URL_S3", "minio:9000"),
            ("endpoint_url", "http://"),
            ("GOOGLE_BASE_URL", "127.0.0.1:5577"),
            ("AZURE_STORAGE_ENDPOINT", "https://h/?hunter2"),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "127.0.0.1/hunter2"),
            ("AWS_REGION", "eu\nwest-1"),
            ("AWS_REGION", "eu west"),
            ("AWS_ACCESS_KEY_ID", "hunter2\nx"),
            ("OSS_ACCESS_KEY_ID", "hunter2é"),
            ("AZURE_STORAGE_TOKEN", "hunter2\n"),
            ("AWS_SESSION_TOKEN", "hunter2\u{7f}"),
        ] {
            let said = check(name, value).unwrap_err().to_string();
            assert!(said.contains(name) && !said.contains("hunter2"), "{said}");
        }
        for (name, value) in [
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:5577"),
            ("AWS_ENDPOINT_URL", "https://minio.example/base/"),
            ("AZURE_USE_FABRIC_ENDPOINT", "true"),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_PROFILE", "nächtlich"),
            ("AWS_SECRET_ACCESS_KEY", "a/b+c=="),
            ("GOOGLE_SERVICE_ACCOUNT_KEY", "{\n}\n"),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "/täglich/token"),
        ] {
            assert!(check(name, value).is_ok(), "{name}");
        }
    }
}
