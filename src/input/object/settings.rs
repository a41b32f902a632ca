//! Settings of stores: environment variables, and the files of the AWS tools.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::address::unusable;
use super::checks::check;
use super::given::StoreSettings;
use crate::error::Result;
use crate::wording::wording;

/// Variables of the environment, as they were when the inputs were resolved.
#[derive(Clone, Default)]
pub struct Settings(BTreeMap<String, String>);

/// Beginnings of the names of settings.
const OURS: [&str; 10] = [
    "ALIBABA_CLOUD_",
    "AWS_",
    "AZURE_",
    "AZURITE_",
    "COS_",
    "GOOGLE_",
    "IDENTITY_",
    "OSS_",
    "RDBLENS_",
    "TENCENTCLOUD_",
];

impl Settings {
    /// Reads the environment, with `given` in place of the variables of the same names.
    pub fn of_environment(given: &StoreSettings) -> Settings {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Settings::new(given.over(std::env::vars_os().filter_map(text).collect()))
    }

    /// Creates settings. A secret of Kubernetes, or one that was read from a file, ends with a line break.
    fn new(mut variables: BTreeMap<String, String>) -> Settings {
        for (name, value) in &mut variables {
            if OURS.iter().any(|prefix| name.starts_with(prefix)) && value.trim_ascii().len() < value.len() {
                *value = value.trim_ascii().to_owned();
            }
        }
        Settings(variables)
    }

    /// Creates settings for tests.
    #[cfg(test)]
    pub fn of<const N: usize>(variables: [(&str, &str); N]) -> Settings {
        Settings::new(variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Returns a variable, unless it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the first of several variables that is set.
    pub fn any(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// Returns the first of several variables that is set. Fails if a client cannot take its value.
    pub fn any_checked(&self, names: &[&str]) -> Result<Option<&str>> {
        let found = names.iter().find_map(|name| Some((name, self.get(name)?)));
        found.map(|(name, value)| check(name, value).map(|()| value)).transpose()
    }

    /// Returns whether a variable says yes.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| ["1", "true", "yes", "on"].iter().any(|yes| value.eq_ignore_ascii_case(yes)))
    }

    /// Returns the variables whose names begin with `prefix`.
    pub fn beginning(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter().filter(move |(name, value)| name.starts_with(prefix) && !value.is_empty());
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns how often a request is repeated.
    pub fn retries(&self) -> usize {
        self.get("RDBLENS_REMOTE_RETRIES").and_then(|text| text.parse().ok()).unwrap_or(6).min(100)
    }

    /// Returns how long a connection may be silent.
    pub fn silence(&self) -> Duration {
        let seconds = self.get("RDBLENS_REMOTE_TIMEOUT").and_then(|text| text.parse().ok()).unwrap_or(30.0);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(30)).max(Duration::from_millis(10))
    }

    /// Returns the section of a profile in the files of the AWS tools, `credentials` over `config`.
    pub fn profile(&self) -> Result<Profile> {
        let name = self.any(&["AWS_PROFILE", "AWS_DEFAULT_PROFILE"]);
        let home = self.any(&["HOME", "USERPROFILE"]).map(|home| Path::new(home).join(".aws"));
        let file = |variable: &str, name: &str| {
            self.get(variable).map(PathBuf::from).or_else(|| home.as_ref().map(|home| home.join(name)))
        };
        let mut profile = Profile::default();
        let (config, credentials) =
            (file("AWS_CONFIG_FILE", "config"), file("AWS_SHARED_CREDENTIALS_FILE", "credentials"));
        let section = name.unwrap_or("default");
        let mut found = false;
        for (path, is_config) in [(config, true), (credentials, false)] {
            let Some(text) = path.and_then(|path| std::fs::read_to_string(path).ok()) else { continue };
            found |= profile.read(&text, section, is_config);
        }
        if !found && name.is_some() {
            return Err(unusable(
                wording!("AWS_PROFILE={section}: there is no such profile", "AWS_PROFILE={section}：没有该配置"),
                wording!("`aws configure list-profiles` lists them", "可用 `aws configure list-profiles` 列出"),
            ));
        }
        Ok(profile)
    }
}

/// A profile of the AWS tools.
#[derive(Default)]
pub struct Profile(BTreeMap<String, String>);

/// Settings of a profile that need another program or a login to become credentials.
const INDIRECT: [&str; 4] = ["credential_process", "sso_session", "sso_start_url", "role_arn"];

impl Profile {
    /// Reads a section of a file in INI form; in `config`, sections other than the default one are called `profile NAME`.
    fn read(&mut self, text: &str, name: &str, is_config: bool) -> bool {
        let (mut inside, mut found) = (false, false);
        for line in text.lines() {
            let plain = line.trim();
            if let Some(section) = plain.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
                let section = section.trim();
                let named = section.strip_prefix("profile").filter(|rest| rest.starts_with(char::is_whitespace));
                inside = if is_config && name != "default" {
                    named.is_some_and(|named| named.trim() == name)
                } else {
                    section == name || (is_config && named.is_some_and(|named| named.trim() == name))
                };
                found |= inside;
            } else if inside
                // Indented lines belong to a setting of several lines, such as `s3 =`.
                && !line.starts_with(char::is_whitespace)
                && !plain.starts_with(['#', ';'])
                && let Some((key, value)) = plain.split_once('=')
            {
                let value = value.split(" #").next().unwrap_or_default();
                self.0.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
            }
        }
        found
    }

    /// Returns a setting, unless it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Fails if a client cannot take one of the settings that it is given.
    pub fn check(&self) -> Result<()> {
        let used = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region", "endpoint_url"];
        used.iter().filter_map(|name| Some((name, self.get(name)?))).try_for_each(|(name, value)| check(name, value))
    }

    /// Returns the first setting of which only another program can make credentials.
    pub fn indirect(&self) -> Option<&'static str> {
        INDIRECT.into_iter().find(|name| self.get(name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = A\naws_secret_access_key=s==\n\n[night]\n# a comment\n\
                               aws_access_key_id=N\naws_session_token = t # short\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\n[profile night]\nregion=cn-north-1\ns3 =\n  endpoint_url = \
                          nested\n[profile sso]\nsso_session = x\n[services a]\nregion = no\n";

    fn settings(profile: &str) -> (tempfile::TempDir, Settings) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".aws")).unwrap();
        std::fs::write(dir.path().join(".aws/credentials"), CREDENTIALS).unwrap();
        std::fs::write(dir.path().join(".aws/config"), CONFIG).unwrap();
        let settings = Settings::of([("HOME", dir.path().to_str().unwrap()), ("AWS_PROFILE", profile)]);
        (dir, settings)
    }

