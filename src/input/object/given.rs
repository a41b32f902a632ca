//! Settings of stores that a caller gives instead of variables of the environment.

use std::collections::BTreeMap;
use std::fmt;

use crate::near;

/// Settings of object stores, by the names of the environment variables that they replace: see `docs/remote.md`. Names are taken in
/// any case. They may be secrets, so `Debug` shows their number only.
///
/// ```
/// let mut stores = rdblens::StoreSettings::default();
/// stores.set("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")?;
/// stores.set("aws_region", "eu-west-1")?;
/// assert!(stores.set("AWS_REGOIN", "eu-west-1").is_err());
/// # Ok::<(), rdblens::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct StoreSettings(BTreeMap<String, String>);

/// Names that are taken one by one.
const NAMES: [&str; 42] = [
    "ALIBABA_CLOUD_ACCESS_KEY_ID",
    "ALIBABA_CLOUD_ACCESS_KEY_SECRET",
    "ALIBABA_CLOUD_REGION_ID",
    "ALIBABA_CLOUD_SECURITY_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_CA_BUNDLE",
    "AWS_CONFIG_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_ROLE_ARN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_SKIP_SIGNATURE",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "COS_ENDPOINT",
    "COS_REGION",
    "COS_SECRET_ID",
    "COS_SECRET_KEY",
    "COS_SESSION_TOKEN",
    "COS_SKIP_SIGNATURE",
    "OSS_ACCESS_KEY_ID",
    "OSS_ACCESS_KEY_SECRET",
    "OSS_ENDPOINT",
    "OSS_REGION",
    "OSS_SESSION_TOKEN",
    "OSS_SKIP_SIGNATURE",
    "RDBLENS_CA_BUNDLE",
    "RDBLENS_REMOTE_RETRIES",
    "RDBLENS_REMOTE_TIMEOUT",
    "TENCENTCLOUD_REGION",
    "TENCENTCLOUD_SECRET_ID",
    "TENCENTCLOUD_SECRET_KEY",
    "TENCENTCLOUD_SESSION_TOKEN",
    "TENCENTCLOUD_TOKEN",
];

/// Stores whose client knows all names: any name of theirs is passed to it.
const OPEN_ENDED: [&str; 3] = ["AZURE_", "AZURITE_", "GOOGLE_"];

