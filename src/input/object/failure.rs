//! Errors of stores in our words: status, code and remedy.
//!
//! Messages of clients and servers are not repeated: they hold addresses with signatures, and whatever a server sends. What is
//! kept is the status, the code in the answer, and the last cause of a failed connection.

use std::error::Error as StdError;
use std::sync::LazyLock;

use object_store::Error as StoreError;
use object_store::client::HttpError;
use regex::Regex;

use super::address::Scheme;
use crate::error::{Error, ErrorKind};
use crate::wording::{Wording, wording};

/// Longest cause of a failed connection that is quoted.
const LONGEST_CAUSE: usize = 200;

/// Answer of a store to a request that failed.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Code in an answer in XML, such as `AccessDenied`.
    pub code: Option<String>,
    /// True if the service that hands out credentials did not answer.
    pub of_credentials: bool,
    /// True if the connection failed, not what came over it.
    is_connection: bool,
    cause: String,
}

impl Answer {
    /// Takes the facts out of an error.
    pub fn of(error: &StoreError) -> Answer {
        static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"status code: ([1-5][0-9]{2})\b").ok());
        static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"<Code>([A-Za-z0-9.]{1,64})</Code>").ok());
        let first = |pattern: &LazyLock<Option<Regex>>, text: &str| {
            let found = pattern.as_ref().and_then(|pattern| pattern.captures(text));
            found.and_then(|found| found.get(1)).map(|found| found.as_str().to_owned())
        };
        let whole = error.to_string();
        let known = match error {
            StoreError::NotFound { .. } => Some(404),
            StoreError::PermissionDenied { .. } => Some(403),
            StoreError::Unauthenticated { .. } => Some(401),
            StoreError::Precondition { .. } => Some(412),
            _ => None,
        };
        let of_credentials = ["169.254.", "metadata.google", "metadata token", "Error requesting token", "/oauth2/"]
            .iter()
            .any(|trace| whole.contains(trace));
        Answer {
            is_connection: is_connection(error),
            status: known.or_else(|| first(&STATUS, &whole).and_then(|digits| digits.parse().ok())),
            code: first(&CODE, &whole),
            of_credentials,
            cause: cause(error),
        }
    }

    /// Returns whether asking again may help.
    pub fn may_pass(&self) -> bool {
        self.status.map_or(self.is_connection, |status| status >= 500 || status == 429 || status == 408)
    }

    /// Words the answer, with what to do about it.
    pub fn error(&self, scheme: Scheme) -> Error {
        let Some(status) = self.status else { return self.unreachable(scheme) };
        let code = self.code.as_deref().map(|code| format!(" ({code})")).unwrap_or_default();
        let code = code.as_str();
        let what = match status {
            _ if self.of_credentials => wording!(
                "the service that hands out credentials answered HTTP {status}{code}",
                "提供凭证的服务返回 HTTP {status}{code}"
            ),
            404 if self.code.as_deref() == Some("NoSuchBucket") => {
                wording!("HTTP 404{code}: no such bucket", "HTTP 404{code}：存储桶不存在")
            }
            404 => wording!("HTTP 404{code}: no such object", "HTTP 404{code}：对象不存在"),
            401 | 403 => wording!("HTTP {status}{code}: access refused", "HTTP {status}{code}：拒绝访问"),
            412 => return replaced(),
            429 | 500.. => wording!(
                "HTTP {status}{code}: the store still refuses or fails after all retries",
                "HTTP {status}{code}：存储服务反复拒绝或出错"
            ),
            _ => wording!("HTTP {status}{code}", "HTTP {status}{code}"),
        };
        Error::new(ErrorKind::Unreadable(what)).with_remedy(self.remedy(status, scheme))
    }

    fn remedy(&self, status: u16, scheme: Scheme) -> Wording {
        match status {
            _ if self.of_credentials => credentials(scheme),
            404 if scheme.is_web() => wording!("check the address", "请检查地址"),
            404 => wording!(
                "check bucket, key and endpoint; a prefix ends with /, a pattern may contain *, ? and [...]",
                "请检查存储桶、键与端点；前缀以 / 结尾，通配符可以包含 *、? 和 [...]"
            ),
            401 | 403 if scheme.is_web() => {
                wording!("check the address; a signed one may have expired", "请检查地址；带签名的地址可能已过期")
            }
            401 | 403 => wording!(
                "check the credentials, their permission to get objects and to list the bucket, and the clock; \
                 docs/remote.md lists where credentials are looked for",
                "请检查凭证、读取对象与列举存储桶的权限以及系统时钟；凭证的查找位置见 docs/remote.md"
            ),
            301 | 307 | 400 => wording!(
                "check the region and the endpoint, such as AWS_REGION and AWS_ENDPOINT_URL",
                "请检查地域与端点，例如 AWS_REGION 与 AWS_ENDPOINT_URL"
            ),
            429 | 500.. => wording!(
                "run it again later, or raise RDBLENS_REMOTE_RETRIES",
                "请稍后重试，或增大 RDBLENS_REMOTE_RETRIES"
            ),
            _ => wording!("check address and endpoint", "请检查地址与端点"),
        }
    }

    fn unreachable(&self, scheme: Scheme) -> Error {
        let cause = &self.cause;
        if self.of_credentials {
            let what = wording!("no credentials found: {cause}", "没有找到凭证：{cause}");
            return Error::new(ErrorKind::Unreadable(what)).with_remedy(credentials(scheme));
        }
        if !self.is_connection {
            return broken(wording!("invalid response: {cause}", "响应无法使用：{cause}"));
        }
        let what = wording!("the store cannot be reached: {cause}", "无法访问存储服务：{cause}");
        Error::new(ErrorKind::Unreadable(what)).with_remedy(wording!(
            "check the endpoint, the network, the certificates and the proxy (HTTPS_PROXY, NO_PROXY)",
            "请检查端点、网络、证书与代理（HTTPS_PROXY、NO_PROXY）"
        ))
    }
}

