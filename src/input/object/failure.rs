//! Errors of stores in our words: status, code and remedy.
//!
//! Messages of clients and servers are not repeated: they hold addresses with signatures, and whatever a server sends. What is
//! kept is the status, the code in the answer, and the last cause of a failed connection.

use std::error::Error as StdError;
use std::sync::LazyLock;

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};
use regex::Regex;

use super::address::Scheme;
use crate::error::{Error, ErrorKind};
use crate::wording::{Wording, wording};

/// Longest cause of a failed connection that is quoted.
const MAX_CAUSE_LEN: usize = 200;

/// Answer of a store to a request that failed.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Code in an answer in XML, such as `AccessDenied`.
    pub code: Option<String>,
    /// True if the service that hands out credentials did not answer.
    pub of_credentials: bool,
    /// How the connection failed, if it did, and not what came over it.
    connection: Option<HttpErrorKind>,
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
        // Buckets of another region are moved without a word about where.
        let moved = whole.contains("Received redirect without LOCATION").then_some(301);
        Answer {
            connection: connection(error),
            status: known.or(moved).or_else(|| first(&STATUS, &whole).and_then(|digits| digits.parse().ok())),
            code: first(&CODE, &whole),
            of_credentials,
            cause: cause(error),
        }
    }

    /// Returns whether asking again may help.
    pub fn may_pass(&self) -> bool {
        self.status.map_or(self.connection.is_some(), |status| status >= 500 || status == 429 || status == 408)
    }

    /// Words the answer, with what to do about it.
    pub fn error(&self, scheme: Scheme) -> Error {
        self.worded(scheme).of_store()
    }

    fn worded(&self, scheme: Scheme) -> Error {
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
            301 if !scheme.is_web() => {
                wording!("HTTP 301{code}: the bucket is in another region", "HTTP 301{code}：存储桶位于另一个地域")
            }
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
        if !self.of_credentials
            && let Some(remedy) = self.code.as_deref().and_then(|code| of_code(code, scheme))
        {
            return remedy;
        }
        match status {
            _ if self.of_credentials => credentials(scheme),
            404 if scheme.is_web() => wording!("check the address", "请检查地址"),
            404 => wording!(
                "check bucket, key and endpoint; a prefix ends with /, a pattern may contain *, ? and [...]",
                "请检查存储桶、对象键与端点；前缀以 / 结尾，通配符可以包含 *、? 和 [...]"
            ),
            401 | 403 if scheme.is_web() => {
                wording!("check the address; a signed one may have expired", "请检查地址；带签名的地址可能已过期")
            }
            401 | 403 => wording!(
                "check the credentials, their permission to get objects and to list the bucket, and the clock; \
                 docs/remote.md lists where credentials are looked for",
                "请检查凭证、读取对象与列举存储桶的权限以及系统时钟；凭证的查找位置见 docs/remote.md"
            ),
            301 | 307 | 400 => region(scheme),
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
        if cause.contains("Content-Length Header missing") {
            let what = wording!(
                "the server does not tell the size (no Content-Length)",
                "服务器没有给出大小（无 Content-Length）"
            );
            return Error::new(ErrorKind::Unreadable(what)).with_remedy(wording!(
                "copy it to a file, or pipe it: curl URL | rdblens analyze -",
                "请先下载为文件，或通过管道传入：curl URL | rdblens analyze -"
            ));
        }
        match self.connection {
            None => return broken(wording!("invalid response: {cause}", "响应无法使用：{cause}")),
            Some(HttpErrorKind::Decode | HttpErrorKind::Interrupted) => {
                return broken(wording!("the connection broke off: {cause}", "连接中断：{cause}"));
            }
            Some(_) => {}
        }
        let what = wording!("the store cannot be reached: {cause}", "无法访问存储服务：{cause}");
        Error::new(ErrorKind::Unreadable(what)).with_remedy(wording!(
            "check the endpoint, the network, the certificates and the proxy (HTTPS_PROXY, NO_PROXY)",
            "请检查端点、网络、证书与代理（HTTPS_PROXY、NO_PROXY）"
        ))
    }
}

