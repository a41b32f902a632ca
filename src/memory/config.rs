//! Server settings that affect memory and encodings; dumps do not record them.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::near;
use crate::units::Bytes;
use crate::words::{self, Unbalanced};

/// Settings of a server. The defaults are the servers' own, which are the same in all versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub(crate) hash_entries: u64,
    pub(crate) hash_value: u64,
    pub(crate) zset_entries: u64,
    pub(crate) zset_value: u64,
    pub(crate) set_intset_entries: u64,
    pub(crate) set_entries: u64,
    pub(crate) set_value: u64,
    /// Positive: maximum elements of a node. Negative: -1 to -5 for 4 to 64 KiB.
    pub(crate) list_size: i64,
    pub(crate) list_depth: u64,
    /// Up to Redis 3.0.
    pub(crate) list_entries: u64,
    /// Up to Redis 3.0.
    pub(crate) list_value: u64,
    /// True if tables are rehashed in idle time.
    pub(crate) active_rehashing: bool,
    /// `cluster-enabled`, if given.
    pub(crate) cluster: Option<bool>,
    pub(crate) maxmemory: Option<u64>,
    /// `None` unless it was given: a server has `noeviction` then.
    pub(crate) maxmemory_policy: Option<String>,
    /// Redis from 8.10 on: least number of fields of hashes that become compact when they are written; 0: none. Loading a file
    /// converts nothing.
    pub(crate) hash_template_min: u64,
    /// Greatest number of fields of such hashes; 0 for no limit.
    pub(crate) hash_template_max: u64,
    /// Redis from 8.10 on: least number of fields of hashes that become compact while a file without any is loaded; 0: none.
    pub(crate) hash_rdb_load_min: u64,
    /// Greatest number of fields; 0 for no limit.
    pub(crate) hash_rdb_load_max: u64,
    /// Least number of keys with the same field names.
    pub(crate) hash_rdb_load_threshold: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        ServerConfig {
            hash_entries: 512,
            hash_value: 64,
            zset_entries: 128,
            zset_value: 64,
            set_intset_entries: 512,
            set_entries: 128,
            set_value: 64,
            list_size: -2,
            list_depth: 0,
            list_entries: 512,
            list_value: 64,
            active_rehashing: true,
            cluster: None,
            maxmemory: None,
            maxmemory_policy: None,
            hash_template_min: 0,
            hash_template_max: 0,
            hash_rdb_load_min: 0,
            hash_rdb_load_max: 0,
            hash_rdb_load_threshold: 0,
        }
    }
}

/// Setting of a server, by its names.
struct Setting {
    /// The current name first, then those of older servers.
    names: &'static [&'static str],
    /// Sets it to a value; takes the current name for messages.
    set: fn(&mut ServerConfig, &str, &str) -> Result<()>,
    /// Returns its value as a configuration has it.
    text: fn(&ServerConfig) -> String,
}

/// Returns the setting of a field that is a number.
macro_rules! number {
    ($field:ident, $($name:literal),+) => {
        Setting {
            names: &[$($name),+],
            set: |config, name, value| {
                config.$field = amount(name, value)?;
                Ok(())
            },
            text: |config| config.$field.to_string(),
        }
    };
}

