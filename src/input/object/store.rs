//! Clients of the stores, made from the settings.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};

use super::address::{Address, Scheme, unusable};
use super::checks::{check, check_url};
use super::failure::{Answer, credentials};
use super::runtime::Runtime;
use super::settings::Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::wording::wording;

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// First and longest pause before a request is repeated.
pub(super) const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// Time after which a request is not repeated any more.
const PATIENCE: Duration = Duration::from_secs(120);

/// Client of a bucket, or of a web server.
pub struct Store {
    /// Kind of the store.
    pub scheme: Scheme,
    /// Requests for objects.
    pub objects: Arc<dyn ObjectStore>,
    /// Requests for lists; web servers have none.
    pub pages: Option<Arc<dyn PaginatedListStore>>,
    /// Threads that wait for answers.
    pub runtime: Runtime,
    /// Number of times that a request is repeated.
    pub retries: usize,
}

/// Variables of a store that speaks the protocol of S3 under names of its own.
struct Dialect {
    region: &'static [&'static str],
    endpoint: &'static str,
    id: &'static [&'static str],
    secret: &'static [&'static str],
    token: &'static [&'static str],
    anonymous: &'static str,
}

const OSS: Dialect = Dialect {
    region: &["OSS_REGION", "ALIBABA_CLOUD_REGION_ID"],
    endpoint: "OSS_ENDPOINT",
    id: &["OSS_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_ID"],
    secret: &["OSS_ACCESS_KEY_SECRET", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
    token: &["OSS_SESSION_TOKEN", "ALIBABA_CLOUD_SECURITY_TOKEN"],
    anonymous: "OSS_SKIP_SIGNATURE",
};

const COS: Dialect = Dialect {
    region: &["COS_REGION", "TENCENTCLOUD_REGION"],
    endpoint: "COS_ENDPOINT",
    id: &["COS_SECRET_ID", "TENCENTCLOUD_SECRET_ID"],
    secret: &["COS_SECRET_KEY", "TENCENTCLOUD_SECRET_KEY"],
    token: &["COS_SESSION_TOKEN", "TENCENTCLOUD_SESSION_TOKEN", "TENCENTCLOUD_TOKEN"],
    anonymous: "COS_SKIP_SIGNATURE",
};

impl Store {
    /// Makes the client for the bucket of an address.
    pub fn new(address: &Address, settings: &Settings, runtime: &Runtime) -> Result<Store> {
        // Another part of the process may have chosen one before, which does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let maker = Maker { address, settings };
        let (objects, pages): (Arc<dyn ObjectStore>, Option<Arc<dyn PaginatedListStore>>) = match address.scheme {
            Scheme::S3 | Scheme::Oss | Scheme::Cos => {
                let builder = match address.scheme {
                    Scheme::Oss => maker.dialect(&OSS)?,
                    Scheme::Cos => maker.dialect(&COS)?,
                    _ => maker.s3()?,
                };
                let store = Arc::new(builder.build().map_err(|error| maker.refused(&error))?);
                (store.clone(), Some(store))
            }
            Scheme::Gs => {
                let store = Arc::new(maker.gs()?.build().map_err(|error| maker.refused(&error))?);
                (store.clone(), Some(store))
            }
            Scheme::Az => {
                let store = Arc::new(maker.az()?.build().map_err(|error| maker.refused(&error))?);
                (store.clone(), Some(store))
            }
            Scheme::Https | Scheme::Http => {
                (Arc::new(maker.web()?.build().map_err(|error| maker.refused(&error))?), None)
            }
        };
        let (scheme, runtime) = (address.scheme, runtime.clone());
        Ok(Store { scheme, objects, pages, runtime, retries: settings.retries() })
    }
}

struct Maker<'a> {
    address: &'a Address,
    settings: &'a Settings,
}