/// Returns how a connection failed, if that is the cause of an error.
fn connection(error: &StoreError) -> Option<HttpErrorKind> {
    let mut cause: Option<&dyn StdError> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

/// Returns what to do about a code of which more is known than about its status.
fn of_code(code: &str, scheme: Scheme) -> Option<Wording> {
    Some(match code {
        "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired" | "SecurityTokenExpired" => {
            wording!("the session token has expired: get new credentials", "会话令牌已过期：请获取新的凭证")
        }
        "RequestTimeTooSkewed" => wording!("set the clock of this machine", "请校准本机时钟"),
        "InvalidObjectState" | "BlobArchived" => wording!(
            "the object is archived: restore it first, then run this again",
            "对象已归档：请先恢复（解冻），再重新运行"
        ),
        "InvalidAccessKeyId" | "SignatureDoesNotMatch" if !scheme.is_web() => wording!(
            "check the access key and its secret; docs/remote.md lists where credentials are looked for",
            "请检查 AccessKey ID 与 Secret；凭证的查找位置见 docs/remote.md"
        ),
        "AuthorizationHeaderMalformed"
        | "IllegalLocationConstraintException"
        | "InvalidRegionName"
        | "PermanentRedirect" => region(scheme),
        "SlowDown" | "Throttling" | "RequestLimitExceeded" | "ServerBusy" | "TooManyRequests" => wording!(
            "the store limits requests: run it again later, with fewer programs at a time, or raise RDBLENS_REMOTE_RETRIES",
            "存储服务限制了请求速率：请稍后重试，减少同时运行的程序，或增大 RDBLENS_REMOTE_RETRIES"
        ),
        _ => return None,
    })
}

/// Tells which settings say where a bucket is.
fn region(scheme: Scheme) -> Wording {
    let names = match scheme {
        Scheme::S3 => ["AWS_REGION", "AWS_ENDPOINT_URL"],
        Scheme::Oss => ["OSS_REGION", "OSS_ENDPOINT"],
        Scheme::Cos => ["COS_REGION", "COS_ENDPOINT"],
        Scheme::Az => ["AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ENDPOINT"],
        Scheme::Gs => {
            return wording!("check bucket, key and GOOGLE_BASE_URL", "请检查存储桶、对象键与 GOOGLE_BASE_URL");
        }
        Scheme::Https | Scheme::Http => return wording!("check the address", "请检查地址"),
    };
    let [one, other] = names;
    wording!("check the region and the endpoint: {one}, {other}", "请检查地域与端点：{one}、{other}")
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
    plain.chars().filter(|c| !c.is_control()).take(MAX_CAUSE_LEN).collect()
}

/// Returns the error for an object that was replaced.
pub fn replaced() -> Error {
    let what = ErrorKind::Unreadable(wording!(
        "the object was replaced after it was listed or planned",
        "对象在列举或制定计划之后被替换"
    ));
    let error = Error::new(what).with_remedy(wording!(
        "run it again, from the plan on if there is one",
        "请重新运行；如有计划，请从制定计划开始"
    ));
    error.of_store()
}

/// Returns the error for a server that breaks the protocol.
pub fn broken(what: Wording) -> Error {
    let error = Error::new(ErrorKind::Unreadable(what)).with_remedy(wording!(
        "the server or a proxy before it is at fault: try again, or copy the object to a file",
        "服务器或其前面的代理出错：请重试，或先将对象下载为文件"
    ));
    error.of_store()
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
    fn known_codes_have_remedies_of_their_own() {
        let said = |status: &str, code: &str, scheme| {
            let text = format!("Server returned non-2xx status code: {status}: <Error><Code>{code}</Code></Error>");
            Answer::of(&generic(&text)).error(scheme).to_string()
        };
        for (status, code, remedy) in [
            ("400 Bad Request", "ExpiredToken", "get new credentials"),
            ("403 Forbidden", "RequestTimeTooSkewed", "set the clock"),
            ("403 Forbidden", "InvalidObjectState", "restore it first"),
            ("503 Slow Down", "SlowDown", "the store limits requests"),
            ("400 Bad Request", "AuthorizationHeaderMalformed", "AWS_REGION"),
        ] {
            let said = said(status, code, Scheme::S3);
            assert!(said.contains(code) && said.contains(remedy), "{said}");
        }
        for (scheme, remedy) in [
            (Scheme::S3, "AWS_REGION"),
            (Scheme::Oss, "OSS_REGION"),
            (Scheme::Az, "AZURE_STORAGE_ENDPOINT"),
            (Scheme::Https, "check the address"),
        ] {
            let said = said("400 Bad Request", "Unknown", scheme);
            assert!(said.contains(remedy), "{said}");
        }
        let moved =
            "Error performing HEAD http://h/b/k in 3ms - Received redirect without LOCATION, this normally indicates";
        let said = Answer::of(&generic(moved)).error(Scheme::S3);
        assert!(said.is_of_store());
        let said = said.to_string();
        assert!(said.contains("HTTP 301") && said.contains("AWS_REGION") && !said.contains("at fault"), "{said}");
        let said = Answer::of(&generic("Content-Length Header missing from response")).error(Scheme::Http).to_string();
        assert!(said.contains("no Content-Length") && said.contains("curl"), "{said}");
    }

    #[test]
    fn signature_in_a_cause_is_not_shown() {
        let answer = Answer::of(&generic("cannot connect to https://h/k?X-Amz-Signature=abc\n\x1b[31m now"));
        let error = answer.error(Scheme::Https).to_string();
        assert!(
            error.contains("invalid response: cannot connect to https://h/k [31m now") && !error.contains("abc"),
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