/// Supported settings, sorted by current name.
const SETTINGS: [Setting; 20] = [
    Setting {
        names: &["activerehashing"],
        set: |config, name, value| {
            config.active_rehashing = yes_or_no(name, value)?;
            Ok(())
        },
        text: |config| as_yes_or_no(config.active_rehashing),
    },
    Setting {
        names: &["cluster-enabled"],
        set: |config, name, value| {
            config.cluster = Some(yes_or_no(name, value)?);
            Ok(())
        },
        text: |config| as_yes_or_no(config.in_cluster()),
    },
    number!(hash_entries, "hash-max-listpack-entries", "hash-max-ziplist-entries", "hash-max-zipmap-entries"),
    number!(hash_value, "hash-max-listpack-value", "hash-max-ziplist-value", "hash-max-zipmap-value"),
    number!(hash_template_max, "hash-max-template-entries"),
    number!(hash_template_min, "hash-min-template-entries"),
    number!(hash_rdb_load_max, "hash-rdb-load-max-template-entries"),
    number!(hash_rdb_load_min, "hash-rdb-load-min-template-entries"),
    number!(hash_rdb_load_threshold, "hash-rdb-load-template-disassembly-threshold"),
    number!(list_depth, "list-compress-depth"),
    Setting {
        names: &["list-max-listpack-size", "list-max-ziplist-size"],
        set: |config, name, value| {
            config.list_size = list_size(name, value)?;
            Ok(())
        },
        text: |config| config.list_size.to_string(),
    },
    number!(list_entries, "list-max-ziplist-entries"),
    number!(list_value, "list-max-ziplist-value"),
    Setting {
        names: &["maxmemory"],
        set: |config, name, value| {
            config.maxmemory = Some(amount(name, value)?);
            Ok(())
        },
        text: |config| config.maxmemory.unwrap_or_default().to_string(),
    },
    Setting {
        names: &["maxmemory-policy"],
        set: |config, name, value| {
            config.maxmemory_policy = Some(policy(name, value)?);
            Ok(())
        },
        text: |config| config.maxmemory_policy.clone().unwrap_or_else(|| "noeviction".to_owned()),
    },
    number!(set_intset_entries, "set-max-intset-entries"),
    number!(set_entries, "set-max-listpack-entries"),
    number!(set_value, "set-max-listpack-value"),
    number!(zset_entries, "zset-max-listpack-entries", "zset-max-ziplist-entries"),
    number!(zset_value, "zset-max-listpack-value", "zset-max-ziplist-value"),
];

impl Setting {
    /// Returns the setting of a name, current or old.
    fn of(name: &str) -> Option<&'static Setting> {
        SETTINGS.iter().find(|setting| setting.names.iter().any(|known| known.eq_ignore_ascii_case(name)))
    }

    fn name(&self) -> &'static str {
        self.names[0]
    }
}