impl Maker<'_> {
    fn retry(&self) -> RetryConfig {
        let backoff = BackoffConfig { init_backoff: PAUSES.0, max_backoff: PAUSES.1, ..BackoffConfig::default() };
        RetryConfig { backoff, max_retries: self.settings.retries(), retry_timeout: PATIENCE }
    }

    /// Returns the options of a connection; `endpoint` decides whether TLS can be done without.
    fn client(&self, endpoint: Option<&str>) -> Result<ClientOptions> {
        let is_plain = |endpoint: &str| endpoint.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
        let without_tls = endpoint.is_some_and(is_plain);
        let mut options = ClientOptions::new()
            .with_user_agent(agent())
            .with_connect_timeout(CONNECT)
            .with_read_timeout(self.settings.silence())
            // A range may take longer than any fixed time; one that stands still does not.
            .with_timeout_disabled()
            .with_allow_http(without_tls);
        if let Some(path) = self.settings.any(&["AWS_CA_BUNDLE", "RDBLENS_CA_BUNDLE"]) {
            let refused = |error: String| {
                unusable(
                    wording!("{path}: {error}", "{path}：{error}"),
                    wording!(
                        "AWS_CA_BUNDLE names a file of certificates in PEM form",
                        "AWS_CA_BUNDLE 应为 PEM 格式的证书文件"
                    ),
                )
            };
            let pem = std::fs::read(path).map_err(|error| refused(error.to_string()))?;
            let bundle = Certificate::from_pem_bundle(&pem).ok().filter(|bundle| !bundle.is_empty());
            let bundle = bundle.ok_or_else(|| refused("not a certificate".to_owned()))?;
            options = bundle.into_iter().fold(options, ClientOptions::with_root_certificate);
        }
        Ok(options)
    }

    fn s3(&self) -> Result<AmazonS3Builder> {
        let (settings, bucket) = (self.settings, &self.address.bucket);
        let is_keyed = settings.any(&["AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"]).is_some();
        let is_anonymous = settings.is_on("AWS_SKIP_SIGNATURE");
        let profile = settings.profile()?;
        profile.check()?;
        let endpoint = settings
            .any_checked(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])?
            .or_else(|| profile.get("endpoint_url"));
        let mut builder = AmazonS3Builder::new().with_client_options(self.client(endpoint)?).with_retry(self.retry());
        for (name, value) in settings.beginning("AWS_") {
            if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
                check(name, value)?;
                builder = builder.with_config(key, value);
            }
        }
        if !is_keyed && !is_anonymous {
            match (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key"), profile.indirect()) {
                (Some(id), Some(secret), _) => {
                    builder = builder.with_access_key_id(id).with_secret_access_key(secret);
                    if let Some(token) = profile.get("aws_session_token") {
                        builder = builder.with_token(token);
                    }
                }
                (_, _, Some(setting)) => return Err(indirect(setting)),
                _ => {}
            }
        }
        if settings.any(&["AWS_REGION", "AWS_DEFAULT_REGION"]).is_none()
            && let Some(region) = profile.get("region")
        {
            builder = builder.with_region(region);
        }
        if let Some(endpoint) = endpoint {
            let in_host = settings.is_on("AWS_VIRTUAL_HOSTED_STYLE_REQUEST");
            let endpoint = if in_host { with_bucket(endpoint, bucket) } else { endpoint.to_owned() };
            builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
        }
        Ok(builder.with_bucket_name(bucket))
    }

    fn dialect(&self, dialect: &Dialect) -> Result<AmazonS3Builder> {
        let (settings, bucket, scheme) = (self.settings, &self.address.bucket, self.address.scheme);
        let region = settings.any_checked(dialect.region)?;
        let endpoint = match (settings.get(dialect.endpoint), region) {
            (Some(endpoint), _) => endpoint_of(scheme, endpoint),
            (None, Some(region)) if scheme == Scheme::Oss => format!("https://s3.oss-{region}.aliyuncs.com"),
            (None, Some(region)) => format!("https://cos.{region}.myqcloud.com"),
            (None, None) => {
                let (name, first) = (scheme.name(), dialect.region.first().unwrap_or(&""));
                return Err(unusable(
                    wording!("{name}:// needs the region of the bucket", "{name}:// 需要存储桶所在的地域"),
                    wording!("set {first} or {}", "请设置 {first} 或 {}", dialect.endpoint),
                ));
            }
        };
        check_url(dialect.endpoint, &endpoint)?;
        let region = region.or_else(|| region_in(&endpoint)).unwrap_or("us-east-1").to_owned();
        let mut builder = AmazonS3Builder::new()
            .with_client_options(self.client(Some(&endpoint))?)
            .with_retry(self.retry())
            .with_bucket_name(bucket)
            .with_region(region);
        // Both serve buckets under their own host names only; at a plain address there are no host names.
        let is_named = !endpoint.split("://").last().is_some_and(|host| host.starts_with(|c: char| c.is_ascii_digit()));
        let endpoint = if is_named { with_bucket(&endpoint, bucket) } else { endpoint };
        builder = builder.with_endpoint(endpoint).with_virtual_hosted_style_request(is_named);
        match (settings.any_checked(dialect.id)?, settings.any_checked(dialect.secret)?) {
            (Some(id), Some(secret)) => {
                builder = builder.with_access_key_id(id).with_secret_access_key(secret);
                if let Some(token) = settings.any_checked(dialect.token)? {
                    builder = builder.with_token(token);
                }
                Ok(builder)
            }
            _ if settings.is_on(dialect.anonymous) => Ok(builder.with_skip_signature(true)),
            _ => Err(lacks_credentials(scheme)),
        }
    }

    fn gs(&self) -> Result<GoogleCloudStorageBuilder> {
        let base = self.settings.any_checked(&["GOOGLE_BASE_URL"])?;
        let mut builder =
            GoogleCloudStorageBuilder::new().with_client_options(self.client(base)?).with_retry(self.retry());
        for (name, value) in self.settings.beginning("GOOGLE_") {
            if let Ok(key) = name.to_ascii_lowercase().parse::<GoogleConfigKey>() {
                check(name, value)?;
                builder = builder.with_config(key, value);
            }
        }
        Ok(builder.with_bucket_name(&self.address.bucket))
    }

    fn az(&self) -> Result<MicrosoftAzureBuilder> {
        let endpoint = self.settings.any_checked(&["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"])?;
        let mut builder =
            MicrosoftAzureBuilder::new().with_client_options(self.client(endpoint)?).with_retry(self.retry());
        for (name, value) in self.settings.beginning("AZURE_") {
            if let Ok(key) = name.to_ascii_lowercase().parse::<AzureConfigKey>() {
                check(name, value)?;
                builder = builder.with_config(key, value);
            }
        }
        if let Some(endpoint) = self.settings.any_checked(&["IDENTITY_ENDPOINT"])? {
            builder = builder.with_config(AzureConfigKey::MsiEndpoint, endpoint);
        }
        Ok(builder.with_container_name(&self.address.bucket))
    }

    fn web(&self) -> Result<HttpBuilder> {
        let Address { scheme, bucket, query, .. } = self.address;
        let mut url = format!("{}://{bucket}/", scheme.name());
        if let Some(query) = query {
            url = format!("{url}?{query}");
        }
        if reqwest::Url::parse(&url).is_err() {
            return Err(unusable(
                wording!("not a valid address", "地址无效"),
                wording!("write {}://HOST:PORT/path", "请写成 {}://HOST:PORT/path", scheme.name()),
            ));
        }
        Ok(HttpBuilder::new().with_client_options(self.client(Some(&url))?).with_retry(self.retry()).with_url(url))
    }

    /// Words the refusal of a builder. Its own words may hold values of the settings, so they are not repeated.
    fn refused(&self, error: &object_store::Error) -> Error {
        let text = error.to_string();
        let scheme = self.address.scheme;
        if ["Missing", "missing", "Account must be specified"].iter().any(|trace| text.contains(trace)) {
            return lacks_credentials(scheme);
        }
        let answer = Answer::of(error);
        if answer.status.is_some() {
            return answer.error(scheme);
        }
        let what = wording!(
            "the settings of {}:// are not usable: a variable of the environment has a wrong value",
            "{}:// 的设置不可用：某个环境变量的值有误",
            scheme.name()
        );
        Error::new(ErrorKind::Unreadable(what)).with_remedy(credentials(scheme))
    }
}

