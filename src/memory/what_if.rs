//! Alternatives of `--what-if`: a base model with another server, allocator or setting.

use std::fmt;

use super::{Allocator, Model, Server, ServerConfig};
use crate::error::{Error, Result};
use crate::near;

/// Keyword for the newest server of the same project.
pub(crate) const NEWEST: &str = "newest";

/// Changes to a base model. Everything else is taken from the base, so that each of several files is compared with its own
/// server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhatIf {
    text: String,
    server: Option<Server>,
    /// True for the newest server of the project instead of a named one.
    newest: bool,
    /// True if a rule needs it and nobody asked for it.
    implied: bool,
    allocator: Option<Allocator>,
    /// Names and values in the order given.
    ///
    /// INVARIANT: [`ServerConfig::set`] takes each of them.
    settings: Vec<(String, String)>,
}

impl WhatIf {
    /// Parses a comma-separated list of `valkey-8.1`, `newest`, `jemalloc-q16`, `hash-max-listpack-entries=512` and the like.
    pub fn parse(text: &str) -> Result<WhatIf> {
        let mut what_if = WhatIf {
            text: text.trim().to_owned(),
            server: None,
            newest: false,
            implied: false,
            allocator: None,
            settings: Vec::new(),
        };
        for part in text.split(',').map(str::trim) {
            what_if.add(part).map_err(|error| asked(text, &error))?;
        }
        Ok(what_if)
    }

    fn add(&mut self, part: &str) -> Result<()> {
        if let Some((name, value)) = part.split_once('=') {
            let (name, value) = (name.trim(), value.trim());
            ServerConfig::default().set(name, value)?;
            let current = ServerConfig::current_name(name);
            if self.settings.iter().any(|(other, _)| ServerConfig::current_name(other) == current) {
                return Err(Error::usage(format!("{} is set twice", current.unwrap_or(name)))
                    .with_hint("give --what-if once for each value"));
            }
            self.settings.push((name.to_owned(), value.to_owned()));
            return Ok(());
        }
        if ServerConfig::knows(part) {
            return Err(Error::usage(format!("{part} has no value")).with_hint(format!("expected {part}=VALUE")));
        }
        if let Ok(allocator) = Allocator::parse(part) {
            return match self.allocator.replace(allocator) {
                None => Ok(()),
                Some(other) => Err(two_of("allocators", &other, &allocator)),
            };
        }
        if part == NEWEST {
            self.newest = true;
            return self.server.map_or(Ok(()), |other| Err(two_of("servers", &other, &part)));
        }
        let server = Server::parse(part).map_err(|_| nothing_known(part))?;
        if self.newest {
            return Err(two_of("servers", &NEWEST, &server));
        }
        match self.server.replace(server) {
            None => Ok(()),
            Some(other) => Err(two_of("servers", &other, &server)),
        }
    }

    /// Returns the alternative of the newest server of the same project, for a rule that needs it.
    pub fn newest() -> WhatIf {
        WhatIf {
            text: NEWEST.to_owned(),
            server: None,
            newest: true,
            implied: true,
            allocator: None,
            settings: Vec::new(),
        }
    }

    /// Returns true if a rule needs it and nobody asked for it.
    pub fn is_implied(&self) -> bool {
        self.implied
    }

    /// Returns the text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the base model with these changes.
    pub fn apply(&self, base: &Model) -> Model {
        let mut config = base.config.clone();
        for (name, value) in &self.settings {
            config.set(name, value).expect("`add` has tried every setting on a configuration");
        }
        let own = if self.newest { base.server.newest() } else { base.server };
        Model::for_server(self.server.unwrap_or(own), self.allocator.unwrap_or(base.allocator), &config)
    }
}

/// Adds the whole text to an error about one part.
fn asked(text: &str, error: &Error) -> Error {
    Error::usage(format!("--what-if {text}: {}", error.message()))
}

fn nothing_known(part: &str) -> Error {
    let words = Allocator::ALL.map(Allocator::name).into_iter().chain([NEWEST]);
    let servers = Server::near(part);
    let servers: Vec<_> = servers.iter().map(String::as_str).collect();
    let near = near::did_you_mean(&if servers.is_empty() { near::names(part, words) } else { servers });
    Error::usage(format!("{part:?} is not a known server, allocator or setting")).with_hint(format!(
        "{near}expected a server such as valkey-8.1 or newest, an allocator such as jemalloc-q16, a setting such as \
         hash-max-listpack-entries=512, or several of them with commas between"
    ))
}

fn two_of(what: &str, one: &dyn fmt::Display, other: &dyn fmt::Display) -> Error {
    Error::usage(format!("two {what} at a time: {one} and {other}")).with_hint("give --what-if once for each of them")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Model {
        let mut config = ServerConfig::default();
        config.set("zset-max-listpack-entries", "64").unwrap();
        Model::for_server(Server::parse("redis-7.0").unwrap(), Allocator::JemallocQ16, &config)
    }

    fn applied(text: &str) -> String {
        WhatIf::parse(text).unwrap().apply(&base()).name()
    }

    #[test]
    fn unnamed_settings_stay_unchanged() {
        assert_eq!(applied("valkey-8.1"), "valkey 8.1, jemalloc-q16, zset-max-listpack-entries 64");
        assert_eq!(applied("newest"), "redis 8.10, jemalloc-q16, zset-max-listpack-entries 64");
        assert!(WhatIf::parse("newest,redis-7.2").is_err() && WhatIf::parse("redis-7.2,newest").is_err());
        assert_eq!(applied("glibc"), "redis 7.0, glibc, zset-max-listpack-entries 64");
        assert_eq!(applied("zset-max-ziplist-entries=128"), "redis 7.0, jemalloc-q16");
        assert_eq!(applied("cluster-enabled=yes, zset-max-listpack-entries = 128"), {
            "redis 7.0, jemalloc-q16, cluster-enabled yes"
        });
    }

    #[test]
    fn several_changes_form_one_alternative() {
        assert_eq!(
            applied("jemalloc,redis-8.2.3,hash-max-listpack-entries=64,zset-max-listpack-entries=1kb"),
            "redis 8.2.3, jemalloc, hash-max-listpack-entries 64, zset-max-listpack-entries 1024"
        );
        assert_eq!(WhatIf::parse(" redis-8.2 ").unwrap().text(), "redis-8.2");
    }

    #[test]
    fn every_setting_can_be_changed() {
        for name in ServerConfig::names() {
            let value = match name {
                "activerehashing" | "cluster-enabled" => "yes",
                "maxmemory-policy" => "allkeys-lru",
                _ => "3",
            };
            assert!(WhatIf::parse(&format!("{name}={value}")).is_ok(), "{name}");
        }
    }

    #[test]
    fn invalid_changes_are_rejected_with_a_hint() {
        for (text, remedy) in [
            ("", "expected a server"),
            ("mongo-4", "expected a server"),
            ("redis-8.2,", "expected a server"),
            ("redis-8.2,valkey-8.1", "give --what-if once for each"),
            ("jemalloc,glibc", "give --what-if once for each"),
            ("hash-max-listpack-entries=1,hash-max-ziplist-entries=2", "give --what-if once for each"),
            ("hash-max-listpack-entries", "expected hash-max-listpack-entries=VALUE"),
            ("hash-max-listpack-entries=many", "is a number"),
            ("appendonly=yes", "known settings: activerehashing, cluster-enabled"),
        ] {
            let error = WhatIf::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("--what-if ") && error.contains(remedy), "{text}: {error}");
        }
    }
}