impl ServerConfig {
    /// Returns the current names of all supported settings, sorted.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SETTINGS.iter().map(Setting::name)
    }

    /// Returns the current name of a supported setting.
    pub fn current_name(name: &str) -> Option<&'static str> {
        Setting::of(name).map(Setting::name)
    }

    /// Returns whether `name`, current or old, is a supported setting.
    pub fn knows(name: &str) -> bool {
        Setting::of(name).is_some()
    }

    /// Sets one setting by its current or old name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let Some(setting) = Setting::of(name) else {
            let near = near::did_you_mean(&near::names(name, ServerConfig::names()));
            return Err(Error::usage(format!("unknown setting {name:?}, or one that does not affect memory"))
                .with_hint(format!("{near}known settings: {}", ServerConfig::names().collect::<Vec<_>>().join(", "))));
        };
        (setting.set)(self, setting.name(), value)
    }

    /// Returns whether the server is a cluster node.
    pub fn in_cluster(&self) -> bool {
        self.cluster.unwrap_or(false)
    }

    /// Returns settings of a cluster node, unless `cluster-enabled` was given.
    #[must_use]
    pub fn of_cluster_node(&self) -> ServerConfig {
        ServerConfig { cluster: self.cluster.or(Some(true)), ..self.clone() }
    }

    /// Returns whether eviction tracks usage per object (LRU, LFU), which rules out shared objects.
    pub(crate) fn evicts_by_use(&self) -> bool {
        let policy = self.maxmemory_policy.as_deref().unwrap_or_default();
        self.maxmemory().is_some() && ["lru", "lfu"].iter().any(|way| policy.ends_with(way))
    }

    /// Reads a `redis.conf` or `valkey.conf`, ignoring unsupported directives, `include` among them.
    pub fn read_conf(&mut self, text: &str) -> Result<()> {
        for (number, line) in text.lines().enumerate() {
            let at_line = |error: &Error| Error::usage(format!("line {}: {}", number + 1, error.message()));
            let line = line.trim();
            if line.starts_with('#') {
                continue;
            }
            let words = words::split(line.as_bytes()).map_err(|error| at_line(&unbalanced(error)))?;
            let Some((name, values)) = words.split_first() else { continue };
            // Names and values of settings that count are ASCII: replaced bytes are in none of them.
            let name = String::from_utf8_lossy(name);
            if !ServerConfig::knows(&name) {
                continue;
            }
            let set = match values {
                [value] => self.set(&name, &String::from_utf8_lossy(value)),
                // Servers refuse it, too.
                _ => Err(Error::usage(format!("{name} takes one value; a comment needs a line of its own"))),
            };
            set.map_err(|error| at_line(&error))?;
        }
        Ok(())
    }

    /// Returns `maxmemory`, if it is a limit: 0 is none.
    pub fn maxmemory(&self) -> Option<Bytes> {
        self.given_maxmemory().filter(|limit| limit.0 > 0)
    }

    /// Returns `maxmemory`, if it was given.
    pub(crate) fn given_maxmemory(&self) -> Option<Bytes> {
        self.maxmemory.map(Bytes)
    }

    /// Returns `maxmemory-policy`, if it was given.
    pub fn maxmemory_policy(&self) -> Option<String> {
        self.maxmemory_policy.clone()
    }

    /// Returns whether hashes become compact when they are written.
    pub fn makes_templates_on_write(&self) -> bool {
        self.hash_template_min > 0
    }

    /// Returns whether the server compresses inner nodes of lists.
    pub fn compresses_lists(&self) -> bool {
        self.list_depth > 0
    }

    /// Returns the maximum number of pairs of a packed hash.
    pub fn hash_max_entries(&self) -> u64 {
        self.hash_entries
    }

    /// Returns the maximum number of members of a packed sorted set.
    pub fn zset_max_entries(&self) -> u64 {
        self.zset_entries
    }

    /// Returns the maximum number of members of a packed set.
    pub fn set_max_entries(&self) -> u64 {
        self.set_entries
    }

    /// Returns the maximum number of members of an intset.
    pub fn intset_max_entries(&self) -> u64 {
        self.set_intset_entries
    }

    /// Returns these settings with the element limits of packed collections multiplied by `factor`.
    pub fn raised(&self, factor: u64) -> ServerConfig {
        ServerConfig {
            hash_entries: self.hash_entries.saturating_mul(factor),
            zset_entries: self.zset_entries.saturating_mul(factor),
            set_entries: self.set_entries.saturating_mul(factor),
            set_intset_entries: self.set_intset_entries.saturating_mul(factor),
            ..self.clone()
        }
    }

    /// Returns `name value` for each setting that differs from the default, sorted by name.
    pub fn changed(&self) -> Vec<String> {
        let default = ServerConfig::default();
        let is_changed = |setting: &&Setting| (setting.text)(self) != (setting.text)(&default);
        let changed = SETTINGS.iter().filter(is_changed);
        changed.map(|setting| format!("{} {}", setting.name(), (setting.text)(self))).collect()
    }

    /// Returns those of the changed settings that figures depend on: a limit alone changes none, nor does its policy without a limit.
    pub fn changed_figures(&self) -> Vec<String> {
        let evicts = self.evicts_by_use();
        let counts = |setting: &String| match setting.split(' ').next() {
            Some("maxmemory") => false,
            Some("maxmemory-policy") => evicts,
            _ => true,
        };
        self.changed().into_iter().filter(counts).collect()
    }

    /// Returns the settings that make the defaults into these, by name.
    pub fn given(&self) -> BTreeMap<String, String> {
        let default = ServerConfig::default();
        // "No cluster node" differs from "unknown".
        let is_given = |setting: &Setting| setting.name() == "cluster-enabled" && self.cluster.is_some();
        let is_needed = |setting: &&Setting| (setting.text)(self) != (setting.text)(&default) || is_given(setting);
        let needed = SETTINGS.iter().filter(is_needed);
        needed.map(|setting| (setting.name().to_owned(), (setting.text)(self))).collect()
    }
}

fn unbalanced(error: Unbalanced) -> Error {
    Error::usage(match error {
        Unbalanced::Open => "a quote that is not closed",
        Unbalanced::Inside => "a closing quote inside a word",
    })
}

fn yes_or_no(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(Error::usage(format!("{name} is yes or no, not {value:?}"))),
    }
}