    #[test]
    fn profile_is_read_from_both_files() {
        let (_dir, of_default) = settings("");
        let profile = of_default.profile().unwrap();
        assert_eq!((profile.get("aws_access_key_id"), profile.get("region")), (Some("A"), Some("eu-west-1")));
        assert_eq!(profile.get("aws_secret_access_key"), Some("s=="));
        let (_dir, of_night) = settings("night");
        let profile = of_night.profile().unwrap();
        assert_eq!((profile.get("aws_access_key_id"), profile.get("region")), (Some("N"), Some("cn-north-1")));
        assert_eq!((profile.get("aws_session_token"), profile.get("endpoint_url")), (Some("t"), None));
        assert_eq!(settings("sso").1.get("AWS_PROFILE"), Some("sso"));
        let (_dir, of_sso) = settings("sso");
        assert_eq!(of_sso.profile().unwrap().indirect(), Some("sso_session"));
    }

    #[test]
    fn line_breaks_around_values_are_dropped() {
        let settings = Settings::of([("AWS_ACCESS_KEY_ID", "A\n"), ("OSS_SESSION_TOKEN", " t\r\n"), ("HOME", "/h ")]);
        assert_eq!((settings.get("AWS_ACCESS_KEY_ID"), settings.get("OSS_SESSION_TOKEN")), (Some("A"), Some("t")));
        assert_eq!(settings.get("HOME"), Some("/h "));
        assert!(Settings::of([("AWS_REGION", "a\nb")]).any_checked(&["AWS_REGION"]).is_err());
    }

    #[test]
    fn missing_profile_is_an_error_only_if_it_was_named() {
        let (_dir, missing) = settings("missing");
        assert!(missing.profile().is_err());
        assert!(Settings::of([("HOME", "/nonexistent")]).profile().unwrap().get("region").is_none());
    }

    #[test]
    fn numbers_that_are_none_are_the_default() {
        let settings = Settings::of([("RDBLENS_REMOTE_RETRIES", "x"), ("RDBLENS_REMOTE_TIMEOUT", "-1")]);
        assert_eq!((settings.retries(), settings.silence()), (6, Duration::from_secs(30)));
        let settings = Settings::of([("RDBLENS_REMOTE_RETRIES", "2"), ("RDBLENS_REMOTE_TIMEOUT", "0.5")]);
        assert_eq!((settings.retries(), settings.silence()), (2, Duration::from_millis(500)));
        assert!(Settings::of([("A", "TRUE")]).is_on("A") && !Settings::of([("A", "0")]).is_on("A"));
    }
}