fn agent() -> object_store::HeaderValue {
    object_store::HeaderValue::from_static(concat!("rdblens/", env!("CARGO_PKG_VERSION")))
}

fn lacks_credentials(scheme: Scheme) -> Error {
    let what = ErrorKind::Unreadable(wording!("no credentials found", "没有找到凭证"));
    Error::new(what).with_remedy(credentials(scheme))
}

/// Returns the error for a profile that only another program can turn into credentials.
fn indirect(setting: &str) -> Error {
    unusable(
        wording!(
            "the AWS profile gets its credentials by {setting}, which rdblens does not support",
            "该 AWS 配置通过 {setting} 获取凭证，rdblens 不支持"
        ),
        wording!(
            "run `eval \"$(aws configure export-credentials --format env)\"` first",
            "请先运行 `eval \"$(aws configure export-credentials --format env)\"`"
        ),
    )
}

/// Returns an endpoint with the bucket in its host name.
fn with_bucket(endpoint: &str, bucket: &str) -> String {
    let (scheme, host) = endpoint.split_once("://").unwrap_or(("https", endpoint));
    if host.strip_prefix(bucket).is_some_and(|rest| rest.starts_with('.')) {
        format!("{scheme}://{host}")
    } else {
        format!("{scheme}://{bucket}.{host}")
    }
}

/// Returns the endpoint of the protocol of S3 for the one that users know.
fn endpoint_of(scheme: Scheme, endpoint: &str) -> String {
    let (tls, host) = endpoint.split_once("://").unwrap_or(("https", endpoint));
    let host = host.trim_end_matches('/');
    let is_native = scheme == Scheme::Oss && host.starts_with("oss-") && host.contains(".aliyuncs.");
    format!("{tls}://{}{host}", if is_native { "s3." } else { "" })
}