fn as_yes_or_no(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

/// Parses `maxmemory-policy`.
fn policy(name: &str, value: &str) -> Result<String> {
    let policy = value.to_ascii_lowercase();
    let known = match policy.split_once('-') {
        Some(("volatile", way)) => ["lru", "lfu", "lrm", "random", "ttl"].contains(&way),
        Some(("allkeys", way)) => ["lru", "lfu", "lrm", "random"].contains(&way),
        _ => policy == "noeviction",
    };
    if known {
        return Ok(policy);
    }
    Err(Error::usage(format!("{name} is no policy of any server: {value:?}"))
        .with_hint("noeviction, or allkeys- or volatile- with lru, lfu, lrm or random, or volatile-ttl"))
}

/// Parses a number with an optional unit, as server configurations allow.
fn amount(name: &str, value: &str) -> Result<u64> {
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    let factor: Option<u64> = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "k" => Some(1000),
        "kb" => Some(1 << 10),
        "m" => Some(1_000_000),
        "mb" => Some(1 << 20),
        "g" => Some(1_000_000_000),
        "gb" => Some(1 << 30),
        _ => None,
    };
    let parsed = digits.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    parsed.ok_or_else(|| Error::usage(format!("{name} is a number, not {value:?}")))
}

fn list_size(name: &str, value: &str) -> Result<i64> {
    match value.parse::<i64>() {
        Ok(size) if size >= -5 => Ok(size),
        _ => Err(Error::usage(format!("{name} is a number of elements, or -1 to -5 for 4 to 64 KiB; not {value:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_current_names_are_equivalent() {
        let mut config = ServerConfig::default();
        config.set("hash-max-ziplist-entries", "128").unwrap();
        config.set("HASH-max-listpack-value", "1kb").unwrap();
        config.set("list-max-listpack-size", "-4").unwrap();
        assert_eq!(
            config.changed(),
            ["hash-max-listpack-entries 128", "hash-max-listpack-value 1024", "list-max-listpack-size -4"]
        );
    }

    #[test]
    fn default_has_no_changed_settings() {
        assert!(ServerConfig::default().changed().is_empty());
        let mut limited = ServerConfig::default();
        limited.set("maxmemory", "4gb").unwrap();
        assert_eq!((limited.changed().len(), limited.changed_figures()), (1, Vec::new()));
        limited.set("maxmemory-policy", "allkeys-lru").unwrap();
        assert_eq!(limited.changed_figures(), ["maxmemory-policy allkeys-lru"]);
        limited.set("maxmemory", "0").unwrap();
        assert!(limited.changed_figures().is_empty());
        let names: Vec<_> = ServerConfig::names().collect();
        assert!(names.is_sorted());
    }

    #[test]
    fn invalid_settings_are_rejected() {
        let mut config = ServerConfig::default();
        for (name, value) in [
            ("appendonly", "yes"),
            ("hash-max-listpack-entries", "many"),
            ("hash-max-listpack-entries", "-1"),
            ("hash-max-listpack-entries", "99999999999gb"),
            ("list-max-listpack-size", "-6"),
            ("cluster-enabled", "1"),
            ("activerehashing", "maybe"),
            ("maxmemory-policy", "lru"),
            ("maxmemory-policy", "allkeys-ttl"),
        ] {
            assert!(config.set(name, value).is_err(), "{name} {value}");
        }
    }

    #[test]
    fn conf_file_may_have_comments_quotes_and_unknown_directives() {
        let mut config = ServerConfig::default();
        let text = "# hash-max-listpack-value 1\n\n  set-max-intset-entries \"1024\"\nsave 900 1\ninclude other.conf\n";
        config.read_conf(text).unwrap();
        assert_eq!(config.changed(), ["set-max-intset-entries 1024"]);
        let error = config.read_conf("port 1\nzset-max-ziplist-value x\n").unwrap_err();
        assert!(error.to_string().starts_with("line 2: "), "{error}");
        assert!(config.read_conf("a \"b").is_err());
        let error = config.read_conf("maxmemory 1mb # note\n").unwrap_err();
        assert_eq!(error.message(), "line 1: maxmemory takes one value; a comment needs a line of its own");
        assert!(config.read_conf("maxmemory\n").is_err() && config.read_conf("save 900 1\nport\n").is_ok());
    }

    #[test]
    fn quotes_of_a_conf_file_are_those_of_servers() {
        let mut config = ServerConfig::default();
        config.read_conf("hash-max-listpack-entries \"12\\x38\"\n").unwrap();
        assert_eq!(config.changed(), ["hash-max-listpack-entries 128"]);
        let error = config.read_conf("hash-max-listpack-entries \"6\"4\n").unwrap_err();
        assert_eq!(error.to_string(), "line 1: a closing quote inside a word");
    }
}