fn is_connection(error: &StoreError) -> bool {
    let mut cause: Option<&dyn StdError> = Some(error);
    while let Some(error) = cause {
        if error.is::<HttpError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns the last cause of an error, in one line and without what may be a signature.
fn cause(error: &StoreError) -> String {
    let mut last: &dyn StdError = error;
    while let Some(source) = last.source() {
        last = source;
    }
    let text = last.to_string();
    let words: Vec<&str> = text.split_whitespace().map(|word| word.split('?').next().unwrap_or_default()).collect();
    let plain = words.join(" ");
    plain.chars().filter(|c| !c.is_control()).take(LONGEST_CAUSE).collect()
}

/// Returns the error for an object that was replaced.
pub fn replaced() -> Error {
    let what = ErrorKind::Unreadable(wording!(
        "the object was replaced after it was listed or planned",
        "对象在列举或制定计划之后被替换"
    ));
    Error::new(what).with_remedy(wording!(
        "run it again, from the plan on if there is one",
        "请重新运行；如有计划，请从制定计划开始"
    ))
}

/// Returns the error for a server that breaks the protocol.
pub fn broken(what: Wording) -> Error {
    Error::new(ErrorKind::Unreadable(what)).with_remedy(wording!(
        "the server or a proxy before it is at fault: try again, or copy the object to a file",
        "服务器或其前面的代理有误：请重试，或先将对象复制为文件"
    ))
}

/// Tells where credentials are looked for.
pub fn credentials(scheme: Scheme) -> Wording {
    let (en, zh) = match scheme {
        Scheme::S3 => (
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; AWS_SKIP_SIGNATURE=true reads public objects",
            "请设置 AWS_ACCESS_KEY_ID 与 AWS_SECRET_ACCESS_KEY，或 AWS_PROFILE；AWS_SKIP_SIGNATURE=true 可读取公开对象",
        ),
        Scheme::Gs => (
            "set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT; GOOGLE_SKIP_SIGNATURE=true reads public objects",
            "请设置 GOOGLE_APPLICATION_CREDENTIALS 或 GOOGLE_SERVICE_ACCOUNT；GOOGLE_SKIP_SIGNATURE=true 可读取公开对象",
        ),
        Scheme::Az => (
            "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN; \
             AZURE_SKIP_SIGNATURE=true reads public objects",
            "请设置 AZURE_STORAGE_ACCOUNT_NAME 与 AZURE_STORAGE_ACCOUNT_KEY 或 AZURE_STORAGE_SAS_TOKEN；\
             AZURE_SKIP_SIGNATURE=true 可读取公开对象",
        ),
        Scheme::Oss => (
            "set OSS_ACCESS_KEY_ID and OSS_ACCESS_KEY_SECRET; OSS_SKIP_SIGNATURE=true reads public objects",
            "请设置 OSS_ACCESS_KEY_ID 与 OSS_ACCESS_KEY_SECRET；OSS_SKIP_SIGNATURE=true 可读取公开对象",
        ),
        Scheme::Cos => (
            "set COS_SECRET_ID and COS_SECRET_KEY; COS_SKIP_SIGNATURE=true reads public objects",
            "请设置 COS_SECRET_ID 与 COS_SECRET_KEY；COS_SKIP_SIGNATURE=true 可读取公开对象",
        ),
        Scheme::Https | Scheme::Http => ("check the address", "请检查地址"),
    };
    Wording { en: en.to_owned(), zh: zh.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> StoreError {
        StoreError::Generic { store: "S3", source: text.to_owned().into() }
    }

    #[test]
    fn status_and_code_are_kept_and_nothing_else() {
        let said = "Error performing GET http://h/b/k?X-Amz-Signature=abc in 3ms - Server returned non-2xx status code: 503 \
                    Service Unavailable: <Error><Code>SlowDown</Code><Message>secret</Message></Error>";
        let answer = Answer::of(&generic(said));
        assert_eq!((answer.status, answer.code.as_deref()), (Some(503), Some("SlowDown")));
        let error = answer.error(Scheme::S3).to_string();
        assert!(error.contains("HTTP 503 (SlowDown)") && error.contains("RDBLENS_REMOTE_RETRIES"), "{error}");
        assert!(!error.contains("secret") && !error.contains("Signature"), "{error}");
    }

    #[test]
    fn signature_in_a_cause_is_not_shown() {
        let answer = Answer::of(&generic("cannot connect to https://h/k?X-Amz-Signature=abc\n\x1b[31m now"));
        let error = answer.error(Scheme::Https).to_string();
        assert!(
            error.contains("cannot be used: cannot connect to https://h/k [31m now") && !error.contains("abc"),
            "{error}"
        );
    }

    #[test]
    fn missing_credentials_are_named_as_such() {
        let answer = Answer::of(&generic("Error performing PUT http://169.254.169.254/latest/api/token - timed out"));
        let error = answer.error(Scheme::S3).to_string();
        assert!(error.contains("no credentials found") && error.contains("AWS_PROFILE"), "{error}");
    }
}