/// Returns the region in an endpoint: of `s3.oss-cn-hangzhou-internal.aliyuncs.com`, `cos.ap-guangzhou.myqcloud.com`.
fn region_in(endpoint: &str) -> Option<&str> {
    let host = endpoint.split("://").last()?;
    let oss = host.split('.').find_map(|part| part.strip_prefix("oss-"));
    let cos = || host.split_once("cos.").and_then(|(_, rest)| rest.split('.').next());
    oss.map(|region| region.trim_end_matches("-internal")).or_else(cos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_get_the_bucket_and_give_the_region() {
        assert_eq!(with_bucket("https://h:9", "b"), "https://b.h:9");
        assert_eq!(with_bucket("https://b.h", "b"), "https://b.h");
        let oss = |endpoint| endpoint_of(Scheme::Oss, endpoint);
        assert_eq!(oss("oss-cn-hangzhou.aliyuncs.com"), "https://s3.oss-cn-hangzhou.aliyuncs.com");
        assert_eq!(oss("https://s3.oss-cn-x-internal.aliyuncs.com/"), "https://s3.oss-cn-x-internal.aliyuncs.com");
        assert_eq!(region_in("https://s3.oss-cn-x-internal.aliyuncs.com"), Some("cn-x"));
        assert_eq!(region_in("https://cos.ap-guangzhou.myqcloud.com"), Some("ap-guangzhou"));
        assert_eq!(region_in("http://127.0.0.1:9000"), None);
    }

    fn refusal(address: &str, settings: &Settings) -> String {
        let (address, runtime) = (Address::parse(address).unwrap(), Runtime::start().unwrap());
        Store::new(&address, settings, &runtime).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn stores_without_credentials_say_which_variables_are_missing() {
        for (address, name) in [("oss://b/k", "OSS_ACCESS_KEY_ID"), ("cos://b/k", "COS_SECRET_ID")] {
            let settings = Settings::of([("OSS_REGION", "r"), ("COS_REGION", "r")]);
            let said = refusal(address, &settings);
            assert!(said.contains("no credentials found") && said.contains(name), "{said}");
            let said = refusal(address, &Settings::default());
            assert!(said.contains("needs the region"), "{said}");
        }
        let said = refusal("az://c/k", &Settings::default());
        assert!(said.contains("AZURE_STORAGE_ACCOUNT_NAME"), "{said}");
    }

    #[test]
    fn wrong_settings_are_named_instead_of_reaching_the_client() {
        let keys = [("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "s")];
        for wrong in [
            ("AWS_ENDPOINT_URL", "127.0.0.1:5577"),
            ("AWS_REGION", "eu\nwest"),
            ("AWS_SESSION_TOKEN", "a\nb"),
            ("AWS_DEFAULT_REGION", "eu west"),
        ] {
            let said = refusal("s3://b/k", &Settings::of([keys[0], keys[1], wrong]));
            assert!(said.contains(wrong.0), "{said}");
        }
        let said = refusal("gs://b/k", &Settings::of([("GOOGLE_BASE_URL", "127.0.0.1:5577")]));
        assert!(said.contains("GOOGLE_BASE_URL"), "{said}");
        let oss = [("OSS_REGION", "r"), ("OSS_ACCESS_KEY_ID", "a\nb"), ("OSS_ACCESS_KEY_SECRET", "s")];
        let said = refusal("oss://b/k", &Settings::of(oss));
        assert!(said.contains("OSS_ACCESS_KEY_ID"), "{said}");
        let azure = [("AZURE_STORAGE_ACCOUNT_NAME", "a"), ("AZURE_STORAGE_TOKEN", "a\nb")];
        let said = refusal("az://c/k", &Settings::of(azure));
        assert!(said.contains("AZURE_STORAGE_TOKEN"), "{said}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "no certificate").unwrap();
        let said = refusal("http://h/k", &Settings::of([("AWS_CA_BUNDLE", file.path().to_str().unwrap())]));
        assert!(said.contains("not a certificate"), "{said}");
    }

    #[test]
    fn values_of_settings_are_not_in_errors() {
        let account = [("AZURE_STORAGE_ACCOUNT_NAME", "a"), ("AZURE_STORAGE_ACCOUNT_KEY", "not base64: hunter2")];
        let said = refusal("az://c/k", &Settings::of(account));
        assert!(!said.is_empty() && !said.contains("hunter2"), "{said}");
        let said =
            refusal("gs://b/k", &Settings::of([("GOOGLE_SERVICE_ACCOUNT_KEY", "{\"private_key\": \"hunter2\"}")]));
        assert!(!said.is_empty() && !said.contains("hunter2"), "{said}");
    }
}