/// Variables that belong together, as those of one set of credentials: if one is given, the others are not taken from the
/// environment. Most have several names, of which the client takes any.
#[cfg(any(feature = "remote", test))]
const CREDENTIALS: [&[&str]; 7] = [
    &[
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_ROLE_ARN",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    ],
    &["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"],
    &["AWS_REGION", "AWS_DEFAULT_REGION"],
    &[
        "OSS_ACCESS_KEY_ID",
        "OSS_ACCESS_KEY_SECRET",
        "OSS_SESSION_TOKEN",
        "ALIBABA_CLOUD_ACCESS_KEY_ID",
        "ALIBABA_CLOUD_ACCESS_KEY_SECRET",
        "ALIBABA_CLOUD_SECURITY_TOKEN",
    ],
    &[
        "COS_SECRET_ID",
        "COS_SECRET_KEY",
        "COS_SESSION_TOKEN",
        "TENCENTCLOUD_SECRET_ID",
        "TENCENTCLOUD_SECRET_KEY",
        "TENCENTCLOUD_SESSION_TOKEN",
        "TENCENTCLOUD_TOKEN",
    ],
    &[
        "AZURE_STORAGE_ACCOUNT_KEY",
        "AZURE_STORAGE_ACCESS_KEY",
        "AZURE_STORAGE_MASTER_KEY",
        "AZURE_STORAGE_SAS_TOKEN",
        "AZURE_STORAGE_SAS_KEY",
        "AZURE_STORAGE_TOKEN",
        "AZURE_STORAGE_CLIENT_ID",
        "AZURE_STORAGE_CLIENT_SECRET",
        "AZURE_STORAGE_TENANT_ID",
        "AZURE_STORAGE_AUTHORITY_ID",
        "AZURE_CLIENT_ID",
        "AZURE_CLIENT_SECRET",
        "AZURE_TENANT_ID",
        "AZURE_AUTHORITY_ID",
        "AZURE_FEDERATED_TOKEN_FILE",
    ],
    &[
        "GOOGLE_SERVICE_ACCOUNT",
        "GOOGLE_SERVICE_ACCOUNT_PATH",
        "GOOGLE_SERVICE_ACCOUNT_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_BEARER_TOKEN",
    ],
];

impl StoreSettings {
    /// Sets a variable, unless there is none of this name: then it returns similar names.
    pub(crate) fn insert(&mut self, name: &str, value: &str) -> Result<(), Vec<&'static str>> {
        let upper = name.to_ascii_uppercase();
        if !NAMES.contains(&upper.as_str()) && !OPEN_ENDED.iter().any(|prefix| upper.starts_with(prefix)) {
            return Err(near::names(&upper, NAMES));
        }
        self.0.insert(upper, value.to_owned());
        Ok(())
    }

    /// Returns the variables of an environment with these in place of those that they replace.
    #[cfg(feature = "remote")]
    pub(super) fn over(&self, mut environment: BTreeMap<String, String>) -> BTreeMap<String, String> {
        for group in CREDENTIALS.iter().filter(|group| group.iter().any(|name| self.0.contains_key(*name))) {
            environment.retain(|name, _| !group.contains(&name.as_str()));
        }
        environment.extend(self.0.clone());
        environment
    }
}

impl fmt::Debug for StoreSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreSettings({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given<const N: usize>(settings: [(&str, &str); N]) -> StoreSettings {
        let mut given = StoreSettings::default();
        settings.into_iter().for_each(|(name, value)| given.insert(name, value).unwrap());
        given
    }

    #[test]
    fn unknown_settings_are_refused_and_values_are_not_shown() {
        let mut settings = given([("aws_secret_access_key", "hunter2"), ("azure_storage_account_key", "hunter2")]);
        let near = settings.insert("aws_secret_acces_key", "hunter2").unwrap_err();
        assert!(near.contains(&"AWS_SECRET_ACCESS_KEY"), "{near:?}");
        assert!(settings.insert("region", "hunter2").is_err());
        assert_eq!(format!("{settings:?}"), "StoreSettings(2)");
    }

    #[test]
    #[cfg(feature = "remote")]
    fn given_credentials_are_not_mixed_with_those_of_the_environment() {
        let of = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let environment =
            of(&[("AWS_ACCESS_KEY_ID", "E"), ("AWS_SESSION_TOKEN", "e"), ("AWS_REGION", "r"), ("HOME", "/h")]);
        let keys = given([("AWS_ACCESS_KEY_ID", "G"), ("AWS_SECRET_ACCESS_KEY", "g")]);
        let expected =
            of(&[("AWS_ACCESS_KEY_ID", "G"), ("AWS_SECRET_ACCESS_KEY", "g"), ("AWS_REGION", "r"), ("HOME", "/h")]);
        assert_eq!(keys.over(environment.clone()), expected);
        let profile = given([("AWS_PROFILE", "night")]).over(environment.clone());
        assert_eq!(profile, of(&[("AWS_PROFILE", "night"), ("AWS_REGION", "r"), ("HOME", "/h")]));
        assert_eq!(StoreSettings::default().over(environment.clone()), environment);
    }

    #[test]
    fn names_are_sorted_and_hold_all_credentials() {
        assert!(NAMES.is_sorted());
        let named = |name: &&str| NAMES.contains(name) || OPEN_ENDED.iter().any(|prefix| name.starts_with(prefix));
        assert!(CREDENTIALS.iter().flat_map(|group| group.iter()).all(named));
    }
}
